// SPDX-License-Identifier: Apache-2.0
// Views of rows: fields of C structs by their names.
#ifndef HDST_ROW_VIEW_H
#define HDST_ROW_VIEW_H

#include "engine/memory/dataset_cache.h"
#include "hdst/hdst.h"

typedef struct hdst__row_block {    // rows as C structs
    const void *rows;
    uint64_t count;
    const hdst__record *record;
    hdst__dataset_cache *resident;  // not NULL: where they lie on the device; then `rows` is NULL
} hdst__row_block;

// NULL for a field stands for the only one there is. A view without a base, and the error: there is no such field.
hdst_view hdst__row_view(const hdst__row_block *block, const char *field, hdst_error *error);

#endif
