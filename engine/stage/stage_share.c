// SPDX-License-Identifier: Apache-2.0
// Stages that several workers run: which may be, the launch plans of the workers beside the first, and what they tell of themselves.
#include "engine/stage/stage_share.h"

#include "engine/memory/consumer.h"
#include "engine/worker.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

// --- Which may ---

static bool is_alone(const hdst__stage *stage)
{
    for (uint32_t i = 1; i < hdst__engine_workers(stage->engine); i++)
        if (hdst__stage_wants(stage, i)) return false;
    return true;
}

// Bytes of tables that have the records of the input: of these, not of what says where in them, is what there is to do.
static uint64_t table_bytes(const hdst__stage *stage, const hdst__stage_values *values)
{
    uint64_t bytes = 0;
    for (size_t i = 0; values && values->is_input && i < stage->spec.func->param_count; i++)
        if (values->is_input[i]) bytes += values->rows[i] * stage->spec.func->params[i].record->size;
    return bytes;
}

static bool is_short(const hdst__stage *stage, const hdst__stage_values *values)
{
    const uint64_t bytes = stage->reader.records * hdst__segment_record_bytes(stage->reader.record) + table_bytes(stage, values);
    return bytes < hdst__engine_limits(stage->engine)->share_bytes;
}

// A short input between long ones, as a sample of them is: the plans of all stay, of which the first runs it. Plans that have to be made anew are made for
// those who run.
static bool is_passing(const hdst__stage *stage, const hdst__stage_values *values)
{
    const bool passes = is_short(stage, values) && stage->moved;
    return passes && stage->shares && stage->plan && hdst__launch_plan_fits(stage->plan, values) && !stage->spec.cache && !stage->spec.keep_output;
}

static bool stays_on_one(const hdst__stage *stage)
{
    if (!stage->store.cache.reader.record) return false;        // it gives none: rows of accumulators are made on one, whoever shares the input
    return stage->spec.keep_output && !stage->mode.is[HDST__MODE_OUTPUT_ON_HOST] && !hdst__stage_may_keep_parts(stage);
}

enum { LEAST_UNIT = 64 };       // shares are cut at multiples of it

static bool has_few_keys(const hdst__stage *stage, const hdst__stage_values *values)
{
    return table_bytes(stage, values) && stage->reader.records <= LEAST_UNIT && !is_passing(stage, values);
}

// Also to where it is to stay, by each of several devices: of a cache whose records lie with devices as parts of its own there is nothing to copy.
static bool copies_from_device(const hdst__stage *stage)
{
    const hdst__dataset_cache *cache = stage->spec.cache;
    if (!cache) return stage->reader.on_device;
    return !cache->joined && (cache->part ? cache->source.reader.on_device : cache->reader.on_device);
}

static const char *why_alone(const hdst__stage *stage, const hdst__stage_values *values)
{
    const hdst__dataset_cache *cache = stage->spec.cache;
    const bool resident = cache && cache->device && !cache->streamed;
    return hdst__engine_alone(stage->engine) ? "there was no memory for several"
        : stage->mode.is[HDST__MODE_ONE_DEVICE] ? stage->mode.why[HDST__MODE_ONE_DEVICE]
        : stage->spec.separate ? "code that the program gave apart runs on one device"
        : stage->spec.limit && cache ? "it ends early, and of its cached input each device would have a part"
        : resident ? "its input is cached on one device"
        : copies_from_device(stage) ? "its input is copied from a device, which works on nothing else meanwhile"
        : stage->spec.kind == HDST__STAGE_FOLD && hdst__stage_has_odd_parts(stage) ? "its input lies in parts that are no whole runs of 64"
        : stays_on_one(stage) ? "its records stay on the device for the next stage"
        : stage->join.why_not[0] && is_alone(stage) ? stage->join.why_not
        : is_alone(stage) ? "a CPU beside a GPU joins it in long work on registered memory alone; name both by their indices to have it"
        : has_few_keys(stage, values) ? "it has no more than 64 records, or keys, which a device takes at once"
        : is_short(stage, values) && !is_passing(stage, values) ? "its input is too small for that to pay" : NULL;
}

bool hdst__stage_may_share(hdst__stage *stage, const hdst__stage_values *values)
{
    stage->alone[0] = 0;
    stage->passes_by = false;
    if (hdst__engine_workers(stage->engine) < 2) return false;
    const char *why = why_alone(stage, values);
    if (why) {
        snprintf(stage->alone, sizeof stage->alone, "%s", why);
        return false;
    }
    stage->passes_by = is_passing(stage, values);
    return true;
}

void hdst__stage_share_input(hdst__stage *stage)
{
    if (stage->input.reader.fill) hdst__shared_reader_destroy(&stage->input);
    hdst__shared_reader_init(&stage->input, &stage->reader);
}

