// SPDX-License-Identifier: Apache-2.0
// Records as text and as raw bytes.
#define _GNU_SOURCE     // uselocale
#include "io/write.h"

#include "io/columns.h"
#include "io/iso_time.h"
#include "io/text_write.h"

#include <inttypes.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

hdst_status hdst__records_write(const hdst__record_format *format, const hdst__allocator *allocator, const char *path, const hdst__record *record,
                                const void *rows, uint64_t count, hdst_error *error)
{
    hdst_error own = HDST_ERROR_INIT;
    hdst__file_writer *writer = format->begin(allocator, path, record, count, &own);
    if (!writer) {
        if (error) *error = own;
        return own.code;
    }
    format->add(writer, record, rows, count);
    return hdst__file_writer_commit(writer, error);
}

static hdst__file_writer *begin_raw(const hdst__allocator *allocator, const char *path, const hdst__record *record, uint64_t count, hdst_error *error)
{
    (void)count;
    if (!record->has_text) return hdst__file_writer_open(allocator, path, error);
    hdst__error_set(error, HDST_E_UNSUPPORTED, "record '%s' has a text field, which cannot be written as raw bytes", record->name);
    return NULL;
}

static void add_raw(hdst__file_writer *writer, const hdst__record *record, const void *rows, uint64_t count)
{
    hdst__file_writer_add(writer, rows, count * record->size, NULL);
}

const hdst__record_format hdst__records_raw = {begin_raw, add_raw};

// --- Text ---

// The fewest digits that read back to the same bits, of the precisions that are tried: one that always does comes last.
static int real_text(char text[40], double value, bool is_float)
{
    if (isnan(value)) return snprintf(text, 40, "nan");
    if (isinf(value)) return snprintf(text, 40, value < 0 ? "-inf" : "inf");
    int length = 0, last = is_float ? 9 : 17;
    for (int digits = is_float ? 6 : 15; digits <= last; digits++) {
        length = snprintf(text, 40, "%.*g", digits, value);
        if (is_float ? strtof(text, NULL) == (float)value : strtod(text, NULL) == value) break;
    }
    return length;
}

static int number_text(char text[40], hdst__kind kind, const void *value)
{
    union { int8_t i8; int16_t i16; int32_t i32; int64_t i64; uint8_t u8; uint16_t u16; uint32_t u32; uint64_t u64; float f32; double f64; } v;
    memcpy(&v, value, hdst__scalar_size(kind));
    switch (kind) {
    case HDST__I8: return snprintf(text, 40, "%d", v.i8);
    case HDST__I16: return snprintf(text, 40, "%d", v.i16);
    case HDST__I32: return snprintf(text, 40, "%" PRId32, v.i32);
    case HDST__I64: return snprintf(text, 40, "%" PRId64, v.i64);
    case HDST__BOOL: return snprintf(text, 40, "%d", v.u8 != 0);
    case HDST__U8: return snprintf(text, 40, "%u", v.u8);
    case HDST__U16: return snprintf(text, 40, "%u", v.u16);
    case HDST__U32: return snprintf(text, 40, "%" PRIu32, v.u32);
    case HDST__U64: return snprintf(text, 40, "%" PRIu64, v.u64);
    case HDST__F32: return real_text(text, v.f32, true);
    default: return real_text(text, v.f64, false);
    }
}

// At most HDST__ISO_TEXT bytes.
static int value_text(char text[HDST__ISO_TEXT], const hdst__leaf *leaf, const void *value)
{
    return leaf->time ? (int)hdst__iso_write(text, leaf->time, value) : number_text(text, leaf->kind, value);
}

static void add_text(hdst__file_writer *writer, const char *text) { hdst__file_writer_add(writer, text, strlen(text), NULL); }

// --- Separated ---

static void add_header(hdst__file_writer *writer, const hdst__record *record, const char *delimiter)
{
    const char *between = "";
    for (size_t l = 0; l < record->leaf_count; l++)
        for (uint64_t e = 0; e < record->leaves[l].elements && !record->leaves[l].is_validity; e++, between = delimiter) {
            char name[512];
            add_text(writer, between);
            hdst__element_name(&record->leaves[l], e, name, sizeof name);
            add_text(writer, name);
        }
    add_text(writer, "\n");
}

typedef struct cell_place {
    char delimiter;
    bool first, alone;          // in its row
} cell_place;

static void add_span(hdst__file_writer *writer, const char *value, const cell_place *place, bool may_be_missing)
{
    hdst__text_span span;
    memcpy(&span, value, sizeof span);          // which packed records do not align
    if (place->delimiter == ',') hdst__text_write_csv(writer, &span, place->alone || may_be_missing);
    else hdst__text_write_tsv(writer, &span, place->first || may_be_missing);
}

static bool is_valid(const hdst__record *record, const hdst__leaf *leaf, uint64_t element, const char *row)
{
    return !leaf->valid || row[hdst__leaf_offset(&record->leaves[leaf->valid - 1], element)];
}

