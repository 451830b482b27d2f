// SPDX-License-Identifier: Apache-2.0
// A loop: state that datasets read and make anew, turn after turn, as a dataset like any other (hdst/loop.h).
#include "plan/loop_turns.h"
#include "plan/stage_call.h"
#include "plan/value_copy.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static hdst__loop *loop_at(const hdst_dataset *dataset) { return dataset->own; }
static hdst__loop *loop_of(const hdst__node *node) { return loop_at(node->dataset); }

// --- The node ---

static void line(const hdst__node *node, hdst__buffer *out)
{
    const hdst__loop *loop = loop_of(node);
    hdst__buffer_printf(out, "loop over rows of %s, %" PRIu64 " turns%s", node->dataset->record->name, loop->limit,
                        loop->until || loop->work ? " at most" : "");
    if (loop->work) hdst__buffer_printf(out, ", until a work set of %s is empty", loop->work->record->name);
    if (loop->until) hdst__buffer_printf(out, ", until '%s' is %.6g or less", loop->until, loop->threshold);
    if (loop->until && loop->every > 1) hdst__buffer_printf(out, ", looked at every %" PRIu64 " turns", loop->every);
}

static hdst_status build(hdst__arena *arena, hdst__node *node, hdst_error *error)
{
    node->own = HDST__NEW(arena, hdst__value_copy);
    return hdst__loop_plan(loop_of(node), error);
}

static void drop(hdst__node *node) { hdst__value_copy_drop(node->own, node); }

static void release(hdst__node *node)
{
    drop(node);
    hdst__loop_release(loop_of(node));
}

// --- Who reads, in the run of the loop, what its turns write ---

static bool writes(const hdst__loop *loop, const hdst_value *value)
{
    if (value == loop->state || value == loop->work) return true;
    for (size_t i = 0; i < loop->step_count; i++)
        if (loop->steps[i].value == value) return true;
    return false;
}

// A value that the loop writes and a function of the node reads; NULL: none.
static const hdst__plan_param *read_of(const hdst__node *node, const hdst__loop *loop)
{
    const hdst__stage_call *call = node->call;
    for (size_t i = 0; call && call->params && i < call->func->param_count; i++)
        if (call->params[i].value && writes(loop, call->params[i].value)) return &call->params[i];
    return NULL;
}

static hdst_status tell_reader(const hdst__plan_param *read, hdst_error *error)
{
    if (read)
        hdst__error_set(error, HDST_E_USAGE, "'%s' of '%s' is bound to a value that a loop of the same run writes, and does not stand behind the loop",
                        read->name, read->function);
    else hdst__error_set(error, HDST_E_USAGE, "hdst_read_value reads a value that a loop of the same run writes");
    hdst__error_hint(error, "let who reads the value take the loop's records, run the loop by a result of its own, or read a copy in another value");
    return HDST_E_USAGE;
}

// Nodes run in an order that the planner chooses: what does not take the loop's records would see rows of before its turns or of behind them. What the
// loop begins with has a plan of its own.
static hdst_status check_readers(const hdst__plan *plan, const hdst__node *node, hdst_error *error)
{
    bool *behind = hdst__alloc_zero(HDST__ALLOCATOR(node->dataset), plan->node_count * sizeof *behind);
    if (!behind) return hdst__error_memory(error, "a loop");
    hdst_status status = HDST_OK;
    hdst__plan_find_readers(plan, node->number - 1, behind);
    behind[node->number - 1] = true;
    for (size_t i = 0; i < plan->node_count && status == HDST_OK; i++) {
        const hdst__node *reader = plan->nodes[i];
        const hdst__plan_param *read = behind[i] ? NULL : read_of(reader, loop_of(node));
        const hdst_value *value = behind[i] ? NULL : hdst__read_value_of(reader);
        if (read || (value && writes(loop_of(node), value))) status = tell_reader(read, error);
    }
    hdst__free(HDST__ALLOCATOR(node->dataset), behind);
    return status;
}

