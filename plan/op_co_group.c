// SPDX-License-Identifier: Apache-2.0
// Groups of two datasets: a function of the user sees the records of both that have one key. Each side becomes records that have room for either, with the key
// in front (codegen/front/check_join.c); those of the left side, then those of the right one, are one dataset, and a group of that has what belongs together:
// it is ordered, spilled and taken in parts as every group.
#include "codegen/lower/operator_functions.h"
#include "plan/kernel_module.h"
#include "plan/map_spec.h"
#include "plan/named_keys.h"
#include "plan/op_group.h"
#include "plan/operator.h"

// --- A side, a function ---

typedef struct side_own {
    hdst__named_keys key;           // in the parent's record
    bool is_right;
} side_own;

static void describe(const hdst_dataset *dataset, hdst__buffer *out)
{
    hdst__buffer_puts(out, ((const side_own *)dataset->own)->is_right ? " -> the right side" : " -> the left side");
}

static ir_func *lower(hdst__arena *arena, const hdst_dataset *dataset, hdst_error *error)
{
    (void)error;
    const side_own *own = dataset->own;
    uint32_t *leaf = HDST__NEW_ARRAY(arena, uint32_t, own->key.count);
    uint64_t *element = HDST__NEW_ARRAY(arena, uint64_t, own->key.count);
    for (size_t i = 0; i < own->key.count; i++) leaf[i] = own->key.place[i].leaf, element[i] = own->key.place[i].element;
    const hdst__record *from = dataset->parent->record, *to = dataset->record;
    const uint32_t keys = (uint32_t)own->key.count, first = own->is_right ? (uint32_t)(to->leaf_count - from->leaf_count) : keys + 1;
    return hdst__operator_one_side(arena, from, to, &(hdst__one_side){own->is_right, keys, first, leaf, element});
}

static void end(hdst_dataset *dataset) { hdst__free(HDST__ALLOCATOR(dataset), ((const side_own *)dataset->own)->key.place); }

const hdst__operator hdst__op_one_side = {.name = "a side of hdst_co_group", .gives = HDST__GIVES_EACH, .own_bytes = sizeof(side_own), .describe = describe,
                                          .lower = lower, .end = end};

// --- Whether a side fits the function ---

typedef struct co_group {
    const char *call;
    hdst_dataset *side[2];
    const char *key[2];
    const hdst_map_spec *spec;
} co_group;

static const char *const names[] = {"left", "right"}, *const key_names[] = {"left_key", "right_key"};

static const ast_decl *find_param(const ast_function *f, ast_qualifier qualifier, int which)
{
    for (size_t i = 0; i < f->param_count; i++)
        if (f->params[i]->qualifier == qualifier && which-- == 0) return f->params[i];
    return NULL;
}

static const char *name_of(const hdst__type *type) { return type->kind == HDST__RECORD ? type->record->name : hdst__scalar_c_name(type->kind); }

static hdst_status check_records(const co_group *c, int side, hdst_error *error)
{
    const ast_function *f = c->spec->function;
    const ast_decl *stream = find_param(f, AST_STREAM, side);
    const hdst__type *type = stream->type->element;
    const hdst__record *has = c->side[side]->record;
    if (type->kind == HDST__RECORD ? hdst__same_records(type->record, has) : has->is_scalar && has->leaves[0].kind == type->kind) return HDST_OK;
    return hdst__error_set(error, HDST_E_USAGE, "'%s' takes records of '%s' as '%s'; the %s dataset has '%s'", f->name, name_of(type), stream->name,
                           names[side], has->name);
}

static hdst_status check_key(const co_group *c, int side, const hdst__named_keys *keys, hdst_error *error)
{
    const ast_decl *param = find_param(c->spec->function, AST_KEY, 0);
    const hdst__record *record = c->side[side]->record, *both = c->spec->function->pair->type->record;
    const size_t wanted = hdst__type_leaves(param->type);
    for (size_t i = 0; i < keys->count && i < wanted; i++) {
        const hdst__leaf *is = &record->leaves[keys->place[i].leaf], *due = &both->leaves[i];
        if (is->kind == due->kind && keys->place[i].elements == due->elements) continue;
        hdst__error_set(error, HDST_E_USAGE, "key %zu of the %s dataset, '%s', is %s%s; key '%s' of '%s' is %s%s there", i + 1, names[side], is->path,
                        hdst__scalar_c_name(is->kind), keys->place[i].elements > 1 ? "[]" : "", param->name, c->spec->function->name,
                        hdst__scalar_c_name(due->kind), due->elements > 1 ? "[]" : "");
        hdst__error_hint(error, "a map in front of it makes keys of one type");
        return HDST_E_USAGE;
    }
    if (keys->count == wanted) return HDST_OK;
    return hdst__error_set(error, HDST_E_USAGE, "key '%s' of '%s' has %zu field%s, %s was given %zu of the %s dataset", param->name, c->spec->function->name,
                           wanted, wanted == 1 ? "" : "s", c->call, keys->count, names[side]);
}

