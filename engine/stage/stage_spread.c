// SPDX-License-Identifier: Apache-2.0
// A cached input of a stage that several workers run: which of them has which records (engine/memory/spread_cache.c lays them out).
#include "engine/stage/stage_share.h"

#include "base/costs_gpu.h"
#include "engine/worker.h"

#include <string.h>

// What a device is likely to do beside others, before anything was measured.
static uint64_t weight(const hdst__stage *stage, uint32_t number)
{
    const hdst__device_info *info = hdst__engine_worker_info(stage->engine, number);
    if (!hdst__stage_wants(stage, number)) return 0;
    return info->class_ == HDST__DEVICE_GPU ? (uint64_t)HDST__GPU_UNIT_WEIGHT * info->compute_units : info->compute_units;
}

// Records of each worker, by weight, cut at multiples of 64, so that the first has some.
static void cut_by_weight(const hdst__stage *stage, uint32_t workers, uint64_t *counts)
{
    const uint64_t records = stage->reader.records, unit = 64;
    uint64_t all = 0, before = 0, begin = 0;
    for (uint32_t i = 0; i < workers; i++) all += weight(stage, i);
    for (uint32_t i = 0; i < workers; i++) {
        before += weight(stage, i);
        const double share = (double)records * ((double)before / (double)all);
        uint64_t end = before == all ? records : ((uint64_t)share + unit - 1) / unit * unit;
        if (end > records) end = records;
        counts[i] = end - begin;
        begin = end;
    }
}

// What does not fit where it was to lie is read again in every run, by whoever is free.
static void stream_rather(hdst__dataset_cache *cache, hdst__device *device)
{
    for (uint32_t i = 0; i < cache->parts; i++) {
        if (!cache->part[i]->streamed) continue;
        char why[sizeof cache->why];
        memcpy(why, cache->part[i]->why, sizeof why);
        hdst__dataset_cache_gather(cache);
        cache->device = device;
        cache->streamed = true;
        memcpy(cache->why, why, sizeof why);
        return;
    }
}

static hdst_status lay_out(hdst__stage *stage, const uint64_t *counts, hdst_error *error)
{
    hdst__dataset_cache *cache = stage->spec.cache;
    const uint32_t workers = hdst__engine_workers(stage->engine);
    hdst__device *devices[HDST__MOST_WORKERS] = {NULL};
    for (uint32_t i = 0; i < workers; i++) {
        hdst__device_worker *worker = counts[i] ? hdst__engine_worker(stage->engine, i, error) : NULL;
        if (counts[i] && !worker) return HDST_E_DEVICE;
        devices[i] = worker ? worker->device : stage->device;
    }
    hdst_status status = hdst__dataset_cache_spread(cache, devices, counts, workers, error);
    if (status == HDST_OK) stream_rather(cache, stage->device);
    return status;
}

// The seconds that a record took a worker in the last run, and the records that it has; 0: not measured.
static double seconds_each(const hdst__stage *stage, uint32_t number, uint64_t *records)
{
    const hdst__launch_plan *plan = number ? stage->others[number - 1].plan : stage->plan;
    const hdst__device_use *use = number ? &stage->others[number - 1].stats.device[0] : &stage->stats.device[0];
    *records = plan ? plan->reader.records : 0;
    return plan && use->records ? use->busy_seconds / (double)use->records : 0;
}

// Records of each worker so that all end together, as they were measured, if that ends sooner by more than a tenth.
static bool cut_anew(const hdst__stage *stage, uint64_t *counts)
{
    const uint32_t workers = hdst__engine_workers(stage->engine);
    double each[HDST__MOST_WORKERS], longest = 0, together = 0, before = 0;
    uint64_t records, begin = 0;
    uint32_t last = 0;              // of those that have records, and a plan for them
    for (uint32_t i = 0; i < workers; i++) {
        each[i] = seconds_each(stage, i, &records);
        if (records && !(each[i] > 0)) return false;
        if (!records) each[i] = 0;
        if (records) together += 1 / each[i], last = i;
        if ((double)records * each[i] > longest) longest = (double)records * each[i];
    }
    if (longest == 0 || longest <= HDST__HOST_EVEN * (double)stage->reader.records / together) return false;
    for (uint32_t i = 0; i < workers; i++) {
        before += each[i] > 0 ? 1 / each[i] : 0;
        uint64_t end = (uint64_t)((double)stage->reader.records * (before / together) + 32) / 64 * 64;
        if (end > stage->reader.records || i >= last) end = stage->reader.records;
        counts[i] = end - begin;
        begin = end;
    }
    return counts[0] > 0;
}

enum { MOST_SPREADS = 3 };      // loading is dear, and later stages may want it otherwise again

// Lays a cached input out over the workers, and anew once it is known what each can do.
hdst_status hdst__stage_spread_cache(hdst__stage *stage, hdst_error *error)
{
    hdst__dataset_cache *cache = stage->spec.cache;
    uint64_t counts[HDST__MOST_WORKERS];
    hdst_status status = HDST_OK;
    if (cache && !cache->device) {
        cut_by_weight(stage, hdst__engine_workers(stage->engine), counts);
        status = lay_out(stage, counts, error);
    } else if (cache && cache->part && stage->plan && stage->others && cache->spreads < MOST_SPREADS && cut_anew(stage, counts)) {
        hdst__dataset_cache_gather(cache);
        status = lay_out(stage, counts, error);
    }
    if (cache && stage->spreads != cache->spreads) stage->moved = true;
    if (cache) stage->spreads = cache->spreads;
    return status;
}

// The part of the cached input that lies with a worker; NULL: it is streamed.
hdst__dataset_cache *hdst__stage_part(const hdst__stage *stage, uint32_t number)
{
    const hdst__dataset_cache *cache = stage->spec.cache;
    return cache && cache->part ? cache->part[number] : NULL;
}

// What a worker reads: its part, or the input that all share.
void hdst__stage_input_of(hdst__stage *stage, uint32_t number, hdst__launch_plan_request *request)
{
    const hdst__dataset_cache *part = hdst__stage_part(stage, number);
    request->whole = &stage->reader;
    request->reader = part ? &part->reader : &stage->input.shared;
    request->base = part ? part->first : 0;
    request->most_records = part && !part->streamed && part->count ? part->segment[0].count : 0;
}

bool hdst__stage_reads_all_parts(const hdst__stage *stage)
{
    for (uint32_t i = 0; i < stage->other_count; i++) {
        const hdst__dataset_cache *part = hdst__stage_part(stage, i + 1);
        if (part && part->reader.records && !stage->others[i].plan) return false;
    }
    return true;
}

hdst__dataset_cache *hdst__stage_resident_part(const hdst__stage *stage, uint32_t number)
{
    hdst__dataset_cache *part = hdst__stage_part(stage, number);
    return part && !part->streamed ? part : NULL;
}
