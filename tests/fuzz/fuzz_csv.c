// SPDX-License-Identifier: Apache-2.0
// The reader of .csv files: the first byte chooses the type of the field, the columns and the size of blocks, the rest is the file.
#define _GNU_SOURCE     // memfd_create
#include "tests/fuzz/fuzz_source.h"

#include "io/source_csv.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
static uint64_t block_bytes;        // a target runs in one thread

static hdst__source *open_csv(const hdst__allocator *allocator, const char *path, const char *columns, hdst_error *error)
{
    return hdst__source_csv_in_blocks(allocator, path, columns, block_bytes, NULL, error);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint64_t sizes[] = {0, 1, 2, 7, 16, 63, 64, 200};
    block_bytes = size ? sizes[data[0] / 35 % 8] : 0;
    return fuzz_source(open_csv, data, size);
}
