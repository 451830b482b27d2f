// SPDX-License-Identifier: Apache-2.0
// A uniform loop around one vectorised record loop is unrolled by four and jammed into it: what lives across its turns stays in registers for four of them,
// where the plain form is bound by loads and stores. A remainder loop follows.
//
// Before: for j = lo to hi { records { d = sub(p.x, c[j].x); best = ... } }
// After:  j_whole = lo + (hi - lo) / 4 * 4
//         for j = lo to j_whole step 4 { records { d = sub(p.x, c[j].x); best = ...; d = sub(p.x, c[j + 1].x); best = ...; ... } }
//         for j = j_whole to hi { records { d = sub(p.x, c[j].x); best = ... } }
#include "codegen/pass/block_form.h"
#include "codegen/pass/interval.h"
#include "codegen/pass/passes.h"
#include "base/costs_cpu.h"

static bool add_size(ir_expr **expr, void *user)
{
    (void)expr;
    ++*(size_t *)user;
    return true;
}

bool hdst__jam_fits(const ir_stmt *s, uint64_t turns)
{
    return s->step <= INT32_MAX / turns && (__int128)(s->step * turns) <= hdst__range_of_kind(s->lo->kind).high;
}

static bool is_jammable(const ir_stmt *s)
{
    if (s->kind != IR_FOR || s->unroll > 1 || s->body.count != 1) return false;
    const ir_stmt *records = s->body.items[0];
    if (records->kind != IR_RECORDS || !records->vectorize) return false;
    size_t size = 0;
    hdst__ir_visit_exprs((ir_block *)&records->body, add_size, &size);
    return size <= HDST__CPU_JAMMED_NODES && hdst__jam_fits(s, HDST__CPU_JAMMED_TURNS);
}

static hdst__kind unsigned_of(hdst__kind kind)
{
    return hdst__kind_is_signed(kind) ? (hdst__kind)(kind - HDST__I8 + HDST__U8) : kind;
}

// lo plus as many whole groups of turns as fit below hi; lo when there is none. In unsigned arithmetic, where hi - lo cannot overflow.
ir_expr *hdst__jam_end(ir_func *func, const ir_stmt *s, uint64_t turns)
{
    const hdst__kind kind = s->lo->kind, plain = unsigned_of(kind);
    const bool from_zero = kind == plain && hdst__ir_is_const(s->lo, 0);        // then hi < lo cannot be
    ir_expr *lo = hdst__ir_convert(func, plain, hdst__ir_copy(func, s->lo)), *hi = hdst__ir_convert(func, plain, hdst__ir_copy(func, s->hi));
    ir_expr *group = hdst__ir_const(func, plain, turns * s->step);
    ir_expr *distance = from_zero ? hi : hdst__ir_binary(func, IR_SUB, plain, hi, lo);
    ir_expr *whole = hdst__ir_binary(func, IR_MUL, plain, hdst__ir_binary(func, IR_DIV, plain, distance, group), hdst__ir_copy(func, group));
    if (from_zero) return whole;
    ir_expr *end = hdst__ir_binary(func, IR_ADD, plain, hdst__ir_copy(func, lo), whole);
    ir_expr *some = hdst__ir_binary(func, IR_LT, HDST__BOOL, hdst__ir_copy(func, s->lo), hdst__ir_copy(func, s->hi));
    return hdst__ir_select(func, some, hdst__ir_convert(func, kind, end), hdst__ir_copy(func, s->lo));
}

// A limit that is more than a name gets one.
static void name_limit(ir_func *func, ir_block *out, ir_stmt *s)
{
    if (s->hi->op == IR_CONST || s->hi->op == IR_VAR || s->hi->op == IR_LENGTH) return;
    uint32_t end = hdst__block_new_var(func, hdst__arena_printf(func->arena, "%s_end", func->vars[s->var].name), s->hi->kind, false);
    hdst__ir_push(func, out, hdst__ir_set(func, end, s->hi));
    s->hi = hdst__ir_var(func, end);
}

static void append_turn(ir_func *func, ir_block *to, const ir_stmt *s, uint64_t turn)
{
    ir_block copy = hdst__ir_copy_block(func, &s->body.items[0]->body);
    if (turn) {
        ir_expr *ahead = hdst__ir_const(func, s->lo->kind, turn * s->step);
        hdst__ir_substitute(func, &copy, s->var, hdst__ir_binary(func, IR_ADD, s->lo->kind, hdst__ir_var(func, s->var), ahead));
    }
    for (size_t i = 0; i < copy.count; i++) hdst__ir_push(func, to, copy.items[i]);
}

static void jam(ir_func *func, ir_block *out, ir_stmt *s)
{
    name_limit(func, out, s);
    uint32_t end = hdst__block_new_var(func, hdst__arena_printf(func->arena, "%s_whole", func->vars[s->var].name), s->lo->kind, false);
    hdst__ir_push(func, out, hdst__ir_set(func, end, hdst__jam_end(func, s, HDST__CPU_JAMMED_TURNS)));
    ir_stmt *groups = hdst__ir_for(func, s->var, s->lo, hdst__ir_var(func, end), HDST__CPU_JAMMED_TURNS * s->step);
    groups->span = s->span;
    groups->unroll = HDST__CPU_JAMMED_TURNS;
    ir_block body = {0};
    for (uint64_t turn = 0; turn < HDST__CPU_JAMMED_TURNS; turn++) append_turn(func, &body, s, turn);
    hdst__ir_push(func, &groups->body, hdst__block_records(func, body, NULL));
    hdst__ir_push(func, out, groups);
    s->lo = hdst__ir_var(func, end);
    hdst__ir_push(func, out, s);
}

static void jam_block(ir_func *func, ir_block *block)
{
    ir_block out = {0};
    for (size_t i = 0; i < block->count; i++) {
        ir_stmt *s = block->items[i];
        ir_block *nested[HDST__IR_NESTED];
        for (int n = 0, count = hdst__ir_nested(s, nested); n < count; n++)
            if (s->kind != IR_RECORDS) jam_block(func, nested[n]);
        if (is_jammable(s)) jam(func, &out, s);
        else hdst__ir_push(func, &out, s);
    }
    *block = out;
}

void hdst__pass_unroll_and_jam(ir_func *func) { jam_block(func, &func->body); }
