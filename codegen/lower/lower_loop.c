// SPDX-License-Identifier: Apache-2.0
// Loops. `for (uint32_t i = lo; i < hi; i += step)` becomes an IR_FOR where the body assigns to neither i nor hi and i cannot
// wrap; every other loop is an IR_LOOP. Counted loops can be interchanged with the records, so many ways of writing them are
// recognised.
//
// Where hi may be greater than any value of i, i wraps around until a break or return leaves the loop: it is a general one.
// Without break or return it would never end (C11 6.8.5p6 lets a compiler assume that it ends), so its bound is cut to the
// greatest value of i, and it is counted.
#include "codegen/ir/eval.h"
#include "codegen/lower/lower_state.h"
#include "codegen/lower/steady.h"
#include "codegen/pass/interval.h"

// --- What stays the same ---

// Whether the value stays the same while `loop` runs, and computing it has no effect and no checks.
static bool is_steady(const ast_expr *e, const ast_stmt *loop)
{
    switch (e->kind) {
    case AST_NUMBER: return true;
    case AST_NAME: return !hdst__lower_assigns(loop->then, e->decl) && !hdst__lower_assigns(loop->step, e->decl);        // not the counter either
    case AST_MEMBER: case AST_CONVERT: return is_steady(e->left, loop);
    case AST_UNARY: return is_steady(e->left, loop);
    case AST_BINARY:
        if (e->op == AST_DIV || e->op == AST_REM) return false;
        return is_steady(e->left, loop) && is_steady(e->right, loop);
    case AST_INDEX: return e->right->kind == AST_NUMBER && is_steady(e->left, loop);
    case AST_CALL:
        if (e->builtin != HDST__BI_LEN || e->callee) return false;
        return is_steady(hdst__is_key_rows(e->args[0]) ? e->args[0]->right : e->args[0], loop);
    default: return false;
    }
}

// --- The condition: a bound below which the counter runs ---

typedef struct counter {
    const ast_decl *decl;
    hdst__kind kind;
    bool from_zero, not_negative;   // what is known of the first value
    uint64_t step;
} counter;

static uint64_t greatest(hdst__kind kind)
{
    unsigned bits = 8 * (unsigned)hdst__scalar_size(kind);
    if (hdst__kind_is_signed(kind)) bits--;
    return bits == 64 ? UINT64_MAX : ((uint64_t)1 << bits) - 1;
}

static bool is_counter(const ast_expr *e, const counter *c) { return e->kind == AST_NAME && e->decl == c->decl; }

static const ast_expr *without_conversion(const ast_expr *e)
{
    while (e->kind == AST_CONVERT && e->implied) e = e->left;
    return e;
}

// Whether `(wide)i < limit` can be compared in i's own kind, if the limit is a value of that kind or cut to one (`in_reach`).
static bool may_narrow(const counter *c, hdst__kind wide, const ast_expr *limit)
{
    if (wide == c->kind) return true;
    if (limit->kind == AST_NUMBER)
        return (c->not_negative || !hdst__kind_is_signed(c->kind) || hdst__kind_is_signed(wide)) && limit->number.bits <= greatest(c->kind);
    if (!hdst__kind_is_signed(c->kind)) return hdst__scalar_size(wide) > hdst__scalar_size(c->kind);
    if (hdst__kind_is_signed(wide)) return true;
    return c->not_negative && without_conversion(limit)->kind == AST_CALL;      // a signed counter against the length of a table
}

// --- Whether the counter meets its bound before it wraps ---

enum { LONGEST_BOUND = 64 };    // expressions of a bound that are looked at

