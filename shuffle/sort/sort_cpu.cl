#pragma once
#include "shuffle/sort/sort_order.cl"
// A pass of a radix sort by 8 bits, least significant digit first, on a CPU device: a work-item counts the digits of
// a strip; a prefix sum makes places of the counts; the same work-item moves the strip. Keys leave in whole cache
// lines past the caches, from a line for each digit that is filled first. (Knuth, The Art of Computer Programming 3,
// 5.2.5; the lines: Satish et al., "Fast sort on CPUs and GPUs", SIGMOD 2010, 3.1.)
#define LINE 16u
#ifdef __has_builtin
#if __has_builtin(__builtin_nontemporal_store)
#define STREAM(value, to) __builtin_nontemporal_store(value, to)
#endif
#endif
#ifndef STREAM
#define STREAM(value, to) (*(to) = (value))
#endif

inline ulong strip_start(ulong n, uint strip, uint strips) { return n / strips * strip + n % strips * strip / strips; }

__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void sort_count(ulong n, ulong shift, IN_PARAMS, __global uint *restrict counters, __global ulong *restrict masks)
{
    const uint strip = get_global_id(0), strips = get_global_size(0);
    const ulong end = strip_start(n, strip + 1, strips);
    uint count[4 * 256];
    KEY any = 0, all = ~(KEY)0;
    for (uint d = 0; d < 4 * 256; d++) count[d] = 0;
    ulong i = strip_start(n, strip, strips);
    // Four counters of each digit: equal keys in a row do not wait for each other.
    for (; i + 4 <= end; i += 4) {
        const KEY a = KEY_AT(i), b = KEY_AT(i + 1), c = KEY_AT(i + 2), d = KEY_AT(i + 3);
        any |= a | b | c | d;
        all &= a & b & c & d;
        count[DIGIT(a)]++;
        count[256 + DIGIT(b)]++;
        count[512 + DIGIT(c)]++;
        count[768 + DIGIT(d)]++;
    }
    for (; i < end; i++) {
        const KEY a = KEY_AT(i);
        any |= a;
        all &= a;
        count[DIGIT(a)]++;
    }
    for (uint d = 0; d < 256; d++) counters[d * strips + strip] = count[d] + count[256 + d] + count[512 + d] + count[768 + d];
    masks[2 * strip] = any;
    masks[2 * strip + 1] = all;
}

__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void sort_move(ulong n, ulong shift, IN_PARAMS, __global const uint *restrict counters, OUT_PARAMS)
{
    const uint strip = get_global_id(0), strips = get_global_size(0);
    const ulong end = strip_start(n, strip + 1, strips);
    uint place[256], begin[256];
#ifdef OUT
    __attribute__((aligned(64))) OUT key_line[256 * LINE];
#endif
#if PAIRS
    __attribute__((aligned(64))) uint index_line[256 * LINE];
#endif
    for (uint d = 0; d < 256; d++) place[d] = begin[d] = counters[d * strips + strip];
    for (ulong i = strip_start(n, strip, strips); i < end; i++) {
        const KEY key = KEY_AT(i);
        const uint d = DIGIT(key), p = place[d], at = p % LINE, line = d * LINE;
#ifdef OUT
        key_line[line + at] = OUT_OF(key);
#endif
#if PAIRS
        index_line[line + at] = INDEX_AT(i);
#endif
        place[d] = p + 1;
        if (at != LINE - 1) continue;
        const uint first = p - at;
        if (first >= begin[d]) {
#ifdef OUT
            STREAM(*(OUT16 *)(key_line + line), (__global OUT16 *)(out + first));
#endif
#if PAIRS
            STREAM(*(uint16 *)(index_line + line), (__global uint16 *)(index_out + first));
#endif
            continue;
        }
        for (uint j = begin[d]; j <= p; j++) {      // the line's first part is another strip's or digit's
#ifdef OUT
            out[j] = key_line[line + j % LINE];
#endif
#if PAIRS
            index_out[j] = index_line[line + j % LINE];
#endif
        }
    }
    for (uint d = 0; d < 256; d++) {
        const uint line = place[d] / LINE * LINE;
        for (uint j = line > begin[d] ? line : begin[d]; j < place[d]; j++) {
#ifdef OUT
            out[j] = key_line[d * LINE + j % LINE];
#endif
#if PAIRS
            index_out[j] = index_line[d * LINE + j % LINE];
#endif
        }
    }
    __sync_synchronize();           // what went past the caches is there before anybody is told
}
