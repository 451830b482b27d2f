// SPDX-License-Identifier: Apache-2.0
// Fuses a chain of functions over one input into one: the output of one is the input of the next, in variables, so that no
// record between them reaches memory. What follows a flat_map is repeated at each of its emits; a filter's condition guards
// what follows it.
//
// Before: flat_map both: store result.y = p.x; emit; store result.y = p.z; emit         After: y = p.x; if lt(y, 1) { accum t.n += y }
//         filter few: emit if lt(q.y, 1)                                                       y_2 = p.z; if lt(y_2, 1) { accum t.n += y_2 }
//         map count: accum t.n += q.y
#include "codegen/lower/fuse.h"

// The record that the next function reads: where its leaves are.
typedef enum record_place { IN_INPUT, IN_VARS, IN_OUTPUT } record_place;

typedef struct current_record {
    const hdst__record *record;
    record_place place;
    uint32_t first;             // variable of leaf 0, or the parameter
} current_record;

typedef struct fusion {
    ir_func *func;
    ir_func *const *functions;
    size_t count;
    uint32_t **param;           // by function: its parameters' numbers here
    const ir_param *output;     // what the chain gives back; NULL: nothing
    uint32_t result;            // its parameter
    bool emits;                 // how many of them depends on the data
    size_t statements;          // put in so far
} fusion;

// A place in the fused function where the next function of the chain continues.
typedef struct stand {
    ir_block *block;
    current_record record;
    ir_expr *passes;            // what filters without a branch ask; NULL: nothing
    uint32_t check;             // of the last emit on the way
} stand;

// A function of the chain while it is inserted.
typedef struct insertion {
    fusion *f;
    size_t number;              // in the chain
    uint32_t vars, checks;      // what its numbers are moved by
    stand at;
    current_record output;      // where its stores go
    bool guard;                 // what follows must not run for records that do not pass
} insertion;

static const ir_param *output_of(const ir_func *func)
{
    const ir_param *last = func->param_count ? &func->params[func->param_count - 1] : NULL;
    return last && last->kind == IR_OUTPUT ? last : NULL;
}

static bool is_filter(const ir_func *func) { return func->emits && !output_of(func); }
static bool is_flat_map(const ir_func *func) { return func->emits && output_of(func); }

static uint32_t leaf_vars(ir_func *func, const hdst__record *record)
{
    uint32_t first = (uint32_t)func->var_count;
    for (size_t i = 0; i < record->leaf_count; i++) {
        const hdst__leaf *leaf = &record->leaves[i];
        char *name = hdst__arena_printf(func->arena, "between_%s", leaf->path);
        for (char *c = name; *c; c++)
            if (*c == '.') *c = '_';
        hdst__ir_add_var(func, name, leaf->kind, leaf->elements > 1 ? leaf->elements : 0);
    }
    return first;
}

// --- Renumbering ---

static void read_current(const insertion *in, ir_expr *e)
{
    const current_record *from = &in->at.record;
    ir_func *func = in->f->func;
    if (from->place == IN_INPUT) {
        e->param = from->first;
        return;
    }
    e->var = from->first + e->leaf;
    e->op = func->vars[e->var].elements ? IR_ELEM : IR_VAR;
    if (e->op == IR_VAR) e->a = NULL;
    else if (!e->a) e->a = hdst__ir_const(func, HDST__U32, 0);
    e->leaf = e->param = 0;
}

static bool renumber_expr(ir_expr **slot, void *user)
{
    const insertion *in = user;
    ir_expr *e = *slot;
    if (e->op == IR_VAR || e->op == IR_ELEM) e->var += in->vars;
    else if (e->op == IR_FIELD) read_current(in, e);
    else if (e->op == IR_BROADCAST || e->op == IR_LENGTH) e->param = in->f->param[in->number][e->param];
    return true;
}

static void store_current(const insertion *in, ir_stmt *s)
{
    ir_func *func = in->f->func;
    if (in->output.place == IN_OUTPUT) {
        s->param = in->output.first;
        return;
    }
    s->var = in->output.first + s->leaf;
    s->kind = func->vars[s->var].elements ? IR_SET_ELEM : IR_SET;
    if (s->kind == IR_SET) s->index = NULL;
    else if (!s->index) s->index = hdst__ir_const(func, HDST__U32, 0);
}

static bool renumber_stmt(ir_stmt *s, void *user)
{
    insertion *in = user;
    in->f->statements++;
    hdst__ir_visit_own_exprs(s, renumber_expr, user);
    switch (s->kind) {
    case IR_SET: case IR_SET_ELEM: case IR_FOR: s->var += in->vars; break;
    case IR_STORE: store_current(in, s); break;
    case IR_ACCUM: s->param = in->f->param[in->number][s->param]; break;
    case IR_CHECK: case IR_EMIT: s->check += in->checks; break;
    default: break;
    }
    return true;
}

