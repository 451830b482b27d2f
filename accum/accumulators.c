// SPDX-License-Identifier: Apache-2.0
// How accumulators are stored as words (accum/accumulators.h): the cells of a stage, keys of minimum and maximum, scales from a sample of addends.
// The bound on additions per record is in addition_bound.c.
#include "accum/accumulators.h"

#include "record/bit_pattern.h"

// --- Cells ---

static hdst__word_op word_op(hdst__accumulate_op acc)
{
    switch (acc) {
    case HDST__SUM: return HDST__WORD_ADD;
    case HDST__MIN: case HDST__MAX: return HDST__WORD_MAX;
    case HDST__AND: case HDST__OR: return HDST__WORD_OR;
    case HDST__XOR: break;
    }
    return HDST__WORD_XOR;
}

static void make_float_sum(hdst__cell *cell, hdst__tier tier)
{
    cell->tier = tier;
    cell->digits = hdst__wide_digits(cell->kind);
    cell->device_words = cell->digits + 1;
    cell->strip_words = tier == HDST__TIER_ONE ? 1 : tier == HDST__TIER_TWO ? 2 : 0;
}

static void make_plain(hdst__cell *cell)
{
    cell->tier = HDST__TIER_PLAIN;
    cell->device_words = cell->strip_words = 1;
    cell->scale = -1;
}

static hdst__tier default_tier(const ir_param *param, size_t leaf)
{
    if (param->record->leaves[leaf].kind == HDST__F32) return HDST__TIER_ONE;
    return param->leaf_from_float && param->leaf_from_float[leaf] ? HDST__TIER_ONE : HDST__TIER_TWO;
}

// A small row is padded to a vector, so that a CPU device adds a record to all of its words at once.
static uint64_t padded(uint64_t words)
{
    return words == 3 ? 4 : words > 4 && words < 8 ? 8 : words;
}

static void make_accum(hdst__arena *arena, hdst__accum *accum, const ir_param *param, const hdst__tier *tiers, uint32_t *scales)
{
    const hdst__record *record = param->record;
    hdst__cell *cells = HDST__NEW_ARRAY(arena, hdst__cell, record->leaf_count);
    for (size_t i = 0; i < record->leaf_count; i++) {
        hdst__cell *cell = &cells[i];
        cell->kind = record->leaves[i].kind;
        cell->acc = param->leaf_op ? param->leaf_op[i] : HDST__SUM;
        cell->op = word_op(cell->acc);
        cell->elements = record->leaves[i].elements;
        if (cell->acc == HDST__SUM && hdst__kind_is_float(cell->kind)) {
            cell->scale = (int32_t)(*scales)++;
            cell->of_floats = cell->kind == HDST__F32 || (param->leaf_from_float && param->leaf_from_float[i]);
            make_float_sum(cell, tiers ? tiers[cell->scale] : default_tier(param, i));
        } else {
            make_plain(cell);
        }
        cell->device_first = accum->device_row_words;
        cell->strip_first = accum->strip_row_words;
        accum->device_row_words += cell->elements * cell->device_words;
        accum->strip_row_words += cell->elements * cell->strip_words;
    }
    if (param->is_table) accum->strip_row_words = padded(accum->strip_row_words);
    accum->cell = cells;
    accum->leaf_count = record->leaf_count;
    accum->is_table = param->is_table;
}

const hdst__tables *hdst__tables_make(hdst__arena *arena, const ir_func *func, const hdst__tier *tiers)
{
    hdst__tables *tables = HDST__NEW(arena, hdst__tables);
    hdst__accum *accums = HDST__NEW_ARRAY(arena, hdst__accum, func->param_count);
    for (size_t i = 0; i < func->param_count; i++) {
        if (func->params[i].kind != IR_ACCUM_TABLE) continue;
        hdst__accum *accum = &accums[tables->accum_count++];
        accum->param = (uint32_t)i;
        make_accum(arena, accum, &func->params[i], tiers, &tables->scale_count);
    }
    tables->accum = accums;
    return tables;
}

uint64_t hdst__accum_rows(const hdst__accum *accum, const uint64_t *rows)
{
    // A record that failed a check may still touch row 0.
    return accum->is_table && rows[accum->param] ? rows[accum->param] : 1;
}

uint64_t hdst__tables_device_first(const hdst__tables *tables, const uint64_t *rows, size_t accum)
{
    uint64_t words = 0;
    for (size_t i = 0; i < accum; i++) words += hdst__accum_rows(&tables->accum[i], rows) * tables->accum[i].device_row_words;
    return words;
}

