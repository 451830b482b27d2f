// SPDX-License-Identifier: Apache-2.0
// What a stage needs to run on a device with given row counts (engine/stage/launch_plan.h).
#include "engine/stage/launch_plan.h"
#include "base/costs_cpu.h"
#include "base/costs_gpu.h"
#include "base/costs_host.h"

#include "codegen/interp/interp.h"
#include "engine/stage/launch_fixed_point.h"
#include "engine/stage/launch_products.h"
#include "engine/stage/launch_shape.h"
#include "engine/stage/launch_strips.h"
#include "engine/stage/launch_texts.h"
#include "engine/device/callback.h"
#include "engine/memory/store.h"
#include "base/clock.h"
#include "accum/addends.h"
#include "accum/first_level.h"
#include "accum/fixed_point.h"
#include "codegen/ir/accum_tables.h"
#include "codegen/pass/addition_bound.h"

#include <string.h>

enum { LEAST_GPU_FLUSH = 8 << HDST__LANE_BITS };    // a lane takes up to 8 records at once, and its own words FLUSH_ADDS >> LANE_BITS additions

static const uint64_t MOST_PIECE_RECORDS = (uint64_t)1 << 40;  // of records that take no memory

static bool has_rows(const ir_param *param)
{
    return param->kind == IR_BROADCAST_TABLE || param->kind == IR_ACCUM_TABLE;
}

bool hdst__launch_plan_fits(const hdst__launch_plan *plan, const hdst__stage_values *values)
{
    for (size_t i = 0; i < plan->func->param_count; i++)
        if (has_rows(&plan->func->params[i]) && plan->func->params[i].is_table && values->rows[i] != plan->rows[i]) return false;
    return true;
}

static void note_params(hdst__launch_plan *plan, const hdst__stage_values *values)
{
    const ir_func *func = plan->func;
    plan->rows = HDST__NEW_ARRAY(&plan->arena, uint64_t, func->param_count);
    plan->broadcast = HDST__NEW_ARRAY(&plan->arena, hdst__memory *, func->param_count);
    plan->apart = HDST__NEW_ARRAY(&plan->arena, bool, func->param_count);
    plan->wrapped = HDST__NEW_ARRAY(&plan->arena, hdst__memory *, func->param_count);
    plan->bound = HDST__NEW_ARRAY(&plan->arena, hdst__memory *, func->param_count);
    plan->host = HDST__NEW_ARRAY(&plan->arena, const void *, func->param_count);
    plan->version = HDST__NEW_ARRAY(&plan->arena, uint64_t, func->param_count);
    for (size_t i = 0; i < func->param_count; i++) {
        const ir_param *param = &func->params[i];
        if (has_rows(param)) plan->rows[i] = param->is_table ? values->rows[i] : 1;
        const bool stays = param->kind == IR_BROADCAST_TABLE && plan->rows[i] && values && values->in_place && values->in_place[i];
        plan->apart[i] = stays && values->is_input && values->is_input[i] && values->resident && values->resident[i] && !plan->device->unified;
        if (stays && plan->device->unified) plan->wrapped[i] = HDST__NEW(&plan->arena, hdst__memory);
        if (param->kind == IR_OUTPUT) plan->output_param = param;
    }
}

// --- Scales and precision classes ---

static void choose_classes(hdst__launch_plan *plan)
{
    for (size_t i = 0; i < plan->tables->accum_count; i++) {
        const hdst__accum *accum = &plan->tables->accum[i];
        for (size_t leaf = 0; leaf < plan->func->params[accum->param].record->leaf_count; leaf++) {
            const hdst__cell *cell = &accum->cell[leaf];
            if (cell->scale < 0) continue;
            plan->scale[cell->scale] = hdst__addends_scale(&plan->addends[cell->scale], cell->kind, HDST__FIXED_BITS);
            plan->precision[cell->scale] = plan->too_often[cell->scale] ? HDST__CLASS_SUPERACCUMULATOR
                : hdst__addends_precision(&plan->addends[cell->scale], cell->kind, plan->scale[cell->scale], HDST__FIXED_BITS);
        }
    }
}

// The bound holds for a strip between two flushes: HDST__FLUSH_ADDS additions fit any cell of any precision class.
static uint64_t flush_after(uint64_t adds)
{
    if (adds == UINT64_MAX) return 0;
    return adds ? HDST__FLUSH_ADDS / adds : HDST__FLUSH_ADDS;
}

