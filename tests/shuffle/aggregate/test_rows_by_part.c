// SPDX-License-Identifier: Apache-2.0
// Dense reduces whose rows go by parts on the host, against plain C: sums by a big integer (bignum.h). The container is forced, so that few rows do.
#include "tests/hdst/support.h"

#include "engine/engine_state.h"
#include "tests/support/bignum.h"

#include <stdlib.h>

typedef struct sum { uint32_t key; float v; } sum;
typedef struct wide { double v; int64_t key; } wide;
typedef struct mixed { uint32_t n; uint16_t key; float x, y; int32_t least; double most; uint64_t bits; int16_t odd; } mixed;
typedef struct cell { uint32_t n; float x, y; int32_t least; double most; uint64_t bits; int16_t odd; } cell;

static const char kernels[] =
    "struct sum { uint32_t key; float v; };\n"
    "struct wide { double v; int64_t key; };\n"
    "struct mixed { uint32_t n; uint16_t key; float x, y; int32_t least; double most; uint64_t bits; int16_t odd; };\n"
    "struct cell { uint32_t n; float x, y; int32_t least; double most; uint64_t bits; int16_t odd; };\n"
    "struct low { int8_t key; int32_t n; };\n"
    "reduce add(float a, float b) { return a + b; }\n"
    "reduce total(int32_t a, int32_t b) { return a + b; }\n"
    "reduce add_double(double a, double b) { return a + b; }\n"
    "reduce join(cell a, cell b) {\n"
    "    return (cell){ .n = a.n + b.n, .x = a.x + b.x, .y = a.y + b.y, .least = min(a.least, b.least), .most = max(a.most, b.most), .bits = a.bits | b.bits,\n"
    "                   .odd = a.odd ^ b.odd }; }\n"
    "map half(float v) -> float { return v * 0.5f; }\n";

enum { N = 50000, ROWS = 3001, PART_BITS = 4 };
static sum sums[N];

static uint64_t next_random(void)
{
    static uint64_t state = 11;
    state = state * UINT64_C(6364136223846793005) + 1442695040888963407;
    return state >> 20;
}

static float value_of(bool far_apart)
{
    const int32_t mantissa = (int32_t)(next_random() % 33554432) - 16777216;
    return far_apart ? ldexpf((float)mantissa, (int)(next_random() % 250) - 149) : (float)mantissa / 65536;
}

static uint32_t bits_of(float f)
{
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    return bits;
}

// Where the container is not forced a stage of the interpreter does it.
static hdst_context *open_with(hdst_context_options *options, bool forced)
{
    options->device = "interp";
    hdst_context *context = hdst_context_create(options);
    if (forced) {
        context->engine->limits.by_key_least_cells = 1;
        context->engine->limits.by_key_partition_bits = PART_BITS;
    }
    return context;
}

static hdst_context *forced_context(void)
{
    hdst_context_options options = HDST_CONTEXT_OPTIONS_INIT;
    return open_with(&options, true);
}

static hdst_dataset *sums_in(hdst_context *context, hdst_module *module, hdst_layout layout)
{
    return hdst_with_layout(hdst_read(hdst_source_from_memory(context, sums, N, sizeof *sums), module, "sum"), layout);
}

static void expect_rows(float *expected)
{
    static big total[ROWS];
    memset(total, 0, sizeof total);
    for (uint32_t i = 0; i < N; i++) {
        const big b = big_of(sums[i].v);
        big_add(&total[sums[i].key], &b);
    }
    for (uint32_t k = 0; k < ROWS; k++) expected[k] = (float)big_bits_to_double(big_round(&total[k], true), true);
}

static void check_rows(hdst_result *result, const float *expected, const char *what)
{
    for (int named = 0; named < 2; named++) {       // also under the name of the accumulator
        const hdst_view view = hdst_result_field(result, named ? "result" : NULL, NULL);
        cr_assert_eq(view.rows, ROWS, "%s", what);
        for (uint32_t k = 0; k < ROWS; k++) {
            float v;
            memcpy(&v, (const char *)view.base + k * view.stride, sizeof v);
            cr_assert_eq(bits_of(v), bits_of(expected[k]), "%s: row %u is %a, not %a", what, (unsigned)k, (double)v, (double)expected[k]);
        }
    }
}

