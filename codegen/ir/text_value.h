// SPDX-License-Identifier: Apache-2.0
// Texts as the IR works on them: where their bytes are, how many, and how they are looked at. A slice or a view copies nothing.
//
// The operations are total: what is behind the end of a text is zero, and a slice is cut to what there is.
#ifndef HDST_CODEGEN_IR_TEXT_VALUE_H
#define HDST_CODEGEN_IR_TEXT_VALUE_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

typedef enum hdst__text_view { HDST__TEXT_AS_IT_IS, HDST__TEXT_LOWER, HDST__TEXT_UPPER } hdst__text_view;     // letters of ASCII only

// A pattern of kind HDST__TEXT (codegen/ir/eval.h) is the address of one of these, which does not change; 0 is the empty text.
typedef struct hdst__text_value {
    const char *at;
    uint32_t length;        // bytes
    uint32_t view;          // hdst__text_view
} hdst__text_value;

// Eight bytes at once: those from `first` to `last` have bit 5 turned.
static inline uint64_t hdst__text_turn_case(uint64_t word, unsigned first, unsigned last)
{
    const uint64_t ones = UINT64_C(0x0101010101010101), low = word & 0x7f * ones;
    const uint64_t from = low + (0x80 - first) * ones, behind = low + (0x7f - last) * ones;
    return word ^ (from & ~behind & ~word & 0x80 * ones) >> 2;
}

static inline uint64_t hdst__text_viewed(uint64_t word, uint32_t view)
{
    if (view == HDST__TEXT_LOWER) return hdst__text_turn_case(word, 'A', 'Z');
    return view == HDST__TEXT_UPPER ? hdst__text_turn_case(word, 'a', 'z') : word;
}

// Eight bytes from `index` on, the first one lowest.
static inline uint64_t hdst__text_word(const hdst__text_value *text, uint64_t index)
{
    uint64_t word = 0;
    if (!text || index >= text->length) return 0;
    const uint64_t left = text->length - index;
    memcpy(&word, text->at + index, left < 8 ? left : 8);       // little-endian hosts
    return hdst__text_viewed(word, text->view);
}

static inline uint8_t hdst__text_byte(const hdst__text_value *text, uint64_t index)
{
    return text && index < text->length ? (uint8_t)hdst__text_viewed((uint8_t)text->at[index], text->view) : 0;
}

// Of the 64 bytes from `index` on, bit k for byte k: whether it is in the text and lies in one of four ranges, each of which has its first byte in the lower
// half of 16 bits and its last in the upper; a range that ends before it begins has none.
static inline uint64_t hdst__text_bits(const hdst__text_value *text, uint64_t index, uint64_t ranges)
{
    uint64_t bits = 0;
    for (unsigned k = 0; text && k < 64 && index + k < text->length; k++) {
        const uint8_t byte = hdst__text_byte(text, index + k);
        for (unsigned r = 0; r < 64; r += 16)
            if (byte >= (uint8_t)(ranges >> r) && byte <= (uint8_t)(ranges >> (r + 8))) bits |= UINT64_C(1) << k;
    }
    return bits;
}

static inline hdst__text_value hdst__text_slice(const hdst__text_value *text, uint64_t from, uint64_t to)
{
    if (!text) return (hdst__text_value){0};
    if (to > text->length) to = text->length;
    if (from > to) from = to;
    return (hdst__text_value){text->at + from, (uint32_t)(to - from), text->view};
}

#endif
