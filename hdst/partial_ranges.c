// SPDX-License-Identifier: Apache-2.0
// Partials of folds and of the best records (hdst/partial_ranges.h).
#include "hdst/partial_ranges.h"

#include "plan/stage_node.h"
#include "plan/top_node.h"

#include <string.h>

// --- What can be kept ---

static const hdst__stage_node *fold_of(const hdst__node *target)
{
    const hdst__stage_node *stage = hdst__node_stage(target);
    const hdst_map_spec *spec = target->dataset->spec;
    return stage && stage->folds && spec && spec->function->reduce_class != AST_ORDERED ? stage : NULL;
}

bool hdst__is_ranged(const hdst__node *target) { return fold_of(target) || hdst__top_node_of(target); }

hdst_status hdst__check_ranged(const hdst__node *target, hdst_error *error)
{
    const hdst__stage_node *fold = fold_of(target);
    const char *name = target->dataset->op->name;
    if (!fold || !fold->call.func->check_count || !hdst__engine_settings(target->dataset->object.context->engine)->skip_failed) return HDST_OK;
    hdst__error_set(error, HDST_E_UNSUPPORTED, "the records of %s cannot be kept unfinished where those that '%s' fails on are left out", name,
                    fold->call.func->name);
    hdst__error_hint(error, "make the context with HDST_ON_ERROR_FAIL");
    return HDST_E_UNSUPPORTED;
}

void hdst__keep_ranges(hdst__node *target, uint64_t first)
{
    if (fold_of(target)) hdst__fold_part_keep(target, first);
    else hdst__top_node_keep_part(target);
}

// --- Descriptions ---

static void put_u8(hdst__buffer *out, uint8_t value) { hdst__buffer_add(out, (const char *)&value, sizeof value); }

static void describe_top(const hdst__node *target, hdst__buffer *out)
{
    const hdst__top_k *top = hdst__top_node_of(target);
    const char *extreme = hdst__top_node_extreme(target) ? hdst__top_node_extreme(target) : "";
    const hdst__field_place *place = hdst__top_node_place(target);
    hdst__put_u32(out, place->leaf);
    hdst__put_u64(out, place->element);
    hdst__put_u64(out, top->wanted);
    put_u8(out, top->largest);
    hdst__put_u32(out, (uint32_t)strlen(extreme));
    hdst__buffer_puts(out, extreme);
}

static void describe_table(const hdst__partial_table *table, hdst__buffer *out)
{
    hdst__partial_table bare = *table;
    bare.row_count = 0;
    hdst__partial_tables_describe(&bare, 1, NULL, out);
}

static bool read_top(hdst__partial_ranges *ranges, hdst__byte_cursor *from, hdst__arena *arena)
{
    uint32_t leaf, length;
    uint64_t element, wanted;
    uint8_t largest;
    const hdst__record *record = ranges->table.record;
    if (!hdst__cursor_take(from, &leaf, sizeof leaf) || !hdst__cursor_take(from, &element, sizeof element) ||
        !hdst__cursor_take(from, &wanted, sizeof wanted) || !hdst__cursor_take(from, &largest, 1) ||
        !hdst__cursor_take(from, &length, sizeof length)) return false;
    if (leaf >= record->leaf_count || element >= record->leaves[leaf].elements || length != from->left) return false;
    ranges->extreme = hdst__arena_strndup(arena, (const char *)from->at, length);
    hdst__top_k_init(&ranges->top.top, NULL, record, leaf, element, wanted, largest);
    ranges->top.allocator = ranges->state.allocator;
    ranges->rule = (hdst__range_rule){hdst__top_range_join, hdst__top_range_is_sound, &ranges->top};
    return true;
}

// Texts of the function's own, and those that it looks at in another case, become the partial's.
static hdst_status keep_texts(hdst__partial_ranges *ranges, void *rows, uint64_t count, hdst_error *error)
{
    return hdst__partial_texts_keep(*ranges->texts, &(hdst__text_rows){.record = ranges->table.record}, rows, count, error);
}

static hdst_status join_fold(void *user, const hdst__record_range *left, const hdst__record_range *right, hdst__record_range *joined, hdst_error *error)
{
    hdst__partial_ranges *ranges = user;
    hdst_status status = hdst__fold_range_join(&ranges->folder, left, right, joined, error);
    if (status == HDST_OK) status = keep_texts(ranges, joined->rows, joined->row_count, error);
    if (status == HDST_OK) return status;
    hdst__free(ranges->state.allocator, joined->rows);
    joined->rows = NULL;
    return status;
}

static bool is_sound_fold(void *user, const hdst__record_range *range)
{
    return hdst__fold_range_is_sound(&((hdst__partial_ranges *)user)->folder, range);
}

