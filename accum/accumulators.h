// SPDX-License-Identifier: Apache-2.0
// Accumulator tables: how the cells of `accum` parameters are stored, on every device and in the interpreter alike.
//
// All storage is 64-bit words whose identity is 0, so that a table is reset by a zero fill:
//   sums of integers        the sum, modulo 2^64
//   minimum and maximum     an unsigned key whose largest value wins (hdst__key_*); 0 stands for "nothing came"
//   or, xor                 the bits; `and` keeps the complement and ors
//   sums of float, double   exact: see below
//
// A *device table* holds the exact state of a device. A float sum there is a wide cell: `digits` words, word j counting multiples of
// 2^(32 j - 149) for float and 2^(32 j - 1074) for double, each signed and allowed to grow past 32 bits, then one word of flags. It is a fixed-point superaccumulator
// (Kulisch, "Advanced Arithmetic for the Digital Computer", 2002; the carry-save digits follow Neal, "Fast exact summation using small and large superaccumulators", 2015).
// A *strip table* (of one work-item on a CPU, of one work-group on a GPU) is small and quick: a float sum is one or two int64 in fixed point
// at a scale 2^s that was guessed from the data (word 0 counts multiples of 2^-s, word 1 of 2^-(s+40)). An addend that does not fit goes to the device table at once;
// the strip table is added to the device table when the strip ends and before it could overflow. So no choice of scale or slice changes a bit.
// A sum of a whole dataset has no strip table on CPU devices, but for single records: its addends are added by blocks in levels of floats (accum/levels.cl).
#ifndef HDST_ACCUM_ACCUMULATORS_H
#define HDST_ACCUM_ACCUMULATORS_H

#include "codegen/ir/ir.h"

typedef enum hdst__word_op { HDST__WORD_ADD, HDST__WORD_MAX /* unsigned */, HDST__WORD_OR, HDST__WORD_XOR } hdst__word_op;

// Where a float sum's addends go first. Chosen per leaf from a sample of the data.
typedef enum hdst__tier {
    HDST__TIER_PLAIN,       // no float sum: one word in both tables
    HDST__TIER_ONE,         // one int64: |v * 2^s| < 2^40 and v * 2^s an integer
    HDST__TIER_TWO,         // two int64: 80 bits in all
    HDST__TIER_WIDE,        // every addend straight to the device table
} hdst__tier;

enum {
    HDST__F32_DIGITS = 9, HDST__F64_DIGITS = 66,
    HDST__F32_LOWEST = -149, HDST__F64_LOWEST = -1074,      // exponent of digit 0
    HDST__FIXED_BITS = 40,          // an addend in fixed point is below 2^40, so 2^23 of them fit an int64
    HDST__FLUSH_ADDS = 1 << 23,
    HDST__LANE_BITS = 13,           // GPU: a lane's own word counts multiples of 2^-(s + 13); 32 addends are below 2^58, so it takes 2^10 (FLUSH_ADDS >> LANE_BITS) before it merges
    HDST__LANE_LEAST_SCALE = -81,   // its running sums stand beside 1.5 * 2^(46 - s), a float's largest at that
    // Flags of a wide cell, or-ed
    HDST__FLAG_NAN = 1, HDST__FLAG_INF = 2, HDST__FLAG_NEG_INF = 4,
};

typedef struct hdst__cell {         // one leaf of one accumulator
    hdst__kind kind;
    hdst__accumulate_op acc;
    hdst__word_op op;
    hdst__tier tier;
    uint32_t digits;                // of a wide cell; 0 when plain
    uint32_t device_words;          // per element: digits + 1, or 1
    uint32_t strip_words;           // per element: 0, 1 or 2
    uint64_t elements;
    uint64_t device_first, strip_first;     // word of element 0 within a row
    bool of_floats;                 // a float sum whose addends are floats
    int32_t scale;                  // index into the scales (of the launch), or -1 when plain
    bool fast;                      // a float sum that the kernel rounds at each addition, in any order: asked for, and set by the form that does it
} hdst__cell;

typedef struct hdst__accum {        // one accum parameter
    uint32_t param;                 // of the ir_func
    bool is_table;
    const hdst__cell *cell;         // one per leaf of its record
    size_t leaf_count;
    uint64_t device_row_words;
    bool compact;                   // the device table has the words of a strip's in place of wide cells, see hdst__accum_make_compact
    uint64_t strip_row_words;       // rows of tables of 3 and of 5 to 7 words are padded to 4 and 8
} hdst__accum;

// The tables of a stage: accumulators one after another, each `rows` rows. rows are known when the plan is bound.
typedef struct hdst__tables {
    const hdst__accum *accum;
    size_t accum_count;
    uint32_t scale_count;           // float-sum leaves in all
    bool front;                     // CPU: in front of the cells of a device table lie its front words, see hdst__tables_front_words
} hdst__tables;

