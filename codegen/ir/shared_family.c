// SPDX-License-Identifier: Apache-2.0
// Which sums that share a factor make a group, which groups a family.
#include "codegen/ir/shared_family.h"
#include "codegen/ir/sum_loop.h"

hdst__shared_group hdst__shared_group_at(const ir_func *func, ir_stmt *const *stmts, size_t count)
{
    hdst__shared_group g = {.sum = stmts, .count = hdst__shared_count(stmts, count)};
    g.factor = hdst__shared_factor(func, stmts, g.count);
    g.products = g.count - (stmts[g.count - 1]->value->op != IR_MUL);
    return g;
}

const ir_expr *hdst__shared_other(const hdst__shared_group *group, size_t product) { return hdst__other_factor(group->sum[product]->value, group->factor); }

static bool is_same_family(const hdst__shared_group *a, const hdst__shared_group *b)
{
    bool same = a->count == b->count && a->products == b->products;
    for (size_t i = 0; same && i < a->products; i++) same = hdst__ir_expr_equal(hdst__shared_other(a, i), hdst__shared_other(b, i));
    return same;
}

const ir_expr *hdst__shared_family_factor(const ir_func *func, const hdst__shared_family *family, size_t group)
{
    return hdst__shared_group_at(func, family->sum + group * family->first.count, family->first.count).factor;
}

static bool has_factor(const ir_func *func, const hdst__shared_family *f, const ir_expr *factor)
{
    for (size_t g = 0; g < f->groups; g++)
        if (hdst__ir_expr_equal(hdst__shared_family_factor(func, f, g), factor)) return true;
    return false;
}

hdst__shared_family hdst__shared_family_at(const ir_func *func, ir_stmt *const *stmts, size_t count)
{
    hdst__shared_family f = {.sum = stmts, .first = hdst__shared_group_at(func, stmts, count), .groups = 1};
    for (f.sums = f.first.count; f.groups < HDST__FAMILY_GROUPS && f.sums < count; f.groups++) {
        if (!hdst__shared_count(stmts + f.sums, count - f.sums)) break;
        const hdst__shared_group g = hdst__shared_group_at(func, stmts + f.sums, count - f.sums);
        if (!is_same_family(&f.first, &g) || has_factor(func, &f, g.factor)) break;
        f.sums += g.count;
    }
    return f;
}

hdst__shared_family hdst__shared_family_of(const ir_func *func, uint32_t joint)
{
    const ir_block *body = &func->body;
    for (size_t i = 0; i < body->count; i++)
        if (body->items[i]->kind == IR_ACCUM_BLOCK && body->items[i]->joint == joint)
            return hdst__shared_family_at(func, body->items + i, body->count - i);
    return (hdst__shared_family){.groups = 0};
}

bool hdst__shared_family_waits(const ir_func *func, const hdst__shared_family *family)
{
    bool waits = false;
    for (size_t i = 0; i < func->body.count; i++) waits |= func->body.items[i]->kind == IR_RECORDS && func->body.items[i]->joint == family->sum[0]->joint;
    return waits;
}
