// SPDX-License-Identifier: Apache-2.0
// A cell: one leaf of an accumulator, and how its unfinished value is held. All storage is 64-bit words whose
// identity is 0, so that a table is reset by a zero fill.
#ifndef HDST_ACCUM_CELL_H
#define HDST_ACCUM_CELL_H

#include "accum/accumulate_op.h"
#include "record/type.h"

typedef enum hdst__word_op { HDST__WORD_ADD, HDST__WORD_MAX /* unsigned */, HDST__WORD_OR, HDST__WORD_XOR } hdst__word_op;

// Where a float sum's addends go first: its precision class, chosen per leaf from a sample of the data.
typedef enum hdst__precision_class {
    HDST__CLASS_PLAIN,       // no float sum: one word in both tables
    HDST__CLASS_ONE_WORD,         // one int64: |v * 2^s| < 2^40 and v * 2^s an integer
    HDST__CLASS_TWO_WORDS,         // two int64: 80 bits in all
    HDST__CLASS_SUPERACCUMULATOR,        // every addend straight to the device table
} hdst__precision_class;

typedef struct hdst__cell {
    hdst__kind kind;
    hdst__accumulate_op acc;
    hdst__word_op op;
    hdst__precision_class precision;
    uint32_t digits;                // of its superaccumulator; 0 when plain
    uint32_t device_words;          // per element: digits + 1, or 1
    uint32_t private_words;           // per element: 0, 1 or 2
    uint64_t elements;
    uint64_t device_first, private_first;     // word of element 0 within a row
    bool of_floats;                 // a float sum whose addends are floats
    int32_t scale;                  // index into the scales (of the launch), or -1 when plain
    uint32_t batch_sum;             // which sum over the rows of a block, from 1, makes all of it, so that a batch may have it rounded (first_level.h); 0: none
    bool fast;                      // a float sum that the kernel rounds at each addition, in any order: asked for, and set by the form that does it
} hdst__cell;

// A cell of one element in precision class `precision` (of a float sum; others are plain), without a place yet. A float sum's scale is for the
// caller to number.
hdst__cell hdst__cell_make(hdst__kind kind, hdst__accumulate_op acc, hdst__precision_class precision);

static inline bool hdst__is_key(hdst__accumulate_op acc) { return acc == HDST__MIN || acc == HDST__MAX; }

// How words of such an accumulator meet: minima and maxima are keys, of which the largest wins, and `and` keeps the complement.
static inline hdst__word_op hdst__word_op_of(hdst__accumulate_op acc)
{
    switch (acc) {
    case HDST__SUM: return HDST__WORD_ADD;
    case HDST__MIN: case HDST__MAX: return HDST__WORD_MAX;
    case HDST__AND: case HDST__OR: return HDST__WORD_OR;
    case HDST__XOR: break;
    }
    return HDST__WORD_XOR;
}

// How two words of a cell meet; words wrap.
static inline uint64_t hdst__words_combined(hdst__word_op op, uint64_t a, uint64_t b)
{
    switch (op) {
    case HDST__WORD_ADD: return a + b;
    case HDST__WORD_MAX: return a > b ? a : b;
    case HDST__WORD_OR: return a | b;
    case HDST__WORD_XOR: break;
    }
    return a ^ b;
}

// A word comes to another one in memory. Loops over words of one operation take it: a switch, which compilers move out of them. A key that does not win
// stores nothing.
static inline void hdst__word_take(uint64_t *to, hdst__word_op op, uint64_t word)
{
    switch (op) {
    case HDST__WORD_ADD: *to += word; break;
    case HDST__WORD_MAX: if (word > *to) *to = word; break;
    case HDST__WORD_OR: *to |= word; break;
    case HDST__WORD_XOR: *to ^= word; break;
    }
}

#endif
