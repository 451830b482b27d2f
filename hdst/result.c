// SPDX-License-Identifier: Apache-2.0
// Results: an action over a dataset, its runs, and views of what they gave.
#include "hdst/result.h"

#include "plan/stage_node.h"

#include <stdlib.h>
#include <string.h>

HDST__STAND_IN(hdst_result, no_result);

static void forget_rows(hdst_result *result)
{
    for (size_t i = 0; i < result->table_count; i++) {
        hdst__free(HDST__ALLOCATOR(result), result->tables[i].copy);
        hdst__rows_free(hdst__engine_runtime(result->object.context->engine), &result->tables[i].read);
    }
    hdst__rows_free(hdst__engine_runtime(result->object.context->engine), &result->read);
    result->table_count = 0;
    result->records = NULL;
    result->record_count = 0;
    result->ran = false;
}

// A run that failed leaves its plan and statistics, and nothing else that takes memory.
static void forget_run(hdst_result *result)
{
    forget_rows(result);
    if (result->planned) hdst__plan_release(&result->plan);
}

static void release_result(hdst__object *object)
{
    hdst_result *result = (hdst_result *)object;
    forget_rows(result);
    if (result->planned) hdst__plan_release(&result->plan);
    hdst__free(HDST__ALLOCATOR(result), result->tables);
    hdst__free(HDST__ALLOCATOR(result), result->explanation);
    hdst__arena_destroy(&result->arena);
}

hdst_result *hdst_result_create(hdst_dataset *dataset)
{
    HDST__NEEDS(hdst_result, dataset, "dataset");
    hdst_context *context = dataset->object.context;
    hdst__lock(context);
    hdst_result *result = hdst__object_create(context, sizeof *result, release_result, &no_result);
    if (result != &no_result) {
        hdst__object_inherit(&result->object, &dataset->object);
        result->dataset = dataset;
        hdst__arena_init(&result->arena, &context->allocator, NULL);
    }
    hdst__unlock(context);
    return result;
}

// What was made of a plan that did not come to its end: the next run begins anew.
static void forget_plan(hdst_result *result)
{
    hdst__arena_destroy(&result->arena);
    hdst__arena_init(&result->arena, HDST__ALLOCATOR(result), NULL);
    result->plan = (hdst__plan){0};
}

hdst_status hdst__result_plan(hdst_result *result, hdst_error *error)
{
    if (result->planned) return HDST_OK;
    result->plan.may_run_again = true;
    const hdst_status status = hdst__plan_make(&result->arena, result->dataset, &result->plan, error);
    result->planned = status == HDST_OK;
    if (!result->planned) forget_plan(result);
    return status;
}

static void drop_plan(hdst_result *result)
{
    hdst__plan_release(&result->plan);
    forget_plan(result);
    result->planned = false;
}

hdst_status hdst__result_plan_for_partials(hdst_result *result, hdst_error *error)
{
    if (result->planned && !result->ran && !result->plan.keeps_partials) drop_plan(result);
    if (!result->planned) result->plan.keeps_partials = true;
    return hdst__result_plan(result, error);
}

// --- What a run gave ---

// Rows that stayed on the device. Reading them for a view is no part of the run, nor of its statistics.
static hdst_status read_table(hdst_result *result, hdst__result_table *table, hdst_error *error)
{
    hdst__run_stats ignored = {0};
    hdst_status status = hdst__rows_read_all(hdst__engine_runtime(result->object.context->engine), hdst__dataset_cache_own_reader(table->resident), false,
                                               &table->read, &ignored, error);
    if (status == HDST_OK) table->rows = table->read.records;
    return status;
}

