// SPDX-License-Identifier: Apache-2.0
// One scan over an input (engine/stage/executor.h).
#include "engine/stage/executor.h"
#include "base/costs_host.h"

#include "engine/device/give_up.h"
#include "engine/memory/store.h"
#include "engine/memory/window.h"
#include "engine/stage/device_pace.h"
#include "base/clock.h"

#include <math.h>
#include <string.h>

// --- Slots ---

static void on_done(void *user)
{
    hdst__slot *slot = user;
    hdst__executor *executor = slot->executor;
    pthread_mutex_lock(&executor->mutex);
    slot->done = true;
    pthread_cond_signal(&executor->finished);
    pthread_mutex_unlock(&executor->mutex);
}

static void give_slot_memory_back(hdst__executor *executor, hdst__slot *slot)
{
    hdst__device *device = executor->device;
    device->ops->release(device, slot->output);
    if (slot == executor->slot || slot->places != executor->slot->places) device->ops->release(device, slot->places);
    hdst__free(device->runtime->allocator, slot->readback);
    slot->output = slot->places = NULL;
    slot->readback = NULL;
}

static hdst_status take_slot_memory(hdst__executor *executor, hdst__slot *slot, const hdst__slot_sizes *sizes, hdst_error *error)
{
    hdst__device *device = executor->device;
    hdst_status status = HDST_OK;
    if (sizes->output_bytes)
        status = device->ops->alloc(device, sizes->lands || sizes->stays ? HDST__MEMORY_DEVICE : HDST__MEMORY_SHARED, HDST__OWNER_OUTPUT, sizes->output_bytes,
                                    "output records", &slot->output, error);
    if (status == HDST_OK && slot->output) status = device->ops->to_device(device, slot->output, error);
    if (status != HDST_OK || !sizes->place_words) return status;
    hdst__slot *before = sizes->in_window && slot != executor->slot ? executor->slot : NULL;
    if (before) slot->places = before->places;
    else status = device->ops->alloc(device, sizes->counts_on_host ? HDST__MEMORY_SHARED : HDST__MEMORY_DEVICE, HDST__OWNER_OUTPUT,
                                     sizes->place_words * sizeof(uint64_t), "the places of output records", &slot->places, error);
    if (status != HDST_OK) return status;
    slot->readback = hdst__alloc_zero(device->runtime->allocator, sizes->readback_words * sizeof *slot->readback);
    return slot->readback ? HDST_OK : hdst__error_memory(error, "the places of output records");
}

static hdst_status take_landing(hdst__executor *executor, const hdst__slot_sizes *sizes, hdst_error *error)
{
    hdst__device *device = executor->device;
    const uint64_t bytes = sizes->output_bytes < HDST__HOST_LANDING_BYTES ? sizes->output_bytes : HDST__HOST_LANDING_BYTES;
    if (!sizes->lands || !bytes) return HDST_OK;
    return device->ops->alloc(device, HDST__MEMORY_SHARED, HDST__OWNER_OUTPUT, bytes, "output records", &executor->landing, error);
}

// On the host it is aligned to a page.
static uint64_t with_page(uint64_t bytes) { return bytes ? hdst__page_round(bytes) + HDST__HOST_PAGE_BYTES : 0; }

static uint64_t segment_bytes(const hdst__storage *piece)
{
    uint64_t bytes = HDST__HOST_PAGE_BYTES;
    for (uint32_t b = 0; b < piece->buffers; b++) bytes += with_page(piece->buffer_bytes[b]);
    return bytes;
}

// Whether what the input needs has room beside another slot.
static bool leaves_room(const hdst__device *device, const hdst__slot_sizes *sizes)
{
    const uint64_t places = sizes->in_window ? 0 : sizes->place_words * sizeof(uint64_t), bytes = with_page(sizes->output_bytes) + with_page(places);
    const bool on_host = device->unified || !(sizes->lands || sizes->stays);
    const uint64_t readback = sizes->readback_words * sizeof(uint64_t), beside = segment_bytes(sizes->piece);
    return (on_host ? bytes : 0) + readback + beside <= hdst__budget_left(&device->runtime->memory) && bytes + beside <= hdst__budget_left(&device->budget);
}

