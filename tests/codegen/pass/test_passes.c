// SPDX-License-Identifier: Apache-2.0
// No pass changes what a function computes: every program of pass/programs.hk runs in the interpreter before and after each pass, on random records.
#include "codegen/pass/block_form.h"
#include "codegen/pass/row_form.h"
#include "tests/support/program_suite.h"
#include "codegen/front/front.h"
#include "codegen/lower/lower.h"
#include "codegen/pass/passes.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

TestSuite(passes, .init = set_up, .fini = tear_down);

static ir_func *lowered(const char *name)
{
    ast_function *function = hdst__module_function(module, name);
    cr_assert_not_null(function, "%s", name);
    ir_func *func = hdst__lower(&arena, module, function);
    cr_assert_not_null(func, "%s", name);
    cr_assert_null(hdst__ir_verify(func), "%s", hdst__ir_verify(func));
    return func;
}

static const char *dump(const ir_func *func)
{
    hdst__buffer text;
    hdst__buffer_init(&text, NULL);
    hdst__ir_dump(func, &text);
    char *copy = hdst__arena_strdup(&arena, hdst__buffer_text(&text));
    hdst__buffer_destroy(&text);
    return copy;
}

static bool is_program(const ast_function *f) { return f->kind == AST_MAP || f->kind == AST_FILTER || f->kind == AST_REDUCE; }

typedef struct pass {
    const char *name;
    void (*run)(ir_func *func);
} pass;

static const pass passes[] = {
    {"structured-exits", hdst__pass_structured_exits}, {"constant-folding", hdst__pass_constant_folding},
    {"bounds-checks", hdst__pass_bounds_checks}, {"constant-folding", hdst__pass_constant_folding},
    {"loop-checks", hdst__pass_loop_checks}, {"array-contraction", hdst__pass_array_contraction},
    {"dead-stores", hdst__pass_dead_stores},
    {"loop-unrolling", hdst__pass_loop_unrolling}, {"constant-propagation", hdst__pass_constant_propagation},
    {"loop-unrolling-of-arrays", hdst__pass_loop_unrolling_of_arrays},
    {"scalar-replacement", hdst__pass_scalar_replacement}, {"constant-propagation", hdst__pass_constant_propagation},
    {"constant-folding", hdst__pass_constant_folding}, {"bounds-checks", hdst__pass_bounds_checks},
    {"constant-folding", hdst__pass_constant_folding},
    {"dead-code", hdst__pass_dead_code}, {"uniformity", hdst__pass_uniformity},
    {"if-conversion", hdst__pass_if_conversion}, {"constant-folding", hdst__pass_constant_folding},
    {"dead-code", hdst__pass_dead_code}, {"uniformity", hdst__pass_uniformity},
    {"if-conversion-of-effects", hdst__pass_if_conversion_of_effects},
    {"constant-folding", hdst__pass_constant_folding},
    {"lane-reductions", hdst__pass_lane_reductions}, {"row-unroll-and-jam", hdst__pass_row_unroll_and_jam},
    {"constant-folding", hdst__pass_constant_folding},
};

static const pass block_passes[] = {
    {"structured-exits", hdst__pass_structured_exits}, {"constant-folding", hdst__pass_constant_folding},
    {"uniformity", hdst__pass_uniformity}, {"if-conversion", hdst__pass_if_conversion},
    {"constant-folding", hdst__pass_constant_folding}, {"uniformity", hdst__pass_uniformity},
    {"predication", hdst__pass_predication}, {"if-conversion-of-effects", hdst__pass_if_conversion_of_effects},
    {"constant-folding", hdst__pass_constant_folding},
};

enum { SEEDS = 8 };

static void compare(const ir_func *func, const program_result *expected, const char *after)
{
    cr_assert_null(hdst__ir_verify(func), "after %s: %s\n%s", after, hdst__ir_verify(func), dump(func));
    for (unsigned seed = 0; seed < SEEDS; seed++) {
        program_result result = program_run(&arena, func, seed);
        cr_assert(program_same(&result, &expected[seed]), "%s differs after %s with seed %u\n%s", func->name, after, seed, dump(func));
    }
}

static void compare_after_each(const pass *list, size_t count)
{
    for (size_t f = 0; f < module->function_count; f++) {
        if (!is_program(module->functions[f])) continue;
        ir_func *func = lowered(module->functions[f]->name);
        hdst__pass_fma_placement(func);           // this one does change bits, as the language says
        program_result expected[SEEDS];
        for (unsigned seed = 0; seed < SEEDS; seed++) expected[seed] = program_run(&arena, func, seed);
        for (size_t i = 0; i < count; i++) {
            list[i].run(func);
            compare(func, expected, list[i].name);
        }
    }
}

Test(passes, none_changes_a_bit) { compare_after_each(passes, sizeof passes / sizeof *passes); }
Test(passes, none_toward_the_block_form_changes_a_bit) { compare_after_each(block_passes, sizeof block_passes / sizeof *block_passes); }

// Some of the programs must get to their end, and one must fail, or the test above says little.
Test(passes, programs_run_to_the_end_unless_they_are_to_fail)
{
    for (size_t f = 0; f < module->function_count; f++) {
        const ast_function *function = module->functions[f];
        if (!is_program(function)) continue;
        program_result result = program_run(&arena, lowered(function->name), 1);
        if (!strcmp(function->name, "fails")) cr_expect_neq(result.failed_record, UINT64_MAX);
        else cr_expect_eq(result.failed_record, UINT64_MAX, "%s fails at %llu", function->name, (unsigned long long)result.failed_record);
    }
}
