// SPDX-License-Identifier: Apache-2.0
// Branches that some records take and others do not, and that only assign to variables, become selects: a record loop without control flow can be vectorised.
// Inner branches first. Conditions that are the same for all records stay branches.
//
// Before: if lt(d, best_d) { best_d = d; best = j }
// After:  taken = lt(d, best_d); best_d = select(taken, d, best_d); best = select(taken, j, best)
//
// What both branches set before they read it may hold anything in between:
//
// Before: if lt(d, best_d) { e = d; f = e } else { e = best_d }
// After:  taken = lt(d, best_d); e = d; f = select(taken, e, f); e = select(taken, e, best_d)
//
// In block form (hdst__pass_if_conversion_of_effects) a conditional addition becomes one of the identity for the
// records that do not make it, and a conditional emit says its condition; what it stores is stored for all
// records, at a place that the next one takes again.
#include "codegen/pass/block_form.h"

#include "accum/minmax_keys.h"
#include "codegen/pass/passes.h"
#include "base/costs_host.h"

typedef struct converter {
    ir_func *func;
    bool effects;           // additions, stores and emits too
    size_t *mentions;       // by variable: outside of the branch that is being converted
} converter;

static size_t stmt_size(const ir_stmt *s)
{
    return hdst__ir_expr_size(s->value) + hdst__ir_expr_size(s->cond) + hdst__ir_expr_size(s->index) + hdst__ir_expr_size(s->index2);
}

// Where output places are counted one by one, what is stored and then not emitted does no harm.
static bool has_condition(const converter *c, const ir_stmt *s)
{
    return s->kind == IR_ACCUM || (c->func->emits && !c->func->placed && (s->kind == IR_STORE || s->kind == IR_EMIT));
}

static bool may_convert(const converter *c, const ir_block *block, size_t *statements, size_t *nodes)
{
    for (size_t i = 0; i < block->count; i++) {
        const ir_stmt *s = block->items[i];
        if (s->kind != IR_SET && s->kind != IR_CHECK && !(c->effects && has_condition(c, s))) return false;
        ++*statements;
        *nodes += stmt_size(s);
    }
    return *statements <= HDST__HOST_CONVERTED_STATEMENTS && *nodes <= HDST__HOST_CONVERTED_NODES;
}

static ir_expr *as_said(converter *c, ir_expr *cond, bool when) { return when ? cond : hdst__ir_unary(c->func, IR_NOT, HDST__BOOL, cond); }

// The condition `cond is when`, and the one under which `value` is not `other` already: a chain of branches becomes conditions, not selects of selects.
static ir_expr *joined_condition(converter *c, const ir_expr *cond, bool when, ir_expr **value, const ir_expr *other)
{
    ir_expr *test = as_said(c, hdst__ir_copy(c->func, cond), when), *v = *value;
    if (v->op != IR_SELECT || !(hdst__ir_expr_equal(v->b, other) || hdst__ir_expr_equal(v->c, other))) return test;
    const bool keeps_first = hdst__ir_expr_equal(v->b, other);
    *value = keeps_first ? v->c : v->b;
    return hdst__ir_binary(c->func, IR_AND, HDST__BOOL, test, as_said(c, v->a, !keeps_first));
}

static ir_expr *chosen(converter *c, const ir_expr *cond, bool when, ir_expr *value, ir_expr *other)
{
    if (value->op == IR_SELECT) {
        ir_expr *joined = joined_condition(c, cond, when, &value, other);
        return hdst__ir_select(c->func, joined, value, other);
    }
    ir_expr *test = hdst__ir_copy(c->func, cond);
    return when ? hdst__ir_select(c->func, test, value, other) : hdst__ir_select(c->func, test, other, value);
}

// What an accumulator does not notice.
static uint64_t identity_bits(hdst__kind kind, hdst__accumulate_op acc)
{
    switch (acc) {
    case HDST__MIN: case HDST__MAX: return hdst__key_decode(kind, acc, 0);
    case HDST__AND:
        if (kind == HDST__BOOL) return 1;
        return hdst__kind_is_signed(kind) ? UINT64_MAX : UINT64_MAX >> (64 - 8 * hdst__scalar_size(kind));
    default: return 0;
    }
}

ir_expr *hdst__accum_identity(ir_func *func, const ir_stmt *s)
{
    return hdst__ir_const(func, s->value->kind, identity_bits(s->value->kind, s->acc));
}

// The same statement for all records, with its effect only where cond is `when`. `free`: no one looks at what it sets elsewhere.
static void convert_stmt(converter *c, ir_block *out, ir_stmt *s, const ir_expr *cond, bool when, bool free)
{
    if (s->kind == IR_SET) {
        if (!free) s->value = chosen(c, cond, when, s->value, hdst__ir_var(c->func, s->var));
    } else if (s->kind == IR_ACCUM) {
        s->value = chosen(c, cond, when, s->value, hdst__accum_identity(c->func, s));
    } else if (s->kind == IR_EMIT) {
        ir_expr *test = hdst__ir_copy(c->func, cond);
        if (!when) test = hdst__ir_unary(c->func, IR_NOT, HDST__BOOL, test);
        s->cond = s->cond ? hdst__ir_binary(c->func, IR_AND, HDST__BOOL, test, s->cond) : test;
    } else if (s->kind == IR_CHECK) {   // holds where it is not made
        ir_expr *test = hdst__ir_copy(c->func, cond);
        s->cond = hdst__ir_binary(c->func, IR_OR, HDST__BOOL, when ? hdst__ir_unary(c->func, IR_NOT, HDST__BOOL, test) : test, s->cond);
    }
    hdst__ir_push(c->func, out, s);
}

