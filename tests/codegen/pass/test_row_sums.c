// SPDX-License-Identifier: Apache-2.0
// Sums over the rows of a block of records, and dots of them: which kernels have them, and that exact ones have the
// interpreter's bits, whatever the addends are: those that a double would round, what does not fit the table's words,
// what is not finite, tables with first-level accumulators, rows that are no multiple of a vector. Fast ones are near the exact
// ones.
#include "codegen/pass/row_sums.h"
#include "accum/reduce.h"
#include "tests/support/kernel_run.h"
#include "accum/first_level.h"
#include "codegen/ir/accum_tables.h"
#include "codegen/front/ast.h"
#include "codegen/front/front.h"
#include "codegen/lower/lower.h"
#include "codegen/pass/passes.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static hdst__arena arena;
static jmp_buf out_of_memory;
static hdst__diags diags;

static void set_up(void)
{
    hdst__arena_init(&arena, NULL, &out_of_memory);
    hdst__diags_init(&diags, &arena);
}

static void tear_down(void) { hdst__arena_destroy(&arena); }
TestSuite(row_sums, .init = set_up, .fini = tear_down);

static const char program[] = "param uint32_t D;\n"
                              "struct sample { float y[11]; float x[D]; };\n"
                              "struct net { float w[11][D]; float few[3][D]; float b[11]; float all[D]; float in_order[D]; };\n"
                              "map train(sample s, accum net g)\n"
                              "{\n"
                              "    for (uint32_t h = 0; h < 11; h++) {\n"
                              "        float delta = s.y[h] * 0.75f;\n"
                              "        g.b[h] += delta;\n"
                              "        for (uint32_t i = 0; i < D; i++) g.w[h][i] += delta * s.x[i];\n"
                              "    }\n"
                              "    for (uint32_t h = 0; h < 3; h++)\n"
                              "        for (uint32_t i = 0; i < D; i++) g.few[h][i] += s.x[i] * s.y[h];\n"
                              "    for (uint32_t i = 0; i < D; i++) g.all[i] += s.x[i];\n"
                              "}\n"
                              "struct layers { float pad; float v[17][D]; float u[6][18]; float b[6]; };\n"
                              "map through(sample s, broadcast layers n, accum layers g)\n"
                              "{\n"
                              "    float hidden[18];\n"
                              "    for (uint32_t h = 0; h < 17; h++) hidden[h] = n.b[h % 6] + dot(s.x, n.v[h]);\n"
                              "    hidden[17] = dot(n.v[3], s.x);\n"
                              "    for (uint32_t c = 0; c < 6; c++) {\n"
                              "        float delta = s.y[c] - 0.25f;\n"
                              "        for (uint32_t h = 0; h < 18; h++) g.u[c][h] += delta * hidden[h];\n"
                              "        g.b[c] += delta;\n"
                              "    }\n"
                              "    for (uint32_t h = 0; h < 17; h++)\n"
                              "        for (uint32_t i = 0; i < D; i++) g.v[h][i] += hidden[h] * s.x[i];\n"
                              "    g.pad += hidden[0];\n"
                              "}\n"
                              "struct table { float w[43][D]; };\n"
                              "map wide(sample s, accum table g)\n"
                              "{\n"
                              "    for (uint32_t h = 0; h < 43; h++) {\n"
                              "        float delta = s.y[h % 11] * (0.25f + h);\n"
                              "        for (uint32_t i = 0; i < D; i++) g.w[h][i] += delta * s.x[i];\n"
                              "    }\n"
                              "}\n"
                              "map other(sample s, accum net g, accum net t[])\n"
                              "{\n"
                              "    for (uint32_t i = 0; i < D; i++) g.all[i] += s.x[i] * s.x[i];\n"
                              "    for (uint32_t i = 0; i < D; i++) g.in_order[D - 1 - i] += s.x[i];\n"
                              "    for (uint32_t i = 0; i < D; i++) t[0].all[i] += s.x[i];\n"
                              "    if (s.y[0] > 0) { for (uint32_t i = 0; i < D; i++) g.w[0][i] += s.x[i]; }\n"
                              "}\n";