bool hdst__stage_ends_soon(hdst__stage *stage)
{
    const hdst__launch_plan *plan = stage->plan;
    if (!stage->spec.limit || plan->tables || plan->code.fold) return false;
    const double each = plan->way == IR_OUTPUT_DENSE ? 1 : plan->outputs_per_record;
    const double records = each > 0 ? (double)stage->spec.limit / each : (double)stage->reader.records;
    const double bytes = records * (double)hdst__segment_record_bytes(stage->reader.record);
    if (records >= (double)stage->reader.records || bytes >= (double)hdst__engine_limits(stage->engine)->share_bytes) return false;
    snprintf(stage->alone, sizeof stage->alone, "it ends early, after about %.0f records, which are too few for that to pay", ceil(records));
    return stage->passes_by = true;
}

void hdst__stage_run_alone(hdst__stage *stage, const char *why)
{
    hdst__log_write(&stage->runtime->log, HDST__LOG_WARN, "'%s' runs on one device: %s", stage->spec.func->name, why);
    hdst__mode_set(&stage->mode, HDST__MODE_ONE_DEVICE, why);
}

// --- Plans ---

// Records that go on as they come. Several workers have tables of records only, on CPUs: rows are to be like what the consumer has so far, which is for the
// first worker's thread to ask, and the table of a GPU is emptied into the consumer.
const hdst__combining *hdst__stage_combining(const hdst__stage *stage, const hdst__device *device, bool shares)
{
    const bool goes_on = stage->spec.consumer && !stage->spec.limit && !stage->mode.is[HDST__MODE_OUTPUT_IN_FILE];
    const hdst__combining *combining = goes_on ? stage->spec.consumer->combining : NULL;
    return combining && shares && (combining->in_rows || !device->unified) ? NULL : combining;
}

void hdst__stage_drop_other(hdst__stage_worker *other)
{
    hdst__launch_plan_destroy(other->plan);
    hdst__free(other->stage->runtime->allocator, other->table);
    other->plan = NULL;
    other->table = NULL;
    other->lost = false;
}

void hdst__stage_drop_others(hdst__stage *stage)
{
    for (uint32_t i = 0; i < stage->other_count; i++) hdst__stage_drop_other(&stage->others[i]);
    hdst__free(stage->runtime->allocator, stage->others);
    stage->others = NULL;
    stage->other_count = 0;
    hdst__partial_destroy(stage->merged);
    stage->merged = NULL;
    hdst__stage_merge_release(stage);
    hdst__stage_scatter_release(stage);
}

// As on the worker's thread: compiling takes long.
static void make_plan(void *user)
{
    hdst__stage_worker *other = user;
    hdst__timeline_name_thread(other->stage->runtime->timeline, other->worker->info->name);
    hdst__launch_plan_request request = *other->request;
    hdst__stage_input_of(other->stage, other->number, &request);
    request.device = other->worker->device;
    request.combining = hdst__stage_combining(other->stage, request.device, true);
    request.agrees_with = other->stage->plan;
    other->status = hdst__launch_plan_create(&request, &other->plan, &other->error);
    if (other->status != HDST_OK || !other->plan->tables || other->plan->table->host) return;        // its memory comes to the host by itself
    const uint64_t words = other->plan->first_level_words + other->plan->device_words;
    other->table = hdst__budget_alloc_zero(&other->stage->runtime->memory, HDST__OWNER_ACCUMULATORS, words * sizeof(int64_t), "the table of results",
                                           &other->error);
    if (!other->table) other->status = HDST_E_MEMORY;
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
        const char *why = !hdst__stage_wants(stage, i + 1) ? "it costs more beside the first than it adds; name it by its index to have it"
            : hdst__stage_part_records(stage, i + 1) == 0 ? "the input, a part of which each has, is too short for all" : NULL;
        if (why) {
            other->status = hdst__error_set(&other->error, HDST_E_UNSUPPORTED, "%s", why);
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
        hdst__stage_drop_other(other);
        const uint64_t part = hdst__stage_part_records(stage, i + 1);
        const bool needed = part == UINT64_MAX ? hdst__stage_names_each(stage) : part > 0;
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
        if (stage->others[i].worker) hdst__stage_worker_start(&stage->others[i], make_plan);
    for (uint32_t i = 0; i < stage->other_count; i++) hdst__stage_worker_wait(&stage->others[i]);
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

static void explain_rows(const hdst__stage *stage, hdst__buffer *out)
{
    if (stage->scatters) {
        hdst__buffer_printf(out, "  accumulators: each device makes the rows of a part of the keys, for which it gets the others' words%s\n",
                            hdst__stage_scatters_narrow(stage) ? ", 32 bits each" : "");
        return;
    }
    hdst__buffer_printf(out, "  accumulators of the other devices are added on %s", stage->device->info->name);
    hdst__buffer_printf(out, stage->no_scatter[0] ? ", for several to make rows of them there is no room: %s\n" : "\n", stage->no_scatter);
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
    if (stage->finishes && stage->others && !stage->passes_by)
        explain_rows(stage, out);
}
