// SPDX-License-Identifier: Apache-2.0
// The launch plan of a stage: made for its function, its input and its mode, kept while these stay.
#include "engine/stage/launch_first_level.h"
#include "engine/stage/launch_fixed_point.h"
#include "engine/stage/stage.h"

void hdst__stage_drop_levels(hdst__stage *stage)
{
    for (size_t i = 0; i < HDST__FOLD_LEVELS; i++) {
        hdst__launch_plan_destroy(stage->level[i]);
        stage->level[i] = NULL;
    }
}

void hdst__stage_drop_plans(hdst__stage *stage)
{
    hdst__launch_plan_destroy(stage->plan);
    stage->plan = NULL;
    hdst__stage_drop_others(stage);
    hdst__stage_drop_levels(stage);
    if (stage->table_words) hdst__free(stage->runtime->allocator, stage->table);
    stage->table = NULL;
    stage->table_words = 0;
}

static hdst_status take_table(hdst__stage *stage, hdst_error *error)
{
    uint64_t words = stage->plan->first_level_words + stage->plan->device_words;
    // its contents come to the host by themselves
    const bool stays = stage->plan->tables && hdst__tables_are_fixed_point(stage->plan->tables) && !stage->plan->words_come_back;
    if (!stage->plan->tables || stage->plan->table->host || stays) return HDST_OK;
    stage->table = hdst__plan_table_in_place(stage->plan);
    if (stage->table) return HDST_OK;
    if (words > UINT64_MAX / 16) return hdst__budget_error(&stage->runtime->memory, UINT64_MAX / 2, "the table of results", error);
    stage->table = hdst__budget_alloc_zero(&stage->runtime->memory, HDST__OWNER_ACCUMULATORS, words * sizeof(int64_t), "the table of results", error);
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
        stage->callback.filters = own->filters;
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
    if (!cache || !cache->count) return 0;
    return cache->each ? cache->each : cache->streamed ? 0 : cache->segment[0].count;
}

enum { LEAST_PIECES = 2 };

// Those of the rest stream in pieces of the same size: 0 where nothing stays, or as large a piece has no room any more.
static uint64_t piece_records(hdst__stage *stage)
{
    hdst__dataset_cache *cache = stage->spec.cache;
    if (!cache || !cache->each || stage->shares) return 0;
    const uint64_t host = hdst__budget_left(&stage->runtime->memory), device = hdst__budget_left(&stage->device->budget);
    if (cache->segment_device_bytes > (host < device ? host : device) / LEAST_PIECES) hdst__partial_cache_release(cache);
    return cache->each;
}

// A table in fixed point's words are made for so many additions at most.
static bool plan_has_bits(const hdst__stage *stage, const hdst__launch_plan *plan)
{
    if (!plan || !plan->fixed_point_bits || !hdst__tables_are_fixed_point(plan->tables)) return true;
    return hdst__plan_fixed_point_bits(plan, stage->reader.records) >= plan->fixed_point_bits;
}

static bool has_bits(const hdst__stage *stage)
{
    bool all = plan_has_bits(stage, stage->plan);
    for (uint32_t i = 0; i < stage->other_count; i++) all &= plan_has_bits(stage, stage->others[i].plan);
    return all;
}

// Where the records of each key begin, and that each key is a row.
static bool knows_starts(const hdst__stage *stage, const hdst__stage_values *values)
{
    const uint32_t starts = stage->spec.func->params[0].starts;
    return starts && values && values->rows[starts] > 1;
}

