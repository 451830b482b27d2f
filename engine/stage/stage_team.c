// SPDX-License-Identifier: Apache-2.0
// A run of a stage by several workers. Each runs its own plan over the shares that the schedule gives it, on its own thread; what they computed is merged
// (stage_merge.c), their output is put in order on the host (assembly.h).
#include "base/costs_gpu.h"
#include "codegen/ir/fold_tree.h"
#include "engine/stage/launch_power.h"
#include "engine/stage/stage_share.h"
#include "engine/worker.h"

#include <inttypes.h>

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
    hdst__store *store = other->output.store;
    other->status = hdst__stage_begin_part(store, plan, &other->error);
    if (other->status == HDST_OK)
        other->status = hdst__launch_plan_run(plan, other->values, hdst__stage_resident_part(other->stage, other->number), &other->worker->ring, &other->output,
                                          other->table, &other->stats, &other->failure, &other->error);
    if (other->status == HDST_OK && store) other->status = hdst__store_end(store, &other->error);
    other->lost = other->status == HDST_E_DRIVER && plan->team->survives;
    if (!other->lost) end_with(plan->team, other->status, other->failure);
}

static void begin_others(hdst__stage *stage)
{
    for (uint32_t i = 0; i < stage->other_count; i++) stage->others[i].stats = (hdst__run_stats){.device_count = 1};
}

// A small table comes to the host with its worker's last slice, as the first one's device gets it from there sooner than when it is asked for by itself.
static bool comes_with_slices(const hdst__stage *stage)
{
    return !stage->scatters && stage->plan->device_words * sizeof(int64_t) <= HDST__GPU_MOST_WITH_SLICES;
}

static void start_others(hdst__stage *stage, const hdst__stage_values *values, hdst__team *team)
{
    for (uint32_t i = 0, number = 1; i < stage->other_count; i++) {
        hdst__stage_worker *other = &stage->others[i];
        if (!other->plan) continue;
        const uint32_t in_schedule = number++;
        if (other->lost) continue;
        other->plan->team = team;
        other->plan->worker = in_schedule;
        other->plan->finished = NULL;
        other->plan->table_stays = stage->plan->table_stays && !other->plan->device->unified && other->plan->table->host && !comes_with_slices(stage);
        other->values = values;
        other->failure = UINT64_MAX;
        other->error = (hdst_error)HDST_ERROR_INIT;
        hdst__output_init(&other->output, stage->output.allocator, stage->output.budget, stage->output.record_bytes);
        other->output.store = hdst__stage_kept_store(stage, other->number);
        hdst__stage_worker_start(other, run_plan);
        if (!other->started) end_with(team, other->status, UINT64_MAX);
    }
}

static hdst_status run_first(hdst__stage *stage, const hdst__stage_values *values, hdst__team *team, uint64_t *failure, hdst_error *error)
{
    hdst__output empty;
    hdst__output_init(&empty, stage->output.allocator, stage->output.budget, stage->output.record_bytes);
    empty.store = hdst__stage_kept_store(stage, 0);
    stage->plan->team = team;
    stage->plan->worker = 0;
    hdst_status status = hdst__stage_begin_part(empty.store, stage->plan, error);
    *failure = UINT64_MAX;
    if (status == HDST_OK)
        status = hdst__launch_plan_run(stage->plan, values, hdst__stage_resident_part(stage, 0), hdst__engine_ring(stage->engine), &empty, stage->table,
                                               &stage->stats, failure, error);
    end_with(team, status, *failure);
    if (status == HDST_OK && empty.store) status = hdst__store_end(empty.store, error);
    stage->plan->team = NULL;
    if (status == HDST_OK && team->assembly) status = hdst__assembly_give(team->assembly, true, error);
    end_with(team, status, *failure);
    return status;
}

// What one that failed did does not count.
static void add_stats(hdst__stage *stage)
{
    hdst__run_stats *stats = &stage->stats;
    stats->device_count = 1;
    for (uint32_t i = 0; i < stage->other_count; i++) {
        const hdst__stage_worker *other = &stage->others[i];
        if (!other->plan || other->lost) continue;
        hdst__run_stats_add_device(stats, &other->stats.device[0], other->worker->info->name, other->worker->info->index);
        stats->bytes_to_device += other->stats.bytes_to_device;
        stats->bytes_from_device += other->stats.bytes_from_device;
        stats->cache_hit_bytes += other->stats.cache_hit_bytes;
        stats->cache_miss_bytes += other->stats.cache_miss_bytes;
    }
}

