// SPDX-License-Identifier: Apache-2.0
// What is known of the values of a function's variables at a place (codegen/pass/value_ranges.h).
#include "codegen/pass/value_ranges.h"

typedef hdst__range range;
typedef hdst__prover prover;
typedef hdst__known known;
typedef hdst__fact fact;

enum {
    DEPTH = 12,                 // of expressions that stand for variables, and of facts about the sides of facts
    EFFORT = 1000,              // expressions looked at to answer one question
};

// --- Currency ---

typedef struct currency {
    const prover *p;
    uint64_t since;
} currency;

static bool is_older(ir_expr **slot, void *user)
{
    const currency *c = user;
    return ((*slot)->op != IR_VAR && (*slot)->op != IR_ELEM) || c->p->vars[(*slot)->var].written <= c->since;
}

bool hdst__prover_is_current(prover *p, const ir_expr *e, uint64_t since)
{
    currency c = {p, since};
    return hdst__ir_visit_expr((ir_expr **)&e, is_older, &c);
}

static const ir_expr *same_as(prover *p, uint32_t var)
{
    const known *v = &p->vars[var];
    return v->same && hdst__prover_is_current(p, v->same, v->same_time) ? v->same : NULL;
}

// --- Ranges ---

// Conversions that change no value.
static const ir_expr *without_widening(const ir_expr *e)
{
    while (e->op == IR_CONVERT && hdst__kind_is_integer(e->kind) && hdst__kind_is_integer(e->a->kind)) {
        const range from = hdst__range_of_kind(e->a->kind), to = hdst__range_of_kind(e->kind);
        if (from.low < to.low || from.high > to.high) break;
        e = e->a;
    }
    return e;
}

// Nothing in a loop writes what its bounds read (ir_verify.c), so they are what they were where it began.
static range counter_range(prover *p, const known *v, hdst__kind kind)
{
    const range lo = hdst__prover_range(p, v->loop->lo), hi = hdst__prover_range(p, v->loop->hi);
    return hdst__range_meet((range){lo.low, hi.high - 1}, hdst__range_of_kind(kind));
}

static range variable_range(prover *p, const ir_expr *e)
{
    const known *v = &p->vars[e->var];
    if (v->loop && (!p->earlier || v->loops == 1)) return counter_range(p, v, e->kind);
    if (p->always) return v->always;
    const ir_expr *same = same_as(p, e->var);
    return same ? hdst__range_meet(v->here, hdst__prover_range(p, same)) : v->here;
}

static range element_range(const prover *p, const ir_expr *e)
{
    const ir_var *var = &p->func->vars[e->var];
    if (!var->init) return hdst__range_of_kind(e->kind);
    range r = hdst__range_empty();
    for (uint64_t i = 0; i < var->elements; i++) r = hdst__range_join(r, hdst__range_of_bits(e->kind, var->init[i]));
    return r;
}

// Each side under its condition: i < 0 ? 0 : i
static range select_range(prover *p, const ir_expr *e)
{
    const size_t count = p->fact_count;
    hdst__prover_note(p, e->a, true);
    range yes = hdst__prover_range(p, e->b);
    p->fact_count = count;
    hdst__prover_note(p, e->a, false);
    range no = hdst__prover_range(p, e->c);
    p->fact_count = count;
    return hdst__range_join(yes, no);
}

static range length_range(const prover *p, const ir_expr *e)
{
    return p->func->params[e->param].is_table ? hdst__range_of_kind(HDST__U64) : (range){1, 1};
}

