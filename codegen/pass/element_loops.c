// SPDX-License-Identifier: Apache-2.0
// Loops over the elements of a record's arrays, for the row form: those whose turns do not need one another are
// marked for SIMD. Float sums in them are exact as in block form (block_accumulation.c), with elements in the place
// of records: the addends are converted to fixed point and added to the strip table's row; a rare second loop takes
// those that do not fit.
//
// Before: for i = 0 to 784 { accum t[best].x[i] += p.x[i] }
// After:  exceptions = false
//         for i = 0 to 784 vectorize { words t[best].x[i] takes fixed(p.x[i]); exceptions = or(exceptions, not(fits(p.x[i]))) }
//         if exceptions { for i = 0 to 784 { if not(fits(p.x[i])) { superaccumulator t[best].x[i] += p.x[i] } } }
#include "codegen/pass/row_form.h"
#include "accum/tables.h"
#include "base/costs_cpu.h"

// --- Which loops ---

typedef struct reader {
    const ir_func *func;
    const ir_stmt *loop;
} reader;

// Not the loop's variable, and nothing that the loop sets.
static bool stays(ir_expr **slot, void *user)
{
    const reader *r = user;
    const ir_expr *e = *slot;
    return !((e->op == IR_VAR || e->op == IR_ELEM) && hdst__ir_stmt_writes(r->loop, e->var));
}

static bool is_fixed(const reader *r, ir_expr *e) { return hdst__ir_visit_expr(&e, stays, (void *)r); }

// The loop's variable plus what stays: neighbours follow one another.
static bool is_next_to(const reader *r, const ir_expr *e)
{
    if (!e) return false;
    if (e->op == IR_CONVERT) return is_next_to(r, e->a);
    if (e->op == IR_ADD) return (is_next_to(r, e->a) && is_fixed(r, e->b)) || (is_next_to(r, e->b) && is_fixed(r, e->a));
    return e->op == IR_VAR && e->var == r->loop->var;
}

static bool is_temporary(const reader *r, uint32_t var)
{
    return hdst__row_is_local(r->func, r->loop, var) && !hdst__block_reads_first(&r->loop->body, var);
}

// sum = sum + ...: of integers, in any order.
static bool is_integer_sum(const reader *r, const ir_stmt *s)
{
    const ir_expr *v = s->value;
    if (v->op != IR_ADD || !hdst__kind_is_integer(v->kind)) return false;
    return v->a->op == IR_VAR && v->a->var == s->var && hdst__ir_stmt_reads(r->loop, s->var) == 1 && hdst__ir_stmt_writes(r->loop, s->var) == 1;
}

typedef struct other_element {
    uint32_t array;
    const ir_expr *index;
} other_element;

static bool same_element(ir_expr **slot, void *user)
{
    const other_element *o = user;
    return (*slot)->op != IR_ELEM || (*slot)->var != o->array || hdst__ir_expr_equal((*slot)->a, o->index);
}

static bool takes(const reader *r, const ir_stmt *s)
{
    switch (s->kind) {
    case IR_SET: return is_temporary(r, s->var) || is_integer_sum(r, s);
    case IR_SET_ELEM: {
        other_element o = {s->var, s->index};
        return is_next_to(r, s->index) && hdst__ir_visit_exprs((ir_block *)&r->loop->body, same_element, &o);
    }
    case IR_STORE: return is_next_to(r, s->index);
    case IR_ACCUM: return (!s->index || is_fixed(r, s->index)) && is_next_to(r, s->index2);
    default: return false;
    }
}

static bool has_turns(const ir_stmt *loop)
{
    if (loop->lo->op != IR_CONST || loop->hi->op != IR_CONST) return true;
    return loop->hi->bits >= loop->lo->bits + HDST__CPU_ELEMENT_TURNS;
}

// --- Exact sums ---

typedef struct elements {
    ir_func *func;
    const hdst__tables *tables;
    reader reads;
    ir_block before, body, rare;
    uint32_t exceptions;               // IR_NO_VAR: there is nothing to test
} elements;

static const hdst__cell *cell_of(const elements *l, const ir_stmt *s) { return &hdst__tables_accum(l->tables, s->param)->cell[s->leaf]; }

