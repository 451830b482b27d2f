// SPDX-License-Identifier: Apache-2.0
// Row form (CPU devices): sums over a block of records that stay in registers, element by element. A loop that adds `factor * row[e]`, or `row[e]`, to neighbouring float sums leaves
// the record's body (pass_row_sums.c); what it needs of a record, the factors, is kept until a block of records is there. Then each element's addends are added up while the records
// go by, and the table is touched once for a block and not for every record (print_row_sums.c). Thread-safe: nothing is kept.
#ifndef HDST_CODEGEN_ROW_SUMS_H
#define HDST_CODEGEN_ROW_SUMS_H

#include "codegen/kernel_parts.h"
#include "codegen/row_form.h"

enum { HDST__ROW_SUMS_BLOCK = 64 };     // records; strips begin at a multiple of so many

// Cell (param, leaf), element first + u * elements + e takes factor u * row[e] of each record, for all u < units and e < elements. The row: input leaf elements from row_first on.
typedef struct hdst__row_sum {
    uint32_t param, leaf;
    uint64_t first, units, elements;
    uint32_t factor;                    // a variable: an array of `units` floats, a value per record of the block
    const char *name;                   // its
    uint32_t input, input_leaf;
    uint64_t row_first;
    ir_func *singly;                    // the additions of one record and one unit, in row form, of variables `unit` and `value`
    uint32_t unit, value;
} hdst__row_sum;

struct hdst__row_sums {
    hdst__row_sum *sum;
    size_t count, capacity;
};

// Takes the loops out of `func` (scalar form, before the passes of the row form). False: there are none, and func is as it was.
bool hdst__pass_row_sums(ir_func *func, const hdst__tables *tables, const hdst__storage *input, hdst__row_sums *sums);
// After it and the row passes: the additions one by one. NULL, or what the verifier says.
const char *hdst__row_sums_singly(const ir_func *func, const hdst__tables *tables, hdst__row_sums *sums);

uint64_t hdst__row_sums_bytes(const hdst__row_sums *sums);              // private memory of a work-item
void hdst__print_row_sums_block(hdst__printer *p);                      // a block of records: their bodies, then the sums

#endif
