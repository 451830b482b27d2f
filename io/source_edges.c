// SPDX-License-Identifier: Apache-2.0
// Graphs as sources: lists of text and arrays, whose rows are looked at as they are read.
#define _GNU_SOURCE
#include "io/source_edges.h"

#include "io/adjacency.h"
#include "io/csv_source.h"
#include "io/edges.h"
#include "io/file.h"

#include <stdio.h>
#include <string.h>

static void close_edges(hdst__source *source)
{
    hdst__edges *edges = source->state;
    if (!edges) return;
    hdst__source_close(edges->inner);
    pthread_mutex_destroy(&edges->lock);
    hdst__free(source->allocator, edges->matrix.diagonal);
    hdst__free(source->allocator, edges->matrix.off_before);
    hdst__free(source->allocator, edges);
}

// --- Rows ---

static hdst_status read_edges(hdst__source *source, const hdst__row_form *as, uint64_t first, uint64_t count, void *rows, hdst_error *error)
{
    const hdst__edges *edges = source->state;
    hdst_status status = edges->inner->format->read(edges->inner, as, first, count, rows, error);
    for (size_t c = 0; c < HDST__EDGE_WEIGHT && status == HDST_OK; c++) {
        const hdst__column *column = &source->columns[c];
        const hdst__kind kind = source->format->is_text ? as->cell[c].kind : column->kind;
        status = hdst__edges_check(source, c, kind, first, (const char *)rows + column->offset, source->row_bytes, count, error);
    }
    return status;
}

// Numbers of an array are those of its one column, or of columns of their own.
static hdst_status read_edge_numbers(hdst__source *source, size_t column, uint64_t element, uint64_t first, uint64_t count, void *numbers,
                                     hdst_error *error)
{
    const hdst__edges *edges = source->state;
    const hdst__kind kind = source->columns[column].kind;
    const bool one = edges->inner->column_count == 1;
    hdst_status status = edges->inner->format->read_numbers(edges->inner, one ? 0 : column, element + (one ? column : 0), first, count, numbers, error);
    return status == HDST_OK ? hdst__edges_check(source, column, kind, first, numbers, hdst__scalar_size(kind), count, error) : status;
}

// Texts are vertices whatever they are.
static hdst_status fill_edge_texts(const hdst__bound_source *bound, uint64_t first, uint64_t count, const hdst__storage *storage, void *const *buffers,
                                   uint64_t to_first, hdst_error *error)
{
    const hdst__edges *edges = bound->source->state;
    const hdst__bound_source inner = {.source = edges->inner, .record = bound->record, .moves = bound->moves, .move_count = bound->move_count, .as = bound->as};
    return hdst__csv_fill_texts(&inner, first, count, storage, buffers, to_first, error);
}

// --- Counting ---

// "5242 28980" as the first row of a list.
static hdst_status check_sizes(hdst__source *source, hdst_error *error)
{
    hdst__edges *edges = source->state;
    uint64_t line;
    unsigned long long vertices, count;
    char behind;
    const char *row = hdst__source_csv_first_row(edges->inner, &line);
    const bool has_sizes = !strchr(row, '-') && sscanf(row, "%llu%*[ \t,;]%llu %c", &vertices, &count, &behind) == 2;
    if (has_sizes && count == source->rows) return HDST_OK;
    if (has_sizes)
        hdst__error_set(error, HDST_E_FORMAT, "the first row says that there are %llu edges, the list has %llu", count, (unsigned long long)source->rows);
    else hdst__error_set(error, HDST_E_FORMAT, "the first row is not how many vertices and how many edges there are");
    hdst__error_at(error, source->name, (uint32_t)line, 1);
    hdst__error_cause(error, "    %s", row);
    hdst__error_hint(error, "read the list without the option that its sizes come first, if that row is an edge");
    return HDST_E_FORMAT;
}

static hdst_status count_edges(hdst__source *source, hdst_error *error)
{
    hdst__edges *edges = source->state;
    hdst_status status = hdst__source_count(edges->inner, source->threads, error);
    if (status != HDST_OK) return status;
    source->rows = edges->inner->rows;
    source->text_bytes = edges->inner->text_bytes;
    memcpy(source->note, edges->inner->note, sizeof source->note);
    if (edges->adjacency) {
        edges->vertices = hdst__adjacency_vertices(edges->inner);
        edges->has_vertices = true;
    }
    if (edges->matrix.is_matrix) return hdst__matrix_count(source, error);
    return edges->sizes_first ? check_sizes(source, error) : HDST_OK;
}

static void rest_edges(hdst__source *source)
{
    hdst__source *inner = ((hdst__edges *)source->state)->inner;
    if (inner->format->rest) inner->format->rest(inner);
}

static const hdst__source_format list_format = {.name = "edges", .count = count_edges, .read = read_edges, .fill_texts = fill_edge_texts, .is_text = true,
                                                .match = hdst__edge_columns_match, .close = close_edges, .rest = rest_edges};
static const hdst__source_format array_format = {.name = "edges", .count = count_edges, .read = read_edges, .read_numbers = read_edge_numbers,
                                                 .match = hdst__edge_columns_match, .close = close_edges, .rest = rest_edges};
static const hdst__source_format matrix_format = {.name = "edges", .count = count_edges, .read = hdst__matrix_read, .is_text = true,
                                                  .match = hdst__edge_columns_match, .close = close_edges, .rest = rest_edges};

bool hdst__source_has_edges(const hdst__source *source)
{
    return source->format == &list_format || source->format == &array_format || source->format == &matrix_format;
}

// --- Opening ---

