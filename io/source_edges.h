// SPDX-License-Identifier: Apache-2.0
// Graphs as sources: a record for each edge, which is two numbers of vertices, from 0 on, and maybe a weight. The edges lie in a list of text, a line each
// or a line for each vertex, in a file in Matrix Market's format, or in an array (.npy).
//
// Threads: as all sources (io/source.h).
#ifndef HDST_IO_SOURCE_EDGES_H
#define HDST_IO_SOURCE_EDGES_H

#include "io/source.h"

typedef struct hdst__edges_options {
    bool sizes_first;               // of a list: its first row says how many vertices and edges it has, and is no edge
    bool adjacency;                 // the text is an adjacency list
    uint64_t block_bytes;           // as of hdst__source_csv_in_blocks
    const hdst__cancel *cancel;     // outlives the source; NULL: never
    hdst__runtime *runtime;         // in which temporary files count; outlives the source. NULL: nowhere
} hdst__edges_options;

enum { HDST__EDGE_FROM, HDST__EDGE_TO, HDST__EDGE_WEIGHT, HDST__EDGE_COLUMNS };     // the numbers of columns

// NULL with the error filled on failure. options: NULL for the defaults.
hdst__source *hdst__source_edges(const hdst__allocator *allocator, const char *path, const hdst__edges_options *options, hdst_error *error);
// One more than the largest number of a vertex, 0 where there are no edges; what a file says itself of its size is believed, as its edges
// are held to it. Else all edges are read, by all threads of the pool (NULL: the calling one), and the answer is kept. HDST_E_USAGE: the source has no edges.
hdst_status hdst__edges_vertices(hdst__source *source, hdst__thread_pool *threads, uint64_t *vertices, hdst_error *error);

#endif
