//# MIXED_BYTES 8
//# REST_WORDS 1u
//# REST_CELL 2u
//# SLOTS 1024u
#pragma once
#include "shuffle/aggregate/hash_key.cl"
// Keys of more than 8 bytes (record/key_hash.h). What is mixed is the chain of hashes over their words, in 64 bits, from which and all words but the last, the
// *rest*, the last one follows. Places are found by the mixed key alone; a row keeps the rest of the first tuple that comes to it, and a *note*: a bit for each
// half of a word of the rest that came as zero, which a row's cell says as long as nobody came, and one for keys that are not the same.
#define KEY_STEP 0x9e3779b97f4a7c15UL
#define OTHER_KEY 0x80000000u
inline ulong chain_key(ulong h, ulong word) { return mix64((h ^ word) + KEY_STEP); }
inline ulong last_of_key(ulong mixed, ulong h) { return (unmix64(mixed) - KEY_STEP) ^ h; }

inline void keep_rest(volatile __local uint *cell, volatile __local uint *note, uint part)
{
    uint now = *cell;
    if (part == 0) return;
    if (now == 0) now = atomic_cmpxchg(cell, 0u, part);
    if (now != 0 && now != part) atomic_or(note, OTHER_KEY);
}
inline void keep_note(volatile __local uint *note, uint bits)
{
    if ((*note & bits) != bits) atomic_or(note, bits);
}
// The same of a heavy key.
inline void keep_heavy_rest(volatile __global uint *cell, volatile __global uint *note, uint part)
{
    if (part == 0) return;
    const uint now = atomic_cmpxchg(cell, 0u, part);
    if (now != 0 && now != part) atomic_or(note, OTHER_KEY);
}

// Rows of one partition in the order of their keys: by hash, those of one hash word by word. The rest lies in `cells`.
inline bool wide_comes_before(volatile __local uint *cells, uint at_a, ulong a, uint at_b, ulong b, ulong top)
{
    ulong h = 0;
    if (a >> 33 != b >> 33) return a < b;
    for (uint w = 0; w < REST_WORDS; w++) {
        volatile __local uint *low = cells + (REST_CELL + 2 * w) * SLOTS, *high = low + SLOTS;
        const ulong one = low[at_a] | (ulong)high[at_a] << 32, other = low[at_b] | (ulong)high[at_b] << 32;
        if (one != other) return one < other;
        h = chain_key(h, one);
    }
    return last_of_key(a >> 1 | top, h) < last_of_key(b >> 1 | top, h);
}
