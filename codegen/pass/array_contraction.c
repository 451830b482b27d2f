// SPDX-License-Identifier: Apache-2.0
// A local array that one loop fills element by element, and that is only read afterwards, needs no storage: each read becomes the element's expression. (Array
// contraction: Sarkar and Gao, "Optimization of array accesses by collective loop transformations", 1991.)
//
// Before: for i = 0 to 784 { e[i] = sub(p.x[i], c[j].x[i]) }         After: for i = 0 to 784 { e_i = sub(p.x[i], c[j].x[i]); d = fma(e_i, e_i, d) }
//         for i = 0 to 784 { d = fma(e[i], e[i], d) }
//
// The expression must be small, and what it reads must stay until the last read.
//
// Thousands of arrays must not take the square of their number, so that nothing here goes through the function for
// one array. The pass goes in rounds. Each begins by writing down where every variable is read and written; arrays
// are contracted in place by that list, and what a round left of them is swept up at its end. What the list no longer
// tells (a variable that got new readers) waits for the next round.
#include "codegen/pass/passes.h"
#include "base/costs_host.h"

#include <string.h>

enum {
    MOST_ROUNDS = 16,           // arrays that wait on one another longer than that stay arrays
};

// Where a variable is met: places of statements, rising, each once.
typedef struct places {
    const uint32_t *at;
    size_t count;
} places;

typedef struct contractor {
    ir_func *func;
    size_t var_count;           // at the round's begin: later ones hold an element for the statement behind, and are read only there
    places *reads, *writes;     // by variable
    bool *control;              // by variable: read where no statement can stand in front
    bool *crowded;              // by variable: one statement reads it more than HDST__HOST_CONTRACTED_READS times
    bool *read_anew;            // by variable: read at places that are not in `reads`
    bool *gone;                 // by variable: contracted in this round; writes to it are still there
    ir_stmt **stmts;            // by place
    ir_block **blocks;          // by place: the block that the statement stands in
    uint32_t *ends;             // by place: of the first statement that is not nested in it
    size_t count, contracted;
} contractor;

typedef struct filled {
    ir_func *func;
    uint32_t array, counter;
    const ir_stmt *fill;
    ir_expr *value;             // of element number `counter`
} filled;

// --- Where variables are read and written ---

typedef struct meeting {
    uint32_t var, place;
} meeting;

typedef struct listing {
    contractor *c;
    meeting *reads, *writes;
    size_t read_count, read_capacity, write_count, write_capacity, stmt_capacity, block_capacity, end_capacity;
    size_t *here;               // by variable: reads by this statement
    const ir_stmt *stmt;
    bool plain;                 // statements may stand in front of this one, for what is read here
} listing;

static bool list_read(ir_expr **slot, void *user)
{
    listing *l = user;
    const ir_expr *e = *slot;
    if (e->op != IR_VAR && e->op != IR_ELEM) return true;
    const meeting m = {e->var, l->stmt->place};
    if (l->here[e->var]++ == 0) HDST__PUSH(l->c->func->arena, l->reads, l->read_count, l->read_capacity, m);
    if (!l->plain) l->c->control[e->var] = true;
    if (l->here[e->var] > HDST__HOST_CONTRACTED_READS) l->c->crowded[e->var] = true;
    return true;
}

static bool forget_read(ir_expr **slot, void *user)
{
    const listing *l = user;
    if ((*slot)->op == IR_VAR || (*slot)->op == IR_ELEM) l->here[(*slot)->var] = 0;
    return true;
}

static void list_own(listing *l, ir_stmt *s)
{
    const bool assigns = s->kind == IR_SET || s->kind == IR_SET_ELEM || s->kind == IR_ACCUM || s->kind == IR_STORE;
    ir_expr **control[] = {&s->lo, &s->hi, &s->cond}, **other[] = {&s->index, &s->index2};
    const meeting write = {s->var, s->place};
    l->stmt = s;
    l->plain = false;
    for (size_t i = 0; i < sizeof control / sizeof *control; i++) hdst__ir_visit_expr(control[i], list_read, l);
    l->plain = true;
    for (size_t i = 0; i < sizeof other / sizeof *other; i++) hdst__ir_visit_expr(other[i], list_read, l);
    l->plain = assigns;
    hdst__ir_visit_expr(&s->value, list_read, l);
    hdst__ir_visit_own_exprs(s, forget_read, l);
    if (hdst__ir_writes(s, s->var)) HDST__PUSH(l->c->func->arena, l->writes, l->write_count, l->write_capacity, write);
}

static void list_block(listing *l, ir_block *block)
{
    contractor *c = l->c;
    for (size_t i = 0; i < block->count; i++) {
        ir_stmt *s = block->items[i];
        ir_block *nested[HDST__IR_NESTED];
        const size_t place = c->count;
        s->place = (uint32_t)place;
        c->stmts = hdst__arena_grow(c->func->arena, c->stmts, &l->stmt_capacity, place + 1, sizeof(ir_stmt *));
        c->blocks = hdst__arena_grow(c->func->arena, c->blocks, &l->block_capacity, place + 1, sizeof(ir_block *));
        c->ends = hdst__arena_grow(c->func->arena, c->ends, &l->end_capacity, place + 1, sizeof(uint32_t));
        c->stmts[place] = s;
        c->blocks[place] = block;
        c->count++;
        list_own(l, s);
        for (int n = 0, count = hdst__ir_nested(s, nested); n < count; n++) list_block(l, nested[n]);
        c->ends[place] = (uint32_t)c->count;
    }
}

