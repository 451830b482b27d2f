// SPDX-License-Identifier: Apache-2.0
// Running a plan: what changed is written, tables are cleared, slices run, a failed record is explained.
#include "codegen/interp/interp.h"
#include "codegen/opencl/kernel.h"
#include "engine/stage/built_texts.h"
#include "engine/device/driver_gate.h"
#include "engine/stage/launch_fixed_point.h"
#include "engine/stage/launch_first_level.h"
#include "engine/stage/launch_power.h"
#include "engine/stage/launch_shape.h"
#include "engine/stage/launch_strips.h"
#include "engine/stage/launch_texts.h"
#include "engine/memory/value_rows.h"
#include "engine/memory/window.h"

#include <string.h>

static hdst_status write_broadcast(hdst__launch_plan *plan, const hdst__stage_values *values, size_t i, hdst__run_stats *stats, hdst_error *error)
{
    hdst__device *device = plan->device;
    const uint64_t bytes = plan->rows[i] * plan->func->params[i].record->size;
    const void *rows;
    hdst_status status = hdst__stage_value_on_host(values, i, &rows, error);
    if (status == HDST_OK && !plan->broadcast[i])
        status = device->ops->alloc(device, HDST__MEMORY_DEVICE, HDST__OWNER_VALUES, bytes, plan->func->params[i].name, &plan->broadcast[i], error);
    if (status == HDST_OK) status = device->ops->write(device, plan->broadcast[i], 0, rows, bytes, false, error);
    if (status != HDST_OK) return status;
    plan->bound[i] = plan->broadcast[i];
    plan->version[i] = values->version[i];
    stats->bytes_to_device += bytes;
    return HDST_OK;
}

static hdst_status wrap_broadcast(hdst__launch_plan *plan, const hdst__stage_values *values, size_t i, hdst_error *error)
{
    hdst__device *device = plan->device;
    const ir_param *param = &plan->func->params[i];
    const uint64_t bytes = plan->rows[i] * param->record->size, most = device->info->max_alloc_bytes;
    const void *rows;
    char wanted[24], has[24];
    hdst_status status = hdst__stage_value_on_host(values, i, &rows, error);
    if (status != HDST_OK) return status;
    plan->bound[i] = plan->wrapped[i];
    // kernels only read it
    if (bytes <= most || device->facts.target == HDST__TARGET_INTERP) return device->ops->wrap(device, (void *)rows, bytes, plan->wrapped[i], error);
    hdst__error_set(error, HDST_E_MEMORY, "%s: '%s' has %s, a buffer may have %s", device->info->name, param->name, hdst__bytes_text(bytes, wanted),
                    hdst__bytes_text(most, has));
    hdst__error_hint(error, "--device interp has no such limit");
    return HDST_E_MEMORY;
}

static hdst_status unwrap_broadcasts(hdst__launch_plan *plan, hdst_status status, hdst_error *error)
{
    for (size_t i = 0; i < plan->func->param_count; i++) {
        if (!plan->wrapped[i] || !plan->wrapped[i]->host) continue;
        const hdst_status ended = plan->device->ops->unwrap(plan->device, plan->wrapped[i], status == HDST_OK ? error : NULL);
        if (status == HDST_OK) status = ended;
    }
    return status;
}

// Only what changed since the last run crosses to the device, and nothing of what is there.
static hdst_status bind_broadcasts(hdst__launch_plan *plan, const hdst__stage_values *values, hdst__run_stats *stats, hdst_error *error)
{
    hdst_status status = HDST_OK;
    bool writes_texts = plan->kernel && plan->kernel->text_constants && !plan->written;
    for (size_t i = 0; i < plan->func->param_count && status == HDST_OK; i++) {
        if (plan->wrapped[i]) {
            status = wrap_broadcast(plan, values, i, error);
            plan->host[i] = plan->wrapped[i]->host;
        }
        if (!plan->broadcast[i] && !plan->apart[i]) continue;
        const hdst__value_rows *resident = values->resident ? values->resident[i] : NULL;
        const bool has_texts = hdst__plan_texts_has(plan, i), is_there = resident && resident->device == plan->device && !has_texts;
        const bool writes = !is_there && !(plan->written && plan->version[i] == values->version[i]);
        plan->bound[i] = is_there ? resident->memory : plan->broadcast[i];
        writes_texts |= has_texts && writes;
        if (writes && !has_texts) status = write_broadcast(plan, values, i, stats, error);
        if (status == HDST_OK && plan->code.callback) status = hdst__stage_value_on_host(values, i, &plan->host[i], error);
    }
    if (status == HDST_OK && writes_texts) status = hdst__plan_texts_write(plan, values, stats, error);
    plan->written = status == HDST_OK;
    return status;
}