static bool is_exact(const elements *l, const ir_stmt *s) { return s->kind == IR_ACCUM && cell_of(l, s)->precision != HDST__CLASS_PLAIN; }

static bool not_kept(ir_expr **slot, void *user)        // not what the loop leaves behind: the second loop would see it changed
{
    const reader *r = user;
    const ir_expr *e = *slot;
    if ((e->op != IR_VAR && e->op != IR_ELEM) || e->var == r->loop->var) return true;
    return !hdst__ir_stmt_writes(r->loop, e->var) || is_temporary(r, e->var);
}

// Whether the addends of float sums can be had twice.
static bool repeatable(const elements *l)
{
    bool exact = false, again = true;
    const ir_block *body = &l->reads.loop->body;
    for (size_t i = 0; i < body->count; i++) {
        ir_stmt *s = body->items[i];
        if (is_exact(l, s) && cell_of(l, s)->precision == HDST__CLASS_SUPERACCUMULATOR) return false;
        exact |= is_exact(l, s);
        if (is_exact(l, s) || (s->kind == IR_SET && is_temporary(&l->reads, s->var))) again &= hdst__ir_visit_own_exprs(s, not_kept, (void *)&l->reads);
    }
    return again || !exact;
}

static ir_expr *settled(elements *l, ir_block *block, const char *name, ir_expr *e)
{
    if (!e || e->op == IR_VAR || e->op == IR_CONST || e->op == IR_FIELD) return e;
    for (size_t i = 0; i < block->count; i++)
        if (hdst__ir_expr_equal(block->items[i]->value, e)) return hdst__ir_var(l->func, block->items[i]->var);
    const uint32_t var = hdst__ir_add_var(l->func, name, e->kind, 0);
    l->func->vars[var].varying = true;
    hdst__ir_push(l->func, block, hdst__ir_set(l->func, var, e));
    return hdst__ir_var(l->func, var);
}

static ir_expr *in_cell(elements *l, ir_op op, hdst__kind kind, const ir_stmt *s, uint64_t word)
{
    ir_expr *e = hdst__ir_unary(l->func, op, kind, hdst__ir_copy(l->func, s->value));
    e->param = s->param;
    e->leaf = s->leaf;
    e->bits = word;
    return e;
}

static ir_stmt *addition(elements *l, ir_stmt_kind kind, const ir_stmt *s, ir_expr *value, uint32_t word)
{
    ir_stmt *add = hdst__ir_stmt(l->func, kind, s->span);
    add->param = s->param;
    add->leaf = s->leaf;
    add->acc = s->acc;
    add->index = hdst__ir_copy(l->func, s->index);
    add->index2 = hdst__ir_copy(l->func, s->index2);
    add->value = value;
    add->word = word;
    return add;
}

static void add_exact(elements *l, const ir_stmt *s)
{
    ir_func *func = l->func;
    for (uint32_t w = 0; w < cell_of(l, s)->private_words; w++)
        hdst__ir_push(func, &l->body, addition(l, IR_ACCUM_WORDS, s, in_cell(l, IR_FIXED, HDST__I64, s, w), w));
    if (l->exceptions == IR_NO_VAR) {
        l->exceptions = hdst__ir_add_var(func, "exceptions", HDST__BOOL, 0);
        func->vars[l->exceptions].varying = true;
        hdst__ir_push(func, &l->before, hdst__ir_set(func, l->exceptions, hdst__ir_const(func, HDST__BOOL, 0)));
    }
    ir_expr *fits = in_cell(l, IR_FITS, HDST__BOOL, s, 0);
    ir_expr *exceptions = hdst__ir_unary(func, IR_NOT, HDST__BOOL, fits);
    hdst__ir_push(func, &l->body, hdst__ir_set(func, l->exceptions, hdst__ir_binary(func, IR_OR, HDST__BOOL, hdst__ir_var(func, l->exceptions), exceptions)));
    ir_stmt *test = hdst__ir_if(func, hdst__ir_copy(func, exceptions));
    hdst__ir_push(func, &test->then, addition(l, IR_ACCUM_SUPERACCUMULATOR, s, hdst__ir_copy(func, s->value), 0));
    hdst__ir_push(func, &l->rare, test);
}

// --- One loop ---

