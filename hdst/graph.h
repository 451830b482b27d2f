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
typedef struct hdst_module hdst_module;
typedef struct hdst_dataset hdst_dataset;

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
// once, by all threads, unless runs have read them all; of a matrix it is the number of its rows or columns, whichever is larger, as the file says.
HDST_API uint64_t hdst_source_vertices(const hdst_source *source);

// --- Numbers in place of keys ---

// The distinct values of some fields, a record for each, in the order of their hash, which is the same on every device: the place of a record is the number
// of its value. `fields` names the fields, with commas between ("from, to"): single numbers or texts, all of one type. `record` of the module has one field
// of that type.
HDST_API hdst_dataset *hdst_dictionary(hdst_dataset *dataset, const char *fields, hdst_module *module, const char *record);
// The same records with numbers in place of the values of these fields: `record` of the module has the fields of the dataset's, in order, of which these are
// of type uint32_t, uint64_t, int32_t or int64_t. A value's number is the place, from 0, where the dictionary has it first; any dataset of one field is one.
// Floats are equal by their bits. A value that it has not fails the run with the record's number (HDST_E_RECORD), and so does a number too large for its
// field. The dictionary is held in the host's memory: 24 to 48 bytes for each of its records, within the budget. Cache one that the program reads, too.
HDST_API hdst_dataset *hdst_renumber(hdst_dataset *dataset, const char *fields, hdst_dataset *dictionary, hdst_module *module, const char *record);

#ifdef __cplusplus
}
#endif
#endif