// As many as there is memory for: with one of them nothing overlaps, and all is done.
static hdst_status take_slots(hdst__executor *executor, const hdst__slot_sizes *sizes, hdst_error *error)
{
    for (uint32_t i = 0; i < sizes->slots; i++) {
        hdst_error full = HDST_ERROR_INIT;
        hdst__slot *slot = &executor->slot[i];
        if (i && !leaves_room(executor->device, sizes)) return HDST_OK;
        slot->executor = executor;
        slot->ticket.done = on_done;
        slot->ticket.user = slot;
        hdst_status status = take_slot_memory(executor, slot, sizes, &full);
        if (status == HDST_OK) {
            executor->slots++;
            continue;
        }
        give_slot_memory_back(executor, slot);
        if (status == HDST_E_MEMORY && i) return HDST_OK;
        if (error) *error = full;
        return status;
    }
    return HDST_OK;
}

hdst_status hdst__executor_create(hdst__device *device, const hdst__slot_sizes *sizes, hdst__executor **out, hdst_error *error)
{
    hdst__executor *executor = hdst__alloc_zero(device->runtime->allocator, sizeof *executor);
    if (!executor) return hdst__error_memory(error, "an executor");
    executor->device = device;
    executor->readback_words = sizes->readback_words;
    pthread_mutex_init(&executor->mutex, NULL);
    hdst__pieces_init(&executor->finished);
    hdst_status status = take_landing(executor, sizes, error);
    if (status == HDST_OK) status = take_slots(executor, sizes, error);
    if (status == HDST_OK) *out = executor;
    else hdst__executor_destroy(executor);
    return status;
}

void hdst__executor_destroy(hdst__executor *executor)
{
    if (!executor || hdst__given_up(executor->device)) return;      // the driver may still tell that a slice has ended
    hdst__device *device = executor->device;
    for (uint32_t i = executor->slots; i-- > 0;) give_slot_memory_back(executor, &executor->slot[i]);
    device->ops->release(device, executor->landing);
    pthread_cond_destroy(&executor->finished);
    pthread_mutex_destroy(&executor->mutex);
    hdst__free(device->runtime->allocator, executor);
}

static hdst_status submit_slice(hdst__executor *executor, hdst__pass *pass, hdst__segment *segment, uint64_t skip, uint64_t count, hdst_error *error)
{
    hdst__slot *slot = &executor->slot[(executor->oldest + executor->in_flight) % executor->slots];
    slot->segment = segment;
    slot->chunk = pass->chunk;
    slot->turn = 1;
    slot->try = pass->tuning ? hdst__tuning_next(pass->tuning, count) : 0;
    slot->program = pass->tuning ? pass->tries[slot->try] : pass->program;
    hdst_status status = hdst__executor_start(executor, pass, slot, skip, count, false, error);
    if (status != HDST_OK) return status;
    executor->in_flight++;
    segment->users++;
    return HDST_OK;
}

// --- The end of a slice ---

// What a record takes that streams through this worker, its way in included: the time from the end of a slice to that of the next, while there are some.
static double seconds_since_last(hdst__pass *pass)
{
    const double now = hdst__now(), since = pass->streams && pass->last_end > 0 ? now - pass->last_end : 0;
    pass->last_end = now;
    return since;
}

static void count_slice(const hdst__slot *slot, hdst__pass *pass)
{
    hdst__device_use *use = &pass->stats->device[0];
    hdst__progress *progress = slot->executor->device->runtime->progress;
    use->slices++;
    use->records += slot->count;
    use->busy_seconds += slot->ticket.seconds;
    hdst__progress_add(progress, slot->executor->device->info, slot->count);
    hdst__progress_look(progress);
    const hdst__slice_cost cost = {.records = slot->count, .kernel = slot->ticket.seconds,
                                   .copy = pass->team ? seconds_since_last(pass) : 0};
    pass->policy->done(pass->schedule, pass->worker, &cost);
    if (pass->measured) hdst__power_estimate_add(pass->measured, &cost);
    if (pass->tuning) hdst__tuning_note(pass->tuning, slot->try, slot->ticket.seconds, slot->count, !hdst__slot_overflows(slot, pass));
}

