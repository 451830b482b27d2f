// SPDX-License-Identifier: Apache-2.0
// What all sources share, and several sources as one.
#include "io/source.h"
#include "io/file.h"

#include <string.h>

hdst__source *hdst__source_new(const hdst__allocator *allocator, const hdst__source_format *format, const char *name, hdst_error *error)
{
    hdst__source *source = hdst__alloc_zero(allocator, sizeof *source);
    if (source) source->name = hdst__strdup(allocator, name);
    if (source && source->name) {
        source->format = format;
        source->allocator = allocator;
        return source;
    }
    hdst__free(allocator, source);
    hdst__error_memory(error, name);
    return NULL;
}

bool hdst__source_add_column(hdst__source *source, const char *name, hdst__kind kind, uint64_t offset, uint64_t count)
{
    const size_t held = source->column_count;
    if ((held & (held - 1)) == 0) {                 // there is room for the next power of two
        hdst__column *more = hdst__realloc(source->allocator, source->columns, (held ? 2 * held : 1) * sizeof *more);
        if (!more) return false;
        source->columns = more;
    }
    char *copy = name ? hdst__strdup(source->allocator, name) : NULL;
    if (name && !copy) return false;
    source->columns[source->column_count++] = (hdst__column){copy, kind, offset, count};
    source->width += count;
    return true;
}

hdst_status hdst__source_count(hdst__source *source, hdst__thread_pool *threads, hdst_error *error)
{
    if (source->is_counted || (source->open_end && source->format->bind && !source->row_bytes)) return HDST_OK;
    if (threads) source->threads = threads;
    hdst_status status = source->format->count ? source->format->count(source, error) : HDST_OK;
    source->is_counted = status == HDST_OK;
    return status;
}

hdst_status hdst__source_begin(hdst__source *source, hdst__thread_pool *threads, hdst_error *error)
{
    if (threads) source->threads = threads;
    return source->format->begin ? source->format->begin(source, error) : HDST_OK;
}

hdst_status hdst__source_look(hdst__source *source, uint64_t record, hdst_error *error)
{
    if (source->format->look) return source->format->look(source, record, error);
    void *row = hdst__alloc(source->allocator, source->row_bytes);
    const hdst_status status = row ? source->format->read(source, NULL, record, 1, row, error) : hdst__error_memory(error, source->name);
    hdst__free(source->allocator, row);
    return status;
}

bool hdst__source_knows_rows(const hdst__source *source)
{
    if (source->is_counted || !source->format->count) return true;
    for (size_t i = 0; i < source->part_count; i++)
        if (!hdst__source_knows_rows(source->parts[i])) return false;
    return source->part_count > 0;
}

void hdst__source_is_one_of_many(hdst__source *source, size_t number)
{
    if (source->format->rest && number >= hdst__files_that_stay_open()) source->format->rest(source);
}

void hdst__source_close(hdst__source *source)
{
    if (!source) return;
    if (source->format->close) source->format->close(source);
    for (size_t i = 0; i < source->column_count; i++) hdst__free(source->allocator, (char *)source->columns[i].name);
    for (size_t i = 0; i < source->part_count; i++) hdst__source_close(source->parts[i]);
    hdst__free(source->allocator, source->parts);
    hdst__free(source->allocator, source->columns);
    hdst__free(source->allocator, source->name);
    hdst__free(source->allocator, source);
}

// --- Several sources as one ---

// Of several as one: of each part.
static hdst_status count_parts(hdst__source *source, hdst_error *error)
{
    source->rows = 0;
    source->note[0] = 0;
    for (size_t i = 0; i < source->part_count; i++) {
        hdst__source *part = source->parts[i];
        part->skips_malformed = source->skips_malformed;
        hdst_status status = hdst__source_count(part, source->threads, error);
        if (status != HDST_OK) return status;
        if (__builtin_add_overflow(source->rows, part->rows, &source->rows))
            return hdst__error_set(error, HDST_E_FORMAT, "the inputs have more than 2^64 rows together");
        if (!source->note[0]) memcpy(source->note, part->note, sizeof source->note);
    }
    return HDST_OK;
}

static void rest_parts(hdst__source *source)
{
    for (size_t i = 0; i < source->part_count; i++)
        if (source->parts[i]->format->rest) source->parts[i]->format->rest(source->parts[i]);
}

static const hdst__source_format concat_format = {.name = "files", .count = count_parts, .rest = rest_parts};

static hdst_status check_part(const hdst__source *first, const hdst__source *part, hdst_error *error)
{
    if (part->width == first->width && !part->columns == !first->columns) return HDST_OK;
    hdst__error_set(error, HDST_E_FORMAT, "'%s' has %llu numbers in a row, '%s' has %llu", part->name, (unsigned long long)part->width, first->name,
                    (unsigned long long)first->width);
    hdst__error_at(error, part->name, 0, 0);
    hdst__error_hint(error, "inputs that are read together have equal columns; choose them with a list of columns");
    return HDST_E_FORMAT;
}

static hdst_status add_parts(hdst__source *source, hdst__source **parts, size_t count, hdst_error *error)
{
    for (size_t i = 0; i < count; i++) {
        hdst_status status = check_part(parts[0], parts[i], error);
        if (status != HDST_OK) return status;
        if (!source->note[0]) memcpy(source->note, parts[i]->note, sizeof source->note);
    }
    for (size_t i = 0; i < parts[0]->column_count; i++) {
        const hdst__column *c = &parts[0]->columns[i];
        if (!hdst__source_add_column(source, c->name, c->kind, c->offset, c->count)) return hdst__error_memory(error, source->name);
    }
    return HDST_OK;
}

// A part that is several itself is taken apart: all parts of a source are files, or what else one format reads.
static bool take_parts(hdst__source *source, hdst__source **parts, size_t count)
{
    size_t all = 0;
    for (size_t i = 0; i < count; i++) all += parts[i]->parts ? parts[i]->part_count : 1;
    source->parts = hdst__alloc(source->allocator, all * sizeof *parts);
    if (!source->parts) return false;
    for (size_t i = 0; i < count; i++) {
        hdst__source *const *from = parts[i]->parts ? parts[i]->parts : &parts[i];
        const size_t more = parts[i]->parts ? parts[i]->part_count : 1;
        memcpy(source->parts + source->part_count, from, more * sizeof *from);
        source->part_count += more;
        if (!parts[i]->parts) continue;
        parts[i]->part_count = 0;           // they are this one's now
        hdst__source_close(parts[i]);
    }
    return true;
}

hdst__source *hdst__source_concat(const hdst__allocator *allocator, hdst__source **parts, size_t count, hdst_error *error)
{
    hdst__source *source = NULL;
    if (count == 0) hdst__error_set(error, HDST_E_USAGE, "a concatenation of no sources");
    else source = hdst__source_new(allocator, &concat_format, parts[0]->name, error);
    if (source && !take_parts(source, parts, count)) {
        hdst__error_memory(error, source->name);
        hdst__source_close(source);
        source = NULL;
    }
    if (!source) {
        for (size_t i = 0; i < count; i++) hdst__source_close(parts[i]);
        return NULL;
    }
    if (add_parts(source, source->parts, source->part_count, error) == HDST_OK) return source;
    hdst__source_close(source);
    return NULL;
}
