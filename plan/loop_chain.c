// SPDX-License-Identifier: Apache-2.0
// Turns of a loop that are enqueued ahead of the host (plan/loop_turns.h, engine/stage/turn_chain.h). What decides about the end is read behind the turn
// that left it, while the next one runs already: a turn that was too many is dropped, and the state is that of the turn before it.
#include "plan/loop_turns.h"

#include "base/clock.h"
#include "plan/stage_call.h"

#include <inttypes.h>
#include <math.h>

// Chains that end soon cost more than they save: what their stages work with is made anew.
enum { MOST_CHAINS = 3, LEAST_TURNS = 3 /* the first one makes what the next ones find */ };

void hdst__loop_ahead_begin(hdst__loop *loop, const hdst_dataset *dataset)
{
    loop->ahead = (hdst__loop_ahead){.why = loop->work ? "the records of a delta loop become others in each" : NULL};
    if (loop->work) return;
    loop->ahead.chain = hdst__turn_chain_create(dataset->object.context->engine);      // without memory turns run as ever
    if (!loop->ahead.chain) loop->ahead.why = "there is no memory to note them in";
}

static void give_up(hdst__loop *loop, const char *why)
{
    hdst__turn_chain_destroy(loop->ahead.chain);
    loop->ahead.chain = NULL;
    loop->ahead.why = why;
}

// Each turn is looked at anew: the last reason is told.
static void note_refusal(hdst__loop *loop)
{
    const char *why = hdst__turn_chain_refusal(loop->ahead.chain);
    if (why) loop->ahead.why = why;
}

void hdst__loop_ahead_end(hdst__loop *loop)
{
    if (!loop->ahead.chain) return;
    note_refusal(loop);
    const char *why = loop->ahead.why ? loop->ahead.why : "no two in a row asked the device for the same";
    const bool few = loop->turn_count < LEAST_TURNS && hdst__turn_chain_fits(loop->ahead.chain);
    give_up(loop, few ? "there were too few of them" : why);
}

void hdst__loop_ahead_watch(hdst__loop *loop)
{
    if (loop->ahead.chain) hdst__turn_chain_watch(loop->ahead.chain);
}

// --- Which turns can be ---

// Other nodes may keep on the host what a turn that nobody ran would have changed.
static bool runs_stages_alone(const hdst__loop *loop)
{
    static const hdst__operator *const fit[] = {&hdst__op_stage, &hdst__op_read, &hdst__op_read_value, &hdst__op_cache, &hdst__op_arrange};
    bool all = true;
    for (size_t i = 0; i < loop->part_count; i++)
        for (size_t n = 0; n < loop->parts[i].plan.node_count; n++) {
            bool is = false;
            for (size_t k = 0; k < sizeof fit / sizeof *fit; k++) is |= loop->parts[i].plan.nodes[n]->op == fit[k];
            all &= is;
        }
    return all;
}

void hdst__loop_ahead_watched(hdst__loop *loop)
{
    hdst__turn_chain *chain = loop->ahead.chain;
    if (!chain) return;
    if (!runs_stages_alone(loop)) hdst__turn_chain_refuse(chain, "what stands in the body is not stages alone");
    hdst__turn_chain_watched(chain);
    note_refusal(loop);
}

// --- A chain ---

typedef struct chain_run {
    hdst__value_rows **values;      // of the steps, each once
    size_t count;
    uint64_t records;               // that went through the stages of a turn
    const char *function;           // of its last stage, for who wants to know how far it is
    uint64_t sent, taken;           // turns
} chain_run;

static bool list_values(const hdst__loop *loop, const hdst__allocator *allocator, chain_run *a)
{
    a->values = hdst__alloc(allocator, loop->step_count * sizeof(hdst__value_rows *));
    for (size_t i = 0; a->values && i < loop->step_count; i++) {
        size_t k = 0;
        while (k < a->count && a->values[k] != loop->steps[i].value->resident) k++;
        if (k == a->count) a->values[a->count++] = loop->steps[i].value->resident;
    }
    return a->values;
}

static void add_stats(const hdst__loop *loop, hdst__run_stats *stats, double seconds)
{
    for (size_t i = 0; i < loop->part_count; i++) {
        hdst__run_stats of = loop->parts[i].plan.stats;
        of.run_seconds = of.total_seconds = seconds / (double)loop->part_count;
        of.read_seconds = of.compile_seconds = 0;
        of.bytes_from_device = i ? 0 : hdst__turn_chain_bytes(loop->ahead.chain);
        hdst__plan_add_stats(stats, &of);
    }
}

// A turn is one scan to who is told how far a run is.
static void begin_scan(const hdst__loop *loop, const chain_run *a, hdst__runtime *runtime, double now)
{
    if (!runtime->progress) return;
    hdst__loop_tell_progress(loop, runtime, now);
    hdst__progress_begin(runtime->progress, a->function, a->records);
}

