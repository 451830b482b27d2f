// SPDX-License-Identifier: Apache-2.0
// The hash of keys, the same on every device: results of reductions by key are in its order.
//
// A key is packed: the elements of its fields, in order, lie one after another, each aligned to its own size, in
// 64-bit words whose rest is zero. Its hash has 32 bits:
//     at most 4 bytes     mix32 of them, which no two keys share
//     at most 8 bytes     the high half of mix64, which is one-to-one too
//     more                h = 0; for each word w: h = mix64((h ^ w) + HDST__KEY_STEP); the high half of h
// mix64 is the finaliser of SplitMix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number generators", 2014;
// variant 13 of Stafford, "Better bit mixing", 2011);
// the multipliers of mix32 are those that Wellons found ("Prospecting for hash functions", 2018).
#ifndef HDST_RECORD_KEY_HASH_H
#define HDST_RECORD_KEY_HASH_H

#include <stddef.h>
#include <stdint.h>

#define HDST__KEY_STEP UINT64_C(0x9e3779b97f4a7c15)
#define HDST__KEY_FIRST UINT64_C(0xbf58476d1ce4e5b9)
#define HDST__KEY_SECOND UINT64_C(0x94d049bb133111eb)

static inline uint32_t hdst__key_mix32(uint32_t x)
{
    x = (x ^ x >> 16) * 0x7feb352du;
    x = (x ^ x >> 15) * 0x846ca68bu;
    return x ^ x >> 16;
}

// The key of at most 4 bytes whose hash this is.
static inline uint32_t hdst__key_unmix32(uint32_t x)
{
    x = (x ^ x >> 16) * 0x43021123u;
    x = (x ^ x >> 15 ^ x >> 30) * 0x1d69e2a5u;
    return x ^ x >> 16;
}

static inline uint64_t hdst__key_mix64(uint64_t x)
{
    x = (x ^ x >> 30) * HDST__KEY_FIRST;
    x = (x ^ x >> 27) * HDST__KEY_SECOND;
    return x ^ x >> 31;
}

// The hash of a packed key of `bytes` bytes.
static inline uint32_t hdst__key_hash(const uint64_t *packed, size_t bytes)
{
    if (bytes <= 4) return hdst__key_mix32((uint32_t)packed[0]);
    if (bytes <= 8) return (uint32_t)(hdst__key_mix64(packed[0]) >> 32);
    uint64_t h = 0;
    for (size_t i = 0; i < (bytes + 7) / 8; i++) h = hdst__key_mix64((h ^ packed[i]) + HDST__KEY_STEP);
    return (uint32_t)(h >> 32);
}

#endif
