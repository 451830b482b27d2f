// SPDX-License-Identifier: Apache-2.0
// The frame of a partial's bytes (accum/partial_bytes.h), and who refuses foreign and damaged ones.
#include "accum/partial_bytes.h"

#include "accum/partial_column.h"
#include "accum/representation.h"

#include <inttypes.h>
#include <string.h>

static const char magic[8] = {'H', 'D', 'S', 'T', 'P', 'A', 'R', 'T'};
enum { VERSION = 1, HASH_BYTES = 16, TOTAL_AT = 16, HEAD_BYTES = 48, LEAST_LEAF_BYTES = 11, LEAST_ACCUM_BYTES = 12 };

// --- Writing ---

static void put_u32(hdst__buffer *out, uint32_t value) { hdst__buffer_add(out, (const char *)&value, sizeof value); }     // little-endian hosts
static void put_u64(hdst__buffer *out, uint64_t value) { hdst__buffer_add(out, (const char *)&value, sizeof value); }
static void put_u8(hdst__buffer *out, uint8_t value) { hdst__buffer_add(out, (const char *)&value, sizeof value); }

static void put_hash(hdst__buffer *out, const hdst__hash *hash)
{
    put_u64(out, hash->high);
    put_u64(out, hash->low);
}

static void write_accum(const hdst__partial_accum *accum, hdst__buffer *out)
{
    put_u64(out, accum->rows);
    put_u32(out, (uint32_t)accum->leaf_count);
    for (size_t leaf = 0; leaf < accum->leaf_count; leaf++) {
        const hdst__partial_column *column = &accum->column[leaf];
        put_u8(out, (uint8_t)column->cell.kind);
        put_u8(out, (uint8_t)column->cell.acc);
        put_u64(out, column->cell.elements);
        hdst__column_write(column, out);
    }
}

hdst_status hdst__partial_write(const hdst__partial *partial, const hdst__partial_label *label, hdst__buffer *out, hdst_error *error)
{
    const size_t start = out->length;
    hdst__hash checksum = HDST__HASH_INIT;
    hdst__buffer_add(out, magic, sizeof magic);
    put_u32(out, VERSION);
    put_u32(out, 0);
    put_u64(out, 0);
    put_hash(out, &label->identity);
    put_u64(out, label->description_bytes);
    hdst__buffer_add(out, label->description, label->description_bytes);
    put_u32(out, (uint32_t)partial->accum_count);
    for (size_t a = 0; a < partial->accum_count; a++) write_accum(&partial->accum[a], out);
    if (out->failed) return hdst__error_memory(error, "a partial as bytes");
    const uint64_t bytes = out->length - start + HASH_BYTES;
    memcpy(out->data + start + TOTAL_AT, &bytes, sizeof bytes);
    hdst__hash_add(&checksum, out->data + start, out->length - start);
    put_hash(out, &checksum);
    return out->failed ? hdst__error_memory(error, "a partial as bytes") : HDST_OK;
}

// --- The frame ---

static hdst_status damaged(hdst_error *error, const char *what)
{
    hdst__error_set(error, HDST_E_FORMAT, "the partial is damaged: %s", what);
    hdst__error_hint(error, "take the bytes again from where they were written");
    return HDST_E_FORMAT;
}

static hdst_status check_size(uint64_t size, uint64_t written, hdst_error *error)
{
    if (size == written) return HDST_OK;
    hdst__error_set(error, HDST_E_FORMAT, "the partial is damaged: it has %" PRIu64 " bytes, and was written with %" PRIu64, size, written);
    hdst__error_hint(error, size < written ? "it is cut off: take the bytes again from where they were written"
                     : "what follows is something else: give the size that it was written with");
    return HDST_E_FORMAT;
}

// Magic, version, size, checksum; `from` is then what lies between head and checksum, and the label's identity is filled.
static hdst_status open_frame(hdst__byte_cursor *from, hdst__partial_label *label, hdst_error *error)
{
    const uint8_t *start = from->at;
    const uint64_t size = from->left;
    uint8_t name[sizeof magic];
    uint32_t version, zero;
    uint64_t written;
    hdst__hash checksum = HDST__HASH_INIT, stored;
    if (!hdst__cursor_take(from, name, sizeof name) || memcmp(name, magic, sizeof magic)) {
        hdst__error_set(error, HDST_E_FORMAT, "these bytes are no partial: they do not begin with 'HDSTPART'");
        hdst__error_hint(error, "give what hdst_partial_write wrote, from its first byte on");
        return HDST_E_FORMAT;
    }
    if (size < HEAD_BYTES + HASH_BYTES || !hdst__cursor_take(from, &version, sizeof version)) return damaged(error, "its head is cut off");
    if (version != VERSION)
        return hdst__error_set(error, HDST_E_FORMAT, "the partial is of version %" PRIu32 " of its format; this library reads version %d", version, VERSION);
    (void)hdst__cursor_take(from, &zero, sizeof zero);
    (void)hdst__cursor_take(from, &written, sizeof written);
    hdst_status status = check_size(size, written, error);
    if (status != HDST_OK) return status;
    memcpy(&stored, start + size - HASH_BYTES, HASH_BYTES);
    hdst__hash_add(&checksum, start, size - HASH_BYTES);
    if (checksum.high != stored.high || checksum.low != stored.low) return damaged(error, "its checksum does not match");
    (void)hdst__cursor_take(from, &label->identity, sizeof label->identity);
    from->left -= HASH_BYTES;
    return HDST_OK;
}

static hdst_status take_description(hdst__byte_cursor *from, hdst__partial_label *label, hdst_error *error)
{
    (void)hdst__cursor_take(from, &label->description_bytes, sizeof label->description_bytes);
    if (label->description_bytes > from->left) return damaged(error, "its description is longer than it");
    label->description = from->at;
    from->at += label->description_bytes;
    from->left -= label->description_bytes;
    return HDST_OK;
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
    hdst__byte_cursor from = {bytes, size};
    *partial = NULL;
    hdst_status status = open_frame(&from, label, error);
    if (status == HDST_OK) status = take_description(&from, label, error);
    if (status != HDST_OK) return status;
    hdst__partial *made = hdst__alloc_zero(allocator, sizeof *made);
    if (!made) return hdst__error_memory(error, "a partial");
    made->allocator = allocator;
    status = read_accums(made, &from);
    if (status == HDST_OK) *partial = made;
    else hdst__partial_destroy(made);
    if (status == HDST_E_FORMAT) return damaged(error, "its accumulators make no sense");
    return status == HDST_OK ? HDST_OK : hdst__error_memory(error, "a partial");
}