static hdst_status run(hdst__plan *plan, hdst__node *node, hdst_error *error)
{
    hdst__loop *loop = loop_of(node);
    node->ran = false;
    hdst_status status = check_readers(plan, node, error);
    if (status == HDST_OK) status = hdst__loop_plan(loop, error);       // its plans may have ended with an error
    if (status == HDST_OK) status = hdst__loop_run(loop, node->dataset, &plan->stats, error);
    if (status == HDST_OK) status = hdst__value_copy_take(node->own, loop->state, node, error);
    node->ran = status == HDST_OK;
    return status;
}

static void explain_changes(const hdst__node *node, const hdst__row_changes *changes, hdst__buffer *out)
{
    const unsigned number = node->number;
    const char *why_not = changes->why_not;
    if (changes->times_there)
        hdst__buffer_printf(out, "loop %u: rows of its state were changed on the device in %" PRIu64 " turns\n", number, changes->times_there);
    if (why_not && *why_not) hdst__buffer_printf(out, "loop %u: rows of its state are changed on the host: %s\n", number, why_not);
}

static hdst_status explain(hdst__node *node, hdst__buffer *out, hdst_error *error)
{
    hdst__loop *loop = loop_of(node);
    hdst_status status = HDST_OK;
    if (loop->work) {
        hdst__buffer_printf(out, "the first work set of loop %u:\n", (unsigned)node->number);
        status = hdst__plan_explain(&loop->first.plan, out, error);
    }
    for (size_t i = 0; i < loop->part_count && status == HDST_OK; i++) {
        hdst__buffer_printf(out, "a turn of loop %u, %zu of %zu:\n", (unsigned)node->number, i + 1, loop->part_count);
        status = hdst__plan_explain(&loop->parts[i].plan, out, error);
    }
    if (status == HDST_OK && node->ran)
        hdst__buffer_printf(out, "loop %u: %" PRIu64 " turns%s\n", (unsigned)node->number, loop->turn_count,
                            !loop->until && !loop->work ? "" : loop->converged ? ", then it had settled" : ", its limit: it had not settled");
    for (size_t i = 0; i < loop->step_count && status == HDST_OK && node->ran; i++) explain_changes(node, &loop->steps[i].changes, out);
    if (status == HDST_OK && node->ran) hdst__loop_ahead_explain(loop, (unsigned)node->number, out);
    return status;
}

static hdst__plan *below(const hdst__node *node) { return &loop_of(node)->start.plan; }

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

static hdst_status check_step(const hdst_dataset *dataset, const hdst_loop_step *step, hdst_error *error)
{
    hdst_context *context = dataset->object.context;
    const char *made_by = loop_at(dataset)->made_by;
    hdst_status status = hdst__check_object(context, made_by, "steps[].dataset", step->dataset, error);
    if (status == HDST_OK) status = hdst__check_object(context, made_by, "steps[].value", step->value, error);
    return status == HDST_OK && !step->table ? hdst__dataset_has_records(step->dataset, made_by, error) : status;
}

// The plans look at accumulators, and at what changes rows.
static hdst_status check_records(const hdst_loop_step *step, hdst_error *error)
{
    if (hdst__value_can_take(step->value->record, step->dataset->record)) return HDST_OK;
    hdst__error_set(error, HDST_E_USAGE, "the body of the loop gives records of '%s', and its value has rows of '%s'", step->dataset->record->name,
                    step->value->record->name);
    hdst__error_hint(error, "what a turn leaves is what the next one reads: a map at the end of the body makes such records again");
    return HDST_E_USAGE;
}

// Nothing can read what the first one gave.
static hdst_status check_once(const hdst__loop *loop, const hdst__loop_step *step, hdst_error *error)
{
    for (const hdst__loop_step *other = loop->steps; other < step; other++) {
        if (other->part != step->part || other->value != step->value) continue;
        hdst__error_set(error, HDST_E_USAGE, "steps %td and %td of the loop give one value what one dataset made", other - loop->steps, step - loop->steps);
        hdst__error_hint(error, "the second would write over what the first gave, before anything has read it: give them a value each");
        return HDST_E_USAGE;
    }
    return HDST_OK;
}