static range own_range(prover *p, const ir_expr *e)
{
    switch (e->op) {
    case IR_CONST: return hdst__range_of_bits(e->kind, e->bits);
    case IR_VAR: return variable_range(p, e);
    case IR_ELEM: return element_range(p, e);
    case IR_LENGTH: return length_range(p, e);
    case IR_SELECT: return select_range(p, e);
    case IR_CONVERT:
        if (!hdst__kind_is_integer(e->a->kind) && e->a->kind != HDST__BOOL) return hdst__range_of_kind(e->kind);
        return hdst__range_fit(e->kind, hdst__prover_range(p, e->a));
    case IR_NEG: case IR_BITNOT: case IR_ABS: return hdst__range_unary(e->op, e->kind, hdst__prover_range(p, e->a));
    case IR_ADD: case IR_SUB: case IR_MUL: case IR_DIV: case IR_REM: case IR_AND: case IR_OR: case IR_XOR: case IR_SHL: case IR_SHR: case IR_MIN: case IR_MAX:
        return hdst__range_binary(e->op, e->kind, hdst__prover_range(p, e->a), hdst__prover_range(p, e->b));
    default: return hdst__range_of_kind(e->kind);
    }
}

// What a fact says of one of its sides, when the other lies in `other`.
static range narrowed(const fact *f, bool left, range r, range other)
{
    const int strict = f->op == IR_LT;
    if (hdst__range_is_empty(other)) return r;
    if (f->op == IR_EQ) return hdst__range_meet(r, other);
    if (f->op == IR_NE) {
        if (other.low != other.high) return r;
        if (r.low == other.low) r.low++;
        else if (r.high == other.low) r.high--;
        return r;
    }
    if (left && r.high > other.high - strict) r.high = other.high - strict;
    if (!left && r.low < other.low + strict) r.low = other.low + strict;
    return r;
}

static range with_facts(prover *p, const ir_expr *e, range r)
{
    const size_t hidden = p->hidden, count = p->fact_count;
    if (e->op == IR_CONST) return r;
    e = without_widening(e);
    for (size_t i = hidden; i < count; i++) {
        const fact *f = &p->facts[i];
        const bool left = hdst__ir_expr_equal(without_widening(f->a), e), right = !left && hdst__ir_expr_equal(without_widening(f->b), e);
        if (!left && !right) continue;
        if (!hdst__prover_is_current(p, f->a, f->time) || !hdst__prover_is_current(p, f->b, f->time)) continue;
        p->hidden = count;      // the other side's range without facts, or they would ask for each other
        r = narrowed(f, left, r, hdst__prover_range(p, left ? f->b : f->a));
        p->hidden = hidden;
    }
    return r;
}

range hdst__prover_range(prover *p, const ir_expr *e)
{
    if (!hdst__kind_is_integer(e->kind) || p->depth >= DEPTH || ++p->effort > EFFORT) return hdst__range_of_kind(e->kind);
    p->depth++;
    const range r = with_facts(p, e, own_range(p, e));
    p->depth--;
    return r;
}

// --- Lengths ---

typedef bool length_question(prover *p, const ir_expr *e, uint32_t param);

// Asks of what a variable was set to. If that may have been a while ago, only what always holds counts; lengths never change.
static bool ask_of_value(prover *p, uint32_t var, uint32_t param, length_question *question)
{
    const ir_expr *same = p->always ? NULL : same_as(p, var), *only = p->vars[var].only;
    if (same) return question(p, same, param);
    if (!only) return false;
    const bool always = p->always, earlier = p->earlier;
    const size_t hidden = p->hidden;
    p->always = p->earlier = true;
    p->hidden = p->fact_count;
    const bool yes = question(p, only, param);
    p->always = always;
    p->earlier = earlier;
    p->hidden = hidden;
    return yes;
}

static bool enter(prover *p) { return p->depth < DEPTH && ++p->effort <= EFFORT; }

static bool is_length(prover *p, const ir_expr *e, uint32_t param)
{
    e = without_widening(e);
    if (e->op == IR_LENGTH) return e->param == param;
    if (e->op != IR_VAR || !enter(p)) return false;
    p->depth++;
    const bool yes = ask_of_value(p, e->var, param, is_length);
    p->depth--;
    return yes;
}

static bool subtracts_safely(prover *p, const ir_expr *e)      // something that is not negative, and without a wrap
{
    const range a = hdst__prover_range(p, e->a), b = hdst__prover_range(p, e->b);
    return b.low >= 0 && a.low >= b.high;
}

