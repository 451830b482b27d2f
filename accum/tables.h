// SPDX-License-Identifier: Apache-2.0
// Accumulator tables: where the cells of accumulators lie, on every device and in the interpreter alike.
//
// A *device table* holds the exact state of a device: every cell in its exact representation
// (accum/representation.h), a float sum as a superaccumulator. A *table of privatised accumulators* (of one work-item on a CPU, of one
// work-group on a GPU) is small and quick: a float sum is one or two words in fixed point (accum/fixed_point.h), and
// an addend that does not fit goes to the device table at once; the strip table is added to the device table when the
// strip ends and before it could overflow. A sum of a whole dataset has no strip table on CPU devices, but for single
// records: its addends are added by blocks in levels of floats (accum/levels.cl).
#ifndef HDST_ACCUM_TABLES_H
#define HDST_ACCUM_TABLES_H

#include "accum/cell.h"
#include "base/arena.h"

typedef struct hdst__accum_shape {  // what tables are made of: one accumulator
    uint32_t param;                 // its number, by which callers index row counts
    const hdst__record *record;     // a row
    bool is_table;                  // else one row
    const hdst__accumulate_op *op;  // by leaf; NULL: sums
    const bool *from_float;         // by leaf: every addend of this double leaf is a converted float (fits one word easily); NULL: none
} hdst__accum_shape;

typedef struct hdst__accum {        // one accumulator
    uint32_t param;                 // its number
    bool is_table;
    const hdst__cell *cell;         // one per leaf of its record
    size_t leaf_count;
    uint64_t device_row_words;
    bool fixed_point;                   // the device table has the words of a strip's in place of superaccumulators, see hdst__accum_make_fixed_point
    bool writes_rows;                   // with it: the device has no table of it. Rows go to the result as they become complete, others' sums to overflow cells
    uint64_t private_row_words;       // rows of tables of 3 and of 5 to 7 words are padded to 4 and 8
} hdst__accum;

// The tables of a stage: accumulators one after another, each `rows` rows. rows are known when the plan is bound.
typedef struct hdst__tables {
    const hdst__accum *accum;
    size_t accum_count;
    uint32_t scale_count;           // float-sum leaves in all
    bool first_level;                     // CPU: in front of the cells of a device table lie its first-level words, see accum/first_level.h
} hdst__tables;

// Row counts (`rows`) are indexed by the func's param, here and below; a plain accumulator (not a table) has one row whatever they say.
// precision classes: one per float-sum leaf in order of (accum, leaf), or NULL for CLASS_ONE_WORD where the addends are floats and CLASS_TWO_WORDS for
// doubles. In the arena.
const hdst__tables *hdst__tables_make(hdst__arena *arena, const hdst__accum_shape *shapes, size_t count, const hdst__precision_class *classes);
uint64_t hdst__tables_device_words(const hdst__tables *tables, const uint64_t *rows);
uint64_t hdst__tables_private_words(const hdst__tables *tables, const uint64_t *rows);
// Rows that have storage: one at least, also of a table that was bound to none.
uint64_t hdst__accum_rows(const hdst__accum *accum, const uint64_t *rows);
// Words before accumulator `accum` (index into tables->accum) in a device table, in a strip table.
uint64_t hdst__tables_device_first(const hdst__tables *tables, const uint64_t *rows, size_t accum);
uint64_t hdst__tables_private_first(const hdst__tables *tables, const uint64_t *rows, size_t accum);
// CPU devices, functions that hardly do more than count: a strip has two tables, which records take in turn. The
// second begins TURN_APART words behind a multiple of TURN_UNIT: were it a multiple of half a page (4 KiB) away, the
// addition to one table would wait for that to the other, as processors tell a load from the stores before it by the
// low 12 bits.
enum { HDST__TURN_UNIT = 256, HDST__TURN_APART = 96 };
uint64_t hdst__tables_turns_words(const hdst__tables *tables, const uint64_t *rows);    // both, and what lies between them
// GPU, tables with many rows: float sums of the device table are one word in fixed point each, and what does not fit
// goes to *overflow cells*, wide ones that a row has only if it needs one (accum/overflow_table.cl). Only of tables that
// may be in fixed point, and for tables that the device itself makes rows of, or that come with their overflow cells to a partial (accum/partial.h).
bool hdst__accum_may_be_fixed_point(const hdst__accum *accum);
void hdst__accum_make_fixed_point(hdst__accum *accum);
// Of a cell of the overflow table, which holds an integer too.
uint32_t hdst__accum_overflow_words(const hdst__accum *accum);
bool hdst__accum_has_superaccumulators(const hdst__accum *accum);
bool hdst__tables_are_fixed_point(const hdst__tables *tables);      // one of them is
bool hdst__tables_write_rows(const hdst__tables *tables);           // one of them does, which then is the only one
// Bits that an addend may have in fixed point, if so many additions are to fit a word: HDST__FIXED_BITS at most. 0: too few to be of use.
uint32_t hdst__fixed_point_bits(uint64_t additions);
const hdst__accum *hdst__tables_accum(const hdst__tables *tables, uint32_t param);      // NULL when the param is no accumulator
uint32_t hdst__tables_fast_sums(const hdst__tables *tables);   // cells that a kernel's form sums plainly

#endif
