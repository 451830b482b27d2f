// SPDX-License-Identifier: Apache-2.0
// The engine object: options, discovery at first use, the choice of a device.
#include "engine/engine_state.h"
#include "base/costs_gpu.h"
#include "base/costs_host.h"

#include "engine/device/backend.h"
#include "engine/device/driver_gate.h"
#include "engine/device/give_up.h"
#include "engine/memory/registered.h"

#include <string.h>

static bool copy_text(const hdst__engine *engine, const char **text)
{
    if (*text) *text = hdst__strdup(engine->runtime.allocator, *text);
    return *text != NULL;
}

static bool copy_options(hdst__engine *engine, const hdst__engine_options *options)
{
    hdst__engine_options *own = &engine->options;
    *own = hdst__engine_options_resolve(options);
    own->allocator = NULL;
    own->log = NULL;
    if (!own->device || !*own->device) own->device = "all";
    const bool has_device = copy_text(engine, &own->device), has_directory = !own->cache_dir || copy_text(engine, &own->cache_dir);
    return has_device && has_directory;
}

static void set_limits(hdst__limits *limits)
{
    *limits = (hdst__limits){
        .grace_seconds = HDST__HOST_GRACE_SECONDS, .tuning_least = HDST__GPU_TUNING_LEAST, .sample_seconds = HDST__HOST_SAMPLE_SECONDS,
        .pick_least = HDST__GPU_PICK_LEAST, .sort_least = HDST__GPU_SORT_LEAST, .by_key_device_least = HDST__GPU_BY_KEY_LEAST,
    };
}

hdst__engine *hdst__engine_create(const hdst__engine_options *options)
{
    static const hdst__engine_options defaults = {0};
    if (!options) options = &defaults;
    hdst__engine *engine = hdst__alloc_zero(options->allocator, sizeof *engine);
    if (!engine) return NULL;
    hdst__runtime *runtime = &engine->runtime;
    if (options->allocator) engine->own_allocator = *options->allocator;
    hdst__budget_init(&runtime->memory, "host memory", "--memory", options->memory ? options->memory : hdst__host_memory_limit() / 4 * 3);
    engine->counting = hdst__budget_allocator(&runtime->memory, &engine->own_allocator);
    runtime->allocator = &engine->counting;
    if (options->log) runtime->log = *options->log;
    runtime->cancel = options->cancel;
    pthread_mutex_init(&runtime->mutex, NULL);
    set_limits(&engine->limits);
    const bool copied = copy_options(engine, options);
    runtime->threads = hdst__thread_pool_create(runtime->allocator, engine->options.threads);
    runtime->registered = hdst__registered_create(runtime->allocator);
    if (copied && runtime->threads && runtime->registered) return engine;
    hdst__engine_destroy(engine);
    return NULL;
}

void hdst__engine_destroy(hdst__engine *engine)
{
    if (!engine || engine->runtime.given_up) return;
    const hdst__allocator *counting = engine->runtime.allocator;
    hdst__registered_destroy(engine->runtime.registered);
    if (engine->open) {
        hdst__ring_destroy(&engine->ring, engine->open);
        engine->open->ops->destroy(engine->open);
    }
    hdst__thread_pool_destroy(engine->runtime.threads);
    hdst__program_cache_destroy(&engine->cache);
    hdst__device_list_clear(&engine->list);
    hdst__device_list_clear(&engine->interp);
    hdst__free(counting, (char *)engine->options.device);
    hdst__free(counting, (char *)engine->options.cache_dir);
    pthread_mutex_destroy(&engine->runtime.mutex);
    hdst__allocator allocator = engine->own_allocator;      // the engine itself is freed through it
    hdst__free(&allocator, engine);
}

// --- What it lends ---

// A const engine is one whose state stays as it is: what it lends may well be used.
static hdst__engine *lent(const hdst__engine *engine) { return (hdst__engine *)engine; }

hdst__runtime *hdst__engine_runtime(const hdst__engine *engine) { return engine ? &lent(engine)->runtime : NULL; }
const hdst__allocator *hdst__engine_allocator(const hdst__engine *engine) { return engine->runtime.allocator; }
hdst__budget *hdst__engine_memory(const hdst__engine *engine) { return &lent(engine)->runtime.memory; }
const hdst__cancel *hdst__engine_cancel(const hdst__engine *engine) { return engine->runtime.cancel; }
hdst__thread_pool *hdst__engine_threads(const hdst__engine *engine) { return engine->runtime.threads; }
struct hdst__registered *hdst__engine_registered(const hdst__engine *engine) { return engine->runtime.registered; }
void hdst__engine_lock(const hdst__engine *engine) { pthread_mutex_lock(&lent(engine)->runtime.mutex); }
void hdst__engine_unlock(const hdst__engine *engine) { pthread_mutex_unlock(&lent(engine)->runtime.mutex); }
const hdst__engine_options *hdst__engine_settings(const hdst__engine *engine) { return &engine->options; }
hdst__limits *hdst__engine_limits(const hdst__engine *engine) { return &lent(engine)->limits; }
hdst__ring *hdst__engine_ring(hdst__engine *engine) { return &engine->ring; }

