// SPDX-License-Identifier: Apache-2.0
// GPU form: sums of doubles of a whole dataset that are too many for the registers of a lane. Thread-safe: nothing is kept.
#ifndef HDST_CODEGEN_PASS_OWNED_SUMS_H
#define HDST_CODEGEN_PASS_OWNED_SUMS_H

#include "accum/tables.h"
#include "codegen/ir/ir.h"

// Takes such additions out of `func` (scalar form). What comes back has them as its body: each adds a variable of the record, or the product of two, to an
// element that is named by a constant. NULL: there are none, too few or too many, and `func` is as it was.
ir_func *hdst__pass_owned_sums(ir_func *func, const hdst__tables *tables);
uint32_t hdst__owned_stride(const ir_func *sums);       // places for what a record leaves: its variables, and a one if some sum takes no product
uint64_t hdst__owned_bytes(const ir_func *sums, uint32_t group);     // of local memory, for so many records
bool hdst__owned_adds_to(const ir_func *sums, uint32_t param, uint32_t leaf);

#endif