// A turn behind the first: who found no room there comes again.
static void note_rows(const hdst__pass *pass, const hdst__slot *slot)
{
    const uint64_t left = slot->readback[0];
    hdst__device_rows_note(pass->rows, slot->readback[1], left < pass->room ? left : pass->room);
}

// A slice whose records go to a table as they are made: what had room of the others is taken, and another turn goes on from there.
static hdst_status drain_slice(hdst__executor *executor, hdst__pass *pass, hdst__slot *slot, hdst_error *error)
{
    hdst_status status = HDST_OK;
    while (status == HDST_OK && hdst__slot_overflows(slot, pass)) {
        status = hdst__executor_take_room(executor, slot, pass, error);
        slot->turn++;
        if (status == HDST_OK) status = hdst__cancel_check(executor->device->runtime->cancel, 0, 0, error);
        if (status == HDST_OK) status = hdst__executor_start(executor, pass, slot, slot->skip, slot->count, true, error);
        if (status == HDST_OK) status = executor->device->ops->settle(executor->device, &slot->ticket, error);
        if (status == HDST_OK && slot->readback[1]) note_rows(pass, slot);
    }
    return status == HDST_OK ? hdst__executor_take_output(executor, slot, pass, error) : status;
}

static void count_outputs(const hdst__slot *slot, hdst__pass *pass)
{
    if (pass->way != IR_OUTPUT_COUNTED) return;
    if (slot->combines) {
        hdst__device_rows_note(pass->rows, slot->readback[1], slot->readback[0]);
        return;
    }
    pass->outputs += slot->readback[0];
    pass->counted += slot->count;
    *pass->outputs_per_record = (double)pass->outputs / (double)pass->counted;
}

// With the mutex held, which the driver's thread may want while the program is told.
static void look(hdst__executor *executor)
{
    hdst__progress *progress = executor->device->runtime->progress;
    if (!progress) return;
    pthread_mutex_unlock(&executor->mutex);
    hdst__progress_look(progress);
    pthread_mutex_lock(&executor->mutex);
}

static hdst_status wait_for(hdst__executor *executor, hdst__slot *slot, hdst_error *error)
{
    hdst__device *device = executor->device;
    hdst__patience patience = {0};
    bool ends = false;
    if (slot->ticket.notify && !hdst__given_up(device)) {
        pthread_mutex_lock(&executor->mutex);
        while (!slot->done && !ends) {
            hdst__pieces_wait(&executor->finished, &executor->mutex);
            look(executor);
            ends = !slot->done && hdst__patience_ends(&patience, device);
        }
        pthread_mutex_unlock(&executor->mutex);
    }
    return ends ? hdst__give_up(device, error) : device->ops->settle(device, &slot->ticket, error);
}

// --- A window of the output ---

// So many records may be expected of those that are left. More than was seen so far, and no more than there can be.
static uint64_t expected_records(const hdst__pass *pass)
{
    const uint64_t all = hdst__pass_records(pass), done = pass->stats->device[0].records, left = all > done ? all - done : 0;
    const double seen = pass->in_place ? 1 : *pass->outputs_per_record * HDST__HOST_WINDOW_MARGIN;
    const double most = pass->bound == UINT64_MAX ? HUGE_VAL : (double)pass->bound;
    const double slack = pass->in_place ? 0 : HDST__HOST_WINDOW_SLACK_BYTES / (double)pass->output->record_bytes;
    double records = (double)left * (seen < most ? seen : most) + slack;
    if (pass->limit && records > 2 * (double)pass->limit + slack) records = 2 * (double)pass->limit + slack;
    return records < (double)(UINT64_MAX / 2) ? (uint64_t)records : UINT64_MAX / 2;
}

static hdst_status open_window(hdst__executor *executor, hdst__pass *pass, uint64_t least, hdst_error *error)
{
    hdst_status status = hdst__window_open(pass->window, expected_records(pass), least, error);
    if (status != HDST_OK || pass->in_place) return status;
    return executor->device->ops->fill(executor->device, executor->slot[0].places, 2, 0, error);
}

static bool lacks_room(const hdst__slot *slot, const hdst__pass *pass)
{
    return pass->window && pass->way == IR_OUTPUT_COUNTED && slot->readback[1] == UINT64_MAX;
}

