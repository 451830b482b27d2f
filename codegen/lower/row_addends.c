// SPDX-License-Identifier: Apache-2.0
// Additions to a table as tuples (codegen/lower/row_addends.h).
//
// Before: accum t[row].s += v                After: store tuple.row = u32(row); store tuple.s = v
//         check 1: lt(row, length(t))               check 1: lt(row, rows of t)
//         accum t[row].n += 1                       store tuple.n = 1; emit
#include "codegen/lower/row_addends.h"

#include "accum/cell.h"
#include "accum/minmax_keys.h"
#include "codegen/lower/operator_functions.h"

// --- The tuple ---

static hdst__record *record_of(hdst__arena *arena, const char *name, const hdst__leaf *leaves, size_t count)
{
    hdst__record *record = HDST__NEW(arena, hdst__record);
    hdst__field *fields = HDST__NEW_ARRAY(arena, hdst__field, count + 1);
    const char *why = NULL;
    fields[0] = (hdst__field){.name = "row", .type = hdst__type_scalar(HDST__U32)};
    for (size_t i = 0; i < count; i++)
        fields[i + 1] = (hdst__field){.name = hdst__arena_printf(arena, "value_%zu", i), .type = hdst__type_scalar(leaves[i].kind)};
    *record = (hdst__record){.name = name, .fields = fields, .field_count = count + 1};
    return hdst__record_finish(arena, record, &why) ? record : NULL;
}

bool hdst__row_tuple_of(hdst__arena *arena, const ir_func *func, uint32_t param, hdst__row_tuple *tuple)
{
    const hdst__record *row = func->params[param].record;
    *tuple = (hdst__row_tuple){.row = row, .rows_each = 1};
    if (row->leaf_count == 1 && row->leaves[0].elements > 1) {
        const hdst__leaf *leaf = &row->leaves[0];
        if (!hdst__leaf_is_dense(leaf) || row->size != leaf->elements * hdst__scalar_size(leaf->kind)) return false;
        tuple->row = hdst__number_record(arena, leaf->kind);
        tuple->rows_each = leaf->elements;
    }
    for (size_t i = 0; i < tuple->row->leaf_count; i++)
        if (tuple->row->leaves[i].elements != 1 || tuple->row->leaves[i].valid || tuple->row->leaves[i].is_validity) return false;
    tuple->record = record_of(arena, "tuple", tuple->row->leaves, tuple->row->leaf_count);
    return tuple->record != NULL;
}

const hdst__accumulate_op *hdst__row_tuple_laws(hdst__arena *arena, const ir_func *func, uint32_t param)
{
    const ir_param *table = &func->params[param];
    return table->leaf_op ? table->leaf_op : HDST__NEW_ARRAY(arena, hdst__accumulate_op, table->record->leaf_count);
}

// --- Tables that are gone ---

typedef struct removal {
    ir_func *func;
    const bool *gone;
} removal;

static ir_expr *rows_of(ir_func *func, uint32_t param)
{
    ir_expr *e = hdst__ir_const(func, HDST__U64, 0);
    e->op = IR_BROADCAST;
    e->param = param;
    return e;
}

static bool take_rows(ir_expr **slot, void *user)
{
    const removal *r = user;
    if ((*slot)->op == IR_LENGTH && r->gone[(*slot)->param]) *slot = rows_of(r->func, (*slot)->param);
    return true;
}

static void remove_additions(const removal *r, ir_block *block)
{
    size_t kept = 0;
    for (size_t i = 0; i < block->count; i++) {
        ir_stmt *stmt = block->items[i];
        if (stmt->kind == IR_ACCUM && r->gone[stmt->param]) continue;
        ir_block *nested[HDST__IR_NESTED];
        const int count = hdst__ir_nested(stmt, nested);
        for (int n = 0; n < count; n++) remove_additions(r, nested[n]);
        block->items[kept++] = stmt;
    }
    block->count = kept;
}

// Behind the additions: lengths that were asked for, of a table that is no more.
static void remove_tables(const removal *r)
{
    ir_func *func = r->func;
    for (size_t i = 0; i < func->param_count; i++) {
        if (!r->gone[i]) continue;
        const ir_param was = func->params[i];
        func->params[i] = (ir_param){.kind = IR_BROADCAST_TABLE, .name = was.name, .bind = was.bind, .record = hdst__number_record(func->arena, HDST__U64)};
    }
    hdst__ir_visit_exprs(&func->body, take_rows, (void *)r);
}

