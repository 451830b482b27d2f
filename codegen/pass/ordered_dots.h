// SPDX-License-Identifier: Apache-2.0
// GPU form: sums over the elements of a record's row that are written as a loop, for tiles (row_tiles.c). Each addition waits for the one before, so the
// order of the language leaves no lanes: a work-item has whole sums, of several records by several turns of the loop around. Thread-safe: nothing is kept.
#ifndef HDST_CODEGEN_PASS_ORDERED_DOTS_H
#define HDST_CODEGEN_PASS_ORDERED_DOTS_H

#include "codegen/ir/ir.h"

typedef struct hdst__ordered_dot {
    ir_stmt *start, *loop;      // d = 0; for i = 0 to 512 { ... d = fma(n.w[h * 512 + i], p.x[i], d) }
    const ir_expr *own, *other; // what it reads of the record's row, and of a broadcast's, by i
} hdst__ordered_dot;

// Whether one stands at place `at` of a loop's block that reads nothing but the record, broadcasts and `counter`, which is the loop's.
bool hdst__is_ordered_dot(const ir_func *func, const ir_block *block, size_t at, uint32_t counter, hdst__ordered_dot *dot);

// Its two statements for a tile, with a sum of their own, which comes back as a variable. The loop begins with what it reads by i:
//     sum = 0; for i = 0 to 512 { own = p.x[i]; other = n.w[h * 512 + i]; sum = fma(other, own, sum) }
uint32_t hdst__ordered_dot_alone(ir_func *func, const hdst__ordered_dot *dot, ir_block *out);

#endif
