// SPDX-License-Identifier: Apache-2.0
// Measures how far the mathematical functions of the kernel language are from what is right.
//
// usage: math_errors [--device D] [--type float|double] [--function NAME] [--every N] [--points N] [--digest]
//   --every N     float functions of one number: every Nth of all 2^32 floats (default 4099; 1: all of them)
//   --points N    the others: so many points (default 1000000)
//   --digest      no reference: a number that stands for all results, the same on every device
// BENCH_THREADS threads (default: one a core) compare, each its share of 4 million numbers (96 MiB of memory) at a time.
// Prints the rows of the table in docs/mathematics.md. Exit code 1 when an error is larger than the documentation promises.
#include "bench/bench.h"
#include "bench/math_functions.h"

#include <inttypes.h>
#include <math.h>

typedef struct settings {
    const char *device, *type, *function;
    uint64_t every, points;
    bool digest;
} settings;

typedef struct worst {
    double error;
    double x, y;
    uint64_t at, digest, seen;
} worst;

// Numbers that are looked at together, and what threads found in them.
typedef struct batch {
    const settings *settings;
    const math_function *function;
    bool is_double, all;            // all: the floats themselves, one after another
    uint64_t first;
    size_t count;
    void *points, *got;
    worst of_thread[BENCH_MOST_THREADS];
} batch;

enum { SHARE = 1 << 22 };

static void share_of(const batch *b, unsigned thread, unsigned threads, size_t *first, size_t *count)
{
    *first = b->count / threads * thread;
    *count = thread + 1 < threads ? b->count / threads : b->count - *first;
}

static void make_points(unsigned thread, unsigned threads, void *state)
{
    const batch *b = state;
    size_t first, n;
    share_of(b, thread, threads, &first, &n);
    math_pair_float *floats = (math_pair_float *)b->points + first;
    if (b->is_double) math_points_double(b->function, b->first + first, n, (math_pair_double *)b->points + first);
    else if (!b->all) math_points_float(b->function, b->first + first, n, floats);
    for (size_t i = 0; b->all && i < n; i++) {
        const uint32_t bits = (uint32_t)((b->first + first + i) * b->settings->every);
        memcpy(&floats[i].x, &bits, sizeof bits);
        floats[i].y = 0;
    }
}

// The digest adds up a number for each place and its result, so that the order does not matter.
static void note(worst *w, double error, double x, double y, uint64_t at, uint64_t bits)
{
    w->seen++;
    w->digest += bench_random(bench_random(at) ^ bits);
    if (error > w->error) w->error = error, w->x = x, w->y = y, w->at = at;
}

static void look_at(const batch *b, size_t i, worst *w)
{
    const bool digest = b->settings->digest;
    if (b->is_double) {
        const math_pair_double p = ((const math_pair_double *)b->points)[i];
        const double v = ((const double *)b->got)[i];
        uint64_t bits;
        memcpy(&bits, &v, sizeof bits);
        note(w, digest ? 0 : math_error_double(b->function, p.x, p.y, v), p.x, p.y, b->first + i, bits);
    } else {
        const math_pair_float p = ((const math_pair_float *)b->points)[i];
        const float v = ((const float *)b->got)[i];
        uint32_t bits;
        memcpy(&bits, &v, sizeof bits);
        note(w, digest ? 0 : math_error_float(b->function, p.x, p.y, v), (double)p.x, (double)p.y, b->first + i, bits);
    }
}

static void look(unsigned thread, unsigned threads, void *state)
{
    batch *b = state;
    size_t first, n;
    share_of(b, thread, threads, &first, &n);
    worst w = {0};
    for (size_t i = first; i < first + n; i++) look_at(b, i, &w);
    b->of_thread[thread] = w;
}

static void merge(worst *all, const worst *one)
{
    const uint64_t digest = all->digest + one->digest, seen = all->seen + one->seen;
    if (one->error > all->error) *all = *one;       // in the order of the numbers, so the first of equals stays
    all->digest = digest, all->seen = seen;
}

