// SPDX-License-Identifier: Apache-2.0
// Groups. A group runs over the records with one key, which lie one after another in a table; so it is a map over the runs.
//
// group span(key int32_t k, stream row s) -> int64_t { int64_t n = 0; for (row r : s) n += r.a; return n; }
//
// in run, broadcast s[], out result
//   first = run.first; end = first + run.count; k = s[first].k
//   n = 0
//   for row in first .. end
//     n = add(n, s[row].a)
//   result = n
//
// A group of two streams runs over records of both (codegen/front/check_join.c), those of the left one first: `middle`, the first of the right one, is found by
// bisection.
#include "codegen/lower/lower_state.h"
#include "codegen/lower/steady.h"

#include <string.h>

const hdst__record *hdst__group_run_record(hdst__arena *arena)
{
    hdst__record *record = HDST__NEW(arena, hdst__record);
    hdst__field *fields = HDST__NEW_ARRAY(arena, hdst__field, 2);
    fields[0] = (hdst__field){.name = "first", .type = hdst__type_scalar(HDST__U64)};
    fields[1] = (hdst__field){.name = "count", .type = hdst__type_scalar(HDST__U64)};
    *record = (hdst__record){.name = "run", .fields = fields, .field_count = 2};
    const char *why = NULL;
    hdst__record_finish(arena, record, &why);       // two numbers: cannot fail
    return record;
}

ir_expr *hdst__group_run_leaf(ir_func *func, uint32_t leaf)
{
    ir_expr *e = hdst__ir_const(func, HDST__U64, 0);
    e->op = IR_FIELD;
    e->leaf = leaf;
    return e;
}

static uint32_t set_u64(lowerer *l, const char *name, ir_expr *value)
{
    uint32_t var = hdst__ir_add_var(l->func, name, HDST__U64, 0);
    hdst__lower_push(l, hdst__ir_set(l->func, var, value));
    return var;
}

static const ast_decl *find(const ast_function *function, ast_qualifier qualifier)
{
    for (size_t i = 0; i < function->param_count; i++)
        if (function->params[i]->qualifier == qualifier) return function->params[i];
    return NULL;
}

// The stream's field with the name of the key parameter, if it has the parameter's type.
static const hdst__key_leaf *key_by_name(lowerer *l, const ast_decl *key, const hdst__record *stream)
{
    const hdst__field *field = hdst__record_field(stream, key->name);
    if (!field || !hdst__type_equal(field->type, key->type)) return NULL;
    const uint32_t count = hdst__lower_leaf_count(key->type);
    uint32_t before = 0;
    for (const hdst__field *f = stream->fields; f != field; f++) before += hdst__lower_leaf_count(f->type);
    hdst__key_leaf *leaves = HDST__NEW_ARRAY(l->arena, hdst__key_leaf, count);
    for (uint32_t i = 0; i < count; i++) leaves[i].leaf = before + i;
    return leaves;
}

// Reads element `element` (NULL: the only one) of a leaf of the key from the first record of the run.
static ir_expr *key_value(lowerer *l, uint32_t stream, const hdst__leaf *leaf, const hdst__key_leaf *at, ir_expr *element)
{
    ir_expr *value = hdst__ir_const(l->func, leaf->kind, 0);
    value->op = IR_BROADCAST;
    value->param = stream;
    value->leaf = at->leaf;
    value->a = hdst__ir_var(l->func, l->group[0]);
    if (leaf->elements == 1) return value;
    ir_expr *base = hdst__ir_const(l->func, HDST__U32, at->element);
    value->b = element ? hdst__ir_binary(l->func, IR_ADD, HDST__U32, element, base) : base;
    return value;
}

static void bind_key(lowerer *l, const ast_decl *key, uint32_t stream, const hdst__key_leaf *at)
{
    lower_place place = hdst__lower_new_local(l, key->name, key->type);
    for (uint32_t i = 0; i < hdst__lower_leaf_count(key->type); i++) {
        const hdst__leaf *from = &l->func->params[stream].record->leaves[at[i].leaf];
        const uint64_t elements = hdst__lower_leaf_elements(key->type, i);
        if (!l->func->vars[place.first + i].elements) {
            hdst__lower_push(l, hdst__ir_set(l->func, place.first + i, key_value(l, stream, from, &at[i], NULL)));
            continue;
        }
        const uint32_t e = hdst__ir_add_var(l->func, "e", HDST__U32, 0);
        ir_stmt *loop = hdst__ir_for(l->func, e, hdst__ir_const(l->func, HDST__U32, 0), hdst__ir_const(l->func, HDST__U32, elements), 1);
        ir_stmt *set = hdst__ir_set(l->func, place.first + i, key_value(l, stream, from, &at[i], hdst__ir_var(l->func, e)));
        set->kind = IR_SET_ELEM;
        set->index = hdst__ir_var(l->func, e);
        hdst__ir_push(l->func, &loop->body, set);
        hdst__lower_push(l, loop);
    }
    hdst__lower_bind(l, key, place, false);
}

// --- Two streams ---

// after - before, halved, from `before` on.
static ir_expr *half_way(lowerer *l, uint32_t before, uint32_t after)
{
    ir_expr *span = hdst__ir_binary(l->func, IR_SUB, HDST__U64, hdst__ir_var(l->func, after), hdst__ir_var(l->func, before));
    ir_expr *half = hdst__ir_binary(l->func, IR_SHR, HDST__U64, span, hdst__ir_const(l->func, HDST__U32, 1));
    return hdst__ir_binary(l->func, IR_ADD, HDST__U64, hdst__ir_var(l->func, before), half);
}

