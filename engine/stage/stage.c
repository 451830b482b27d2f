// SPDX-License-Identifier: Apache-2.0
// Stages: a function, an input and what is bound to it. Compiled at the first run, run as often as one likes.
#include "engine/stage/stage.h"

#include "engine/common/run_stats.h"
#include "engine/stage/launch_fixed_point.h"
#include "base/clock.h"
#include "accum/first_level.h"

#include <stdio.h>
#include <string.h>

hdst__stage *hdst__stage_create(hdst__engine *engine, const hdst__stage_spec *spec)
{
    hdst__runtime *runtime = hdst__engine_runtime(engine);
    hdst__stage *stage = hdst__alloc_zero(runtime->allocator, sizeof *stage);
    if (!stage) return NULL;
    stage->engine = engine;
    stage->runtime = runtime;
    stage->spec = *spec;
    if (spec->separate) hdst__callback_init(&stage->callback, NULL, NULL, 1);
    stage->reader = spec->cache ? spec->cache->reader : spec->reader;
    const ir_func *func = spec->func;
    const hdst__record *output = NULL;
    for (size_t i = 0; i < func->param_count; i++)
        if (func->params[i].kind == IR_OUTPUT) output = func->params[i].record;
    uint64_t bytes = output ? output->size : 0;
    hdst__arena_init(&stage->skip_arena, runtime->allocator, NULL);
    hdst__output_init(&stage->output, runtime->allocator, &runtime->memory, bytes);
    hdst__output_init(&stage->partial, runtime->allocator, &runtime->memory, bytes);
    hdst__store_init(&stage->store, runtime, output);
    hdst__stage_spill_init(stage);
    return stage;
}

static void drop_levels(hdst__stage *stage)
{
    for (size_t i = 0; i < HDST__FOLD_LEVELS; i++) {
        hdst__launch_plan_destroy(stage->level[i]);
        stage->level[i] = NULL;
    }
}

static void drop_plans(hdst__stage *stage)
{
    hdst__launch_plan_destroy(stage->plan);
    stage->plan = NULL;
    drop_levels(stage);
    hdst__free(stage->runtime->allocator, stage->table);
    stage->table = NULL;
    stage->table_words = 0;
}

void hdst__stage_forget(hdst__stage *stage)
{
    hdst__runtime *runtime = stage->runtime;
    pthread_mutex_lock(&runtime->mutex);
    const hdst__record *record = stage->store.cache.reader.record;
    hdst__output_destroy(&stage->output);
    hdst__output_destroy(&stage->partial);
    hdst__store_release(&stage->store);
    hdst__store_init(&stage->store, runtime, record);
    hdst__stage_forget_file(stage);
    pthread_mutex_unlock(&runtime->mutex);
}

void hdst__stage_forget_plan(hdst__stage *stage)
{
    pthread_mutex_lock(&stage->runtime->mutex);
    drop_plans(stage);
    pthread_mutex_unlock(&stage->runtime->mutex);
}

void hdst__stage_destroy(hdst__stage *stage)
{
    if (!stage) return;
    hdst__runtime *runtime = stage->runtime;
    pthread_mutex_lock(&runtime->mutex);
    drop_plans(stage);
    if (stage->spec.separate && !runtime->given_up) hdst__callback_destroy(&stage->callback);
    hdst__output_destroy(&stage->output);
    hdst__output_destroy(&stage->partial);
    hdst__free(runtime->allocator, stage->pair);
    hdst__arena_destroy(&stage->skip_arena);
    hdst__store_release(&stage->store);
    hdst__stage_forget_file(stage);
    hdst__stage_finish_release(stage);
    pthread_mutex_unlock(&runtime->mutex);
    hdst__free(runtime->allocator, stage);
}

const void *hdst__stage_failed_pair(const hdst__stage *stage)
{
    return stage->pair;
}

const hdst__run_stats *hdst__stage_stats(const hdst__stage *stage)
{
    return &stage->stats;
}

// --- Preparing ---

static bool same_input(const hdst__stage *stage, const hdst__reader *reader, const hdst__dataset_cache *cache)
{
    const hdst__reader *now = &stage->reader;
    return stage->spec.cache == cache && now->fill == reader->fill && now->user == reader->user && now->records == reader->records;
}

