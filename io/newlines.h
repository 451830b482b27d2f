// SPDX-License-Identifier: Apache-2.0
// Where bytes have line ends: \n, and nothing else.
#ifndef HDST_IO_NEWLINES_H
#define HDST_IO_NEWLINES_H

#include "io/byte_masks.h"

uint64_t hdst__newlines_count(const char *bytes, uint64_t count);
// Behind the newline number `number`, which counts from 1; `count` + 1: there are not so many.
uint64_t hdst__newlines_find(const char *bytes, uint64_t count, uint64_t number);

// A bit for each of the first 64 bytes that is one, where there are `count` bytes and 64 or fewer may be read.
static inline uint64_t hdst__newlines_mask(const char *bytes, uint64_t count)
{
    char few[64] = {0};
    if (count < sizeof few) bytes = memcpy(few, bytes, count);
    const hdst__bytes run = hdst__bytes_load(bytes);
    return hdst__bytes_equal(&run, '\n');
}

#endif
