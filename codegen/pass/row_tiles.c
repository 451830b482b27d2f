// SPDX-License-Identifier: Apache-2.0
// GPU form: dots and sums over a record's row leave the loops of its body, and the work-group makes them for all its
// records: a lane of a dot or sum is a work-item, which has several records by several turns of the loop in registers,
// as in a product of matrices. So a row is read side by side and once for all turns, and a broadcast's once for all
// records. Each lane adds in the order of the language, so no bit changes.
//
// Before: for h = 0 to 30 { for l = 0 to 16 { sum = 0; for i = l to 784 step 16 { sum = fma(n.w[h * 784 + i], p.x[i], sum) }; lanes[l] = sum }
//                           dot = add(add(lanes[0], lanes[8]), ...); ... }
// After:  for h_2 = 0 to 30 tile 4 by 15 { for l ... { ... }; tile[h_2] = add(add(lanes[0], lanes[8]), ...) }
//         for h = 0 to 30 { dot = tile[h]; ... }
//
// Where the loop is long, or nobody knows how long, both loops go over HDST__GPU_TILE_TURNS turns at a time. A dot by itself counts as a loop of one turn.
//
// Taken is what stands at the top of the body, so that all lanes of a work-group come to it, and reads the record, broadcasts and the loop's
// counter alone, so that it can be made ahead of the rest. What the loops before and after compute is the same whoever makes them: a record
// that made its own tile would have equal values, as the interpreter does.
#include "codegen/pass/row_tiles.h"

#include "base/costs_gpu.h"
#include "codegen/pass/affine_index.h"
#include "codegen/pass/ordered_dots.h"
#include "codegen/pass/row_form.h"

typedef struct chain {          // a dot or sum: the loop over lanes at place `at` of a block, and what brings the lanes together behind it
    size_t at;
    ir_stmt *lanes, *together;
    const ir_stmt *zero, *loop, *keep;
} chain;

typedef struct tiler {
    ir_func *func;
    const hdst__row_tiles *limits;
    ir_tile *tile;              // of all loops
    bool ordered;               // sums that are written as loops (ordered_dots.h); else dots and sums, which have lanes
    uint64_t units;             // turns made at once, of the longest
} tiler;

// --- What can be made ahead ---

typedef struct ahead_search {
    const ir_func *func;
    const chain *c;
    uint32_t counter;           // of the loop around
} ahead_search;

static bool is_ahead(ir_expr **slot, void *user)
{
    const ahead_search *s = user;
    const ir_expr *e = *slot;
    if (e->op == IR_ELEM) return s->func->vars[e->var].init != NULL;
    if (e->op == IR_RECORD_INDEX || e->kind == HDST__TEXT || e->op == IR_FITS || e->op == IR_FIXED) return false;
    if (e->op != IR_VAR) return true;
    return e->var == s->counter || e->var == s->c->lanes->var || e->var == s->c->loop->var || hdst__ir_block_writes(&s->c->loop->body, e->var);
}

static bool reads_field(ir_expr **slot, void *user)
{
    *(bool *)user |= (*slot)->op == IR_FIELD && (*slot)->a && (*slot)->a->op != IR_CONST;
    return true;
}

static bool is_elem_of(const ir_expr *e, uint32_t var, uint32_t index) { return e->op == IR_ELEM && e->var == var && hdst__ir_is_const(e->a, index); }

// The lanes, brought together as lower_lanes.c does it.
static bool is_tree(const ir_expr *e, uint32_t lanes, uint32_t first, uint32_t distance)
{
    if (distance == HDST__LANES) return is_elem_of(e, lanes, first);
    return e->op == IR_ADD && is_tree(e->a, lanes, first, 2 * distance) && is_tree(e->b, lanes, first + distance, 2 * distance);
}

static bool is_var(const ir_expr *e, uint32_t var) { return e && e->op == IR_VAR && e->var == var; }

// Plain assignments, each of which sets what it needs itself; the last one is of the lane's sum.
static bool is_inner(const ir_func *func, const chain *c)
{
    const ir_block *body = &c->loop->body;
    for (size_t i = 0; i < body->count; i++) {
        const ir_stmt *s = body->items[i];
        const bool last = i + 1 == body->count;
        if (s->kind != IR_SET || (s->var == c->zero->var) != last || func->vars[s->var].elements || !hdst__row_is_local(func, c->lanes, s->var)) return false;
        if (!last && hdst__block_reads_first(body, s->var)) return false;
    }
    return body->count > 0;
}

