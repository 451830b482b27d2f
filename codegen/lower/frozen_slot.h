// SPDX-License-Identifier: Apache-2.0
// Reading a frozen hash table in IR (record/frozen_hash.h): in which slot a key stands, if it is there.
#ifndef HDST_CODEGEN_LOWER_FROZEN_SLOT_H
#define HDST_CODEGEN_LOWER_FROZEN_SLOT_H

#include "codegen/ir/ir.h"

typedef struct hdst__frozen_params {    // of the function: tables that are looked up
    uint32_t slots;                 // rows, or runs
    uint32_t displacements;
} hdst__frozen_params;

// Adds the two, called "NAME" and "NAME displacements".
hdst__frozen_params hdst__frozen_add_params(ir_func *func, const char *name, const hdst__record *slot);
// An integer as a word of a key.
ir_expr *hdst__frozen_word(ir_func *func, ir_expr *integer);
// Statements that find the slot of a key. The variable (u64) that has it then: below the number of slots, whatever the key.
uint32_t hdst__frozen_find(ir_func *func, ir_block *block, const hdst__frozen_params *table, ir_expr *const *words, size_t count);
// How many keys there are, u64.
ir_expr *hdst__frozen_keys(ir_func *func, const hdst__frozen_params *table);

#endif
