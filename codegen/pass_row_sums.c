// SPDX-License-Identifier: Apache-2.0
// Row form: loops that add products of a factor and a row's elements to neighbouring float sums leave the body; the factor stays behind, in an array over the block.
//
// Before: for h = 0 to 30 { delta = ...; for i = 0 to 784 { accum g.w[h * 784 + i] += delta * p.x[i] } }
// After:  for h = 0 to 30 { delta = ...; factor[h] = delta }                         and for the block: unit h, element i takes factor[h] * p.x[i] of each record
//
// Taken is what stands in loops of constant bounds alone (every record comes there), adds to the one row of an accumulator, and goes through its elements in order. Sums are exact, so
// their order does not matter.
#include "codegen/row_sums.h"

#include "codegen/linear_index.h"

#include <string.h>

enum { MOST_UNITS = 1024 };             // 256 KiB of factors

typedef struct taker {
    ir_func *func;
    const hdst__tables *tables;
    const hdst__storage *input;
    hdst__row_sums *sums;
    hdst__nest nest;                    // around the statement
} taker;

// --- What is taken ---

static uint64_t product_of_turns(const hdst__nest *nest, size_t from)
{
    uint64_t turns = 1;
    for (size_t k = from; k < nest->depth; k++) turns *= nest->turns[k];
    return turns;
}

// The index where all counters are zero, if it goes through consecutive numbers, turn by turn.
static bool is_consecutive(const hdst__nest *nest, const ir_expr *index, uint64_t *first)
{
    const hdst__linear l = index ? hdst__linear_of(nest, index, NULL) : (hdst__linear){0};
    uint64_t reach = 0;
    if (!l.known) return false;
    for (size_t k = 0; k < nest->depth; k++) {
        if (l.factor[k] != product_of_turns(nest, k + 1)) return false;
        reach += l.factor[k] * (nest->turns[k] - 1);
    }
    *first = l.highest - reach;
    return true;
}

// An input's floats in memory, side by side, by the innermost loop's counter.
static bool is_row(const taker *t, const ir_expr *e, uint64_t *first)
{
    if (e->op != IR_FIELD || e->kind != HDST__F32 || !e->a || t->input->layout != HDST__AOS) return false;
    const hdst__record *record = t->func->params[e->param].record;
    const hdst__leaf *leaf = &record->leaves[e->leaf];
    const hdst__nest inner = {.loop = {t->nest.loop[t->nest.depth - 1]}, .turns = {t->nest.turns[t->nest.depth - 1]}, .depth = 1};
    return hdst__leaf_is_aligned(record, leaf) && hdst__leaf_is_dense(leaf) && is_consecutive(&inner, e->a, first);
}

static bool set_in(ir_expr **slot, void *user)
{
    const ir_stmt *loop = user;
    const ir_expr *e = *slot;
    return !((e->op == IR_VAR || e->op == IR_ELEM) && hdst__ir_stmt_writes(loop, e->var));
}

// The same in all turns of the innermost loop.
static bool is_factor(const taker *t, ir_expr *e)
{
    return hdst__ir_visit_expr(&e, set_in, (void *)t->nest.loop[t->nest.depth - 1]);
}

static bool is_cell(const taker *t, const ir_stmt *s)
{
    const ir_param *param = &t->func->params[s->param];
    const hdst__cell *cell = &hdst__tables_accum(t->tables, s->param)->cell[s->leaf];
    return !param->is_table && !s->index && cell->kind == HDST__F32 && (cell->tier == HDST__TIER_ONE || cell->tier == HDST__TIER_TWO);
}

// --- Taking ---

static ir_expr *unit_index(const taker *t, uint64_t first)
{
    ir_expr *index = hdst__ir_const(t->func, HDST__U32, first);
    for (size_t k = 0; k + 1 < t->nest.depth; k++) {
        ir_expr *turn = hdst__ir_convert(t->func, HDST__U32, hdst__ir_var(t->func, t->nest.loop[k]->var));
        ir_expr *before = hdst__ir_binary(t->func, IR_MUL, HDST__U32, index, hdst__ir_const(t->func, HDST__U32, t->nest.turns[k]));
        index = k ? hdst__ir_binary(t->func, IR_ADD, HDST__U32, before, turn) : turn;
    }
    return index;
}

// The array for the factors of a sum that is new, or goes on where the last one ends: loops of a few units were unrolled.
static uint32_t factors_of(taker *t, const hdst__row_sum *sum)
{
    hdst__row_sum *last = t->sums->count && t->nest.depth == 1 ? &t->sums->sum[t->sums->count - 1] : NULL;
    const bool same = last && last->param == sum->param && last->leaf == sum->leaf && last->input == sum->input && last->input_leaf == sum->input_leaf;
    if (same && last->row_first == sum->row_first && last->elements == sum->elements && last->first + last->units * last->elements == sum->first && last->units < MOST_UNITS) {
        last->units++;
        t->func->vars[last->factor].elements++;
        return last->factor;
    }
    hdst__row_sum new = *sum;
    new.factor = hdst__ir_add_var(t->func, "factors", HDST__F32, sum->units);
    new.name = t->func->vars[new.factor].name;
    t->func->vars[new.factor].varying = t->func->vars[new.factor].per_record = true;
    HDST__PUSH(t->func->arena, t->sums->sum, t->sums->count, t->sums->capacity, new);
    return new.factor;
}

