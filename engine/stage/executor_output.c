// SPDX-License-Identifier: Apache-2.0
// What comes out of a slice goes to where it is wanted: a consumer, a store of the device, the host's output (engine/stage/executor.h).
#include "engine/stage/executor.h"
#include "engine/memory/consumer.h"
#include "engine/memory/registered.h"
#include "engine/memory/store.h"
#include "engine/memory/window.h"
#include "engine/stage/built_texts.h"

#include <string.h>

// As many records as all of the input may be expected to give.
static uint64_t expected_in_all(const hdst__pass *pass)
{
    const uint64_t all = hdst__pass_records(pass);
    if (pass->way == IR_OUTPUT_DENSE) return (all + pass->group - 1) / pass->group;
    const double given = pass->runs_at && pass->outputs ? (double)pass->came / (double)pass->outputs : 1;
    const double records = (double)all * *pass->outputs_per_record * given;
    if (pass->rows && pass->rows->memory) return hdst__device_rows_left_of(pass->rows, (uint64_t)records) + pass->rows->given;
    return records < (double)(UINT64_MAX / 2) ? (uint64_t)records : UINT64_MAX / 2;
}

static hdst_status give(const hdst__pass *pass, const char *records, uint64_t count, hdst_error *error)
{
    const hdst__consumer *consumer = pass->output->consumer;
    pass->output->count += count;
    return count ? consumer->take(consumer->user, records, count, expected_in_all(pass), error) : HDST_OK;
}

static hdst_status pass_records_on(const hdst__pass *pass, const char *records, uint64_t count, hdst_error *error)
{
    const hdst_status settled = hdst__output_settle_texts(pass->output, (char *)records, count, error);      // which are the slot's
    return settled == HDST_OK ? give(pass, records, count, error) : settled;
}

typedef struct taking {
    const hdst__slot *slot;
    const hdst__pass *pass;
} taking;

static hdst_status take_on(void *user, const char *records, uint64_t count, hdst_error *error)
{
    return pass_records_on(((const taking *)user)->pass, records, count, error);
}

static hdst_status pass_on(const hdst__pass *pass, const char *written, uint64_t count, hdst_error *error)
{
    taking t = {NULL, pass};
    return hdst__built_texts_each(pass->built, written, count, take_on, &t, error);
}

static hdst_status take_into_output(void *user, const char *records, uint64_t count, hdst_error *error)
{
    const hdst__slot *slot = ((const taking *)user)->slot;
    const hdst__device *device = slot->executor->device;
    hdst__thread_pool *threads = device->unified ? NULL : device->runtime->threads;     // a CPU's are computing what comes next
    return hdst__output_add_by(slot->chunk ? &slot->chunk->output : ((const taking *)user)->pass->output, threads, records, count, error);
}

// `count` records from place `first` of the slice's output.
static hdst_status add_run(const hdst__slot *slot, const hdst__pass *pass, uint64_t first, uint64_t count, hdst_error *error)
{
    const uint64_t offset = first * pass->row_bytes;
    if (pass->output->consumer) return pass_on(pass, (const char *)slot->output->host + offset, count, error);
    if (pass->output->store) return hdst__store_append(pass->output->store, slot->output, offset, count, error);
    taking t = {slot, pass};
    return hdst__built_texts_each(pass->built, (const char *)slot->output->host + offset, count, take_into_output, &t, error);
}

static uint64_t records_of_slice(const hdst__executor *executor, const hdst__slot *slot, const hdst__pass *pass)
{
    uint64_t count = 0;
    if (pass->way == IR_OUTPUT_COUNTED && !pass->runs_at) return slot->readback[0];     // in one run; else each strip's run is told
    for (uint64_t i = pass->runs_at; i + 1 < executor->readback_words; i += 2) count += slot->readback[i + 1];
    return count;
}

