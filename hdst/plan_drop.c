// SPDX-License-Identifier: Apache-2.0
// Where memory is short nodes give back what nobody reads any more in this run, or what the last run left, so that a chain of operators that hold records needs no more than the
// two or three of them that are at work. What a later run would use again stays where there is plenty.
#include "hdst/plan.h"

#include "engine/engine_private.h"
#include "engine/parting.h"
#include "hdst/plan_group.h"

enum { SHORT = 4, VERY_SHORT = 2 };     // a quarter of the budget is taken, a half

static bool is_short(const hdst_context *context, unsigned share)
{
    const hdst__budget *memory = &context->engine->memory;
    return memory->limit - hdst__budget_left(memory) > memory->limit / share;
}

// Its reader reads those of its inputs, whenever it is asked.
static bool passes_on(const hdst__node *node)
{
    return node->kind == HDST__NODE_LAYOUT || node->kind == HDST__NODE_SLICE || node->kind == HDST__NODE_UNION;
}

static bool holds(const hdst__node *node) { return node->kind != HDST__NODE_READ && node->kind != HDST__NODE_CACHE && !passes_on(node); }

// A stage runs in the turn of who takes its records slice by slice, or of the top that asks for candidates.
static const hdst__node *runs_with(const hdst__node *node) { return node->taker ? node->taker : node->held ? node->held : node; }

// Whether the node's records are read by somebody who has not run yet, or by the user. Nodes stand in an order of running; `ran` is the last one that did.
static bool is_wanted(const hdst__plan *plan, const hdst__node *node, const hdst__node *ran)
{
    if (node == plan->target) return true;
    for (size_t i = 0; i < plan->node_count; i++) {
        const hdst__node *reader = plan->nodes[i];
        for (size_t k = 0; k < reader->input_count; k++) {
            if (reader->inputs[k] != node) continue;
            if (passes_on(reader) ? is_wanted(plan, reader, ran) : runs_with(reader)->number > ran->number) return true;
        }
    }
    return false;
}

// Rows of accumulators are the result's, whoever read them as records.
static void drop_records(hdst__node *node)
{
    node->dropped = !node->table_count;
    hdst__stage_node_drop(node);
    if (node->kind == HDST__NODE_STAGE || node->kind == HDST__NODE_FOLD) return;
    if (node->sort) hdst__sort_forget(node->sort);
    if (node->parting) hdst__parting_forget(node->parting);
    hdst__group_node_release(node);
    hdst__top_node_release(node);
    hdst__parted_release(node);
    if (node->by_key && !node->table_count) hdst__by_key_forget(node->by_key);
    if (node->table_count) return;
    node->rows = NULL;
    node->resident = NULL;
}

void hdst__node_drop_work(hdst__node *node)
{
    if (node->stage && is_short(node->dataset->object.context, VERY_SHORT)) hdst__stage_forget_plan(node->stage);
}

// A stage alone keeps what it works with: it would take the same again.
static bool is_alone(const hdst__plan *plan)
{
    size_t holders = 0;
    for (size_t i = 0; i < plan->node_count; i++) holders += holds(plan->nodes[i]);
    return holders < 2;
}

void hdst__plan_drop_unread(hdst__plan *plan, const hdst__node *ran)
{
    if (!is_short(plan->context, SHORT)) return;
    const bool alone = is_alone(plan);
    for (size_t i = 0; i < plan->node_count; i++) {
        hdst__node *node = plan->nodes[i];
        if (!holds(node) || runs_with(node)->number > ran->number) continue;
        if (!alone) hdst__node_drop_work(node);
        if (!node->dropped && !is_wanted(plan, node, ran)) drop_records(node);
    }
}

void hdst__plan_drop_last_run(hdst__plan *plan)
{
    const bool some = is_short(plan->context, SHORT), alone = is_alone(plan);
    for (size_t i = 0; i < plan->node_count; i++) {
        hdst__node *node = plan->nodes[i];
        if (some && holds(node) && node->ran && !node->dropped) drop_records(node);
        if (some && !alone) hdst__node_drop_work(node);
        node->dropped = false;
    }
}
