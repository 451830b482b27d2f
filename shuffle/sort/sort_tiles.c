// SPDX-License-Identifier: Apache-2.0
// A sort in tiles that devices sort (shuffle/sort/sort_tiles.h).
#include "shuffle/sort/sort_tiles.h"

#include "base/clock.h"
#include "base/costs_host.h"
#include "engine/device/device_list.h"
#include "engine/device/driver_gate.h"
#include "engine/memory/shared_reader.h"
#include "engine/stage/cache_layout.h"
#include "engine/worker.h"
#include "shuffle/sort/sort_merge.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

enum { READ_BYTES = 64 << 20 };         // that come back at once: a cancel waits for one

static const char what[] = "a sort";

typedef struct tile {
    uint64_t first, count;              // of the input
    const hdst__memory *memory;         // of the owner's, where it lies; NULL: it is read
    uint32_t owner;                     // the worker that has it; UINT32_MAX: anyone
    atomic_bool taken;
} tile;

typedef struct tiles {
    hdst__sort *sort;
    const hdst__reader *input;          // that several threads may call
    tile tile[HDST__SORT_MERGE_RUNS];
    uint32_t count;
    uint64_t each;                      // records of a tile that is read, and of the largest one
    char *rows;                         // sorted tiles, where the input has them
    atomic_bool stops;
} tiles;

typedef struct sorter {                 // of a worker
    tiles *all;
    hdst__device_worker *worker;        // NULL: it takes no part
    uint32_t number;
    hdst__device_sort *by_device;
    hdst__segment input;
    hdst__arena arena;
    hdst__memory *output;
    bool started;
    uint64_t sorted, records, moved, bytes_back;
    double read_seconds, busy_seconds;
    hdst_status status;
    hdst_error error;
} sorter;

// --- A tile, on a worker's thread ---

static const hdst__storage *make_storage(sorter *s, uint64_t records)
{
    jmp_buf out_of_memory;
    const hdst__storage *volatile storage = NULL;
    hdst__arena_destroy(&s->arena);
    hdst__arena_init(&s->arena, hdst__engine_owned(s->all->sort->engine, HDST__OWNER_SORTS), &out_of_memory);
    if (!setjmp(out_of_memory)) storage = hdst__storage_make(&s->arena, s->all->sort->record, HDST__AOS, 0, records);
    s->arena.out_of_memory = NULL;
    return storage;
}

static hdst_status load(sorter *s, const tile *t, const hdst__memory **memory, hdst_error *error)
{
    hdst__device *device = s->worker->device;
    const hdst__storage *storage = make_storage(s, s->all->each);
    if (!storage) return hdst__error_memory(error, what);
    hdst_status status = s->input.memory ? HDST_OK : hdst__segment_create(device, HDST__MEMORY_SHARED, HDST__OWNER_SORTS, storage, what, &s->input, error);
    const double start = hdst__now();
    if (status == HDST_OK) status = hdst__segment_load(&s->input, device, s->all->input, storage, t->first, t->count, &s->moved, error);
    s->read_seconds += hdst__now() - start;
    if (status == HDST_OK) *memory = s->input.memory[0];
    return status;
}

static hdst_status provide_output(sorter *s, hdst_error *error)
{
    hdst__device *device = s->worker->device;
    if (s->output) return HDST_OK;
    const hdst__memory_kind kind = device->unified ? HDST__MEMORY_SHARED : HDST__MEMORY_DEVICE;
    const hdst_status status = device->ops->alloc(device, kind, HDST__OWNER_SORTS, s->all->each * s->all->sort->record->size, what, &s->output, error);
    return status == HDST_OK ? device->ops->to_device(device, s->output, error) : status;
}

static hdst_status bring_back(sorter *s, char *to, uint64_t bytes, hdst_error *error)
{
    hdst__device *device = s->worker->device;
    hdst_status status = HDST_OK;
    if (device->unified) {
        status = device->ops->to_host(device, s->output, error);
        if (status == HDST_OK) memcpy(to, s->output->host, bytes);
        return status == HDST_OK ? device->ops->to_device(device, s->output, error) : status;
    }
    for (uint64_t at = 0, some; at < bytes && status == HDST_OK; at += some) {
        some = bytes - at < READ_BYTES ? bytes - at : READ_BYTES;
        status = hdst__cancel_check(hdst__engine_cancel(s->all->sort->engine), 0, 0, error);
        if (status == HDST_OK) status = device->ops->read(device, s->output, at, to + at, some, true, error);
    }
    s->bytes_back += bytes;
    return status;
}

