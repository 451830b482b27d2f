// SPDX-License-Identifier: Apache-2.0
// Fuses a chain of functions over one input into one: what one gives back is what the next one reads, in variables, so that no record between them
// reaches memory. A filter's condition guards what follows it.
//
// Before: filter keep: keep lt(p.x, 1)           After: kept = lt(p.x, 1); if kept { result_y = mul(p.x, 2); accum t.n += result_y }
//         map twice: store result.y = mul(p.x, 2)
//         map count: accum t.n += q.y
#include "codegen/kernel.h"

// Where the record is that the next function reads: an input, or one variable per leaf.
typedef struct current_record {
    const hdst__record *record;
    bool in_vars;
    uint32_t first;             // variable of leaf 0, or the parameter
} current_record;

typedef struct fusion {
    ir_func *func;
    ir_block *block;            // of what follows the last filter
    current_record input;       // of the function that is being put in
    current_record output;      // where its stores go
    uint32_t *param;            // its parameters' numbers here
    uint32_t vars, checks;      // what its numbers are moved by
    uint32_t result;            // the output parameter
    bool filters;
    ir_expr *passes;            // what filters without a branch ask; NULL: nothing
} fusion;

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

static void read_current(const fusion *f, ir_expr *e)
{
    if (!f->input.in_vars) {
        e->param = f->input.first;
        return;
    }
    e->var = f->input.first + e->leaf;
    e->op = f->func->vars[e->var].elements ? IR_ELEM : IR_VAR;
    if (e->op == IR_VAR) e->a = NULL;
    else if (!e->a) e->a = hdst__ir_const(f->func, HDST__U32, 0);
    e->leaf = e->param = 0;
}

static bool renumber_expr(ir_expr **slot, void *user)
{
    const fusion *f = user;
    ir_expr *e = *slot;
    if (e->op == IR_VAR || e->op == IR_ELEM) e->var += f->vars;
    else if (e->op == IR_FIELD) read_current(f, e);
    else if (e->op == IR_BROADCAST || e->op == IR_LENGTH) e->param = f->param[e->param];
    return true;
}

static void store_current(const fusion *f, ir_stmt *s)
{
    if (!f->output.in_vars) {
        s->param = f->output.first;
        return;
    }
    s->var = f->output.first + s->leaf;
    s->kind = f->func->vars[s->var].elements ? IR_SET_ELEM : IR_SET;
    if (s->kind == IR_SET) s->index = NULL;
    else if (!s->index) s->index = hdst__ir_const(f->func, HDST__U32, 0);
}

