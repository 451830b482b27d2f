// SPDX-License-Identifier: Apache-2.0
// The turns of a loop (plan/loop_turns.h).
#include "plan/loop_turns.h"

#include "plan/aggregate_node.h"

#include "base/clock.h"
#include "engine/memory/host_rows.h"

#include <inttypes.h>
#include <math.h>

// --- What a run gave goes to a value ---

static hdst_status set_rows(hdst_value *value, const hdst__record *record, const void *rows, uint64_t count, hdst_error *error)
{
    uint64_t own;
    const hdst_status status = hdst__value_rows_from(value, record, count, &own, error);
    return status == HDST_OK ? hdst__value_set_rows(value, rows, own, error) : status;
}

static hdst_status take_from_reader(hdst_value *value, const hdst__reader *reader, hdst_error *error)
{
    hdst__runtime *runtime = hdst__engine_runtime(value->object.context->engine);
    hdst__rows rows = {0};
    hdst__run_stats ignored = {0};
    hdst_status status = hdst__rows_read_all(runtime, reader, false, &rows, &ignored, error);
    if (status == HDST_OK) status = set_rows(value, reader->record, rows.records, rows.count, error);
    hdst__rows_free(runtime, &rows);
    return status;
}

static hdst_status take_resident(hdst_value *value, const hdst__dataset_cache *resident, bool *taken, hdst_error *error)
{
    const hdst__reader *reader = hdst__dataset_cache_own_reader(resident);
    uint64_t rows;
    const hdst_status status = hdst__value_rows_from(value, reader->record, reader->records, &rows, error);
    return status == HDST_OK ? hdst__value_take_resident(value, resident, rows, taken, error) : status;
}

static const char through_host[] = "what a step gives goes through the host";

static hdst_status take_rows(const hdst__loop *of, hdst_value *value, const hdst__dataset_cache *resident, const hdst__record *record,
                             const void *rows, uint64_t count, const hdst__reader *reader, hdst_error *error)
{
    bool taken = false;
    hdst_status status = resident ? take_resident(value, resident, &taken, error) : HDST_OK;
    if (status != HDST_OK || taken) return status;
    if (of->ahead.chain) hdst__turn_chain_refuse(of->ahead.chain, through_host);
    return rows || !reader ? set_rows(value, record, rows, count, error) : take_from_reader(value, reader, error);
}

static hdst_status take_records(const hdst__loop *of, hdst_value *value, const hdst__node *from, hdst_error *error)
{
    return take_rows(of, value, from->resident, from->dataset->record, from->rows, from->row_count, &from->reader, error);
}

static hdst_status take_table(const hdst__loop *of, hdst_value *value, const hdst__plan_table *table, hdst_error *error)
{
    const hdst__reader *reader = table->resident ? hdst__dataset_cache_own_reader(table->resident) : NULL;
    return take_rows(of, value, table->resident, table->record, table->rows, table->row_count, reader, error);
}

static hdst_status take_changes(hdst__loop_step *step, const hdst__node *from, uint64_t *count, hdst_error *error)
{
    bool done = false;
    const bool distinct = hdst__aggregate_node_has_rows(from);
    hdst_status status = from->resident ? hdst__row_changes_put_there(&step->changes, step->value, from->resident, distinct, &done, error) : HDST_OK;
    if (done) *count += from->reader.records;
    if (status != HDST_OK || done) return status;
    hdst__runtime *runtime = hdst__engine_runtime(step->value->object.context->engine);
    hdst__rows read = {.records = (void *)from->rows, .count = from->row_count};
    hdst__run_stats ignored = {0};
    status = from->rows ? HDST_OK : hdst__rows_read_all(runtime, &from->reader, false, &read, &ignored, error);
    if (status == HDST_OK) status = hdst__row_changes_put(&step->changes, step->value, read.records, read.count, error);
    if (status == HDST_OK) *count += read.count;
    if (!from->rows) hdst__rows_free(runtime, &read);
    return status;
}

static hdst_status take_step(const hdst__loop *loop, hdst__loop_step *step, hdst_loop_turn *turn, hdst_error *error)
{
    const hdst__node *target = loop->parts[step->part].plan.target;
    if (step->is_changes) return take_changes(step, target, &turn->changes, error);
    return step->from ? take_table(loop, step->value, step->from, error) : take_records(loop, step->value, target, error);
}

// --- Turns ---

static hdst_status read_decision(const hdst__loop *loop, double *value, hdst_error *error)
{
    const hdst__plan_table *table = loop->decides;
    hdst__runtime *runtime = hdst__engine_runtime(loop->state->object.context->engine);
    hdst__rows read = {0};
    hdst__run_stats ignored = {0};
    hdst_status status = HDST_OK;
    if (table->row_count != 1)
        return hdst__error_set(error, HDST_E_USAGE, "'%s' cannot end a loop: it has %" PRIu64 " rows, not one", loop->until, table->row_count);
    if (table->rows && loop->ahead.chain) hdst__turn_chain_refuse(loop->ahead.chain, "what ends the loop is computed on the host");
    if (!table->rows) status = hdst__rows_read_all(runtime, hdst__dataset_cache_own_reader(table->resident), false, &read, &ignored, error);
    if (status == HDST_OK) *value = hdst__loop_decision(loop, table->rows ? table->rows : read.records);
    hdst__rows_free(runtime, &read);
    return status;
}

// The decision is read at once: where memory is short the next part takes what this one works with. Turns that are watched read it also where it is not
// looked at, as those that are enqueued in their place may.
static hdst_status decide(hdst__loop *loop, bool looks, hdst_loop_turn *turn, hdst_error *error)
{
    hdst__turn_chain *chain = loop->ahead.chain;
    double value = NAN;
    if (!looks && !chain) return HDST_OK;
    if (chain) hdst__turn_chain_decide(chain, true);
    const hdst_status status = read_decision(loop, &value, error);
    if (chain) hdst__turn_chain_decide(chain, false);
    if (looks) turn->value = value;
    return status;
}

