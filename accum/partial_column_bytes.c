// SPDX-License-Identifier: Apache-2.0
// Columns of partials as bytes and back (accum/partial_bytes.h). What is written follows from the values alone: the unit of a column is that of the last
// bit that any of its sums has, the width that of the longest one, and where these are further apart than a word each sum has its own.
#include "accum/partial_bytes.h"

#include "accum/fixed_point.h"
#include "accum/partial_column.h"
#include "accum/representation.h"
#include "accum/superaccumulator.h"

#include <string.h>

enum { ALL_ZERO, EVEN, UNEVEN, VALUES };                // encodings
enum { LIMBS = HDST__F64_DIGITS + 1, LIMB_BITS = 32, LAST_DIGIT_BITS = 62, WINDOW = 40 };

// --- A sum as a number ---

// limb[0] + 2^32 limb[1] ... in two's complement, times 2^unit.
typedef struct exact_sum {
    uint32_t flags;                 // one at most; the number is zero then
    int32_t unit;
    uint32_t count;
    uint32_t limb[LIMBS];
} exact_sum;

// What NaN and infinities leave of a sum: one flag, and no number.
static uint32_t plain_flags(int64_t flags)
{
    const int64_t both = HDST__FLAG_INF | HDST__FLAG_NEG_INF;
    return flags & HDST__FLAG_NAN || (flags & both) == both ? HDST__FLAG_NAN : (uint32_t)flags;
}

static void from_words(const hdst__partial_column *column, uint64_t element, exact_sum *sum)
{
    const __int128 low = column->low ? column->low[element] : 0, word = column->word ? column->word[element] : 0;
    const unsigned __int128 all = (unsigned __int128)(word * ((__int128)1 << HDST__FIXED_BITS) + low);
    sum->flags = 0;
    sum->unit = -column->scale - HDST__FIXED_BITS;
    sum->count = 4;
    for (int i = 0; i < 4; i++) sum->limb[i] = (uint32_t)(all >> LIMB_BITS * i);
}

static void sum_of(const hdst__partial_column *column, uint64_t element, exact_sum *sum)
{
    const int64_t *exact = hdst__column_exact_of(column, element);
    const uint32_t digits = column->cell.digits;
    int64_t all[HDST__F64_DIGITS + 1];
    if (!exact) {
        from_words(column, element, sum);
        return;
    }
    memcpy(all, exact, (digits + 1) * sizeof *all);
    const int64_t word[2] = {column->word ? column->word[element] : 0, column->low ? column->low[element] : 0};
    hdst__fixed_spill(word, 2, column->scale, all, column->cell.kind);
    hdst__superaccumulator_carry(all, column->cell.kind);
    *sum = (exact_sum){.flags = plain_flags(all[digits]), .unit = column->cell.kind == HDST__F32 ? HDST__F32_LOWEST : HDST__F64_LOWEST, .count = digits + 1};
    if (sum->flags) return;
    for (uint32_t i = 0; i < digits; i++) sum->limb[i] = (uint32_t)all[i];
    sum->limb[digits] = (uint32_t)((uint64_t)all[digits - 1] >> LIMB_BITS);
}

static uint32_t sign_of(const exact_sum *sum) { return sum->limb[sum->count - 1] >> (LIMB_BITS - 1) ? UINT32_MAX : 0; }

// Where its bits lie: the exponent of the last one that is set, and of the one above the first that differs from the sign. False: it is zero.
static bool span_of(const exact_sum *sum, int32_t *lowest, int32_t *end)
{
    const uint32_t sign = sign_of(sum);
    uint32_t first = 0, last = sum->count;
    while (first < sum->count && !sum->limb[first]) first++;
    if (first == sum->count) return false;
    while (last > first && sum->limb[last - 1] == sign) last--;
    *lowest = sum->unit + (int32_t)(LIMB_BITS * first) + __builtin_ctz(sum->limb[first]);
    *end = sum->unit + (int32_t)(LIMB_BITS * last) - (last > first ? __builtin_clz(sum->limb[last - 1] ^ sign) : 0);
    if (*end <= *lowest) *end = *lowest;        // -1 and its multiples: all bits from the last one on are the sign's
    return true;
}

// What lies beyond its limbs is zero below, its sign above.
static uint64_t limb_at(const exact_sum *sum, int64_t at) { return at < 0 ? 0 : at < sum->count ? sum->limb[at] : sign_of(sum); }

// 32 bits from the one of 2^exponent on.
static uint32_t bits_from(const exact_sum *sum, int32_t exponent)
{
    const int64_t at = (int64_t)exponent - sum->unit, limb = at >> 5;
    return (uint32_t)((limb_at(sum, limb + 1) << LIMB_BITS | limb_at(sum, limb)) >> (at & 31));
}

static int64_t word_from(const exact_sum *sum, int32_t exponent)
{
    return (int64_t)((uint64_t)bits_from(sum, exponent + LIMB_BITS) << LIMB_BITS | bits_from(sum, exponent));
}

// --- Writing ---

typedef struct column_span {
    bool any, flags;
    int32_t lowest, end;
} column_span;

