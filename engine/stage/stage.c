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
    if (spec->separate) hdst__callback_init(&stage->callback, runtime->threads);
    stage->reader = spec->cache ? spec->cache->reader : spec->reader;
    const ir_func *func = spec->func;
    const hdst__record *output = NULL;
    for (size_t i = 0; i < func->param_count; i++)
        if (func->params[i].kind == IR_OUTPUT) output = func->params[i].given ? func->params[i].given : func->params[i].record;
    uint64_t bytes = output ? output->size : 0;
    hdst__arena_init(&stage->skip_arena, runtime->allocator, NULL);
    hdst__output_init(&stage->output, runtime->allocator, &runtime->memory, bytes);
    hdst__output_init(&stage->partial, runtime->allocator, &runtime->memory, bytes);
    hdst__output_has_texts(&stage->output, runtime, output);
    stage->output.pins = runtime->outputs;
    stage->spec.keep_output &= !stage->output.texts_of;     // the host keeps their bytes
    hdst__output_has_texts(&stage->partial, runtime, output);
    hdst__store_init(&stage->store, runtime, output);
    hdst__stage_spill_init(stage);
    pthread_mutex_lock(&runtime->mutex);
    stage->next = runtime->stages;
    if (stage->next) stage->next->previous = stage;
    runtime->stages = stage;
    pthread_mutex_unlock(&runtime->mutex);
    return stage;
}

static void unlist(const hdst__stage *stage)
{
    if (stage->previous) stage->previous->next = stage->next;
    else stage->runtime->stages = stage->next;
    if (stage->next) stage->next->previous = stage->previous;
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
    hdst__stage_forget_parts(stage);
    hdst__stage_forget_file(stage);
    pthread_mutex_unlock(&runtime->mutex);
}

void hdst__stage_forget_plan(hdst__stage *stage)
{
    pthread_mutex_lock(&stage->runtime->mutex);
    hdst__stage_drop_plans(stage);
    pthread_mutex_unlock(&stage->runtime->mutex);
}

bool hdst__stages_forget_plans(hdst__runtime *runtime)
{
    bool some = false;
    if (runtime->given_up) return false;
    pthread_mutex_lock(&runtime->mutex);
    for (hdst__stage *stage = runtime->stages; stage; stage = stage->next) {
        some |= stage->plan != NULL;
        hdst__stage_drop_plans(stage);
    }
    pthread_mutex_unlock(&runtime->mutex);
    return some;
}

void hdst__stage_destroy(hdst__stage *stage)
{
    if (!stage) return;
    hdst__runtime *runtime = stage->runtime;
    pthread_mutex_lock(&runtime->mutex);
    unlist(stage);
    hdst__stage_drop_plans(stage);
    if (stage->input.reader.fill) hdst__shared_reader_destroy(&stage->input);
    if (stage->spec.separate && !runtime->given_up) hdst__callback_destroy(&stage->callback);
    hdst__output_destroy(&stage->output);
    hdst__output_destroy(&stage->partial);
    hdst__free(runtime->allocator, stage->pair);
    hdst__arena_destroy(&stage->skip_arena);
    hdst__store_release(&stage->store);
    hdst__stage_release_parts(stage);
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

static uint64_t number_of(const hdst__dataset_cache *cache) { return cache ? cache->number : 0; }

static bool same_input(const hdst__stage *stage, const hdst__reader *reader, const hdst__dataset_cache *cache)
{
    const hdst__reader *now = &stage->reader;
    return stage->spec.cache == cache && stage->cache_number == number_of(cache) && now->fill == reader->fill && now->user == reader->user &&
        now->records == reader->records;
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
        stage->cache_number = number_of(cache);
        stage->moved = true;
        hdst__stage_drop_levels(stage);
    }
    pthread_mutex_unlock(&stage->runtime->mutex);
    return HDST_OK;
}

void hdst__stage_keep_output(hdst__stage *stage)
{
    pthread_mutex_lock(&stage->runtime->mutex);
    if (!stage->spec.keep_output && !stage->output.texts_of) {
        stage->spec.keep_output = true;
        if (stage->plan && !stage->shares) stage->plan->keep_output = stage->moved = true;     // slices and their room are chosen again
    }
    pthread_mutex_unlock(&stage->runtime->mutex);
}

void hdst__stage_keep_table(hdst__stage *stage)
{
    pthread_mutex_lock(&stage->runtime->mutex);
    if (stage->spec.takes_rows) hdst__stage_drop_plans(stage);     // tables in fixed point are made for who takes them
    stage->spec.takes_rows = false;
    pthread_mutex_unlock(&stage->runtime->mutex);
}

void hdst__stage_fold_first_level(hdst__stage *stage, uint64_t before)
{
    pthread_mutex_lock(&stage->runtime->mutex);
    stage->spec.first_level = true;
    stage->spec.before = before;
    pthread_mutex_unlock(&stage->runtime->mutex);
}

