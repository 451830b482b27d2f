// SPDX-License-Identifier: Apache-2.0
// Tables of accumulators by way of tuples (plan/row_tuples.h).
#include "plan/row_tuples.h"

#include "plan/stage_node.h"

#include <inttypes.h>

enum { SMALL_SHARE = 16 };          // of the bytes of all tables: those with fewer stay with the node's stage

static const uint32_t row_leaf[] = {0};

// --- Which tables ---

static bool is_table(const ir_func *func, size_t param) { return func->params[param].kind == IR_ACCUM_TABLE && func->params[param].is_table; }

static double bytes_of(const ir_func *func, const uint64_t *rows, size_t param) { return (double)rows[param] * (double)func->params[param].record->size; }

static bool is_large(const ir_func *func, const uint64_t *rows, size_t param)
{
    double all = 0;
    for (size_t i = 0; i < func->param_count; i++)
        if (is_table(func, i)) all += bytes_of(func, rows, i);
    return is_table(func, param) && bytes_of(func, rows, param) * SMALL_SHARE >= all;
}

static bool can_be_tuples(hdst__arena *arena, const ir_func *func, size_t param, uint64_t rows)
{
    hdst__row_tuple tuple;
    uint64_t all;
    return hdst__row_tuple_of(arena, func, (uint32_t)param, &tuple) && !__builtin_mul_overflow(rows, tuple.rows_each, &all) && hdst__aggregate_takes_rows(all);
}

static bool all_can(hdst__arena *arena, const ir_func *func, const uint64_t *rows)
{
    bool some = false;
    for (size_t i = 0; i < func->param_count; i++) {
        if (!is_large(func, rows, i)) continue;
        if (!can_be_tuples(arena, func, i, rows[i])) return false;
        some = true;
    }
    return some;
}

bool hdst__row_tuples_can(const hdst_dataset *dataset, const ir_func *func, const uint64_t *rows)
{
    hdst__arena arena;
    jmp_buf out_of_memory;
    hdst__arena_init(&arena, HDST__ALLOCATOR(dataset), &out_of_memory);
    const bool can = setjmp(out_of_memory) ? false : all_can(&arena, func, rows);
    hdst__arena_destroy(&arena);
    return can;
}

// --- Making ---

static bool does_more(const ir_func *func, const bool *large)
{
    if (func->params[func->param_count - 1].kind == IR_OUTPUT) return true;
    for (size_t i = 0; i < func->param_count; i++)
        if (func->params[i].kind == IR_ACCUM_TABLE && !large[i]) return true;
    return false;
}

// What `from` is bound to, but that tables which are broadcasts of their numbers of rows now have these.
static void bind(hdst__arena *arena, hdst__stage_call *to, const hdst__stage_call *from, const uint64_t *rows)
{
    hdst__stage_call_bind(arena, to, 0);
    for (size_t i = 0; i < from->func->param_count; i++) {
        to->params[i] = from->params[i];
        if (from->func->params[i].kind != IR_ACCUM_TABLE || to->func->params[i].kind == IR_ACCUM_TABLE) continue;
        to->params[i] = (hdst__plan_param){.function = from->params[i].function, .name = from->params[i].name, .data = &rows[i], .rows = 1};
    }
}

static hdst__plan_table *table_of(const hdst__node *node, size_t param)
{
    for (size_t i = 0; i < node->table_count; i++)
        if (node->tables[i].param == param) return &node->tables[i];
    return NULL;
}

static hdst_status make_table(hdst__arena *arena, const hdst__node *node, const hdst__stage_call *whole, const uint64_t *rows, size_t param,
                              hdst__table_by_tuples *by, hdst_error *error)
{
    by->table = table_of(node, param);
    by->rows = rows[param];
    if (!hdst__row_tuple_of(arena, whole->func, (uint32_t)param, &by->tuple)) return hdst__error_set(error, HDST_E_INTERNAL, "a table that is no tuples");
    by->call.func = hdst__row_addends(arena, whole->func, (uint32_t)param, &by->tuple);
    by->spec = (hdst__aggregate_spec){.record = by->tuple.record, .key_leaves = row_leaf, .key_count = 1,
                                      .laws = hdst__row_tuple_laws(arena, whole->func, (uint32_t)param), .rows = by->tuple.row,
                                      .row_count = by->rows * by->tuple.rows_each, .unchecked = node->dataset->object.context->unchecked};
    bind(arena, &by->call, whole, rows);
    return hdst__plan_passes((ir_func *)by->call.func, error);
}

