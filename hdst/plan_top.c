// SPDX-License-Identifier: Apache-2.0
// The node of the records with the largest values.
#include "hdst/plan.h"

#include "engine/top.h"

#include <inttypes.h>

void hdst__top_node_make(hdst__arena *arena, hdst__node *node)
{
    const hdst_dataset *dataset = node->dataset;
    node->top = HDST__NEW(arena, hdst__top);
    hdst__top_init(node->top, dataset->object.context->engine, dataset->record, dataset->place.leaf, dataset->place.element, dataset->count);
}

hdst_status hdst__top_node_run(hdst__node *node, hdst_error *error)
{
    node->ran = false;
    hdst_status status = hdst__top_run(node->top, &node->inputs[0]->reader, error);
    if (status != HDST_OK) return status;
    node->ran = true;
    node->rows = node->top->rows;
    node->row_count = node->top->row_count;
    node->reader = hdst__reader_of_rows(node, node->dataset->record);
    return HDST_OK;
}

void hdst__top_node_explain(const hdst__node *node, hdst__buffer *out)
{
    const hdst__top *top = node->top;
    hdst__buffer_printf(out, "top %" PRIu64 ": picked on the host while the records pass by\n", top->wanted);
    if (node->ran) hdst__buffer_printf(out, "  last run: %" PRIu64 " of %" PRIu64 " records were among the best so far\n", top->kept, top->seen);
}

void hdst__top_node_release(hdst__node *node)
{
    if (node->top) hdst__top_release(node->top);
}