static hdst_status add_step(hdst_dataset *dataset, const hdst_loop_step *step, hdst_error *error)
{
    hdst__loop *loop = dataset->own;
    const bool is_changes = loop->work && step->value == loop->state;
    hdst_status status = check_step(dataset, step, error);
    if (status == HDST_OK && is_changes && step->table)
        status = hdst__error_set(error, HDST_E_USAGE, "the state of a delta loop is changed by records, and not by accumulator '%s'", step->table);
    if (status == HDST_OK && !step->table && !is_changes) status = check_records(step, error);
    if (status != HDST_OK) return status;
    hdst__loop_step *to = &loop->steps[loop->step_count++];
    *to = (hdst__loop_step){.part = part_of(loop, step->dataset), .value = step->value, .is_changes = is_changes};
    hdst__object_retain(&step->value->object);
    if (step->dataset->nested > dataset->nested) dataset->nested = step->dataset->nested;
    if (check_once(loop, to, error) != HDST_OK) return error->code;
    if (step->table) to->table = hdst__strdup(HDST__ALLOCATOR(dataset), step->table);
    return step->table && !to->table ? hdst__error_memory(error, "a loop") : HDST_OK;
}

static hdst_status add_steps(hdst_dataset *dataset, const hdst_loop_step *steps, size_t count, hdst_error *error)
{
    hdst__loop *loop = dataset->own;
    bool makes_state = false, makes_work = !loop->work;
    if (count == 0 || count > MOST_STEPS) return hdst__error_set(error, HDST_E_USAGE, "a loop of %zu steps: it has from 1 to %d", count, MOST_STEPS);
    loop->steps = hdst__alloc_zero(HDST__ALLOCATOR(dataset), count * sizeof *loop->steps);
    loop->parts = hdst__alloc_zero(HDST__ALLOCATOR(dataset), count * sizeof *loop->parts);
    if (!loop->steps || !loop->parts) return hdst__error_memory(error, "a loop");
    for (size_t i = 0; i < count; i++) {
        const hdst_status status = add_step(dataset, &steps[i], error);
        if (status != HDST_OK) return status;
        makes_state |= steps[i].value == loop->state;
        makes_work |= steps[i].value == loop->work;
    }
    if (makes_state && makes_work) return HDST_OK;
    hdst__error_set(error, HDST_E_USAGE, "no step of the loop makes its %s", makes_state ? "work set" : "state");
    hdst__error_hint(error, "the value of one step is the loop's %s", makes_state ? "work set" : "state");
    return HDST_E_USAGE;
}

static hdst_status take_options(hdst_dataset *dataset, const hdst_loop_options *given, hdst_error *error)
{
    hdst__loop *loop = dataset->own;
    hdst_loop_options options = HDST_LOOP_OPTIONS_INIT;
    static const size_t least = offsetof(hdst_loop_options, quiet);
    if (given && hdst__read_options("hdst_loop_options", "HDST_LOOP_OPTIONS_INIT", &options, least, sizeof options, given, given->size, error))
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
    loop->quiet = options.quiet != 0;
    loop->until = options.until ? hdst__strdup(HDST__ALLOCATOR(dataset), options.until) : NULL;
    return options.until && !loop->until ? hdst__error_memory(error, "a loop") : HDST_OK;
}

// What the loop begins with, and the value that takes it.
static hdst_status check_start(hdst_dataset *dataset, const hdst_dataset *start, hdst_value *value, const char *what, hdst_error *error)
{
    const char *made_by = loop_at(dataset)->made_by;
    hdst_status status = hdst__check_object(dataset->object.context, made_by, what, value, error);
    if (status == HDST_OK) status = hdst__dataset_has_records(start, made_by, error);
    if (status != HDST_OK || hdst__value_can_take(value->record, start->record)) return status;
    return hdst__error_set(error, HDST_E_USAGE, "a loop that starts with records of '%s' has a %s of '%s'", start->record->name, what, value->record->name);
}

