// SPDX-License-Identifier: Apache-2.0
// Keys of minimum and maximum: unsigned, monotone, so that the largest wins; 0 only for the identity (an integer
// type's last value, an infinity). NaN wins over all.
#ifndef HDST_ACCUM_MINMAX_KEYS_H
#define HDST_ACCUM_MINMAX_KEYS_H

#include "accum/accumulate_op.h"
#include "record/type.h"

// acc: HDST__MIN or HDST__MAX. Decoding NaN's key gives the quiet, positive NaN.
uint64_t hdst__key_encode(hdst__kind kind, hdst__accumulate_op acc, uint64_t bits);
uint64_t hdst__key_decode(hdst__kind kind, hdst__accumulate_op acc, uint64_t key);

#endif
