// SPDX-License-Identifier: Apache-2.0
// Indices that are linear in the variables of the counted loops around them: which cells a nest of loops meets, and how often. Thread-safe: nothing is kept.
#ifndef HDST_CODEGEN_PASS_AFFINE_INDEX_H
#define HDST_CODEGEN_PASS_AFFINE_INDEX_H

#include "codegen/ir/ir.h"

enum { HDST__NEST_DEPTH = 8 };

// Loops from 0 by 1, outermost first. turns: an upper bound; 0: not known, then the index is known only where it is that loop's variable itself.
typedef struct hdst__nest {
    const ir_stmt *loop[HDST__NEST_DEPTH];
    uint64_t turns[HDST__NEST_DEPTH];
    size_t depth;
} hdst__nest;

// An index is the sum of factor[k] * (the variable of loop k) and a constant. It is below 2^31 in all turns, so nothing wraps.
typedef struct hdst__linear {
    bool known;
    uint64_t factor[HDST__NEST_DEPTH];
    uint64_t highest;
} hdst__linear;

bool hdst__is_plain_loop(const ir_stmt *stmt);      // counted, from 0 by 1
// `before` (NULL: none): what stands in front of the index in the innermost block; variables that are set once in it, at its top, give way to their values.
hdst__linear hdst__linear_of(const hdst__nest *nest, const ir_expr *index, const ir_block *before);
// Whether two turns of the outermost loop never have equal indices, whatever the turns of the others.
bool hdst__linear_tells_outermost(const hdst__nest *nest, const hdst__linear *index);
// Marks loops of which no two different sets of turns have equal indices, as many as are found.
void hdst__linear_tells(const hdst__nest *nest, const hdst__linear *index, bool told[HDST__NEST_DEPTH]);

#endif
