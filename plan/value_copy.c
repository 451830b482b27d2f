// SPDX-License-Identifier: Apache-2.0
// The rows of a value as a node's records (plan/value_copy.h).
#include "plan/value_copy.h"

#include <string.h>

void hdst__value_copy_drop(hdst__value_copy *copy, hdst__node *node)
{
    hdst__value_records_destroy(copy->on_device);
    hdst__free(HDST__ALLOCATOR(node->dataset), copy->rows);
    *copy = (hdst__value_copy){0};
    node->rows = NULL;
    node->resident = NULL;
    node->ran = false;
}

// Within the device; a node without `resident` is left where there is no room, or texts refer to the host's memory.
static hdst_status copy_on_device(hdst__value_copy *copy, const hdst_value *value, hdst__node *node, hdst_error *error)
{
    if (!value->on_device || value->record->has_text || !value->rows) return HDST_OK;
    if (!copy->on_device) copy->on_device = hdst__value_records_create(hdst__engine_runtime(node->dataset->object.context->engine), value->record);
    if (!copy->on_device) return hdst__error_memory(error, "rows of a value as records");
    const hdst_status status = hdst__value_records_take(copy->on_device, value->resident, &node->resident, error);
    if (node->resident) node->reader = *hdst__dataset_cache_own_reader(node->resident);
    return status;
}

static hdst_status copy_on_host(hdst__value_copy *copy, const hdst_value *value, hdst__node *node, hdst_error *error)
{
    const void *rows;
    hdst_status status = hdst__value_on_host(value, &rows, error);
    if (status != HDST_OK) return status;
    const uint64_t bytes = value->rows * value->record->size;
    if (!copy->rows || copy->bytes != bytes) {
        hdst__free(HDST__ALLOCATOR(node->dataset), copy->rows);
        copy->rows = hdst__alloc(hdst__owned_by(node->dataset->object.context, HDST__OWNER_OUTPUT), bytes ? bytes : 1);
        if (!copy->rows) return hdst__error_memory(error, "rows of a value as records");
        copy->bytes = bytes;
    }
    if (bytes) memcpy(copy->rows, rows, (size_t)bytes);
    node->rows = copy->rows;
    node->texts = hdst__text_heap_hold(value->texts);
    return HDST_OK;
}

// Texts are dropped by each run and held again, so rows with texts are always copied anew.
hdst_status hdst__value_copy_take(hdst__value_copy *copy, const hdst_value *value, hdst__node *node, hdst_error *error)
{
    if (copy->version == value->version && (node->rows || node->resident) && !value->record->has_text) return HDST_OK;
    node->resident = NULL;
    node->rows = NULL;
    hdst__node_drop_texts(node);
    hdst_status status = copy_on_device(copy, value, node, error);
    if (status == HDST_OK && !node->resident) status = copy_on_host(copy, value, node, error);
    if (status != HDST_OK) return status;
    copy->version = value->version;
    node->row_count = value->rows;
    if (!node->resident) node->reader = hdst__node_rows_reader(node, value->record);
    return HDST_OK;
}
