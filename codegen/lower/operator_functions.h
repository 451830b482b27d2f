// SPDX-License-Identifier: Apache-2.0
// Functions of operators for which the user writes no code: made as IR, so that they fuse with the functions around them and run on every device.
#ifndef HDST_CODEGEN_LOWER_OPERATOR_FUNCTIONS_H
#define HDST_CODEGEN_LOWER_OPERATOR_FUNCTIONS_H

#include "codegen/ir/ir.h"

// A number as a record of one field, in `arena`.
const hdst__record *hdst__number_record(hdst__arena *arena, hdst__kind kind);

// Each function has the input as its first parameter and lives in `arena`; `record` must outlive it.

// Adds 1 for every record to the accumulator "count", a uint64_t.
ir_func *hdst__operator_count(hdst__arena *arena, const hdst__record *record);
// The same as a reduce for those below, which counts the records of each key: `keyed` has the key, and maybe other leaves.
ir_func *hdst__operator_tally(hdst__arena *arena, const hdst__record *keyed);
// The number of a record, its index plus the broadcast "begin" (uint64_t, which wraps), as the only leaf of `to`, an int64_t.
// Reads nothing of its input.
ir_func *hdst__operator_range(hdst__arena *arena, const hdst__record *nothing, const hdst__record *to);
// Records of `to`: the index of the record, a uint64_t, then the leaves of `from`. `to` has one leaf more than `from`.
ir_func *hdst__operator_zip(hdst__arena *arena, const hdst__record *from, const hdst__record *to);
// Records of `to`, whose only leaf is this one of `from`.
ir_func *hdst__operator_field(hdst__arena *arena, const hdst__record *from, const hdst__record *to, uint32_t leaf);
// Records of `to`: the leaves of `from` that are a key, then a 1.
ir_func *hdst__operator_ones(hdst__arena *arena, const hdst__record *from, const hdst__record *to, bool (*is_key)(const hdst__record *record, uint32_t leaf));
// Records of `to` that have a record of one side of a group of two streams: {key; is_right; left; right}, the other side zero.
typedef struct hdst__one_side {
    bool is_right;
    uint32_t key_count, first;          // leaves of the key, which are the first ones of `to`; where this side's leaves begin
    const uint32_t *key_leaf;           // of `from`: where each begins
    const uint64_t *key_element;
} hdst__one_side;
ir_func *hdst__operator_one_side(hdst__arena *arena, const hdst__record *from, const hdst__record *to, const hdst__one_side *side);
// Keeps a record if the upper 63 bits of a random number are below the broadcast "limit". The number follows from the record's
// index and the broadcast "seed" (both broadcasts are uint64_t): Philox 4x32-10 (Salmon, Moraes, Dror, Shaw: "Parallel random
// numbers: as easy as 1, 2, 3", 2011, section 4.3) of the counter {index, 0} with the key `seed`.
ir_func *hdst__operator_sample(hdst__arena *arena, const hdst__record *record);
// A field-wise reduce by key: `reduce` (lowered, as an accumulation) adds the values of a record with key k to row k of its
// table "result". The key is leaf `key` of the record `keyed`, the values are its other leaves in order. A key that is no row of
// the table fails the record, with the place `span` of `diags`.
ir_func *hdst__operator_dense(hdst__arena *arena, const ir_func *reduce, const hdst__record *keyed, uint32_t key, hdst__span span, const hdst__diags *diags);
// The same where the records are in the order of the key: row k is that of the key with number k, of which "numbers" (a lookup, uint32_t) has one for each
// record of the input. No record fails.
ir_func *hdst__operator_arranged(hdst__arena *arena, const ir_func *reduce, const hdst__record *keyed, uint32_t key);
// Records as they are, of which those fail that the function above would, with the same words: the key is no row of "rows" (a broadcast, uint64_t).
ir_func *hdst__operator_key_in_range(hdst__arena *arena, const hdst__record *keyed, uint32_t key, hdst__span span, const hdst__diags *diags);
// A threshold filter: keeps a record if element `element` of leaf `leaf` lies between the broadcasts "low" and "high", both
// included (of the leaf's kind; of uint32_t for a bool; of a text the first 8 bytes as a uint64_t, the first byte highest),
// or if the broadcast "all" (uint32_t) is not 0.
ir_func *hdst__operator_threshold(hdst__arena *arena, const hdst__record *record, uint32_t leaf, uint64_t element);

// What functions of operators begin with: a function of records that does nothing yet.
ir_func *hdst__operator_new_func(hdst__arena *arena, const char *name, const hdst__record *input);

#endif
