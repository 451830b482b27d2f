// SPDX-License-Identifier: Apache-2.0
// Descriptions of a partial's accumulators, written and read (hdst/partial_tables.h).
#include "hdst/partial_tables.h"

#include <string.h>

// --- Writing ---

static void put(hdst__buffer *out, const void *bytes, size_t count) { hdst__buffer_add(out, bytes, count); }
static void put_u8(hdst__buffer *out, uint8_t value) { put(out, &value, sizeof value); }
static void put_u32(hdst__buffer *out, uint32_t value) { put(out, &value, sizeof value); }
static void put_u64(hdst__buffer *out, uint64_t value) { put(out, &value, sizeof value); }

static void put_text(hdst__buffer *out, const char *text)
{
    put_u32(out, (uint32_t)strlen(text));
    put(out, text, strlen(text));
}

static void put_leaf(hdst__buffer *out, const hdst__leaf *leaf)
{
    put_text(out, leaf->path);
    put_u8(out, (uint8_t)leaf->kind);
    put_u64(out, leaf->offset);
    put_u64(out, leaf->elements);
    put_u32(out, leaf->dims);
    for (uint32_t d = 0; d < leaf->dims; d++) {
        put_u64(out, leaf->dim[d].count);
        put_u64(out, leaf->dim[d].stride);
    }
}

void hdst__describe_partial_table(const hdst__plan_table *table, bool is_records, hdst__buffer *out)
{
    const hdst__record *record = table->record;
    put_text(out, table->function);
    put_text(out, table->name);
    put_u64(out, table->row_count);
    put_u8(out, is_records);
    put_text(out, record->name ? record->name : "");
    put_u64(out, record->size);
    put_u64(out, record->align);
    put_u32(out, (uint32_t)record->leaf_count);
    for (size_t leaf = 0; leaf < record->leaf_count; leaf++) put_leaf(out, &record->leaves[leaf]);
}

// --- Reading ---

enum { LEAST_TABLE_BYTES = 41, LEAST_LEAF_BYTES = 25 };

static const char *take_text(hdst__arena *arena, hdst__byte_cursor *from)
{
    uint32_t length;
    if (!hdst__cursor_take(from, &length, sizeof length) || length > from->left) return NULL;
    const char *text = hdst__arena_strndup(arena, (const char *)from->at, length);
    from->at += length;
    from->left -= length;
    return text;
}

// Bytes of the row up to the end of the leaf's last element; 0: too many to count.
static uint64_t end_of(const hdst__leaf *leaf)
{
    uint64_t end = leaf->offset, step;
    for (uint32_t d = 0; d < leaf->dims; d++)
        if (__builtin_mul_overflow(leaf->dim[d].count - 1, leaf->dim[d].stride, &step) || __builtin_add_overflow(end, step, &end)) return 0;
    return __builtin_add_overflow(end, hdst__scalar_size(leaf->kind), &end) ? 0 : end;
}

static bool take_dimensions(hdst__leaf *leaf, hdst__byte_cursor *from)
{
    uint64_t elements = 1;
    if (leaf->dims > HDST__LEAF_DIMS) return false;
    for (uint32_t d = 0; d < leaf->dims; d++)
        if (!hdst__cursor_take(from, &leaf->dim[d].count, sizeof leaf->dim[d].count) ||
            !hdst__cursor_take(from, &leaf->dim[d].stride, sizeof leaf->dim[d].stride) || !leaf->dim[d].count ||
            __builtin_mul_overflow(elements, leaf->dim[d].count, &elements)) return false;
    return elements == leaf->elements;
}

static bool take_leaf(hdst__arena *arena, hdst__leaf *leaf, uint64_t size, hdst__byte_cursor *from)
{
    uint8_t kind;
    leaf->path = take_text(arena, from);
    if (!leaf->path || !hdst__cursor_take(from, &kind, sizeof kind) || kind > HDST__F64) return false;
    leaf->kind = (hdst__kind)kind;
    if (!hdst__cursor_take(from, &leaf->offset, sizeof leaf->offset) || !hdst__cursor_take(from, &leaf->elements, sizeof leaf->elements) ||
        !hdst__cursor_take(from, &leaf->dims, sizeof leaf->dims) || !take_dimensions(leaf, from)) return false;
    const uint64_t end = end_of(leaf);
    return end && end <= size;
}

static const hdst__record *take_record(hdst__arena *arena, hdst__byte_cursor *from)
{
    hdst__record *record = HDST__NEW(arena, hdst__record);
    uint32_t leaves;
    record->name = take_text(arena, from);
    if (!record->name || !hdst__cursor_take(from, &record->size, sizeof record->size) || !hdst__cursor_take(from, &record->align, sizeof record->align) ||
        !hdst__cursor_take(from, &leaves, sizeof leaves) || leaves > from->left / LEAST_LEAF_BYTES || !record->size) return NULL;
    hdst__leaf *leaf = HDST__NEW_ARRAY(arena, hdst__leaf, leaves);
    for (uint32_t i = 0; i < leaves; i++)
        if (!take_leaf(arena, &leaf[i], record->size, from)) return NULL;
    record->leaves = leaf;
    record->leaf_count = leaves;
    return record;
}

static bool take_table(hdst__arena *arena, hdst__partial_table *table, hdst__byte_cursor *from)
{
    uint8_t is_records;
    table->function = take_text(arena, from);
    table->name = table->function ? take_text(arena, from) : NULL;
    if (!table->name || !hdst__cursor_take(from, &table->row_count, sizeof table->row_count) || !hdst__cursor_take(from, &is_records, sizeof is_records))
        return false;
    table->is_records = is_records;
    table->record = take_record(arena, from);
    return table->record;
}

static bool take_tables(hdst__arena *arena, const hdst__partial_label *label, const hdst__partial *state, hdst__partial_table **tables, size_t *count)
{
    hdst__byte_cursor from = {label->description, label->description_bytes};
    uint32_t wanted;
    if (!hdst__cursor_take(&from, &wanted, sizeof wanted) || wanted > from.left / LEAST_TABLE_BYTES) return false;
    *tables = HDST__NEW_ARRAY(arena, hdst__partial_table, wanted);
    for (*count = 0; *count < wanted; ++*count) {
        hdst__partial_table *table = &(*tables)[*count];
        if (!take_table(arena, table, &from) || !hdst__partial_has_rows_of(state, *count, table->record, table->row_count)) return false;
    }
    return from.left == 0 && hdst__partial_accums(state) == wanted;
}

hdst_status hdst__partial_tables_read(hdst__arena *arena, const hdst__partial_label *label, const hdst__partial *state, hdst__partial_table **tables,
                                      size_t *count, hdst_error *error)
{
    if (take_tables(arena, label, state, tables, count)) return HDST_OK;
    *count = 0;
    hdst__error_set(error, HDST_E_FORMAT, "the partial is damaged: the description of its accumulators makes no sense");
    hdst__error_hint(error, "take the bytes again from where they were written");
    return HDST_E_FORMAT;
}
