// SPDX-License-Identifier: Apache-2.0
// Separated text read in blocks of any size, so that tests have their borders everywhere.
#ifndef HDST_IO_SOURCE_CSV_H
#define HDST_IO_SOURCE_CSV_H

#include "io/source.h"

// As hdst__source_csv. bytes: of a block, of which each may be gone through by another thread, and of what is read at once; 0: as is quick.
hdst__source *hdst__source_csv_in_blocks(const hdst__allocator *allocator, const char *path, const char *columns, uint64_t bytes, const hdst__cancel *cancel,
                                         hdst_error *error);

#endif