hdst_status hdst__stage_set_input(hdst__stage *stage, const hdst__reader *reader, hdst__dataset_cache *cache, hdst_error *error)
{
    if (reader->record->size != stage->reader.record->size || reader->record->leaf_count != stage->reader.record->leaf_count ||
        reader->layout != stage->reader.layout || reader->block != stage->reader.block)
        return hdst__error_set(error, HDST_E_INTERNAL, "a stage for records of '%s' was given '%s'", stage->reader.record->name, reader->record->name);
    pthread_mutex_lock(&stage->runtime->mutex);
    if (!same_input(stage, cache ? &cache->reader : reader, cache)) {
        stage->reader = stage->spec.reader = *reader;
        if (cache) stage->reader = cache->reader;
        stage->spec.cache = cache;
        stage->moved = true;
        drop_levels(stage);
    }
    pthread_mutex_unlock(&stage->runtime->mutex);
    return HDST_OK;
}

void hdst__stage_keep_output(hdst__stage *stage)
{
    pthread_mutex_lock(&stage->runtime->mutex);
    if (!stage->spec.keep_output) {
        stage->spec.keep_output = true;
        if (stage->plan) stage->plan->keep_output = stage->moved = true;     // slices and their room are chosen again
    }
    pthread_mutex_unlock(&stage->runtime->mutex);
}

void hdst__stage_end_early(hdst__stage *stage, uint64_t enough)
{
    pthread_mutex_lock(&stage->runtime->mutex);
    stage->spec.enough = enough;
    if (stage->plan) stage->plan->enough = enough;
    pthread_mutex_unlock(&stage->runtime->mutex);
}

static hdst_status take_table(hdst__stage *stage, hdst_error *error)
{
    uint64_t words = stage->plan->front_words + stage->plan->device_words;
    if (!stage->plan->tables || stage->plan->table->host || hdst__tables_are_compact(stage->plan->tables)) return HDST_OK;      // its contents come to the host by themselves
    if (words > UINT64_MAX / 16) return hdst__budget_error(&stage->runtime->memory, UINT64_MAX / 2, "the table of results", error);
    stage->table = hdst__budget_alloc_zero(&stage->runtime->memory, words * sizeof(int64_t), "the table of results", error);
    if (!stage->table) return HDST_E_MEMORY;
    stage->table_words = words;
    return HDST_OK;
}

// The code that the program gave for the device's class, or none: then the function's body runs.
static hdst_status choose_code(hdst__stage *stage, hdst__launch_plan_request *request, hdst_error *error)
{
    if (!stage->spec.separate) return HDST_OK;
    const hdst__device_info *info = stage->device->info;
    const hdst__separate *own = &stage->spec.separate[info->class_];
    if (own->text && info->class_ != HDST__DEVICE_INTERP) {
        request->separate = own;
    } else if (own->call && (stage->device->unified || info->class_ == HDST__DEVICE_INTERP)) {
        uint32_t units = info->class_ == HDST__DEVICE_CPU ? info->compute_units : 1;
        stage->callback.call = own->call;
        stage->callback.user = own->user;
        stage->callback.threads = units;
        request->callback = &stage->callback;
    } else if (stage->spec.only_declared) {
        hdst__error_set(error, HDST_E_USAGE, "'%s' has no code for %s", stage->spec.func->name, info->name);
        hdst__error_hint(error, info->class_ == HDST__DEVICE_GPU ? "give it OpenCL C for GPUs, or a body in the kernel file"
                         : "give it a C function for this class of devices, or a body in the kernel file");
        return HDST_E_USAGE;
    }
    return HDST_OK;
}

// Records of a segment of a cached dataset; 0: the input is streamed.
static uint64_t segment_records(const hdst__dataset_cache *cache)
{
    return cache && !cache->streamed && cache->count ? cache->segment[0].count : 0;
}

// A compact table's words are made for so many additions at most.
static bool has_bits(const hdst__stage *stage)
{
    const hdst__launch_plan *plan = stage->plan;
    if (!plan->compact_bits || !hdst__tables_are_compact(plan->tables)) return true;
    return hdst__plan_compact_bits(plan, stage->reader.records) >= plan->compact_bits;
}

