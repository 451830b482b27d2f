// SPDX-License-Identifier: Apache-2.0
// A function over the records of each key: a group, or a reduce that is no accumulation. Its node is in group_node.c.
#include "plan/op_group.h"

#include "plan/group_node.h"
#include "plan/keyed_records.h"
#include "plan/map_spec.h"

#include <inttypes.h>
#include <string.h>

static void describe(const hdst_dataset *dataset, hdst__buffer *out)
{
    const ast_function *function = dataset->spec->function;
    const hdst__group_own *own = dataset->own;
    hdst__buffer_printf(out, " by key -> %s %s", function->kind == AST_GROUP ? "group" : "reduce", function->name);
    if (own->dense) hdst__buffer_printf(out, " to %" PRIu64 " records", own->rows);
}

static const hdst__container_rule containers = {
    .allowed = 1u << HDST_CONTAINER_AUTO | 1u << HDST_CONTAINER_SORTED, .why = "it needs all records of a key together, which sorted runs give",
    .hint = "HDST_CONTAINER_SORTED, or a reduce that is field-wise",
};

static void end(hdst_dataset *dataset) { hdst__free(HDST__ALLOCATOR(dataset), ((const hdst__group_own *)dataset->own)->key.place); }

const hdst__operator hdst__op_group = {
    .name = "hdst_group", .gives = HDST__GIVES_OTHERS, .own_bytes = sizeof(hdst__group_own), .containers = &containers, .may_stay_on_host = true,
    .describe = describe, .build = hdst__group_node_build, .run = hdst__group_node_run, .known = hdst__node_has_run,
    .explain = hdst__group_node_explain, .drop = hdst__group_node_drop, .release = hdst__group_node_release, .end = end,
};

// --- The fields of a key ---

static hdst_status add_key(hdst_dataset *dataset, hdst__field_place place, hdst_error *error)
{
    return hdst__named_keys_add(&((hdst__group_own *)dataset->own)->key, HDST__ALLOCATOR(dataset), place, error);
}

static hdst_status name_keys(hdst_dataset *dataset, const char *key, hdst_error *error)
{
    return hdst__named_keys_read(&((hdst__group_own *)dataset->own)->key, HDST__ALLOCATOR(dataset), "hdst_group", dataset->parent->record, key, error);
}

// All leaves of the field that has the parameter's name.
static hdst_status default_keys(hdst_dataset *dataset, const ast_decl *param, hdst_error *error)
{
    const hdst__record *record = dataset->parent->record;
    const hdst__field *field = hdst__record_field(record, param->name);
    hdst_status status = HDST_OK;
    if (!field || !hdst__type_equal(field->type, param->type)) {
        hdst__error_set(error, HDST_E_USAGE, "records of '%s' have no field '%s' of the key's type", record->name, param->name);
        hdst__error_hint(error, "name the key: the second argument of hdst_group");
        return HDST_E_USAGE;
    }
    const uint64_t end = field->offset + hdst__type_size(field->type);
    for (uint32_t l = 0; l < record->leaf_count && status == HDST_OK; l++)
        if (record->leaves[l].offset >= field->offset && record->leaves[l].offset < end)
            status = add_key(dataset, (hdst__field_place){.leaf = l, .elements = record->leaves[l].elements}, error);
    return status;
}

// --- Whether they are the key parameter's ---

static hdst__leaf leaf_of(const hdst__type *type, size_t l)
{
    return type->kind == HDST__RECORD ? type->record->leaves[l] : (hdst__leaf){.kind = type->kind, .elements = 1};
}

