// SPDX-License-Identifier: Apache-2.0
// A sort's input as it comes from the stage in front, slice by slice (shuffle/sort/sort_slices.h). Buckets are a function of the key, and hold records in the
// order in which they came; so records that are taken out of them again, bucket by bucket, are sorted to what they would have been anyway.
#include "shuffle/sort/sort_slices.h"

#include "base/log.h"
#include "engine/engine.h"
#include "shuffle/sort/sort_on_device.h"

#include <string.h>

// --- Where they are ---

static void forget_dealt(hdst__sort_slices *s)
{
    hdst__msd_slices_destroy(s->dealt);
    s->dealt = NULL;
}

void hdst__sort_slices_forget(hdst__sort *sort)
{
    hdst__sort_slices *s = &sort->slices;
    hdst__output_destroy(&s->whole);
    forget_dealt(s);
    if (s->file.open) hdst__spill_unmap_read(hdst__engine_runtime(sort->engine), &s->file, s->mapped);
    hdst__spill_close(&s->file);
    s->mapped = NULL;
    s->count = 0;
    s->stays_whole = false;
}

static hdst_status add_to_file(void *user, const char *rows, uint64_t count, hdst_error *error)
{
    hdst__sort *sort = user;
    return count ? hdst__spill_add(&sort->slices.file, rows, count * sort->record->size, error) : HDST_OK;
}

static hdst_status add_to_whole(void *user, const char *rows, uint64_t count, hdst_error *error)
{
    hdst__sort *sort = user;
    return hdst__output_add(&sort->slices.whole, rows, count, error);
}

// Out of the buckets.
static hdst_status take_back(hdst__sort *sort, hdst__msd_add *add, hdst_error *error)
{
    const hdst_status status = hdst__msd_slices_give(sort->slices.dealt, add, sort, error);
    if (status == HDST_OK) forget_dealt(&sort->slices);
    return status;
}

static hdst_status go_to_file(hdst__sort *sort, hdst_error *error)
{
    hdst__sort_slices *s = &sort->slices;
    hdst__runtime *runtime = hdst__engine_runtime(sort->engine);
    hdst__log_write(&runtime->log, HDST__LOG_WARN, "records of '%s' go through a temporary file before they are sorted: the memory budget has no room",
                    sort->record->name);
    hdst_status status = hdst__spill_open(runtime, &s->file, error);
    if (status == HDST_OK) status = add_to_file(sort, s->whole.records, s->whole.count, error);
    hdst__output_destroy(&s->whole);
    return status == HDST_OK && s->dealt ? take_back(sort, add_to_file, error) : status;
}

static hdst_status go_whole(hdst__sort *sort, hdst_error *error)
{
    sort->slices.stays_whole = true;
    if (take_back(sort, add_to_whole, NULL) == HDST_OK) return HDST_OK;
    hdst__output_reset(&sort->slices.whole);
    return go_to_file(sort, error);
}

// --- Taking them ---

// With the result, memory to sort a bucket in, and a quarter for others. The result's memory may be there from the last run.
static bool has_room(const hdst__sort *sort, uint64_t records)
{
    const hdst__store *store = &sort->store;
    const uint64_t size = sort->record->size, bytes = records * size, there = store->chunks ? store->cache.segment[0].storage->capacity * size : 0;
    return 2 * bytes + bytes / 8 <= sort->slices.left / 4 * 3 + (there < bytes ? there : bytes);
}

// What the first ones are a sample of. They stay where they are if that fails.
static hdst_status begin_dealing(hdst__sort *sort, uint64_t expected, hdst_error *error)
{
    hdst__sort_slices *s = &sort->slices;
    const hdst__row_run run = {s->whole.records, s->whole.count};
    const hdst__msd_sort sample = hdst__sort_by_digits_of(sort, &run, 1, run.count);
    const uint64_t most = s->left / sort->record->size;
    bool by_digits;
    hdst_status status = hdst__sort_goes_by_digits(sort, &by_digits, error);
    if (status == HDST_OK && by_digits) s->dealt = hdst__msd_slices_create(&sample, hdst__engine_memory(sort->engine), expected < most ? expected : most);
    s->stays_whole = !s->dealt;
    if (!s->dealt) return status;
    status = hdst__msd_slices_take(s->dealt, run.rows, run.count, error);
    if (status == HDST_OK) hdst__output_destroy(&s->whole);
    else forget_dealt(s);
    return status;
}

// Records that there may be more in one place before buckets are chosen; 0: it is time.
static uint64_t sample_left(const hdst__sort *sort)
{
    const hdst__sort_slices *s = &sort->slices;
    const uint64_t wanted = hdst__engine_limits(sort->engine)->sort_sample_bytes / sort->record->size + 1;
    if (s->stays_whole || s->dealt || s->file.open) return UINT64_MAX;
    return s->whole.count < wanted ? wanted - s->whole.count : 0;
}