uint64_t hdst__tables_strip_first(const hdst__tables *tables, const uint64_t *rows, size_t accum)
{
    uint64_t words = 0;
    for (size_t i = 0; i < accum; i++) words += hdst__accum_rows(&tables->accum[i], rows) * tables->accum[i].strip_row_words;
    return words;
}

uint64_t hdst__tables_device_words(const hdst__tables *tables, const uint64_t *rows)
{
    return hdst__tables_device_first(tables, rows, tables->accum_count);
}

uint64_t hdst__tables_strip_words(const hdst__tables *tables, const uint64_t *rows)
{
    return hdst__tables_strip_first(tables, rows, tables->accum_count);
}

uint64_t hdst__tables_turns_words(const hdst__tables *tables, const uint64_t *rows)
{
    return 2 * ((hdst__tables_strip_words(tables, rows) + HDST__TURN_UNIT - 1) / HDST__TURN_UNIT * HDST__TURN_UNIT + HDST__TURN_APART);
}

// --- Front words ---

uint64_t hdst__tables_mark_words(const hdst__tables *tables, const uint64_t *rows)
{
    return tables->front ? hdst__tables_device_words(tables, rows) / HDST__PAGE_WORDS + 1 : 0;
}

uint64_t hdst__tables_front_words(const hdst__tables *tables, const uint64_t *rows)
{
    return tables->front ? hdst__tables_mark_words(tables, rows) + 2 * hdst__tables_strip_words(tables, rows) : 0;
}

// --- Compact tables ---

enum { LEAST_COMPACT_BITS = 30 };

bool hdst__accum_may_be_compact(const hdst__accum *accum)
{
    bool may = accum->is_table;
    for (size_t leaf = 0; leaf < accum->leaf_count; leaf++) may &= accum->cell[leaf].tier == HDST__TIER_PLAIN || accum->cell[leaf].tier == HDST__TIER_ONE;
    return may;
}

void hdst__accum_make_compact(hdst__accum *accum)
{
    accum->compact = true;
    accum->device_row_words = 0;
    for (size_t leaf = 0; leaf < accum->leaf_count; leaf++) {
        hdst__cell *cell = (hdst__cell *)&accum->cell[leaf];
        cell->device_words = cell->strip_words;
        cell->device_first = accum->device_row_words;
        accum->device_row_words += cell->elements * cell->device_words;
    }
}

bool hdst__tables_are_compact(const hdst__tables *tables)
{
    bool compact = false;
    for (size_t a = 0; a < tables->accum_count; a++) compact |= tables->accum[a].compact;
    return compact;
}

uint32_t hdst__compact_bits(uint64_t additions)
{
    const uint32_t count_bits = additions > 1 ? 64 - (uint32_t)__builtin_clzll(additions - 1) : 0, bits = count_bits < 63 ? 63 - count_bits : 0;
    return bits < LEAST_COMPACT_BITS ? 0 : bits > HDST__FIXED_BITS ? HDST__FIXED_BITS : bits;
}

const hdst__accum *hdst__tables_accum(const hdst__tables *tables, uint32_t param)
{
    for (size_t i = 0; i < tables->accum_count; i++)
        if (tables->accum[i].param == param) return &tables->accum[i];
    return NULL;
}

uint32_t hdst__tables_fast_sums(const hdst__tables *tables)
{
    uint32_t fast = 0;
    for (size_t a = 0; a < tables->accum_count; a++)
        for (size_t leaf = 0; leaf < tables->accum[a].leaf_count; leaf++) fast += tables->accum[a].cell[leaf].fast;
    return fast;
}

// --- Keys of minimum and maximum ---
//
// `rank` maps a kind's values to 0, 1, 2 ... in their order (floats: -infinity is 0, -0 just below +0). A maximum's key is the rank, a minimum's the rank
// counted from the other end; so the value that loses against all others has key 0, which is what an empty cell holds.

static uint64_t integer_ranks(hdst__kind kind)      // the greatest rank
{
    return kind == HDST__BOOL ? 1 : ~UINT64_C(0) >> (64 - 8 * hdst__scalar_size(kind));
}

static uint64_t integer_lowest(hdst__kind kind)     // the pattern of rank 0
{
    return hdst__kind_is_signed(kind) ? ~UINT64_C(0) << (8 * hdst__scalar_size(kind) - 1) : 0;
}

