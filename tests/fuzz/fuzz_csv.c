// SPDX-License-Identifier: Apache-2.0
// The reader of .csv files: the first byte chooses the type of the field and the columns, the rest is the file.
#define _GNU_SOURCE     // memfd_create
#include "tests/fuzz/fuzz_source.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
static hdst__source *open_csv(const hdst__allocator *allocator, const char *path, const char *columns, hdst_error *error)
{
    return hdst__source_csv(allocator, path, columns, NULL, error);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) { return fuzz_source(open_csv, data, size); }
