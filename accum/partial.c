// SPDX-License-Identifier: Apache-2.0
// Partials as wholes: made, merged, read (accum/partial.h).
#include "accum/partial_column.h"

#include "accum/fixed_point.h"

#include <string.h>

// --- Making ---

static bool make_columns(hdst__partial *partial, hdst__partial_accum *to, const hdst__accum *accum, const uint64_t *rows)
{
    to->rows = hdst__accum_rows(accum, rows);
    to->column = hdst__alloc_zero(partial->allocator, accum->leaf_count * sizeof *to->column);
    if (!to->column) return false;
    to->leaf_count = accum->leaf_count;
    for (size_t leaf = 0; leaf < accum->leaf_count; leaf++) {
        hdst__partial_column *column = &to->column[leaf];
        column->allocator = partial->allocator;
        column->cell = accum->cell[leaf];
        if (__builtin_mul_overflow(to->rows, column->cell.elements, &column->count) || column->count > UINT64_MAX / sizeof(int64_t)) return false;
    }
    return true;
}

hdst__partial *hdst__partial_create(const hdst__allocator *allocator, const hdst__tables *tables, const uint64_t *rows)
{
    hdst__partial *partial = hdst__alloc_zero(allocator, sizeof *partial);
    if (!partial) return NULL;
    partial->allocator = allocator;
    partial->accum = hdst__alloc_zero(allocator, tables->accum_count * sizeof *partial->accum);
    bool made = partial->accum;
    for (; made && partial->accum_count < tables->accum_count; partial->accum_count++)
        made = make_columns(partial, &partial->accum[partial->accum_count], &tables->accum[partial->accum_count], rows);
    if (made) return partial;
    hdst__partial_destroy(partial);
    return NULL;
}

void hdst__partial_destroy(hdst__partial *partial)
{
    if (!partial) return;
    for (size_t a = 0; a < partial->accum_count; a++) {
        for (size_t leaf = 0; leaf < partial->accum[a].leaf_count; leaf++) hdst__column_release(&partial->accum[a].column[leaf]);
        hdst__free(partial->allocator, partial->accum[a].column);
    }
    hdst__free(partial->allocator, partial->accum);
    hdst__free(partial->allocator, partial);
}

void hdst__partial_reset(hdst__partial *partial)
{
    for (size_t a = 0; a < partial->accum_count; a++)
        for (size_t leaf = 0; leaf < partial->accum[a].leaf_count; leaf++) hdst__column_reset(&partial->accum[a].column[leaf]);
}

hdst__partial *hdst__partial_create_empty(const hdst__allocator *allocator)
{
    hdst__partial *partial = hdst__alloc_zero(allocator, sizeof *partial);
    if (partial) partial->allocator = allocator;
    return partial;
}

// --- Merging ---

static bool same_column(const hdst__partial_column *a, const hdst__partial_column *b)
{
    return a->cell.kind == b->cell.kind && a->cell.acc == b->cell.acc && a->cell.elements == b->cell.elements;
}

static bool same_accum(const hdst__partial_accum *a, const hdst__partial_accum *b)
{
    bool same = a->rows == b->rows && a->leaf_count == b->leaf_count;
    for (size_t leaf = 0; same && leaf < a->leaf_count; leaf++) same = same_column(&a->column[leaf], &b->column[leaf]);
    return same;
}

static bool same_shape(const hdst__partial *a, const hdst__partial *b)
{
    bool same = a->accum_count == b->accum_count;
    for (size_t i = 0; same && i < a->accum_count; i++) same = same_accum(&a->accum[i], &b->accum[i]);
    return same;
}

hdst_status hdst__partial_merge(hdst__partial *to, const hdst__partial *from, hdst_error *error)
{
    if (to == from || !same_shape(to, from)) return hdst__error_set(error, HDST_E_INTERNAL, "a partial was to be merged with one of other accumulators");
    for (size_t a = 0; a < to->accum_count; a++)
        for (size_t leaf = 0; leaf < to->accum[a].leaf_count; leaf++)
            if (!hdst__column_merge(&to->accum[a].column[leaf], &from->accum[a].column[leaf])) return hdst__error_memory(error, "unfinished sums");
    return HDST_OK;
}

hdst__partial *hdst__partial_create_like(const hdst__partial *partial, uint64_t rows)
{
    hdst__partial *like = hdst__partial_create_empty(partial->allocator);
    bool made = like && (like->accum = hdst__alloc_zero(partial->allocator, partial->accum_count * sizeof *like->accum));
    for (; made && like->accum_count < partial->accum_count; like->accum_count++) {
        const hdst__partial_accum *from = &partial->accum[like->accum_count];
        hdst__partial_accum *to = &like->accum[like->accum_count];
        *to = (hdst__partial_accum){.rows = rows, .column = hdst__alloc_zero(partial->allocator, from->leaf_count * sizeof *to->column)};
        to->leaf_count = to->column ? from->leaf_count : 0;
        made = to->column;
        for (size_t leaf = 0; leaf < to->leaf_count; leaf++)
            to->column[leaf] = (hdst__partial_column){.allocator = partial->allocator, .cell = from->column[leaf].cell,
                                                      .count = rows * from->column[leaf].cell.elements};
    }
    if (made) return like;
    hdst__partial_destroy(like);
    return NULL;
}

