// SPDX-License-Identifier: Apache-2.0
// Places: where a value of any type lies. Here records and arrays of records become leaves, so that IR has only scalars and
// arrays of scalars.
#include "codegen/ir/eval.h"
#include "codegen/lower/lower_state.h"

#include <string.h>

// --- Leaves of types ---

uint32_t hdst__lower_leaf_count(const hdst__type *type)
{
    while (type->kind == HDST__ARRAY) type = type->element;
    if (type->kind != HDST__RECORD) return 1;
    return (uint32_t)type->record->leaf_count;
}

hdst__kind hdst__lower_leaf_kind(const hdst__type *type, uint32_t leaf)
{
    while (type->kind == HDST__ARRAY) type = type->element;
    return type->kind == HDST__RECORD ? type->record->leaves[leaf].kind : type->kind;
}

uint64_t hdst__lower_leaf_elements(const hdst__type *type, uint32_t leaf)
{
    uint64_t count = 1;
    for (; type->kind == HDST__ARRAY; type = type->element) count *= type->count;
    return type->kind == HDST__RECORD ? count * type->record->leaves[leaf].elements : count;
}

static bool leaf_is_array(const hdst__type *type, uint32_t leaf)
{
    if (type->kind == HDST__ARRAY) return true;
    return type->kind == HDST__RECORD && type->record->leaves[leaf].dims > 0;
}

static const char *leaf_name(lowerer *l, const char *name, const hdst__type *type, uint32_t leaf)
{
    while (type->kind == HDST__ARRAY) type = type->element;
    if (type->kind != HDST__RECORD) return name;
    char *path = hdst__arena_printf(l->arena, "%s_%s", name, type->record->leaves[leaf].path);
    for (char *dot = path; (dot = strchr(dot, '.'));) *dot = '_';
    return path;
}

lower_place hdst__lower_new_local(lowerer *l, const char *name, const hdst__type *type)
{
    lower_place place = {.base = PLACE_LOCAL, .type = type, .name = name, .first = (uint32_t)l->func->var_count};
    for (uint32_t i = 0; i < hdst__lower_leaf_count(type); i++)
        hdst__ir_add_var(l->func, leaf_name(l, name, type, i), hdst__lower_leaf_kind(type, i), leaf_is_array(type, i) ? hdst__lower_leaf_elements(type, i) : 0);
    return place;
}

lower_place hdst__lower_field(const lower_place *place, const hdst__field *field)
{
    lower_place inner = *place;
    const hdst__record *record = place->type->record;
    for (const hdst__field *f = record->fields; f != field; f++) inner.leaf += hdst__lower_leaf_count(f->type);
    inner.type = field->type;
    return inner;
}

lower_place hdst__lower_element(lowerer *l, const lower_place *place, ir_expr *index)
{
    lower_step *step = HDST__NEW(l->arena, lower_step);
    *step = (lower_step){place->steps, index, place->type->element, place->leaf};
    lower_place inner = *place;
    inner.steps = step;
    inner.type = place->type->element;
    return inner;
}

lower_place hdst__lower_evaluate_indices(lowerer *l, lower_place place)
{
    if (place.row) place.row = hdst__lower_simple(l, "row", place.row);
    const lower_step *steps = place.steps;
    lower_step **slot = (lower_step **)&place.steps;
    for (; steps; steps = steps->outer) {
        lower_step *copy = HDST__NEW(l->arena, lower_step);
        *copy = *steps;
        copy->index = hdst__lower_simple(l, "index", steps->index);
        *slot = copy;
        slot = (lower_step **)&copy->outer;
    }
    return place;
}

// --- Scalars ---

