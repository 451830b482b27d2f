// SPDX-License-Identifier: Apache-2.0
// The engine object: options, discovery at first use, the choice of a device.
#include "engine/device/driver_gate.h"
#include "engine/engine_private.h"
#include "engine/device/give_up.h"
#include "engine/stage/reduction_levels.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TUNING_LEAST = 1 << 20, SORT_LEAST = 1 << 18, PICK_LEAST = 1 << 19, GRACE_SECONDS = 2 };

static hdst__tuning_mode tuning_mode(const hdst__engine *engine, hdst__tuning_mode wanted)
{
    static const char *const names[] = {"auto", "off", "full"};
    const char *text = getenv("HDST_TUNING");
    if (wanted != HDST__TUNING_AUTO || !text || !*text) return wanted;
    for (int i = HDST__TUNING_AUTO; i <= HDST__TUNING_FULL; i++)
        if (strcmp(text, names[i]) == 0) return (hdst__tuning_mode)i;
    hdst__log_write(&engine->log, HDST__LOG_WARN, "HDST_TUNING is '%s', not auto, off or full: taking auto", text);
    return HDST__TUNING_AUTO;
}

static hdst__hpr highest_level(const hdst__engine *engine, hdst__hpr wanted)
{
    const char *text = getenv("HDST_HPR");
    if (wanted != HDST__HPR_AUTO) return wanted;
    if (!text || !*text) return HDST__HPR_CLUSTER;
    for (hdst__hpr level = HDST__HPR_NONE; level <= HDST__HPR_CLUSTER; level++)
        if (strcmp(text, hdst__hpr_name(level)) == 0) return level;
    hdst__log_write(&engine->log, HDST__LOG_WARN, "HDST_HPR is '%s', not none, block, device, node or cluster: taking cluster", text);
    return HDST__HPR_CLUSTER;
}

enum { BY_KEY_LEAST = 1 << 18 };

static bool copy_options(hdst__engine *engine, const hdst__engine_options *options)
{
    if (options->log) engine->log = *options->log;
    engine->device_memory = options->device_memory;
    engine->skip_failed = options->skip_failed;
    engine->fast_sums = options->fast_sums;
    engine->tuning = tuning_mode(engine, options->tuning);
    engine->hpr = highest_level(engine, options->hpr);
    engine->tuning_least = TUNING_LEAST;
    engine->sort_least = SORT_LEAST;
    engine->pick_least = PICK_LEAST;
    engine->by_key_device_least = BY_KEY_LEAST;
    engine->sample_seconds = 2e-3;
    engine->grace_seconds = GRACE_SECONDS;
    engine->portable_kernels = options->portable_kernels;
    engine->gpu_form_on_cpu = options->gpu_form_on_cpu;
    engine->foreign_nans = options->foreign_nans;
    engine->spare_cells = options->spare_cells;
    engine->part_always = options->part_always;
    engine->local_bytes = options->local_bytes;
    engine->wanted = hdst__strdup(engine->allocator, options->device && *options->device ? options->device : "all");
    if (!engine->wanted) return false;
    if (!options->cache_dir) return true;
    engine->cache_dir = hdst__strdup(engine->allocator, options->cache_dir);
    return engine->cache_dir != NULL;
}

hdst__engine *hdst__engine_create(const hdst__engine_options *options)
{
    static const hdst__engine_options defaults = {0};
    if (!options) options = &defaults;
    hdst__engine *engine = hdst__alloc_zero(options->allocator, sizeof *engine);
    if (!engine) return NULL;
    if (options->allocator) engine->own_allocator = *options->allocator;
    hdst__budget_init(&engine->memory, "host memory", "--memory", options->memory ? options->memory : hdst__host_memory_limit() / 4 * 3);
    engine->counting = hdst__budget_allocator(&engine->memory, &engine->own_allocator);
    engine->allocator = &engine->counting;
    pthread_mutex_init(&engine->mutex, NULL);
    engine->cancel = options->cancel;
    if (!copy_options(engine, options)) {
        hdst__engine_destroy(engine);
        return NULL;
    }
    return engine;
}

void hdst__engine_destroy(hdst__engine *engine)
{
    if (!engine || engine->given_up) return;
    if (engine->open) {
        hdst__ring_destroy(&engine->ring, engine->open);
        engine->open->ops->destroy(engine->open);
    }
    hdst__program_cache_destroy(&engine->cache);
    hdst__device_list_clear(&engine->list, engine->allocator);
    hdst__opencl_close(engine->allocator, engine->opencl);
    hdst__free(engine->allocator, engine->wanted);
    hdst__free(engine->allocator, engine->cache_dir);
    pthread_mutex_destroy(&engine->mutex);
    hdst__allocator allocator = engine->own_allocator;      // the engine itself is freed through it
    hdst__free(&allocator, engine);
}

