// SPDX-License-Identifier: Apache-2.0
// Scans by a function of two records, over blocks of records: what a block comes to, and what each of its records comes to with all in front of it.
//
// reduce last(item a, item b) { return b.x < 0 ? a : b; }, in block {count, has, begins, before, rows[64]}
//
//   so_far = block.before; open = block.has
//   for i in 0 .. 64
//     if i < block.count
//       if open and bit i of block.begins is 0
//         next = last(so_far, block.rows[i]); so_far = next
//       else
//         so_far = block.rows[i]
//       open = true
//       result = so_far; emit
#include "codegen/lower/leaf_vars.h"
#include "codegen/lower/operator_scan_function.h"

enum { COUNT, HAS, BEGINS, BEFORE };        // leaves of a block; then as many as the record has, and as many again of its rows

typedef struct rewrite {
    ir_func *func;
    const hdst__record *record;
    uint32_t so_far, next;      // the first of their variables, one for each leaf of the record
    uint32_t row;               // the variable of the second record's number in the block
} rewrite;

static const hdst__record *finish(hdst__arena *arena, const char *name, hdst__field *fields, size_t count)
{
    hdst__record *record = HDST__NEW(arena, hdst__record);
    const char *why = NULL;
    *record = (hdst__record){.name = name, .fields = fields, .field_count = count};
    return hdst__record_finish(arena, record, &why) ? record : NULL;
}

const hdst__record *hdst__scan_block_record(hdst__arena *arena, const hdst__record *record)
{
    hdst__field *fields = HDST__NEW_ARRAY(arena, hdst__field, 5);
    const hdst__type *row = hdst__type_record(arena, record);
    fields[0] = (hdst__field){.name = "count", .type = hdst__type_scalar(HDST__U32)};
    fields[1] = (hdst__field){.name = "has", .type = hdst__type_scalar(HDST__U32)};
    fields[2] = (hdst__field){.name = "begins", .type = hdst__type_scalar(HDST__U64)};
    fields[3] = (hdst__field){.name = "before", .type = row};
    fields[4] = (hdst__field){.name = "rows", .type = hdst__type_array(arena, row, HDST__SCAN_RECORDS)};
    return finish(arena, "block", fields, 5);
}

const hdst__record *hdst__scan_total_record(hdst__arena *arena, const hdst__record *record)
{
    hdst__field *fields = HDST__NEW_ARRAY(arena, hdst__field, 2);
    fields[0] = (hdst__field){.name = "value", .type = hdst__type_record(arena, record)};
    fields[1] = (hdst__field){.name = "begins", .type = hdst__type_scalar(HDST__U32)};
    return finish(arena, "total", fields, 2);
}

// --- What a block has ---

static ir_expr *block_leaf(ir_func *func, hdst__kind kind, uint32_t leaf, ir_expr *element)
{
    ir_expr *e = hdst__ir_const(func, kind, 0);
    e->op = IR_FIELD;
    e->leaf = leaf;
    e->a = element;
    return e;
}

// Element `element` of the leaf, of the row that the variable says.
static ir_expr *row_leaf(const rewrite *r, uint32_t leaf, ir_expr *element)
{
    ir_func *func = r->func;
    const hdst__leaf *of = &r->record->leaves[leaf];
    ir_expr *at = hdst__ir_convert(func, HDST__U64, hdst__ir_var(func, r->row));
    if (of->elements > 1) {
        at = hdst__ir_binary(func, IR_MUL, HDST__U64, at, hdst__ir_const(func, HDST__U64, of->elements));
        if (element) at = hdst__ir_binary(func, IR_ADD, HDST__U64, at, hdst__ir_convert(func, HDST__U64, element));
    }
    return block_leaf(func, of->kind, BEFORE + (uint32_t)r->record->leaf_count + leaf, at);
}

static bool rewrite_read(ir_expr **slot, void *user)
{
    const rewrite *r = user;
    ir_expr *e = *slot;
    if (e->op != IR_FIELD) return true;
    *slot = e->param == 0 ? hdst__leaf_var_read(r->func, r->so_far + e->leaf, e->a) : row_leaf(r, e->leaf, e->a);
    return true;
}

static bool rewrite_store(ir_stmt *s, void *user)
{
    const rewrite *r = user;
    if (s->kind == IR_STORE) hdst__leaf_var_set(r->func, s, r->next + s->leaf, s->index);
    return true;
}

// --- Whole records ---

typedef enum origin { OF_BEFORE, OF_ROW, OF_NEXT, OF_SO_FAR, OF_IDENTITY } origin;

