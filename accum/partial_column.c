// SPDX-License-Identifier: Apache-2.0
// Columns of partials: words at a scale, and superaccumulators of the few elements that need one (accum/partial_column.h).
#include "accum/partial_column.h"

#include "accum/fixed_point.h"
#include "accum/representation.h"
#include "accum/rounding.h"
#include "accum/superaccumulator.h"

#include <assert.h>
#include <string.h>

enum { LEAST_EXACT = 16 };

// --- Superaccumulators ---

bool hdst__column_reserve_exact(hdst__partial_column *column, uint64_t more)
{
    const uint64_t wanted = column->used + more, doubled = 2 * (uint64_t)column->room;
    uint64_t room = wanted > doubled ? wanted : doubled;
    if (wanted <= column->room) return true;
    if (room > column->count) room = column->count;
    if (room < LEAST_EXACT) room = LEAST_EXACT;
    if (room > UINT32_MAX) return false;
    if (!column->place) column->place = hdst__alloc_zero(column->allocator, column->count * sizeof *column->place);
    int64_t *exact = column->place ? hdst__realloc(column->allocator, column->exact, room * hdst__column_exact_words(column) * sizeof *exact) : NULL;
    if (!exact) return false;
    column->exact = exact;
    column->room = (uint32_t)room;
    return true;
}

static int64_t *exact_at(const hdst__partial_column *column, uint32_t place) { return column->exact + (place - 1) * hdst__column_exact_words(column) + 1; }

const int64_t *hdst__column_exact_of(const hdst__partial_column *column, uint64_t element)
{
    return column->place && column->place[element] ? exact_at(column, column->place[element]) : NULL;
}

// The element's superaccumulator, which it has from now on. NULL: there is no room.
static int64_t *exact_of(hdst__partial_column *column, uint64_t element)
{
    if (column->place && column->place[element]) return exact_at(column, column->place[element]);
    if (!hdst__column_reserve_exact(column, 1)) return NULL;
    column->place[element] = ++column->used;
    int64_t *exact = exact_at(column, column->used);
    exact[-1] = (int64_t)element;
    return memset(exact, 0, (column->cell.digits + 1) * sizeof *exact);
}

bool hdst__column_add_exact(hdst__partial_column *column, uint64_t element, const int64_t *superaccumulator)
{
    int64_t *exact = exact_of(column, element);
    if (exact) hdst__superaccumulator_merge(exact, superaccumulator, column->cell.kind);
    return exact;
}

static bool add_to_exact(hdst__partial_column *column, uint64_t element, int64_t q, int32_t s)
{
    int64_t *exact = exact_of(column, element);
    if (exact) hdst__superaccumulator_add_fixed(exact, column->cell.kind, q, s);
    return exact;
}

// --- Words of the column's scale ---

// The sums wrap. True: one of them passed an int64's range.
static bool add_wrapping(int64_t *restrict to, const int64_t *restrict from, uint64_t count)
{
    uint64_t over = 0;
    for (uint64_t i = 0; i < count; i++) {
        const uint64_t a = (uint64_t)to[i], b = (uint64_t)from[i], sum = a + b;
        over |= (a ^ sum) & (b ^ sum);
        to[i] = (int64_t)sum;
    }
    return over >> 63;
}

// What was there before goes to superaccumulators where the sum passed the range.
static bool mend(hdst__partial_column *column, uint64_t first, int64_t *to, const int64_t *from, uint64_t count, int32_t s)
{
    for (uint64_t i = 0; i < count; i++) {
        const uint64_t sum = (uint64_t)to[i], b = (uint64_t)from[i], a = sum - b;
        if (!(((a ^ sum) & (b ^ sum)) >> 63)) continue;
        if (!add_to_exact(column, first + i, (int64_t)a, s)) return false;
        to[i] = from[i];
    }
    return true;
}

static bool take_memory(const hdst__partial_column *column, int64_t **words)
{
    if (!*words) *words = hdst__alloc_zero(column->allocator, column->count * sizeof **words);
    return *words;
}

