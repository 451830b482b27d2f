// SPDX-License-Identifier: Apache-2.0
// What a loop over the addends of a block is made of.
#include "codegen/ir/sum_loop.h"
#include "base/costs_cpu.h"

static const char *const way_names[] = {
    [IR_SUM_BIT_TEST] = "bits", [IR_SUM_ONE_LEVEL] = "one", [IR_SUM_TWO_LEVELS] = "two", [IR_SUM_THREE_LEVELS] = "three",
    [IR_SUM_IN_DOUBLE] = "double", [IR_SUM_ROUNDED] = "rounded",
};

const char *hdst__sum_way_name(ir_sum_way way) { return way < IR_SUM_WAYS ? way_names[way] : "?"; }

// --- Operands ---

static bool is_uniform(const ir_func *func, const ir_expr *e)
{
    if (!e) return true;
    if (e->op == IR_FIELD || e->op == IR_RECORD_INDEX) return false;
    if ((e->op == IR_VAR || e->op == IR_ELEM) && (func->vars[e->var].varying || func->vars[e->var].per_record)) return false;
    return is_uniform(func, e->a) && is_uniform(func, e->b) && is_uniform(func, e->c);
}

// Values of the block's records that lie side by side.
static bool is_side_by_side(const ir_func *func, const ir_expr *e)
{
    if (e->op == IR_VAR) return !is_uniform(func, e);
    if (e->op == IR_ELEM) return !func->vars[e->var].in_rows && !is_uniform(func, e) && is_uniform(func, e->a);
    if (e->op != IR_FIELD || func->apart || (e->a && e->a->op != IR_CONST)) return false;
    const hdst__record *record = func->params[e->param].record;
    return hdst__leaf_is_aligned(record, &record->leaves[e->leaf]);
}

static bool is_number(hdst__kind kind)
{
    return hdst__kind_is_float(kind) || (hdst__kind_is_integer(kind) && hdst__scalar_size(kind) <= 4);
}

static bool is_operand(const ir_func *func, const ir_expr *e)
{
    return is_number(e->kind) && e->op != IR_CONST && (is_side_by_side(func, e) || is_uniform(func, e));
}

// An operation that vectors of the processor have, and that C writes alike for numbers and for vectors.
static bool is_operation(const ir_expr *e)
{
    if (!hdst__kind_is_float(e->kind)) return false;
    switch (e->op) {
    case IR_ADD: case IR_SUB: case IR_MUL: case IR_FMA: case IR_NEG: case IR_ABS: return true;
    case IR_CONVERT: return is_number(e->a->kind);
    default: return false;
    }
}

// --- Values ---

typedef struct survey {
    const ir_func *func;
    ir_expr **operand;
    uint32_t count, operations;
    bool fails;
} survey;

static void note_operand(survey *s, ir_expr *e)
{
    for (uint32_t i = 0; i < s->count; i++)
        if (hdst__ir_expr_equal(s->operand[i], e)) return;
    if (s->count == HDST__SUM_OPERANDS) s->fails = true;
    else s->operand[s->count++] = e;
}

static void note(survey *s, ir_expr *e)
{
    if (!e || e->op == IR_CONST) return;
    if (is_operand(s->func, e)) {
        note_operand(s, e);
        return;
    }
    s->operations++;
    if (!is_operation(e) || s->operations > HDST__CPU_SUM_NODES) s->fails = true;
    for (int i = 0; !s->fails && i < 3; i++) note(s, (ir_expr *[]){e->a, e->b, e->c}[i]);
}

static survey survey_of(const ir_func *func, ir_expr *value, ir_expr **operands)
{
    survey s = {.func = func, .operand = operands};
    note(&s, value);
    return s;
}

bool hdst__sum_loop_can(const ir_func *func, const ir_expr *value)
{
    ir_expr *operands[HDST__SUM_OPERANDS];
    const survey s = survey_of(func, (ir_expr *)value, operands);
    return hdst__kind_is_float(value->kind) && !s.fails && s.count > 0;
}

uint32_t hdst__sum_loop_operands(const ir_func *func, ir_expr *value, ir_expr *operands[HDST__SUM_OPERANDS])
{
    return survey_of(func, value, operands).count;
}

// --- Loops ---

// The value, of operands.
static ir_expr *addend_of(const ir_func *func, const ir_expr *e, ir_expr *const *operands, uint32_t count)
{
    if (!e) return NULL;
    ir_expr *made = hdst__arena_alloc(func->arena, sizeof *made);
    for (uint32_t i = 0; i < count; i++) {
        if (!hdst__ir_expr_equal(operands[i], e)) continue;
        *made = (ir_expr){.op = IR_VAR, .kind = e->kind, .var = i};
        return made;
    }
    *made = (ir_expr){.op = e->op, .kind = e->kind, .bits = e->bits};
    made->a = addend_of(func, e->a, operands, count);
    made->b = addend_of(func, e->b, operands, count);
    made->c = addend_of(func, e->c, operands, count);
    return made;
}