static bool is_shaped(const ir_func *func, const ir_block *block, size_t at, chain *c)
{
    if (at + 1 >= block->count) return false;
    *c = (chain){.at = at, .lanes = block->items[at], .together = block->items[at + 1]};
    if (!hdst__is_plain_loop(c->lanes) || !hdst__ir_is_const(c->lanes->hi, HDST__LANES) || c->lanes->body.count != 3) return false;
    c->zero = c->lanes->body.items[0], c->loop = c->lanes->body.items[1], c->keep = c->lanes->body.items[2];
    const ir_stmt *loop = c->loop, *keep = c->keep;
    if (c->zero->kind != IR_SET || c->zero->value->op != IR_CONST || loop->kind != IR_FOR || loop->step != HDST__LANES) return false;
    if (!is_var(loop->lo, c->lanes->var) || loop->hi->op != IR_CONST || loop->hi->bits < HDST__ROW_ELEMENTS) return false;
    if (keep->kind != IR_SET_ELEM || !is_var(keep->index, c->lanes->var) || !is_var(keep->value, c->zero->var)) return false;
    if (c->together->kind != IR_SET || !is_tree(c->together->value, keep->var, 0, 1)) return false;
    return hdst__ir_block_reads(&func->body, keep->var) == HDST__LANES && hdst__ir_block_writes(&func->body, keep->var) == 1;
}

// A dot or sum over elements of the record at place `at`.
static bool is_chain(const ir_func *func, const ir_block *block, size_t at, uint32_t counter, chain *c)
{
    if (!is_shaped(func, block, at, c) || !is_inner(func, c)) return false;
    if (!hdst__row_is_local(func, c->lanes, c->lanes->var) || !hdst__row_is_local(func, c->lanes, c->loop->var)) return false;
    ahead_search s = {func, c, counter};
    ir_block body = c->loop->body;
    bool reads = false;
    hdst__ir_visit_exprs(&body, reads_field, &reads);
    return reads && hdst__ir_visit_exprs(&body, is_ahead, &s);
}

// --- Loops around ---

// A bound that no table reaches by counting up in steps: then the counter never wraps.
static bool is_rows(const ir_expr *e)
{
    if (e->op == IR_CONVERT) return is_rows(e->a);
    if (e->op == IR_MIN) return is_rows(e->a) && is_rows(e->b);
    return e->op == IR_LENGTH || (e->op == IR_CONST && (e->bits <= INT32_MAX || e->kind == HDST__U64));
}

static bool find_addition(ir_stmt *s, void *user)
{
    (void)user;
    return s->kind != IR_ACCUM;
}

typedef struct length_search {
    const hdst__row_tiles *limits;
    uint64_t rows;              // least that is known; 0: none is
} length_search;

static bool find_length(ir_expr **slot, void *user)
{
    length_search *s = user;
    if ((*slot)->op != IR_LENGTH || !s->limits->rows || !s->limits->rows[(*slot)->param]) return true;
    const uint64_t rows = s->limits->rows[(*slot)->param];
    if (!s->rows || rows < s->rows) s->rows = rows;
    return true;
}

static uint64_t most_turns(const tiler *t) { return t->ordered ? HDST__GPU_TILE_ORDERED_TURNS : HDST__GPU_TILE_TURNS; }

// How many turns are made at once: all of them, if there are few, or it is thought that there are; 0: the loop does not suit.
static uint64_t turns_of(const tiler *t, const ir_stmt *loop)
{
    if (!hdst__is_plain_loop(loop) || hdst__scalar_size(loop->hi->kind) < 4 || hdst__ir_loop_exits(loop) || !is_rows(loop->hi)) return 0;
    if (loop->hi->op == IR_CONST && loop->hi->bits <= most_turns(t)) return loop->hi->bits;
    const bool adds = !hdst__ir_visit_stmts((ir_block *)&loop->body, find_addition, NULL);       // how often is known of loops from 0 alone
    length_search s = {.limits = t->limits};
    ir_expr *hi = loop->hi;
    hdst__ir_visit_expr(&hi, find_length, &s);
    if (adds || hdst__ir_stmt_writes(loop, loop->var) > 1) return 0;
    return s.rows && s.rows < most_turns(t) ? s.rows : most_turns(t);
}

