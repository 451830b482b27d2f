// SPDX-License-Identifier: Apache-2.0
// Block form: the loop over the records of a block that adds to a sum of the whole dataset (IR_ACCUM_BLOCK), with the
// sum in registers. It is a function of its own, shared by all sums whose addends are made alike; what differs are its
// operands. sum_loops.c (codegen/pass) makes them.
//
//     sum loop 1 f32 by 16 one two three double (input f32 a, block f32 b, f32 c) mul(mul(a, b), c)
//     ...
//     block t.x += mul(mul(p.x, weight), scale) by loop 1
#ifndef HDST_CODEGEN_IR_SUM_LOOP_H
#define HDST_CODEGEN_IR_SUM_LOOP_H

#include "codegen/ir/ir.h"

// How a vector of addends goes to the sum (accum/levels_run.cl), in the order in which a loop tries them.
typedef enum ir_sum_way {
    IR_SUM_BIT_TEST,            // two levels of doubles; the addends' own bits tell whether these hold them
    IR_SUM_ONE_LEVEL,           // pre-rounded, in one level
    IR_SUM_TWO_LEVELS,
    IR_SUM_THREE_LEVELS,
    IR_SUM_IN_DOUBLE,           // floats that lie close enough together, in doubles
    IR_SUM_ROUNDED,             // fast sums: rounded at each addition
    IR_SUM_WAYS
} ir_sum_way;

enum { HDST__SUM_OPERANDS = 4 };

struct ir_sum_loop {
    hdst__kind kind;            // of the sum: f32 or f64
    uint32_t lanes;             // records of a vector
    uint32_t ways;              // 1u << ir_sum_way
    ir_var *operand;            // per_record: a value for each record of the block, side by side; else one for all of them
    bool *in_input;             // by operand: those values lie in the input, not in an array over the block
    uint32_t operand_count;
    ir_expr *addend;            // IR_VAR: an operand, by number
};

const char *hdst__sum_way_name(ir_sum_way way);         // "one", "two" ...

// Whether a loop can take the value as it is: few operations on few operands. What it cannot is computed in a record
// loop first, and kept.
bool hdst__sum_loop_can(const ir_func *func, const ir_expr *value);
// What the value is made of, each operand once; HDST__SUM_OPERANDS at most. How many. Of a value that a loop can take.
uint32_t hdst__sum_loop_operands(const ir_func *func, ir_expr *value, ir_expr *operands[HDST__SUM_OPERANDS]);
// The loop that adds the value; of `func` only memory is taken. No lanes and ways yet.
ir_sum_loop hdst__sum_loop_of(const ir_func *func, ir_expr *value);
// The same, but for lanes and ways.
bool hdst__sum_loops_equal(const ir_sum_loop *a, const ir_sum_loop *b);
// Sums that share a factor (shared_factors.c): products of two floats of the records, one of which is the same in all of them, and then, if it is added too,
// that factor itself; each adds to another cell. NULL: they are none. How many of them are products: all, or all but the last.
enum { HDST__SHARED_PRODUCTS = 4, HDST__SHARED_LEAST = 3 };
ir_expr *hdst__shared_factor(const ir_func *func, ir_stmt *const *stmts, size_t count);
bool hdst__is_product_with(const ir_expr *value, const ir_expr *factor);
ir_expr *hdst__other_factor(const ir_expr *product, const ir_expr *factor);
// Those that begin with the first one: how many statements. 0: it is by itself.
size_t hdst__shared_count(ir_stmt *const *stmts, size_t count);
// A function whose variables are the loop's operands: what prints and reads expressions takes the addend with it.
ir_func hdst__sum_loop_scope(const ir_func *func, const ir_sum_loop *loop);

#endif