static hdst_status check_function(const co_group *c, hdst_error *error)
{
    const hdst_status status = hdst__object_status(&c->spec->object, error);
    if (status != HDST_OK || (c->spec->function->kind == AST_GROUP && c->spec->function->pair)) return status;
    hdst__error_set(error, HDST_E_USAGE, "%s was given '%s', which is no group of two streams", c->call, c->spec->function->name);
    hdst__error_hint(error, "group %s(key K k, stream A a, stream B b) -> T { for (A e : a) ... for (B e : b) ... }", c->spec->function->name);
    return HDST_E_USAGE;
}

// --- The datasets ---

static hdst_status fill_side(hdst_dataset *dataset, const co_group *c, int side, hdst_error *error)
{
    side_own *own = dataset->own;
    own->is_right = side;
    hdst_status status = hdst__dataset_has_records(c->side[side], c->call, error);
    if (status == HDST_OK) status = check_records(c, side, error);
    if (status == HDST_OK) status = hdst__check_pointer(c->call, key_names[side], c->key[side], error);
    if (status == HDST_OK) status = hdst__named_keys_read(&own->key, HDST__ALLOCATOR(dataset), c->call, c->side[side]->record, c->key[side], error);
    if (status == HDST_OK) status = check_key(c, side, &own->key, error);
    if (status != HDST_OK) return status;
    hdst__dataset_as_structs(dataset);
    dataset->record = c->spec->function->pair->type->record;
    dataset->module = c->spec->module;
    hdst__object_retain(&dataset->module->object);
    return HDST_OK;
}

static hdst_dataset *add_side(const co_group *c, int side)
{
    hdst_error error = HDST_ERROR_INIT;
    hdst_dataset *dataset = hdst__dataset_new(c->side[side]->object.context, &hdst__op_one_side, c->side[side]);
    if (!dataset->object.context || dataset->object.error) return dataset;
    return fill_side(dataset, c, side, &error) == HDST_OK ? dataset : hdst__dataset_fail(dataset, &error);
}

// Takes over `spec`, which is c->spec.
static hdst_dataset *co_group_of(const co_group *c, hdst_map_spec *spec)
{
    hdst_error error = HDST_ERROR_INIT;
    hdst_context *context = c->side[0]->object.context;
    hdst__lock(context);
    hdst_status status = hdst__check_object(context, c->call, "right", c->side[1], &error);
    if (status == HDST_OK) status = check_function(c, &error);
    hdst_dataset *sides[2] = {NULL, NULL};
    for (int i = 0; i < 2 && status == HDST_OK; i++) sides[i] = add_side(c, i);
    if (status != HDST_OK) sides[0] = hdst__dataset_fail(hdst__dataset_new(context, &hdst__op_one_side, c->side[0]), &error);
    hdst__unlock(context);
    hdst_dataset *both = status == HDST_OK ? hdst_union(sides[0], sides[1]) : sides[0];
    hdst__lock(context);
    hdst_dataset *dataset = status == HDST_OK ? hdst__dataset_group_both(both, spec) : both;
    if (status != HDST_OK) hdst__object_drop(&spec->object);
    hdst__unlock(context);
    return dataset;
}

static hdst_dataset *misused(hdst_dataset *left, const hdst_error *error)
{
    return hdst__dataset_fail(hdst__dataset_new(left->object.context, &hdst__op_one_side, left), error);
}

hdst_dataset *hdst_co_group_by(hdst_dataset *left, const char *left_key, hdst_dataset *right, const char *right_key, const hdst_map_spec *spec)
{
    HDST__NEEDS(hdst_dataset, left, "left");
    hdst_error error = HDST_ERROR_INIT;
    hdst__lock(left->object.context);
    const bool fits = hdst__check_object(left->object.context, __func__, "spec", spec, &error) == HDST_OK;
    hdst_map_spec *copy = fits ? hdst__map_spec_copy(spec) : NULL;
    hdst_dataset *wrong = fits ? NULL : misused(left, &error);
    hdst__unlock(left->object.context);
    return copy ? co_group_of(&(co_group){__func__, {left, right}, {left_key, right_key}, copy}, copy) : wrong;
}

hdst_dataset *hdst_co_group(hdst_dataset *left, const char *left_key, hdst_dataset *right, const char *right_key, hdst_module *module, const char *function)
{
    HDST__NEEDS(hdst_dataset, left, "left");
    hdst_error error = HDST_ERROR_INIT;
    hdst__lock(left->object.context);
    hdst_status status = hdst__check_object(left->object.context, __func__, "module", module, &error);
    if (status == HDST_OK) status = hdst__check_pointer(__func__, "function", function, &error);
    hdst_map_spec *spec = status == HDST_OK ? hdst__map_spec_make(module, function) : NULL;
    hdst_dataset *wrong = spec ? NULL : misused(left, &error);
    hdst__unlock(left->object.context);
    return spec ? co_group_of(&(co_group){__func__, {left, right}, {left_key, right_key}, spec}, spec) : wrong;
}
