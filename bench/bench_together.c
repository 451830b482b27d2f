// SPDX-License-Identifier: Apache-2.0
// One pass over records in the host's memory: by each of two devices, by both under every policy, and by both of them at once with half of the records
// each, which is what a program would do by hand; at last by "all". Beside them the roof: how fast threads read one half while the other half goes to the
// first device.
//   bench_together FIRST,SECOND [MIB [ROUNDS [PROBLEM [KERNELS]]]]       indices of devices as `hdst devices` has them
// Each line: seconds of a pass (median of the rounds), GB of records per second, and for both together the part of the sum of what each does alone.
#include "bench/hdst_side.h"

#include <stdatomic.h>

typedef struct problem {
    const char *name, *function, *record, *field, *part;   // part, or NULL: of the accumulator `field`; field NULL: records come out
    unsigned bytes;
} problem;

static const problem problems[] = {
    {"Black-Scholes, records", "price", "option", NULL, NULL, 12},
    {"Black-Scholes, sums", "worth", "option", "call", NULL, 12},
    {"KMeans d=2 k=8", "assign", "point", "t", "n", 8},
    {"linear regression", "line", "point", "s", "xy", 8},
    {"histogram", "count", "pixel", "t", "n", 3},
};

enum { CENTERS = 8, MOST_ROUNDS = 99, ALL_SECONDS = 4 };       // of runs on "all", until it is known who takes part

// A context of its own, with a result over some of the records.
typedef struct side {
    hdst_context *context;
    hdst_result *result;
    double seconds;
} side;

static void set_centers(hdst_module *module, hdst_map_spec *spec)
{
    float centers[CENTERS][2];
    for (uint32_t i = 0; i < CENTERS; i++)
        for (uint32_t c = 0; c < 2; c++) centers[i][c] = bench_center(i, c, 2);
    hdst_value *value = hdst_value_create(module, "center", CENTERS);
    hdst_value_set(value, centers, CENTERS);
    hdst_bind_value(spec, "c", value);
    hdst_bind_accum(spec, "t", CENTERS);
}

static const char *kernels = BENCH_KERNELS "/together.hk";

static side open_side(const problem *p, const char *device, hdst_policy policy, const char *rows, uint64_t count)
{
    hdst_context_options options = HDST_CONTEXT_OPTIONS_INIT;
    hdst_error error = HDST_ERROR_INIT;
    options.device = device;
    options.policy = policy;
    options.log = side_log;
    side s = {.context = hdst_context_create(&options)};
    if (hdst_memory_register(s.context, rows, count * p->bytes, &error) != HDST_OK) side_die(&error);
    hdst_module *module = hdst_module_load(s.context, kernels, HDST_NO_PARAMS);
    hdst_map_spec *spec = hdst_map_spec_create(module, p->function);
    if (!strcmp(p->function, "assign")) set_centers(module, spec);
    hdst_source *source = hdst_source_from_memory(s.context, rows, count, p->bytes);
    s.result = hdst_result_create(hdst_map(hdst_with_layout(hdst_read(source, module, p->record), HDST_AOS), spec));
    return s;
}

static void *run_side(void *user)
{
    side *s = user;
    const double start = bench_seconds();
    side_run(s->result);
    s->seconds = bench_seconds() - start;
    return NULL;
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *seconds, int rounds)
{
    qsort(seconds, (size_t)rounds, sizeof *seconds, by_value);
    return seconds[rounds / 2];
}

// What must not depend on who computed it.
static double digest(const problem *p, const side *s)
{
    double sum = 0;
    uint64_t count;
    if (!p->field) {
        const float *price = hdst_result_rows(s->result, NULL, &count);
        for (uint64_t i = 0; i < 2 * count; i += 1001) sum += (double)price[i];
        return sum + (double)count;
    }
    const hdst_view view = hdst_result_field(s->result, p->field, p->part);
    for (uint64_t i = 0; i < view.rows; i++)
        for (uint64_t e = 0; e < view.elements; e++) sum += (double)(i + e + 1) * hdst_view_double(view, i, e);
    return sum;
}

enum { FIRST_RUNS = 4 };        // shapes and powers are tried

