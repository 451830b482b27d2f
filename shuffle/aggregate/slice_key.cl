#pragma once
#include "shuffle/aggregate/slice_example.cl"
// Keys of records that a slice gave, with texts as spans (record/text_span.h): short ones in the record, of long ones the host's address. Rows that stay from
// slice to slice have the bytes of theirs in a heap of their own, where an address has a bit that no address of the host has.
#define IN_HEAP (1ul << 61)
#define VIEW_BIT 62                 // a text that is looked at in another case has the view above the address: HDST__TEXT_LOWER, HDST__TEXT_UPPER
inline ulong slice_mix(ulong h, ulong word)
{
    h = (h ^ word) * 0x9e3779b97f4a7c15ul;
    return h ^ h >> 29;
}

inline ulong span_word(__global const uchar *span, uint which) { return ((__global const ulong *)span)[which]; }

inline bool lies_in(ulong address, uint length, ulong from, ulong bytes) { return address - from < bytes && length <= bytes - (address - from); }

// The bytes of a long text: in the heap, in the copy of the slice's texts, in that of the function's own. 0: they are not on the device.
inline __global const uchar *long_text(ulong word, uint length, TEXTS)
{
    const ulong address = word & ((1ul << VIEW_BIT) - 1);
    if (address & IN_HEAP) return heap + (address ^ IN_HEAP);
    if (lies_in(address, length, text_host, text_bytes)) return texts + (address - text_host);
    return lies_in(address, length, own_host, own_bytes) ? own_texts + (address - own_host) : (__global const uchar *)0;
}

inline uchar viewed(uchar byte, ulong word)
{
    const uint view = (uint)(word >> VIEW_BIT);
    const uchar first = view == 1 ? 'A' : 'a';
    return view && (uchar)(byte - first) < 26 ? byte ^ 32 : byte;
}

inline ulong hash_of_text(ulong h, __global const uchar *span, TEXTS)
{
    const ulong low = span_word(span, 0), high = span_word(span, 1);
    const uint length = (uint)low;
    if (length <= 12) return slice_mix(slice_mix(h, low), high);
    __global const uchar *at = long_text(high, length, TEXTS_OF);
    h = slice_mix(h, low);
    for (uint i = 0; at && i < length; i += 8) {
        ulong word = 0;
        for (uint b = 0; b < 8 && i + b < length; b++) word |= (ulong)viewed(at[i + b], high) << 8 * b;
        h = slice_mix(h, word);
    }
    return h;
}

// Byte for byte.
inline bool same_text(__global const uchar *a, __global const uchar *b, TEXTS)
{
    const ulong low = span_word(a, 0), x = span_word(a, 1), y = span_word(b, 1);
    const uint length = (uint)low;
    if (low != span_word(b, 0)) return false;
    if (x == y) return true;
    if (length <= 12) return false;
    __global const uchar *p = long_text(x, length, TEXTS_OF), *q = long_text(y, length, TEXTS_OF);
    uint i = 4;
    while (i < length && viewed(p[i], x) == viewed(q[i], y)) i++;
    return i == length;
}

// Whether a text may become part of a row's key: its bytes are here, and few enough for a work-item to go through.
inline bool can_stay_text(__global const uchar *span, TEXTS)
{
    const uint length = (uint)span_word(span, 0);
    return length <= 12 || (length <= LONGEST && long_text(span_word(span, 1), length, TEXTS_OF));
}

// Bytes of the heap, whole words.
inline uint heap_bytes_of(__global const uchar *span)
{
    const uint length = (uint)span_word(span, 0);
    return length <= 12 ? 0 : (length + 7) / 8 * 8;
}

// A row's text, which is a record's still, refers to the heap from *at on.
inline void stay_text(__global uchar *span, __global uchar *to, ulong *at, TEXTS)
{
    const ulong word = span_word(span, 1);
    const uint length = (uint)span_word(span, 0);
    if (length <= 12) return;
    __global const uchar *from = long_text(word, length, TEXTS_OF);
    for (uint i = 0; i < length; i++) to[*at + i] = viewed(from[i], word);
    ((__global ulong *)span)[1] = *at | IN_HEAP;
    *at += (length + 7) / 8 * 8;
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