// `to`: the column's word or low, whose scale is s.
static bool add_equal(hdst__partial_column *column, int64_t **to, uint64_t first, const int64_t *from, uint64_t count, int32_t s)
{
    if (!take_memory(column, to)) return false;
    for (uint64_t at = 0; at < count; at += HDST__PARTIAL_BLOCK) {
        const uint64_t some = count - at < HDST__PARTIAL_BLOCK ? count - at : HDST__PARTIAL_BLOCK;
        int64_t *words = *to + first + at;
        if (add_wrapping(words, from + at, some) && !mend(column, first + at, words, from + at, some, s)) return false;
    }
    return true;
}

// --- Words of another scale ---

// q * 2^shift, if it is a whole number that an int64 holds.
static bool shifted(int64_t q, int32_t shift, int64_t *out)
{
    if (shift <= 0) {
        *out = shift > -64 ? q >> -shift : 0;
        return -shift <= __builtin_ctzll((uint64_t)q);
    }
    return shift < 63 && !__builtin_mul_overflow(q, INT64_C(1) << shift, out);
}

static bool add_one(hdst__partial_column *column, int64_t **to, uint64_t element, int64_t q, int32_t s)
{
    return q == 0 || add_equal(column, to, element, &q, 1, s);
}

// What is a whole number in units of the word goes there; else what is one in those of the low word, with the whole part to the word; else the
// superaccumulator has it.
static bool add_other(hdst__partial_column *column, uint64_t element, int64_t q, int32_t s)
{
    const int32_t shift = column->scale - s, low_scale = column->scale + HDST__FIXED_BITS;
    int64_t word, low;
    if (q == 0) return true;
    if (shifted(q, shift, &word)) return add_one(column, &column->word, element, word, column->scale);
    if (shift >= 0 || shift <= -63) return add_to_exact(column, element, q, s);
    word = q >> -shift;
    if (!shifted(q - word * (INT64_C(1) << -shift), low_scale - s, &low)) return add_to_exact(column, element, q, s);
    return add_one(column, &column->word, element, word, column->scale) && add_one(column, &column->low, element, low, low_scale);
}

bool hdst__column_add_fixed(hdst__partial_column *column, uint64_t first, const int64_t *from, uint64_t count, int32_t s)
{
    if (!column->has_scale) {
        column->scale = s;
        column->has_scale = true;
    }
    if (s == column->scale) return add_equal(column, &column->word, first, from, count, s);
    if (s == column->scale + HDST__FIXED_BITS) return add_equal(column, &column->low, first, from, count, s);
    for (uint64_t i = 0; i < count; i++)
        if (!add_other(column, first + i, from[i], s)) return false;
    return true;
}

// --- Words without a scale ---

bool hdst__column_add_words(hdst__partial_column *column, uint64_t first, const int64_t *from, uint64_t count)
{
    if (!take_memory(column, &column->word)) return false;
    uint64_t *to = (uint64_t *)column->word + first;
    const hdst__word_op op = column->cell.op;
    for (uint64_t i = 0; i < count; i++) hdst__word_take(&to[i], op, (uint64_t)from[i]);
    return true;
}

// --- Whole columns ---

bool hdst__column_merge(hdst__partial_column *to, const hdst__partial_column *from)
{
    if (!from->cell.digits) return !from->word || hdst__column_add_words(to, 0, from->word, from->count);
    if (from->word && !hdst__column_add_fixed(to, 0, from->word, from->count, from->scale)) return false;
    if (from->low && !hdst__column_add_fixed(to, 0, from->low, from->count, from->scale + HDST__FIXED_BITS)) return false;
    for (uint32_t place = 1; place <= from->used; place++) {
        const int64_t *exact = exact_at(from, place);
        if (!hdst__column_add_exact(to, (uint64_t)exact[-1], exact)) return false;
    }
    return true;
}

// Words of rows that stay side by side go together.
static bool scatter_words(hdst__partial_column *to, const hdst__partial_column *from, const int64_t *words, int32_t s, const uint64_t *row, uint64_t count)
{
    const uint64_t elements = from->cell.elements;
    for (uint64_t i = 0, end; i < count; i = end) {
        for (end = i + 1; end < count && row[end] == row[end - 1] + 1;) end++;
        const uint64_t first = row[i] * elements, some = (end - i) * elements;
        if (from->cell.digits ? !hdst__column_add_fixed(to, first, words + i * elements, some, s)
            : !hdst__column_add_words(to, first, words + i * elements, some)) return false;
    }
    return true;
}

