// SPDX-License-Identifier: Apache-2.0
// A reduce by key that is a function of two records, over runs of records with equal keys.
//
// reduce last(pair a, pair b) { return b; }, records {k, p, q}
//
// in run, broadcast records[], out result
//   first = run.first; end = first + run.count
//   a_p = records[first].p; a_q = records[first].q
//   for row in first + 1 .. end
//     next_p = records[row].p; next_q = records[row].q
//     a_p = next_p; a_q = next_q
//   result.k = records[first].k; result.p = a_p; result.q = a_q
#include "codegen/lower/leaf_vars.h"
#include "codegen/lower/lower.h"

typedef struct rewrite {
    ir_func *func;
    const uint32_t *value;      // leaf of the table's record, by leaf of the reduce's
    uint32_t so_far, next;      // the first of their variables, one for each leaf of the reduce's record
    uint32_t row;               // the variable of the second record's row
} rewrite;

enum { RUN, RECORDS, RESULT };  // parameters

static ir_expr *record_leaf(ir_func *func, hdst__kind kind, uint32_t leaf, uint32_t row_var, ir_expr *element)
{
    ir_expr *e = hdst__ir_const(func, kind, 0);
    e->op = IR_BROADCAST;
    e->param = RECORDS;
    e->leaf = leaf;
    e->a = hdst__ir_var(func, row_var);
    e->b = element;
    return e;
}

static bool rewrite_read(ir_expr **slot, void *user)
{
    const rewrite *r = user;
    ir_expr *e = *slot;
    if (e->op != IR_FIELD) return true;
    *slot = e->param == 0 ? hdst__leaf_var_read(r->func, r->so_far + e->leaf, e->a) : record_leaf(r->func, e->kind, r->value[e->leaf], r->row, e->a);
    return true;
}

static bool rewrite_store(ir_stmt *s, void *user)
{
    const rewrite *r = user;
    if (s->kind == IR_STORE) hdst__leaf_var_set(r->func, s, r->next + s->leaf, s->index);
    return true;
}

static ir_expr *again(ir_func *func, const ir_expr *element) { return hdst__ir_copy(func, element); }

static void set_leaf(ir_func *func, ir_block *block, uint32_t var, const hdst__leaf *leaf, const rewrite *r, uint32_t l, bool from_first, uint32_t first)
{
    ir_expr *element;
    ir_block *inner = hdst__over_elements(func, block, leaf->elements, &element);
    ir_expr *value = from_first ? record_leaf(func, leaf->kind, r->value[l], first, element) : hdst__leaf_var_read(func, r->next + l, element);
    ir_stmt *set = hdst__ir_set(func, var, value);
    hdst__leaf_var_set(func, set, var, again(func, element));
    hdst__ir_push(func, inner, set);
}

static void store_leaf(ir_func *func, uint32_t leaf, ir_expr *(*value)(ir_func *, uint32_t, ir_expr *, const void *), const void *user)
{
    const hdst__leaf *to = &func->params[RESULT].record->leaves[leaf];
    ir_expr *element;
    ir_block *inner = hdst__over_elements(func, &func->body, to->elements, &element);
    ir_stmt *store = hdst__ir_stmt(func, IR_STORE, (hdst__span){0});
    store->param = RESULT;
    store->leaf = leaf;
    store->value = value(func, leaf, element, user);
    store->index = again(func, element);
    hdst__ir_push(func, inner, store);
}

static ir_expr *of_first(ir_func *func, uint32_t leaf, ir_expr *element, const void *user)
{
    const uint32_t *first = user;
    return record_leaf(func, func->params[RECORDS].record->leaves[leaf].kind, leaf, *first, element);
}

static ir_expr *of_var(ir_func *func, uint32_t leaf, ir_expr *element, const void *user)
{
    (void)leaf;
    const uint32_t *var = user;
    ir_expr *value = hdst__leaf_var_read(func, *var, element);
    return hdst__kind_is_float(value->kind) ? hdst__ir_unary(func, IR_CANONICAL, value->kind, value) : value;
}

static void store_result(ir_func *func, const rewrite *r, const hdst__record *values, uint32_t first)
{
    const size_t leaves = func->params[RESULT].record->leaf_count;
    for (uint32_t leaf = 0; leaf < leaves; leaf++) {
        uint32_t l = 0;
        while (l < values->leaf_count && r->value[l] != leaf) l++;
        const uint32_t var = r->so_far + l;
        if (l < values->leaf_count) store_leaf(func, leaf, of_var, &var);
        else store_leaf(func, leaf, of_first, &first);
    }
}

static uint32_t set_u64(ir_func *func, const char *name, ir_expr *value)
{
    const uint32_t var = hdst__ir_add_var(func, name, HDST__U64, 0);
    hdst__ir_push(func, &func->body, hdst__ir_set(func, var, value));
    return var;
}

ir_func *hdst__operator_group_reduce(hdst__arena *arena, const ir_func *reduce, const hdst__record *keyed, const uint32_t *value)
{
    ir_func *func = hdst__ir_copy_func(arena, reduce);
    const hdst__record *values = reduce->params[0].record;
    ir_block body = func->body;
    func->body = (ir_block){0};
    func->param_count = func->param_capacity = 0;
    func->params = NULL;
    func->makes = false;        // not all of it: keys keep their bits
    hdst__ir_add_param(func, (ir_param){.kind = IR_INPUT, .name = "run", .bind = "run", .record = hdst__group_run_record(arena)});
    hdst__ir_add_param(func, (ir_param){.kind = IR_BROADCAST_TABLE, .name = "records", .bind = "records", .record = keyed, .is_table = true});
    hdst__ir_add_param(func, (ir_param){.kind = IR_OUTPUT, .name = "result", .bind = "result", .record = keyed});

    rewrite r = {.func = func,
                 .value = value,
                 .so_far = hdst__leaf_vars_add(func, values, "so_far"),
                 .next = hdst__leaf_vars_add(func, values, "next"),
                 .row = hdst__ir_add_var(func, "row", HDST__U64, 0)};
    const uint32_t first = set_u64(func, "first", hdst__group_run_leaf(func, 0));
    const uint32_t end = set_u64(func, "end", hdst__ir_binary(func, IR_ADD, HDST__U64, hdst__ir_var(func, first), hdst__group_run_leaf(func, 1)));
    for (uint32_t l = 0; l < values->leaf_count; l++) set_leaf(func, &func->body, r.so_far + l, &values->leaves[l], &r, l, true, first);

    ir_expr *second = hdst__ir_binary(func, IR_ADD, HDST__U64, hdst__ir_var(func, first), hdst__ir_const(func, HDST__U64, 1));
    ir_stmt *loop = hdst__ir_for(func, r.row, second, hdst__ir_var(func, end), 1);
    hdst__ir_visit_exprs(&body, rewrite_read, &r);
    hdst__ir_visit_stmts(&body, rewrite_store, &r);
    loop->body = body;
    for (uint32_t l = 0; l < values->leaf_count; l++) set_leaf(func, &loop->body, r.so_far + l, &values->leaves[l], &r, l, false, first);
    hdst__ir_push(func, &func->body, loop);
    store_result(func, &r, values, first);
    return func;
}
