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

static void put_table(hdst__buffer *out, const hdst__partial_table *table)
{
    const hdst__record *record = table->record;
    put_text(out, table->function);
    put_text(out, table->name);
    put_u64(out, table->row_count);
    put_u8(out, table->is_records);
    put_text(out, record->name ? record->name : "");
    put_u64(out, record->size);
    put_u64(out, record->align);
    put_u32(out, (uint32_t)record->leaf_count);
    for (size_t leaf = 0; leaf < record->leaf_count; leaf++) put_leaf(out, &record->leaves[leaf]);
    put_u32(out, table->key_count);
    for (uint32_t k = 0; k < table->key_count; k++) put_u32(out, table->key_leaves[k]);
}

void hdst__partial_tables_describe(const hdst__partial_table *tables, size_t count, const hdst__keyed_partial *keyed, hdst__buffer *out)
{
    put_u32(out, (uint32_t)count);
    for (size_t i = 0; i < count; i++) put_table(out, &tables[i]);
    if (keyed) hdst__text_rows_write(&(hdst__text_rows){.texts = keyed->texts, .key_words = keyed->key_words}, keyed->keys, keyed->count, out);
}

// --- Keys ---

// Each element is aligned to its own size, a text to 8 bytes (shuffle/aggregate/aggregation_layout.c packs them so).
static uint64_t aligned(uint64_t at, uint64_t bytes)
{
    const uint64_t align = bytes < 8 ? bytes : 8;
    return (at + align - 1) / align * align;
}

// Bytes of a packed key; 0: too many.
static uint32_t key_bytes_of(const hdst__partial_table *table)
{
    enum { MOST = 1 << 20 };
    uint64_t at = 0;
    for (uint32_t k = 0; k < table->key_count; k++) {
        const hdst__leaf *leaf = &table->record->leaves[table->key_leaves[k]];
        const uint64_t bytes = hdst__scalar_size(leaf->kind);
        if (leaf->elements > MOST / bytes || at > MOST) return 0;
        at = aligned(at, bytes) + leaf->elements * bytes;
    }
    return at > MOST ? 0 : (uint32_t)at;
}

static void write_key(const hdst__partial_table *table, const char *packed, char *row)
{
    uint64_t at = 0;
    for (uint32_t k = 0; k < table->key_count; k++) {
        const hdst__leaf *leaf = &table->record->leaves[table->key_leaves[k]];
        const uint64_t bytes = hdst__scalar_size(leaf->kind);
        at = aligned(at, bytes);
        for (uint64_t e = 0; e < leaf->elements; e++, at += bytes) memcpy(row + hdst__leaf_offset(leaf, e), packed + at, bytes);
    }
}

// The texts of a packed key, in the arena; NULL: there are none.
static const hdst__key_texts *texts_of(hdst__arena *arena, const hdst__partial_table *table)
{
    uint64_t at = 0;
    uint32_t count = 0, *word = HDST__NEW_ARRAY(arena, uint32_t, (key_bytes_of(table) + sizeof(hdst__text_span)) / sizeof(hdst__text_span));
    for (uint32_t k = 0; k < table->key_count; k++) {
        const hdst__leaf *leaf = &table->record->leaves[table->key_leaves[k]];
        const uint64_t bytes = hdst__scalar_size(leaf->kind);
        at = aligned(at, bytes);
        for (uint64_t e = 0; e < leaf->elements; e++, at += bytes)
            if (leaf->kind == HDST__TEXT) word[count++] = (uint32_t)(at / sizeof(uint64_t));
    }
    if (!count) return NULL;
    hdst__key_texts *texts = HDST__NEW(arena, hdst__key_texts);
    *texts = (hdst__key_texts){word, count};
    return texts;
}

void hdst__partial_table_write_keys(const hdst__partial_table *table, const hdst__keyed_partial *keyed, void *rows)
{
    for (uint64_t i = 0; i < keyed->count; i++)
        write_key(table, (const char *)(keyed->keys + i * keyed->key_words), (char *)rows + i * table->record->size);
}

// --- Reading ---

enum { LEAST_TABLE_BYTES = 45, LEAST_LEAF_BYTES = 25 };

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
    if (!leaf->path || !hdst__cursor_take(from, &kind, sizeof kind) || kind > HDST__TEXT) return false;
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
    for (uint32_t i = 0; i < leaves; i++) {
        if (!take_leaf(arena, &leaf[i], record->size, from)) return NULL;
        record->has_text |= leaf[i].kind == HDST__TEXT;
    }
    record->leaves = leaf;
    record->leaf_count = leaves;
    return record;
}

