// SPDX-License-Identifier: Apache-2.0
// Reductions by key of an input that lies on several devices (shuffle/aggregate/aggregate_spread.h).
#include "shuffle/aggregate/aggregate_spread.h"

#include "engine/device/device_list.h"
#include "engine/memory/dataset_cache.h"
#include "engine/stage/cache_layout.h"
#include "engine/worker.h"
#include "shuffle/aggregate/aggregate_merge.h"
#include "shuffle/aggregate/aggregate_once.h"
#include "shuffle/aggregate/aggregate_spread_choose.h"
#include "shuffle/aggregate/aggregate_state.h"

#include <inttypes.h>
#include <stdio.h>

// What a worker's thread is at.
typedef struct task {
    hdst__aggregate *part;
    hdst__device_worker *worker;        // NULL: the host's threads do it
    hdst__runtime *runtime;
    hdst__aggregate_input input;
    bool started;
    hdst_status status;
    hdst_error error;
} task;

// --- The parts ---

void hdst__aggregate_forget_parts(hdst__aggregate *aggregate)
{
    const hdst__allocator *allocator = hdst__engine_owned(aggregate->engine, HDST__OWNER_BY_KEY);
    hdst__aggregate_spread *spread = &aggregate->spread;
    for (uint32_t i = 0; i < spread->parts; i++) {
        if (!spread->part[i]) continue;
        hdst__aggregate_release(spread->part[i]);
        hdst__free(allocator, spread->part[i]);
    }
    hdst__free(allocator, spread->part);
    *spread = (hdst__aggregate_spread){0};
}

static bool has_records(const hdst__dataset_cache *cache, uint32_t i) { return cache->part[i]->reader.records > 0; }

static hdst_status make_parts(hdst__aggregate *aggregate, const hdst__dataset_cache *cache, hdst_error *error)
{
    hdst__aggregate_spread *spread = &aggregate->spread;
    if (spread->part && spread->parts == cache->parts && spread->spreads == cache->spreads) return HDST_OK;
    hdst__aggregate_forget_parts(aggregate);
    spread->part = hdst__alloc_zero(hdst__engine_owned(aggregate->engine, HDST__OWNER_BY_KEY), cache->parts * sizeof(hdst__aggregate *));
    if (!spread->part) return hdst__error_memory(error, "a reduce by key");
    spread->parts = cache->parts;
    spread->spreads = cache->spreads;
    for (uint32_t i = 0; i < cache->parts; i++) {
        if (!has_records(cache, i)) continue;
        spread->part[i] = hdst__aggregate_create_part(aggregate);
        if (!spread->part[i]) return hdst__error_memory(error, "a reduce by key");
    }
    return HDST_OK;
}

// Those whose records lie with a device that can reduce them get its worker. *some: there is one.
static hdst_status choose_workers(hdst__aggregate *aggregate, const hdst__aggregate_input *input, task *tasks, bool *some, hdst_error *error)
{
    const hdst__dataset_cache *cache = input->cache;
    const bool enough = cache->reader.records >= hdst__engine_limits(aggregate->engine)->by_key_device_least;
    *some = false;
    for (uint32_t i = 0; i < cache->parts; i++) {
        if (!has_records(cache, i)) continue;
        hdst__dataset_cache *part = cache->part[i];
        hdst__aggregate *own = aggregate->spread.part[i];
        tasks[i] = (task){.part = own, .runtime = hdst__engine_runtime(aggregate->engine), .error = HDST_ERROR_INIT};
        tasks[i].input = (hdst__aggregate_input){&part->reader, part, NULL, input->version};
        hdst__aggregate_begin_anew(own);
        if (!enough || part->streamed) continue;
        hdst__device_worker *worker = hdst__engine_worker(aggregate->engine, i, error);
        if (!worker) return error->code;
        hdst__aggregate_device_put_on(own->on_device, worker->device);
        if (hdst__aggregate_device_can(own->on_device, part->reader.records)) tasks[i].worker = worker;
        *some |= tasks[i].worker != NULL;
    }
    return HDST_OK;
}

// --- A run ---

static void reduce_on_device(void *user)
{
    task *t = user;
    hdst__timeline_name_thread(t->runtime->timeline, t->worker->info->name);
    t->status = hdst__aggregate_run_on_device(t->part, &t->input, &t->error);
}

static void wait_for(task *t)
{
    if (t->started) hdst__worker_wait(t->worker);
    t->started = false;
}

// Without a thread of its own a device's part is reduced on this one.
static void start(task *t)
{
    t->started = hdst__worker_start(t->worker, reduce_on_device, t);
    if (!t->started) reduce_on_device(t);
}

static hdst_status on_host(task *t)
{
    if (t->part && t->status == HDST_OK && !t->part->device_did) t->status = hdst__aggregate_run_on_host(t->part, &t->input, &t->error);
    return t->status;
}

static hdst_status reduce_parts(task *tasks, uint32_t count, hdst_error *error)
{
    hdst_status status = HDST_OK;
    for (uint32_t i = 0; i < count; i++)
        if (tasks[i].worker) start(&tasks[i]);
    for (uint32_t i = 0; i < count && status == HDST_OK; i++)
        if (!tasks[i].worker) status = on_host(&tasks[i]);
    for (uint32_t i = 0; i < count; i++)
        if (tasks[i].worker) wait_for(&tasks[i]);
    for (uint32_t i = 0; i < count && status == HDST_OK; i++) status = on_host(&tasks[i]);      // what a device has had no room for
    for (uint32_t i = 0; i < count; i++) {
        if (tasks[i].status == HDST_OK) continue;
        *error = tasks[i].error;
        return tasks[i].status;
    }
    return HDST_OK;
}