// if (a) x = u; else x = v;
static bool is_choice(const ir_stmt *s)
{
    if (s->then.count != 1 || s->otherwise.count != 1) return false;
    const ir_stmt *yes = s->then.items[0], *no = s->otherwise.items[0];
    return yes->kind == IR_SET && no->kind == IR_SET && yes->var == no->var;
}

static bool reads_what_is_set(ir_expr **slot, void *user)
{
    const ir_stmt *s = user;
    return (*slot)->op != IR_VAR || (!hdst__ir_block_writes(&s->then, (*slot)->var) && !hdst__ir_block_writes(&s->otherwise, (*slot)->var));
}

// The condition, to be asked again and again: a variable, unless it is one already that the branches leave alone.
static const ir_expr *settled_condition(converter *c, ir_block *out, ir_stmt *s)
{
    const bool single = s->then.count + s->otherwise.count == 1;
    if ((single || s->cond->op == IR_VAR) && hdst__ir_visit_expr(&s->cond, reads_what_is_set, s)) return s->cond;
    if (single) return s->cond;     // asked once, before what it reads is set
    uint32_t taken = hdst__ir_add_var(c->func, "taken", HDST__BOOL, 0);
    c->func->vars[taken].varying = true;
    hdst__ir_push(c->func, out, hdst__ir_set(c->func, taken, s->cond));
    return hdst__ir_var(c->func, taken);
}

// What is named only in the branches may hold anything elsewhere.
static bool is_inside(const converter *c, const ir_stmt *s) { return s->kind == IR_SET && !c->mentions[s->var]; }

static void convert_if(converter *c, ir_block *out, ir_stmt *s)
{
    if (is_choice(s)) {
        ir_stmt *set = s->then.items[0];
        set->value = hdst__ir_select(c->func, s->cond, set->value, s->otherwise.items[0]->value);
        hdst__ir_push(c->func, out, set);
        return;
    }
    const ir_expr *cond = settled_condition(c, out, s);
    const ir_block whole = {&s, 1, 1}, then = s->then, otherwise = s->otherwise;
    bool *both = HDST__NEW_ARRAY(c->func->arena, bool, then.count + 1);
    for (size_t i = 0; i < then.count; i++) both[i] = then.items[i]->kind == IR_SET && hdst__ir_first_meeting(&whole, then.items[i]->var) == IR_SETS;
    for (size_t i = 0; i < then.count; i++) convert_stmt(c, out, then.items[i], cond, true, both[i] || is_inside(c, then.items[i]));
    for (size_t i = 0; i < otherwise.count; i++) convert_stmt(c, out, otherwise.items[i], cond, false, is_inside(c, otherwise.items[i]));
}

// The same with the number of mentions kept up to date.
static void convert_counted(converter *c, ir_block *out, ir_stmt *s)
{
    const size_t first = out->count;
    ir_block whole = {&s, 1, 1};
    hdst__ir_tally(&whole, c->mentions, true);
    convert_if(c, out, s);
    ir_block made = {out->items + first, out->count - first, 0};
    hdst__ir_tally(&made, c->mentions, false);
}

static void convert_block(converter *c, ir_block *block)
{
    ir_block out = {0};
    for (size_t i = 0; i < block->count; i++) {
        ir_stmt *s = block->items[i];
        ir_block *nested[HDST__IR_NESTED];
        for (int n = 0, count = hdst__ir_nested(s, nested); n < count; n++) convert_block(c, nested[n]);
        size_t statements = 0, nodes = 0;
        if (s->kind == IR_IF && s->cond->varying && may_convert(c, &s->then, &statements, &nodes) && may_convert(c, &s->otherwise, &statements, &nodes))
            convert_counted(c, &out, s);
        else hdst__ir_push(c->func, &out, s);
    }
    *block = out;
}

static bool count_branch(ir_stmt *s, void *user)
{
    *(size_t *)user += s->kind == IR_IF;
    return true;
}

// Each may add a variable.
static size_t count_branches(ir_block *block)
{
    size_t count = 0;
    hdst__ir_visit_stmts(block, count_branch, &count);
    return count;
}

static void convert(ir_func *func, bool effects)
{
    converter c = {func, effects, HDST__NEW_ARRAY(func->arena, size_t, func->var_count + count_branches(&func->body) + 1)};
    hdst__ir_tally(&func->body, c.mentions, false);
    convert_block(&c, &func->body);
}

void hdst__pass_if_conversion(ir_func *func) { convert(func, false); }

void hdst__pass_if_conversion_of_effects(ir_func *func) { convert(func, true); }