ir_sum_loop hdst__sum_loop_of(const ir_func *func, ir_expr *value)
{
    static const char *const names[HDST__SUM_OPERANDS] = {"a", "b", "c", "d"};
    ir_expr *operands[HDST__SUM_OPERANDS];
    ir_sum_loop loop = {.kind = value->kind, .operand_count = hdst__sum_loop_operands(func, value, operands)};
    loop.operand = HDST__NEW_ARRAY(func->arena, ir_var, HDST__SUM_OPERANDS);
    loop.in_input = HDST__NEW_ARRAY(func->arena, bool, HDST__SUM_OPERANDS);
    for (uint32_t i = 0; i < loop.operand_count; i++) {
        const bool each = is_side_by_side(func, operands[i]);
        loop.operand[i] = (ir_var){.name = names[i], .kind = operands[i]->kind, .varying = each, .per_record = each};
        loop.in_input[i] = operands[i]->op == IR_FIELD;
    }
    loop.addend = addend_of(func, value, operands, loop.operand_count);
    return loop;
}

bool hdst__sum_loops_equal(const ir_sum_loop *a, const ir_sum_loop *b)
{
    if (a->kind != b->kind || a->operand_count != b->operand_count) return false;
    for (uint32_t i = 0; i < a->operand_count; i++) {
        const ir_var *x = &a->operand[i], *y = &b->operand[i];
        if (x->kind != y->kind || x->per_record != y->per_record || a->in_input[i] != b->in_input[i]) return false;
    }
    return hdst__ir_expr_equal(a->addend, b->addend);
}

ir_func hdst__sum_loop_scope(const ir_func *func, const ir_sum_loop *loop)
{
    return (ir_func){.arena = func->arena, .name = func->name, .vars = loop->operand, .var_count = loop->operand_count, .block = func->block};
}

// --- Sums that share a factor ---

ir_expr *hdst__other_factor(const ir_expr *product, const ir_expr *factor) { return hdst__ir_expr_equal(product->a, factor) ? product->b : product->a; }

bool hdst__is_product_with(const ir_expr *value, const ir_expr *factor)
{
    return value->op == IR_MUL && (hdst__ir_expr_equal(value->a, factor) || hdst__ir_expr_equal(value->b, factor));
}

// One of a group's other factors lies in the input, the shared one in an array of the block, where zeros may stand for a while.
static bool is_factor(const ir_func *func, const ir_expr *e, bool in_input)
{
    if (e->op == IR_ELEM && e->a->op != IR_CONST) return false;     // else nobody sees which of them are the same
    return e->kind == HDST__F32 && (e->op == IR_FIELD) == in_input && is_side_by_side(func, e);
}

static bool is_constant_element(const ir_stmt *s) { return !s->index2 || s->index2->op == IR_CONST; }

// No index is element 0: a constant 0 in the text becomes none, one that comes of a loop's turn stays.
static bool other_elements(const ir_stmt *s, const ir_stmt *t)
{
    return is_constant_element(s) && is_constant_element(t) && (s->index2 ? s->index2->bits : 0) != (t->index2 ? t->index2->bits : 0);
}

// Elements are constants, so that it is seen which cells differ.
static bool is_cell_of_its_own(ir_stmt *const *stmts, size_t which)
{
    const ir_stmt *s = stmts[which];
    if (!is_constant_element(s)) return false;
    for (size_t i = 0; i < which; i++) {
        const ir_stmt *t = stmts[i];
        if (s->param == t->param && s->leaf == t->leaf && !other_elements(s, t)) return false;
    }
    return true;
}

typedef struct adders {
    const ir_stmt *of;
    size_t count;
} adders;

static bool count_adder(ir_stmt *s, void *user)
{
    adders *a = user;
    a->count += s->kind == IR_ACCUM_BLOCK && s->param == a->of->param && s->leaf == a->of->leaf && !other_elements(s, a->of);
    return true;
}

// The group keeps count of the sums' room.
static bool adds_alone(const ir_func *func, const ir_stmt *s)
{
    adders a = {.of = s};
    hdst__ir_visit_stmts((ir_block *)&func->body, count_adder, &a);
    return a.count == 1;
}

static bool share(const ir_func *func, ir_stmt *const *stmts, size_t count, const ir_expr *factor)
{
    size_t products = 0;
    for (size_t i = 0; i < count; i++) {
        const ir_expr *value = stmts[i]->value;
        if (stmts[i]->kind != IR_ACCUM_BLOCK || value->kind != HDST__F32 || !is_cell_of_its_own(stmts, i) || !adds_alone(func, stmts[i])) return false;
        if (hdst__is_product_with(value, factor)) products += is_factor(func, hdst__other_factor(value, factor), true);
    }
    const bool has_own = products < count && hdst__ir_expr_equal(stmts[count - 1]->value, factor);
    return is_factor(func, factor, false) && products >= HDST__SHARED_LEAST && products <= HDST__SHARED_PRODUCTS && products + has_own == count;
}

ir_expr *hdst__shared_factor(const ir_func *func, ir_stmt *const *stmts, size_t count)
{
    ir_expr *first = stmts[0]->value;
    if (first->op != IR_MUL) return NULL;
    if (share(func, stmts, count, first->a)) return first->a;
    return share(func, stmts, count, first->b) ? first->b : NULL;
}

size_t hdst__shared_count(ir_stmt *const *stmts, size_t count)
{
    size_t n = 0;
    while (n < count && stmts[0]->joint && stmts[n]->kind == IR_ACCUM_BLOCK && stmts[n]->joint == stmts[0]->joint) n++;
    return n;
}
