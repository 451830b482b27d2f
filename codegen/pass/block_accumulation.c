// SPDX-License-Identifier: Apache-2.0
// Additions to accumulators in block form: words of the strip table (accum/tables.h). Float sums are exact: the addends are converted to fixed point over the
// block, with a test that each fits; those that do not, which is rare, go to the device table record by record; then the words are added.
//
// Before: records { accum t[best].x += p.x; accum t[best].n += 1; accum inertia += d }
// After:  exceptions = false; s = 0
//         records vectorize { q = fixed(p.x); reduce s += fixed(d); exception = not(and(fits(p.x), fits(d))); reduce exceptions |= exception }
//         if exceptions { records { if exception { if not(fits(p.x)) { superaccumulator t[best].x += p.x }  if not(fits(d)) { superaccumulator inertia +=
//         d } } } }
//         records { words t[best].x takes q; words t[best].n takes 1 }
//         words inertia takes s
//
// A float sum of the whole dataset (accum inertia) does without the tests: block inertia += d, where d is kept for every record of the block.
//
// Additions within control that varies are tested one by one where they stand.
#include "codegen/pass/block_form.h"
#include "record/bit_pattern.h"
#include "accum/tables.h"
#include "codegen/pass/passes.h"
#include "base/costs_cpu.h"
#include "codegen/ir/sum_loop.h"

typedef struct adder {
    ir_func *func;
    const hdst__tables *tables;
    const ir_block *all;        // the additions
    ir_block before;            // uniform, ahead of all
    ir_block vector;            // over the block: conversions, tests
    ir_block rare;              // record by record: what does not fit
    ir_block scatter;           // record by record: words of rows that differ
    ir_block after;             // uniform: totals of the block, sums of its addends
    ir_expr *all_fit;           // NULL: nothing to test
    uint32_t exception;            // by record: an addend does not fit
} adder;

static const hdst__cell *cell_of(const adder *a, const ir_stmt *s)
{
    return &hdst__tables_accum(a->tables, s->param)->cell[s->leaf];
}

static bool varies(const ir_expr *e) { return e && e->varying; }
static bool is_scattered(const ir_stmt *s) { return varies(s->index) || varies(s->index2); }

// --- Words ---

static ir_expr *in_cell(adder *a, ir_op op, hdst__kind kind, const ir_stmt *s, const ir_expr *value, uint64_t word)
{
    ir_expr *e = hdst__ir_unary(a->func, op, kind, hdst__ir_copy(a->func, value));
    e->param = s->param;
    e->leaf = s->leaf;
    e->bits = word;
    return e;
}

// The word of what is no float sum.
static ir_expr *plain_word(adder *a, const ir_stmt *s, const ir_expr *value)
{
    ir_expr *v = hdst__ir_copy(a->func, value);
    switch (s->acc) {
    case HDST__SUM: return hdst__ir_convert(a->func, HDST__I64, v);
    case HDST__MIN: return hdst__ir_unary(a->func, IR_KEY_MIN, HDST__U64, v);
    case HDST__MAX: return hdst__ir_unary(a->func, IR_KEY_MAX, HDST__U64, v);
    case HDST__AND: v = hdst__ir_unary(a->func, v->kind == HDST__BOOL ? IR_NOT : IR_BITNOT, v->kind, v); break;
    case HDST__OR: case HDST__XOR: break;
    }
    return hdst__ir_convert(a->func, HDST__U64, v);
}

// How words of the cell meet over the block.
static hdst__accumulate_op word_acc(const hdst__cell *cell)
{
    switch (cell->op) {
    case HDST__WORD_ADD: return HDST__SUM;
    case HDST__WORD_MAX: return HDST__MAX;
    case HDST__WORD_OR: return HDST__OR;
    case HDST__WORD_XOR: break;
    }
    return HDST__XOR;
}

static ir_stmt *table_stmt(adder *a, ir_stmt_kind kind, const ir_stmt *s, ir_expr *value, uint32_t word)
{
    ir_stmt *stmt = hdst__ir_stmt(a->func, kind, s->span);
    stmt->param = s->param;
    stmt->leaf = s->leaf;
    stmt->acc = s->acc;
    stmt->index = hdst__ir_copy(a->func, s->index);
    stmt->index2 = hdst__ir_copy(a->func, s->index2);
    stmt->value = value;
    stmt->word = word;
    return stmt;
}

