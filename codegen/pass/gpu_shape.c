// SPDX-License-Identifier: Apache-2.0
// GPU form: how many work-items a work-group has, and how many records a lane takes at once. What whoever measures
// asked for is taken where it can be.
//
// Before: accum t.n += 1u
// After:  shape group 256 records 8      accum t.n += 1u
#include "codegen/pass/gpu_form.h"

#include "codegen/pass/row_form.h"
#include "base/costs_gpu.h"

typedef struct body_look {
    size_t nodes, adds;
    bool shares;            // has a uniform loop, whose broadcasts several records may share
    bool varies;            // has a loop that records leave apart
} body_look;

static bool look(ir_stmt *stmt, void *user)
{
    body_look *body = user;
    const ir_expr *expr[] = {stmt->value, stmt->cond, stmt->index, stmt->index2};
    for (size_t i = 0; i < sizeof expr / sizeof *expr; i++)
        if (expr[i]) body->nodes += hdst__ir_expr_size(expr[i]);
    if (stmt->kind == IR_ACCUM) {
        body->nodes += HDST__GPU_ADDITION_NODES;
        body->adds++;
    }
    if (stmt->kind == IR_FOR || stmt->kind == IR_LOOP) *(hdst__ir_loop_varies(stmt) ? &body->varies : &body->shares) = true;
    return true;
}

static bool see_element(ir_expr **slot, void *user)
{
    const ir_expr *e = *slot;
    return e->op != IR_ELEM || e->a->op == IR_CONST || !((const ir_func *)user)->vars[e->var].varying;
}

static bool see_set_element(ir_stmt *s, void *user)
{
    return s->kind != IR_SET_ELEM || s->index->op == IR_CONST || !((const ir_func *)user)->vars[s->var].varying;
}

// Of a record's own, and not as single variables, which they are where all indices are constant.
static bool has_arrays(const ir_func *func)
{
    ir_block body = func->body;
    return !hdst__ir_visit_exprs(&body, see_element, (void *)func) || !hdst__ir_visit_stmts(&body, see_set_element, (void *)func);
}

// Several records keep enough loads under way, and share what a uniform loop reads; registers set the limit. Eight
// where records only add to tables and there is little else to do (least squares over 100M records: 1.16, 0.80, 0.68
// ms with 2, 4, 8 of them), four for maps and short loops, two where there is more (a step of logistic regression
// over 210M records: 5.2 and 3.8 ms with 1, 2 of them); one where a body is very long, or long with a loop, or keeps
// arrays, or where records go separate ways.
static uint32_t choose_records(const ir_func *func, uint32_t wanted)
{
    body_look body = {0};
    ir_block block = func->body;
    hdst__ir_visit_stmts(&block, look, &body);
    if (func->emits) return 1;          // its place follows from the lanes before it
    if (wanted) return wanted < IR_LANE_RECORDS ? wanted : IR_LANE_RECORDS;
    if (body.varies || has_arrays(func) || body.nodes > HDST__GPU_LONG_BODY_NODES) return 1;
    if (body.nodes > HDST__GPU_MIDDLE_BODY_NODES) return body.shares ? 1 : 2;
    if (body.nodes > HDST__GPU_SHORT_BODY_NODES) return body.shares || body.adds > HDST__GPU_SHORT_BODY_ADDS ? 2 : 4;
    return body.shares || !body.adds ? 4 : 8;
}

bool hdst__gpu_is_wide(const ir_func *func) { return hdst__bytes_read(func) >= HDST__GPU_WIDE_RECORD_BYTES; }

void hdst__pass_gpu_shape(ir_func *func, const ir_shape *asked, uint32_t most_group)
{
    const bool wide = hdst__gpu_is_wide(func);
    ir_shape *shape = HDST__NEW(func->arena, ir_shape);
    *shape = *asked;
    if (!shape->group) shape->group = wide ? HDST__GPU_WIDE_GROUP : HDST__GPU_GROUP;
    while (shape->group > 1 && most_group && shape->group > most_group) shape->group /= 2;
    shape->records = choose_records(func, !asked->records && wide ? 1 : asked->records);
    func->shape = shape;
}
