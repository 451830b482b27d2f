// SPDX-License-Identifier: Apache-2.0
// A function that adds to tables of accumulators, as one that gives tuples of a row and what is added to it, and as one that leaves some tables out.
#ifndef HDST_CODEGEN_LOWER_ROW_ADDENDS_H
#define HDST_CODEGEN_LOWER_ROW_ADDENDS_H

#include "codegen/ir/ir.h"

// What the additions to one table are as records with a key.
typedef struct hdst__row_tuple {
    const hdst__record *record;     // leaf 0, an uint32_t, is the number of a row; the others are those of `row`
    const hdst__record *row;        // of the result: the table's, or one element of its only leaf
    uint64_t rows_each;             // rows of the result that a row of the table is: 1, or the elements of its leaf
} hdst__row_tuple;

// How additions to table `param` of `func` would be tuples; in the arena. False: they cannot be, as its rows hold arrays beside other fields.
bool hdst__row_tuple_of(hdst__arena *arena, const ir_func *func, uint32_t param, hdst__row_tuple *tuple);

// By which its values are added up; in the arena.
const hdst__accumulate_op *hdst__row_tuple_laws(hdst__arena *arena, const ir_func *func, uint32_t param);

// Both are copies of `func` (fused, before its passes) in `arena`, with its parameters under their numbers, but that each table of accumulators that is gone
// is a broadcast (uint64_t) of the number of its rows. All checks stand as they were.
// The first gives tuples of table `param`, and accumulates nothing: additions to one row that follow one another are one tuple, with the identity elsewhere.
// The second leaves those out that `gone` says, by parameter.
ir_func *hdst__row_addends(hdst__arena *arena, const ir_func *func, uint32_t param, const hdst__row_tuple *tuple);
ir_func *hdst__without_tables(hdst__arena *arena, const ir_func *func, const bool *gone);

#endif
