// SPDX-License-Identifier: Apache-2.0
// Short words for making IR by hand in tests, and KMeans as the lowering and the scalar passes would leave it.
#ifndef HDST_TESTS_IR_MAKE_H
#define HDST_TESTS_IR_MAKE_H

#include "codegen/ir/ir.h"

typedef struct ir_field {
    const char *name;
    hdst__kind kind;
    uint64_t count;         // 0: a scalar
} ir_field;

hdst__record *ir_record(hdst__arena *arena, const char *name, uint64_t pack, const ir_field *fields, size_t count);
ir_func *ir_new(hdst__arena *arena, const char *name);
uint32_t ir_param_add(ir_func *func, ir_param_kind kind, const char *name, const hdst__record *record, bool is_table);
ir_expr *ir_number(ir_func *func, hdst__kind kind, double value);       // integers and floats
ir_expr *ir_op2(ir_func *func, ir_op op, ir_expr *a, ir_expr *b);       // bool for comparisons
ir_expr *ir_read(ir_func *func, ir_op op, uint32_t param, uint32_t leaf, ir_expr *a, ir_expr *b);
ir_expr *ir_length(ir_func *func, uint32_t param);
ir_stmt *ir_add(ir_func *func, ir_block *block, ir_stmt_kind kind);
void ir_assign(ir_func *func, ir_block *block, uint32_t var, ir_expr *value);
ir_stmt *ir_accumulate(ir_func *func, ir_block *block, uint32_t param, uint32_t leaf, ir_expr *row, ir_expr *element, ir_expr *value);

// The `assign` of the tutorial with D = 2: params p (point), c (center), t (total {x[2], n}), inertia (double).
ir_func *ir_kmeans(hdst__arena *arena);

#endif
