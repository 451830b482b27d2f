// SPDX-License-Identifier: Apache-2.0
// The block form in the interpreter, so that thousands of random programs can test its passes without a driver: record loops,
// reductions over a block, words of privatised accumulators. A record loop runs its records side by side; the result is the
// same as one after another, because records only meet in sums.
// Fixed point is computed with integers (accum/fixed_point.c), not as the kernels do it.
#include "record/bit_pattern.h"
#include "codegen/interp/interp_state.h"
#include "accum/fixed_point.h"
#include "accum/minmax_keys.h"
#include "accum/representation.h"

#include <string.h>

static int32_t scale_of(const interp_state *s, const hdst__cell *cell) { return s->run->scales ? s->run->scales[cell->scale] : 0; }

lanes hdst__interp_block_expr(interp_state *s, const ir_expr *e, size_t at)
{
    const lanes a = hdst__interp_eval(s, e->a, at);
    uint64_t *out = hdst__interp_slab(s, at);
    const bool is_key = e->op == IR_KEY_MIN || e->op == IR_KEY_MAX;
    const hdst__cell *cell = is_key ? NULL : &s->accum[e->param]->cell[e->leaf];
    for (size_t i = 0; i < (a.uniform ? 1 : s->n); i++) {
        if (is_key) {
            out[i] = hdst__key_encode(e->a->kind, e->op == IR_KEY_MIN ? HDST__MIN : HDST__MAX, a.v[i]);
        } else {
            int64_t word[2];
            const bool fits = hdst__fixed_split(e->a->kind, cell->precision == HDST__CLASS_TWO_WORDS ? 2 : 1, scale_of(s, cell), a.v[i], word);
            out[i] = e->op == IR_FITS ? fits : (uint64_t)word[e->bits];
        }
    }
    return (lanes){out, a.uniform};
}

// --- Statements ---

static void reduce(interp_state *s, const ir_stmt *stmt, const interp_mask *mask)
{
    interp_var *var = &s->vars[stmt->var];
    const uint64_t *value = hdst__interp_eval_lanes(s, stmt->value, s->top);
    if (!var->uniform || (s->func->block && !s->in_records)) s->wrong = "a reduction of what is not uniform, or outside a record loop";
    uint64_t total = var->v[0];
    for (size_t i = 0; i < s->n; i++)
        if (mask->bits[i]) total = hdst__words_combined(hdst__word_op_of(stmt->acc), total, value[i]);
    var->v[0] = total;
}

typedef struct target {         // rows, elements and values of an addition, by lane
    lanes row, element;
    const uint64_t *value;
} target;

static target evaluate(interp_state *s, const ir_stmt *stmt)
{
    static const uint64_t zero = 0;
    target t;
    t.row = stmt->index ? hdst__interp_eval(s, stmt->index, s->top) : (lanes){&zero, true};
    t.element = stmt->index2 ? hdst__interp_eval(s, stmt->index2, s->top + 1) : (lanes){&zero, true};
    const lanes value = hdst__interp_eval(s, stmt->value, s->top + 2);
    if (!s->in_records && !(t.row.uniform && t.element.uniform && value.uniform)) s->wrong = "an addition outside a record loop varies";
    t.value = s->in_records ? hdst__interp_eval_lanes(s, stmt->value, s->top + 2) : value.v;
    return t;
}

static uint64_t at_lane(lanes value, size_t i) { return value.v[value.uniform ? 0 : i]; }