static bool renumber_stmt(ir_stmt *s, void *user)
{
    const fusion *f = user;
    hdst__ir_visit_own_exprs(s, renumber_expr, user);
    switch (s->kind) {
    case IR_SET: case IR_SET_ELEM: case IR_FOR: s->var += f->vars; break;
    case IR_STORE: store_current(f, s); break;
    case IR_ACCUM: s->param = f->param[s->param]; break;
    case IR_CHECK: s->check += f->checks; break;
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

// What follows a filter may run for dropped records too when it only computes and stores: without a branch it can be vectorised.
static bool must_guard(ir_func *const *functions, size_t from, size_t count)
{
    for (size_t i = from; i < count; i++)
        if (!hdst__ir_visit_stmts(&functions[i]->body, has_effect, NULL)) return true;
    return false;
}

static ir_expr *both(ir_func *func, ir_expr *a, ir_expr *b) { return a ? hdst__ir_binary(func, IR_AND, HDST__BOOL, a, b) : b; }

// Puts a filter's condition into effect for what follows. Those that need no branch come last, as more functions follow the earlier ones.
static void apply_filter(fusion *f, ir_expr *cond, bool guard)
{
    ir_func *func = f->func;
    f->filters = true;
    if (!guard) {
        uint32_t passes = hdst__ir_add_var(func, "passes", HDST__BOOL, 0);
        hdst__ir_push(func, f->block, hdst__ir_set(func, passes, cond));
        f->passes = both(func, f->passes, hdst__ir_var(func, passes));
        return;
    }
    ir_stmt *test = hdst__ir_if(func, cond);
    hdst__ir_push(func, f->block, test);
    f->block = &test->then;
}

// Which records are kept, told at the end: those that came into the innermost branch and pass there.
static void push_keep(fusion *f)
{
    ir_func *func = f->func;
    ir_stmt *keep = hdst__ir_stmt(func, IR_KEEP, (hdst__span){0});
    keep->cond = f->passes ? f->passes : hdst__ir_const(func, HDST__BOOL, 1);
    func->filters = true;
    if (f->block != &func->body) {
        uint32_t kept = hdst__ir_add_var(func, "kept", HDST__BOOL, 0);
        hdst__ir_push(func, f->block, hdst__ir_set(func, kept, keep->cond));
        keep->cond = hdst__ir_var(func, kept);
        ir_block all = {0};
        hdst__ir_push(func, &all, hdst__ir_set(func, kept, hdst__ir_const(func, HDST__BOOL, 0)));
        for (size_t i = 0; i < func->body.count; i++) hdst__ir_push(func, &all, func->body.items[i]);
        func->body = all;
    }
    hdst__ir_push(func, &func->body, keep);
}

// --- One function after another ---

static void add_params(fusion *f, const ir_func *from, ir_param_kind kind)
{
    for (size_t i = 0; i < from->param_count; i++)
        if (from->params[i].kind == kind) f->param[i] = hdst__ir_add_param(f->func, from->params[i]);
}

static void append(fusion *f, const ir_func *from)
{
    ir_func *func = f->func;
    f->vars = (uint32_t)func->var_count;
    f->checks = (uint32_t)func->check_count;
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

// Places of another module's sources would be read as places of the first one's.
static bool forget_place(ir_stmt *s, void *user)
{
    (void)user;
    s->span = (hdst__span){0};
    return true;
}

static void put_in(fusion *f, const ir_func *from, bool guard)
{
    ir_block body = hdst__ir_copy_block(f->func, &from->body);
    hdst__ir_visit_stmts(&body, renumber_stmt, f);
    if (from->diags != f->func->diags) hdst__ir_visit_stmts(&body, forget_place, NULL);
    for (size_t i = 0; i < body.count; i++) {
        ir_stmt *s = body.items[i];
        if (s->kind == IR_KEEP) apply_filter(f, s->cond, guard);      // the lowering puts it last
        else hdst__ir_push(f->func, f->block, s);
    }
}

static const ir_param *output_of(const ir_func *func)
{
    const ir_param *last = func->param_count ? &func->params[func->param_count - 1] : NULL;
    return last && last->kind == IR_OUTPUT ? last : NULL;
}

// The records between become the output when the chain ends with a filter.
static void store_between(fusion *f)
{
    const hdst__record *record = f->input.record;
    for (uint32_t i = 0; i < record->leaf_count; i++) {
        uint32_t var = f->input.first + i;
        uint64_t elements = f->func->vars[var].elements;
        ir_stmt *store = hdst__ir_stmt(f->func, IR_STORE, (hdst__span){0});
        store->param = f->result;
        store->leaf = i;
        store->value = hdst__ir_var(f->func, var);
        if (!elements) {
            hdst__ir_push(f->func, f->block, store);
            continue;
        }
        uint32_t e = hdst__ir_add_var(f->func, "e", HDST__U32, 0);
        store->value->op = IR_ELEM;
        store->value->a = hdst__ir_var(f->func, e);
        store->index = hdst__ir_var(f->func, e);
        ir_stmt *loop = hdst__ir_for(f->func, e, hdst__ir_const(f->func, HDST__U32, 0), hdst__ir_const(f->func, HDST__U32, elements), 1);
        hdst__ir_push(f->func, &loop->body, store);
        hdst__ir_push(f->func, f->block, loop);
    }
}

// What the whole chain gives back: the last output of a map, unless something after it only accumulates.
static const ir_param *chain_output(ir_func *const *functions, size_t count)
{
    for (size_t i = count; i-- > 0;)
        if (!functions[i]->filters) return output_of(functions[i]);
    return NULL;
}

static const char *chain_name(hdst__arena *arena, ir_func *const *functions, size_t count)
{
    const char *name = functions[0]->name;
    for (size_t i = 1; i < count; i++) name = hdst__arena_printf(arena, "%s_%s", name, functions[i]->name);
    return name;
}

ir_func *hdst__fuse(hdst__arena *arena, ir_func *const *functions, size_t count)
{
    if (count == 1) return hdst__ir_copy_func(arena, functions[0]);
    ir_func *func = HDST__NEW(arena, ir_func);
    *func = (ir_func){.arena = arena, .name = chain_name(arena, functions, count)};
    for (size_t i = count; i-- > 0;)
        if (functions[i]->diags) func->diags = functions[i]->diags;
    fusion f = {.func = func, .block = &func->body};

    // Parameters in the order that every function has: the input, broadcasts, accums, the output.
    uint32_t **param = HDST__NEW_ARRAY(arena, uint32_t *, count);
    for (size_t i = 0; i < count; i++) param[i] = HDST__NEW_ARRAY(arena, uint32_t, functions[i]->param_count + 1);
    hdst__ir_add_param(func, functions[0]->params[0]);
    static const ir_param_kind kinds[] = {IR_BROADCAST_TABLE, IR_ACCUM_TABLE};
    for (size_t k = 0; k < 2; k++)
        for (size_t i = 0; i < count; i++) {
            f.param = param[i];
            add_params(&f, functions[i], kinds[k]);
        }
    const ir_param *output = chain_output(functions, count);
    if (output) f.result = hdst__ir_add_param(func, *output);

    f.input = (current_record){functions[0]->params[0].record, false, 0};
    for (size_t i = 0; i < count; i++) {
        const ir_param *own = output_of(functions[i]);
        const bool is_last = i + 1 == count;
        f.param = param[i];
        append(&f, functions[i]);
        if (own) f.output = is_last ? (current_record){own->record, false, f.result} : (current_record){own->record, true, leaf_vars(func, own->record)};
        put_in(&f, functions[i], !is_last && must_guard(functions, i + 1, count));
        if (own) f.input = f.output;
    }
    if (functions[count - 1]->filters && f.input.in_vars) store_between(&f);
    if (f.filters && (output || functions[count - 1]->filters)) push_keep(&f);
    return func;
}
