// SPDX-License-Identifier: Apache-2.0
// A slice whose output did not fit did nothing else either, so it runs again in pieces (engine/stage/executor.h). A single record that does not fit is
// taken in parts, where that gives the same, or its output gets memory of its own.
#include "engine/stage/executor.h"
#include "engine/device/give_up.h"
#include "base/costs_host.h"

#include <stdio.h>

uint64_t hdst__record_room(const hdst__device *device, uint64_t row_bytes, uint64_t room)
{
    const uint64_t host = device->runtime->memory.limit, own = device->budget.limit, most = device->info->max_alloc_bytes;
    uint64_t bytes = (host < own ? host : own) / HDST__HOST_RECORD_OUTPUT_SHARE;
    if (bytes > most) bytes = most;
    const uint64_t records = bytes / (row_bytes ? row_bytes : 1);
    return records > room ? records : room;
}

// The slot's first record, of the whole input.
static uint64_t record_of(const hdst__slot *slot, const hdst__pass *pass)
{
    return slot->is_part ? slot->whole : pass->base + slot->segment->first + slot->skip;
}

static hdst_status run_piece(hdst__executor *executor, hdst__pass *pass, hdst__slot *slot, uint64_t skip, uint64_t count, hdst_error *error)
{
    hdst_status status = hdst__executor_start(executor, pass, slot, skip, count, true, error);
    if (status == HDST_OK) status = executor->device->ops->settle(executor->device, &slot->ticket, error);
    if (status == HDST_OK && pass->checks) hdst__pass_note_failure(pass, *slot->error_at);
    return status;
}

static hdst_status take_piece(hdst__executor *executor, hdst__pass *pass, hdst__slot *slot, hdst_error *error)
{
    if (hdst__slot_overflows(slot, pass)) return hdst__executor_cut(executor, pass, slot, error);
    return hdst__slot_has_failed(pass, slot, slot->skip, slot->count) ? HDST_OK : hdst__executor_take_output(executor, slot, pass, error);
}

// --- An output of its own ---

static hdst_status too_many(hdst__pass *pass, const hdst__slot *slot)
{
    const uint64_t record = record_of(slot, pass);
    if (record << 16 < pass->failure) {
        pass->too_many_record = record;
        pass->too_many = slot->is_part ? 0 : slot->readback[0];
    }
    hdst__pass_note_failure(pass, record << 16 | HDST__TOO_MANY);
    return HDST_OK;
}

static hdst_status larger_output(hdst__executor *executor, const hdst__pass *pass, const hdst__slot *slot, hdst__memory **larger, hdst_error *error)
{
    hdst__device *device = executor->device;
    const uint64_t spare = slot->output->bytes - pass->room * pass->row_bytes, bytes = slot->readback[0] * pass->row_bytes + spare;
    char what[64];
    snprintf(what, sizeof what, "the output of record %llu", (unsigned long long)record_of(slot, pass));
    const hdst_status status = device->ops->alloc(device, slot->output->kind, HDST__OWNER_OUTPUT, bytes, what, larger, error);
    if (status != HDST_OK) return status;
    return device->ops->to_device(device, *larger, error);
}

// The slot's only record runs again, and what it gives goes on, or is too much.
static hdst_status run_enlarged(hdst__executor *executor, hdst__pass *pass, hdst__slot *slot, hdst_error *error)
{
    hdst__device *device = executor->device;
    hdst__memory *const usual = slot->output;
    const uint64_t room = pass->room;
    hdst__memory *larger = NULL;
    if (slot->readback[0] > pass->record_room) return too_many(pass, slot);
    hdst_status status = larger_output(executor, pass, slot, &larger, error);
    // What may come at most had no room: it is counted then, in another attempt.
    if (status == HDST_E_MEMORY && pass->runs_at && !larger) return too_many(pass, slot);
    if (status == HDST_OK) {
        slot->output = larger;
        slot->is_enlarged = true;
        pass->room = slot->readback[0];
        status = run_piece(executor, pass, slot, slot->skip, 1, error);
        if (status == HDST_OK) status = take_piece(executor, pass, slot, error);
        pass->room = room;
        slot->is_enlarged = false;
        slot->output = usual;
    }
    if (larger && !hdst__given_up(device)) device->ops->release(device, larger);
    return status;
}

// --- Parts of a record ---

// Bytes of a part, so that a slice of them gives what has room, if each gives a record for two bytes at most.
static uint64_t part_bytes(const hdst__pass *pass)
{
    const uint64_t bytes = pass->room / HDST__HOST_RECORD_PARTS;
    return bytes > HDST__HOST_RECORD_PART_BYTES ? bytes : HDST__HOST_RECORD_PART_BYTES;
}

// As many as there are, or have room: records may be large beside their text.
static uint64_t parts_at_once(const hdst__executor *executor, const hdst__pass *pass, const hdst__slot *slot)
{
    const hdst__storage *of = slot->segment->storage;
    const hdst__reader like = {.record = of->record, .layout = of->layout, .block = of->block};
    const uint64_t all = hdst__record_parts_bytes(pass->parts, slot->segment, slot->skip) / part_bytes(pass) + 1;
    const uint64_t share = hdst__budget_left(&executor->device->runtime->memory) / HDST__HOST_STREAM_SHARE;
    return hdst__segment_records(&like, share, all < HDST__HOST_RECORD_PARTS ? all : HDST__HOST_RECORD_PARTS);
}