typedef struct float_shape {
    uint64_t sign, infinity, quiet_nan;
} float_shape;

static float_shape shape_of(hdst__kind kind)
{
    if (kind == HDST__F32) return (float_shape){UINT64_C(1) << 31, 0x7f800000, 0x7fc00000};
    return (float_shape){UINT64_C(1) << 63, UINT64_C(0x7ff0000000000000), UINT64_C(0x7ff8000000000000)};
}

static uint64_t float_rank(float_shape shape, uint64_t bits)
{
    const uint64_t magnitude = bits & (shape.sign - 1);
    return bits & shape.sign ? shape.infinity - magnitude : shape.infinity + 1 + magnitude;
}

static uint64_t float_unrank(float_shape shape, uint64_t rank)
{
    return rank <= shape.infinity ? shape.sign | (shape.infinity - rank) : rank - shape.infinity - 1;
}

uint64_t hdst__key_encode(hdst__kind kind, hdst__accumulate_op acc, uint64_t bits)
{
    if (!hdst__kind_is_float(kind)) {
        const uint64_t rank = bits - integer_lowest(kind);
        return acc == HDST__MAX ? rank : integer_ranks(kind) - rank;
    }
    const float_shape shape = shape_of(kind);
    const uint64_t last = 2 * shape.infinity + 1;       // rank of +infinity; the key after it is NaN's
    if ((bits & (shape.sign - 1)) > shape.infinity) return last + 1;
    return acc == HDST__MAX ? float_rank(shape, bits) : last - float_rank(shape, bits);
}

uint64_t hdst__key_decode(hdst__kind kind, hdst__accumulate_op acc, uint64_t key)
{
    if (!hdst__kind_is_float(kind)) return integer_lowest(kind) + (acc == HDST__MAX ? key : integer_ranks(kind) - key);
    const float_shape shape = shape_of(kind);
    const uint64_t last = 2 * shape.infinity + 1;
    if (key > last) return shape.quiet_nan;
    return float_unrank(shape, acc == HDST__MAX ? key : last - key);
}

// --- Accumulating on the host ---

// Words wrap; unsigned, because a signed overflow is not defined in C.
static void add_word(int64_t *word, uint64_t bits)
{
    *word = (int64_t)((uint64_t)*word + bits);
}

static void raise_word(int64_t *word, uint64_t key)
{
    if (key > (uint64_t)*word) *word = (int64_t)key;
}

void hdst__cell_accumulate(const hdst__cell *cell, int64_t *word, uint64_t bits)
{
    switch (cell->acc) {
    case HDST__SUM:
        if (cell->digits) hdst__wide_add(word, cell->kind, bits);
        else add_word(word, bits);
        break;
    case HDST__MIN: case HDST__MAX: raise_word(word, hdst__key_encode(cell->kind, cell->acc, bits)); break;
    case HDST__AND: *word |= (int64_t)~bits; break;
    case HDST__OR: *word |= (int64_t)bits; break;
    case HDST__XOR: *word ^= (int64_t)bits; break;
    }
}

// --- Scales ---

enum { LAST_BINS = sizeof((hdst__addends *)0)->last_bit / sizeof(uint64_t), TOP_BINS = sizeof((hdst__addends *)0)->top_bit / sizeof(uint64_t), OUTLIERS = 64, MISFITS = 32 };      // one in so many

void hdst__addends_init(hdst__addends *addends)
{
    *addends = (hdst__addends){0};
}

// The histograms are kept against the running maximum: a new one moves what was counted.
static void move_bins(uint64_t *bin, int32_t bins, int32_t by)
{
    for (int32_t i = bins - 1; i >= 0; i--) {
        const uint64_t moved = bin[i];
        bin[i] = 0;
        bin[i + by < bins ? i + by : bins - 1] += moved;
    }
}

static void raise_highest(hdst__addends *addends, int32_t highest)
{
    move_bins(addends->last_bit, LAST_BINS, highest - addends->highest);
    move_bins(addends->top_bit, TOP_BINS, highest - addends->highest);
    addends->highest = highest;
}