static ir_expr *scaled(lowerer *l, ir_expr *index, uint64_t stride)
{
    ir_expr *wide = hdst__lower_convert(l, stride > UINT32_MAX ? HDST__U64 : HDST__U32, index);
    if (stride == 1) return wide;
    if (wide->op == IR_CONST) return hdst__ir_const(l->func, wide->kind, hdst__eval_binary(IR_MUL, wide->kind, wide->bits, stride));
    return hdst__ir_binary(l->func, IR_MUL, wide->kind, wide, hdst__ir_const(l->func, wide->kind, stride));
}

static ir_expr *sum(lowerer *l, ir_expr *a, ir_expr *b)
{
    if (!a || hdst__ir_is_const(a, 0)) return b;
    if (!b || hdst__ir_is_const(b, 0)) return a;
    hdst__kind kind = a->kind == HDST__U64 || b->kind == HDST__U64 ? HDST__U64 : HDST__U32;
    a = hdst__lower_convert(l, kind, a);
    b = hdst__lower_convert(l, kind, b);
    if (a->op == IR_CONST && b->op == IR_CONST) return hdst__ir_const(l->func, kind, hdst__eval_binary(IR_ADD, kind, a->bits, b->bits));
    return hdst__ir_binary(l->func, IR_ADD, kind, a, b);
}

// The number of the element of leaf `leaf` (counted within place->type) that the place's indices lead to, plus `extra`; NULL for
// element 0. Arrays of 2^32 elements are refused earlier (records have at most 2^40 bytes, locals fit private memory), so u32 is
// enough below the outermost index.
static ir_expr *element_of(lowerer *l, const lower_place *place, uint32_t leaf, ir_expr *extra)
{
    ir_expr *element = extra ? hdst__ir_copy(l->func, extra) : NULL;
    for (const lower_step *s = place->steps; s; s = s->outer) {
        uint64_t stride = hdst__lower_leaf_elements(s->element, place->leaf + leaf - s->leaf);
        element = sum(l, scaled(l, hdst__ir_copy(l->func, s->index), stride), element);
    }
    return element;
}

static ir_expr *new_access(lowerer *l, ir_op op, hdst__kind kind)
{
    ir_expr *e = hdst__ir_const(l->func, kind, 0);
    e->op = op;
    return e;
}

static ir_expr *zero_index(lowerer *l, ir_expr *element) { return element ? element : hdst__ir_const(l->func, HDST__U32, 0); }

ir_expr *hdst__lower_load_leaf(lowerer *l, const lower_place *place, uint32_t leaf, ir_expr *extra)
{
    hdst__kind kind = hdst__lower_leaf_kind(place->type, leaf);
    ir_expr *element = element_of(l, place, leaf, extra);
    uint32_t number = place->leaf + leaf;
    if (place->base == PLACE_LOCAL) {
        uint32_t var = place->first + number;
        if (!l->func->vars[var].elements) return hdst__ir_var(l->func, var);
        ir_expr *e = new_access(l, IR_ELEM, kind);
        e->var = var;
        e->a = zero_index(l, element);
        return e;
    }
    ir_expr *e = new_access(l, place->base == PLACE_INPUT ? IR_FIELD : IR_BROADCAST, kind);
    e->param = place->first;
    e->leaf = number;
    if (place->base == PLACE_INPUT) {
        e->a = element;
    } else {
        e->a = hdst__ir_copy(l->func, place->row);
        e->b = element;
    }
    return e;
}

static void store_leaf(lowerer *l, const lower_place *place, uint32_t leaf, ir_expr *extra, ir_expr *value)
{
    ir_expr *element = element_of(l, place, leaf, extra);
    uint32_t number = place->leaf + leaf;
    ir_stmt *stmt;
    if (place->base == PLACE_OUTPUT) {
        stmt = hdst__ir_stmt(l->func, IR_STORE, value->span);
        stmt->param = place->first;
        stmt->leaf = number;
        stmt->index = element;
        stmt->value = value;
        if (value->kind == HDST__TEXT && l->func->params[place->first].given) {
            const lower_place text = {.base = PLACE_OUTPUT, .first = place->first, .leaf = number};
            hdst__lower_not_built(l, &text);
        }
    } else if (!l->func->vars[place->first + number].elements) {
        stmt = hdst__ir_set(l->func, place->first + number, value);
    } else {
        stmt = hdst__ir_set(l->func, place->first + number, value);
        stmt->kind = IR_SET_ELEM;
        stmt->index = zero_index(l, element);
    }
    hdst__lower_push(l, stmt);
}

