// SPDX-License-Identifier: Apache-2.0
// The turns of a loop (plan/loop_turns.h).
#include "plan/loop_turns.h"

#include "base/clock.h"
#include "engine/memory/host_rows.h"
#include "record/scalar_convert.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

// --- Plans ---

// NULL with the error filled: none of the plans has it.
static hdst__plan_table *find_table(const hdst__loop *loop, size_t first, size_t count, const char *name, hdst_error *error)
{
    enum { MOST = 64 };
    const char *names[MOST];
    size_t known = 0;
    for (size_t p = first; p < first + count; p++) {
        const hdst__plan *plan = &loop->parts[p].plan;
        for (size_t n = 0; n < plan->node_count; n++) {
            for (size_t t = 0; t < plan->nodes[n]->table_count; t++) {
                hdst__plan_table *table = &plan->nodes[n]->tables[t];
                if (hdst__is_called(table->function, table->name, name)) return table;
                if (known < MOST) names[known++] = table->name;
            }
        }
    }
    hdst__error_set(error, HDST_E_USAGE, "the body of the loop has no accumulator '%s'", name);
    hdst__error_suggest(error, "its accumulators are", name, names, known);
    return NULL;
}

static hdst_status find_decision(hdst__loop *loop, hdst_error *error)
{
    if (!loop->until) return HDST_OK;
    loop->decides = find_table(loop, 0, loop->part_count, loop->until, error);
    if (!loop->decides) return error->code;
    const hdst__record *record = loop->decides->record;
    if (record->leaf_count != 1 || record->elements != 1)
        return hdst__error_set(error, HDST_E_USAGE, "'%s' cannot end a loop: it is a record, not one number", loop->until);
    if (loop->every > 1) loop->decides->keeps = true;
    return HDST_OK;
}

static hdst_status find_step(const hdst__loop *loop, hdst__loop_step *step, hdst_error *error)
{
    hdst__plan *plan = &loop->parts[step->part].plan;
    if (!step->table) {
        plan->target->keeps = true;
        return HDST_OK;
    }
    step->from = find_table(loop, step->part, 1, step->table, error);
    if (!step->from) return error->code;
    const hdst__record *record = step->from->record;
    step->from->keeps = true;
    if (hdst__same_struct(step->value->record, record)) return HDST_OK;
    return hdst__error_set(error, HDST_E_USAGE, "accumulator '%s' of the loop's body has rows of '%s', and its value rows of '%s'", step->table, record->name,
                           step->value->record->name);
}

static hdst_status make_plans(hdst__loop *loop, const hdst_dataset *dataset, hdst_error *error)
{
    hdst_status status = hdst__plan_make(&loop->arena, dataset->parent, &loop->start, error);
    if (status == HDST_OK) loop->start.target->keeps = true;
    for (size_t i = 0; i < loop->part_count && status == HDST_OK; i++)
        status = hdst__plan_make(&loop->arena, loop->parts[i].dataset, &loop->parts[i].plan, error);
    for (size_t i = 0; i < loop->step_count && status == HDST_OK; i++) status = find_step(loop, &loop->steps[i], error);
    return status == HDST_OK ? find_decision(loop, error) : status;
}

static void end_plans(hdst__loop *loop)
{
    hdst__loop_release(loop);
    hdst__arena_destroy(&loop->arena);
    loop->start = (hdst__plan){0};
    for (size_t i = 0; i < loop->part_count; i++) loop->parts[i].plan = (hdst__plan){0};
    loop->planned = false;
}

hdst_status hdst__loop_plan(hdst__loop *loop, const hdst_dataset *dataset, hdst_error *error)
{
    if (loop->planned) return HDST_OK;
    hdst__arena_init(&loop->arena, HDST__ALLOCATOR(dataset), NULL);
    const hdst_status status = make_plans(loop, dataset, error);
    loop->planned = status == HDST_OK;
    if (!loop->planned) end_plans(loop);
    return status;
}

// --- What a run gave goes to a value ---

static hdst_status take_from_reader(hdst_value *value, const hdst__reader *reader, hdst_error *error)
{
    hdst__runtime *runtime = hdst__engine_runtime(value->object.context->engine);
    hdst__rows rows = {0};
    hdst__run_stats ignored = {0};
    hdst_status status = hdst__rows_read_all(runtime, reader, false, &rows, &ignored, error);
    if (status == HDST_OK) status = hdst__value_set_rows(value, rows.records, rows.count, error);
    hdst__rows_free(runtime, &rows);
    return status;
}

static hdst_status take_rows(hdst_value *value, hdst__dataset_cache *resident, const void *rows, uint64_t count, const hdst__reader *reader, hdst_error *error)
{
    bool taken = false;
    hdst_status status = resident ? hdst__value_take_resident(value, resident, hdst__dataset_cache_own_reader(resident)->records, &taken, error) : HDST_OK;
    if (status != HDST_OK || taken) return status;
    return rows || !reader ? hdst__value_set_rows(value, rows, count, error) : take_from_reader(value, reader, error);
}

static hdst_status take_records(hdst_value *value, const hdst__node *from, hdst_error *error)
{
    return take_rows(value, from->resident, from->rows, from->row_count, &from->reader, error);
}

static hdst_status take_step(const hdst__loop *loop, const hdst__loop_step *step, hdst_error *error)
{
    const hdst__plan_table *table = step->from;
    if (!table) return take_records(step->value, loop->parts[step->part].plan.target, error);
    const hdst__reader *reader = table->resident ? hdst__dataset_cache_own_reader(table->resident) : NULL;
    return take_rows(step->value, table->resident, table->rows, table->row_count, reader, error);
}