// Runs of a slice are given at once: where they lie, or moved together.
static hdst_status pass_on_runs(const hdst__executor *executor, const hdst__slot *slot, const hdst__pass *pass, hdst_error *error)
{
    const uint64_t size = pass->row_bytes, all = records_of_slice(executor, slot, pass);
    const hdst__consumer *consumer = pass->output->consumer;
    char *records = slot->output->host;
    uint64_t count = 0;
    if (consumer->take_runs && !pass->output->settles && !pass->built) {
        pass->output->count += all;
        return all ? consumer->take_runs(consumer->user, records, slot->readback + pass->runs_at, (executor->readback_words - pass->runs_at) / 2,
                                         expected_in_all(pass), error) : HDST_OK;
    }
    for (uint64_t i = pass->runs_at; i + 1 < executor->readback_words; i += 2) {
        memmove(records + count * size, records + slot->readback[i] * size, slot->readback[i + 1] * size);
        count += slot->readback[i + 1];
    }
    return pass_on(pass, records, count, error);
}

static hdst_status give_rows(void *user, const char *records, uint64_t count, hdst_error *error) { return give(user, records, count, error); }

static hdst_status give_tables(hdst__pass *pass, hdst_error *error)
{
    hdst__combined_tables *tables = pass->combined;
    const hdst_status status = hdst__combined_tables_close(tables, error);
    if (status != HDST_OK) return status;
    if (pass->team) {
        hdst__team_keep_tables(pass->team, pass->number, tables);
        return HDST_OK;
    }
    if (tables->combining->in_rows) {
        uint64_t records;
        const hdst_status given = hdst__combined_tables_give_rows(tables, &records, error);
        pass->output->count += records;
        return given;
    }
    pass->output->consumer->combined(pass->output->consumer->user, hdst__combined_tables_most(tables), false);
    return hdst__combined_tables_give(tables, give_rows, pass, error);
}

// The records of a slice lie in one run, or in one for each strip.
static hdst_status add_runs(const hdst__executor *executor, const hdst__slot *slot, hdst__pass *pass, hdst_error *error)
{
    if (pass->way == IR_OUTPUT_DENSE) return add_run(slot, pass, 0, hdst__slot_dense_records(slot, pass), error);
    pass->came += records_of_slice(executor, slot, pass);
    if (pass->way == IR_OUTPUT_COUNTED && !pass->runs_at) return add_run(slot, pass, 0, slot->readback[0], error);
    if (pass->output->consumer) return pass_on_runs(executor, slot, pass, error);
    hdst_status status = HDST_OK;
    for (uint64_t i = pass->runs_at; i + 1 < executor->readback_words && status == HDST_OK; i += 2)
        status = add_run(slot, pass, slot->readback[i], slot->readback[i + 1], error);
    return status;
}

// What came out of a slice, once it is known how much that is.
static hdst_status read_output(const hdst__executor *executor, const hdst__slot *slot, hdst__pass *pass, hdst_error *error)
{
    hdst__device *device = executor->device;
    const uint64_t size = pass->row_bytes;
    const bool bounded = pass->way == IR_OUTPUT_BOUNDED;        // in a run for each strip: its first place, its records
    hdst_status status = HDST_OK;
    for (uint64_t i = 0; i + bounded < executor->readback_words && status == HDST_OK; i += 1 + bounded) {
        const uint64_t at = bounded ? slot->readback[i] * size : 0, bytes = slot->readback[i + bounded] * size;
        if (bytes) status = device->ops->read(device, slot->output, at, (char *)slot->output->host + at, bytes, true, error);
        pass->stats->bytes_from_device += bytes;
        if (!bounded) break;
    }
    return status;
}