static void check_floats(const char *what)
{
    static float expected[ROWS];
    expect_rows(expected);
    for (hdst_layout layout = HDST_AOS; layout <= HDST_AOP; layout++) {
        hdst_context *context = forced_context();
        hdst_module *module = module_of(context, kernels);
        hdst_dataset *data = sums_in(context, module, layout);
        hdst_result *result = hdst_result_create(hdst_reduce_dense(layout == HDST_SOA ? hdst_cache(data) : data, module, "add", ROWS));
        for (int run = 0; run < 2; run++) {
            RUN(result);
            check_rows(result, expected, what);
        }
        const hdst_run_stats stats = hdst_result_stats(result);
        cr_assert(stats.records == N && stats.level_count == 3 && stats.level[0].in == N && stats.level[2].out == ROWS);
        cr_assert(strstr(hdst_explain(result, NULL), "partitions by number of row"), "%s", hdst_explain(result, NULL));
        hdst_context_destroy(context);
    }
}

Test(rows_by_part, sums_of_floats)
{
    for (uint32_t i = 0; i < N; i++) sums[i] = (sum){(uint32_t)(next_random() % (ROWS - 2)), value_of(false)};      // the last two rows stay empty
    check_floats("even");
    for (uint32_t i = 0; i < N; i++) sums[i] = (sum){(uint32_t)(i % 3 ? 5 : next_random() % 64 + 2900), value_of(i % 500 == 499)};
    check_floats("hot rows, rare exceptions");
    for (uint32_t i = 0; i < N; i++) sums[i] = (sum){(uint32_t)(next_random() % ROWS), value_of(true)};
    check_floats("far apart");
}

// With limits that few records reach, words leave the rows of a part for superaccumulators, and come back when the rows are read.
Test(rows_by_part, words_move_on)
{
    static float expected[ROWS];
    for (uint32_t i = 0; i < N; i++) sums[i] = (sum){(uint32_t)(next_random() % ROWS), value_of(false)};
    expect_rows(expected);
    hdst_context *context = forced_context();
    hdst_module *module = module_of(context, kernels);
    context->engine->limits.by_key_look_after = 1000;
    context->engine->limits.by_key_full = 1;
    hdst_result *result = hdst_result_create(hdst_reduce_dense(sums_in(context, module, HDST_AOS), module, "add", ROWS));
    RUN(result);
    check_rows(result, expected, "words that move on");
    cr_assert_gt(context->engine->limits.by_key_moved[2], 0);
    hdst_context_destroy(context);
}

Test(rows_by_part, infinities)
{
    static float expected[ROWS];
    for (uint32_t i = 0; i < N; i++) sums[i] = (sum){(uint32_t)(i % ROWS), i % 2 ? 1.5f : -0.25f};
    expect_rows(expected);
    sums[7].v = sums[7 + ROWS].v = INFINITY;
    sums[8].v = NAN;
    sums[9].v = INFINITY;
    sums[9 + ROWS].v = -INFINITY;
    hdst_context *context = forced_context();
    hdst_module *module = module_of(context, kernels);
    hdst_result *result = hdst_result_create(hdst_reduce_dense(sums_in(context, module, HDST_AOS), module, "add", ROWS));
    RUN(result);
    uint64_t rows;
    const float *got = hdst_result_rows(result, NULL, &rows);
    cr_assert(rows == ROWS && got[7] == INFINITY && isnan(got[8]) && isnan(got[9]) && got[6] == expected[6] && got[10] == expected[10]);
    hdst_context_destroy(context);
}