// A conversion after which what was at most some length is so still, or negative: one that cuts bits off. A negative number may become any.
static bool keeps_small(prover *p, const ir_expr *e)
{
    if (!hdst__kind_is_integer(e->a->kind)) return false;
    const bool keeps_negative = hdst__kind_is_signed(e->kind) && hdst__scalar_size(e->kind) >= hdst__scalar_size(e->a->kind);
    return keeps_negative || hdst__prover_range(p, e->a).low >= 0;
}

// Whether a number is at most length(param), or negative.
static bool at_most_length(prover *p, const ir_expr *e, uint32_t param)
{
    bool yes = false;
    if (!enter(p)) return false;
    p->depth++;
    switch (e->op) {
    case IR_LENGTH: yes = e->param == param; break;
    case IR_CONVERT: yes = keeps_small(p, e) && at_most_length(p, e->a, param); break;
    case IR_MIN: yes = at_most_length(p, e->a, param) || at_most_length(p, e->b, param); break;
    case IR_DIV: case IR_SHR: yes = !hdst__kind_is_signed(e->kind) && at_most_length(p, e->a, param); break;
    case IR_SUB: yes = at_most_length(p, e->a, param) && subtracts_safely(p, e); break;
    case IR_VAR: yes = ask_of_value(p, e->var, param, at_most_length); break;
    default: break;
    }
    p->depth--;
    return yes;
}

static bool fact_below_length(prover *p, const ir_expr *e, uint32_t param)
{
    for (size_t i = p->hidden; i < p->fact_count; i++) {
        const fact *f = &p->facts[i];
        if (f->op != IR_LT || !hdst__ir_expr_equal(without_widening(f->a), e) || !hdst__prover_is_current(p, f->a, f->time)) continue;
        if (hdst__prover_is_current(p, f->b, f->time) && at_most_length(p, f->b, param)) return true;
    }
    return false;
}

static bool below_length(prover *p, const ir_expr *e, uint32_t param);

static bool variable_below_length(prover *p, const ir_expr *e, uint32_t param)
{
    const known *v = &p->vars[e->var];
    if (v->loop) return (!p->earlier || v->loops == 1) && at_most_length(p, v->loop->hi, param);
    return ask_of_value(p, e->var, param, below_length);
}

// A remainder by the length is below it: where the length is 0 the division's check has failed, and a row is stored all the same.
static bool value_below_length(prover *p, const ir_expr *e, uint32_t param)
{
    switch (e->op) {
    case IR_VAR: return variable_below_length(p, e, param);
    case IR_MIN: case IR_AND: return below_length(p, e->a, param) || below_length(p, e->b, param);
    case IR_REM: return below_length(p, e->a, param) || is_length(p, e->b, param);
    case IR_DIV: case IR_SHR: return below_length(p, e->a, param);
    case IR_SUB: return subtracts_safely(p, e) && below_length(p, e->a, param);
    case IR_SELECT: return below_length(p, e->b, param) && below_length(p, e->c, param);
    case IR_CONVERT:            // one that does not change its operand
        return hdst__kind_is_integer(e->a->kind) && hdst__prover_range(p, e->a).high <= hdst__range_of_kind(e->kind).high && below_length(p, e->a, param);
    default: return false;
    }
}

// Whether 0 <= e < length(param).
static bool below_length(prover *p, const ir_expr *e, uint32_t param)
{
    e = without_widening(e);
    if (!enter(p) || hdst__prover_range(p, e).low < 0) return false;
    p->depth++;
    const bool yes = fact_below_length(p, e, param) || value_below_length(p, e, param);
    p->depth--;
    return yes;
}

// --- Conditions ---

static bool comparison_holds(prover *p, const ir_expr *e)
{
    if (!hdst__kind_is_integer(e->a->kind)) return false;
    if (e->op == IR_LT && e->b->op == IR_LENGTH && below_length(p, e->a, e->b->param)) return true;
    const range a = hdst__prover_range(p, e->a), b = hdst__prover_range(p, e->b);
    switch (e->op) {
    case IR_LT: return a.high < b.low;
    case IR_LE: return a.high <= b.low;
    case IR_GT: return a.low > b.high;
    case IR_GE: return a.low >= b.high;
    case IR_NE: return a.high < b.low || a.low > b.high;
    default: return false;
    }
}

