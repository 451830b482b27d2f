// SPDX-License-Identifier: Apache-2.0
// .npy files of version 1 (2 where the header is longer than 65,535 bytes), padded so that the data starts at a multiple of 64.
#include "io/write.h"

#include "base/buffer.h"

#include <string.h>

static const char *type_text(hdst__kind kind)
{
    static const char *const texts[] = {
        [HDST__BOOL] = "|b1", [HDST__I8] = "|i1",  [HDST__I16] = "<i2", [HDST__I32] = "<i4", [HDST__I64] = "<i8", [HDST__U8] = "|u1",
        [HDST__U16] = "<u2",  [HDST__U32] = "<u4", [HDST__U64] = "<u8", [HDST__F32] = "<f4", [HDST__F64] = "<f8"};
    _Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "bytes are written as they lie in memory");
    return texts[kind];
}

static void add_shape(hdst__buffer *text, const uint64_t *shape, size_t dims)
{
    hdst__buffer_puts(text, "(");
    for (size_t i = 0; i < dims; i++) hdst__buffer_printf(text, "%s%llu", i ? ", " : "", (unsigned long long)shape[i]);
    hdst__buffer_puts(text, dims == 1 ? ",)" : ")");
}

// Opens the file and writes magic, version, length and the padded dictionary.
static hdst__file_writer *begin(const hdst__allocator *allocator, const char *path, const char *descr, const uint64_t *shape, size_t dims, hdst_error *error)
{
    hdst__buffer text;
    hdst__buffer_init(&text, allocator);
    hdst__buffer_printf(&text, "{'descr': %s, 'fortran_order': False, 'shape': ", descr);
    add_shape(&text, shape, dims);
    hdst__buffer_puts(&text, ", }");
    size_t start = text.length + 1 + 63 + 10 > 65535 ? 12 : 10;     // with the most padding there can be
    while ((start + text.length + 1) % 64 && !text.failed) hdst__buffer_puts(&text, " ");
    hdst__buffer_puts(&text, "\n");
    hdst__file_writer *writer = NULL;
    if (text.failed) hdst__error_memory(error, path);
    else writer = hdst__file_writer_open(allocator, path, error);
    unsigned char head[12] = {0x93, 'N', 'U', 'M', 'P', 'Y', start == 12 ? 2 : 1, 0};
    for (size_t i = 8; i < start; i++) head[i] = (unsigned char)(text.length >> 8 * (i - 8));
    if (writer && (hdst__file_writer_add(writer, head, start, error) != HDST_OK ||
                   hdst__file_writer_add(writer, hdst__buffer_text(&text), text.length, error) != HDST_OK)) {
        hdst__file_writer_abandon(writer);
        writer = NULL;
    }
    hdst__buffer_destroy(&text);
    return writer;
}

hdst__file_writer *hdst__npy_begin(const hdst__allocator *allocator, const char *path, hdst__kind kind, const uint64_t *shape, size_t dims, hdst_error *error)
{
    char descr[8] = "'";
    if (kind >= HDST__TEXT) {
        hdst__error_set(error, HDST_E_USAGE, "an array of numbers is expected");
        return NULL;
    }
    strcat(strcat(descr, type_text(kind)), "'");
    return begin(allocator, path, descr, shape, dims, error);
}

// --- Records ---

static char *record_descr(const hdst__allocator *allocator, const hdst__record *record)
{
    hdst__buffer text;
    hdst__buffer_init(&text, allocator);
    hdst__buffer_puts(&text, "[");
    for (size_t l = 0; l < record->leaf_count; l++) {
        const hdst__leaf *leaf = &record->leaves[l];
        hdst__buffer_printf(&text, "%s('%s', '%s'", l ? ", " : "", leaf->path, type_text(leaf->kind));
        if (leaf->dims) {
            uint64_t shape[HDST__LEAF_DIMS];
            for (uint32_t i = 0; i < leaf->dims; i++) shape[i] = leaf->dim[i].count;
            hdst__buffer_puts(&text, ", ");
            add_shape(&text, shape, leaf->dims);
        }
        hdst__buffer_puts(&text, ")");
    }
    hdst__buffer_puts(&text, "]");
    return hdst__buffer_take(&text);
}

static void add_packed(hdst__file_writer *writer, const hdst__record *record, const char *row)
{
    for (size_t l = 0; l < record->leaf_count; l++)
        for (uint64_t e = 0; e < record->leaves[l].elements; e++)
            hdst__file_writer_add(writer, row + hdst__leaf_offset(&record->leaves[l], e), hdst__scalar_size(record->leaves[l].kind), NULL);
}

static bool is_packed(const hdst__record *record)
{
    return record->leaf_count == 1 && record->leaves[0].elements * hdst__scalar_size(record->leaves[0].kind) == record->size;
}

static void add_npy(hdst__file_writer *writer, const hdst__record *record, const void *rows, uint64_t count)
{
    const bool packed = is_packed(record);
    if (packed) hdst__file_writer_add(writer, rows, count * record->size, NULL);
    for (uint64_t i = 0; i < count && !packed; i++) add_packed(writer, record, (const char *)rows + i * record->size);
}

static hdst__file_writer *begin_npy(const hdst__allocator *allocator, const char *path, const hdst__record *record, uint64_t count, hdst_error *error)
{
    if (record->has_text) {
        hdst__error_set(error, HDST_E_UNSUPPORTED, "record '%s' has a text field, which cannot be written to .npy", record->name);
        return NULL;
    }
    char *descr = record_descr(allocator, record);
    if (!descr) {
        hdst__error_memory(error, path);
        return NULL;
    }
    hdst__file_writer *writer = begin(allocator, path, descr, &count, 1, error);
    hdst__free(allocator, descr);
    return writer;
}

const hdst__record_format hdst__records_npy = {begin_npy, add_npy};