// Words are emptied into superaccumulators before they overflow: 2^22 addends of nearly 2^40 units each.
Test(rows_by_part, words_do_not_overflow)
{
    enum { MANY = 3 << 21 };
    sum *many = malloc(MANY * sizeof *many);
    const float large = 0x1.fffffep39f;
    for (uint32_t i = 0; i < MANY; i++) many[i] = (sum){i % 4096 == 9 ? 1 : 2, i % 4096 == 9 ? 1.0f : large};
    hdst_context *context = forced_context();
    hdst_module *module = module_of(context, kernels);
    hdst_result *result = hdst_result_create(hdst_reduce_dense(hdst_read(hdst_source_from_memory(context, many, MANY, sizeof *many), module, "sum"),
                                                               module, "add", 3));
    RUN(result);
    uint64_t rows;
    const float *got = hdst_result_rows(result, NULL, &rows);
    // large is 2^16 times an integer below 2^24: the sum in units of 2^16 is an integer below 2^47, so the product is exact in a double
    cr_assert(rows == 3 && got[0] == 0 && got[1] == MANY / 4096 && got[2] == (float)((double)(MANY - MANY / 4096) * (double)large));
    hdst_context_destroy(context);
    free(many);
}

static double larger(double a, double b) { return a > b ? a : b; }

Test(rows_by_part, all_laws)
{
    static mixed in[N];
    static cell expected[ROWS];
    for (uint32_t k = 0; k < ROWS; k++) expected[k] = (cell){.least = INT32_MAX, .most = -INFINITY};
    for (uint32_t i = 0; i < N; i++) {
        mixed *m = &in[i];
        *m = (mixed){(uint32_t)next_random(), (uint16_t)(next_random() % (ROWS - 5)), (float)(int)(next_random() % 1000) / 8, -1.5f, (int32_t)next_random(),
                     (double)(int64_t)next_random() - 1e12, UINT64_C(1) << next_random() % 64, (int16_t)next_random()};
        cell *e = &expected[m->key];
        e->n = e->n + m->n;
        e->x += m->x;           // exact in a float: multiples of 1/8 below 2^15
        e->y += m->y;
        e->least = m->least < e->least ? m->least : e->least;
        e->most = larger(m->most, e->most);
        e->bits |= m->bits;
        e->odd = (int16_t)(e->odd ^ m->odd);
    }
    for (hdst_layout layout = HDST_AOS; layout <= HDST_AOP; layout++) {
        hdst_context *context = forced_context();
        hdst_module *module = module_of(context, kernels);
        hdst_dataset *data = hdst_with_layout(hdst_read(hdst_source_from_memory(context, in, N, sizeof *in), module, "mixed"), layout);
        hdst_result *result = hdst_result_create(hdst_reduce_dense(data, module, "join", ROWS));
        RUN(result);
        uint64_t rows;
        const cell *got = hdst_result_rows(result, NULL, &rows);
        cr_assert_eq(rows, ROWS);
        for (uint32_t k = 0; k < ROWS; k++) {
            const cell *g = &got[k], *e = &expected[k];
            cr_assert(g->n == e->n && g->x == e->x && g->y == e->y && g->least == e->least && g->most == e->most && g->bits == e->bits &&
                      g->odd == e->odd, "row %u",
                      (unsigned)k);
        }
        hdst_context_destroy(context);
    }
}

Test(rows_by_part, sums_of_doubles_by_a_64_bit_key)
{
    static wide in[N];
    static big total[ROWS];
    for (uint32_t i = 0; i < N; i++) {
        in[i] = (wide){(double)(int64_t)(next_random() - (UINT64_C(1) << 43)) * 0x1p-20 + 1e-9 * (double)(i % 97), (int64_t)(next_random() % ROWS)};
        if (i % 1000 == 999) in[i].v = ldexp(in[i].v, (int)(next_random() % 1200) - 600);
        const big b = big_of(in[i].v);
        big_add(&total[in[i].key], &b);
    }
    hdst_context *context = forced_context();
    hdst_module *module = module_of(context, kernels);
    hdst_dataset *data = hdst_read(hdst_source_from_memory(context, in, N, sizeof *in), module, "wide");
    hdst_result *result = hdst_result_create(hdst_reduce_dense(data, module, "add_double", ROWS));
    RUN(result);
    uint64_t rows;
    const double *got = hdst_result_rows(result, NULL, &rows);
    cr_assert_eq(rows, ROWS);
    for (uint32_t k = 0; k < ROWS; k++) cr_assert_eq(got[k], big_bits_to_double(big_round(&total[k], false), false), "row %u", (unsigned)k);
    hdst_context_destroy(context);
}