static hdst_status sort_tile(sorter *s, const tile *t, hdst_error *error)
{
    const uint64_t size = s->all->sort->record->size;
    const hdst__memory *memory = t->memory;
    hdst_status status = hdst__cancel_check(hdst__engine_cancel(s->all->sort->engine), t->first, s->all->input->records, error);
    if (status == HDST_OK && !memory) status = load(s, t, &memory, error);
    if (status == HDST_OK) status = provide_output(s, error);
    const double start = hdst__now();
    if (status == HDST_OK) status = hdst__device_sort_run(s->by_device, memory, t->count, s->output, error);
    if (status == HDST_OK) status = bring_back(s, s->all->rows + t->first * size, t->count * size, error);
    s->busy_seconds += hdst__now() - start;
    s->records += t->count;
    s->sorted++;
    return status;
}

static tile *take(sorter *s)
{
    for (uint32_t i = 0; i < s->all->count; i++) {
        tile *t = &s->all->tile[i];
        bool taken = false;
        if ((t->owner == s->number || t->owner == UINT32_MAX) && atomic_compare_exchange_strong(&t->taken, &taken, true)) return t;
    }
    return NULL;
}

static void sort_tiles(void *user)
{
    sorter *s = user;
    hdst__driver_run_begin();
    for (tile *t = take(s); t && s->status == HDST_OK && !atomic_load(&s->all->stops); t = take(s)) s->status = sort_tile(s, t, &s->error);
    hdst__driver_run_end();
    if (s->status != HDST_OK) atomic_store(&s->all->stops, true);
}

// --- Who can, and how much at once ---

// Twice is fine.
static void close_sorters(sorter *sorters, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        sorter *s = &sorters[i];
        hdst__device_sort_destroy(s->by_device);
        if (s->worker) hdst__segment_destroy(s->worker->device, &s->input);
        if (s->worker) s->worker->device->ops->release(s->worker->device, s->output);
        hdst__arena_destroy(&s->arena);
        s->by_device = NULL;
        s->output = NULL;
    }
}

// Records that a worker's device takes at once, in `room` bytes of the host's memory.
static uint64_t most_records(const sorter *s, uint64_t room)
{
    const hdst__device *device = s->worker->device;
    const uint64_t size = s->all->sort->record->size, each = 2 * size + hdst__device_sort_bytes(s->by_device), rounding = HDST__HOST_SORT_ROUNDING_BYTES;
    const uint64_t fit = hdst__budget_left(&device->budget) / 4 * 3 / each, most = device->info->max_alloc_bytes / size,
                   host = room > rounding ? (room - rounding) / (device->unified ? each : size) : 0;
    uint64_t least = fit < most ? fit : most;
    if (host < least) least = host;
    return least / 64 * 64;
}

// Those that take part; returns their number.
static uint32_t open_sorters(tiles *all, sorter *sorters, uint64_t room, hdst_error *error)
{
    hdst__sort *sort = all->sort;
    const uint32_t workers = hdst__engine_workers(sort->engine);
    uint32_t count = 0;
    all->each = UINT64_MAX;
    for (uint32_t i = 0; i < workers; i++) {
        sorter *s = &sorters[i];
        *s = (sorter){.all = all, .number = i, .error = HDST_ERROR_INIT};
        hdst__arena_init(&s->arena, hdst__engine_owned(sort->engine, HDST__OWNER_SORTS), NULL);
        hdst__device_worker *worker = hdst__worker_is_wanted(sort->engine, i) ? hdst__engine_worker(sort->engine, i, error) : NULL;
        if (!worker || !worker->device->ops->work) continue;
        s->by_device = hdst__device_sort_create(worker->device, sort->record, sort->field, sort->field_count,
                                                  hdst__engine_limits(sort->engine)->sort_large_least);
        if (!s->by_device) continue;
        s->worker = worker;
        const uint64_t most = most_records(s, room / workers);
        if (most < hdst__engine_limits(sort->engine)->sort_least || !hdst__device_sort_can(s->by_device, most)) {
            s->worker = NULL;
            continue;
        }
        if (most < all->each) all->each = most;
        count++;
    }
    return count;
}

