// SPDX-License-Identifier: Apache-2.0
// Row form: loops that add products of a factor and a row's elements to neighbouring float sums leave the body; the
// factor stays behind, in an array over the block.
//
// Before: for h = 0 to 30 { delta = ...; for i = 0 to 784 { accum g.w[h * 784 + i] += delta * p.x[i] } }
// After:  for h = 0 to 30 { delta = ...; factor[h] = delta }                         and for the block: unit h,
// element i takes factor[h] * p.x[i] of each record
//
// Taken is what stands in loops of constant bounds alone (every record comes there), adds to the one row of an
// accumulator, and goes through its elements in order. Sums are exact, so their order does not matter.
#include "codegen/pass/row_sums.h"
#include "record/layout.h"
#include "base/costs_cpu.h"

#include <string.h>

// --- What is taken ---

static const ir_stmt *innermost(const hdst__row_taker *t) { return t->nest.loop[t->nest.depth - 1]; }

// A record's row: of the input, or a local array that none of the loops changes, from its first element on.
static bool is_row(const hdst__row_taker *t, const ir_expr *e, hdst__row_sum *sum)
{
    const uint64_t turns = t->nest.turns[t->nest.depth - 1];
    const hdst__nest inner = {.loop = {innermost(t)}, .turns = {turns}, .depth = 1};
    sum->is_local = e->op == IR_ELEM;
    if (!sum->is_local) {
        sum->input = e->param;
        sum->input_leaf = e->leaf;
        return turns >= HDST__ROW_ELEMENTS && hdst__row_is_field(t, &inner, e, &sum->row_first);
    }
    const ir_var *var = &t->func->vars[e->var];
    return turns >= HDST__CPU_ROW_SUM_ELEMENTS && e->kind == HDST__F32 && !var->init &&
        hdst__row_is_consecutive(&inner, e->a, &sum->row_first) && sum->row_first == 0 &&
           !hdst__ir_stmt_writes(t->nest.loop[0], e->var);
}

static bool set_in(ir_expr **slot, void *user)
{
    const ir_stmt *loop = user;
    const ir_expr *e = *slot;
    return !((e->op == IR_VAR || e->op == IR_ELEM) && hdst__ir_stmt_writes(loop, e->var));
}

// The same in all turns of the innermost loop.
static bool is_factor(const hdst__row_taker *t, ir_expr *e) { return hdst__ir_visit_expr(&e, set_in, (void *)innermost(t)); }

static bool is_cell(const hdst__row_taker *t, const ir_stmt *s)
{
    const ir_param *param = &t->func->params[s->param];
    const hdst__cell *cell = &hdst__tables_accum(t->tables, s->param)->cell[s->leaf];
    return !param->is_table && !s->index && cell->kind == HDST__F32 && (cell->precision == HDST__CLASS_ONE_WORD || cell->precision == HDST__CLASS_TWO_WORDS);
}

// --- Taking ---

// An array with a value, or a row, for each record of the block.
static uint32_t array_over_block(const hdst__row_taker *t, const char *name, uint64_t elements, bool in_rows, const char **unique)
{
    const uint32_t v = hdst__ir_add_var(t->func, name, HDST__F32, elements);
    ir_var *var = &t->func->vars[v];
    var->varying = var->per_record = true;
    var->in_rows = in_rows;
    *unique = var->name;
    return v;
}

static ir_stmt *set_element(const hdst__row_taker *t, uint32_t array, ir_expr *index, ir_expr *value)
{
    ir_stmt *set = hdst__ir_set(t->func, array, value);
    set->kind = IR_SET_ELEM;
    set->index = index;
    return set;
}

// The local array, as it is before the loops, becomes a row of the block.
static void keep_row(const hdst__row_taker *t, hdst__row_sum *sum)
{
    ir_func *func = t->func;
    const uint32_t from = sum->copied;
    sum->local = array_over_block(t, func->vars[from].name, sum->elements, true, &sum->local_name);
    const uint32_t e = hdst__ir_add_var(func, "e", HDST__U32, 0);
    func->vars[e].varying = false;
    ir_stmt *loop = hdst__ir_for(func, e, hdst__ir_const(func, HDST__U32, 0), hdst__ir_const(func, HDST__U32, sum->elements), 1);
    ir_expr *element = hdst__ir_unary(func, IR_ELEM, HDST__F32, hdst__ir_var(func, e));
    element->var = from;
    hdst__ir_push(func, &loop->body, set_element(t, sum->local, hdst__ir_var(func, e), element));
    hdst__ir_push(func, t->outside, loop);
}

// Whether the array is the same in front of both loops of the body.
static bool stays_between(const hdst__row_taker *t, uint32_t array, size_t from)
{
    for (size_t i = from; i < t->at; i++)
        if (hdst__ir_stmt_writes(t->func->body.items[i], array)) return false;
    return true;
}