// What the next stage reads is what the rows are.
Test(rows_by_part, rows_are_records_of_the_next_stage)
{
    for (uint32_t i = 0; i < N; i++) sums[i] = (sum){(uint32_t)(next_random() % ROWS), (float)(next_random() % 1024)};
    hdst_context *context = forced_context();
    hdst_module *module = module_of(context, kernels);
    hdst_result *result = hdst_result_create(hdst_map_function(hdst_reduce_dense(sums_in(context, module, HDST_AOS), module, "add", ROWS), module, "half"));
    RUN(result);
    float expected[ROWS] = {0};
    for (uint32_t i = 0; i < N; i++) expected[sums[i].key] += sums[i].v;
    uint64_t rows;
    const float *got = hdst_result_rows(result, NULL, &rows);
    cr_assert_eq(rows, ROWS);
    for (uint32_t k = 0; k < ROWS; k++) cr_assert_eq(got[k], expected[k] * 0.5f);
    hdst_context_destroy(context);
}

// --- Keys that are no rows ---

static void message_of(bool forced, const void *in, uint64_t count, size_t size, const char *record, const char *reduce, uint64_t rows,
                       char *message, size_t room)
{
    hdst_context_options options = HDST_CONTEXT_OPTIONS_INIT;
    hdst_context *context = open_with(&options, forced);
    hdst_module *module = module_of(context, kernels);
    hdst_result *result = hdst_result_create(hdst_reduce_dense(hdst_read(hdst_source_from_memory(context, in, count, size), module, record), module,
                                                               reduce, rows));
    hdst_error error;
    cr_assert_eq(hdst_run(result, &error), HDST_E_RECORD);
    hdst_error_format(&error, message, room);
    hdst_context_destroy(context);
}

// The message is that of the stage which else does it: the same place, key and record.
Test(rows_by_part, errors_are_those_of_a_stage)
{
    struct { int8_t key; int32_t n; } low[300] = {0};
    char of_stage[2048], of_parts[2048];
    for (uint32_t i = 0; i < N; i++) sums[i] = (sum){i % 100, 1};
    sums[40123].key = 100;
    sums[N - 1].key = UINT32_MAX;
    message_of(false, sums, N, sizeof *sums, "sum", "add", 100, of_stage, sizeof of_stage);
    message_of(true, sums, N, sizeof *sums, "sum", "add", 100, of_parts, sizeof of_parts);
    cr_assert_str_eq(of_parts, of_stage);
    cr_assert(strstr(of_parts, "key 'key' is 100, out of range 0..99, in record 40,123"), "%s", of_parts);
    cr_assert(strstr(of_parts, "hint: a dense result has a row for each key from 0 on"), "%s", of_parts);
    low[250].key = -3;
    message_of(false, low, 300, sizeof *low, "low", "total", 100, of_stage, sizeof of_stage);
    message_of(true, low, 300, sizeof *low, "low", "total", 100, of_parts, sizeof of_parts);
    cr_assert_str_eq(of_parts, of_stage);
    cr_assert(strstr(of_parts, "key 'key' is -3, out of range") && strstr(of_parts, "record 250"), "%s", of_parts);
    message_of(false, low, 300, sizeof *low, "low", "total", 0, of_stage, sizeof of_stage);
    cr_assert(strstr(of_stage, "key 'key' is 0, and the result has no rows, in record 0"), "%s", of_stage);
}

Test(rows_by_part, records_with_errors_are_left_out)
{
    float expected[100] = {0};
    for (uint32_t i = 0; i < N; i++) {
        sums[i] = (sum){i % 7 ? i % 100 : 100 + i, 2};
        if (i % 7) expected[i % 100] += 2;
    }
    hdst_context_options options = HDST_CONTEXT_OPTIONS_INIT;
    options.on_error = HDST_ON_ERROR_SKIP;
    hdst_context *context = open_with(&options, true);
    hdst_module *module = module_of(context, kernels);
    hdst_result *result = hdst_result_create(hdst_reduce_dense(sums_in(context, module, HDST_SOA), module, "add", 100));
    RUN(result);
    uint64_t rows;
    const float *got = hdst_result_rows(result, NULL, &rows);
    cr_assert(rows == 100 && !memcmp(got, expected, sizeof expected));
    cr_assert_eq(hdst_result_stats(result).records_skipped, (N + 6) / 7);
    hdst_context_destroy(context);
}