// The oldest slice's output did not fit the window, so neither it nor those behind it did anything. They run again behind a larger one.
static hdst_status enlarge_window(hdst__executor *executor, hdst__pass *pass, hdst_error *error)
{
    const uint64_t least = executor->slot[executor->oldest].readback[0];
    hdst_status status = HDST_OK;
    for (uint32_t i = 1; i < executor->in_flight && status == HDST_OK; i++)
        status = wait_for(executor, &executor->slot[(executor->oldest + i) % executor->slots], error);
    if (status == HDST_OK) status = hdst__window_close(pass->window, error);
    if (status == HDST_OK) status = open_window(executor, pass, least, error);
    for (uint32_t i = 0; i < executor->in_flight && status == HDST_OK; i++) {
        hdst__slot *slot = &executor->slot[(executor->oldest + i) % executor->slots];
        status = hdst__executor_start(executor, pass, slot, slot->skip, slot->count, false, error);
        if (status != HDST_OK) slot->done = true;       // nobody will say so
    }
    return status;
}

// Waits for the slice that was submitted first. Outputs are taken in that order, so they come in input order; `keep_output` is false after an error.
hdst_status hdst__executor_finish_oldest(hdst__executor *executor, hdst__pass *pass, bool keep_output, hdst_error *error)
{
    hdst__slot *slot = &executor->slot[executor->oldest];
    const uint64_t first = slot->skip, count = slot->count;      // a slice that is cut has less in the end
    const double begin = hdst__timeline_begin(executor->device->runtime->timeline);
    hdst_status status = wait_for(executor, slot, error);
    hdst__timeline_end(executor->device->runtime->timeline, begin, "wait for a slice", executor->device->function, 0);
    const hdst_status unwrapped = hdst__slot_unwrap(executor, slot, status == HDST_OK ? error : NULL);
    if (status == HDST_OK) status = unwrapped;
    while (status == HDST_OK && keep_output && pass->failure == UINT64_MAX && lacks_room(slot, pass)) {
        status = enlarge_window(executor, pass, error);
        if (status == HDST_OK) status = wait_for(executor, slot, error);
    }
    if (status == HDST_OK) {
        slot->ticket.seconds = hdst__device_pace(executor->device, slot->count, slot->ticket.seconds);
        hdst__device_count_memory(executor->device);
        count_slice(slot, pass);
        count_outputs(slot, pass);
        if (pass->checks) hdst__pass_note_failure(pass, *slot->error_at);
        if (pass->output && keep_output && hdst__slot_overflows(slot, pass))
            status = (slot->combines ? drain_slice : hdst__executor_cut)(executor, pass, slot, error);
        else if (pass->output && keep_output && !hdst__slot_has_failed(pass, slot, slot->skip, slot->count))
            status = hdst__executor_take_output(executor, slot, pass, error);
    }
    if (status != HDST_OK) hdst__pass_note_broken(pass, pass->base + slot->segment->first + slot->skip);
    executor->oldest = (executor->oldest + 1) % executor->slots;
    executor->in_flight--;
    slot->segment->users--;
    const bool counts = slot->chunk && status == HDST_OK && keep_output && !hdst__slot_has_failed(pass, slot, first, count);
    if (counts && hdst__assembly_taken(pass->team->assembly, slot->chunk, count)) atomic_store(&pass->team->stops, true);
    return status;
}

static hdst_status slice_records(const hdst__pass *pass, uint64_t left, uint64_t *count, hdst_error *error)
{
    const hdst__slice_limits limits = hdst__pass_slice_limits(pass, left);
    *count = pass->policy->slice(pass->schedule, pass->worker, &limits);
    if (*count && *count <= left) return HDST_OK;
    return hdst__error_set(error, HDST_E_INTERNAL, "the policy '%s' gives a slice of %llu records, there are %llu", pass->policy->name,
                           (unsigned long long)*count, (unsigned long long)left);
}

// Whether what is in flight may be expected to give all that is missing; then it is waited for before more is submitted.
static bool awaits_limit(const hdst__executor *executor, const hdst__pass *pass)
{
    if (!pass->limit || pass->way == IR_OUTPUT_DENSE || executor->in_flight == 0) return false;
    uint64_t records = 0;
    for (uint32_t i = 0; i < executor->in_flight; i++) records += executor->slot[(executor->oldest + i) % executor->slots].count;
    const double rate = *pass->outputs_per_record;
    return rate <= 0 || (double)records * rate + (double)hdst__pass_output(pass) >= (double)pass->limit;
}

