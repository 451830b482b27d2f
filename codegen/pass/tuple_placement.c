// SPDX-License-Identifier: Apache-2.0
// GPU form: accumulators with many rows to which additions go by way of (key, value) tuples. A record's row is the
// key, its addends the values; radix partitioning puts tuples in order of partitions of the table, each of which has
// room in local memory. For functions that add to one row of one table per record, once to each of its leaves.
//
// Before: place t group: sum joint, n word                               accum t[k].sum += p.x; accum t[k].n += 1u
// After:  place t group: sum joint values 0 of 1 sum 0, n word values 1 of 0 sum 2     tuples rows 16 keys 10 low 0 parts 49 values 1 sums 4
#include "codegen/pass/accumulator_placement.h"
#include "base/costs_gpu.h"

// --- Whether ---

// Two expressions that are the same in a record: variables that are written once stand for what they are set to.
typedef struct definition {
    uint32_t var;
    size_t writes;
    bool added, late;           // an addition was seen; the write stands behind one
    const ir_expr *value;
} definition;

static bool find_definition(ir_stmt *s, void *user)
{
    definition *seek = user;
    seek->added |= s->kind == IR_ACCUM;
    if (!hdst__ir_writes(s, seek->var)) return true;
    seek->writes++;
    seek->late |= seek->added;
    seek->value = s->kind == IR_SET ? s->value : NULL;
    return true;
}

static const ir_expr *defined_as(const ir_func *func, const ir_expr *e, bool *late)
{
    definition seek = {.var = e->var};
    ir_block body = func->body;
    hdst__ir_visit_stmts(&body, find_definition, &seek);
    *late = seek.late;
    return seek.writes == 1 ? seek.value : NULL;
}

static bool is_same(const ir_func *func, const ir_expr *a, const ir_expr *b)
{
    if (!a || !b) return a == b;
    if (a->op == IR_VAR && b->op == IR_VAR) {
        bool late;
        const ir_expr *of_a = defined_as(func, a, &late), *of_b = defined_as(func, b, &late);
        return of_a && of_b && (a->var == b->var ? !late : is_same(func, of_a, of_b));
    }
    if (a->op != b->op || a->kind != b->kind || a->op == IR_ELEM) return false;
    return a->param == b->param && a->leaf == b->leaf && a->record == b->record && a->bits == b->bits &&
        is_same(func, a->a, b->a) && is_same(func, a->b, b->b) && is_same(func, a->c, b->c);
}

typedef struct search {
    const ir_func *func;
    const hdst__accum *accum;
    const ir_stmt **stmt;
    size_t found;
    const ir_stmt *last;
    bool other;
} search;

static bool find_added(ir_stmt *s, void *user)
{
    search *seek = user;
    if (s->kind == IR_FOR || s->kind == IR_LOOP) {
        ir_block inside = s->body;
        search in_loop = {.func = seek->func, .accum = seek->accum, .stmt = seek->stmt, .found = seek->found};
        hdst__ir_visit_stmts(&inside, find_added, &in_loop);
        seek->other |= in_loop.found != seek->found || in_loop.other;
    }
    if (s->kind != IR_ACCUM) return !seek->other;
    const bool fits = s->param == seek->accum->param && !seek->stmt[s->leaf] && s->index && !s->index2 &&
        (!seek->last || is_same(seek->func, seek->last->index, s->index));
    seek->other |= !fits;
    if (!fits) return false;
    seek->stmt[s->leaf] = seek->last = s;
    seek->found++;
    return true;
}

static bool stands_in(const ir_block *block, const ir_stmt *s)
{
    for (size_t i = 0; i < block->count; i++)
        if (block->items[i] == s) return true;
    return false;
}

typedef struct home_search {
    ir_stmt *const *stmt;
    size_t leaves;
    bool together;
} home_search;

static void look_in(home_search *seek, const ir_block *block)
{
    size_t here = 0;
    for (size_t l = 0; l < seek->leaves; l++) here += stands_in(block, seek->stmt[l]);
    seek->together |= here == seek->leaves;
}

static bool find_home(ir_stmt *s, void *user)
{
    home_search *seek = user;
    ir_block *nested[HDST__IR_NESTED];
    for (int n = 0, count = hdst__ir_nested(s, nested); n < count; n++) look_in(seek, nested[n]);
    return true;
}

// All leaves, in one block: a record that adds to one adds to all.
static bool finds_stmts(const ir_stmt **stmt, const ir_func *func, const hdst__accum *accum)
{
    search seek = {.func = func, .accum = accum, .stmt = stmt};
    ir_block body = func->body;
    hdst__ir_visit_stmts(&body, find_added, &seek);
    if (seek.other || seek.found != accum->leaf_count) return false;
    home_search home = {(ir_stmt *const *)stmt, accum->leaf_count, false};
    look_in(&home, &body);
    hdst__ir_visit_stmts(&body, find_home, &home);
    return home.together;
}

typedef struct leaf_search {
    uint32_t leaf;
    const ir_stmt *stmt;
} leaf_search;