static hdst_status add_table(hdst_result *result, hdst__plan_table *from, bool copied, hdst_error *error)
{
    const hdst__allocator *allocator = HDST__ALLOCATOR(result);
    if (result->table_count == result->table_capacity) {
        size_t capacity = result->table_capacity * 2 + 4;
        hdst__result_table *tables = hdst__realloc(allocator, result->tables, capacity * sizeof *tables);
        if (!tables) return hdst__error_memory(error, "a result");
        result->tables = tables;
        result->table_capacity = capacity;
    }
    hdst__result_table table = {from->function, from->name, from->record, from->rows, from->row_count, NULL, copied ? NULL : from, from,
                                false, false, from->resident, {0}};
    if (copied && !from->rows && from->resident) {
        hdst_status status = read_table(result, &table, error);
        if (status != HDST_OK) return status;
    } else if (copied) {
        table.rows = table.copy = hdst__alloc(hdst__owned_by(result->object.context, HDST__OWNER_OUTPUT), from->bytes ? from->bytes : 1);
        if (!table.copy) return hdst__error_memory(error, "a result");
        if (from->bytes) memcpy(table.copy, from->rows, (size_t)from->bytes);
    }
    result->tables[result->table_count++] = table;
    return HDST_OK;
}

// On the way from a result down to a cache: who reads that cache, in the plan that it is a node of.
typedef struct way {
    const struct way *up;
    const hdst__plan *plan;
    const bool *reads;              // of each node of the plan: it reads the cache, or what was made of it
} way;

// What was accumulated when a cache was filled is not what a stage behind it accumulates under the same name.
static void hide_table(hdst__result_table *table, const hdst__node *by)
{
    for (size_t t = 0; t < by->table_count; t++) {
        if (strcmp(by->tables[t].name, table->name)) continue;
        table->hidden = true;
        table->hidden_in_full |= !strcmp(by->tables[t].function, table->function);
    }
}

// A table that two ways lead to is there once, and hidden if it is on either.
static hdst_status add_once(hdst_result *result, hdst__plan_table *from, const way *over, hdst_error *error)
{
    size_t i = 0;
    while (i < result->table_count && result->tables[i].same != from) i++;
    const hdst_status status = i < result->table_count ? HDST_OK : add_table(result, from, over, error);
    if (status != HDST_OK) return status;
    for (; over; over = over->up)
        for (size_t n = 0; n < over->plan->node_count; n++)
            if (over->reads[n]) hide_table(&result->tables[i], over->plan->nodes[n]);
    return HDST_OK;
}

static hdst_status add_tables(hdst_result *result, const hdst__plan *plan, const way *over, hdst_error *error);

static hdst_status add_tables_below(hdst_result *result, const hdst__plan *plan, size_t cache, const way *over, hdst_error *error)
{
    const hdst__node *node = plan->nodes[cache];
    bool *reads = hdst__alloc_zero(HDST__ALLOCATOR(result), plan->node_count * sizeof *reads);
    if (!reads) return hdst__error_memory(error, "a result");
    hdst__plan_find_readers(plan, cache, reads);
    const hdst_status status = add_tables(result, node->op->below(node), &(way){over, plan, reads}, error);
    hdst__free(HDST__ALLOCATOR(result), reads);
    return status;
}

// Tables of a cache's plan may go away with the next hdst_uncache, so they are copied. `over`: who reads that cache; NULL: of the result's own plan.
static hdst_status add_tables(hdst_result *result, const hdst__plan *plan, const way *over, hdst_error *error)
{
    hdst_status status = HDST_OK;
    for (size_t i = 0; i < plan->node_count && status == HDST_OK; i++) {
        const hdst__node *node = plan->nodes[i];
        for (size_t t = 0; t < node->table_count && status == HDST_OK; t++) status = add_once(result, &node->tables[t], over, error);
        if (node->op->below && status == HDST_OK) status = add_tables_below(result, plan, i, over, error);
    }
    return status;
}

// Where the target's records lie on the device after a run; NULL: on the host, or where they come from.
static hdst__dataset_cache *resident_records(const hdst_result *result)
{
    const hdst__node *target = result->plan.target;
    return target->op->below ? NULL : target->resident;
}

