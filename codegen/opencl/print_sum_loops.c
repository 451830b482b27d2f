// SPDX-License-Identifier: Apache-2.0
// CPU form: exact sums of the whole dataset take the addends of a block by a loop (codegen/ir/sum_loop.h), as a function
// of the kernel. Here a loop's operands and the ways in which it may add become text; what a step of each way does is
// hand-written (accum/levels_run.cl).
//
//     // Adds a[r] * b[r].
//     bool levels_take_float_1(float_levels *s, __global const float *a, const float *b, uint records)
//     {
//         if (s->count == 1) {
//             float_run run;
//             levels_begin_float(&run, s);
//             for (uint r = 0; r < records; r += 16)
//                 levels_step_float(&run, *(__global const packed_float16 *)(a + r) * *(const packed_float16 *)(b + r), 1);
//             if (levels_end_float(s, &run, records)) return true;
//         }
//         ...
//         return false;
//     }
#include "codegen/opencl/print_sum_loops.h"
#include "codegen/opencl/print_constant.h"
#include "codegen/opencl/print_expr.h"
#include "codegen/opencl/print_shared_factors.h"
#include "codegen/opencl/print_unpack.h"

#include <inttypes.h>
#include <string.h>

// How a way is written: the state of a loop, the functions' prefix, when it may be tried, what a step is told.
static const struct { const char *run, *prefix, *may, *told; } ways[IR_SUM_WAYS] = {
    [IR_SUM_BIT_TEST] = {"bit_test_run", "bit_test", "bit_test_may_double(s)", ""},
    [IR_SUM_ONE_LEVEL] = {NULL, "levels", "s->count == 1", ", 1"},
    [IR_SUM_TWO_LEVELS] = {NULL, "levels", "s->count == 2", ", 2"},
    [IR_SUM_THREE_LEVELS] = {NULL, "levels", "s->count == 3", ", 3"},
    [IR_SUM_IN_DOUBLE] = {"double_path_run", "double_path", "on_double_path_float(s)", ""},
};

// --- Vectors ---

const char *hdst__vector_name(hdst__printer *p, hdst__kind kind, uint32_t lanes)
{
    return hdst__arena_printf(p->arena, "%s%" PRIu32, hdst__cl_name(kind), lanes);
}

const char *hdst__packed_text(hdst__printer *p, const ir_sum_loop *loop, uint32_t operand, const char *pointer, const char *ahead)
{
    const char *vector = hdst__vector_name(p, loop->operand[operand].kind, loop->lanes), *space = loop->in_input[operand] ? "__global " : "";
    return hdst__arena_printf(p->arena, "*(%sconst packed_%s *)(%s + %s)", space, vector, pointer, ahead);
}

const char *hdst__sum_addend_text(hdst__printer *p, const ir_sum_loop *loop, const char **operands, uint32_t lanes)
{
    const ir_func scope = hdst__sum_loop_scope(p->func, loop);
    const hdst__printer_scope outer = hdst__printer_scope_of(p);
    p->func = &scope;
    p->var_name = operands;
    p->lanes = lanes;
    const char *text = hdst__expr_text(p, loop->addend, HDST__WHOLE);
    p->lanes = 0;
    hdst__printer_return(p, outer);
    return text;
}

// --- A loop as a function ---

static const char *real_name(const ir_sum_loop *loop) { return loop->kind == HDST__F64 ? "double" : "float"; }

// Of values that an array holds: what is put side by side takes it (levels_exceptions).
static bool is_plain(const ir_sum_loop *loop)
{
    return loop->addend->op == IR_VAR && loop->operand_count == 1 && loop->operand[0].per_record && !loop->in_input[0];
}

static const char *function_name(hdst__printer *p, const char *what, const ir_sum_loop *loop)
{
    const char *name = hdst__arena_printf(p->arena, "levels_%s_%s", what, real_name(loop));
    if (is_plain(loop) && loop->operand[0].kind == loop->kind) return name;
    return hdst__arena_printf(p->arena, "%s_%" PRIu32, name, (uint32_t)(loop - p->func->sum_loops));
}

// const float *a, __global const float *b, const float c
static const char *params_text(hdst__printer *p, const ir_sum_loop *loop)
{
    const char *text = "";
    for (uint32_t i = 0; i < loop->operand_count; i++) {
        const ir_var *var = &loop->operand[i];
        text = hdst__arena_printf(p->arena, "%s, %sconst %s %s%s", text, loop->in_input[i] ? "__global " : "", hdst__cl_name(var->kind),
            var->per_record ? "*" : "", var->name);
    }
    return text;
}

static const char *names_text(hdst__printer *p, const ir_sum_loop *loop)
{
    const char *text = "";
    for (uint32_t i = 0; i < loop->operand_count; i++) text = hdst__arena_printf(p->arena, "%s, %s", text, loop->operand[i].name);
    return text;
}

