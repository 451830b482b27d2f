// SPDX-License-Identifier: Apache-2.0
// The data of the comparison of sizes of numbers (widths.hk), the same for both sides.
#ifndef HDST_BENCH_WIDTHS_H
#define HDST_BENCH_WIDTHS_H

#include "bench/bench.h"

enum { WIDTHS_STEPS = 61 };     // rows of the table: no multiple of anything

typedef struct width_steps {    // a row, as widths.hk declares it
    uint8_t b;
    int16_t h;
    int64_t l;
    double z;
} width_steps;

static inline width_steps width_steps_of(uint64_t row)
{
    const uint64_t r = bench_random((1ull << 42) + row);
    return (width_steps){(uint8_t)r, (int16_t)(r >> 8), (int64_t)r, (double)(r >> 40) * (1.0 / 16777216)};
}

static inline uint8_t width_byte(uint64_t i) { return (uint8_t)bench_random(i); }
static inline int16_t width_half(uint64_t i) { return (int16_t)bench_random(i); }
static inline int64_t width_whole(uint64_t i) { return (int64_t)bench_random(i); }
static inline double width_real(uint64_t i) { return (double)(bench_random(i) >> 40) * (1.0 / 16777216); }

#endif
