#pragma once
#include "codegen/opencl/templates/bytes.cl"
#define INLINED inline __attribute__((always_inline))

// Texts (codegen/ir/text_value.h): where the bytes are, how many, and how they are looked at: 0 as they are, 1 in lower case, 2 in upper case.
typedef struct hdst_text {
    ulong at;
    uint length, view;
} hdst_text;

inline hdst_text pick_hdst_text(bool condition, hdst_text yes, hdst_text no)
{
    hdst_text t;
    t.at = condition ? yes.at : no.at;
    t.length = condition ? yes.length : no.length;
    t.view = condition ? yes.view : no.view;
    return t;
}

inline hdst_text text_of(__global const uchar *at, uint length)
{
    hdst_text t = {(ulong)at, length, 0};
    return t;
}

// Of a program's own constants.
inline hdst_text text_constant(__constant const uchar *at, uint length)
{
    hdst_text t = {(ulong)at, length, 0};
    return t;
}

// A span of 16 bytes: the length, then up to 12 bytes, or four of them and the place of all (record/text_span.h).
inline hdst_text read_hdst_text(__global const uchar *span)
{
    const uint length = read_uint(span);
    const ulong place = read_ulong(span + 8);
    hdst_text t = {length <= 12 ? (ulong)(span + 4) : place << 2 >> 2, length, length <= 12 ? 0 : (uint)(place >> 62)};
    return t;
}

// Turns the case of those of eight bytes that lie from `first` to `last`.
INLINED ulong turn_case(ulong word, uint first, uint last)
{
    const ulong ones = 0x0101010101010101UL, low = word & 0x7f7f7f7f7f7f7f7fUL;
    return word ^ ((low + (0x80 - first) * ones) & ~(low + (0x7f - last) * ones) & ~word & 0x8080808080808080UL) >> 2;
}

INLINED ulong viewed(ulong word, uint view)
{
    return view == 0 ? word : view == 1 ? turn_case(word, 'A', 'Z') : turn_case(word, 'a', 'z');
}

// Fewer than eight. No byte is read that does not lie in an aligned word with one of the text's own.
inline ulong last_bytes_of_text(ulong from, long left)
{
    const ulong part = from & 7;
    if (left <= 0) return 0;
    ulong word = *(__global const ulong *)(from - part) >> 8 * part;
    if (part + left > 8) word |= *(__global const ulong *)(from - part + 8) << (64 - 8 * part);
    return word & ((1UL << 8 * left) - 1);
}

// Eight bytes of a text, the first one lowest: where what need not be aligned is read byte by byte, out of the one or two aligned words that hold them.
#if READS_BYTES
INLINED ulong eight_bytes(ulong from)
{
    const uint part = (uint)from & 7;
    __global const ulong *words = (__global const ulong *)(from - part);
    return part ? words[0] >> 8 * part | words[1] << (64 - 8 * part) : words[0];
}
#else
INLINED ulong eight_bytes(ulong from) { return read_ulong((__global const uchar *)from); }
#endif

// Eight bytes, the first one lowest; zero behind the end.
#if READS_BYTES
INLINED ulong text_word(hdst_text t, uint i)
{
    const long left = (long)t.length - (long)i;
    return viewed(left >= 8 ? eight_bytes(t.at + i) : last_bytes_of_text(t.at + i, left), t.view);
}
#else
// What follows a byte of the text in its page can be read: nearly always at once, and no branch depends on how much of the text is left, if any is.
INLINED ulong text_word(hdst_text t, uint i)
{
    const long left = (long)t.length - (long)i;
    const ulong from = t.at + i;
    if (left <= 0) return 0;
    if ((from & 4095) <= 4096 - 8) return viewed(eight_bytes(from) & ~0UL >> (64 - 8 * min(left, 8L)), t.view);
    return viewed(left >= 8 ? eight_bytes(from) : last_bytes_of_text(from, left), t.view);
}
#endif

// Bit 7 of those of eight bytes that lie from `low` to `high`, which are both of ASCII or both not.
INLINED ulong bytes_within(ulong word, uint low, uint high)
{
    const ulong ones = 0x0101010101010101UL, seven = word & 0x7f7f7f7f7f7f7f7fUL;
    const ulong found = (seven + (0x80 - (low & 127)) * ones) & ~(seven + (0x7f - (high & 127)) * ones);
    return found & (low < 128 ? ~word : word) & 0x8080808080808080UL;
}

INLINED ulong bytes_from(ulong word, uint low, uint high)
{
    ulong found = 0;
    if (low < 128 && low <= high) found |= bytes_within(word, low, min(high, 127u));
    if (high >= 128 && low <= high) found |= bytes_within(word, max(low, 128u), high);
    return found;
}

// A bit for each of eight bytes: whether it lies in one of four ranges.
INLINED ulong bits_of_word(ulong word, ulong ranges)
{
    const ulong found = bytes_from(word, (uint)ranges & 255, (uint)(ranges >> 8) & 255) |
                        bytes_from(word, (uint)(ranges >> 16) & 255, (uint)(ranges >> 24) & 255) |
                        bytes_from(word, (uint)(ranges >> 32) & 255, (uint)(ranges >> 40) & 255) |
                        bytes_from(word, (uint)(ranges >> 48) & 255, (uint)(ranges >> 56));
    return (found >> 7) * 0x0102040810204080UL >> 56;
}

// Which of 64 bytes lie in one of four ranges, none behind the end (codegen/ir/text_value.h).
#if TEXT_VECTORS
typedef char sixty_four_bytes __attribute__((ext_vector_type(64)));

