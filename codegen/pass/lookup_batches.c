// SPDX-License-Identifier: Apache-2.0
// A loop that looks up a key in a hash table in each turn waits for memory in each turn. Where what comes before the row is known needs nothing of what is
// done with it, such turns are taken in batches: first the rows of a batch are found and asked for, then what is done with each, in the order of the turns.
// (Loop distribution over strips of a loop, with its scalars expanded: Padua and Wolfe, "Advanced compiler optimizations for supercomputers", 1986.)
//
// Before: loop { w = the next token; if none: break; s = the slot of w; store r.n = t[s].n; emit }
// After:  loop {
//           turns = 0
//           loop {
//             if turns >= 16: break
//             goes_on = false
//             w = the next token; if none: break; s = the slot of w
//             kept_w[turns] = w; kept_s[turns] = s; prefetch t[s]; turns = turns + 1
//             goes_on = true
//           }
//           for k = 0 to turns { later_s = kept_s[k]; store r.n = t[later_s].n; emit }
//           if not goes_on: break
//         }
//
// A `continue` of the first part leaves a turn out, as before: then `goes_on` is set by one of the next turns, of which there is one since the batch is not
// full. Of the two parts the first must have no effects but on variables, and the second must not leave the loop.
#include "codegen/pass/passes.h"
#include "base/costs_cpu.h"

typedef struct batch {
    ir_func *func;
    ir_stmt *loop;
    ir_block first, second;     // of its body
    uint32_t table, slot;
} batch;

// --- Where a row is read ---

typedef struct read_row {
    const ir_func *func;
    const ir_expr *row;         // the first that is found: the number of a variable; NULL: none
    uint32_t table;
} read_row;

static bool find_row(ir_expr **e, void *user)
{
    read_row *r = user;
    if ((*e)->op != IR_BROADCAST || !r->func->params[(*e)->param].is_hashed || !(*e)->a || (*e)->a->op != IR_VAR) return true;
    r->row = (*e)->a;
    r->table = (*e)->param;
    return false;
}

// A part of a body, which shares its statements.
static ir_block part_of(const ir_block *block, size_t first, size_t end) { return (ir_block){block->items + first, end - first, end - first}; }

// The body is cut behind the statement that sets which row it is.
static bool cut(batch *b)
{
    const ir_block *body = &b->loop->body;
    read_row r = {.func = b->func};
    size_t at = 0;
    for (; at < body->count && !r.row; at++) {
        ir_block one = part_of(body, at, at + 1);
        hdst__ir_visit_exprs(&one, find_row, &r);
    }
    if (!r.row || hdst__ir_block_writes(body, r.row->var) != 1) return false;
    while (at > 0 && !hdst__ir_writes(body->items[at - 1], r.row->var)) at--;
    b->slot = r.row->var;
    b->table = r.table;
    b->first = part_of(body, 0, at);
    b->second = part_of(body, at, body->count);
    return at > 0 && body->items[at - 1]->kind == IR_SET;
}

// --- Whether the parts may be made one after the other ---

static bool only_computes(ir_stmt *s, void *user)
{
    (void)user;
    switch (s->kind) {
    case IR_SET: case IR_SET_ELEM: case IR_IF: case IR_FOR: case IR_LOOP: case IR_BREAK: case IR_CONTINUE: return true;
    default: return false;
    }
}

static size_t writes_before(const batch *b, uint32_t v)
{
    return hdst__ir_block_writes(&b->loop->head, v) + hdst__ir_block_writes(&b->first, v) + hdst__ir_block_writes(&b->loop->after, v);
}

static size_t reads_before(const batch *b, uint32_t v)
{
    const size_t reads = hdst__ir_block_reads(&b->loop->head, v) + hdst__ir_block_reads(&b->first, v) + hdst__ir_block_reads(&b->loop->after, v);
    return reads + (b->loop->cond ? hdst__ir_expr_reads(b->loop->cond, v) : 0);
}

// What each turn hands from its first part to its second.
static bool is_handed(const batch *b, uint32_t v) { return writes_before(b, v) && hdst__ir_block_reads(&b->second, v); }

static bool is_apart(const batch *b, uint32_t v)
{
    if (hdst__ir_block_writes(&b->second, v)) return !writes_before(b, v) && !reads_before(b, v);
    return !is_handed(b, v) || !b->func->vars[v].elements;
}

static bool may_wait(batch *b)
{
    ir_stmt *loop = b->loop;
    if (hdst__ir_block_exits(&b->second)) return false;
    if (!hdst__ir_visit_stmts(&b->first, only_computes, NULL) || !hdst__ir_visit_stmts(&loop->head, only_computes, NULL) ||
        !hdst__ir_visit_stmts(&loop->after, only_computes, NULL)) return false;
    for (uint32_t v = 0; v < b->func->var_count; v++)
        if (!is_apart(b, v)) return false;
    return true;
}

// --- The loops that take its place ---

static ir_expr *number(batch *b, uint64_t bits) { return hdst__ir_const(b->func, HDST__U64, bits); }

static ir_expr *read(batch *b, uint32_t v) { return hdst__ir_var(b->func, v); }

static void set(batch *b, ir_block *block, uint32_t v, ir_expr *value) { hdst__ir_push(b->func, block, hdst__ir_set(b->func, v, value)); }

static ir_stmt *made(batch *b, ir_stmt_kind kind) { return hdst__ir_stmt(b->func, kind, b->loop->span); }

