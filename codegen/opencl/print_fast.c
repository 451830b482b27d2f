// SPDX-License-Identifier: Apache-2.0
// CPU form: sums of a whole dataset that may be rounded at each addition (fast_sums), a block at a time. Sums that
// stand together are added together: a vector of records is read once for all of them, and their running lanes stay
// in registers while the block goes by. Lanes of floats go to lanes of doubles every FLUSH records, so that what they
// lose does not grow with the dataset.
//
//     float16 sum0_ = t_x_FloatSum[0], sum1_ = t_weight_FloatSum[0];
//     for (uint r = 0; r < BLOCK; r += 16) {
//         const float16 v2_ = *(const packed_float16 *)(w_Of + r), v3_ = *(__global const packed_float16 *)(&p_x_(i, 0) + r);
//         sum0_ = ADD_PRODUCT(v2_, v3_, sum0_);
//         sum1_ += v2_;
//     }
//     t_x_FloatSum[0] = sum0_, t_weight_FloatSum[0] = sum1_;
#include "codegen/opencl/print_levels.h"
#include "codegen/opencl/print_cell.h"
#include "codegen/opencl/print_expr.h"
#include "codegen/opencl/print_sum_loops.h"
#include "codegen/opencl/print_unpack.h"

#include <inttypes.h>
#include <string.h>

enum {
    FLUSH = 4096,
    MOST_SUMS = 10,             // at once: with what they read they fit in 32 registers of 16 floats
    MOST_READS = 2 * MOST_SUMS,
    CHAINS = 6,                 // of additions that hide each other's latency
    MOST_CHAINS = 4,            // of one sum
};

typedef struct fast_sum {
    const ir_stmt *stmt;        // the first that adds to it
    const char *place, *name[MOST_CHAINS];      // in memory, in registers
} fast_sum;

typedef struct fast_read {      // of an operand of a sum's loop
    const ir_sum_loop *loop;
    uint32_t operand;
    const char *of;             // a pointer to the values, or the value that all records have
    const char *name[MOST_CHAINS];
} fast_read;

typedef struct fast_addend {
    const ir_sum_loop *loop;
    size_t sum, read[HDST__SUM_OPERANDS];
} fast_addend;

typedef struct fast_run {
    bool is_double;
    fast_sum sum[MOST_SUMS];
    fast_read read[MOST_READS];
    fast_addend addend[MOST_READS];
    size_t sums, reads, addends;
} fast_run;

static const char *vector_name(bool is_double) { return is_double ? "double8" : "float16"; }
static uint32_t lanes_of(bool is_double) { return is_double ? 8 : 16; }

// Doubles are added where they end; floats have a vector of their own before.
static const char *sum_text(hdst__printer *p, const hdst__accum_plan *plan, uint32_t leaf, const char *element, bool is_double)
{
    return hdst__arena_printf(p->arena, "%s%s[%s]", hdst__scale_name(p, plan->accum->param, leaf), is_double ? "DoubleTotal" : "FloatSum", element);
}

// --- What is added together ---

static bool differ_by_constants(const ir_expr *a, const ir_expr *b)
{
    const ir_expr *base_a = a->op == IR_ADD && a->b->op == IR_CONST ? a->a : a, *base_b = b->op == IR_ADD && b->b->op == IR_CONST ? b->a : b;
    const uint64_t ahead_a = base_a == a ? 0 : a->b->bits, ahead_b = base_b == b ? 0 : b->b->bits;
    return hdst__ir_expr_equal(base_a, base_b) && ahead_a != ahead_b;
}

// Elements that cannot be the same one.
static bool are_apart(const ir_stmt *a, const ir_stmt *b)
{
    if (a->param != b->param || a->leaf != b->leaf) return true;
    if (!a->index2 || !b->index2) return false;
    if (a->index2->op == IR_CONST && b->index2->op == IR_CONST) return a->index2->bits != b->index2->bits;
    return differ_by_constants(a->index2, b->index2);
}

// The sum that the statement adds to; MOST_SUMS: it cannot join.
static size_t find_sum(hdst__printer *p, fast_run *run, const ir_stmt *stmt)
{
    const char *place = sum_text(p, hdst__find_plan(p, stmt->param), stmt->leaf, hdst__index_text(p, stmt->index2, HDST__WHOLE), run->is_double);
    size_t found = MOST_SUMS;
    for (size_t s = 0; s < run->sums; s++) {
        if (!strcmp(run->sum[s].place, place)) found = s;
        else if (!are_apart(run->sum[s].stmt, stmt)) return MOST_SUMS;
    }
    if (found < MOST_SUMS || run->sums == MOST_SUMS) return found;
    run->sum[run->sums] = (fast_sum){.stmt = stmt, .place = place};
    return run->sums++;
}