// Whether nothing would be written of a row but delimiters.
static bool is_blank(const hdst__record *record, const char *row)
{
    for (size_t l = 0; l < record->leaf_count; l++)
        for (uint64_t e = 0; e < record->leaves[l].elements && !record->leaves[l].is_validity; e++) {
            const hdst__leaf *leaf = &record->leaves[l];
            uint32_t length = 1;
            if (!leaf->valid && leaf->kind == HDST__TEXT) memcpy(&length, row + hdst__leaf_offset(leaf, e), sizeof length);
            if (length && is_valid(record, leaf, e, row)) return false;
        }
    return true;
}

// Empty, but in quotes where the row would be a blank line.
static void add_missing(hdst__file_writer *writer, const hdst__record *record, const char *row, const cell_place *place)
{
    if (place->delimiter == ',' ? place->alone : place->first && is_blank(record, row)) add_text(writer, "\"\"");
}

static void add_cell(hdst__file_writer *writer, const hdst__record *record, const hdst__leaf *leaf, uint64_t element, const char *row, const cell_place *place)
{
    char text[HDST__ISO_TEXT];
    const char *value = row + hdst__leaf_offset(leaf, element);
    if (!is_valid(record, leaf, element, row)) add_missing(writer, record, row, place);
    else if (leaf->kind == HDST__TEXT) add_span(writer, value, place, leaf->valid);
    else hdst__file_writer_add(writer, text, (uint64_t)value_text(text, leaf, value), NULL);
}

static uint64_t count_cells(const hdst__record *record)
{
    uint64_t cells = 0;
    for (size_t l = 0; l < record->leaf_count; l++) cells += record->leaves[l].is_validity ? 0 : record->leaves[l].elements;
    return cells;
}

static void add_rows(hdst__file_writer *writer, const hdst__record *record, const char *rows, uint64_t count, char delimiter)
{
    const uint64_t cells = count_cells(record);
    for (uint64_t i = 0; i < count; i++, rows += record->size) {
        uint64_t done = 0;
        for (size_t l = 0; l < record->leaf_count; l++)
            for (uint64_t e = 0; e < record->leaves[l].elements && !record->leaves[l].is_validity; e++) {
                add_cell(writer, record, &record->leaves[l], e, rows, &(cell_place){delimiter, done == 0, cells == 1});
                hdst__file_writer_add(writer, ++done == cells ? "\n" : &delimiter, 1, NULL);
            }
    }
}

static void add_separated(hdst__file_writer *writer, const hdst__record *record, const void *rows, uint64_t count, char delimiter)
{
    locale_t c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (!c_locale) {
        hdst__file_writer_fail(writer, "out of memory: a locale");
        return;
    }
    locale_t before = uselocale(c_locale);      // of this thread only; printf has no form that takes a locale
    add_rows(writer, record, rows, count, delimiter);
    uselocale(before);
    freelocale(c_locale);
}

static hdst__file_writer *begin_csv(const hdst__allocator *allocator, const char *path, const hdst__record *record, uint64_t count, hdst_error *error)
{
    (void)count;
    hdst__file_writer *writer = hdst__file_writer_open(allocator, path, error);
    if (writer) add_header(writer, record, ",");
    return writer;
}

static hdst__file_writer *begin_tsv(const hdst__allocator *allocator, const char *path, const hdst__record *record, uint64_t count, hdst_error *error)
{
    (void)count;
    hdst__file_writer *writer = hdst__file_writer_open(allocator, path, error);
    if (writer) add_header(writer, record, "\t");
    return writer;
}

static void add_csv(hdst__file_writer *writer, const hdst__record *record, const void *rows, uint64_t count)
{
    add_separated(writer, record, rows, count, ',');
}

static void add_tsv(hdst__file_writer *writer, const hdst__record *record, const void *rows, uint64_t count)
{
    add_separated(writer, record, rows, count, '\t');
}

const hdst__record_format hdst__records_csv = {begin_csv, add_csv}, hdst__records_tsv = {begin_tsv, add_tsv};

// --- Lines ---

static hdst__file_writer *begin_lines(const hdst__allocator *allocator, const char *path, const hdst__record *record, uint64_t count, hdst_error *error)
{
    (void)count;
    if (record->elements == 1 && record->has_text) return hdst__file_writer_open(allocator, path, error);
    hdst__error_set(error, HDST_E_FORMAT, "record '%s' is not a single text, as the lines of a .txt file are", record->name);
    hdst__error_at(error, path, 0, 0);
    hdst__error_hint(error, "end the name in .tsv or .csv");
    return NULL;
}

static void add_lines(hdst__file_writer *writer, const hdst__record *record, const void *rows, uint64_t count)
{
    const char *at = (const char *)rows + record->leaves[0].offset;
    for (uint64_t i = 0; i < count; i++, at += record->size) {
        hdst__text_span span;
        memcpy(&span, at, sizeof span);
        hdst__text_write(writer, &span);
        hdst__file_writer_add(writer, "\n", 1, NULL);
    }
}

const hdst__record_format hdst__records_lines = {begin_lines, add_lines};