// The values that a bound may have, by its types and constants. A table has fewer rows than the greatest 32-bit number
// (docs/kernel-language.md).
static hdst__range range_of(const ir_expr *e, hdst__kind counts, unsigned *effort)
{
    const hdst__range whole = hdst__range_of_kind(e->kind);
    if (++*effort > LONGEST_BOUND || !hdst__kind_is_integer(e->kind)) return whole;
    switch (e->op) {
    case IR_CONST: return hdst__range_of_bits(e->kind, e->bits);
    case IR_LENGTH: return hdst__scalar_size(counts) >= 4 ? (hdst__range){0, hdst__range_of_kind(counts).high} : whole;
    case IR_CONVERT:
        if (!hdst__kind_is_integer(e->a->kind) && e->a->kind != HDST__BOOL) return whole;
        return hdst__range_fit(e->kind, e->a->kind == HDST__BOOL ? hdst__range_of_kind(HDST__BOOL) : range_of(e->a, counts, effort));
    case IR_SELECT: return hdst__range_join(range_of(e->b, counts, effort), range_of(e->c, counts, effort));
    case IR_ADD: case IR_SUB: case IR_MUL: case IR_DIV: case IR_REM: case IR_AND: case IR_OR: case IR_XOR: case IR_SHL: case IR_SHR: case IR_MIN: case IR_MAX:
        return hdst__range_binary(e->op, e->kind, range_of(e->a, counts, effort), range_of(e->b, counts, effort));
    default: return whole;
    }
}

// Whether the counter's type has every value that the limit may take: then the condition fails for some i.
static bool in_reach(const counter *c, const ir_expr *limit, ast_op op)
{
    unsigned effort = 0;
    return range_of(limit, c->kind, &effort).high + (op == AST_LE) <= hdst__range_of_kind(c->kind).high;
}

// Something leaves the loop other than its condition: a break of its own (`breaks`: not of a loop or switch within it), a return.
static bool leaves(const ast_stmt *s, bool breaks)
{
    if (!s) return false;
    if (s->kind == AST_RETURN || (s->kind == AST_BREAK && breaks)) return true;
    const bool own = breaks && s->kind != AST_WHILE && s->kind != AST_DO && s->kind != AST_FOR && s->kind != AST_FOR_IN && s->kind != AST_SWITCH;
    for (size_t i = 0; i < s->body_count; i++)
        if (leaves(s->body[i], own)) return true;
    return leaves(s->then, own) || leaves(s->otherwise, own);
}

static ir_expr *narrowed(lowerer *l, hdst__kind kind, ir_expr *limit)
{
    if (limit->kind == kind) return limit;
    if (limit->op == IR_CONST) return hdst__lower_convert(l, kind, limit);
    hdst__kind wide = limit->kind;
    ir_expr *most = hdst__ir_const(l->func, wide, greatest(kind));
    limit = hdst__ir_binary(l->func, IR_MIN, wide, limit, most);
    if (hdst__kind_is_signed(wide)) {
        uint64_t least = hdst__kind_is_signed(kind) ? ~greatest(kind) : 0;
        limit = hdst__ir_binary(l->func, IR_MAX, wide, limit, hdst__ir_const(l->func, wide, least));
    }
    return hdst__lower_convert(l, kind, limit);
}

// i <= limit is i < limit + 1, except for the greatest number of the type (where the loop never ends).
static ir_expr *plus_one(lowerer *l, ir_expr *limit)
{
    hdst__kind kind = limit->kind;
    ir_expr *one = hdst__ir_const(l->func, kind, 1), *most = hdst__ir_const(l->func, kind, greatest(kind) - 1);
    if (limit->op == IR_CONST) return limit->bits == greatest(kind) ? NULL : hdst__ir_const(l->func, kind, hdst__eval_binary(IR_ADD, kind, limit->bits, 1));
    return hdst__ir_binary(l->func, IR_ADD, kind, hdst__ir_binary(l->func, IR_MIN, kind, limit, most), one);
}

static ast_op mirrored(ast_op op)
{
    switch (op) {
    case AST_GT: return AST_LT;
    case AST_GE: return AST_LE;
    case AST_LT: return AST_GT;
    case AST_LE: return AST_GE;
    default: return op;
    }
}