// A word of an integer, or a key, takes any number of additions, and so does a superaccumulator: strips need not be flushed for their sake, which in a large
// table would take far longer than a few records do. Counts of a work-group may be shorter than that.
static void count_additions(hdst__launch_plan *plan)
{
    const bool gpu = plan->device->facts.target == HDST__TARGET_GPU;
    for (size_t i = 0; i < plan->tables->accum_count; i++) {
        const hdst__accum *accum = &plan->tables->accum[i];
        for (uint32_t leaf = 0; leaf < accum->leaf_count; leaf++) {
            const hdst__cell *cell = &accum->cell[leaf];
            if (cell->scale < 0 && !(gpu && cell->op == HDST__WORD_ADD)) continue;
            const uint64_t adds = hdst__leaf_adds_per_record(&plan->arena, plan->func, plan->rows, accum->param, leaf);
            const bool too_often = !gpu && flush_after(adds) < HDST__CPU_LEAST_FLUSH;
            if (too_often) plan->too_often[cell->scale] = true;
            else if (adds > plan->adds) plan->adds = adds;
        }
    }
    plan->flush = flush_after(plan->adds);
    if (!gpu || plan->flush >= LEAST_GPU_FLUSH) return;
    for (uint32_t i = 0; i < plan->tables->scale_count; i++) plan->too_often[i] = true;
}

// Workers of one run see the data as the first one's sample did.
static void agree(hdst__launch_plan *plan, const hdst__launch_plan *like)
{
    const uint32_t scales = plan->tables ? plan->tables->scale_count : 0;
    for (uint32_t i = 0; i < scales; i++) plan->addends[i] = like->addends[i];
    *plan->rows_seen = *like->rows_seen;
    plan->sampled = like->sampled;
    plan->emitted = like->emitted;
    plan->power = like->power;
}

static void make_tables(hdst__launch_plan *plan, const hdst__stage_values *values, const hdst__launch_plan *like)
{
    plan->tables = hdst__ir_accum_tables(&plan->arena, plan->func, NULL);
    if (plan->tables->accum_count == 0) plan->tables = NULL;
    uint32_t scales = plan->tables ? plan->tables->scale_count : 0;
    plan->rows_seen = HDST__NEW(&plan->arena, hdst__rows_seen);
    plan->addends = HDST__NEW_ARRAY(&plan->arena, hdst__addends, scales + 1);
    plan->precision = HDST__NEW_ARRAY(&plan->arena, hdst__precision_class, scales + 1);
    plan->scale = HDST__NEW_ARRAY(&plan->arena, int32_t, scales + 1);
    plan->too_often = HDST__NEW_ARRAY(&plan->arena, bool, scales + 1);
    plan->flush = flush_after(0);
    if (plan->tables) count_additions(plan);
    for (uint32_t i = 0; i < scales; i++) hdst__addends_init(&plan->addends[i]);
    if (like) agree(plan, like);
    else hdst__launch_plan_sample(plan, values);
    if (!plan->tables) return;
    choose_classes(plan);
    plan->tables = hdst__ir_accum_tables(&plan->arena, plan->func, plan->precision);
    plan->device_words = hdst__tables_device_words(plan->tables, plan->rows);
    plan->private_words = hdst__tables_private_words(plan->tables, plan->rows);
}

// --- The kernel ---

// As the kernel has them.
static void take_tables(hdst__launch_plan *plan, const hdst__launch_plan_request *request)
{
    if (request->fold || !plan->kernel->tables || !plan->tables) return;
    plan->tables = plan->kernel->tables;
    plan->device_words = hdst__tables_device_words(plan->tables, plan->rows);
    plan->first_level_words = hdst__tables_first_level_words(plan->tables, plan->rows);
    plan->page_count = HDST__CPU_DIRTY_PAGES + 1;
    plan->rounds_batches = request->rounds_batches;
    if (plan->kernel->strips_twice) plan->private_words = hdst__tables_turns_words(plan->tables, plan->rows);
    if (plan->kernel->merges) plan->private_words = hdst__tables_private_words(plan->tables, plan->rows);
    if (hdst__tables_write_rows(plan->tables)) plan->device_words = 1;
}

// Where its kernels cannot write rows the plan is made as any.
static void make_row_writer(hdst__launch_plan *plan, const hdst__launch_plan_request *request, hdst__diags *diags)
{
    plan->wants_rows = request->writes_rows && hdst__plan_rows_scales(plan);
    if (!plan->wants_rows) return;
    const uint32_t bits = plan->fixed_point_bits;
    plan->fixed_point_bits = 0;
    plan->kernel = hdst__plan_kernel(plan, request, diags);
    if (plan->kernel && plan->kernel->tables && hdst__tables_write_rows(plan->kernel->tables)) return;
    plan->fixed_point_bits = bits;
    plan->wants_rows = false;
    plan->kernel = NULL;
    choose_classes(plan);
}

