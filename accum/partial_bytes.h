// SPDX-License-Identifier: Apache-2.0
// Partials as bytes, to be carried to another process (accum/partial.h). The bytes say what the sums are, not how they are held: partials of equal
// values have equal bytes, whatever devices, scales and merges they came by. In the frame (accum/partial_frame.h):
//
//     u32 accumulators; for each: u64 rows, u32 leaves; for each leaf: u8 kind, u8 operation, u64 elements in a row, u8 encoding, its elements
//
// Encodings of a leaf's elements, row by row (accum/partial_column_bytes.c):
//
//     0  all sums are zero, and there is nothing
//     1  i32 unit, u8 width: each sum is a whole number of `width` bytes times 2^unit
//     2  each sum by itself: u8 flags (NaN, infinity, negative infinity), u16 width; where that is not 0: i32 unit, an odd number of `width` bytes
//     3  values of the kind, of its own size: integers, bits, minima and maxima
#ifndef HDST_ACCUM_PARTIAL_BYTES_H
#define HDST_ACCUM_PARTIAL_BYTES_H

#include "accum/partial.h"
#include "accum/partial_frame.h"

// Behind what `out` holds. HDST_E_MEMORY.
hdst_status hdst__partial_write(const hdst__partial *partial, const hdst__partial_label *label, hdst__buffer *out, hdst_error *error);
// HDST_E_FORMAT: these are no bytes of a partial, or damaged ones. HDST_E_MEMORY. The label's description is a part of `bytes`.
hdst_status hdst__partial_from_bytes(const hdst__allocator *allocator, const void *bytes, uint64_t size, hdst__partial **partial,
                                     hdst__partial_label *label, hdst_error *error);

// --- For partial_bytes.c ---

struct hdst__partial_column;
void hdst__column_write(const struct hdst__partial_column *column, hdst__buffer *out);
// Of an empty column with its cell and count. HDST_E_FORMAT without a message: the caller has one.
hdst_status hdst__column_from_bytes(struct hdst__partial_column *column, hdst__byte_cursor *from);

#endif
