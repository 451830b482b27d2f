// SPDX-License-Identifier: Apache-2.0
// Texts in the C structs of records. hdst/hdst.h includes it.
#ifndef HDST_TEXT_H
#define HDST_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

// A text in a record: up to 12 bytes lie in it, one behind the other from `start` on, and what is not used is zero; of a longer one the first 4 do, and the
// address of all of them, these too. Any bytes, at most 2^32 - 1. Bytes in memory are whose memory it is: those of an input must stay as long as its records
// are read, those of a result do as long as its records.
#ifndef HDST_TEXT_SPAN
#define HDST_TEXT_SPAN
typedef struct hdst_text_span {
    uint32_t length;
    char start[4];
    union {
        char rest[8];
        uint64_t address;
    };
} hdst_text_span;
#endif
// Of hdst_source_open_all_lines.
typedef struct hdst_lines_options {     // start from HDST_LINES_OPTIONS_INIT; `size` lets the struct grow
    size_t size;
    bool strip_returns;         // a \r before the end of a line is no part of it
    uint32_t longest;           // bytes of a line, at most; a longer one is an error. 0: what a text can have, 2^32 - 1
} hdst_lines_options;
#define HDST_LINES_OPTIONS_INIT {sizeof(hdst_lines_options), false, 0}
// A text, wherever it lies.
typedef struct hdst_text {
    const char *data;
    uint64_t length;            // bytes
} hdst_text;
// `length` of them. What a short text's are in is the span.
static inline const char *hdst_text_bytes(const hdst_text_span *span)
{
    return span->length <= 12 ? (const char *)span + 4 : (const char *)(uintptr_t)span->address;
}
// Of bytes that stay where they are; of 12 at most they are copied.
static inline hdst_text_span hdst_text_span_of(const char *bytes, uint32_t length)
{
    hdst_text_span span;
    memset(&span, 0, sizeof span);
    span.length = length;
    memcpy((char *)&span + 4, bytes, length <= 12 ? length : 4);
    if (length > 12) span.address = (uint64_t)(uintptr_t)bytes;
    return span;
}

#ifdef __cplusplus
}
#endif
#endif
