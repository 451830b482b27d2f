// SPDX-License-Identifier: Apache-2.0
// Fused chains against the same chain written by hand as one function.
#include "tests/support/program_suite.h"
#include "codegen/front/front.h"
#include "codegen/ir/ir.h"
#include "codegen/lower/fuse.h"
#include "codegen/lower/lower.h"
#include "codegen/pass/passes.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

TestSuite(fuse, .init = set_up, .fini = tear_down);

static ir_func *lowered(const char *name)
{
    ir_func *func = hdst__lower(&arena, module, hdst__module_function(module, name));
    cr_assert_not_null(func, "%s", name);
    return func;
}

static ir_func *passed(ir_func *func)
{
    const char *wrong = hdst__passes_scalar(func);
    cr_assert_null(wrong, "%s", wrong);
    return func;
}

static ir_func *chain(const char *const *names, size_t count)
{
    ir_func *functions[8];
    for (size_t i = 0; i < count; i++) functions[i] = lowered(names[i]);
    return passed(hdst__fuse(&arena, functions, count));
}

#define CHAIN(...) chain((const char *const[]){__VA_ARGS__}, sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *))

Test(fuse, a_chain_that_accumulates_equals_the_function_written_by_hand)
{
    ir_func *fused = CHAIN("positive", "shrink", "few", "count"), *by_hand = passed(lowered("positive_shrink_few_count"));
    cr_expect(!fused->emits);           // nothing is given back
    for (unsigned seed = 0; seed < 8; seed++) {
        program_result a = program_run(&arena, fused, seed), b = program_run(&arena, by_hand, seed);
        cr_expect_arr_eq(a.table, b.table, b.table_words * 8);
        cr_expect_eq(a.table_words, b.table_words);
    }
}

// keep: as the filter by_hand says; records that are kept: as the map says.
static void check_records(ir_func *fused, const char *filter, const char *map)
{
    ir_func *keep = passed(lowered(filter)), *give = passed(lowered(map));
    cr_expect(fused->emits);
    unsigned kept = 0;
    for (unsigned seed = 0; seed < 8; seed++) {
        program_result a = program_run(&arena, fused, seed), k = program_run(&arena, keep, seed), g = program_run(&arena, give, seed);
        cr_assert_eq(a.failed_record, UINT64_MAX);
        const size_t size = g.output_bytes / g.records;
        size_t at = 0;
        for (size_t i = 0; i < g.records; i++) {
            cr_assert_eq(a.emits_of[i], k.emits_of[i], "seed %u, record %zu", seed, i);
            if (k.emits_of[i]) cr_assert_arr_eq(a.output + at++ * size, g.output + i * size, size);
        }
        cr_assert_eq(a.emitted, at);
        kept += (unsigned)at;
    }
    cr_expect(kept > 50 && kept < 8 * PROGRAM_RECORDS - 50, "%u", kept);
}

Test(fuse, a_filter_before_a_map) { check_records(CHAIN("positive", "shrink"), "positive", "shrink"); }
Test(fuse, a_filter_after_a_map) { check_records(CHAIN("shrink", "few"), "shrink_few", "shrink"); }
Test(fuse, what_may_fail_runs_only_for_records_that_pass) { check_records(CHAIN("positive", "checked", "few"), "positive_checked_few", "checked"); }

Test(fuse, what_follows_a_flat_map_stands_where_it_emits)
{
    ir_func *fused = CHAIN("elements", "inside", "add_up"), *by_hand = passed(lowered("elements_inside_add_up"));
    ir_func *records = CHAIN("elements", "inside"), *records_by_hand = passed(lowered("elements_inside"));
    cr_expect(!fused->emits && records->emits);
    for (unsigned seed = 0; seed < 8; seed++) {
        program_result a = program_run(&arena, fused, seed), b = program_run(&arena, by_hand, seed);
        cr_expect_arr_eq(a.table, b.table, b.table_words * 8);
        a = program_run(&arena, records, seed), b = program_run(&arena, records_by_hand, seed);
        cr_expect(program_same(&a, &b) && a.emitted > 0, "seed %u", seed);
    }
}

Test(fuse, a_chain_that_grows_beyond_measure_is_refused)
{
    ir_func *functions[64];
    functions[0] = lowered("elements");
    for (size_t i = 1; i < 64; i++) functions[i] = lowered("repeat");
    cr_expect_not_null(hdst__fuse(&arena, functions, 5));
    cr_expect_null(hdst__fuse(&arena, functions, 64));
}

Test(fuse, two_filters_keep_the_input_records)
{
    ir_func *fused = CHAIN("positive", "positive");
    program_result a = program_run(&arena, fused, 3), b = program_run(&arena, passed(lowered("positive")), 3);
    const size_t size = fused->params[0].record->size;
    cr_expect_arr_eq(a.emits_of, b.emits_of, b.records * sizeof *b.emits_of);
    for (size_t i = 0, at = 0; i < b.records; i++)
        if (b.emits_of[i]) cr_expect_arr_eq(a.output + at++ * size, (const char *)a.input + i * size, size);
}

Test(fuse, parameters_stay_in_order_and_keep_what_they_are_bound_by)
{
    ir_func *first = lowered("checked"), *second = lowered("count"), *functions[] = {first, second};
    first->params[1].bind = "checked.c";
    ir_func *fused = hdst__fuse(&arena, functions, 2);
    cr_assert_eq(fused->param_count, 4);
    cr_expect_eq(fused->params[0].kind, IR_INPUT);
    cr_expect_eq(fused->params[1].kind, IR_BROADCAST_TABLE);
    cr_expect_eq(fused->params[1].bind, first->params[1].bind);
    cr_expect_eq(fused->params[2].kind, IR_ACCUM_TABLE);
    cr_expect_eq(fused->params[3].bind, second->params[2].bind);
}
