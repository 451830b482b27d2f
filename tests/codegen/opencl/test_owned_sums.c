// SPDX-License-Identifier: Apache-2.0
// Sums of doubles that work-items own, on PoCL, against sums of integers: addends are products of integers at a scale, so that their sums are known whatever
// the order. Two accumulators, products and plain addends, several sums of a work-item, work-groups of which each sum has several work-items; addends that
// running sums do not hold.
#include "codegen/front/front.h"
#include "codegen/lower/lower.h"
#include "codegen/pass/passes.h"
#include "tests/support/kernel_suite.h"
#include "accum/fixed_point.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

TestSuite(owned_sums, .init = set_up, .fini = tear_down);

enum { COLUMNS = 6, ENTRIES = COLUMNS * (COLUMNS + 1) / 2, RECORDS = 3001, GROUPS = 2 };

static const char program[] = "struct point { double x[6]; };\n"
                              "struct moments { double product[21]; double sum[6]; uint32_t n; };\n"
                              "map measure(point p, accum moments m, accum double weight, accum double late)\n"
                              "{\n"
                              "    for (uint32_t i = 0; i < 6; i++) {\n"
                              "        m.sum[i] += p.x[i];\n"
                              "        for (uint32_t j = 0; j <= i; j++) m.product[i * (i + 1) / 2 + j] += p.x[i] * p.x[j];\n"
                              "    }\n"
                              "    weight += p.x[0] * 3;\n"
                              "    if (p.x[1] > 0) late += p.x[1];\n"
                              "    m.n += 1;\n"
                              "}\n";

typedef struct point { double x[COLUMNS]; } point;
typedef struct moments { double product[ENTRIES], sum[COLUMNS]; uint32_t n; } moments;
typedef struct answers { moments m; double weight, late; } answers;

static int64_t integer_at(uint64_t record, uint32_t column) { return (int64_t)((record * 2654435761u + column * 40503u) % 4001) - 2000; }

// In units of 2^-TINY: a record of `every` has tiny numbers, single units.
enum { TINY = 40 };
static int64_t units_at(uint64_t record, uint32_t column, uint64_t every)
{
    return integer_at(record, column) * (every && record % every == 0 ? 1 : (int64_t)1 << TINY);
}

// Exact in 128 bits, and rounded once, to nearest, by the conversion.
static answers expected(uint64_t every)
{
    __int128 product[ENTRIES] = {0}, sum[COLUMNS] = {0}, weight = 0, late = 0;
    for (uint64_t r = 0; r < RECORDS; r++) {
        int64_t x[COLUMNS];
        for (uint32_t c = 0; c < COLUMNS; c++) x[c] = units_at(r, c, every);
        for (uint32_t i = 0, n = 0; i < COLUMNS; i++) {
            sum[i] += x[i];
            for (uint32_t j = 0; j <= i; j++) product[n++] += (__int128)x[i] * x[j];
        }
        weight += (__int128)x[0] * 3;
        late += x[1] > 0 ? x[1] : 0;
    }
    answers a = {.m.n = RECORDS, .weight = ldexp((double)weight, -TINY), .late = ldexp((double)late, -TINY)};
    for (int n = 0; n < ENTRIES; n++) a.m.product[n] = ldexp((double)product[n], -2 * TINY);
    for (int i = 0; i < COLUMNS; i++) a.m.sum[i] = ldexp((double)sum[i], -TINY);
    return a;
}

static ir_func *make_func(void)
{
    const hdst__front_options front = {0};
    ast_module *module = hdst__module_compile(&diags, "moments.hk", program, sizeof program - 1, &front);
    cr_assert_eq(diags.errors, 0);
    ir_func *func = hdst__lower(&arena, module, hdst__module_function(module, "measure"));
    cr_assert_null(hdst__passes_scalar(func));
    return func;
}

static const hdst__kernel *make_kernel(const ir_func *func, const hdst__storage *input, uint32_t group)
{
    static const hdst__precision_class two[] = {HDST__CLASS_TWO_WORDS, HDST__CLASS_TWO_WORDS, HDST__CLASS_ONE_WORD, HDST__CLASS_TWO_WORDS};
    const hdst__target_facts facts = {HDST__TARGET_GPU, 48 << 10, 1024, 2, true, true, true, cl_run_is_simulated(&run)};
    const hdst__kernel_options options = {.facts = facts, .input = input, .rows = (uint64_t[]){0, 1, 1, 1}, .classes = two, .shape = {.group = group}};
    return hdst__kernel_make(&arena, func, &options, &diags);
}

static void check(uint32_t group, int32_t scale, uint64_t every, uint64_t flush)
{
    const ir_func *func = make_func();
    const hdst__storage *input = hdst__storage_make(&arena, func->params[0].record, HDST__AOS, 0, RECORDS);
    const hdst__kernel *kernel = make_kernel(func, input, group);
    cr_assert(kernel && strstr(kernel->source, "owned_sum0"), "work-items own the sums");
    point *in = HDST__NEW_ARRAY(&arena, point, RECORDS);
    for (uint64_t r = 0; r < RECORDS; r++)
        for (uint32_t c = 0; c < COLUMNS; c++) in[r].x[c] = ldexp((double)units_at(r, c, every), -TINY);
    answers got = {0};
    const answers want = expected(every);
    const uint64_t rows[] = {0, 1, 1, 1};
    kernel_case c = {.kernel = kernel, .func = func, .input = input, .input_buffers = (void *[]){in}, .count = RECORDS, .rows = rows,
                     .scales = (int32_t[]){scale, scale, scale, scale}, .flush = flush, .groups = GROUPS,
                     .finished = (void *[]){&got.m, &got.weight, &got.late},
                     .device_table = HDST__NEW_ARRAY(&arena, int64_t, hdst__tables_device_words(kernel->tables, rows))};
    cr_assert(kernel_run(&run, &c));
    for (int n = 0; n < ENTRIES; n++) cr_expect_eq(got.m.product[n], want.m.product[n], "product %d: %a, not %a", n, got.m.product[n], want.m.product[n]);
    for (int i = 0; i < COLUMNS; i++) cr_expect_eq(got.m.sum[i], want.m.sum[i], "sum %d: %a, not %a", i, got.m.sum[i], want.m.sum[i]);
    cr_expect(got.weight == want.weight && got.late == want.late, "%a, not %a; %a, not %a", got.weight, want.weight, got.late, want.late);
    cr_expect_eq(got.m.n, want.m.n);
}

Test(owned_sums, are_exact_with_one_work_item_to_a_sum) { check(32, 14, 0, HDST__FLUSH_ADDS); }

Test(owned_sums, are_exact_with_several_sums_of_a_work_item_and_addends_that_they_do_not_hold) { check(16, 14, 7, HDST__FLUSH_ADDS); }

Test(owned_sums, are_exact_with_several_work_items_to_a_sum_at_a_scale_that_is_off_and_with_merges_in_between) { check(64, 30, 5, 100); }
