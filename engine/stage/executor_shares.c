// SPDX-License-Identifier: Apache-2.0
// One scan over an input: segments are filled, or are there, and their records submitted, share by share as the schedule has them
// (engine/stage/executor.h).
#include "engine/stage/executor.h"

#include "base/clock.h"
#include "engine/device/give_up.h"
#include "engine/memory/host_copies.h"
#include "engine/memory/window.h"

// --- Segments ---

static hdst_status free_segment(hdst__executor *executor, hdst__pass *pass, hdst__segment **out, hdst_error *error)
{
    hdst__segment *segment = &pass->ring->segment[pass->ring->next];
    pass->ring->next = (pass->ring->next + 1) % pass->ring->count;
    while (segment->users) {
        hdst_status status = hdst__executor_finish_oldest(executor, pass, true, error);
        if (status != HDST_OK) return status;
    }
    hdst__segment_let_copy_go(segment);
    *out = segment;
    return HDST_OK;
}

static hdst_status load_cached(hdst__executor *executor, hdst__pass *pass, hdst__segment *segment, hdst_error *error)
{
    hdst__device *device = executor->device;
    if (device->unified)
        return hdst__segment_load(segment, device, pass->reader, segment->storage, segment->first, segment->count, &pass->stats->bytes_to_device, error);
    if (pass->cache->texts_apart) return hdst__dataset_cache_load_texts(pass->cache, segment, &pass->stats->bytes_to_device, error);
    hdst__segment *staging;
    hdst_status status = free_segment(executor, pass, &staging, error);
    if (status != HDST_OK) return status;
    return hdst__segment_load_staged(segment, staging, pass->piece, device, pass->reader, &pass->stats->bytes_to_device, error);
}

static hdst_status load_timed(hdst__executor *executor, hdst__pass *pass, hdst__segment *segment, hdst_error *error)
{
    const double start = hdst__now();
    const hdst_status status = load_cached(executor, pass, segment, error);
    pass->stats->read_seconds += hdst__now() - start;
    return status;
}

static void count_cached(hdst__pass *pass, const hdst__segment *segment, bool hit)
{
    *(hit ? &pass->stats->cache_hit_bytes : &pass->stats->cache_miss_bytes) += segment->count * segment->storage->record->size;
}

// Whether records of which nothing comes may be missing in the segments: nobody has a place for their output, or goes by them to find the last slice.
static bool may_lack(const hdst__pass *pass)
{
    const bool has_places = pass->in_place || pass->wraps || pass->group > 1 || (pass->output && pass->way == IR_OUTPUT_DENSE);
    return !pass->team && !pass->cache && pass->reads_at_end && !has_places;
}

// Records of the input from `at` on, as many as a segment has room for, but not beyond `behind`. Behind the end of an input that has an open one there are
// none, which nobody knew before.
static hdst_status streamed_segment(hdst__executor *executor, hdst__pass *pass, uint64_t at, uint64_t behind, hdst__segment **out, hdst_error *error)
{
    const hdst__reader *reader = pass->reader;
    const uint64_t left = behind - at, count = left < pass->piece->capacity ? left : pass->piece->capacity;
    const bool is_last = at + count == reader->records && count == pass->last->capacity;
    hdst__segment *segment;
    hdst_status status = free_segment(executor, pass, &segment, error);
    if (status != HDST_OK) return status;
    double start = hdst__now();
    segment->may_lack = may_lack(pass);
    segment->needed = (hdst__needed_records){0, count};
    status = hdst__segment_stream(segment, executor->device, reader, is_last ? pass->last : pass->piece, at, count, &pass->stats->bytes_to_device, error);
    segment->may_lack = false;
    pass->stats->read_seconds += hdst__now() - start;
    if (status != HDST_OK) return status;
    segment->users++;
    *out = segment;
    return HDST_OK;
}

// How much memory texts take is known once they are read. What was loaded before them goes, too: all of it streams from here on.
static hdst_status stream_instead(hdst__executor *executor, hdst__pass *pass, const hdst_error *cause, hdst_error *error)
{
    hdst_status status = HDST_OK;
    while (executor->in_flight && status == HDST_OK) status = hdst__executor_finish_oldest(executor, pass, true, error);
    executor->device->ops->finish(executor->device);
    if (status == HDST_OK) hdst__dataset_cache_stream(pass->cache, cause);
    return status;
}