static hdst_status check_keys(const hdst_dataset *dataset, const ast_decl *param, hdst_error *error)
{
    const hdst__record *record = dataset->parent->record;
    const hdst__group_own *own = dataset->own;
    const size_t wanted = hdst__type_leaves(param->type);
    uint64_t elements = 0;
    for (size_t i = 0; i < own->key.count && i < wanted; i++) {
        const hdst__leaf *from = &record->leaves[own->key.place[i].leaf], to = leaf_of(param->type, i);
        elements += to.elements;
        if (from->kind == to.kind && own->key.place[i].elements == to.elements) continue;
        return hdst__error_set(error, HDST_E_USAGE, "'%s' is %s%s, which key '%s' of '%s' is not at this place", from->path, hdst__scalar_c_name(from->kind),
                               own->key.place[i].elements > 1 ? "[]" : "", param->name, dataset->spec->function->name);
    }
    if (own->key.count != wanted)
        return hdst__error_set(error, HDST_E_USAGE, "key '%s' of '%s' has %zu field%s, hdst_group was given %zu", param->name,
                               dataset->spec->function->name, wanted, wanted == 1 ? "" : "s", own->key.count);
    return hdst__named_keys_check_size(elements, error);
}

// --- Groups ---

static hdst_status check_stream(const hdst_dataset *dataset, const ast_function *f, const ast_decl *stream, hdst_error *error)
{
    const hdst__type *type = stream->type->element;
    const hdst__record *has = dataset->parent->record;
    if (type->kind == HDST__RECORD ? hdst__same_records(type->record, has) : has->is_scalar && has->leaves[0].kind == type->kind) return HDST_OK;
    return hdst__error_set(error, HDST_E_USAGE, "'%s' groups records of '%s', the dataset has '%s'", f->name,
                           type->kind == HDST__RECORD ? type->record->name : hdst__scalar_c_name(type->kind), has->name);
}

static const ast_decl *find_param(const ast_function *f, ast_qualifier qualifier)
{
    size_t i = 0;
    while (i + 1 < f->param_count && f->params[i]->qualifier != qualifier) i++;
    return f->params[i];
}

static hdst_status give_result(hdst_dataset *dataset, hdst_error *error)
{
    const ast_function *f = dataset->spec->function;
    hdst__dataset_as_structs(dataset);
    dataset->record = f->result->kind == HDST__RECORD ? f->result->record
        : hdst__module_find_record(dataset->spec->module, hdst__scalar_c_name(f->result->kind), error);
    return dataset->record ? HDST_OK : error->code;
}

static hdst_status fill_group(hdst_dataset *dataset, const char *key, hdst_error *error)
{
    const ast_function *f = dataset->spec->function;
    if (f->kind != AST_GROUP) {
        hdst__error_set(error, HDST_E_USAGE, "hdst_group was given '%s', which is no group", f->name);
        hdst__error_hint(error, "group %s(key K k, stream V v) -> T { for (V e : v) ... }", f->name);
        return HDST_E_USAGE;
    }
    if (f->pair) {
        hdst__error_set(error, HDST_E_USAGE, "hdst_group was given '%s', which takes the records of two datasets", f->name);
        hdst__error_hint(error, "hdst_co_group(left, left_key, right, right_key, ...)");
        return HDST_E_USAGE;
    }
    const ast_decl *param = find_param(f, AST_KEY);
    hdst_status status = hdst__dataset_has_records(dataset->parent, "hdst_group", error);
    if (status == HDST_OK) status = check_stream(dataset, f, find_param(f, AST_STREAM), error);
    if (status == HDST_OK) status = key ? name_keys(dataset, key, error) : default_keys(dataset, param, error);
    if (status == HDST_OK) status = check_keys(dataset, param, error);
    if (status == HDST_OK) status = hdst__map_spec_complete(dataset->spec, error);
    return status == HDST_OK ? give_result(dataset, error) : status;
}

static hdst_status fill_both(hdst_dataset *dataset, const char *key, hdst_error *error)
{
    const hdst__type *type = find_param(dataset->spec->function, AST_KEY)->type;
    hdst_status status = HDST_OK;
    uint64_t elements = 0;
    (void)key;
    for (uint32_t l = 0; l < hdst__type_leaves(type) && status == HDST_OK; l++) {
        elements += leaf_of(type, l).elements;
        status = add_key(dataset, (hdst__field_place){.leaf = l, .elements = leaf_of(type, l).elements}, error);
    }
    if (status == HDST_OK) status = hdst__named_keys_check_size(elements, error);
    if (status == HDST_OK) status = hdst__map_spec_complete(dataset->spec, error);
    return status == HDST_OK ? give_result(dataset, error) : status;
}

