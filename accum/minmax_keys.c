// SPDX-License-Identifier: Apache-2.0
// Keys of minimum and maximum on the host (accum/minmax_keys.h).
//
// `rank` maps a kind's values to 0, 1, 2 ... in their order (floats: -infinity is 0, -0 just below +0). A maximum's key is the rank, a minimum's the rank
// counted from the other end; so the value that loses against all others has key 0, which is what an empty cell holds.
#include "accum/minmax_keys.h"

#include "accum/representation.h"
#include "accum/rounding.h"

static uint64_t integer_ranks(hdst__kind kind)      // the greatest rank
{
    return kind == HDST__BOOL ? 1 : ~UINT64_C(0) >> (64 - 8 * hdst__scalar_size(kind));
}

static uint64_t integer_lowest(hdst__kind kind)     // the pattern of rank 0
{
    return hdst__kind_is_signed(kind) ? ~UINT64_C(0) << (8 * hdst__scalar_size(kind) - 1) : 0;
}

static uint64_t float_rank(hdst__float_format format, uint64_t bits)
{
    const uint64_t magnitude = bits & (format.sign - 1);
    return bits & format.sign ? format.infinity - magnitude : format.infinity + 1 + magnitude;
}

static uint64_t float_unrank(hdst__float_format format, uint64_t rank)
{
    return rank <= format.infinity ? format.sign | (format.infinity - rank) : rank - format.infinity - 1;
}

uint64_t hdst__key_encode(hdst__kind kind, hdst__accumulate_op acc, uint64_t bits)
{
    if (!hdst__kind_is_float(kind)) {
        const uint64_t rank = bits - integer_lowest(kind);
        return acc == HDST__MAX ? rank : integer_ranks(kind) - rank;
    }
    const hdst__float_format format = hdst__float_format_of(kind);
    const uint64_t last = 2 * format.infinity + 1;       // rank of +infinity; the key after it is NaN's
    if ((bits & (format.sign - 1)) > format.infinity) return last + 1;
    return acc == HDST__MAX ? float_rank(format, bits) : last - float_rank(format, bits);
}

uint64_t hdst__key_decode(hdst__kind kind, hdst__accumulate_op acc, uint64_t key)
{
    if (!hdst__kind_is_float(kind)) return integer_lowest(kind) + (acc == HDST__MAX ? key : integer_ranks(kind) - key);
    const hdst__float_format format = hdst__float_format_of(kind);
    const uint64_t last = 2 * format.infinity + 1;
    if (key > last) return format.quiet_nan;
    return float_unrank(format, acc == HDST__MAX ? key : last - key);
}

// --- The representation ---

static uint32_t applies(const hdst__cell *cell) { return hdst__is_key(cell->acc); }

static bool merge(const hdst__cell *cell, int64_t *to, const int64_t *from)
{
    *to = (int64_t)hdst__words_combined(cell->op, (uint64_t)*to, (uint64_t)*from);
    return true;
}

static bool add(const hdst__cell *cell, int64_t *word, int32_t s, uint64_t bits)
{
    (void)s;
    return merge(cell, word, &(int64_t){(int64_t)hdst__key_encode(cell->kind, cell->acc, bits)});
}

static uint64_t value(const hdst__cell *cell, const int64_t *word, int32_t s, const int64_t *rest)
{
    (void)s;
    (void)rest;
    return hdst__key_decode(cell->kind, cell->acc, (uint64_t)*word);
}

const hdst__representation hdst__minmax_keys = {"minmax_keys", "minmax_keys.cl minmax_keys_double.cl minmax_values.cl", applies, add, merge, NULL, value,
                                                hdst__words_copy, hdst__words_copy};
