// SPDX-License-Identifier: Apache-2.0
// Joins as functions of one side's records (codegen/lower/operator_probe.h).
//
// After: slot = ...                                    frozen_slot.h
//        found = there are keys && the row of the slot has this one
//        emit if found, with that row
// and with runs of equal keys
//        for (at = slots[slot].first; at < end; at++) emit with rows[at]
#include "codegen/lower/operator_probe.h"

#include "codegen/lower/frozen_slot.h"
#include "codegen/lower/operator_functions.h"

typedef struct prober {
    ir_func *func;
    const hdst__probe *probe;
    hdst__frozen_params table;
    uint32_t rows;                  // the parameter that has the other side's records
    uint32_t row;                   // the variable that says which
    uint32_t found, output;
} prober;

static ir_expr *u64(const prober *p, uint64_t bits) { return hdst__ir_const(p->func, HDST__U64, bits); }

static ir_expr *leaf_of(const prober *p, ir_op op, uint32_t param, const hdst__record *record, uint32_t leaf)
{
    ir_expr *e = hdst__ir_const(p->func, record->leaves[leaf].kind, 0);
    e->op = op;
    e->param = param;
    e->leaf = leaf;
    return e;
}

static ir_expr *of_input(const prober *p, uint32_t leaf, ir_expr *element)
{
    ir_expr *e = leaf_of(p, IR_FIELD, 0, p->probe->input, leaf);
    if (p->probe->input->leaves[leaf].elements > 1) e->a = element;
    return e;
}

static ir_expr *of_row(const prober *p, uint32_t leaf, ir_expr *element)
{
    ir_expr *e = leaf_of(p, IR_BROADCAST, p->rows, p->probe->table, leaf);
    e->a = hdst__ir_var(p->func, p->row);
    if (p->probe->table->leaves[leaf].elements > 1) e->b = element;
    return e;
}

static uint32_t set(const prober *p, ir_block *block, const char *name, hdst__kind kind, ir_expr *value)
{
    const uint32_t var = hdst__ir_add_var(p->func, name, kind, 0);
    hdst__ir_push(p->func, block, hdst__ir_set(p->func, var, value));
    return var;
}

// hdst__frozen_run (shuffle/join/frozen_table.h)
static const hdst__record *run_record(hdst__arena *arena)
{
    hdst__record *record = HDST__NEW(arena, hdst__record);
    hdst__field *fields = HDST__NEW_ARRAY(arena, hdst__field, 2);
    const char *why = NULL;
    fields[0] = (hdst__field){.name = "first", .type = hdst__type_scalar(HDST__U32)};
    fields[1] = (hdst__field){.name = "count", .type = hdst__type_scalar(HDST__U32)};
    *record = (hdst__record){.name = "run", .fields = fields, .field_count = 2};
    hdst__record_finish(arena, record, &why);       // two numbers: cannot fail
    return record;
}

// --- The key ---

static size_t count_words(const hdst__probe *probe)
{
    size_t words = 0;
    for (size_t i = 0; i < probe->key_count; i++) words += probe->input_key[i].elements;
    return words;
}

static uint32_t find_slot(const prober *p)
{
    const hdst__probe *probe = p->probe;
    ir_expr **words = HDST__NEW_ARRAY(p->func->arena, ir_expr *, count_words(probe));
    size_t count = 0;
    for (size_t i = 0; i < probe->key_count; i++)
        for (uint64_t e = 0; e < probe->input_key[i].elements; e++)
            words[count++] = hdst__frozen_word(p->func, of_input(p, probe->input_key[i].leaf, u64(p, probe->input_key[i].element + e)));
    return hdst__frozen_find(p->func, &p->func->body, &p->table, words, count);
}

static ir_expr *same_key(const prober *p)
{
    const hdst__probe *probe = p->probe;
    ir_expr *same = hdst__ir_binary(p->func, IR_NE, HDST__BOOL, hdst__frozen_keys(p->func, &p->table), u64(p, 0));
    for (size_t i = 0; i < probe->key_count; i++)
        for (uint64_t e = 0; e < probe->input_key[i].elements; e++) {
            const hdst__field_place *a = &probe->input_key[i], *b = &probe->table_key[i];
            ir_expr *equal = hdst__ir_binary(p->func, IR_EQ, HDST__BOOL, of_input(p, a->leaf, u64(p, a->element + e)),
                                             of_row(p, b->leaf, u64(p, b->element + e)));
            same = hdst__ir_binary(p->func, IR_AND, HDST__BOOL, same, equal);
        }
    return same;
}

// --- What comes out ---

static void store(const prober *p, ir_block *block, uint32_t leaf, ir_expr *index, ir_expr *value)
{
    ir_stmt *s = hdst__ir_stmt(p->func, IR_STORE, (hdst__span){0});
    s->param = p->output;
    s->leaf = leaf;
    s->index = index;
    s->value = value;
    hdst__ir_push(p->func, block, s);
}

// Of a row that may not be there: zero then.
static ir_expr *row_or_zero(const prober *p, uint32_t leaf, ir_expr *element)
{
    ir_expr *value = of_row(p, leaf, element);
    return p->probe->alone ? hdst__ir_select(p->func, hdst__ir_var(p->func, p->found), value, hdst__ir_const(p->func, value->kind, 0)) : value;
}