static double measure(const problem *p, side *s, int rounds, double *value)
{
    double seconds[MOST_ROUNDS];
    hdst_error error;
    for (int i = 0; i < FIRST_RUNS; i++) run_side(s);
    for (int i = 0; i < rounds; i++) run_side(s), seconds[i] = s->seconds;
    *value = digest(p, s);
    if (getenv("BENCH_EXPLAIN")) fprintf(stderr, "%s\n", hdst_explain(s->result, &error));
    return median(seconds, rounds);
}

static void close_side(side *s) { hdst_context_destroy(s->context); }

// --- By hand: two contexts, half of the records each ---

static void run_both(side *first, side *second)
{
    pthread_t thread;
    const bool started = pthread_create(&thread, NULL, run_side, first) == 0;
    run_side(second);
    if (started) pthread_join(thread, NULL);
    else run_side(first);
}

static double measure_halves(const problem *p, char device[2][8], const char *rows, uint64_t count, int rounds)
{
    double seconds[MOST_ROUNDS];
    side first = open_side(p, device[0], HDST_POLICY_AUTO, rows, count / 2);
    side second = open_side(p, device[1], HDST_POLICY_AUTO, rows + count / 2 * p->bytes, count - count / 2);
    for (int i = 0; i < FIRST_RUNS; i++) run_side(&first), run_side(&second);
    for (int i = 0; i < rounds; i++) {
        const double start = bench_seconds();
        run_both(&first, &second);
        seconds[i] = bench_seconds() - start;
    }
    close_side(&first);
    close_side(&second);
    return median(seconds, rounds);
}

// --- The roof: threads read while records go to the first device ---

typedef struct reading {
    const uint64_t *words;
    uint64_t count, sum;
    atomic_bool *stop;
    uint64_t read;              // words, so far
} reading;

static void *read_words(void *user)
{
    reading *r = user;
    for (uint64_t at = 0; !atomic_load_explicit(r->stop, memory_order_relaxed); at = at + 8192 > r->count - 8192 ? 0 : at + 8192) {
        uint64_t sum[8] = {0};
        for (uint64_t i = at; i < at + 8192; i += 8)
            for (int k = 0; k < 8; k++) sum[k] += r->words[i + (uint64_t)k];
        for (int k = 0; k < 8; k++) r->sum += sum[k];
        r->read += 8192;
    }
    return NULL;
}

static double measure_roof(const problem *p, const char *device, const char *rows, uint64_t count, int rounds)
{
    const int threads = (int)bench_threads();
    reading *all = calloc((size_t)threads, sizeof *all);
    pthread_t *thread = calloc((size_t)threads, sizeof *thread);
    atomic_bool stop = false;
    const uint64_t half = count / 2 * p->bytes, words = half / 8 / (uint64_t)threads;
    side first = open_side(p, device, HDST_POLICY_AUTO, rows, count / 2);
    for (int i = 0; i < FIRST_RUNS; i++) run_side(&first);
    const double start = bench_seconds();
    for (int i = 0; i < threads; i++) {
        all[i] = (reading){.words = (const uint64_t *)(rows + half / 8 * 8) + (uint64_t)i * words, .count = words, .stop = &stop};
        if (pthread_create(&thread[i], NULL, read_words, &all[i])) exit(5);
    }
    for (int i = 0; i < rounds; i++) run_side(&first);
    atomic_store(&stop, true);
    uint64_t read = 0, sum = 0;
    for (int i = 0; i < threads; i++) pthread_join(thread[i], NULL), read += all[i].read, sum += all[i].sum;
    const double seconds = bench_seconds() - start;
    printf("%-24s roof: threads read %.1f GB/s, %.1f GB/s go to the device meanwhile (%llu)\n", p->name, 8e-9 * (double)read / seconds,
           1e-9 * (double)half * rounds / seconds, (unsigned long long)(sum & 1));
    close_side(&first);
    free(thread);
    free(all);
    return (8 * (double)read + (double)half * rounds) / seconds;
}

// --- All of it ---

