// SPDX-License-Identifier: Apache-2.0
// What a source of edges holds: made by source_edges.c, used by edge_columns.c, edge_checks.c, edges_seen.c, edge_vertices.c and matrix_market.c.
#ifndef HDST_IO_EDGES_H
#define HDST_IO_EDGES_H

#include "io/bound.h"
#include "io/source_edges.h"

typedef struct hdst__matrix {       // of Matrix Market
    bool is_matrix;                 // it is one: its numbers count from 1
    bool symmetric;                 // an edge stands for both directions, but on the diagonal
    bool has_values;
    uint64_t rows, columns, entries;
    uint64_t *diagonal;             // of a symmetric one: a bit for each entry, in blocks; bits behind the last entry are set
    uint64_t *off_before;           // by block: entries before it that are not on the diagonal
    uint64_t blocks, off;           // off: all that are not
} hdst__matrix;

enum { HDST__EDGE_STRETCHES = 64 };         // threads read here and there, each further on: there are about as many stretches as threads

typedef struct hdst__edge_stretch {
    uint64_t begin, end;
} hdst__edge_stretch;

typedef struct hdst__edges_seen {       // of a column
    hdst__edge_stretch stretch[HDST__EDGE_STRETCHES];
    size_t count;
    uint64_t largest;               // number in them
} hdst__edges_seen;

typedef struct hdst__edges {
    hdst__source *inner;            // rows as they stand in the file
    const hdst__cancel *cancel;
    bool sizes_first, adjacency;
    hdst__matrix matrix;
    uint64_t vertices;
    bool has_vertices;              // they are known
    hdst__edges_seen seen[2];       // of a list or an array: which edges were read so far
    pthread_mutex_t lock;           // of `seen`
} hdst__edges;

extern const char *const hdst__edge_names[HDST__EDGE_COLUMNS];

bool hdst__source_has_edges(const hdst__source *source);
// As hdst__source_format.match.
hdst_status hdst__edge_columns_match(const hdst__source *source, const hdst__record *record, size_t column[], hdst_error *error);
// Of a column of numbers, `stride` bytes apart, those of edge `first` and of the following ones: HDST_E_FORMAT where one is no vertex. Weights may be any.
hdst_status hdst__edges_check(const hdst__source *source, size_t column, hdst__kind kind, uint64_t first, const void *numbers, uint64_t stride,
                              uint64_t count, hdst_error *error);
// The largest of `count` numbers, `stride` bytes apart. False: of another kind than integers of 32 and 64 bits, or one of them is no vertex.
bool hdst__edges_largest(hdst__kind kind, const char *numbers, uint64_t stride, uint64_t count, uint64_t *largest);
// Edges from `first` on were read, and looked at, in a column of vertices. Any thread.
void hdst__edges_see(hdst__edges *edges, size_t column, uint64_t first, uint64_t count, uint64_t largest);
// Whether all `rows` of them were, in both columns. *largest: the number in them.
bool hdst__edges_saw_all(hdst__edges *edges, uint64_t rows, uint64_t *largest);
// The error of a number that is no vertex, at its place in the file. `row`: of the inner source.
hdst_status hdst__edges_refuse(const hdst__source *source, uint64_t row, size_t column, hdst__kind kind, const void *value, hdst_error *error);

// The first line of a text says that it is a matrix, and which. HDST_E_FORMAT, HDST_E_UNSUPPORTED: of a kind that is not read.
bool hdst__matrix_begins(const char *bytes, size_t count);
hdst_status hdst__matrix_banner(hdst__matrix *matrix, const char *bytes, size_t count, hdst_error *error);
// What the row says that is not an entry: rows, columns, entries.
hdst_status hdst__matrix_sizes(hdst__source *source, hdst_error *error);
// Once the inner rows are counted: source->rows.
hdst_status hdst__matrix_count(hdst__source *source, hdst_error *error);
// As hdst__source_format.read.
hdst_status hdst__matrix_read(hdst__source *source, const hdst__row_form *as, uint64_t first, uint64_t count, void *rows, hdst_error *error);

#endif
