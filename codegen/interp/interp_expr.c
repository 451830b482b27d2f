// SPDX-License-Identifier: Apache-2.0
// Expressions of the interpreter: the tree from the leaves up, each operation over all lanes at once (codegen/ir/eval.h).
#include "codegen/ir/eval.h"
#include "codegen/interp/interp_state.h"
#include "record/scalar_convert.h"

#include <string.h>

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

size_t hdst__interp_expr_slabs(const ir_expr *e)
{
    size_t need = 1;
    if (e->a) need = larger(need, hdst__interp_expr_slabs(e->a));
    if (e->b) need = larger(need, 1 + hdst__interp_expr_slabs(e->b));
    if (e->c) need = larger(need, 2 + hdst__interp_expr_slabs(e->c));
    return need;
}

// The value as one pattern per lane; a uniform value is copied to all lanes of slab `at`.
static const uint64_t *spread(interp_state *s, lanes value, size_t at)
{
    if (!value.uniform) return value.v;
    uint64_t *out = hdst__interp_slab(s, at);
    const uint64_t one = value.v[0];
    for (size_t i = 0; i < s->n; i++) out[i] = one;
    return out;
}

const uint64_t *hdst__interp_eval_lanes(interp_state *s, const ir_expr *e, size_t at)
{
    return spread(s, hdst__interp_eval(s, e, at), at);
}

static lanes unary(interp_state *s, const ir_expr *e, size_t at)
{
    const lanes a = hdst__interp_eval(s, e->a, at);
    const size_t n = a.uniform ? 1 : s->n;
    uint64_t *out = hdst__interp_slab(s, at);
    if (e->op == IR_CONVERT) hdst__scalar_convert_n(e->kind, e->a->kind, a.v, out, n);
    else if (e->op == IR_BITCAST) hdst__eval_bitcast_n(e->kind, e->a->kind, a.v, out, n);
    else hdst__eval_unary_n(e->op, e->a->kind, a.v, out, n);
    return (lanes){out, a.uniform};
}

static lanes binary(interp_state *s, const ir_expr *e, size_t at)
{
    const lanes a = hdst__interp_eval(s, e->a, at), b = hdst__interp_eval(s, e->b, at + 1);
    const bool uniform = a.uniform && b.uniform;
    const uint64_t *x = uniform ? a.v : spread(s, a, at), *y = uniform ? b.v : spread(s, b, at + 1);
    uint64_t *out = hdst__interp_slab(s, at);
    hdst__eval_binary_n(e->op, e->a->kind, x, y, out, uniform ? 1 : s->n);
    return (lanes){out, uniform};
}

static lanes fused(interp_state *s, const ir_expr *e, size_t at)
{
    const lanes a = hdst__interp_eval(s, e->a, at), b = hdst__interp_eval(s, e->b, at + 1), c = hdst__interp_eval(s, e->c, at + 2);
    const bool uniform = a.uniform && b.uniform && c.uniform;
    const uint64_t *x = uniform ? a.v : spread(s, a, at), *y = uniform ? b.v : spread(s, b, at + 1), *z = uniform ? c.v : spread(s, c, at + 2);
    uint64_t *out = hdst__interp_slab(s, at);
    hdst__eval_fma_n(e->kind, x, y, z, out, uniform ? 1 : s->n);
    return (lanes){out, uniform};
}

static lanes choice(interp_state *s, const ir_expr *e, size_t at)
{
    const lanes cond = hdst__interp_eval(s, e->a, at);
    if (cond.uniform) return hdst__interp_eval(s, cond.v[0] ? e->b : e->c, at);     // expressions have no side effects
    const uint64_t *yes = hdst__interp_eval_lanes(s, e->b, at + 1), *no = hdst__interp_eval_lanes(s, e->c, at + 2);
    uint64_t *out = hdst__interp_slab(s, at);
    for (size_t i = 0; i < s->n; i++) {
        const uint64_t mask = 0 - cond.v[i];
        out[i] = (yes[i] & mask) | (no[i] & ~mask);
    }
    return (lanes){out, false};
}

static lanes length(interp_state *s, const ir_expr *e, size_t at)
{
    return (lanes){hdst__interp_length(s, e->param, hdst__interp_slab(s, at)), true};
}

lanes hdst__interp_eval(interp_state *s, const ir_expr *e, size_t at)
{
    switch (e->op) {
    case IR_CONST: return (lanes){&e->bits, true};
    case IR_VAR: return (lanes){s->vars[e->var].v, s->vars[e->var].uniform};
    case IR_ELEM: return hdst__interp_element(s, e, at);
    case IR_FIELD: return hdst__interp_field(s, e, at);
    case IR_BROADCAST: return hdst__interp_broadcast(s, e, at);
    case IR_LENGTH: return length(s, e, at);
    case IR_RECORD_INDEX: return hdst__interp_record_index(s, at);
    case IR_TEXT_LENGTH: case IR_TEXT_BYTE: case IR_TEXT_WORD: case IR_TEXT_BITS: case IR_TEXT_SLICE: case IR_TEXT_TOKENS: case IR_TEXT_VIEW:
        return hdst__interp_text(s, e, at);
    case IR_NEG: case IR_BITNOT: case IR_NOT: case IR_ABS: case IR_SQRT: case IR_CANONICAL: case IR_ISNAN: case IR_CTZ: case IR_CONVERT:
    case IR_BITCAST: return unary(s, e, at);
    case IR_FMA: return fused(s, e, at);
    case IR_SELECT: return choice(s, e, at);
    case IR_FIXED: case IR_FITS: case IR_KEY_MIN: case IR_KEY_MAX: return hdst__interp_block_expr(s, e, at);
    default: return binary(s, e, at);
    }
}