static ir_func *compile(const char *name, uint32_t elements)
{
    const hdst__param_value params[] = {{.name = "D", .bits = elements}};
    const hdst__front_options front = {.params = params, .param_count = 1};
    ast_module *module = hdst__module_compile(&diags, "sums.hk", program, sizeof program - 1, &front);
    cr_assert_eq(diags.errors, 0);
    ir_func *func = hdst__lower(&arena, module, hdst__module_function(module, name));
    cr_assert_null(hdst__passes_scalar(func));
    return func;
}

// --- Which loops ---

static size_t taken(const char *name, hdst__layout layout, size_t dots)
{
    ir_func *func = compile(name, 40);
    hdst__row_sums sums = {0};
    const hdst__storage *input = hdst__storage_make(&arena, func->params[0].record, layout, 0, 100);
    const bool any = hdst__pass_row_sums(func, hdst__ir_accum_tables(&arena, func, NULL), input, &sums);
    cr_expect_eq(any, sums.count > 0);
    cr_expect_null(hdst__ir_verify(func));
    for (size_t i = 0; i < sums.count; i++) cr_expect_eq(sums.sum[i].elements, sums.sum[i].is_local ? 18 : 40);
    cr_expect_eq(sums.dot_count, dots);
    return sums.count;
}

Test(row_sums, a_factor_times_a_row_leaves_the_body)
{
    cr_expect_eq(taken("train", HDST__AOS, 0), 3, "the loop of three turns was unrolled, and is one again");
    cr_expect_eq(taken("train", HDST__SOA, 0), 0, "elements do not lie side by side");
    cr_expect_eq(taken("through", HDST__AOS, 2), 2, "a local array is a row too");
    cr_expect_eq(taken("other", HDST__AOS, 0), 0, "squares, another order, rows of a table, conditions");
}

// --- Kernels ---

typedef enum data { NEAR, FAR, SPECIAL } data;

// NEAR: multiples of 2^-10 below 1. FAR: of all sizes, so that a block's products have more bits than a double; some
// products are denormal. SPECIAL: infinities, NaN, products that overflow, too.
static float number(data kind, bool factor)
{
    const float v = ldexpf((float)(rand() % 2048 - 1024), -10);
    if (rand() % 4 == 0) return 0;
    if (kind == NEAR) return v;
    const int odd = rand() % 3000;
    if (kind == SPECIAL && odd == 0) return rand() % 2 ? INFINITY : NAN;
    if (kind == SPECIAL && odd < 30) return ldexpf(v, 100);
    if (odd < 100) return ldexpf(v, -100);
    return ldexpf((float)rand() / (float)RAND_MAX, factor ? -(rand() % 30) : -(rand() % 20)) * (rand() % 2 ? 1 : -1);
}

// `zeros`: of a hundred elements of a row, besides those of `kind`.
static char *make_samples(const hdst__record *record, uint64_t count, data kind, int zeros)
{
    char *rows = HDST__NEW_ARRAY(&arena, char, count * record->size);
    for (uint64_t i = 0; i < count; i++)
        for (size_t l = 0; l < 2; l++)
            for (uint64_t e = 0; e < record->leaves[l].elements; e++) {
                const float v = l == 1 && rand() % 100 < zeros ? 0 : number(kind, l == 0);
                memcpy(rows + i * record->size + record->leaves[l].offset + e * sizeof v, &v, sizeof v);
            }
    return rows;
}

typedef struct job {
    const char *function;       // NULL: train
    uint32_t elements;
    uint64_t records, flush;
    data kind;
    hdst__precision_class precision;
    int32_t scale;
    bool first_level, fast;
    int zeros;
} job;

static float as_float(uint64_t bits)
{
    const uint32_t low = (uint32_t)bits;
    float v;
    memcpy(&v, &low, sizeof v);
    return v;
}

static void expect_near(float got, float want, const job *j, uint32_t leaf, uint64_t e)
{
    const float error = j->kind == SPECIAL ? 0x1p90f : 1e-4f;       // addends are up to 2^100, or 1
    if (isnan(want)) cr_assert(isnan(got), "leaf %d element %d", (int)leaf, (int)e);
    else cr_assert(got == want || fabsf(got - want) <= error,
                   "leaf %d element %d: %g, exact %g, of %d records", (int)leaf, (int)e, (double)got, (double)want, (int)j->records);
}

