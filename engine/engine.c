// SPDX-License-Identifier: Apache-2.0
// The engine object: options, discovery at first use, the choice of a device.
#include "engine/engine_state.h"
#include "base/costs_cpu.h"
#include "base/costs_gpu.h"
#include "base/costs_host.h"

#include "engine/device/backend.h"
#include "engine/device/driver_gate.h"
#include "engine/device/give_up.h"
#include "engine/memory/cached_dataset.h"
#include "engine/memory/registered.h"
#include "engine/memory/spill.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
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
    const bool has_device = copy_text(engine, &own->device), has_directory = !own->cache_dir || copy_text(engine, &own->cache_dir);
    return has_device && has_directory;
}

static void set_limits(hdst__limits *limits)
{
    *limits = (hdst__limits){
        .grace_seconds = HDST__HOST_GRACE_SECONDS, .tuning_least = HDST__GPU_TUNING_LEAST,
        .share_bytes = HDST__HOST_SHARE_BYTES, .join_seconds = HDST__HOST_JOIN_SECONDS, .sample_seconds = HDST__HOST_SAMPLE_SECONDS,
        .pick_least = HDST__GPU_PICK_LEAST, .sort_least = HDST__GPU_SORT_LEAST, .sort_large_least = HDST__GPU_SORT_LARGE_LEAST,
        .sort_sample_bytes = HDST__HOST_SORT_SAMPLE_BYTES, .sort_dealing_threads = HDST__HOST_SORT_DEALING_THREADS,
        .by_key_device_least = HDST__GPU_BY_KEY_LEAST,
        .by_key_slice_least = HDST__GPU_BY_KEY_SLICE_LEAST, .scatter_least = HDST__GPU_LEAST_SCATTERED,
        .scatter_piece = HDST__GPU_SCATTER_PIECE_BYTES, .combine_least = HDST__CPU_COMBINE_LEAST,
    };
}

static void read_number(uint64_t *number, const char *name, const char *of, const hdst__log *log)
{
    const char *text = getenv(name);
    char *end;
    if (!text || !*text) return;
    const uint64_t read = strtoull(text, &end, 10);
    if (*end || *text < '0' || *text > '9') hdst__log_write(log, HDST__LOG_WARN, "%s is '%s', not a number of %s", name, text, of);
    else *number = read;
}

// HDST_PACE=0:200,1:800: a record takes 200 nanoseconds on device 0 at least, 800 on device 1.
static void set_paces(hdst__limits *limits, const hdst__log *log)
{
    const char *text = getenv("HDST_PACE");
    for (const char *at = text ? text : ""; *at;) {
        unsigned device;
        double nanoseconds;
        int used = 0;
        const bool read = sscanf(at, "%u:%lf%n", &device, &nanoseconds, &used) == 2 && device < HDST__PACED_DEVICES && nanoseconds >= 0;
        if (read) limits->pace[device] = nanoseconds * 1e-9;
        if (read && at[used] == ',' && at[used + 1]) used++;
        else if (!read || at[used]) {
            hdst__log_write(log, HDST__LOG_WARN, "HDST_PACE is '%s', not devices and the nanoseconds of a record there, as 0:200,1:800", text);
            return;
        }
        at += used;
    }
}

