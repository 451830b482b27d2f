// SPDX-License-Identifier: Apache-2.0
// Short words for making IR by hand in tests, and KMeans as the lowering and the scalar passes would leave it
// (tests/support/ir_make.h).
#include "tests/support/ir_make.h"

#include <assert.h>
#include <math.h>
#include <string.h>

static const hdst__span nowhere = {UINT32_MAX, 0, 0};

hdst__record *ir_record(hdst__arena *arena, const char *name, uint64_t pack, const ir_field *fields, size_t count)
{
    hdst__record *record = HDST__NEW(arena, hdst__record);
    hdst__field *f = HDST__NEW_ARRAY(arena, hdst__field, count);
    for (size_t i = 0; i < count; i++) {
        const hdst__type *scalar = hdst__type_scalar(fields[i].kind);
        f[i] = (hdst__field){.name = fields[i].name, .type = fields[i].count ? hdst__type_array(arena, scalar, fields[i].count) : scalar};
    }
    record->name = name;
    record->fields = f;
    record->field_count = count;
    record->pack = pack;
    const char *why = NULL;
    const bool ok = hdst__record_finish(arena, record, &why);
    assert(ok);
    (void)ok;
    return record;
}

ir_func *ir_new(hdst__arena *arena, const char *name)
{
    ir_func *func = HDST__NEW(arena, ir_func);
    func->arena = arena;
    func->name = name;
    return func;
}

uint32_t ir_param_add(ir_func *func, ir_param_kind kind, const char *name, const hdst__record *record, bool is_table)
{
    return hdst__ir_add_param(func, (ir_param){.kind = kind, .name = name, .record = record, .is_table = is_table, .bind = name});
}

ir_expr *ir_number(ir_func *func, hdst__kind kind, double value)
{
    uint64_t bits = (uint64_t)(int64_t)value;
    if (kind == HDST__F32) {
        const float f = (float)value;
        bits = 0;
        memcpy(&bits, &f, sizeof f);
    } else if (kind == HDST__F64) {
        memcpy(&bits, &value, sizeof value);
    }
    return hdst__ir_const(func, kind, bits);
}

ir_expr *ir_op2(ir_func *func, ir_op op, ir_expr *a, ir_expr *b)
{
    return hdst__ir_binary(func, op, op >= IR_LT && op <= IR_NE ? HDST__BOOL : a->kind, a, b);
}

ir_expr *ir_read(ir_func *func, ir_op op, uint32_t param, uint32_t leaf, ir_expr *a, ir_expr *b)
{
    ir_expr *e = hdst__ir_const(func, func->params[param].record->leaves[leaf].kind, 0);
    e->op = op;
    e->param = param;
    e->leaf = leaf;
    e->a = a;
    e->b = b;
    return e;
}

ir_expr *ir_length(ir_func *func, uint32_t param)
{
    ir_expr *e = hdst__ir_const(func, HDST__U64, 0);
    e->op = IR_LENGTH;
    e->param = param;
    return e;
}

ir_stmt *ir_add(ir_func *func, ir_block *block, ir_stmt_kind kind)
{
    ir_stmt *stmt = hdst__ir_stmt(func, kind, nowhere);
    hdst__ir_push(func, block, stmt);
    return stmt;
}

void ir_assign(ir_func *func, ir_block *block, uint32_t var, ir_expr *value)
{
    ir_stmt *stmt = ir_add(func, block, IR_SET);
    stmt->var = var;
    stmt->value = value;
}

ir_stmt *ir_accumulate(ir_func *func, ir_block *block, uint32_t param, uint32_t leaf, ir_expr *row, ir_expr *element, ir_expr *value)
{
    ir_stmt *stmt = ir_add(func, block, IR_ACCUM);
    stmt->param = param;
    stmt->leaf = leaf;
    stmt->index = row;
    stmt->index2 = element;
    stmt->value = value;
    stmt->acc = func->params[param].leaf_op ? func->params[param].leaf_op[leaf] : HDST__SUM;
    return stmt;
}

// --- KMeans ---

