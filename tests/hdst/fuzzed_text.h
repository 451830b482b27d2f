// SPDX-License-Identifier: Apache-2.0
// Texts made at random, by number: none, empty lines and nothing else, no newline at the end, CRLF, NUL bytes, bytes that are not ASCII, tokens of one byte up
// to thousands and of 12 and 13, lines of none up to hundreds of tokens; how many words there are between blanks, and how many bytes they have.
#ifndef HDST_TESTS_HDST_FUZZED_TEXT_H
#define HDST_TESTS_HDST_FUZZED_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TEXTS = 200, MOST = 1 << 16 };

static struct { char bytes[MOST]; size_t length; uint32_t state; } fuzzed;

static uint32_t next(uint32_t below)
{
    fuzzed.state ^= fuzzed.state << 13, fuzzed.state ^= fuzzed.state >> 17, fuzzed.state ^= fuzzed.state << 5;
    return fuzzed.state % below;
}

static void put(char c) { if (fuzzed.length < MOST) fuzzed.bytes[fuzzed.length++] = c; }

static void put_token(uint32_t kind)
{
    static const char letters[] = "abAB\0\x80\xff\r,;._";
    uint32_t bytes = next(4) ? 1 + next(4) : 11 + next(4);
    if (kind == 3 && next(30) == 0) bytes = next(6000);
    if (kind == 4) bytes = 1 + next(40);
    for (uint32_t i = 0; i < bytes; i++) put(letters[next(kind == 1 ? 2 : kind == 2 ? 12 : 4)]);
}

// Kind 0 is nothing but newlines, or nothing at all.
static void make_text(uint32_t seed)
{
    fuzzed.state = 2463534242u + seed * 7919u;
    for (int i = 0; i < 8; i++) next(2);
    fuzzed.length = 0;
    const uint32_t kind = seed % 5, lines = seed % 11 == 0 ? 0 : next(seed % 10 ? 40 : 300);
    for (uint32_t line = 0; line < lines && fuzzed.length < MOST - 8000; line++) {
        const uint32_t tokens = kind == 0 ? 0 : next(20) ? next(9) : next(300);
        for (uint32_t t = 0; t < tokens && fuzzed.length < MOST - 8000; t++) {
            put_token(kind);
            for (uint32_t blanks = next(8) ? 1 : next(70); blanks--;) put(" \t"[next(9) == 0]);
        }
        if (seed % 3 == 0) put('\r');
        if (line + 1 < lines || seed % 2) put('\n');
    }
}

static bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

static void count_text(uint64_t *words, uint64_t *bytes)
{
    *words = *bytes = 0;
    for (size_t i = 0; i < fuzzed.length; i++) {
        *bytes += !is_blank(fuzzed.bytes[i]);
        *words += !is_blank(fuzzed.bytes[i]) && (i == 0 || is_blank(fuzzed.bytes[i - 1]));
    }
}

#endif
