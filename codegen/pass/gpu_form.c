// SPDX-License-Identifier: Apache-2.0
// The order of the passes that make the form for GPUs, of a function that went through the scalar passes.
//
// Before: func f ...
// After:  func f shape group 256 records 4, places of accumulators and broadcasts; bodies for one record, for several,
//         and loops that the work-group makes together
#include "codegen/pass/gpu_form.h"

#include "codegen/pass/passes.h"
#include "codegen/pass/row_form.h"

// The body record by record: dots and sums in registers, elements in the order in which they lie. What is read of a
// wide record is read for several turns of the loop around.
static ir_func *single_body(const ir_func *func)
{
    ir_func *single = hdst__ir_copy_func(func->arena, func);
    hdst__pass_lane_reductions(single);
    if (hdst__gpu_is_wide(func)) hdst__pass_row_unroll_and_jam(single);
    hdst__pass_uniformity(single);
    if (func->emits) hdst__pass_emit_counts_place(single);
    return single;
}

// Where a barrier follows in the same loop over tiles, as in functions that emit, PoCL 3.1 miscompiles a loop with a
// hint: other counts in each run.
static ir_func *span_body(ir_func *single, const hdst__gpu_limits *limits)
{
    if (single->emits) return single;
    ir_func *spans = hdst__ir_copy_func(single->arena, single);
    hdst__pass_thread_coarsening(spans, spans->shape->records);
    if (!limits->no_unroll_hints) hdst__pass_unroll_hints(spans, limits->asked.unroll);
    return spans;
}

const char *hdst__passes_gpu(ir_func *func, const hdst__tables *tables, const hdst__gpu_limits *limits, hdst__gpu_forms *forms)
{
    hdst__pass_output_way(func, false);
    hdst__pass_gpu_shape(func, &limits->asked, limits->most_group);
    forms->tables = (hdst__tables *)hdst__pass_accumulator_placement_gpu(func, tables, &limits->place);
    forms->single = single_body(func);
    forms->loops = hdst__pass_accumulator_placement_loops(forms->single, forms->tables, &limits->place);
    hdst__pass_accumulator_placement_fixed_point(forms->single, forms->loops, forms->tables, &limits->place);
    hdst__pass_broadcast_placement(func, forms->loops, forms->tables, &limits->place);
    forms->spans = span_body(forms->single, limits);
    hdst__pass_joint_additions(forms->single);
    if (forms->spans != forms->single) hdst__pass_joint_additions(forms->spans);
    if (forms->loops) hdst__pass_joint_additions(forms->loops);
    hdst__pass_lane_words(forms, limits->place.rows);
    forms->count = func->emits ? hdst__ir_copy_func(func->arena, func) : NULL;
    const char *wrong = forms->count ? hdst__passes_count(forms->count) : NULL;
    if (wrong) return hdst__arena_printf(func->arena, "as it counts: %s", wrong);
    return hdst__ir_verify(forms->spans);
}
