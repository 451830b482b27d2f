// SPDX-License-Identifier: Apache-2.0
// Numbers of one type written as another, many at a time. A value that the new type cannot hold stops the conversion; rounding to the nearest float does not.
//
// Integers and bools go to any type that holds them; to a float they round once, to nearest even. A float goes to an integer only if it is whole and in range.
// To bool: whether the value differs from zero, so a NaN is true. A finite double that would become infinite as a float stops the conversion.
#ifndef HDST_IO_CONVERT_H
#define HDST_IO_CONVERT_H

#include "record/type.h"

// Writes `count` scalars of kind `to`, to_stride bytes apart, from scalars of kind `from`, from_stride apart; no alignment needed. Text is not a number.
// Where bytes are kept, target and source may be one.
// Returns how many were written before one did not fit: `count` when all did.
uint64_t hdst__convert_strided(hdst__kind to, void *target, uint64_t to_stride, hdst__kind from, const void *source, uint64_t from_stride, uint64_t count);

// Whether numbers that fit have the same bytes in both, which are signed and unsigned integers of one size: what is left of a conversion is a look at them.
bool hdst__convert_keeps_bytes(hdst__kind to, hdst__kind from);

// Whether some values of `from` are rounded when they become `to`; values that stop a conversion do not count.
bool hdst__convert_may_round(hdst__kind to, hdst__kind from);

// The value as a person would write it, for messages.
void hdst__convert_text(hdst__kind kind, const void *value, char *text, size_t size);

// IEEE half precision to float, exact. The floats may be written over halves that were read: if they begin before them and end no later.
void hdst__convert_halves(void *to, uint64_t to_stride, const void *from, uint64_t from_stride, uint64_t count);

// Reverses the bytes of `count` scalars of `size` bytes, `stride` apart.
void hdst__convert_swap(void *values, uint64_t size, uint64_t stride, uint64_t count);

#endif