static hdst_status read_fold(hdst__partial_ranges *ranges, hdst_context *context, hdst__byte_cursor *from, hdst__arena *arena, hdst_error *error)
{
    const hdst_status status = hdst__saved_function_read(arena, context, from, ranges->table.record, &ranges->saved, error);
    if (status != HDST_OK || from->left) return status == HDST_OK ? hdst__partial_damaged(error, "its function makes no sense") : status;
    ranges->folder = (hdst__folder){ranges->saved.func, ranges->state.allocator, &context->cancel};
    ranges->rule = (hdst__range_rule){join_fold, is_sound_fold, ranges};
    return HDST_OK;
}

// One without ranges.
static hdst_status read_description(hdst__arena *arena, hdst__text_heap **texts, hdst_context *context, hdst__partial_kind kind, const void *text,
                                    uint64_t length, hdst__partial_ranges **made, hdst_error *error)
{
    hdst__byte_cursor from = {text, length};
    hdst__partial_ranges *ranges = HDST__NEW(arena, hdst__partial_ranges);
    ranges->kind = kind;
    ranges->texts = texts;
    ranges->state.allocator = hdst__owned_by(context, HDST__OWNER_ACCUMULATORS);
    if (!hdst__partial_table_read(arena, &from, &ranges->table)) return hdst__partial_damaged(error, "the description of its records makes no sense");
    ranges->state.row_bytes = ranges->table.record->size;
    ranges->own_bytes = from.left;
    ranges->own = memcpy(hdst__arena_alloc(arena, from.left), from.at, from.left);
    if (kind == HDST__PARTIAL_FOLD) {
        const hdst_status status = read_fold(ranges, context, &from, arena, error);
        if (status != HDST_OK) return status;
    } else if (!read_top(ranges, &from, arena)) {
        return hdst__partial_damaged(error, "what its records are the best of makes no sense");
    }
    *made = ranges;
    return HDST_OK;
}

// --- From a result ---

static hdst_status copy_rows(hdst__partial_ranges *ranges, const char *rows, hdst__record_range *range, hdst_error *error)
{
    range->rows = hdst__alloc(ranges->state.allocator, range->row_count * ranges->state.row_bytes);
    if (!range->rows) return hdst__error_memory(error, "a partial");
    if (range->row_count) memcpy(range->rows, rows, range->row_count * ranges->state.row_bytes);
    if (!hdst__clear_padding(ranges->state.allocator, ranges->table.record, range->rows, range->row_count)) return hdst__error_memory(error, "a partial");
    return keep_texts(ranges, range->rows, range->row_count, error);
}

static hdst_status take_range(hdst__partial_ranges *ranges, const hdst_result *result, hdst_error *error)
{
    const hdst__node *target = result->plan.target;
    const hdst__stage_node *fold = fold_of(target);
    hdst__record_range range = fold ? fold->part.range
        : (hdst__record_range){.first = result->ran_first, .count = hdst__top_node_records(target), .row_count = target->row_count};
    const char *rows = fold ? range.rows : target->rows;
    range.rows = NULL;
    if (range.first + range.count < range.first)
        return hdst__error_set(error, HDST_E_USAGE, "a part of %llu records cannot begin at record %llu", (unsigned long long)range.count,
                               (unsigned long long)range.first);
    hdst_status status = copy_rows(ranges, rows, &range, error);
    if (status == HDST_OK) return hdst__ranged_partial_add(&ranges->state, &range, &ranges->rule, error);
    hdst__free(ranges->state.allocator, range.rows);
    return status;
}

hdst_status hdst__partial_ranges_take(hdst__arena *arena, hdst__text_heap **texts, const hdst_result *result, hdst__buffer *scratch, hdst__hash *identity,
                                      hdst__partial_ranges **ranges, hdst_error *error)
{
    const hdst__node *target = result->plan.target;
    const hdst_dataset *dataset = target->dataset;
    const hdst__stage_node *fold = fold_of(target);
    const hdst__partial_table table = {.function = dataset->spec ? dataset->spec->function->name : dataset->op->name, .name = "records", .is_records = true,
                                       .record = dataset->record};
    describe_table(&table, scratch);
    if (!fold) describe_top(target, scratch);
    if (scratch->failed) return hdst__error_memory(error, "a partial");
    hdst__hash_add(identity, scratch->data, scratch->length);
    if (fold && fold->identity) hdst__hash_add(identity, fold->identity, dataset->record->size);
    if (fold) hdst__saved_function_write(arena, dataset, scratch);
    if (scratch->failed) return hdst__error_memory(error, "a partial");
    const hdst__partial_kind kind = fold ? HDST__PARTIAL_FOLD : HDST__PARTIAL_TOP;
    const hdst_status status = read_description(arena, texts, dataset->object.context, kind, scratch->data, scratch->length, ranges, error);
    return status == HDST_OK ? take_range(*ranges, result, error) : status;
}