static const ir_expr *resolved(prover *p, const ir_expr *e)
{
    for (unsigned turns = 0; e->op == IR_VAR && turns < DEPTH; turns++) {
        const ir_expr *same = same_as(p, e->var);
        if (!same) break;
        e = same;
    }
    return e;
}

static bool same_value(prover *p, const ir_expr *a, const ir_expr *b)
{
    if (!a || !b) return a == b;
    if (hdst__ir_expr_equal(a, b)) return true;
    a = resolved(p, a);
    b = resolved(p, b);
    if (++p->effort > EFFORT || a->op != b->op || a->kind != b->kind || a->param != b->param ||
        a->leaf != b->leaf || a->var != b->var || a->bits != b->bits) return false;
    return same_value(p, a->a, b->a) && same_value(p, a->b, b->b) && same_value(p, a->c, b->c);
}

// A check that was made already, or a condition, of the same operands.
static bool was_met(prover *p, const ir_expr *e)
{
    for (size_t i = p->hidden; i < p->fact_count; i++) {
        const fact *f = &p->facts[i];
        if (f->op != e->op || !hdst__prover_is_current(p, f->a, f->time) || !hdst__prover_is_current(p, f->b, f->time)) continue;
        if (same_value(p, f->a, e->a) && same_value(p, f->b, e->b)) return true;
    }
    return false;
}

static bool holds(prover *p, const ir_expr *e)
{
    switch (e->op) {
    case IR_CONST: return e->bits != 0;
    case IR_AND: return holds(p, e->a) && holds(p, e->b);
    case IR_OR: return holds(p, e->a) || holds(p, e->b);
    case IR_LT: case IR_LE: case IR_GT: case IR_GE: case IR_NE: case IR_EQ: return comparison_holds(p, e) || was_met(p, e);
    default: return false;
    }
}

bool hdst__prover_holds(prover *p, const ir_expr *condition, bool always)
{
    const size_t hidden = p->hidden;
    p->always = always;
    p->effort = 0;
    if (always) p->hidden = p->fact_count;
    const bool yes = holds(p, condition);
    p->hidden = hidden;
    p->always = false;
    return yes;
}

// --- Facts ---

static void push_fact(prover *p, ir_op op, const ir_expr *a, const ir_expr *b)
{
    if (p->fact_count < HDST__FACTS && hdst__kind_is_integer(a->kind)) p->facts[p->fact_count++] = (fact){op, a, b, p->time};
}

static void note_comparison(prover *p, const ir_expr *e, bool outcome)
{
    static const ir_op opposite[] = {[IR_LT] = IR_GE, [IR_LE] = IR_GT, [IR_GT] = IR_LE, [IR_GE] = IR_LT, [IR_EQ] = IR_NE, [IR_NE] = IR_EQ};
    const ir_op op = outcome ? e->op : opposite[e->op];
    if (op == IR_GT || op == IR_GE) push_fact(p, op == IR_GT ? IR_LT : IR_LE, e->b, e->a);
    else push_fact(p, op, e->a, e->b);
}

void hdst__prover_note(prover *p, const ir_expr *e, bool outcome)
{
    if (p->depth >= DEPTH) return;
    p->depth++;
    switch (e->op) {
    case IR_LT: case IR_LE: case IR_GT: case IR_GE: case IR_EQ: case IR_NE: note_comparison(p, e, outcome); break;
    case IR_NOT: hdst__prover_note(p, e->a, !outcome); break;
    case IR_AND: case IR_OR:
        if ((e->op == IR_AND) != outcome) break;        // only one of them is known
        hdst__prover_note(p, e->a, outcome);
        hdst__prover_note(p, e->b, outcome);
        break;
    case IR_VAR:                // how a condition came about, unless other values are asked for
        if (!p->always && same_as(p, e->var)) hdst__prover_note(p, same_as(p, e->var), outcome);
        break;
    default: break;
    }
    p->depth--;
}

// --- Variables ---

