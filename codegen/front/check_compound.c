// SPDX-License-Identifier: Apache-2.0
// Lists in braces: records, arrays, and the output built by (a, b).
#include "codegen/front/check.h"

#include <inttypes.h>
#include <string.h>

static ast_expr *record(hdst__checker *c, ast_expr *list, const hdst__record *r)
{
    bool *given = HDST__NEW_ARRAY(c->arena, bool, r->field_count);
    size_t next = 0;        // as in C: a list without names goes on after the last named field
    for (size_t i = 0; i < list->arg_count; i++) {
        ast_init *init = &list->inits[i];
        const hdst__field *field = NULL;
        if (init->field) {
            field = hdst__record_field(r, init->field);
            if (!field) {
                const char **names = HDST__NEW_ARRAY(c->arena, const char *, r->field_count);
                for (size_t k = 0; k < r->field_count; k++) names[k] = r->fields[k].name;
                const char *hint = hdst__check_near_or_all(c, "its fields are", init->field, names, r->field_count);
                hdst__diag_error(c->diags, init->span, hint, "the record '%s' has no field '%s'", r->name, init->field);
            }
        } else if (next < r->field_count) {
            field = &r->fields[next];
        } else {
            hdst__diag_error(c->diags, list->args[i]->span, NULL, "the record '%s' has %zu field%s", r->name, r->field_count, r->field_count == 1 ? "" : "s");
            return hdst__check_poisoned(list);
        }
        if (!field) {
            hdst__check_initializer(c, list->args[i], &hdst__check_poison, "");
            continue;
        }
        next = (size_t)(field - r->fields);
        if (given[next]) hdst__diag_error(c->diags, init->span, NULL, "the field '%s' is given twice", field->name);
        given[next++] = true;
        init->target = field;
        list->args[i] = hdst__check_initializer(c, list->args[i], field->type, hdst__arena_printf(c->arena, "the field '%s'", field->name));
    }
    return list;
}

static ast_expr *array(hdst__checker *c, ast_expr *list, const hdst__type *type)
{
    for (size_t i = 0; i < list->arg_count; i++) {
        if (list->inits[i].field) hdst__diag_error(c->diags, list->inits[i].span, NULL, "an array has no fields");
        if (i == type->count) {
            hdst__diag_error(c->diags, list->args[i]->span, NULL, "the array has %" PRIu64 " elements, the list %zu", type->count, list->arg_count);
            return hdst__check_poisoned(list);
        }
        list->args[i] = hdst__check_initializer(c, list->args[i], type->element, "the element");
    }
    return list;
}

static ast_expr *single(hdst__checker *c, ast_expr *list, const hdst__type *type, const char *what)
{
    if (list->arg_count == 1 && !list->inits[0].field) return hdst__check_initializer(c, list->args[0], type, what);     // { 0 } for a number, as in C
    hdst__diag_error(c->diags, list->span, NULL, "%s is %s: one value, not a list", what, hdst__check_type_name(c, type));
    return hdst__check_poisoned(list);
}

// `{ 0 }` is C's way to say all zero, also where the first part is no number.
static bool is_zero(const ast_expr *list, const hdst__type *type)
{
    bool one = list->arg_count == 1 && !list->inits[0].field && list->args[0]->kind == AST_NUMBER && list->args[0]->number.bits == 0;
    if (!one || hdst__kind_is_scalar(type->kind)) return false;
    return !hdst__kind_is_scalar((type->kind == HDST__RECORD ? type->record->fields[0].type : type->element)->kind);
}

static ast_expr *empty(ast_expr *list)
{
    list->arg_count = 0;
    return list;
}

// A list in braces for a place whose type is known.
ast_expr *hdst__check_list(hdst__checker *c, ast_expr *list, const hdst__type *type, const char *what)
{
    if (hdst__check_is_poison(type)) {
        for (size_t i = 0; i < list->arg_count; i++) hdst__check_initializer(c, list->args[i], type, what);
        return hdst__check_poisoned(list);
    }
    list->type = type;
    if (is_zero(list, type)) return empty(list);
    if (type->kind == HDST__RECORD) return record(c, list, type->record);
    if (type->kind == HDST__ARRAY) return array(c, list, type);
    return single(c, list, type, what);
}

ast_expr *hdst__check_initializer(hdst__checker *c, ast_expr *e, const hdst__type *type, const char *what)
{
    if (e->kind == AST_COMPOUND && !e->written) return hdst__check_list(c, e, type, what);
    return hdst__check_to_type(c, hdst__check_value(c, e), type, what);
}

ast_expr *hdst__check_tuple(hdst__checker *c, ast_expr *e, const hdst__type *type)
{
    const hdst__record *r = type->record;
    if (e->arg_count != r->field_count) {
        hdst__diag_error(c->diags, e->span, NULL, "the output has %zu fields, this gives %zu", r->field_count, e->arg_count);
        for (size_t i = 0; i < e->arg_count; i++) hdst__check_value(c, e->args[i]);
        return hdst__check_poisoned(e);
    }
    for (size_t i = 0; i < e->arg_count; i++)
        e->args[i] = hdst__check_initializer(c, e->args[i], r->fields[i].type, hdst__arena_printf(c->arena, "the field '%s'", r->fields[i].name));
    e->type = type;
    return e;
}
