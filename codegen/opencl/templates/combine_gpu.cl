//# COMBINED_RECORD_WORDS 3
//# COMBINED_ROW_WORDS 4
//# COMBINED_KEY 0
//# COMBINED_HOT_BITS 9
//# COMBINED_TURN own[2] ^= 0x80000000ul
//# COMBINED_ADD_GLOBAL atom_add((volatile __global ulong *)(row + 4), own[2])
//# COMBINED_ADD_LOCAL atomic_add(row + 4, (uint)own[2])
#pragma once
#include "codegen/opencl/templates/text_apart.cl"

// A hash table of the device in which records whose key is a short text become one as they are made: none of them is written. A row is such a record; its key
// is both words of the span. Where a key of up to 11 bytes leaves the last byte free it is set, so that in a row whose words are both there none is 0: who
// comes to a free place sets the first word, and then the second, each if it is 0 still. Who finds one of them set otherwise goes on to the next place, and
// what is set once stays so. So all records of a key end at the same place, and nobody waits for anybody.
#define COMBINED_TRIES 32u
#define COMBINED_HOT (1u << COMBINED_HOT_BITS)
#define COMBINED_SPARE (0xfful << 56)

// The key of a record that is being made: a text of up to 12 bytes as a whole, of a longer one where it is on the host.
inline void own_text(ulong *own, hdst_text t, text_copy copy)
{
    const uint part = (uint)t.at & 7;
    __global const ulong *words = (__global const ulong *)(t.at - part);
    if (t.length > 12) {
        own[0] = t.length | text_word(t, 0) << 32;
        own[1] = place_on_host(t, copy) | (ulong)t.view << 62;
        return;
    }
    const ulong a = t.length ? words[0] : 0, b = t.length && part + t.length > 8 ? words[1] : 0, c = part + t.length > 16 ? words[2] : 0;
    ulong low = part ? a >> 8 * part | b << (64 - 8 * part) : a, high = part ? b >> 8 * part | c << (64 - 8 * part) : b;
    low = viewed(t.length < 8 ? low & ((1UL << 8 * t.length) - 1) : low, t.view);
    high = viewed(t.length > 8 ? high & ((1UL << 8 * (t.length - 8)) - 1) : 0, t.view);
    own[0] = t.length | low << 32;
    own[1] = low >> 32 | high << 32;
}

inline ulong made_hash(ulong low, ulong high)
{
    const ulong h = (low ^ high * 0x9e3779b97f4a7c15UL) * 0xbf58476d1ce4e5b9UL;
    return (h ^ h >> 29) * 0x94d049bb133111ebUL;
}

// The number of the row of a key, which may be new; `mask` + 1: it has no place. What is read first may be older than what the atomic operation finds.
inline ulong made_row(__global ulong *rows, ulong place, ulong mask, ulong low, ulong high)
{
    for (uint tries = 0; tries < COMBINED_TRIES; tries++, place = (place + 1) & mask) {
        __global ulong *key = rows + place * COMBINED_ROW_WORDS + COMBINED_KEY;
        ulong first = key[0], second = key[1];
        if (first == 0) first = atom_cmpxchg((volatile __global ulong *)key, 0UL, low);
        if (first != 0 && first != low) continue;
        if (second == 0) second = atom_cmpxchg((volatile __global ulong *)key + 1, 0UL, high);
        if (second == 0 || second == high) return place;
    }
    return mask + 1;
}

// Keys that a work-group met early are frequent more often than not: it adds to these in its local memory. Only who has a row of the device comes here.
inline bool hot_takes(__local ulong *key, ulong low, ulong high)
{
    ulong first = key[0], second = key[1];
    if (first == 0) first = atom_cmpxchg((volatile __local ulong *)key, 0UL, low);
    if (first != 0 && first != low) return false;
    if (second == 0) second = atom_cmpxchg((volatile __local ulong *)key + 1, 0UL, high);
    return second == 0 || second == high;
}

inline void hot_begin(__local ulong *hot, uint lanes)
{
    for (uint w = (uint)get_local_id(0); w < COMBINED_HOT * COMBINED_RECORD_WORDS; w += lanes) hot[w] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
}

inline void made_add(volatile __global uint *row, const ulong *own) { COMBINED_ADD_GLOBAL; }
inline void hot_add(volatile __local uint *row, const ulong *own) { COMBINED_ADD_LOCAL; }

inline void hot_end(__local const ulong *hot, __global ulong *rows, uint bits, uint lanes)
{
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint at = (uint)get_local_id(0); at < COMBINED_HOT; at += lanes) {
        __local const ulong *from = hot + at * COMBINED_RECORD_WORDS;
        const ulong low = from[COMBINED_KEY], high = from[COMBINED_KEY + 1], mask = (1UL << bits) - 1;
        ulong own[COMBINED_RECORD_WORDS];
        if (low == 0 || high == 0) continue;
        for (uint w = 0; w < COMBINED_RECORD_WORDS; w++) own[w] = from[w];
        const ulong row = made_row(rows, made_hash(low, high) >> (64 - bits), mask, low, high);
        if (row <= mask) made_add((volatile __global uint *)(rows + row * COMBINED_ROW_WORDS), own);
    }
}

// Whether the record that is made is in the table now.
inline bool made_takes(const ulong *own, __local ulong *hot, __global ulong *rows, uint bits)
{
    const uint length = (uint)own[COMBINED_KEY];
    const ulong low = own[COMBINED_KEY], high = length < 12 ? own[COMBINED_KEY + 1] | COMBINED_SPARE : own[COMBINED_KEY + 1], mask = (1UL << bits) - 1;
    if (length - 1 >= 12 || high == 0) return false;
    const ulong hash = made_hash(low, high);
    __local ulong *near = hot + ((uint)(hash >> 32) * 0x9e3779b1u >> (32 - COMBINED_HOT_BITS)) * COMBINED_RECORD_WORDS;
    if (near[COMBINED_KEY] == low && near[COMBINED_KEY + 1] == high) {
        hot_add((volatile __local uint *)near, own);
        return true;
    }
    const ulong row = made_row(rows, hash >> (64 - bits), mask, low, high);
    if (row > mask) return false;
    if (near[COMBINED_KEY] == 0 && hot_takes(near + COMBINED_KEY, low, high)) hot_add((volatile __local uint *)near, own);
    else made_add((volatile __global uint *)(rows + row * COMBINED_ROW_WORDS), own);
    return true;
}

// Whether there is room for what the table does not take, behind what others have written. The order is none of the input's.
inline bool made_writes(const ulong *own, __global ulong *places, ulong room, __global uchar *to)
{
    const uint place = atomic_inc((volatile __global uint *)places);
    if (place >= room) return false;
    __global ulong *at = (__global ulong *)to + (ulong)place * COMBINED_RECORD_WORDS;
    for (uint w = 0; w < COMBINED_RECORD_WORDS; w++) at[w] = own[w];
    return true;
}

inline bool made_emit(ulong *own, __local ulong *hot, __global ulong *rows, uint bits, __global ulong *places, ulong room, __global uchar *to)
{
    COMBINED_TURN;
    if (made_takes(own, hot, rows, bits)) return true;
    COMBINED_TURN;
    return made_writes(own, places, room, to);
}
