// SPDX-License-Identifier: Apache-2.0
// A look at the data before the plan is made: a few records through the interpreter say what the addends of float sums are like (scales and precision
// classes follow), and
// about how long a record takes. It decides speed, never a result.
#include "codegen/interp/interp.h"
#include "engine/stage/launch_plan.h"
#include "engine/memory/value_rows.h"
#include "base/clock.h"
#include "base/costs_host.h"

#include <string.h>

enum { RUN_RECORDS = 64, SHORT_RUN = 4 };       // records of a run, as many as a slice is a multiple of; of one that times them

typedef struct sampler {
    hdst__launch_plan *plan;
    hdst__arena arena;
    const hdst__storage *storage;       // of RUN_RECORDS records
    void **buffers;
    hdst__interp_table *broadcast;
    void *output;
    hdst__text_room texts;
} sampler;

static bool take_rows(sampler *s, const hdst__stage_values *values, size_t param)
{
    s->broadcast[param].rows = s->plan->rows[param];
    return hdst__stage_value_on_host(values, param, &s->broadcast[param].data, NULL) == HDST_OK;
}

static bool make_sampler(sampler *s, hdst__launch_plan *plan, const hdst__stage_values *values)
{
    jmp_buf out_of_memory;
    s->plan = plan;
    hdst__arena_init(&s->arena, plan->device->runtime->allocator, &out_of_memory);
    if (setjmp(out_of_memory)) return false;
    const ir_func *func = plan->func;
    const hdst__reader *reader = &plan->reader;
    s->storage = hdst__storage_make(&s->arena, reader->record, reader->layout, reader->block, RUN_RECORDS);
    s->buffers = HDST__NEW_ARRAY(&s->arena, void *, s->storage->buffers);
    for (uint32_t i = 0; i < s->storage->buffers; i++) s->buffers[i] = hdst__arena_alloc(&s->arena, s->storage->buffer_bytes[i]);
    s->broadcast = HDST__NEW_ARRAY(&s->arena, hdst__interp_table, func->param_count);
    for (size_t i = 0; i < func->param_count; i++)
        if (func->params[i].kind == IR_BROADCAST_TABLE && !take_rows(s, values, i)) return false;
    if (plan->output_param) s->output = hdst__arena_alloc(&s->arena, RUN_RECORDS * plan->output_param->record->size);
    s->arena.out_of_memory = NULL;
    return true;
}

static bool sample_run(sampler *s, uint64_t first, uint64_t count)
{
    hdst__launch_plan *plan = s->plan;
    const hdst__storage *storage = s->storage;
    if (hdst__text_room_open(&s->texts, plan->device->runtime, HDST__OWNER_SEGMENTS, &plan->reader, &storage, NULL) != HDST_OK) return false;
    if (plan->reader.fill(plan->reader.user, first, count, storage, s->buffers, 0, NULL) != HDST_OK) return false;
    count = hdst__reader_filled(&plan->reader, first, count);
    if (count == 0) return false;
    hdst__interp_run run = {
        .func = plan->func, .allocator = plan->device->runtime->allocator, .cancel = plan->device->runtime->cancel,
        .input = {s->storage}, .input_buffers = {(const void *const *)s->buffers}, .first = first, .count = count,
        .broadcast = s->broadcast, .accum_rows = plan->rows, .tables = plan->tables, .device_table = NULL,
        .output = plan->func->emits ? NULL : s->output, .addends = plan->tables ? plan->addends : NULL, .rows_seen = plan->rows_seen,
        .most_turns = HDST__HOST_SAMPLE_TURNS, .most_emitted = HDST__HOST_SAMPLE_EMITTED,
    };
    if (hdst__interpret(&run, NULL) != HDST_OK) return false;
    plan->sampled += count;
    plan->emitted += run.emitted;
    return true;
}