void hdst__stage_end_early(hdst__stage *stage, uint64_t limit)
{
    pthread_mutex_lock(&stage->runtime->mutex);
    stage->spec.limit = limit;
    if (stage->plan) stage->plan->limit = limit;
    for (uint32_t i = 0; i < stage->other_count; i++)
        if (stage->others[i].plan) stage->others[i].plan->limit = limit;
    pthread_mutex_unlock(&stage->runtime->mutex);
}

hdst_status hdst__stage_prepare(hdst__stage *stage, const hdst__stage_values *values, hdst_error *error)
{
    pthread_mutex_lock(&stage->runtime->mutex);
    hdst_status status = hdst__stage_make_plan(stage, values, error);
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
    uint64_t cells = cells_of(plan), records = 0, slices = 0, blocks = plan->items;
    for (uint32_t i = 0; i < stats->device_count; i++) records += stats->device[i].records, slices += stats->device[i].slices;
    const bool dense = plan->way == IR_OUTPUT_DENSE || (plan->way == IR_OUTPUT_BOUNDED && !plan->func->emits);
    if (!plan->tables && dense) return;
    if (!plan->tables) {        // what a filter or flat_map lets through meets nothing on the way up
        const uint64_t out = stage->stores ? hdst__stage_stored(stage)->reader.records : stage->output.count;
        hdst__levels_count(stats, HDST__HPR_CLUSTER, records, out, out);
        return;
    }
    if (plan->kernel && !plan->kernel->one_group_per_strip) blocks = plan->items / plan->kernel->local_size;
    bool has_blocks = plan->private_words > 0 && plan->kernel && !hdst__tables_are_fixed_point(plan->tables);
    hdst__levels_count(stats, hdst__engine_settings(stage->engine)->hpr, records, has_blocks ? blocks * slices * cells : records, cells);
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
    stage->stats = (hdst__run_stats){.records = hdst__reader_records(&stage->reader), .device_count = 1, .fast_sums = kernel ? kernel->fast_sums : 0};
    snprintf(stage->stats.device[0].name, sizeof stage->stats.device[0].name, "%s", stage->device->info->name);
}

static hdst_status run(hdst__stage *stage, const hdst__stage_values *values, hdst__stage_output *output, hdst_error *error)
{
    double start = hdst__now();
    hdst__launch_plan *before = stage->plan;
    hdst_status status = hdst__stage_make_plan(stage, values, error);
    if (status != HDST_OK) return status;
    start_stats(stage);
    stage->expected_seconds = hdst__stage_expected_seconds(stage);
    if (stage->plan && stage->plan != before) stage->stats.compile_seconds = stage->plan->compile_seconds;
    double begin = hdst__now();
    status = hdst__stage_run_in_modes(stage, values, error);
    hdst__progress_end(stage->runtime->progress);
    double end = hdst__now();
    stage->stats.run_seconds = end - begin - stage->stats.read_seconds;
    stage->stats.total_seconds = end - start;
    stage->stats.records = hdst__reader_records(&stage->reader);
    if (status != HDST_OK) return status;
    count_levels(stage);
    const hdst__memory *table = stage->plan ? stage->plan->table : NULL;
    *output = (hdst__stage_output){
        .partial = stage->merged, .table = stage->finishes || stage->merged ? NULL : table && table->host ? table->host : stage->table,
        .tables = stage->plan ? stage->plan->tables : NULL, .scale = stage->plan ? stage->plan->scale : NULL,
        .records = stage->output.records, .record_count = stage->output.count, .texts = stage->output.texts,
    };
    if (output->table && output->tables->first_level) output->first_level = hdst__first_level_of(output->tables, stage->plan->rows, output->table,
                                                                                                 stage->plan->scale);
    if (stage->mode.is[HDST__MODE_OUTPUT_IN_FILE] && !stage->stores) {
        status = hdst__stage_map_file(stage, error);
        output->records = stage->mapped;
    }
    if (stage->stores) {
        output->records = NULL;
        output->resident = hdst__stage_stored(stage);
        output->reader = output->resident->reader;
        output->record_count = output->reader.records;
    }
    return status;
}

hdst_status hdst__stage_run(hdst__stage *stage, const hdst__stage_values *values, hdst__stage_output *output, hdst_error *error)
{
    pthread_mutex_lock(&stage->runtime->mutex);
    const double begin = hdst__timeline_begin(stage->runtime->timeline);
    hdst_status status = run(stage, values, output, error);
    if (status == HDST_OK) hdst__stage_join_note(stage);
    hdst__timeline_end(stage->runtime->timeline, begin, "stage", stage->spec.func->name, hdst__reader_records(&stage->reader));
    if (stage->device) hdst__device_count_memory(stage->device);
    pthread_mutex_unlock(&stage->runtime->mutex);
    return status;
}
