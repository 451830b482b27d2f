// SPDX-License-Identifier: Apache-2.0
// CPU form: what the sections of sums over the rows of a block of records share (print_row_sums.c, print_sparse_rows.c): what a tile of such sums is
// of, and how eight sums get from registers to the table's words. Thread-safe: nothing is kept.
#ifndef HDST_CODEGEN_OPENCL_PRINT_ROW_WORDS_H
#define HDST_CODEGEN_OPENCL_PRINT_ROW_WORDS_H

#include "codegen/opencl/print_cell.h"
#include "codegen/opencl/printer.h"
#include "codegen/pass/row_sums.h"

typedef struct hdst__row_tile {
    const hdst__row_sum *sum;
    const hdst__cell *cell;
    const hdst__accum_plan *plan;
    const char *factor, *scale;
    const char *space;          // where rows are
    uint64_t row_bytes;         // from one record's to the next one's
    bool fast;
    bool may_round;             // a batch may have its sums rounded (print_batch.h): `rounds` says whether it does
    uint32_t units, vectors, lanes;
} hdst__row_tile;

// Eight sums, `sum` in the printed text, to the words of the elements from `element` (text) on.
void hdst__print_row_words(hdst__printer *p, const hdst__row_tile *t, const char *element);

#endif
