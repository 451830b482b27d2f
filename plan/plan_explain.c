// SPDX-License-Identifier: Apache-2.0
// A plan as a text for people: a line per node, then what the engine says of each stage.
#include "plan/plan.h"

#include <string.h>

const char *hdst__layout_name(hdst__layout layout)
{
    static const char *const names[] = {"aos", "soa", "aosoa", "aop"};
    return names[layout];
}

void hdst__node_describe_inputs(const hdst__node *node, hdst__buffer *out)
{
    hdst__buffer_puts(out, "records of ");
    for (size_t i = 0; i < node->input_count; i++) hdst__buffer_printf(out, "%s%u", i ? ", " : "", (unsigned)node->inputs[i]->number);
}

static void explain_node(const hdst__node *node, hdst__buffer *out)
{
    hdst__buffer_printf(out, "%u: ", (unsigned)node->number);
    if (node->op->line) {
        node->op->line(node, out);
    } else {
        hdst__node_describe_inputs(node, out);
        node->dataset->op->describe(node->dataset, out);
    }
    hdst__buffer_puts(out, "\n");
}

// Caches that hold nothing yet show what will fill them, loops what they start with.
static hdst_status explain_below(const hdst__plan *plan, hdst__buffer *out, hdst_error *error)
{
    hdst_status status = HDST_OK;
    for (size_t i = 0; i < plan->node_count && status == HDST_OK; i++) {
        const hdst__node *node = plan->nodes[i];
        if (!node->op->below) continue;
        hdst__buffer_printf(out, "below %s %u:\n", node->op->name + strlen("hdst_"), (unsigned)node->number);
        status = hdst__plan_explain(node->op->below(node), out, error);
    }
    return status;
}

// Nodes that compute nothing run, if they can, for the stages that read them to see how much there is.
hdst_status hdst__plan_explain(hdst__plan *plan, hdst__buffer *out, hdst_error *error)
{
    for (size_t i = 0; i < plan->node_count; i++) explain_node(plan->nodes[i], out);
    hdst_status status = explain_below(plan, out, error);
    for (size_t i = 0; i < plan->node_count && status == HDST_OK; i++) {
        hdst__node *node = plan->nodes[i];
        if (node->op->explain) status = node->op->explain(node, out, error);
        else if (hdst__node_is_known(node)) status = node->op->run(plan, node, error);
    }
    return status;
}
