// SPDX-License-Identifier: Apache-2.0
// Drops index checks that loop bounds and constants prove, and checks that were made already; what was clamped for them becomes the plain index.
//
// Before: for j = 0 to length(c) { check lt(u64(j), length(c)); x = c[select(lt(u64(j), length(c)), j, 0)].x }
// After:  for j = 0 to length(c) { x = c[j].x }
//
// It looks for comparisons `index < limit` in u64 that always hold and makes them `true`; folding does the rest.
#include "codegen/interp.h"
#include "codegen/kernel.h"

typedef struct range {          // of an integer read as unsigned; only of values that are not negative
    bool known;
    uint64_t low, high;
} range;

typedef struct prover {
    ir_func *func;
    const ir_stmt **loop;       // by variable: the loop around the statement that counts it
    const ir_expr **only;       // by variable: what it is set to, when that is at one place only
    bool *set;                  // by variable: set at some place
    unsigned depth;             // of such values of such values
} prover;

// --- Ranges ---

static const range unknown;

static uint64_t greatest(hdst__kind kind)
{
    unsigned bits = 8 * (unsigned)hdst__scalar_size(kind) - hdst__kind_is_signed(kind);
    return bits == 64 ? UINT64_MAX : ((uint64_t)1 << bits) - 1;
}

static range whole(hdst__kind kind)
{
    if (!hdst__kind_is_integer(kind) || hdst__kind_is_signed(kind)) return unknown;
    return (range){true, 0, greatest(kind)};
}

static range fitted(hdst__kind kind, range r)
{
    return r.known && r.high <= greatest(kind) ? r : whole(kind);
}

static range range_of(prover *p, const ir_expr *e);

enum { DEPTH = 8 };

// The variables that the lowering makes for indices are set once, right before they are read.
static range set_range(prover *p, const ir_expr *e)
{
    const ir_expr *value = p->only[e->var];
    if (!value || p->depth >= DEPTH) return whole(e->kind);
    p->depth++;
    range r = fitted(e->kind, range_of(p, value));
    p->depth--;
    return r;
}

static range loop_range(prover *p, const ir_expr *e)
{
    const ir_stmt *loop = p->loop[e->var];
    if (!loop) return set_range(p, e);
    range lo = range_of(p, loop->lo), hi = range_of(p, loop->hi);
    if (!lo.known) return whole(e->kind);
    if (!hi.known || !hi.high) return (range){true, lo.low, greatest(e->kind) - 1};     // below some upper end
    return (range){true, lo.low, hi.high - 1};
}

static range binary_range(prover *p, const ir_expr *e)
{
    range a = range_of(p, e->a), b = range_of(p, e->b), r = {a.known && b.known, 0, 0};
    switch (e->op) {
    case IR_ADD:
        r.low = a.low + b.low;
        return r.known && !__builtin_add_overflow(a.high, b.high, &r.high) ? fitted(e->kind, r) : whole(e->kind);
    case IR_MUL:
        r.low = a.low * b.low;
        return r.known && !__builtin_mul_overflow(a.high, b.high, &r.high) ? fitted(e->kind, r) : whole(e->kind);
    case IR_SUB:
        if (!r.known || a.low < b.high) return whole(e->kind);
        return (range){true, a.low - b.high, a.high - b.low};
    case IR_AND:        // with a number that is not negative: not above it
        if (b.known) return (range){true, 0, b.high};
        return a.known ? (range){true, 0, a.high} : whole(e->kind);
    case IR_REM: return r.known && b.low ? (range){true, 0, b.high - 1} : whole(e->kind);
    case IR_DIV: return r.known && b.low ? (range){true, 0, a.high / b.low} : whole(e->kind);
    case IR_SHR: return a.known && b.known && b.low == b.high ? (range){true, 0, a.high >> (b.high & (8 * hdst__scalar_size(e->kind) - 1))} : whole(e->kind);
    case IR_MIN:
        if (!r.known) return whole(e->kind);
        return (range){true, a.low < b.low ? a.low : b.low, a.high < b.high ? a.high : b.high};
    default: return whole(e->kind);
    }
}

static range range_of(prover *p, const ir_expr *e)
{
    if (!hdst__kind_is_integer(e->kind)) return unknown;
    switch (e->op) {
    case IR_CONST: return hdst__kind_is_signed(e->kind) && (int64_t)e->bits < 0 ? unknown : (range){true, e->bits, e->bits};
    case IR_VAR: return loop_range(p, e);
    case IR_CONVERT: return fitted(e->kind, range_of(p, e->a));
    case IR_SELECT: {
        range b = range_of(p, e->b), c = range_of(p, e->c);
        if (!b.known || !c.known) return whole(e->kind);
        return (range){true, b.low < c.low ? b.low : c.low, b.high > c.high ? b.high : c.high};
    }
    default: return e->a && e->b ? binary_range(p, e) : whole(e->kind);
    }
}

