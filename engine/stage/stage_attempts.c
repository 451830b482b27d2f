// SPDX-License-Identifier: Apache-2.0
// A run of a stage: attempts in one mode after another, until one ends, or with an error that no change of mode helps against. Nothing of an attempt
// was given away before it ended, so the next one begins anew. Stages that end in the first attempt, as nearly all do, pay nothing for the others.
#include "engine/stage/launch_fixed_point.h"
#include "engine/stage/stage.h"

typedef struct attempt {
    hdst_status status;
    hdst_error error;
    bool met_failure;                   // a record failed: the status is the error's about it
    bool too_many;                      // it gives more records than there is room for, or could
    bool kept_output;                   // its records were to stay on the device
} attempt;

// --- One attempt ---

// One pass; its records go to the store, or without one to the host.
static hdst_status pass_over(hdst__stage *stage, const hdst__stage_values *values, hdst__store *store, uint64_t *failure, hdst_error *error)
{
    hdst__launch_plan *plan = stage->plan;
    const uint64_t expected = plan->output_param && plan->way == IR_OUTPUT_DENSE && !stage->reader.open_end ? stage->reader.records : 0;
    const hdst__consumer *consumer = !plan->output_param || store ? NULL
        : stage->mode.is[HDST__MODE_OUTPUT_IN_FILE] ? &stage->file_consumer : stage->spec.consumer;
    hdst__output_reset(&stage->output);
    stage->output.store = store;
    stage->output.consumer = consumer;
    stage->output.settles = consumer && consumer == stage->spec.consumer && hdst__ir_gives_views(plan->func);
    hdst_status status = hdst__stage_finish_begin(stage, error);
    if (status == HDST_OK && consumer) status = consumer->start(consumer->user, error);
    if (status != HDST_OK) return status;
    plan->finished = stage->finishes && !stage->shares ? stage->finished_memory : NULL;
    plan->table_stays = stage->finishes && stage->shares;       // until the others' are added
    if (store) status = hdst__store_begin(store, stage->device, expected, error);
    else if (!consumer && !stage->keeps_parts) status = hdst__output_reserve(&stage->output, expected, error);
    if (status == HDST_OK && expected && !store && !consumer) hdst__output_pin(&stage->output);
    if (status == HDST_OK) status = hdst__stage_run_plans(stage, values, failure, error);
    if (status == HDST_OK && store) status = hdst__store_end(store, error);
    if (stage->spec.separate) {
        hdst_status called = hdst__callback_status(&stage->callback, plan->func->name, status == HDST_OK ? error : NULL);
        if (status == HDST_OK) status = called;
    }
    return status;
}

// Whether some kernel wants room for the most that its records may give.
static bool writes_at_once(const hdst__stage *stage)
{
    const hdst__launch_plan *plan = stage->plan;
    return stage->shares || (plan->kernel && plan->kernel->at_most);
}

static bool may_count(const hdst__stage *stage) { return writes_at_once(stage) && !stage->mode.is[HDST__MODE_COUNTED_OUTPUT]; }

static attempt attempt_map(hdst__stage *stage, const hdst__stage_values *values)
{
    attempt a = {.error = HDST_ERROR_INIT};
    uint64_t failure;
    a.kept_output = stage->spec.keep_output && (!stage->shares || stage->keeps_parts) && !stage->spec.consumer && stage->plan->output_param &&
                    !stage->mode.is[HDST__MODE_OUTPUT_ON_HOST];
    stage->stores = false;
    stage->output.leaves_room = !a.kept_output && hdst__stage_may_spill(stage);
    a.status = pass_over(stage, values, a.kept_output && !stage->keeps_parts ? &stage->store : NULL, &failure, &a.error);
    stage->stores = a.kept_output && a.status == HDST_OK;
    if (stage->stores) hdst__output_destroy(&stage->output);        // of a run before the records stayed
    a.met_failure = a.status == HDST_OK && failure != UINT64_MAX;
    a.too_many = a.met_failure && (failure & 0xffff) == HDST__TOO_MANY;
    if (a.too_many && may_count(stage)) a.status = HDST_E_RECORD;       // nobody is told of it yet
    else if (a.met_failure) a.status = hdst__launch_plan_record_error(stage->plan, values, failure, (hdst__covered){1, 0}, NULL, &a.error);
    return a;
}

static attempt attempt_fold(hdst__stage *stage)
{
    attempt a = {.error = HDST_ERROR_INIT};
    const bool ordered = stage->spec.kind == HDST__STAGE_FOLD_ORDERED;
    a.status = ordered ? hdst__stage_fold_ordered(stage, &a.error) : hdst__stage_fold(stage, &a.error);
    a.met_failure = a.status == HDST_E_RECORD;
    return a;
}

// --- What helps ---