// What the last run left as it was needs no clearing.
static hdst_status clear(hdst__launch_plan *plan, hdst_error *error)
{
    hdst__device *device = plan->device;
    hdst_status status = HDST_OK;
    if (plan->checks && !plan->error_is_clean) status = device->ops->fill(device, plan->error_word, 1, UINT64_MAX, error);
    if (status == HDST_OK && plan->table && !plan->table_is_clean && !(plan->tuples && plan->reader.records && !plan->shares))
        status = plan->first_level_words ? hdst__plan_first_level_clear(plan, error) : device->ops->fill(device, plan->table, plan->device_words, 0, error);
    if (status == HDST_OK) status = hdst__plan_fixed_point_clear(plan, error);
    if (status == HDST_OK) status = hdst__plan_rows_clear(plan, error);
    plan->error_is_clean = plan->table_is_clean = plan->overflow_is_clean = plan->overflow_is_empty = false;
    return status;
}

// The next run's table is cleared behind the reading of this one's, where that goes to other memory and is never repeated.
static bool clears_ahead(const hdst__launch_plan *plan)
{
    return plan->table && !plan->tuples && !plan->table_stays && !plan->device->unified && plan->way != IR_OUTPUT_COUNTED;
}

static hdst_status prepare_ring(const hdst__launch_plan *plan, const hdst__dataset_cache *cache, hdst__ring *ring, hdst_error *error)
{
    uint64_t capacity = plan->piece->capacity, pieces = (plan->reader.records + capacity - 1) / capacity;
    const bool whole = cache && !cache->each;
    if (pieces == 0 || (whole && (plan->device->unified || cache->loaded == cache->count))) return HDST_OK;
    uint32_t count = pieces < HDST__HOST_RING_SEGMENTS ? (uint32_t)pieces : HDST__HOST_RING_SEGMENTS;
    return hdst__ring_prepare(ring, plan->device, plan->piece, whole ? 1 : count, error);
}

// Where the table goes when the caller has no place for it: memory that the device copies to quickly.
static int64_t *own_table(const hdst__launch_plan *plan)
{
    return plan->table && !plan->device->unified && !plan->table_stays ? plan->table->host : NULL;
}

static uint64_t room_of(const hdst__launch_plan *plan)
{
    const uint64_t least = plan->kernel && plan->kernel->combine_name ? plan->device->limits->combine_room : 0;
    return least && least < plan->room ? least : plan->room;
}

static uint64_t record_room(const hdst__launch_plan *plan)
{
    return plan->output_param ? hdst__record_room(plan->device, plan->output_param->record->size, room_of(plan)) : 0;
}

static bool builds_texts(const hdst__launch_plan *plan) { return plan->output_param && plan->output_param->given; }