bool hdst__pass_stops(const hdst__executor *executor, const hdst__pass *pass)
{
    if (pass->team) return hdst__team_stops(pass->team, pass->at) || hdst__cancel_asked(executor->device->runtime->cancel);
    if (pass->limit && hdst__pass_output(pass) >= pass->limit) return true;
    return pass->failure != UINT64_MAX || hdst__cancel_asked(executor->device->runtime->cancel);
}

// How many of `count` records have room where they stay.
static hdst_status room_in_place(hdst__executor *executor, hdst__pass *pass, uint64_t count, uint64_t *room, hdst_error *error)
{
    hdst__window *window = pass->window;
    if (!window) return pass->in_place ? hdst__store_room(pass->output->store, count, room, error) : HDST_OK;
    hdst_status status = HDST_OK;
    if (window->is_open && pass->in_place && window->used == window->room) {
        while (executor->in_flight && status == HDST_OK) status = hdst__executor_finish_oldest(executor, pass, true, error);
        if (status == HDST_OK) status = hdst__window_close(window, error);
    }
    const uint64_t least = pass->in_place && count > HDST__SUB_BUFFER_RECORDS ? HDST__SUB_BUFFER_RECORDS : count;
    if (status == HDST_OK && !window->is_open) status = open_window(executor, pass, least, error);
    if (status == HDST_OK && pass->in_place) *room = window->room - window->used;
    return status;
}

// From *at to the end; *at: so far it went.
static hdst_status submit_slices(hdst__executor *executor, hdst__pass *pass, hdst__segment *segment, uint64_t *at, uint64_t end, hdst_error *error)
{
    while (*at < end && !hdst__pass_stops(executor, pass)) {
        while (executor->in_flight == executor->slots || awaits_limit(executor, pass)) {
            hdst_status status = hdst__executor_finish_oldest(executor, pass, true, error);
            if (status != HDST_OK) return status;
        }
        if (hdst__pass_stops(executor, pass)) break;
        uint64_t count = 0;
        hdst_status status = slice_records(pass, end - *at, &count, error);
        uint64_t room = count;
        if (status == HDST_OK) status = room_in_place(executor, pass, count, &room, error);
        if (room < count) count = room;
        if (status == HDST_OK) status = submit_slice(executor, pass, segment, *at, count, error);
        if (status != HDST_OK) return status;
        *at += count;
    }
    return HDST_OK;
}

static hdst_status submit_records(hdst__executor *executor, hdst__pass *pass, hdst__segment *segment, uint64_t begin, uint64_t end, hdst_error *error)
{
    uint64_t at = begin;
    const hdst_status status = submit_slices(executor, pass, segment, &at, end, error);
    if (status != HDST_OK) hdst__pass_note_broken(pass, pass->base + segment->first + at);
    return status;
}

// Records that nothing comes of: they are done.
static void pass_over(const hdst__executor *executor, hdst__pass *pass, uint64_t count)
{
    if (!count || hdst__pass_stops(executor, pass)) return;
    pass->stats->device[0].records += count;
    hdst__progress_add(executor->device->runtime->progress, executor->device->info, count);
    hdst__progress_look(executor->device->runtime->progress);
}

static uint64_t within(uint64_t at, uint64_t begin, uint64_t end) { return at < begin ? begin : at < end ? at : end; }

// Those records of the segment that belong to the share.
hdst_status hdst__executor_submit(hdst__executor *executor, hdst__pass *pass, hdst__segment *segment, const hdst__share *share, hdst_error *error)
{
    const uint64_t begin = share->first > segment->first ? share->first - segment->first : 0, behind = share->first + share->count - segment->first;
    const uint64_t end = behind < segment->count ? behind : segment->count;
    if (pass->cache) return submit_records(executor, pass, segment, begin, end, error);
    const uint64_t first = within(segment->needed.first, begin, end), last = within(segment->needed.behind, first, end);
    pass_over(executor, pass, first - begin);
    const hdst_status status = submit_records(executor, pass, segment, first, last, error);
    if (status == HDST_OK) pass_over(executor, pass, end - last);
    return status;
}
