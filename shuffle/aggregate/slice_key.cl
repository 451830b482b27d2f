#pragma once
#include "shuffle/aggregate/slice_example.cl"
// Keys of records that a slice gave, with texts as spans (record/text_span.h): short ones in the record, of long ones the host's address.
inline ulong slice_mix(ulong h, ulong word)
{
    h = (h ^ word) * 0x9e3779b97f4a7c15ul;
    return h ^ h >> 29;
}

inline ulong span_word(__global const uchar *span, uint which) { return ((__global const ulong *)span)[which]; }

// Whether all bytes of a long text are in the copy. A text that is looked at in another case is not: its view stands above the address.
inline bool is_here(ulong address, uint length, TEXTS) { return address >= text_host && address - text_host + length <= text_bytes; }

inline ulong hash_of_text(ulong h, __global const uchar *span, TEXTS)
{
    const ulong low = span_word(span, 0), high = span_word(span, 1);
    const uint length = (uint)low;
    if (length <= 12 || !is_here(high, length, TEXTS_OF)) return slice_mix(slice_mix(h, low), high);
    __global const uchar *at = texts + (high - text_host);
    h = slice_mix(h, low);
    for (uint i = 0; i < length; i += 8) {
        ulong word = 0;
        for (uint b = 0; b < 8 && i + b < length; b++) word |= (ulong)at[i + b] << 8 * b;
        h = slice_mix(h, word);
    }
    return h;
}

// Byte for byte. What cannot be told to be the same is not: the host, which has all bytes, sees both.
inline bool same_text(__global const uchar *a, __global const uchar *b, TEXTS)
{
    const ulong low = span_word(a, 0), x = span_word(a, 1), y = span_word(b, 1);
    const uint length = (uint)low;
    if (low != span_word(b, 0)) return false;
    if (x == y) return true;
    if (length <= 12 || !is_here(x, length, TEXTS_OF) || !is_here(y, length, TEXTS_OF)) return false;
    __global const uchar *p = texts + (x - text_host), *q = texts + (y - text_host);
    uint i = 4;
    while (i < length && p[i] == q[i]) i++;
    return i == length;
}

inline ulong hash_of_bytes(ulong h, __global const uchar *at, uint bytes)
{
    ulong word = 0;
    for (uint b = 0; b < bytes; b++) word |= (ulong)at[b] << 8 * b;
    return slice_mix(h, word);
}

inline bool same_bytes(__global const uchar *a, __global const uchar *b, uint bytes)
{
    bool same = true;
    for (uint i = 0; i < bytes; i++) same &= a[i] == b[i];
    return same;
}
