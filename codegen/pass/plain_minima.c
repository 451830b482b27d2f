// SPDX-License-Identifier: Apache-2.0
// Block form: minima and maxima of floats that a processor's own instruction gives. That one takes its second operand where either is a NaN or both are
// zeros; ours knows NaN and the order of zeros, which are two operations more. Where neither operand is -0, or one is a constant other than zero, the order
// of zeros does not matter; and NaN does not where the first operand is none, or where it makes NaN of everything that comes of the result anyway.
//
// Before: d = fma(e, e, mul(c, c))                     After: d = fma(e, e, mul(c, c))
//         least = min(least, d)                               least = select(lt(d, least), d, least)
//         share = div(least, d)                               share = div(least, d)
//
// With d a NaN least differs, and share is NaN as before; nothing else that the record loop leaves behind depends on least.
#include "codegen/ir/sign.h"
#include "codegen/pass/block_form.h"

// What is known of a value of a record whose operand is a NaN, with the one form of the minimum and with the other.
typedef enum outcome { SAME, IS_NAN, IS_FALSE, IS_TRUE, MAY_DIFFER } outcome;

typedef struct minima {
    ir_func *func;
    bool *plus;                 // by variable: codegen/ir/sign.h
    uint8_t *outcome;           // by variable, an outcome; SAME outside of a question
    uint64_t work;              // statements looked through
} minima;

enum { MOST_WORK = 1 << 20 };   // of a function: longer loops with many minima keep the rest as they are

// --- What a NaN leaves ---

static outcome outcome_of(const minima *m, const ir_expr *e);

static outcome arithmetic(const minima *m, const ir_expr *e)
{
    const ir_expr *operand[] = {e->a, e->b, e->c};
    outcome found = SAME;
    for (int i = 0; i < 3; i++) {
        const outcome o = operand[i] ? outcome_of(m, operand[i]) : SAME;
        if (o == IS_NAN) return IS_NAN;
        if (o == MAY_DIFFER) found = MAY_DIFFER;
    }
    return found;
}

static outcome anything(const minima *m, const ir_expr *e)
{
    const ir_expr *operand[] = {e->a, e->b, e->c};
    for (int i = 0; i < 3; i++) {
        const outcome o = operand[i] ? outcome_of(m, operand[i]) : SAME;
        if (o == IS_NAN || o == MAY_DIFFER) return MAY_DIFFER;
    }
    return SAME;
}

static outcome comparison(const minima *m, const ir_expr *e)
{
    if (outcome_of(m, e->a) != IS_NAN && outcome_of(m, e->b) != IS_NAN) return anything(m, e);
    return e->op == IR_NE ? IS_TRUE : IS_FALSE;
}

static outcome not_outcome(outcome of) { return of == IS_TRUE ? IS_FALSE : of == IS_FALSE ? IS_TRUE : of; }

static outcome select_outcome(const minima *m, const ir_expr *e)
{
    const outcome condition = outcome_of(m, e->a), yes = outcome_of(m, e->b), no = outcome_of(m, e->c);
    if (condition == IS_TRUE) return yes;
    if (condition == IS_FALSE) return no;
    if (yes == IS_NAN && no == IS_NAN) return IS_NAN;
    const bool differ = condition != SAME || yes == IS_NAN || yes == MAY_DIFFER || no == IS_NAN || no == MAY_DIFFER;
    return differ ? MAY_DIFFER : SAME;
}

static outcome outcome_of(const minima *m, const ir_expr *e)
{
    switch (e->op) {
    case IR_VAR: return (outcome)m->outcome[e->var];
    case IR_NEG: case IR_ABS: case IR_SQRT: case IR_CANONICAL: case IR_ADD: case IR_SUB: case IR_MUL: case IR_DIV: case IR_FMA: case IR_MIN: case IR_MAX:
        return hdst__kind_is_float(e->kind) ? arithmetic(m, e) : anything(m, e);
    case IR_CONVERT: return hdst__kind_is_float(e->kind) && hdst__kind_is_float(e->a->kind) ? arithmetic(m, e) : anything(m, e);
    case IR_LT: case IR_LE: case IR_GT: case IR_GE: case IR_EQ: case IR_NE: return comparison(m, e);
    case IR_NOT: return not_outcome(outcome_of(m, e->a));
    case IR_SELECT: return select_outcome(m, e);
    default: return anything(m, e);
    }
}