// The bound of a counted loop, of the counter's kind; NULL when the condition does not bound the counter.
static ir_expr *bound(lowerer *l, const ast_stmt *s, const counter *c)
{
    const ast_expr *e = s->cond;
    if (!e || e->kind != AST_BINARY) return NULL;
    const bool left = is_counter(without_conversion(e->left), c);
    if (!left && !is_counter(without_conversion(e->right), c)) return NULL;
    const ast_expr *limit = left ? e->right : e->left;
    const ast_op op = left ? e->op : mirrored(e->op);
    if (op != AST_LT && op != AST_LE && op != AST_NE) return NULL;
    if (op == AST_NE && !(c->from_zero && c->step == 1 && !hdst__kind_is_signed(limit->type->kind))) return NULL;
    if (!hdst__kind_is_integer(limit->type->kind) || !is_steady(limit, s) || !may_narrow(c, limit->type->kind, limit)) return NULL;
    ir_expr *value = hdst__lower_value(l, limit);
    if (!in_reach(c, value, op) && leaves(s->then, true)) return NULL;
    // One is added before the limit is cut: one below the counter's least number would be that number then, and i <=
    // limit would hold once. (Constants are in reach.)
    if (op == AST_LE && value->op != IR_CONST) value = plus_one(l, value);
    value = narrowed(l, c->kind, value);
    if (op == AST_LE && value->op == IR_CONST) value = plus_one(l, value);
    if (!value || c->step == 1) return value;
    return value->op == IR_CONST && value->bits <= greatest(c->kind) - c->step + 1 ? value : NULL;
}

// --- Counted loops ---

static bool counts(const ast_stmt *s, counter *c)
{
    const ast_stmt *init = s->init, *step = s->step;
    if (s->kind != AST_FOR || !init || !step || init->kind != AST_DECLARE || step->kind != AST_ASSIGN) return false;
    c->decl = init->decl;
    c->kind = init->decl->type->kind;
    if (!hdst__kind_is_integer(c->kind) || !is_counter(step->target, c) || !step->compound || step->op != AST_ADD) return false;
    const ast_expr *by = without_conversion(step->value);
    if (by->kind != AST_NUMBER || !hdst__kind_is_integer(by->type->kind) || by->number.bits == 0 || by->number.bits > INT32_MAX ||
        by->number.bits > greatest(c->kind))
        return false;
    c->step = by->number.bits;
    c->from_zero = !init->value || (init->value->kind == AST_NUMBER && init->value->number.bits == 0);
    c->not_negative = c->from_zero || (init->value->kind == AST_NUMBER && init->value->number.bits <= greatest(c->kind));
    return !hdst__lower_assigns(s->then, c->decl);
}

// The initial value is copied, since the body may assign to the variable that it came from.
static ir_expr *first_of(lowerer *l, const ast_stmt *s, const counter *c)
{
    if (!s->init->value) return hdst__ir_const(l->func, c->kind, 0);
    ir_expr *value = hdst__lower_value(l, s->init->value);
    if (value->op == IR_CONST || is_steady(s->init->value, s)) return value;
    const uint32_t from = hdst__ir_add_var(l->func, "from", c->kind, 0);
    hdst__lower_push(l, hdst__ir_set(l->func, from, value));
    return hdst__ir_var(l->func, from);
}

static bool lower_counted(lowerer *l, const ast_stmt *s)
{
    counter c;
    if (!counts(s, &c)) return false;
    ir_block before = {0}, *outer = l->block;
    l->block = &before;         // dropped again when the loop turns out not to be countable
    ir_expr *lo = first_of(l, s, &c);
    ir_expr *hi = bound(l, s, &c);
    l->block = outer;
    if (!hi) return false;
    for (size_t i = 0; i < before.count; i++) hdst__lower_push(l, before.items[i]);
    lower_place place = hdst__lower_new_local(l, c.decl->name, c.decl->type);
    hdst__lower_bind(l, c.decl, place, false);
    ir_stmt *loop = hdst__ir_for(l->func, place.first, lo, hi, c.step);
    loop->span = s->span;
    hdst__lower_body(l, &loop->body, s->then);
    hdst__lower_push(l, loop);
    return true;
}

// --- Loops that count down, between constants: for (int i = 4; i >= 0; i--) is counted up, and i is 4 - k ---

static bool constant_end(const ast_stmt *s, const counter *c, int64_t *end)       // the last number that i may have
{
    const ast_expr *e = s->cond;
    if (!e || e->kind != AST_BINARY || !is_counter(e->left, c) || e->right->kind != AST_NUMBER) return false;
    if (e->op != AST_GE && e->op != AST_GT) return false;
    *end = (int64_t)e->right->number.bits + (e->op == AST_GT);
    return *end > INT32_MIN && *end < INT32_MAX;
}

