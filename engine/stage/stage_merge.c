// SPDX-License-Identifier: Apache-2.0
// What several workers have accumulated becomes one. Mostly on the host, in a partial, which takes tables of any form. Where all of them are GPUs with the
// same words of one operation, at the same scales, and the rows are wanted there anyway, words are added on devices, which then make rows of them:
// a million sums are then a copy and a vector addition, and nothing is rounded on the host. Small tables all go to the first one's device; of large ones
// each makes a part of the rows (stage_scatter.c), where there is memory for that and they are wanted on the host.
#include "base/costs_gpu.h"
#include "engine/device/driver_gate.h"
#include "engine/stage/launch_fixed_point.h"
#include "engine/stage/stage_share.h"

#include <string.h>

// --- On the host ---

static const int64_t *words_of(const hdst__launch_plan *plan, const int64_t *own) { return plan->table->host ? plan->table->host : own; }

static hdst_status add_table(hdst__stage *stage, const hdst__launch_plan *plan, const int64_t *own, hdst_error *error)
{
    const hdst__device_table table = {.tables = plan->tables, .rows = plan->rows, .words = words_of(plan, own), .scale = plan->scale,
                                      .overflow = plan->used_overflow,
                                      .overflow_cell_words = plan->used_overflow ? plan->kernel->overflow_cell_words : 0};
    return hdst__partial_add_device_table(stage->merged, &table, error);
}

// A worker that had no records has nothing to add, nor has one whose device failed.
static bool has_added(const hdst__stage_worker *other) { return other->plan && !other->lost && other->stats.device[0].slices; }

static hdst_status begin_merge(hdst__stage *stage, hdst_error *error)
{
    const hdst__launch_plan *plan = stage->plan;
    if (stage->merged) hdst__partial_reset(stage->merged);
    else stage->merged = hdst__partial_create(hdst__budget_owned(&stage->runtime->memory, HDST__OWNER_ACCUMULATORS), plan->tables, plan->rows);
    return stage->merged ? HDST_OK : hdst__error_memory(error, "the accumulators of several devices");
}

static hdst_status merge_on_host(hdst__stage *stage, uint32_t others, bool begins, hdst_error *error)
{
    const hdst__launch_plan *plan = stage->plan;
    hdst_status status = begins ? begin_merge(stage, error) : HDST_OK;
    if (status != HDST_OK) return status;
    if (stage->stats.device[0].slices) status = add_table(stage, plan, stage->table, error);
    for (uint32_t i = 0; i < others && status == HDST_OK; i++)
        if (has_added(&stage->others[i])) status = add_table(stage, stage->others[i].plan, stage->others[i].table, error);
    return status;
}

// A table that was to stay where it is.
static hdst_status bring_table(hdst__stage *stage, hdst__launch_plan *plan, int64_t *own, hdst_error *error)
{
    const uint64_t bytes = plan->device_words * sizeof(int64_t);
    hdst_status status = plan->device->ops->read(plan->device, plan->table, 0, plan->table->host ? plan->table->host : own, bytes, true, error);
    stage->stats.bytes_from_device += bytes;
    return status == HDST_OK ? hdst__plan_fixed_point_read(plan, error) : status;
}

static hdst_status bring_tables(hdst__stage *stage, hdst_error *error)
{
    hdst_status status = HDST_OK;
    stage->finishes = stage->scatters = stage->plan->table_stays = false;
    if (stage->stats.device[0].slices) status = bring_table(stage, stage->plan, stage->table, error);
    for (uint32_t i = 0; i < stage->other_count && status == HDST_OK; i++) {
        const hdst__stage_worker *other = &stage->others[i];
        if (has_added(other) && other->plan->table_stays) status = bring_table(stage, other->plan, other->table, error);
    }
    return status;
}

// --- On devices ---

static bool have_equal_words(const hdst__launch_plan *a, const hdst__launch_plan *b)
{
    const size_t scales = a->tables->scale_count;
    hdst__word_op of_a, of_b;
    if (!hdst__plan_has_one_op(a, &of_a) || !hdst__plan_has_one_op(b, &of_b) || of_a != of_b) return false;
    return a->device_words == b->device_words && scales == b->tables->scale_count && a->fixed_point_bits == b->fixed_point_bits &&
           (!scales || !memcmp(a->scale, b->scale, scales * sizeof *a->scale));
}