static hdst_status make_plan(hdst__stage *stage, const hdst__stage_values *values, hdst_error *error)
{
    hdst_status status = hdst__engine_open(stage->engine, &stage->device, error);
    if (status != HDST_OK || stage->spec.kind == HDST__STAGE_FOLD_ORDERED) return status;
    hdst__dataset_cache *cache = stage->spec.cache;
    const bool shares = hdst__stage_may_share(stage, values);
    if (shares) status = hdst__stage_spread_cache(stage, error);
    if (cache && status == HDST_OK) status = hdst__dataset_cache_prepare(cache, stage->device, error);
    if (status != HDST_OK) return status;
    if (cache) stage->reader = cache->reader;
    if (shares) hdst__stage_share_input(stage);     // a cache that was laid out anew may have no room, and be read from where it comes from
    bool fold = stage->spec.kind == HDST__STAGE_FOLD;
    const uint64_t pieces = shares ? 0 : piece_records(stage);
    const bool keeps_parts = shares && hdst__stage_may_keep_parts(stage), kept_parts = stage->keeps_parts;
    if (keeps_parts) status = hdst__stage_cut_output(stage, error);
    if (status != HDST_OK) return status;
    stage->keeps_parts = keeps_parts;
    bool fits = stage->plan && shares == stage->shares && keeps_parts == kept_parts && hdst__stage_reads_all_parts(stage);
    fits = fits && (fold || (hdst__launch_plan_fits(stage->plan, values) && has_bits(stage)));
    if (fits && shares) fits = stage->passes_by || hdst__stage_ends_soon(stage) || stage->others;
    if (fits) {
        if (stage->plan->piece_records != pieces) stage->moved = true;
        stage->plan->piece_records = pieces;
        if (stage->moved) status = shares ? hdst__stage_move_first(stage, error)
                                          : hdst__launch_plan_move(stage->plan, &stage->reader, segment_records(cache), error);
        if (status == HDST_OK && stage->moved) status = hdst__stage_move_others(stage, error);
        stage->moved = status != HDST_OK;
        return status;
    }
    stage->moved = false;
    hdst__stage_drop_plans(stage);
    stage->shares = shares;
    hdst__launch_plan_request request = {
        .device = stage->device, .func = stage->skip_func ? stage->skip_func : stage->spec.func, .reader = &stage->reader, .values = values, .fold = fold,
        .most_records = segment_records(cache), .piece_records = pieces,
        .keep_output = stage->spec.keep_output && (!shares || keeps_parts) && !stage->mode.is[HDST__MODE_OUTPUT_ON_HOST],
        .shares = shares, .shares_in_place = shares && !keeps_parts && !stage->reader.open_end && !stage->spec.consumer &&
            !stage->mode.is[HDST__MODE_OUTPUT_IN_FILE] && !hdst__stage_has_odd_parts(stage),
        .passes_on = (shares && !keeps_parts) || stage->spec.consumer || stage->mode.is[HDST__MODE_OUTPUT_IN_FILE], .limit = stage->spec.limit,
        .combining = hdst__stage_combining(stage, stage->device, shares), .counts_output = stage->mode.is[HDST__MODE_COUNTED_OUTPUT],
        .makes_rows = hdst__stage_may_finish(stage) && !stage->mode.is[HDST__MODE_SUPERACCUMULATORS],
        .writes_rows = knows_starts(stage, values) && hdst__stage_may_write_rows(stage),
        .rounds_batches = stage->spec.takes_rows && !shares && !stage->mode.is[HDST__MODE_SKIP_FAILED],
        .merges_words = (shares || !stage->spec.takes_rows || stage->reader.open_end) && !stage->mode.is[HDST__MODE_SKIP_FAILED] &&
            !stage->mode.is[HDST__MODE_SUPERACCUMULATORS],
    };
    if (shares) hdst__stage_input_of(stage, 0, &request);
    status = choose_code(stage, &request, error);
    if (status == HDST_OK) status = hdst__launch_plan_create(&request, &stage->plan, error);
    if (status == HDST_OK) status = take_table(stage, error);
    if (status == HDST_OK && shares && !hdst__stage_ends_soon(stage)) status = hdst__stage_make_others(stage, &request, error);
    if (status != HDST_OK) hdst__stage_drop_plans(stage);
    return status;
}

// Whether tables of superaccumulators, one of each GPU, all of which come to the host to be merged, would be more than the input.
static bool has_large_tables(const hdst__stage *stage)
{
    const hdst__launch_plan *plan = stage->plan;
    if (!stage->shares || stage->device->unified || !plan || !plan->tables || !plan->tables->scale_count || hdst__tables_are_fixed_point(plan->tables))
        return false;
    return plan->device_words * sizeof(int64_t) > stage->reader.records * hdst__segment_record_bytes(stage->reader.record);
}

// What of cached datasets stays goes first. Several devices need more memory than one: where there is none for them, one has to do.
hdst_status hdst__stage_make_plan(hdst__stage *stage, const hdst__stage_values *values, hdst_error *error)
{
    hdst_error full = HDST_ERROR_INIT;
    hdst_status status = make_plan(stage, values, &full);
    if (status == HDST_E_MEMORY && stage->keeps_parts) {
        hdst__stage_keep_on_host(stage, full.message);
        full = (hdst_error)HDST_ERROR_INIT;
        status = make_plan(stage, values, &full);
    }
    if (status == HDST_E_MEMORY && hdst__partial_caches_release(stage->runtime)) {
        full = (hdst_error)HDST_ERROR_INIT;
        status = make_plan(stage, values, &full);
    }
    if (status == HDST_OK && has_large_tables(stage)) {
        hdst__mode_set(&stage->mode, HDST__MODE_ONE_DEVICE, "its many sums need superaccumulators, and to merge those of each device takes longer");
        status = make_plan(stage, values, &full);
    }
    if (status == HDST_E_MEMORY && stage->shares) {
        hdst__stage_run_alone(stage, full.message);
        full = (hdst_error)HDST_ERROR_INIT;
        status = make_plan(stage, values, &full);
    }
    if (status != HDST_OK && error) *error = full;
    return status;
}
