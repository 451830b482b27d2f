// SPDX-License-Identifier: Apache-2.0
// The node of joins, and what their datasets share (plan/join_node.h).
#include "plan/join_node.h"

#include "plan/keyed_records.h"

// --- Datasets ---

static hdst_status add_right(const char *call, hdst_dataset *dataset, hdst_dataset *right, hdst_error *error)
{
    hdst_status status = hdst__check_object(dataset->object.context, call, "right", right, error);
    if (status == HDST_OK) status = hdst__dataset_has_records(dataset->parent, call, error);
    if (status == HDST_OK) status = hdst__dataset_has_records(right, call, error);
    if (status != HDST_OK) return status;
    dataset->inputs = hdst__alloc(HDST__ALLOCATOR(dataset), 2 * sizeof *dataset->inputs);
    if (!dataset->inputs) return hdst__error_memory(error, "a join");
    dataset->inputs[0] = dataset->parent;
    dataset->inputs[1] = right;
    dataset->input_count = 2;
    if (right->nested > dataset->nested) dataset->nested = right->nested;
    return HDST_OK;
}

hdst_dataset *hdst__join_dataset(const char *call, const hdst__operator *op, hdst_dataset *left, hdst_dataset *right)
{
    hdst_error error = HDST_ERROR_INIT;
    hdst_dataset *dataset = hdst__dataset_new(left->object.context, op, left);
    if (!dataset->object.context) return dataset;
    hdst__dataset_as_structs(dataset);
    if (!dataset->object.error && add_right(call, dataset, right, &error) != HDST_OK) hdst__dataset_fail(dataset, &error);
    return dataset;
}

void hdst__join_node_end(hdst_dataset *dataset)
{
    const hdst__join_own *own = dataset->own;
    for (int i = 0; i < 2; i++) hdst__free(HDST__ALLOCATOR(dataset), own->key[i].place);
}

// --- Keys ---

static hdst_status unlike(const char *call, const hdst_dataset *dataset, size_t number, hdst_error *error)
{
    const hdst__join_own *own = dataset->own;
    const hdst__record *left = dataset->inputs[0]->record, *right = dataset->inputs[1]->record;
    char of_left[160], of_right[160];
    hdst__error_set(error, HDST_E_USAGE, "key %zu of %s is %s of '%s' on the left, and %s of '%s' on the right", number + 1, call,
                    hdst__leaf_text(&left->leaves[own->key[0].place[number].leaf], of_left), left->name,
                    hdst__leaf_text(&right->leaves[own->key[1].place[number].leaf], of_right), right->name);
    hdst__error_hint(error, "keys of both sides have one type; a map in front of the join makes them so");
    return HDST_E_USAGE;
}

static hdst_status check_keys(const char *call, const hdst_dataset *dataset, hdst_error *error)
{
    const hdst__join_own *own = dataset->own;
    uint64_t elements = 0;
    for (size_t i = 0; i < own->key[0].count && i < own->key[1].count; i++) {
        const hdst__field_place *a = &own->key[0].place[i], *b = &own->key[1].place[i];
        elements += a->elements;
        if (dataset->inputs[0]->record->leaves[a->leaf].kind != dataset->inputs[1]->record->leaves[b->leaf].kind || a->elements != b->elements)
            return unlike(call, dataset, i, error);
    }
    if (own->key[0].count == own->key[1].count) return hdst__named_keys_check_size(elements, error);
    hdst__error_set(error, HDST_E_USAGE, "%s was given %zu key%s of '%s' and %zu of '%s'", call, own->key[0].count, own->key[0].count == 1 ? "" : "s",
                    dataset->inputs[0]->record->name, own->key[1].count, dataset->inputs[1]->record->name);
    hdst__error_hint(error, "name as many fields on either side; the first goes with the first");
    return HDST_E_USAGE;
}

hdst_status hdst__join_keys(const char *call, hdst_dataset *dataset, const char *left_key, const char *right_key, hdst_error *error)
{
    static const char *const names[] = {"left_key", "right_key"};
    const char *const keys[] = {left_key, right_key};
    hdst__join_own *own = dataset->own;
    hdst_status status = HDST_OK;
    for (int i = 0; i < 2 && status == HDST_OK; i++) {
        status = hdst__check_pointer(call, names[i], keys[i], error);
        if (status == HDST_OK) status = hdst__named_keys_read(&own->key[i], HDST__ALLOCATOR(dataset), call, dataset->inputs[i]->record, keys[i], error);
    }
    return status == HDST_OK ? check_keys(call, dataset, error) : status;
}