// The segment in which record `at` of the pass's input lies; segments are loaded in their order.
static hdst_status cached_segment(hdst__executor *executor, hdst__pass *pass, uint64_t at, uint64_t behind, hdst__segment **out, hdst_error *error)
{
    hdst__dataset_cache *cache = pass->cache;
    hdst_error cause = HDST_ERROR_INIT;
    uint64_t i = 0;
    if (cache->streamed) return streamed_segment(executor, pass, at, behind, out, error);
    while (i + 1 < cache->count && cache->segment[i + 1].first <= at) i++;
    hdst__segment *segment = &cache->segment[i];
    const bool hit = i < cache->loaded;
    hdst_status status = hit ? HDST_OK : load_timed(executor, pass, segment, &cause);
    if (status == HDST_E_MEMORY && cache->texts_apart) {
        status = stream_instead(executor, pass, &cause, error);
        return status == HDST_OK ? streamed_segment(executor, pass, at, behind, out, error) : status;
    }
    if (status != HDST_OK) {
        if (error) *error = cause;
        return status;
    }
    if (!hit) cache->loaded++;
    count_cached(pass, segment, hit);
    segment->users++;
    *out = segment;
    return HDST_OK;
}

// The segment of that number from its copy on the host; *out NULL: it has none.
static hdst_status copied_segment(hdst__executor *executor, hdst__pass *pass, uint64_t number, hdst__segment **out, hdst_error *error)
{
    hdst__dataset_cache *cache = pass->cache;
    const hdst__storage *storage = cache->segment[number].storage;
    *out = NULL;
    if (cache->device != executor->device || hdst__segment_registered_rows(cache->device, pass->reader, storage, number * cache->each, 1)) return HDST_OK;
    if (!hdst__segment_has_room(&pass->ring->segment[pass->ring->next], storage)) return HDST_OK;
    hdst__segment *copy = hdst__host_copy_pin(cache, number), *segment;
    if (!copy) return HDST_OK;
    hdst_status status = free_segment(executor, pass, &segment, error);
    if (status != HDST_OK) {
        copy->users--;
        return status;
    }
    segment->copied = copy;
    const double start = hdst__now();
    if (!copy->loaded) status = hdst__host_copy_fill(cache, copy, error);
    if (status == HDST_OK) status = hdst__segment_stream_copy(segment, executor->device, copy, &pass->stats->bytes_to_device, error);
    pass->stats->read_seconds += hdst__now() - start;
    if (status != HDST_OK) return status;
    segment->users++;
    *out = segment;
    return HDST_OK;
}

// Those of the segment that belong to the share, copied from the host where they were read often enough, as a whole.
static hdst_status missing_segment(hdst__executor *executor, hdst__pass *pass, uint64_t at, uint64_t behind, uint64_t next, hdst__segment **out,
                                   hdst_error *error)
{
    const uint64_t number = at / pass->cache->each;
    const bool is_whole = at == number * pass->cache->each && behind >= next;
    hdst_status status = HDST_OK;
    *out = NULL;
    if (is_whole) status = copied_segment(executor, pass, number, out, error);
    if (status != HDST_OK || *out) return status;
    const double before = pass->stats->read_seconds;
    status = streamed_segment(executor, pass, at, behind < next ? behind : next, out, error);
    if (is_whole && pass->cache->device == executor->device) hdst__host_copy_note(pass->cache, number, pass->stats->read_seconds - before);
    return status;
}

// Of a cache of which a part stays: where it does, or else streamed. Slices of both are in flight side by side.
static hdst_status partial_segment(hdst__executor *executor, hdst__pass *pass, uint64_t at, uint64_t behind, hdst__segment **out, hdst_error *error)
{
    hdst__dataset_cache *cache = pass->cache;
    const uint64_t number = at / cache->each, next = number * cache->each + hdst__partial_cache_records(cache, number);
    hdst__segment *segment = hdst__partial_cache_pin(cache, number);
    if (!segment) {
        const hdst_status status = missing_segment(executor, pass, at, behind, next, out, error);
        if (status == HDST_OK) count_cached(pass, *out, false);
        return status;
    }
    const bool hit = segment->loaded;
    const hdst_status status = hit ? HDST_OK : load_timed(executor, pass, segment, error);
    if (status != HDST_OK) {
        segment->users--;
        return status;
    }
    segment->loaded = true;
    count_cached(pass, segment, hit);
    *out = segment;
    return HDST_OK;
}

// It counts whoever asked as a user.
static hdst_status next_segment(hdst__executor *executor, hdst__pass *pass, uint64_t at, uint64_t behind, hdst__segment **out, hdst_error *error)
{
    if (!pass->cache) return streamed_segment(executor, pass, at, behind, out, error);
    return pass->cache->each ? partial_segment(executor, pass, at, behind, out, error) : cached_segment(executor, pass, at, behind, out, error);
}

// --- Shares ---