static hdst_status run_slices(hdst__launch_plan *plan, hdst__dataset_cache *cache, hdst__ring *ring, hdst__output *output, int64_t *table,
                              hdst__run_stats *stats,
                              uint64_t *failure, bool *has_overflow_state, hdst_error *error)
{
    hdst__tuning *tuning = hdst__plan_tuning_before(plan);
    hdst_status status = tuning && plan->way == IR_OUTPUT_COUNTED ? hdst__launch_plan_slots(plan, error) : HDST_OK;
    if (status != HDST_OK) return status;
    const uint64_t spare = plan->kernel ? hdst__kernel_spare(plan->kernel, plan->items) : 0;
    hdst__power_estimate measured = {.slices = 0};
    hdst__window window = {.device = plan->device, .output = output, .spare = spare};
    hdst__built_texts built = {.output = builds_texts(plan) ? plan->output_param : NULL, .budget = &plan->device->runtime->memory};
    hdst__combined_tables combined = {.device = plan->device, .kernel = plan->kernel, .combining = plan->combining,
                                      .consumer = output ? output->consumer : NULL, .tables = plan->device->info->compute_units};
    hdst__device_rows rows = {.device = plan->device, .kernel = plan->kernel};
    hdst__pass pass = {
        .reader = &plan->reader, .cache = cache, .ring = ring, .piece = plan->piece, .last = plan->last, .program = plan->program,
        .tuning = tuning, .tries = tuning ? plan->tuning->program : NULL,
        .launch = {.broadcast = plan->bound, .values = plan->host, .rows = plan->rows, .table = plan->table, .strips = plan->strips, .factors = plan->factors,
            .scales = plan->scales, .overflow = plan->overflow, .partitions = plan->partitions, .tuples = plan->tuples,
                   .text_constants = plan->text_constants, .text_constants_host = (uint64_t)(uintptr_t)plan->text_host,
                   .error = plan->error_word, .flush = plan->flush, .batch = plan->batch, .finished = plan->finished,
                   .clears = clears_ahead(plan) && plan->kernel && plan->kernel->finish_clears,
                   .param_count = (uint32_t)plan->func->param_count,
                   .accum_count = plan->tables ? (uint32_t)plan->tables->accum_count : 0},
        .slice_least = plan->slice_least, .slice_most = plan->slice_most, .slice_seconds = hdst__plan_slice_seconds(plan),
        .slice_records = plan->device->limits->slice_records,
        .output = plan->output_param ? output : NULL, .row_bytes = plan->output_param ? plan->output_param->record->size : 0,
        .combined = plan->kernel && plan->kernel->combines ? &combined : NULL,
        .rows = plan->kernel && plan->kernel->combine_name ? &rows : NULL,
        .built = built.output ? &built : NULL, .group = plan->code.fold ? HDST__FOLD_RECORDS : 1, .way = plan->way, .room = room_of(plan),
            .runs_at = plan->kernel ? hdst__kernel_runs_at(plan->kernel, plan->items) : 0,
            .in_place = plan->in_place, .parts = plan->parts.divides ? &plan->parts : NULL, .record_room = record_room(plan),
        .limit = plan->tables || plan->code.fold ? 0 : plan->limit, .window = plan->in_window ? &window : NULL,
            .bound = plan->func->emits ? hdst__ir_emit_bound(plan->func) : 1, .checks = plan->checks,
        .table = table, .table_bytes = table ? (plan->first_level_words ? hdst__plan_first_level_back(plan) : plan->device_words) * sizeof(int64_t)
            : 0, .results = table == own_table(plan) ? plan->results : NULL,
        .overflow_state = plan->overflow ? &plan->overflow_state : NULL,
        .clear_words = clears_ahead(plan) ? plan->device_words : 0, .table_is_unused = hdst__plan_writes_rows(plan),
        .wraps = plan->team && hdst__plan_wraps_output(plan), .base = plan->base, .team = plan->team, .worker = plan->worker,
        .number = plan->worker,
        .reads_at_end = (plan->team && plan->team->schedule) || plan->reader.open_end,
        .policy = plan->team ? plan->team->policy : NULL, .schedule = plan->team ? plan->team->schedule : NULL,
        .power = &plan->power, .measured = &measured, .outputs_per_record = &plan->outputs_per_record, .stats = stats,
    };
    status = hdst__execute(plan->executor, &pass, error);
    hdst__built_texts_free(&built, plan->device->runtime->allocator);
    hdst__combined_tables_end(&combined);
    memcpy(plan->combined, (uint64_t[]){rows.made, rows.left, rows.given}, sizeof plan->combined);
    hdst__device_rows_end(&rows);
    *failure = pass.failure;
    plan->too_many_record = pass.too_many_record;
    plan->too_many = pass.too_many;
    if (status == HDST_OK && pass.failure == UINT64_MAX && !tuning) hdst__plan_power_after(plan, &measured);
    plan->table_is_clean = pass.is_clear && status == HDST_OK;
    *has_overflow_state = pass.has_overflow_state;
    const bool is_empty = hdst__reader_records(&plan->reader) == 0;
    if (status == HDST_OK && is_empty && plan->finished) return plan->device->ops->finish_table(plan->device, plan->program,
        &pass.launch, error);
    if (status == HDST_OK && table && is_empty)
        status = plan->device->ops->read(plan->device, plan->table, 0, table, pass.table_bytes, true, error);
    return status;
}