// For benches and tests: HDST_SHARE_BYTES=0 has the smallest inputs shared, HDST_SLOW_DEVICE=1:4 makes device 1 take four times as long.
static void set_sharing(hdst__limits *limits, const hdst__log *log)
{
    const char *slow = getenv("HDST_SLOW_DEVICE");
    read_number(&limits->share_bytes, "HDST_SHARE_BYTES", "bytes", log);
    read_number(&limits->slice_records, "HDST_SLICE_RECORDS", "records", log);
    set_paces(limits, log);
    if (!slow || !*slow) return;
    int used = 0;
    if (sscanf(slow, "%u:%lf%n", &limits->slow_device, &limits->slow_times, &used) == 2 && !slow[used] && limits->slow_times >= 1) return;
    limits->slow_times = 0;
    hdst__log_write(log, HDST__LOG_WARN, "HDST_SLOW_DEVICE is '%s', not a device and how many times as long it takes, as 1:4", slow);
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
    runtime->timeline = options->timeline;
    runtime->progress = options->progress;
    pthread_mutex_init(&runtime->mutex, NULL);
    pthread_mutex_init(&runtime->partial.mutex, NULL);
    runtime->files.in_memory = hdst__spill_is_in_memory;
    set_limits(&engine->limits);
    set_sharing(&engine->limits, &runtime->log);
    const bool copied = copy_options(engine, options);
    runtime->threads = hdst__thread_pool_create(runtime->allocator, engine->options.threads);
    if (runtime->threads) hdst__thread_pool_record(runtime->threads, options->timeline);
    runtime->registered = hdst__registered_create(runtime->allocator, "registered memory");
    runtime->outputs = hdst__registered_create(runtime->allocator, "memory of results");
    if (copied && runtime->threads && runtime->registered && runtime->outputs) return engine;
    hdst__engine_destroy(engine);
    return NULL;
}

void hdst__engine_destroy(hdst__engine *engine)
{
    if (!engine || engine->runtime.given_up) return;
    const hdst__allocator *counting = engine->runtime.allocator;
    hdst__registered_destroy(engine->runtime.registered);
    hdst__registered_destroy(engine->runtime.outputs);
    for (uint32_t i = 0; i < engine->workers; i++) hdst__worker_destroy(&engine->worker[i]);
    hdst__thread_pool_destroy(engine->runtime.threads);
    hdst__device_list_clear(&engine->list);
    hdst__device_list_clear(&engine->interp);
    hdst__free(counting, (char *)engine->options.device);
    hdst__free(counting, (char *)engine->options.cache_dir);
    pthread_mutex_destroy(&engine->runtime.mutex);
    pthread_mutex_destroy(&engine->runtime.partial.mutex);
    hdst__allocator allocator = engine->own_allocator;      // the engine itself is freed through it
    hdst__free(&allocator, engine);
}

// --- What it lends ---

// A const engine is one whose state stays as it is: what it lends may well be used.
static hdst__engine *lent(const hdst__engine *engine) { return (hdst__engine *)engine; }

hdst__runtime *hdst__engine_runtime(const hdst__engine *engine) { return engine ? &lent(engine)->runtime : NULL; }
const hdst__allocator *hdst__engine_allocator(const hdst__engine *engine) { return engine->runtime.allocator; }
const hdst__allocator *hdst__engine_owned(const hdst__engine *engine, hdst__owner owner) { return hdst__budget_owned(&engine->runtime.memory, owner); }
hdst__budget *hdst__engine_memory(const hdst__engine *engine) { return &lent(engine)->runtime.memory; }
const hdst__cancel *hdst__engine_cancel(const hdst__engine *engine) { return engine->runtime.cancel; }
hdst__thread_pool *hdst__engine_threads(const hdst__engine *engine) { return engine->runtime.threads; }
struct hdst__registered *hdst__engine_registered(const hdst__engine *engine) { return engine->runtime.registered; }
void hdst__engine_lock(const hdst__engine *engine) { pthread_mutex_lock(&lent(engine)->runtime.mutex); }
void hdst__engine_unlock(const hdst__engine *engine) { pthread_mutex_unlock(&lent(engine)->runtime.mutex); }
const hdst__engine_options *hdst__engine_settings(const hdst__engine *engine) { return &engine->options; }
hdst__limits *hdst__engine_limits(const hdst__engine *engine) { return &lent(engine)->limits; }
hdst__ring *hdst__engine_ring(hdst__engine *engine) { return &engine->worker[0].ring; }

