// SPDX-License-Identifier: Apache-2.0
// Graphs: sources of edges. hdst/hdst.h includes it.
#ifndef HDST_GRAPH_H
#define HDST_GRAPH_H

#include "hdst/api.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hdst_context hdst_context;
typedef struct hdst_source hdst_source;

// The edges of a graph (docs/io.md, "Graphs"): a list of text (a line for each edge: the numbers of its two vertices, from 0 on, and maybe a weight; lines
// that begin with # or % are skipped; plain or compressed by gzip, zstd or xz), a file in Matrix Market's coordinate format, or a .npy of shape (m, 2) or
// (m, 3). Its first bytes tell which it is. Edges are read as records of two integers, and a third field where they have weights: by name where the two are
// called from and to, src and dst, or source and target, else in order. A file without edges is a graph without edges.
HDST_API hdst_source *hdst_source_open_edges(hdst_context *context, const char *path);

typedef struct hdst_edges_options {     // start from HDST_EDGES_OPTIONS_INIT; `size` lets the struct grow
    size_t size;
    bool sizes_first;           // the first row of a list says how many vertices and how many edges there are, and is no edge; the latter must be right
    bool adjacency;             // a list has a line for each vertex: its number, a colon or none, the numbers of its neighbours; it goes through a temporary
                                // file
} hdst_edges_options;
#define HDST_EDGES_OPTIONS_INIT {sizeof(hdst_edges_options), false, false}
// Several files, the edges of one behind those of the other. options: NULL for the defaults.
HDST_API hdst_source *hdst_source_open_all_edges(hdst_context *context, const char *const *paths, size_t count, const hdst_edges_options *options);
// One more than the largest number of a vertex in the edges; 0 where there are none, and after an error, which sticks to the source. All edges are read for it,
// once, by all threads; of a matrix it is the number of its rows or columns, whichever is larger, as the file says.
HDST_API uint64_t hdst_source_vertices(const hdst_source *source);

#ifdef __cplusplus
}
#endif
#endif