// --- Turns ---

// Signed numbers are extended with their sign.
static double number(hdst__kind kind, const void *at)
{
    const size_t bytes = hdst__scalar_size(kind);
    const unsigned unused = 64 - 8 * (unsigned)bytes;
    uint64_t bits = 0;
    double value;
    memcpy(&bits, at, bytes);
    if (hdst__kind_is_signed(kind)) bits = (uint64_t)((int64_t)(bits << unused) >> unused);
    bits = hdst__scalar_convert(HDST__F64, kind, bits);
    memcpy(&value, &bits, sizeof value);
    return value;
}

static hdst_status read_decision(const hdst__loop *loop, const hdst_dataset *dataset, double *value, hdst_error *error)
{
    const hdst__plan_table *table = loop->decides;
    hdst__runtime *runtime = hdst__engine_runtime(dataset->object.context->engine);
    hdst__rows read = {0};
    hdst__run_stats ignored = {0};
    hdst_status status = HDST_OK;
    if (table->row_count != 1)
        return hdst__error_set(error, HDST_E_USAGE, "'%s' cannot end a loop: it has %" PRIu64 " rows, not one", loop->until, table->row_count);
    if (!table->rows) status = hdst__rows_read_all(runtime, hdst__dataset_cache_own_reader(table->resident), false, &read, &ignored, error);
    if (status == HDST_OK) *value = number(table->record->leaves[0].kind, table->rows ? table->rows : read.records);
    hdst__rows_free(runtime, &read);
    return status;
}

static hdst_status note_turn(hdst__loop *loop, const hdst_dataset *dataset, hdst_loop_turn turn, hdst_error *error)
{
    if (loop->turn_count == loop->turn_capacity) {
        const uint64_t capacity = loop->turn_capacity * 2 + 16;
        hdst_loop_turn *turns = hdst__realloc(HDST__ALLOCATOR(dataset), loop->turns, capacity * sizeof *turns);
        if (!turns) return hdst__error_memory(error, "figures of a loop");
        loop->turns = turns;
        loop->turn_capacity = capacity;
    }
    loop->turns[loop->turn_count++] = turn;
    return HDST_OK;
}

static hdst_status run_part(hdst__loop *loop, size_t part, uint64_t *records, hdst__run_stats *stats, hdst_error *error)
{
    hdst__plan *plan = &loop->parts[part].plan;
    hdst_status status = hdst__plan_run(plan, error);
    hdst__plan_add_stats(stats, &plan->stats);
    *records += plan->stats.records;
    for (size_t i = 0; i < loop->step_count && status == HDST_OK; i++)
        if (loop->steps[i].part == part) status = take_step(loop, &loop->steps[i], error);
    return status;
}

static hdst_status run_turn(hdst__loop *loop, const hdst_dataset *dataset, hdst__run_stats *stats, hdst_error *error)
{
    const double begin = hdst__now();
    hdst_loop_turn turn = {.value = NAN};
    hdst_status status = hdst__cancel_check(&dataset->object.context->cancel, loop->turn_count, loop->limit, error);
    for (size_t i = 0; i < loop->part_count && status == HDST_OK; i++) status = run_part(loop, i, &turn.records, stats, error);
    const bool last = loop->turn_count + 1 == loop->limit;
    if (status == HDST_OK && loop->decides && (last || (loop->turn_count + 1) % loop->every == 0)) {
        status = read_decision(loop, dataset, &turn.value, error);
        loop->converged = status == HDST_OK && turn.value <= loop->threshold;
    }
    turn.seconds = hdst__now() - begin;
    return status == HDST_OK ? note_turn(loop, dataset, turn, error) : status;
}

static void tell_limit(const hdst__loop *loop, const hdst_dataset *dataset)
{
    if (!loop->decides || loop->converged) return;
    hdst__log_write(&dataset->object.context->log, HDST__LOG_WARN, "a loop ended at its limit of %" PRIu64 " turns: '%s' is %.6g, not %.6g or less",
                    loop->limit, loop->until, loop->turns[loop->turn_count - 1].value, loop->threshold);
}

hdst_status hdst__loop_run(hdst__loop *loop, const hdst_dataset *dataset, hdst__run_stats *stats, hdst_error *error)
{
    loop->turn_count = 0;
    loop->converged = false;
    hdst_status status = hdst__object_status(&loop->state->object, error);
    if (status == HDST_OK) status = hdst__plan_run(&loop->start, error);
    hdst__plan_add_stats(stats, &loop->start.stats);
    if (status == HDST_OK) status = take_records(loop->state, loop->start.target, error);
    while (status == HDST_OK && loop->turn_count < loop->limit && !loop->converged) status = run_turn(loop, dataset, stats, error);
    if (status == HDST_OK) tell_limit(loop, dataset);
    return status;
}

// --- Ending ---

void hdst__loop_release(hdst__loop *loop)
{
    hdst__plan_release(&loop->start);
    for (size_t i = 0; i < loop->part_count; i++) hdst__plan_release(&loop->parts[i].plan);
}

void hdst__loop_end(hdst__loop *loop, const hdst__allocator *allocator)
{
    if (loop->planned) end_plans(loop);
    for (size_t i = 0; i < loop->step_count; i++) {
        hdst__free(allocator, loop->steps[i].table);
        if (loop->steps[i].value) hdst__object_drop(&loop->steps[i].value->object);
    }
    if (loop->state) hdst__object_drop(&loop->state->object);
    hdst__free(allocator, loop->steps);
    hdst__free(allocator, loop->parts);
    hdst__free(allocator, loop->until);
    hdst__free(allocator, loop->turns);
}
