// SPDX-License-Identifier: Apache-2.0
// Adjacency lists as pairs of vertices.
#ifndef HDST_IO_ADJACENCY_H
#define HDST_IO_ADJACENCY_H

#include "io/source.h"

// A source of two columns, int64 both. HDST_E_FORMAT, when it is counted, of what is no list, with its place. cancel, runtime (in which the temporary file
// counts): outlive the source; NULL: never, nowhere.
hdst__source *hdst__source_adjacency(const hdst__allocator *allocator, const char *path, const hdst__cancel *cancel, hdst__runtime *runtime, hdst_error *error);
// Once it is counted: one more than the largest number of a vertex, also of one that has no neighbours.
uint64_t hdst__adjacency_vertices(const hdst__source *source);

#endif