// The statement that keeps the factor, if `s` is taken; else NULL.
static ir_stmt *taken(taker *t, const ir_stmt *s)
{
    hdst__row_sum sum = {.param = s->param, .leaf = s->leaf};
    if (s->kind != IR_ACCUM || !is_cell(t, s) || !is_consecutive(&t->nest, s->index2, &sum.first)) return NULL;
    ir_expr *v = s->value, *row = NULL, *factor = NULL;
    if (is_row(t, v, &sum.row_first)) row = v, factor = hdst__ir_const(t->func, HDST__F32, 0x3f800000);
    else if (v->op == IR_MUL && is_row(t, v->b, &sum.row_first) && is_factor(t, v->a)) row = v->b, factor = v->a;
    else if (v->op == IR_MUL && is_row(t, v->a, &sum.row_first) && is_factor(t, v->b)) row = v->a, factor = v->b;
    sum.units = product_of_turns(&t->nest, 0) / t->nest.turns[t->nest.depth - 1];
    sum.elements = t->nest.turns[t->nest.depth - 1];
    if (!row || sum.elements < HDST__ROW_ELEMENTS || sum.units > MOST_UNITS) return NULL;
    sum.input = row->param;
    sum.input_leaf = row->leaf;
    ir_stmt *keep = hdst__ir_set(t->func, factors_of(t, &sum), factor);
    keep->kind = IR_SET_ELEM;
    keep->index = unit_index(t, t->sums->sum[t->sums->count - 1].units - sum.units);
    keep->span = s->span;
    return keep;
}

static bool enter(taker *t, const ir_stmt *s)
{
    if (!hdst__is_plain_loop(s) || s->hi->op != IR_CONST || s->hi->bits == 0 || t->nest.depth == HDST__NEST_DEPTH || hdst__ir_loop_exits(s)) return false;
    t->nest.loop[t->nest.depth] = s;
    t->nest.turns[t->nest.depth++] = s->hi->bits;
    return true;
}

static void take_from(taker *t, ir_block *block)
{
    ir_block out = {0};
    for (size_t i = 0; i < block->count; i++) {
        ir_stmt *s = block->items[i];
        if (!enter(t, s)) {
            hdst__ir_push(t->func, &out, s);
            continue;
        }
        ir_block stays = {0};
        for (size_t k = 0; k < s->body.count; k++) {
            ir_stmt *keep = taken(t, s->body.items[k]);
            hdst__ir_push(t->func, keep ? &out : &stays, keep ? keep : s->body.items[k]);
        }
        s->body = stays;
        take_from(t, &s->body);
        t->nest.depth--;
        if (s->body.count) hdst__ir_push(t->func, &out, s);
    }
    *block = out;
}

bool hdst__pass_row_sums(ir_func *func, const hdst__tables *tables, const hdst__storage *input, hdst__row_sums *sums)
{
    taker t = {.func = func, .tables = tables, .input = input, .sums = sums};
    if (func->emits) return false;
    take_from(&t, &func->body);
    return sums->count > 0;
}

// --- One by one ---

// Passes drop variables and number them anew.
static uint32_t find_variable(const ir_func *func, const char *name)
{
    uint32_t v = 0;
    while (v + 1 < func->var_count && strcmp(func->vars[v].name, name) != 0) v++;
    return v;
}

static ir_expr *element_of(ir_func *func, uint32_t e, uint64_t first)
{
    ir_expr *element = hdst__ir_var(func, e);
    return first ? hdst__ir_binary(func, IR_ADD, HDST__U32, element, hdst__ir_const(func, HDST__U32, first)) : element;
}

const char *hdst__row_sums_singly(const ir_func *func, const hdst__tables *tables, hdst__row_sums *sums)
{
    for (size_t i = 0; i < sums->count; i++) {
        hdst__row_sum *s = &sums->sum[i];
        ir_func *one = s->singly = hdst__ir_copy_func(func->arena, func);
        s->factor = find_variable(func, s->name);
        s->unit = hdst__ir_add_var(one, "unit", HDST__U32, 0);
        s->value = hdst__ir_add_var(one, "value", HDST__F32, 0);
        const uint32_t e = hdst__ir_add_var(one, "e", HDST__U32, 0);
        ir_expr *row = hdst__ir_unary(one, IR_FIELD, HDST__F32, element_of(one, e, s->row_first));
        row->param = s->input;
        row->leaf = s->input_leaf;
        ir_stmt *add = hdst__ir_stmt(one, IR_ACCUM, (hdst__span){0, 0, 0});
        add->param = s->param;
        add->leaf = s->leaf;
        ir_expr *before = hdst__ir_binary(one, IR_MUL, HDST__U32, hdst__ir_var(one, s->unit), hdst__ir_const(one, HDST__U32, s->elements));
        add->index2 = hdst__ir_binary(one, IR_ADD, HDST__U32, before, element_of(one, e, s->first));
        add->value = hdst__ir_binary(one, IR_MUL, HDST__F32, hdst__ir_var(one, s->value), row);
        ir_stmt *loop = hdst__ir_for(one, e, hdst__ir_const(one, HDST__U32, 0), hdst__ir_const(one, HDST__U32, s->elements), 1);
        hdst__ir_push(one, &loop->body, add);
        one->body = (ir_block){0};
        hdst__ir_push(one, &one->body, loop);
        hdst__pass_elements(one, tables);
        hdst__pass_widths(one);
        const char *wrong = hdst__ir_verify(one);
        if (wrong) return hdst__arena_printf(func->arena, "additions one by one: %s", wrong);
    }
    return NULL;
}
