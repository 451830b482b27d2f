// SPDX-License-Identifier: Apache-2.0
// Dense reductions by how many rows they have, from few to many, each twice as many as before: seconds of a run (the least of all but the first), the
// most memory of the host that the library took, and how it ran. Records (a key, a float) lie in the program's memory; a map
// stands in front. Sums are compared with whole numbers. A program of its own.
//   bench_dense [--records N] [--from BITS] [--to BITS] [--values long|float|double] [--zipf EXPONENT] [--memory MIB] [--device DEVICE] [--cells N] [--runs N]
// `--cells`: from so many cells on a reduction goes by partitions of rows; 0: as the engine chooses.
#include "bench/hdst_side.h"
#include "engine/engine_state.h"
#include "plan/object.h"

#include <math.h>

typedef struct item { uint32_t key; float v; } item;

static const char kernels[] =
    "struct item { uint32_t key; float v; };\n"
    "map longs(item i) -> (key uint32_t k, int64_t n) { return (i.key, (int64_t)(i.v * 16777216.0f)); }\n"
    "map floats(item i) -> (key uint32_t k, float n) { return (i.key, i.v); }\n"
    "map doubles(item i) -> (key uint32_t k, double n) { return (i.key, (double)i.v); }\n"
    "map into_longs(item i, accum int64_t t[]) { t[i.key] += (int64_t)(i.v * 16777216.0f); }\n"
    "map into_floats(item i, accum float t[]) { t[i.key] += i.v; }\n"
    "map into_doubles(item i, accum double t[]) { t[i.key] += (double)i.v; }\n"
    "reduce add_longs(int64_t a, int64_t b) { return a + b; }\n"
    "reduce add_floats(float a, float b) { return a + b; }\n"
    "reduce add_doubles(double a, double b) { return a + b; }\n";

typedef struct problem {
    item *items;
    uint64_t records, rows, memory, cells;
    const char *values, *device;
    double zipf;
    int runs;
    bool bound;
    hdst_hpr hpr;
} problem;

static uint64_t key_of(const problem *p, uint64_t random)
{
    const double u = (double)(random >> 11) * 0x1p-53, n = (double)p->rows + 1, e = 1 - p->zipf;
    if (p->zipf == 0) return (random >> 32) * p->rows >> 32;
    const double k = fabs(e) < 1e-9 ? pow(n, u) : pow((pow(n, e) - 1) * u + 1, 1 / e);
    return (k < 1 ? 0 : (uint64_t)k - 1 < p->rows ? (uint64_t)k - 1 : p->rows - 1) * 2654435761u % p->rows;
}

static void fill(problem *p)
{
    for (uint64_t i = 0; i < p->records; i++)
        p->items[i] = (item){(uint32_t)key_of(p, bench_random(2 * i)), (float)(bench_random(2 * i + 1) >> 40) * 0x1p-24f};
}

static bool is_right(const problem *p, const hdst_view *rows)
{
    int64_t *sum = calloc(p->rows, sizeof *sum);
    bool right = sum && rows->rows == p->rows;
    for (uint64_t i = 0; sum && i < p->records; i++) sum[p->items[i].key] += (int64_t)(p->items[i].v * 0x1p24f);
    for (uint64_t k = 0; k < p->rows && right; k++) {
        const char *at = (const char *)rows->base + k * rows->stride;
        right = p->values[0] == 'l' ? *(const int64_t *)(const void *)at == sum[k]
              : p->values[0] == 'f' ? *(const float *)(const void *)at == (float)sum[k] * 0x1p-24f
                                    : *(const double *)(const void *)at == (double)sum[k] * 0x1p-24;
    }
    free(sum);
    return right;
}

// A few words of what explain says.
static const char *way_of(const char *explained)
{
    static const char *const words[][2] = {
        {"partitions by number of row", "partitions of rows"}, {"one strip", "one strip"}, {"strip per core", "a strip a core"},
        {"8 strips per core", "8 strips a core"},
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strstr(explained, words[i][0])) return words[i][1];
    return "another";
}

static hdst_dataset *sums_of(const problem *p, hdst_dataset *data, hdst_module *module)
{
    char map_name[32], reduce_name[32];
    snprintf(map_name, sizeof map_name, "%s%ss", p->bound ? "into_" : "", p->values);
    snprintf(reduce_name, sizeof reduce_name, "add_%ss", p->values);
    if (!p->bound) return hdst_reduce_dense(hdst_map_function(data, module, map_name), module, reduce_name, p->rows);
    hdst_map_spec *spec = hdst_map_spec_create(module, map_name);
    hdst_bind_accum(spec, "t", p->rows);
    return hdst_map(data, spec);
}

static void measure(problem *p)
{
    hdst_context_options options = HDST_CONTEXT_OPTIONS_INIT;
    hdst_error error = HDST_ERROR_INIT;
    double least = 1e9;
    options.device = p->device;
    options.hpr = p->hpr;
    options.memory = p->memory << 20;
    hdst_context *context = hdst_context_create(&options);
    context->engine->limits.by_key_least_cells = p->cells;
    hdst_module *module = hdst_module_parse(context, "dense.hk", kernels, NULL);
    hdst_dataset *data = hdst_read(hdst_source_from_memory(context, p->items, p->records, sizeof *p->items), module, "item");
    hdst_result *result = hdst_result_create(sums_of(p, data, module));
    for (int run = 0; run < p->runs; run++) {
        const double begin = bench_seconds();
        if (hdst_run(result, &error) != HDST_OK) break;
        const double seconds = bench_seconds() - begin;
        if (run && seconds < least) least = seconds;
    }
    if (error.code != HDST_OK) {
        printf("%9llu  failed: %s\n", (unsigned long long)p->rows, error.message);
    } else {
        const hdst_view rows = hdst_result_field(result, p->bound ? "t" : NULL, NULL);
        const hdst_run_stats stats = hdst_result_stats(result);
        printf("%9llu  %.3f s  %6.1f MiB  %-20s %s\n", (unsigned long long)p->rows, least, (double)stats.host_peak_bytes / 1048576,
               way_of(hdst_explain(result, NULL)), is_right(p, &rows) ? "right" : "WRONG");
    }
    fflush(stdout);
    hdst_context_destroy(context);
}

int main(int argc, char **argv)
{
    problem p = {.records = bench_option(argc, argv, "--records", 20000000), .memory = bench_option(argc, argv, "--memory", 0),
                 .cells = bench_option(argc, argv, "--cells", 0), .values = side_option(argc, argv, "--values", "float"),
                 .device = side_option(argc, argv, "--device", "cpu"), .zipf = atof(side_option(argc, argv, "--zipf", "0")),
                 .runs = (int)bench_option(argc, argv, "--runs", 3)};
    p.items = bench_allocate(p.records * sizeof *p.items);
    for (int i = 1; i < argc; i++) {
        p.bound |= !strcmp(argv[i], "--bound");
        if (!strcmp(argv[i], "--no-levels")) p.hpr = HDST_HPR_NONE;
    }
    for (uint64_t bits = bench_option(argc, argv, "--from", 10); bits <= bench_option(argc, argv, "--to", 26); bits++) {
        p.rows = UINT64_C(1) << bits;
        fill(&p);
        measure(&p);
    }
    return 0;
}
