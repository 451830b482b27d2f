// SPDX-License-Identifier: Apache-2.0
// The rows of a value as records. Each run takes a copy of those that there are then, so the value may change behind it.
#include "plan/value_copy.h"

#include <inttypes.h>

typedef struct read_value_own {
    hdst_value *value;              // retained
} read_value_own;

static const hdst_value *value_of(const hdst__node *node) { return ((const read_value_own *)node->dataset->own)->value; }

const hdst_value *hdst__read_value_of(const hdst__node *node) { return node->op == &hdst__op_read_value ? value_of(node) : NULL; }

// --- The node ---

static void line(const hdst__node *node, hdst__buffer *out)
{
    hdst__buffer_printf(out, "rows of a value of %s, %" PRIu64 " now", node->dataset->record->name, value_of(node)->rows);
}

static hdst_status build(hdst__arena *arena, hdst__node *node, hdst_error *error)
{
    (void)error;
    node->own = HDST__NEW(arena, hdst__value_copy);
    return HDST_OK;
}

static void drop(hdst__node *node) { hdst__value_copy_drop(node->own, node); }

static hdst_status run(hdst__plan *plan, hdst__node *node, hdst_error *error)
{
    (void)plan;
    const hdst_value *value = value_of(node);
    hdst_status status = hdst__object_status(&value->object, error);
    if (status == HDST_OK) status = hdst__value_copy_take(node->own, value, node, error);
    node->ran = status == HDST_OK;
    return status;
}

static bool known(const hdst__node *node) { return node->ran; }

static uint64_t version(const hdst__node *node) { return node->ran ? ((const hdst__value_copy *)node->own)->version + 1 : 0; }

static hdst_status explain(hdst__node *node, hdst__buffer *out, hdst_error *error)
{
    (void)error;
    if (node->ran) hdst__buffer_printf(out, "rows of a value %u: %" PRIu64 ", copied %s\n", (unsigned)node->number, node->row_count,
                                       node->resident ? "within the device" : "in the host's memory");
    return HDST_OK;
}

static void end(hdst_dataset *dataset)
{
    const read_value_own *own = dataset->own;
    if (own->value) hdst__object_drop(&own->value->object);
}

const hdst__operator hdst__op_read_value = {
    .name = "hdst_read_value", .gives = HDST__GIVES_OTHERS, .own_bytes = sizeof(read_value_own), .line = line, .build = build, .run = run,
    .known = known, .version = version, .explain = explain, .drop = drop, .release = drop, .end = end,
};

// --- The dataset ---

hdst_dataset *hdst_read_value(hdst_value *value)
{
    HDST__NEEDS(hdst_dataset, value, "value");
    hdst_context *context = value->object.context;
    hdst__lock(context);
    hdst_dataset *dataset = hdst__dataset_new(context, &hdst__op_read_value, NULL);
    if (!dataset->object.error && hdst__object_inherit(&dataset->object, &value->object) == HDST_OK) {
        ((read_value_own *)dataset->own)->value = value;
        hdst__object_retain(&value->object);
        dataset->record = value->record;
        dataset->module = value->module;
        hdst__object_retain(&value->module->object);
        hdst__dataset_as_structs(dataset);
    }
    hdst__unlock(context);
    return dataset;
}
