// SPDX-License-Identifier: Apache-2.0
// Plans: made, run, ended. What a node does is its operator's.
#include "plan/plan.h"

#include <string.h>

static hdst_status build_nodes(hdst__arena *arena, const hdst__plan *plan, bool below, hdst_error *error)
{
    hdst_status status = HDST_OK;
    for (size_t i = 0; i < plan->node_count && status == HDST_OK; i++) {
        const hdst__operator *op = plan->nodes[i]->op;
        if (op->build && !op->below == !below) status = op->build(arena, plan->nodes[i], error);
    }
    return status;
}

// A plan below makes its own notes at datasets, also at some of this plan: it comes when those of this plan are no longer needed.
hdst_status hdst__plan_make(hdst__arena *arena, hdst_dataset *dataset, hdst__plan *plan, hdst_error *error)
{
    *plan = (hdst__plan){.context = dataset->object.context};
    hdst_status status = hdst__plan_nodes(arena, dataset, plan, error);
    if (status == HDST_OK) status = build_nodes(arena, plan, false, error);
    if (status == HDST_OK) status = build_nodes(arena, plan, true, error);
    return status;
}

// Of a plan that came to no end some nodes were not built.
void hdst__plan_release(hdst__plan *plan)
{
    for (size_t i = 0; i < plan->node_count; i++) {
        hdst__node *node = plan->nodes[i];
        if (node->op->release && node->own) node->op->release(node);
        node->ran = false;
        node->rows = NULL;
        node->row_count = 0;
        node->resident = NULL;
        node->part_counts = NULL;
    }
}

// --- Nodes ---

bool hdst__node_has_run(const hdst__node *node) { return node->ran && !node->dropped; }

static bool all_known(hdst__node *const *nodes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!hdst__node_is_known(nodes[i])) return false;
    return true;
}

bool hdst__node_inputs_known(const hdst__node *node) { return all_known(node->inputs, node->input_count); }
bool hdst__plan_is_known(const hdst__plan *plan) { return all_known(plan->nodes, plan->node_count); }
bool hdst__node_is_known(const hdst__node *node) { return node->op->known(node); }

void hdst__node_consume(hdst__node *node)
{
    hdst__node *from = node->inputs[0];
    const bool at_the_end = from->dataset->op->gives == HDST__GIVES_OTHERS;        // a reduce's records are not there before
    if (from->op == &hdst__op_stage && from->dataset->mark.consumers == 1 && !at_the_end) from->consumer = node;
}

// --- Running ---

void hdst__plan_add_stats(hdst__run_stats *to, const hdst__run_stats *from)
{
    to->records += from->records;
    to->total_seconds += from->total_seconds;
    to->read_seconds += from->read_seconds;
    to->compile_seconds += from->compile_seconds;
    to->run_seconds += from->run_seconds;
    to->bytes_to_device += from->bytes_to_device;
    to->bytes_from_device += from->bytes_from_device;
    to->skipped += from->skipped;
    to->fast_sums += from->fast_sums;
    if (from->device_count) {
        memcpy(to->device[0].name, from->device[0].name, sizeof to->device[0].name);
        to->device[0].slices += from->device[0].slices;
        to->device[0].records += from->device[0].records;
        to->device[0].busy_seconds += from->device[0].busy_seconds;
        to->device_count = 1;
    }
    for (uint32_t i = 0; i < from->level_count; i++) {
        to->level[i].name = from->level[i].name;
        to->level[i].in += from->level[i].in;
        to->level[i].out += from->level[i].out;
    }
    if (from->level_count > to->level_count) to->level_count = from->level_count;
}

// Some nodes may stay on the host, as the size of the input has it. A device that is not there, or was given up, is an error all the same.
static hdst_status find_device(const hdst__plan *plan, hdst_error *error)
{
    for (size_t i = 0; i < plan->node_count; i++)
        if (plan->nodes[i]->op->may_stay_on_host) return hdst__engine_has_device(plan->context->engine, error);
    return HDST_OK;
}

hdst_status hdst__plan_run(hdst__plan *plan, hdst_error *error)
{
    hdst_status status = find_device(plan, error);
    plan->stats = (hdst__run_stats){0};
    hdst__plan_drop_last_run(plan);
    for (size_t i = 0; i < plan->node_count && status == HDST_OK; i++) {
        hdst__node *node = plan->nodes[i];
        if (!node->consumer) status = node->op->run(plan, node, error);
        if (status == HDST_OK) hdst__plan_drop_unread(plan, node);
    }
    return status;
}