static char *make_weights(const hdst__record *record)
{
    float *weights = HDST__NEW_ARRAY(&arena, float, record->size / sizeof(float));
    for (uint64_t i = 0; i < record->size / sizeof(float); i++) weights[i] = number(NEAR, false) * 0.01f;
    return (char *)weights;
}

// What the table says, of the kernel's memory and of the interpreter's.
static void compare(const ir_func *func, const hdst__kernel *kernel, const uint64_t *rows, const int64_t *device,
                    const hdst__tables *plain, const int64_t *reference, const int32_t *scales, const job *j)
{
    const hdst__first_level front = hdst__first_level_of(kernel->tables, rows, device, scales);
    const hdst__record *record = func->params[kernel->tables->accum[0].param].record;
    for (uint32_t l = 0; l < record->leaf_count; l++)
        for (uint64_t e = 0; e < record->leaves[l].elements; e++) {
            const uint64_t want = hdst__table_read(plain, rows, reference, 0, 0, l, e);
            const uint64_t got = j->first_level ? hdst__first_level_read(kernel->tables, rows, &front, 0, 0, l, e)
                                          : hdst__table_read(kernel->tables, rows, device, 0, 0, l, e);
            if (j->fast) expect_near(as_float(got), as_float(want), j, l, e);
            else cr_assert_eq(got, want, "leaf %d element %d: %a, not %a", (int)l, (int)e, (double)as_float(got), (double)as_float(want));
        }
}

static void check(job j)
{
    srand(j.elements);
    cl_run run;
    cr_assert(cl_run_open(&run, CL_DEVICE_TYPE_CPU), "these tests need PoCL");
    const ir_func *func = compile(j.function ? j.function : "train", j.elements);
    const hdst__record *record = func->params[0].record;
    char *samples = make_samples(record, j.records, j.kind, j.zeros), *weights = make_weights(func->params[1].record);
    const hdst__storage *input = hdst__storage_make(&arena, record, HDST__AOS, 0, j.records);
    const uint64_t rows[] = {0, 1, 1};
    const int32_t scales[] = {j.scale, j.scale, j.scale, j.scale, j.scale};
    const hdst__precision_class classes[] = {j.precision, j.precision, j.precision, j.precision, j.precision};
    const hdst__interp_table broadcast[] = {{0}, {weights, 1}, {0}};
    const hdst__target_facts facts = {HDST__TARGET_CPU, 48 << 10, 1024, 2, true, true, true, cl_run_is_simulated(&run)};
    const hdst__kernel_options options = {.facts = facts, .input = input, .rows = rows, .classes = classes, .first_level = j.first_level, .fast_sums = j.fast};
    const hdst__kernel *kernel = hdst__kernel_make(&arena, func, &options, &diags);
    cr_assert_not_null(kernel);
    cr_assert_not_null(strstr(kernel->source, "rows of a block"));
    cr_expect_eq(strstr(kernel->source, "row_is_sparse(filled") != NULL, j.function && !j.fast, "of 16 units and more, exact");
    cr_expect_eq(kernel->tables->first_level, j.first_level);
    cr_expect_eq(kernel->fast_sums, !j.fast ? 0 : j.function ? 2 : 3);
    const uint64_t words = hdst__tables_device_words(kernel->tables, rows);
    int64_t *device = HDST__NEW_ARRAY(&arena, int64_t, hdst__tables_first_level_words(kernel->tables, rows) + words),
            *reference = HDST__NEW_ARRAY(&arena, int64_t, words);
    kernel_case c = {.kernel = kernel, .func = func, .input = input, .input_buffers = (void *const[]){samples},
                     .count = j.records, .rows = rows, .scales = scales, .broadcast = broadcast, .flush = j.flush,
                     .groups = j.first_level ? 1 : 2, .device_table = device};
    cr_assert(kernel_run(&run, &c));
    hdst__tables plain = *kernel->tables;
    plain.first_level = false;
    hdst__interp_run interp = {.func = func, .input = {input}, .input_buffers = {(const void *const[]){samples}}, .count = j.records, .accum_rows = rows,
        .tables = &plain, .broadcast = broadcast, .device_table = reference};
    hdst_error error;
    cr_assert_eq(hdst__interpret(&interp, &error), HDST_OK);
    compare(func, kernel, rows, device, &plain, reference, scales, &j);
    cl_run_close(&run);
}