void hdst__prover_set(prover *p, uint32_t var, const ir_expr *value)
{
    known *v = &p->vars[var];
    p->effort = 0;
    const range r = value && hdst__kind_is_integer(value->kind) ? hdst__prover_range(p, value) : v->always;
    const bool reads_itself = !value || hdst__ir_expr_reads(value, var);
    v->written = ++p->time;
    v->here = hdst__range_meet(r, v->always);
    v->same = reads_itself ? NULL : value;
    v->same_time = p->time;
}

static bool forget_written(ir_stmt *s, void *user)
{
    prover *p = user;
    if (s->kind != IR_SET && s->kind != IR_SET_ELEM && s->kind != IR_FOR) return true;
    known *v = &p->vars[s->var];
    v->written = ++p->time;
    v->here = v->always;
    v->same = NULL;
    return true;
}

void hdst__prover_forget(prover *p, const ir_block *block)
{
    hdst__ir_visit_stmts((ir_block *)block, forget_written, p);
}

// --- What always holds ---

typedef struct rounds {
    prover *p;
    bool changed, widen;
} rounds;

static void widen_by(rounds *r, uint32_t var, range value)
{
    known *v = &r->p->vars[var];
    const hdst__kind kind = r->p->func->vars[var].kind;
    const range joined = hdst__range_join(v->always, value);
    if (joined.low == v->always.low && joined.high == v->always.high) return;
    v->always = r->widen ? hdst__range_of_kind(kind) : joined;
    r->changed = true;
}

static void learn_block(rounds *r, const ir_block *block)
{
    prover *p = r->p;
    for (size_t i = 0; i < block->count; i++) {
        ir_stmt *s = block->items[i];
        p->effort = 0;
        hdst__arena_look(p->func->arena);       // long work that allocates nothing
        if (s->kind == IR_SET && hdst__kind_is_integer(s->value->kind)) widen_by(r, s->var, hdst__prover_range(p, s->value));
        if (s->kind == IR_FOR) {
            const range lo = hdst__prover_range(p, s->lo), hi = hdst__prover_range(p, s->hi);
            widen_by(r, s->var, hdst__range_fit(s->lo->kind, (range){lo.low, hi.high + (__int128)s->step}));
            p->vars[s->var].loop = s;
        }
        ir_block *nested[HDST__IR_NESTED];
        for (int n = 0, count = hdst__ir_nested(s, nested); n < count; n++) learn_block(r, nested[n]);
        if (s->kind == IR_FOR) p->vars[s->var].loop = NULL;
    }
}

// Its own reads make a variable depend on itself; a second place makes it unknown.
static bool note_only(ir_stmt *s, void *user)
{
    prover *p = user;
    if (s->kind != IR_SET && s->kind != IR_FOR) return true;
    known *v = &p->vars[s->var];
    const bool first = !v->is_set && s->kind == IR_SET && !hdst__ir_expr_reads(s->value, s->var);
    v->only = first ? s->value : NULL;
    v->is_set = true;
    v->loops += s->kind == IR_FOR;
    return true;
}

enum {
    EXACT_ROUNDS = 3,           // then what still grows may be anything
    MOST_ROUNDS = 16,           // then all may
};

void hdst__prover_init(prover *p, ir_func *func)
{
    *p = (prover){.func = func, .vars = HDST__NEW_ARRAY(func->arena, known, func->var_count + 1), .always = true};
    for (size_t i = 0; i < func->var_count; i++) p->vars[i].always = hdst__range_empty();
    hdst__ir_visit_stmts(&func->body, note_only, p);
    rounds r = {.p = p, .changed = true};
    for (int round = 0; r.changed && round < MOST_ROUNDS; round++) {
        r.changed = false;
        r.widen = round >= EXACT_ROUNDS;
        learn_block(&r, &func->body);
    }
    for (size_t i = 0; i < func->var_count; i++) {
        if (r.changed || hdst__range_is_empty(p->vars[i].always)) p->vars[i].always = hdst__range_of_kind(func->vars[i].kind);
        p->vars[i].here = p->vars[i].always;
    }
    p->always = false;
}
