// SPDX-License-Identifier: Apache-2.0
// Reads tables with first-level words (accum/first_level.h). A float sum that fits its first-level words is rounded from there:
// one conversion, one product with a power of two.
#include "accum/first_level.h"

#include "accum/fixed_point.h"
#include "accum/representation.h"
#include "accum/rounding.h"
#include "accum/superaccumulator.h"

#include <math.h>
#include <string.h>

enum { TOGETHER = 64 };     // elements whose marks are looked at once

uint64_t hdst__tables_mark_words(const hdst__tables *tables, const uint64_t *rows)
{
    return tables->first_level ? hdst__tables_device_words(tables, rows) / HDST__PAGE_WORDS + 2 : 0;
}

uint64_t hdst__tables_first_level_words(const hdst__tables *tables, const uint64_t *rows)
{
    return tables->first_level ? hdst__tables_mark_words(tables, rows) + 2 * hdst__tables_private_words(tables, rows) : 0;
}

hdst__first_level hdst__first_level_of(const hdst__tables *tables, const uint64_t *rows, const int64_t *memory, const int32_t *scale)
{
    const uint64_t count = hdst__tables_private_words(tables, rows);
    const int64_t *words = memory + hdst__tables_mark_words(tables, rows);
    const uint32_t batch = words > memory ? (uint32_t)words[-1] : 0;
    return (hdst__first_level){.batch = batch, .marks = memory, .words = words, .low = words + count, .cells = words + 2 * count, .scale = scale};
}

static bool is_marked(const hdst__first_level *level, const int64_t *cell, uint64_t words)
{
    const uint64_t first = (uint64_t)(cell - level->cells), last = first + words - 1;
    for (uint64_t page = first / HDST__PAGE_WORDS; page <= last / HDST__PAGE_WORDS; page++)
        if (level->marks[page]) return true;
    return false;
}

// Where element `element` of a row is.
typedef struct place {
    const int64_t *word, *low, *cell;
} place;

static place place_of(const hdst__tables *tables, const uint64_t *rows, const hdst__first_level *level, size_t accum, uint64_t row, const hdst__cell *cell,
                      uint64_t element)
{
    const hdst__accum *a = &tables->accum[accum];
    const uint64_t word = hdst__tables_private_first(tables, rows, accum) + row * a->private_row_words + cell->private_first + element * cell->private_words;
    const uint64_t at = hdst__tables_device_first(tables, rows, accum) + row * a->device_row_words + cell->device_first + element * cell->device_words;
    return (place){level->words + word, level->low + word, level->cells + at};
}

static int32_t scale_of(const hdst__cell *cell, const hdst__first_level *level)
{
    return hdst__fixed_scale(cell->of_floats ? HDST__F32 : HDST__F64, level->scale[cell->scale]);
}

static bool is_rounded(const hdst__cell *cell, const hdst__first_level *level) { return cell->batch_sum && level->batch >> (cell->batch_sum - 1) & 1; }

// --- One cell ---

static uint64_t read_sum(const hdst__cell *cell, place at, const hdst__first_level *level)
{
    int64_t all[HDST__F64_DIGITS + 1] = {0};
    const int32_t s = scale_of(cell, level);
    if (is_marked(level, at.cell, cell->device_words)) memcpy(all, at.cell, cell->device_words * sizeof *all);
    if (cell->private_words == 1) hdst__superaccumulator_add_fixed(all, cell->kind, *at.low, s + HDST__FIXED_BITS);
    return hdst__fixed_point.round(cell, at.word, s, all);
}

// What is no float sum has all in its first-level word.
static uint64_t read_cell(const hdst__cell *cell, place at, const hdst__first_level *level)
{
    return cell->digits ? read_sum(cell, at, level) : hdst__cell_read(cell, at.word);
}

uint64_t hdst__first_level_read(const hdst__tables *tables, const uint64_t *rows, const hdst__first_level *level, size_t accum, uint64_t row, uint32_t leaf,
                          uint64_t element)
{
    const hdst__cell *cell = &tables->accum[accum].cell[leaf];
    if (is_rounded(cell, level)) {
        uint32_t bits;
        memcpy(&bits, (const char *)place_of(tables, rows, level, accum, row, cell, 0).word + element * sizeof bits, sizeof bits);
        return bits;
    }
    return read_cell(cell, place_of(tables, rows, level, accum, row, cell, element), level);
}

// --- Rows ---

static bool any(const int64_t *word, uint64_t count)
{
    int64_t all = 0;
    for (uint64_t i = 0; i < count; i++) all |= word[i];
    return all != 0;
}

// By way of doubles, which hold the words exactly: vectors of any processor do that. False: some word is not below 2^51.
static bool round_short_words(const int64_t *word, uint64_t count, float unit, float *out)
{
    const uint64_t half = UINT64_C(1) << 51, shifted = UINT64_C(0x4338000000000000);       // the bits of 1.5 * 2^52
    uint64_t high = 0;
    for (uint64_t e = 0; e < count; e++) high |= (uint64_t)word[e] + half;
    if (high >> 52) return false;
    for (uint64_t e = 0; e < count; e++) {
        const uint64_t bits = (uint64_t)word[e] + shifted;
        double moved;
        memcpy(&moved, &bits, sizeof moved);
        out[e] = (float)(moved - 0x1.8p52) * unit;
    }
    return true;
}

