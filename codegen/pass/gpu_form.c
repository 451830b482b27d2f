// SPDX-License-Identifier: Apache-2.0
// The order of the passes that make the form for GPUs, of a function that went through the scalar passes.
//
// Before: func f ...
// After:  func f shape group 256 records 4, places of accumulators and broadcasts; bodies for one record, for several,
//         and loops that the work-group makes together
#include "codegen/pass/gpu_form.h"

#include "base/costs_gpu.h"
#include "codegen/pass/owned_sums.h"
#include "codegen/pass/passes.h"
#include "codegen/pass/row_form.h"
#include "codegen/pass/row_tiles.h"
#include "codegen/pass/search_pieces.h"
#include "codegen/pass/token_pieces.h"

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
    if (single->emits || single->shape->span) return single;
    ir_func *spans = hdst__ir_copy_func(single->arena, single);
    hdst__pass_thread_coarsening(spans, spans->shape->records);
    if (!limits->no_unroll_hints) hdst__pass_unroll_hints(spans, limits->asked.unroll);
    return spans;
}

// How tiles are cut (row_tiles.h), in order of trying. Where the work-group has a table in device memory as well, its lanes need registers for more
// than tiles, and more records go to the table at once, if what its loops carry has room.
static const struct { uint32_t records, span; bool with_tables; } cuts[] = {
    {HDST__GPU_TILE_RECORDS, HDST__GPU_TILE_SPAN, false},
    {HDST__GPU_TILE_TABLE_RECORDS, 2 * HDST__GPU_TILE_SPAN, true},
    {HDST__GPU_TILE_TABLE_RECORDS, HDST__GPU_TILE_SPAN, true},
};
enum { CUTS = sizeof cuts / sizeof *cuts };     // behind them: without tiles

// What tiles have of local memory is left to nobody else; (key, value) tuples are for records that come one by one.
static hdst__gpu_limits cut(ir_func *func, const hdst__gpu_limits *limits, size_t n)
{
    const uint64_t share = limits->place.local_bytes / 8 * HDST__GPU_TILE_LOCAL_EIGHTHS;
    hdst__row_tiles tiles = {.group = limits->asked.group, .most_group = limits->most_group, .local_bytes = share, .small = limits->no_unroll_hints,
                             .rows = limits->place.rows};
    hdst__gpu_limits left = *limits;
    if (n < CUTS) tiles.records = cuts[n].records, tiles.span = cuts[n].span, tiles.tables = cuts[n].with_tables;
    if (n < CUTS && hdst__pass_row_tiles(func, &tiles)) {
        left.place.local_bytes -= hdst__row_tile_bytes(func);
        left.place.may_take_tuples = false;
    } else {
        hdst__pass_gpu_shape(func, &limits->asked, limits->most_group);
        if (func->search) func->shape->records = 1;         // of a tile, of which each lane has a record
    }
    return left;
}

// Additions to a table in device memory that no loop of the work-group makes are slower beside tiles: more of them wait for each other. So are those that it
// makes record by record to a table that others share.
static bool suits(const ir_func *func, const hdst__gpu_forms *forms, size_t n)
{
    const bool with_tables = hdst__placed_anywhere(func, IR_PLACE_GROUP) && !func->tables->apart;
    return !with_tables || (cuts[n].with_tables && forms->loops && (!func->tables->shared || hdst__place_leaves_sums(forms->loops)));
}

static void place_as(ir_func *to, const ir_func *from)
{
    for (size_t i = 0; i < from->param_count; i++) to->params[i].placement = from->params[i].placement;
    to->tables = from->tables;
}

// Sums that work-items own, taken out of `*body`; `limits` have room for the rest then. A lane takes one record: so each value that it leaves has one place.
static ir_func *take_owned(ir_func *func, ir_func **body, const hdst__tables *tables, hdst__gpu_limits *limits)
{
    ir_func *rest = hdst__ir_copy_func(func->arena, func);
    ir_func *owned = func->shape->span || limits->place.no_blocks ? NULL : hdst__pass_owned_sums(rest, tables);
    if (!owned) return NULL;
    const uint32_t group = limits->asked.group ? func->shape->group : HDST__GPU_OWNED_GROUP;
    const uint64_t bytes = hdst__owned_bytes(owned, group);
    if (group > func->shape->group || owned->body.count > (uint64_t)group * HDST__GPU_OWNED_EACH) return NULL;
    if (bytes > limits->place.local_bytes / 8 * HDST__GPU_OWNED_LOCAL_EIGHTHS) return NULL;
    limits->place.local_bytes -= bytes;
    func->shape->group = group;
    func->shape->records = 1;
    *body = rest;
    return owned;
}

static bool merges_locally(const ir_func *owned, const ir_func *func)
{
    for (size_t i = 0; i < owned->body.count; i++)
        if (func->params[owned->body.items[i]->param].placement->place != IR_PLACE_LOCAL) return false;
    return true;
}

// The body without what work-items own, which is left out if the tables that this is merged through have no room.
static ir_func *place_or_own(ir_func *func, const hdst__tables *tables, hdst__gpu_limits *limits, hdst__gpu_forms *forms)
{
    ir_func *body = func;
    const hdst__gpu_limits all = *limits;
    const ir_shape shape = *func->shape;
    forms->owned = take_owned(func, &body, tables, limits);
    forms->tables = (hdst__tables *)hdst__pass_accumulator_placement_gpu(func, forms->owned, tables, &limits->place);
    if (forms->owned && merges_locally(forms->owned, func)) {
        place_as(forms->owned, func);
        place_as(body, func);
        return body;
    }
    if (!forms->owned) return func;
    forms->owned = NULL;
    *limits = all;
    *func->shape = shape;
    forms->tables = (hdst__tables *)hdst__pass_accumulator_placement_gpu(func, NULL, tables, &limits->place);
    return func;
}

// Places the accumulators. Keys that are to meet have room before anything else, unless it is more than a quarter of local memory.
static ir_func *place_accumulators(ir_func *func, const hdst__tables *tables, hdst__gpu_limits *limits, hdst__gpu_forms *forms)
{
    const uint64_t keys = hdst__place_key_bytes(func, tables);
    const bool meet = keys && keys <= limits->place.local_bytes / 4;
    if (meet) limits->place.local_bytes -= keys;
    ir_func *body = place_or_own(func, tables, limits, forms);
    func->tables->keys_meet = meet;
    return body;
}

static const char *make_forms(ir_func *func, const hdst__tables *tables, hdst__gpu_limits *limits, hdst__gpu_forms *forms)
{
    forms->single = single_body(place_accumulators(func, tables, limits, forms));
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
    const bool takes_turns = forms->count && !func->search && !forms->loops && !func->shape->span && !func->tables->has_tuples;
    forms->flat = takes_turns ? hdst__pass_loop_flattening(forms->single) : NULL;
    return hdst__ir_verify(forms->spans);
}

const char *hdst__passes_gpu(ir_func *func, const hdst__tables *tables, const hdst__gpu_limits *limits, hdst__gpu_forms *forms)
{
    hdst__pass_output_way(func, false);
    hdst__pass_token_pieces(func);
    if (limits->searches) hdst__pass_search_pieces(func);
    const ir_func *whole = hdst__ir_copy_func(func->arena, func);
    for (size_t n = 0;; n++) {
        hdst__gpu_limits left = cut(func, limits, n);
        const char *wrong = make_forms(func, tables, &left, forms);
        if (wrong || !func->shape->span || suits(func, forms, n)) return wrong;
        *func = *hdst__ir_copy_func(func->arena, whole);
    }
}
