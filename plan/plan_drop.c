// SPDX-License-Identifier: Apache-2.0
// Where memory is short nodes give back what nobody reads any more in this run, or what the last run left, so that a chain of operators that hold
// records needs no more than the two or three of them that are at work. What a later run would use again stays where there is plenty.
#include "plan/stage_call.h"

#include "engine/engine.h"
#include "base/costs_host.h"

bool hdst__plan_memory_is_short(const hdst_context *context, unsigned share)
{
    const hdst__budget *memory = hdst__engine_memory(context->engine);
    return memory->limit - hdst__budget_left(memory) > memory->limit / share;
}

// What holds no records reads those of its inputs, whenever it is asked. What holds some may read its first input then, too.
static bool holds(const hdst__node *node) { return node->op->drop != NULL; }
static bool reads_on(const hdst__node *node, size_t input) { return node->op->reads_on && input == 0; }

// A stage runs in the turn of who takes its records slice by slice, or of the top that asks for candidates.
static const hdst__node *runs_with(const hdst__node *node) { return node->consumer ? node->consumer : node->driver ? node->driver : node; }

// Until which node's turn each one's records are read: the last that reads them, for ever if the user does. Nodes stand in an order of running, who
// reads behind what is read; so one way through them, from the last on, is enough however often unions meet.
static void note_last_readers(hdst__plan *plan)
{
    for (size_t i = 0; i < plan->node_count; i++) plan->nodes[i]->read_until = plan->nodes[i] == plan->target ? UINT32_MAX : 0;
    for (size_t i = plan->node_count; i-- > 0;) {
        const hdst__node *reader = plan->nodes[i];
        const uint32_t in_turn = runs_with(reader)->number, later = reader->read_until;
        for (size_t k = 0; k < reader->input_count; k++) {
            const uint32_t until = !holds(reader) || (reads_on(reader, k) && later > in_turn) ? later : in_turn;
            if (reader->inputs[k]->read_until < until) reader->inputs[k]->read_until = until;
        }
    }
}

// Rows of accumulators are the result's, whoever read them as records.
static void drop_records(hdst__node *node)
{
    node->dropped = !node->table_count;
    node->op->drop(node);
    if (node->table_count) return;
    node->rows = NULL;
    node->resident = NULL;
    hdst__node_drop_texts(node);
}

void hdst__node_drop_work(hdst__node *node)
{
    hdst__stage *stage = node->call ? node->call->stage : NULL;
    if (stage && hdst__plan_memory_is_short(node->dataset->object.context, HDST__HOST_VERY_SHORT_SHARE)) hdst__stage_forget_plan(stage);
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
    if (!hdst__plan_memory_is_short(plan->context, HDST__HOST_SHORT_SHARE)) return;
    const bool alone = is_alone(plan);
    note_last_readers(plan);            // who takes records slice by slice may have changed since the last node
    for (size_t i = 0; i < plan->node_count; i++) {
        hdst__node *node = plan->nodes[i];
        if (!holds(node) || runs_with(node)->number > ran->number) continue;
        if (!alone) hdst__node_drop_work(node);
        if (!node->dropped && node->read_until <= ran->number) drop_records(node);
    }
}

static void drop_last_run(hdst__plan *plan, bool some, bool work)
{
    for (size_t i = 0; i < plan->node_count; i++) {
        hdst__node *node = plan->nodes[i];
        if (some && holds(node) && node->ran && !node->dropped) drop_records(node);
        if (some && work) hdst__node_drop_work(node);
        node->dropped = false;
    }
}

void hdst__plan_drop_last_run(hdst__plan *plan) { drop_last_run(plan, hdst__plan_memory_is_short(plan->context, HDST__HOST_SHORT_SHARE), !is_alone(plan)); }

void hdst__plan_drop_idle(hdst__plan *plan) { drop_last_run(plan, hdst__plan_memory_is_short(plan->context, HDST__HOST_SHORT_SHARE), true); }
