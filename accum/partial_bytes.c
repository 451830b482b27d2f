// SPDX-License-Identifier: Apache-2.0
// Accumulators in a partial's bytes (accum/partial_bytes.h).
#include "accum/partial_bytes.h"

#include "accum/partial_column.h"
#include "accum/representation.h"

enum { LEAST_LEAF_BYTES = 11, LEAST_ACCUM_BYTES = 12 };

// --- Writing ---

static void put_u8(hdst__buffer *out, uint8_t value) { hdst__buffer_add(out, (const char *)&value, sizeof value); }

static void write_accum(const hdst__partial_accum *accum, hdst__buffer *out)
{
    hdst__put_u64(out, accum->rows);
    hdst__put_u32(out, (uint32_t)accum->leaf_count);
    for (size_t leaf = 0; leaf < accum->leaf_count; leaf++) {
        const hdst__partial_column *column = &accum->column[leaf];
        put_u8(out, (uint8_t)column->cell.kind);
        put_u8(out, (uint8_t)column->cell.acc);
        hdst__put_u64(out, column->cell.elements);
        hdst__column_write(column, out);
    }
}

hdst_status hdst__partial_write(const hdst__partial *partial, const hdst__partial_label *label, hdst__buffer *out, hdst_error *error)
{
    const size_t start = hdst__partial_frame_begin(HDST__PARTIAL_ACCUMULATORS, label, out);
    hdst__put_u32(out, (uint32_t)partial->accum_count);
    for (size_t a = 0; a < partial->accum_count; a++) write_accum(&partial->accum[a], out);
    return hdst__partial_frame_end(start, out, error);
}

// --- Reading ---

static bool is_sound(uint8_t kind, uint8_t acc, uint64_t elements)
{
    const bool bits = acc == HDST__AND || acc == HDST__OR || acc == HDST__XOR;
    return kind <= HDST__F64 && acc <= HDST__XOR && elements && !(bits && hdst__kind_is_float((hdst__kind)kind));
}

static hdst_status read_leaf(hdst__partial_column *column, uint64_t rows, hdst__byte_cursor *from)
{
    uint8_t kind, acc;
    uint64_t elements;
    if (!hdst__cursor_take(from, &kind, 1) || !hdst__cursor_take(from, &acc, 1) || !hdst__cursor_take(from, &elements, sizeof elements)) return HDST_E_FORMAT;
    if (!is_sound(kind, acc, elements)) return HDST_E_FORMAT;
    column->cell = hdst__cell_make((hdst__kind)kind, (hdst__accumulate_op)acc, HDST__CLASS_ONE_WORD);
    column->cell.elements = elements;
    if (__builtin_mul_overflow(rows, elements, &column->count) || column->count > UINT64_MAX / sizeof(int64_t) / 2) return HDST_E_FORMAT;
    return hdst__column_from_bytes(column, from);
}

static hdst_status read_accum(hdst__partial *partial, hdst__partial_accum *accum, hdst__byte_cursor *from)
{
    uint32_t leaves;
    hdst_status status = HDST_OK;
    if (!hdst__cursor_take(from, &accum->rows, sizeof accum->rows) || !hdst__cursor_take(from, &leaves, sizeof leaves)) return HDST_E_FORMAT;
    if (!accum->rows || leaves > from->left / LEAST_LEAF_BYTES) return HDST_E_FORMAT;
    accum->column = hdst__alloc_zero(partial->allocator, leaves * sizeof *accum->column);
    if (!accum->column) return HDST_E_MEMORY;
    for (; accum->leaf_count < leaves && status == HDST_OK; accum->leaf_count++) {
        accum->column[accum->leaf_count].allocator = partial->allocator;
        status = read_leaf(&accum->column[accum->leaf_count], accum->rows, from);
    }
    return status;
}

static hdst_status read_accums(hdst__partial *partial, hdst__byte_cursor *from)
{
    uint32_t count;
    hdst_status status = HDST_OK;
    if (!hdst__cursor_take(from, &count, sizeof count) || count > from->left / LEAST_ACCUM_BYTES) return HDST_E_FORMAT;
    partial->accum = hdst__alloc_zero(partial->allocator, count * sizeof *partial->accum);
    if (!partial->accum) return HDST_E_MEMORY;
    for (; partial->accum_count < count && status == HDST_OK; partial->accum_count++)
        status = read_accum(partial, &partial->accum[partial->accum_count], from);
    return status == HDST_OK && from->left ? HDST_E_FORMAT : status;
}

hdst_status hdst__partial_from_bytes(const hdst__allocator *allocator, const void *bytes, uint64_t size, hdst__partial **partial,
                                     hdst__partial_label *label, hdst_error *error)
{
    hdst__byte_cursor from;
    uint32_t kind;
    *partial = NULL;
    hdst_status status = hdst__partial_frame_open(bytes, size, &from, &kind, label, error);
    if (status == HDST_OK && kind != HDST__PARTIAL_ACCUMULATORS) status = hdst__partial_damaged(error, "it is of a kind that is not known");
    if (status != HDST_OK) return status;
    hdst__partial *made = hdst__alloc_zero(allocator, sizeof *made);
    if (!made) return hdst__error_memory(error, "a partial");
    made->allocator = allocator;
    status = read_accums(made, &from);
    if (status == HDST_OK) *partial = made;
    else hdst__partial_destroy(made);
    if (status == HDST_E_FORMAT) return hdst__partial_damaged(error, "its accumulators make no sense");
    return status == HDST_OK ? HDST_OK : hdst__error_memory(error, "a partial");
}
