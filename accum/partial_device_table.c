// SPDX-License-Identifier: Apache-2.0
// Device tables go into partials, in each form they come back in: superaccumulators, with first-level words in front, words in fixed point with an
// overflow table (accum/partial.h).
#include "accum/partial_column.h"

#include "accum/first_level.h"
#include "accum/fixed_point.h"
#include "accum/overflow_table.h"

#include <string.h>

// Where a leaf lies in a device table: its first element in row 0.
typedef struct leaf_place {
    const int64_t *word;            // in fixed point, or of an operation without it; NULL: none
    const int64_t *low;             // first-level low words, which lie as `word` does; NULL: none
    const int64_t *cell;            // superaccumulators; NULL: none
    uint64_t word_row, cell_row;    // words from row to row
    uint32_t words;                 // of an element, at `word`: 1 or 2
    int32_t scale;
    const hdst__first_level *level; // NULL: without first-level words; else superaccumulators on pages without a mark are not to be looked at
} leaf_place;

static leaf_place find_in_first_level(const hdst__device_table *from, const hdst__first_level *level, size_t a, const hdst__cell *cell)
{
    const hdst__accum *accum = &from->tables->accum[a];
    const uint64_t word = hdst__tables_private_first(from->tables, from->rows, a) + cell->private_first;
    leaf_place place = {.words = cell->private_words, .word_row = accum->private_row_words, .cell_row = accum->device_row_words, .level = level};
    if (cell->private_words) place.word = level->words + word;
    if (!cell->digits) return place;
    if (cell->private_words == 1) place.low = level->low + word;
    place.cell = level->cells + hdst__tables_device_first(from->tables, from->rows, a) + cell->device_first;
    return place;
}

static leaf_place find_leaf(const hdst__device_table *from, const hdst__first_level *level, size_t a, size_t leaf)
{
    const hdst__accum *accum = &from->tables->accum[a];
    const hdst__cell *cell = &accum->cell[leaf];
    leaf_place place = {.words = 1, .word_row = accum->device_row_words, .cell_row = accum->device_row_words};
    const int64_t *at = from->words + hdst__tables_device_first(from->tables, from->rows, a) + cell->device_first;
    if (level) place = find_in_first_level(from, level, a, cell);
    else if (cell->digits && !accum->fixed_point) place.cell = at;
    else place.word = at;
    if (cell->digits && place.word) place.scale = hdst__fixed_scale(cell->of_floats ? HDST__F32 : HDST__F64, from->scale[cell->scale]);
    return place;
}

// --- Words ---

// Words of elements first .. first + count - 1, `apart` from one to the next, side by side.
static const int64_t *gather(const int64_t *word, uint64_t row_words, uint32_t apart, uint64_t elements, uint64_t first, uint64_t count,
                             int64_t out[HDST__PARTIAL_BLOCK])
{
    if (apart == 1 && row_words == elements) return word + first;
    const int64_t *row = word + first / elements * row_words;
    uint64_t e = first % elements;
    if (elements == 1)
        for (uint64_t i = 0; i < count; i++) out[i] = row[i * row_words];
    else
        for (uint64_t i = 0; i < count; i++) {
            out[i] = row[e * apart];
            if (++e < elements) continue;
            e = 0;
            row += row_words;
        }
    return out;
}

static bool any(const int64_t *word, uint64_t count)
{
    int64_t all = 0;
    for (uint64_t i = 0; i < count; i++) all |= word[i];
    return all != 0;
}

static bool add_words(hdst__partial_column *column, const leaf_place *place, uint64_t first, uint64_t count)
{
    int64_t block[HDST__PARTIAL_BLOCK];
    const uint64_t elements = column->cell.elements;
    const int64_t *words = gather(place->word, place->word_row, place->words, elements, first, count, block);
    if (!column->cell.digits) return hdst__column_add_words(column, first, words, count);
    if (!hdst__column_add_fixed(column, first, words, count, place->scale)) return false;
    const int64_t *second = place->words == 2 ? place->word + 1 : place->low;
    if (!second) return true;
    words = gather(second, place->word_row, place->words, elements, first, count, block);
    return !any(words, count) || hdst__column_add_fixed(column, first, words, count, place->scale + HDST__FIXED_BITS);
}

// --- Superaccumulators ---

// Who touches a superaccumulator marks all pages that it lies on.
static bool is_marked(const hdst__first_level *level, const int64_t *cell, uint64_t words)
{
    const uint64_t first = (uint64_t)(cell - level->cells) / HDST__PAGE_WORDS, last = ((uint64_t)(cell - level->cells) + words - 1) / HDST__PAGE_WORDS;
    for (uint64_t page = first; page <= last; page++)
        if (!level->marks[page]) return false;
    return true;
}

// Mostly no page has a mark.
static bool nothing_marked(const hdst__first_level *level, const int64_t *cell, const int64_t *end)
{
    const uint64_t last = (uint64_t)(end - 1 - level->cells) / HDST__PAGE_WORDS;
    for (uint64_t page = (uint64_t)(cell - level->cells) / HDST__PAGE_WORDS; page <= last; page++)
        if (level->marks[page]) return false;
    return true;
}

