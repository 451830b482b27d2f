// SPDX-License-Identifier: Apache-2.0
// Drops checks that cannot fail, and clamps that change nothing.
//
// Before:  for j = 0u to u32(length(c)) {                      After:  for j = 0u to u32(length(c)) {
//            x = c[select(lt(u64(j), length(c)), j, 0u)].x             x = c[select(true, j, 0u)].x
//          }                                                         }
//          if lt(u64(i), 4ul) {                                      if lt(u64(i), 4ul) {
//            check 1: lt(u64(i), 4ul)                                  check 1: true of u64(i), 4ul
//            x = a[select(lt(u64(i), 4ul), i, 0u)]                     x = a[select(lt(u64(i), 4ul), i, 0u)]
//          }                                                         }
//
// A clamp goes when its index is always in range; a check goes also when it is in range here, behind the conditions
// and checks on the way (value_ranges.h): the clamp stays then, as expressions may later leave their branch. What
// holds becomes `true`; folding does the rest.
#include "codegen/pass/passes.h"
#include "codegen/pass/value_ranges.h"

typedef hdst__prover prover;

static bool drop_clamp(ir_expr **slot, void *user)
{
    prover *p = user;
    const ir_expr *e = *slot;
    if (e->op == IR_LT && e->a->kind == HDST__U64 && hdst__prover_holds(p, e, true)) *slot = hdst__ir_const(p->func, HDST__BOOL, 1);
    return true;
}

static void walk(prover *p, ir_block *block);

// --- Branches ---

typedef struct written {        // a variable that a branch sets, before and at the end of `then`
    uint32_t var;
    hdst__range before, then;
} written;

typedef struct branch {
    prover *p;
    written *items;
    size_t count, capacity;
} branch;

static bool count_sets(ir_stmt *s, void *user)
{
    branch *b = user;
    b->capacity += s->kind == IR_SET;
    return true;
}

static bool collect_set(ir_stmt *s, void *user)
{
    branch *b = user;
    if (s->kind == IR_SET) b->items[b->count++] = (written){.var = s->var, .before = b->p->vars[s->var].here};
    return true;
}

static branch written_in(prover *p, ir_stmt *s)
{
    branch b = {.p = p};
    ir_block whole = {&s, 1, 1};
    hdst__ir_visit_stmts(&whole, count_sets, &b);
    b.items = HDST__NEW_ARRAY(p->func->arena, written, b.capacity + 1);
    hdst__ir_visit_stmts(&whole, collect_set, &b);
    return b;
}

static bool leaves(const ir_block *block)
{
    if (!block->count) return false;
    const ir_stmt_kind last = block->items[block->count - 1]->kind;
    return last == IR_BREAK || last == IR_CONTINUE || last == IR_RETURN;
}

static hdst__range range_now(prover *p, uint32_t var)
{
    ir_expr e = {.op = IR_VAR, .kind = p->func->vars[var].kind, .var = var};
    p->effort = 0;
    return hdst__kind_is_integer(e.kind) ? hdst__prover_range(p, &e) : p->vars[var].always;
}

static void walk_under(prover *p, ir_block *block, const ir_expr *cond, bool outcome)
{
    hdst__prover_note(p, cond, outcome);
    walk(p, block);
}

// What a bool was set to by `if (cond) { ...; b = value }`, in terms of what it was before: `a && b` and `a || b`
// with a check on the right, and flags of early exits.
typedef struct flag {
    const ir_stmt *set;         // NULL: it is no such branch
    ir_expr *cond, *before;     // NULL: not known
} flag;

static ir_expr *known_value(prover *p, const ir_expr *e)       // of a bool variable or its opposite
{
    if (e->op == IR_NOT) {
        ir_expr *inner = known_value(p, e->a);
        return inner ? hdst__ir_unary(p->func, IR_NOT, HDST__BOOL, inner) : NULL;
    }
    if (e->op != IR_VAR) return (ir_expr *)e;
    const hdst__known *v = &p->vars[e->var];
    return v->same && hdst__prover_is_current(p, v->same, v->same_time) ? (ir_expr *)v->same : NULL;
}

static flag find_flag(prover *p, const ir_stmt *s)
{
    flag f = {0};
    if (s->otherwise.count || !s->then.count) return f;
    const ir_stmt *last = s->then.items[s->then.count - 1];
    if (last->kind != IR_SET || last->value->kind != HDST__BOOL || hdst__ir_expr_reads(last->value, last->var)) return f;
    const ir_expr self = {.op = IR_VAR, .kind = HDST__BOOL, .var = last->var};
    f.set = last;
    f.before = known_value(p, &self);
    f.cond = hdst__ir_expr_reads(s->cond, last->var) ? known_value(p, s->cond) : s->cond;
    return f;
}

static bool reads_current(prover *p, const ir_expr *e, uint64_t since) { return e && hdst__prover_is_current(p, e, since); }