static size_t find_read(hdst__printer *p, fast_run *run, const ir_sum_loop *loop, uint32_t operand, const ir_expr *value)
{
    const bool each = loop->operand[operand].per_record;
    const char *of = each ? hdst__block_pointer_text(p, value) : hdst__expr_text(p, value, HDST__WHOLE);
    for (size_t i = 0; i < run->reads; i++)
        if (run->read[i].loop->operand[run->read[i].operand].per_record == each && !strcmp(run->read[i].of, of)) return i;
    run->read[run->reads] = (fast_read){.loop = loop, .operand = operand, .of = of};
    return run->reads++;
}

static bool join(hdst__printer *p, fast_run *run, const ir_stmt *stmt)
{
    const ir_sum_loop *loop = &p->func->sum_loops[stmt->sum_loop];
    if ((loop->kind == HDST__F64) != run->is_double || run->addends == MOST_READS || run->reads + loop->operand_count > MOST_READS) return false;
    const size_t sum = find_sum(p, run, stmt);
    if (sum == MOST_SUMS) return false;
    fast_addend *addend = &run->addend[run->addends++];
    *addend = (fast_addend){.loop = loop, .sum = sum};
    ir_expr *operands[HDST__SUM_OPERANDS];
    const uint32_t count = hdst__sum_loop_operands(p->func, stmt->value, operands);
    for (uint32_t i = 0; i < count; i++) addend->read[i] = find_read(p, run, loop, i, operands[i]);
    return true;
}

// --- Printing them ---

// Numbered through the kernel.
static const char *new_name(hdst__printer *p, const char *what)
{
    return hdst__name_take(p->form_names, hdst__arena_printf(p->arena, "%s%" PRIu32, what, p->numbered_names++));
}

// How many vectors of records are read side by side.
static uint32_t choose_chains(hdst__printer *p, fast_run *run)
{
    uint32_t chains = 1;
    while (chains < MOST_CHAINS && chains * run->sums < CHAINS && p->func->block % (2 * chains * lanes_of(run->is_double)) == 0) chains *= 2;
    for (uint32_t c = 0; c < chains; c++) {
        for (size_t s = 0; s < run->sums; s++) run->sum[s].name[c] = new_name(p, "sum");
        for (size_t i = 0; i < run->reads; i++) run->read[i].name[c] = new_name(p, "v");
    }
    return chains;
}

static void print_read(hdst__printer *p, const fast_read *read, uint32_t chain)
{
    const char *vector = hdst__vector_name(p, read->loop->operand[read->operand].kind, read->loop->lanes), *text = read->of;
    const char *ahead = chain ? hdst__arena_printf(p->arena, "r + %" PRIu32, chain * read->loop->lanes) : "r";
    if (read->loop->operand[read->operand].per_record) text = hdst__packed_text(p, read->loop, read->operand, text, ahead);
    hdst__write_line(&p->out, "const %s %s = %s;", vector, read->name[chain], text);
}

static bool is_product(const ir_expr *addend)
{
    return addend->op == IR_MUL && addend->a->op == IR_VAR && addend->b->op == IR_VAR;
}

static void print_chain(hdst__printer *p, const fast_run *run, uint32_t chain)
{
    for (size_t i = 0; i < run->reads; i++) print_read(p, &run->read[i], chain);
    for (size_t i = 0; i < run->addends; i++) {
        const fast_addend *add = &run->addend[i];
        const ir_expr *addend = add->loop->addend;
        const char *sum = run->sum[add->sum].name[chain], *operands[HDST__SUM_OPERANDS];
        for (uint32_t o = 0; o < add->loop->operand_count; o++) operands[o] = run->read[add->read[o]].name[chain];
        if (is_product(addend)) hdst__write_line(&p->out, "%s = ADD_PRODUCT(%s, %s, %s);", sum, operands[addend->a->var], operands[addend->b->var], sum);
        else hdst__write_line(&p->out, "%s += %s;", sum, hdst__sum_addend_text(p, add->loop, operands, add->loop->lanes));
    }
}