// --- Lengths ---

static const ir_expr *without_widening(const ir_expr *e)
{
    while (e->op == IR_CONVERT && hdst__kind_is_integer(e->a->kind) && hdst__scalar_size(e->kind) >= hdst__scalar_size(e->a->kind)) e = e->a;
    return e;
}

// Whether the upper end of a loop is at most length(param): the length, cut to what the counter can reach.
static bool at_most_length(const ir_expr *hi, uint32_t param)
{
    while ((hi->op == IR_CONVERT && hdst__kind_is_integer(hi->a->kind)) || (hi->op == IR_MIN && hi->b->op == IR_CONST)) hi = hi->a;
    return hi->op == IR_LENGTH && hi->param == param;
}

static bool below_length(prover *p, const ir_expr *index, uint32_t param)
{
    index = without_widening(index);
    const ir_stmt *loop = index->op == IR_VAR ? p->loop[index->var] : NULL;
    return loop && range_of(p, loop->lo).known && at_most_length(loop->hi, param);
}

// --- Comparisons ---

static bool prove(ir_expr **slot, void *user)
{
    prover *p = user;
    const ir_expr *e = *slot;
    if (e->op != IR_LT || e->a->kind != HDST__U64) return true;
    bool holds;
    if (e->b->op == IR_LENGTH) {
        holds = below_length(p, e->a, e->b->param);
    } else {
        range a = range_of(p, e->a), b = range_of(p, e->b);
        holds = a.known && b.known && a.high < b.low;
    }
    if (holds) *slot = hdst__ir_const(p->func, HDST__BOOL, 1);
    return true;
}

static void prove_block(prover *p, ir_block *block)
{
    for (size_t i = 0; i < block->count; i++) {
        ir_stmt *s = block->items[i];
        hdst__ir_visit_own_exprs(s, prove, p);
        ir_block *nested[HDST__IR_NESTED];
        if (s->kind == IR_FOR) p->loop[s->var] = s;
        for (int n = 0, count = hdst__ir_nested(s, nested); n < count; n++) prove_block(p, nested[n]);
        if (s->kind == IR_FOR) p->loop[s->var] = NULL;
    }
}

// --- Checks that were made already ---

static bool writes_operand(ir_expr **slot, void *user)
{
    const ir_stmt *s = user;
    return !(((*slot)->op == IR_VAR || (*slot)->op == IR_ELEM) && hdst__ir_stmt_writes(s, (*slot)->var));
}

// Whether the check at `at` repeats one further up in the block with the same operands.
static bool repeats(const ir_block *block, size_t at)
{
    for (size_t i = at; i-- > 0;) {
        ir_stmt *s = block->items[i];
        ir_expr *cond = block->items[at]->cond;
        if (s->kind == IR_CHECK && hdst__ir_expr_equal(s->cond, cond)) return true;
        if (!hdst__ir_visit_expr(&cond, writes_operand, s)) return false;
    }
    return false;
}

static void drop_repeated(ir_func *func, ir_block *block)
{
    for (size_t i = 0; i < block->count; i++) {
        ir_stmt *s = block->items[i];
        if (s->kind == IR_CHECK && repeats(block, i)) s->cond = hdst__ir_const(func, HDST__BOOL, 1);     // folding drops it
        ir_block *nested[HDST__IR_NESTED];
        for (int n = 0, count = hdst__ir_nested(s, nested); n < count; n++) drop_repeated(func, nested[n]);
    }
}

// Its own reads make a variable's range depend on itself; a second place makes it unknown.
static bool note_set(ir_stmt *s, void *user)
{
    const prover *p = user;
    if (s->kind != IR_SET && s->kind != IR_FOR) return true;
    const bool first = !p->set[s->var] && s->kind == IR_SET && !hdst__ir_expr_reads(s->value, s->var);
    p->only[s->var] = first ? s->value : NULL;
    p->set[s->var] = true;
    return true;
}

void hdst__pass_checks(ir_func *func)
{
    prover p = {func, HDST__NEW_ARRAY(func->arena, const ir_stmt *, func->var_count + 1), HDST__NEW_ARRAY(func->arena, const ir_expr *, func->var_count + 1),
                HDST__NEW_ARRAY(func->arena, bool, func->var_count + 1), 0};
    hdst__ir_visit_stmts(&func->body, note_set, &p);
    prove_block(&p, &func->body);
    drop_repeated(func, &func->body);
}
