// SPDX-License-Identifier: Apache-2.0
// How records that a function gives may become fewer before they reach whoever takes them: two with the same key may be one, whose other numbers are what
// those of both come to. Only numbers whose order and grouping cannot matter are so.
//
// Sums of floats are no such numbers. Where all are sums, and the key is a number, kernels may instead add to rows of words: a tag, 2^32 and the key's hash;
// the key, where it has more than 4 bytes; a word for each sum in the order of the leaves, which for floats is in fixed point. Records of which an addend does
// not fit stay as they are.
#ifndef HDST_ACCUM_COMBINING_H
#define HDST_ACCUM_COMBINING_H

#include "accum/accumulate_op.h"
#include "record/type.h"

enum { HDST__COMBINED_SUMS = 8 };        // of a row of words at most

typedef struct hdst__combining {
    const hdst__record *record;         // of the key, a text, and integers; or, in rows, the key, a number of 4 or 8 bytes, and sums: one element each
    uint32_t key;                       // its leaf
    const hdst__accumulate_op *op;      // by leaf: how it takes another one's; that of the key says nothing
    bool in_rows;                       // of words
} hdst__combining;

// Of a row of words: a key of at most 4 bytes is known from its hash.
static inline uint32_t hdst__combined_key_words(const hdst__combining *combining)
{
    return hdst__scalar_size(combining->record->leaves[combining->key].kind) > sizeof(uint32_t);
}

// What such rows are like, once whoever takes them knows.
typedef struct hdst__combined_like {
    uint32_t bits;                      // logarithm of the rows of a table
    uint64_t look_after;                // additions after which a table is looked through for words
    int64_t full;                       // as large as this, in magnitude, to which nothing more may be added
    int32_t scale[HDST__COMBINED_SUMS];         // of the sums of floats, by sum: words count multiples of 2^-scale
} hdst__combined_like;

#endif