static void print_run(hdst__printer *p, fast_run *run)
{
    const uint32_t chains = choose_chains(p, run);
    for (size_t s = 0; s < run->sums; s++)
        for (uint32_t c = 0; c < chains; c++)
            hdst__write_line(&p->out, "%s %s = %s;", vector_name(run->is_double), run->sum[s].name[c], c ? "0" : run->sum[s].place);
    hdst__write_line(&p->out, "for (uint r = 0; r < BLOCK; r += %" PRIu32 ") {", chains * lanes_of(run->is_double));
    p->out.indent++;
    for (uint32_t c = 0; c < chains; c++) print_chain(p, run, c);
    p->out.indent--;
    hdst__write_line(&p->out, "}");
    for (size_t s = 0; s < run->sums; s++) {
        const char *all = run->sum[s].name[0];
        for (uint32_t c = 1; c < chains; c++) all = hdst__arena_printf(p->arena, "%s + %s", all, run->sum[s].name[c]);
        hdst__write_line(&p->out, "%s = %s;", run->sum[s].place, all);
    }
}

static size_t print_add(hdst__printer *p, ir_stmt *const *stmts, size_t count)
{
    fast_run run = {.is_double = stmts[0]->value->kind == HDST__F64};
    size_t n = 0;
    hdst__write_line(&p->out, "{");
    p->out.indent++;
    for (; n < count && stmts[n]->kind == IR_ACCUM_BLOCK && join(p, &run, stmts[n]); n++) p->uses_double = true;
    print_run(p, &run);
    p->out.indent--;
    hdst__write_line(&p->out, "}");
    return n;
}

// --- Every sum ---

static void print_start(hdst__printer *p, const hdst__accum_plan *plan, uint32_t leaf, bool is_double)
{
    const char *name = hdst__scale_name(p, plan->accum->param, leaf);
    const uint64_t elements = plan->accum->cell[leaf].elements;
    if (!is_double) hdst__write_line(&p->out, "float16 %sFloatSum[%" PRIu64 "] = {0};", name, elements);
    hdst__write_line(&p->out, "double8 %s%sTotal[%" PRIu64 "] = {0};", name, is_double ? "Double" : "Float", elements);
}

static void print_empty(hdst__printer *p, const hdst__accum_plan *plan, uint32_t leaf, bool is_double)
{
    const char *name = hdst__scale_name(p, plan->accum->param, leaf);
    if (!is_double) hdst__write_line(&p->out, "fast_empty(%sFloatSum, %sFloatTotal, %" PRIu64 ");", name, name, plan->accum->cell[leaf].elements);
}

static void print_end(hdst__printer *p, const hdst__accum_plan *plan, uint32_t leaf, bool is_double)
{
    const hdst__cell *cell = &plan->accum->cell[leaf];
    const bool narrow = cell->kind == HDST__F32;
    print_empty(p, plan, leaf, is_double);
    hdst__write_line(&p->out, "for (uint e = 0; e < %" PRIu64 "; e++)", cell->elements);
    hdst__write_line(&p->out, "    superaccumulator_add_%s(%s, %sfast_total(%s%sTotal[e]));", narrow ? "float" : "double", hdst__levels_place(p, plan, leaf,
        "e"),
                     narrow ? "(float)" : "", hdst__scale_name(p, plan->accum->param, leaf), is_double ? "Double" : "Float");
}

static void print_starts(hdst__printer *p)
{
    hdst__levels_each(p, print_start);
    if (hdst__levels_of(p, false)) hdst__write_line(&p->out, "uint unflushed = 0;     // records in the sums of floats");
}

static void print_end_of_block(hdst__printer *p)
{
    if (!hdst__levels_of(p, false)) return;
    hdst__write_line(&p->out, "unflushed += BLOCK;");
    hdst__write_line(&p->out, "if (unflushed >= %d) {", FLUSH);
    p->out.indent++;
    hdst__levels_each(p, print_empty);
    hdst__write_line(&p->out, "unflushed = 0;");
    p->out.indent--;
    hdst__write_line(&p->out, "}");
}

static void print_ends(hdst__printer *p) { hdst__levels_each(p, print_end); }

const hdst__block_sums hdst__fast_block_sums = {.add = print_add, .start = print_starts, .end_block = print_end_of_block, .end = print_ends};
