// SPDX-License-Identifier: Apache-2.0
// Where memory is short nodes give back what nobody reads any more in this run, or what the last run left, so that a chain of operators that hold records needs no more than the
// two or three of them that are at work. What a later run would use again stays where there is plenty.
#include "plan/plan.h"

#include "engine/engine.h"
#include "shuffle/group/repartition.h"
#include "plan/group_node.h"

enum { SHORT = 4, VERY_SHORT = 2 };     // a quarter of the budget is taken, a half

static bool is_short(const hdst_context *context, unsigned share)
{
    const hdst__budget *memory = hdst__engine_memory(context->engine);
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

// Until which node's turn each one's records are read: the last that reads them, for ever if the user does. Nodes stand in an order of running, who reads behind what is read; so
// one way through them, from the last on, is enough however often unions meet.
static void note_last_readers(hdst__plan *plan)
{
    for (size_t i = 0; i < plan->node_count; i++) plan->nodes[i]->read_until = plan->nodes[i] == plan->target ? UINT32_MAX : 0;
    for (size_t i = plan->node_count; i-- > 0;) {
        const hdst__node *reader = plan->nodes[i];
        const uint32_t until = passes_on(reader) ? reader->read_until : runs_with(reader)->number;
        for (size_t k = 0; k < reader->input_count; k++)
            if (reader->inputs[k]->read_until < until) reader->inputs[k]->read_until = until;
    }
}

// Rows of accumulators are the result's, whoever read them as records.
static void drop_records(hdst__node *node)
{
    node->dropped = !node->table_count;
    hdst__stage_node_drop(node);
    if (node->kind == HDST__NODE_STAGE || node->kind == HDST__NODE_FOLD) return;
    if (node->sort) hdst__sort_forget(node->sort);
    if (node->parting) hdst__repartition_forget(node->parting);
    hdst__group_node_release(node);
    hdst__top_node_release(node);
    hdst__parted_release(node);
    if (node->by_key && !node->table_count) hdst__aggregate_forget(node->by_key);
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
    note_last_readers(plan);            // who takes records slice by slice may have changed since the last node
    for (size_t i = 0; i < plan->node_count; i++) {
        hdst__node *node = plan->nodes[i];
        if (!holds(node) || runs_with(node)->number > ran->number) continue;
        if (!alone) hdst__node_drop_work(node);
        if (!node->dropped && node->read_until <= ran->number) drop_records(node);
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
