// SPDX-License-Identifier: Apache-2.0
// The user's choice of columns: "lon,lat", "0,2-4".
#ifndef HDST_IO_COLUMNS_H
#define HDST_IO_COLUMNS_H

#include "base/alloc.h"
#include "base/error_object.h"
#include "record/type.h"

enum { HDST__MAX_COLUMNS = 1 << 20 };

// Indices of the chosen columns in the order of `list`. names: NULL, or one for each column (NULL where it has none). A number
// below `available` is an index, also where a column has such a name. On success the caller frees *chosen. HDST_E_USAGE: no such
// column, a column twice, a list that cannot be read.
hdst_status hdst__columns_choose(const hdst__allocator *allocator, const char *file, const char *list, const char *const *names, size_t available,
                                 size_t **chosen, size_t *count, hdst_error *error);
// Whether a part of the list is no index or range, so that the file must have names.
bool hdst__columns_has_names(const char *list);

// What a column that holds one element of a leaf is called: "x", "x[1]", "grid[0][2]". Returns the length, as snprintf.
size_t hdst__element_name(const hdst__leaf *leaf, uint64_t element, char *name, size_t size);

#endif