// Keys that are rows of the state are below their number.
static void expect_rows(const hdst__loop *loop, size_t part)
{
    for (size_t i = 0; i < loop->step_count; i++)
        if (loop->steps[i].part == part && loop->steps[i].is_changes) loop->parts[part].plan.target->keys_below = loop->state->rows;
}

static hdst_status run_part(hdst__loop *loop, size_t part, bool looks, hdst_loop_turn *turn, hdst__run_stats *stats, hdst_error *error)
{
    expect_rows(loop, part);
    hdst_status status = hdst__loop_run_part(loop, &loop->parts[part], stats, error);
    turn->records += loop->parts[part].plan.stats.records;
    if (status == HDST_OK && loop->decides && loop->decides_part == part) status = decide(loop, looks, turn, error);
    for (size_t i = 0; i < loop->step_count && status == HDST_OK; i++)
        if (loop->steps[i].part == part) status = take_step(loop, &loop->steps[i], turn, error);
    return status;
}

static hdst_status run_turn(hdst__loop *loop, const hdst_dataset *dataset, hdst__run_stats *stats, hdst_error *error)
{
    const double begin = hdst__now();
    hdst__loop_tell_progress(loop, hdst__engine_runtime(dataset->object.context->engine), begin);
    hdst_loop_turn turn = {.value = NAN, .work = loop->work ? loop->work->rows : 0};
    hdst_status status = hdst__cancel_check(&dataset->object.context->cancel, loop->turn_count, loop->limit, error);
    const bool looks = hdst__loop_looks(loop, loop->turn_count + 1);
    hdst__loop_ahead_watch(loop);
    for (size_t i = 0; i < loop->part_count && status == HDST_OK; i++) status = run_part(loop, i, looks, &turn, stats, error);
    hdst__loop_ahead_watched(loop);
    if (status == HDST_OK) return hdst__loop_end_turn(loop, dataset, begin, turn, error);
    hdst__timeline_end_turn(hdst__engine_runtime(dataset->object.context->engine)->timeline, begin, loop->turn_count + 1, turn.records, turn.value);
    return status;
}

static void tell_limit(const hdst__loop *loop, const hdst_dataset *dataset)
{
    const hdst__log *log = &dataset->object.context->log;
    if (loop->converged || loop->quiet) return;
    if (loop->work)
        hdst__log_write(log, HDST__LOG_WARN, "a loop ended at its limit of %" PRIu64 " turns with %" PRIu64 " records in its work set", loop->limit,
                        loop->work->rows);
    else if (loop->decides && loop->threshold > -INFINITY)
        hdst__log_write(log, HDST__LOG_WARN, "a loop ended at its limit of %" PRIu64 " turns: '%s' is %.6g, not %.6g or less", loop->limit, loop->until,
                        loop->turns[loop->turn_count - 1].value, loop->threshold);
}

// The state, then the work set, which may be made of it.
static hdst_status begin(hdst__loop *loop, hdst__run_stats *stats, hdst_error *error)
{
    hdst_status status = hdst__object_status(&loop->state->object, error);
    if (status == HDST_OK && loop->work) status = hdst__object_status(&loop->work->object, error);
    if (status == HDST_OK) status = hdst__loop_run_part(loop, &loop->start, stats, error);
    if (status == HDST_OK) status = take_records(loop, loop->state, loop->start.plan.target, error);
    if (status != HDST_OK || !loop->work) return status;
    status = hdst__loop_run_part(loop, &loop->first, stats, error);
    return status == HDST_OK ? take_records(loop, loop->work, loop->first.plan.target, error) : status;
}

hdst_status hdst__loop_run(hdst__loop *loop, const hdst_dataset *dataset, hdst__run_stats *stats, hdst_error *error)
{
    hdst__progress *progress = hdst__engine_runtime(dataset->object.context->engine)->progress;
    loop->turn_count = 0;
    loop->converged = false;
    loop->looked = NAN;
    for (size_t i = 0; i < loop->step_count; i++) hdst__row_changes_begin(&loop->steps[i].changes);
    hdst_status status = begin(loop, stats, error);
    if (status == HDST_OK) loop->converged = loop->work && loop->work->rows == 0;
    loop->began = hdst__now();
    const hdst__progress_turn outer = hdst__progress_set_turn(progress, (hdst__progress_turn){0});
    hdst__loop_ahead_begin(loop, dataset);
    while (status == HDST_OK && loop->turn_count < loop->limit && !loop->converged) {
        status = run_turn(loop, dataset, stats, error);
        if (status == HDST_OK) status = hdst__loop_ahead_run(loop, dataset, stats, error);
    }
    hdst__loop_ahead_end(loop);
    hdst__progress_set_turn(progress, outer);
    if (status == HDST_OK) tell_limit(loop, dataset);
    return status;
}

// --- Ending ---

void hdst__loop_end(hdst__loop *loop, const hdst__allocator *allocator)
{
    hdst__loop_end_plans(loop);
    for (size_t i = 0; i < loop->step_count; i++) {
        hdst__free(allocator, loop->steps[i].table);
        if (loop->steps[i].value) hdst__object_drop(&loop->steps[i].value->object);
    }
    if (loop->state) hdst__object_drop(&loop->state->object);
    if (loop->work) hdst__object_drop(&loop->work->object);
    hdst__free(allocator, loop->steps);
    hdst__free(allocator, loop->parts);
    hdst__free(allocator, loop->until);
    hdst__free(allocator, loop->turns);
}