bool hdst__engine_given_up(const hdst__engine *engine) { return engine->runtime.given_up; }
uint64_t hdst__engine_refusals(const hdst__engine *engine) { return atomic_load(&engine->runtime.memory.refused); }

void hdst__engine_explain_memory(hdst__engine *engine, uint64_t refusals, hdst_error *error)
{
    hdst__budget_explain(&engine->runtime.memory, refusals, error);
}

void hdst__engine_look_for_fork(hdst__engine *engine)
{
    if (engine->open && engine->open->info->backend->has_driver && hdst__driver_is_lost()) hdst__device_lose(engine->open);
}

// --- Discovery and choice, under the mutex ---

static hdst_status discover(hdst__engine *engine, hdst_error *error)
{
    return engine->list.count ? HDST_OK : hdst__backends_find(&engine->list, engine->runtime.allocator, error);
}

// Which must not cost the opening of a driver.
static hdst_status choose_interp(hdst__engine *engine, hdst_error *error)
{
    hdst_status status = hdst__backend_find(&hdst__device_interp, &engine->interp, engine->runtime.allocator, error);
    if (status == HDST_OK) engine->chosen = engine->interp.info;
    return status;
}

static hdst_status choose(hdst__engine *engine, hdst_error *error)
{
    if (engine->chosen) return HDST_OK;
    if (strcmp(engine->options.device, "interp") == 0) return choose_interp(engine, error);
    hdst_status status = discover(engine, error);
    if (status != HDST_OK) return status;
    size_t chosen, others;
    status = hdst__device_list_choose(&engine->list, engine->options.device, &chosen, &others, error);
    if (status != HDST_OK) return status;
    const hdst__device_info *info = &engine->list.info[chosen];
    if (others > 0)
        hdst__log_write(&engine->runtime.log, HDST__LOG_INFO, "device '%s' names %zu devices: taking the fastest, %u %s", engine->options.device,
                        others + 1, info->index, info->name);
    if (info->class_ == HDST__DEVICE_INTERP && strcmp(engine->options.device, "all") == 0)
        hdst__log_write(&engine->runtime.log, HDST__LOG_WARN, "running on the interpreter, which is slow: %s",
                        engine->list.note[0] ? engine->list.note : "no OpenCL device is usable (see `hdst devices`)");
    engine->chosen = info;
    return HDST_OK;
}

static hdst__program_cache *program_cache(hdst__engine *engine)
{
    if (!engine->has_cache) hdst__program_cache_init(&engine->cache, engine->runtime.allocator, &engine->runtime.log, engine->options.cache_dir);
    engine->has_cache = true;
    return &engine->cache;
}

static hdst_status open_chosen(hdst__engine *engine, hdst_error *error)
{
    const hdst__device_info *info = engine->chosen;
    const hdst__device_list *list = info == engine->interp.info ? &engine->interp : &engine->list;
    const hdst__device_setup setup = {
        .runtime = &engine->runtime, .options = &engine->options, .limits = &engine->limits, .info = info,
        .cache = info->backend->has_driver ? program_cache(engine) : NULL, .own = hdst__device_list_own(list, info),
    };
    return info->backend->open(&setup, &engine->open, error);
}

hdst_status hdst__engine_open(hdst__engine *engine, hdst__device **device, hdst_error *error)
{
    hdst_status status = engine->open ? HDST_OK : choose(engine, error);
    if (engine->runtime.given_up) return hdst__given_up_before(engine->open->info->name, error);
    if (status == HDST_OK && engine->chosen->backend->has_driver && hdst__driver_is_lost()) return hdst__device_lost(error);
    if (status == HDST_OK && !engine->open) status = open_chosen(engine, error);
    if (status == HDST_OK) *device = engine->open;
    return status;
}

hdst_status hdst__engine_devices(hdst__engine *engine, const hdst__device_info **devices, size_t *count, const char **loader_note, hdst_error *error)
{
    pthread_mutex_lock(&engine->runtime.mutex);
    hdst_status status = discover(engine, error);
    if (status == HDST_OK) {
        *devices = engine->list.info;
        *count = engine->list.count;
        if (loader_note) *loader_note = engine->list.note[0] ? engine->list.note : NULL;
    }
    pthread_mutex_unlock(&engine->runtime.mutex);
    return status;
}

hdst_status hdst__engine_has_device(hdst__engine *engine, hdst_error *error)
{
    pthread_mutex_lock(&engine->runtime.mutex);
    hdst_status status = choose(engine, error);
    if (engine->runtime.given_up) status = hdst__given_up_before(engine->open->info->name, error);
    pthread_mutex_unlock(&engine->runtime.mutex);
    return status;
}

hdst_status hdst__engine_device(hdst__engine *engine, const hdst__device_info **device, hdst_error *error)
{
    pthread_mutex_lock(&engine->runtime.mutex);
    hdst_status status = choose(engine, error);
    if (status == HDST_OK) *device = engine->chosen;
    pthread_mutex_unlock(&engine->runtime.mutex);
    return status;
}