bool hdst__engine_given_up(const hdst__engine *engine) { return engine->given_up; }

void hdst__engine_unmap(const hdst__engine *engine, const hdst__spill *file, const void *data)
{
    if (!engine->given_up) hdst__spill_unmap(file, data);
}

const hdst__allocator *hdst__engine_allocator(const hdst__engine *engine) { return engine->allocator; }

uint64_t hdst__engine_refusals(const hdst__engine *engine) { return atomic_load(&engine->memory.refused); }

void hdst__engine_explain_memory(hdst__engine *engine, uint64_t refusals, hdst_error *error) { hdst__budget_explain(&engine->memory, refusals, error); }

// --- Discovery and choice, under the mutex ---

static hdst_status discover(hdst__engine *engine, hdst_error *error)
{
    if (engine->list.count) return HDST_OK;
    if (!engine->opencl)
        engine->opencl = hdst__opencl_open(engine->allocator, engine->list.note, sizeof engine->list.note);
    hdst_status status = hdst__device_list_fill(&engine->list, engine->allocator, engine->opencl, error);
    if (status != HDST_OK) hdst__device_list_clear(&engine->list, engine->allocator);
    return status;
}

static hdst_status choose(hdst__engine *engine, hdst_error *error)
{
    if (engine->chosen) return HDST_OK;
    if (strcmp(engine->wanted, "interp") == 0) {    // must not cost the opening of a driver
        hdst__device_list_interp(&engine->interp, 0);
        engine->chosen = &engine->interp;
        return HDST_OK;
    }
    hdst_status status = discover(engine, error);
    if (status != HDST_OK) return status;
    size_t chosen, others;
    status = hdst__device_list_choose(&engine->list, engine->wanted, &chosen, &others, error);
    if (status != HDST_OK) return status;
    const hdst__device_info *info = &engine->list.info[chosen];
    if (others > 0)
        hdst__log_write(&engine->log, HDST__LOG_INFO, "device '%s' names %zu devices: taking the fastest, %u %s", engine->wanted, others + 1, info->index, info->name);
    if (info->class_ == HDST__DEVICE_INTERP && strcmp(engine->wanted, "all") == 0)
        hdst__log_write(&engine->log, HDST__LOG_WARN, "running on the interpreter, which is slow: %s",
                        engine->list.note[0] ? engine->list.note : "no OpenCL device is usable (see `hdst devices`)");
    engine->chosen = info;
    return HDST_OK;
}

hdst_status hdst__engine_open(hdst__engine *engine, hdst__device **device, hdst_error *error)
{
    hdst_status status = engine->open ? HDST_OK : choose(engine, error);
    if (engine->given_up) return hdst__given_up_before(engine->open->info->name, error);
    if (status == HDST_OK && engine->chosen->class_ != HDST__DEVICE_INTERP && hdst__driver_is_lost()) return hdst__device_lost(error);
    if (status == HDST_OK && !engine->open) {
        const hdst__device_info *info = engine->chosen;
        if (info->class_ == HDST__DEVICE_INTERP) {
            status = hdst__device_open_interp(engine, info, &engine->open, error);
        } else {
            if (!engine->has_cache) hdst__program_cache_init(&engine->cache, engine->allocator, &engine->log, engine->cache_dir);
            engine->has_cache = true;
            status = hdst__device_open_opencl(engine, info, &engine->open, error);
        }
    }
    if (status == HDST_OK) *device = engine->open;
    return status;
}

hdst_status hdst__engine_devices(hdst__engine *engine, const hdst__device_info **devices, size_t *count, const char **loader_note, hdst_error *error)
{
    pthread_mutex_lock(&engine->mutex);
    hdst_status status = discover(engine, error);
    if (status == HDST_OK) {
        *devices = engine->list.info;
        *count = engine->list.count;
        if (loader_note) *loader_note = engine->list.note[0] ? engine->list.note : NULL;
    }
    pthread_mutex_unlock(&engine->mutex);
    return status;
}

hdst_status hdst__engine_has_device(hdst__engine *engine, hdst_error *error)
{
    pthread_mutex_lock(&engine->mutex);
    hdst_status status = choose(engine, error);
    if (engine->given_up) status = hdst__given_up_before(engine->open->info->name, error);
    pthread_mutex_unlock(&engine->mutex);
    return status;
}

hdst_status hdst__engine_device(hdst__engine *engine, const hdst__device_info **device, hdst_error *error)
{
    pthread_mutex_lock(&engine->mutex);
    hdst_status status = choose(engine, error);
    if (status == HDST_OK) *device = engine->chosen;
    pthread_mutex_unlock(&engine->mutex);
    return status;
}