static bool lower_downward(lowerer *l, const ast_stmt *s)
{
    const ast_stmt *init = s->init, *step = s->step;
    if (s->kind != AST_FOR || !init || !step || init->kind != AST_DECLARE || step->kind != AST_ASSIGN) return false;
    const counter c = {.decl = init->decl, .kind = init->decl->type->kind};
    if (c.kind != HDST__I32 || !init->value || init->value->kind != AST_NUMBER || hdst__lower_assigns(s->then, c.decl)) return false;
    if (!is_counter(step->target, &c) || !step->compound || step->op != AST_SUB || step->value->kind != AST_NUMBER ||
        !hdst__kind_is_integer(step->value->type->kind))
        return false;
    const int64_t first = (int64_t)init->value->number.bits, by = (int64_t)step->value->number.bits;
    int64_t last;
    if (by < 1 || by > INT16_MAX || !constant_end(s, &c, &last) || last - by < INT32_MIN) return false;
    const uint64_t turns = first < last ? 0 : (uint64_t)((first - last) / by) + 1;
    if (turns > INT32_MAX) return false;

    lower_place place = hdst__lower_new_local(l, c.decl->name, c.decl->type);
    hdst__lower_bind(l, c.decl, place, false);
    const uint32_t k = hdst__ir_add_var(l->func, "k", HDST__I32, 0);
    ir_stmt *loop = hdst__ir_for(l->func, k, hdst__ir_const(l->func, HDST__I32, 0), hdst__ir_const(l->func, HDST__I32, turns), 1);
    loop->span = s->span;
    hdst__lower_body(l, &loop->body, s->then);
    ir_expr *down = hdst__ir_binary(l->func, IR_MUL, HDST__I32, hdst__ir_var(l->func, k), hdst__ir_const(l->func, HDST__I32, (uint64_t)by));
    if (by == 1) down = down->a;
    hdst__ir_substitute(l->func, &loop->body, place.first,
                        hdst__ir_binary(l->func, IR_SUB, HDST__I32, hdst__ir_const(l->func, HDST__I32, (uint64_t)first), down));
    hdst__lower_push(l, loop);
    return true;
}

// --- General loops ---

static void stop_unless(lowerer *l, ir_block *block, const ast_expr *cond)
{
    ir_block *outer = l->block;
    l->block = block;
    ir_expr *holds = hdst__lower_value(l, cond);
    ir_stmt *test = hdst__ir_if(l->func, hdst__ir_unary(l->func, IR_NOT, HDST__BOOL, holds));
    hdst__ir_push(l->func, &test->then, hdst__ir_stmt(l->func, IR_BREAK, cond->span));
    hdst__lower_push(l, test);
    l->block = outer;
}

static void lower_general(lowerer *l, const ast_stmt *s)
{
    if (s->init) hdst__lower_stmt(l, s->init);
    ir_stmt *loop = hdst__ir_stmt(l->func, IR_LOOP, s->span);
    if (s->kind == AST_WHILE && s->value) loop->hi = hdst__lower_value(l, s->value);
    if (s->cond && s->kind != AST_DO) {
        ir_block *outer = l->block;
        l->block = &loop->head;
        loop->cond = hdst__lower_value(l, s->cond);
        l->block = outer;
    }
    hdst__lower_body(l, &loop->body, s->then);
    hdst__lower_body(l, &loop->after, s->step);
    if (s->kind == AST_DO) stop_unless(l, &loop->after, s->cond);
    hdst__lower_push(l, loop);
}

void hdst__lower_loop(lowerer *l, const ast_stmt *s)
{
    const uint32_t outer = l->switch_continue;
    const size_t known = l->found_count;
    hdst__lower_find_key_rows(l, s);
    l->switch_continue = IR_NO_VAR;
    if (!lower_counted(l, s) && !lower_downward(l, s)) lower_general(l, s);
    l->switch_continue = outer;
    l->found_count = known;
}