static void show(const problem *p, const char *who, double seconds, double bytes, double alone, double roof)
{
    const double least = alone < roof ? alone : roof;
    printf("%-24s %-8s %8.4f s %7.1f GB/s", p->name, who, seconds, bytes / seconds * 1e-9);
    if (alone > 0) printf("   %.2f of the sum, %.2f of the lesser of sum and roof", bytes / seconds / alone, bytes / seconds / least);
    printf("\n");
    fflush(stdout);
}

static void compare(const problem *p, const char *both, const char *rows, double all_bytes, int rounds)
{
    static const char *const names[] = {"auto", "static", "dynamic"};
    const uint64_t count = (uint64_t)all_bytes / p->bytes / 64 * 64;
    const double bytes = (double)(count * p->bytes);
    char device[2][8] = {"", ""};
    double alone = 0, expected = 0, value;
    if (sscanf(both, "%7[0-9],%7[0-9]", device[0], device[1]) != 2) exit(2);
    for (int i = 0; i < 2; i++) {
        side s = open_side(p, device[i], HDST_POLICY_AUTO, rows, count);
        const double seconds = measure(p, &s, rounds, &value);
        close_side(&s);
        show(p, device[i], seconds, bytes, 0, 0);
        alone += bytes / seconds;
        if (i && value != expected) printf("%-24s the results differ: %.17g and %.17g\n", p->name, expected, value);
        expected = value;
    }
    const double roof = measure_roof(p, device[0], rows, count, rounds);
    show(p, "halves", measure_halves(p, device, rows, count, rounds), bytes, alone, roof);
    for (int policy = 0; policy < 3; policy++) {
        side s = open_side(p, both, (hdst_policy)(HDST_POLICY_AUTO + policy), rows, count);
        show(p, names[policy], measure(p, &s, rounds, &value), bytes, alone, roof);
        if (value != expected) printf("%-24s the results differ: %.17g and %.17g\n", p->name, expected, value);
        close_side(&s);
    }
    side s = open_side(p, "all", HDST_POLICY_AUTO, rows, count);
    for (const double start = bench_seconds(); bench_seconds() - start < ALL_SECONDS;) run_side(&s);
    show(p, "all", measure(p, &s, rounds, &value), bytes, alone, roof);
    if (value != expected) printf("%-24s the results differ: %.17g and %.17g\n", p->name, expected, value);
    close_side(&s);
}

static void fill(const problem *p, char *rows, uint64_t bytes)
{
    const uint64_t count = bytes / p->bytes, some = count < 1 << 20 ? count : 1 << 20;
    for (uint64_t i = 0; i < some; i++) {
        float option[3];
        char *row = rows + i * p->bytes;
        if (p->bytes == 12) bench_option_at(i, option), memcpy(row, option, sizeof option);
        for (uint32_t c = 0; c < 2 && p->bytes == 8; c++) ((float *)row)[c] = bench_coordinate(i, c, 2);
        for (uint32_t c = 0; c < 3 && p->bytes == 3; c++) row[c] = (char)(bench_random(3 * i + c) >> 56);
    }
    for (uint64_t done = some; done < count;) {         // again and again
        const uint64_t part = count - done < done ? count - done : done;
        memcpy(rows + done * p->bytes, rows, part * p->bytes);
        done += part;
    }
}

int main(int argc, char **argv)
{
    const char *both = argc > 1 ? argv[1] : "0,1";
    const uint64_t bytes = (uint64_t)(argc > 2 ? atof(argv[2]) : 256) << 20;
    int rounds = argc > 3 ? atoi(argv[3]) : 9;
    if (rounds < 1 || rounds > MOST_ROUNDS) rounds = MOST_ROUNDS;
    if (argc > 5) kernels = argv[5];
    char *rows = aligned_alloc(1 << 21, (bytes + (1 << 21)) >> 21 << 21);
    if (!rows) return 5;
    for (size_t i = 0; i < sizeof problems / sizeof *problems; i++) {
        if (argc > 4 && !strstr(problems[i].name, argv[4])) continue;
        fill(&problems[i], rows, bytes);
        compare(&problems[i], both, rows, (double)bytes, rounds);
    }
    free(rows);
    return 0;
}