static const hdst__csv_list list_shape = {
    hdst__edge_names, 2, HDST__EDGE_COLUMNS, '%',
    "a row is two whole numbers, and a third number where edges have weights; lines that begin with # or % are skipped", "vertices are numbered from 0 on"};
static const hdst__csv_list entry_shape = {
    hdst__edge_names, 2, HDST__EDGE_COLUMNS, '%', "a row has an entry's row and column, and its value unless the matrix is a pattern",
    "rows and columns are numbered from 1"};

static hdst_status look_at_start(void *user, const char *bytes, size_t count, bool *first_row_apart, hdst_error *error)
{
    hdst__edges *edges = user;
    *first_row_apart = edges->sizes_first;
    if (!hdst__matrix_begins(bytes, count)) return HDST_OK;
    edges->sizes_first = false;         // they come first anyway, and say more
    *first_row_apart = true;
    return hdst__matrix_banner(&edges->matrix, bytes, count, error);
}

// Numbers of rows become columns of one number each.
static hdst_status add_columns(hdst__source *source, hdst_error *error)
{
    const hdst__source *inner = ((hdst__edges *)source->state)->inner;
    for (size_t i = 0; i < inner->column_count; i++)
        for (uint64_t e = 0; e < inner->columns[i].count; e++) {
            const hdst__column *c = &inner->columns[i];
            if (source->column_count == HDST__EDGE_COLUMNS) return HDST_OK;
            if (!hdst__source_add_column(source, hdst__edge_names[source->column_count], c->kind, c->offset + e * hdst__scalar_size(c->kind), 1))
                return hdst__error_memory(error, source->name);
        }
    return HDST_OK;
}

static hdst_status check_array(const hdst__source *source, hdst_error *error)
{
    const hdst__source *inner = ((const hdst__edges *)source->state)->inner;
    if (inner->width == 2 || inner->width == HDST__EDGE_COLUMNS) return HDST_OK;
    hdst__error_set(error, HDST_E_FORMAT, "an array of %llu numbers in a row is no list of edges", (unsigned long long)inner->width);
    hdst__error_at(error, source->name, 0, 0);
    hdst__error_hint(error, "its shape is (m, 2), or (m, 3) where edges have weights");
    return HDST_E_FORMAT;
}

static hdst_status open_array(hdst__source *source, hdst_error *error)
{
    hdst__edges *edges = source->state;
    edges->inner = hdst__source_npy(source->allocator, source->name, NULL, error);
    if (!edges->inner) return error ? error->code : HDST_E_IO;
    source->format = &array_format;
    source->by_column = edges->inner->by_column;
    if (!edges->sizes_first) return check_array(source, error);
    hdst__error_set(error, HDST_E_USAGE, "'%s' is an array, which has no first row that tells its sizes", source->name);
    return HDST_E_USAGE;
}

static hdst_status open_adjacency(hdst__source *source, const hdst__edges_options *options, hdst_error *error)
{
    hdst__edges *edges = source->state;
    if (options->sizes_first) return hdst__error_set(error, HDST_E_USAGE, "'%s' is read as an adjacency list, which has no row of sizes", source->name);
    edges->inner = hdst__source_adjacency(source->allocator, source->name, options->cancel, options->runtime, error);
    edges->adjacency = true;
    source->format = &array_format;
    return edges->inner ? HDST_OK : error ? error->code : HDST_E_IO;
}

static hdst_status open_list(hdst__source *source, const hdst__edges_options *options, hdst_error *error)
{
    hdst__edges *edges = source->state;
    edges->inner = hdst__source_csv_list(source->allocator, source->name, &list_shape, options->block_bytes, look_at_start, edges, options->cancel, error);
    if (!edges->inner) return error ? error->code : HDST_E_IO;
    if (!edges->matrix.is_matrix) return HDST_OK;
    source->format = &matrix_format;
    ((hdst__csv_state *)edges->inner->state)->list = &entry_shape;
    return hdst__matrix_sizes(source, error);
}

static bool is_array(const char *path)
{
    char start[6];
    hdst__file file;
    if (hdst__file_open(&file, path, NULL) != HDST_OK) return false;
    const bool is = file.bytes >= sizeof start && hdst__file_read(&file, 0, start, sizeof start, NULL) == HDST_OK && !memcmp(start, "\x93NUMPY", sizeof start);
    hdst__file_close(&file);
    return is;
}

static hdst_status open_edges(hdst__source *source, const hdst__edges_options *options, hdst_error *error)
{
    hdst__edges *edges = source->state = hdst__alloc_zero(source->allocator, sizeof *edges);
    if (!edges) return hdst__error_memory(error, source->name);
    pthread_mutex_init(&edges->lock, NULL);
    edges->sizes_first = options->sizes_first;
    edges->cancel = options->cancel;
    hdst_status status = options->adjacency         ? open_adjacency(source, options, error)
                         : is_array(source->name) ? open_array(source, error)
                                                  : open_list(source, options, error);
    if (status == HDST_OK) status = add_columns(source, error);
    if (status != HDST_OK) return status;
    source->row_bytes = edges->inner->row_bytes;
    source->concurrent = edges->inner->concurrent;
    return HDST_OK;
}

hdst__source *hdst__source_edges(const hdst__allocator *allocator, const char *path, const hdst__edges_options *options, hdst_error *error)
{
    static const hdst__edges_options defaults;
    hdst__source *source = hdst__source_new(allocator, &list_format, path, error);
    if (!source || open_edges(source, options ? options : &defaults, error) == HDST_OK) return source;
    hdst__source_close(source);
    return NULL;
}