void hdst__addends_add(hdst__addends *addends, hdst__kind kind, uint64_t bits)
{
    const bool is_float = kind == HDST__F32;
    const unsigned fraction_bits = is_float ? 23 : 52, exponent_mask = is_float ? 0xff : 0x7ff;
    const uint64_t fraction = bits & ((UINT64_C(1) << fraction_bits) - 1);
    const uint32_t exponent = (uint32_t)(bits >> fraction_bits) & exponent_mask;
    if (exponent == exponent_mask || (exponent == 0 && fraction == 0)) return;
    const uint64_t mantissa = exponent ? fraction | UINT64_C(1) << fraction_bits : fraction;
    const int32_t unit = (int32_t)(exponent ? exponent - 1 : 0) + (is_float ? HDST__F32_LOWEST : HDST__F64_LOWEST);
    const int32_t highest = unit + 63 - __builtin_clzll(mantissa), last = unit + __builtin_ctzll(mantissa);
    if (addends->count == 0) {
        addends->highest = highest;
        addends->lowest_bit = last;
    }
    if (highest > addends->highest) raise_highest(addends, highest);
    if (last < addends->lowest_bit) addends->lowest_bit = last;
    const int32_t below = addends->highest - last, top = addends->highest - highest;
    addends->last_bit[below < LAST_BINS ? below : LAST_BINS - 1]++;
    addends->top_bit[top < TOP_BINS ? top : TOP_BINS - 1]++;
    addends->count++;
}

static uint64_t addends_below(const hdst__addends *addends, int32_t exponent)      // with a last bit below 2^exponent
{
    uint64_t count = 0;
    for (int32_t i = 0; i < LAST_BINS; i++) {
        const int32_t last = i == LAST_BINS - 1 ? addends->lowest_bit : addends->highest - i;
        if (last < exponent) count += addends->last_bit[i];
    }
    return count;
}

static uint64_t addends_above(const hdst__addends *addends, int32_t exponent)      // of 2^exponent or more
{
    uint64_t count = 0;
    for (int32_t i = 0; i < TOP_BINS && addends->highest - i >= exponent; i++) count += addends->top_bit[i];
    return count;
}

static int32_t scale_with_room(int32_t bits, int32_t highest, int32_t spare)
{
    const int32_t room = spare / 2 > 2 ? spare / 2 : 2;
    return bits - 1 - highest - room;
}

// An addend of 2^highest gets a place in the bits with room above it for larger ones that the sample missed: half of the bits that nobody uses, two at least; where one full
// word does not do, of those of two words. Limits keep 2^s and 2^(s + 40) in the range of the kind, because kernels multiply by them.
static int32_t scale_for(const hdst__addends *addends, hdst__kind kind, int32_t bits, int32_t highest)
{
    const int32_t span = highest - addends->lowest_bit + 1;
    int32_t s = scale_with_room(bits, highest, bits - span);
    if (bits == HDST__FIXED_BITS && addends_below(addends, -s) > addends->count / MISFITS) s = scale_with_room(bits, highest, 2 * bits - span);
    const int32_t least = kind == HDST__F32 ? -100 : -970, most = kind == HDST__F32 ? 86 : 980;
    return s < least ? least : s > most ? most : s;
}

// Addends of the sample that do not fit; more than all where two words are needed.
static uint64_t misfits(const hdst__addends *addends, int32_t s, int32_t bits)
{
    const uint64_t above = addends_above(addends, bits - s), one = above + addends_below(addends, -s);
    return one <= addends->count / MISFITS ? one : addends->count + above + addends_below(addends, -s - HDST__FIXED_BITS);
}

int32_t hdst__addends_scale(const hdst__addends *addends, hdst__kind kind, int32_t bits)
{
    uint64_t outliers = 0;
    int32_t below = 0;
    if (addends->count == 0) return 0;
    const int32_t s = scale_for(addends, kind, bits, addends->highest);
    while (below < TOP_BINS - 1 && outliers + addends->top_bit[below] <= addends->count / OUTLIERS) outliers += addends->top_bit[below++];
    const int32_t without = scale_for(addends, kind, bits, addends->highest - below);
    return misfits(addends, without, bits) < misfits(addends, s, bits) ? without : s;
}

// More than one in 32 that would not fit is too many for the slow path.
hdst__tier hdst__addends_tier(const hdst__addends *addends, hdst__kind kind, int32_t s, int32_t bits)
{
    if (addends->count == 0) return kind == HDST__F32 ? HDST__TIER_ONE : HDST__TIER_TWO;
    const uint64_t too_many = addends->count / MISFITS, above = addends_above(addends, bits - s);
    if (above + addends_below(addends, -s) <= too_many) return HDST__TIER_ONE;
    if (above + addends_below(addends, -s - HDST__FIXED_BITS) <= too_many) return HDST__TIER_TWO;
    return HDST__TIER_WIDE;
}