// The error of the first worker that has one; an error that ended another's run is none of its own.
static hdst_status gather(hdst__stage *stage, hdst__team *team, hdst_status status, uint64_t *failure, hdst_error *error)
{
    for (uint32_t i = 0; i < stage->other_count; i++) {
        hdst__stage_worker *other = &stage->others[i];
        if (!other->plan) continue;
        hdst__stage_worker_wait(other);         // before it is asked how it went
        other->plan->team = NULL;
        if (status != HDST_OK || other->status == HDST_OK || other->lost) continue;
        status = other->status;
        if (error) *error = other->error;
    }
    *failure = atomic_load(&team->failure);
    for (uint32_t i = 0; i < stage->other_count; i++) {
        const hdst__launch_plan *plan = stage->others[i].plan;
        if (!plan || !plan->too_many || plan->too_many_record != *failure >> 16) continue;
        stage->plan->too_many_record = plan->too_many_record;
        stage->plan->too_many = plan->too_many;
    }
    return status;
}

bool hdst__stage_overflow_is_full(const hdst__stage *stage)
{
    bool full = stage->plan && stage->plan->overflow_is_full;
    for (uint32_t i = 0; i < stage->other_count; i++) full |= stage->others[i].plan && stage->others[i].plan->overflow_is_full;
    return full;
}

static hdst_status merge_tables(hdst__stage *stage, uint32_t others, bool begins, bool ends, hdst_error *error)
{
    if (!stage->plan->tables || hdst__stage_overflow_is_full(stage)) return HDST_OK;        // a run that is worth nothing comes again
    return hdst__stage_merge_tables(stage, others, begins, ends, error);
}

// A slice's way in and its computation run side by side with others', on every device.
// A run that ends early: output records that are wanted, from the first on; 0: all.
static uint64_t wanted_output(const hdst__stage *stage)
{
    const hdst__launch_plan *plan = stage->plan;
    return plan->tables || plan->code.fold || !plan->output_param ? 0 : stage->spec.limit;
}

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
    // In order, or nearly so; and what nobody knows the length of cannot be divided.
    if ((team->assembly && (stage->output.consumer || wanted_output(stage))) || stage->reader.open_end) job.wish = HDST__POLICY_DYNAMIC;
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

// Of a run that ends early: a record behind the end that failed does not count.
static hdst_status end_early(hdst__team *team, uint64_t *failure, bool *enough, hdst_error *error)
{
    const hdst_status status = hdst__assembly_give_wanted(team->assembly, enough, error);
    if (*enough) *failure = UINT64_MAX;
    return status;
}

// A schedule that leaves records out would be a wrong sum, and so would be an end that was not found.
static hdst_status check_all_ran(const hdst__stage *stage, hdst_error *error)
{
    const uint64_t all = hdst__reader_records(&stage->reader);
    uint64_t records = 0;
    for (uint32_t i = 0; i < stage->stats.device_count; i++) records += stage->stats.device[i].records;
    if (records == all) return HDST_OK;
    return hdst__error_set(error, HDST_E_INTERNAL, "of %" PRIu64 " records %" PRIu64 " were run", all, records);
}

static hdst_status run_round(hdst__stage *stage, const hdst__stage_values *values, hdst__team *team, uint64_t *failure, hdst_error *error)
{
    start_others(stage, values, team);
    const hdst_status status = run_first(stage, values, team, failure, error);
    return gather(stage, team, status, failure, error);
}

// What devices that failed in the last round were given: true when there is something, which those that are left do in another round, with new tables.
// What they made so far is merged first. Where a record failed, what comes before it is looked at alone.
static bool others_do_lost(hdst__stage *stage, hdst__team *team, bool *merged, hdst_status *status, hdst_error *error)
{
    const uint64_t failure = atomic_load(&team->failure);
    bool any = false;
    if (!team->survives || hdst__stage_overflow_is_full(stage)) return false;
    for (uint32_t i = 0, number = 1; i < stage->other_count && *status == HDST_OK; i++) {
        const hdst__stage_worker *other = &stage->others[i];
        if (!other->plan) continue;
        const uint32_t in_schedule = number++;
        if (!other->lost || !team->given[in_schedule].count || team->given[in_schedule].range[0].first > failure >> 16) continue;
        any = true;
        if (!hdst__team_give_back(team, in_schedule)) *status = hdst__error_memory(error, "the shares of a device that failed");
    }
    if (!any || *status != HDST_OK) return false;
    if (failure != UINT64_MAX) return true;
    *status = merge_tables(stage, stage->other_count, !*merged, false, error);
    *merged = true;
    return *status == HDST_OK;
}

// From the next run on they take no part, and explain says why.
static void leave_out_lost(hdst__stage *stage)
{
    for (uint32_t i = 0; i < stage->other_count; i++) {
        hdst__stage_worker *other = &stage->others[i];
        if (!other->lost) continue;
        hdst__log_write(&stage->runtime->log, HDST__LOG_WARN, "'%s' goes on without %s: %s", stage->spec.func->name, other->worker->info->name,
                        other->error.message);
        hdst__stage_drop_other(other);
    }
}

