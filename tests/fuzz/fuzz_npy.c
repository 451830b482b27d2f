// SPDX-License-Identifier: Apache-2.0
// The reader of .npy files: the first byte chooses the type of the field and the columns, the rest is the file.
#define _GNU_SOURCE     // memfd_create
#include "tests/fuzz/fuzz_source.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) { return fuzz_source(hdst__source_npy, data, size); }
