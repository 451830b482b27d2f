// SPDX-License-Identifier: Apache-2.0
// Which sources without a number of records are read by those alone who can do without it: stages over single records, whose output goes wherever it goes as
// it comes, or to a reduction by key or a sort. Anybody else's input is counted before it is read.
#include "plan/uncounted_input.h"

#include "plan/aggregate_node.h"
#include "plan/stage_node.h"

static bool streams(const hdst__node *node)
{
    const hdst__node *consumer = node->consumer;
    if (node->op != &hdst__op_stage || node->driver || (node->dataset->spec && node->dataset->spec->separate)) return false;
    return !consumer || consumer->op == &hdst__op_sort || consumer->op->consumer == hdst__aggregate_node_consumer;
}

static bool is_input(const hdst__node *node, const hdst__node *of)
{
    for (size_t i = 0; i < of->input_count; i++)
        if (of->inputs[i] == node) return true;
    return false;
}

// By the nodes behind it, which are noted already; one that nobody reads is the plan's result.
static bool needs_no_count(const hdst__plan *plan, const hdst__node *node)
{
    bool is_read = false;
    for (size_t i = 0; i < plan->node_count; i++) {
        const hdst__node *reader = plan->nodes[i];
        if (!is_input(node, reader)) continue;
        is_read = true;
        if (reader->op == &hdst__op_slice || (reader->op == &hdst__op_layout && reader->uncounted)) continue;
        if (!streams(reader)) return false;
    }
    return is_read;
}

void hdst__plan_note_uncounted(const hdst__plan *plan)
{
    for (size_t i = plan->node_count; i-- > 0;) {
        hdst__node *node = plan->nodes[i];
        if (node->op == &hdst__op_read || node->op == &hdst__op_layout) node->uncounted = needs_no_count(plan, node);
    }
}
