// SPDX-License-Identifier: Apache-2.0
// Overflow tables on the host (accum/overflow_table.h). As a representation, a table is the value of all its elements together.
#include "accum/overflow_table.h"

#include "accum/representation.h"
#include "accum/superaccumulator.h"

#include <string.h>

enum { MOST_TRIES = 64 };       // as kernels have it, so that both find an element

static uint64_t places_of(const int64_t *table) { return (uint64_t)table[HDST__OVERFLOW_LAST_PLACE] + 1; }

// Place `at`; the one behind the last is that of all who found none.
static int64_t *cell_at(int64_t *table, uint32_t cell_words, uint64_t at) { return table + HDST__OVERFLOW_OWNERS + places_of(table) + at * cell_words; }

// The element's place, or one that is free. All of them: there is none.
static uint64_t find(const int64_t *table, uint64_t element)
{
    const uint64_t last = (uint64_t)table[HDST__OVERFLOW_LAST_PLACE];
    uint64_t at = (element * UINT64_C(0x9e3779b97f4a7c15) >> 32) & last;
    for (int tries = 0; tries < MOST_TRIES; tries++, at = (at + 1) & last) {
        const uint64_t owner = (uint64_t)table[HDST__OVERFLOW_OWNERS + at];
        if (owner == 0 || owner == element + 1) return at;
    }
    return places_of(table);
}

int64_t *hdst__overflow_cell(int64_t *table, uint32_t cell_words, uint64_t element)
{
    const uint64_t at = find(table, element);
    table[HDST__OVERFLOW_STATE] |= (int64_t)(at == places_of(table) ? HDST__OVERFLOW_FULL : HDST__OVERFLOW_USED);
    if (at < places_of(table)) table[HDST__OVERFLOW_OWNERS + at] = (int64_t)(element + 1);
    return cell_at(table, cell_words, at);
}

// --- The representation ---

static uint32_t applies(const hdst__cell *cell) { return cell->digits ? (uint32_t)hdst__overflow_words(1, cell->digits + 1) : 0; }

static bool add(const hdst__cell *cell, int64_t *word, int32_t s, uint64_t bits)
{
    (void)s;
    return hdst__superaccumulator.add(cell, hdst__overflow_cell(word, cell->digits + 1, 0), s, bits);
}

static void add_cells(const hdst__cell *cell, const int64_t *word, int64_t *superaccumulator)
{
    for (uint64_t at = 0; at < places_of(word); at++)
        if (word[HDST__OVERFLOW_OWNERS + at]) (void)hdst__superaccumulator.merge(cell, superaccumulator, cell_at((int64_t *)word, cell->digits + 1, at));
}

// Places of `to` for all elements of `from`, those that are new marked by a negative owner. False: there are too few, and nothing was done.
static bool claim_places(int64_t *to, const int64_t *from)
{
    bool all = true;
    for (uint64_t from_at = 0; all && from_at < places_of(from); from_at++) {
        const int64_t owner = from[HDST__OVERFLOW_OWNERS + from_at];
        const uint64_t at = owner ? find(to, (uint64_t)owner - 1) : 0;
        all = at < places_of(to);
        if (all && owner && to[HDST__OVERFLOW_OWNERS + at] == 0) to[HDST__OVERFLOW_OWNERS + at] = -owner;
    }
    for (int64_t *owner = to + HDST__OVERFLOW_OWNERS; owner < to + HDST__OVERFLOW_OWNERS + places_of(to); owner++)
        if (*owner < 0) *owner = all ? -*owner : 0;
    return all;
}

static bool merge(const hdst__cell *cell, int64_t *to, const int64_t *from)
{
    if (!claim_places(to, from)) return false;
    for (uint64_t at = 0; at < places_of(from); at++) {
        const uint64_t owner = (uint64_t)from[HDST__OVERFLOW_OWNERS + at];
        if (!owner) continue;
        int64_t *own = hdst__overflow_cell(to, cell->digits + 1, owner - 1);
        (void)hdst__superaccumulator.merge(cell, own, cell_at((int64_t *)from, cell->digits + 1, at));
    }
    return true;
}

static void spill(const hdst__cell *cell, int64_t *word, int32_t s, int64_t *superaccumulator)
{
    (void)s;
    add_cells(cell, word, superaccumulator);
    memset(word + 1, 0, (hdst__overflow_words(places_of(word), cell->digits + 1) - 1) * sizeof *word);
}

static uint64_t value(const hdst__cell *cell, const int64_t *word, int32_t s, const int64_t *rest)
{
    int64_t all[HDST__F64_DIGITS + 1] = {0};
    if (rest) memcpy(all, rest, (cell->digits + 1) * sizeof *all);
    add_cells(cell, word, all);
    return hdst__superaccumulator.round(cell, all, s, NULL);
}

static void read_words(const hdst__cell *cell, const int64_t *in, int64_t *word)
{
    memcpy(word, in, hdst__overflow_words(places_of(in), cell->digits + 1) * sizeof *word);
}

static void write_words(const hdst__cell *cell, const int64_t *word, int64_t *out)
{
    read_words(cell, word, out);
    for (uint64_t at = 0; at <= places_of(out); at++) {
        int64_t *own = cell_at(out, cell->digits + 1, at);
        hdst__superaccumulator.write(cell, own, own);
    }
}

const hdst__representation hdst__overflow_table = {"overflow_table", "overflow_table.cl overflow_table_double.cl", applies, add, merge, spill, value,
                                                   write_words, read_words};