// low ends as the number of the first record of the run that is of the right side, or as the run's end.
static uint32_t find_middle(lowerer *l, const lower_place *is_right)
{
    const uint32_t low = set_u64(l, "middle", hdst__ir_var(l->func, l->group[0])), high = set_u64(l, "high", hdst__ir_var(l->func, l->group[1]));
    ir_block *around = l->block;
    ir_stmt *loop = hdst__ir_stmt(l->func, IR_LOOP, (hdst__span){0});
    loop->cond = hdst__ir_binary(l->func, IR_LT, HDST__BOOL, hdst__ir_var(l->func, low), hdst__ir_var(l->func, high));
    l->block = &loop->body;
    const uint32_t half = set_u64(l, "half", half_way(l, low, high)), right = hdst__ir_add_var(l->func, "is_right", HDST__BOOL, 0);
    lower_place at = *is_right;
    at.row = hdst__ir_var(l->func, half);
    hdst__lower_push(l, hdst__ir_set(l->func, right, hdst__lower_load(l, &at)));
    ir_expr *next = hdst__ir_binary(l->func, IR_ADD, HDST__U64, hdst__ir_var(l->func, half), hdst__ir_const(l->func, HDST__U64, 1));
    hdst__lower_push(l, hdst__ir_set(l->func, low, hdst__ir_select(l->func, hdst__ir_var(l->func, right), hdst__ir_var(l->func, low), next)));
    hdst__lower_push(l, hdst__ir_set(l->func, high, hdst__ir_select(l->func, hdst__ir_var(l->func, right), hdst__ir_var(l->func, half),
                                                                    hdst__ir_var(l->func, high))));
    l->block = around;
    hdst__lower_push(l, loop);
    return low;
}

static void bind_sides(lowerer *l, const ast_function *function, const lower_place *rows)
{
    static const char *const names[] = {"left", "right"};
    const hdst__record *both = function->pair->type->record;
    size_t side = 0;
    for (size_t i = 0; i < function->param_count; i++) {
        if (function->params[i]->qualifier != AST_STREAM) continue;
        hdst__lower_bind(l, function->params[i], hdst__lower_field(rows, hdst__record_field(both, names[side++])), true);
        l->right = function->params[i];
    }
    const lower_place is_right = hdst__lower_field(rows, hdst__record_field(both, "is_right"));
    l->middle = find_middle(l, &is_right);
}

bool hdst__lower_group_params(lowerer *l, const ast_function *function, const hdst__key_leaf *key)
{
    const ast_decl *stream = find(function, AST_STREAM), *key_param = find(function, AST_KEY);
    const hdst__type *element = function->pair ? function->pair->type : stream->type->element;
    const char *name = function->pair ? "records" : stream->name;
    const hdst__record *record = hdst__lower_row_record(l->arena, element);
    if (!key) key = key_by_name(l, key_param, record);
    if (!key) return false;
    hdst__ir_add_param(l->func, (ir_param){.kind = IR_INPUT, .name = "run", .bind = "run", .record = hdst__group_run_record(l->arena)});
    const uint32_t table =
        hdst__ir_add_param(l->func, (ir_param){.kind = IR_BROADCAST_TABLE, .name = name, .bind = name, .record = record, .is_table = true});
    l->group[0] = set_u64(l, "first", hdst__group_run_leaf(l->func, 0));
    l->group[1] = set_u64(l, "end", hdst__ir_binary(l->func, IR_ADD, HDST__U64, hdst__ir_var(l->func, l->group[0]), hdst__group_run_leaf(l->func, 1)));
    const lower_place rows = {.base = PLACE_BROADCAST, .type = element, .first = table, .name = name};
    if (function->pair) bind_sides(l, function, &rows);
    else hdst__lower_bind(l, stream, rows, true);
    bind_key(l, key_param, table, key);
    return true;
}

// Of a stream: its records within the run.
static hdst__key_rows rows_of(const lowerer *l, const ast_decl *stream)
{
    if (!l->right) return (hdst__key_rows){l->group[0], l->group[1]};
    return stream == l->right ? (hdst__key_rows){l->middle, l->group[1]} : (hdst__key_rows){l->group[0], l->middle};
}

void hdst__lower_for_in(lowerer *l, const ast_stmt *s)
{
    const size_t known = l->found_count;
    hdst__lower_find_key_rows(l, s);
    const lower_key_rows of = hdst__is_key_rows(s->value) ? hdst__lower_key_rows(l, s->value)
                              : (lower_key_rows){hdst__lower_find(l, s->value->decl), rows_of(l, s->value->decl), NULL};
    lower_place record = of.table->place;
    const uint32_t row = hdst__ir_add_var(l->func, "row", HDST__U64, 0), outer = l->switch_continue;
    record.row = hdst__ir_var(l->func, row);
    ir_stmt *loop = hdst__ir_for(l->func, row, hdst__ir_var(l->func, of.lie.first), hdst__ir_var(l->func, of.lie.end), 1);
    loop->span = s->span;
    ir_block *around = l->block;
    l->block = &loop->body;
    l->switch_continue = IR_NO_VAR;
    if (hdst__lower_assigns(s->then, s->decl)) {
        lower_place copy = hdst__lower_new_local(l, s->decl->name, s->decl->type);
        hdst__lower_copy(l, &copy, &record);
        record = copy;
    }
    hdst__lower_bind(l, s->decl, record, false);
    if (s->then) hdst__lower_stmt(l, s->then);
    l->block = around;
    l->switch_continue = outer;
    l->found_count = known;
    hdst__lower_push(l, loop);
}
