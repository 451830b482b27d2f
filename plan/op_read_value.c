// SPDX-License-Identifier: Apache-2.0
// The rows of a value as records. Each run takes a copy of those that there are then, so the value may change behind it.
#include "plan/plan.h"

#include <inttypes.h>
#include <string.h>

typedef struct read_value_own {
    hdst_value *value;              // retained
} read_value_own;

typedef struct node_own {
    uint64_t version;               // of the value whose rows were copied; 0: none
    hdst__value_records *on_device; // the copy, where the rows were left on a device
    void *copy;                     // the copy, else
    uint64_t bytes;                 // of `copy`
} node_own;

static const hdst_value *value_of(const hdst__node *node) { return ((const read_value_own *)node->dataset->own)->value; }

// --- The node ---

static void line(const hdst__node *node, hdst__buffer *out)
{
    hdst__buffer_printf(out, "rows of a value of %s, %" PRIu64 " now", node->dataset->record->name, value_of(node)->rows);
}

static hdst_status build(hdst__arena *arena, hdst__node *node, hdst_error *error)
{
    (void)error;
    node->own = HDST__NEW(arena, node_own);
    return HDST_OK;
}

static void drop(hdst__node *node)
{
    node_own *own = node->own;
    hdst__value_records_destroy(own->on_device);
    hdst__free(HDST__ALLOCATOR(node->dataset), own->copy);
    *own = (node_own){0};
    node->rows = NULL;
    node->resident = NULL;
    node->ran = false;
}

// Within the device; a node without `resident` is left where there is no room, or texts refer to the host's memory.
static hdst_status copy_on_device(hdst__node *node, hdst_error *error)
{
    node_own *own = node->own;
    const hdst_value *value = value_of(node);
    if (!value->on_device || value->record->has_text || !value->rows) return HDST_OK;
    if (!own->on_device) own->on_device = hdst__value_records_create(hdst__engine_runtime(node->dataset->object.context->engine), value->record);
    if (!own->on_device) return hdst__error_memory(error, "rows of a value as records");
    const hdst_status status = hdst__value_records_take(own->on_device, value->resident, &node->resident, error);
    if (node->resident) node->reader = *hdst__dataset_cache_own_reader(node->resident);
    return status;
}

static hdst_status copy_on_host(hdst__node *node, hdst_error *error)
{
    node_own *own = node->own;
    const hdst_value *value = value_of(node);
    const void *rows;
    hdst_status status = hdst__value_on_host(value, &rows, error);
    if (status != HDST_OK) return status;
    const uint64_t bytes = value->rows * value->record->size;
    if (!own->copy || own->bytes != bytes) {
        hdst__free(HDST__ALLOCATOR(node->dataset), own->copy);
        own->copy = hdst__alloc(hdst__owned_by(node->dataset->object.context, HDST__OWNER_OUTPUT), bytes ? bytes : 1);
        if (!own->copy) return hdst__error_memory(error, "rows of a value as records");
        own->bytes = bytes;
    }
    if (bytes) memcpy(own->copy, rows, (size_t)bytes);
    node->rows = own->copy;
    node->texts = hdst__text_heap_hold(value->texts);
    return HDST_OK;
}

static hdst_status copy_rows(hdst__node *node, hdst_error *error)
{
    const hdst_value *value = value_of(node);
    node->resident = NULL;
    node->rows = NULL;
    hdst__node_drop_texts(node);
    hdst_status status = copy_on_device(node, error);
    if (status == HDST_OK && !node->resident) status = copy_on_host(node, error);
    if (status != HDST_OK) return status;
    ((node_own *)node->own)->version = value->version;
    node->row_count = value->rows;
    if (!node->resident) node->reader = hdst__node_rows_reader(node, value->record);
    return HDST_OK;
}

static hdst_status run(hdst__plan *plan, hdst__node *node, hdst_error *error)
{
    (void)plan;
    const hdst_value *value = value_of(node);
    const node_own *own = node->own;
    hdst_status status = hdst__object_status(&value->object, error);
    if (status == HDST_OK && (own->version != value->version || !(node->rows || node->resident))) status = copy_rows(node, error);
    node->ran = status == HDST_OK;
    return status;
}

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
    .known = hdst__node_has_run, .explain = explain, .drop = drop, .release = drop, .end = end,
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