static hdst_status run(hdst__launch_plan *plan, const hdst__stage_values *values, hdst__dataset_cache *cache, hdst__ring *ring, hdst__output *output,
                       int64_t *table, hdst__run_stats *stats, uint64_t *failure, hdst_error *error)
{
    bool has_overflow_state = false;
    *failure = UINT64_MAX;
    hdst_status status = bind_broadcasts(plan, values, stats, error);
    plan->batch = hdst__plan_is_batch(plan);
    if (status == HDST_OK) status = clear(plan, error);
    if (status == HDST_OK) status = prepare_ring(plan, cache, ring, error);
    if (status == HDST_OK && cache && cache->each) hdst__partial_cache_choose(cache);
    if (status == HDST_OK) status = run_slices(plan, cache, ring, output, table && !plan->table_stays ? table : own_table(plan), stats, failure,
                                               &has_overflow_state, error);
    if (status != HDST_OK || *failure != UINT64_MAX || stats->device[0].slices == 0) {
        plan->device->ops->finish(plan->device);        // no slice was waited for, and the user's values were being copied
        plan->written = false;
        return status;
    }
    status = hdst__plan_fixed_point_check(plan, has_overflow_state, error);
    if (status == HDST_OK && !plan->table_stays) status = hdst__plan_fixed_point_read(plan, error);
    if (status != HDST_OK) return status;
    if (plan->batch && stats->device[0].slices != 1)
        return hdst__error_set(error, HDST_E_INTERNAL, "a batch of '%s' was cut into %llu slices", plan->func->name,
                               (unsigned long long)stats->device[0].slices);
    if (plan->first_level_words) status = hdst__plan_first_level_read(plan, table, error);
    if (status != HDST_OK) return status;
    if (!plan->proven) plan->proven = plan->device->ops->proven(plan->device, plan->program);
    plan->error_is_clean = true;
    hdst__plan_tuning_after(plan, stats->device[0].busy_seconds);
    return HDST_OK;
}

hdst_status hdst__launch_plan_run(hdst__launch_plan *plan, const hdst__stage_values *values, hdst__dataset_cache *cache, hdst__ring *ring, hdst__output *output,
                                  int64_t *table, hdst__run_stats *stats, uint64_t *failure, hdst_error *error)
{
    hdst__device *device = plan->device;
    hdst__driver_run_begin();
    device->function = plan->func->name;
    const double begin = hdst__timeline_begin(device->runtime->timeline);
    hdst_status status = run(plan, values, cache, ring, output, table, stats, failure, error);
    status = unwrap_broadcasts(plan, status, error);
    hdst__timeline_end(device->runtime->timeline, begin, "run slices", plan->func->name, stats->device[0].records);
    device->function = NULL;
    hdst__driver_run_end();
    return status;
}

// --- A record that failed ---

typedef struct few_records {            // host memory for a record (a fold: its run of 64) in the reader's layout, and for what comes of it
    hdst__arena arena;
    const hdst__storage *storage;
    void **buffers;
    void *output;
    hdst__text_room texts;
} few_records;

static bool make_room(few_records *few, const hdst__launch_plan *plan)
{
    jmp_buf out_of_memory;
    hdst__arena_init(&few->arena, plan->device->runtime->allocator, &out_of_memory);
    if (setjmp(out_of_memory)) return false;
    few->storage = hdst__storage_make(&few->arena, plan->reader.record, plan->reader.layout, plan->reader.block, plan->code.fold ? HDST__FOLD_RECORDS : 1);
    few->buffers = HDST__NEW_ARRAY(&few->arena, void *, few->storage->buffers);
    for (uint32_t i = 0; i < few->storage->buffers; i++) few->buffers[i] = hdst__arena_alloc(&few->arena, few->storage->buffer_bytes[i] + 64);
    if (plan->output_param && !plan->func->emits) few->output = hdst__arena_alloc(&few->arena, plan->output_param->record->size);
    few->arena.out_of_memory = NULL;
    return true;
}

typedef struct ways_to_fail {
    bool by_check;              // beside giving too much
    uint32_t emit;              // the check of all that it emits; UINT32_MAX: of none
    bool emits_apart;           // there are several
} ways_to_fail;

static bool find_ways(ir_stmt *s, void *user)
{
    ways_to_fail *w = user;
    w->by_check |= s->kind == IR_CHECK;
    if (s->kind != IR_EMIT) return true;
    w->emits_apart |= w->emit != UINT32_MAX && w->emit != s->check;
    w->emit = s->check;
    return true;
}

// What a record gives that gave too much is known from the run, if nothing else can be wrong with it.
static bool knows_number(const hdst__launch_plan *plan, uint64_t record, ways_to_fail *ways)
{
    *ways = (ways_to_fail){.emit = UINT32_MAX};
    hdst__ir_visit_stmts((ir_block *)&plan->func->body, find_ways, ways);
    return plan->too_many && plan->too_many_record == record && !ways->by_check;
}