Test(row_sums, they_have_the_interpreters_bits) { check((job){.elements = 96, .records = 333, .flush = 1 << 20, .precision = HDST__CLASS_ONE_WORD,
                                                              .scale = 30}); }

Test(row_sums, what_a_double_would_round_is_added_one_by_one)
{
    check((job){.elements = 45, .records = 200, .flush = 70, .kind = FAR, .precision = HDST__CLASS_TWO_WORDS, .scale = 30});
}

Test(row_sums, what_does_not_fit_a_word_goes_to_its_cell)
{
    check((job){.elements = 33, .records = 130, .flush = 1 << 20, .kind = FAR, .precision = HDST__CLASS_ONE_WORD, .scale = 40});
}

Test(row_sums, infinities_and_what_overflows)
{
    check(
        (job){.elements = 40, .records = 130, .flush = 1 << 20, .kind = SPECIAL, .precision = HDST__CLASS_ONE_WORD, .scale = 20});
}

Test(row_sums, scales_at_both_ends)
{
    check((job){.elements = 32, .records = 65, .flush = 1 << 20, .kind = FAR, .precision = HDST__CLASS_TWO_WORDS, .scale = 86});
    check((job){.elements = 32, .records = 65, .flush = 1 << 20, .kind = FAR, .precision = HDST__CLASS_ONE_WORD, .scale = -100});
}

Test(row_sums, tables_with_front_words)
{
    check((job){.elements = 784, .records = 70, .flush = 1 << 20, .kind = FAR, .precision = HDST__CLASS_ONE_WORD, .scale = 35, .first_level = true});
    check((job){.elements = 784, .records = 3, .flush = 1 << 20, .kind = SPECIAL, .precision = HDST__CLASS_TWO_WORDS, .scale = 35, .first_level = true});
}

Test(row_sums, dots_of_rows_and_sums_of_local_arrays)
{
    check((job){.function = "through", .elements = 45, .records = 135, .flush = 1 << 20, .kind = NEAR, .precision = HDST__CLASS_ONE_WORD, .scale = 30});
    check((job){.function = "through", .elements = 64, .records = 6, .flush = 1 << 20, .kind = SPECIAL, .precision = HDST__CLASS_TWO_WORDS, .scale = 30});
}

Test(row_sums, zeros_are_left_out_where_most_numbers_are)
{
    check((job){.function = "wide", .elements = 77, .records = 147, .flush = 1 << 20, .kind = FAR, .precision = HDST__CLASS_TWO_WORDS, .scale = 30,
                .zeros = 80});
    check((job){.function = "wide", .elements = 48, .records = 100, .flush = 1 << 20, .kind = SPECIAL, .precision = HDST__CLASS_ONE_WORD, .scale = 30,
                .first_level = true, .zeros = 95});
    check((job){.function = "through", .elements = 45, .records = 135, .flush = 1 << 20, .precision = HDST__CLASS_ONE_WORD, .scale = 30, .zeros = 70});
}

Test(row_sums, fast_ones_are_near)
{
    check((job){.function = "through", .elements = 50, .records = 100, .flush = 1 << 20, .kind = NEAR, .precision = HDST__CLASS_ONE_WORD, .scale = 30,
                .fast = true});
    check((job){.elements = 50, .records = 200, .flush = 1 << 20, .kind = NEAR, .precision = HDST__CLASS_ONE_WORD, .scale = 30, .fast = true});
    check((job){.elements = 45, .records = 150, .flush = 1 << 20, .kind = SPECIAL, .precision = HDST__CLASS_TWO_WORDS, .scale = 30, .fast = true});
}