// Row counts (`rows`) are indexed by the func's param, here and below; a plain accumulator (not a table) has one row whatever they say.
// tiers: one per float-sum leaf in order of (accum, leaf), or NULL for TIER_ONE where the addends are floats and TIER_TWO for doubles. In the arena.
const hdst__tables *hdst__tables_make(hdst__arena *arena, const ir_func *func, const hdst__tier *tiers);
uint64_t hdst__tables_device_words(const hdst__tables *tables, const uint64_t *rows);
uint64_t hdst__tables_strip_words(const hdst__tables *tables, const uint64_t *rows);
// Rows that have storage: one at least, also of a table that was bound to none.
uint64_t hdst__accum_rows(const hdst__accum *accum, const uint64_t *rows);
// Words before accumulator `accum` (index into tables->accum) in a device table, in a strip table.
uint64_t hdst__tables_device_first(const hdst__tables *tables, const uint64_t *rows, size_t accum);
uint64_t hdst__tables_strip_first(const hdst__tables *tables, const uint64_t *rows, size_t accum);
// CPU devices, functions that hardly do more than count: a strip has two tables, which records take in turn. The second begins TURN_APART words behind a multiple of TURN_UNIT: were it
// a multiple of half a page (4 KiB) away, the addition to one table would wait for that to the other, as processors tell a load from the stores before it by the low 12 bits.
enum { HDST__TURN_UNIT = 256, HDST__TURN_APART = 96 };
uint64_t hdst__tables_turns_words(const hdst__tables *tables, const uint64_t *rows);    // both, and what lies between them
// CPU devices, large tables: strips are added to *front words*, those of one strip table, and only what does not fit fixed point or overflows goes to the device table's (wide) cells.
// Each front word has a *low word*: a sum of floats that has one word in strips (TIER_ONE) takes there, in multiples of 2^-(s+40), what two words would have held of an addend.
// So most runs leave the cells as they were, zero, and who clears or reads the table touches two words for each float sum in place of 10 or 67. The memory holds marks, front
// words, low words, cells: a mark for each page of HDST__PAGE_WORDS words of the cells, not 0 once a cell with a word there was touched. A sum is that of all its words and its cell.
enum { HDST__PAGE_WORDS = 512 };
uint64_t hdst__tables_mark_words(const hdst__tables *tables, const uint64_t *rows);
uint64_t hdst__tables_front_words(const hdst__tables *tables, const uint64_t *rows);    // marks too: words before the first cell; 0 without front words
// GPU, tables with many rows: float sums of the device table are one word in fixed point each, and what does not fit goes to *spare cells*, wide ones that a row has
// only if it needs one (accum/spare.cl). Only of tables that may be compact, and for tables that the device itself makes rows of: nobody else can read them.
bool hdst__accum_may_be_compact(const hdst__accum *accum);
void hdst__accum_make_compact(hdst__accum *accum);
bool hdst__tables_are_compact(const hdst__tables *tables);      // one of them is
// Bits that an addend may have in fixed point, if so many additions are to fit a word: HDST__FIXED_BITS at most. 0: too few to be of use.
uint32_t hdst__compact_bits(uint64_t additions);
const hdst__accum *hdst__tables_accum(const hdst__tables *tables, uint32_t param);      // NULL when the param is no accumulator
uint32_t hdst__tables_fast_sums(const hdst__tables *tables);   // cells that a kernel's form sums plainly
// An upper bound of the additions that one record can make to one cell, given the row counts that IR_LENGTH stands for (indexed by param); UINT64_MAX: no bound known.
uint64_t hdst__tables_adds_per_record(const ir_func *func, const uint64_t *rows_of_param);

// --- Keys of minimum and maximum: monotone, unsigned, 0 only for the identity (an integer type's last value, an infinity). NaN wins over all.
uint64_t hdst__key_encode(hdst__kind kind, hdst__accumulate_op acc, uint64_t bits);
uint64_t hdst__key_decode(hdst__kind kind, hdst__accumulate_op acc, uint64_t key);

// --- One addend into a cell of a device table, on the host: `word` is the cell's first word, bits a pattern of the cell's kind ---
void hdst__cell_accumulate(const hdst__cell *cell, int64_t *word, uint64_t bits);

// --- Wide cells (superaccumulator.c) ---
// The host's additions carry before a digit could overflow, so their number is not bounded (the last digit takes 2^41 addends of the greatest magnitude
// and one sign). Kernels add digits without a carry: each addition changes a digit by less than 2^32, so a launch may make 2^30 to one cell.
uint32_t hdst__wide_digits(hdst__kind kind);
void hdst__wide_add(int64_t *cell, hdst__kind kind, uint64_t bits);         // adds one float or double (IEEE bits), NaN and infinities to the flags
void hdst__wide_add_fixed(int64_t *cell, hdst__kind kind, int64_t q, int32_t s);   // adds q * 2^-s
void hdst__wide_merge(int64_t *to, const int64_t *from, hdst__kind kind);
void hdst__wide_carry(int64_t *cell, hdst__kind kind);      // digits but the last in 0 .. 2^32 - 1, the same sum
uint64_t hdst__wide_round(const int64_t *cell, hdst__kind kind);            // IEEE bits of the sum, to nearest even; +0 when exactly zero

// What one leaf's addends look like, from a sample of records run by the interpreter; the scale and tier follow from it.
typedef struct hdst__addends {
    uint64_t count;                 // finite and not zero
    int32_t highest;                // largest floor(log2 |v|)
    int32_t lowest_bit;             // smallest exponent of a last set bit
    uint64_t last_bit[320];         // histogram: how far below `highest` the last set bit of an addend lies, clipped to 319
    uint64_t top_bit[256];          // the same of its first set bit, clipped to 255
} hdst__addends;

void hdst__addends_init(hdst__addends *addends);
void hdst__addends_add(hdst__addends *addends, hdst__kind kind, uint64_t bits);             // zeros, NaN and infinities are passed over

// `bits`: of an addend in fixed point, HDST__FIXED_BITS at most. A few addends that are far larger than the others are left out of account if more fit then.
int32_t hdst__addends_scale(const hdst__addends *addends, hdst__kind kind, int32_t bits);               // s; 0 without any addend
hdst__tier hdst__addends_tier(const hdst__addends *addends, hdst__kind kind, int32_t s, int32_t bits);

#endif
