// SPDX-License-Identifier: Apache-2.0
// A sort's node.
#include "plan/plan.h"

hdst_status hdst__sort_node_run(hdst__node *node, hdst_error *error)
{
    const hdst_dataset *dataset = node->dataset;
    const hdst__node *input = node->inputs[0];
    node->ran = false;
    if (!node->sort) node->sort = hdst__sort_create(dataset->object.context->engine, dataset->record, dataset->sort_keys, dataset->sort_key_count);
    if (!node->sort) return hdst__error_memory(error, "a sort");
    hdst_status status = hdst__sort_run(node->sort, &input->reader, input->resident, node->keeps, error);
    if (status != HDST_OK) return status;
    node->ran = true;
    node->reader = hdst__sort_reader(node->sort);
    node->resident = hdst__sort_resident(node->sort);
    node->rows = hdst__sort_rows(node->sort);
    node->row_count = node->reader.records;
    return HDST_OK;
}

void hdst__sort_node_release(hdst__node *node)
{
    hdst__sort_destroy(node->sort);
    node->sort = NULL;
}