static void take(elements *l, ir_stmt *s)
{
    if (s->kind == IR_ACCUM) s->index = settled(l, &l->before, "row", s->index);
    if (!is_exact(l, s)) {
        if (s->kind == IR_SET && is_temporary(&l->reads, s->var)) hdst__ir_push(l->func, &l->rare,
            hdst__ir_copy_block(l->func, &(ir_block){&s, 1, 1}).items[0]);
        hdst__ir_push(l->func, &l->body, s);
        return;
    }
    ir_block addend = {0};
    s->value = settled(l, &addend, "addend", s->value);
    for (size_t i = 0; i < addend.count; i++) {
        hdst__ir_push(l->func, &l->body, addend.items[i]);
        hdst__ir_push(l->func, &l->rare, hdst__ir_copy_block(l->func, &addend).items[i]);
    }
    add_exact(l, s);
}

static bool can_take(const elements *l)
{
    const ir_block *body = &l->reads.loop->body;
    for (size_t i = 0; i < body->count; i++)
        if (!takes(&l->reads, body->items[i])) return false;
    return has_turns(l->reads.loop) && repeatable(l);
}

static void take_loop(elements *l, ir_block *out, ir_stmt *loop)
{
    ir_stmt *again = hdst__ir_for(l->func, loop->var, hdst__ir_copy(l->func, loop->lo), hdst__ir_copy(l->func, loop->hi), loop->step);
    for (size_t i = 0; i < loop->body.count; i++) take(l, loop->body.items[i]);
    for (size_t i = 0; i < l->before.count; i++) hdst__ir_push(l->func, out, l->before.items[i]);
    loop->body = l->body;
    loop->vectorize = true;
    hdst__ir_push(l->func, out, loop);
    if (l->exceptions == IR_NO_VAR) return;
    ir_stmt *test = hdst__ir_if(l->func, hdst__ir_var(l->func, l->exceptions));
    hdst__row_fresh(l->func, &l->rare);
    again->body = l->rare;
    again->scalar_why = "rare: addends that do not fit";
    hdst__ir_push(l->func, &test->then, again);
    hdst__ir_push(l->func, out, test);
}

static bool adds_or_stores(const ir_stmt *loop)
{
    bool does = false;
    for (size_t i = 0; i < loop->body.count; i++) {
        const ir_stmt_kind kind = loop->body.items[i]->kind;
        if (kind == IR_SET_ELEM) return false;
        does |= kind == IR_ACCUM || kind == IR_STORE;
    }
    return does;
}

static bool has_many_turns(const ir_stmt *loop)
{
    return loop->lo->op == IR_CONST && loop->hi->op == IR_CONST && loop->hi->bits >= loop->lo->bits + HDST__ROW_ELEMENTS;
}

// whole_rows: only those that add to rows or store them.
static void rewrite(ir_func *func, const hdst__tables *tables, ir_block *block, bool whole_rows)
{
    ir_block out = {0};
    for (size_t i = 0; i < block->count; i++) {
        ir_stmt *s = block->items[i];
        elements l = {.func = func, .tables = tables, .reads = {func, s}, .exceptions = IR_NO_VAR};
        const bool wanted = s->kind == IR_FOR && s->step == 1 && (!whole_rows || (adds_or_stores(s) && has_many_turns(s)));
        ir_stmt *behind = wanted && !whole_rows ? hdst__fission_ordered_sum(func, s) : NULL;
        if (wanted && can_take(&l)) {
            take_loop(&l, &out, s);
            if (behind) hdst__ir_push(func, &out, behind);
            func->rows = true;
            continue;
        }
        if (behind) hdst__ir_push(func, &s->body, behind->body.items[0]);       // it stays whole
        ir_block *nested[HDST__IR_NESTED];
        for (int n = 0, count = hdst__ir_nested(s, nested); n < count; n++) rewrite(func, tables, nested[n], whole_rows);
        hdst__ir_push(func, &out, s);
    }
    *block = out;
}

void hdst__pass_element_loops(ir_func *func, const hdst__tables *tables)
{
    func->rows = true;
    rewrite(func, tables, &func->body, false);
}

void hdst__pass_element_loops_of_rows(ir_func *func, const hdst__tables *tables) { rewrite(func, tables, &func->body, true); }