static hdst_status prepare(hdst__stage *stage, const hdst__stage_values *values, hdst_error *error)
{
    hdst_status status = hdst__engine_open(stage->engine, &stage->device, error);
    if (status != HDST_OK || stage->spec.kind == HDST__STAGE_FOLD_ORDERED) return status;
    hdst__dataset_cache *cache = stage->spec.cache;
    if (cache) status = hdst__dataset_cache_prepare(cache, stage->device, error);
    if (status != HDST_OK) return status;
    bool fold = stage->spec.kind == HDST__STAGE_FOLD;
    if (stage->plan && (fold || (hdst__launch_plan_fits(stage->plan, values) && has_bits(stage)))) {
        if (stage->moved) status = hdst__launch_plan_move(stage->plan, &stage->reader, segment_records(cache), error);
        stage->moved = status != HDST_OK;
        return status;
    }
    stage->moved = false;
    drop_plans(stage);
    hdst__launch_plan_request request = {
        .device = stage->device, .func = stage->skip_func ? stage->skip_func : stage->spec.func, .reader = &stage->reader, .values = values, .fold = fold,
        .most_records = segment_records(cache), .keep_output = stage->spec.keep_output && !stage->why_not[0], .passes_on = stage->spec.sink || stage->spill_why[0], .enough = stage->spec.enough,
        .makes_rows = hdst__stage_may_finish(stage) && !stage->needs_wide,
    };
    status = choose_code(stage, &request, error);
    if (status == HDST_OK) status = hdst__launch_plan_create(&request, &stage->plan, error);
    if (status == HDST_OK) status = take_table(stage, error);
    if (status != HDST_OK) drop_plans(stage);
    return status;
}

hdst_status hdst__stage_prepare(hdst__stage *stage, const hdst__stage_values *values, hdst_error *error)
{
    pthread_mutex_lock(&stage->runtime->mutex);
    hdst_status status = prepare(stage, values, error);
    pthread_mutex_unlock(&stage->runtime->mutex);
    return status;
}

// --- Running ---

static uint64_t cells_of(const hdst__launch_plan *plan)
{
    uint64_t cells = 0;
    for (size_t i = 0; plan->tables && i < plan->tables->accum_count; i++) {
        const hdst__accum *accum = &plan->tables->accum[i];
        const hdst__record *record = plan->func->params[accum->param].record;
        cells += hdst__accum_rows(accum, plan->rows) * record->elements;
    }
    return cells;
}

// A block (strip or work-group) turns records into a table, a device adds up the tables of its blocks, a node those of its devices.
static void count_accums(hdst__stage *stage)
{
    hdst__run_stats *stats = &stage->stats;
    const hdst__launch_plan *plan = stage->plan;
    uint64_t cells = cells_of(plan), records = stats->device[0].records, blocks = plan->items;
    if (!plan->tables && plan->way == HDST__OUTPUT_DENSE) return;
    if (!plan->tables) {        // what a filter or flat_map lets through meets nothing on the way up
        const uint64_t out = stage->stores ? stage->store.cache.reader.records : stage->output.count;
        hdst__levels_count(stats, HDST__HPR_CLUSTER, records, out, out);
        return;
    }
    if (plan->kernel && !plan->kernel->one_group_per_strip) blocks = plan->items / plan->kernel->local_size;
    bool has_blocks = plan->strip_words > 0 && plan->kernel && !hdst__tables_are_compact(plan->tables);
    hdst__levels_count(stats, hdst__engine_settings(stage->engine)->hpr, records, has_blocks ? blocks * stats->device[0].slices * cells : records, cells);
}

// A tree is the same whatever levels were asked for, or its bits would not be; one thread that goes from record to record has no levels below.
static void count_levels(hdst__stage *stage)
{
    const uint64_t records = stage->reader.records, groups = (records + HDST__FOLD_RECORDS - 1) / HDST__FOLD_RECORDS;
    switch (stage->spec.kind) {
    case HDST__STAGE_MAP:
        if (stage->plan) count_accums(stage);
        break;
    case HDST__STAGE_FOLD: hdst__levels_count(&stage->stats, HDST__HPR_CLUSTER, records, groups, 1); break;
    case HDST__STAGE_FOLD_ORDERED: hdst__levels_count(&stage->stats, HDST__HPR_NONE, records, records, 1); break;
    }
}

static void start_stats(hdst__stage *stage)
{
    const hdst__kernel *kernel = stage->plan ? stage->plan->kernel : NULL;
    stage->stats = (hdst__run_stats){.records = stage->reader.records, .device_count = 1, .fast_sums = kernel ? kernel->fast_sums : 0};
    snprintf(stage->stats.device[0].name, sizeof stage->stats.device[0].name, "%s", stage->device->info->name);
}

static void forget_slices(hdst__stage *stage)
{
    stage->stats.device[0].records = stage->stats.device[0].slices = 0;
}

