// SPDX-License-Identifier: Apache-2.0
// Overflow tables: superaccumulators for the few elements of a table in fixed point (accum/tables.h) that got an addend which does not fit their words.
// A hash table by the element's number, of a fixed size, with the same layout in kernels (accum/overflow_table.cl):
//
//     [0] places - 1, a power of two less one     [1] its low half not 0: some element found no place, so what the tables hold is worth nothing;
//     its high half not 0: some place is or was somebody's
//     then for each place whose it is, the element's number and one more (0: nobody's); then the superaccumulators, and one for all that found no place
//
// All zero is an empty table of one place.
#ifndef HDST_ACCUM_OVERFLOW_TABLE_H
#define HDST_ACCUM_OVERFLOW_TABLE_H

#include <stdbool.h>
#include <stdint.h>

enum { HDST__OVERFLOW_LAST_PLACE = 0, HDST__OVERFLOW_STATE = 1, HDST__OVERFLOW_OWNERS = 2 };        // words
#define HDST__OVERFLOW_FULL UINT64_C(1)             // of the state
#define HDST__OVERFLOW_USED (UINT64_C(1) << 32)

static inline bool hdst__overflow_is_full(uint64_t state) { return (uint32_t)state != 0; }

// Words of a table; cell_words: of a superaccumulator with its flags.
static inline uint64_t hdst__overflow_words(uint64_t places, uint32_t cell_words) { return HDST__OVERFLOW_OWNERS + places + (places + 1) * cell_words; }

// The superaccumulator of an element, which has one from now on.
int64_t *hdst__overflow_cell(int64_t *table, uint32_t cell_words, uint64_t element);

#endif