// --- Bytes ---

bool hdst__are_ranges(const void *bytes, uint64_t size)
{
    enum { KIND_AT = 12 };
    uint32_t kind = 0;
    if (bytes && size >= KIND_AT + sizeof kind) memcpy(&kind, (const char *)bytes + KIND_AT, sizeof kind);
    return kind == HDST__PARTIAL_FOLD || kind == HDST__PARTIAL_TOP;
}

hdst_status hdst__partial_ranges_from_bytes(hdst__arena *arena, hdst__text_heap **texts, hdst_context *context, const void *bytes, uint64_t size,
                                            hdst__hash *identity, hdst__partial_ranges **ranges, hdst_error *error)
{
    hdst__byte_cursor from;
    hdst__partial_label label;
    uint32_t kind;
    hdst_status status = hdst__partial_frame_open(bytes, size, &from, &kind, &label, error);
    if (status != HDST_OK) return status;
    *identity = label.identity;
    status = read_description(arena, texts, context, (hdst__partial_kind)kind, label.description, label.description_bytes, ranges, error);
    if (status != HDST_OK) return status;
    const hdst__bytes_place place = hdst__text_heap_sink(*texts);
    status = hdst__ranged_partial_read(&(*ranges)->state, (*ranges)->table.record, &(*ranges)->rule, &place, &from);
    if (status == HDST_E_FORMAT) return hdst__partial_damaged(error, "its ranges of records make no sense");
    return status == HDST_OK ? HDST_OK : hdst__error_memory(error, "a partial");
}

hdst_status hdst__partial_ranges_write(const hdst__partial_ranges *ranges, const hdst__hash *identity, hdst__buffer *scratch, hdst__buffer *out,
                                       hdst_error *error)
{
    describe_table(&ranges->table, scratch);
    hdst__buffer_add(scratch, ranges->own, ranges->own_bytes);
    if (scratch->failed) return hdst__error_memory(error, "a partial as bytes");
    const hdst__partial_label label = {*identity, scratch->data, scratch->length};
    const size_t start = hdst__partial_frame_begin(ranges->kind, &label, out);
    hdst__ranged_partial_write(&ranges->state, ranges->table.record, out);
    return hdst__partial_frame_end(start, out, error);
}

// --- Merging, finishing ---

bool hdst__partial_ranges_meet(const hdst__partial_ranges *a, const hdst__partial_ranges *b)
{
    return a->kind == b->kind && hdst__same_records(a->table.record, b->table.record) && a->top.top.wanted == b->top.top.wanted;
}

hdst_status hdst__partial_ranges_merge(hdst__partial_ranges *to, const hdst__partial_ranges *from, hdst_error *error)
{
    return hdst__ranged_texts_merge(*to->texts, to->table.record, &to->state, &from->state, &to->rule, error);
}

static hdst_status finish_fold(hdst__partial_ranges *ranges, hdst_error *error)
{
    hdst__partial_table *table = &ranges->table;
    const hdst_status status = hdst__ranged_partial_is_whole(&ranges->state, error);
    if (status != HDST_OK) return status;
    table->row_count = 1;
    if (ranges->state.range_count) {
        const hdst_status finished = hdst__fold_range_finish(&ranges->folder, ranges->state.range, table->rows, error);
        return finished == HDST_OK ? keep_texts(ranges, table->rows, 1, error) : finished;
    }
    if (!ranges->saved.identity) return hdst__error_set(error, HDST_E_USAGE, "reduce '%s' of an empty dataset has no result", table->function);
    memcpy(table->rows, ranges->saved.identity, table->record->size);
    return HDST_OK;
}

static hdst_status finish_top(hdst__partial_ranges *ranges, hdst_error *error)
{
    hdst__partial_table *table = &ranges->table;
    table->row_count = hdst__top_range_finish(&ranges->top, &ranges->state, table->rows);
    if (table->row_count || !*ranges->extreme) return HDST_OK;
    return hdst__error_set(error, HDST_E_USAGE, "'%s' of an empty dataset has no result", ranges->extreme);
}

hdst_status hdst__partial_ranges_finish(hdst__partial_ranges *ranges, const hdst__allocator *allocator, hdst_error *error)
{
    hdst__partial_table *table = &ranges->table;
    const uint64_t most = ranges->kind == HDST__PARTIAL_FOLD ? 1 : hdst__top_range_most(&ranges->top, &ranges->state);
    table->rows = hdst__alloc(allocator, most * table->record->size);
    if (!table->rows) return hdst__error_memory(error, "the rows of a partial");
    const hdst_status status = ranges->kind == HDST__PARTIAL_FOLD ? finish_fold(ranges, error) : finish_top(ranges, error);
    if (status == HDST_OK) return HDST_OK;
    hdst__free(allocator, table->rows);
    table->rows = NULL;
    return status;
}
