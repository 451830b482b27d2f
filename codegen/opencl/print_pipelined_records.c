// SPDX-License-Identifier: Apache-2.0
// CPU form: a record loop in which a family of sums is added for the block before. Each of the family's runs of additions (a group's of FAMILY_PART records)
// goes along with its share of the block's vectors of records; steps of it stand evenly between the operations of a vector. Where the shares are not even, a
// vector takes one step more as long as the run has some left.
//
//     float *const w_Of = Family1_Factors[Family1_Turn][0];
//     if (FAMILY_WAITS && Family1.waits) {
//         for (uint n = 0; n < 8; n++) {
//             family_run run;
//             family_begin(&run, &Family1, ...);
//             uint at = ...;
//             for (uint r = from; r < to; r += 16) {
//                 float16 d_ = *(__global const packed_float16 *)(&p_x_(i, 0) + r) - (float16)(c_);
//                 family_step(&run, b, Family1.others, at + 0, 4, 5);
//                 float16 w_ = (float16)(1.0f) / d_;
//                 *(packed_float16 *)(w_Of + r) = w_;
//                 ...
//                 at += 128;
//             }
//             family_finish(&Family1, &run, ...);
//         }
//         Family1.waits = 0;
//     } else
//     VECTOR_LOOP(16, 2)
//     for (int r = 0; r < BLOCK; r++) { ... }
#include "codegen/opencl/print_pipelined_records.h"
#include "codegen/ir/shared_family.h"
#include "codegen/opencl/print_constant.h"
#include "codegen/opencl/print_expr.h"
#include "codegen/opencl/print_shared_factors.h"
#include "codegen/opencl/print_unpack.h"

#include <inttypes.h>

// Of an operation on a vector: quotients take their ports far longer than others.
enum { QUOTIENT_COST = 8 };

// --- Which ---

static bool is_factor_of(const ir_func *func, const hdst__shared_family *f, uint32_t var)
{
    for (size_t g = 0; g < f->groups; g++)
        if (hdst__shared_family_factor(func, f, g)->var == var) return true;
    return false;
}

bool hdst__is_pipelined_factor(const hdst__printer *p, uint32_t var)
{
    const ir_func *func = p->func;
    for (size_t i = 0; func->block && func->vars[var].per_record && i < func->body.count; i++) {
        const ir_stmt *s = func->body.items[i];
        if (s->kind != IR_RECORDS || !s->joint) continue;
        const hdst__shared_family f = hdst__shared_family_of(func, s->joint);
        if (is_factor_of(func, &f, var)) return true;
    }
    return false;
}

// --- A vector of records ---

static const char *vector_type(hdst__printer *p, hdst__kind kind)
{
    return hdst__arena_printf(p->arena, "%s%" PRIu32, kind == HDST__BOOL ? "int" : hdst__cl_name(kind), p->lanes);      // comparisons of floats give ints
}

const char *hdst__pipelined_read_text(hdst__printer *p, const ir_expr *e)
{
    if (!p->lanes) return NULL;
    if (e->op == IR_FIELD)
        return hdst__arena_printf(p->arena, "*(__global const packed_%s *)(%s + r)", vector_type(p, e->kind), hdst__block_pointer_text(p, e));
    return hdst__arena_printf(p->arena, "(%s)(%s(%s, %s))", vector_type(p, e->kind), hdst__leaf_name(p, e->param, e->leaf),
        hdst__index_text(p, e->a, HDST__WHOLE), hdst__index_text(p, e->b, HDST__WHOLE));
}

static bool add_cost(ir_expr **slot, void *user)
{
    size_t *cost = user;
    const ir_op op = (*slot)->op;
    *cost += op == IR_DIV ? QUOTIENT_COST : op != IR_CONST && op != IR_VAR && op != IR_FIELD && op != IR_BROADCAST;
    return true;
}

static size_t cost_of(const ir_stmt *s)
{
    size_t cost = 0;
    hdst__ir_visit_own_exprs((ir_stmt *)s, add_cost, &cost);
    return cost;
}

