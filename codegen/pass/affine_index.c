// SPDX-License-Identifier: Apache-2.0
// Indices that are linear in the variables of the counted loops around them (codegen/pass/affine_index.h).
#include "codegen/pass/affine_index.h"

static const hdst__linear unknown = {0};

bool hdst__is_plain_loop(const ir_stmt *stmt) { return stmt->kind == IR_FOR && stmt->step == 1 && hdst__ir_is_const(stmt->lo, 0); }

static bool is_wide_integer(const ir_expr *e) { return hdst__kind_is_integer(e->kind) && hdst__scalar_size(e->kind) >= 4; }

static hdst__linear bounded(hdst__linear l) { return l.highest >> 31 ? unknown : l; }

static hdst__linear of_variable(const hdst__nest *nest, uint32_t var, const ir_block *before)
{
    for (size_t k = 0; k < nest->depth; k++) {
        if (nest->loop[k]->var != var) continue;
        hdst__linear l = {.known = true, .highest = nest->turns[k] ? nest->turns[k] - 1 : INT32_MAX};
        l.factor[k] = 1;
        return bounded(l);
    }
    if (!before || hdst__ir_block_writes(before, var) != 1) return unknown;
    for (size_t i = 0; i < before->count; i++) {
        const ir_block earlier = {before->items, i, i};         // what the value reads may be set anew behind it
        if (before->items[i]->kind == IR_SET && before->items[i]->var == var) return hdst__linear_of(nest, before->items[i]->value, &earlier);
    }
    return unknown;
}

static hdst__linear sum(hdst__linear a, hdst__linear b)
{
    if (!a.known || !b.known) return unknown;
    for (size_t k = 0; k < HDST__NEST_DEPTH; k++) a.factor[k] += b.factor[k];
    a.highest += b.highest;
    return bounded(a);
}

static hdst__linear product(hdst__linear l, const ir_expr *by)
{
    if (!l.known || by->op != IR_CONST || by->bits >> 31) return unknown;
    for (size_t k = 0; k < HDST__NEST_DEPTH; k++) l.factor[k] *= by->bits;
    l.highest *= by->bits;
    return bounded(l);
}

hdst__linear hdst__linear_of(const hdst__nest *nest, const ir_expr *e, const ir_block *before)
{
    if (!is_wide_integer(e) && e->op != IR_VAR) return unknown;
    switch (e->op) {
    case IR_CONST: return bounded((hdst__linear){.known = true, .highest = e->bits});
    case IR_VAR: return of_variable(nest, e->var, before);
    case IR_CONVERT: return hdst__kind_is_integer(e->a->kind) ? hdst__linear_of(nest, e->a, before) : unknown;
    case IR_ADD: return sum(hdst__linear_of(nest, e->a, before), hdst__linear_of(nest, e->b, before));
    case IR_MUL:
        if (e->a->op == IR_CONST) return product(hdst__linear_of(nest, e->b, before), e->a);
        return product(hdst__linear_of(nest, e->a, before), e->b);
    default: return unknown;
    }
}

static uint64_t common(uint64_t a, uint64_t b) { return b ? common(b, a % b) : a; }

static uint64_t reach(const hdst__nest *nest, const hdst__linear *l, size_t k)     // of loop k: how far its last turn is from its first
{
    return l->factor[k] * (nest->turns[k] ? nest->turns[k] - 1 : UINT32_MAX);
}

bool hdst__linear_tells_outermost(const hdst__nest *nest, const hdst__linear *l)
{
    uint64_t rest = 0, unit = 0;
    if (!l->known || l->factor[0] == 0) return false;
    for (size_t k = 1; k < nest->depth; k++) {
        rest += reach(nest, l, k);
        unit = common(unit, l->factor[k]);
    }
    return rest < l->factor[0] || unit > reach(nest, l, 0);
}

// As digits of a number: each loop's factor is more than all smaller ones reach together.
void hdst__linear_tells(const hdst__nest *nest, const hdst__linear *l, bool told[HDST__NEST_DEPTH])
{
    bool looked[HDST__NEST_DEPTH] = {false};
    uint64_t below = 0;
    for (size_t n = 0; l->known && n < nest->depth; n++) {
        size_t least = nest->depth;
        for (size_t k = 0; k < nest->depth; k++)
            if (!looked[k] && (least == nest->depth || l->factor[k] < l->factor[least])) least = k;
        looked[least] = true;
        if (l->factor[least] == 0) continue;
        if (l->factor[least] <= below) return;      // it and all others stay as they are: they may meet what the smaller ones reach
        told[least] = true;
        below += reach(nest, l, least);
    }
}
