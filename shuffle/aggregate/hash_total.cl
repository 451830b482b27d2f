//# TOTAL_LANES 512u
//# SLOTS 1024u
//# FLOATS 1u
//# WORD uint | ulong
//# WORDS 2u
#pragma once
#include "shuffle/aggregate/hash_gpu.cl"

// The last level of a reduction by key on a GPU: a hash table for each partition in local memory, its rows in order of
// hash and key. A key's place follows the order of the hashes (linear probing from there), so that only neighbours
// need to be compared. `ranked`: all heavy keys in order, {key's place in the heavy table}; their words are where the
// table begins.
#define NOWHERE 0xffffffffu
#define TAG_OF(m) ((m) << 1 | 1)        // all keys of a partition share their first bit; 0 is nobody's

// Keys that were made to crowd in few places are not for a table: their work would grow with the square. Of others none stands that far from its home.
#define MOST_PROBES 256

// Where tags are narrow a key's home is two places, which are looked at together: few keys have to look further.
#if MIXED_BYTES == 4
#define HOME_PLACES 2u
inline uint take_place(volatile __local MIXED *tags, uint at, ulong seen, MIXED tag)
{
    MIXED one = (MIXED)seen, two = (MIXED)(seen >> 32);
    if (one == 0) one = TAG_CHANGE(tags + at, 0, tag);
    if (one == 0) one = tag;
    if (one == tag) return at;
    if (two == 0) two = TAG_CHANGE(tags + at + 1, 0, tag);
    return two == 0 || two == tag ? at + 1 : NOWHERE;
}
#else
#define HOME_PLACES 1u
inline uint take_place(volatile __local MIXED *tags, uint at, ulong seen, MIXED tag)
{
    const MIXED now = seen == 0 ? TAG_CHANGE(tags + at, 0, tag) : seen;
    return now == 0 || now == tag ? at : NOWHERE;
}
#endif
#define SEEN_AT(tags, at) (((volatile __local ulong *)(tags))[(at) / HOME_PLACES])
#define HOME_OF(m, bits, spread) (mul_hi(HASH_OF(m) << (bits), spread) / HOME_PLACES * HOME_PLACES)

inline uint find_place(volatile __local MIXED *tags, MIXED m, uint home, uint slots)
{
    uint place = NOWHERE;
    for (uint at = home; place == NOWHERE && at < slots && at < home + MOST_PROBES * HOME_PLACES; at += HOME_PLACES)
        place = take_place(tags, at, SEEN_AT(tags, at), TAG_OF(m));
    return place;
}
// The first heavy key of a partition or of a later one.
inline uint first_heavy(__global const MIXED *heavy_keys, __global const uint *ranked, uint count, uint partition, uint shift)
{
    uint low = 0, high = count;
    while (low < high) {
        const uint middle = (low + high) / 2;
        if (HASH_OF(heavy_keys[ranked[middle]]) >> shift < partition) low = middle + 1;
        else high = middle;
    }
    return low;
}
// A bit for each place that is taken, and how many are taken before each word of bits. Returns how many there are. The first LANES lanes have them all.
#define SLOT_WORDS (SLOTS / 32)
inline uint count_taken(volatile __local MIXED *tags, __local uint *taken, __local uint *before, __local uint *sums)
{
    const uint lane = get_local_id(0);
    uint bits = 0;
    for (uint k = 0; k < 32; k++) {
        const uint bit = (k + lane) & 31, at = lane * 32 + bit;
        if (at < SLOTS && tags[at] != 0) bits |= 1u << bit;
    }
    const uint own = sum_before_lane(sums, lane, popcount(bits));
    if (lane < SLOT_WORDS) {
        taken[lane] = bits;
        before[lane] = own;
    }
    const uint all = sums[LANES - 1];
    barrier(CLK_LOCAL_MEM_FENCE);
    return all;
}
// Keys with smaller homes stand before, with larger ones behind; only those of the same unbroken run may be out of order.
inline uint rank_at(volatile __local MIXED *tags, volatile __local uint *cells, __local const uint *taken, __local const uint *before, uint at, bool used,
                    MIXED top)
{
    const MIXED tag = used ? tags[at] : 0;
    uint rank = used ? before[at / 32] + popcount(taken[at / 32] & ((1u << at % 32) - 1)) : 0;
    uint low = at, high = at, left = used, right = used;
    while (ANY_OF_WARP(left | right)) {
        const MIXED one = left && low > 0 ? tags[low - 1] : 0, other = right && high + 1 < SLOTS ? tags[high + 1] : 0;
        left = one != 0;
        right = other != 0;
        if (left) rank -= COMES_BEFORE(cells, at, tag, low - 1, one, top);
        if (right) rank += COMES_BEFORE(cells, high + 1, other, at, tag, top);
        low -= left;
        high += right;
    }
    return rank;
}