ir_expr *hdst__lower_load(lowerer *l, const lower_place *place) { return hdst__lower_load_leaf(l, place, 0, NULL); }

void hdst__lower_store(lowerer *l, const lower_place *place, ir_expr *value) { store_leaf(l, place, 0, NULL, value); }

// --- Whole values, leaf by leaf ---

// Copies leaf by leaf; from NULL: zeros.
static void fill_leaf(lowerer *l, const lower_place *to, const lower_place *from, uint32_t leaf)
{
    uint64_t elements = hdst__lower_leaf_elements(to->type, leaf);
    ir_block *outer = l->block;
    ir_stmt *loop = NULL;
    ir_expr *element = NULL;
    if (elements > 1) {
        uint32_t e = hdst__ir_add_var(l->func, "e", HDST__U32, 0);
        element = hdst__ir_var(l->func, e);
        loop = hdst__ir_for(l->func, e, hdst__ir_const(l->func, HDST__U32, 0), hdst__ir_const(l->func, HDST__U32, elements), 1);
        l->block = &loop->body;
    }
    ir_expr *value = from ? hdst__lower_load_leaf(l, from, leaf, element) : hdst__ir_const(l->func, hdst__lower_leaf_kind(to->type, leaf), 0);
    store_leaf(l, to, leaf, element, value);
    l->block = outer;
    if (loop) hdst__lower_push(l, loop);
}

void hdst__lower_copy(lowerer *l, const lower_place *to, const lower_place *from)
{
    for (uint32_t i = 0; i < hdst__lower_leaf_count(to->type); i++) fill_leaf(l, to, from, i);
}

void hdst__lower_zero(lowerer *l, const lower_place *place)
{
    for (uint32_t i = 0; i < hdst__lower_leaf_count(place->type); i++) fill_leaf(l, place, NULL, i);
}

// --- Accumulators ---

// Whether a double addend is a converted float or small integer: its 24 bits fit one word.
static bool from_float(const ir_expr *value)
{
    while (value->op == IR_NEG || value->op == IR_ABS) value = value->a;
    return value->op == IR_CONVERT && (value->a->kind == HDST__F32 || hdst__scalar_size(value->a->kind) <= 2);
}

static void note_law(lowerer *l, ir_param *param, uint32_t leaf, hdst__accumulate_op acc, const ir_expr *value)
{
    size_t leaves = param->record->leaf_count;
    if (!param->leaf_op) {
        param->leaf_op = HDST__NEW_ARRAY(l->arena, hdst__accumulate_op, leaves);
        param->leaf_from_float = HDST__NEW_ARRAY(l->arena, bool, leaves);
        for (size_t i = 0; i < leaves; i++) param->leaf_from_float[i] = param->record->leaves[i].kind == HDST__F64;
    }
    param->leaf_op[leaf] = acc;
    if (!from_float(value)) param->leaf_from_float[leaf] = false;
}

void hdst__lower_accumulate(lowerer *l, const lower_place *place, hdst__accumulate_op acc, ir_expr *value, hdst__span span)
{
    ir_stmt *stmt = hdst__ir_stmt(l->func, IR_ACCUM, span);
    stmt->param = place->first;
    stmt->leaf = place->leaf;
    stmt->index = hdst__ir_copy(l->func, place->row);
    stmt->index2 = element_of(l, place, 0, NULL);
    stmt->acc = acc;
    stmt->value = value;
    note_law(l, &l->func->params[place->first], place->leaf, acc, value);
    hdst__lower_push(l, stmt);
}