static void add_span(column_span *span, const exact_sum *sum)
{
    int32_t lowest, end;
    span->flags |= sum->flags != 0;
    if (!span_of(sum, &lowest, &end)) return;
    if (!span->any || lowest < span->lowest) span->lowest = lowest;
    if (!span->any || end > span->end) span->end = end;
    span->any = true;
}

// Words alone: their bits together say both ends.
static column_span span_of_words(const hdst__partial_column *column)
{
    uint64_t set = 0, differ = 0;
    for (uint64_t i = 0; i < column->count; i++) {
        const int64_t word = column->word[i];
        set |= (uint64_t)word;
        differ |= (uint64_t)(word ^ word >> 63);
    }
    if (!set) return (column_span){0};
    const int32_t lowest = __builtin_ctzll(set) - column->scale, end = (differ ? 64 - __builtin_clzll(differ) : 0) - column->scale;
    return (column_span){.any = true, .lowest = lowest, .end = end < lowest ? lowest : end};
}

static column_span span_of_column(const hdst__partial_column *column)
{
    column_span span = {0};
    exact_sum sum;
    if (column->word && !column->low && !column->used) return span_of_words(column);
    for (uint64_t i = 0; i < column->count && (column->word || column->low || column->used); i++) {
        sum_of(column, i, &sum);
        add_span(&span, &sum);
    }
    return span;
}

static void put(hdst__buffer *out, const void *bytes, size_t count) { hdst__buffer_add(out, bytes, count); }

static void write_even(const hdst__partial_column *column, const column_span *span, hdst__buffer *out)
{
    const uint8_t width = (uint8_t)((span->end - span->lowest + 1 + 7) / 8), encoding = EVEN;
    char block[HDST__PARTIAL_BLOCK * sizeof(int64_t)];
    size_t filled = 0;
    exact_sum sum;
    put(out, &encoding, 1);
    put(out, &span->lowest, sizeof span->lowest);
    put(out, &width, 1);
    for (uint64_t i = 0; i < column->count; i++) {
        sum_of(column, i, &sum);
        const int64_t word = word_from(&sum, span->lowest);
        memcpy(block + filled, &word, sizeof word);
        filled += width;
        if (filled + sizeof word <= sizeof block) continue;
        put(out, block, filled);
        filled = 0;
    }
    put(out, block, filled);
}

static void write_uneven(const hdst__partial_column *column, hdst__buffer *out)
{
    const uint8_t encoding = UNEVEN;
    put(out, &encoding, 1);
    for (uint64_t i = 0; i < column->count; i++) {
        exact_sum sum;
        int32_t lowest = 0, end = 0;
        uint32_t limb[LIMBS + 1];
        sum_of(column, i, &sum);
        const bool any = span_of(&sum, &lowest, &end);
        const uint16_t width = (uint16_t)(any ? (end - lowest + 1 + 7) / 8 : 0);
        const uint8_t flags = (uint8_t)sum.flags;
        put(out, &flags, 1);
        put(out, &width, sizeof width);
        if (!any) continue;
        for (int n = 0; n * 4 < width; n++) limb[n] = bits_from(&sum, lowest + n * LIMB_BITS);
        put(out, &lowest, sizeof lowest);
        put(out, limb, width);
    }
}

// A minimum's key or the complement that an `and` keeps, too: the value says the same.
static void write_values(const hdst__partial_column *column, hdst__buffer *out)
{
    const uint8_t encoding = VALUES;
    const size_t size = hdst__scalar_size(column->cell.kind);
    put(out, &encoding, 1);
    for (uint64_t i = 0; i < column->count; i++) {
        const uint64_t bits = hdst__column_read(column, i);
        put(out, &bits, size);
    }
}

void hdst__column_write(const hdst__partial_column *column, hdst__buffer *out)
{
    if (!column->cell.digits) {
        write_values(column, out);
        return;
    }
    const column_span span = span_of_column(column);
    const uint8_t all_zero = ALL_ZERO;
    if (span.flags || span.end - span.lowest >= 64) write_uneven(column, out);
    else if (span.any) write_even(column, &span, out);
    else put(out, &all_zero, 1);
}

// --- Reading ---

// A number of so many bits has a place in the kind's superaccumulator, with room above it.
static bool in_range(hdst__kind kind, int32_t unit, uint32_t bytes)
{
    const int32_t lowest = kind == HDST__F32 ? HDST__F32_LOWEST : HDST__F64_LOWEST;
    const int32_t end = lowest + LIMB_BITS * (int32_t)(hdst__superaccumulator_digits(kind) - 1) + LAST_DIGIT_BITS;
    return unit >= lowest && unit < end && unit + (int32_t)(8 * bytes) <= end;
}

static int64_t sign_extended(const uint8_t *at, uint32_t width)
{
    uint64_t word = 0;
    memcpy(&word, at, width);
    return (int64_t)(word << (64 - 8 * width)) >> (64 - 8 * width);
}

