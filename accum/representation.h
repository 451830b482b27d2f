// SPDX-License-Identifier: Apache-2.0
// The representations of an unfinished value: each is one entry of a table and one pair of files, host C and OpenCL
// C, that bear its name (accum/README.md). A cell's value may lie in several places at once, each in a representation
// of its own - words of a strip, words in front of a table, a superaccumulator - and is the sum of them all: they
// meet through `spill`.
//
// Every operation is exact, but `round`, so neither the order of additions and merges nor the choice of
// representations and scales changes a bit of what is read. Words that are all zero are the identity. None of these
// functions allocates or fails; they touch nothing but their arguments, so different words may be worked on by
// several threads.
#ifndef HDST_ACCUM_REPRESENTATION_H
#define HDST_ACCUM_REPRESENTATION_H

#include "accum/cell.h"

typedef struct hdst__representation {
    const char *name;
    const char *device_files;       // its OpenCL C, in this folder, with spaces between
    // The words that a value of the cell takes, in a table of the device or in one of the first level (strips, containers); 0: it does not apply to the cell.
    uint32_t (*applies)(const hdst__cell *cell);
    // `s`, here and below: the scale of fixed point; others do not look at it. False: the addend (bits of the cell's
    // kind) does not fit and nothing was added: it goes to a superaccumulator.
    bool (*add)(const hdst__cell *cell, int64_t *word, int32_t s, uint64_t bits);
    // Words of one scale. False: there is no room, and nothing was done: `to` must be spilled first.
    bool (*merge)(const hdst__cell *cell, int64_t *to, const int64_t *from);
    // Everything goes to the superaccumulator of the cell's kind; the words are empty then. NULL: there is always room.
    void (*spill)(const hdst__cell *cell, int64_t *word, int32_t s, int64_t *superaccumulator);
    // The value as bits of the cell's kind. rest: a superaccumulator with a part of it, or NULL.
    uint64_t (*round)(const hdst__cell *cell, const int64_t *word, int32_t s, const int64_t *rest);
    // To and from words that travel: words of equal values (at one scale) are equal. `out` and `in` have as many words as `word`.
    void (*write)(const hdst__cell *cell, const int64_t *word, int64_t *out);
    void (*read)(const hdst__cell *cell, const int64_t *in, int64_t *word);
} hdst__representation;

extern const hdst__representation hdst__integers, hdst__minmax_keys, hdst__fixed_point, hdst__levels, hdst__overflow_table, hdst__superaccumulator;

extern const hdst__representation *const hdst__representations[];
extern const size_t hdst__representation_count;

// What holds a cell exactly, whatever comes: the representation of tables of the device.
static inline const hdst__representation *hdst__exact_representation(const hdst__cell *cell)
{
    return cell->digits ? &hdst__superaccumulator : hdst__is_key(cell->acc) ? &hdst__minmax_keys : &hdst__integers;
}

// What addends go to first.
static inline const hdst__representation *hdst__first_representation(const hdst__cell *cell)
{
    return cell->digits ? &hdst__fixed_point : hdst__exact_representation(cell);
}

// One addend into a cell of a device table: bits of the cell's kind; `word` is its first word. And its value.
static inline void hdst__cell_accumulate(const hdst__cell *cell, int64_t *word, uint64_t bits)
{
    (void)hdst__exact_representation(cell)->add(cell, word, 0, bits);
}
static inline uint64_t hdst__cell_read(const hdst__cell *cell, const int64_t *word) { return hdst__exact_representation(cell)->round(cell, word, 0, NULL); }

// Words that go and come as they are: write and read of most representations of one word.
static inline void hdst__words_copy(const hdst__cell *cell, const int64_t *from, int64_t *to)
{
    (void)cell;
    *to = *from;
}

#endif