static void store_leaf(const prober *p, ir_block *block, bool from_input, uint32_t from, uint32_t to)
{
    const hdst__record *record = from_input ? p->probe->input : p->probe->table;
    const uint64_t elements = record->leaves[from].elements;
    if (elements == 1) {
        store(p, block, to, NULL, from_input ? of_input(p, from, NULL) : row_or_zero(p, from, NULL));
        return;
    }
    const uint32_t e = hdst__ir_add_var(p->func, "e", HDST__U32, 0);
    ir_stmt *loop = hdst__ir_for(p->func, e, hdst__ir_const(p->func, HDST__U32, 0), hdst__ir_const(p->func, HDST__U32, elements), 1);
    ir_expr *element = hdst__ir_var(p->func, e);
    store(p, &loop->body, to, hdst__ir_var(p->func, e), from_input ? of_input(p, from, element) : row_or_zero(p, from, element));
    hdst__ir_push(p->func, block, loop);
}

// A pair, and what says whether the row is there.
static void store_pair(const prober *p, ir_block *block)
{
    uint32_t to = 0;
    for (int side = 0; side < 2; side++) {
        const bool from_input = (side == 1) == p->probe->input_is_right;
        const hdst__record *record = from_input ? p->probe->input : p->probe->table;
        for (uint32_t i = 0; i < record->leaf_count; i++) store_leaf(p, block, from_input, i, to++);
    }
    if (p->probe->alone) store(p, block, to, NULL, hdst__ir_var(p->func, p->found));
}

static void emit(const prober *p, ir_block *block, ir_expr *cond)
{
    ir_stmt *s = hdst__ir_stmt(p->func, IR_EMIT, (hdst__span){0});
    s->check = hdst__ir_add_check(p->func, (ir_check){.kind = IR_CHECK_EMIT, .what = p->func->name});
    s->cond = cond;
    hdst__ir_push(p->func, block, s);
    p->func->emits = true;
}

// --- The functions ---

static void emit_one(prober *p)
{
    p->rows = p->table.slots;
    p->row = find_slot(p);
    p->found = set(p, &p->func->body, "found", HDST__BOOL, same_key(p));
    ir_expr *found = hdst__ir_var(p->func, p->found);
    if (p->probe->way == HDST__PROBE_PAIRS) store_pair(p, &p->func->body);
    if (p->probe->way == HDST__PROBE_NOT_THERE) found = hdst__ir_unary(p->func, IR_NOT, HDST__BOOL, found);
    emit(p, &p->func->body, p->probe->way == HDST__PROBE_PAIRS && p->probe->alone ? NULL : found);
}

static ir_expr *of_run(const prober *p, const hdst__record *run, uint32_t slot, uint32_t leaf)
{
    ir_expr *e = leaf_of(p, IR_BROADCAST, p->table.slots, run, leaf);
    e->a = hdst__ir_var(p->func, slot);
    return hdst__ir_convert(p->func, HDST__U64, e);
}

// A loop over the rows of a run: all have the key if the first one has it. The row is one that is there, also where the key is not.
static void emit_run(prober *p, const hdst__record *run)
{
    ir_func *func = p->func;
    const uint32_t slot = find_slot(p);
    const uint32_t first = set(p, &func->body, "first", HDST__U64, of_run(p, run, slot, 0));
    const uint32_t count = set(p, &func->body, "count", HDST__U64, of_run(p, run, slot, 1));
    p->row = first;
    ir_expr *there = hdst__ir_binary(func, IR_NE, HDST__BOOL, hdst__ir_var(func, count), u64(p, 0));
    p->found = set(p, &func->body, "found", HDST__BOOL, hdst__ir_binary(func, IR_AND, HDST__BOOL, there, same_key(p)));
    ir_expr *turns = hdst__ir_select(func, hdst__ir_var(func, p->found), hdst__ir_var(func, count), u64(p, p->probe->alone));
    const uint32_t end = set(p, &func->body, "end", HDST__U64, hdst__ir_binary(func, IR_ADD, HDST__U64, hdst__ir_var(func, first), turns));
    const uint32_t at = hdst__ir_add_var(func, "at", HDST__U64, 0);
    ir_stmt *loop = hdst__ir_for(func, at, hdst__ir_var(func, first), hdst__ir_var(func, end), 1);
    p->row = at;
    store_pair(p, &loop->body);
    emit(p, &loop->body, NULL);
    hdst__ir_push(func, &func->body, loop);
}

ir_func *hdst__operator_probe(hdst__arena *arena, const hdst__probe *probe)
{
    prober p = {.func = hdst__operator_new_func(arena, probe->way == HDST__PROBE_PAIRS ? "pairs" : "partners", probe->input), .probe = probe};
    const hdst__record *run = probe->runs ? run_record(arena) : NULL;
    p.table = hdst__frozen_add_params(p.func, "slots", run ? run : probe->table);
    if (run)
        p.rows = hdst__ir_add_param(p.func, (ir_param){.kind = IR_BROADCAST_TABLE, .name = "rows", .bind = "rows", .record = probe->table, .is_table = true,
                                                       .is_lookup = true});
    if (probe->way == HDST__PROBE_PAIRS)
        p.output = hdst__ir_add_param(p.func, (ir_param){.kind = IR_OUTPUT, .name = "result", .bind = "result", .record = probe->result});
    if (run) emit_run(&p, run);
    else emit_one(&p);
    return p.func;
}
