// SPDX-License-Identifier: Apache-2.0
// Tables of accumulators for which there is no room, in passes over ranges of their rows (plan/row_passes.h). The passes' ranges are equally long, so that one
// compiled plan does all of them: the last one begins as far in front as that takes, and its first rows come to what they did before.
#include "plan/row_passes.h"

#include "plan/row_tuples.h"

#include "codegen/lower/row_window.h"
#include "engine/stage/table_room.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
    MOST_PASSES = 1 << 16,
    MOST_BEFORE_TUPLES = 8,         // tuples are written and read again, which the quickest functions do as quickly anew. Chosen, not measured
    TIMES_MORE = 4,                 // where as many as should do did not: superaccumulators take ten times as much as words in fixed point
};

uint32_t hdst__row_passes_noted(const hdst_dataset *dataset) { return dataset->row_passes ? dataset->row_passes : 1; }

// --- How many ---

static uint32_t passes_with_room(const hdst_dataset *dataset, const hdst__stage_call *call)
{
    hdst__engine *engine = dataset->object.context->engine;
    hdst__arena arena;
    jmp_buf out_of_memory;
    hdst__arena_init(&arena, HDST__ALLOCATOR(dataset), &out_of_memory);
    const uint32_t passes = setjmp(out_of_memory) ? 1 : hdst__stage_table_passes(engine, &arena, call->func, call->values->rows);
    hdst__arena_destroy(&arena);
    return passes;
}

static bool has_table(const ir_func *func)
{
    for (size_t i = 0; i < func->param_count; i++)
        if (func->params[i].kind == IR_ACCUM_TABLE && func->params[i].is_table) return true;
    return false;
}

static bool note(hdst_dataset *dataset, uint64_t passes, const hdst_error *why)
{
    const size_t bytes = strlen(why->message) + 1;
    if (!dataset->row_passes_why) {
        dataset->row_passes_why = hdst__alloc(HDST__ALLOCATOR(dataset), bytes);
        if (dataset->row_passes_why) memcpy(dataset->row_passes_why, why->message, bytes);
    }
    dataset->row_passes = (uint32_t)passes;
    return true;
}

static uint64_t most_passes(const hdst_dataset *dataset)
{
    const uint32_t asked = hdst__engine_limits(dataset->object.context->engine)->most_row_passes;
    return asked ? asked : MOST_BEFORE_TUPLES;
}

// Of a pass the tables have fewer rows than they would have.
static bool take_tuples(hdst_dataset *dataset, const hdst__stage_call *call, const hdst__row_passes *passes)
{
    if (dataset->row_tuples_failed) return false;
    uint64_t *rows = hdst__alloc_zero(HDST__ALLOCATOR(dataset), call->func->param_count * sizeof *rows);
    for (size_t i = 0; rows && i < call->func->param_count; i++) rows[i] = call->values->rows[i];
    for (size_t i = 0; rows && i < passes->windows; i++) rows[passes->window[i].table] = passes->window[i].all;
    dataset->row_tuples = rows && hdst__row_tuples_can(dataset, call->func, rows);
    hdst__free(HDST__ALLOCATOR(dataset), rows);
    return dataset->row_tuples;
}

// There was no room for them either: passes need the least. How many it takes is found out anew.
static bool leave_tuples(hdst_dataset *dataset)
{
    dataset->row_tuples = false;
    return dataset->row_tuples_failed = true;
}

bool hdst__row_passes_take_less(hdst_dataset *dataset, const hdst__stage_call *call, hdst__row_passes *passes)
{
    if (!passes->lacks_memory || !(dataset->row_tuples || has_table(call->func))) return false;
    passes->lacks_memory = false;
    if (dataset->row_tuples) return leave_tuples(dataset);
    const uint64_t before = passes->count, more = passes_with_room(dataset, call);
    if (more < 2) return false;
    const uint64_t wanted = before * (before > 1 && more < TIMES_MORE ? TIMES_MORE : more);
    if (wanted > most_passes(dataset) && take_tuples(dataset, call, passes)) return note(dataset, 1, &passes->why);
    return wanted <= MOST_PASSES && note(dataset, wanted, &passes->why);
}

