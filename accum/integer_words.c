// SPDX-License-Identifier: Apache-2.0
// Sums of integers, modulo 2^64, and bits that are or-ed, xor-ed or and-ed (which keeps the complement and ors): one word (accum/representation.h).
#include "accum/representation.h"

#include "record/scalar_convert.h"

static uint32_t applies(const hdst__cell *cell) { return cell->digits || hdst__is_key(cell->acc) ? 0 : 1; }

static bool merge(const hdst__cell *cell, int64_t *to, const int64_t *from)
{
    *to = (int64_t)hdst__words_combined(cell->op, (uint64_t)*to, (uint64_t)*from);
    return true;
}

static bool add(const hdst__cell *cell, int64_t *word, int32_t s, uint64_t bits)
{
    (void)s;
    return merge(cell, word, &(int64_t){(int64_t)(cell->acc == HDST__AND ? ~bits : bits)});
}

// Words are modulo 2^64; a narrower kind takes its low bits.
static uint64_t value(const hdst__cell *cell, const int64_t *word, int32_t s, const int64_t *rest)
{
    (void)s;
    (void)rest;
    const uint64_t bits = (uint64_t)*word;
    if (cell->acc == HDST__AND && cell->kind == HDST__BOOL) return ~bits & 1;
    return hdst__scalar_convert(cell->kind, HDST__U64, cell->acc == HDST__AND ? ~bits : bits);
}

const hdst__representation hdst__integers = {"integers", "integer_words.cl integer_words_local.cl", applies, add, merge, NULL, value,
                                             hdst__words_copy, hdst__words_copy};