INLINED ulong bits_from(sixty_four_bytes block, uint low, uint high, ulong valid)
{
    return low > high ? 0 : __builtin_ia32_ucmpb512_mask(block - (char)low, (sixty_four_bytes)(char)(high - low), 2, valid);
}

INLINED ulong text_bits(hdst_text t, uint i, ulong ranges)
{
    if (i >= t.length) return 0;
    const ulong left = t.length - i, valid = left < 64 ? (1UL << left) - 1 : ~0UL;
    __builtin_prefetch((const void *)(t.at + i + 1024));
    sixty_four_bytes block = __builtin_ia32_loaddquqi512_mask((sixty_four_bytes *)(t.at + i), (sixty_four_bytes)0, valid);  // others are not read
    const ulong turned = t.view == 0 ? 0 : t.view == 1 ? bits_from(block, 'A', 'Z', valid) : bits_from(block, 'a', 'z', valid);
    if (turned) block = __builtin_ia32_selectb_512(turned, block ^ (char)32, block);
    return bits_from(block, (uint)ranges & 255, (uint)(ranges >> 8) & 255, valid) |
           bits_from(block, (uint)(ranges >> 16) & 255, (uint)(ranges >> 24) & 255, valid) |
           bits_from(block, (uint)(ranges >> 32) & 255, (uint)(ranges >> 40) & 255, valid) |
           bits_from(block, (uint)(ranges >> 48) & 255, (uint)(ranges >> 56), valid);
}
#elif READS_BYTES
// Each aligned word once, none without a byte of the text.
INLINED ulong text_bits(hdst_text t, uint i, ulong ranges)
{
    if (i >= t.length) return 0;
    const uint left = min(t.length - i, 64u), part = (uint)(t.at + i) & 7;
    __global const ulong *words = (__global const ulong *)(t.at + i - part);
    ulong bits = 0, word = *words;
    for (uint k = 0; k < left; k += 8) {
        const ulong next = k + 8 - part < left ? *++words : 0;
        bits |= bits_of_word(viewed(part ? word >> 8 * part | next << (64 - 8 * part) : word, t.view), ranges) << k;
        word = next;
    }
    return left < 64 ? bits & ((1UL << left) - 1) : bits;
}
#else
INLINED ulong text_bits(hdst_text t, uint i, ulong ranges)
{
    if (i >= t.length) return 0;
    const ulong left = t.length - i;
    ulong bits = 0;
    if (left >= 64 || ((t.at + i) & 4095) <= 4096 - 64)        // what follows a byte of the text in its page can be read
        for (uint k = 0; k < 64; k += 8) bits |= bits_of_word(viewed(read_ulong((__global const uchar *)(t.at + i + k)), t.view), ranges) << k;
    else
        for (uint k = 0; k < left; k += 8) bits |= bits_of_word(text_word(t, i + k), ranges) << k;
    return left < 64 ? bits & ((1UL << left) - 1) : bits;
}
#endif

inline uchar text_byte(hdst_text t, uint i)
{
    if (i >= t.length) return 0;
    const ulong byte = *(__global const uchar *)(t.at + i);
    return (uchar)(t.view == 0 ? byte : t.view == 1 ? turn_case(byte, 'A', 'Z') : turn_case(byte, 'a', 'z'));
}

INLINED hdst_text text_slice(hdst_text t, uint from, uint to)
{
    to = min(to, t.length);
    from = min(from, to);
    t.at += from;
    t.length = to - from;
    return t;
}

INLINED hdst_text text_view(hdst_text t, uint view)
{
    t.view = view;
    return t;
}

#if TEXT_VECTORS
typedef char sixteen_bytes __attribute__((ext_vector_type(16)));

// The span of up to 12 bytes: the length, and they behind it.
INLINED void write_short_text(__global uchar *span, hdst_text t)
{
    const ushort valid = (ushort)((1u << t.length) - 1);
    sixteen_bytes block = __builtin_ia32_loaddquqi128_mask((sixteen_bytes *)t.at, (sixteen_bytes)0, valid);     // others are not read
    const char first = t.view == 2 ? 'a' : 'A';
    if (t.view) block ^= __builtin_ia32_selectb_128(__builtin_ia32_ucmpb128_mask(block - first, (sixteen_bytes)26, 1, valid), (sixteen_bytes)32,
                                                    (sixteen_bytes)0);
    uint4 words = as_uint4(__builtin_shufflevector(block, block, 0, 1, 2, 3, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11));
    words.x = t.length;
    vstore4(words, 0, (__global uint *)span);
}

INLINED void write_hdst_text(__global uchar *span, hdst_text t)
{
    if (t.length <= 12) {
        write_short_text(span, t);
        return;
    }
    write_ulong(span, t.length | text_word(t, 0) << 32);
    write_ulong(span + 8, t.at | (ulong)t.view << 62);
}
#else
// What follows a text's first byte in its page can be read.
INLINED bool has_sixteen(hdst_text t) { return t.length != 0 && (t.at & 4095) <= 4096 - 16; }

INLINED void write_hdst_text(__global uchar *span, hdst_text t)
{
    ulong low, high;
    if (has_sixteen(t)) {
        low = eight_bytes(t.at) & ~0UL >> (64 - 8 * min(t.length, 8u));
        high = eight_bytes(t.at + 8) & ((1UL << 8 * (clamp(t.length, 8u, 12u) - 8)) - 1);     // of longer ones not asked for
        low = viewed(low, t.view), high = viewed(high, t.view);
    } else {
        low = text_word(t, 0), high = text_word(t, 8);
    }
    write_ulong(span, t.length | low << 32);
    write_ulong(span + 8, t.length <= 12 ? low >> 32 | high << 32 : t.at | (ulong)t.view << 62);
}
#endif