static hdst_status run_share(hdst__executor *executor, hdst__pass *pass, const hdst__share *share, hdst_error *error)
{
    const uint64_t behind = share->first + share->count;
    hdst_status status = HDST_OK;
    for (uint64_t at = share->first; status == HDST_OK && at < behind && !hdst__pass_stops(executor, pass);) {
        hdst__segment *segment;
        if (hdst__reader_filled(pass->reader, at, behind - at) == 0) break;
        status = next_segment(executor, pass, at, behind, &segment, error);
        if (status != HDST_OK) {
            hdst__pass_note_broken(pass, pass->base + at);
            break;
        }
        status = hdst__executor_submit(executor, pass, segment, share, error);
        at = segment->first + segment->count;
        segment->users--;
    }
    return status;
}

static hdst_status check_share(const hdst__pass *pass, const hdst__share *share, hdst_error *error)
{
    const uint64_t records = pass->reader->records;
    if (share->count && share->first < records && share->count <= records - share->first) return HDST_OK;
    return hdst__error_set(error, HDST_E_INTERNAL, "the policy '%s' gives %llu records from %llu on, of %llu", pass->policy->name,
                           (unsigned long long)share->count, (unsigned long long)share->first, (unsigned long long)records);
}

// A worker that waits until others' output has come must owe them none: it ends what it has in flight first.
static hdst_status begin_chunk(hdst__executor *executor, hdst__pass *pass, const hdst__share *share, hdst_error *error)
{
    hdst__assembly *assembly = pass->team ? pass->team->assembly : NULL;
    pass->at = pass->base + share->first;
    if (!assembly) return HDST_OK;
    const hdst__share of_all = {pass->at, share->count};
    const bool waits = pass->number && hdst__assembly_is_full(assembly, &of_all);
    while (waits && executor->in_flight) {
        hdst_status status = hdst__executor_finish_oldest(executor, pass, true, error);
        if (status != HDST_OK) return status;
    }
    pass->chunk = hdst__assembly_begin(assembly, &of_all, waits);
    return pass->chunk ? HDST_OK : hdst__error_memory(error, "output records");
}

// Where the input ended within the share, or before it, no more output comes of that.
static void cut_chunk(hdst__pass *pass, const hdst__share *share)
{
    hdst__assembly *assembly = pass->team ? pass->team->assembly : NULL;
    const uint64_t there = hdst__reader_filled(pass->reader, share->first, share->count);
    if (assembly && pass->chunk && there < share->count) hdst__assembly_cut(assembly, pass->chunk, there);
}

static bool is_behind_end(const hdst__pass *pass, const hdst__share *share)
{
    return hdst__reader_filled(pass->reader, share->first, share->count) < share->count;
}

// Of several workers each asks until there are no more shares, as one before the record that failed may come; an open end has them in order, and very many.
static bool stops_here(const hdst__executor *executor, const hdst__pass *pass)
{
    return (!pass->team || pass->reader->open_end) && hdst__pass_stops(executor, pass);
}

// The first worker gives away what all have made.
static hdst_status give_output(hdst__pass *pass, hdst_error *error)
{
    hdst__assembly *assembly = pass->team ? pass->team->assembly : NULL;
    const hdst_status status = assembly && !pass->number ? hdst__assembly_give(assembly, false, error) : HDST_OK;
    if (status != HDST_OK) hdst__pass_note_broken(pass, 0);     // none of what is given has failed, nor has what comes before it
    return status;
}

// A policy that has nothing for this worker now may have once what is in flight has ended, for then it knows more.
static bool next_share(hdst__executor *executor, hdst__pass *pass, hdst__share *share, hdst_status *status, hdst_error *error)
{
    while (*status == HDST_OK) {
        if (pass->policy->next(pass->schedule, pass->worker, share)) {
            if (pass->team && !hdst__team_note_share(pass->team, pass->worker, share)) *status = hdst__error_memory(error, "the shares of a run");
            return *status == HDST_OK;
        }
        if (!executor->in_flight) return false;
        if (executor->in_flight == 1) pass->last_end = 0;
        *status = hdst__executor_finish_oldest(executor, pass, true, error);
    }
    return false;
}

static hdst_status run_shares(hdst__executor *executor, hdst__pass *pass, hdst_error *error)
{
    hdst__share share;
    hdst_status status = HDST_OK;
    while (next_share(executor, pass, &share, &status, error)) {
        status = check_share(pass, &share, error);
        if (status == HDST_OK) status = begin_chunk(executor, pass, &share, error);
        if (status != HDST_OK) hdst__pass_note_broken(pass, pass->base + share.first);
        if (status == HDST_OK) status = run_share(executor, pass, &share, error);
        if (status == HDST_OK && pass->reader->open_end) cut_chunk(pass, &share);
        if (status == HDST_OK) status = give_output(pass, error);
        if (stops_here(executor, pass) || is_behind_end(pass, &share)) break;
    }
    return status;
}

