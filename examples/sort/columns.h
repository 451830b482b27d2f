// SPDX-License-Identifier: Apache-2.0
// The columns of a source as fields of a record that fits them.
#ifndef EXAMPLES_SORT_COLUMNS_H
#define EXAMPLES_SORT_COLUMNS_H

#include "program.h"

typedef struct column {
    char name[64];              // of the field: as the source has it where that is an identifier, else c and its number
    hdst_type type;
    uint64_t offset;            // in the C struct
} column;

typedef struct columns {
    column *column;
    uint32_t count;
    uint64_t row_bytes;
} columns;

// Record "row" in a module of its own. `c` is filled, for columns_free to free, also after an error.
hdst_status columns_open(program_run *run, columns *c, hdst_module **module, hdst_error *error);
void columns_free(columns *c);

// A name of the source, or an index from 0. -1: no such column.
int64_t columns_find(const program_run *run, const columns *c, const char *word);

// < 0, 0, > 0: where the values of a column in two rows stand to each other: numbers by value, floats by the total order of IEEE 754.
int columns_compare(const column *c, const char *a, const char *b);

#endif