static void end_scan(const hdst__engine *engine, const chain_run *a)
{
    hdst__progress *progress = hdst__engine_runtime(engine)->progress;
    hdst__progress_add(progress, hdst__engine_worker_info(engine, 0), a->records);
    hdst__progress_look(progress);
    hdst__progress_end(progress);
}

static hdst_status send(const hdst__loop *loop, const hdst_dataset *dataset, chain_run *a, hdst_error *error)
{
    const uint64_t in_flight = a->sent - a->taken;
    hdst_status status = hdst__cancel_check(&dataset->object.context->cancel, loop->turn_count, loop->limit, error);
    if (status == HDST_OK) status = hdst__turn_chain_enqueue(loop->ahead.chain, hdst__loop_looks(loop, loop->turn_count + in_flight + 1), error);
    if (status == HDST_OK) a->sent++;
    return status;
}

// The oldest turn in flight. *alike false: it was none.
static hdst_status take(hdst__loop *loop, const hdst_dataset *dataset, chain_run *a, double *begin, bool *alike, hdst__run_stats *stats, hdst_error *error)
{
    const hdst__engine *engine = dataset->object.context->engine;
    const void *decision;
    const hdst_status status = hdst__turn_chain_take(loop->ahead.chain, alike, &decision, error);
    a->taken++;
    if (status != HDST_OK || !*alike) return status;
    const double now = hdst__now();
    add_stats(loop, stats, now - *begin);
    const hdst_loop_turn turn = {.value = decision ? hdst__loop_decision(loop, decision) : NAN, .records = a->records};
    const hdst_status ended = hdst__loop_end_turn(loop, dataset, *begin, turn, error);
    *begin = now;
    loop->ahead.turns++;
    end_scan(engine, a);
    begin_scan(loop, a, hdst__engine_runtime(engine), now);
    return ended;
}

// A turn that failed, or that was enqueued in part, or that was not to be, has left words and tables that the stages would take for clear.
static void forget_plans(const hdst__loop *loop)
{
    for (size_t i = 0; i < loop->part_count; i++)
        for (size_t n = 0; n < loop->parts[i].plan.node_count; n++) {
            const hdst__stage_call *call = loop->parts[i].plan.nodes[n]->call;
            if (call && call->stage) hdst__stage_forget_plan(call->stage);
        }
}

static hdst_status run_chain(hdst__loop *loop, const hdst_dataset *dataset, chain_run *a, hdst__run_stats *stats, hdst_error *error)
{
    const uint64_t before = loop->turn_count;
    hdst__runtime *runtime = hdst__engine_runtime(dataset->object.context->engine);
    double begin = hdst__now();
    bool alike = true;
    hdst_status status = HDST_OK;
    begin_scan(loop, a, runtime, begin);
    while (status == HDST_OK && alike && !loop->converged && loop->turn_count < loop->limit) {
        while (status == HDST_OK && a->sent - a->taken < HDST__TURNS_AHEAD && loop->turn_count + a->sent - a->taken < loop->limit)
            status = send(loop, dataset, a, error);
        if (status == HDST_OK) status = take(loop, dataset, a, &begin, &alike, stats, error);
    }
    hdst__progress_end(runtime->progress);
    const bool clear = hdst__turn_chain_end(loop->ahead.chain, loop->turn_count - before);
    for (size_t i = 0; i < loop->step_count; i++) loop->steps[i].value->version++;
    if (status != HDST_OK || !alike || !clear) forget_plans(loop);
    if (!alike && ++loop->ahead.chains == MOST_CHAINS) give_up(loop, "they turned out otherwise again and again");
    return status;
}

hdst_status hdst__loop_ahead_run(hdst__loop *loop, const hdst_dataset *dataset, hdst__run_stats *stats, hdst_error *error)
{
    const hdst__stage_call *last = loop->parts[loop->part_count - 1].plan.target->call;
    chain_run a = {.records = loop->turns[loop->turn_count - 1].records, .function = last ? last->func->name : "a loop"};
    bool begun = false;
    if (!loop->ahead.chain || loop->converged || loop->turn_count == loop->limit || !list_values(loop, HDST__ALLOCATOR(dataset), &a)) return HDST_OK;
    hdst_status status = hdst__turn_chain_begin(loop->ahead.chain, a.values, a.count, &begun, error);
    note_refusal(loop);
    if (begun) status = run_chain(loop, dataset, &a, stats, error);
    hdst__free(HDST__ALLOCATOR(dataset), a.values);
    return status;
}

void hdst__loop_ahead_explain(const hdst__loop *loop, unsigned number, hdst__buffer *out)
{
    const hdst__loop_ahead *ahead = &loop->ahead;
    if (ahead->turns) hdst__buffer_printf(out, "loop %u: %" PRIu64 " of its turns were enqueued ahead of the host\n", number, ahead->turns);
    else if (ahead->why) hdst__buffer_printf(out, "loop %u: turns are not enqueued ahead: %s\n", number, ahead->why);
}