static void leave_if(batch *b, ir_block *block, ir_expr *cond)
{
    ir_stmt *test = hdst__ir_if(b->func, cond);
    hdst__ir_push(b->func, &test->then, made(b, IR_BREAK));
    hdst__ir_push(b->func, block, test);
}

static uint32_t variable_like(batch *b, const char *prefix, uint32_t v, uint64_t elements)
{
    const ir_var like = b->func->vars[v];
    const uint32_t made = hdst__ir_add_var(b->func, hdst__arena_printf(b->func->arena, "%s_%s", prefix, like.name), like.kind, elements);
    b->func->vars[made].varying = like.varying;
    return made;
}

static uint32_t counter(batch *b, const char *name)
{
    const uint32_t v = hdst__ir_add_var(b->func, name, HDST__U64, 0);
    b->func->vars[v].varying = true;
    return v;
}

static void keep(batch *b, ir_block *block, uint32_t v, uint32_t kept, uint32_t turns)
{
    ir_stmt *s = made(b, IR_SET_ELEM);
    s->var = kept;
    s->index = read(b, turns);
    s->value = hdst__ir_var(b->func, v);
    hdst__ir_push(b->func, block, s);
}

// In the second part another variable, which is set to what its turn kept.
static void hand_on(batch *b, ir_block *to, uint32_t v, uint32_t kept, uint32_t turn)
{
    const uint32_t later = variable_like(b, "later", v, 0);
    ir_expr *element = hdst__ir_var(b->func, kept);
    element->op = IR_ELEM;
    element->a = read(b, turn);
    set(b, to, later, element);
    hdst__ir_substitute(b->func, &b->second, v, read(b, later));
}

static void move(batch *b, const ir_block *from, ir_block *to)
{
    for (size_t i = 0; i < from->count; i++) hdst__ir_push(b->func, to, from->items[i]);
}

static void ask_for_row(batch *b, ir_block *block)
{
    ir_stmt *ask = made(b, IR_PREFETCH);
    ask->param = b->table;
    ask->index = read(b, b->slot);
    hdst__ir_push(b->func, block, ask);
}

// The turns of a batch up to where rows are known; what they hand on is in arrays then, which `waiting` reads.
static ir_stmt *find_rows(batch *b, uint32_t turns, uint32_t goes_on, ir_stmt *waiting)
{
    const size_t var_count = b->func->var_count;
    ir_stmt *find = made(b, IR_LOOP);
    leave_if(b, &find->body, hdst__ir_binary(b->func, IR_GE, HDST__BOOL, read(b, turns), number(b, HDST__CPU_LOOKUP_BATCH)));
    set(b, &find->body, goes_on, hdst__ir_const(b->func, HDST__BOOL, 0));
    move(b, &b->loop->head, &find->body);
    if (b->loop->cond && !hdst__ir_is_const(b->loop->cond, 1)) leave_if(b, &find->body, hdst__ir_unary(b->func, IR_NOT, HDST__BOOL, b->loop->cond));
    move(b, &b->first, &find->body);
    for (uint32_t v = 0; v < var_count; v++) {
        if (!is_handed(b, v)) continue;
        const uint32_t kept = variable_like(b, "kept", v, HDST__CPU_LOOKUP_BATCH);
        keep(b, &find->body, v, kept, turns);
        hand_on(b, &waiting->body, v, kept, waiting->var);
    }
    ask_for_row(b, &find->body);
    set(b, &find->body, turns, hdst__ir_binary(b->func, IR_ADD, HDST__U64, read(b, turns), number(b, 1)));
    set(b, &find->body, goes_on, hdst__ir_const(b->func, HDST__BOOL, 1));
    find->after = b->loop->after;
    return find;
}

static void take_in_batches(batch *b)
{
    ir_func *func = b->func;
    const uint32_t turns = counter(b, "turns"), turn = counter(b, "turn"), goes_on = hdst__ir_add_var(func, "goes_on", HDST__BOOL, 0);
    func->vars[goes_on].varying = true;
    ir_stmt *waiting = hdst__ir_for(func, turn, number(b, 0), read(b, turns), 1);
    ir_block body = {0};
    set(b, &body, turns, number(b, 0));
    hdst__ir_push(func, &body, find_rows(b, turns, goes_on, waiting));
    move(b, &b->second, &waiting->body);
    hdst__ir_push(func, &body, waiting);
    leave_if(b, &body, hdst__ir_unary(func, IR_NOT, HDST__BOOL, read(b, goes_on)));
    b->loop->head = b->loop->after = (ir_block){0};
    b->loop->cond = b->loop->hi = NULL;
    b->loop->body = body;
}

// --- The pass ---

// Loops within it first: one that was taken in batches has the rows of its table asked for.
static void take_block(ir_func *func, ir_block *block)
{
    for (size_t i = 0; i < block->count; i++) {
        ir_stmt *s = block->items[i];
        ir_block *nested[HDST__IR_NESTED];
        for (int n = 0, count = hdst__ir_nested(s, nested); n < count; n++) take_block(func, nested[n]);
        batch b = {.func = func, .loop = s};
        if (s->kind == IR_LOOP && cut(&b) && may_wait(&b)) take_in_batches(&b);
    }
}

void hdst__pass_lookup_batches(ir_func *func) { take_block(func, &func->body); }