static hdst_status take_state(hdst_dataset *dataset, hdst_dataset *start, hdst_value *state, hdst_error *error)
{
    hdst__loop *loop = dataset->own;
    const hdst_status status = check_start(dataset, start, state, "state", error);
    if (status != HDST_OK) return status;
    loop->start.dataset = start;
    loop->state = state;
    hdst__object_retain(&state->object);
    dataset->record = state->record;
    dataset->module = state->module;
    hdst__object_retain(&state->module->object);
    hdst__dataset_as_structs(dataset);
    return HDST_OK;
}

static hdst_status take_work(hdst_dataset *dataset, hdst_dataset *first, hdst_value *work, hdst_error *error)
{
    hdst__loop *loop = dataset->own;
    hdst_status status = hdst__check_object(dataset->object.context, loop->made_by, "first", first, error);
    if (status == HDST_OK) status = check_start(dataset, first, work, "work", error);
    if (status != HDST_OK) return status;
    if (work == loop->state) return hdst__error_set(error, HDST_E_USAGE, "one value is both the state and the work set of a loop");
    loop->first.dataset = first;
    loop->work = work;
    hdst__object_retain(&work->object);
    if (first->nested > dataset->nested) dataset->nested = first->nested;
    return HDST_OK;
}

// What a loop is made of; without `first` and `work` it makes the whole state anew.
typedef struct made_of {
    const char *made_by;
    hdst_dataset *start;
    hdst_value *state;
    bool is_delta;
    hdst_dataset *first;
    hdst_value *work;
    const hdst_loop_step *steps;
    size_t count;
    const hdst_loop_options *options;
} made_of;

static hdst_status fill_loop(hdst_dataset *dataset, const made_of *of, hdst_error *error)
{
    loop_at(dataset)->made_by = of->made_by;
    hdst_status status = hdst__check_pointer(of->made_by, "steps", of->steps, error);
    if (status == HDST_OK) status = take_state(dataset, of->start, of->state, error);
    if (status == HDST_OK && of->is_delta) status = take_work(dataset, of->first, of->work, error);
    if (status == HDST_OK) status = add_steps(dataset, of->steps, of->count, error);
    if (status == HDST_OK) status = take_options(dataset, of->options, error);
    if (status != HDST_OK || ++dataset->nested <= MOST_NESTED) return status;
    return hdst__error_set(error, HDST_E_USAGE, "more than %d loops and caches below one another", MOST_NESTED);
}

static hdst_dataset *make_loop(const made_of *of)
{
    hdst_error error = HDST_ERROR_INIT;
    hdst__lock(of->start->object.context);
    hdst_dataset *dataset = hdst__dataset_new(of->start->object.context, &hdst__op_loop, of->start);
    if (!dataset->object.error && fill_loop(dataset, of, &error) != HDST_OK) hdst__dataset_fail(dataset, &error);
    hdst__unlock(of->start->object.context);
    return dataset;
}

hdst_dataset *hdst_loop(hdst_dataset *start, hdst_value *state, const hdst_loop_step *steps, size_t count, const hdst_loop_options *options)
{
    HDST__NEEDS(hdst_dataset, start, "start");
    return make_loop(&(made_of){.made_by = __func__, .start = start, .state = state, .steps = steps, .count = count, .options = options});
}

hdst_dataset *hdst_delta_loop(hdst_dataset *start, hdst_value *state, hdst_dataset *first, hdst_value *work, const hdst_loop_step *steps, size_t count,
                              const hdst_loop_options *options)
{
    HDST__NEEDS(hdst_dataset, start, "start");
    return make_loop(&(made_of){__func__, start, state, true, first, work, steps, count, options});
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
