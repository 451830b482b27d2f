// SPDX-License-Identifier: Apache-2.0
// Stages that several workers run: which may be, the launch plans of the workers beside the first, a run of all of them. Each worker runs its own plan over
// the shares that the schedule gives it, on its own thread; what they computed is merged on the host, their output is put in order there (assembly.h).
#include "base/costs_gpu.h"
#include "engine/device/device_list.h"
#include "engine/stage/launch_power.h"
#include "engine/stage/stage.h"
#include "engine/worker.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

// --- Which may ---

// A program that names devices by their numbers wants them all.
static bool named_each(const hdst__stage *stage)
{
    const char *device = hdst__engine_settings(stage->engine)->device;
    return *device >= '0' && *device <= '9';
}

static uint64_t least_bytes(const hdst__stage *stage)
{
    const hdst__limits *limits = hdst__engine_limits(stage->engine);
    const hdst__device_class first = hdst__engine_worker_info(stage->engine, 0)->class_;
    bool mixed = false;
    for (uint32_t i = 1; i < hdst__engine_workers(stage->engine); i++) mixed |= hdst__engine_worker_info(stage->engine, i)->class_ != first;
    return mixed && !named_each(stage) ? limits->share_mixed_bytes : limits->share_bytes;
}

static const char *why_alone(const hdst__stage *stage)
{
    const uint64_t bytes = stage->reader.records * hdst__segment_record_bytes(stage->reader.record);
    const hdst__dataset_cache *cache = stage->spec.cache;
    const bool resident = cache && cache->device && !cache->streamed;
    return stage->spec.kind != HDST__STAGE_MAP ? "a reduce by a tree or in order runs on one device"
        : stage->spec.separate ? "code that the program gave apart runs on one device"
        : stage->spec.limit ? "it ends early"
        : resident ? "its input is cached on one device"
        : stage->spec.keep_output && !stage->mode.is[HDST__MODE_OUTPUT_ON_HOST] ? "its records stay on the device for the next stage"
        : bytes < least_bytes(stage) ? "its input is too small for that to pay" : NULL;
}

bool hdst__stage_may_share(hdst__stage *stage)
{
    stage->alone[0] = 0;
    if (hdst__engine_workers(stage->engine) < 2) return false;
    const char *why = why_alone(stage);
    if (why) {
        snprintf(stage->alone, sizeof stage->alone, "%s", why);
        return false;
    }
    if (stage->input.reader.fill) hdst__shared_reader_destroy(&stage->input);
    hdst__shared_reader_init(&stage->input, &stage->reader);
    return true;
}

// --- A cached input ---

// What a device is likely to do beside others, before anything was measured.
static uint64_t weight(const hdst__stage *stage, uint32_t number)
{
    const hdst__device_info *info = hdst__engine_worker_info(stage->engine, number), *first = hdst__engine_worker_info(stage->engine, 0);
    if (info->class_ != first->class_ && !named_each(stage)) return 0;      // memory of its own is far ahead of what a CPU adds
    return info->class_ == HDST__DEVICE_GPU ? (uint64_t)HDST__GPU_UNIT_WEIGHT * info->compute_units : info->compute_units;
}