bool hdst__stage_may_merge_there(const hdst__stage *stage)
{
    bool may = stage->others && !stage->passes_by && stage->device->facts.max_group >= HDST__WORD_ADDITION_GROUP && have_equal_words(stage->plan, stage->plan);
    for (uint32_t i = 0; may && i < stage->other_count; i++) {
        const hdst__launch_plan *other = stage->others[i].plan;
        may = !other || have_equal_words(stage->plan, other);
    }
    return may;
}

static bool fits(const hdst__launch_plan *plan) { return !plan->overflow || plan->overflow_is_clean; }

// Sums that did not fit their words go by way of the host, but where the first one makes all rows and has had them itself.
static bool all_fit(const hdst__stage *stage)
{
    const bool first = stage->stats.device[0].slices > 0;
    bool fit = stage->scatters ? !first || fits(stage->plan) : first, any = first;
    for (uint32_t i = 0; i < stage->other_count; i++) {
        if (!has_added(&stage->others[i])) continue;
        fit &= fits(stage->others[i].plan);
        any = true;
    }
    return fit && any;
}

// Room for the tables of so many others, at the same time where the device has it, or of one at a time.
static hdst_status take_memory(hdst__stage *stage, uint64_t tables, hdst_error *error)
{
    const uint64_t each = stage->plan->device_words * sizeof(int64_t);
    hdst__device *device = stage->device;
    if (tables == 0 || (stage->arrived && (stage->arrives_singly || stage->arrived->bytes >= each * tables))) return HDST_OK;
    device->ops->release(device, stage->arrived);
    stage->arrived = NULL;
    hdst_status status = device->ops->alloc(device, HDST__MEMORY_DEVICE, HDST__OWNER_ACCUMULATORS, each * tables, "the accumulators of other devices",
                                            &stage->arrived, error);
    stage->arrives_singly = status == HDST_E_MEMORY && tables > 1;
    if (!stage->arrives_singly) return status;
    return device->ops->alloc(device, HDST__MEMORY_DEVICE, HDST__OWNER_ACCUMULATORS, each, "the accumulators of another device", &stage->arrived, error);
}

// Pieces of a table on their way from one device to another: while one goes to the second, the next one comes from the first.
enum { MOST_PIECES = 32, LEAST_PIECE = 1 << 20 };

static hdst_status carry_piece(const hdst__stage *stage, hdst__device *from, hdst__ticket *ticket, uint64_t to, const char *host, uint64_t bytes,
                               hdst_error *error)
{
    const hdst_status status = from->ops->settle(from, ticket, error);
    return status == HDST_OK ? stage->device->ops->write(stage->device, stage->arrived, to, host, bytes, false, error) : status;
}

static hdst_status carry(hdst__stage *stage, const hdst__launch_plan *other, uint64_t to, uint64_t bytes, hdst_error *error)
{
    hdst__device *from = other->device;
    hdst__ticket ticket[MOST_PIECES] = {{.notify = false}};
    uint64_t each = (bytes / MOST_PIECES / LEAST_PIECE + 1) * LEAST_PIECE, at = 0;
    uint32_t asked = 0;
    hdst_status status = HDST_OK;
    for (; at < bytes && status == HDST_OK; at += each) {
        const uint64_t some = bytes - at < each ? bytes - at : each;
        status = from->ops->read(from, other->table, at, (char *)other->table->host + at, some, false, error);
        if (status == HDST_OK) status = from->ops->mark(from, &ticket[asked], error);
        asked += status == HDST_OK;
    }
    for (uint32_t i = 0; i < asked; i++) {
        const uint64_t begin = i * each, some = bytes - begin < each ? bytes - begin : each;
        if (status == HDST_OK) status = carry_piece(stage, from, &ticket[i], to + begin, (char *)other->table->host + begin, some, error);
        else (void)from->ops->settle(from, &ticket[i], NULL);
    }
    stage->stats.bytes_from_device += bytes;
    return status;
}

// The words of one that added some, as table number `place` of those that have arrived.
static hdst_status bring_words(hdst__stage *stage, const hdst__stage_worker *other, uint64_t place, hdst_error *error)
{
    hdst__device *device = stage->device;
    const uint64_t bytes = stage->plan->device_words * sizeof(int64_t);
    stage->stats.bytes_to_device += bytes;
    if (other->plan->table_stays) return carry(stage, other->plan, place * bytes, bytes, error);
    return device->ops->write(device, stage->arrived, place * bytes, words_of(other->plan, other->table), bytes, false, error);
}