// --- Filters ---

static bool has_effect(ir_stmt *s, void *user)
{
    (void)user;
    return s->kind != IR_CHECK && s->kind != IR_ACCUM && s->kind != IR_LOOP;
}

// Code after a filter that only computes and stores may run for dropped records too: without a branch it can be vectorised.
static bool must_guard(const fusion *f, size_t from)
{
    for (size_t i = from; i < f->count; i++)
        if (is_flat_map(f->functions[i]) || !hdst__ir_visit_stmts(&f->functions[i]->body, has_effect, NULL)) return true;
    return false;
}

static ir_expr *both(ir_func *func, const ir_expr *a, ir_expr *b) { return a ? hdst__ir_binary(func, IR_AND, HDST__BOOL, hdst__ir_copy(func, a), b) : b; }

// Applies a condition to what follows. Conditions that need no branch come last, as more functions follow the earlier ones.
static stand after_condition(const insertion *in, ir_expr *cond, stand to)
{
    ir_func *func = in->f->func;
    if (!in->guard) {
        uint32_t passes = hdst__ir_add_var(func, "passes", HDST__BOOL, 0);
        hdst__ir_push(func, to.block, hdst__ir_set(func, passes, cond));
        to.passes = both(func, to.passes, hdst__ir_var(func, passes));
        return to;
    }
    ir_stmt *test = hdst__ir_if(func, cond);
    hdst__ir_push(func, to.block, test);
    to.block = &test->then;
    return to;
}

// --- The end of the chain ---

static ir_expr *read_leaf(ir_func *func, const current_record *from, uint32_t leaf, const ir_expr *element)
{
    ir_expr *e = hdst__ir_const(func, from->record->leaves[leaf].kind, 0);
    if (from->place == IN_INPUT) {
        e->op = IR_FIELD;
        e->param = from->first;
        e->leaf = leaf;
    } else {
        e->var = from->first + leaf;
        e->op = func->vars[e->var].elements ? IR_ELEM : IR_VAR;
    }
    if (e->op != IR_VAR) e->a = hdst__ir_copy(func, element);
    return e;
}

static void store_leaf(const fusion *f, ir_block *block, const current_record *from, uint32_t leaf)
{
    ir_func *func = f->func;
    const uint64_t elements = from->record->leaves[leaf].elements;
    ir_stmt *store = hdst__ir_stmt(func, IR_STORE, (hdst__span){0});
    store->param = f->result;
    store->leaf = leaf;
    if (elements == 1) {
        store->value = read_leaf(func, from, leaf, NULL);
        hdst__ir_push(func, block, store);
        return;
    }
    uint32_t e = hdst__ir_add_var(func, "e", HDST__U32, 0);
    store->index = hdst__ir_var(func, e);
    store->value = read_leaf(func, from, leaf, store->index);
    ir_stmt *loop = hdst__ir_for(func, e, hdst__ir_const(func, HDST__U32, 0), hdst__ir_const(func, HDST__U32, elements), 1);
    hdst__ir_push(func, &loop->body, store);
    hdst__ir_push(func, block, loop);
}

static void give_back(const fusion *f, const stand *at)
{
    if (!f->output) return;
    for (uint32_t leaf = 0; at->record.place != IN_OUTPUT && leaf < at->record.record->leaf_count; leaf++) store_leaf(f, at->block, &at->record, leaf);
    if (!f->emits) return;
    ir_stmt *emit = hdst__ir_stmt(f->func, IR_EMIT, (hdst__span){0});
    emit->cond = hdst__ir_copy(f->func, at->passes);
    emit->check = at->check;
    hdst__ir_push(f->func, at->block, emit);
}

// --- One function after another ---

static void go_on(fusion *f, size_t number, stand at);

static void emit_here(insertion *in, ir_block *out, const ir_stmt *emit)
{
    const ir_func *from = in->f->functions[in->number];
    stand next = in->at;
    next.block = out;
    if (output_of(from)) next.record = in->output;
    // A filter can make too many of nothing, so a flat_map in front of it stays the place to name.
    if (output_of(from) || next.check == UINT32_MAX) next.check = emit->check;
    if (emit->cond) next = after_condition(in, emit->cond, next);
    go_on(in->f, in->number + 1, next);
}

// Moves the statements to the end of `out`; where one emits, the rest of the chain follows.
static void move(insertion *in, ir_block *out, const ir_block *body)
{
    for (size_t i = 0; i < body->count; i++) {
        ir_stmt *s = body->items[i];
        if (s->kind == IR_EMIT) {
            emit_here(in, out, s);
            continue;
        }
        hdst__ir_push(in->f->func, out, s);
        ir_block *nested[HDST__IR_NESTED];
        for (int n = 0, count = hdst__ir_emits(s) ? hdst__ir_nested(s, nested) : 0; n < count; n++) {
            ir_block inner = *nested[n];
            *nested[n] = (ir_block){0};
            move(in, nested[n], &inner);
        }
    }
}

