// SPDX-License-Identifier: Apache-2.0
// Plans: made, run, ended. What a node does is its operator's.
#include "plan/stage_call.h"
#include "plan/uncounted_input.h"

#include <string.h>

bool hdst__is_called(const char *function, const char *parameter, const char *name)
{
    if (!strcmp(parameter, name)) return true;
    const size_t length = strlen(function);
    return !strncmp(function, name, length) && name[length] == '.' && !strcmp(parameter, name + length + 1);
}

void hdst__tell_two_tables(const char *function, const char *other, const char *name, hdst_error *error)
{
    hdst__error_set(error, HDST_E_USAGE, "two accumulators are called '%s', one of '%s' and one of '%s'", name, function, other);
    if (strcmp(function, other) && !strchr(name, '.')) hdst__error_hint(error, "say whose: '%s.%s' or '%s.%s'", function, name, other, name);
    else hdst__error_hint(error, "use a function of another name, or hdst_cache between the two: the name then means the one behind the cache, and "
                                 "a result of the cached dataset has the other one");
}

void hdst__plan_find_readers(const hdst__plan *plan, size_t of, bool *reads)
{
    for (size_t i = 0; i < plan->node_count; i++)
        for (size_t k = 0; k < plan->nodes[i]->input_count; k++) {
            const size_t from = plan->nodes[i]->inputs[k]->number - 1;
            reads[i] |= from == of || reads[from];
        }
}

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
static hdst_status make_nodes(hdst__arena *arena, hdst_dataset *dataset, hdst__plan *plan, hdst_error *error)
{
    *plan = (hdst__plan){.context = dataset->object.context, .keeps_partials = plan->keeps_partials, .may_run_again = plan->may_run_again};
    hdst_status status = hdst__plan_nodes(arena, dataset, plan, error);
    if (status == HDST_OK) status = build_nodes(arena, plan, false, error);
    if (status == HDST_OK) status = build_nodes(arena, plan, true, error);
    if (status == HDST_OK) hdst__plan_note_uncounted(plan);
    return status;
}

// The compiler leaves by longjmp when memory is out.
hdst_status hdst__plan_make(hdst__arena *arena, hdst_dataset *dataset, hdst__plan *plan, hdst_error *error)
{
    jmp_buf out_of_memory;
    arena->out_of_memory = &out_of_memory;
    hdst__arena_compiles(arena, &dataset->object.context->cancel);
    const hdst_status status = setjmp(out_of_memory) ? hdst__arena_error(arena, "a plan", error) : make_nodes(arena, dataset, plan, error);
    arena->out_of_memory = NULL;
    hdst__arena_compiled(arena);
    return status;
}

// Of a plan that came to no end some nodes were not built.
void hdst__plan_release(hdst__plan *plan)
{
    for (size_t i = 0; i < plan->node_count; i++) {
        hdst__node *node = plan->nodes[i];
        if (node->op->release && node->own) node->op->release(node);
        hdst__node_drop_texts(node);
        node->ran = false;
        node->rows = NULL;
        node->row_count = 0;
        node->resident = NULL;
        node->part_counts = NULL;
    }
}

// --- Running ---

// Some nodes may stay on the host, as the size of the input has it. A device that is not there, or was given up, is an error all the same.
static hdst_status find_device(const hdst__plan *plan, hdst_error *error)
{
    for (size_t i = 0; i < plan->node_count; i++)
        if (plan->nodes[i]->op->may_stay_on_host) return hdst__engine_has_device(plan->context->engine, error);
    return HDST_OK;
}

static hdst_status run_node(hdst__plan *plan, hdst__node *node, hdst_error *error)
{
    hdst__timeline *timeline = hdst__engine_runtime(plan->context->engine)->timeline;
    const double begin = hdst__timeline_begin(timeline);
    hdst_status status = node->op->run(plan, node, error);
    hdst__timeline_end(timeline, begin, node->op->name, NULL, 0);
    if (status == HDST_OK) status = hdst__node_hold_texts(node, error);
    return status;
}

static hdst_status run_nodes(hdst__plan *plan, hdst_error *error)
{
    hdst_status status = find_device(plan, error);
    plan->stats = (hdst__run_stats){0};
    hdst__plan_drop_last_run(plan);
    for (size_t i = 0; i < plan->node_count; i++) hdst__node_drop_texts(plan->nodes[i]);
    for (size_t i = 0; i < plan->node_count && status == HDST_OK; i++) {
        hdst__node *node = plan->nodes[i];
        if (!node->consumer) status = run_node(plan, node, error);
        if (status == HDST_OK) hdst__plan_drop_unread(plan, node);
    }
    return status;
}

// Other devices were at work, whose plans and segments may be what takes the memory.
static bool may_do_alone(const hdst__plan *plan)
{
    return hdst__engine_has_others(plan->context->engine) && !hdst__engine_alone(plan->context->engine);
}

static void let_others_go(hdst__plan *plan, const char *why)
{
    hdst__log_write(&hdst__engine_runtime(plan->context->engine)->log, HDST__LOG_WARN, "one device does all that follows: %s", why);
    plan->alone = true;
    for (size_t i = 0; i < plan->node_count; i++) {
        hdst__stage *stage = plan->nodes[i]->call ? plan->nodes[i]->call->stage : NULL;
        if (stage) hdst__stage_forget_plan(stage);
    }
    hdst__engine_set_alone(plan->context->engine, true);
}

bool hdst__plan_runs_otherwise(hdst__plan *plan, hdst_status status)
{
    bool otherwise = false;
    for (size_t i = 0; i < plan->node_count; i++) {
        hdst_dataset *dataset = plan->nodes[i]->dataset;
        if (plan->keeps_partials || !dataset) continue;
        if (dataset->op->runs_otherwise && dataset->op->runs_otherwise(dataset, status)) otherwise = true;
        else if (status == HDST_E_MEMORY && plan->nodes[i]->op->node_takes_less) otherwise |= plan->nodes[i]->op->node_takes_less(plan->nodes[i]);
    }
    return otherwise;
}

// Several devices need more memory than one: what ends for want of it is tried once more with one.
hdst_status hdst__plan_run(hdst__plan *plan, hdst_error *error)
{
    hdst__engine *engine = plan->context->engine;
    const bool before = hdst__engine_alone(engine);
    hdst_error full = HDST_ERROR_INIT;
    if (plan->alone) hdst__engine_set_alone(engine, true);
    hdst_status status = run_nodes(plan, &full);
    if (status == HDST_E_MEMORY && may_do_alone(plan)) {
        let_others_go(plan, full.message);
        full = (hdst_error)HDST_ERROR_INIT;
        status = run_nodes(plan, &full);
    }
    if (plan->alone) hdst__engine_set_alone(engine, before);
    if (status != HDST_OK && error) *error = full;
    return status;
}