static hdst_status make_kernel(hdst__launch_plan *plan, const hdst__launch_plan_request *request, hdst_error *error)
{
    hdst__diags diags;
    hdst__diags_init(&diags, &plan->arena);
    if (plan->func->diags) {            // the places of its messages are in the user's sources
        diags.sources = plan->func->diags->sources;
        diags.source_count = plan->func->diags->source_count;
    }
    const bool merges = request->merges_words && !plan->device->unified, fixed_point = (request->makes_rows || merges) &&
        plan->device->options->hpr != HDST__HPR_NONE;
    plan->may_take_tuples = fixed_point && request->makes_rows && hdst__plan_may_part(plan, request->most_records);
    plan->fixed_point_bits = fixed_point ? hdst__plan_fixed_point_bits(plan, plan->whole.records) : 0;     // words of several workers meet in one
    make_row_writer(plan, request, &diags);
    if (!plan->kernel) plan->kernel = hdst__plan_kernel(plan, request, &diags);
    if (plan->kernel) take_tables(plan, request);
    if (plan->kernel && hdst__plan_adds_directly(plan)) {
        plan->adds_directly = true;
        plan->kernel = hdst__plan_kernel(plan, request, &diags);
        if (plan->kernel) take_tables(plan, request);
    }
    if (plan->kernel && plan->fixed_point_bits && !hdst__plan_fixed_point_scales(plan)) {
        plan->fixed_point_bits = 0;
        choose_classes(plan);
        plan->kernel = hdst__plan_kernel(plan, request, &diags);
        if (plan->kernel) take_tables(plan, request);
    }
    plan->words_come_back = plan->kernel && request->merges_words && plan->tables && hdst__tables_are_fixed_point(plan->tables);
    if (plan->kernel) return HDST_OK;
    if (hdst__diags_to_error(&diags, HDST_E_KERNEL, error) == HDST_OK)
        return hdst__error_set(error, HDST_E_INTERNAL, "no kernel was made, and no reason given");
    if (error && !error->hint[0]) hdst__error_hint(error, "--device interp runs it, slowly");
    return HDST_E_KERNEL;
}

// --- Work-items and slices ---

static hdst_status choose_items(hdst__launch_plan *plan, hdst_error *error)
{
    if (!plan->kernel) {
        plan->items = 1;
        plan->items_why = plan->code.callback ? "a C function of the program" : "the calling thread";
        return HDST_OK;
    }
    if (plan->kernel->one_group_per_strip) return hdst__plan_choose_strips(plan, error);
    if (plan->kernel->products_name) {
        hdst__plan_choose_products(plan);
        return HDST_OK;
    }
    if (plan->kernel->merges && plan->kernel->group_tables && plan->kernel->shape.span) {
        plan->items = plan->device->info->compute_units * HDST__GPU_TABLE_GROUPS_PER_UNIT * plan->kernel->local_size;
        plan->items_why = "8 work-groups per compute unit";
        return HDST_OK;
    }
    if (plan->kernel->merges && !plan->kernel->group_tables) {
        const bool few = plan->kernel->fast_sums && plan->kernel->shape.span;      // a lane's plain sums and tiles leave room for no more at once
        const uint64_t fit = hdst__budget_left(&plan->device->budget) / HDST__GPU_TABLE_SHARE / (plan->private_words * sizeof(int64_t)),
            most = (uint64_t)plan->device->info->compute_units * (few ? HDST__GPU_FAST_TILE_GROUPS_PER_UNIT : HDST__GPU_TABLE_GROUPS_PER_UNIT);
        plan->items = (uint32_t)(fit < 1 ? 1 : fit < most ? fit : most) * plan->kernel->local_size;
        plan->items_why = few ? "2 work-groups per compute unit, as far as their tables have room"
                              : "8 work-groups per compute unit, as far as their tables have room";
        return HDST_OK;
    }
    if (plan->kernel->tuple_kernel_count) {
        plan->items = plan->device->info->compute_units * HDST__GPU_TUPLE_GROUPS_PER_UNIT * plan->kernel->local_size;
        plan->items_why = "24 work-groups per compute unit, each with as many records";
        return HDST_OK;
    }
    const bool merges = plan->tables != NULL;
    plan->items = plan->device->info->compute_units * (merges ? HDST__GPU_GROUPS_PER_UNIT : HDST__GPU_PLAIN_GROUPS_PER_UNIT) * plan->kernel->local_size;
    plan->items_why = merges ? "32 work-groups per compute unit" : "128 work-groups per compute unit: they have no tables to merge";
    return HDST_OK;
}

