// SPDX-License-Identifier: Apache-2.0
// Values of one size, some bytes apart on either side (base/strided_copy.h).
#include "base/strided_copy.h"

#include <string.h>

void hdst__strided_copy(char *to, uint64_t to_stride, const char *from, uint64_t from_stride, uint64_t size, uint64_t count)
{
    if (to_stride == size && from_stride == size) {
        memcpy(to, from, count * size);
        return;
    }
    // A constant size lets the compiler make each copy one load and one store.
#define COPY(n) for (uint64_t i = 0; i < count; i++) memcpy(to + i * to_stride, from + i * from_stride, n)
    switch (size) {
    case 1: COPY(1); break;
    case 2: COPY(2); break;
    case 4: COPY(4); break;
    case 8: COPY(8); break;
    default: COPY(16); break;
    }
#undef COPY
}