// One pass; its records go to the store, or without one to the host.
static hdst_status pass_over(hdst__stage *stage, const hdst__stage_values *values, hdst__store *store, uint64_t *failure, hdst_error *error)
{
    hdst__dataset_cache *cache = stage->spec.cache && !stage->spec.cache->streamed ? stage->spec.cache : NULL;
    hdst__launch_plan *plan = stage->plan;
    const uint64_t expected = plan->output_param && plan->way == HDST__OUTPUT_DENSE ? stage->reader.records : 0;
    const hdst__sink *sink = !plan->output_param || store ? NULL : stage->spill_why[0] ? &stage->file_sink : stage->spec.sink;
    hdst__output_reset(&stage->output);
    stage->output.store = store;
    stage->output.sink = sink;
    hdst_status status = hdst__stage_finish_begin(stage, error);
    if (status == HDST_OK && sink) status = sink->start(sink->user, error);
    if (status != HDST_OK) return status;
    plan->finished = stage->finishes ? stage->finished_memory : NULL;
    if (!sink) status = store ? hdst__store_begin(store, stage->device, expected, error) : hdst__output_reserve(&stage->output, expected, error);
    if (status == HDST_OK) status = hdst__launch_plan_run(plan, values, cache, hdst__engine_ring(stage->engine), &stage->output, stage->table, &stage->stats, failure, error);
    if (status == HDST_OK && store) status = hdst__store_end(store, error);
    if (stage->spec.separate) {
        hdst_status called = hdst__callback_status(&stage->callback, plan->func->name, status == HDST_OK ? error : NULL);
        if (status == HDST_OK) status = called;
    }
    return status;
}

// More addends than there are spare cells did not fit the words of a compact table: from now on all its cells are wide.
static hdst_status run_wide(hdst__stage *stage, const hdst__stage_values *values, uint64_t *failure, hdst_error *error)
{
    hdst__log_write(&stage->runtime->log, HDST__LOG_INFO, "accumulators of '%s' get wide cells: addends differ too much in size", stage->spec.func->name);
    stage->needs_wide = true;
    forget_slices(stage);
    drop_plans(stage);
    hdst_status status = prepare(stage, values, error);
    if (status != HDST_OK) return status;
    stage->stats.compile_seconds += stage->plan->compile_seconds;
    return pass_over(stage, values, NULL, failure, error);
}

// Where the host has no room for records that another stage reads the stage starts again, and they go to a file, also in later runs.
static hdst_status pass_to_host(hdst__stage *stage, const hdst__stage_values *values, uint64_t *failure, hdst_error *error)
{
    hdst_error full = HDST_ERROR_INIT;
    stage->output.leaves_room = hdst__stage_may_spill(stage);
    if (!stage->output.leaves_room) return pass_over(stage, values, NULL, failure, error);
    hdst_status status = pass_over(stage, values, NULL, failure, &full);
    if (status != HDST_OK && status != HDST_E_MEMORY && error) *error = full;
    if (status != HDST_E_MEMORY) return status;
    hdst__stage_spill(stage, &full);
    forget_slices(stage);
    drop_plans(stage);
    status = prepare(stage, values, error);
    if (status != HDST_OK) return status;
    stage->stats.compile_seconds += stage->plan->compile_seconds;
    return pass_over(stage, values, NULL, failure, error);
}

// Records for another stage stay on the device. Where it has no room for them the stage starts again, and they go to the host, also in later runs.
static hdst_status run_plan(hdst__stage *stage, const hdst__stage_values *values, uint64_t *failure, hdst_error *error)
{
    stage->stores = false;
    if (stage->spec.keep_output && !stage->spec.sink && stage->plan->output_param && !stage->why_not[0]) {
        hdst_error full = HDST_ERROR_INIT;
        hdst_status status = pass_over(stage, values, &stage->store, failure, &full);
        stage->stores = status == HDST_OK;
        if (stage->stores) hdst__output_destroy(&stage->output);        // of a run before the records stayed
        if (status != HDST_OK && status != HDST_E_MEMORY && error) *error = full;
        if (status != HDST_E_MEMORY) return status;
        snprintf(stage->why_not, sizeof stage->why_not, "%.150s", full.message);
        hdst__log_write(&stage->runtime->log, HDST__LOG_WARN, "records between two stages go through the host: %s", full.message);
        hdst__store_release(&stage->store);
        forget_slices(stage);
        drop_plans(stage);          // slices need memory for their output now
        status = prepare(stage, values, error);
        if (status != HDST_OK) return status;
        stage->stats.compile_seconds += stage->plan->compile_seconds;
    }
    hdst_status status = pass_to_host(stage, values, failure, error);
    return status == HDST_OK && stage->plan->spares_are_full && *failure == UINT64_MAX ? run_wide(stage, values, failure, error) : status;
}