// Bytes that the host's budget and the device's both have left.
static uint64_t bytes_left(const hdst__launch_plan *plan)
{
    const uint64_t host = hdst__budget_left(&plan->device->runtime->memory), device = hdst__budget_left(&plan->device->budget);
    return host < device ? host : device;
}

static uint64_t round_to_64(uint64_t records)
{
    return records > UINT64_MAX - 63 ? UINT64_MAX / 64 * 64 : (records + 63) / 64 * 64;
}

static uint64_t most_output_bytes(const hdst__launch_plan *plan)
{
    if (plan->reader.makes_texts) return plan->passes_on && !plan->device->unified ? HDST__GPU_TEXT_OUTPUT_BYTES : HDST__CPU_TEXT_OUTPUT_BYTES;
    if (plan->way == IR_OUTPUT_BOUNDED) return plan->func->emits_few ? HDST__HOST_OUTPUT_BYTES : HDST__CPU_STRIP_OUTPUT_BYTES;
    return plan->device->facts.target == HDST__TARGET_GPU ? HDST__GPU_OUTPUT_BYTES : HDST__HOST_OUTPUT_BYTES;
}

// Where the data says how much comes out, a slice is as large as its output may be expected to fit; if it does not, the executor cuts it.
static void choose_room(hdst__launch_plan *plan, bool fold)
{
    const uint64_t share = bytes_left(plan) / HDST__HOST_OUTPUT_SHARE, roof = most_output_bytes(plan), bytes = share < roof ? share : roof;
    uint64_t fit = bytes / (plan->output_param->record->size + 1), group = fold ? HDST__FOLD_RECORDS : 1;
    uint64_t bound = plan->way == IR_OUTPUT_BOUNDED ? plan->kernel->emit_bound : plan->way == IR_OUTPUT_COUNTED ? hdst__ir_emit_bound(plan->func) : 1;
    if (bound == 0) bound = 1;          // one that never emits has an output all the same
    if (fit < 64) fit = 64;
    if (plan->way != IR_OUTPUT_COUNTED || plan->code.callback) {        // a C function is not called again
        const uint64_t most = fit * group / bound / 64 * 64;
        if (most < plan->slice_most) plan->slice_most = most < 64 ? 64 : most;
        fit = UINT64_MAX;
    }
    uint64_t most = plan->reader.records < plan->slice_most ? round_to_64(plan->reader.records) : plan->slice_most, outputs;
    if (__builtin_mul_overflow((most + group - 1) / group, bound, &outputs)) outputs = UINT64_MAX;
    plan->room = outputs < fit ? outputs : fit;
}

// Output of one record for each record has its place before it is computed. Slices begin at segments, which then must end where a part of a store may start.
static bool can_write_in_place(const hdst__launch_plan *plan, bool fold, uint64_t most_records)
{
    const uint64_t segment = most_records ? most_records : plan->piece->capacity;
    if (!plan->output_param || plan->output_param->record->has_text) return false;     // the bytes of texts are copied when a slice has ended
    if (plan->way != IR_OUTPUT_DENSE || fold || plan->passes_on || !plan->device->has_sub_buffers) return false;
    if (!plan->keep_output && !plan->device->unified) return false;
    if (plan->output_param->record->size > HDST__HOST_IN_PLACE_BYTES) return false;
    return plan->reader.records <= segment || segment % HDST__SUB_BUFFER_RECORDS == 0;
}

static bool can_count_in_window(const hdst__launch_plan *plan)
{
    if (!plan->output_param || plan->output_param->record->has_text) return false;
    if (plan->kernel && plan->kernel->at_most) return false;        // there is no gap in a window
    return plan->way == IR_OUTPUT_COUNTED && plan->kernel && plan->kernel->one_group_per_strip && plan->device->unified;
}

// Of texts there are far more bytes than of their records, and mostly far more records come out than go in: slices are such that both stay in caches.
static void choose_text_slices(hdst__launch_plan *plan)
{
    const uint64_t bytes = hdst__segment_record_bytes(plan->reader.record) + plan->reader.text_bytes;
    const uint64_t fit = round_to_64(HDST__CPU_TEXT_SLICE_BYTES / bytes);
    if (plan->slice_most > fit) plan->slice_most = fit > plan->slice_least ? fit : plan->slice_least;
}

static void choose_counted(hdst__launch_plan *plan)
{
    const uint64_t bytes = hdst__segment_record_bytes(plan->reader.record), fit = round_to_64(HDST__CPU_COUNTED_INPUT_BYTES / (bytes ? bytes : 1));
    if (plan->slice_most > fit) plan->slice_most = fit > plan->slice_least ? fit : plan->slice_least;
}

