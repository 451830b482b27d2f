// SPDX-License-Identifier: Apache-2.0
// A loop: state that datasets read and make anew, turn after turn, as a dataset like any other (hdst/loop.h).
#include "plan/loop_turns.h"
#include "plan/value_copy.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static hdst__loop *loop_of(const hdst__node *node) { return node->dataset->own; }

// --- The node ---

static void line(const hdst__node *node, hdst__buffer *out)
{
    const hdst__loop *loop = loop_of(node);
    hdst__buffer_printf(out, "loop over rows of %s, %" PRIu64 " turns%s", node->dataset->record->name, loop->limit, loop->until ? " at most" : "");
    if (loop->until) hdst__buffer_printf(out, ", until '%s' is %.6g or less", loop->until, loop->threshold);
    if (loop->until && loop->every > 1) hdst__buffer_printf(out, ", looked at every %" PRIu64 " turns", loop->every);
}

static hdst_status build(hdst__arena *arena, hdst__node *node, hdst_error *error)
{
    node->own = HDST__NEW(arena, hdst__value_copy);
    return hdst__loop_plan(loop_of(node), node->dataset, error);
}

static void drop(hdst__node *node) { hdst__value_copy_drop(node->own, node); }

static void release(hdst__node *node)
{
    drop(node);
    if (loop_of(node)->planned) hdst__loop_release(loop_of(node));
}

static hdst_status run(hdst__plan *plan, hdst__node *node, hdst_error *error)
{
    hdst__loop *loop = loop_of(node);
    node->ran = false;
    hdst_status status = hdst__loop_run(loop, node->dataset, &plan->stats, error);
    if (status == HDST_OK) status = hdst__value_copy_take(node->own, loop->state, node, error);
    node->ran = status == HDST_OK;
    return status;
}

static hdst_status explain(hdst__node *node, hdst__buffer *out, hdst_error *error)
{
    hdst__loop *loop = loop_of(node);
    hdst_status status = HDST_OK;
    for (size_t i = 0; i < loop->part_count && status == HDST_OK; i++) {
        hdst__buffer_printf(out, "a turn of loop %u, %zu of %zu:\n", (unsigned)node->number, i + 1, loop->part_count);
        status = hdst__plan_explain(&loop->parts[i].plan, out, error);
    }
    if (status == HDST_OK && node->ran)
        hdst__buffer_printf(out, "loop %u: %" PRIu64 " turns%s\n", (unsigned)node->number, loop->turn_count,
                            !loop->until ? "" : loop->converged ? ", then it had settled" : ", its limit: it had not settled");
    return status;
}

static hdst__plan *below(const hdst__node *node) { return &loop_of(node)->start; }

static void end(hdst_dataset *dataset) { hdst__loop_end(dataset->own, HDST__ALLOCATOR(dataset)); }

const hdst__operator hdst__op_loop = {
    .name = "hdst_loop", .gives = HDST__GIVES_OTHERS, .own_bytes = sizeof(hdst__loop), .line = line, .build = build, .run = run,
    .known = hdst__node_has_run, .explain = explain, .drop = drop, .release = release, .below = below, .end = end,
};

// --- The dataset ---

enum { MOST_NESTED = 200, MOST_STEPS = 1000 };      // loops and caches below one another, as caches alone

static size_t part_of(hdst__loop *loop, hdst_dataset *dataset)
{
    size_t i = 0;
    while (i < loop->part_count && loop->parts[i].dataset != dataset) i++;
    if (i == loop->part_count) loop->parts[loop->part_count++].dataset = dataset;
    return i;
}

static hdst_status add_step(hdst_dataset *dataset, const hdst_loop_step *step, hdst_error *error)
{
    hdst__loop *loop = dataset->own;
    hdst_context *context = dataset->object.context;
    hdst_status status = hdst__check_object(context, "hdst_loop", "steps[].dataset", step->dataset, error);
    if (status == HDST_OK) status = hdst__check_object(context, "hdst_loop", "steps[].value", step->value, error);
    if (status == HDST_OK && !step->table) status = hdst__dataset_has_records(step->dataset, "hdst_loop", error);
    if (status != HDST_OK) return status;
    if (!step->table && !hdst__same_struct(step->value->record, step->dataset->record)) {
        hdst__error_set(error, HDST_E_USAGE, "the body of the loop gives records of '%s', and its value has rows of '%s'", step->dataset->record->name,
                        step->value->record->name);
        hdst__error_hint(error, "what a turn leaves is what the next one reads: a map at the end of the body makes such records again");
        return HDST_E_USAGE;
    }
    hdst__loop_step *to = &loop->steps[loop->step_count++];
    *to = (hdst__loop_step){.part = part_of(loop, step->dataset), .value = step->value};
    hdst__object_retain(&step->value->object);
    if (step->dataset->nested > dataset->nested) dataset->nested = step->dataset->nested;
    if (step->table) to->table = hdst__strdup(HDST__ALLOCATOR(dataset), step->table);
    return step->table && !to->table ? hdst__error_memory(error, "a loop") : HDST_OK;
}

