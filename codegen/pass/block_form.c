// SPDX-License-Identifier: Apache-2.0
// The block form for CPU devices: the records of a block innermost. Control that is the same for all records (loops
// over a broadcast table, branches on one) stays outside; what lies between goes into record loops, which a compiler
// can vectorise. It is the interchange that turns "for each record, for each center" into "for each center, for each
// record" for any nest of loops.
//
// Before: best = 0                          After: records { best = 0 }
//         for j = 0 to length(c) {                 for j = 0 to length(c) {
//           d = sub(p.x, c[j].x)                     records { d = sub(p.x, c[j].x); best = ... }
//           best = ...                             }
//         }                                        records { accum t[best] ... }
//         accum t[best].n += 1
//
// Splitting a run of statements into record loops one after another is always right: records do not see each other, each keeps the order of its own statements,
// inputs and broadcasts are only read, and accumulators are only added to. What varies and lives across record loops becomes an array over the block,
// set to zero first if it may be read before it is set.
// Control that varies (a loop that records leave at different turns) stays inside a record loop, which is then not vectorised.
// Additions to accumulators are put apart from what computes the addends, for pass_block_accumulation.
#include "codegen/pass/block_form.h"
#include "codegen/pass/passes.h"
#include "base/costs_cpu.h"

typedef struct splitter {
    ir_func *func;
    ir_block *out;
    ir_block pending;           // statements for record loops, in order
    uint64_t *read_by;          // by variable: the last run of additions that reads it
    uint64_t run;               // the additions that wait, as a number
} splitter;

static const char scatter_why[] = "additions to a table, row by row";

// --- What stands where ---

// Something differs by record, or happens for each record.
static bool is_record_work(const ir_func *func, const ir_stmt *s)
{
    switch (s->kind) {
    case IR_SET: case IR_SET_ELEM: return func->vars[s->var].varying;
    case IR_IF: return s->cond->varying;
    case IR_FOR: case IR_LOOP: return s->vectorize || hdst__ir_loop_varies(s);      // marked: the elements of a row, see element_loops.c
    case IR_BREAK: case IR_CONTINUE: return false;
    default: return true;
    }
}

static bool is_control(const ir_stmt *s) { return s->kind == IR_IF || s->kind == IR_FOR || s->kind == IR_LOOP; }

// Why the statements cannot be vectorised; NULL: they can.
static const char *control_why(const ir_block *block)
{
    const char *why = NULL;
    for (size_t i = 0; i < block->count; i++) {
        const ir_stmt *s = block->items[i];
        if (s->kind == IR_FOR && s->vectorize) return "the elements of a row lie side by side";
        if (s->kind == IR_FOR || s->kind == IR_LOOP) return "records leave a loop at different turns";
        if (s->kind == IR_IF) why = "a branch does more than assign";
    }
    return why;
}

// --- Record loops ---

static void emit_records(splitter *w, ir_block *group, const char *scalar_why)
{
    if (group->count) hdst__ir_push(w->func, w->out, hdst__block_records(w->func, *group, scalar_why));
    *group = (ir_block){0};
}

static bool not_written(ir_expr **slot, void *user)
{
    const ir_stmt *writer = user;
    return !(((*slot)->op == IR_VAR || (*slot)->op == IR_ELEM) && hdst__ir_stmt_writes(writer, (*slot)->var));
}

// Whether s changes what one of the statements reads.
static bool disturbs(const ir_stmt *s, const ir_block *readers)
{
    return !hdst__ir_visit_exprs((ir_block *)readers, not_written, (void *)s);
}

static bool mixes(const ir_block *run)      // control together with too little else
{
    bool control = false;
    size_t nodes = 0;
    for (size_t i = 0; i < run->count; i++) {
        const ir_stmt *s = run->items[i];
        if (is_control(s)) control = true;
        else if (s->kind != IR_ACCUM) nodes += hdst__ir_expr_size(s->value) + hdst__ir_expr_size(s->cond);
    }
    return control && nodes < HDST__CPU_LOOP_OF_ITS_OWN_NODES;
}

static bool note_addend(ir_expr **slot, void *user)
{
    const splitter *w = user;
    if ((*slot)->op == IR_VAR || (*slot)->op == IR_ELEM) w->read_by[(*slot)->var] = w->run;
    return true;
}

static bool leaves_additions(ir_stmt *s, void *user)
{
    const splitter *w = user;
    return !hdst__ir_writes(s, s->var) || w->read_by[s->var] != w->run;
}

// Whether s changes what one of the additions that wait reads. They may be thousands: they are not looked through.
static bool disturbs_additions(const splitter *w, ir_stmt *s) { return !hdst__ir_visit_stmts(&(ir_block){&s, 1, 1}, leaves_additions, (void *)w); }

