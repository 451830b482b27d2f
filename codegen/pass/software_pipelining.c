// SPDX-License-Identifier: Apache-2.0
// Block form: a record loop that divides waits for quotients, while additions to sums that share its results as factors wait for nothing but ports of the
// processor. So the sums of a block (a family, codegen/pass/shared_factors.c) are added in one loop with the records of the next block. It is marked here; that
// the loop's factors then have two arrays, in turn, and what is left at the end, is the printer's (print_pipelined_records.c).
//
// Before: records vectorize 16 by 2 { ... w = div(1f, d) ... }
//         block t.x += mul(p.x[0u], w) by loop 1 joint 1
// After:  records vectorize 16 by 2 beside joint 1 { ... w = div(1f, d) ... }
//         block t.x += mul(p.x[0u], w) by loop 1 joint 1
//
// The loop is printed as operations on vectors, so it has nothing but arithmetic of floats. Nobody else reads the factors: zeros stand in them for records
// that are put aside.
#include "codegen/pass/sum_loops.h"

#include "base/costs_cpu.h"
#include "codegen/ir/shared_family.h"
#include "codegen/ir/sum_loop.h"

// --- What vectors have ---

static bool is_varying(const ir_func *func, uint32_t var) { return func->vars[var].varying || func->vars[var].per_record; }

// The same for all records.
static bool is_uniform(const ir_func *func, const ir_expr *e)
{
    if (!e) return true;
    if (e->op == IR_FIELD || e->op == IR_RECORD_INDEX) return false;
    if ((e->op == IR_VAR || e->op == IR_ELEM) && is_varying(func, e->var)) return false;
    return is_uniform(func, e->a) && is_uniform(func, e->b) && is_uniform(func, e->c);
}

static bool vectors_have(const ir_func *func, const ir_expr *e);

static bool have_operands(const ir_func *func, const ir_expr *e)
{
    for (int i = 0; i < 3; i++) {
        const ir_expr *operand = (const ir_expr *[]){e->a, e->b, e->c}[i];
        if (operand && !vectors_have(func, operand)) return false;
    }
    return true;
}

static bool vectors_have_bool(const ir_func *func, const ir_expr *e)
{
    switch (e->op) {
    case IR_VAR: return func->vars[e->var].varying && !func->vars[e->var].per_record;
    case IR_LT: case IR_LE: case IR_GT: case IR_GE: case IR_EQ: case IR_NE: case IR_NOT: case IR_AND: case IR_OR: case IR_XOR: return have_operands(func, e);
    default: return false;
    }
}

static bool vectors_have(const ir_func *func, const ir_expr *e)
{
    if (e->kind == HDST__BOOL) return vectors_have_bool(func, e);
    if (e->kind != HDST__F32) return false;
    switch (e->op) {
    case IR_CONST: case IR_VAR: return true;
    case IR_BROADCAST: return is_uniform(func, e);
    case IR_FIELD: return hdst__sum_loop_can(func, e);      // it lies side by side
    case IR_NEG: case IR_ABS: case IR_ADD: case IR_SUB: case IR_MUL: case IR_DIV: case IR_FMA: case IR_SELECT: return have_operands(func, e);
    default: return false;
    }
}

static bool count_division(ir_expr **slot, void *user)
{
    size_t *divisions = user;
    *divisions += (*slot)->op == IR_DIV;
    return true;
}

static bool divides(ir_stmt *records)
{
    size_t divisions = 0;
    hdst__ir_visit_exprs(&records->body, count_division, &divisions);
    return divisions > 0;
}

static bool suits(const ir_func *func, ir_stmt *s)
{
    if (s->kind != IR_RECORDS || !s->vectorize || s->lanes != HDST__CPU_SUM_LANES || s->joint || !divides(s)) return false;
    for (size_t i = 0; i < s->body.count; i++) {
        const ir_stmt *set = s->body.items[i];
        if (set->kind != IR_SET || !vectors_have(func, set->value)) return false;
        if (func->vars[set->var].kind == HDST__BOOL && func->vars[set->var].per_record) return false;
    }
    return true;
}

// --- Factors ---

// Set in the loop and nowhere else, and read by the family alone; in the loop it is a value, not the array.
static bool is_own_factor(const ir_func *func, const ir_stmt *records, const hdst__shared_family *f, size_t group)
{
    const uint32_t var = hdst__shared_family_factor(func, f, group)->var;
    const bool is_scalar = hdst__shared_family_factor(func, f, group)->op == IR_VAR;
    if (!is_scalar || hdst__ir_first_meeting(&records->body, var) != IR_SETS || !hdst__ir_block_writes(&records->body, var)) return false;
    size_t reads = hdst__ir_block_reads(&records->body, var);
    for (size_t i = 0; i < f->sums; i++) reads += hdst__ir_stmt_reads(f->sum[i], var);
    return hdst__ir_block_reads(&func->body, var) == reads && hdst__ir_block_writes(&func->body, var) == hdst__ir_block_writes(&records->body, var);
}

static bool makes_factors(const ir_func *func, const ir_stmt *records, const hdst__shared_family *f)
{
    for (size_t g = 0; g < f->groups; g++)
        if (!is_own_factor(func, records, f, g)) return false;
    return true;
}

// A block has vectors for each group. Of few groups the additions are too few beside a vector's operations (base/costs_cpu.h).
static bool has_room(const ir_func *func, const hdst__shared_family *f)
{
    return f->groups >= HDST__CPU_PIPELINED_GROUPS && func->block / HDST__CPU_SUM_LANES >= f->groups;
}

static bool pipeline(ir_func *func, size_t end, const hdst__shared_family *f)
{
    for (size_t i = 0; i < end && has_room(func, f); i++) {
        ir_stmt *s = func->body.items[i];
        if (!suits(func, s) || !makes_factors(func, s, f)) continue;
        s->joint = f->sum[0]->joint;
        return true;
    }
    return false;
}

void hdst__pass_software_pipelining(ir_func *func)
{
    size_t pipelined = 0;
    for (size_t i = 0, n; i < func->body.count; i += n) {
        n = 1;
        if (func->body.items[i]->kind != IR_ACCUM_BLOCK || !func->body.items[i]->joint) continue;
        const hdst__shared_family f = hdst__shared_family_at(func, func->body.items + i, func->body.count - i);
        n = f.sums;
        pipelined += pipeline(func, i, &f);
    }
    if (pipelined && func->form_why)
        func->form_why = hdst__arena_printf(func->arena, "%s, added beside the records of the next block", func->form_why);
}