static hdst_status add_steps(hdst_dataset *dataset, const hdst_loop_step *steps, size_t count, hdst_error *error)
{
    hdst__loop *loop = dataset->own;
    bool makes_state = false;
    if (count == 0 || count > MOST_STEPS) return hdst__error_set(error, HDST_E_USAGE, "a loop of %zu steps: it has from 1 to %d", count, MOST_STEPS);
    loop->steps = hdst__alloc_zero(HDST__ALLOCATOR(dataset), count * sizeof *loop->steps);
    loop->parts = hdst__alloc_zero(HDST__ALLOCATOR(dataset), count * sizeof *loop->parts);
    if (!loop->steps || !loop->parts) return hdst__error_memory(error, "a loop");
    for (size_t i = 0; i < count; i++) {
        const hdst_status status = add_step(dataset, &steps[i], error);
        if (status != HDST_OK) return status;
        makes_state |= steps[i].value == loop->state;
    }
    if (makes_state) return HDST_OK;
    hdst__error_set(error, HDST_E_USAGE, "no step of the loop makes its state");
    hdst__error_hint(error, "the value of one step is the loop's state");
    return HDST_E_USAGE;
}

static hdst_status take_options(hdst_dataset *dataset, const hdst_loop_options *given, hdst_error *error)
{
    hdst__loop *loop = dataset->own;
    hdst_loop_options options = HDST_LOOP_OPTIONS_INIT;
    if (given && hdst__read_options("hdst_loop_options", "HDST_LOOP_OPTIONS_INIT", &options, sizeof options, sizeof options, given, given->size, error))
        return error->code;
    if (isnan(options.threshold)) return hdst__error_set(error, HDST_E_USAGE, "the threshold of a loop is NaN, which no number is below");
    if (options.limit == 0) {
        hdst__error_set(error, HDST_E_USAGE, "a loop without a limit");
        hdst__error_hint(error, "options.limit is the number of turns, at most");
        return HDST_E_USAGE;
    }
    loop->limit = options.limit;
    loop->threshold = options.threshold;
    loop->every = options.every ? options.every : 1;
    loop->until = options.until ? hdst__strdup(HDST__ALLOCATOR(dataset), options.until) : NULL;
    return options.until && !loop->until ? hdst__error_memory(error, "a loop") : HDST_OK;
}

static hdst_status fill_loop(hdst_dataset *dataset, const hdst_dataset *start, hdst_value *state, hdst_error *error)
{
    hdst__loop *loop = dataset->own;
    hdst_status status = hdst__check_object(dataset->object.context, "hdst_loop", "state", state, error);
    if (status == HDST_OK) status = hdst__dataset_has_records(start, "hdst_loop", error);
    if (status != HDST_OK) return status;
    if (!hdst__same_struct(state->record, start->record))
        return hdst__error_set(error, HDST_E_USAGE, "a loop that starts with records of '%s' has a state of '%s'", start->record->name, state->record->name);
    loop->state = state;
    hdst__object_retain(&state->object);
    dataset->record = state->record;
    dataset->module = state->module;
    hdst__object_retain(&state->module->object);
    hdst__dataset_as_structs(dataset);
    return HDST_OK;
}

hdst_dataset *hdst_loop(hdst_dataset *start, hdst_value *state, const hdst_loop_step *steps, size_t count, const hdst_loop_options *options)
{
    HDST__NEEDS(hdst_dataset, start, "start");
    hdst_error error = HDST_ERROR_INIT;
    hdst__lock(start->object.context);
    hdst_dataset *dataset = hdst__dataset_new(start->object.context, &hdst__op_loop, start);
    if (!dataset->object.error) {
        hdst_status status = hdst__check_pointer("hdst_loop", "steps", steps, &error);
        if (status == HDST_OK) status = fill_loop(dataset, start, state, &error);
        if (status == HDST_OK) status = add_steps(dataset, steps, count, &error);
        if (status == HDST_OK) status = take_options(dataset, options, &error);
        if (status == HDST_OK && ++dataset->nested > MOST_NESTED)
            status = hdst__error_set(&error, HDST_E_USAGE, "more than %d loops and caches below one another", MOST_NESTED);
        if (status != HDST_OK) hdst__dataset_fail(dataset, &error);
    }
    hdst__unlock(start->object.context);
    return dataset;
}

static hdst_status read_report(const hdst_dataset *dataset, hdst_loop_report *report, hdst_error *error)
{
    const hdst__loop *loop = dataset->own;
    if (dataset->op != &hdst__op_loop) return hdst__error_set(error, HDST_E_USAGE, "the dataset is no loop");
    const hdst_loop_report own = {sizeof own, loop->turn_count, loop->turns, loop->converged};
    if (report->size < sizeof own) return hdst__error_set(error, HDST_E_USAGE, "start from HDST_LOOP_REPORT_INIT: the report's size is %zu", report->size);
    *report = own;
    return HDST_OK;
}

hdst_status hdst_loop_read_report(const hdst_dataset *loop, hdst_loop_report *report, hdst_error *error)
{
    hdst_error ignored;
    if (!error) error = &ignored;
    *error = (hdst_error)HDST_ERROR_INIT;
    hdst_status status = hdst__check_alive(__func__, "loop", loop, error);
    if (status == HDST_OK) status = hdst__check_pointer(__func__, "report", report, error);
    if (status != HDST_OK) return status;
    hdst__lock(loop->object.context);
    status = read_report(loop, report, error);
    hdst__unlock(loop->object.context);
    return status;
}
