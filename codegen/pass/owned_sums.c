// SPDX-License-Identifier: Apache-2.0
// GPU form: sums of doubles of a whole dataset, when they are too many for the registers of a lane, such as the entries of an information matrix. Instead of a
// lane adding its record to all of them, each work-item of the work-group owns some and goes through all records of the group; so a sum stays in registers
// all the same, and no addition is atomic. What records leave for that in local memory are not their addends but the factors these are products of, which
// are fewer: entries of a matrix of n columns have 2 n.
//
// Before: for i = 0 to 3 { for j = 0 to i + 1 { accum c.information[i * (i + 1) / 2 + j] += mul(weighted[i], z[j]) } }
// After:  value = weighted_0; value_2 = z_0; value_3 = weighted_1 ...                                                          the lane's record
//         accum c.information[0] += mul(value, value_2); accum c.information[1] += mul(value_3, value_2) ...                    the work-group's
//
// Taken are the additions to a leaf if all of them stand at the top of the body, once the loops around them are unrolled.
#include "codegen/pass/owned_sums.h"

#include "base/costs_gpu.h"
#include "codegen/pass/passes.h"

typedef struct owner {
    ir_func *func;
    bool **wanted;              // by param and leaf: its additions are taken; NULL: no leaf of it
    size_t at;                  // the statement of the body that is looked at
    size_t *written;            // by variable: the last one up to there that writes it, or writes to it
    ir_block values;            // assignments of values so far,
    size_t *valued, valued_capacity;    // and where
} owner;

// --- Which leaves ---

static bool is_exact_double(const hdst__cell *cell)
{
    return cell->kind == HDST__F64 && !cell->of_floats && (cell->precision == HDST__CLASS_ONE_WORD || cell->precision == HDST__CLASS_TWO_WORDS);
}

static uint64_t exact_doubles(const hdst__accum *accum)
{
    uint64_t elements = 0;
    for (size_t l = 0; !accum->is_table && l < accum->leaf_count; l++)
        if (is_exact_double(&accum->cell[l])) elements += accum->cell[l].elements;
    return elements;
}

// Fewer of an accumulator are in the registers of each lane.
static uint64_t choose_leaves(owner *w, const hdst__tables *tables, bool *sums)
{
    uint64_t elements = 0;
    for (size_t a = 0; a < tables->accum_count; a++) {
        const hdst__accum *accum = &tables->accum[a];
        if (exact_doubles(accum) < HDST__GPU_OWNED_LEAST) continue;
        bool *wanted = HDST__NEW_ARRAY(w->func->arena, bool, accum->leaf_count + 1);
        for (size_t l = 0; l < accum->leaf_count; l++) wanted[l] = is_exact_double(&accum->cell[l]);
        w->wanted[accum->param] = wanted;
        sums[accum->param] = true;
        elements += exact_doubles(accum);
    }
    return elements;
}

static bool is_wanted(const owner *w, const ir_stmt *s) { return s->kind == IR_ACCUM && w->wanted[s->param] && w->wanted[s->param][s->leaf]; }

static bool drop_leaf(ir_stmt *s, void *user)
{
    const owner *w = user;
    if (is_wanted(w, s)) w->wanted[s->param][s->leaf] = false;
    return true;
}

// Leaves to which something is added in a loop, under a condition, or by an index of the data, stay. How many additions are left.
static size_t drop_others(const owner *w)
{
    const ir_block *body = &w->func->body;
    size_t count = 0;
    for (size_t i = 0; i < body->count; i++) {
        ir_stmt *s = body->items[i];
        if (is_wanted(w, s) && !s->index && (!s->index2 || s->index2->op == IR_CONST)) continue;
        hdst__ir_visit_stmts(&(ir_block){&s, 1, 1}, drop_leaf, (void *)w);
    }
    for (size_t i = 0; i < body->count; i++) count += is_wanted(w, body->items[i]);
    return count;
}

static void tell_apart(ir_func *func, const bool *sums)
{
    hdst__pass_loop_unrolling_of_sums(func, sums);
    hdst__pass_constant_folding(func);
    hdst__pass_loop_unrolling_of_sums(func, sums);              // loops within those, whose bounds became constant
    hdst__pass_constant_folding(func);
    hdst__pass_constant_propagation(func);
    hdst__pass_constant_folding(func);
    hdst__pass_dead_code(func);
    hdst__pass_uniformity(func);
}

// --- Values ---