static ir_expr *read_leaf(const rewrite *r, origin from, uint32_t leaf, ir_expr *element)
{
    ir_func *func = r->func;
    const hdst__kind kind = r->record->leaves[leaf].kind;
    switch (from) {
    case OF_ROW: return row_leaf(r, leaf, element);
    case OF_NEXT: return hdst__leaf_var_read(func, r->next + leaf, element);
    case OF_SO_FAR: return hdst__leaf_var_read(func, r->so_far + leaf, element);
    case OF_BEFORE: return block_leaf(func, kind, BEFORE + leaf, element);
    case OF_IDENTITY: break;
    }
    ir_expr *e = hdst__ir_const(func, kind, 0);
    e->op = IR_BROADCAST;
    e->param = 1;
    e->leaf = leaf;
    e->b = element;
    return e;
}

// All leaves to the variables from `var` on.
static void set_record(const rewrite *r, ir_block *block, uint32_t var, origin from)
{
    ir_func *func = r->func;
    for (uint32_t l = 0; l < r->record->leaf_count; l++) {
        ir_expr *element;
        ir_block *inner = hdst__over_elements(func, block, r->record->leaves[l].elements, &element);
        ir_stmt *set = hdst__ir_set(func, var + l, read_leaf(r, from, l, element));
        hdst__leaf_var_set(func, set, var + l, element ? hdst__ir_copy(func, element) : NULL);
        hdst__ir_push(func, inner, set);
    }
}

static void store_value(const rewrite *r, ir_block *block, uint32_t leaf, ir_expr *index, ir_expr *value)
{
    ir_stmt *store = hdst__ir_stmt(r->func, IR_STORE, (hdst__span){0});
    store->param = (uint32_t)r->func->param_count - 1;
    store->leaf = leaf;
    store->index = index;
    store->value = value;
    hdst__ir_push(r->func, block, store);
}

static void store_record(const rewrite *r, ir_block *block, uint32_t var)
{
    for (uint32_t l = 0; l < r->record->leaf_count; l++) {
        ir_expr *element;
        ir_block *inner = hdst__over_elements(r->func, block, r->record->leaves[l].elements, &element);
        ir_expr *value = hdst__leaf_var_read(r->func, var + l, element);
        store_value(r, inner, l, element ? hdst__ir_copy(r->func, element) : NULL, value);
    }
}

// --- The loop over the rows ---

static ir_expr *begins_here(const rewrite *r)
{
    ir_func *func = r->func;
    ir_expr *bit = hdst__ir_binary(func, IR_SHR, HDST__U64, block_leaf(func, HDST__U64, BEGINS, NULL), hdst__ir_var(func, r->row));
    bit = hdst__ir_binary(func, IR_AND, HDST__U64, bit, hdst__ir_const(func, HDST__U64, 1));
    return hdst__ir_binary(func, IR_NE, HDST__BOOL, bit, hdst__ir_const(func, HDST__U64, 0));
}

static ir_stmt *loop_over_rows(const rewrite *r, uint32_t first, ir_block **each)
{
    ir_func *func = r->func;
    ir_stmt *loop = hdst__ir_for(func, r->row, hdst__ir_const(func, HDST__U32, first), hdst__ir_const(func, HDST__U32, HDST__SCAN_RECORDS), 1);
    ir_expr *there = hdst__ir_binary(func, IR_LT, HDST__BOOL, hdst__ir_var(func, r->row), block_leaf(func, HDST__U32, COUNT, NULL));
    ir_stmt *test = hdst__ir_if(func, there);
    hdst__ir_push(func, &loop->body, test);
    *each = &test->then;
    return loop;
}

// so_far becomes the function of it and the row where `goes_on`, else the row.
static void take_row(const rewrite *r, ir_block *block, ir_expr *goes_on, ir_block body)
{
    ir_stmt *test = hdst__ir_if(r->func, goes_on);
    hdst__ir_visit_exprs(&body, rewrite_read, (void *)(uintptr_t)r);
    hdst__ir_visit_stmts(&body, rewrite_store, (void *)(uintptr_t)r);
    test->then = body;
    set_record(r, &test->then, r->so_far, OF_NEXT);
    set_record(r, &test->otherwise, r->so_far, OF_ROW);
    hdst__ir_push(r->func, block, test);
}