static hdst_status begin_schedule(hdst__executor *executor, hdst__pass *pass, hdst_error *error)
{
    if (pass->schedule) return HDST_OK;
    const hdst__worker worker = {.power = pass->power};
    const hdst__job job = {.records = pass->reader->records, .workers = 1, .worker = &worker};
    pass->policy = hdst__policy_for(&job);
    pass->schedule = pass->policy->begin(&job, executor->device->runtime->allocator);
    return pass->schedule ? HDST_OK : hdst__error_memory(error, "the schedule of a run");
}

// What the last slice reads where it is known to be the last. One wait for all of it: each takes a GPU as long as a small kernel.
static hdst_status read_at_end(hdst__executor *executor, hdst__pass *pass, hdst_error *error)
{
    hdst__device *device = executor->device;
    uint64_t *word = &executor->slot[0].error_word;         // nothing is in flight; of a device that is given up it stays
    *word = UINT64_MAX;
    if (!pass->reads_at_end || pass->stats->device[0].slices == 0) return HDST_OK;
    hdst_status status = HDST_OK;
    if (pass->table) status = device->ops->read(device, pass->launch.table, 0, pass->table, pass->table_bytes, false, error);
    if (status == HDST_OK && pass->checks) status = device->ops->read(device, pass->launch.error, 0, word, sizeof *word, false, error);
    if (status == HDST_OK) status = hdst__pass_read_overflow_state(device, pass, error);
    if (status == HDST_OK) status = hdst__device_wait(device, error);
    pass->stats->bytes_from_device += (pass->table ? pass->table_bytes : 0) + (pass->checks ? sizeof *word : 0);
    if (status == HDST_OK) hdst__pass_note_failure(pass, *word);
    return status;
}

// Where a run ends early, a segment may be on its way that no slice waited for, or what says where its lines are.
static void let_copies_go(hdst__executor *executor, const hdst__pass *pass, bool ends_early)
{
    bool any = false;
    for (uint32_t i = 0; i < pass->ring->count; i++) any |= pass->ring->segment[i].copied || pass->ring->segment[i].device_makes;
    if (any && ends_early) executor->device->ops->finish(executor->device);
    for (uint32_t i = 0; i < pass->ring->count; i++) hdst__segment_let_copy_go(&pass->ring->segment[i]);
}

static hdst_status run_all(hdst__executor *executor, hdst__pass *pass, hdst_error *error)
{
    hdst_status status = run_shares(executor, pass, error);
    while (executor->in_flight) {
        hdst_status ended = hdst__executor_finish_oldest(executor, pass, status == HDST_OK, status == HDST_OK ? error : NULL);
        if (status == HDST_OK) status = ended;
    }
    if (pass->ring) let_copies_go(executor, pass, status != HDST_OK || hdst__pass_stops(executor, pass));
    if (status == HDST_OK) status = read_at_end(executor, pass, error);
    return status == HDST_OK && pass->failure == UINT64_MAX ? hdst__executor_give_combined(executor, pass, error) : status;
}

hdst_status hdst__execute(hdst__executor *executor, hdst__pass *pass, hdst_error *error)
{
    pass->failure = pass->broken_at = UINT64_MAX;
    // Where records hold nothing there is nothing to fill meanwhile: whoever waits asks the device, which GPUs answer sooner than they tell.
    pass->streams = pass->reader->record->leaf_count && (!pass->cache || pass->cache->each || pass->cache->loaded < pass->cache->count);
    const bool own_schedule = !pass->schedule;
    if (own_schedule) pass->worker = 0;
    hdst_status status = begin_schedule(executor, pass, error);
    if (status != HDST_OK) return status;
    status = run_all(executor, pass, error);
    if (own_schedule) pass->policy->end(pass->schedule);
    if (pass->window) {
        hdst_status closed = hdst__window_close(pass->window, status == HDST_OK ? error : NULL);
        if (status == HDST_OK) status = closed;
    }
    // What failed behind an error was in flight beside it: records between the two have not been looked at.
    if (pass->failure != UINT64_MAX && pass->failure >> 16 < pass->broken_at && !hdst__given_up(executor->device)) return HDST_OK;
    return status == HDST_OK ? hdst__cancel_check(executor->device->runtime->cancel, pass->stats->device[0].records,
                                                   pass->reader->open_end ? 0 : pass->reader->records, error) : status;
}
