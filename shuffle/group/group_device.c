// SPDX-License-Identifier: Apache-2.0
// Records ordered by key where a device has them (shuffle/group/group_device.h). Mixed keys are one-to-one, so a sort by them puts equal keys together; keys of
// 8 bytes whose hashes are the same may come in another order than that of the keys, which is that of the runs: where there are such, the host puts
// their runs in order.
#include "shuffle/group/group_device.h"

#include "base/costs_gpu.h"
#include "base/huge_pages.h"
#include "base/pieces.h"
#include "engine/common/run_stats.h"
#include "engine/device/driver_gate.h"
#include "engine/device/library_kernel.h"
#include "engine/memory/dataset_cache.h"
#include "engine/memory/value_rows.h"
#include "record/key_hash.h"
#include "shuffle/sort/radix_sort.h"
#include "shuffle/sort/sort.h"
#include "shuffle/sort/sort_kernels.h"

#include <inttypes.h>
#include <string.h>

extern const hdst__pieces hdst__group_pieces;       // shuffle/group/*.cl

enum { COUNT, WRITE, KEYS, KERNELS };
enum { COUNTS, CLASH, STARTS, KEYS_OF, MEMORIES };
enum { LANES = 256, TILE = 16 * LANES, MOST_KEY_BYTES = 8 };        // LANES, TILE: of group_runs.cl

struct hdst__group_device {
    hdst__sort *sort;
    hdst__value_rows there;         // the sort's memory
    hdst__device *device;           // of what follows; NULL: there is nothing
    hdst__arena arena;              // of the kernels' text
    const char *text;
    hdst__sort_field field[MOST_KEY_BYTES];
    hdst__kernel kernel[KERNELS];
    hdst__program *program[KERNELS];
    hdst__memory *memory[MEMORIES];
};

typedef struct hdst__group_device group_device;

static const hdst__allocator *allocator_of(const hdst__group *g) { return hdst__engine_owned(g->engine, HDST__OWNER_SORTS); }

// --- Kernels ---

typedef struct text_of { const hdst__group *group; const hdst__sort_word *word; } text_of;

static void write_text(hdst__writer *out, const void *user)
{
    const text_of *of = user;
    const hdst__record *record = of->group->record;
    hdst__write_text(out, hdst__pieces_text(out->arena, &hdst__base_pieces, "head.cl"));
    hdst__sort_packed_text(out, record, of->word);
    hdst__write(out, "#define SIZE %" PRIu64 "ul\n%s", record->size, hdst__pieces_text(out->arena, &hdst__group_pieces, "group_runs.cl"));
}

static hdst_status make_text(const hdst__group *g, group_device *d, hdst_error *error)
{
    hdst__sort_word word;
    if (d->text) return HDST_OK;
    for (size_t i = 0; i < g->key.count; i++)
        d->field[i] = (hdst__sort_field){g->key.field[i].offset, g->key.field[i].kind, 8 * (uint32_t)hdst__scalar_size(g->key.field[i].kind), false};
    hdst__sort_mixed_word_of(d->field, g->key.count, &word);
    return hdst__library_kernel_text(&d->arena, write_text, &(text_of){g, &word}, "kernels of groups", &d->text, error);
}

static hdst_status work(group_device *d, int kernel, const hdst__work_arg *args, uint64_t records, uint64_t each, hdst_error *error)
{
    static const char *const names[] = {[COUNT] = "count_runs", [WRITE] = "write_runs", [KEYS] = "keys_of_runs"};
    const hdst__device *device = d->device;
    const uint64_t groups = hdst__device_groups(device, (records + each - 1) / each, HDST__GPU_GROUPS_PER_UNIT);
    const hdst_status status = hdst__library_kernel_load(d->device, d->text, names[kernel], LANES, &d->kernel[kernel], &d->program[kernel], error);
    return status == HDST_OK ? device->ops->work(d->device, d->program[kernel], args, 4, groups, LANES, error) : status;
}

// --- Runs ---

