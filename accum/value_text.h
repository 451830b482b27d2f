// SPDX-License-Identifier: Apache-2.0
// OpenCL C by which kernels read values from their words: expressions for the value's bits, in terms of the pieces of this folder (accum/accum_pieces.h).
// What the representations' `round` is on the host (accum/representation.h); each of the texts is in the arena.
#ifndef HDST_ACCUM_VALUE_TEXT_H
#define HDST_ACCUM_VALUE_TEXT_H

#include "accum/cell.h"
#include "base/arena.h"

// An integer, bits, or a key of minimum or maximum. word: an expression of 64 bits, in parentheses if it has operators.
const char *hdst__word_value_text(hdst__arena *arena, const hdst__cell *cell, const char *word);
// A float sum in one word, which counts multiples of `unit`, a text of the type of the cell's kind.
const char *hdst__fixed_value_text(hdst__arena *arena, const hdst__cell *cell, const char *word, const char *unit);
// A float sum in two words at scale `s`, the second one of which counts multiples of 2^-(s + bits).
const char *hdst__fixed_two_value_text(hdst__arena *arena, const hdst__cell *cell, const char *high, const char *low, const char *s, const char *bits);
// A superaccumulator; the program defines SUPERACCUMULATOR_LIMBS (hdst__superaccumulator_limbs).
const char *hdst__superaccumulator_value_text(hdst__arena *arena, const hdst__cell *cell, const char *word);

// Limbs that reading superaccumulators of so many digits takes (accum/rounding.cl).
static inline uint32_t hdst__superaccumulator_limbs(uint32_t digits) { return digits + 3; }

#endif
