// SPDX-License-Identifier: Apache-2.0
// CPU form: exact sums of products with one factor, added together where a look at the factors tells that two levels of floats hold all products
// (accum/levels_shared.cl). Where they do not, each sum takes its addends by itself (print_sum_loops.c). Groups whose other factors are the same are a family.
//
//     family_sum Family1_Sums[] = {{&t_x_FloatLevels[0], t_Total + 0, FLOAT_LAST, FLOAT_LOWEST}, ...};
//     ...
//         {
//             float *const b[] = {w_Of, w_2_Of};
//             __global const float *const a[] = {&p_x_(i, 0), &p_x_(i, 1), &p_x_(i, 2)};
//             if (family_holds_3_2(&Family1, b, a)) {
//                 family_take_3_4(&Family1, b, a);
//                 family_restore(&Family1, b);
//             } else {
//                 ...
//             }
//         }
#include "codegen/opencl/print_shared_factors.h"
#include "codegen/ir/shared_family.h"
#include "codegen/ir/sign.h"
#include "codegen/ir/sum_loop.h"
#include "codegen/opencl/print_expr.h"
#include "codegen/opencl/print_unpack.h"

#include <inttypes.h>

// Sums of the factors themselves, none of which has a sign, tell whether these are too great.
bool hdst__family_is_plus(const hdst__printer *p, const hdst__shared_family *f)
{
    bool plus = f->first.count > f->first.products;
    const bool *vars = plus ? hdst__ir_plus_vars(p->func) : NULL;
    for (size_t g = 0; plus && g < f->groups; g++) plus = hdst__ir_is_plus(hdst__shared_family_factor(p->func, f, g), vars);
    return plus;
}

// family_holds_4_8
static const char *function_name(hdst__printer *p, const char *what, const hdst__shared_family *f, size_t second)
{
    return hdst__arena_printf(p->arena, "family_%s%s_%zu_%zu", what, hdst__family_is_plus(p, f) ? "_plus" : "", f->first.products, second);
}

const char *hdst__family_name(hdst__printer *p, const hdst__shared_family *f) { return hdst__arena_printf(p->arena, "Family%" PRIu32, f->sum[0]->joint); }

// --- Every family of the function ---

typedef struct each {
    void (*print)(hdst__printer *p, const hdst__shared_family *f, void *user);
    void *user;
} each;

static void each_in(hdst__printer *p, ir_block *block, const each *e)
{
    for (size_t i = 0; i < block->count; i++) {
        ir_stmt *s = block->items[i];
        ir_block *nested[HDST__IR_NESTED];
        for (int k = 0, count = hdst__ir_nested(s, nested); k < count; k++) each_in(p, nested[k], e);
        if (s->kind != IR_ACCUM_BLOCK || !s->joint) continue;
        const hdst__shared_family f = hdst__shared_family_at(p->func, block->items + i, block->count - i);
        e->print(p, &f, e->user);
        i += f.sums - 1;
    }
}

static void each_family(hdst__printer *p, void (*print)(hdst__printer *p, const hdst__shared_family *f, void *user), void *user)
{
    const each e = {print, user};
    if (!p->block_form) return;
    const hdst__printer_scope outer = hdst__printer_scope_of(p);
    p->func = p->block_form;
    each_in(p, (ir_block *)&p->func->body, &e);
    hdst__printer_return(p, outer);
}

// --- Functions: of each number of products and factors one that looks, and one that adds, without or with the factor itself ---

// By whether factors are plus.
typedef struct functions {
    uint64_t holds[2][HDST__SHARED_PRODUCTS + 1];   // bit n: with n factors
    bool take[2][HDST__SHARED_PRODUCTS + 1][2];
} functions;

static void print_function(hdst__printer *p, const char *type, const char *what, const char *call, const hdst__shared_family *f, size_t second, bool plus)
{
    hdst__write_line(&p->out, "__attribute__((noinline)) %s %s(family *f, float *const *b, __global const float *const *a)", type,
        function_name(p, what, f, second));
    hdst__write_line(&p->out, "{");
    hdst__write_line(&p->out, "    %s(f, b, a, %zu, %zu, %" PRIu32 ", %s);", call, f->first.products, second, p->func->block, plus ? "true" : "false");
    hdst__write_line(&p->out, "}");
}

static void print_functions(hdst__printer *p, const hdst__shared_family *f, void *user)
{
    functions *printed = user;
    const size_t products = f->first.products, count = f->first.count;
    const bool plus = hdst__family_is_plus(p, f);
    if (!(printed->holds[plus][products] >> f->groups & 1)) print_function(p, "bool", "holds", "return family_holds", f, f->groups, plus);
    if (!printed->take[plus][products][count - products]) print_function(p, "void", "take", "family_take", f, count, plus);
    printed->holds[plus][products] |= (uint64_t)1 << f->groups;
    printed->take[plus][products][count - products] = true;
}

void hdst__print_shared_loops(hdst__printer *p)
{
    functions printed = {0};
    p->block_form = p->func;
    each_family(p, print_functions, &printed);
}

// --- A strip's start and end ---

