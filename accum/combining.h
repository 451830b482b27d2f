// SPDX-License-Identifier: Apache-2.0
// How records that a function gives may become fewer before they reach whoever takes them: two with the same key may be one, whose other numbers are what
// those of both come to. Only numbers whose order and grouping cannot matter are so.
#ifndef HDST_ACCUM_COMBINING_H
#define HDST_ACCUM_COMBINING_H

#include "accum/accumulate_op.h"
#include "record/type.h"

typedef struct hdst__combining {
    const hdst__record *record;         // of a text, the key, and integers, one element each
    uint32_t key;                       // its leaf
    const hdst__accumulate_op *op;      // by leaf: how it takes another one's; that of the key says nothing
} hdst__combining;

#endif