// Records that lie on the device go to the consumer, as many at once as have room on the host.
static hdst_status take_pieces(hdst__executor *executor, const hdst__slot *slot, hdst__pass *pass, const hdst__memory *from, uint64_t count,
                               hdst_error *error)
{
    const uint64_t size = pass->row_bytes;
    const hdst__memory *to = executor->landing ? executor->landing : slot->output;
    const uint64_t most = to->bytes / size;
    hdst_status status = HDST_OK;
    for (uint64_t first = 0; first < count && status == HDST_OK; first += most) {
        const uint64_t now = count - first < most ? count - first : most;
        status = executor->device->ops->read(executor->device, (hdst__memory *)from, first * size, to->host, now * size, true, error);
        pass->stats->bytes_from_device += now * size;
        if (status == HDST_OK) status = pass_on(pass, to->host, now, error);
    }
    return status;
}

// Rows from `first` on become records in the slot's output. *count: so many.
static hdst_status gather(hdst__executor *executor, hdst__pass *pass, uint64_t first, uint64_t rows, uint64_t *count, hdst_error *error)
{
    hdst__device *device = executor->device;
    hdst__slot *slot = &executor->slot[0];          // nothing is in flight
    hdst__launch launch = pass->launch;
    launch.skip = first;
    launch.count = rows;
    launch.output = slot->output;
    launch.places = slot->places;
    launch.combined = pass->rows->memory;
    launch.gathers = true;
    hdst_status status = device->ops->fill(device, slot->places, 1, 0, error);
    if (status == HDST_OK) status = device->ops->launch(device, pass->program, &launch, error);
    return status == HDST_OK ? device->ops->read(device, slot->places, 0, count, sizeof *count, true, error) : status;
}

static hdst_status give_device_rows(hdst__executor *executor, hdst__pass *pass, hdst_error *error)
{
    const hdst__consumer *to = pass->output->consumer;
    const uint64_t all = UINT64_C(1) << pass->rows->bits;
    hdst_status status = HDST_OK;
    for (uint64_t first = 0; first < all && status == HDST_OK; first += pass->room) {
        const uint64_t now = all - first < pass->room ? all - first : pass->room;
        uint64_t count = 0;
        status = gather(executor, pass, first, now, &count, error);
        pass->rows->given += count;
        if (status == HDST_OK && first == 0) to->combined(to->user, count, true);
        if (status == HDST_OK && count) status = take_pieces(executor, &executor->slot[0], pass, executor->slot[0].output, count, error);
    }
    return status;
}

hdst_status hdst__executor_give_combined(hdst__executor *executor, hdst__pass *pass, hdst_error *error)
{
    hdst_status status = HDST_OK;
    if (pass->combined && pass->combined->allocation) status = give_tables(pass, error);
    return status == HDST_OK && pass->rows && pass->rows->memory ? give_device_rows(executor, pass, error) : status;
}

hdst_status hdst__executor_take_room(hdst__executor *executor, const hdst__slot *slot, hdst__pass *pass, hdst_error *error)
{
    return take_pieces(executor, slot, pass, slot->output, pass->room, error);
}

bool hdst__slot_combines(const hdst__slot *slot, const hdst__pass *pass)
{
    const hdst__consumer *to = pass->output ? pass->output->consumer : NULL;
    return to && to->combine && !pass->built && !slot->chunk && !slot->is_enlarged && pass->way != IR_OUTPUT_BOUNDED && !pass->runs_at &&
           !slot->executor->device->unified;
}

static hdst__slice_records records_of(const hdst__slot *slot, const hdst__pass *pass)
{
    const hdst__text_mirror *mirror = &slot->segment->mirror;
    return (hdst__slice_records){.device = slot->executor->device, .memory = slot->output, .texts = hdst__text_mirror_copy(mirror),
                                 .text_bytes = mirror->used, .text_host = hdst__text_mirror_host(mirror),
                                 .own_texts = pass->launch.text_constants, .own_host = pass->launch.text_constants_host};
}

static uint32_t number_of(const hdst__slot *slot) { return (uint32_t)(slot - slot->executor->slot); }

