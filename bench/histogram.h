// SPDX-License-Identifier: Apache-2.0
// The pixels of the histogram's benchmark, and the numbers by which its sides are compared.
#ifndef HDST_BENCH_HISTOGRAM_H
#define HDST_BENCH_HISTOGRAM_H

#include "bench/bench.h"

// All values alike, or (skewed) three of four bytes are 7, as in a picture with much of one colour.
static inline uint8_t histogram_byte(uint64_t record, unsigned column, bool skewed)
{
    const uint64_t bits = bench_random(3 * record + column);
    return skewed && (bits >> 32 & 3) ? 7 : (uint8_t)(bits >> 56);
}

// Of 3 x 256 counts: the sum with weights that no two share, and the count of 7 in each column.
static inline size_t histogram_check(const uint64_t *counts, double *values, size_t limit)
{
    if (limit < 4) return 0;
    values[0] = 0;
    for (int i = 0; i < 3 * 256; i++) values[0] += (double)counts[i] * (i + 1);
    for (int c = 0; c < 3; c++) values[1 + c] = (double)counts[c * 256 + 7];
    return 4;
}

#endif