// --- Settling: what is needed more than once is worked out once ---

static bool is_cheap(const ir_expr *e)
{
    if (e->op == IR_CONVERT || e->op == IR_NEG) return is_cheap(e->a);
    if (e->op == IR_FIELD) return !e->a || e->a->op == IR_CONST || e->a->op == IR_VAR;
    return e->op == IR_VAR || e->op == IR_CONST;
}

static ir_expr *set_in_vector(adder *a, const char *name, ir_expr *value)
{
    for (size_t i = 0; i < a->vector.count; i++) {      // rows of one table are the same for all its leaves
        const ir_stmt *s = a->vector.items[i];
        if (s->kind == IR_SET && hdst__ir_expr_equal(s->value, value)) return hdst__ir_var(a->func, s->var);
    }
    uint32_t var = hdst__block_new_var(a->func, name, value->kind, true);
    hdst__ir_push(a->func, &a->vector, hdst__ir_set(a->func, var, value));
    return hdst__ir_var(a->func, var);
}

static ir_expr *settled(adder *a, const char *name, ir_expr *e)
{
    return !e || is_cheap(e) || !e->varying ? e : set_in_vector(a, name, e);
}

// The addend as a float, when it is one that was made double: floats are half as wide. NULL: it is a double.
static ir_expr *as_float(adder *a, ir_expr *e)
{
    if (e->kind == HDST__F32) return e;
    if (e->op == IR_CONVERT) return e->a->kind == HDST__F32 ? e->a : NULL;
    if (e->op == IR_CONST) return hdst__as_f64(e->bits) == (double)(float)hdst__as_f64(e->bits)
        ? hdst__ir_const(a->func, HDST__F32, hdst__of_f32((float)hdst__as_f64(e->bits))) : NULL;
    if (e->op != IR_SELECT && e->op != IR_NEG) return NULL;
    ir_expr *first = as_float(a, e->op == IR_NEG ? e->a : e->b), *second = e->op == IR_SELECT && first ? as_float(a, e->c) : NULL;
    if (!first || (e->op == IR_SELECT && !second)) return NULL;
    ir_expr *made = e->op == IR_NEG ? hdst__ir_unary(a->func, IR_NEG, HDST__F32, first) : hdst__ir_select(a->func, e->a, first, second);
    made->varying = e->varying;
    return made;
}

static ir_expr *settled_addend(adder *a, ir_expr *e)
{
    ir_expr *narrow = as_float(a, e);
    if (!narrow) return settled(a, "addend", e);
    ir_expr *value = settled(a, "addend", narrow), *whole = hdst__ir_convert(a->func, e->kind, value);
    whole->varying = e->varying;
    return whole;
}

// --- One addition over the block ---

static void reduce(adder *a, uint32_t var, hdst__accumulate_op acc, ir_expr *value)
{
    ir_stmt *s = hdst__ir_set(a->func, var, value);
    s->kind = IR_REDUCE;
    s->acc = acc;
    hdst__ir_push(a->func, &a->vector, s);
}

// The block's total of a word, then added to its cell once.
static void total(adder *a, const ir_stmt *s, ir_expr *value, uint32_t word)
{
    uint32_t sum = hdst__block_new_var(a->func, "total", value->kind, false);
    hdst__ir_push(a->func, &a->before, hdst__ir_set(a->func, sum, hdst__ir_const(a->func, value->kind, 0)));
    reduce(a, sum, word_acc(cell_of(a, s)), value);
    hdst__ir_push(a->func, &a->after, table_stmt(a, IR_ACCUM_WORDS, s, hdst__ir_var(a->func, sum), word));
}

static void scatter(adder *a, const ir_stmt *s, ir_expr *word, uint32_t number)
{
    uint32_t q = hdst__block_new_var(a->func, "q", HDST__I64, true);
    hdst__ir_push(a->func, &a->vector, hdst__ir_set(a->func, q, word));
    hdst__ir_push(a->func, &a->scatter, table_stmt(a, IR_ACCUM_WORDS, s, hdst__ir_var(a->func, q), number));
}

