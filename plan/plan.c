// SPDX-License-Identifier: Apache-2.0
#include "plan/plan.h"

#include "shuffle/group/repartition.h"
#include "plan/materialised.h"

#include <string.h>

static hdst_status make_stages(hdst__arena *arena, const hdst__plan *plan, hdst_error *error)
{
    hdst_status status = HDST_OK;
    for (size_t i = 0; i < plan->node_count && status == HDST_OK; i++) {
        hdst__node *node = plan->nodes[i];
        if (node->kind == HDST__NODE_STAGE) status = hdst__stage_node_make(arena, node, error);
        else if (node->kind == HDST__NODE_BY_KEY) status = hdst__by_key_node_make(arena, node, error);
        else if (node->kind == HDST__NODE_FOLD) status = hdst__fold_node_make(arena, node, error);
        else if (node->kind == HDST__NODE_TOP) hdst__top_node_make(arena, node);
        else if (node->kind == HDST__NODE_GROUP) status = hdst__group_node_make(arena, node, error);
    }
    return status;
}

// The plan of a cache makes its own notes at datasets, also at some of this plan: it comes when those of this plan are no longer needed.
static hdst_status make_caches(const hdst__plan *plan, hdst_error *error)
{
    hdst_status status = HDST_OK;
    for (size_t i = 0; i < plan->node_count && status == HDST_OK; i++)
        if (plan->nodes[i]->kind == HDST__NODE_CACHE) status = hdst__kept_make(plan->nodes[i]->dataset, error);
    return status;
}

hdst_status hdst__plan_make(hdst__arena *arena, hdst_dataset *dataset, hdst__plan *plan, hdst_error *error)
{
    *plan = (hdst__plan){.context = dataset->object.context};
    hdst_status status = hdst__plan_nodes(arena, dataset, plan, error);
    if (status == HDST_OK) status = make_stages(arena, plan, error);
    if (status == HDST_OK) status = make_caches(plan, error);
    return status;
}

void hdst__plan_release(hdst__plan *plan)
{
    for (size_t i = 0; i < plan->node_count; i++) {
        hdst__stage_node_release(plan->nodes[i]);
        hdst__sort_node_release(plan->nodes[i]);
        hdst__group_node_release(plan->nodes[i]);
        hdst__top_node_release(plan->nodes[i]);
        hdst__by_key_node_release(plan->nodes[i]);
        hdst__parted_release(plan->nodes[i]);
        hdst__partition_node_release(plan->nodes[i]);
    }
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

hdst_status hdst__plan_run_node(hdst__plan *plan, hdst__node *node, hdst_error *error)
{
    hdst_status status = HDST_OK;
    switch (node->kind) {
    case HDST__NODE_READ:
        node->reader = node->dataset->reader;
        return HDST_OK;
    case HDST__NODE_LAYOUT:
        node->reader = node->inputs[0]->reader;
        node->reader.layout = node->dataset->layout;
        node->reader.block = node->dataset->block;
        return HDST_OK;
    case HDST__NODE_SLICE:
        node->reader = hdst__reader_of_slice(node);
        return HDST_OK;
    case HDST__NODE_UNION: return hdst__reader_of_union(node, &node->reader, error);
    case HDST__NODE_CACHE: return hdst__kept_fill(node->dataset, &node->reader, &node->resident, &plan->stats, error);
    case HDST__NODE_BY_KEY: return hdst__by_key_node_run(plan, node, error);
    case HDST__NODE_PARTITION:
        status = hdst__partition_node_run(node, error);
        if (node->parting) hdst__plan_add_stats(&plan->stats, hdst__repartition_stats(node->parting));
        return status;
    case HDST__NODE_SORT:
        status = hdst__sort_node_run(node, error);
        if (node->sort) hdst__plan_add_stats(&plan->stats, hdst__sort_stats(node->sort));
        return status;
    case HDST__NODE_TOP: return hdst__top_node_run(node, &plan->stats, error);
    case HDST__NODE_GROUP: return hdst__group_node_run(node, &plan->stats, error);
    default:
        if (node->held) return HDST_OK;
        status = hdst__stage_node_run(node, error);
        if (node->stage) hdst__plan_add_stats(&plan->stats, hdst__stage_stats(node->stage));
        return status;
    }
}

static bool all_known(hdst__node *const *nodes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!hdst__node_is_known(nodes[i])) return false;
    return true;
}

bool hdst__node_is_known(const hdst__node *node)
{
    switch (node->kind) {
    case HDST__NODE_READ: return true;
    case HDST__NODE_STAGE: case HDST__NODE_FOLD: case HDST__NODE_SORT: case HDST__NODE_PARTITION: case HDST__NODE_GROUP: case HDST__NODE_BY_KEY: case HDST__NODE_TOP: return node->ran && !node->dropped;
    case HDST__NODE_CACHE: {
        const hdst__plan *plan = hdst__kept_plan(node->dataset->kept);
        return hdst__kept_is_filled(node->dataset->kept) || all_known(plan->nodes, plan->node_count);
    }
    default: return all_known(node->inputs, node->input_count);
    }
}

// Sorts and what goes by key may stay on the host, as the size of the input has it. A device that is not there, or was given up, is an error all the same.
static hdst_status find_device(const hdst__plan *plan, hdst_error *error)
{
    for (size_t i = 0; i < plan->node_count; i++) {
        const hdst__node_kind kind = plan->nodes[i]->kind;
        if (kind == HDST__NODE_SORT || kind == HDST__NODE_PARTITION || kind == HDST__NODE_TOP || kind == HDST__NODE_GROUP || kind == HDST__NODE_BY_KEY)
            return hdst__engine_has_device(plan->context->engine, error);
    }
    return HDST_OK;
}

hdst_status hdst__plan_run(hdst__plan *plan, hdst_error *error)
{
    hdst_status status = find_device(plan, error);
    plan->stats = (hdst__run_stats){0};
    hdst__plan_drop_last_run(plan);
    for (size_t i = 0; i < plan->node_count && status == HDST_OK; i++) {
        if (!plan->nodes[i]->taker) status = hdst__plan_run_node(plan, plan->nodes[i], error);
        if (status == HDST_OK) hdst__plan_drop_unread(plan, plan->nodes[i]);
    }
    return status;
}