static bool divides(const ir_stmt *s) { return cost_of(s) >= QUOTIENT_COST; }

// What is one number for all records stands as a vector.
static const char **vector_names(hdst__printer *p)
{
    const char **names = HDST__NEW_ARRAY(p->arena, const char *, p->func->var_count + 1);
    for (uint32_t v = 0; v < p->func->var_count; v++) {
        const ir_var *var = &p->func->vars[v];
        const bool splat = var->kind == HDST__F32 && !var->elements && !var->varying && !var->per_record;
        names[v] = !splat ? p->var_name[v] : hdst__arena_printf(p->arena, "(%s)(%s)", vector_type(p, var->kind), p->var_name[v]);
    }
    return names;
}

// Steps of additions that stand between a vector's operations, and what these cost.
typedef struct steps {
    const char *name;               // the family's
    const hdst__shared_family *of;
    size_t count, printed, cost, passed;
} steps;

static const char *step_text(hdst__printer *p, const steps *s, const char *name, const char *at)
{
    return hdst__arena_printf(p->arena, "%s(&run, b, %s.others, %s, %zu, %zu);", name, s->name, at, s->of->first.products, s->of->first.count);
}

static void print_steps(hdst__printer *p, steps *s, size_t upto)
{
    for (; s->printed < upto; s->printed++)
        hdst__write_line(&p->out, "%s", step_text(p, s, "family_step_beside", hdst__arena_printf(p->arena, "at + %zu", s->printed * p->lanes)));
}

static void print_set(hdst__printer *p, const ir_stmt *s, bool *declared)
{
    const char *type = vector_type(p, p->func->vars[s->var].kind), *value = hdst__expr_text(p, s->value, HDST__WHOLE);
    hdst__write_line(&p->out, "%s%s%s = %s;", declared[s->var] ? "" : type, declared[s->var] ? "" : " ", p->var_name[s->var], value);
    declared[s->var] = true;
}

// What loops before this one made.
static void print_loads(hdst__printer *p, const ir_block *body, bool *declared)
{
    uint8_t *access = HDST__NEW_ARRAY(p->arena, uint8_t, p->func->var_count + 1);
    hdst__ir_accesses(body, access);
    for (uint32_t v = 0; v < p->func->var_count; v++) {
        if (!p->func->vars[v].per_record || !(access[v] & IR_READ_FIRST)) continue;
        const char *type = vector_type(p, p->func->vars[v].kind);
        hdst__write_line(&p->out, "%s %s = *(const packed_%s *)(%s + r);", type, p->var_name[v], type, p->array_name[v]);
        declared[v] = true;
    }
}

static bool is_last_write(const ir_block *body, size_t which)
{
    for (size_t i = which + 1; i < body->count; i++)
        if (body->items[i]->var == body->items[which]->var) return false;
    return true;
}

static void print_vector(hdst__printer *p, const ir_block *body, steps *s)
{
    bool *declared = HDST__NEW_ARRAY(p->arena, bool, p->func->var_count + 1);
    for (size_t i = 0; i < body->count; i++) s->cost += cost_of(body->items[i]);
    print_loads(p, body, declared);
    for (size_t i = 0; i < body->count; i++) {
        const uint32_t v = body->items[i]->var;
        print_set(p, body->items[i], declared);
        s->passed += cost_of(body->items[i]);
        const size_t due = s->passed * s->count / s->cost;
        if (due > s->printed || divides(body->items[i])) hdst__write_line(&p->out, "IN_PLACE(%s)", p->var_name[v]);
        print_steps(p, s, due);
        if (p->func->vars[v].per_record && is_last_write(body, i))
            hdst__write_line(&p->out, "*(packed_%s *)(%s + r) = %s;", vector_type(p, p->func->vars[v].kind), p->array_name[v], p->var_name[v]);
    }
}

// --- The family's runs ---

enum { FAMILY_PART = 256 };     // accum/levels_shared.cl

static size_t ceiling(size_t a, size_t b) { return (a + b - 1) / b; }

