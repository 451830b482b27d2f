// SPDX-License-Identifier: Apache-2.0
// Where a cached input lies that several workers share (engine/stage/cache_layout.h).
#include "engine/stage/cache_layout.h"

#include "base/costs_gpu.h"
#include "engine/device/device_list.h"
#include "engine/memory/dataset_cache.h"
#include "engine/worker.h"

#include <string.h>

// What a device is likely to do beside others, before anything was measured.
static uint64_t weight(const hdst__engine *engine, uint32_t number)
{
    const hdst__device_info *info = hdst__engine_worker_info(engine, number);
    if (!hdst__worker_is_wanted(engine, number)) return 0;
    return info->class_ == HDST__DEVICE_GPU ? (uint64_t)HDST__GPU_UNIT_WEIGHT * info->compute_units : info->compute_units;
}

void hdst__cache_cut_by_weight(const hdst__engine *engine, uint64_t records, uint64_t *counts)
{
    const uint32_t workers = hdst__engine_workers(engine);
    const uint64_t unit = 64;
    uint64_t all = 0, before = 0, begin = 0;
    for (uint32_t i = 0; i < workers; i++) all += weight(engine, i);
    for (uint32_t i = 0; i < workers; i++) {
        before += weight(engine, i);
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

// A device that is not open yet may have no memory to be opened in.
hdst_status hdst__cache_lay_out(hdst__engine *engine, hdst__dataset_cache *cache, const uint64_t *counts, hdst_error *error)
{
    hdst_error own = HDST_ERROR_INIT;
    if (!error) error = &own;
    const uint32_t workers = hdst__engine_workers(engine);
    hdst__device_worker *first = hdst__engine_worker(engine, 0, error);
    hdst__device *devices[HDST__MOST_WORKERS] = {NULL};
    if (!first) return error->code;
    for (uint32_t i = 0; i < workers; i++) {
        hdst__device_worker *worker = counts[i] ? hdst__engine_worker(engine, i, error) : NULL;
        if (counts[i] && !worker) return error->code;
        devices[i] = worker ? worker->device : first->device;
    }
    hdst_status status = hdst__dataset_cache_spread(cache, devices, counts, workers, error);
    if (status == HDST_OK) stream_rather(cache, first->device);
    return status;
}