static hdst_status read_even(hdst__partial_column *column, hdst__byte_cursor *from)
{
    int64_t block[HDST__PARTIAL_BLOCK];
    int32_t unit;
    uint8_t width;
    if (!hdst__cursor_take(from, &unit, sizeof unit) || !hdst__cursor_take(from, &width, 1)) return HDST_E_FORMAT;
    if (width < 1 || width > 8 || !in_range(column->cell.kind, unit, width) || column->count > from->left / width) return HDST_E_FORMAT;
    for (uint64_t first = 0; first < column->count; first += HDST__PARTIAL_BLOCK) {
        const uint64_t left = column->count - first, count = left < HDST__PARTIAL_BLOCK ? left : HDST__PARTIAL_BLOCK;
        for (uint64_t i = 0; i < count; i++) block[i] = sign_extended(from->at + i * width, width);
        from->at += count * width;
        from->left -= count * width;
        if (!hdst__column_add_fixed(column, first, block, count, -unit)) return HDST_E_MEMORY;
    }
    return HDST_OK;
}

// The column gets a scale by its first sum: one that may be rather longer or shorter still fits two words.
static bool add_short(hdst__partial_column *column, uint64_t element, const uint8_t *bytes, uint32_t width, int32_t unit)
{
    const int64_t word = sign_extended(bytes, width);
    if (!column->has_scale) {
        column->scale = hdst__fixed_scale(column->cell.kind, WINDOW - unit - (int32_t)(8 * width));
        column->has_scale = true;
    }
    return hdst__column_add_fixed(column, element, &word, 1, -unit);
}

// Longer numbers: 32 bits at a time, the last ones with the sign.
static void add_bytes(int64_t *superaccumulator, hdst__kind kind, const uint8_t *bytes, uint32_t width, int32_t unit)
{
    for (uint32_t at = 0; at < width; at += 4) {
        const uint32_t some = width - at < 4 ? width - at : 4;
        int64_t word = sign_extended(bytes + at, some);
        if (at + some < width) word &= UINT32_MAX;
        hdst__superaccumulator_add_fixed(superaccumulator, kind, word, -unit - (int32_t)(8 * at));
    }
}

static hdst_status read_one(hdst__partial_column *column, uint64_t element, hdst__byte_cursor *from)
{
    int64_t all[HDST__F64_DIGITS + 1] = {0};
    uint8_t flags, bytes[LIMBS * 4];
    uint16_t width;
    int32_t unit;
    if (!hdst__cursor_take(from, &flags, 1) || !hdst__cursor_take(from, &width, sizeof width)) return HDST_E_FORMAT;
    if (flags > (HDST__FLAG_NAN | HDST__FLAG_INF | HDST__FLAG_NEG_INF) || (flags && width) || width > sizeof bytes) return HDST_E_FORMAT;
    if (!flags && !width) return HDST_OK;
    if (width && (!hdst__cursor_take(from, &unit, sizeof unit) || !hdst__cursor_take(from, bytes, width) || !in_range(column->cell.kind, unit, width)))
        return HDST_E_FORMAT;
    if (width && width <= 8) return add_short(column, element, bytes, width, unit) ? HDST_OK : HDST_E_MEMORY;
    all[column->cell.digits] = flags;
    if (width) add_bytes(all, column->cell.kind, bytes, width, unit);
    return hdst__column_add_exact(column, element, all) ? HDST_OK : HDST_E_MEMORY;
}

static hdst_status read_uneven(hdst__partial_column *column, hdst__byte_cursor *from)
{
    hdst_status status = column->count > from->left / 3 ? HDST_E_FORMAT : HDST_OK;
    for (uint64_t i = 0; i < column->count && status == HDST_OK; i++) status = read_one(column, i, from);
    return status;
}

static hdst_status read_values(hdst__partial_column *column, hdst__byte_cursor *from)
{
    const hdst__kind kind = column->cell.kind;
    const size_t size = hdst__scalar_size(kind);
    const bool is_signed = hdst__kind_is_signed(kind);
    if (column->count > from->left / size) return HDST_E_FORMAT;
    for (uint64_t i = 0; i < column->count; i++, from->at += size, from->left -= size) {
        uint64_t bits = 0;
        int64_t word = 0;
        memcpy(&bits, from->at, size);
        if (kind == HDST__BOOL) bits &= 1;
        if (is_signed) bits = (uint64_t)sign_extended(from->at, (uint32_t)size);
        hdst__cell_accumulate(&column->cell, &word, bits);
        if (!hdst__column_add_words(column, i, &word, 1)) return HDST_E_MEMORY;
    }
    return HDST_OK;
}

hdst_status hdst__column_from_bytes(hdst__partial_column *column, hdst__byte_cursor *from)
{
    uint8_t encoding;
    if (!hdst__cursor_take(from, &encoding, 1)) return HDST_E_FORMAT;
    const bool sums = column->cell.digits;
    if (sums && encoding == ALL_ZERO) return HDST_OK;
    if (sums && encoding == EVEN) return read_even(column, from);
    if (sums && encoding == UNEVEN) return read_uneven(column, from);
    return !sums && encoding == VALUES ? read_values(column, from) : HDST_E_FORMAT;
}