static hdst_status tell_too_many(const hdst__launch_plan *plan, uint64_t record, uint32_t emit, uint64_t emitted, hdst_error *error)
{
    const uint64_t room = record_room(plan);
    if (emit < plan->func->check_count) hdst__check_to_error(plan->func, emit, emitted, room, NULL, record, error);
    else hdst__error_set(error, HDST_E_RECORD, "record %llu gives %llu records, room is for %llu", (unsigned long long)record, (unsigned long long)emitted,
                         (unsigned long long)room);
    return HDST_E_RECORD;
}

// most_emitted: as hdst__interp_run has it.
static hdst_status run_again(const hdst__launch_plan *plan, const hdst__stage_values *values, few_records *few, uint64_t record, void *pair,
                             uint64_t most_emitted, hdst__interp_run *run, hdst_error *error)
{
    uint64_t unit = plan->code.fold ? HDST__FOLD_RECORDS : 1, first = record / unit * unit, left = plan->whole.records - first;
    uint64_t count = left < unit ? left : unit;
    const hdst__storage *storage = few->storage;
    hdst_status status = hdst__text_room_open(&few->texts, plan->device->runtime, HDST__OWNER_SEGMENTS, &plan->whole, &storage, error);
    if (status == HDST_OK) status = plan->whole.fill(plan->whole.user, first, count, storage, few->buffers, 0, error);
    if (status != HDST_OK) return status;
    hdst__interp_table *tables = hdst__alloc_zero(plan->device->runtime->allocator, (plan->func->param_count + 1) * sizeof *tables);
    if (!tables) return hdst__error_memory(error, "running a failed record again");
    for (size_t i = 0; i < plan->func->param_count; i++)
        if (plan->func->params[i].kind == IR_BROADCAST_TABLE && status == HDST_OK) {
            tables[i].rows = plan->rows[i];
            status = hdst__stage_value_on_host(values, i, &tables[i].data, error);
        }
    *run = (hdst__interp_run){
        .func = plan->func, .allocator = plan->device->runtime->allocator, .cancel = plan->device->runtime->cancel,
        .input = {few->storage}, .input_buffers = {(const void *const *)few->buffers}, .first = first, .count = count,
        .broadcast = tables, .accum_rows = plan->rows, .tables = plan->tables, .device_table = NULL,
        .output = few->output, .output_room = record_room(plan), .failed_pair = pair, .most_emitted = most_emitted,
    };
    if (status == HDST_OK) status = plan->code.fold ? hdst__interpret_fold_level(run, error) : hdst__interpret(run, error);
    hdst__free(plan->device->runtime->allocator, tables);
    return status;
}

hdst_status hdst__launch_plan_record_error(const hdst__launch_plan *plan, const hdst__stage_values *values, uint64_t word, hdst__covered covered, void *pair,
                                           hdst_error *error)
{
    uint64_t record = word >> 16;
    uint32_t check = (uint32_t)(word & 0xffff);
    if ((check >= plan->func->check_count && check != HDST__TOO_MANY) || record >= plan->whole.records)
        return hdst__error_set(error, HDST_E_INTERNAL, "%s reports a failed check that does not exist: %016llx", plan->device->info->name,
                               (unsigned long long)word);
    ways_to_fail ways;
    const bool knows = check == HDST__TOO_MANY && knows_number(plan, record, &ways);
    if (knows && !ways.emits_apart) return tell_too_many(plan, record, ways.emit, plan->too_many, error);
    few_records few = {0};
    hdst__interp_run run;
    hdst_status status = make_room(&few, plan) ? run_again(plan, values, &few, record, pair, knows ? record_room(plan) + 1 : 0, &run, error)
        : hdst__error_memory(error, "running a failed record again");
    hdst__arena_destroy(&few.arena);
    hdst__text_room_close(&few.texts);
    if (status != HDST_OK) return status;
    if (check == HDST__TOO_MANY && run.failed_record == UINT64_MAX)
        return tell_too_many(plan, record, run.full_check, knows ? plan->too_many : run.emitted, error);
    if (run.failed_record != record)
        return hdst__error_set(error, HDST_E_INTERNAL, "record %llu failed on %s and not in the interpreter", (unsigned long long)record,
                               plan->device->info->name);
    hdst__check_to_error(plan->func, run.failed_check, run.failed_index, run.failed_limit, run.failed_text,
                         covered.before + record * covered.records, error);
    return HDST_E_RECORD;
}