// rows_of: of each partition, its rows; staged: where they stand. failed: bit 0 where a table was too small, bit 1 where keys have one mixed key in common.
__kernel __attribute__((reqd_work_group_size(TOTAL_LANES, 1, 1)))
void hash_total(ulong partitions, ulong bits, ulong slots_used, ulong spread, ulong heavy, SCALES, __global const uint *restrict starts,
    __global const TUPLE *restrict in,
                               __global const MIXED *restrict heavy_keys, __global const uint *restrict ranked, __global const ulong *restrict heavy_words,
                               volatile __global long *overflow, __global ulong *restrict rows_of_overflow, __global uchar *restrict rows,
                               __global uint *restrict rows_of,
                               __global uint *restrict staged, volatile __global uint *failed)
{
    __local MIXED tags[SLOTS] __attribute__((aligned(8)));
    __local uint cells[SLOTS * CELLS] __attribute__((aligned(8)));
    __local uint marks[SLOT_WORDS], taken[SLOT_WORDS], before[SLOT_WORDS], sums[TOTAL_LANES], lost_memory[1];
    volatile __local uint *lost = lost_memory;     // not 0: a key found no place, so what the table holds is of no use
    const uint lane = get_local_id(0), shift = 32 - (uint)bits, slots = (uint)slots_used;
    const scales_t scales = SCALES_OF;
    for (ulong partition = get_group_id(0); partition < partitions; partition += get_num_groups(0)) {
        const uint begin = starts[partition], end = starts[partition + 1], heavy_begin = first_heavy(heavy_keys, ranked, (uint)heavy, (uint)partition, shift);
        for (uint j = lane; j < SLOTS; j += TOTAL_LANES) tags[j] = 0;
        for (uint j = lane; j < SLOTS * CELLS; j += TOTAL_LANES) cells[j] = 0;
        for (uint j = lane; j < SLOT_WORDS; j += TOTAL_LANES) marks[j] = 0;
        if (lane == 0) *lost = 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        TOGETHER();
        for (uint h = heavy_begin + lane; h < heavy; h += TOTAL_LANES) {
            const MIXED m = heavy_keys[ranked[h]];
            if (HASH_OF(m) >> shift != partition) break;
            const uint at = find_place(tags, m, HOME_OF(m, (uint)bits, (uint)spread), slots);
            if (at == NOWHERE) *lost = 1;
            else add_cells(cells, at, SLOTS, words_at(heavy_words + ranked[h] * UNITS));
        }
        for (uint base = begin; base < end; base += TOTAL_LANES * AT_ONCE) {
            TOGETHER();
            TUPLE tuples[AT_ONCE];
            for (uint r = 0; r < AT_ONCE; r++)
                if (base + r * TOTAL_LANES + lane < end) tuples[r] = in[base + r * TOTAL_LANES + lane];
            uint at[AT_ONCE], seeks = 0, refused = 0;
            for (uint r = 0; r < AT_ONCE; r++) {
                at[r] = 0;
                if (base + r * TOTAL_LANES + lane >= end) continue;
                at[r] = HOME_OF(mixed_of(tuples[r]), (uint)bits, (uint)spread);
                seeks |= 1u << r;
            }
            uint adds = seeks, probes = 0;
            if (ANY_OF_WARP(*lost)) break;
            while (ANY_OF_WARP(seeks)) {        // one home for all of them at a time: lanes stay together
                if (probes++ == MOST_PROBES) {
                    if (seeks) *lost = 1;
                    adds &= ~seeks;
                    break;
                }
                ulong seen[AT_ONCE];
                for (uint r = 0; r < AT_ONCE; r++) {        // few lanes have to look again, and the others' reads would cost as much
                    seen[r] = 0;
                    if (seeks >> r & 1) seen[r] = SEEN_AT(tags, at[r]);
                }
                for (uint r = 0; r < AT_ONCE; r++) {
                    if (!(seeks >> r & 1)) continue;
                    const uint place = take_place(tags, at[r], seen[r], TAG_OF(mixed_of(tuples[r])));
                    at[r] = place == NOWHERE ? at[r] + HOME_PLACES : place;
                    if (place != NOWHERE) seeks &= ~(1u << r);
                    if (place == NOWHERE && at[r] >= slots) {
                        *lost = 1;
                        at[r] = 0;
                        seeks &= ~(1u << r);
                        adds &= ~(1u << r);
                    }
                }
            }
            for (uint r = 0; r < AT_ONCE; r++) {
                TOGETHER();
                if (!(adds >> r & 1)) continue;
                const words_t words = words_of(tuples[r], scales);
                add_cells(cells, at[r], SLOTS, words);
                refused |= (uint)(words.exceptions != 0) << r;
            }
            for (uint r = 0; refused != 0; r++, refused >>= 1) {
                if (!(refused & 1)) continue;
                const TUPLE tuple = in[base + r * TOTAL_LANES + lane];
                const MIXED m = mixed_of(tuple);
                const uint place = find_place(tags, m, HOME_OF(m, (uint)bits, (uint)spread), slots);
                atomic_or((volatile __local uint *)(marks + place / 32), 1u << place % 32);
                add_exceptions(overflow, (partition * SLOTS + place) * FLOATS, tuple, words_of(tuple, scales).exceptions);
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        const uint all = count_taken(tags, taken, before, sums), first = begin + heavy_begin;
        for (uint base = 0; base < SLOTS; base += TOTAL_LANES) {
            const uint at = base + lane;
            TOGETHER();
            const bool used = at < SLOTS && tags[at] != 0;
            const ulong row = first + rank_at(tags, cells, taken, before, at, used, MIXED_OF((MIXED)0, partition, bits));
            if (used) {
                const words_t words = cells_at(cells, at, SLOTS);
                write_row(rows + row * ROW_BYTES, MIXED_OF(tags[at], partition, bits), words, scales);
                if (KEYS_DIFFER(words)) atomic_or(failed, 2u);
                if (marks[at / 32] >> at % 32 & 1) finish_exceptions(overflow, rows_of_overflow, (partition * SLOTS + at) * FLOATS, row, words, scales);
            }
        }
        if (lane == 0) {
            rows_of[partition] = all;
            staged[partition] = first;
            if (*lost) atomic_or(failed, 1u);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}

// What the host wants to know, in one place: of `told`, whether a table was too small (by hash_total), then the rows, the tuples, and what overflowed.
__kernel GROUP void hash_tell(ulong partitions, __global const uint *restrict places, __global const uint *restrict starts,
                              __global const long *restrict overflow, __global ulong *restrict told)
{
    if (get_global_id(0)) return;
    told[1] = places[partitions];
    told[2] = starts[partitions];
    told[3] = (ulong)overflow[1];
}

// Rows with addends that do not fit a word, again: the overflow cell has all of the sum by now. Not where something was too small.
__kernel GROUP void hash_overflow(__global long *restrict overflow, __global const ulong *restrict rows_of_overflow, __global uchar *restrict rows,
                                  __global const ulong *restrict told)
{
    const ulong size = (ulong)overflow[0] + 1;
    if (told[0] != 0 || (uint)told[3] != 0) return;
    for (ulong at = get_global_id(0); at < size; at += get_global_size(0)) {
        const ulong owner = (ulong)overflow[2 + at];
        if (owner) put_sum(rows + rows_of_overflow[at] * ROW_BYTES, (owner - 1) % FLOATS, overflow + 2 + size + at * OVERFLOW_CELL_WORDS);
    }
}

// The rows of all partitions one behind the other, of which there is room for `most`.
__kernel GROUP void hash_write(ulong partitions, ulong most, __global const uint *restrict places, __global const uint *restrict staged,
    __global const WORD *restrict rows, __global WORD *restrict out)
{
    const uint lane = get_local_id(0);
    for (ulong partition = get_group_id(0); partition < partitions; partition += get_num_groups(0)) {
        const ulong begin = min(most, (ulong)places[partition]), end = min(most, (ulong)places[partition + 1]);
        const ulong to = begin * WORDS, words = (end - begin) * WORDS, from = (ulong)staged[partition] * WORDS;
        for (ulong i = lane; i < words; i += LANES) out[to + i] = rows[from + i];
    }
}