static void choose_slices(hdst__launch_plan *plan, uint64_t most_records, bool fold)
{
    bool gpu = plan->kernel && !plan->kernel->one_group_per_strip;
    plan->slice_least = round_to_64(gpu ? plan->items : (uint64_t)plan->items * 64);
    plan->slice_most = round_to_64(most_records ? most_records : plan->piece->capacity);
    // A launch's tables are added up as they are, so all its additions to a cell must fit a word.
    if (plan->kernel && plan->kernel->merges && plan->flush >= 64 && plan->slice_most > plan->flush) plan->slice_most = plan->flush / 64 * 64;
    hdst__plan_tuple_slices(plan);
    hdst__plan_product_slices(plan);
    if (fold) plan->slice_least = plan->slice_most < HDST__HOST_FOLD_RECORDS ? plan->slice_most : HDST__HOST_FOLD_RECORDS;
    plan->in_place = can_write_in_place(plan, fold, most_records);
    plan->in_window = !plan->keep_output && !plan->passes_on && (plan->in_place || can_count_in_window(plan));
    if (plan->in_window && !plan->in_place) choose_counted(plan);
    else if (plan->output_param && !plan->in_place) {
        if (plan->reader.makes_texts) choose_text_slices(plan);
        choose_room(plan, fold);
    }
    if (plan->slice_least > plan->slice_most) plan->slice_least = plan->slice_most;
}

// Records without fields lie nowhere: one piece has them all, and slices are cut as time and output ask for.
static void choose_one_piece(hdst__launch_plan *plan, hdst__arena *arena)
{
    const hdst__reader *reader = &plan->reader;
    const uint64_t all = round_to_64(reader->records), capacity = all < 64 ? 64 : all < MOST_PIECE_RECORDS ? all : MOST_PIECE_RECORDS;
    const uint64_t rest = reader->records % capacity ? reader->records % capacity : capacity;
    plan->piece = hdst__storage_make(arena, reader->record, reader->layout, reader->block, capacity);
    plan->last = hdst__storage_make(arena, reader->record, reader->layout, reader->block, rest);
}

static void choose_pieces(hdst__launch_plan *plan, hdst__arena *arena)
{
    const hdst__reader *reader = &plan->reader;
    if (reader->record->leaf_count == 0) {
        choose_one_piece(plan, arena);
        return;
    }
    const uint64_t capacity = plan->piece_records ? plan->piece_records : hdst__segment_stream_records(reader, plan->device, bytes_left(plan));
    uint64_t rest = reader->records % capacity ? reader->records % capacity : capacity;
    plan->piece = hdst__storage_make(arena, reader->record, reader->layout, reader->block, capacity);
    plan->last = hdst__storage_make(arena, reader->record, reader->layout, reader->block, rest);
}

// --- Memory ---

static hdst_status device_memory(hdst__launch_plan *plan, hdst__owner owner, uint64_t bytes, const char *what, hdst__memory **memory, hdst_error *error)
{
    return plan->device->ops->alloc(plan->device, HDST__MEMORY_DEVICE, owner, bytes, what, memory, error);
}

// Both come back after a run: one behind the other, to pinned memory, where the device has memory of its own.
static hdst_status take_results(hdst__launch_plan *plan, hdst_error *error)
{
    hdst__device *device = plan->device;
    const uint64_t table = plan->device_words * sizeof(int64_t), room = (table + HDST__SUB_BUFFER_BYTES - 1) / HDST__SUB_BUFFER_BYTES * HDST__SUB_BUFFER_BYTES;
    hdst_status status = device->ops->alloc(device, HDST__MEMORY_SHARED, HDST__OWNER_ACCUMULATORS, room + sizeof(uint64_t), "the table of accumulators",
                                            &plan->results, error);
    if (status == HDST_OK) status = device->ops->sub_buffer(device, plan->results, 0, table, &plan->sub_buffer[0], error);
    if (status == HDST_OK) status = device->ops->sub_buffer(device, plan->results, room, sizeof(uint64_t), &plan->sub_buffer[1], error);
    if (status != HDST_OK) return status;
    plan->table = &plan->sub_buffer[0];
    plan->error_word = &plan->sub_buffer[1];
    return HDST_OK;
}

enum { HELD_TWICE = 2 };                // the input, by what a cache holds and by the cache