static void print_run(hdst__printer *p, const ir_stmt *records, steps *s)
{
    const size_t vectors = p->func->block / p->lanes, runs = s->of->groups * ceiling(p->func->block, FAMILY_PART);
    const size_t last = p->func->block % FAMILY_PART ? p->func->block % FAMILY_PART : FAMILY_PART;
    const char *share = hdst__arena_printf(p->arena, "%zu / %zu * %" PRIu32, vectors, runs, p->lanes);
    s->count = last / p->lanes / ceiling(vectors, runs);
    const bool even = vectors % runs == 0 && last / p->lanes == s->count * (vectors / runs) && (last == FAMILY_PART || p->func->block < FAMILY_PART);
    hdst__write_line(&p->out, "const float *const b = %s_Factors[%s_Turn ^ 1][n %% %zu];", s->name, s->name, s->of->groups);
    hdst__write_line(&p->out, "uint at = n / %zu * FAMILY_PART;", s->of->groups);
    if (!even) hdst__write_line(&p->out, "const uint end = min(at + FAMILY_PART, (uint)BLOCK);");
    hdst__write_line(&p->out, "family_run run;");
    hdst__write_line(&p->out, "family_begin(&run, &%s, n %% %zu, at, %zu);", s->name, s->of->groups, s->of->first.count);
    hdst__write_line(&p->out, "const uint from = n * %s, to = (n + 1) * %s;", share, share);
    if (!even) hdst__write_line(&p->out, "uint rest = at + (to - from) * %zu;", s->count);
    hdst__write_line(&p->out, "for (uint r = from; r < to; r += %" PRIu32 ") {", p->lanes);
    p->out.indent++;
    print_vector(p, &records->body, s);
    hdst__write_line(&p->out, "at += %zu;", s->count * p->lanes);
    if (!even) {
        hdst__write_line(&p->out, "if (rest < end) {");
        hdst__write_line(&p->out, "    %s", step_text(p, s, "family_step_beside", "rest"));
        hdst__write_line(&p->out, "    rest += %" PRIu32 ";", p->lanes);
        hdst__write_line(&p->out, "}");
    }
    p->out.indent--;
    hdst__write_line(&p->out, "}");
    if (!even) hdst__write_line(&p->out, "for (; rest < end; rest += %" PRIu32 ") %s", p->lanes, step_text(p, s, "family_step", "rest"));
    hdst__write_line(&p->out, "family_finish(&%s, &run, b, %s.others, %zu, %zu, %s);", s->name, s->name, s->of->first.products, s->of->first.count,
        hdst__family_is_plus(p, s->of) ? "true" : "false");
}

static void print_arrays(hdst__printer *p, const char *name, const hdst__shared_family *f)
{
    for (size_t g = 0; g < f->groups; g++) {
        const char *array = p->array_name[hdst__shared_family_factor(p->func, f, g)->var];
        hdst__write_line(&p->out, "float *const %s = %s_Factors[%s_Turn][%zu];", array, name, name, g);
    }
}

size_t hdst__print_pipelined_records(hdst__printer *p, ir_stmt *const *stmts, size_t count)
{
    const ir_stmt *records = stmts[0];
    if (!count || !records->joint) return 0;
    const hdst__shared_family family = hdst__shared_family_of(p->func, records->joint);
    steps s = {.name = hdst__family_name(p, &family), .of = &family};
    const char **outer = p->var_name;
    print_arrays(p, s.name, &family);
    hdst__write_line(&p->out, "if (FAMILY_WAITS && %s.waits) {", s.name);
    p->out.indent++;
    hdst__write_line(&p->out, "for (uint n = 0; n < %zu; n++) {", family.groups * ceiling(p->func->block, FAMILY_PART));
    p->out.indent++;
    p->lanes = records->lanes;
    p->var_name = vector_names(p);
    print_run(p, records, &s);
    p->var_name = outer;
    p->lanes = 0;
    p->out.indent--;
    hdst__write_line(&p->out, "}");
    hdst__write_line(&p->out, "%s.waits = 0;", s.name);
    p->out.indent--;
    hdst__write_line(&p->out, "} else");
    return 0;
}
