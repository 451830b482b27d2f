// SPDX-License-Identifier: Apache-2.0
// Measures how far the mathematical functions of the kernel language are from what is right.
//
// usage: math_errors [--device D] [--type float|double] [--function NAME] [--every N] [--points N] [--digest]
//   --every N     float functions of one number: every Nth of all 2^32 floats (default 4099; 1: all of them)
//   --points N    the others: so many points (default 1000000)
//   --digest      no reference: a number that stands for all results, the same on every device
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
    uint64_t digest, seen;
} worst;

enum { CHUNK = 1 << 22 };

// The floats themselves, one after another, where a function has one argument; 0 when there are none left.
static size_t next_points(const settings *s, const math_function *f, bool is_double, uint64_t at, void *points)
{
    const bool all = !is_double && f->args == 1;
    const uint64_t count = all ? (UINT64_C(1) << 32) / s->every : s->points;
    if (at >= count) return 0;
    const size_t n = count - at < CHUNK ? (size_t)(count - at) : CHUNK;
    if (is_double) math_points_double(f, at, n, points);
    else if (!all) math_points_float(f, at, n, points);
    for (size_t i = 0; all && i < n; i++) {
        const uint32_t bits = (uint32_t)((at + i) * s->every);
        memcpy(&((math_pair_float *)points)[i].x, &bits, sizeof bits);
    }
    return n;
}

static void note(worst *w, double error, double x, double y, uint64_t bits)
{
    w->seen++;
    w->digest = bench_random(w->digest ^ bits);
    if (!(error > w->error)) return;
    *w = (worst){error, x, y, w->digest, w->seen};
}

static void look(const settings *s, const math_function *f, bool is_double, const void *points, const void *got, size_t n, worst *w)
{
    const math_pair_float *p = points;
    const math_pair_double *q = points;
    for (size_t i = 0; i < n; i++) {
        if (is_double) {
            const double v = ((const double *)got)[i];
            uint64_t bits;
            memcpy(&bits, &v, sizeof bits);
            note(w, s->digest ? 0 : math_error_double(f, q[i].x, q[i].y, v), q[i].x, q[i].y, v != v ? 1 : bits);
        } else {
            const float v = ((const float *)got)[i];
            uint32_t bits;
            memcpy(&bits, &v, sizeof bits);
            note(w, s->digest ? 0 : math_error_float(f, p[i].x, p[i].y, v), (double)p[i].x, (double)p[i].y, v != v ? 1 : bits);
        }
    }
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

// False: it did not run. `above` is set where an error is larger than promised.
static bool measure(const settings *s, const math_function *f, bool is_double, void *points, void *out, bool *above)
{
    worst w = {0};
    size_t n;
    for (uint64_t at = 0; (n = next_points(s, f, is_double, at, points)); at += n) {
        if (!run(s, f, is_double, points, n, out)) return false;
        look(s, f, is_double, points, out, n, &w);
    }
    const char *type = is_double ? "double" : "float";
    const int digits = is_double ? 17 : 9;
    if (s->digest) printf("%s %s %" PRIu64 " %016" PRIx64 "\n", f->name, type, w.seen, w.digest);
    else if (f->args == 2) printf("| `%s` | %s | %.3g | %.2f | `%.*g`, `%.*g` |\n", f->name, type, (double)w.seen, w.error, digits, w.x, digits, w.y);
    else printf("| `%s` | %s | %.3g | %.2f | `%.*g` |\n", f->name, type, (double)w.seen, w.error, digits, w.x);
    if (!s->digest && !(w.error <= (is_double ? f->limit_double : f->limit_float))) {
        fprintf(stderr, "%s of %s is wrong by %g at %a, %a\n", f->name, type, w.error, w.x, w.y);
        *above = true;
    }
    fflush(stdout);
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
    void *points = malloc(CHUNK * sizeof(math_pair_double)), *out = malloc(CHUNK * sizeof(double));
    bool good = points && out, above = false;
    for (size_t i = 0; good && i < math_function_count; i++)
        for (int is_double = 0; good && is_double < 2; is_double++) {
            if ((s.function && strcmp(s.function, math_functions[i].name)) || (s.type && strcmp(s.type, is_double ? "double" : "float"))) continue;
            good = measure(&s, &math_functions[i], is_double, points, out, &above);
        }
    free(points);
    free(out);
    return good && !above ? 0 : 1;
}