bool hdst__engine_given_up(const hdst__engine *engine) { return engine->runtime.given_up; }
uint64_t hdst__engine_refusals(const hdst__engine *engine) { return atomic_load(&engine->runtime.memory.refused); }

void hdst__engine_explain_memory(hdst__engine *engine, uint64_t refusals, hdst_error *error)
{
    hdst__budget_explain(&engine->runtime.memory, refusals, error);
}

void hdst__engine_look_for_fork(hdst__engine *engine)
{
    for (uint32_t i = 0; i < engine->workers; i++) {
        hdst__device *device = engine->worker[i].device;
        if (!hdst__driver_is_lost()) continue;
        engine->worker[i].has_thread = false;       // it stayed in the other process
        if (device && device->info->backend->has_driver) hdst__device_lose(device);
    }
}

// --- Discovery and choice, under the mutex ---

static hdst_status discover(hdst__engine *engine, hdst_error *error)
{
    engine->list.cpu_parts = engine->options.cpu_parts;
    return engine->list.count ? HDST_OK : hdst__backends_find(&engine->list, engine->runtime.allocator, error);
}

static void add_worker(hdst__engine *engine, const hdst__device_info *info) { hdst__worker_init(&engine->worker[engine->workers++], info); }

// Which must not cost the opening of a driver.
static hdst_status choose_interp(hdst__engine *engine, hdst_error *error)
{
    hdst_status status = hdst__backend_find(&hdst__device_interp, &engine->interp, engine->runtime.allocator, error);
    if (status == HDST_OK) add_worker(engine, engine->interp.info);
    return status;
}

static void tell_choice(const hdst__engine *engine, const hdst__device_choice *choice)
{
    const hdst__device_info *first = engine->worker[0].info;
    if (choice->left_out)
        hdst__log_write(&engine->runtime.log, HDST__LOG_WARN, "device '%s' names %zu devices: taking %zu", engine->options.device,
                        choice->count + choice->left_out, choice->count);
    if (engine->list.undivided)
        hdst__log_write(&engine->runtime.log, HDST__LOG_WARN, "a CPU device has too few compute units for %" PRIu32 " parts: it stays whole",
                        engine->options.cpu_parts);
    if (first->class_ == HDST__DEVICE_INTERP && strcmp(engine->options.device, "all") == 0)
        hdst__log_write(&engine->runtime.log, HDST__LOG_WARN, "running on the interpreter, which is slow: %s",
                        engine->list.note[0] ? engine->list.note : "no OpenCL device is usable (see `hdst devices`)");
}

static hdst_status choose(hdst__engine *engine, hdst_error *error)
{
    if (engine->workers) return HDST_OK;
    if (strcmp(engine->options.device, "interp") == 0) return choose_interp(engine, error);
    hdst_status status = discover(engine, error);
    if (status != HDST_OK) return status;
    hdst__device_choice choice;
    status = hdst__device_list_choose(&engine->list, engine->options.device, &choice, error);
    if (status != HDST_OK) return status;
    for (size_t i = 0; i < choice.count; i++) add_worker(engine, &engine->list.info[choice.at[i]]);
    tell_choice(engine, &choice);
    return HDST_OK;
}

static hdst__program_cache *program_cache(hdst__engine *engine, hdst__device_worker *worker)
{
    const hdst__allocator *allocator = hdst__engine_owned(engine, HDST__OWNER_COMPILER);
    // Without a directory, which nobody needs to be told.
    if (!worker->has_cache && engine->options.no_kernel_cache)
        worker->cache = (hdst__program_cache){.allocator = allocator, .log = &engine->runtime.log, .warned = true};
    else if (!worker->has_cache) hdst__program_cache_init(&worker->cache, allocator, &engine->runtime.log, engine->options.cache_dir);
    worker->has_cache = true;
    return &worker->cache;
}