// --- The node ---

typedef struct join_node {
    hdst__join_spec spec;
    hdst__join *join;               // made at the first run
    uint64_t version[2];            // hdst__node_version of the inputs in the last run
} join_node;

static void describe_key(const hdst_dataset *dataset, int side, hdst__buffer *out)
{
    const hdst__named_keys *key = &((const hdst__join_own *)dataset->own)->key[side];
    for (size_t i = 0; i < key->count; i++)
        hdst__buffer_printf(out, "%s%s", i ? ", " : "", dataset->inputs[side]->record->leaves[key->place[i].leaf].path);
}

void hdst__join_node_describe(const hdst_dataset *dataset, hdst__buffer *out)
{
    static const char *const kinds[] = {"pairs", "records of the first with a partner", "records of the first without a partner"};
    const hdst__join_own *own = dataset->own;
    hdst__buffer_printf(out, " -> %s%s by ", kinds[own->kind],
                        own->optional[0] && own->optional[1] ? ", and those alone of both," :
                        own->optional[1]                     ? ", and those alone of the first," :
                        own->optional[0]                     ? ", and those alone of the second," : "");
    describe_key(dataset, 0, out);
    hdst__buffer_puts(out, " = ");
    describe_key(dataset, 1, out);
}

hdst_status hdst__join_node_build(hdst__arena *arena, hdst__node *node, hdst_error *error)
{
    (void)error;
    join_node *own = HDST__NEW(arena, join_node);
    const hdst_dataset *dataset = node->dataset;
    const hdst__join_own *of = dataset->own;
    node->own = own;
    own->spec = (hdst__join_spec){.kind = of->kind, .optional = {of->optional[0], of->optional[1]}, .result = dataset->record};
    for (int i = 0; i < 2; i++) {
        hdst__key_field *fields;
        own->spec.record[i] = dataset->inputs[i]->record;
        own->spec.key_count = hdst__named_keys_fields(arena, &of->key[i], own->spec.record[i], &fields);
        own->spec.key[i] = fields;
    }
    return HDST_OK;
}

// Which sides have the records of the last run, and notes those of this one.
static void look_at_versions(const hdst__node *node, bool same[2])
{
    join_node *own = node->own;
    for (int i = 0; i < 2; i++) {
        const uint64_t version = hdst__node_version(node->inputs[i]);
        same[i] = version && version == own->version[i];
        own->version[i] = version;
    }
}

hdst_status hdst__join_node_run(hdst__plan *plan, hdst__node *node, hdst_error *error)
{
    join_node *own = node->own;
    node->ran = false;
    if (!own->join) own->join = hdst__join_create(node->dataset->object.context->engine, &own->spec, error);
    if (!own->join) return HDST_E_MEMORY;
    bool same[2];
    look_at_versions(node, same);
    const hdst_status status = hdst__join_run(own->join, (const hdst__reader *[]){&node->inputs[0]->reader, &node->inputs[1]->reader}, same, error);
    hdst__plan_add_stats(&plan->stats, hdst__join_stats(own->join));
    if (status != HDST_OK) return status;
    node->ran = true;
    node->reader = hdst__join_reader(own->join);
    return HDST_OK;
}

hdst_status hdst__join_node_explain(hdst__node *node, hdst__buffer *out, hdst_error *error)
{
    (void)error;
    const join_node *own = node->own;
    hdst__buffer_printf(out, "join %u: both sides ordered by a hash of the key, then walked through side by side\n", (unsigned)node->number);
    if (node->ran) hdst__join_explain(own->join, out);
    return HDST_OK;
}

void hdst__join_node_drop(hdst__node *node)
{
    const join_node *own = node->own;
    if (own->join) hdst__join_forget(own->join);
}

void hdst__join_node_release(hdst__node *node)
{
    join_node *own = node->own;
    hdst__join_destroy(own->join);
    own->join = NULL;
}
