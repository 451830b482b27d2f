// SPDX-License-Identifier: Apache-2.0
// Block form: the loops by which sums of the whole dataset take the addends of a block (codegen/ir/sum_loop.h). Sums
// whose addends are made alike share one: seventy sums of products are one function of the kernel, not seventy loops.
//
// Before: block t.x += mul(weight, p.x)
//         block t.y += mul(p.y, weight)
// After:  sum loop 0 f32 by 16 one two three double (block f32 a) a
//         sum loop 1 f32 by 16 one two three double (input f32 a, block f32 b) mul(a, b)
//         block t.x += mul(p.x, weight) by loop 1
//         block t.y += mul(p.y, weight) by loop 1
// Loop 0 adds what the others could not, from where it was put for that (levels_settle, accum/levels.cl).
#include "codegen/pass/sum_loops.h"

#include "base/costs_cpu.h"
#include "codegen/ir/sum_loop.h"

typedef struct looper {
    ir_func *func;
    bool has_double, rounds;
    size_t count, capacity;
} looper;

static uint32_t ways_of(const looper *l, hdst__kind kind)
{
    const uint32_t levels = 1u << IR_SUM_ONE_LEVEL | 1u << IR_SUM_TWO_LEVELS | 1u << IR_SUM_THREE_LEVELS;
    if (l->rounds) return 1u << IR_SUM_ROUNDED;
    if (kind == HDST__F64) return levels | 1u << IR_SUM_BIT_TEST;
    return l->has_double ? levels | 1u << IR_SUM_IN_DOUBLE : levels;
}

static uint32_t find_loop(looper *l, ir_sum_loop loop)
{
    ir_func *func = l->func;
    for (uint32_t i = 0; i < func->sum_loop_count; i++)
        if (hdst__sum_loops_equal(&func->sum_loops[i], &loop)) return i;
    loop.lanes = loop.kind == HDST__F64 ? HDST__CPU_SUM_LANES / 2 : HDST__CPU_SUM_LANES;
    loop.ways = ways_of(l, loop.kind);
    HDST__PUSH(func->arena, func->sum_loops, l->count, l->capacity, loop);
    return func->sum_loop_count++;
}

// Addends that were put side by side.
static void need_plain_loop(looper *l, hdst__kind kind)
{
    ir_var *value = HDST__NEW(l->func->arena, ir_var);
    *value = (ir_var){.name = "a", .kind = kind, .varying = true, .per_record = true};
    ir_expr *addend = hdst__ir_var(&(ir_func){.arena = l->func->arena, .vars = value, .var_count = 1}, 0);
    addend->varying = false;
    find_loop(l, (ir_sum_loop){.kind = kind, .operand = value, .in_input = HDST__NEW(l->func->arena, bool), .operand_count = 1, .addend = addend});
}

// Products are the same either way round: what lies in the input comes first, so that they share a loop.
static void order_factors(ir_expr *value)
{
    if (value->op != IR_MUL || value->b->op != IR_FIELD || value->a->op == IR_FIELD) return;
    ir_expr *swap = value->a;
    value->a = value->b;
    value->b = swap;
}

static bool make_loop(ir_stmt *s, void *user)
{
    looper *l = user;
    if (s->kind != IR_ACCUM_BLOCK) return true;
    if (!l->rounds) need_plain_loop(l, s->value->kind);
    order_factors(s->value);
    s->sum_loop = find_loop(l, hdst__sum_loop_of(l->func, s->value));
    return true;
}

// Some sums are rounded at each addition: then all that may (hdst__pass_accumulator_placement_cpu).
static bool has_fast_sums(const ir_func *func)
{
    for (size_t i = 0; i < func->param_count; i++) {
        const ir_param *param = &func->params[i];
        for (size_t l = 0; param->kind == IR_ACCUM_TABLE && param->placement && l < param->record->leaf_count; l++)
            if (param->placement->leaf[l].fast) return true;
    }
    return false;
}

void hdst__pass_sum_loops(ir_func *func, bool has_double)
{
    looper l = {.func = func, .has_double = has_double, .rounds = has_fast_sums(func)};
    hdst__ir_visit_stmts(&func->body, make_loop, &l);
}
