// SPDX-License-Identifier: Apache-2.0
// .npy files as sources: rows of an array of two or more dimensions, numbers of a one-dimensional one, records of a structured
// one. Rows in C order and columns of a Fortran-ordered array are read straight into the caller's memory, where bytes of the other
// order are reversed and half floats grow; rows with half floats go through a buffer.
#include "io/source.h"

#include "io/columns.h"
#include "io/convert.h"
#include "io/npy_header.h"
#include "base/costs_host.h"
#include "base/strided_copy.h"

#include <stdio.h>
#include <string.h>

typedef struct npy_column {         // beside the source's column of the same number
    uint64_t file_offset, file_bytes;   // in a row of the file, with column_major in one in C order; of one number
    bool is_half, is_swapped;
} npy_column;

typedef struct npy_state {
    hdst__file file;
    hdst__npy_header header;        // its columns went into those of the source
    uint64_t file_row_bytes;
    bool repack;                    // a row of the source is not a row of the file
    npy_column *columns;
} npy_state;

static void close_npy(hdst__source *source)
{
    npy_state *state = source->state;
    if (!state) return;
    hdst__file_close(&state->file);
    hdst__free(source->allocator, state->columns);
    hdst__free(source->allocator, state);
}

// --- Rows ---

// No column is chosen twice, so each is swapped once, where it lies.
static void repack_numbers(const hdst__source *source, size_t c, char *from, uint64_t count, char *rows)
{
    const npy_state *state = source->state;
    const npy_column *in = &state->columns[c];
    const uint64_t size = hdst__scalar_size(source->columns[c].kind);
    for (uint64_t e = 0; e < source->columns[c].count; e++) {
        char *numbers = from + in->file_offset + e * in->file_bytes, *to = rows + source->columns[c].offset + e * size;
        if (in->is_swapped) hdst__convert_swap(numbers, in->file_bytes, state->file_row_bytes, count);
        if (in->is_half) hdst__convert_halves(to, source->row_bytes, numbers, state->file_row_bytes, count);
        else hdst__strided_copy(to, source->row_bytes, numbers, state->file_row_bytes, size, count);
    }
}

static hdst_status read_repacked_rows(hdst__source *source, uint64_t first, uint64_t count, char *rows, hdst_error *error)
{
    const npy_state *state = source->state;
    const uint64_t bytes = state->file_row_bytes, most = HDST__HOST_SCRATCH_BYTES / bytes, fit = most ? most : 1, chunk = count < fit ? count : fit;
    char *scratch = hdst__alloc(source->allocator, chunk * bytes);
    if (!scratch) return hdst__error_memory(error, source->name);
    hdst_status status = HDST_OK;
    for (uint64_t done = 0; done < count && status == HDST_OK;) {
        const uint64_t part = count - done < chunk ? count - done : chunk;
        status = hdst__file_read(&state->file, state->header.data_offset + (first + done) * bytes, scratch, part * bytes, error);
        for (size_t c = 0; c < source->column_count && status == HDST_OK; c++) repack_numbers(source, c, scratch, part, rows + done * source->row_bytes);
        done += part;
    }
    hdst__free(source->allocator, scratch);
    return status;
}

static hdst_status read_npy(hdst__source *source, const hdst__row_form *as, uint64_t first, uint64_t count, void *rows, hdst_error *error)
{
    (void)as;
    const npy_state *state = source->state;
    if (state->repack) return read_repacked_rows(source, first, count, rows, error);
    hdst_status status = hdst__file_read(&state->file, state->header.data_offset + first * source->row_bytes, rows, count * source->row_bytes, error);
    if (status != HDST_OK) return status;
    for (size_t c = 0; c < source->column_count; c++)
        for (uint64_t e = 0; state->columns[c].is_swapped && e < source->columns[c].count; e++)
            hdst__convert_swap((char *)rows + source->columns[c].offset + e * state->columns[c].file_bytes, state->columns[c].file_bytes, source->row_bytes,
                               count);
    return HDST_OK;
}

// --- Columns of an array in Fortran's order ---

// Half floats are read into the upper half of the room and grow from its start: none is overwritten before it was read.
static hdst_status read_numbers(hdst__source *source, size_t c, uint64_t element, uint64_t first, uint64_t count, void *numbers, hdst_error *error)
{
    const npy_state *state = source->state;
    const npy_column *in = &state->columns[c];
    const uint64_t bytes = in->file_bytes, place = hdst__npy_fortran_place(&state->header, in->file_offset / bytes + element);
    char *read = (char *)numbers + (hdst__scalar_size(source->columns[c].kind) - bytes) * count;
    hdst_status status = hdst__file_read(&state->file, state->header.data_offset + (place * source->rows + first) * bytes, read, count * bytes, error);
    if (status != HDST_OK) return status;
    if (in->is_swapped) hdst__convert_swap(read, bytes, bytes, count);
    if (in->is_half) hdst__convert_halves(numbers, sizeof(float), read, bytes, count);
    return HDST_OK;
}