static void add_plain(adder *a, const ir_stmt *s)
{
    ir_expr *word = plain_word(a, s, s->value);
    if (!is_scattered(s)) total(a, s, word, 0);
    else hdst__ir_push(a->func, &a->scatter, table_stmt(a, IR_ACCUM_WORDS, s, settled(a, "word", word), 0));
}

static void note_fit(adder *a, ir_expr *fits)
{
    a->all_fit = a->all_fit ? hdst__ir_binary(a->func, IR_AND, HDST__BOOL, a->all_fit, fits) : fits;
}

// Record by record: what does not fit goes to the device table.
static void push_exceptions(adder *a, const ir_stmt *s)
{
    ir_expr *fits = in_cell(a, IR_FITS, HDST__BOOL, s, s->value, 0);
    ir_stmt *test = hdst__ir_if(a->func, hdst__ir_unary(a->func, IR_NOT, HDST__BOOL, fits));
    hdst__ir_push(a->func, &test->then, table_stmt(a, IR_ACCUM_SUPERACCUMULATOR, s, hdst__ir_copy(a->func, s->value), 0));
    hdst__ir_push(a->func, &a->rare, test);
}

static void add_exact(adder *a, ir_stmt *s)
{
    const uint32_t words = cell_of(a, s)->private_words;
    s->value = settled_addend(a, s->value);
    push_exceptions(a, s);
    for (uint32_t w = 0; w < words; w++) {
        ir_expr *fixed = in_cell(a, IR_FIXED, HDST__I64, s, s->value, w);      // 0 when it does not fit
        if (is_scattered(s)) scatter(a, s, fixed, w);
        else total(a, s, fixed, w);
    }
    note_fit(a, in_cell(a, IR_FITS, HDST__BOOL, s, s->value, 0));
}

// A sum of the whole dataset: its addends are kept over the block and added in their own arithmetic (accum/levels.cl), which is quicker than fixed point.
static bool is_level_sum(const adder *a, const ir_stmt *s)
{
    const hdst__accum *accum = hdst__tables_accum(a->tables, s->param);
    const hdst__cell *cell = cell_of(a, s);
    return cell->precision != HDST__CLASS_PLAIN && !accum->is_table && accum->private_row_words <= HDST__CPU_BLOCK_SUMS &&
           cell->elements <= HDST__CPU_BLOCK_SUMS && s->value->varying &&
           !varies(s->index2);
}

static bool is_kept(const ir_expr *e) { return e->varying && (e->op == IR_VAR || e->op == IR_ELEM || e->op == IR_FIELD); }

static ir_expr *in_own_arithmetic(adder *a, ir_expr *value)
{
    ir_expr *narrow = as_float(a, value);
    return narrow ? narrow : value;
}

// How many of the record loop's sums the same loop over the block could take.
static size_t sums_alike(adder *a, ir_expr *value)
{
    const ir_sum_loop loop = hdst__sum_loop_of(a->func, value);
    size_t alike = 0;
    for (size_t i = 0; i < a->all->count && alike < HDST__CPU_ALIKE_SUMS; i++) {
        const ir_stmt *s = a->all->items[i];
        ir_expr *other = is_level_sum(a, s) ? in_own_arithmetic(a, s->value) : NULL;
        if (!other || !hdst__sum_loop_can(a->func, other)) continue;
        const ir_sum_loop its = hdst__sum_loop_of(a->func, other);
        alike += hdst__sum_loops_equal(&loop, &its);
    }
    return alike;
}

// Whether the loop that adds takes the value as it is. Else it is computed in a record loop, and kept: that needs no
// loop of its own and one array over the block. Products keep their factors, which other sums take too.
static bool is_added_in_place(adder *a, ir_expr *value)
{
    if (!hdst__sum_loop_can(a->func, value)) return false;
    if (is_kept(value) || (value->op == IR_MUL && is_kept(value->a) && is_kept(value->b))) return true;
    ir_expr *operands[HDST__SUM_OPERANDS];
    const uint32_t count = hdst__sum_loop_operands(a->func, value, operands);
    uint32_t arrays = 0;
    for (uint32_t i = 0; i < count; i++) arrays += operands[i]->varying && operands[i]->op != IR_FIELD;
    return arrays <= 1 && sums_alike(a, value) >= HDST__CPU_ALIKE_SUMS;
}