// --- Taking ---

static ir_expr *element_of(const tiler *t, uint32_t array, ir_expr *index)
{
    ir_expr *e = hdst__ir_unary(t->func, IR_ELEM, t->func->vars[array].kind, index);
    e->var = array;
    return e;
}

// The counter, from the first turn of those that are made at once.
static ir_expr *turn_of(const tiler *t, uint32_t counter, uint32_t first)
{
    ir_expr *turn = hdst__ir_var(t->func, counter);
    return first == IR_NO_VAR ? turn : hdst__ir_binary(t->func, IR_SUB, turn->kind, turn, hdst__ir_var(t->func, first));
}

// The loop that makes a dot for turns `lo` to `hi` of `loop`, of which the first is turn `first`; its elements go to `tile`.
static ir_stmt *make_loop(tiler *t, const ir_stmt *loop, uint32_t tile, uint64_t turns)
{
    ir_func *func = t->func;
    const uint32_t counter = hdst__ir_add_var(func, func->vars[loop->var].name, func->vars[loop->var].kind, 0);
    func->vars[tile].in_tile = func->vars[tile].varying = true;
    ir_stmt *made = hdst__ir_for(func, counter, hdst__ir_copy(func, loop->lo), hdst__ir_copy(func, loop->hi), 1);
    made->span = loop->span;
    made->tile = t->tile;
    if (turns > t->units) t->units = turns;
    return made;
}

static void end_loop(tiler *t, ir_stmt *made, const ir_stmt *loop, uint32_t first, uint32_t tile, ir_expr *value, hdst__span span)
{
    ir_stmt *set = hdst__ir_set(t->func, tile, value);
    set->kind = IR_SET_ELEM;
    set->span = span;
    set->index = turn_of(t, loop->var, first);
    hdst__ir_push(t->func, &made->body, set);
    hdst__ir_substitute(t->func, &made->body, loop->var, hdst__ir_var(t->func, made->var));
}

// The loop that makes the chain; the body reads the tile instead.
static ir_stmt *take(tiler *t, const chain *c, const ir_stmt *loop, uint32_t first, uint64_t turns)
{
    const uint32_t tile = hdst__ir_add_var(t->func, "tile", c->together->value->kind, turns);
    ir_stmt *made = make_loop(t, loop, tile, turns);
    hdst__ir_push(t->func, &made->body, c->lanes);
    end_loop(t, made, loop, first, tile, c->together->value, c->together->span);
    c->together->value = element_of(t, tile, turn_of(t, loop->var, first));
    return made;
}

// The same of a sum written as a loop: `left` reads the tile instead of its two statements.
static ir_stmt *take_ordered(tiler *t, const hdst__ordered_dot *dot, const ir_stmt *loop, uint32_t first, uint64_t turns, ir_block *left)
{
    const uint32_t tile = hdst__ir_add_var(t->func, "tile", HDST__F32, turns);
    ir_stmt *made = make_loop(t, loop, tile, turns), *read = hdst__ir_set(t->func, dot->start->var, element_of(t, tile, turn_of(t, loop->var, first)));
    read->span = dot->start->span;
    hdst__ir_push(t->func, left, read);
    const uint32_t sum = hdst__ordered_dot_alone(t->func, dot, &made->body);
    end_loop(t, made, loop, first, tile, hdst__ir_var(t->func, sum), dot->loop->span);
    return made;
}

// The dots of the loop's body, as loops of their own; how many.
static size_t take_all(tiler *t, ir_stmt *loop, uint32_t first, uint64_t turns, ir_block *made)
{
    ir_block left = {0};
    for (size_t i = 0; i < loop->body.count; i++) {
        chain c;
        hdst__ordered_dot dot;
        if (t->ordered && hdst__is_ordered_dot(t->func, &loop->body, i, loop->var, &dot)) {
            hdst__ir_push(t->func, made, take_ordered(t, &dot, loop, first, turns, &left));
            i++;
        } else if (!t->ordered && is_chain(t->func, &loop->body, i, loop->var, &c)) {
            hdst__ir_push(t->func, made, take(t, &c, loop, first, turns));
        } else hdst__ir_push(t->func, &left, loop->body.items[i]);
    }
    loop->body = left;
    return made->count;
}