static bool add_cells(hdst__partial_column *column, const leaf_place *place, uint64_t first, uint64_t count)
{
    const uint64_t elements = column->cell.elements, words = column->cell.digits + 1, last = first + count - 1;
    if (place->level && nothing_marked(place->level, place->cell + first / elements * place->cell_row + first % elements * words,
                                       place->cell + last / elements * place->cell_row + last % elements * words + words)) return true;
    for (uint64_t i = first; i < first + count; i++) {
        const int64_t *cell = place->cell + i / elements * place->cell_row + i % elements * words;
        if (place->level && !is_marked(place->level, cell, words)) continue;
        if (any(cell, words) && !hdst__column_add_exact(column, i, cell)) return false;
    }
    return true;
}

// --- Overflow tables ---

// The element whose word is number `word` of the table.
static hdst__partial_column *find_element(hdst__partial *to, const hdst__device_table *from, uint64_t word, uint64_t *element)
{
    for (size_t a = 0; a < to->accum_count; a++) {
        const hdst__accum *accum = &from->tables->accum[a];
        const uint64_t first = hdst__tables_device_first(from->tables, from->rows, a), row_words = accum->device_row_words;
        if (!accum->fixed_point || word < first || word - first >= to->accum[a].rows * row_words) continue;
        const uint64_t row = (word - first) / row_words, at = (word - first) % row_words;
        for (size_t leaf = 0; leaf < accum->leaf_count; leaf++) {
            const hdst__cell *cell = &accum->cell[leaf];
            *element = row * cell->elements + at - cell->device_first;
            if (cell->digits && at >= cell->device_first && at < cell->device_first + cell->elements) return &to->accum[a].column[leaf];
        }
    }
    return NULL;
}

static hdst_status add_overflow(hdst__partial *to, const hdst__device_table *from, hdst_error *error)
{
    const int64_t *table = from->overflow;
    const uint64_t places = (uint64_t)table[HDST__OVERFLOW_LAST_PLACE] + 1;
    for (uint64_t at = 0; at < places; at++) {
        const uint64_t owner = (uint64_t)table[HDST__OVERFLOW_OWNERS + at];
        uint64_t element;
        if (!owner) continue;
        hdst__partial_column *column = find_element(to, from, owner - 1, &element);
        if (!column) return hdst__error_set(error, HDST_E_INTERNAL, "an overflow table has a place of no sum");
        if (!hdst__column_add_exact(column, element, table + HDST__OVERFLOW_OWNERS + places + at * from->overflow_cell_words))
            return hdst__error_memory(error, "unfinished sums");
    }
    return HDST_OK;
}

// --- Whole tables ---

static bool same_shape(const hdst__partial *to, const hdst__device_table *from)
{
    bool same = to->accum_count <= from->tables->accum_count;
    for (size_t a = 0; same && a < to->accum_count; a++) {
        const hdst__accum *accum = &from->tables->accum[a];
        same = to->accum[a].rows == hdst__accum_rows(accum, from->rows) && to->accum[a].leaf_count == accum->leaf_count;
        for (size_t leaf = 0; same && leaf < accum->leaf_count; leaf++) {
            const hdst__cell *x = &to->accum[a].column[leaf].cell, *y = &accum->cell[leaf];
            same = x->kind == y->kind && x->acc == y->acc && x->elements == y->elements;
        }
    }
    return same;
}

static bool add_leaf(hdst__partial_column *column, const leaf_place *place, uint64_t first, uint64_t end)
{
    for (; first < end; first += HDST__PARTIAL_BLOCK) {
        const uint64_t count = end - first < HDST__PARTIAL_BLOCK ? end - first : HDST__PARTIAL_BLOCK;
        if (place->word && !add_words(column, place, first, count)) return false;
        if (place->cell && !add_cells(column, place, first, count)) return false;
    }
    return true;
}

// Some rows at a time, so that all leaves of a row are read while it is in the cache.
static bool add_accum(hdst__partial_accum *to, const hdst__device_table *from, const hdst__first_level *level, size_t a)
{
    for (uint64_t row = 0; row < to->rows; row += HDST__PARTIAL_BLOCK) {
        const uint64_t end = to->rows - row < HDST__PARTIAL_BLOCK ? to->rows : row + HDST__PARTIAL_BLOCK;
        for (size_t leaf = 0; leaf < to->leaf_count; leaf++) {
            hdst__partial_column *column = &to->column[leaf];
            const leaf_place place = find_leaf(from, level, a, leaf);
            if (!add_leaf(column, &place, row * column->cell.elements, end * column->cell.elements)) return false;
        }
    }
    return true;
}

hdst_status hdst__partial_add_device_table(hdst__partial *to, const hdst__device_table *from, hdst_error *error)
{
    hdst__first_level level;
    if (!same_shape(to, from)) return hdst__error_set(error, HDST_E_INTERNAL, "a table was to be added to the partial of other accumulators");
    if (from->overflow && hdst__overflow_is_full((uint64_t)from->overflow[HDST__OVERFLOW_STATE]))
        return hdst__error_set(error, HDST_E_INTERNAL, "a table whose overflow table is full was to be added to a partial");
    if (from->tables->first_level) level = hdst__first_level_of(from->tables, from->rows, from->words, from->scale);
    for (size_t a = 0; a < to->accum_count; a++)
        if (!add_accum(&to->accum[a], from, from->tables->first_level ? &level : NULL, a)) return hdst__error_memory(error, "unfinished sums");
    return from->overflow ? add_overflow(to, from, error) : HDST_OK;
}