// After the branch: since when it is known what f.before and f.cond were.
static void note_flag(prover *p, const flag *f, uint64_t since)
{
    ir_func *func = p->func;
    if (!f->set || !reads_current(p, f->cond, since)) return;
    ir_expr *cond = f->cond, *not_cond = hdst__ir_unary(func, IR_NOT, HDST__BOOL, cond), *value = f->set->value, *before = f->before;
    hdst__known *v = &p->vars[f->set->var];
    if (!reads_current(p, value, v->written)) return;
    ir_expr *same = NULL;
    if (hdst__ir_is_const(value, 1) && reads_current(p, before, since)) same = hdst__ir_binary(func, IR_OR, HDST__BOOL, before, cond);
    else if (hdst__ir_is_const(value, 0) && reads_current(p, before, since)) same = hdst__ir_binary(func, IR_AND, HDST__BOOL, before, not_cond);
    else if (before == f->cond || (before && hdst__ir_is_const(before, 0))) same = hdst__ir_binary(func, IR_AND, HDST__BOOL, cond, value);
    else if ((before && hdst__ir_is_const(before, 1)) || (cond->op == IR_NOT && cond->a == before))
        same = hdst__ir_binary(func, IR_OR, HDST__BOOL, not_cond, value);
    v->same = same;
    v->same_time = p->time;
}

static void walk_if(prover *p, ir_stmt *s)
{
    const size_t facts = p->fact_count;
    const uint64_t start = p->time;
    const flag f = find_flag(p, s);
    branch b = written_in(p, s);
    const bool then_leaves = leaves(&s->then), otherwise_leaves = leaves(&s->otherwise);
    walk_under(p, &s->then, s->cond, true);
    for (size_t i = 0; i < b.count; i++) {
        b.items[i].then = then_leaves ? hdst__range_empty() : range_now(p, b.items[i].var);
        p->vars[b.items[i].var].here = b.items[i].before;
        p->vars[b.items[i].var].same = NULL;
    }
    p->fact_count = facts;
    walk_under(p, &s->otherwise, s->cond, false);
    for (size_t i = 0; i < b.count; i++) {
        hdst__known *v = &p->vars[b.items[i].var];
        const hdst__range otherwise = otherwise_leaves ? hdst__range_empty() : range_now(p, b.items[i].var);
        v->here = hdst__range_join(b.items[i].then, otherwise);
        v->same = NULL;         // one or the other
    }
    p->fact_count = facts;
    note_flag(p, &f, start);
    if (then_leaves && hdst__prover_is_current(p, s->cond, start)) hdst__prover_note(p, s->cond, false);
}

// --- Loops ---

static void walk_for(prover *p, ir_stmt *s)
{
    const size_t facts = p->fact_count;
    hdst__prover_forget(p, &s->body);
    hdst__prover_set(p, s->var, NULL);
    p->vars[s->var].loop = s;
    walk(p, &s->body);
    p->vars[s->var].loop = NULL;
    p->fact_count = facts;
    hdst__prover_forget(p, &s->body);
    hdst__prover_set(p, s->var, NULL);
}

static void forget_loop(prover *p, const ir_stmt *s)
{
    hdst__prover_forget(p, &s->head);
    hdst__prover_forget(p, &s->body);
    hdst__prover_forget(p, &s->after);
}

static void walk_loop(prover *p, ir_stmt *s)
{
    const size_t facts = p->fact_count;
    forget_loop(p, s);
    walk(p, &s->head);
    if (s->cond) hdst__prover_note(p, s->cond, true);
    walk(p, &s->body);
    p->fact_count = facts;      // a turn may be ended anywhere in the body
    forget_loop(p, s);
    walk(p, &s->after);
    p->fact_count = facts;
    forget_loop(p, s);
}

// --- Statements ---

static void walk_stmt(prover *p, ir_stmt *s)
{
    hdst__ir_visit_own_exprs(s, drop_clamp, p);
    switch (s->kind) {
    case IR_SET: hdst__prover_set(p, s->var, s->value); break;
    case IR_SET_ELEM: hdst__prover_set(p, s->var, NULL); break;
    case IR_IF: walk_if(p, s); break;
    case IR_FOR: walk_for(p, s); break;
    case IR_LOOP: walk_loop(p, s); break;
    case IR_CHECK:              // a record that fails it has failed: what it fails later does not count
        if (hdst__prover_holds(p, s->cond, false)) s->cond = hdst__ir_const(p->func, HDST__BOOL, 1);
        else hdst__prover_note(p, s->cond, true);
        break;
    default: break;
    }
}

static void walk(prover *p, ir_block *block)
{
    for (size_t i = 0; i < block->count; i++) {
        hdst__arena_look(p->func->arena);
        walk_stmt(p, block->items[i]);
    }
}

void hdst__pass_bounds_checks(ir_func *func)
{
    prover p;
    hdst__prover_init(&p, func);
    walk(&p, &func->body);
}