// By variable, from what was met in the order of places.
static places *sorted(const contractor *c, const meeting *met, size_t count)
{
    hdst__arena *arena = c->func->arena;
    places *of = HDST__NEW_ARRAY(arena, places, c->var_count);
    uint32_t *at = HDST__NEW_ARRAY(arena, uint32_t, count), **next = HDST__NEW_ARRAY(arena, uint32_t *, c->var_count);
    for (size_t i = 0; i < count; i++) of[met[i].var].count++;
    for (size_t v = 0, first = 0; v < c->var_count; first += of[v++].count) of[v].at = next[v] = at + first;
    for (size_t i = 0; i < count; i++) *next[met[i].var]++ = met[i].place;
    return of;
}

static contractor listed(ir_func *func)
{
    const size_t n = func->var_count;
    hdst__arena *arena = func->arena;
    contractor c = {.func = func, .var_count = n, .control = HDST__NEW_ARRAY(arena, bool, n),
        .crowded = HDST__NEW_ARRAY(arena, bool, n), .read_anew = HDST__NEW_ARRAY(arena, bool, n),
                    .gone = HDST__NEW_ARRAY(arena, bool, n)};
    listing l = {.c = &c, .here = HDST__NEW_ARRAY(arena, size_t, n)};
    list_block(&l, &func->body);
    c.reads = sorted(&c, l.reads, l.read_count);
    c.writes = sorted(&c, l.writes, l.write_count);
    return c;
}

// Whether one of the places is in [first, end).
static bool any_within(const places *p, size_t first, size_t end)
{
    size_t low = 0, high = p->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (p->at[middle] < first) low = middle + 1;
        else high = middle;
    }
    return low < p->count && p->at[low] < end;
}

// The last item of a block that does not stand behind a place. What was put in front of a statement has its place, too.
static size_t item_at(const ir_block *block, uint32_t place)
{
    size_t low = 0, high = block->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (block->items[middle]->place <= place) low = middle + 1;
        else high = middle;
    }
    return low - 1;
}

// --- The loop that fills ---

static bool is_cheap(const ir_expr *e)
{
    return !e || (e->op != IR_DIV && e->op != IR_REM && e->op != IR_SQRT && is_cheap(e->a) && is_cheap(e->b) && is_cheap(e->c));
}

// What the element is set to, in terms of what stands before the loop; NULL: something else goes on in it.
static ir_expr *filled_with(ir_func *func, const ir_stmt *loop)
{
    const size_t last = loop->body.count - 1;
    ir_expr *value = hdst__ir_copy(func, loop->body.items[last]->value);
    for (size_t i = last; i-- > 0;) {
        const ir_stmt *s = loop->body.items[i];
        if (s->kind != IR_SET) return NULL;
        hdst__ir_substitute_expr(func, &value, s->var, s->value);
        if (hdst__ir_expr_size(value) > HDST__HOST_CONTRACTED_NODES) return NULL;
    }
    for (size_t i = 0; i < last; i++)       // read before it was set, or carried from turn to turn
        if (hdst__ir_expr_reads(value, loop->body.items[i]->var)) return NULL;
    return hdst__ir_expr_size(value) <= HDST__HOST_CONTRACTED_NODES && is_cheap(value) ? value : NULL;
}

static bool is_fill(const contractor *c, const ir_stmt *s, filled *f)
{
    ir_func *func = c->func;
    if (s->kind != IR_FOR || s->step != 1 || !s->body.count || !hdst__ir_is_const(s->lo, 0)) return false;
    const ir_stmt *set = s->body.items[s->body.count - 1];
    if (set->kind != IR_SET_ELEM || set->index->op != IR_VAR || set->index->var != s->var) return false;
    if (c->gone[set->var] || c->control[set->var] || c->crowded[set->var] || !hdst__ir_is_const(s->hi, func->vars[set->var].elements)) return false;
    *f = (filled){func, set->var, s->var, s, filled_with(func, s)};
    return f->value && !hdst__ir_expr_reads(f->value, set->var);
}

// --- What comes after it ---

// What the values of the fill's variables are after it counts as well: they may be read there.
static bool sets_more(const contractor *c, const filled *f, size_t end)
{
    for (size_t i = 0; i + 1 < f->fill->body.count; i++) {
        const uint32_t var = f->fill->body.items[i]->var;
        if (var < c->var_count && (c->read_anew[var] || any_within(&c->reads[var], c->ends[f->fill->place], end))) return true;
    }
    return false;
}

typedef struct range {
    const contractor *c;
    uint32_t counter;           // of the fill: has a value of its own for each element
    size_t first, end;
} range;