static hdst_status add_in_memory(hdst__sort *sort, const char *rows, uint64_t count, uint64_t expected, hdst_error *error)
{
    hdst__sort_slices *s = &sort->slices;
    const hdst_status status = sample_left(sort) ? HDST_OK : begin_dealing(sort, expected, error);
    if (status != HDST_OK) return status;
    return s->dealt ? hdst__msd_slices_take(s->dealt, rows, count, error) : add_to_whole(sort, rows, count, error);
}

static hdst_status add_part(hdst__sort *sort, const char *rows, uint64_t count, uint64_t expected, hdst_error *error)
{
    hdst__sort_slices *s = &sort->slices;
    hdst_status status = HDST_E_MEMORY;
    if (!s->file.open && has_room(sort, s->count + count)) status = add_in_memory(sort, rows, count, expected, error);
    if (status == HDST_E_MEMORY) {
        const uint64_t dealt = s->dealt ? hdst__msd_slices_count(s->dealt) - s->count : 0;      // the first ones of these
        status = s->file.open ? HDST_OK : go_to_file(sort, error);
        if (status == HDST_OK) status = add_to_file(sort, rows + dealt * sort->record->size, count - dealt, error);
    }
    s->count += count;
    return status;
}

static hdst_status add(hdst__sort *sort, const char *rows, uint64_t count, uint64_t expected, hdst_error *error)
{
    hdst_status status = HDST_OK;
    for (uint64_t at = 0, part; at < count && status == HDST_OK; at += part) {
        const uint64_t left = sample_left(sort);
        part = left && left < count - at ? left : count - at;
        status = add_part(sort, rows + at * sort->record->size, part, expected, error);
    }
    return status;
}

static hdst_status start(void *user, hdst_error *error)
{
    hdst__sort *sort = user;
    (void)error;
    hdst__sort_slices_forget(sort);
    sort->slices.left = hdst__budget_left(hdst__engine_memory(sort->engine));
    return HDST_OK;
}

static hdst_status take(void *user, const void *records, uint64_t count, uint64_t expected, hdst_error *error)
{
    return add(user, records, count, expected, error);
}

static hdst_status take_runs(void *user, const void *records, const uint64_t *run, uint64_t runs, uint64_t expected, hdst_error *error)
{
    const uint64_t size = ((const hdst__sort *)user)->record->size;
    hdst_status status = HDST_OK;
    for (uint64_t i = 0; i < runs && status == HDST_OK; i++)
        if (run[2 * i + 1]) status = add(user, (const char *)records + run[2 * i] * size, run[2 * i + 1], expected, error);
    return status;
}

void hdst__sort_slices_init(hdst__sort *sort)
{
    hdst__engine *engine = sort->engine;
    hdst__output_init(&sort->slices.whole, hdst__engine_owned(engine, HDST__OWNER_SORTS), hdst__engine_memory(engine), sort->record->size);
    sort->slices.consumer = (hdst__consumer){.start = start, .take = take, .take_runs = take_runs, .user = sort};
}

// --- The end ---

hdst_status hdst__sort_slices_end(hdst__sort *sort, bool keep, bool *done, hdst_error *error)
{
    hdst__sort_slices *s = &sort->slices;
    *done = false;
    if (s->file.open) return hdst__spill_map(&s->file, &s->mapped, error);
    if (!s->dealt) return HDST_OK;
    hdst_status status = hdst__sort_dealt_on_device(sort, s->dealt, keep, done, error);
    if (status == HDST_OK && !*done) status = go_whole(sort, error);
    return status == HDST_OK && s->file.open ? hdst__spill_map(&s->file, &s->mapped, error) : status;
}

static const char *rows_of(const hdst__sort_slices *s) { return s->mapped ? s->mapped : s->whole.records; }

static hdst_status fill(void *user, uint64_t first, uint64_t count, const hdst__storage *storage, void *const *buffers, uint64_t to_first, hdst_error *error)
{
    const hdst__sort *sort = user;
    const uint64_t size = sort->record->size;
    (void)storage, (void)error;         // a sort reads its input as C structs
    if (count) memcpy((char *)buffers[0] + to_first * size, rows_of(&sort->slices) + first * size, count * size);
    return HDST_OK;
}

hdst__reader hdst__sort_slices_reader(hdst__sort *sort, const void **rows)
{
    *rows = rows_of(&sort->slices);
    return (hdst__reader){.fill = fill, .user = sort, .records = sort->slices.count, .record = sort->record, .layout = HDST__AOS, .held = true,
                          .concurrent = true};
}