static void rest_npy(hdst__source *source) { hdst__file_rest(&((npy_state *)source->state)->file); }

static const hdst__source_format npy_format = {.name = ".npy", .read = read_npy, .read_numbers = read_numbers, .close = close_npy, .rest = rest_npy};

// --- Opening ---

static bool add_column(hdst__source *source, const hdst__npy_column *column, uint64_t first, uint64_t count)
{
    npy_state *state = source->state;
    uint64_t bytes = hdst__npy_scalar_bytes(column), offset = column->offset + first * bytes;
    state->columns[source->column_count] = (npy_column){offset, bytes, column->is_half, column->is_swapped};
    if (!hdst__source_add_column(source, column->name, column->kind, state->repack ? source->row_bytes : offset, count)) return false;
    if (state->repack) source->row_bytes += count * hdst__scalar_size(column->kind);
    return true;
}

// Columns of an array without fields have numbers; fields have names as well.
static hdst_status add_chosen(hdst__source *source, const char *list, hdst_error *error)
{
    npy_state *state = source->state;
    const hdst__npy_header *header = &state->header;
    size_t available = header->has_fields ? header->column_count : (size_t)header->columns[0].count, *chosen, count;
    const char **names = NULL;
    if (header->has_fields) {
        names = hdst__alloc(source->allocator, available * sizeof *names);
        if (!names) return hdst__error_memory(error, source->name);
        for (size_t i = 0; i < available; i++) names[i] = header->columns[i].name;
    }
    hdst_status status = hdst__columns_choose(source->allocator, source->name, list, names, available, &chosen, &count, error);
    hdst__free(source->allocator, names);
    if (status != HDST_OK) return status;
    state->columns = hdst__alloc(source->allocator, count * sizeof *state->columns);
    bool added = state->columns != NULL;
    for (size_t i = 0; i < count && added; i++)
        added = header->has_fields ? add_column(source, &header->columns[chosen[i]], 0, header->columns[chosen[i]].count)
                                   : add_column(source, &header->columns[0], chosen[i], 1);
    hdst__free(source->allocator, chosen);
    source->in_order = true;
    return added ? HDST_OK : hdst__error_memory(error, source->name);
}

static hdst_status add_all(hdst__source *source, hdst_error *error)
{
    npy_state *state = source->state;
    const hdst__npy_header *header = &state->header;
    state->columns = hdst__alloc(source->allocator, header->column_count * sizeof *state->columns);
    bool added = state->columns != NULL;
    for (size_t i = 0; i < header->column_count && added; i++) added = add_column(source, &header->columns[i], 0, header->columns[i].count);
    return added ? HDST_OK : hdst__error_memory(error, source->name);
}

static hdst_status set_up(hdst__source *source, const char *columns, hdst_error *error)
{
    npy_state *state = source->state;
    const hdst__npy_header *header = &state->header;
    state->file_row_bytes = header->row_bytes;
    state->repack = header->column_major;
    for (size_t i = 0; i < header->column_count; i++) state->repack |= header->columns[i].is_half;
    source->rows = header->rows;
    source->row_bytes = state->repack ? 0 : header->row_bytes;
    source->concurrent = true;
    source->by_column = header->column_major;
    return columns ? add_chosen(source, columns, error) : add_all(source, error);
}

hdst__source *hdst__source_npy(const hdst__allocator *allocator, const char *path, const char *columns, hdst_error *error)
{
    hdst__source *source = hdst__source_new(allocator, &npy_format, path, error);
    if (!source) return NULL;
    npy_state *state = source->state = hdst__alloc_zero(allocator, sizeof *state);
    if (!state) {
        hdst__error_memory(error, path);
        hdst__source_close(source);
        return NULL;
    }
    hdst_status status = hdst__file_open(&state->file, source->name, error);
    if (status == HDST_OK) status = hdst__npy_header_read(&state->header, allocator, &state->file, error);
    if (status == HDST_OK) {
        status = set_up(source, columns, error);
        hdst__npy_header_destroy(&state->header);
    }
    if (status == HDST_OK) return source;
    hdst__source_close(source);
    return NULL;
}
