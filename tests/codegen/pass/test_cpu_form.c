// SPDX-License-Identifier: Apache-2.0
// Which bodies the form for CPU devices has, and what its blocks and strips follow.
#include "tests/support/pass_case.h"

#include "codegen/ir/accum_tables.h"
#include "codegen/pass/cpu_form.h"
#include "codegen/pass/passes.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

TestSuite(cpu_form, .init = pass_set_up, .fini = pass_tear_down);

static const char sums[] = "  input p p {f32 x, u32 k}\n  broadcast c c[] {f32 y}\n  accum t t {f32 x}\n  var u32 i\n  var f32 d\n";
static const char adds[] = "  for i = 0u to u32(length(c)) {\n    d = add(d, mul(c[i].y, p.x))\n  }\n  accum t.x += d\n";
static const char filter[] = "  input p p {f32 x, u32 k}\n  output o o {f32 x}\n  var f32 d\n";
static const char keeps[] = "  store o.x = p.x\n  emit if lt(p.x, 1f)\n";

static ir_func *func;
static hdst__tables *tables;

static hdst__cpu_forms forms_of(const char *with, const char *body, hdst__layout layout, uint64_t layout_block, hdst__place_limits place)
{
    func = pass_read(with, body);
    hdst__pass_dead_code(func);         // marks what is read
    hdst__pass_uniformity(func);
    tables = (hdst__tables *)hdst__ir_accum_tables(func->arena, func, NULL);
    const uint64_t rows[] = {1, 1, 1};
    place.rows = rows;
    const hdst__cpu_limits limits = {
        .place = place, .input = hdst__storage_make(func->arena, func->params[0].record, layout, layout_block, 100000), .has_double = true};
    hdst__cpu_forms forms;
    const char *wrong = hdst__passes_cpu(func, tables, &limits, &forms);
    cr_assert_null(wrong, "%s", wrong);
    return forms;
}

Test(cpu_form, blocks_and_what_no_block_took)
{
    const hdst__cpu_forms forms = forms_of(sums, adds, HDST__SOA, 0, (hdst__place_limits){0});
    cr_expect_gt(forms.block->block, 0);
    cr_expect_eq(forms.single->block, 0);
    cr_expect_eq(forms.single->tables, forms.block->tables, "both forms go by the same placements");
    cr_expect(!forms.count && !forms.count_block && forms.row_sums.count == 0);
    cr_expect(forms.strip_step % forms.block->block == 0 && forms.strip_step >= 64);
}

Test(cpu_form, blocks_are_those_of_the_layout_where_they_are_small)
{
    static const struct { uint64_t layout; bool follows; } cases[] = {{64, true}, {512, true}, {1024, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const hdst__cpu_forms forms = forms_of(sums, adds, HDST__AOSOA, cases[i].layout, (hdst__place_limits){0});
        cr_expect_eq(forms.block->block == cases[i].layout, cases[i].follows, "blocks of %u, of the layout %u",
            (unsigned)forms.block->block, (unsigned)cases[i].layout);
        cr_expect(forms.strip_step >= 64 && forms.strip_step % forms.block->block == 0);
    }
}

Test(cpu_form, records_go_one_by_one_where_none_may_be_combined)
{
    const hdst__cpu_forms forms = forms_of(sums, adds, HDST__SOA, 0, (hdst__place_limits){.no_blocks = true});
    cr_expect(forms.block->block == 0 && forms.strip_step == 64);
    cr_expect(strstr(forms.block->form_why, "record by record"), "%s", forms.block->form_why);
    const hdst__cpu_forms map = forms_of("  input p p {f32 x, u32 k}\n  output o o {f32 x}\n", "  store o.x = p.x\n",
        HDST__SOA, 0, (hdst__place_limits){.no_blocks = true});
    cr_expect_gt(map.block->block, 0, "there is nothing to combine");
}

Test(cpu_form, little_work_is_read_ahead)
{
    cr_expect(forms_of(sums, "  accum t.x += p.x\n", HDST__SOA, 0, (hdst__place_limits){0}).reads_ahead);
    char much[4096];
    size_t at = (size_t)sprintf(much, "  d = p.x\n");
    for (int i = 0; i < 40; i++) at += (size_t)sprintf(much + at, "  e%d = mul(p.x, %df)\n", i, i + 2);
    at += (size_t)sprintf(much + at, "  for i = 0u to u32(length(c)) {\n    d = c[i].y\n");
    for (int i = 0; i < 40; i++) at += (size_t)sprintf(much + at, "    e%d = mul(e%d, d)\n", i, i);
    at += (size_t)sprintf(much + at, "  }\n");
    for (int i = 0; i < 40; i++) at += (size_t)sprintf(much + at, "  accum t.x += e%d\n", i);
    char with[2048];
    at = (size_t)sprintf(with, "%s", sums);
    for (int i = 0; i < 40; i++) at += (size_t)sprintf(with + at, "  var f32 e%d\n", i);
    const hdst__cpu_forms forms = forms_of(with, much, HDST__SOA, 0, (hdst__place_limits){0});
    cr_expect(forms.block->block > 0 && !forms.reads_ahead, "blocks of %u", (unsigned)forms.block->block);
}

Test(cpu_form, output_that_is_counted_has_forms_that_count)
{
    const hdst__cpu_forms forms = forms_of(filter, keeps, HDST__SOA, 0, (hdst__place_limits){0});
    cr_assert(forms.count && forms.count_block);
    cr_expect(forms.count->counts && forms.count_block->counts && forms.count->block == 0 && forms.count_block->block > 0);
    cr_expect(forms.single->placed, "only what comes out is stored");
    cr_expect_eq(hdst__ir_output(forms.block).way, IR_OUTPUT_COUNTED);
    cr_expect_eq(forms.block->output, func->output);
}

Test(cpu_form, branches_that_became_conditions_count_all)
{
    static const char with[] = "  input p p {f32 x, u32 k}\n  output o o {f32 x}\n  var u32 i\n  var f32 d\n";
    static const char either[] = "  for i = 0u to p.k {\n    d = add(d, p.x)\n  }\n"
        "  if lt(d, 1f) {\n    store o.x = d\n    emit\n  } else {\n    store o.x = p.x\n    emit\n  }\n";
    const hdst__cpu_forms forms = forms_of(with, either, HDST__SOA, 0, (hdst__place_limits){0});
    cr_expect_eq(hdst__ir_output(forms.block).way, IR_OUTPUT_BOUNDED);
    cr_expect_eq(hdst__ir_emit_bound(func), 1);
    cr_expect_eq(hdst__ir_output(forms.block).bound, 2);
}

Test(cpu_form, sums_over_rows_leave_the_row_form)
{
    static const char with[] = "  input p p {f32 x[300], u32 k}\n  broadcast c c[] {f32 y[300]}\n  accum t t {f32 x[300]}\n  var u32 i\n  var f32 d\n";
    static const char body[] = "  d = c[0u].y[0u]\n  for i = 0u to 300u {\n    accum t.x[i] += mul(d, p.x[i])\n  }\n";
    const hdst__cpu_forms forms = forms_of(with, body, HDST__AOS, 0, (hdst__place_limits){.fast_sums = true});
    cr_expect_eq(forms.block->block, 0);
    cr_expect_eq(forms.row_sums.count, 1);
    cr_expect(strstr(forms.block->form_why, "sums over 128 records"), "%s", forms.block->form_why);
    cr_expect(tables->accum[0].cell[0].fast);
}
