// SPDX-License-Identifier: Apache-2.0
// The readers of graphs: the first byte chooses the type of the fields and the size of blocks, the rest is the file. Edges that are read are vertices, and the
// number of vertices is one more than the largest of them.
#define _GNU_SOURCE     // memfd_create
#include "tests/fuzz/fuzz_source.h"

#include "io/source_edges.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
static uint64_t block_bytes;        // a target runs in one thread

static hdst__source *open_edges(const hdst__allocator *allocator, const char *path, const char *columns, hdst_error *error)
{
    const hdst__edges_options options = {.sizes_first = columns && columns[0] == '0', .adjacency = columns && columns[0] != '0', .block_bytes = block_bytes};
    hdst__source *source = hdst__source_edges(allocator, path, &options, error);
    uint64_t vertices;
    hdst_error failed = HDST_ERROR_INIT;
    if (!source || hdst__source_count(source, NULL, NULL) != HDST_OK || source->rows > 1 << 16) return source;
    const hdst_status status = hdst__edges_vertices(source, NULL, &vertices, &failed);
    CHECK(status == HDST_OK || (failed.code && failed.message[0]));
    CHECK(status != HDST_OK || vertices <= UINT64_C(1) << 63);
    return source;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint64_t sizes[] = {0, 1, 2, 7, 16, 63, 64, 200};
    block_bytes = size ? sizes[data[0] / 35 % 8] : 0;
    return fuzz_source(open_edges, data, size);
}