// Where the calling thread runs the function it adds to the one table, in the host's memory; a kernel's work-items have tables of their own beside it.
static hdst_status take_accumulators(hdst__launch_plan *plan, hdst_error *error)
{
    static const char what[] = "the table of accumulators";
    const hdst__budget *host = &plan->device->runtime->memory;
    const uint64_t bytes = (plan->first_level_words + plan->device_words) * sizeof(int64_t);
    const hdst_status status = device_memory(plan, HDST__OWNER_ACCUMULATORS, bytes, what, &plan->table, error);
    if (status != HDST_E_MEMORY || plan->kernel || hdst__budget_left(host) >= bytes) return status;
    uint64_t input;
    if (__builtin_mul_overflow(plan->reader.records, HELD_TWICE * plan->reader.record->size, &input)) input = UINT64_MAX;
    if (!plan->reader.held) input = 0;
    return hdst__budget_error_of_all(host, bytes, hdst__plan_bytes_of_results(plan), input, what, error);
}

static hdst_status take_table(hdst__launch_plan *plan, hdst_error *error)
{
    if (plan->tables && plan->device_words > UINT64_MAX / 16)
        return hdst__budget_error(&plan->device->budget, UINT64_MAX / 2, "the table of accumulators", error);
    const bool stays = plan->tables && hdst__tables_are_fixed_point(plan->tables) && !plan->words_come_back;
    if (plan->tables && !plan->device->unified && plan->device->has_sub_buffers && !stays) return take_results(plan, error);
    hdst_status status = device_memory(plan, HDST__OWNER_ACCUMULATORS, sizeof(uint64_t), "the error word", &plan->error_word, error);
    return status == HDST_OK && plan->tables ? take_accumulators(plan, error) : status;
}

static void release_table(hdst__launch_plan *plan)
{
    const hdst__device_ops *ops = plan->device->ops;
    for (size_t i = 0; i < 2 && plan->results; i++) ops->release_sub_buffer(plan->device, &plan->sub_buffer[i]);
    ops->release(plan->device, plan->results ? plan->results : plan->table);
    if (!plan->results) ops->release(plan->device, plan->error_word);
}

// Of strips on a CPU device, of work-groups on a GPU, where they are empty between two launches.
static hdst_status take_strips(hdst__launch_plan *plan, hdst_error *error)
{
    const bool merges = plan->kernel->merges;
    const uint64_t groups = plan->items / plan->kernel->local_size;
    const uint64_t tables = plan->kernel->products_name ? plan->product_groups / plan->kernel->product_items
        : merges && plan->kernel->group_tables ? plan->kernel->group_tables : groups;
    hdst_status status = device_memory(plan, HDST__OWNER_ACCUMULATORS, tables * plan->private_words * sizeof(int64_t),
                                       merges ? "the tables of work-groups" : "the tables of strips", &plan->strips, error);
    return status == HDST_OK && merges ? plan->device->ops->fill(plan->device, plan->strips, tables * plan->private_words, 0, error) : status;
}

static hdst_status take_memory(hdst__launch_plan *plan, hdst_error *error)
{
    const ir_func *func = plan->func;
    hdst_status status = take_table(plan, error);
    if (status == HDST_OK) status = hdst__plan_fixed_point_take(plan, error);
    if (status == HDST_OK && hdst__plan_has_argument(plan, HDST__ARG_PRIVATE_TABLES))
        status = take_strips(plan, error);
    if (status == HDST_OK) status = hdst__plan_fit_products(plan, error);
    uint32_t scales = plan->tables ? plan->tables->scale_count : 0;
    if (status == HDST_OK && hdst__plan_has_argument(plan, HDST__ARG_SCALES)) {
        status = device_memory(plan, HDST__OWNER_ACCUMULATORS, (scales + 1) * sizeof(int32_t), "scales", &plan->scales, error);
        if (status == HDST_OK) status = plan->device->ops->write(plan->device, plan->scales, 0, plan->scale, scales * sizeof(int32_t), true, error);
    }
    for (size_t i = 0; i < func->param_count && status == HDST_OK; i++)
        if (func->params[i].kind == IR_BROADCAST_TABLE && !plan->wrapped[i] && !plan->apart[i])
            status = device_memory(plan, HDST__OWNER_VALUES, plan->rows[i] * func->params[i].record->size, func->params[i].name, &plan->broadcast[i], error);
    return status;
}

// Kernels of a device that shares the host's memory write each record where all workers' output is to lie.
bool hdst__plan_wraps_output(const hdst__launch_plan *plan)
{
    if (!plan->output_param || plan->output_param->record->has_text) return false;      // the bytes of texts are copied when a slice has ended
    return plan->shares_in_place && plan->device->unified && plan->way == IR_OUTPUT_DENSE && !plan->code.fold;
}

uint32_t hdst__plan_slices_in_flight(const hdst__launch_plan *plan)
{
    return plan->reader.makes_texts && plan->device->unified ? HDST__HOST_TEXT_SLICES_IN_FLIGHT : HDST__HOST_SLICES_IN_FLIGHT;
}