// Takes over `spec`.
static hdst_dataset *add_group(hdst_dataset *parent, const char *key, hdst_map_spec *spec,
                               hdst_status (*fill)(hdst_dataset *dataset, const char *key, hdst_error *error))
{
    hdst_dataset *dataset = hdst__dataset_new(parent->object.context, &hdst__op_group, parent);
    if (!dataset->object.context) {
        hdst__object_drop(&spec->object);
        return dataset;
    }
    dataset->spec = spec;
    hdst_error error = HDST_ERROR_INIT;
    hdst_status status = dataset->object.error ? HDST_OK : hdst__object_status(&spec->object, &error);
    if (!dataset->object.error && status == HDST_OK) status = fill(dataset, key, &error);
    if (status != HDST_OK) hdst__dataset_fail(dataset, &error);
    return dataset;
}

hdst_dataset *hdst__dataset_group_both(hdst_dataset *both, hdst_map_spec *spec) { return add_group(both, NULL, spec, fill_both); }

static hdst_dataset *misused(hdst_dataset *parent, const hdst_error *error)
{
    return hdst__dataset_fail(hdst__dataset_new(parent->object.context, &hdst__op_group, parent), error);
}

hdst_dataset *hdst_group(hdst_dataset *parent, const char *key, const hdst_map_spec *spec)
{
    HDST__NEEDS(hdst_dataset, parent, "dataset");
    hdst_error error = HDST_ERROR_INIT;
    hdst__lock(parent->object.context);
    const bool fits = hdst__check_object(parent->object.context, __func__, "spec", spec, &error) == HDST_OK;
    hdst_dataset *dataset = fits ? add_group(parent, key, hdst__map_spec_copy(spec), fill_group) : misused(parent, &error);
    hdst__unlock(parent->object.context);
    return dataset;
}

hdst_dataset *hdst_group_function(hdst_dataset *parent, const char *key, hdst_module *module, const char *function)
{
    HDST__NEEDS(hdst_dataset, parent, "dataset");
    hdst_error error = HDST_ERROR_INIT;
    hdst__lock(parent->object.context);
    hdst_status status = hdst__check_object(parent->object.context, __func__, "module", module, &error);
    if (status == HDST_OK) status = hdst__check_pointer(__func__, "function", function, &error);
    hdst_dataset *dataset = status == HDST_OK ? add_group(parent, key, hdst__map_spec_make(module, function), fill_group) : misused(parent, &error);
    hdst__unlock(parent->object.context);
    return dataset;
}

// --- Reduces by key ---

hdst_status hdst__dataset_group_dense(hdst_dataset *dataset, uint32_t key, hdst_error *error)
{
    dataset->op = &hdst__op_group;
    ((hdst__group_own *)dataset->own)->dense = true;
    return add_key(dataset, (hdst__field_place){.leaf = key, .elements = 1}, error);
}

hdst_status hdst__dataset_group_by_key(hdst_dataset *dataset, hdst_error *error)
{
    const hdst__record *keyed = dataset->parent->record;
    hdst_status status = HDST_OK;
    uint64_t elements = 0;
    dataset->op = &hdst__op_group;
    for (uint32_t l = 0; l < keyed->leaf_count && status == HDST_OK; l++) {
        if (!hdst__is_key_leaf(keyed, l)) continue;
        elements += keyed->leaves[l].elements;
        status = add_key(dataset, (hdst__field_place){.leaf = l, .elements = keyed->leaves[l].elements}, error);
    }
    return status == HDST_OK ? hdst__named_keys_check_size(elements, error) : status;
}