// The addends of the vector at r; of record r.
static const char *addend_text(hdst__printer *p, const ir_sum_loop *loop, bool as_vector)
{
    const char *operands[HDST__SUM_OPERANDS];
    for (uint32_t i = 0; i < loop->operand_count; i++) {
        const ir_var *var = &loop->operand[i];
        if (!as_vector) operands[i] = var->per_record ? hdst__arena_printf(p->arena, "%s[r]", var->name) : var->name;
        else if (var->per_record) operands[i] = hdst__packed_text(p, loop, i, var->name, "r");
        else operands[i] = hdst__arena_printf(p->arena, "(%s)(%s)", hdst__vector_name(p, var->kind, loop->lanes), var->name);
    }
    return hdst__sum_addend_text(p, loop, operands, as_vector ? loop->lanes : 0);
}

static void print_way(hdst__printer *p, const ir_sum_loop *loop, ir_sum_way way)
{
    const char *real = real_name(loop), *prefix = ways[way].prefix;
    const char *run = ways[way].run ? ways[way].run : hdst__arena_printf(p->arena, "%s_run", real);
    hdst__write_line(&p->out, "if (%s) {", ways[way].may);
    p->out.indent++;
    hdst__write_line(&p->out, "%s run;", run);
    hdst__write_line(&p->out, "%s_begin_%s(&run, s);", prefix, real);
    hdst__write_line(&p->out, "for (uint r = 0; r < records; r += %" PRIu32 ") %s_step_%s(&run, %s%s);", loop->lanes, prefix, real,
        addend_text(p, loop, true), ways[way].told);
    hdst__write_line(&p->out, "if (%s_end_%s(s, &run, records)) return true;", prefix, real);
    p->out.indent--;
    hdst__write_line(&p->out, "}");
}

static void print_take(hdst__printer *p, const ir_sum_loop *loop)
{
    hdst__write_line(&p->out, "// Adds %s of each record, if the sum's levels hold all of them.", addend_text(p, loop, false));
    hdst__write_line(&p->out, "bool %s(%s_levels *s%s, uint records)", function_name(p, "take", loop), real_name(loop), params_text(p, loop));
    hdst__write_line(&p->out, "{");
    p->out.indent++;
    for (int w = 0; w < IR_SUM_WAYS; w++)
        if (loop->ways & 1u << w) print_way(p, loop, (ir_sum_way)w);
    hdst__write_line(&p->out, "return false;");
    p->out.indent--;
    hdst__write_line(&p->out, "}");
}

static void print_add(hdst__printer *p, const ir_sum_loop *loop)
{
    const char *real = real_name(loop);
    hdst__write_line(&p->out, "__attribute__((noinline)) void %s(%s_levels *s%s, uint records, volatile __global long *cell, uint last, int lowest)",
        function_name(p, "add", loop), real, params_text(p, loop));
    hdst__write_line(&p->out, "{");
    p->out.indent++;
    hdst__write_line(&p->out, "levels_ready_%s(s, records, cell, last, lowest);", real);
    hdst__write_line(&p->out, "if (%s(s%s, records)) return;", function_name(p, "take", loop), names_text(p, loop));
    hdst__write_line(&p->out, "%s values[LEVELS_BLOCK];", real);
    hdst__write_line(&p->out, "for (uint r = 0; r < records; r++) values[r] = %s;", addend_text(p, loop, false));
    hdst__write_line(&p->out, "levels_exceptions_%s(s, values, records, cell, last, lowest);", real);
    p->out.indent--;
    hdst__write_line(&p->out, "}");
}

typedef struct loop_use {
    uint32_t loop;
    bool found;
} loop_use;

static bool find_use(ir_stmt *s, void *user)
{
    loop_use *use = user;
    use->found |= s->kind == IR_ACCUM_BLOCK && s->sum_loop == use->loop;
    return !use->found;
}

void hdst__print_sum_loops(hdst__printer *p)
{
    for (uint32_t i = 0; i < p->func->sum_loop_count; i++) {
        const ir_sum_loop *loop = &p->func->sum_loops[i];
        if (loop->ways & 1u << IR_SUM_ROUNDED) continue;        // in place: print_fast.c
        loop_use use = {.loop = i};
        hdst__ir_visit_stmts((ir_block *)&p->func->body, find_use, &use);
        print_take(p, loop);
        if (use.found) print_add(p, loop);
    }
    hdst__print_shared_loops(p);
}

// --- Its calls ---

void hdst__print_sum_call(hdst__printer *p, const ir_stmt *stmt, const char *state, const char *cell)
{
    const ir_sum_loop *loop = &p->func->sum_loops[stmt->sum_loop];
    ir_expr *operands[HDST__SUM_OPERANDS];
    const uint32_t count = hdst__sum_loop_operands(p->func, stmt->value, operands);
    const char *args = "";
    for (uint32_t i = 0; i < count; i++) {
        const char *text = loop->operand[i].per_record ? hdst__block_pointer_text(p, operands[i]) : hdst__expr_text(p, operands[i], HDST__WHOLE);
        args = hdst__arena_printf(p->arena, "%s, %s", args, text);
    }
    hdst__write_line(&p->out, "%s(&%s%s, BLOCK, %s);", function_name(p, "add", loop), state, args, cell);
}
