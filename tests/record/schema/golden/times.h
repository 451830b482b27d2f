// Written by hdst from 'times.yaml': do not edit.
#ifndef HDST_TIMES_YAML_H
#define HDST_TIMES_YAML_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__cplusplus) && !defined(_Static_assert)
#define _Static_assert static_assert
#endif

#ifndef HDST_TEXT_SPAN
#define HDST_TEXT_SPAN
// A text: up to 12 bytes lie in it, of a longer one the first 4 and the address of all.
typedef struct hdst_text_span {
    uint32_t length;
    char start[4];
    union {
        char rest[8];
        uint64_t address;
    };
} hdst_text_span;
#endif

// 48 bytes, alignment 4, layout aos
struct __attribute__((packed, aligned(4))) trade {
    int32_t day __attribute__((aligned(4)));        // days since 1970-01-01
    bool has_day;
    int64_t at[2] __attribute__((aligned(4)));        // microseconds since 1970-01-01T00:00:00Z
    double price __attribute__((aligned(4)));
    struct hdst_text_span note __attribute__((aligned(4)));
};
_Static_assert(sizeof(struct trade) == 48, "size of trade");
_Static_assert(offsetof(struct trade, day) == 0, "offset of trade.day");
_Static_assert(offsetof(struct trade, has_day) == 4, "offset of trade.has_day");
_Static_assert(offsetof(struct trade, at) == 8, "offset of trade.at");
_Static_assert(offsetof(struct trade, price) == 24, "offset of trade.price");
_Static_assert(offsetof(struct trade, note) == 32, "offset of trade.note");

// 112 bytes, alignment 4, layout aos
struct pair {
    struct trade trades[2];
    uint8_t has_size[3];
    int32_t size[3];
};
_Static_assert(sizeof(struct pair) == 112, "size of pair");
_Static_assert(offsetof(struct pair, trades) == 0, "offset of pair.trades");
_Static_assert(offsetof(struct pair, has_size) == 96, "offset of pair.has_size");
_Static_assert(offsetof(struct pair, size) == 100, "offset of pair.size");

#endif
