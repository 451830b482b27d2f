// SPDX-License-Identifier: Apache-2.0
// Records that stay on several devices for the next stage: each worker has one run of the input, and what it makes of it stays in a store of its own. Together
// they are a cached dataset with a part on each device, so the next stage runs each part where it lies.
#include "engine/stage/stage_share.h"

#include "engine/stage/cache_layout.h"

bool hdst__stage_may_keep_parts(const hdst__stage *stage)
{
    return stage->spec.keep_output && !stage->spec.limit && !stage->spec.keep_whole && !stage->spec.consumer && stage->spec.kind == HDST__STAGE_MAP &&
           stage->store.cache.reader.record && !stage->mode.is[HDST__MODE_OUTPUT_ON_HOST];
}

// --- Who reads what ---

static hdst_status fill_range(void *user, uint64_t first, uint64_t count, const hdst__storage *storage, void *const *buffers, uint64_t to_first,
                              hdst_error *error)
{
    const hdst__stage_kept *kept = user;
    const hdst__reader *all = &kept->stage->input.shared;
    return all->fill(all->user, kept->first + first, count, storage, buffers, to_first, error);
}

static hdst_status make_list(hdst__stage *stage, hdst_error *error)
{
    const uint32_t workers = hdst__engine_workers(stage->engine);
    if (stage->kept) return HDST_OK;
    stage->kept = hdst__alloc_zero(stage->runtime->allocator, workers * sizeof *stage->kept);
    stage->kept_cache = hdst__alloc_zero(stage->runtime->allocator, workers * sizeof *stage->kept_cache);
    if (!stage->kept || !stage->kept_cache) {
        hdst__free(stage->runtime->allocator, stage->kept);
        hdst__free(stage->runtime->allocator, stage->kept_cache);
        stage->kept = NULL;
        stage->kept_cache = NULL;
        return hdst__error_memory(error, "records that stay on several devices");
    }
    stage->kept_count = workers;
    for (uint32_t i = 0; i < workers; i++) {
        stage->kept[i].stage = stage;
        hdst__store_init(&stage->kept[i].store, stage->runtime, stage->store.cache.reader.record);
        stage->kept_cache[i] = &stage->kept[i].store.cache;
    }
    return HDST_OK;
}

static void give_ranges(hdst__stage *stage, const uint64_t *counts)
{
    const hdst__reader *all = &stage->input.shared;
    uint64_t first = 0;
    for (uint32_t i = 0; i < stage->kept_count; first += counts[i++]) {
        hdst__stage_kept *kept = &stage->kept[i];
        kept->first = first;
        kept->reader = *all;
        kept->reader.fill = fill_range;
        kept->reader.user = kept;
        kept->reader.records = counts[i];
        kept->reader.rows = all->rows ? (const char *)all->rows + first * all->record->size : NULL;
    }
    stage->kept_of = stage->reader.records;
}

enum { LEAST_SHARE = 16 };     // of what a worker had, which it has again: a run that was slow for another reason does not end its part for good

static uint64_t least_of(const hdst__stage *stage, uint32_t number)
{
    const uint64_t had = stage->kept[number].reader.records, least = had / LEAST_SHARE / 64 * 64;
    return !had ? 0 : least ? least : had < 64 ? had : 64;
}

// Ends stay at multiples of 64, but for the last.
static void leave_some_to_each(const hdst__stage *stage, uint64_t *counts)
{
    uint64_t end[HDST__MOST_WORKERS], reached = 0, before = 0;
    for (uint32_t i = 0; i < stage->kept_count; before = end[i++]) {
        const uint64_t least = before + least_of(stage, i);
        reached += counts[i];
        end[i] = reached > least ? reached : least;
    }
    end[stage->kept_count - 1] = stage->reader.records;
    for (uint32_t i = stage->kept_count - 1; i-- > 0;) {
        const uint64_t least = least_of(stage, i + 1), most = end[i + 1] > least ? (end[i + 1] - least) / 64 * 64 : 0;
        if (least && end[i] > most) end[i] = most;
        if (end[i] > end[i + 1]) end[i] = end[i + 1];
    }
    for (uint32_t i = 0; i < stage->kept_count; i++) counts[i] = end[i] - (i ? end[i - 1] : 0);
}

hdst_status hdst__stage_cut_output(hdst__stage *stage, hdst_error *error)
{
    uint64_t counts[HDST__MOST_WORKERS];
    const bool fresh = !stage->kept || stage->moved || !stage->keeps_parts || stage->kept_of != stage->reader.records;
    const hdst_status status = make_list(stage, error);
    if (status != HDST_OK || hdst__stage_part(stage, 0)) return status;
    if (fresh) hdst__cache_cut_by_weight(stage->engine, stage->reader.records, counts);
    else if (!stage->plan || !stage->others || !hdst__stage_cut_anew(stage, counts)) return HDST_OK;
    else leave_some_to_each(stage, counts);
    give_ranges(stage, counts);
    stage->moved = true;
    return HDST_OK;
}

// --- What they keep ---

hdst__store *hdst__stage_kept_store(const hdst__stage *stage, uint32_t number) { return stage->keeps_parts ? &stage->kept[number].store : NULL; }

hdst_status hdst__stage_begin_part(hdst__store *store, const hdst__launch_plan *plan, hdst_error *error)
{
    return store ? hdst__store_begin(store, plan->device, plan->way == IR_OUTPUT_DENSE ? plan->reader.records : 0, error) : HDST_OK;
}

static void empty(hdst__store *store)
{
    hdst__runtime *runtime = store->cache.runtime;
    const hdst__record *record = store->cache.reader.record;
    hdst__store_release(store);
    hdst__store_init(store, runtime, record);
}

// A worker that had nothing keeps nothing of a run before.
void hdst__stage_join_parts(hdst__stage *stage)
{
    for (uint32_t i = 1; i < stage->kept_count; i++)
        if (!stage->others[i - 1].plan) empty(&stage->kept[i].store);
    hdst__dataset_cache_join(&stage->joined, stage->kept_cache, stage->kept_count, stage->device);
}

void hdst__stage_forget_parts(hdst__stage *stage)
{
    for (uint32_t i = 0; i < stage->kept_count; i++) empty(&stage->kept[i].store);
    stage->joined.reader.records = 0;
}

void hdst__stage_keep_on_host(hdst__stage *stage, const char *why)
{
    hdst__log_write(&stage->runtime->log, HDST__LOG_WARN, "records between two stages go through the host: %s", why);
    hdst__mode_set(&stage->mode, HDST__MODE_OUTPUT_ON_HOST, why);
    hdst__store_release(&stage->store);
    hdst__stage_forget_parts(stage);
}

void hdst__stage_release_parts(hdst__stage *stage)
{
    for (uint32_t i = 0; i < stage->kept_count; i++) hdst__store_release(&stage->kept[i].store);
    hdst__free(stage->runtime->allocator, stage->kept);
    hdst__free(stage->runtime->allocator, stage->kept_cache);
}

hdst__dataset_cache *hdst__stage_stored(hdst__stage *stage) { return stage->keeps_parts ? &stage->joined : &stage->store.cache; }

// Fixed trees are cut at multiples of 64, and so is the memory that kernels write; parts that filters made begin anywhere.
bool hdst__stage_has_odd_parts(const hdst__stage *stage)
{
    const hdst__dataset_cache *cache = stage->spec.cache;
    bool odd = false;
    for (uint32_t i = 0; cache && i < cache->parts; i++) odd |= cache->part[i]->reader.records && cache->part[i]->first % 64;
    return odd;
}