// Adds once for each record inside a record loop, and only once outside.
static void add_to_table(interp_state *s, const ir_stmt *stmt, const interp_mask *mask)
{
    const hdst__accum *accum = s->accum[stmt->param];
    const hdst__cell *cell = &accum->cell[stmt->leaf];
    const size_t number = (size_t)(accum - s->run->tables->accum);
    const uint64_t rows = hdst__accum_rows(accum, s->run->accum_rows), private_first = hdst__tables_private_first(s->run->tables, s->run->accum_rows, number);
    const target t = evaluate(s, stmt);
    hdst__interp_guard(s, t.row, rows, "an unguarded row of an accumulator");
    hdst__interp_guard(s, t.element, cell->elements, "an unguarded index of an accumulator's field");
    for (size_t i = 0; i < (s->in_records ? s->n : 1); i++) {
        const uint64_t row = at_lane(t.row, i), e = at_lane(t.element, i);
        if (!mask->bits[i] || row >= rows || e >= cell->elements) continue;
        if (!s->run->device_table) continue;
        if (stmt->kind == IR_ACCUM_SUPERACCUMULATOR) {
            hdst__cell_accumulate(cell, s->accum_table[stmt->param] + row * accum->device_row_words + cell->device_first + e * cell->device_words, t.value[i]);
        } else {
            int64_t *word = s->private_words + private_first + row * accum->private_row_words + cell->private_first + e * cell->private_words + stmt->word;
            *word = (int64_t)hdst__words_combined(cell->op, (uint64_t)*word, t.value[i]);
        }
    }
}

// Every record's value at once.
static void add_block(interp_state *s, const ir_stmt *stmt, const interp_mask *mask)
{
    const hdst__accum *accum = s->accum[stmt->param];
    const hdst__cell *cell = &accum->cell[stmt->leaf];
    if (s->in_records) s->wrong = "an addition of a block in a record loop";
    s->in_records = true;
    const uint64_t *value = hdst__interp_eval_lanes(s, stmt->value, s->top);
    s->in_records = false;
    static const uint64_t zero = 0;
    const lanes element = stmt->index2 ? hdst__interp_eval(s, stmt->index2, s->top + 1) : (lanes){&zero, true};
    hdst__interp_guard(s, element, cell->elements, "an unguarded index of an accumulator's field");
    if (!element.uniform) s->wrong = "an addition of a block to an element that varies";
    if (!s->run->device_table || element.v[0] >= cell->elements) return;
    int64_t *word = s->accum_table[stmt->param] + cell->device_first + element.v[0] * cell->device_words;
    for (size_t i = 0; i < s->n; i++)
        if (mask->bits[i]) hdst__cell_accumulate(cell, word, cell->kind == stmt->value->kind ? value[i] : hdst__of_f64((double)hdst__as_f32(value[i])));
}

void hdst__interp_block_stmt(interp_state *s, const ir_stmt *stmt, interp_mask *mask)
{
    switch (stmt->kind) {
    case IR_RECORDS:
        if (s->in_records) s->wrong = "record loops are nested";
        s->in_records = true;
        hdst__interp_exec(s, &stmt->body, mask);
        s->in_records = false;
        break;
    case IR_REDUCE: reduce(s, stmt, mask); break;
    case IR_ACCUM_WORDS: case IR_ACCUM_SUPERACCUMULATOR: add_to_table(s, stmt, mask); break;
    case IR_ACCUM_BLOCK: add_block(s, stmt, mask); break;
    default: s->wrong = "a statement that has no meaning here"; break;
    }
}

// --- Privatised accumulators are added to the device accumulators ---

static void flush_element(const interp_state *s, const hdst__cell *cell, int64_t *to, int64_t *from)
{
    if (cell->digits) {
        hdst__fixed_point.spill(cell, from, scale_of(s, cell), to);
        return;
    }
    (void)hdst__exact_representation(cell)->merge(cell, to, from);
    *from = 0;
}

void hdst__interp_flush_strip(interp_state *s)
{
    int64_t *from = s->private_words;
    if (!s->run->device_table) return;
    for (size_t a = 0; a < s->run->tables->accum_count; a++) {
        const hdst__accum *accum = &s->run->tables->accum[a];
        const size_t leaves = s->func->params[accum->param].record->leaf_count;
        int64_t *to = s->accum_table[accum->param];
        for (uint64_t row = 0; row < hdst__accum_rows(accum, s->run->accum_rows); row++) {
            for (size_t l = 0; l < leaves; l++) {
                const hdst__cell *cell = &accum->cell[l];
                for (uint64_t e = 0; e < cell->elements; e++)
                    flush_element(s, cell, to + cell->device_first + e * cell->device_words, from + cell->private_first + e * cell->private_words);
            }
            to += accum->device_row_words;
            from += accum->private_row_words;
        }
    }
}