static bool has_chain(const tiler *t, const ir_stmt *loop)
{
    chain c;
    hdst__ordered_dot dot;
    for (size_t i = 0; i < loop->body.count; i++)
        if (t->ordered ? hdst__is_ordered_dot(t->func, &loop->body, i, loop->var, &dot) : is_chain(t->func, &loop->body, i, loop->var, &c)) return true;
    return false;
}

// From the first turn of those made at once up to the last one.
static void cut(tiler *t, ir_stmt *loop, uint32_t first, ir_expr *hi, uint64_t turns)
{
    ir_func *func = t->func;
    const hdst__kind kind = hi->kind;
    ir_expr *from = hdst__ir_var(func, first), *most = hdst__ir_const(func, kind, turns);
    ir_expr *left = hdst__ir_binary(func, IR_SUB, kind, hdst__ir_copy(func, hi), hdst__ir_copy(func, from));
    loop->lo = from;
    loop->hi = hdst__ir_binary(func, IR_ADD, kind, hdst__ir_copy(func, from), hdst__ir_binary(func, IR_MIN, kind, left, most));
}

static void take_loop(tiler *t, ir_block *out, ir_stmt *loop, uint64_t turns)
{
    ir_func *func = t->func;
    ir_expr *hi = loop->hi;
    if (hi->op == IR_CONST && hi->bits == turns) {
        take_all(t, loop, IR_NO_VAR, turns, out);
        hdst__ir_push(func, out, loop);
        return;
    }
    const uint32_t first = hdst__ir_add_var(func, "first", func->vars[loop->var].kind, 0);
    ir_stmt *around = hdst__ir_for(func, first, loop->lo, hi, turns);
    around->span = loop->span;
    cut(t, loop, first, hi, turns);
    take_all(t, loop, first, turns, &around->body);
    hdst__ir_push(func, &around->body, loop);
    hdst__ir_push(func, out, around);
}

// A chain at the top of the body: a loop of one turn.
static void take_alone(tiler *t, ir_block *out, const chain *c)
{
    ir_func *func = t->func;
    const uint32_t once = hdst__ir_add_var(func, "once", HDST__U32, 0);
    const ir_stmt loop = {.kind = IR_FOR, .span = c->lanes->span, .var = once, .lo = hdst__ir_const(func, HDST__U32, 0),
                          .hi = hdst__ir_const(func, HDST__U32, 1)};
    ir_stmt *made = take(t, c, &loop, IR_NO_VAR, 1);
    c->together->value->a = hdst__ir_const(func, HDST__U32, 0);
    hdst__ir_push(func, out, made);
}

// --- How they are cut ---

static uint32_t divisor_up_to(uint64_t turns, uint32_t most)
{
    for (uint32_t u = most; u > most / 2; u--)
        if (turns % u == 0) return u;
    return most;
}

enum { SMALL_RECORDS = 2, SMALL_UNITS = 4 };

// Whole sums: lanes side by side have turns of the same records, all of those that are made at once.
static void cut_ordered(tiler *t, uint32_t group)
{
    ir_tile *tile = t->tile;
    const uint32_t most = t->limits->small ? SMALL_RECORDS : t->limits->records;
    tile->units = HDST__GPU_TILE_ORDERED_UNITS;
    tile->across = 1;
    while (tile->across < group && tile->across * tile->units < t->units) tile->across *= 2;
    // The body goes record by record: no more of them than work-items.
    const uint32_t down = group / tile->across, span = t->limits->span < group ? t->limits->span : group;
    tile->records = span > down * most ? most : span > down ? span / down : 1;
}

static bool has_few(const tiler *t) { return !t->ordered && !t->limits->tables && t->units < HDST__GPU_TILE_FEW_TURNS; }

// Few turns: memory is what counts, so many work-items share a record, and work-groups have few of them, so that a small input has
// enough. Many: registers hold as much of the product as they can.
static void cut_lanes(tiler *t)
{
    const bool few = has_few(t);
    t->tile->records = few ? 1 : t->limits->records;
    const uint32_t units = t->limits->small ? SMALL_UNITS : HDST__GPU_TILE_UNITS;
    if (t->limits->small && !few) t->tile->records = SMALL_RECORDS;
    t->tile->units = t->units <= units ? (uint32_t)t->units : divisor_up_to(t->units, units);
}