// --- Parameters ---

static void bind(hdst__stage_call *call, size_t param, const uint64_t *number)
{
    call->params[param] = (hdst__plan_param){.function = call->func->name, .name = call->func->params[param].name, .data = number, .rows = 1};
}

// Broadcasts and tables both stand in the order of the functions and of their parameters, so the first ones belong together, and the second ones.
void hdst__row_passes_bind(hdst__arena *arena, hdst__stage_call *call, hdst__row_passes *passes)
{
    const ir_func *func = call->func;
    size_t first = 0, all = 0, tables = 0;
    passes->window = HDST__NEW_ARRAY(arena, hdst__window_of_rows, func->param_count);
    for (size_t i = 0; i < func->param_count; i++) {
        const ir_param *param = &func->params[i];
        if (param->name == hdst__window_first) passes->window[first++].first_param = i;
        if (param->name == hdst__window_all) passes->window[all++].all_param = i;
        if (param->kind == IR_ACCUM_TABLE && param->is_table) passes->window[tables++].table = i;
    }
    passes->windows = tables;
    for (size_t i = 0; i < tables; i++) {
        hdst__window_of_rows *window = &passes->window[i];
        window->all = call->params[window->table].rows;
        window->rows = window->all / passes->count + (window->all % passes->count != 0);
        call->params[window->table].rows = window->rows;
        bind(call, window->first_param, &window->first);
        bind(call, window->all_param, &window->all);
    }
}

void hdst__row_passes_range(const hdst__row_passes *passes, const hdst__stage_call *call, size_t param, uint64_t *first, uint64_t *all)
{
    *first = 0;
    *all = call->values->rows[param];
    for (size_t i = 0; i < passes->windows; i++) {
        if (passes->window[i].table != param) continue;
        *first = passes->window[i].first;
        *all = passes->window[i].all;
    }
}

void hdst__row_passes_move(hdst__row_passes *passes, hdst__stage_call *call, uint32_t pass)
{
    for (size_t i = 0; i < passes->windows; i++) {
        hdst__window_of_rows *window = &passes->window[i];
        const uint64_t last = window->all - window->rows, first = pass * window->rows;
        window->first = first < last ? first : last;
        call->params[window->first_param].version++;
    }
}

// --- Records ---

static hdst_status begin_none(void *user, hdst_error *error)
{
    (void)user, (void)error;
    return HDST_OK;
}

static hdst_status take_none(void *user, const void *records, uint64_t count, uint64_t expected, hdst_error *error)
{
    (void)user, (void)records, (void)count, (void)expected, (void)error;
    return HDST_OK;
}

static hdst_status take_no_runs(void *user, const void *records, const uint64_t *run, uint64_t runs, uint64_t expected, hdst_error *error)
{
    (void)user, (void)records, (void)run, (void)runs, (void)expected, (void)error;
    return HDST_OK;
}

const hdst__consumer *hdst__row_passes_sink(void)
{
    static const hdst__consumer sink = {.start = begin_none, .take = take_none, .take_runs = take_no_runs};
    return &sink;
}

// --- What is told ---

// The input's records are those of one pass, and so are the failed ones among them.
void hdst__row_passes_count(hdst__row_passes *passes, const hdst__run_stats *stats, uint32_t pass)
{
    hdst__run_stats more = *stats;
    if (pass == 0) passes->stats = (hdst__run_stats){0};
    else more.records = more.skipped = more.fast_sums = 0;
    hdst__plan_add_stats(&passes->stats, &more);
}

void hdst__row_passes_explain(const hdst_dataset *dataset, const hdst__row_passes *passes, hdst__buffer *out)
{
    if (!passes->windows) return;
    uint64_t rows = 0;
    for (size_t i = 0; i < passes->windows; i++) rows = passes->window[i].rows > rows ? passes->window[i].rows : rows;
    hdst__buffer_printf(out, "  tables of accumulators: in %u passes over their rows, %" PRIu64 " at a time; the function is computed again in each, "
                        "as that takes no memory beside them (%s)\n", passes->count, rows, dataset->row_passes_why ? dataset->row_passes_why : "");
}