static const hdst__record *values_of(hdst__arena *arena, const hdst__partial_table *table)
{
    hdst__record *values = HDST__NEW(arena, hdst__record);
    hdst__leaf *leaves = HDST__NEW_ARRAY(arena, hdst__leaf, table->record->leaf_count);
    uint32_t key = 0;
    *values = *table->record;
    values->leaf_count = 0;
    for (uint32_t leaf = 0; leaf < table->record->leaf_count; leaf++) {
        if (key < table->key_count && table->key_leaves[key] == leaf) key++;
        else leaves[values->leaf_count++] = table->record->leaves[leaf];
    }
    values->leaves = leaves;
    return values;
}

static bool take_key(hdst__arena *arena, hdst__partial_table *table, hdst__byte_cursor *from)
{
    if (!hdst__cursor_take(from, &table->key_count, sizeof table->key_count) || table->key_count > table->record->leaf_count) return false;
    uint32_t *leaves = HDST__NEW_ARRAY(arena, uint32_t, table->key_count);
    for (uint32_t k = 0; k < table->key_count; k++)
        if (!hdst__cursor_take(from, &leaves[k], sizeof leaves[k]) || leaves[k] >= table->record->leaf_count || (k && leaves[k] <= leaves[k - 1])) return false;
    table->key_leaves = leaves;
    table->values = values_of(arena, table);
    return true;
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
    return table->record && take_key(arena, table, from);
}

bool hdst__partial_table_read(hdst__arena *arena, hdst__byte_cursor *from, hdst__partial_table *table)
{
    uint32_t count;
    return hdst__cursor_take(from, &count, sizeof count) && count == 1 && take_table(arena, table, from) && !table->key_count;
}

static bool take_tables(hdst__arena *arena, const hdst__partial *state, hdst__byte_cursor *from, hdst__partial_table **tables, size_t *count)
{
    uint32_t wanted;
    if (!hdst__cursor_take(from, &wanted, sizeof wanted) || wanted > from->left / LEAST_TABLE_BYTES) return false;
    *tables = HDST__NEW_ARRAY(arena, hdst__partial_table, wanted);
    for (*count = 0; *count < wanted; ++*count) {
        hdst__partial_table *table = &(*tables)[*count];
        if (!take_table(arena, table, from) || !hdst__partial_has_rows_of(state, *count, table->values, table->row_count)) return false;
        if (table->key_count && (wanted > 1 || !key_bytes_of(table))) return false;
    }
    return hdst__partial_accums(state) == wanted;
}

static hdst_status take_keys(hdst__arena *arena, const hdst__bytes_place *place, const hdst__partial_table *table, hdst__byte_cursor *from,
                             hdst__partial **state, hdst__keyed_partial **keyed)
{
    const uint64_t count = table->row_count;
    const hdst__text_rows keys = {.texts = texts_of(arena, table), .key_words = (key_bytes_of(table) + 7) / 8};
    if (from->left / hdst__text_rows_bytes(&keys) < count) return HDST_E_FORMAT;
    if (hdst__partial_rows(*state, 0) != (count ? count : 1)) return HDST_E_FORMAT;
    *keyed = hdst__keyed_partial_of(*state, key_bytes_of(table), keys.texts, count);
    if (!*keyed) return HDST_E_MEMORY;
    *state = NULL;
    const hdst_status status = hdst__text_rows_read(&keys, (*keyed)->keys, count, from, place, NULL);
    if (status != HDST_OK) return status == HDST_E_FORMAT ? status : HDST_E_MEMORY;
    return hdst__keyed_partial_in_order(*keyed) ? HDST_OK : HDST_E_FORMAT;
}

hdst_status hdst__partial_tables_read(hdst__arena *arena, const hdst__bytes_place *place, const hdst__partial_label *label, hdst__partial **state,
                                      hdst__keyed_partial **keyed, hdst__partial_table **tables, size_t *count, hdst_error *error)
{
    hdst__byte_cursor from = {label->description, label->description_bytes};
    hdst_status status = take_tables(arena, *state, &from, tables, count) ? HDST_OK : HDST_E_FORMAT;
    if (status == HDST_OK && *count && (*tables)->key_count) status = take_keys(arena, place, *tables, &from, state, keyed);
    if (status == HDST_OK && from.left) status = HDST_E_FORMAT;
    if (status == HDST_OK) return HDST_OK;
    *count = 0;
    if (status == HDST_E_MEMORY) return hdst__error_memory(error, "a partial");
    hdst__error_set(error, HDST_E_FORMAT, "the partial is damaged: the description of its accumulators makes no sense");
    hdst__error_hint(error, "take the bytes again from where they were written");
    return HDST_E_FORMAT;
}
