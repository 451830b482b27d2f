// SPDX-License-Identifier: Apache-2.0
// Text files that are read whole: schemas and kernels.
#ifndef HDST_READ_FILE_H
#define HDST_READ_FILE_H

#include "base/alloc.h"
#include "base/error_object.h"

// A whole text file, NUL-terminated; the caller frees it. HDST_E_IO with the system's words; HDST_E_FORMAT for one with NUL bytes or above 64 MiB:
// schemas and kernels are small, so such a file is a mistake.
hdst_status hdst__read_file(const hdst__allocator *allocator, const char *path, char **text, hdst_error *error);

#endif
