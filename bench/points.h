// SPDX-License-Identifier: Apache-2.0
// The points of the KMeans benchmarks: uniform in [0, 1000), made from the record's number, so that every program has the same ones.
#ifndef BENCH_POINTS_H
#define BENCH_POINTS_H

#include <stdint.h>

static inline uint64_t bench_mix(uint64_t z)    // the finisher of SplitMix64
{
    z += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

// 24 random bits, so that the value is exact in a float.
static inline float bench_coordinate(uint64_t record, uint32_t coordinate)
{
    return (float)(bench_mix(record * 64 + coordinate) >> 40) * (1000.f / 16777216.f);
}

#endif