static void add_levels(adder *a, ir_stmt *s)
{
    ir_expr *value = in_own_arithmetic(a, s->value);
    ir_stmt *stmt = table_stmt(a, IR_ACCUM_BLOCK, s, is_added_in_place(a, value) ? value : set_in_vector(a, "addend", value), 0);
    stmt->index = NULL;
    hdst__ir_push(a->func, &a->after, stmt);
}

static void add(adder *a, ir_stmt *s)
{
    if (is_level_sum(a, s)) {
        add_levels(a, s);
        return;
    }
    s->index = settled(a, "row", s->index);
    s->index2 = settled(a, "element", s->index2);
    switch (cell_of(a, s)->precision) {
    case HDST__CLASS_PLAIN: add_plain(a, s); break;
    case HDST__CLASS_SUPERACCUMULATOR: hdst__ir_push(a->func, &a->scatter, table_stmt(a, IR_ACCUM_SUPERACCUMULATOR, s, s->value, 0)); break;
    case HDST__CLASS_ONE_WORD: case HDST__CLASS_TWO_WORDS: add_exact(a, s); break;
    }
}

// --- Putting it together ---

static const char rare_why[] = "rare: addends that do not fit";
static const char scatter_why[] = "additions to a table, row by row";

// Words of one row stand together, by their place in the row.
static bool goes_before(const adder *a, const ir_stmt *x, const ir_stmt *y)
{
    if (x->kind != IR_ACCUM_WORDS || y->kind != IR_ACCUM_WORDS || x->param != y->param || !hdst__ir_expr_equal(x->index, y->index)) return false;
    if ((x->index2 && x->index2->op != IR_CONST) || (y->index2 && y->index2->op != IR_CONST)) return false;
    uint64_t ex = x->index2 ? x->index2->bits : 0, ey = y->index2 ? y->index2->bits : 0;
    uint64_t px = cell_of(a, x)->private_first + ex * cell_of(a, x)->private_words + x->word;
    uint64_t py = cell_of(a, y)->private_first + ey * cell_of(a, y)->private_words + y->word;
    return px < py;
}

static void sort_words(const adder *a, ir_block *block)
{
    for (size_t i = 1; i < block->count; i++)
        for (size_t k = i; k > 0 && goes_before(a, block->items[k], block->items[k - 1]); k--) {
            ir_stmt *swap = block->items[k];
            block->items[k] = block->items[k - 1];
            block->items[k - 1] = swap;
        }
}

static void append(ir_func *func, ir_block *to, const ir_block *more)
{
    for (size_t i = 0; i < more->count; i++) hdst__ir_push(func, to, more->items[i]);
}

// The vector work joins the record loop in front, when there is one.
static void push_vector(adder *a, ir_block *out)
{
    ir_stmt *last = out->count ? out->items[out->count - 1] : NULL;
    if (last && last->kind == IR_RECORDS && last->vectorize) {
        out->count--;
        append(a->func, out, &a->before);
        append(a->func, &last->body, &a->vector);
        hdst__ir_push(a->func, out, last);
        return;
    }
    append(a->func, out, &a->before);
    if (a->vector.count) hdst__ir_push(a->func, out, hdst__block_records(a->func, a->vector, NULL));
}

// Whether anything in the block does not fit, and which records: the rare loop looks at no others.
static uint32_t note_exceptions(adder *a)
{
    const uint32_t exceptions = hdst__block_new_var(a->func, "exceptions", HDST__BOOL, false);
    a->exception = hdst__block_new_var(a->func, "exception", HDST__BOOL, true);
    hdst__ir_push(a->func, &a->before, hdst__ir_set(a->func, exceptions, hdst__ir_const(a->func, HDST__BOOL, 0)));
    hdst__ir_push(a->func, &a->vector, hdst__ir_set(a->func, a->exception, hdst__ir_unary(a->func, IR_NOT, HDST__BOOL, a->all_fit)));
    reduce(a, exceptions, HDST__OR, hdst__ir_var(a->func, a->exception));
    return exceptions;
}