// --- Tiles ---

static bool add_tile(tiles *all, uint64_t first, uint64_t count, const hdst__memory *memory, uint32_t owner)
{
    if (all->count == HDST__SORT_MERGE_RUNS) return false;
    tile *t = &all->tile[all->count++];
    t->first = first;
    t->count = count;
    t->memory = memory;
    t->owner = owner;
    atomic_init(&t->taken, false);
    return true;
}

// As few as there may be of equal size, and one for each worker at least.
static bool cut(tiles *all, uint64_t first, uint64_t count, uint32_t workers)
{
    uint64_t parts = (count + all->each - 1) / all->each;
    if (parts < workers) parts = workers;
    const uint64_t each = ((count + parts - 1) / parts + 63) / 64 * 64;
    bool added = true;
    for (uint64_t at = 0; at < count && added; at += each) added = add_tile(all, first + at, count - at < each ? count - at : each, NULL, UINT32_MAX);
    return added;
}

// What lies with a worker as C structs, if it can sort it there; the rest is read.
static bool cut_part(tiles *all, const hdst__dataset_cache *part, const sorter *owner)
{
    const bool there = owner->worker && part->device == owner->worker->device && !part->streamed && part->reader.layout == HDST__AOS &&
        part->loaded == part->count;
    bool added = true;
    for (uint64_t i = 0; i < part->count && added; i++) {
        const hdst__segment *segment = &part->segment[i];
        if (there && segment->count <= all->each) added = add_tile(all, part->first + segment->first, segment->count, segment->memory[0], owner->number);
        else added = cut(all, part->first + segment->first, segment->count, 1);
    }
    return added && (part->count || cut(all, part->first, part->reader.records, 1));
}

static bool cut_all(tiles *all, const hdst__dataset_cache *cache, const sorter *sorters, uint32_t workers)
{
    bool added = true;
    if (!cache || !cache->part) return cut(all, 0, all->input->records, workers);
    for (uint32_t i = 0; i < cache->parts && added; i++)
        if (cache->part[i]->reader.records) added = cut_part(all, cache->part[i], &sorters[i]);
    return added;
}

// --- All of it ---

static void wait_for(sorter *s)
{
    if (s->started) hdst__worker_wait(s->worker);
    s->started = false;
}

// Tiles that are copied from a device to be sorted: nobody else may work with that one meanwhile, and which it is only the reader knows.
static bool copies_from_devices(const tiles *all)
{
    bool reads = false;
    for (uint32_t i = 0; i < all->count; i++) reads |= !all->tile[i].memory;
    return reads && all->input->on_device;
}

static hdst_status run_sorters(sorter *sorters, uint32_t workers, hdst_error *error)
{
    sorter *own = NULL;                 // on this thread
    const bool in_turn = copies_from_devices(sorters->all);
    for (uint32_t i = 0; i < workers; i++) {
        if (!sorters[i].worker) continue;
        if (!own) own = &sorters[i];
        else if (!in_turn) sorters[i].started = hdst__worker_start(sorters[i].worker, sort_tiles, &sorters[i]);
    }
    if (own) sort_tiles(own);
    for (uint32_t i = 0; i < workers; i++)          // those that nobody has begun
        if (sorters[i].worker && &sorters[i] != own && !sorters[i].started) sort_tiles(&sorters[i]);
    for (uint32_t i = 0; i < workers; i++) wait_for(&sorters[i]);
    for (uint32_t i = 0; i < workers; i++) {
        if (sorters[i].status == HDST_OK) continue;
        *error = sorters[i].error;
        return sorters[i].status;
    }
    return HDST_OK;
}

