// SPDX-License-Identifier: Apache-2.0
// Accumulators to whose rows the records come in order, because the input is arranged (ir_param.arranged). Thread-safe: nothing is kept.
#ifndef HDST_CODEGEN_PASS_ARRANGED_ROWS_H
#define HDST_CODEGEN_PASS_ARRANGED_ROWS_H

#include "accum/tables.h"
#include "codegen/ir/ir.h"

enum { HDST__RUN_WORDS = 8 };       // of a row that an open run has in registers, at most

// Whether a record adds to one row of the accumulator, which the leaf that the input is arranged by says alone, and to elements that constants name.
bool hdst__rows_are_arranged(const ir_func *func, uint32_t param);

// Whether each record, whatever it is, adds to the row that its key names, and to elements that constants name.
bool hdst__each_adds_by_its_key(const ir_func *func, uint32_t param);

// CPU, ahead of the block form, of a function whose input says where keys begin (ir_param.starts): a table to whose row each record adds that its key
// names needs no check of each key, and no key (ir_param.rows_from). Who runs the blocks sees to it that all keys are rows.
void hdst__pass_arranged_rows(ir_func *func, const hdst__tables *tables);

// Of the block form of a function whose rows the input's keys are: whether one loop over the block's records adds to each word of a row once, and nothing
// else does, so that running totals have all that a row takes.
bool hdst__rows_have_totals(const ir_func *block, const hdst__accum *accum);
// The word of a row that an addition of block form goes to.
uint64_t hdst__row_word(const hdst__accum *accum, const ir_stmt *stmt);

// Of scalar form: whether each record adds once to each word of the row that its key names, whatever the record is.
bool hdst__each_adds_to_its_row(const ir_func *func, const hdst__accum *accum);

#endif
