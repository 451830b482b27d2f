// SPDX-License-Identifier: Apache-2.0
// Which leaves a batch may have rounded: those all of whose elements one sum over the rows of a block makes, in tables with first-level words.
#include "accum/tables.h"
#include "codegen/front/ast.h"
#include "codegen/front/front.h"
#include "codegen/ir/accum_tables.h"
#include "codegen/lower/lower.h"
#include "codegen/pass/passes.h"
#include "codegen/pass/row_sums.h"

#include <criterion/criterion.h>
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
TestSuite(batch_sums, .init = set_up, .fini = tear_down);

static const char program[] = "struct sample { float y[9]; float x[40]; };\n"
                              "struct net { float w[9][40]; float b[9]; float part[9][40]; float twice[40]; float both[40]; uint32_t n; };\n"
                              "map train(sample s, accum net g)\n"
                              "{\n"
                              "    for (uint32_t h = 0; h < 9; h++) {\n"
                              "        g.b[h] += s.y[h];\n"
                              "        for (uint32_t i = 0; i < 40; i++) g.w[h][i] += s.y[h] * s.x[i];\n"
                              "    }\n"
                              "    for (uint32_t h = 0; h < 8; h++)\n"
                              "        for (uint32_t i = 0; i < 40; i++) g.part[h][i] += s.y[h] * s.x[i];\n"
                              "    for (uint32_t i = 0; i < 40; i++) g.twice[i] += s.x[i];\n"
                              "    for (uint32_t i = 0; i < 40; i++) g.twice[i] += s.y[1] * s.x[i];\n"
                              "    for (uint32_t i = 0; i < 40; i++) g.both[i] += s.y[2] * s.x[i];\n"
                              "    g.both[7] += s.y[3];\n"
                              "    g.n += 1;\n"
                              "}\n";

// The leaf's batch_sum, after both passes.
static void expect_sums(bool first_level, const uint32_t right[6])
{
    ast_module *module = hdst__module_compile(&diags, "sums.hk", program, sizeof program - 1, &(hdst__front_options){0});
    cr_assert_eq(diags.errors, 0);
    ir_func *func = hdst__lower(&arena, module, hdst__module_function(module, "train"));
    cr_assert_null(hdst__passes_scalar(func));
    hdst__tables *tables = (hdst__tables *)hdst__ir_accum_tables(&arena, func, NULL);
    hdst__row_sums sums = {0};
    tables->first_level = first_level;
    cr_assert(hdst__pass_row_sums(func, tables, hdst__storage_make(&arena, func->params[0].record, HDST__AOS, 0, 1000), &sums));
    cr_assert_eq(sums.count, 5);
    hdst__pass_batch_sums(func, tables, &sums);
    const hdst__cell *cell = tables->accum[0].cell;
    for (int leaf = 0; leaf < 6; leaf++) cr_expect_eq(cell[leaf].batch_sum, right[leaf], "leaf %d: %u", leaf, cell[leaf].batch_sum);
}

Test(batch_sums, make_all_of_a_leaf_by_themselves)
{
    // w whole; b word by word; of part a unit is missing; two sums make `twice`; something else adds to `both`
    expect_sums(true, (const uint32_t[]){1, 0, 0, 0, 0, 0});
}

Test(batch_sums, are_for_tables_with_first_level_words)
{
    expect_sums(false, (const uint32_t[]){0, 0, 0, 0, 0, 0});
}