hdst_status hdst__partial_scatter(hdst__partial *to, const hdst__partial *from, const uint64_t *row, uint64_t count, hdst_error *error)
{
    bool same = to != from && to->accum_count == 1 && from->accum_count == 1 && to->accum->leaf_count == from->accum->leaf_count;
    for (size_t leaf = 0; same && leaf < to->accum->leaf_count; leaf++) same = same_column(&to->accum->column[leaf], &from->accum->column[leaf]);
    if (!same) return hdst__error_set(error, HDST_E_INTERNAL, "a partial was to be merged with one of other accumulators");
    for (size_t leaf = 0; leaf < to->accum->leaf_count; leaf++)
        if (!hdst__column_scatter(&to->accum->column[leaf], &from->accum->column[leaf], row, count)) return hdst__error_memory(error, "unfinished sums");
    return HDST_OK;
}

bool hdst__partial_add_element(hdst__partial *to, uint32_t leaf, uint64_t row, uint64_t element, const int64_t *word, uint32_t words, int32_t s,
                               const int64_t *superaccumulator)
{
    hdst__partial_column *column = &to->accum->column[leaf];
    const uint64_t at = row * column->cell.elements + element;
    if (!column->cell.digits) return hdst__column_add_words(column, at, word, 1);
    return (words < 1 || hdst__column_add_fixed(column, at, word, 1, s)) && (words < 2 || hdst__column_add_fixed(column, at, word + 1, 1, s + HDST__FIXED_BITS))
        && (!superaccumulator || hdst__column_add_exact(column, at, superaccumulator));
}

static bool copy_accum(const hdst__allocator *allocator, hdst__partial_accum *to, const hdst__partial_accum *from)
{
    *to = (hdst__partial_accum){.rows = from->rows, .column = hdst__alloc_zero(allocator, from->leaf_count * sizeof *to->column)};
    if (!to->column) return false;
    to->leaf_count = from->leaf_count;
    bool copied = true;
    for (size_t leaf = 0; leaf < from->leaf_count; leaf++) {
        hdst__partial_column *column = &to->column[leaf];
        *column = (hdst__partial_column){.allocator = allocator, .cell = from->column[leaf].cell, .count = from->column[leaf].count};
        copied = copied && hdst__column_merge(column, &from->column[leaf]);
    }
    return copied;
}

hdst_status hdst__partial_append(hdst__partial *to, const hdst__partial *from, size_t count, hdst_error *error)
{
    hdst__partial_accum *grown = hdst__realloc(to->allocator, to->accum, (to->accum_count + count) * sizeof *grown);
    if (!grown) return hdst__error_memory(error, "unfinished sums");
    to->accum = grown;
    for (size_t a = 0; a < count; a++)
        if (!copy_accum(to->allocator, &to->accum[to->accum_count++], &from->accum[a])) return hdst__error_memory(error, "unfinished sums");
    return HDST_OK;
}

// --- Reading ---

uint64_t hdst__partial_rows(const hdst__partial *partial, size_t accum) { return partial->accum[accum].rows; }

const hdst__allocator *hdst__partial_allocator(const hdst__partial *partial) { return partial->allocator; }
size_t hdst__partial_accums(const hdst__partial *partial) { return partial->accum_count; }

bool hdst__partial_has_rows_of(const hdst__partial *partial, size_t accum, const hdst__record *record, uint64_t rows)
{
    if (accum >= partial->accum_count) return false;
    const hdst__partial_accum *a = &partial->accum[accum];
    bool has = a->leaf_count == record->leaf_count && rows <= a->rows;
    for (size_t leaf = 0; has && leaf < a->leaf_count; leaf++)
        has = a->column[leaf].cell.kind == record->leaves[leaf].kind && a->column[leaf].cell.elements == record->leaves[leaf].elements;
    return has;
}

uint64_t hdst__partial_read(const hdst__partial *partial, size_t accum, uint64_t row, uint32_t leaf, uint64_t element)
{
    const hdst__partial_column *column = &partial->accum[accum].column[leaf];
    return hdst__column_read(column, row * column->cell.elements + element);
}

// A constant size makes each copy one store.
static void put_bits(char *to, const uint64_t *bits, size_t size)      // little-endian hosts
{
    if (size == 4) memcpy(to, bits, 4);
    else if (size == 8) memcpy(to, bits, 8);
    else memcpy(to, bits, size);
}

static void read_leaf(const hdst__partial_column *column, const hdst__leaf *leaf, uint64_t row, uint64_t count, uint64_t row_bytes, char *to)
{
    const size_t size = hdst__scalar_size(column->cell.kind);
    const uint64_t elements = column->cell.elements, end = (row + count) * elements;
    uint64_t bits[HDST__PARTIAL_BLOCK], e = 0;
    for (uint64_t first = row * elements, some; first < end; first += some) {
        some = end - first < HDST__PARTIAL_BLOCK ? end - first : HDST__PARTIAL_BLOCK;
        hdst__column_read_block(column, first, some, bits);
        for (uint64_t i = 0; i < some; i++) {
            put_bits(to + (elements == 1 ? leaf->offset : hdst__leaf_offset(leaf, e)), &bits[i], size);
            if (++e < elements) continue;
            e = 0;
            to += row_bytes;
        }
    }
}

// Some rows at a time, so that their structs stay in the cache.
void hdst__partial_read_rows(const hdst__partial *partial, size_t accum, const hdst__record *record, uint64_t first, uint64_t count, void *out)
{
    const hdst__partial_accum *from = &partial->accum[accum];
    for (uint64_t row = 0; row < count; row += HDST__PARTIAL_BLOCK) {
        const uint64_t some = count - row < HDST__PARTIAL_BLOCK ? count - row : HDST__PARTIAL_BLOCK;
        char *to = memset((char *)out + row * record->size, 0, some * record->size);
        for (size_t leaf = 0; leaf < from->leaf_count; leaf++)
            read_leaf(&from->column[leaf], &record->leaves[leaf], first + row, some, record->size, to);
    }
}