static hdst_status take_records(hdst_result *result, hdst_error *error)
{
    hdst__node *target = result->plan.target;
    if (!result->dataset->record) return HDST_OK;
    if (hdst__node_stage(target) || target->rows || resident_records(result)) {
        result->records = target->rows;
        result->record_count = target->row_count;
        return HDST_OK;
    }
    hdst_status status = hdst__rows_read_all(hdst__engine_runtime(result->object.context->engine), &target->reader, false, &result->read,
                                             &result->plan.stats, error);
    result->records = result->read.records;
    result->record_count = result->read.count;
    return status;
}

static void note_memory(hdst_result *result)
{
    hdst__engine_memory_usage(result->object.context->engine, HDST__PEAKS_OF_RUN, &result->memory);
    result->plan.stats.host_peak = result->memory.host.peak;
    result->plan.stats.device_peak = hdst__memory_device_peak(&result->memory);
}

// Whether what failed is tried once more: another plan takes less memory, or goes another way, or cached datasets gave way to it.
static bool goes_on(hdst_result *result, hdst_status status, hdst_error *error)
{
    if (status == HDST_OK) return false;
    if (result->planned && hdst__plan_runs_otherwise(&result->plan, status)) {
        drop_plan(result);
    } else {
        forget_run(result);
        if (!hdst__plan_has_more_memory(result->object.context, status, &result->lean_at, error)) return false;
    }
    forget_rows(result);
    *error = (hdst_error)HDST_ERROR_INIT;
    return true;
}

static hdst_status run_plan(hdst_result *result, hdst_error *error)
{
    hdst_status status;
    forget_rows(result);
    hdst__plan_begin_run(result->object.context, result->lean_at);
    do {
        status = hdst__result_plan(result, error);
        if (status == HDST_OK) status = hdst__plan_run(&result->plan, error);
        if (status == HDST_OK) status = add_tables(result, &result->plan, NULL, error);
        if (status == HDST_OK) status = take_records(result, error);
    } while (goes_on(result, status, error));
    return status;
}

hdst_status hdst__result_run(hdst_result *result, hdst_error *error)
{
    hdst_status status = hdst__object_status(&result->object, error);
    if (status != HDST_OK) return status;
    result->ran_partial = result->keeps_partial;
    result->ran_first = result->part_first;
    hdst__engine_mark_memory(result->object.context->engine);
    status = run_plan(result, error);
    if (status != HDST_OK) forget_run(result);
    result->ran = status == HDST_OK;
    note_memory(result);
    return status;
}

hdst_status hdst_run(hdst_result *result, hdst_error *error)
{
    hdst_error ignored;
    if (!error) error = &ignored;
    *error = (hdst_error)HDST_ERROR_INIT;
    hdst_status status = hdst__check_alive(__func__, "result", result, error);
    if (status != HDST_OK) return status;
    hdst__lock(result->object.context);
    status = hdst__result_run(result, error);
    hdst__explain_memory(result->object.context, error);
    hdst__unlock(result->object.context);
    return status;
}

void hdst_result_destroy(hdst_result *result)
{
    if (result) hdst__object_destroy(&result->object);
}

// --- Views ---

static bool is_called(const hdst__result_table *table, const char *name)
{
    if (!hdst__is_called(table->function, table->name, name)) return false;
    return strcmp(table->name, name) ? !table->hidden_in_full : !table->hidden;
}

static const hdst__result_table *find_table(hdst_result *result, const char *name)
{
    enum { MOST = 64 };
    const char *names[MOST];
    size_t n = 0;
    const hdst__result_table *found = NULL;
    for (const hdst__result_table *table = result->tables; table < result->tables + result->table_count; table++) {
        if (n < MOST) names[n++] = table->name;
        if (!is_called(table, name)) continue;
        if (found) {
            hdst__tell_two_tables(found->function, table->function, name, &result->view_error);
            return NULL;
        }
        found = table;
    }
    if (found) return found;
    hdst__error_set(&result->view_error, HDST_E_USAGE, "the result has no accumulator '%s'", name);
    hdst__error_suggest(&result->view_error, "its accumulators are", name, names, n);
    return NULL;
}