static hdst_status segment_of_parts(hdst__executor *executor, hdst__arena *arena, const hdst__segment *like, uint64_t count, hdst__segment *segment,
                                    hdst_error *error)
{
    jmp_buf out_of_memory;
    hdst__arena_init(arena, executor->device->runtime->allocator, &out_of_memory);
    if (setjmp(out_of_memory)) return hdst__error_memory(error, "parts of a record");
    const hdst__storage *of = like->storage;
    const hdst__storage *storage = hdst__storage_make(arena, of->record, of->layout, of->block, count);
    arena->out_of_memory = NULL;
    return hdst__segment_create(executor->device, HDST__MEMORY_SHARED, HDST__OWNER_SEGMENTS, storage, "parts of a record", segment, error);
}

static hdst_status move_segment(hdst__device *device, const hdst__segment *segment, bool to_device, hdst_error *error)
{
    hdst_status status = HDST_OK;
    for (uint32_t i = 0; i < segment->buffers && status == HDST_OK; i++)
        status = (to_device ? device->ops->to_device : device->ops->to_host)(device, segment->memory[i], error);
    return status;
}

static bool is_enough(const hdst__pass *pass) { return pass->failure != UINT64_MAX || (pass->limit && hdst__pass_output(pass) >= pass->limit); }

static hdst_status run_parts_of(hdst__executor *executor, hdst__pass *pass, hdst__slot *slot, hdst__segment *parts, const hdst__segment *from, uint64_t i,
                                hdst_error *error)
{
    hdst__device *device = executor->device;
    const uint64_t all = hdst__record_parts_bytes(pass->parts, from, i), each = part_bytes(pass);
    hdst_status status = HDST_OK;
    for (uint64_t at = 0; at < all && status == HDST_OK && !is_enough(pass);) {
        status = move_segment(device, parts, false, error);
        if (status != HDST_OK) return status;
        parts->count = hdst__record_parts_fill(pass->parts, parts, from, i, each, &at);
        status = move_segment(device, parts, true, error);
        if (status == HDST_OK) status = run_piece(executor, pass, slot, 0, parts->count, error);
        if (status == HDST_OK) status = take_piece(executor, pass, slot, error);
        if (status == HDST_OK) status = hdst__cancel_check(device->runtime->cancel, 0, 0, error);
    }
    return status;
}

// The slot's only record runs again as records that have parts of its text, a slice of them after another.
static hdst_status run_parts(hdst__executor *executor, hdst__pass *pass, hdst__slot *slot, hdst_error *error)
{
    hdst__arena arena;
    hdst__segment parts = {0}, *const from = slot->segment;
    const uint64_t i = slot->skip;
    hdst_status status = segment_of_parts(executor, &arena, from, parts_at_once(executor, pass, slot), &parts, error);
    if (status == HDST_OK) {
        slot->whole = record_of(slot, pass);
        slot->is_part = true;
        parts.first = slot->whole - pass->base;
        slot->segment = &parts;
        status = run_parts_of(executor, pass, slot, &parts, from, i, error);
        slot->segment = from;
        slot->skip = i;
        slot->count = 1;
        slot->is_part = false;
    }
    if (!hdst__given_up(executor->device)) hdst__segment_destroy(executor->device, &parts);
    hdst__arena_destroy(&arena);
    return status;
}

// --- Pieces of a slice ---

// So many records give output that fits, going by what all of them gave; fewer than all.
static uint64_t piece_records(const hdst__slot *slot, const hdst__pass *pass)
{
    uint64_t fit = (uint64_t)((double)slot->count * ((double)pass->room / (double)slot->readback[0]) * 0.9);
    if (fit >= slot->count) fit = slot->count / 2;
    if (fit >= 64) return fit / 64 * 64;
    return fit ? fit : 1;
}

hdst_status hdst__executor_cut(hdst__executor *executor, hdst__pass *pass, hdst__slot *slot, hdst_error *error)
{
    const uint64_t first = slot->skip, count = slot->count, each = piece_records(slot, pass);
    if (slot->is_enlarged) return hdst__error_set(error, HDST_E_INTERNAL, "record %llu gives more than it did", (unsigned long long)record_of(slot, pass));
    if (count == 1) return (hdst__slot_divides(executor, slot, pass) ? run_parts : run_enlarged)(executor, pass, slot, error);
    hdst_status status = HDST_OK;
    for (uint64_t done = 0; done < count && status == HDST_OK && !hdst__slot_has_failed(pass, slot, first, done + 1); done += each) {
        status = run_piece(executor, pass, slot, first + done, count - done < each ? count - done : each, error);
        if (status == HDST_OK) status = take_piece(executor, pass, slot, error);
    }
    return status;
}