static void flush(splitter *w)
{
    const bool together = mixes(&w->pending);
    ir_block group = {0}, additions = {0};
    bool group_control = false;
    ++w->run;
    for (size_t i = 0; i < w->pending.count; i++) {
        ir_stmt *s = w->pending.items[i];
        if (s->kind == IR_ACCUM) {
            hdst__ir_push(w->func, &additions, s);
            hdst__ir_visit_own_exprs(s, note_addend, w);
            continue;
        }
        const bool control = together || is_control(s), late = disturbs_additions(w, s);
        if (late || control != group_control) emit_records(w, &group, control_why(&group));
        if (late) {
            emit_records(w, &additions, scatter_why);
            ++w->run;
        }
        group_control = control;
        hdst__ir_push(w->func, &group, s);
    }
    emit_records(w, &group, control_why(&group));
    emit_records(w, &additions, scatter_why);
    w->pending = (ir_block){0};
}

// --- Splitting ---

static void split(splitter *around, ir_block *block);

static bool has_record_work(const ir_func *func, const ir_stmt *s)
{
    if (is_record_work(func, s)) return true;
    ir_block *nested[HDST__IR_NESTED];
    for (int n = 0, count = hdst__ir_nested((ir_stmt *)s, nested); n < count; n++)
        for (size_t i = 0; i < nested[n]->count; i++)
            if (has_record_work(func, nested[n]->items[i])) return true;
    return false;
}

static bool leaves(const ir_stmt *s)
{
    ir_stmt *item = (ir_stmt *)s;
    return hdst__ir_block_exits(&(ir_block){&item, 1, 1});
}

static bool not_gathered(ir_stmt *writer, void *user)
{
    ir_stmt *s = user;
    if (writer->kind != IR_REDUCE) return true;
    return !disturbs(writer, &(ir_block){&s, 1, 1}) && !hdst__ir_stmt_writes(s, writer->var);
}

// Whether what waits for a record loop gathers something uniform that s looks at, or sets.
static bool awaits(const ir_stmt *s, const ir_block *pending) { return !hdst__ir_visit_stmts((ir_block *)pending, not_gathered, (void *)s); }

// Uniform code may run ahead of record loops that do not look at what it changes, and give nothing that it needs; so it does not cut a run in two.
static bool may_run_ahead(const splitter *w, const ir_stmt *s)
{
    return !leaves(s) && !has_record_work(w->func, s) && !disturbs(s, &w->pending) && !awaits(s, &w->pending);
}

static void split_stmt(splitter *w, ir_stmt *s)
{
    if (is_record_work(w->func, s)) {
        hdst__ir_push(w->func, &w->pending, s);
        return;
    }
    if (!may_run_ahead(w, s)) flush(w);
    ir_block *nested[HDST__IR_NESTED];
    for (int n = 0, count = hdst__ir_nested(s, nested); n < count; n++) split(w, nested[n]);
    hdst__ir_push(w->func, w->out, s);
}

static void split(splitter *around, ir_block *block)
{
    ir_block out = {0};
    splitter w = {.func = around->func, .out = &out, .read_by = around->read_by, .run = around->run};
    for (size_t i = 0; i < block->count; i++) split_stmt(&w, block->items[i]);
    flush(&w);
    around->run = w.run;
    *block = out;
}

// --- The pass ---

static bool drop_message(ir_stmt *s, void *user)
{
    (void)user;
    if (s->kind == IR_CHECK) s->index = s->index2 = NULL;
    return true;
}

static void append(ir_func *func, ir_block *to, const ir_block *more)
{
    for (size_t i = 0; i < more->count; i++) hdst__ir_push(func, to, more->items[i]);
}

// What makes output records one after another is one record loop: all of a record's come before the next one's.
static void split_around(splitter *w, size_t first, size_t end)
{
    ir_func *func = w->func;
    ir_block *body = &func->body, out = {0};
    ir_block before = {body->items, first, first}, give = {body->items + first, end - first, end - first};
    ir_block after = {body->items + end, body->count - end, body->count - end};
    split(w, &before);
    split(w, &after);
    append(func, &out, &before);
    hdst__ir_push(func, &out, hdst__block_records(func, give, "output records come one after another"));
    append(func, &out, &after);
    *body = out;
}

// --- Variables that are read before they are set ---

// Variables start at zero. What if-conversion made of `if (c) v = ...` reads what v was, even if nobody looks at it
// then; an array over the block would hold anything.
static void start_at_zero(ir_func *func)
{
    ir_block zeroes = {0}, body = {0};
    const uint8_t *met = hdst__ir_first_meetings(func->arena, &func->body, func->var_count);
    for (uint32_t v = 0; v < func->var_count; v++)
        if (func->vars[v].per_record && !func->vars[v].elements && met[v] == IR_MAY_READ)
            hdst__ir_push(func, &zeroes, hdst__ir_set(func, v, hdst__ir_const(func, func->vars[v].kind, 0)));
    if (!zeroes.count) return;
    hdst__ir_push(func, &body, hdst__block_records(func, zeroes, NULL));
    append(func, &body, &func->body);
    func->body = body;
}

void hdst__pass_block_form(ir_func *func, uint32_t block)
{
    size_t first, end;
    hdst__ir_visit_stmts(&func->body, drop_message, NULL);
    func->block = block;
    splitter w = {.func = func, .read_by = HDST__NEW_ARRAY(func->arena, uint64_t, func->var_count + 1)};
    if (!func->counts && hdst__ir_emit_range(func, &first, &end)) split_around(&w, first, end);
    else split(&w, &func->body);
    hdst__block_mark_per_record(func);
    start_at_zero(func);
}
