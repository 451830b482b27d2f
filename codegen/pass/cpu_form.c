// SPDX-License-Identifier: Apache-2.0
// The order of the passes that make the form for CPU devices, of a function that went through the scalar passes.
//
// Before: func f ...
// After:  func f block 256, places of accumulators, way of the output; a body for blocks, one for single records, and
//         the same for counting what comes out
#include "codegen/pass/cpu_form.h"

#include "base/costs_cpu.h"
#include "codegen/ir/accum_tables.h"
#include "codegen/pass/arranged_rows.h"
#include "codegen/pass/block_form.h"
#include "codegen/pass/passes.h"
#include "codegen/pass/sum_loops.h"

// Blocks of the layout are read whole, in order.
static void follow_layout(ir_func *block, const hdst__storage *input)
{
    if (block->block && input->layout == HDST__AOSOA && input->block <= HDST__CPU_LAYOUT_BLOCK) block->block = (uint32_t)input->block;
}

// Sums over a block of records leave row form, in which all records add one after another. False: there are none, or
// the row passes say what is wrong.
static bool with_row_sums(const ir_func *func, hdst__tables *tables, const hdst__cpu_limits *limits, hdst__cpu_forms *forms, const char **wrong)
{
    ir_func *split = hdst__ir_copy_func(func->arena, func);
    hdst__row_sums *sums = &forms->row_sums;
    if (forms->block->block || limits->no_vectors || !limits->has_double || !hdst__pass_row_sums(split, tables, limits->input, sums)) return false;
    *wrong = hdst__passes_row(split, tables);
    hdst__row_sums_renumber(split, sums);
    for (size_t i = 0; i < sums->count && limits->place.fast_sums; i++)
        ((hdst__cell *)&hdst__tables_accum(tables, sums->sum[i].param)->cell[sums->sum[i].leaf])->fast = true;      // of this kernel's own tables
    split->form_why = hdst__arena_printf(func->arena, "%s; sums over %d records", forms->block->form_why, HDST__ROW_SUMS_BLOCK);
    if (!*wrong) forms->block = split;
    return !*wrong;
}

static const char *blocks_or_rows(ir_func *func, const hdst__tables *tables, const hdst__cpu_limits *limits)
{
    if (!limits->no_vectors) return hdst__passes_blocks_or_rows(func, tables, limits->input);
    func->form_why = "record by record: vectors are switched off";
    return hdst__passes_row(func, tables);
}

static bool has_output(const ir_func *func)
{
    for (size_t i = 0; i < func->param_count; i++)
        if (func->params[i].kind == IR_OUTPUT) return true;
    return false;
}

static bool reads_most(const ir_func *func) { return func->emits ? hdst__ir_emit_bound(func) <= 1 : !has_output(func); }

// Where keys are looked at all together, if blocks of records come of it.
static const char *blocks_of_arranged(ir_func *func, const hdst__tables *tables, const hdst__cpu_limits *limits)
{
    ir_func *arranged = hdst__ir_copy_func(func->arena, func);
    if (!limits->no_vectors) hdst__pass_arranged_rows(arranged, tables);
    const char *wrong = blocks_or_rows(arranged, tables, limits);
    if (!wrong && !arranged->block) return blocks_or_rows(func, tables, limits);
    if (!wrong) *func = *arranged;
    return wrong;
}

static const char *make_block(const ir_func *func, hdst__tables *tables, const hdst__cpu_limits *limits, hdst__cpu_forms *forms)
{
    forms->block = hdst__ir_copy_func(func->arena, func);
    const bool singly = limits->place.no_blocks && tables->accum_count;    // a block of records would combine them
    if (singly) forms->block->form_why = "record by record, each addend straight to the device's table";
    const bool arranged = func->params[0].starts;
    const char *wrong = singly ? NULL : (arranged ? blocks_of_arranged : blocks_or_rows)(forms->block, tables, limits);
    const bool split = !wrong && !singly && with_row_sums(func, tables, limits, forms, &wrong);
    if (wrong) return wrong;
    forms->reads_ahead = forms->block->block > HDST__CPU_LAYOUT_BLOCK / 2;     // blocks of many records: little is kept for each
    forms->reads_apart = hdst__block_bytes_per_record(forms->block) > HDST__CPU_AHEAD_KEPT_BYTES;
    forms->reads_most = reads_most(func);
    follow_layout(forms->block, limits->input);
    forms->strip_step = forms->block->block > HDST__CPU_STRIP_STEP ? forms->block->block : HDST__CPU_STRIP_STEP;
    forms->few_step = split && !has_output(func) ? HDST__CPU_FEW_STEP : forms->strip_step;
    hdst__place_limits place = limits->place;
    place.may_turn = !split;
    hdst__pass_accumulator_placement_cpu(forms->block, func, tables, &place);
    hdst__pass_sum_loops(forms->block, limits->has_double);
    hdst__pass_shared_factors(forms->block);
    if (limits->correctly_rounded) hdst__pass_software_pipelining(forms->block);
    if (split && !has_output(func)) hdst__pass_batch_sums(forms->block, tables, &forms->row_sums);
    return NULL;
}

static void make_single(ir_func *func, const hdst__tables *tables, hdst__cpu_forms *forms)
{
    const bool in_blocks = forms->block->block;
    forms->single = hdst__ir_copy_func(func->arena, in_blocks ? func : forms->block);
    if (hdst__ir_output(func).way == IR_OUTPUT_COUNTED) hdst__pass_emit_counts_place(forms->single);
    if (!in_blocks) hdst__pass_lookup_batches(forms->single);
    if (in_blocks) hdst__place_tail(forms->single, forms->block, tables);
}

static const char *make_count(const ir_func *func, const hdst__cpu_limits *limits, hdst__cpu_forms *forms)
{
    if (hdst__ir_output(func).way != IR_OUTPUT_COUNTED) return NULL;
    forms->count = hdst__ir_copy_func(func->arena, func);
    bool of_numbers;
    if (func->output->at_most) hdst__pass_emit_counts_most(forms->count, &of_numbers);
    const char *wrong = hdst__passes_count(forms->count);
    if (wrong) return wrong;
    ir_func *block = hdst__ir_copy_func(func->arena, forms->count);
    wrong = blocks_or_rows(block, hdst__ir_accum_tables(func->arena, block, NULL), limits);
    follow_layout(block, limits->input);
    *(block->block ? &forms->count_block : &forms->count) = block;
    return wrong;
}

const char *hdst__passes_cpu(ir_func *func, hdst__tables *tables, const hdst__cpu_limits *limits, hdst__cpu_forms *forms)
{
    *forms = (hdst__cpu_forms){0};
    const char *wrong = make_block(func, tables, limits, forms);
    if (wrong) return wrong;
    if (limits->combines) func->emits_few = true;       // what leaves the output again takes no room that was counted
    hdst__pass_output_way(func, true);
    if (func->output && (limits->counts_output || (func->output->most_of_numbers && !limits->passes_on))) func->output->at_most = false;
    // Branches became conditions, which all count.
    if (hdst__ir_output(func).way == IR_OUTPUT_BOUNDED) func->output->bound = hdst__ir_emit_bound(forms->block);
    forms->block->output = func->output;
    make_single(func, tables, forms);
    if ((wrong = make_count(func, limits, forms))) return hdst__arena_printf(func->arena, "as it counts: %s", wrong);
    wrong = hdst__ir_verify(forms->block);
    return wrong ? wrong : hdst__ir_verify(forms->single);
}