static void shape(tiler *t)
{
    ir_func *func = t->func;
    ir_shape *s = HDST__NEW(func->arena, ir_shape);
    func->shape = s;
    s->group = t->limits->group ? t->limits->group : HDST__GPU_TILE_GROUP;
    while (s->group > 1 && t->limits->most_group && s->group > t->limits->most_group) s->group /= 2;
    s->records = 1;
    if (t->ordered) cut_ordered(t, s->group);
    else cut_lanes(t);
    const uint32_t at_once = hdst__row_tile_records(func, t->tile);
    s->span = has_few(t) || at_once > t->limits->span ? at_once : t->limits->span / at_once * at_once;
    if (s->span > s->group) s->span = s->group;
}

static bool take_function(ir_func *func, const hdst__row_tiles *limits, bool ordered)
{
    tiler t = {.func = hdst__ir_copy_func(func->arena, func), .limits = limits, .tile = HDST__NEW(func->arena, ir_tile), .ordered = ordered};
    const ir_block *body = &t.func->body;
    ir_block out = {0};
    for (size_t i = 0; i < body->count; i++) {
        ir_stmt *s = body->items[i];
        chain c;
        const uint64_t turns = s->kind == IR_FOR && has_chain(&t, s) ? turns_of(&t, s) : 0;
        if (turns && (!ordered || turns >= HDST__GPU_TILE_ORDERED_LEAST)) take_loop(&t, &out, s, turns);
        else if (!ordered && is_chain(t.func, body, i, IR_NO_VAR, &c)) take_alone(&t, &out, &c);
        else hdst__ir_push(t.func, &out, s);
    }
    if (!t.units) return false;
    t.func->body = out;
    shape(&t);
    if (hdst__row_tile_bytes(t.func) > limits->local_bytes) return false;
    *func = *t.func;
    return true;
}

bool hdst__pass_row_tiles(ir_func *func, const hdst__row_tiles *limits)
{
    if (func->emits || (limits->group && limits->group < HDST__LANES) || (limits->most_group && limits->most_group < HDST__LANES)) return false;
    return take_function(func, limits, false) || take_function(func, limits, true);
}

// --- What others ask ---

uint64_t hdst__row_tile_stride(const ir_var *var) { return var->elements | 1; }

uint32_t hdst__row_tile_records(const ir_func *func, const ir_tile *tile)
{
    return func->shape->group / (tile->across ? tile->across : HDST__LANES) * tile->records;
}

uint64_t hdst__row_tile_step_stride(uint64_t values) { return values + 4; }

bool hdst__has_tile(ir_stmt *stmt)
{
    if (stmt->tile) return true;
    for (size_t i = 0; stmt->kind == IR_FOR && i < stmt->body.count; i++)
        if (stmt->body.items[i]->tile) return true;
    return false;
}

typedef struct tile_search {
    const ir_func *func;
    uint64_t scratch;
} tile_search;

static bool find_tile(ir_stmt *s, void *user)
{
    tile_search *seek = user;
    if (!s->tile) return true;
    const uint32_t records = hdst__row_tile_records(seek->func, s->tile);
    const uint64_t steps = hdst__row_tile_step_stride(records) + hdst__row_tile_step_stride((uint64_t)s->tile->across * s->tile->units);
    const uint64_t bytes = s->tile->across ? HDST__GPU_TILE_ORDERED_STEPS * steps * sizeof(float)
                                           : records * (HDST__LANES + 1) * hdst__scalar_size(s->body.items[1]->value->kind);
    if (bytes > seek->scratch) seek->scratch = bytes;
    return true;
}

uint64_t hdst__row_tile_bytes(const ir_func *func)
{
    tile_search seek = {func, 0};
    uint64_t bytes = 0;
    hdst__ir_visit_stmts((ir_block *)&func->body, find_tile, &seek);
    for (size_t v = 0; v < func->var_count; v++)
        if (func->vars[v].in_tile) bytes += hdst__row_tile_stride(&func->vars[v]) * hdst__scalar_size(func->vars[v].kind) * func->shape->span;
    return seek.scratch + bytes;
}