static hdst_status provide(group_device *d, int which, uint64_t bytes, hdst_error *error)
{
    hdst__device *device = d->device;
    const uint64_t whole = (bytes + 7) / 8 * 8;
    if (d->memory[which] && d->memory[which]->bytes >= whole) return HDST_OK;
    device->ops->release(device, d->memory[which]);
    d->memory[which] = NULL;
    return device->ops->alloc(device, HDST__MEMORY_DEVICE, HDST__OWNER_SORTS, whole, "runs of equal keys", &d->memory[which], error);
}

// *clash: some have one hash.
static hdst_status count_runs(group_device *d, uint64_t records, uint64_t tiles, uint32_t *counts, uint32_t *clash, hdst_error *error)
{
    hdst__device *device = d->device;
    hdst_status status = provide(d, COUNTS, tiles * sizeof *counts, error);
    if (status == HDST_OK) status = provide(d, CLASH, sizeof *clash, error);
    if (status == HDST_OK) status = device->ops->fill(device, d->memory[CLASH], 1, 0, error);
    const hdst__work_arg args[] = {{.memory = d->there.memory}, {.number = records}, {.memory = d->memory[COUNTS]}, {.memory = d->memory[CLASH]}};
    if (status == HDST_OK) status = work(d, COUNT, args, records, TILE, error);
    if (status == HDST_OK) status = device->ops->read(device, d->memory[COUNTS], 0, counts, tiles * sizeof *counts, true, error);
    return status == HDST_OK ? device->ops->read(device, d->memory[CLASH], 0, clash, sizeof *clash, true, error) : status;
}

static hdst_status write_starts(group_device *d, uint64_t records, uint64_t tiles, const uint32_t *places, uint64_t runs, uint32_t *starts, hdst_error *error)
{
    hdst__device *device = d->device;
    hdst_status status = provide(d, STARTS, runs * sizeof *starts, error);
    if (status == HDST_OK) status = device->ops->write(device, d->memory[COUNTS], 0, places, tiles * sizeof *places, true, error);
    const hdst__work_arg args[] = {{.memory = d->there.memory}, {.number = records}, {.memory = d->memory[COUNTS]}, {.memory = d->memory[STARTS]}};
    if (status == HDST_OK) status = work(d, WRITE, args, records, TILE, error);
    return status == HDST_OK ? device->ops->read(device, d->memory[STARTS], 0, starts, runs * sizeof *starts, true, error) : status;
}

static uint64_t places_of(uint32_t *counts, uint64_t tiles)
{
    uint64_t runs = 0;
    for (uint64_t i = 0; i < tiles; i++) {
        const uint32_t count = counts[i];
        counts[i] = (uint32_t)runs;
        runs += count;
    }
    return runs;
}

static uint32_t hash_of(uint64_t key) { return hdst__key_hash(&key, MOST_KEY_BYTES); }

// Puts the runs of one hash in the order of their keys.
static bool order_runs(const hdst__group *g, hdst__run *run, const uint64_t *key, uint64_t count, hdst__radix_entry *room)
{
    hdst__run *moved = (hdst__run *)(room + 2 * count);
    for (uint64_t i = 0; i < count; i++) room[i] = (hdst__radix_entry){key[i], i};
    const hdst__radix_entry *sorted = hdst__radix_sort_entries(room, room + count, count, hdst__engine_cancel(g->engine));
    for (uint64_t i = 0; i < count && sorted; i++) moved[i] = run[sorted[i].index];
    if (sorted) memcpy(run, moved, count * sizeof *run);
    return sorted;
}

static hdst_status order_equal_hashes(const hdst__group *g, const uint64_t *key, hdst_error *error)
{
    const uint64_t each = 2 * sizeof(hdst__radix_entry) + sizeof(hdst__run);
    hdst__radix_entry *room = hdst__budget_alloc(hdst__engine_memory(g->engine), HDST__OWNER_SORTS, g->run_count * each, "runs of equal keys", error);
    bool ordered = room;
    for (uint64_t first = 0, end; first < g->run_count && ordered; first = end) {
        for (end = first + 1; end < g->run_count && hash_of(key[end]) == hash_of(key[first]);) end++;
        if (end > first + 1) ordered = order_runs(g, g->run + first, key + first, end - first, room);
    }
    hdst__free(allocator_of(g), room);
    return !room ? HDST_E_MEMORY : ordered ? HDST_OK : hdst__cancel_check(hdst__engine_cancel(g->engine), 0, 0, error);
}