static void push_rare(adder *a, ir_block *out, uint32_t exceptions)
{
    ir_stmt *test = hdst__ir_if(a->func, hdst__ir_var(a->func, exceptions)), *which = hdst__ir_if(a->func, hdst__ir_var(a->func, a->exception));
    hdst__block_recompute(a->func, &a->rare, &out->items[out->count - 1]->body);
    which->then = a->rare;
    ir_block body = {0};
    hdst__ir_push(a->func, &body, which);
    hdst__ir_push(a->func, &test->then, hdst__block_records(a->func, body, rare_why));
    hdst__ir_push(a->func, out, test);
}

static void accumulate_over_block(ir_func *func, const hdst__tables *tables, ir_block *out, ir_stmt *records)
{
    adder a = {.func = func, .tables = tables, .all = &records->body};
    for (size_t i = 0; i < records->body.count; i++) add(&a, records->body.items[i]);
    sort_words(&a, &a.scatter);
    const uint32_t exceptions = a.all_fit ? note_exceptions(&a) : 0;
    push_vector(&a, out);
    if (a.all_fit) push_rare(&a, out, exceptions);
    if (a.scatter.count) hdst__ir_push(func, out, hdst__block_records(func, a.scatter, scatter_why));
    append(func, out, &a.after);
}

// --- Additions one by one ---

static void accumulate_here(adder *a, ir_block *out, ir_stmt *s)
{
    const hdst__cell *cell = cell_of(a, s);
    if (cell->precision == HDST__CLASS_PLAIN) {
        hdst__ir_push(a->func, out, table_stmt(a, IR_ACCUM_WORDS, s, plain_word(a, s, s->value), 0));
        return;
    }
    if (cell->precision == HDST__CLASS_SUPERACCUMULATOR) {
        hdst__ir_push(a->func, out, table_stmt(a, IR_ACCUM_SUPERACCUMULATOR, s, s->value, 0));
        return;
    }
    if (!is_cheap(s->value)) {
        uint32_t var = hdst__block_new_var(a->func, "addend", s->value->kind, true);
        hdst__ir_push(a->func, out, hdst__ir_set(a->func, var, s->value));
        s->value = hdst__ir_var(a->func, var);
    }
    ir_stmt *test = hdst__ir_if(a->func, in_cell(a, IR_FITS, HDST__BOOL, s, s->value, 0));
    for (uint32_t w = 0; w < cell->private_words; w++)
        hdst__ir_push(a->func, &test->then, table_stmt(a, IR_ACCUM_WORDS, s, in_cell(a, IR_FIXED, HDST__I64, s, s->value, w), w));
    hdst__ir_push(a->func, &test->otherwise, table_stmt(a, IR_ACCUM_SUPERACCUMULATOR, s, s->value, 0));
    hdst__ir_push(a->func, out, test);
}

static bool only_additions(const ir_block *body)
{
    for (size_t i = 0; i < body->count; i++)
        if (body->items[i]->kind != IR_ACCUM) return false;
    return body->count > 0;
}

static void rewrite(ir_func *func, const hdst__tables *tables, ir_block *block)
{
    ir_block out = {0};
    for (size_t i = 0; i < block->count; i++) {
        ir_stmt *s = block->items[i];
        if (s->kind == IR_RECORDS && only_additions(&s->body)) {
            accumulate_over_block(func, tables, &out, s);
            continue;
        }
        if (s->kind == IR_ACCUM) {
            accumulate_here(&(adder){.func = func, .tables = tables}, &out, s);
            continue;
        }
        ir_block *nested[HDST__IR_NESTED];
        for (int n = 0, count = hdst__ir_nested(s, nested); n < count; n++) rewrite(func, tables, nested[n]);
        hdst__ir_push(func, &out, s);
    }
    *block = out;
}

void hdst__pass_block_accumulation(ir_func *func, const hdst__tables *tables)
{
    rewrite(func, tables, &func->body);
    hdst__block_mark_per_record(func);
}
