// SPDX-License-Identifier: Apache-2.0
// Values of one size, some bytes apart on either side (base/strided_copy.h).
#include "base/strided_copy.h"

#include "base/vector_targets.h"

#include <stdbool.h>
#include <string.h>

// A constant size lets the compiler make each copy one load and one store; constant strides have it take vectors apart or put them together.
#define COPY(n, to_step, from_step)                                                                    \
    do {                                                                                               \
        for (uint64_t i = 0; i < count; i++) memcpy(to + i * (to_step), from + i * (from_step), n);    \
        return true;                                                                                   \
    } while (0)

#define COPIES(size)                                                                                                                              \
    HDST__WIDE_VECTORS static bool copy_##size(char *restrict to, uint64_t to_stride, const char *restrict from, uint64_t from_stride,  \
                                               uint64_t count)                                                                                    \
    {                                                                                                                                             \
        if (to_stride == (size) && from_stride == 2 * (size)) COPY(size, size, 2 * (size));                                                       \
        if (to_stride == (size) && from_stride == 3 * (size)) COPY(size, size, 3 * (size));                                                       \
        if (to_stride == (size) && from_stride == 4 * (size)) COPY(size, size, 4 * (size));                                                       \
        COPY(size, to_stride, from_stride);                                                                                                       \
    }

COPIES(4)
COPIES(8)

static void copy_any(char *to, uint64_t to_stride, const char *from, uint64_t from_stride, uint64_t size, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        switch (size) {
        case 1: to[i * to_stride] = from[i * from_stride]; break;
        case 2: memcpy(to + i * to_stride, from + i * from_stride, 2); break;
        default: memcpy(to + i * to_stride, from + i * from_stride, 16); break;
        }
    }
}

void hdst__strided_copy(char *to, uint64_t to_stride, const char *from, uint64_t from_stride, uint64_t size, uint64_t count)
{
    if (to_stride == size && from_stride == size) memcpy(to, from, count * size);
    else if (size == 4) copy_4(to, to_stride, from, from_stride, count);
    else if (size == 8) copy_8(to, to_stride, from, from_stride, count);
    else copy_any(to, to_stride, from, from_stride, size, count);
}
