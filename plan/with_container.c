// SPDX-License-Identifier: Apache-2.0
// The container that a program insists on for a reduction by key.
#include "plan/map_spec.h"
#include "plan/operator.h"

static const char *const container_names[] = {"auto", "dense", "table", "parts", "sorted"};

static hdst_status no_container(const hdst_dataset *from, hdst_container container, const hdst__container_rule *rule, hdst_error *error)
{
    const char *name = from->spec ? from->spec->function->name : from->op->containers ? from->op->name : "the dataset";
    hdst__error_set(error, HDST_E_USAGE, "container '%s' is not for '%s': %s", container_names[container], name, rule->why);
    hdst__error_hint(error, "%s", rule->hint);
    return HDST_E_USAGE;
}

static hdst_status check_container(const hdst_dataset *from, hdst_container container, hdst_error *error)
{
    static const hdst__container_rule none = {.why = "it is no reduction by key",
                                              .hint = "give it what hdst_reduce_by_key, hdst_count_by_key or hdst_distinct made"};
    const hdst__container_rule *rule = from->op->containers ? from->op->containers : &none;
    if ((unsigned)container > HDST_CONTAINER_SORTED)
        return hdst__error_set(error, HDST_E_USAGE, "container %d; HDST_CONTAINER_AUTO to HDST_CONTAINER_SORTED exist", (int)container);
    return rule->allowed >> container & 1 ? HDST_OK : no_container(from, container, rule, error);
}

// The operator again, over the same input.
static hdst_dataset *copy_in(const hdst_dataset *from, hdst_container container)
{
    hdst_dataset *dataset = hdst__dataset_new(from->object.context, from->op, from->parent);
    if (!dataset->object.context) return dataset;
    dataset->record = from->record;
    dataset->spec = from->spec;
    from->op->containers->set(dataset, container);
    if (from->spec) hdst__object_retain(&from->spec->object);
    hdst__dataset_as_structs(dataset);
    return dataset;
}

hdst_dataset *hdst_with_container(hdst_dataset *from, hdst_container container)
{
    HDST__NEEDS(hdst_dataset, from, "reduction");
    hdst_context *context = from->object.context;
    hdst_error error = HDST_ERROR_INIT;
    hdst__lock(context);
    hdst_dataset *dataset = from;
    if (!from->object.error && check_container(from, container, &error) != HDST_OK)
        dataset = hdst__dataset_fail(hdst__dataset_new(context, from->op, from->parent), &error);
    else if (!from->object.error && from->op->containers->set) dataset = copy_in(from, container);
    hdst__unlock(context);
    return dataset;
}