hdst_status hdst__executor_combine(const hdst__slot *slot, const hdst__pass *pass, hdst_error *error)
{
    const hdst__consumer *to = pass->output->consumer;
    const bool is_counted = pass->way == IR_OUTPUT_COUNTED;
    double expected = (double)slot->count * (*pass->outputs_per_record > 0 ? *pass->outputs_per_record : 1);
    if (slot->combines) expected = (double)hdst__device_rows_left_of(pass->rows, (uint64_t)expected);
    hdst__slice_records records = records_of(slot, pass);
    records.counted = is_counted ? slot->places : NULL;
    records.count = !is_counted ? hdst__slot_dense_records(slot, pass) : expected < (double)pass->room ? (uint64_t)expected : pass->room;
    records.room = is_counted ? pass->room : records.count;
    return to->combine(to->user, number_of(slot), &records, error);
}

static hdst_status take_combined(hdst__executor *executor, const hdst__slot *slot, hdst__pass *pass, hdst_error *error)
{
    const hdst__consumer *to = pass->output->consumer;
    hdst__slice_records records = records_of(slot, pass);
    records.count = records.room = pass->way == IR_OUTPUT_COUNTED ? slot->readback[0] : hdst__slot_dense_records(slot, pass);
    const hdst_status status = to->left(to->user, number_of(slot), &records, error);
    return status == HDST_OK ? take_pieces(executor, slot, pass, records.memory, records.count, error) : status;
}

// --- Straight into the output ---

static hdst__output *output_of(const hdst__slot *slot, const hdst__pass *pass) { return slot->chunk ? &slot->chunk->output : pass->output; }

// Records that are in front of the slice's in its output, once all that is in flight has ended.
static uint64_t records_before(const hdst__executor *executor, const hdst__slot *slot, const hdst__pass *pass)
{
    if (slot->chunk) return pass->base + slot->segment->first + slot->skip - slot->chunk->share.first;
    uint64_t before = pass->output->count;
    for (uint32_t i = 0; i < executor->in_flight; i++) before += executor->slot[(executor->oldest + i) % executor->slots].count;
    return before;
}

char *hdst__slot_place(const hdst__executor *executor, const hdst__slot *slot, const hdst__pass *pass)
{
    hdst__device *device = executor->device;
    const hdst__output *whole = pass->output;
    if (!whole || device->unified || pass->way != IR_OUTPUT_DENSE || pass->group != 1 || pass->built) return NULL;
    if (whole->store || whole->consumer || whole->texts_of || pass->window || pass->row_bytes != whole->record_bytes) return NULL;
    const hdst__output *output = output_of(slot, pass);
    const uint64_t before = records_before(executor, slot, pass);
    if (!output->records || before + slot->count > output->capacity) return NULL;
    char *place = output->records + before * output->record_bytes;
    return hdst__registered_holds(device->runtime->outputs, device, place, slot->count * output->record_bytes) ? place : NULL;
}

hdst_status hdst__executor_take_output(hdst__executor *executor, const hdst__slot *slot, hdst__pass *pass, hdst_error *error)
{
    hdst__device *device = executor->device;
    hdst_status status = HDST_OK;
    if (pass->window && !pass->in_place) pass->window->used = slot->readback[1];
    if (pass->window || pass->in_place) return HDST_OK;
    if (pass->wraps) {
        slot->chunk->output.count += slot->count;
        return HDST_OK;
    }
    if (slot->place) {
        output_of(slot, pass)->count += slot->count;
        return HDST_OK;
    }
    if (pass->output->store) return add_runs(executor, slot, pass, error);
    if (hdst__slot_combines(slot, pass)) return take_combined(executor, slot, pass, error);
    if (executor->landing) return take_pieces(executor, slot, pass, slot->output, slot->readback[0], error);
    if (pass->way != IR_OUTPUT_DENSE && !device->unified) status = read_output(executor, slot, pass, error);
    if (status == HDST_OK) status = device->ops->to_host(device, slot->output, error);
    if (status == HDST_OK) status = add_runs(executor, slot, pass, error);
    if (status == HDST_OK) status = device->ops->to_device(device, slot->output, error);
    return status;
}