// Whether the sum goes on where the other one ends: loops of a few units were unrolled.
static bool goes_on(const hdst__row_taker *t, const hdst__row_sum *last, const hdst__row_sum *sum)
{
    if (t->nest.depth != 1 || last->param != sum->param || last->leaf != sum->leaf ||
        last->is_local != sum->is_local || last->elements != sum->elements) return false;
    if (last->first + last->units * last->elements != sum->first || last->units == HDST__ROW_UNITS) return false;
    if (sum->is_local) return last->copied == sum->copied && stays_between(t, sum->copied, last->at);
    return last->input == sum->input && last->input_leaf == sum->input_leaf && last->row_first == sum->row_first;
}

static uint32_t factors_of(hdst__row_taker *t, const hdst__row_sum *sum)
{
    hdst__row_sum *last = t->sums->count ? &t->sums->sum[t->sums->count - 1] : NULL;
    if (last && goes_on(t, last, sum)) {
        last->units++;
        t->func->vars[last->factor].elements++;
        return last->factor;
    }
    hdst__row_sum new = *sum;
    new.factor = array_over_block(t, "factors", sum->units, false, &new.name);
    if (sum->is_local) keep_row(t, &new);
    HDST__PUSH(t->func->arena, t->sums->sum, t->sums->count, t->sums->capacity, new);
    return new.factor;
}

// The statement that keeps the factor, if `s` is taken; else NULL.
static ir_stmt *taken(hdst__row_taker *t, const ir_stmt *s)
{
    hdst__row_sum sum = {.param = s->param, .leaf = s->leaf};
    if (s->kind != IR_ACCUM || !is_cell(t, s) || !hdst__row_is_consecutive(&t->nest, s->index2, &sum.first)) return NULL;
    ir_expr *v = s->value, *row = NULL, *factor = NULL;
    if (is_row(t, v, &sum)) row = v, factor = hdst__ir_const(t->func, HDST__F32, 0x3f800000);
    else if (v->op == IR_MUL && is_factor(t, v->a) && is_row(t, v->b, &sum)) row = v->b, factor = v->a;
    else if (v->op == IR_MUL && is_factor(t, v->b) && is_row(t, v->a, &sum)) row = v->a, factor = v->b;
    sum.elements = t->nest.turns[t->nest.depth - 1];
    sum.units = hdst__row_turns(&t->nest, 0) / sum.elements;
    if (!row || sum.units > HDST__ROW_UNITS) return NULL;
    sum.copied = row->var;
    sum.at = t->at;
    const uint32_t factors = factors_of(t, &sum);
    const uint64_t before = t->sums->sum[t->sums->count - 1].units - sum.units;
    ir_stmt *keep = set_element(t, factors, hdst__row_unit(t, t->nest.depth - 1, before), factor);
    keep->span = s->span;
    return keep;
}

static bool enter(hdst__row_taker *t, const ir_stmt *s)
{
    if (!hdst__is_plain_loop(s) || s->hi->op != IR_CONST || s->hi->bits == 0 || t->nest.depth == HDST__NEST_DEPTH || hdst__ir_loop_exits(s)) return false;
    t->nest.loop[t->nest.depth] = s;
    t->nest.turns[t->nest.depth++] = s->hi->bits;
    return true;
}

static void take_from(hdst__row_taker *t, ir_block *block, ir_block *out)
{
    for (size_t i = 0; i < block->count; i++) {
        ir_stmt *s = block->items[i];
        if (t->nest.depth == 0) t->at = i;
        if (hdst__row_take_dot(t, block, i)) continue;
        if (!enter(t, s)) {
            hdst__ir_push(t->func, out, s);
            continue;
        }
        ir_block stays = {0}, inside = {0};
        for (size_t k = 0; k < s->body.count; k++) {
            ir_stmt *keep = taken(t, s->body.items[k]);
            hdst__ir_push(t->func, keep ? out : &stays, keep ? keep : s->body.items[k]);
        }
        s->body = stays;
        take_from(t, &s->body, &inside);
        s->body = inside;
        t->nest.depth--;
        if (s->body.count) hdst__ir_push(t->func, out, s);
    }
}

bool hdst__pass_row_sums(ir_func *func, const hdst__tables *tables, const hdst__storage *input, hdst__row_sums *sums)
{
    ir_block out = {0};
    hdst__row_taker t = {.func = func, .tables = tables, .input = input, .sums = sums, .outside = &out};
    if (func->emits) return false;
    take_from(&t, &func->body, &out);
    func->body = out;
    return sums->count > 0;
}

// Passes drop variables and number them anew.
static uint32_t find_variable(const ir_func *func, const char *name)
{
    uint32_t v = 0;
    while (v + 1 < func->var_count && strcmp(func->vars[v].name, name) != 0) v++;
    return v;
}

void hdst__row_sums_renumber(const ir_func *func, hdst__row_sums *sums)
{
    for (size_t i = 0; i < sums->dot_count; i++) sums->dot[i].dots = find_variable(func, sums->dot[i].name);
    for (size_t i = 0; i < sums->count; i++) {
        sums->sum[i].factor = find_variable(func, sums->sum[i].name);
        if (sums->sum[i].is_local) sums->sum[i].local = find_variable(func, sums->sum[i].local_name);
    }
}