static bool can_view(hdst_result *result)
{
    result->view_error = (hdst_error)HDST_ERROR_INIT;
    if (result->ran) return true;
    if (hdst__object_status(&result->object, &result->view_error) == HDST_OK)
        hdst__error_set(&result->view_error, HDST_E_USAGE, "the result holds nothing: its last run failed, or there was none");
    return false;
}

bool hdst__result_find_block(hdst_result *result, const char *table, hdst__row_block *block)
{
    if (!can_view(result)) return false;
    if (table) {
        const hdst__result_table *found = find_table(result, table);
        if (found) *block = (hdst__row_block){found->rows, found->row_count, found->record, found->resident};
        return found;
    }
    *block = (hdst__row_block){result->records, result->record_count, result->dataset->record, result->records ? NULL : resident_records(result)};
    if (block->record) return true;
    hdst__error_set(&result->view_error, HDST_E_USAGE, "the result has no records, only accumulators");
    return false;
}

// Reading for a view is no part of the run, nor of its statistics.
static hdst_status read_resident(hdst_result *result)
{
    hdst__run_stats ignored = {0};
    hdst_status status = hdst__rows_read_all(hdst__engine_runtime(result->object.context->engine), &result->plan.target->reader, false, &result->read, &ignored,
                                             &result->view_error);
    if (status == HDST_OK) result->records = result->read.records;
    return status;
}

static hdst_status read_once(hdst_result *result, hdst__result_table *table, hdst__row_block *block)
{
    const hdst_status status = table ? read_table(result, table, &result->view_error) : read_resident(result);
    if (status == HDST_OK) block->rows = table ? table->rows : result->records;
    return status;
}

static bool read_block(hdst_result *result, const char *table, hdst__row_block *block)
{
    hdst__result_table *found = table ? (hdst__result_table *)find_table(result, table) : NULL;
    hdst_status status = read_once(result, found, block);
    if (!hdst__call_has_more_memory(result->object.context, status, &result->view_error)) return status == HDST_OK;
    result->view_error = (hdst_error)HDST_ERROR_INIT;
    return read_once(result, found, block) == HDST_OK;
}

bool hdst__result_find_rows(hdst_result *result, const char *table, hdst__row_block *block)
{
    if (!hdst__result_find_block(result, table, block)) return false;
    if (block->resident && !block->rows && !read_block(result, table, block)) return false;
    block->resident = NULL;
    return true;
}

void hdst__result_keep_table(hdst_result *result, const char *table)
{
    const hdst__result_table *found = find_table(result, table);
    if (found && found->from) found->from->keeps = true;
}

void hdst__result_keep_records(hdst_result *result)
{
    hdst__node *target = result->plan.target;
    if (target->op != &hdst__op_stage || target->keeps) return;
    target->keeps = true;
    if (target->call->stage) hdst__stage_keep_output(target->call->stage);
}

hdst_view hdst_result_field(hdst_result *result, const char *table, const char *field)
{
    hdst_view view = {0};
    if (!result || !result->object.context) return view;
    hdst__lock(result->object.context);
    hdst__row_block block;
    if (hdst__result_find_rows(result, table, &block)) view = hdst__row_view(&block, field, &result->view_error);
    hdst__unlock(result->object.context);
    return view;
}

const void *hdst_result_rows(hdst_result *result, const char *table, uint64_t *rows)
{
    if (rows) *rows = 0;
    if (!result || !result->object.context) return NULL;
    hdst__lock(result->object.context);
    hdst__row_block block = {0};
    bool found = hdst__result_find_rows(result, table, &block);
    hdst__unlock(result->object.context);
    if (rows && found) *rows = block.count;
    return found ? block.rows : NULL;
}