static hdst_status make_rest(hdst__arena *arena, hdst__stage_call *call, const hdst__stage_call *whole, const bool *large, const uint64_t *rows,
                             hdst_error *error)
{
    call->func = hdst__without_tables(arena, whole->func, large);
    bind(arena, call, whole, rows);
    return hdst__plan_passes((ir_func *)call->func, error);
}

hdst_status hdst__row_tuples_make(hdst__arena *arena, hdst__node *node, hdst_error *error)
{
    hdst__row_tuples *tuples = &((hdst__stage_node *)node->own)->tuples;
    const hdst__stage_call whole = *node->call;
    const size_t params = whole.func->param_count;
    uint64_t *rows = HDST__NEW_ARRAY(arena, uint64_t, params);
    bool *large = HDST__NEW_ARRAY(arena, bool, params);
    for (size_t i = 0; i < params; i++) rows[i] = whole.params[i].rows;
    for (size_t i = 0; i < params; i++) large[i] = is_large(whole.func, rows, i);
    tuples->table = HDST__NEW_ARRAY(arena, hdst__table_by_tuples, params);
    hdst_status status = HDST_OK;
    for (size_t i = 0; i < params && status == HDST_OK; i++)
        if (large[i]) status = make_table(arena, node, &whole, rows, i, &tuples->table[tuples->count++], error);
    tuples->alone = !does_more(whole.func, large);
    if (status != HDST_OK) return status;
    if (!tuples->alone) return make_rest(arena, node->call, &whole, large, rows, error);
    *node->call = tuples->table[0].call;
    return HDST_OK;
}

bool hdst__row_tuples_has(const hdst__row_tuples *tuples, const hdst__plan_table *table)
{
    for (size_t i = 0; i < tuples->count; i++)
        if (tuples->table[i].table == table) return true;
    return false;
}

// --- A run ---

const hdst__consumer *hdst__row_tuples_consumer(const hdst__node *node, hdst__table_by_tuples *by)
{
    if (!by->aggregate) by->aggregate = hdst__aggregate_create(node->dataset->object.context->engine, &by->spec);
    return by->aggregate ? hdst__aggregate_consumer(by->aggregate) : NULL;
}

hdst_status hdst__row_tuples_end(hdst__table_by_tuples *by, hdst_error *error)
{
    const void *rows;
    uint64_t count;
    const hdst_status status = hdst__aggregate_end(by->aggregate, &rows, &count, error);
    hdst__plan_table *table = by->table;
    table->rows = status == HDST_OK ? (void *)rows : NULL;
    table->resident = NULL;
    table->row_count = table->rows ? by->rows : 0;
    table->bytes = table->row_count * table->record->size;
    return status;
}

void hdst__row_tuples_explain(const hdst_dataset *dataset, const hdst__row_tuples *tuples, hdst__buffer *out)
{
    for (size_t i = 0; i < tuples->count; i++) {
        const hdst__table_by_tuples *by = &tuples->table[i];
        hdst__buffer_printf(out, "  accumulator %s: what is added comes as tuples of %" PRIu64 " bytes, %s, as a table of its %" PRIu64 " rows would have "
                            "taken many passes (%s)\n", by->table->name, by->tuple.record->size, i || !tuples->alone ? "in a run of its own" : "in this run",
                            by->rows, dataset->row_passes_why ? dataset->row_passes_why : "");
        if (by->aggregate) hdst__aggregate_explain(by->aggregate, out);
    }
}

// The rows end with the reductions.
void hdst__row_tuples_release(hdst__row_tuples *tuples)
{
    for (size_t i = 0; i < tuples->count; i++) {
        hdst__table_by_tuples *by = &tuples->table[i];
        if (i || !tuples->alone) hdst__stage_call_end(&by->call);
        hdst__aggregate_destroy(by->aggregate);
        by->aggregate = NULL;
        by->table->rows = NULL;
        by->table->row_count = by->table->bytes = 0;
    }
}