// Records of each worker, by weight, cut at multiples of 64, so that the first has some.
static void cut_by_weight(const hdst__stage *stage, uint32_t workers, uint64_t *counts)
{
    const uint64_t records = stage->reader.records, unit = 64;
    uint64_t all = 0, before = 0, begin = 0;
    for (uint32_t i = 0; i < workers; i++) all += weight(stage, i);
    for (uint32_t i = 0; i < workers; i++) {
        before += weight(stage, i);
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

static hdst_status lay_out(hdst__stage *stage, const uint64_t *counts, hdst_error *error)
{
    hdst__dataset_cache *cache = stage->spec.cache;
    const uint32_t workers = hdst__engine_workers(stage->engine);
    hdst__device *devices[HDST__MOST_WORKERS] = {NULL};
    for (uint32_t i = 0; i < workers; i++) {
        hdst__device_worker *worker = counts[i] ? hdst__engine_worker(stage->engine, i, error) : NULL;
        if (counts[i] && !worker) return HDST_E_DEVICE;
        devices[i] = worker ? worker->device : stage->device;
    }
    hdst_status status = hdst__dataset_cache_spread(cache, devices, counts, workers, error);
    if (status == HDST_OK) stream_rather(cache, stage->device);
    return status;
}

// The seconds that a record took a worker in the last run, and the records that it has; 0: not measured.
static double seconds_each(const hdst__stage *stage, uint32_t number, uint64_t *records)
{
    const hdst__launch_plan *plan = number ? stage->others[number - 1].plan : stage->plan;
    const hdst__device_use *use = number ? &stage->others[number - 1].stats.device[0] : &stage->stats.device[0];
    *records = plan ? plan->reader.records : 0;
    return plan && use->records ? use->busy_seconds / (double)use->records : 0;
}

// Records of each worker so that all end together, as they were measured, if that ends sooner by more than a tenth.
static bool cut_anew(const hdst__stage *stage, uint64_t *counts)
{
    const uint32_t workers = hdst__engine_workers(stage->engine);
    double each[HDST__MOST_WORKERS], longest = 0, together = 0, before = 0;
    uint64_t records, begin = 0;
    for (uint32_t i = 0; i < workers; i++) {
        each[i] = seconds_each(stage, i, &records);
        if (records && !(each[i] > 0)) return false;
        if (records) together += 1 / each[i];
        if ((double)records * each[i] > longest) longest = (double)records * each[i];
    }
    if (longest <= HDST__HOST_EVEN * (double)stage->reader.records / together) return false;
    for (uint32_t i = 0; i < workers; i++) {
        before += each[i] > 0 ? 1 / each[i] : 0;
        uint64_t end = (uint64_t)((double)stage->reader.records * (before / together) + 32) / 64 * 64;
        if (end > stage->reader.records || i + 1 == workers) end = stage->reader.records;
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
        cut_by_weight(stage, hdst__engine_workers(stage->engine), counts);
        status = lay_out(stage, counts, error);
    } else if (cache && cache->part && stage->plan && stage->others && cache->spreads < MOST_SPREADS && cut_anew(stage, counts)) {
        hdst__dataset_cache_gather(cache);
        status = lay_out(stage, counts, error);
    }
    if (cache && stage->spreads != cache->spreads) stage->moved = true;
    if (cache) stage->spreads = cache->spreads;
    return status;
}

// The part of the cached input that lies with a worker; NULL: it is streamed.
static hdst__dataset_cache *part_of(const hdst__stage *stage, uint32_t number)
{
    const hdst__dataset_cache *cache = stage->spec.cache;
    return cache && cache->part ? cache->part[number] : NULL;
}

// What a worker reads: its part, or the input that all share.
void hdst__stage_input_of(hdst__stage *stage, uint32_t number, hdst__launch_plan_request *request)
{
    const hdst__dataset_cache *part = part_of(stage, number);
    request->whole = &stage->reader;
    request->reader = part ? &part->reader : &stage->input.shared;
    request->base = part ? part->first : 0;
    request->most_records = part && !part->streamed && part->count ? part->segment[0].count : 0;
}

static hdst__dataset_cache *resident_part(const hdst__stage *stage, uint32_t number)
{
    hdst__dataset_cache *part = part_of(stage, number);
    return part && !part->streamed ? part : NULL;
}

// --- Plans ---

static void drop_plan(hdst__stage_worker *other)
{
    hdst__launch_plan_destroy(other->plan);
    hdst__free(other->stage->runtime->allocator, other->table);
    other->plan = NULL;
    other->table = NULL;
}

void hdst__stage_drop_others(hdst__stage *stage)
{
    for (uint32_t i = 0; i < stage->other_count; i++) drop_plan(&stage->others[i]);
    hdst__free(stage->runtime->allocator, stage->others);
    stage->others = NULL;
    stage->other_count = 0;
    hdst__partial_destroy(stage->merged);
    stage->merged = NULL;
}

// As on the worker's thread: compiling takes long.
static void make_plan(void *user)
{
    hdst__stage_worker *other = user;
    hdst__timeline_name_thread(other->stage->runtime->timeline, other->worker->info->name);
    hdst__launch_plan_request request = *other->request;
    hdst__stage_input_of(other->stage, other->number, &request);
    request.device = other->worker->device;
    request.agrees_with = other->stage->plan;
    other->status = hdst__launch_plan_create(&request, &other->plan, &other->error);
    if (other->status != HDST_OK || !other->plan->tables) return;
    const uint64_t words = other->plan->first_level_words + other->plan->device_words;
    other->table = hdst__budget_alloc_zero(&other->stage->runtime->memory, HDST__OWNER_ACCUMULATORS, words * sizeof(int64_t), "the table of results",
                                           &other->error);
    if (!other->table) other->status = HDST_E_MEMORY;
}

static void start(hdst__stage_worker *other, void (*work)(void *user))
{
    other->started = hdst__worker_start(other->worker, work, other);
    if (other->started) return;
    other->status = hdst__error_set(&other->error, HDST_E_MEMORY, "no thread can be made for %s", other->worker->info->name);
}

static void wait_for(hdst__stage_worker *other)
{
    if (other->started) hdst__worker_wait(other->worker);
    other->started = false;
}

static hdst_status open_workers(hdst__stage *stage, const hdst__launch_plan_request *request, hdst_error *error)
{
    const uint32_t count = hdst__engine_workers(stage->engine) - 1;
    stage->others = hdst__alloc_zero(stage->runtime->allocator, count * sizeof *stage->others);
    if (!stage->others) return hdst__error_memory(error, "the workers of a stage");
    stage->other_count = count;
    for (uint32_t i = 0; i < count; i++) {
        hdst__stage_worker *other = &stage->others[i];
        *other = (hdst__stage_worker){.stage = stage, .request = request, .error = HDST_ERROR_INIT, .number = i + 1};
        if (part_of(stage, i + 1) && part_of(stage, i + 1)->reader.records == 0) {
            other->status = hdst__error_set(&other->error, HDST_E_UNSUPPORTED, "%s", weight(stage, i + 1) ? "the cached input is too short for all"
                                            : "it is of another kind than the first, which has the cached input");
            continue;
        }
        other->worker = hdst__engine_worker(stage->engine, i + 1, &other->error);
        other->status = other->worker ? HDST_OK : other->error.code;
    }
    return HDST_OK;
}

// A worker that cannot run the stage takes no part; one that was asked for by its number must.
static hdst_status keep_those_that_can(hdst__stage *stage, hdst_error *error)
{
    for (uint32_t i = 0; i < stage->other_count; i++) {
        hdst__stage_worker *other = &stage->others[i];
        if (other->status == HDST_OK) continue;
        drop_plan(other);
        const hdst__dataset_cache *part = part_of(stage, i + 1);
        const bool needed = part ? part->reader.records > 0 : named_each(stage);
        if (other->status == HDST_E_CANCELLED || needed) {
            if (error) *error = other->error;
            return other->status;
        }
        hdst__log_write(&stage->runtime->log, HDST__LOG_INFO, "'%s' runs without %s: %s", stage->spec.func->name,
                        hdst__engine_worker_info(stage->engine, i + 1)->name, other->error.message);
    }
    return HDST_OK;
}

hdst_status hdst__stage_make_others(hdst__stage *stage, const hdst__launch_plan_request *request, hdst_error *error)
{
    hdst_status status = open_workers(stage, request, error);
    for (uint32_t i = 0; i < stage->other_count; i++)
        if (stage->others[i].worker) start(&stage->others[i], make_plan);
    for (uint32_t i = 0; i < stage->other_count; i++) wait_for(&stage->others[i]);
    return status == HDST_OK ? keep_those_that_can(stage, error) : status;
}

static hdst_status move_plan(hdst__stage *stage, hdst__launch_plan *plan, uint32_t number, hdst_error *error)
{
    hdst__launch_plan_request request = {0};
    hdst__stage_input_of(stage, number, &request);
    plan->whole = *request.whole;
    plan->base = request.base;
    return hdst__launch_plan_move(plan, request.reader, request.most_records, error);
}

hdst_status hdst__stage_move_first(hdst__stage *stage, hdst_error *error) { return move_plan(stage, stage->plan, 0, error); }

hdst_status hdst__stage_move_others(hdst__stage *stage, hdst_error *error)
{
    hdst_status status = HDST_OK;
    for (uint32_t i = 0; i < stage->other_count && status == HDST_OK; i++)
        if (stage->others[i].plan) status = move_plan(stage, stage->others[i].plan, i + 1, error);
    return status;
}

// --- A run ---

// What a value has on a device comes to the host before another worker reads it there.
static hdst_status values_on_host(const hdst__stage *stage, const hdst__stage_values *values, hdst_error *error)
{
    const ir_func *func = stage->plan->func;
    hdst_status status = HDST_OK;
    for (size_t i = 0; i < func->param_count && status == HDST_OK; i++) {
        const void *rows;
        if (func->params[i].kind == IR_BROADCAST_TABLE) status = hdst__stage_value_on_host(values, i, &rows, error);
    }
    return status;
}

static void end_with(hdst__team *team, hdst_status status, uint64_t failure)
{
    if (status != HDST_OK) atomic_store(&team->stops, true);
    if (team->assembly && (status != HDST_OK || failure != UINT64_MAX)) hdst__assembly_end(team->assembly);
}

static void run_plan(void *user)
{
    hdst__stage_worker *other = user;
    hdst__launch_plan *plan = other->plan;
    other->status = hdst__launch_plan_run(plan, other->values, resident_part(other->stage, other->number), &other->worker->ring, &other->output,
                                          other->table, &other->stats, &other->failure, &other->error);
    end_with(plan->team, other->status, other->failure);
}

static void start_others(hdst__stage *stage, const hdst__stage_values *values, hdst__team *team)
{
    for (uint32_t i = 0, number = 1; i < stage->other_count; i++) {
        hdst__stage_worker *other = &stage->others[i];
        if (!other->plan) continue;
        other->plan->team = team;
        other->plan->worker = number++;
        other->plan->finished = NULL;
        other->values = values;
        other->stats = (hdst__run_stats){.device_count = 1};
        other->failure = UINT64_MAX;
        other->error = (hdst_error)HDST_ERROR_INIT;
        hdst__output_init(&other->output, stage->output.allocator, stage->output.budget, stage->output.record_bytes);
        start(other, run_plan);
        if (!other->started) end_with(team, other->status, UINT64_MAX);
    }
}

static hdst_status run_first(hdst__stage *stage, const hdst__stage_values *values, hdst__team *team, uint64_t *failure, hdst_error *error)
{
    hdst__output empty;
    hdst__output_init(&empty, stage->output.allocator, stage->output.budget, stage->output.record_bytes);
    stage->plan->team = team;
    stage->plan->worker = 0;
    hdst_status status = hdst__launch_plan_run(stage->plan, values, resident_part(stage, 0), hdst__engine_ring(stage->engine), &empty, stage->table,
                                               &stage->stats, failure, error);
    end_with(team, status, *failure);
    stage->plan->team = NULL;
    if (status == HDST_OK && team->assembly) status = hdst__assembly_give(team->assembly, true, error);
    end_with(team, status, *failure);
    return status;
}

static hdst_status add_table(hdst__stage *stage, const hdst__launch_plan *plan, const int64_t *words, hdst_error *error)
{
    const hdst__device_table table = {.tables = plan->tables, .rows = plan->rows, .words = words, .scale = plan->scale};
    return hdst__partial_add_device_table(stage->merged, &table, error);
}

// A worker that had no records has nothing to add.
static hdst_status merge_all(hdst__stage *stage, hdst_error *error)
{
    const hdst__launch_plan *plan = stage->plan;
    if (!plan->tables) return HDST_OK;
    if (stage->merged) hdst__partial_reset(stage->merged);
    else stage->merged = hdst__partial_create(hdst__budget_owned(&stage->runtime->memory, HDST__OWNER_ACCUMULATORS), plan->tables, plan->rows);
    if (!stage->merged) return hdst__error_memory(error, "the accumulators of several devices");
    hdst_status status = HDST_OK;
    if (stage->stats.device[0].slices) status = add_table(stage, plan, plan->table->host ? plan->table->host : stage->table, error);
    for (uint32_t i = 0; i < stage->other_count && status == HDST_OK; i++) {
        const hdst__stage_worker *other = &stage->others[i];
        if (other->plan && other->stats.device[0].slices) status = add_table(stage, other->plan, other->table, error);
    }
    return status;
}

static void name_device(const hdst__stage *stage, const hdst__device_info *info, hdst__device_use *use)
{
    const size_t length = strnlen(info->name, sizeof use->name - 24);
    bool again = false;
    memcpy(use->name, info->name, length);
    use->name[length] = 0;
    for (uint32_t i = 0; i < stage->stats.device_count; i++) again |= strcmp(stage->stats.device[i].name, use->name) == 0;
    if (again) snprintf(use->name + length, sizeof use->name - length, " (device %" PRIu32 ")", info->index);
}

static void add_stats(hdst__stage *stage, const hdst__stage_worker *other)
{
    hdst__run_stats *stats = &stage->stats;
    hdst__device_use *use = &stats->device[stats->device_count];
    if (stats->device_count == HDST__MOST_DEVICES) return;
    *use = other->stats.device[0];
    name_device(stage, other->worker->info, use);
    stats->device_count++;
    stats->bytes_to_device += other->stats.bytes_to_device;
    stats->bytes_from_device += other->stats.bytes_from_device;
}

// The error of the first worker that has one; an error that ended another's run is none of its own.
static hdst_status gather(hdst__stage *stage, hdst__team *team, hdst_status status, uint64_t *failure, hdst_error *error)
{
    stage->stats.device_count = 1;
    for (uint32_t i = 0; i < stage->other_count; i++) {
        hdst__stage_worker *other = &stage->others[i];
        if (!other->plan) continue;
        wait_for(other);
        other->plan->team = NULL;
        add_stats(stage, other);
        if (status != HDST_OK || other->status == HDST_OK) continue;
        status = other->status;
        if (error) *error = other->error;
    }
    *failure = atomic_load(&team->failure);
    return status;
}

static hdst_status merge_tables(hdst__stage *stage, hdst_error *error)
{
    const double begin = hdst__timeline_begin(stage->runtime->timeline);
    const hdst_status status = merge_all(stage, error);
    hdst__timeline_end(stage->runtime->timeline, begin, "merge accumulators", stage->plan->func->name, 0);
    return status;
}

// A slice's way in and its computation run side by side with others', on every device.
static hdst_status begin_schedule(hdst__stage *stage, hdst__team *team, hdst_error *error)
{
    hdst__plan_power_before(stage->plan);
    hdst__worker worker[HDST__MOST_WORKERS] = {{.power = &stage->plan->power, .copies_apart = true}};
    hdst__job job = {.records = stage->reader.records, .workers = 1, .worker = worker, .wish = (hdst__wish)hdst__engine_settings(stage->engine)->policy};
    for (uint32_t i = 0; i < stage->other_count; i++) {
        hdst__launch_plan *plan = stage->others[i].plan;
        if (plan) hdst__plan_power_before(plan);
        if (plan) worker[job.workers++] = (hdst__worker){.power = &plan->power, .copies_apart = true};
    }
    if (team->assembly && stage->output.consumer) job.wish = HDST__POLICY_DYNAMIC;     // in order, or nearly so
    const hdst__policy *own = hdst__engine_limits(stage->engine)->policy;
    team->policy = own ? own : hdst__policy_for(&job);
    team->schedule = team->policy->begin(&job, stage->runtime->allocator);
    return team->schedule ? HDST_OK : hdst__error_memory(error, "the schedule of a run");
}

// What the policy thought, for explain.
static void end_schedule(hdst__stage *stage, hdst__team *team)
{
    stage->shared_by = team->policy->name;
    stage->shared_seconds = team->policy->seconds(team->schedule);
    stage->left_out = team->policy->left_out(team->schedule, 0);
    for (uint32_t i = 0, number = 1; i < stage->other_count; i++)
        stage->others[i].left_out = stage->others[i].plan ? team->policy->left_out(team->schedule, number++) : NULL;
    team->policy->end(team->schedule);
}

// A schedule that leaves records out would be a wrong sum.
static hdst_status check_all_ran(const hdst__stage *stage, hdst_error *error)
{
    uint64_t records = 0;
    for (uint32_t i = 0; i < stage->stats.device_count; i++) records += stage->stats.device[i].records;
    if (records == stage->reader.records) return HDST_OK;
    return hdst__error_set(error, HDST_E_INTERNAL, "of %" PRIu64 " records several devices ran %" PRIu64, stage->reader.records, records);
}

static hdst_status run_team(hdst__stage *stage, const hdst__stage_values *values, hdst__team *team, uint64_t *failure, hdst_error *error)
{
    const bool stays = part_of(stage, 0) != NULL;
    hdst_status status = stays ? HDST_OK : begin_schedule(stage, team, error);
    if (status != HDST_OK) return status;
    start_others(stage, values, team);
    status = run_first(stage, values, team, failure, error);
    status = gather(stage, team, status, failure, error);
    if (!stays) end_schedule(stage, team);
    if (status != HDST_OK || *failure != UINT64_MAX) return status;
    status = check_all_ran(stage, error);
    return status == HDST_OK ? merge_tables(stage, error) : status;
}

hdst_status hdst__stage_run_shared(hdst__stage *stage, const hdst__stage_values *values, uint64_t *failure, hdst_error *error)
{
    hdst__team team = {.failure = UINT64_MAX};
    hdst__assembly assembly;
    *failure = UINT64_MAX;
    hdst_status status = values_on_host(stage, values, error);
    if (status != HDST_OK) return status;
    if (!stage->plan->output_param) return run_team(stage, values, &team, failure, error);
    team.assembly = &assembly;
    const bool in_place = stage->plan->way == IR_OUTPUT_DENSE && !stage->output.consumer;
    status = hdst__assembly_init(&assembly, &stage->output, in_place, stage->reader.records, error);
    if (status == HDST_OK) status = run_team(stage, values, &team, failure, error);
    hdst__assembly_destroy(&assembly);
    return status;
}

// --- Explaining ---

static void explain_left_out(const char *name, const char *reason, hdst__buffer *out)
{
    if (reason) hdst__buffer_printf(out, "  %s has had nothing: %s\n", name, reason);
}

static void explain_schedule(const hdst__stage *stage, hdst__buffer *out)
{
    if (!stage->shared_by || stage->alone[0]) return;
    hdst__buffer_printf(out, "  shares: policy %s", stage->shared_by);
    if (stage->shared_seconds > 0) hdst__buffer_printf(out, ", %.3g s expected", stage->shared_seconds);
    hdst__buffer_puts(out, "\n");
    explain_left_out(hdst__engine_worker_info(stage->engine, 0)->name, stage->left_out, out);
    for (uint32_t i = 0; i < stage->other_count; i++)
        explain_left_out(hdst__engine_worker_info(stage->engine, i + 1)->name, stage->others[i].left_out, out);
}

void hdst__stage_explain_workers(const hdst__stage *stage, hdst__buffer *out)
{
    if (stage->alone[0]) hdst__buffer_printf(out, "  other devices: not used: %s\n", stage->alone);
    for (uint32_t i = 0; i < stage->other_count; i++) {
        const hdst__stage_worker *other = &stage->others[i];
        const hdst__device_info *info = hdst__engine_worker_info(stage->engine, i + 1);
        hdst__buffer_printf(out, "  device: %u %s (%s)%s%s\n", info->index, info->name, hdst__device_class_name(info->class_),
                            other->plan ? "" : ", not used: ", other->plan ? "" : other->error.message);
    }
    explain_schedule(stage, out);
}
