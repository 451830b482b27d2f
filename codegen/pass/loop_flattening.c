// SPDX-License-Identifier: Apache-2.0
// Flattening (Blelloch, "Vector models for data-parallel computing", 1990; of neighbour lists: Merrill, Garland and Grimshaw, "Scalable GPU graph traversal",
// 2012): a loop of which all output comes, and whose turns do not need one another, is taken out of the body. So the turns of all records of a work-group can
// be shared among its lanes, however many each record has: a vertex with 100,000 edges would keep one lane for as many turns while all others wait.
//
//   Before: a = p.x; accum t.value += a; for row = p.low to p.high { store result.y = add(a, row); emit if lt(row, 9) }
//   After:  the head, turns in all:   a = p.x; accum t.value += a; turns = select(lt(p.low, p.high), sub(u64(p.high), u64(p.low)), 0ul)
//           and turn `turn`:          a = p.x; row = add(u64(p.low), turn); store result.y = add(a, row); emit if lt(row, 9)
#include "codegen/pass/gpu_form.h"

#include "codegen/pass/passes.h"

// The loop, which nothing follows on any way, and in front of which nothing comes out.
static ir_stmt **last_loop(ir_block *block)
{
    if (!block->count) return NULL;
    for (size_t i = 0; i + 1 < block->count; i++)
        if (hdst__ir_emits(block->items[i]) || hdst__ir_stores(block->items[i])) return NULL;
    ir_stmt **last = &block->items[block->count - 1];
    if ((*last)->kind == IR_IF && !(*last)->otherwise.count) return last_loop(&(*last)->then);
    return (*last)->kind == IR_FOR && hdst__ir_emits(*last) ? last : NULL;
}

// --- Turns that do not need one another ---

typedef struct look {
    const uint8_t *meets;           // by variable: what a turn does with it first
    bool stands_alone;
} look;

static bool look_at(ir_stmt *s, void *user)
{
    look *l = user;
    if (s->kind == IR_ACCUM || s->kind == IR_SET_ELEM) l->stands_alone = false;
    if (s->kind == IR_SET && l->meets[s->var] == IR_MAY_READ) l->stands_alone = false;
    return l->stands_alone;
}

static bool is_constant(const ir_stmt *loop) { return loop->lo->op == IR_CONST && loop->hi->op == IR_CONST; }

// A turn that may leave the loop decides whether there are any behind it.
static bool suits(const ir_func *func, ir_stmt *loop)
{
    if (loop->step != 1 || loop->tile || is_constant(loop) || hdst__ir_loop_exits(loop)) return false;
    look l = {hdst__ir_first_meetings(func->arena, &loop->body, func->var_count), true};
    hdst__ir_visit_stmts(&loop->body, look_at, &l);
    return l.stands_alone;
}

// --- Its two parts ---

static bool mark(ir_expr **slot, void *user)
{
    (void)user;
    (*slot)->varying = true;
    return true;
}

static ir_stmt *set_varying(ir_func *func, uint32_t var, ir_expr *value)
{
    hdst__ir_visit_expr(&value, mark, NULL);
    return hdst__ir_set(func, var, value);
}

static uint32_t add_number(ir_func *func, const char *name)
{
    const uint32_t var = hdst__ir_add_var(func, name, HDST__U64, 0);
    func->vars[var].varying = true;
    return var;
}

// Differences of signed numbers are right modulo 2^64, which holds that of any two.
static void make_head(ir_func *func, uint32_t *turns)
{
    ir_stmt **loop = last_loop(&func->body);
    ir_expr *lo = (*loop)->lo, *hi = (*loop)->hi, *zero = hdst__ir_const(func, HDST__U64, 0);
    ir_expr *each = hdst__ir_binary(func, IR_SUB, HDST__U64, hdst__ir_convert(func, HDST__U64, hi), hdst__ir_convert(func, HDST__U64, lo));
    ir_expr *some = hdst__ir_binary(func, IR_LT, HDST__BOOL, hdst__ir_copy(func, lo), hdst__ir_copy(func, hi));
    *turns = add_number(func, "turns");
    *loop = set_varying(func, *turns, hdst__ir_select(func, some, each, zero));
}

// What a turn needs of what leads to the loop, without the effects that the head has.
static void keep_turn(ir_func *func, ir_block *block, const ir_stmt *loop, uint32_t turn)
{
    ir_block out = {0};
    for (size_t i = 0; i < block->count; i++) {
        ir_stmt *s = block->items[i];
        if (s == loop) {
            const hdst__kind kind = func->vars[s->var].kind;
            ir_expr *at = hdst__ir_binary(func, IR_ADD, HDST__U64, hdst__ir_convert(func, HDST__U64, s->lo), hdst__ir_var(func, turn));
            hdst__ir_push(func, &out, set_varying(func, s->var, hdst__ir_convert(func, kind, at)));
            for (size_t b = 0; b < s->body.count; b++) hdst__ir_push(func, &out, s->body.items[b]);
            continue;
        }
        if (s->kind == IR_ACCUM || s->kind == IR_CHECK || s->kind == IR_PREFETCH) continue;
        ir_block *nested[HDST__IR_NESTED];
        for (int n = 0, count = hdst__ir_nested(s, nested); n < count; n++) keep_turn(func, nested[n], loop, turn);
        hdst__ir_push(func, &out, s);
    }
    *block = out;
}

// Variables keep their numbers, so nothing else of it goes.
static ir_func *counting(const ir_func *func)
{
    ir_func *count = hdst__ir_copy_func(func->arena, func);
    hdst__drop_effects(count);
    return count;
}

hdst__flat_loop *hdst__pass_loop_flattening(const ir_func *func)
{
    ir_func *head = hdst__ir_copy_func(func->arena, func), *turn = hdst__ir_copy_func(func->arena, func);
    ir_stmt **loop = last_loop(&head->body);
    if (!loop || !suits(head, *loop)) return NULL;
    hdst__flat_loop *flat = HDST__NEW(func->arena, hdst__flat_loop);
    *flat = (hdst__flat_loop){.head = head, .turn = turn};
    make_head(head, &flat->turns);
    flat->at = add_number(turn, "turn");
    keep_turn(turn, &turn->body, *last_loop(&turn->body), flat->at);
    flat->count_head = counting(head);
    flat->count_turn = counting(turn);
    return flat;
}