// Whether all that the record loop leaves behind is the same, or NaN, when `of`, an operand of the statement at `at`, is a NaN and the result may be any.
static bool leaves_the_same(minima *m, const ir_block *body, size_t at, const ir_expr *of)
{
    bool same = true;
    m->outcome[of->var] = IS_NAN;
    m->outcome[body->items[at]->var] = MAY_DIFFER;
    for (size_t i = at + 1; i < body->count; i++) m->outcome[body->items[i]->var] = (uint8_t)outcome_of(m, body->items[i]->value);
    for (size_t i = at; i < body->count; i++) {
        const uint32_t var = body->items[i]->var;
        same &= !m->func->vars[var].per_record || m->outcome[var] != MAY_DIFFER;
    }
    for (size_t i = at; i < body->count; i++) m->outcome[body->items[i]->var] = SAME;
    m->outcome[of->var] = SAME;
    m->work += body->count - at;
    hdst__arena_look(m->func->arena);
    return same;
}

// --- Minima ---

static bool is_zero(const ir_expr *e) { return !(e->bits << (65 - 8 * hdst__scalar_size(e->kind))); }

static bool is_nan(const ir_expr *e)
{
    const uint64_t magnitude = e->bits << (65 - 8 * hdst__scalar_size(e->kind)) >> (65 - 8 * hdst__scalar_size(e->kind));
    return magnitude > (e->kind == HDST__F32 ? UINT64_C(0x7f800000) : UINT64_C(0x7ff0000000000000));
}

static bool zeros_do_not_matter(const minima *m, const ir_expr *a, const ir_expr *b)
{
    return (hdst__ir_is_plus(a, m->plus) && hdst__ir_is_plus(b, m->plus)) || (a->op == IR_CONST && !is_zero(a)) || (b->op == IR_CONST && !is_zero(b));
}

// Whether `first` may be the operand that is not taken where it is a NaN.
static bool may_come_first(minima *m, const ir_block *body, size_t at, const ir_expr *first)
{
    if (first->op == IR_CONST) return !is_nan(first);
    return m->work < MOST_WORK && first->var != body->items[at]->var && leaves_the_same(m, body, at, first);
}

static bool is_simple(const ir_expr *e) { return e->op == IR_VAR || e->op == IR_CONST; }

static void rewrite(minima *m, const ir_block *body, size_t at)
{
    ir_stmt *s = body->items[at];
    ir_expr *e = s->value;
    if ((e->op != IR_MIN && e->op != IR_MAX) || !hdst__kind_is_float(e->kind) || !is_simple(e->a) || !is_simple(e->b)) return;
    if (!zeros_do_not_matter(m, e->a, e->b)) return;
    const bool swapped = may_come_first(m, body, at, e->b);
    if (!swapped && !may_come_first(m, body, at, e->a)) return;
    ir_expr *first = swapped ? e->b : e->a, *second = swapped ? e->a : e->b;
    ir_expr *taken = hdst__ir_binary(m->func, e->op == IR_MIN ? IR_LT : IR_GT, HDST__BOOL, first, second);
    s->value = hdst__ir_select(m->func, taken, hdst__ir_copy(m->func, first), hdst__ir_copy(m->func, second));
}

static bool only_sets(const ir_stmt *records)
{
    for (size_t i = 0; i < records->body.count; i++)
        if (records->body.items[i]->kind != IR_SET) return false;
    return records->vectorize;
}

static bool take_records(ir_stmt *s, void *user)
{
    minima *m = user;
    if (s->kind != IR_RECORDS || !only_sets(s)) return true;
    for (size_t i = 0; i < s->body.count; i++) {
        rewrite(m, &s->body, i);
        m->plus[s->body.items[i]->var] = hdst__ir_is_plus(s->body.items[i]->value, m->plus);
    }
    for (size_t i = 0; i < s->body.count; i++) m->plus[s->body.items[i]->var] = false;
    return true;
}

void hdst__pass_plain_minima(ir_func *func)
{
    minima m = {func, HDST__NEW_ARRAY(func->arena, bool, func->var_count + 1), HDST__NEW_ARRAY(func->arena, uint8_t, func->var_count + 1), 0};
    hdst__ir_visit_stmts(&func->body, take_records, &m);
}