// Records of which the data says how many come out, and which a consumer takes piece by piece, or makes fewer where they lie, need no memory of the host's.
static bool lands(const hdst__launch_plan *plan)
{
    return plan->passes_on && !plan->shares && !plan->device->unified && plan->way == IR_OUTPUT_COUNTED && plan->kernel && !plan->kernel->at_most &&
           !plan->output_param->given && !plan->in_window && plan->output_param->record->size <= HDST__HOST_LANDING_BYTES;
}

hdst_status hdst__launch_plan_slots(hdst__launch_plan *plan, hdst_error *error)
{
    hdst__slot_sizes sizes = {.in_window = plan->in_window, .slots = hdst__plan_slices_in_flight(plan),
                              .counts_on_host = plan->code.callback && plan->code.callback->filters, .lands = lands(plan),
                              .stays = plan->keep_output && !plan->device->unified, .piece = plan->piece};
    const uint64_t spare = plan->kernel ? hdst__kernel_spare(plan->kernel, plan->items) : 0;
    if (plan->output_param && !plan->in_place && !plan->in_window && !hdst__plan_wraps_output(plan))
        sizes.output_bytes = (plan->room + spare) * plan->output_param->record->size;
    plan->checks = plan->kernel ? hdst__plan_has_argument(plan, HDST__ARG_ERROR) : plan->func->check_count > 0 && !plan->code.callback;
    if (plan->way == IR_OUTPUT_BOUNDED) sizes.readback_words = 2 * (uint64_t)plan->items;
    const bool reads_more = plan->kernel && (plan->kernel->one_group_per_strip || plan->kernel->combine_name);      // where the output ends, or what was made
    if (plan->way == IR_OUTPUT_COUNTED) sizes.readback_words = reads_more ? 2 : 1;
    const uint32_t units = plan->device->info->compute_units;
    const uint64_t places = plan->kernel ? hdst__kernel_places(plan->kernel, units, plan->items, plan->slice_most) : 1;
    if (plan->kernel && plan->kernel->at_most) sizes.readback_words = places;
    if (plan->way != IR_OUTPUT_DENSE) sizes.place_words = places;
    sizes.place_words = hdst__plan_tuning_places(plan, sizes.place_words);
    if (plan->executor && plan->executor->slots == sizes.slots && sizes.output_bytes <= plan->slot.output_bytes &&
        sizes.place_words <= plan->slot.place_words && sizes.in_window == plan->slot.in_window && sizes.lands == plan->slot.lands &&
        sizes.stays == plan->slot.stays) return HDST_OK;
    hdst__executor_destroy(plan->executor);
    plan->executor = NULL;
    plan->slot = sizes;
    return hdst__executor_create(plan->device, &sizes, &plan->executor, error);
}

// --- All of it ---

static hdst_status build(hdst__launch_plan *plan, const hdst__launch_plan_request *request, hdst_error *error)
{
    jmp_buf out_of_memory;
    plan->arena.out_of_memory = &out_of_memory;
    hdst__arena_compiles(&plan->arena, plan->device->runtime->cancel);
    if (setjmp(out_of_memory)) return hdst__arena_error(&plan->arena, "a plan", error);
    note_params(plan, request->values);
    choose_pieces(plan, &plan->arena);
    plan->code.callback = request->callback;
    bool own = request->separate || request->callback;
    if (!request->fold && !own) make_tables(plan, request->values, request->agrees_with);
    hdst_status status = HDST_OK;
    if (plan->device->facts.target != HDST__TARGET_INTERP && !request->callback) status = make_kernel(plan, request, error);
    if (status != HDST_OK) return status;
    const bool filters = request->callback && request->callback->filters;
    plan->way = plan->kernel ? plan->kernel->output_way : plan->func->emits || filters ? IR_OUTPUT_COUNTED : IR_OUTPUT_DENSE;
    plan->outputs_per_record = plan->sampled && plan->func->emits ? (double)plan->emitted / (double)plan->sampled : 1;
    if (plan->kernel && plan->kernel->at_most) plan->outputs_per_record *= HDST__CPU_MOST_TOKENS;
    if (plan->way == IR_OUTPUT_COUNTED && !own && !request->fold) plan->parts = hdst__record_parts_of(plan->func);
    status = choose_items(plan, error);
    if (status != HDST_OK) return status;
    choose_slices(plan, request->most_records, request->fold);
    plan->code = (hdst__code){.kernel = plan->kernel, .func = plan->func, .tables = plan->tables, .fold = request->fold, .items = plan->items,
                              .product_groups = plan->product_groups,
                              .callback = request->callback};
    if (!own) hdst__plan_tuning_begin(plan);
    return HDST_OK;
}