static bool find_leaf(ir_stmt *s, void *user)
{
    leaf_search *seek = user;
    if (s->kind == IR_ACCUM && s->leaf == seek->leaf) seek->stmt = s;
    return !seek->stmt;
}

const ir_stmt *hdst__tuple_addition(const ir_func *func, uint32_t leaf)
{
    leaf_search seek = {leaf, NULL};
    hdst__ir_visit_stmts((ir_block *)&func->body, find_leaf, &seek);
    return seek.stmt;
}

// --- Values ---

// To a wider type that holds all values of the one before; 64 bits hold them as words do. (uint16_t makes 65535 of an int8_t's -1.)
static bool keeps_value(const ir_expr *e)
{
    if (e->op != IR_CONVERT || !hdst__kind_is_integer(e->kind) || !hdst__kind_is_integer(e->a->kind)) return false;
    const uint64_t from = hdst__scalar_size(e->a->kind), to = hdst__scalar_size(e->kind);
    return from < to && (to == 8 || hdst__kind_is_signed(e->kind) || !hdst__kind_is_signed(e->a->kind));
}

const ir_expr *hdst__tuple_addend(const ir_stmt *stmt)
{
    const ir_expr *e = stmt->value;
    while (keeps_value(e)) e = e->a;
    return e;
}

static uint32_t values_of(const hdst__cell *cell, const ir_stmt *s)
{
    if (cell->op != HDST__WORD_ADD) return 1;
    if (cell->digits) return cell->of_floats ? 1 : 2;
    if (s->value->op == IR_CONST) return 0;
    return hdst__scalar_size(hdst__tuple_addend(s)->kind) <= 4 ? 1 : 2;
}

static bool place_leaves(ir_tuples *t, ir_leaf_placement *leaf, const ir_stmt *const *stmt, const hdst__accum *accum)
{
    for (size_t l = 0; l < accum->leaf_count; l++) {
        const hdst__cell *cell = &accum->cell[l];
        const bool adds = cell->op == HDST__WORD_ADD;
        if (cell->elements != 1 || (adds ? cell->kind == HDST__BOOL : hdst__scalar_size(cell->kind) > 4)) return false;
        leaf[l].value = t->values;
        leaf[l].values = values_of(cell, stmt[l]);
        leaf[l].sum = t->sums;
        t->values += leaf[l].values;
        t->sums += adds ? 2 : 1;
    }
    return t->values <= HDST__GPU_TUPLE_VALUES;
}

// --- Sizes ---

uint32_t hdst__tuple_bytes(const ir_tuples *tuples) { return tuples->values <= 1 ? 8 : 16; }

static uint32_t log2_above(uint64_t n) { return n > 1 ? 64 - (uint32_t)__builtin_clzll(n - 1) : 0; }

static bool choose_sizes(ir_tuples *t, uint64_t rows, uint64_t local, uint32_t group)
{
    uint64_t most_parts = local / 64 < group ? local / 64 : group;
    t->tile_rows = HDST__GPU_TUPLE_TILE_ROWS;
    while (t->tile_rows > 1 && (uint64_t)t->tile_rows * group * hdst__tuple_bytes(t) > local * 3 / 4) t->tile_rows /= 2;
    for (t->key_bits = 1; ((uint64_t)2 << t->key_bits) * t->sums * 4 <= local * 3 / 4 && t->key_bits < 20;) t->key_bits++;
    const uint64_t parts = ((rows - 1) >> t->key_bits) + 1;
    if (parts > most_parts) t->low_bits = (log2_above(parts) + 1) / 2;
    const uint64_t high = ((parts - 1) >> t->low_bits) + 1;
    t->partitions_high = (uint32_t)high;
    return high <= most_parts && (uint64_t)1 << t->low_bits <= most_parts && (uint64_t)t->tile_rows * group * hdst__tuple_bytes(t) <= local * 3 / 4;
}

bool hdst__place_tuples(ir_func *func, const hdst__accum *accum, const hdst__place_limits *limits)
{
    const uint64_t rows = limits->rows ? limits->rows[accum->param] : 0;
    if (!limits->may_take_tuples || rows < 2 || rows > UINT32_MAX) return false;
    const ir_stmt **stmt = HDST__NEW_ARRAY(func->arena, const ir_stmt *, accum->leaf_count);
    ir_placement *placement = func->params[accum->param].placement, with = *placement;
    with.leaf = HDST__NEW_ARRAY(func->arena, ir_leaf_placement, accum->leaf_count + 1);
    for (size_t l = 0; l < accum->leaf_count; l++) with.leaf[l] = placement->leaf[l];
    ir_tuples t = {0};
    if (!finds_stmts(stmt, func, accum) || !place_leaves(&t, with.leaf, stmt, accum) ||
        !choose_sizes(&t, rows, limits->local_bytes, func->shape->group)) return false;
    while (t.tile_rows % func->shape->records) func->shape->records /= 2;
    *placement = with;
    func->tables->has_tuples = true;
    func->tables->tuples = t;
    return true;
}