// Unchecked, such a key stands for the first row, as in kernels.
Test(rows_by_part, unchecked_keys)
{
    float expected[100] = {0};
    for (uint32_t i = 0; i < N; i++) {
        sums[i] = (sum){i % 7 ? i % 100 : 100 + i, 2};
        expected[i % 7 ? i % 100 : 0] += 2;
    }
    for (int forced = 0; forced < 2; forced++) {
        hdst_context_options options = HDST_CONTEXT_OPTIONS_INIT;
        options.unchecked = true;
        hdst_context *context = open_with(&options, forced);
        hdst_module *module = module_of(context, kernels);
        hdst_result *result = hdst_result_create(hdst_reduce_dense(sums_in(context, module, HDST_AOS), module, "add", 100));
        RUN(result);
        uint64_t rows;
        const float *got = hdst_result_rows(result, NULL, &rows);
        cr_assert(rows == 100 && !memcmp(got, expected, sizeof expected), "forced: %d", forced);
        hdst_context_destroy(context);
    }
}

// Pairs that the budget has no room for are combined where that pays, else they go through a file.
static void check_short_of_memory(uint32_t row_count, uint64_t memory, const char *how)
{
    enum { MANY = 2000000 };
    sum *many = malloc(MANY * sizeof *many);
    double *expected = calloc(row_count, sizeof *expected);
    for (uint32_t i = 0; i < MANY; i++) {
        many[i] = (sum){(uint32_t)(next_random() % row_count), (float)(next_random() % 4096)};
        expected[many[i].key] += many[i].v;
    }
    hdst_context_options options = HDST_CONTEXT_OPTIONS_INIT;
    options.memory = memory;
    hdst_context *context = open_with(&options, true);
    hdst_module *module = module_of(context, kernels);
    hdst_dataset *data = hdst_read(hdst_source_from_memory(context, many, MANY, sizeof *many), module, "sum");
    hdst_result *result = hdst_result_create(hdst_reduce_dense(data, module, "add", row_count));
    RUN(result);
    cr_assert(strstr(hdst_explain(result, NULL), how), "%s", hdst_explain(result, NULL));
    uint64_t rows;
    const float *got = hdst_result_rows(result, NULL, &rows);
    cr_assert_eq(rows, row_count);
    for (uint32_t k = 0; k < row_count; k++) cr_assert_eq(got[k], (float)expected[k]);
    hdst_context_destroy(context);
    free(many);
    free(expected);
}

Test(rows_by_part, short_of_memory)
{
    check_short_of_memory(ROWS, 8 << 20, "combined where they piled up");
    check_short_of_memory(1000001, 12 << 20, "through a temporary file");
}

// Few rows, and any on the interpreter, are a stage's.
Test(rows_by_part, chosen_by_device_and_number_of_rows)
{
    for (uint32_t i = 0; i < N; i++) sums[i] = (sum){i, 1};
    if (!have_cpu()) return;
    static const struct { const char *device; uint64_t rows; bool parts; } cases[] = {{"cpu", 1 << 19, true}, {"cpu", N, false}, {"interp", 1 << 19, false},
        {"gpu-form", 1 << 19, false}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        hdst_context *context = context_in_form(cases[c].device);
        hdst_module *module = module_of(context, kernels);
        hdst_result *result = hdst_result_create(hdst_reduce_dense(sums_in(context, module, HDST_AOS), module, "add", cases[c].rows));
        const char *text = hdst_explain(result, NULL);
        cr_assert_eq(strstr(text, "the container is chosen by the next run") != NULL, cases[c].parts, "%s, %llu rows: %s", cases[c].device,
                     (unsigned long long)cases[c].rows, text);
        if (cases[c].parts) {
            RUN(result);
            const hdst_view view = hdst_result_field(result, NULL, NULL);
            double total = 0;
            for (uint64_t k = 0; k < view.rows; k++) total += (double)((const float *)view.base)[k];
            cr_assert(view.rows == cases[c].rows && total == N);
        }
        hdst_context_destroy(context);
    }
}