// The reduce without its parameters, and its body.
static rewrite begin(hdst__arena *arena, const ir_func *reduce, const hdst__record *block, ir_block *body)
{
    ir_func *func = hdst__ir_copy_func(arena, reduce);
    *body = func->body;
    func->body = (ir_block){0};
    func->param_count = func->param_capacity = 0;
    func->params = NULL;
    func->makes = true;
    hdst__ir_add_param(func, (ir_param){.kind = IR_INPUT, .name = "block", .bind = "block", .record = block});
    rewrite r = {.func = func, .record = reduce->params[0].record};
    r.so_far = hdst__leaf_vars_add(func, r.record, "so_far");
    r.next = hdst__leaf_vars_add(func, r.record, "next");
    r.row = hdst__ir_add_var(func, "row", HDST__U32, 0);
    return r;
}

static void add_output(const rewrite *r, const hdst__record *record)
{
    hdst__ir_add_param(r->func, (ir_param){.kind = IR_OUTPUT, .name = "result", .bind = "result", .record = record});
}

ir_func *hdst__operator_scan_total(hdst__arena *arena, const ir_func *reduce, const hdst__record *block, const hdst__record *total)
{
    ir_block body, *each;
    rewrite r = begin(arena, reduce, block, &body);
    ir_func *func = r.func;
    add_output(&r, total);
    hdst__ir_push(func, &func->body, hdst__ir_set(func, r.row, hdst__ir_const(func, HDST__U32, 0)));
    set_record(&r, &func->body, r.so_far, OF_ROW);
    r.row = hdst__ir_add_var(func, "row", HDST__U32, 0);
    ir_stmt *loop = loop_over_rows(&r, 1, &each);
    take_row(&r, each, hdst__ir_unary(func, IR_NOT, HDST__BOOL, begins_here(&r)), body);
    hdst__ir_push(func, &func->body, loop);
    store_record(&r, &func->body, r.so_far);
    ir_expr *begins = hdst__ir_binary(func, IR_NE, HDST__BOOL, block_leaf(func, HDST__U64, BEGINS, NULL), hdst__ir_const(func, HDST__U64, 0));
    store_value(&r, &func->body, (uint32_t)r.record->leaf_count, NULL, hdst__ir_convert(func, HDST__U32, begins));
    return func;
}

static void emit(const rewrite *r, ir_block *block, uint32_t var)
{
    ir_func *func = r->func;
    store_record(r, block, var);
    ir_stmt *s = hdst__ir_stmt(func, IR_EMIT, (hdst__span){0});
    s->check = hdst__ir_add_check(func, (ir_check){.kind = IR_CHECK_EMIT, .what = func->name, .diags = func->diags});
    hdst__ir_push(func, block, s);
}

ir_func *hdst__operator_scan(hdst__arena *arena, const ir_func *reduce, const hdst__record *block, bool exclusive)
{
    ir_block body, *each;
    rewrite r = begin(arena, reduce, block, &body);
    ir_func *func = r.func;
    if (exclusive)
        hdst__ir_add_param(func, (ir_param){.kind = IR_BROADCAST_TABLE, .name = "identity", .bind = "identity", .record = r.record});
    add_output(&r, r.record);
    func->emits = true;
    const uint32_t open = hdst__ir_add_var(func, "open", HDST__BOOL, 0), goes_on = hdst__ir_add_var(func, "goes_on", HDST__BOOL, 0);
    const uint32_t given = exclusive ? hdst__leaf_vars_add(func, r.record, "given") : r.so_far;
    ir_expr *has = hdst__ir_binary(func, IR_NE, HDST__BOOL, block_leaf(func, HDST__U32, HAS, NULL), hdst__ir_const(func, HDST__U32, 0));
    hdst__ir_push(func, &func->body, hdst__ir_set(func, open, has));
    set_record(&r, &func->body, r.so_far, OF_BEFORE);
    ir_stmt *loop = loop_over_rows(&r, 0, &each);
    ir_expr *within = hdst__ir_unary(func, IR_NOT, HDST__BOOL, begins_here(&r));
    hdst__ir_push(func, each, hdst__ir_set(func, goes_on, hdst__ir_binary(func, IR_AND, HDST__BOOL, hdst__ir_var(func, open), within)));
    if (exclusive) {
        ir_stmt *test = hdst__ir_if(func, hdst__ir_var(func, goes_on));
        set_record(&r, &test->then, given, OF_SO_FAR);
        set_record(&r, &test->otherwise, given, OF_IDENTITY);
        hdst__ir_push(func, each, test);
    }
    take_row(&r, each, hdst__ir_var(func, goes_on), body);
    hdst__ir_push(func, each, hdst__ir_set(func, open, hdst__ir_const(func, HDST__BOOL, 1)));
    emit(&r, each, given);
    hdst__ir_push(func, &func->body, loop);
    return func;
}