// Of keys that share one the mixed ones have another order.
static hdst_status settle_clashes(const hdst__group *g, group_device *d, hdst_error *error)
{
    hdst__device *device = d->device;
    const uint64_t bytes = g->run_count * sizeof(uint64_t);
    uint64_t *keys = hdst__budget_alloc(hdst__engine_memory(g->engine), HDST__OWNER_SORTS, bytes, "keys of runs", error);
    if (!keys) return HDST_E_MEMORY;
    hdst_status status = provide(d, KEYS_OF, bytes, error);
    const hdst__work_arg args[] = {{.memory = d->there.memory}, {.memory = d->memory[STARTS]}, {.number = g->run_count}, {.memory = d->memory[KEYS_OF]}};
    if (status == HDST_OK) status = work(d, KEYS, args, g->run_count, LANES, error);
    if (status == HDST_OK) status = device->ops->read(device, d->memory[KEYS_OF], 0, keys, bytes, true, error);
    if (status == HDST_OK) status = order_equal_hashes(g, keys, error);
    hdst__free(allocator_of(g), keys);
    return status;
}

static hdst_status make_runs(hdst__group *g, group_device *d, const uint32_t *places, uint64_t tiles, uint64_t runs, hdst_error *error)
{
    hdst__budget *budget = hdst__engine_memory(g->engine);
    uint32_t *starts = hdst__budget_alloc(budget, HDST__OWNER_SORTS, runs * sizeof *starts, "runs of equal keys", error);
    g->run = starts ? hdst__budget_alloc(budget, HDST__OWNER_SORTS, runs * sizeof *g->run, "runs of equal keys", error) : NULL;
    if (starts) hdst__ask_for_huge_pages(starts, runs * sizeof *starts);
    if (g->run) hdst__ask_for_huge_pages(g->run, runs * sizeof *g->run);
    hdst_status status = g->run ? write_starts(d, g->row_count, tiles, places, runs, starts, error) : HDST_E_MEMORY;
    g->run_count = status == HDST_OK ? runs : 0;
    for (uint64_t i = 0; i < g->run_count; i++) g->run[i] = (hdst__run){starts[i], (i + 1 < runs ? starts[i + 1] : g->row_count) - starts[i]};
    hdst__free(allocator_of(g), starts);
    return status;
}

static hdst_status find_runs(hdst__group *g, group_device *d, hdst_error *error)
{
    const uint64_t tiles = (g->row_count + TILE - 1) / TILE;
    uint32_t clash = 0, *counts = hdst__budget_alloc(hdst__engine_memory(g->engine), HDST__OWNER_SORTS, tiles * sizeof *counts, "runs of equal keys", error);
    if (!counts) return HDST_E_MEMORY;
    hdst_status status = make_text(g, d, error);
    if (status == HDST_OK) status = count_runs(d, g->row_count, tiles, counts, &clash, error);
    if (status == HDST_OK) status = make_runs(g, d, counts, tiles, places_of(counts, tiles), error);
    if (status == HDST_OK && clash) status = settle_clashes(g, d, error);
    for (int i = 0; i < KERNELS && status == HDST_OK; i++)
        if (d->program[i]) d->device->ops->proven(d->device, d->program[i]);
    if (status != HDST_OK) d->device->ops->finish(d->device);
    hdst__free(allocator_of(g), counts);
    return status;
}

// --- Whether ---

static const char *refusal(hdst__group *g, const hdst__reader *input)
{
    hdst__device *device = NULL;
    hdst__engine_lock(g->engine);
    const bool opened = hdst__engine_open(g->engine, &device, NULL) == HDST_OK;
    hdst__engine_unlock(g->engine);
    if (!opened || device->unified || !device->ops->work) return "";
    if (g->dense) return "keys are numbers of rows";
    if (g->record->has_text) return "the records have texts";
    if (g->key.bytes > MOST_KEY_BYTES) return "the key has more than 8 bytes";
    if (g->cache && g->cache->part) return "they lie on several devices";
    return input->records < hdst__engine_limits(g->engine)->sort_least ? "they are few" : NULL;
}