// The run so far is thrown away, to be made again without the records that fail.
static hdst_status start_skipping(hdst__stage *stage, const hdst__stage_values *values, const hdst_error *first, hdst_error *error)
{
    hdst_status status = hdst__stage_skip(stage, first, error);
    if (status != HDST_OK) return status;
    drop_plans(stage);
    status = prepare(stage, values, error);
    if (status != HDST_OK) return status;
    stage->stats.compile_seconds += stage->plan->compile_seconds;
    forget_slices(stage);
    return HDST_OK;
}

static hdst_status run_without_failures(hdst__stage *stage, const hdst__stage_values *values, uint64_t *failure, hdst_error *error)
{
    hdst_error first = HDST_ERROR_INIT;
    hdst_status status = hdst__launch_plan_record_error(stage->plan, values, *failure, 1, NULL, &first);
    if (status != HDST_E_RECORD) {
        if (error) *error = first;
        return status;
    }
    status = start_skipping(stage, values, &first, error);
    return status == HDST_OK ? run_plan(stage, values, failure, error) : status;
}

static hdst_status run_map(hdst__stage *stage, const hdst__stage_values *values, hdst_error *error)
{
    uint64_t failure;
    hdst_status status = run_plan(stage, values, &failure, error);
    if (status == HDST_OK && failure != UINT64_MAX && hdst__engine_settings(stage->engine)->skip_failed && !stage->skip_func)
        status = run_without_failures(stage, values, &failure, error);
    if (status == HDST_OK && failure != UINT64_MAX) status = hdst__launch_plan_record_error(stage->plan, values, failure, 1, NULL, error);
    if (status == HDST_OK && stage->skip_func) stage->stats.skipped = hdst__stage_skipped(stage);
    return status;
}

static hdst_status run_fold(hdst__stage *stage, const hdst__stage_values *values, hdst_error *error)
{
    hdst_error first = HDST_ERROR_INIT;
    hdst_status status = hdst__stage_fold(stage, &first);
    if (status == HDST_E_RECORD && hdst__engine_settings(stage->engine)->skip_failed && !stage->skip_func) {
        status = start_skipping(stage, values, &first, error);
        if (status == HDST_OK) status = hdst__stage_fold(stage, error);
    } else if (status != HDST_OK && error) {
        *error = first;
    }
    if (status == HDST_OK && stage->skip_func) stage->stats.skipped = hdst__stage_skipped(stage);
    return status;
}

static hdst_status run(hdst__stage *stage, const hdst__stage_values *values, hdst__stage_output *output, hdst_error *error)
{
    double start = hdst__now();
    hdst__launch_plan *before = stage->plan;
    hdst_status status = prepare(stage, values, error);
    if (status != HDST_OK) return status;
    start_stats(stage);
    if (stage->plan && stage->plan != before) stage->stats.compile_seconds = stage->plan->compile_seconds;
    double begin = hdst__now();
    switch (stage->spec.kind) {
    case HDST__STAGE_MAP: status = run_map(stage, values, error); break;
    case HDST__STAGE_FOLD: status = run_fold(stage, values, error); break;
    case HDST__STAGE_FOLD_ORDERED: status = hdst__stage_fold_ordered(stage, error); break;
    }
    double end = hdst__now();
    stage->stats.run_seconds = end - begin - stage->stats.read_seconds;
    stage->stats.total_seconds = end - start;
    if (status != HDST_OK) return status;
    count_levels(stage);
    const hdst__memory *table = stage->plan ? stage->plan->table : NULL;
    *output = (hdst__stage_output){
        .table = stage->finishes ? NULL : table && table->host ? table->host : stage->table, .tables = stage->plan ? stage->plan->tables : NULL, .records = stage->output.records, .record_count = stage->output.count,
    };
    if (output->table && output->tables->front) output->front = hdst__front_of(output->tables, stage->plan->rows, output->table, stage->plan->scale);
    if (stage->spill_why[0] && !stage->stores) {
        status = hdst__stage_map_file(stage, error);
        output->records = stage->mapped;
    }
    if (stage->stores) {
        output->records = NULL;
        output->record_count = stage->store.cache.reader.records;
        output->resident = &stage->store.cache;
        output->reader = stage->store.cache.reader;
    }
    return status;
}

hdst_status hdst__stage_run(hdst__stage *stage, const hdst__stage_values *values, hdst__stage_output *output, hdst_error *error)
{
    pthread_mutex_lock(&stage->runtime->mutex);
    hdst_status status = run(stage, values, output, error);
    pthread_mutex_unlock(&stage->runtime->mutex);
    return status;
}
