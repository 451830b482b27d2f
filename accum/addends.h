// SPDX-License-Identifier: Apache-2.0
// What one leaf's addends look like, from a sample of records run by the interpreter; the scale of its fixed point and its precision class follow from it.
#ifndef HDST_ACCUM_ADDENDS_H
#define HDST_ACCUM_ADDENDS_H

#include "accum/cell.h"

typedef struct hdst__addends {
    uint64_t count;                 // finite and not zero
    int32_t highest;                // largest floor(log2 |v|)
    int32_t lowest_bit;             // smallest exponent of a last set bit
    uint64_t last_bit[320];         // histogram: how far below `highest` the last set bit of an addend lies, clipped to 319
    uint64_t top_bit[256];          // the same of its first set bit, clipped to 255
} hdst__addends;

void hdst__addends_init(hdst__addends *addends);
void hdst__addends_add(hdst__addends *addends, hdst__kind kind, uint64_t bits);             // zeros, NaN and infinities are passed over

// `bits`: of an addend in fixed point, HDST__FIXED_BITS at most. A few addends that are far larger than the others are left out of account if more fit then.
int32_t hdst__addends_scale(const hdst__addends *addends, hdst__kind kind, int32_t bits);               // s; 0 without any addend
hdst__precision_class hdst__addends_precision(const hdst__addends *addends, hdst__kind kind, int32_t s, int32_t bits);

// Words of rows whose records stand one behind the other (accum/row_words.cl).
enum {
    HDST__ROW_BITS = 52,            // of an addend in a word; the second word counts multiples of 2^-(s + 52)
    HDST__ROW_BLOCK = 2048,         // records whose words are added up in 64 bits, at most
};
// How many such words hold each addend of the sample with room above and below, and at which scale. 0: none do, or there was no addend.
uint32_t hdst__row_words(const hdst__addends *addends, hdst__kind kind, int32_t *s);

#endif