ir_func *hdst__without_tables(hdst__arena *arena, const ir_func *func, const bool *gone)
{
    const removal r = {hdst__ir_copy_func(arena, func), gone};
    remove_additions(&r, &r.func->body);
    remove_tables(&r);
    return r.func;
}

// --- Tuples ---

typedef struct writer {
    ir_func *func;
    uint32_t table, output, check;
    const hdst__row_tuple *tuple;
    const hdst__accumulate_op *laws;
    // The tuple at hand, and what was set since it began: an addition whose row is computed alike belongs to it.
    bool open;
    const ir_expr *row;
    bool *stored;               // by leaf
    const ir_stmt **set;        // statements that set a variable
    size_t sets;
} writer;

enum { MOST_SETS = 64 };

static void store(writer *w, ir_block *block, uint32_t leaf, ir_expr *value)
{
    ir_stmt *s = hdst__ir_stmt(w->func, IR_STORE, (hdst__span){0});
    s->param = w->output;
    s->leaf = leaf;
    s->value = value;
    hdst__ir_push(w->func, block, s);
}

// Bits that change nothing where they are added.
static uint64_t identity_of(hdst__kind kind, hdst__accumulate_op law)
{
    if (hdst__is_key(law)) return hdst__key_decode(kind, law, 0);
    if (law != HDST__AND) return 0;
    return kind == HDST__BOOL ? 1 : UINT64_MAX >> (64 - 8 * hdst__scalar_size(kind));
}

// Constants of signed kinds are as wide as can be.
static ir_expr *identity(writer *w, uint32_t leaf)
{
    const hdst__kind kind = w->tuple->row->leaves[leaf].kind;
    uint64_t bits = identity_of(kind, w->laws[leaf]);
    const unsigned width = 8 * (unsigned)hdst__scalar_size(kind);
    if (hdst__kind_is_integer(kind) && hdst__kind_is_signed(kind) && width < 64 && bits >> (width - 1) & 1) bits |= UINT64_MAX << width;
    return hdst__ir_const(w->func, kind, bits);
}

static void end_tuple(writer *w, ir_block *block)
{
    w->sets = 0;
    if (!w->open) return;
    for (uint32_t leaf = 0; leaf < w->tuple->row->leaf_count; leaf++)
        if (!w->stored[leaf]) store(w, block, leaf + 1, identity(w, leaf));
    ir_stmt *emit = hdst__ir_stmt(w->func, IR_EMIT, (hdst__span){0});
    emit->check = w->check;
    hdst__ir_push(w->func, block, emit);
    w->open = false;
}

static const ir_expr *as_set(const writer *w, const ir_expr *e)
{
    for (size_t i = 0; e && e->op == IR_VAR && i < w->sets; i++)
        if (w->set[i]->var == e->var) return w->set[i]->value;
    return e;
}

// Whether two expressions are the same, looking through variables that were set since the tuple began, each of them once.
static bool is_same(const writer *w, const ir_expr *a, const ir_expr *b)
{
    a = as_set(w, a);
    b = as_set(w, b);
    if (!a || !b) return a == b;
    return a->op == b->op && a->kind == b->kind && a->param == b->param && a->leaf == b->leaf && a->record == b->record &&
        a->var == b->var && a->bits == b->bits &&
        is_same(w, a->a, b->a) && is_same(w, a->b, b->b) && is_same(w, a->c, b->c);
}

static bool reads_what_is_set(const writer *w, uint32_t var)
{
    if (w->open && hdst__ir_expr_reads(w->row, var)) return true;
    for (size_t i = 0; i < w->sets; i++)
        if (w->set[i]->var == var || hdst__ir_expr_reads(w->set[i]->value, var)) return true;
    return false;
}

static void note_set(writer *w, ir_block *block, const ir_stmt *stmt)
{
    if (reads_what_is_set(w, stmt->var) || hdst__ir_expr_reads(stmt->value, stmt->var) || w->sets == MOST_SETS) end_tuple(w, block);
    if (!hdst__ir_expr_reads(stmt->value, stmt->var)) w->set[w->sets++] = stmt;
}

