// SPDX-License-Identifier: Apache-2.0
// What a rare record loop reads of the vectorised one in front of it is computed again there, so that nothing is kept in arrays over the block for a loop
// that hardly ever runs.
//
// Before:  records vectorize {            After:  records vectorize {
//            e = mul(p.x, p.x)                      e = mul(p.x, p.x)
//            reduce s += fixed(e)                   reduce s += fixed(e)
//          }                                      }
//          records (rare) {                       records (rare) {
//            superaccumulator t.v += e                          e_2 = mul(p.x, p.x)
//          }                                        superaccumulator t.v += e_2
//                                                 }
#include "codegen/pass/block_form.h"
#include "base/costs_cpu.h"

typedef struct slice {
    ir_func *func;
    bool *needed;               // by variable: its value at the place that is looked at
    bool *taken;                // by statement of the loop in front
    size_t nodes;
    bool fails;
} slice;

static bool need_reads(ir_expr **expr, void *user)
{
    slice *s = user;
    const ir_expr *e = *expr;
    s->nodes++;
    if (e->op == IR_VAR && s->func->vars[e->var].varying) s->needed[e->var] = true;
    if (e->op == IR_ELEM && s->func->vars[e->var].varying) s->fails = true;
    return true;
}

static bool leaves_needed(ir_stmt *s, void *user) { return !hdst__ir_writes(s, s->var) || !((const slice *)user)->needed[s->var]; }

static bool writes_needed(const slice *s, ir_stmt *stmt) { return !hdst__ir_visit_stmts(&(ir_block){&stmt, 1, 1}, leaves_needed, (void *)s); }

// From the last statement to the first: the assignments that what is needed comes from.
static bool find_slice(slice *s, const ir_block *from)
{
    for (size_t i = from->count; i-- > 0 && !s->fails;) {
        ir_stmt *stmt = from->items[i];
        if (stmt->kind != IR_SET || !s->needed[stmt->var]) {
            s->fails |= writes_needed(s, stmt);
            continue;
        }
        s->taken[i] = true;
        s->needed[stmt->var] = false;
        hdst__ir_visit_expr(&stmt->value, need_reads, s);
    }
    for (size_t i = 0; i < from->count && !s->fails; i++) s->fails = writes_needed(s, from->items[i]);     // read before it is set: the old value is gone
    return !s->fails && s->nodes <= HDST__CPU_RECOMPUTED_NODES;
}

static uint32_t renamed(ir_func *func, uint32_t *name, uint32_t var)
{
    if (!name[var]) name[var] = hdst__block_new_var(func, func->vars[var].name, func->vars[var].kind, true);
    return name[var];
}

bool hdst__block_recompute(ir_func *func, ir_block *body, const ir_block *from)
{
    const size_t vars = func->var_count;
    slice s = {func, HDST__NEW_ARRAY(func->arena, bool, vars + 1), HDST__NEW_ARRAY(func->arena, bool, from->count + 1), 0, false};
    uint8_t *access = HDST__NEW_ARRAY(func->arena, uint8_t, vars + 1);
    hdst__ir_accesses(body, access);
    for (uint32_t v = 0; v < vars; v++) s.needed[v] = func->vars[v].varying && !func->vars[v].elements && access[v] && !(access[v] & IR_SET_FIRST);
    if (!find_slice(&s, from)) return false;
    uint32_t *name = HDST__NEW_ARRAY(func->arena, uint32_t, vars + 1);      // 0: none; variable 0 is older than any new one
    ir_block out = {0};
    for (size_t i = 0; i < from->count; i++)
        if (s.taken[i]) hdst__ir_push(func, &out, hdst__ir_set(func, renamed(func, name, from->items[i]->var), hdst__ir_copy(func, from->items[i]->value)));
    for (size_t i = 0; i < body->count; i++) hdst__ir_push(func, &out, body->items[i]);
    for (uint32_t v = 0; v < vars; v++)
        if (name[v]) hdst__ir_substitute(func, &out, v, hdst__ir_var(func, name[v]));
    *body = out;
    return true;
}