static void add_own(insertion *in, const ir_func *from)
{
    ir_func *func = in->f->func;
    in->vars = (uint32_t)func->var_count;
    in->checks = (uint32_t)func->check_count;
    for (size_t i = 0; i < from->var_count; i++) {
        uint32_t var = hdst__ir_add_var(func, from->vars[i].name, from->vars[i].kind, from->vars[i].elements);
        func->vars[var].init = from->vars[i].init;
    }
    for (size_t i = 0; i < from->check_count; i++) {
        ir_check check = from->checks[i];
        if (!check.diags) check.diags = from->diags;
        hdst__ir_add_check(func, check);
    }
}

// Clears the source place: one of another module would be taken for a place in the first function's source.
static bool forget_place(ir_stmt *s, void *user)
{
    (void)user;
    s->span = (hdst__span){0};
    return true;
}

static void go_on(fusion *f, size_t number, stand at)
{
    if (f->statements > HDST__FUSE_LIMIT) return;
    if (number == f->count) {
        give_back(f, &at);
        return;
    }
    const ir_func *from = f->functions[number];
    const ir_param *own = output_of(from);
    insertion in = {.f = f, .number = number, .at = at, .guard = must_guard(f, number + 1)};
    add_own(&in, from);
    if (own && number + 1 == f->count) in.output = (current_record){own->record, IN_OUTPUT, f->result};
    else if (own) in.output = (current_record){own->record, IN_VARS, leaf_vars(f->func, own->record)};
    ir_block body = hdst__ir_copy_block(f->func, &from->body);
    hdst__ir_visit_stmts(&body, renumber_stmt, &in);
    if (from->diags != f->func->diags) hdst__ir_visit_stmts(&body, forget_place, NULL);
    move(&in, at.block, &body);
    if (from->emits) return;            // the rest of the chain stands where it emits
    if (own) at.record = in.output;
    go_on(f, number + 1, at);
}

// --- The chain ---

static void add_params(fusion *f, size_t number, ir_param_kind kind)
{
    const ir_func *from = f->functions[number];
    for (size_t i = 0; i < from->param_count; i++)
        if (from->params[i].kind == kind) f->param[number][i] = hdst__ir_add_param(f->func, from->params[i]);
}

// The output of the whole chain: that of the last map, unless a function after it only accumulates; filters alone give the
// input.
static const ir_param *chain_output(ir_func *func, ir_func *const *functions, size_t count)
{
    for (size_t i = count; i-- > 0;)
        if (!is_filter(functions[i])) return output_of(functions[i]);
    ir_param *output = HDST__NEW(func->arena, ir_param);
    *output = (ir_param){.kind = IR_OUTPUT, .name = "result", .bind = "result", .record = functions[0]->params[0].record};
    return output;
}

static const char *chain_name(hdst__arena *arena, ir_func *const *functions, size_t count)
{
    const char *name = functions[0]->name;
    for (size_t i = 1; i < count; i++) name = hdst__arena_printf(arena, "%s_%s", name, functions[i]->name);
    return name;
}

ir_func *hdst__fuse(hdst__arena *arena, ir_func *const *functions, size_t count)
{
    if (count == 1 && !is_filter(functions[0])) return hdst__ir_copy_func(arena, functions[0]);
    ir_func *func = HDST__NEW(arena, ir_func);
    *func = (ir_func){.arena = arena, .name = chain_name(arena, functions, count)};
    for (size_t i = count; i-- > 0;)
        if (functions[i]->diags) func->diags = functions[i]->diags;
    fusion f = {.func = func, .functions = functions, .count = count, .output = chain_output(func, functions, count)};

    // Parameters in the order that every function has: the input, broadcasts, accums, the output.
    f.param = HDST__NEW_ARRAY(arena, uint32_t *, count);
    for (size_t i = 0; i < count; i++) f.param[i] = HDST__NEW_ARRAY(arena, uint32_t, functions[i]->param_count + 1);
    hdst__ir_add_param(func, functions[0]->params[0]);
    static const ir_param_kind kinds[] = {IR_BROADCAST_TABLE, IR_ACCUM_TABLE};
    for (size_t k = 0; k < 2; k++)
        for (size_t i = 0; i < count; i++) add_params(&f, i, kinds[k]);
    if (f.output) f.result = hdst__ir_add_param(func, *f.output);
    for (size_t i = 0; i < count; i++) f.emits |= functions[i]->emits;
    for (size_t i = 0; i < count; i++) func->makes |= functions[i]->makes;      // behind the first that does, all fields are made
    func->emits = f.emits && f.output;

    go_on(&f, 0, (stand){.block = &func->body, .record = {functions[0]->params[0].record, IN_INPUT, 0}, .check = UINT32_MAX});
    return f.statements > HDST__FUSE_LIMIT ? NULL : func;
}
