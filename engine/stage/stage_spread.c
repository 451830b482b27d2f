// SPDX-License-Identifier: Apache-2.0
// A cached input of a stage that several workers run: which of them has which records (engine/memory/spread_cache.c lays them out).
#include "engine/stage/stage_share.h"

#include "engine/stage/cache_layout.h"

// The seconds that a record took a worker in the last run, and the records that it has; 0: not measured.
static double seconds_each(const hdst__stage *stage, uint32_t number, uint64_t *records)
{
    const hdst__launch_plan *plan = number ? stage->others[number - 1].plan : stage->plan;
    const hdst__device_use *use = number ? &stage->others[number - 1].stats.device[0] : &stage->stats.device[0];
    *records = plan ? plan->reader.records : 0;
    return plan && use->records ? use->busy_seconds / (double)use->records : 0;
}

// Records of each worker so that all end together, as they were measured, if that ends sooner by more than a tenth.
bool hdst__stage_cut_anew(const hdst__stage *stage, uint64_t *counts)
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
        hdst__cache_cut_by_weight(stage->engine, stage->reader.records, counts);
        status = hdst__cache_lay_out(stage->engine, cache, counts, error);
    } else if (cache && cache->part && stage->plan && stage->others && !cache->joined && cache->cuts < MOST_SPREADS && hdst__stage_cut_anew(stage, counts)) {
        hdst__dataset_cache_gather(cache);
        status = hdst__cache_lay_out(stage->engine, cache, counts, error);
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

// What a worker reads: its part, its run of the input, or the input that all share.
void hdst__stage_input_of(hdst__stage *stage, uint32_t number, hdst__launch_plan_request *request)
{
    const hdst__dataset_cache *part = hdst__stage_part(stage, number);
    request->whole = &stage->reader;
    const hdst__stage_kept *kept = !part && stage->keeps_parts ? &stage->kept[number] : NULL;
    request->reader = part ? &part->reader : kept ? &kept->reader : &stage->input.shared;
    request->base = part ? part->first : kept ? kept->first : 0;
    request->most_records = part && !part->streamed && part->count ? part->segment[0].count : 0;
}

uint64_t hdst__stage_part_records(const hdst__stage *stage, uint32_t number)
{
    const hdst__dataset_cache *part = hdst__stage_part(stage, number);
    return part ? part->reader.records : stage->keeps_parts ? stage->kept[number].reader.records : UINT64_MAX;
}

bool hdst__stage_reads_all_parts(const hdst__stage *stage)
{
    for (uint32_t i = 0; i < stage->other_count; i++) {
        const uint64_t records = hdst__stage_part_records(stage, i + 1);
        if (records && records != UINT64_MAX && !stage->others[i].plan) return false;
    }
    return true;
}

hdst__dataset_cache *hdst__stage_resident_part(const hdst__stage *stage, uint32_t number)
{
    hdst__dataset_cache *part = hdst__stage_part(stage, number);
    return part && !part->streamed ? part : NULL;
}