static group_device *make(hdst__group *g)
{
    group_device *d = hdst__alloc_zero(allocator_of(g), sizeof *d);
    if (!d) return NULL;
    hdst__arena_init(&d->arena, hdst__engine_allocator(g->engine), NULL);
    d->sort = hdst__sort_create_by_hash(g->engine, g->record, &g->key);
    d->there.runtime = hdst__engine_runtime(g->engine);
    g->by_device = d;
    if (d->sort) return d;
    hdst__group_end_device(g);
    return NULL;
}

// Where the sort left them.
static void look_there(hdst__group *g, group_device *d)
{
    const hdst__dataset_cache *sorted = hdst__sort_resident(d->sort);
    d->device = d->there.device = sorted->device;
    d->there.memory = sorted->segment[0].memory[0];
    d->there.bytes = sorted->reader.records * g->record->size;
    g->there = &d->there;
    g->row_count = sorted->reader.records;
    g->stats = *hdst__sort_stats(d->sort);
}

static hdst_status order(hdst__group *g, const hdst__reader *input, bool *done, hdst_error *error)
{
    group_device *d = g->by_device ? g->by_device : make(g);
    if (!d) return hdst__error_memory(error, "the order of records by key");
    hdst_status status = hdst__sort_run_on_device(d->sort, input, g->cache, done, error);
    if (status != HDST_OK || !*done) return status;
    look_there(g, d);
    hdst__engine_lock(g->engine);
    hdst__driver_run_begin();
    status = find_runs(g, d, error);
    hdst__driver_run_end();
    hdst__engine_unlock(g->engine);
    return status;
}

hdst_status hdst__group_order_on_device(hdst__group *g, const hdst__reader *input, bool *done, hdst_error *error)
{
    hdst_error full = HDST_ERROR_INIT;
    *done = false;
    g->why_host = input->records ? refusal(g, input) : "";
    if (g->why_host) return HDST_OK;
    const hdst_status status = order(g, input, done, &full);
    if (status == HDST_OK && *done) return HDST_OK;
    hdst__group_end_device(g);
    hdst__free(allocator_of(g), g->run);
    g->run = NULL;
    g->row_count = g->run_count = 0;
    hdst__run_stats_forget_counts(&g->stats);
    *done = false;
    g->why_host = "the device has no room for it";
    if (status == HDST_OK || status == HDST_E_MEMORY) return HDST_OK;
    if (error) *error = full;
    return status;
}

// --- The end ---

void hdst__group_leave_device(hdst__group *g)
{
    group_device *d = g->by_device;
    g->there = NULL;
    if (!d) return;
    hdst__free(d->there.runtime->allocator, d->there.host);
    d->there.host = NULL;
    d->there.host_bytes = 0;
    d->there.copied = false;
}

static void drop_memory(const hdst__group *g, group_device *d)
{
    if (!d->device) return;
    hdst__engine_lock(g->engine);
    for (int i = 0; i < MEMORIES; i++) {
        d->device->ops->release(d->device, d->memory[i]);
        d->memory[i] = NULL;
    }
    hdst__engine_unlock(g->engine);
}

void hdst__group_rest_on_device(hdst__group *g)
{
    group_device *d = g->by_device;
    if (!d || !d->device) return;
    hdst__sort_rest_on_device(d->sort);
    drop_memory(g, d);
    if (d->there.bytes <= hdst__budget_unused(&d->device->budget) / HDST__GPU_GROUP_KEPT_SHARE) return;
    hdst__sort_forget(d->sort);
    d->there.memory = NULL;
}

void hdst__group_end_device(hdst__group *g)
{
    group_device *d = g->by_device;
    hdst__group_leave_device(g);
    if (!d) return;
    drop_memory(g, d);
    hdst__engine_lock(g->engine);
    for (int i = 0; d->device && i < KERNELS; i++) d->device->ops->unload(d->device, d->program[i]);
    hdst__engine_unlock(g->engine);
    hdst__sort_destroy(d->sort);
    hdst__arena_destroy(&d->arena);
    hdst__free(allocator_of(g), d);
    g->by_device = NULL;
}