// In a context of its own, which keeps what was made in it until it ends.
static bool run(const settings *s, const math_function *f, bool is_double, const void *points, size_t n, void *out)
{
    hdst_context_options options = HDST_CONTEXT_OPTIONS_INIT;
    options.device = s->device;
    hdst_context *context = hdst_context_create(&options);
    const bool good = math_evaluate(context, &f, 1, is_double, points, n, out);
    hdst_context_destroy(context);
    return good;
}

static void report(const batch *b, const worst *w, bool *above)
{
    const math_function *f = b->function;
    const char *type = b->is_double ? "double" : "float";
    const int digits = b->is_double ? 17 : 9;
    if (b->settings->digest) printf("%s %s %" PRIu64 " %016" PRIx64 "\n", f->name, type, w->seen, w->digest);
    else if (f->args == 2) printf("| `%s` | %s | %.3g | %.2f | `%.*g`, `%.*g` |\n", f->name, type, (double)w->seen, w->error, digits, w->x, digits, w->y);
    else if (b->all && b->settings->every == 1) printf("| `%s` | %s | all | %.2f | `%.*g` |\n", f->name, type, w->error, digits, w->x);
    else printf("| `%s` | %s | %.3g | %.2f | `%.*g` |\n", f->name, type, (double)w->seen, w->error, digits, w->x);
    if (!b->settings->digest && !(w->error <= (b->is_double ? f->limit_double : f->limit_float))) {
        fprintf(stderr, "%s of %s is wrong by %g at %a, %a\n", f->name, type, w->error, w->x, w->y);
        *above = true;
    }
    fflush(stdout);
}

// False: it did not run. `above` is set where an error is larger than promised.
static bool measure(batch *b, bool *above)
{
    worst w = {0};
    b->all = !b->is_double && b->function->args == 1;
    const uint64_t total = b->all ? ((UINT64_C(1) << 32) + b->settings->every - 1) / b->settings->every : b->settings->points;
    const size_t most = (size_t)SHARE * bench_threads();
    for (b->first = 0; b->first < total; b->first += b->count) {
        b->count = total - b->first < most ? (size_t)(total - b->first) : most;
        bench_parallel(make_points, b);
        if (!run(b->settings, b->function, b->is_double, b->points, b->count, b->got)) return false;
        bench_parallel(look, b);
        for (unsigned t = 0; t < bench_threads(); t++) merge(&w, &b->of_thread[t]);
    }
    report(b, &w, above);
    return true;
}

static bool read_options(int argc, char **argv, settings *s)
{
    for (int i = 1; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : "";
        if (!strcmp(argv[i], "--digest")) s->digest = true;
        else if (!strcmp(argv[i], "--device")) s->device = value, i++;
        else if (!strcmp(argv[i], "--type")) s->type = value, i++;
        else if (!strcmp(argv[i], "--function")) s->function = value, i++;
        else if (!strcmp(argv[i], "--every")) s->every = strtoull(value, NULL, 10), i++;
        else if (!strcmp(argv[i], "--points")) s->points = strtoull(value, NULL, 10), i++;
        else return false;
    }
    return s->every && (!s->function || math_find(s->function));
}

int main(int argc, char **argv)
{
    settings s = {.device = "cpu", .every = 4099, .points = 1000000};
    if (!read_options(argc, argv, &s)) {
        fprintf(stderr, "usage: math_errors [--device D] [--type float|double] [--function NAME] [--every N] [--points N] [--digest]\n");
        return 2;
    }
    batch *b = calloc(1, sizeof *b);
    if (!b) return 5;
    b->settings = &s;
    b->points = bench_allocate((size_t)SHARE * bench_threads() * sizeof(math_pair_double));
    b->got = bench_allocate((size_t)SHARE * bench_threads() * sizeof(double));
    bool good = true, above = false;
    for (size_t i = 0; good && i < math_function_count; i++)
        for (int is_double = 0; good && is_double < 2; is_double++) {
            if ((s.function && strcmp(s.function, math_functions[i].name)) || (s.type && strcmp(s.type, is_double ? "double" : "float"))) continue;
            b->function = &math_functions[i], b->is_double = is_double;
            good = measure(b, &above);
        }
    free(b->points);
    free(b->got);
    free(b);
    return good && !above ? 0 : 1;
}