static void print_start(hdst__printer *p, const hdst__shared_family *f, void *user)
{
    const hdst__shared_texts *texts = user;
    const char *name = hdst__family_name(p, f);
    const size_t rows = f->groups + f->first.products;
    hdst__write_line(&p->out, "family_sum %s_Sums[] = {", name);
    for (size_t i = 0; i < f->sums; i++) hdst__write_line(&p->out, "    {&%s, %s},", texts->state(p, f->sum[i]), texts->cell(p, f->sum[i]));
    hdst__write_line(&p->out, "};");
    hdst__write_line(&p->out, "float %s_Aside[%zu * (BLOCK + BLOCK / 8)] ALIGNED;", name, rows);
    hdst__write_line(&p->out, "int %s_Top[%zu], %s_Wanted[%zu];", name, rows, name, f->groups);
    hdst__write_line(&p->out, "family %s;", name);
    hdst__write_line(&p->out, "family_start(&%s, %s_Sums, %s_Aside, %s_Top, %s_Wanted, %zu, %zu, %zu, BLOCK);", name, name, name, name, name, f->groups,
        f->first.products, f->first.count);
    if (!hdst__shared_family_waits(p->func, f)) return;
    hdst__write_line(&p->out, "float %s_Factors[2][%zu][BLOCK] ALIGNED;", name, f->groups);
    hdst__write_line(&p->out, "uint %s_Turn = 0;     // which of them this block has", name);
}

// What no block came behind.
static void print_last(hdst__printer *p, const hdst__shared_family *f, const char *name)
{
    hdst__write_line(&p->out, "if (%s.waits) {", name);
    hdst__write_line(&p->out, "    float *const b[] = {");
    for (size_t g = 0; g < f->groups; g++) hdst__write_line(&p->out, "        %s_Factors[%s_Turn ^ 1][%zu],", name, name, g);
    hdst__write_line(&p->out, "    };");
    hdst__write_line(&p->out, "    %s(&%s, b, %s.others);", function_name(p, "take", f, f->first.count), name, name);
    hdst__write_line(&p->out, "    %s.waits = 0;", name);
    hdst__write_line(&p->out, "}");
}

static void print_end(hdst__printer *p, const hdst__shared_family *f, void *user)
{
    const char *name = hdst__family_name(p, f);
    (void)user;
    if (hdst__shared_family_waits(p->func, f)) print_last(p, f, name);
    hdst__write_line(&p->out, "family_end(&%s);", name);
}

void hdst__print_shared_starts(hdst__printer *p, const hdst__shared_texts *texts) { each_family(p, print_start, (void *)texts); }
void hdst__print_shared_ends(hdst__printer *p) { each_family(p, print_end, NULL); }

// --- A block ---

static void print_factors(hdst__printer *p, const hdst__shared_family *f)
{
    hdst__write_line(&p->out, "float *const b[] = {");
    for (size_t g = 0; g < f->groups; g++) {
        hdst__write_line(&p->out, "    %s,", hdst__block_pointer_text(p, hdst__shared_family_factor(p->func, f, g)));
    }
    hdst__write_line(&p->out, "};");
    hdst__write_line(&p->out, "__global const float *const a[] = {");
    for (size_t i = 0; i < f->first.products; i++) hdst__write_line(&p->out, "    %s,", hdst__block_pointer_text(p, hdst__shared_other(&f->first, i)));
    hdst__write_line(&p->out, "};");
}

// What a block does that was looked at.
static void print_held(hdst__printer *p, const hdst__shared_family *f)
{
    const char *name = hdst__family_name(p, f);
    const bool waits = hdst__shared_family_waits(p->func, f);
    p->out.indent++;
    if (waits) {
        hdst__write_line(&p->out, "if (FAMILY_WAITS) {");
        hdst__write_line(&p->out, "    family_wait(&%s, a);", name);
        hdst__write_line(&p->out, "    %s_Turn ^= 1;", name);
        hdst__write_line(&p->out, "} else {");
        p->out.indent++;
    }
    hdst__write_line(&p->out, "%s(&%s, b, a);", function_name(p, "take", f, f->first.count), name);
    hdst__write_line(&p->out, "family_restore(&%s, b);", name);
    if (waits) {
        p->out.indent--;
        hdst__write_line(&p->out, "}");
    }
    p->out.indent--;
}

size_t hdst__print_shared_groups(hdst__printer *p, ir_stmt *const *stmts, size_t count, const hdst__shared_texts *texts)
{
    const hdst__shared_family f = hdst__shared_family_at(p->func, stmts, count);
    const char *name = hdst__family_name(p, &f);
    hdst__write_line(&p->out, "{");
    p->out.indent++;
    print_factors(p, &f);
    hdst__write_line(&p->out, "if (%s(&%s, b, a)) {", function_name(p, "holds", &f, f.groups), name);
    print_held(p, &f);
    hdst__write_line(&p->out, "} else {");
    p->out.indent++;
    for (size_t i = 0; i < f.sums; i++) texts->alone(p, f.sum[i]);
    p->out.indent--;
    hdst__write_line(&p->out, "}");
    p->out.indent--;
    hdst__write_line(&p->out, "}");
    return f.sums;
}
