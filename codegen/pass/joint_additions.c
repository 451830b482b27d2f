// SPDX-License-Identifier: Apache-2.0
// GPU form: additions that stand together are made together. What goes to fixed point as 0 if it does not fit for sure,
// and what goes to running sums in a lane's registers, shares a test behind all of them: so there is no branch between
// additions (print_accum_run.c). Sums of doubles in registers share tests of their own, of fewer: their addends are
// kept until then (print_accum_pair.c). Sums are exact, so their order does not matter.
//
// Before: accum t.x += p.x
//         accum t.n += 1u
//         accum t.y += p.y
// After:  accum t.n += 1u
//         accum t.x += p.x joint 1
//         accum t.y += p.y joint 1
//
// Then how far lanes fill their words before they merge (ir_tables): a lane's running sums go to its word, which such a
// *take* changes by 2^58 and little more, before they have more than HDST__LANE_TURNS additions. So the word has room
// for MOST_TAKES. Where no more than `run` additions to one sum are made together a take comes after LANE_TURNS - run
// of them at the earliest, and any two in a row after LANE_TURNS: LONG_RUN_ADDS are 30 takes at most.
#include "codegen/pass/gpu_form.h"

#include "accum/fixed_point.h"
#include "base/costs_gpu.h"
#include "codegen/pass/addition_bound.h"

enum { MOST_TAKES = 31, LONG_RUN_ADDS = 480, MOST_ROOMY_ADDS = LONG_RUN_ADDS / IR_LANE_RECORDS };

typedef enum addition { ALONE, TESTED, PAIR, ADDITIONS } addition;

static ir_way way_of(const ir_func *func, const ir_stmt *s) { return func->params[s->param].placement->leaf[s->leaf].way; }

static addition addition_of(const ir_func *func, const ir_stmt *s)
{
    const ir_way way = way_of(func, s);
    return way == IR_WAY_PAIR ? PAIR : way == IR_WAY_JOINT || way == IR_WAY_LEVELS ? TESTED : ALONE;
}

// --- Which are made together ---

// Of additions that follow one another, those up to the most of one kind.
static size_t run_length(const ir_func *func, ir_stmt *const *stmts, size_t count)
{
    size_t of[ADDITIONS] = {0}, n = 0;
    while (n < count && stmts[n]->kind == IR_ACCUM && of[TESTED] < HDST__GPU_MADE_TOGETHER && of[PAIR] < HDST__GPU_MADE_TOGETHER)
        of[addition_of(func, stmts[n++])]++;
    return n;
}

static void push_run(ir_func *func, ir_block *out, ir_stmt *const *stmts, size_t count, uint32_t *joint)
{
    for (addition kind = ALONE; kind < ADDITIONS; kind++) {
        size_t found = 0;
        for (size_t i = 0; i < count; i++) {
            if (addition_of(func, stmts[i]) != kind) continue;
            *joint += kind == TESTED ? found == 0 : kind == PAIR && found % HDST__GPU_TESTED_TOGETHER == 0;
            stmts[i]->joint = kind == ALONE ? 0 : *joint;
            hdst__ir_push(func, out, stmts[i]);
            found++;
        }
    }
}

static void join(ir_func *func, ir_block *block, uint32_t *joint)
{
    ir_block out = {0};
    for (size_t i = 0; i < block->count;) {
        const size_t run = run_length(func, &block->items[i], block->count - i);
        push_run(func, &out, &block->items[i], run, joint);
        i += run;
        if (run) continue;
        ir_block *nested[HDST__IR_NESTED];
        for (int n = 0, count = hdst__ir_nested(block->items[i], nested); n < count; n++) join(func, nested[n], joint);
        hdst__ir_push(func, &out, block->items[i++]);
    }
    *block = out;
}

void hdst__pass_joint_additions(ir_func *func)
{
    uint32_t joint = 0;
    join(func, &func->body, &joint);
}

// --- How far a lane's words are filled ---

static bool is_same_sum(const ir_stmt *a, const ir_stmt *b)
{
    return a->param == b->param && a->leaf == b->leaf && (a->index2 ? a->index2->bits : 0) == (b->index2 ? b->index2->bits : 0);
}

static uint32_t additions_like(ir_stmt *const *stmts, size_t count)
{
    uint32_t like = 0;
    for (size_t i = 0; i < count && stmts[i]->kind == IR_ACCUM && stmts[i]->joint == stmts[0]->joint; i++) like += is_same_sum(stmts[i], stmts[0]);
    return like;
}

// Additions to one running sum that are made together, at most.
static uint32_t longest_run(const ir_func *func, const ir_block *block)
{
    uint32_t most = 0;
    for (size_t i = 0; i < block->count; i++) {
        ir_stmt *s = block->items[i];
        const bool counts = s->kind == IR_ACCUM && way_of(func, s) == IR_WAY_LEVELS;
        uint32_t run = counts ? additions_like(&block->items[i], block->count - i) : 0;
        ir_block *nested[HDST__IR_NESTED];
        for (int n = 0, count = hdst__ir_nested(s, nested); n < count; n++) {
            const uint32_t inner = longest_run(func, nested[n]);
            if (inner > run) run = inner;
        }
        if (run > most) most = run;
    }
    return most;
}

static bool is_rounded(const ir_func *func)
{
    for (size_t i = 0; i < func->param_count; i++)
        for (size_t l = 0; func->params[i].kind == IR_ACCUM_TABLE && l < func->params[i].record->leaf_count; l++)
            if (func->params[i].placement->leaf[l].fast) return true;
    return false;
}

void hdst__pass_lane_words(const hdst__gpu_forms *forms, const uint64_t *rows)
{
    ir_tables *tables = forms->single->tables;
    const uint32_t spans = longest_run(forms->spans, &forms->spans->body), loops = forms->loops ? longest_run(forms->loops, &forms->loops->body) : 0;
    const uint32_t run = spans > loops ? spans : loops;
    if (!run || is_rounded(forms->single)) return;
    tables->lane_room = hdst__tables_adds_per_record(forms->single->arena, forms->single, rows) > MOST_ROOMY_ADDS;
    if (tables->lane_room) return;
    tables->lane_adds = run > HDST__LANE_TURNS / 2 ? LONG_RUN_ADDS : MOST_TAKES * (HDST__LANE_TURNS + 1 - run) - 1;
}