static ir_expr *row_of(writer *w, const ir_stmt *stmt)
{
    ir_func *func = w->func;
    ir_expr *row = stmt->index ? hdst__ir_convert(func, HDST__U64, hdst__ir_copy(func, stmt->index)) : hdst__ir_const(func, HDST__U64, 0);
    if (w->tuple->rows_each == 1) return hdst__ir_convert(func, HDST__U32, row);
    row = hdst__ir_binary(func, IR_MUL, HDST__U64, row, hdst__ir_const(func, HDST__U64, w->tuple->rows_each));
    ir_expr *element = stmt->index2 ? hdst__ir_convert(func, HDST__U64, hdst__ir_copy(func, stmt->index2)) : hdst__ir_const(func, HDST__U64, 0);
    return hdst__ir_convert(func, HDST__U32, hdst__ir_binary(func, IR_ADD, HDST__U64, row, element));
}

static void add(writer *w, ir_block *block, const ir_stmt *stmt)
{
    ir_expr *row = row_of(w, stmt);
    if (!w->open || w->stored[stmt->leaf] || !is_same(w, w->row, row)) {
        const size_t sets = w->sets;        // they hold for the next one, too
        end_tuple(w, block);
        w->sets = sets;
        w->open = true;
        w->row = row;
        for (size_t i = 0; i < w->tuple->row->leaf_count; i++) w->stored[i] = false;
        store(w, block, 0, hdst__ir_copy(w->func, row));
    }
    store(w, block, stmt->leaf + 1, stmt->value);
    w->stored[stmt->leaf] = true;
}

static void rewrite(writer *w, ir_block *block)
{
    const ir_block before = *block;
    *block = (ir_block){0};
    w->sets = 0;
    for (size_t i = 0; i < before.count; i++) {
        ir_stmt *stmt = before.items[i];
        if (stmt->kind == IR_ACCUM) {
            if (stmt->param == w->table) add(w, block, stmt);
            continue;
        }
        if (stmt->kind == IR_STORE || stmt->kind == IR_EMIT) continue;
        if (stmt->kind == IR_SET) note_set(w, block, stmt);
        else if (stmt->kind != IR_CHECK) end_tuple(w, block);
        ir_block *nested[HDST__IR_NESTED];
        const int count = hdst__ir_nested(stmt, nested);
        for (int n = 0; n < count; n++) rewrite(w, nested[n]);
        w->sets = count ? 0 : w->sets;
        hdst__ir_push(w->func, block, stmt);
    }
    end_tuple(w, block);
}

static uint32_t set_output(ir_func *func, const hdst__record *record)
{
    const ir_param output = {.kind = IR_OUTPUT, .name = "result", .bind = "result", .record = record};
    if (func->params[func->param_count - 1].kind != IR_OUTPUT) return hdst__ir_add_param(func, output);
    func->params[func->param_count - 1] = output;
    return (uint32_t)func->param_count - 1;
}

ir_func *hdst__row_addends(hdst__arena *arena, const ir_func *func, uint32_t param, const hdst__row_tuple *tuple)
{
    ir_func *copy = hdst__ir_copy_func(arena, func);
    bool *gone = HDST__NEW_ARRAY(arena, bool, func->param_count + 1);      // the output may be one more
    for (size_t i = 0; i < func->param_count; i++) gone[i] = func->params[i].kind == IR_ACCUM_TABLE;
    writer w = {.func = copy, .table = param, .tuple = tuple, .laws = hdst__row_tuple_laws(arena, func, param)};
    w.stored = HDST__NEW_ARRAY(arena, bool, tuple->row->leaf_count);
    w.set = HDST__NEW_ARRAY(arena, const ir_stmt *, MOST_SETS);
    w.output = set_output(copy, tuple->record);
    w.check = hdst__ir_add_check(copy, (ir_check){.kind = IR_CHECK_EMIT, .what = func->name});
    rewrite(&w, &copy->body);
    copy->emits = copy->makes = true;
    copy->emits_few = false;
    remove_tables(&(removal){copy, gone});
    return copy;
}