static hdst_status run_team(hdst__stage *stage, const hdst__stage_values *values, hdst__team *team, uint64_t *failure, hdst_error *error)
{
    const bool stays = hdst__stage_part_records(stage, 0) != UINT64_MAX;
    bool enough = false;
    hdst_status status = stays ? HDST_OK : begin_schedule(stage, team, error);
    if (status != HDST_OK) return status;
    bool merged = false;
    begin_others(stage);
    do status = run_round(stage, values, team, failure, error);
    while (status == HDST_OK && others_do_lost(stage, team, &merged, &status, error));
    if (!stays) end_schedule(stage, team);
    add_stats(stage);
    leave_out_lost(stage);
    if (status == HDST_OK && wanted_output(stage)) status = end_early(team, failure, &enough, error);
    if (status != HDST_OK || *failure != UINT64_MAX || enough) return status;
    status = check_all_ran(stage, error);
    if (status == HDST_OK && stage->keeps_parts) hdst__stage_join_parts(stage);
    return status == HDST_OK ? merge_tables(stage, stage->other_count, !merged, true, error) : status;
}

static hdst_status run_accumulators(hdst__stage *stage, const hdst__stage_values *values, hdst__team *team, uint64_t *failure, hdst_error *error)
{
    team->survives = stage->plan->tables && !stage->plan->output_param && hdst__stage_part_records(stage, 0) == UINT64_MAX;
    for (uint32_t i = 0; i < HDST__MOST_WORKERS; i++) team->given[i].allocator = stage->runtime->allocator;
    const hdst_status status = run_team(stage, values, team, failure, error);
    hdst__team_forget_shares(team);
    return status;
}

static hdst_status run_shared(hdst__stage *stage, const hdst__stage_values *values, uint64_t *failure, hdst_error *error)
{
    hdst__team team = {.failure = UINT64_MAX};
    hdst__assembly assembly;
    *failure = UINT64_MAX;
    hdst_status status = values_on_host(stage, values, error);
    if (status != HDST_OK) return status;
    if (!stage->plan->output_param || stage->keeps_parts) return run_accumulators(stage, values, &team, failure, error);
    team.assembly = &assembly;
    const bool in_place = stage->plan->way == IR_OUTPUT_DENSE && !stage->output.consumer && !stage->reader.open_end;
    const uint64_t group = stage->spec.kind == HDST__STAGE_FOLD ? HDST__FOLD_RECORDS : 1;
    status = hdst__assembly_init(&assembly, &stage->output, in_place ? group : 0, stage->reader.records, stage->plan->outputs_per_record,
                                 wanted_output(stage), error);
    if (status == HDST_OK) status = run_team(stage, values, &team, failure, error);
    if (status == HDST_OK && *failure == UINT64_MAX) status = hdst__team_give_tables(&team, &stage->output, error);
    hdst__team_end_tables(&team);
    hdst__assembly_destroy(&assembly);
    return status;
}

// Of a run to the end of an input that has an open one: that it was found.
static hdst_status check_end(const hdst__stage *stage, hdst_error *error)
{
    const bool stops = stage->plan->output_param && stage->spec.limit;
    return stage->reader.open_end && !stops ? check_all_ran(stage, error) : HDST_OK;
}

static hdst_status run_alone(hdst__stage *stage, const hdst__stage_values *values, uint64_t *failure, hdst_error *error)
{
    hdst__dataset_cache *cache = hdst__dataset_cache_stays(stage->spec.cache) ? stage->spec.cache : NULL;
    hdst__partial_destroy(stage->merged);
    stage->merged = NULL;
    hdst_status status = hdst__launch_plan_run(stage->plan, values, cache, hdst__engine_ring(stage->engine), &stage->output, stage->table, &stage->stats,
                                               failure, error);
    if (status == HDST_OK && *failure == UINT64_MAX) status = check_end(stage, error);
    // Words in fixed point are read by way of a partial only.
    const bool merges = status == HDST_OK && *failure == UINT64_MAX && stage->plan->words_come_back;
    return merges ? merge_tables(stage, 0, true, true, error) : status;
}

// A cached input of which nothing stays any more, as others want the memory, is read from where it comes from.
static void count_missed(hdst__stage *stage)
{
    hdst__run_stats *stats = &stage->stats;
    if (!stage->spec.cache || hdst__dataset_cache_stays(stage->spec.cache) || (stage->shares && hdst__stage_part_records(stage, 0) != UINT64_MAX)) return;
    for (uint32_t i = 0; i < stats->device_count; i++) stats->cache_miss_bytes += stats->device[i].records * stage->reader.record->size;
}

hdst_status hdst__stage_run_plans(hdst__stage *stage, const hdst__stage_values *values, uint64_t *failure, hdst_error *error)
{
    const bool shares = stage->shares && !stage->passes_by;
    const hdst_status status = shares ? run_shared(stage, values, failure, error) : run_alone(stage, values, failure, error);
    if (status == HDST_OK) count_missed(stage);
    return status;
}