static hdst_status merge_tiles(const tiles *all, hdst_error *error)
{
    hdst__sort *sort = all->sort;
    hdst__runtime *runtime = hdst__engine_runtime(sort->engine);
    hdst__sorted_run runs[HDST__SORT_MERGE_RUNS];
    for (uint32_t i = 0; i < all->count; i++) runs[i] = (hdst__sorted_run){all->rows + all->tile[i].first * sort->record->size, all->tile[i].count};
    char *rows = hdst__budget_alloc(&runtime->memory, HDST__OWNER_SORTS, all->input->records * sort->record->size, what, error);
    if (!rows) return HDST_E_MEMORY;
    const double begin = hdst__timeline_begin(runtime->timeline);
    const hdst_status status = hdst__sort_merge(runtime, sort->field, sort->field_count, sort->record->size, runs, all->count, rows, error);
    hdst__timeline_end(runtime->timeline, begin, "merge tiles", sort->record->name, 0);
    if (status != HDST_OK) hdst__free(hdst__engine_owned(sort->engine, HDST__OWNER_SORTS), rows);
    sort->owned = status == HDST_OK;
    sort->rows = sort->owned ? rows : NULL;
    return status;
}

static void add_stats(hdst__sort *sort, const sorter *sorters, uint32_t workers)
{
    hdst__run_stats *stats = &sort->stats;
    for (uint32_t i = 0; i < workers; i++) {
        const sorter *s = &sorters[i];
        if (!s->sorted) continue;
        const hdst__device_use use = {.slices = s->sorted, .records = s->records, .busy_seconds = s->busy_seconds};
        hdst__run_stats_add_device(stats, &use, s->worker->info->name, s->worker->info->index);
        stats->read_seconds += s->read_seconds;
        stats->bytes_to_device += s->moved;
        stats->bytes_from_device += s->bytes_back;
    }
    snprintf(sort->tiles, sizeof sort->tiles, "radix sort on %u device%s, in %" PRIu32 " tiles that the host merges", (unsigned)stats->device_count,
             stats->device_count == 1 ? "" : "s", sorters->all->count);
    sort->way = sort->tiles;
}

static hdst_status sort_all(tiles *all, const hdst__dataset_cache *cache, sorter *sorters, uint32_t workers, bool *done, hdst_error *error)
{
    hdst__sort *sort = all->sort;
    const uint64_t bytes = all->input->records * sort->record->size;
    if (!cut_all(all, cache, sorters, workers)) return HDST_OK;
    all->rows = hdst__budget_alloc(hdst__engine_memory(sort->engine), HDST__OWNER_SORTS, bytes, what, error);
    hdst_status status = all->rows ? run_sorters(sorters, workers, error) : HDST_E_MEMORY;
    close_sorters(sorters, workers);            // their memory is not needed to merge
    if (status == HDST_OK) status = merge_tiles(all, error);
    *done = status == HDST_OK;
    hdst__free(hdst__engine_owned(sort->engine, HDST__OWNER_SORTS), all->rows);
    return status;
}

hdst_status hdst__sort_in_tiles(hdst__sort *sort, const hdst__reader *input, hdst__dataset_cache *cache, uint64_t room, bool *done, hdst_error *error)
{
    const uint64_t both = 2 * input->records * sort->record->size;
    sorter sorters[HDST__MOST_WORKERS];
    hdst__shared_reader shared;
    hdst__device *first;
    hdst_error full = HDST_ERROR_INIT;
    *done = false;
    if (input->records < 2 * hdst__engine_limits(sort->engine)->sort_least || both > room) return HDST_OK;
    hdst_status status = hdst__engine_open(sort->engine, &first, error);
    if (status != HDST_OK) return status;
    const uint32_t workers = hdst__engine_workers(sort->engine);
    hdst__shared_reader_init(&shared, input);
    tiles all = {.sort = sort, .input = &shared.shared};
    if (open_sorters(&all, sorters, room - both, &full)) status = sort_all(&all, cache, sorters, workers, done, &full);
    if (*done) add_stats(sort, sorters, workers);
    else close_sorters(sorters, workers);
    hdst__shared_reader_destroy(&shared);
    if (status == HDST_E_MEMORY) return HDST_OK;        // another way needs less
    if (status == HDST_E_DRIVER) {                      // what the device that failed has of the input is read anew
        hdst__log_write(&hdst__engine_runtime(sort->engine)->log, HDST__LOG_WARN, "a sort goes on without tiles: %s", full.message);
        if (cache) hdst__dataset_cache_gather(cache);
        return HDST_OK;
    }
    if (status != HDST_OK && error) *error = full;
    return status;
}