static hdst_status open_worker(hdst__engine *engine, hdst__device_worker *worker, hdst_error *error)
{
    const hdst__device_info *info = worker->info;
    const hdst__device_list *list = info == engine->interp.info ? &engine->interp : &engine->list;
    const hdst__device_setup setup = {
        .runtime = &engine->runtime, .options = &engine->options, .limits = &engine->limits, .info = info,
        .cache = info->backend->has_driver ? program_cache(engine, worker) : NULL, .own = hdst__device_list_own(list, info),
    };
    hdst_status status = info->backend->open(&setup, &worker->device, error);
    if (status == HDST_OK) atomic_store(&engine->opened[worker - engine->worker], worker->device);
    return status;
}

static const char *given_up_name(const hdst__engine *engine)
{
    for (uint32_t i = 0; i < engine->workers; i++)
        if (engine->worker[i].device && hdst__given_up(engine->worker[i].device)) return engine->worker[i].info->name;
    return engine->worker[0].info->name;
}

static hdst_status ready(hdst__engine *engine, hdst__device_worker *worker, hdst_error *error)
{
    if (engine->runtime.given_up) return hdst__given_up_before(given_up_name(engine), error);
    if (worker->info->backend->has_driver && hdst__driver_is_lost()) return hdst__device_lost(error);
    return worker->device ? HDST_OK : open_worker(engine, worker, error);
}

hdst_status hdst__engine_open(hdst__engine *engine, hdst__device **device, hdst_error *error)
{
    hdst_status status = choose(engine, error);
    if (status == HDST_OK) status = ready(engine, &engine->worker[0], error);
    if (status == HDST_OK) *device = engine->worker[0].device;
    return status;
}

hdst__device_worker *hdst__engine_worker(hdst__engine *engine, uint32_t number, hdst_error *error)
{
    hdst__device_worker *worker = &engine->worker[number];
    return ready(engine, worker, error) == HDST_OK ? worker : NULL;
}

const hdst__device *hdst__engine_opened(const hdst__engine *engine) { return atomic_load(&engine->opened[0]); }

uint32_t hdst__engine_workers(const hdst__engine *engine) { return engine->workers; }

bool hdst__engine_alone(const hdst__engine *engine) { return engine->alone; }

void hdst__engine_set_alone(hdst__engine *engine, bool alone)
{
    hdst__engine_lock(engine);
    for (uint32_t i = 1; i < engine->workers && alone; i++)
        if (engine->worker[i].device) hdst__ring_destroy(&engine->worker[i].ring, engine->worker[i].device);
    engine->alone = alone;
    hdst__engine_unlock(engine);
}

bool hdst__engine_has_others(const hdst__engine *engine)
{
    for (uint32_t i = 1; i < engine->workers; i++)
        if (engine->worker[i].device) return true;
    return false;
}
const hdst__device_info *hdst__engine_worker_info(const hdst__engine *engine, uint32_t number) { return engine->worker[number].info; }

bool hdst__engine_has_gpu(const hdst__engine *engine)
{
    for (uint32_t i = 0; i < engine->workers; i++)
        if (engine->worker[i].info->class_ == HDST__DEVICE_GPU) return true;
    return false;
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
    if (engine->runtime.given_up) status = hdst__given_up_before(given_up_name(engine), error);
    pthread_mutex_unlock(&engine->runtime.mutex);
    return status;
}

hdst_status hdst__engine_device(hdst__engine *engine, const hdst__device_info **device, hdst_error *error)
{
    pthread_mutex_lock(&engine->runtime.mutex);
    hdst_status status = choose(engine, error);
    if (status == HDST_OK) *device = engine->worker[0].info;
    pthread_mutex_unlock(&engine->runtime.mutex);
    return status;
}

bool hdst__engine_runs_kernels(hdst__engine *engine)
{
    const hdst__device_info *device;
    return hdst__engine_device(engine, &device, NULL) == HDST_OK && device->class_ != HDST__DEVICE_INTERP;
}