static bool not_written(ir_expr **slot, void *user)
{
    const range *r = user;
    const ir_expr *e = *slot;
    if ((e->op != IR_VAR && e->op != IR_ELEM) || e->var == r->counter) return true;
    return e->var < r->c->var_count && !any_within(&r->c->writes[e->var], r->first, r->end);
}

// All reads stand behind the loop, in the block that it stands in; up to the last, neither the array nor what its elements are made of is written.
static bool stays_until_read(const contractor *c, filled *f, const ir_block *block, size_t block_end)
{
    const places *reads = &c->reads[f->array];
    range r = {c, f->counter, c->ends[f->fill->place], 0};
    if (c->read_anew[f->array]) return false;
    if (reads->count == 0) return true;
    const uint32_t last = reads->at[reads->count - 1];
    if (reads->at[0] < r.first || last >= block_end) return false;
    r.end = c->ends[block->items[item_at(block, last)]->place];
    return !any_within(&c->writes[f->array], r.first, r.end) && hdst__ir_visit_expr(&f->value, not_written, &r);
}

// --- Rewriting ---

typedef struct rewriting {
    const filled *filled;
    ir_block elements;          // set in front of the statement
} rewriting;

static bool replace(ir_expr **slot, void *user)
{
    rewriting *r = user;
    const filled *f = r->filled;
    ir_expr *e = *slot;
    if (e->op != IR_ELEM || e->var != f->array) return true;
    ir_expr *value = hdst__ir_copy(f->func, f->value);
    hdst__ir_substitute_expr(f->func, &value, f->counter, hdst__ir_convert(f->func, f->fill->lo->kind, e->a));
    for (size_t i = 0; i < r->elements.count; i++)
        if (hdst__ir_expr_equal(r->elements.items[i]->value, value)) {
            *slot = hdst__ir_var(f->func, r->elements.items[i]->var);
            return true;
        }
    const uint32_t var = hdst__ir_add_var(f->func, f->func->vars[f->array].name, value->kind, 0);
    hdst__ir_push(f->func, &r->elements, hdst__ir_set(f->func, var, value));
    *slot = hdst__ir_var(f->func, var);
    return true;
}

static void put_in_front(ir_func *func, ir_block *block, const ir_stmt *s, const ir_block *more)
{
    const size_t at = item_at(block, s->place), behind = block->count - at;
    block->items = hdst__arena_grow(func->arena, block->items, &block->capacity, block->count + more->count, sizeof *block->items);
    memmove(block->items + at + more->count, block->items + at, behind * sizeof *block->items);
    for (size_t i = 0; i < more->count; i++) {
        block->items[at + i] = more->items[i];
        block->items[at + i]->place = s->place;
    }
    block->count += more->count;
}

static bool note_read_anew(ir_expr **slot, void *user)
{
    const contractor *c = user;
    if (((*slot)->op == IR_VAR || (*slot)->op == IR_ELEM) && (*slot)->var < c->var_count) c->read_anew[(*slot)->var] = true;
    return true;
}

static void contract(contractor *c, filled *f)
{
    const places *reads = &c->reads[f->array];
    for (size_t i = 0; i < reads->count; i++) {
        ir_stmt *s = c->stmts[reads->at[i]];
        rewriting r = {f, {0}};
        if (s->kind == IR_SET_ELEM && c->gone[s->var]) continue;
        hdst__ir_visit_own_exprs(s, replace, &r);
        put_in_front(c->func, c->blocks[s->place], s, &r.elements);
    }
    hdst__ir_visit_expr(&f->value, note_read_anew, c);
    c->gone[f->array] = true;
    c->contracted++;
}

static void contract_block(contractor *c, ir_block *block)
{
    if (!block->count) return;
    const size_t end = c->ends[block->items[block->count - 1]->place];
    for (size_t i = 0; i < block->count; i++) {
        ir_stmt *s = block->items[i];
        ir_block *nested[HDST__IR_NESTED];
        filled f;
        if (is_fill(c, s, &f) && !sets_more(c, &f, end) && stays_until_read(c, &f, block, end)) contract(c, &f);
        for (int n = 0, count = hdst__ir_nested(s, nested); n < count; n++) contract_block(c, nested[n]);
    }
}

// Nobody reads the arrays any more.
static void sweep(const contractor *c, ir_block *block)
{
    size_t kept = 0;
    for (size_t i = 0; i < block->count; i++) {
        ir_stmt *s = block->items[i];
        ir_block *nested[HDST__IR_NESTED];
        if (s->kind == IR_SET_ELEM && c->gone[s->var]) continue;
        for (int n = 0, count = hdst__ir_nested(s, nested); n < count; n++) sweep(c, nested[n]);
        if (s->kind != IR_FOR || s->body.count) block->items[kept++] = s;
    }
    block->count = kept;
}

void hdst__pass_array_contraction(ir_func *func)
{
    for (int round = 0; round < MOST_ROUNDS; round++) {
        contractor c = listed(func);
        contract_block(&c, &func->body);
        if (!c.contracted) return;
        sweep(&c, &func->body);
    }
}