// Texts refer to the host's memory (record/text_span.h): a device with memory of its own gets a copy of what those of its input do (memory/text_mirror.h).
static void copy_texts(hdst__launch_plan *plan)
{
    plan->reader.copies_texts = !plan->device->unified && hdst__ir_works_on_texts(plan->func);
}

hdst_status hdst__launch_plan_create(const hdst__launch_plan_request *request, hdst__launch_plan **out, hdst_error *error)
{
    hdst__device *device = request->device;
    double start = hdst__now();
    hdst__launch_plan *plan = hdst__alloc_zero(device->runtime->allocator, sizeof *plan);
    if (!plan) return hdst__error_memory(error, "a plan");
    plan->device = device;
    plan->func = request->func;
    plan->keep_output = request->keep_output;
    plan->passes_on = request->passes_on;
    plan->limit = request->limit;
    plan->piece_records = request->piece_records;
    plan->shares = request->shares;
    plan->shares_in_place = request->shares_in_place;
    plan->counts_output = request->counts_output;
    plan->combining = request->combining;
    plan->reader = *request->reader;
    plan->whole = request->whole ? *request->whole : plan->reader;
    plan->base = request->base;
    hdst__arena_init(&plan->arena, hdst__budget_owned(&device->runtime->memory, HDST__OWNER_COMPILER), NULL);
    hdst__arena_init(&plan->pieces, hdst__budget_owned(&device->runtime->memory, HDST__OWNER_COMPILER), NULL);
    copy_texts(plan);
    hdst_status status = build(plan, request, error);
    plan->arena.out_of_memory = NULL;
    // Nothing ends the driver's compiler while it works: it is asked before and behind it.
    if (status == HDST_OK) status = hdst__cancel_check(device->runtime->cancel, 0, 0, error);
    if (status == HDST_OK) status = device->ops->load(device, &plan->code, &plan->program, error);
    if (status == HDST_OK) status = hdst__cancel_check(device->runtime->cancel, 0, 0, error);
    if (status == HDST_OK) status = take_memory(plan, error);
    if (status == HDST_OK) status = hdst__launch_plan_slots(plan, error);
    plan->compile_seconds = hdst__now() - start;
    if (device->runtime->timeline) hdst__timeline_end(device->runtime->timeline, start, "prepare", request->func->name, 0);
    if (status == HDST_OK) *out = plan;
    else hdst__launch_plan_destroy(plan);
    return status;
}

static bool choose_again(hdst__launch_plan *plan, uint64_t most_records)
{
    jmp_buf out_of_memory;
    hdst__arena_destroy(&plan->pieces);
    hdst__arena_init(&plan->pieces, hdst__budget_owned(&plan->device->runtime->memory, HDST__OWNER_COMPILER), &out_of_memory);
    if (setjmp(out_of_memory)) return false;
    choose_pieces(plan, &plan->pieces);
    plan->pieces.out_of_memory = NULL;
    choose_slices(plan, most_records, plan->code.fold);
    return true;
}

hdst_status hdst__launch_plan_move(hdst__launch_plan *plan, const hdst__reader *reader, uint64_t most_records, hdst_error *error)
{
    const bool copies_texts = plan->reader.copies_texts;
    plan->reader = *reader;
    plan->reader.copies_texts = copies_texts;
    if (!plan->shares) plan->whole = *reader;
    if (!choose_again(plan, most_records)) return hdst__error_memory(error, "a plan");
    hdst_status status = hdst__plan_fit_tuples(plan, error);
    if (status == HDST_OK) status = hdst__plan_fit_products(plan, error);
    return status == HDST_OK ? hdst__launch_plan_slots(plan, error) : status;
}

void hdst__launch_plan_destroy(hdst__launch_plan *plan)
{
    if (!plan) return;
    hdst__device *device = plan->device;
    hdst__executor_destroy(plan->executor);
    hdst__plan_tuning_end(plan);
    hdst__memory *const memories[] = {plan->strips, plan->factors, plan->scales, plan->overflow, plan->partitions, plan->tuples};
    release_table(plan);
    hdst__plan_fixed_point_forget(plan);
    hdst__plan_texts_free(plan);
    for (size_t i = 0; i < sizeof memories / sizeof *memories; i++) device->ops->release(device, memories[i]);
    for (size_t i = 0; plan->broadcast && i < plan->func->param_count; i++) device->ops->release(device, plan->broadcast[i]);
    device->ops->unload(device, plan->program);
    hdst__arena_destroy(&plan->pieces);
    hdst__arena_destroy(&plan->arena);
    hdst__free(device->runtime->allocator, plan);
}
