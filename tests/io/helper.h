// SPDX-License-Identifier: Apache-2.0
// For the tests of readers and writers: records, files written byte by byte, sources filled into every layout.
#ifndef TESTS_IO_HELPER_H
#define TESTS_IO_HELPER_H

#include "io/source.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static hdst__arena arena;
static jmp_buf out_of_memory;
static char folder[64];

static void set_up(void)
{
    hdst__arena_init(&arena, NULL, &out_of_memory);
    strcpy(folder, "/tmp/hdst-test-io-XXXXXX");
    cr_assert(mkdtemp(folder));
}

static void tear_down(void)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    cr_assert_eq(system(command), 0);
    hdst__arena_destroy(&arena);
}

static __attribute__((unused)) const char *path_of(const char *name) { return hdst__arena_printf(&arena, "%s/%s", folder, name); }

static __attribute__((unused)) const char *write_file(const char *name, const void *bytes, size_t count)
{
    const char *path = path_of(name);
    FILE *file = fopen(path, "wb");
    cr_assert(file);
    cr_assert_eq(fwrite(bytes, 1, count, file), count);
    cr_assert_eq(fclose(file), 0);
    return path;
}

static __attribute__((unused)) const char *write_text(const char *name, const char *text) { return write_file(name, text, strlen(text)); }

static __attribute__((unused)) char *read_whole(const char *path, size_t *length)
{
    FILE *file = fopen(path, "rb");
    cr_assert(file, "%s", path);
    char *text = hdst__arena_alloc(&arena, 1 << 20);
    *length = fread(text, 1, (1 << 20) - 1, file);
    fclose(file);
    return text;
}

// A .npy file of version 1: the header is padded as NumPy does.
static __attribute__((unused)) const char *write_npy(const char *name, const char *header, const void *data, size_t bytes)
{
    size_t text = strlen(header), padded = (10 + text + 1 + 63) / 64 * 64 - 10;
    char *file = hdst__arena_alloc(&arena, 10 + padded + bytes);
    memcpy(file, "\x93NUMPY\x01\x00", 8);
    file[8] = (char)(padded & 255);
    file[9] = (char)(padded >> 8);
    memset(file + 10, ' ', padded);
    memcpy(file + 10, header, text);
    file[10 + padded - 1] = '\n';
    if (bytes) memcpy(file + 10 + padded, data, bytes);
    return write_file(name, file, 10 + padded + bytes);
}

static __attribute__((unused)) hdst__record *make_record(const char *name, hdst__field *fields, size_t count)
{
    hdst__record *record = HDST__NEW(&arena, hdst__record);
    *record = (hdst__record){.name = name, .fields = fields, .field_count = count};
    cr_assert(hdst__record_finish(&arena, record, NULL));
    return record;
}

// struct { T x[n]; }
static __attribute__((unused)) hdst__record *array_record(hdst__kind kind, uint64_t n)
{
    hdst__field *field = HDST__NEW(&arena, hdst__field);
    *field = (hdst__field){"x", hdst__type_array(&arena, hdst__type_scalar(kind), n)};
    return make_record("point", field, 1);
}

// struct { T name; ... }
static __attribute__((unused)) hdst__record *scalars_record(size_t n, const char *const *names, const hdst__kind *kinds)
{
    hdst__field *fields = HDST__NEW_ARRAY(&arena, hdst__field, n);
    for (size_t i = 0; i < n; i++) fields[i] = (hdst__field){names[i], hdst__type_scalar(kinds[i])};
    return make_record("row", fields, n);
}

static const struct { hdst__layout layout; uint64_t block; } layouts[] = {{HDST__AOS, 0}, {HDST__SOA, 0}, {HDST__AOSOA, 64}, {HDST__AOSOA, 256},
                                                                          {HDST__AOP, 0}};
enum { LAYOUTS = 5, SHIFT = 3 };     // records are filled SHIFT places into the segment

// All records in pieces of `piece`, last piece first, into a segment of the layout; given back as C structs, read by the address rule. NULL on an error.
static __attribute__((unused)) char *fill_layout(hdst__bound_source *bound, const hdst__record *record, uint64_t rows, uint64_t piece, int which,
                                                 hdst_error *error)
{
    const hdst__storage *storage = hdst__storage_make(&arena, record, layouts[which].layout, layouts[which].block, rows + SHIFT);
    void *buffers[64];
    cr_assert(storage && storage->buffers <= 64);
    for (uint32_t b = 0; b < storage->buffers; b++) {
        buffers[b] = malloc(storage->buffer_bytes[b] + 1);      // one byte more, to see that nobody writes it
        memset(buffers[b], 0xAA, storage->buffer_bytes[b] + 1);
    }
    bool failed = false;
    for (uint64_t pieces = (rows + piece - 1) / piece; pieces-- > 0 && !failed;) {
        uint64_t first = pieces * piece, count = rows - first < piece ? rows - first : piece;
        failed = hdst__bound_source_fill(bound, first, count, storage, buffers, first + SHIFT, error) != HDST_OK;
    }
    char *structs = hdst__arena_alloc(&arena, rows * record->size + 1);
    for (uint64_t i = 0; i < rows && !failed; i++)
        for (uint32_t l = 0; l < record->leaf_count; l++)
            for (uint64_t e = 0; e < record->leaves[l].elements; e++)
                memcpy(structs + i * record->size + hdst__leaf_offset(&record->leaves[l], e),
                       (char *)buffers[storage->leaf[l].buffer] + hdst__storage_offset(storage, l, i + SHIFT, e), hdst__scalar_size(record->leaves[l].kind));
    for (uint32_t b = 0; b < storage->buffers; b++) {
        cr_assert_eq(((unsigned char *)buffers[b])[storage->buffer_bytes[b]], 0xAA);
        free(buffers[b]);
    }
    return failed ? NULL : structs;
}

// Binds, fills in every layout and in pieces of two sizes, and compares with the expected C structs.
static __attribute__((unused)) void expect_records(hdst__source *source, const hdst__record *record, const void *expected, uint64_t rows)
{
    hdst__bound_source *bound;
    hdst_error error = HDST_ERROR_INIT;
    cr_assert_eq(hdst__source_bind(source, record, &bound, &error), HDST_OK, "%s", error.message);
    cr_assert_eq(source->rows, rows, "%llu rows", (unsigned long long)source->rows);
    for (int which = 0; which < LAYOUTS; which++) {
        for (uint64_t piece = 7; piece <= 1000000; piece += 999993) {
            char *got = fill_layout(bound, record, rows, piece, which, &error);
            cr_assert(got, "%s", error.message);
            cr_assert(rows == 0 || !memcmp(got, expected, rows * record->size), "layout %d, pieces of %d", which, (int)piece);
        }
    }
    hdst__source_unbind(bound);
}

// The message of opening, binding or filling; "" when all went well.
static __attribute__((unused)) hdst_error failure_of(hdst__source *source, const hdst__record *record, hdst_error opened)
{
    if (!source) return opened;
    hdst__bound_source *bound;
    hdst_error error = HDST_ERROR_INIT;
    if (hdst__source_bind(source, record, &bound, &error) == HDST_OK) {
        fill_layout(bound, record, source->rows, 64, 1, &error);
        hdst__source_unbind(bound);
    }
    hdst__source_close(source);
    return error;
}

#define OPEN_OK(call)                                                   \
    ({                                                                  \
        hdst_error error_ = HDST_ERROR_INIT, *error = &error_;          \
        hdst__source *source_ = (call);                                 \
        cr_assert(source_, "%s: %s", error_.message, error_.cause);     \
        source_;                                                        \
    })

#endif