static void kmeans_params(ir_func *f)
{
    hdst__arena *arena = f->arena;
    hdst__record *point = ir_record(arena, "point", 0, (ir_field[]){{"x", HDST__F32, 2}}, 1),
                 *center = ir_record(arena, "center", 0, (ir_field[]){{"x", HDST__F32, 2}}, 1);
    hdst__record *total = ir_record(arena, "total", 0, (ir_field[]){{"x", HDST__F32, 2}, {"n", HDST__U32, 0}}, 2);
    hdst__record *number = ir_record(arena, "double", 0, (ir_field[]){{"value", HDST__F64, 0}}, 1);
    number->is_scalar = true;
    ir_param_add(f, IR_INPUT, "p", point, false);
    ir_param_add(f, IR_BROADCAST_TABLE, "c", center, true);
    ir_param_add(f, IR_ACCUM_TABLE, "t", total, true);
    const uint32_t inertia = ir_param_add(f, IR_ACCUM_TABLE, "inertia", number, false);
    f->params[inertia].leaf_from_float = HDST__NEW_ARRAY(arena, bool, 1);
    f->params[inertia].leaf_from_float[0] = true;
}

// e = p.x[i] - c[j].x[i]; d = fma(e, e, d)
static void kmeans_distance(ir_func *f, ir_block *block, uint32_t j, uint32_t d)
{
    for (int i = 0; i < 2; i++) {
        const uint32_t e = hdst__ir_add_var(f, "e", HDST__F32, 0);
        ir_expr *element = ir_number(f, HDST__U32, i), *row = hdst__ir_convert(f, HDST__U64, hdst__ir_var(f, j));
        ir_assign(f, block, e, ir_op2(f, IR_SUB, ir_read(f, IR_FIELD, 0, 0, element, NULL), ir_read(f, IR_BROADCAST, 1, 0, row, hdst__ir_copy(f, element))));
        ir_expr *fma = hdst__ir_unary(f, IR_FMA, HDST__F32, hdst__ir_var(f, e));
        fma->b = hdst__ir_var(f, e);
        fma->c = hdst__ir_var(f, d);
        ir_assign(f, block, d, fma);
    }
}

ir_func *ir_kmeans(hdst__arena *arena)
{
    ir_func *f = ir_new(arena, "assign");
    kmeans_params(f);
    const uint32_t best = hdst__ir_add_var(f, "best", HDST__U32, 0), best_d = hdst__ir_add_var(f, "best_d", HDST__F32, 0);
    const uint32_t j = hdst__ir_add_var(f, "j", HDST__U32, 0), d = hdst__ir_add_var(f, "d", HDST__F32, 0);
    ir_assign(f, &f->body, best, ir_number(f, HDST__U32, 0));
    ir_assign(f, &f->body, best_d, ir_number(f, HDST__F32, INFINITY));
    ir_stmt *loop = ir_add(f, &f->body, IR_FOR);
    loop->var = j;
    loop->lo = ir_number(f, HDST__U32, 0);
    loop->hi = hdst__ir_convert(f, HDST__U32, ir_length(f, 1));
    loop->step = 1;
    ir_assign(f, &loop->body, d, ir_number(f, HDST__F32, 0));
    kmeans_distance(f, &loop->body, j, d);
    ir_stmt *nearer = ir_add(f, &loop->body, IR_IF);
    nearer->cond = ir_op2(f, IR_LT, hdst__ir_var(f, d), hdst__ir_var(f, best_d));
    ir_assign(f, &nearer->then, best_d, hdst__ir_var(f, d));
    ir_assign(f, &nearer->then, best, hdst__ir_var(f, j));
    for (int i = 0; i < 2; i++)
        ir_accumulate(f, &f->body, 2, 0, hdst__ir_var(f, best), ir_number(f, HDST__U32, i), ir_read(f, IR_FIELD, 0, 0, ir_number(f, HDST__U32, i), NULL));
    ir_accumulate(f, &f->body, 2, 1, hdst__ir_var(f, best), NULL, ir_number(f, HDST__U32, 1));
    ir_accumulate(f, &f->body, 3, 0, NULL, NULL, hdst__ir_convert(f, HDST__F64, hdst__ir_var(f, best_d)));
    return f;
}
