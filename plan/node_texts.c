// SPDX-License-Identifier: Apache-2.0
// What the texts of a node's records refer to, for as long as the node has records.
#include "plan/plan.h"

// Spans go from node to node as they are, so whoever has records holds what those of its inputs refer to.
hdst_status hdst__node_hold_texts(hdst__node *node, hdst_error *error)
{
    if (node->texts || !node->dataset->record || !node->dataset->record->has_text) return HDST_OK;
    node->texts = hdst__text_heap_create(hdst__engine_runtime(node->dataset->object.context->engine), HDST__OWNER_OUTPUT);
    bool holds = node->texts != NULL;
    for (size_t i = 0; i < node->input_count && holds; i++) holds = hdst__text_heap_holds(node->texts, node->inputs[i]->texts);
    if (holds && node->op->below) holds = hdst__text_heap_holds(node->texts, node->op->below(node)->target->texts);
    return holds ? HDST_OK : hdst__error_memory(error, "texts");
}

void hdst__node_drop_texts(hdst__node *node)
{
    hdst__text_heap_drop(node->texts);
    node->texts = NULL;
}