static hdst_status add_words(hdst__stage *stage, uint64_t tables, hdst_error *error)
{
    hdst__word_op op = HDST__WORD_ADD;
    (void)hdst__plan_has_one_op(stage->plan, &op);
    return hdst__word_addition_add(&stage->addition, stage->plan->table, 0, stage->arrived, 0, stage->plan->device_words, tables, op, error);
}

static hdst_status add_all(hdst__stage *stage, uint64_t room, hdst_error *error)
{
    hdst_status status = HDST_OK;
    uint64_t tables = 0;
    for (uint32_t i = 0; i < stage->other_count && status == HDST_OK; i++) {
        const hdst__stage_worker *other = &stage->others[i];
        if (!has_added(other)) continue;
        if (tables == room) {
            status = add_words(stage, tables, error);
            if (status == HDST_OK) status = hdst__device_wait(stage->device, error);     // the next one's words come to the same place
            tables = 0;
        }
        if (status == HDST_OK) status = bring_words(stage, other, tables++, error);
    }
    return status == HDST_OK ? add_words(stage, tables, error) : status;
}

static hdst_status make_rows(hdst__stage *stage, hdst_error *error)
{
    const hdst__launch_plan *plan = stage->plan;
    const hdst__launch launch = {.rows = plan->rows, .table = plan->table, .scales = plan->scales, .overflow = plan->overflow,
                                 .finished = stage->finished_memory};
    const hdst_status status = stage->device->ops->finish_table(stage->device, plan->program, &launch, error);
    return status == HDST_OK ? hdst__device_wait(stage->device, error) : status;
}

static hdst_status merge_there(hdst__stage *stage, uint64_t tables, hdst_error *error)
{
    hdst__partial_destroy(stage->merged);
    stage->merged = NULL;
    const hdst_status status = add_all(stage, stage->arrives_singly ? 1 : tables, error);
    if (status == HDST_OK) return make_rows(stage, error);
    stage->device->ops->finish(stage->device);                      // which reads the others' words
    return status;
}

static uint64_t tables_of_others(const hdst__stage *stage)
{
    uint64_t tables = 0;
    for (uint32_t i = 0; i < stage->other_count; i++) tables += has_added(&stage->others[i]);
    return tables;
}

void hdst__stage_merge_release(hdst__stage *stage)
{
    if (!stage->device) return;
    stage->device->ops->release(stage->device, stage->arrived);
    hdst__word_addition_unload(&stage->addition);
    stage->arrived = NULL;
    stage->arrives_singly = false;
}

// --- All of it ---

// What the device has no memory for goes by way of the host: false.
static hdst_status merge_on_first(hdst__stage *stage, bool *merged, hdst_error *error)
{
    hdst_error full = HDST_ERROR_INIT;
    const uint64_t tables = tables_of_others(stage);
    hdst_status status = hdst__word_addition_load(&stage->addition, stage->device, error);
    if (status != HDST_OK) return status;
    status = take_memory(stage, tables, &full);
    *merged = status != HDST_E_MEMORY;
    if (status == HDST_OK) return merge_there(stage, tables, error);
    if (*merged && error) *error = full;
    return *merged ? status : HDST_OK;
}

static hdst_status merge_on_devices(hdst__stage *stage, bool *merged, hdst_error *error)
{
    if (!stage->scatters) return merge_on_first(stage, merged, error);
    *merged = hdst__stage_can_scatter(stage);
    if (!*merged) return HDST_OK;
    hdst__partial_destroy(stage->merged);
    stage->merged = NULL;
    return hdst__stage_scatter(stage, error);
}

static hdst_status merge(hdst__stage *stage, uint32_t others, bool begins, bool ends, hdst_error *error)
{
    bool merged = false;
    hdst_status status = stage->finishes && begins && ends && all_fit(stage) ? merge_on_devices(stage, &merged, error) : HDST_OK;
    if (status != HDST_OK || merged) return status;
    if (stage->finishes) status = bring_tables(stage, error);
    return status == HDST_OK ? merge_on_host(stage, others, begins, error) : status;
}

hdst_status hdst__stage_merge_tables(hdst__stage *stage, uint32_t others, bool begins, bool ends, hdst_error *error)
{
    const double begin = hdst__timeline_begin(stage->runtime->timeline);
    hdst__driver_run_begin();
    const hdst_status status = merge(stage, others, begins, ends, error);
    hdst__driver_run_end();
    hdst__timeline_end(stage->runtime->timeline, begin, "merge accumulators", stage->plan->func->name, 0);
    return status;
}