static void round_floats(const hdst__cell *cell, place at, uint64_t count, int32_t s, char *to)
{
    float *out = (float *)(void *)to;       // aligned, as in the C struct
    const float one = ldexpf(1, -s), half = ldexpf(1, -s - 1), two = ldexpf(1, -s - HDST__FIXED_BITS);
    if (cell->private_words == 2) {
        for (uint64_t e = 0; e < count; e++) out[e] = hdst__round_two_float(at.word[2 * e], at.word[2 * e + 1], half, two);
        return;
    }
    if (!round_short_words(at.word, count, one, out))
        for (uint64_t e = 0; e < count; e++) out[e] = hdst__round_float(at.word[e], one);
    if (!any(at.low, count)) return;
    for (uint64_t e = 0; e < count; e++)
        if (at.low[e]) out[e] = hdst__round_two_float(at.word[e], at.low[e], half, two);
}

static void round_doubles(const hdst__cell *cell, place at, uint64_t count, int32_t s, char *to)
{
    double *out = (double *)(void *)to;
    const double one = ldexp(1, -s), two = ldexp(1, -s - HDST__FIXED_BITS);
    if (cell->private_words == 2)
        for (uint64_t e = 0; e < count; e++) out[e] = hdst__round_two_double(at.word[2 * e], at.word[2 * e + 1], two);
    else
        for (uint64_t e = 0; e < count; e++) out[e] = hdst__round_double(at.word[e], one);     // their low words are not in use
}

// The leaf's words hold its values.
static void copy_rounded(const hdst__cell *cell, const hdst__leaf *leaf, const int64_t *values, char *to)
{
    const size_t size = hdst__scalar_size(cell->kind);
    const bool together = hdst__leaf_offset(leaf, cell->elements - 1) == leaf->offset + (cell->elements - 1) * size;
    if (together) {
        memcpy(to + leaf->offset, values, cell->elements * size);
        return;
    }
    for (uint64_t e = 0; e < cell->elements; e++) memcpy(to + hdst__leaf_offset(leaf, e), (const char *)values + e * size, size);
}

static void read_leaf(const hdst__cell *cell, const hdst__leaf *leaf, const hdst__first_level *level, place at, char *to)
{
    const size_t size = hdst__scalar_size(cell->kind);
    if (is_rounded(cell, level)) {
        copy_rounded(cell, leaf, at.word, to);
        return;
    }
    const bool together = hdst__leaf_offset(leaf, cell->elements - 1) == leaf->offset + (cell->elements - 1) * size;
    const int32_t s = cell->digits ? scale_of(cell, level) : 0;
    const bool rounds = hdst__rounds_directly(cell->kind, -s) && hdst__rounds_directly(cell->kind, -s - HDST__FIXED_BITS);
    const bool direct = together && cell->digits && cell->private_words && rounds;
    for (uint64_t first = 0; first < cell->elements; first += TOGETHER) {
        const uint64_t left = cell->elements - first, count = left < TOGETHER ? left : TOGETHER, word = first * cell->private_words;
        const place here = {at.word + word, at.low + word, at.cell + first * cell->device_words};
        if (direct && !is_marked(level, here.cell, count * cell->device_words)) {
            (cell->kind == HDST__F32 ? round_floats : round_doubles)(cell, here, count, s, to + leaf->offset + first * size);
            continue;
        }
        for (uint64_t e = 0; e < count; e++) {
            const uint64_t w = e * cell->private_words, bits = read_cell(cell, (place){here.word + w, here.low + w, here.cell + e * cell->device_words}, level);
            memcpy(to + hdst__leaf_offset(leaf, first + e), &bits, size);       // little-endian hosts
        }
    }
}

// A table of one number a row is as a leaf of as many elements. False: it is none, or its numbers cannot be rounded together.
static bool read_column(const hdst__cell *cell, const hdst__record *record, const hdst__first_level *level, place at, uint64_t count, char *to)
{
    const hdst__leaf *leaf = &record->leaves[0];
    if (record->leaf_count != 1 || leaf->elements != 1 || leaf->offset || record->size != hdst__scalar_size(cell->kind) || !cell->digits) return false;
    hdst__cell column = *cell;
    hdst__leaf all = *leaf;
    column.elements = all.elements = all.dim[0].count = count;
    all.dim[0].stride = record->size;
    all.dims = 1;
    read_leaf(&column, &all, level, at, to);
    return true;
}

// Whether the leaves fill a row: what nobody writes is zero.
static bool is_filled(const hdst__accum *a, const hdst__record *record)
{
    uint64_t bytes = 0;
    for (size_t leaf = 0; leaf < record->leaf_count; leaf++) bytes += a->cell[leaf].elements * hdst__scalar_size(record->leaves[leaf].kind);
    return bytes == record->size;
}

void hdst__first_level_read_rows(const hdst__tables *tables, const uint64_t *rows, const hdst__first_level *level, size_t accum, const hdst__record *record,
                                 void *out)
{
    const hdst__accum *a = &tables->accum[accum];
    const uint64_t count = a->is_table ? rows[a->param] : 1;
    char *to = is_filled(a, record) ? out : memset(out, 0, count * record->size);
    if (count && read_column(&a->cell[0], record, level, place_of(tables, rows, level, accum, 0, &a->cell[0], 0), count, to)) return;
    for (uint64_t row = 0; row < count; row++, to += record->size)
        for (size_t leaf = 0; leaf < record->leaf_count; leaf++) {
            const hdst__cell *cell = &a->cell[leaf];
            if (cell->elements) read_leaf(cell, &record->leaves[leaf], level, place_of(tables, rows, level, accum, row, cell, 0), to);
        }
}
