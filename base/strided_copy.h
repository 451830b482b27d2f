// SPDX-License-Identifier: Apache-2.0
// Values of one size, some bytes apart on either side.
#ifndef HDST_BASE_STRIDED_COPY_H
#define HDST_BASE_STRIDED_COPY_H

#include <stdint.h>

// Copies `count` values of `size` bytes (1, 2, 4, 8 or 16); strides in bytes. The two sides do not overlap.
void hdst__strided_copy(char *to, uint64_t to_stride, const char *from, uint64_t from_stride, uint64_t size, uint64_t count);

#endif
