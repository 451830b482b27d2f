// SPDX-License-Identifier: Apache-2.0
// Block form: exact sums of the whole dataset whose addends are products with one factor are added together (accum/levels_shared.cl): the factor is read and
// looked at once for all of them, and no product is tested by itself. Nothing else adds to these sums. Sums are exact, so their order does not matter.
//
// Groups with the same other factors stand together, a family: what these are is looked at once for all of them. A group without others like it pays less than
// that look costs, and is none.
//
// Before: block t.x += mul(p.x[0u], w) by loop 1
//         block n.x += w by loop 0
//         block t.y += mul(p.x[1u], w) by loop 1
//         block t.z += mul(p.x[2u], w) by loop 1
//         (the same of u and v)
// After:  block t.x += mul(p.x[0u], w) by loop 1 joint 1
//         block t.y += mul(p.x[1u], w) by loop 1 joint 1
//         block t.z += mul(p.x[2u], w) by loop 1 joint 1
//         block n.x += w by loop 0 joint 1
//         (the same of u and v, joint 2)
#include "codegen/pass/sum_loops.h"

#include "codegen/ir/sum_loop.h"

typedef struct sharer {
    ir_func *func;
    uint32_t groups;
    size_t sums;
} sharer;

typedef struct group {
    ir_stmt *sum[HDST__SHARED_PRODUCTS + 1];
    size_t count;
    const ir_expr *factor;
    bool placed;
} group;

enum { TAKEN = UINT32_MAX };        // joint: of a group that has no number yet

// Whether the sum may join: then it is the group's last one. It need not be a group yet that is worth it.
static bool may_join(const sharer *sh, group *g, ir_stmt *s, const ir_expr *factor)
{
    if (g->count == HDST__SHARED_PRODUCTS || !hdst__is_product_with(s->value, factor)) return false;
    g->sum[g->count++] = s;
    if (g->count < HDST__SHARED_LEAST || hdst__shared_factor(sh->func, g->sum, g->count)) return true;
    g->count--;
    return false;
}

// Of `count` sums the products with the factor, as many as go together, then the factor itself.
static group group_of(const sharer *sh, ir_stmt *const *sums, size_t count, const ir_expr *factor)
{
    group g = {.factor = factor};
    for (size_t i = 0; i < count; i++)
        if (!sums[i]->joint) may_join(sh, &g, sums[i], factor);
    if (!g.count || !hdst__shared_factor(sh->func, g.sum, g.count)) return (group){.count = 0};
    for (size_t i = 0, products = g.count; i < count && g.count == products; i++) {
        if (sums[i]->joint || !hdst__ir_expr_equal(sums[i]->value, factor)) continue;
        g.sum[g.count++] = sums[i];
        if (!hdst__shared_factor(sh->func, g.sum, g.count)) g.count--;
    }
    return g;
}

// The larger one of its two factors' groups.
static group best_group(const sharer *sh, ir_stmt *const *sums, size_t count, const ir_stmt *of)
{
    const ir_expr *value = of->value;
    if (of->joint || value->op != IR_MUL || value->kind != HDST__F32) return (group){.count = 0};
    const group a = group_of(sh, sums, count, value->a), b = group_of(sh, sums, count, value->b);
    return b.count > a.count ? b : a;
}

static bool in_double(const ir_func *func, const ir_stmt *s) { return (func->sum_loops[s->sum_loop].ways & 1u << IR_SUM_IN_DOUBLE) != 0; }

static bool is_same_family(const group *a, const group *b)
{
    bool same = a->count == b->count;
    for (size_t i = 0; same && i < a->count; i++) {
        const ir_expr *x = a->sum[i]->value, *y = b->sum[i]->value;
        const bool is_product = hdst__is_product_with(x, a->factor);
        same = is_product == hdst__is_product_with(y, b->factor);
        if (same && is_product) same = hdst__ir_expr_equal(hdst__other_factor(x, a->factor), hdst__other_factor(y, b->factor));
    }
    return same;
}

static void place(sharer *sh, ir_block *out, group *g)
{
    sh->groups++;
    sh->sums += g->count;
    g->placed = true;
    for (size_t k = 0; k < g->count; k++) {
        g->sum[k]->joint = sh->groups;
        hdst__ir_push(sh->func, out, g->sum[k]);
    }
}

// Each factor once: while records are put aside, zeros stand in its array.
static bool has_factor(const group *family, const group *end, uint32_t first_joint, const ir_expr *factor)
{
    for (const group *g = family; g < end; g++)
        if (g->placed && g->sum[0]->joint >= first_joint && hdst__ir_expr_equal(g->factor, factor)) return true;
    return false;
}

static void place_families(sharer *sh, ir_block *out, group *groups, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const uint32_t first_joint = sh->groups + 1;
        for (size_t k = i + 1; !groups[i].placed && k < count; k++)
            if (!groups[k].placed && is_same_family(&groups[i], &groups[k]) && !hdst__ir_expr_equal(groups[i].factor, groups[k].factor))
                place(sh, out, &groups[i]);
        for (size_t k = i + 1; sh->groups >= first_joint && k < count; k++)
            if (!groups[k].placed && is_same_family(&groups[i], &groups[k]) && !has_factor(groups, groups + count, first_joint, groups[k].factor))
                place(sh, out, &groups[k]);
        for (size_t k = 0; !groups[i].placed && k < groups[i].count; k++) groups[i].sum[k]->joint = 0;
    }
}

// Sums that stand together: first the families, then all else.
static void share(sharer *sh, ir_block *out, ir_stmt *const *sums, size_t count)
{
    group *groups = HDST__NEW_ARRAY(sh->func->arena, group, count / HDST__SHARED_LEAST + 1);
    size_t found = 0;
    for (size_t i = 0; i < count; i++) {
        const group g = best_group(sh, sums, count, sums[i]);
        for (size_t k = 0; k < g.count; k++) g.sum[k]->joint = TAKEN;
        if (g.count) groups[found++] = g;
    }
    place_families(sh, out, groups, found);
    for (size_t i = 0; i < count; i++)
        if (!sums[i]->joint) hdst__ir_push(sh->func, out, sums[i]);
}

static void rewrite(sharer *sh, ir_block *block)
{
    ir_block out = {0};
    for (size_t i = 0, n; i < block->count; i += n > 0 ? n : 1) {
        ir_stmt *s = block->items[i];
        for (n = 0; i + n < block->count && block->items[i + n]->kind == IR_ACCUM_BLOCK && in_double(sh->func, block->items[i + n]); n++) {}
        if (n) {
            share(sh, &out, block->items + i, n);
            continue;
        }
        ir_block *nested[HDST__IR_NESTED];
        for (int k = 0, count = hdst__ir_nested(s, nested); k < count; k++) rewrite(sh, nested[k]);
        hdst__ir_push(sh->func, &out, s);
    }
    *block = out;
}

void hdst__pass_shared_factors(ir_func *func)
{
    sharer sh = {.func = func};
    if (!func->sum_loop_count) return;
    rewrite(&sh, &func->body);
    if (sh.groups && func->form_why)
        func->form_why = hdst__arena_printf(func->arena, "%s; %zu sums in %u groups that share a factor", func->form_why, sh.sums, (unsigned)sh.groups);
}