bool hdst__column_scatter(hdst__partial_column *to, const hdst__partial_column *from, const uint64_t *row, uint64_t count)
{
    const uint64_t elements = from->cell.elements;
    if (from->word && !scatter_words(to, from, from->word, from->scale, row, count)) return false;
    if (from->low && !scatter_words(to, from, from->low, from->scale + HDST__FIXED_BITS, row, count)) return false;
    for (uint32_t place = 1; place <= from->used; place++) {
        const int64_t *exact = exact_at(from, place);
        const uint64_t element = (uint64_t)exact[-1], at = element / elements;
        if (at < count && !hdst__column_add_exact(to, row[at] * elements + element % elements, exact)) return false;
    }
    return true;
}

void hdst__column_reset(hdst__partial_column *column)
{
    if (column->word) memset(column->word, 0, column->count * sizeof *column->word);
    if (column->low) memset(column->low, 0, column->count * sizeof *column->low);
    if (column->place) memset(column->place, 0, column->count * sizeof *column->place);
    column->used = 0;
    column->has_scale = false;
}

void hdst__column_release(hdst__partial_column *column)
{
    hdst__free(column->allocator, column->word);
    hdst__free(column->allocator, column->low);
    hdst__free(column->allocator, column->place);
    hdst__free(column->allocator, column->exact);
}

// --- Reading ---

uint64_t hdst__column_read(const hdst__partial_column *column, uint64_t element)
{
    const int64_t word[2] = {column->word ? column->word[element] : 0, column->low ? column->low[element] : 0};
    const int64_t *exact = hdst__column_exact_of(column, element);
    if (!column->cell.digits) return hdst__cell_read(&column->cell, word);
    if (!exact) return hdst__fixed_round(word, word[1] ? 2 : 1, column->scale, column->cell.kind);
    int64_t all[HDST__F64_DIGITS + 1];
    memcpy(all, exact, (column->cell.digits + 1) * sizeof *all);
    hdst__fixed_spill(word, 2, column->scale, all, column->cell.kind);
    return hdst__superaccumulator_round(all, column->cell.kind);
}

// Words that the processor's own conversion rounds.
static void round_floats(const int64_t *word, const int64_t *low, uint64_t count, int32_t s, uint64_t *bits)
{
    const float one = (float)hdst__power_of_two(-s), half = (float)hdst__power_of_two(-s - 1), two = (float)hdst__power_of_two(-s - HDST__FIXED_BITS);
    for (uint64_t i = 0; i < count; i++) {
        const float value = low && low[i] ? hdst__round_two_float(word[i], low[i], half, two) : hdst__round_float(word[i], one);
        uint32_t pattern;
        memcpy(&pattern, &value, sizeof pattern);
        bits[i] = pattern;
    }
}

static void round_doubles(const int64_t *word, const int64_t *low, uint64_t count, int32_t s, uint64_t *bits)
{
    const double one = hdst__power_of_two(-s), two = hdst__power_of_two(-s - HDST__FIXED_BITS);
    for (uint64_t i = 0; i < count; i++) {
        const double value = low && low[i] ? hdst__round_two_double(word[i], low[i], two) : hdst__round_double(word[i], one);
        memcpy(&bits[i], &value, sizeof value);
    }
}

static bool rounds_directly(const hdst__partial_column *column)
{
    const hdst__kind kind = column->cell.kind;
    return column->cell.digits && column->word && !column->used && hdst__rounds_directly(kind, -column->scale) &&
           hdst__rounds_directly(kind, -column->scale - HDST__FIXED_BITS);
}

void hdst__column_read_block(const hdst__partial_column *column, uint64_t first, uint64_t count, uint64_t *bits)
{
    if (rounds_directly(column)) {
        const int64_t *low = column->low ? column->low + first : NULL;
        (column->cell.kind == HDST__F32 ? round_floats : round_doubles)(column->word + first, low, count, column->scale, bits);
        return;
    }
    for (uint64_t i = 0; i < count; i++) bits[i] = hdst__column_read(column, first + i);
}