static hdst_status merge_parts(hdst__aggregate *aggregate, hdst_error *error)
{
    const hdst__aggregate_spread *spread = &aggregate->spread;
    hdst__runtime *runtime = hdst__engine_runtime(aggregate->engine);
    hdst__aggregate *from[HDST__MOST_WORKERS];
    uint32_t count = 0;
    for (uint32_t i = 0; i < spread->parts; i++)
        if (spread->part[i]) from[count++] = spread->part[i];
    const double begin = hdst__timeline_begin(runtime->timeline);
    const hdst_status status = hdst__aggregate_merge(from, count, &aggregate->finished, &aggregate->row_count, error);
    hdst__timeline_end(runtime->timeline, begin, "merge keys", aggregate->layout->record->name, 0);
    return status;
}

// --- What it tells ---

static void add_stats(hdst__aggregate *aggregate)
{
    hdst__run_stats *stats = &aggregate->stats;
    uint64_t tuples = 0, keys = 0;
    for (uint32_t i = 0; i < aggregate->spread.parts; i++) {
        const hdst__aggregate *part = aggregate->spread.part[i];
        if (!part) continue;
        stats->records += part->stats.records;
        stats->read_seconds += part->stats.read_seconds;
        stats->bytes_to_device += part->stats.bytes_to_device;
        if (part->device_did) stats->bytes_from_device += part->row_count * (part->layout->row_words + 1) * sizeof(uint64_t);
        for (uint32_t u = 0; u < part->stats.device_count; u++)
            hdst__run_stats_add_device(stats, &part->stats.device[u], part->stats.device[u].name, hdst__engine_worker_info(aggregate->engine, i)->index);
        tuples += part->stats.level[0].out;
        keys += part->row_count;
    }
    hdst__levels_count(stats, hdst__engine_settings(aggregate->engine)->hpr, stats->records, tuples, keys);
    stats->level[2].out = aggregate->keys = aggregate->row_count;
}

void hdst__aggregate_explain_spread(const hdst__aggregate *aggregate, hdst__buffer *out)
{
    hdst__buffer_puts(out, "    each device reduces the part of its input that lies there; what they give is merged on the host\n");
    for (uint32_t i = 0; i < aggregate->spread.parts; i++) {
        const hdst__aggregate *part = aggregate->spread.part[i];
        if (!part) continue;
        const hdst__device_info *info = hdst__engine_worker_info(aggregate->engine, i);
        hdst__buffer_printf(out, "    device %" PRIu32 " %s: %" PRIu64 " records, %" PRIu64 " keys%s\n", info->index, info->name, part->stats.records,
                            part->stats.level[2].out, part->device_did ? "" : ", reduced by the host's threads");
        if (part->device_did) hdst__aggregate_device_explain(part->on_device, out);
    }
    hdst__buffer_printf(out, "    keys: %" PRIu64 "\n", aggregate->keys);
}

// --- All of it ---

// An input that lies nowhere yet.
static hdst_status lay_out(const hdst__aggregate *aggregate, const hdst__aggregate_input *input, hdst_error *error)
{
    uint64_t counts[HDST__MOST_WORKERS];
    hdst__device *first;
    bool pays = false;
    hdst_status status = hdst__engine_open(aggregate->engine, &first, error);
    if (status == HDST_OK && hdst__engine_workers(aggregate->engine) > 1) status = hdst__aggregate_spread_pays(aggregate, input, &pays, error);
    if (status != HDST_OK || !pays) return status;
    hdst__cache_cut_by_weight(aggregate->engine, input->reader->records, counts);
    return hdst__cache_lay_out(aggregate->engine, input->cache, counts, error);
}

static hdst_status run_parts(hdst__aggregate *aggregate, const hdst__aggregate_input *input, hdst_error *error)
{
    const hdst__dataset_cache *cache = input->cache;
    task tasks[HDST__MOST_WORKERS] = {{0}};
    bool some = false;
    hdst_status status = make_parts(aggregate, cache, error);
    if (status == HDST_OK) status = choose_workers(aggregate, input, tasks, &some, error);
    if (status != HDST_OK || !some) return status;
    status = reduce_parts(tasks, cache->parts, error);
    if (status == HDST_OK) status = merge_parts(aggregate, error);
    aggregate->spread_did = status == HDST_OK;
    return status;
}

hdst_status hdst__aggregate_run_spread(hdst__aggregate *aggregate, const hdst__aggregate_input *input, hdst_error *error)
{
    if (!input->cache) return HDST_OK;
    if (!input->cache->device) {
        const hdst_status laid_out = lay_out(aggregate, input, error);
        if (laid_out != HDST_OK) return laid_out;
    }
    if (!input->cache->part) return HDST_OK;
    const hdst_status status = run_parts(aggregate, input, error);
    if (status == HDST_OK && aggregate->spread_did) add_stats(aggregate);
    if (!aggregate->spread_did) hdst__aggregate_forget_parts(aggregate);
    if (status != HDST_E_MEMORY && status != HDST_E_DRIVER) return status;
    // One place after the other needs less memory; what a device that failed has of the input is read anew.
    if (status == HDST_E_DRIVER) hdst__dataset_cache_gather(input->cache);
    hdst__log_write(&hdst__engine_runtime(aggregate->engine)->log, status == HDST_E_DRIVER ? HDST__LOG_WARN : HDST__LOG_INFO,
                    "a reduce by key goes to one place: %s", error->message);
    return HDST_OK;
}