static const uint64_t *find_parts(hdst_result *result, uint64_t *parts)
{
    if (!can_view(result)) return NULL;
    const hdst__node *target = result->plan.target;
    *parts = target->part_counts ? target->parts : 0;
    if (!target->part_counts)
        hdst__error_set(&result->view_error, HDST_E_USAGE,
                        "the records of this result have no parts: they do not come from hdst_partition, or from a reduction by key behind it");
    return target->part_counts;
}

const uint64_t *hdst_result_parts(hdst_result *result, uint64_t *parts)
{
    uint64_t ignored;
    if (!parts) parts = &ignored;
    *parts = 0;
    if (!result || !result->object.context) return NULL;
    hdst__lock(result->object.context);
    const uint64_t *counts = find_parts(result, parts);
    hdst__unlock(result->object.context);
    return counts;
}

hdst_status hdst_result_status(const hdst_result *result, hdst_error *error)
{
    const hdst_status status = hdst__check_alive(__func__, "result", result, error);
    if (status != HDST_OK) return status;
    if (error) *error = result->view_error;
    return result->view_error.code;
}

// --- Reports ---

hdst_run_stats hdst_result_stats(const hdst_result *result)
{
    hdst_run_stats to = {0};
    if (!result || !result->object.context || !result->planned) return to;
    const hdst__run_stats *from = &result->plan.stats;
    to = (hdst_run_stats){.records = from->records, .total_seconds = from->total_seconds, .read_seconds = from->read_seconds,
        .compile_seconds = from->compile_seconds, .run_seconds = from->run_seconds, .bytes_to_device = from->bytes_to_device,
        .bytes_from_device = from->bytes_from_device, .host_peak_bytes = from->host_peak, .device_peak_bytes = from->device_peak,
        .cache_hit_bytes = from->cache_hit_bytes, .cache_miss_bytes = from->cache_miss_bytes, .records_skipped = from->skipped, .fast_sums = from->fast_sums,
        .device_count = from->device_count, .level_count = from->level_count};
    for (uint32_t i = 0; i < from->device_count; i++) {
        to.device[i] = (hdst_device_use){.slices = from->device[i].slices, .records = from->device[i].records, .busy_seconds = from->device[i].busy_seconds};
        memcpy(to.device[i].name, from->device[i].name, sizeof to.device[i].name);
    }
    for (uint32_t i = 0; i < from->level_count; i++) {
        to.level[i] = (hdst_level){.in = from->level[i].in, .out = from->level[i].out};
        strncpy(to.level[i].name, from->level[i].name, sizeof to.level[i].name - 1);
    }
    return to;
}

const char *hdst_explain(hdst_result *result, hdst_error *error)
{
    hdst_error ignored;
    if (!error) error = &ignored;
    if (hdst__check_alive(__func__, "result", result, error) != HDST_OK) return "";
    hdst__lock(result->object.context);
    hdst__buffer text;
    hdst__buffer_init(&text, HDST__ALLOCATOR(result));
    hdst_status status = hdst__object_status(&result->object, error);
    if (status == HDST_OK) {
        status = hdst__result_plan(result, error);
        if (goes_on(result, status, error)) status = hdst__result_plan(result, error);
    }
    if (status == HDST_OK) status = hdst__plan_explain(&result->plan, &text, error);
    if (status == HDST_OK && result->ran) hdst__memory_usage_explain(&result->memory, &text);
    hdst__free(HDST__ALLOCATOR(result), result->explanation);
    result->explanation = status == HDST_OK ? hdst__buffer_take(&text) : NULL;
    hdst__buffer_destroy(&text);
    hdst__unlock(result->object.context);
    return result->explanation ? result->explanation : "";
}
