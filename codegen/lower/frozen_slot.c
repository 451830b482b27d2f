// SPDX-License-Identifier: Apache-2.0
// Reading a frozen hash table in IR (codegen/lower/frozen_slot.h): record/frozen_hash.h as expressions.
//
// After: h = START * (seed + 1)
//        h = (h ^ word) * WORD;  h = h ^ h >> 32               for each word of the key
//        h = h * LAST
//        d = displacements[BUCKETS + ((h >> 32) * (len(displacements) - BUCKETS) >> 32)]
//        slot = ((h >> 32) * displacements[PARTS] >> 32) * displacements[PART_SLOTS]
//             + (((h ^ d * DISPLACE) * SLOT >> 32) * displacements[PART_SLOTS] >> 32)
#include "codegen/lower/frozen_slot.h"

#include "codegen/lower/operator_functions.h"
#include "record/frozen_hash.h"

hdst__frozen_params hdst__frozen_add_params(ir_func *func, const char *name, const hdst__record *slot)
{
    const char *displacements = hdst__arena_printf(func->arena, "%s displacements", name);
    const hdst__record *number = hdst__number_record(func->arena, HDST__U32);
    hdst__frozen_params table;
    table.slots = hdst__ir_add_param(func, (ir_param){.kind = IR_BROADCAST_TABLE, .name = name, .bind = name, .record = slot, .is_table = true,
                                                      .is_lookup = true, .is_hashed = true});
    table.displacements = hdst__ir_add_param(func, (ir_param){.kind = IR_BROADCAST_TABLE, .name = displacements, .bind = displacements, .record = number,
                                                              .is_table = true, .is_lookup = true});
    return table;
}

static ir_expr *number(ir_func *func, uint64_t bits) { return hdst__ir_const(func, HDST__U64, bits); }

static ir_expr *word(ir_func *func, ir_op op, ir_expr *a, ir_expr *b) { return hdst__ir_binary(func, op, HDST__U64, a, b); }

static ir_expr *upper(ir_func *func, ir_expr *e) { return word(func, IR_SHR, e, hdst__ir_const(func, HDST__U32, 32)); }

static ir_expr *var(ir_func *func, uint32_t v) { return hdst__ir_var(func, v); }

static void set(ir_func *func, ir_block *block, uint32_t v, ir_expr *value) { hdst__ir_push(func, block, hdst__ir_set(func, v, value)); }

static ir_expr *length(ir_func *func, uint32_t param)
{
    ir_expr *e = number(func, 0);
    e->op = IR_LENGTH;
    e->param = param;
    return e;
}

static ir_expr *displacement(ir_func *func, const hdst__frozen_params *table, ir_expr *row)
{
    ir_expr *e = hdst__ir_const(func, HDST__U32, 0);
    e->op = IR_BROADCAST;
    e->param = table->displacements;
    e->a = row;
    return hdst__ir_convert(func, HDST__U64, e);
}

// Of a number of 64 bits, whose upper half is taken: which of so many things.
static ir_expr *part_of(ir_func *func, ir_expr *bits, ir_expr *things) { return upper(func, word(func, IR_MUL, upper(func, bits), things)); }

ir_expr *hdst__frozen_word(ir_func *func, ir_expr *integer) { return hdst__ir_convert(func, HDST__U64, integer); }

uint32_t hdst__frozen_find(ir_func *func, ir_block *block, const hdst__frozen_params *table, ir_expr *const *words, size_t count)
{
    const uint32_t h = hdst__ir_add_var(func, "hash", HDST__U64, 0), slot = hdst__ir_add_var(func, "slot", HDST__U64, 0);
    ir_expr *seed = word(func, IR_ADD, displacement(func, table, number(func, HDST__FROZEN_SEED)), number(func, 1));
    set(func, block, h, word(func, IR_MUL, seed, number(func, HDST__FROZEN_START)));
    for (size_t i = 0; i < count; i++) {
        set(func, block, h, word(func, IR_MUL, word(func, IR_XOR, var(func, h), words[i]), number(func, HDST__FROZEN_WORD)));
        set(func, block, h, word(func, IR_XOR, var(func, h), upper(func, var(func, h))));
    }
    set(func, block, h, word(func, IR_MUL, var(func, h), number(func, HDST__FROZEN_LAST)));
    ir_expr *buckets = word(func, IR_SUB, length(func, table->displacements), number(func, HDST__FROZEN_BUCKETS));
    ir_expr *bucket = word(func, IR_ADD, part_of(func, var(func, h), buckets), number(func, HDST__FROZEN_BUCKETS));
    ir_expr *moved = word(func, IR_MUL, displacement(func, table, bucket), number(func, HDST__FROZEN_DISPLACE));
    ir_expr *all = word(func, IR_MUL, word(func, IR_XOR, var(func, h), moved), number(func, HDST__FROZEN_SLOT));
    ir_expr *part = part_of(func, var(func, h), displacement(func, table, number(func, HDST__FROZEN_PARTS)));
    ir_expr *first = word(func, IR_MUL, part, displacement(func, table, number(func, HDST__FROZEN_PART_SLOTS)));
    ir_expr *within = part_of(func, all, displacement(func, table, number(func, HDST__FROZEN_PART_SLOTS)));
    set(func, block, slot, word(func, IR_ADD, first, within));
    return slot;
}

ir_expr *hdst__frozen_keys(ir_func *func, const hdst__frozen_params *table) { return displacement(func, table, number(func, HDST__FROZEN_KEYS)); }
