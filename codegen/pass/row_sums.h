// SPDX-License-Identifier: Apache-2.0
// Row form (CPU devices): sums over a block of records that stay in registers, element by element. A loop that adds
// `factor * row[e]`, or `row[e]`, to neighbouring float sums leaves the record's body (row_sums.c); what it needs of
// a record, the factors, is kept until a block of records is there. Then each element's addends are added up while
// the records go by, and the table is touched once for a block and not for every record (print_row_sums.c). Dots of a
// row with rows of a broadcast leave the body too: they are made for the block before it (row_dots.c,
// print_row_dots.c). Thread-safe: nothing is kept.
#ifndef HDST_CODEGEN_PASS_ROW_SUMS_H
#define HDST_CODEGEN_PASS_ROW_SUMS_H

#include "accum/tables.h"
#include "codegen/pass/affine_index.h"
#include "codegen/pass/row_form.h"
#include "record/layout.h"

enum { HDST__ROW_SUMS_BLOCK = 128 };    // records at most: strips begin and end anywhere (cpu_form.h)
enum { HDST__ROW_UNITS = 1024 };        // factors or dots of a record: 256 KiB of a block

// dots[u] of a record is the dot of its row and row u of the broadcast's leaf, which begins at element broadcast_first + u * stride.
typedef struct hdst__row_dot {
    uint32_t broadcast, broadcast_leaf;
    uint64_t broadcast_first, stride;
    uint32_t input, input_leaf;
    uint64_t row_first, units, elements;
    uint32_t dots;                      // a variable: an array of `units` floats, a row per record of the block
    const char *name;                   // its
} hdst__row_dot;

// Cell (param, leaf), element first + u * elements + e takes factor u * row[e] of each record, for all u < units and
// e < elements. The row: elements of the input's leaf from row_first on, or a local array as it was in front of the
// loops.
typedef struct hdst__row_sum {
    uint32_t param, leaf;
    uint64_t first, units, elements;
    uint32_t factor;                    // a variable: an array of `units` floats, a value per record of the block
    const char *name;                   // its
    bool is_local;
    uint32_t input, input_leaf;         // not is_local
    uint64_t row_first;
    uint32_t local;                     // is_local: a variable, an array of `elements` floats, a row per record of the block
    const char *local_name;
    uint32_t copied;                    // is_local: the array, as it is in front of statement number `at` of the body
    size_t at;
} hdst__row_sum;

typedef struct hdst__row_sums {
    hdst__row_sum *sum;
    size_t count, capacity;
    hdst__row_dot *dot;
    size_t dot_count, dot_capacity;
} hdst__row_sums;

// Takes the loops out of `func` (scalar form, before the passes of the row form). False: there are no sums, and func is as it was.
bool hdst__pass_row_sums(ir_func *func, const hdst__tables *tables, const hdst__storage *input, hdst__row_sums *sums);
// batch_sums.c: marks the leaves that a batch may have rounded (hdst__cell.batch_sum). `func`: the row form, with its placement; `tables`: of it.
void hdst__pass_batch_sums(const ir_func *func, hdst__tables *tables, const hdst__row_sums *sums);
void hdst__row_sums_renumber(const ir_func *func, hdst__row_sums *sums);        // after it and the row passes, which number variables anew

// Inside of the pass: where it stands.
typedef struct hdst__row_taker {
    ir_func *func;
    const hdst__tables *tables;
    const hdst__storage *input;
    hdst__row_sums *sums;
    hdst__nest nest;                    // around the statement: constant bounds
    ir_block *outside;                  // what comes before the outermost of its loops
    size_t at;                          // number of that loop in the body
} hdst__row_taker;
// row_nest.c: turns of the loops from number `from` on, together.
uint64_t hdst__row_turns(const hdst__nest *nest, size_t from);
ir_expr *hdst__row_unit(const hdst__row_taker *t, size_t depth, uint64_t first);       // first + which turn it is of the outermost `depth` loops
// Whether the index goes through consecutive numbers, turn by turn; *first: where all counters are zero.
bool hdst__row_is_consecutive(const hdst__nest *nest, const ir_expr *index, uint64_t *first);
// Floats of an input in memory, side by side, by the counter of the one loop of `nest`; *first: the element of turn 0.
bool hdst__row_is_field(const hdst__row_taker *t, const hdst__nest *nest, const ir_expr *e, uint64_t *first);
bool hdst__row_take_dot(hdst__row_taker *t, ir_block *block, size_t at);       // row_dots.c: the loop at place `at` makes a dot, and can go

#endif