// Records that can be looked at. Where nobody knows how many there are, the last of them is asked for until there is one.
static uint64_t reach_of(sampler *s)
{
    const hdst__reader *reader = &s->plan->reader;
    const hdst__storage *storage = s->storage;
    uint64_t reach = reader->records < s->plan->piece->capacity ? reader->records : s->plan->piece->capacity;
    if (!reader->open_end || hdst__text_room_open(&s->texts, s->plan->device->runtime, HDST__OWNER_SEGMENTS, reader, &storage, NULL) != HDST_OK) return reach;
    while (reach && reader->fill(reader->user, reach - 1, 1, storage, s->buffers, 0, NULL) == HDST_OK && !hdst__reader_filled(reader, reach - 1, 1)) reach /= 2;
    return reach;
}

static double timed_run(sampler *s, uint64_t first, uint64_t count)       // of the thread; negative: it failed
{
    const double start = hdst__thread_time();
    return sample_run(s, first, count) ? hdst__thread_time() - start : -1;
}

// Where run i begins: somewhere in its share of the records. Round places have records of their own kind in many data: the first of a line or a block, the
// vertices of a graph that most edges have.
static uint64_t run_begin(uint64_t i, uint64_t share, uint64_t length)
{
    const uint64_t place = (i + 1) * UINT64_C(0x9e3779b97f4a7c15) >> 32;        // of 2^32: the golden ratio lays them out evenly
    return share * i + (uint64_t)((unsigned __int128)place * (share - length) >> 32);
}

// Time of the thread decides how many records are affordable, so that a busy machine sees as many as an idle one. The clock only ends what waits too long.
static bool goes_on(const hdst__launch_plan *plan, double began, double spent)
{
    const double affordable = plan->device->limits->sample_seconds;
    return spent < HDST__HOST_SAMPLE_OVERRUN * affordable && hdst__now() - began < HDST__HOST_SAMPLE_WAITS * affordable;
}

// One record, then a few: what a run of the interpreter costs beside its records, and what a record does. With that, runs spread over the first
// segment, of as many records as are affordable.
static void sample_records(sampler *s)
{
    hdst__launch_plan *plan = s->plan;
    const double affordable = plan->device->limits->sample_seconds, began = hdst__now();
    const uint64_t reach = reach_of(s);
    double one, few, spent;
    if (reach == 0 || (one = timed_run(s, 0, 1)) < 0) return;
    plan->power.kernel = one;
    if (reach >= 2 * SHORT_RUN && (few = timed_run(s, reach / 2, SHORT_RUN)) >= 0) {
        double each = (few - one) / (SHORT_RUN - 1);
        if (each < one / HDST__HOST_SAMPLE_RECORDS) each = one / HDST__HOST_SAMPLE_RECORDS;       // the first run warms up what the others find warm
        const double start = one > each ? one - each : 0;
        uint64_t length = (uint64_t)(affordable / HDST__HOST_SAMPLE_RUNS / each);
        if (length > HDST__HOST_SAMPLE_RECORDS / HDST__HOST_SAMPLE_RUNS) length = HDST__HOST_SAMPLE_RECORDS / HDST__HOST_SAMPLE_RUNS;
        if (length > reach / HDST__HOST_SAMPLE_RUNS) length = reach / HDST__HOST_SAMPLE_RUNS;
        spent = one + few;
        plan->rows_seen->count = 0;         // these records come again
        for (uint64_t i = 0; i < HDST__HOST_SAMPLE_RUNS && length && goes_on(plan, began, spent + start + (double)length * each); i++) {
            const double took = timed_run(s, run_begin(i, reach / HDST__HOST_SAMPLE_RUNS, length), length);
            if (took < 0) break;
            spent += took;
        }
        plan->power.kernel = each;
    }
    if (plan->kernel || plan->device->facts.target != HDST__TARGET_INTERP) plan->power.kernel *= HDST__HOST_KERNEL_SHARE;
}

// Records of the input that a device alone has would all have to come to the host for a few to be looked at.
static bool lies_apart(const hdst__launch_plan *plan)
{
    bool apart = false;
    for (size_t i = 0; i < plan->func->param_count; i++) apart |= plan->apart[i];
    return apart;
}

void hdst__launch_plan_sample(hdst__launch_plan *plan, const hdst__stage_values *values)
{
    sampler s = {0};
    if (lies_apart(plan)) return;
    if (make_sampler(&s, plan, values)) sample_records(&s);
    hdst__arena_destroy(&s.arena);
    hdst__text_room_close(&s.texts);
}