// HDST__MODE_CHANGES: nothing does, or nothing is wrong.
static hdst__mode_change choose_change(const hdst__stage *stage, const attempt *a)
{
    const bool map = stage->spec.kind == HDST__STAGE_MAP;
    const bool skips = hdst__engine_settings(stage->engine)->skip_failed && stage->spec.kind != HDST__STAGE_FOLD_ORDERED;
    if (a->too_many && may_count(stage)) return HDST__MODE_COUNTED_OUTPUT;
    if (a->met_failure) return a->status == HDST_E_RECORD && skips && !stage->mode.is[HDST__MODE_SKIP_FAILED] ? HDST__MODE_SKIP_FAILED : HDST__MODE_CHANGES;
    if (a->status == HDST_E_DRIVER && stage->shares) return HDST__MODE_ONE_DEVICE;
    if (a->status == HDST_E_MEMORY && stage->shares && !a->kept_output) return HDST__MODE_ONE_DEVICE;
    if (map && a->status == HDST_E_MEMORY && a->kept_output) return HDST__MODE_OUTPUT_ON_HOST;
    if (map && a->status == HDST_E_MEMORY && hdst__stage_may_spill(stage)) return HDST__MODE_OUTPUT_IN_FILE;
    if (!map || a->status != HDST_OK || !hdst__stage_overflow_is_full(stage)) return HDST__MODE_CHANGES;
    return hdst__plan_writes_rows(stage->plan) ? HDST__MODE_TABLE_OF_WORDS : HDST__MODE_SUPERACCUMULATORS;
}

static const char differ[] = "addends differ too much in size";

static void keep_words(hdst__stage *stage)
{
    hdst__log_write(&stage->runtime->log, HDST__LOG_INFO, "rows of '%s' are made of a table of words: %s", stage->spec.func->name, differ);
    hdst__mode_set(&stage->mode, HDST__MODE_TABLE_OF_WORDS, differ);
}

static void widen(hdst__stage *stage)
{
    hdst__log_write(&stage->runtime->log, HDST__LOG_INFO, "accumulators of '%s' get superaccumulators: %s", stage->spec.func->name, differ);
    hdst__mode_set(&stage->mode, HDST__MODE_SUPERACCUMULATORS, differ);
}

// Of several devices one has failed, or has no memory. What one that failed has of a cached input is read anew.
static void go_on_alone(hdst__stage *stage, const hdst_error *why)
{
    hdst__stage_drop_plans(stage);
    if (why->code == HDST_E_DRIVER && stage->spec.cache) hdst__dataset_cache_gather(stage->spec.cache);
    hdst__stage_run_alone(stage, why->message);
}

static hdst_status change_mode(hdst__stage *stage, hdst__mode_change change, const hdst_error *why, hdst_error *error)
{
    switch (change) {
    case HDST__MODE_ONE_DEVICE: go_on_alone(stage, why); break;
    case HDST__MODE_OUTPUT_ON_HOST: hdst__stage_keep_on_host(stage, why->message); break;
    case HDST__MODE_OUTPUT_IN_FILE: hdst__stage_spill(stage, why->message); break;
    case HDST__MODE_COUNTED_OUTPUT: hdst__mode_set(&stage->mode, change, "what one record could give has no room"); break;
    case HDST__MODE_TABLE_OF_WORDS: keep_words(stage); break;
    case HDST__MODE_SUPERACCUMULATORS: widen(stage); break;
    case HDST__MODE_SKIP_FAILED: return hdst__stage_skip(stage, why, error);
    case HDST__MODE_ROUND_ON_HOST:      // is changed where an attempt begins, which goes on
    case HDST__MODE_CHANGES: break;
    }
    return HDST_OK;
}

// An attempt that is made anew counts alone.
static void forget_counts(hdst__run_stats *stats)
{
    for (uint32_t i = 0; i < stats->device_count; i++) stats->device[i].records = stats->device[i].slices = 0;
    stats->cache_hit_bytes = stats->cache_miss_bytes = 0;
}

static hdst_status prepare_anew(hdst__stage *stage, const hdst__stage_values *values, hdst_error *error)
{
    hdst__stage_drop_plans(stage);
    hdst_status status = hdst__stage_make_plan(stage, values, error);
    if (status != HDST_OK) return status;
    stage->stats.compile_seconds += stage->plan->compile_seconds;
    forget_counts(&stage->stats);
    return HDST_OK;
}

hdst_status hdst__stage_run_in_modes(hdst__stage *stage, const hdst__stage_values *values, hdst_error *error)
{
    for (bool gave_way = false;;) {
        hdst__progress_begin(stage->runtime->progress, stage->spec.func->name, stage->spec.limit || stage->reader.open_end ? 0 : stage->reader.records);
        const attempt a = stage->spec.kind == HDST__STAGE_MAP ? attempt_map(stage, values) : attempt_fold(stage);
        // There is more now. Once in a mode: an attempt keeps parts of what it reads again, and would be made for ever where even all of that is too little.
        if (a.status == HDST_E_MEMORY && !gave_way && hdst__partial_caches_release(stage->runtime)) {
            gave_way = true;
            forget_counts(&stage->stats);
            continue;
        }
        const hdst__mode_change change = choose_change(stage, &a);
        if (change == HDST__MODE_CHANGES) {
            if (a.status != HDST_OK && error) *error = a.error;
            if (a.status == HDST_OK && stage->mode.is[HDST__MODE_SKIP_FAILED]) stage->stats.skipped = hdst__stage_skipped(stage);
            return a.status;
        }
        gave_way = false;
        hdst_status status = change_mode(stage, change, &a.error, error);
        if (status == HDST_OK) status = prepare_anew(stage, values, error);
        if (status != HDST_OK) return status;
    }
}