static bool note_written(ir_stmt *s, void *user)
{
    owner *w = user;
    if (hdst__ir_writes(s, s->var)) w->written[s->var] = w->at;
    return true;
}

typedef struct since {
    const owner *owner;
    size_t at;
} since;

static bool is_unchanged(ir_expr **slot, void *user)
{
    const since *s = user;
    const ir_expr *e = *slot;
    return (e->op != IR_VAR && e->op != IR_ELEM) || s->owner->written[e->var] < s->at;
}

// The variable that has the value: of an earlier addition, if nothing that it follows from was written since.
static ir_expr *value_of(owner *w, ir_block *out, ir_expr *value)
{
    for (size_t i = 0; i < w->values.count; i++) {
        since s = {w, w->valued[i]};
        if (hdst__ir_expr_equal(w->values.items[i]->value, value) && hdst__ir_visit_expr(&value, is_unchanged, &s))
            return hdst__ir_var(w->func, w->values.items[i]->var);
    }
    ir_stmt *set = hdst__ir_set(w->func, hdst__ir_add_var(w->func, "value", HDST__F64, 0), value);
    hdst__ir_push(w->func, out, set);
    size_t count = w->values.count;
    HDST__PUSH(w->func->arena, w->valued, count, w->valued_capacity, w->at);
    hdst__ir_push(w->func, &w->values, set);
    return hdst__ir_var(w->func, set->var);
}

static ir_stmt *take(owner *w, ir_block *out, ir_stmt *s)
{
    ir_expr *e = s->value;
    if (e->op == IR_MUL && e->a->op != IR_CONST && e->b->op != IR_CONST) {
        ir_expr *left = value_of(w, out, e->a);
        s->value = hdst__ir_binary(w->func, IR_MUL, HDST__F64, left, value_of(w, out, e->b));
    } else {
        s->value = value_of(w, out, e);
    }
    return s;
}

static ir_block take_all(owner *w)
{
    ir_block left = {0}, taken = {0};
    const ir_block body = w->func->body;
    w->written = HDST__NEW_ARRAY(w->func->arena, size_t, w->func->var_count + 1);
    for (w->at = 1; w->at <= body.count; w->at++) {
        ir_stmt *s = body.items[w->at - 1];
        if (is_wanted(w, s)) hdst__ir_push(w->func, &taken, take(w, &left, s));
        else hdst__ir_push(w->func, &left, s);
        hdst__ir_visit_stmts(&(ir_block){&s, 1, 1}, note_written, w);
    }
    w->func->body = left;
    return taken;
}

ir_func *hdst__pass_owned_sums(ir_func *func, const hdst__tables *tables)
{
    ir_func *copy = hdst__ir_copy_func(func->arena, func);
    bool *sums = HDST__NEW_ARRAY(func->arena, bool, func->param_count + 1);
    owner w = {.func = copy, .wanted = HDST__NEW_ARRAY(func->arena, bool *, func->param_count + 1)};
    const uint64_t elements = choose_leaves(&w, tables, sums);
    if (func->emits || elements < HDST__GPU_OWNED_LEAST || elements > HDST__GPU_OWNED_SUMS) return NULL;
    tell_apart(copy, sums);
    const size_t count = drop_others(&w);
    if (count < HDST__GPU_OWNED_LEAST || count > HDST__GPU_OWNED_SUMS) return NULL;
    ir_func all = *copy;
    all.body = take_all(&w);
    all.var_count = copy->var_count, all.vars = copy->vars;
    *func = *copy;
    return hdst__ir_copy_func(func->arena, &all);
}

// --- What is asked of them ---

// An odd number, so that what neighbours leave lies in all banks.
uint32_t hdst__owned_stride(const ir_func *sums)
{
    uint32_t count = 0;
    bool ones = false;
    for (uint32_t v = 0; v < sums->var_count; v++) count += hdst__ir_block_reads(&sums->body, v) > 0;
    for (size_t i = 0; i < sums->body.count; i++) ones |= sums->body.items[i]->value->op != IR_MUL;
    return (count + ones) | 1;
}

uint64_t hdst__owned_bytes(const ir_func *sums, uint32_t group) { return (uint64_t)group * hdst__owned_stride(sums) * sizeof(double); }

bool hdst__owned_adds_to(const ir_func *sums, uint32_t param, uint32_t leaf)
{
    for (size_t i = 0; sums && i < sums->body.count; i++)
        if (sums->body.items[i]->param == param && sums->body.items[i]->leaf == leaf) return true;
    return false;
}
