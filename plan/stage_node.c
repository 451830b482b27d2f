// SPDX-License-Identifier: Apache-2.0
// A stage's node: its operators as one function, what its parameters are bound to, its accumulators as rows.
#include "plan/stage_node.h"

#include "accum/first_level.h"
#include "accum/reduce.h"
#include "base/costs_host.h"
#include "engine/memory/registered.h"
#include "plan/map_spec.h"
#include "plan/replay_save.h"
#include "codegen/lower/fuse.h"
#include "codegen/lower/row_window.h"

#include <inttypes.h>
#include <string.h>

typedef hdst__stage_node stage_node;

hdst__stage_node *hdst__node_stage(const hdst__node *node) { return node->op->run == hdst__stage_node_run_in_turn ? node->own : NULL; }

void hdst__node_consume(hdst__node *node)
{
    hdst__node *from = node->inputs[0];
    const bool at_the_end = from->dataset->op->gives == HDST__GIVES_OTHERS;        // a reduce's records are not there before
    if (from->op == &hdst__op_stage && from->dataset->mark.consumers == 1 && !at_the_end) from->consumer = node;
}

// --- Parameters ---

static void match_params(const hdst_dataset *item, hdst__stage_call *call)
{
    const ir_func *from = item->mark.func, *fused = call->func;
    for (size_t i = 0; i < from->param_count; i++)
        for (size_t j = 0; j < fused->param_count; j++)
            if (fused->params[j].bind == from->params[i].bind) call->params[j] = hdst__plan_param_of(from, &from->params[i], item);
}

// Its own parameter, "begin".
static void match_range(const ir_func *range, stage_node *own)
{
    const ir_func *func = own->call.func;
    for (size_t j = 0; j < func->param_count; j++)
        if (func->params[j].bind == range->params[1].bind)
            own->call.params[j] = (hdst__plan_param){.function = range->name, .name = range->params[1].name, .data = &own->range_begin, .rows = 1};
}

// --- Making ---

// A stage behind a slice of its input has the slice's dataset, whose records it gives.
void hdst__stage_node_list_items(hdst__arena *arena, hdst__node *node)
{
    stage_node *own = node->own = HDST__NEW(arena, stage_node);
    hdst_dataset *item = node->dataset->op->lower ? node->dataset : hdst__dataset_before(node->dataset);
    node->call = &own->call;
    own->item_count = item->mark.length;
    own->items = HDST__NEW_ARRAY(arena, hdst_dataset *, own->item_count);
    own->lookups = HDST__NEW_ARRAY(arena, hdst__node **, own->item_count);
    for (size_t i = own->item_count; i-- > 0; item = hdst__dataset_before(item)) {
        own->items[i] = item;
        own->lookups[i] = item->mark.lookups;
    }
    own->passes.count = hdst__row_passes_noted(node->dataset);
}

// The functions of the items, behind `range` unless that is NULL.
static hdst_status fuse(hdst__arena *arena, hdst__node *node, ir_func *range, hdst_error *error)
{
    const stage_node *own = node->own;
    ir_func **functions = HDST__NEW_ARRAY(arena, ir_func *, own->item_count + 1);
    const size_t before = range ? 1 : 0;
    functions[0] = range;
    for (size_t i = 0; i < own->item_count; i++) {
        ir_func *func = own->items[i]->mark.func;
        functions[before + i] = own->passes.count > 1 ? hdst__row_window(arena, func) : func;
    }
    ir_func *func = hdst__fuse(arena, functions, before + own->item_count);
    node->call->func = func;
    if (func) {
        if (!range) hdst__arranged_input_add(node, func);
        func->emits_few = node->dataset->op->gives == HDST__GIVES_FEW;
        return HDST_OK;
    }
    hdst__error_set(error, HDST_E_KERNEL, "the chain up to '%s' has more than %d statements, for what follows a flat_map stands at each of its emits",
                    own->items[own->item_count - 1]->mark.func->name, HDST__FUSE_LIMIT);
    hdst__error_hint(error, "emit at one place, in a loop");
    return HDST_E_KERNEL;
}

static void list_tables(hdst__arena *arena, hdst__node *node)
{
    const hdst__stage_call *call = node->call;
    node->tables = HDST__NEW_ARRAY(arena, hdst__plan_table, call->func->param_count);
    for (size_t i = 0; i < call->func->param_count; i++) {
        const ir_param *param = &call->func->params[i];
        if (param->kind != IR_ACCUM_TABLE) continue;
        node->tables[node->table_count++] = (hdst__plan_table){
            .function = call->params[i].function, .name = call->params[i].name, .record = param->record, .param = (uint32_t)i};
    }
    // The reduce comes last, and so do its accumulators.
    if (node->dataset->op->lower && node->dataset->op->gives == HDST__GIVES_OTHERS)
        ((stage_node *)node->own)->records_table = &node->tables[node->table_count - 1];
}

// The spec of a map whose code was given apart; such a map is alone in its node.
static const hdst_map_spec *own_code(const hdst__node *node)
{
    const hdst_map_spec *spec = node->dataset->spec;
    return node->op == &hdst__op_stage && spec && spec->separate ? spec : NULL;
}

static hdst_status build(hdst__arena *arena, hdst__node *node, hdst_error *error)
{
    hdst__stage_node_list_items(arena, node);
    stage_node *own = node->own;
    const hdst_map_spec *code = own_code(node);
    const bool declared = code && !code->function->body;
    ir_func *range = code ? NULL : hdst__range_input_make(arena, node);
    if (declared) own->call.func = node->dataset->mark.func;
    if (!code) hdst__searched_input_note(&own->searched, own->items[0]);
    hdst_status status = declared ? HDST_OK : fuse(arena, node, range, error);
    if (status != HDST_OK) return status;
    hdst__stage_call_bind(arena, &own->call, 0);
    if (range) match_range(range, own);
    for (size_t i = 0; i < own->item_count; i++) match_params(own->items[i], &own->call);
    list_tables(arena, node);
    hdst__arranged_input_bind(node);
    if (node->dataset->row_tuples) return hdst__row_tuples_make(arena, node, error);
    if (own->passes.count > 1) hdst__row_passes_bind(arena, &own->call, &own->passes);
    return declared ? HDST_OK : hdst__plan_passes((ir_func *)own->call.func, error);
}

// --- Running ---

static hdst__stage_kind stage_kind(const hdst__node *node)
{
    if (!((const stage_node *)node->own)->folds) return HDST__STAGE_MAP;
    const hdst_map_spec *spec = node->dataset->spec;       // none: an operator's own, which is associative
    return spec && spec->function->reduce_class == AST_ORDERED ? HDST__STAGE_FOLD_ORDERED : HDST__STAGE_FOLD;
}

// Code of the program's own finds C structs, whatever the layout elsewhere.
static hdst_status read_structs(const hdst__node *node, hdst__stage_spec *spec, hdst_error *error)
{
    if (spec->reader.layout != HDST__AOS && spec->cache) {
        hdst__error_set(error, HDST_E_UNSUPPORTED,
                        "the code given for '%s' reads C structs; the cached records before it lie in another layout",
                        node->call->func->name);
        hdst__error_hint(error, "put hdst_with_layout(records, HDST_AOS) in front of it");
        return HDST_E_UNSUPPORTED;
    }
    spec->reader.layout = HDST__AOS;
    spec->reader.block = 0;
    return HDST_OK;
}

bool hdst__stage_node_gives_many(const stage_node *own)
{
    for (size_t i = 0; i < own->item_count; i++)
        if (own->items[i]->op->gives == HDST__GIVES_MANY) return true;
    return false;
}

// Whether the records had better wait on the device for who would take them slice by slice. Nobody knows how many a flat_map gives: then it is asked whether
// the device would do with as few as it takes, if it is the only one.
static bool stays_whole(const hdst__node *node, uint64_t records, hdst_error *error)
{
    const bool many = hdst__stage_node_gives_many(node->own);
    if (!node->consumer || own_code(node) || (many && !node->keeps_many)) return false;
    hdst__engine *engine = node->dataset->object.context->engine;
    const uint64_t asked = many ? hdst__engine_limits(engine)->by_key_device_least : records;
    return node->consumer->op->wants_whole(node->consumer, asked, error) && (!many || hdst__engine_workers(engine) == 1);       // it is open then
}

static bool gives_each(const stage_node *own)
{
    for (size_t i = 0; i < own->item_count; i++)
        if (own->items[i]->op->gives != HDST__GIVES_EACH) return false;
    return true;
}

// What the stage gives goes to the reduction of a table.
static bool give_tuples(const hdst__node *node, hdst__table_by_tuples *by, hdst__stage_spec *spec)
{
    spec->func = by->call.func;
    spec->consumer = hdst__row_tuples_consumer(node, by);
    spec->keep_output = spec->keep_whole = spec->may_spill = false;
    spec->limit = 0;
    return spec->consumer != NULL;
}

static hdst_status create_stage(hdst__node *node, hdst__stage_spec *spec, hdst_error *error)
{
    if (!spec->reader.open_end && stays_whole(node, spec->reader.records, error)) {
        node->consumer = NULL;
        spec->keep_output = spec->keep_whole = node->keeps = true;
    }
    if (node->consumer) spec->consumer = node->consumer->op->consumer(node->consumer, error);
    if (node->consumer && !spec->consumer) return HDST_E_MEMORY;
    hdst__row_tuples *tuples = &((stage_node *)node->own)->tuples;
    if (tuples->count && tuples->alone && !give_tuples(node, &tuples->table[0], spec)) return hdst__error_memory(error, "a reduction of accumulators");
    node->call->stage = hdst__stage_create(node->dataset->object.context->engine, spec);
    return node->call->stage ? HDST_OK : hdst__error_memory(error, "a stage");
}

static hdst_status describe_stage(hdst__node *node, hdst__stage_spec *to, hdst_error *error)
{
    stage_node *own = node->own;
    const hdst__node *input = node->inputs[0];
    hdst__stage_spec spec = {.kind = stage_kind(node), .func = own->call.func, .reader = input->reader, .cache = input->resident, .identity = own->identity,
                             .keep_output = node->keeps, .may_spill = node->op == &hdst__op_stage, .limit = own->limit, .takes_rows = !own->keeps_partial,
                             .built_in = !node->dataset->spec, .keep_whole = node->folded && !gives_each(own)};
    if (input->reader.open_end) spec.keep_output = false;      // nobody knows how much that is to be
    if (own->nothing) {
        spec.reader = hdst__range_input_reader(node);
        spec.cache = NULL;
    }
    hdst_status status = spec.cache ? HDST_OK : hdst__searched_input_read(&own->searched, node, &spec.reader, error);
    if (status != HDST_OK) return status;
    if (own->part.wanted) hdst__fold_part_input(own, &spec);
    const hdst_map_spec *code = own_code(node);
    if (code) {
        status = read_structs(node, &spec, error);
        if (status != HDST_OK) return status;
        spec.separate = code->code;
        spec.only_declared = !code->function->body;
    }
    *to = spec;
    return HDST_OK;
}

hdst_status hdst__stage_node_input(hdst__node *node, hdst_error *error)
{
    const stage_node *own = node->own;
    hdst__stage_spec spec;
    const hdst_status status = describe_stage(node, &spec, error);
    if (status != HDST_OK) return status;
    if (own->call.stage) return hdst__stage_set_input(own->call.stage, &spec.reader, spec.cache, error);
    return create_stage(node, &spec, error);
}

static hdst__registered *pins_of(const hdst__node *node) { return hdst__engine_runtime(node->dataset->object.context->engine)->outputs; }

static void free_rows(hdst__node *node, hdst__plan_table *table)
{
    if (table->is_pinned) hdst__registered_remove(pins_of(node), table->rows, NULL);
    table->was_read = table->is_pinned = false;
    hdst__free(HDST__ALLOCATOR(node->dataset), table->rows);
    table->rows = NULL;
    table->row_count = table->bytes = 0;
}

// All zero, or, where whoever reads them into here writes all bytes, as they are.
static hdst_status make_rows(hdst__node *node, hdst__plan_table *table, uint64_t rows, bool come_whole, hdst_error *error)
{
    uint64_t bytes;
    if (__builtin_mul_overflow(rows, table->record->size, &bytes)) return hdst__error_memory(error, "a result");
    if (table->rows && table->bytes == bytes) {
        if (!come_whole) memset(table->rows, 0, (size_t)bytes);
    } else {
        free_rows(node, table);
        table->rows = hdst__alloc_zero(hdst__owned_by(node->dataset->object.context, HDST__OWNER_OUTPUT), (size_t)bytes);
        if (!table->rows) return hdst__error_memory(error, "a result");
    }
    table->bytes = bytes;
    table->row_count = rows;
    return HDST_OK;
}

// To pin memory takes as long as to copy into it once or twice, so a single run does without.
static void pin_rows(hdst__node *node, hdst__plan_table *table)
{
    if (table->was_read && !table->is_pinned && table->bytes >= HDST__HOST_PINNED_LEAST_BYTES)
        table->is_pinned = hdst__registered_add(pins_of(node), table->rows, table->bytes, NULL) == HDST_OK;
    table->was_read = true;
}

// Rows of a table as the stage has accumulated them, whose accumulator number `i` it is.
static hdst_status read_rows(hdst__node *node, hdst__stage *stage, const hdst__stage_output *output, const hdst__plan_table *table, size_t i, void *rows,
                             hdst_error *error)
{
    const uint64_t *rows_of_param = node->call->values->rows;
    const uint64_t count = rows_of_param[table->param];
    if (hdst__stage_has_finished(stage, i)) return hdst__stage_read_finished(stage, i, rows, error);
    if (output->partial) hdst__partial_read_rows(output->partial, i, table->record, 0, count, rows);
    else if (output->tables->first_level) hdst__first_level_read_rows(output->tables, rows_of_param, &output->first_level, i, table->record, rows);
    else hdst__table_read_rows(output->tables, rows_of_param, output->table, i, table->record, 0, count, rows);
    return HDST_OK;
}

static hdst_status finish_table(hdst__node *node, const hdst__stage_output *output, hdst__plan_table *table, size_t i, hdst_error *error)
{
    const uint64_t *rows_of_param = node->call->values->rows;
    table->resident = hdst__stage_finished(node->call->stage, i);
    if (table->resident && table->keeps) {
        free_rows(node, table);
        table->row_count = rows_of_param[table->param];
        return HDST_OK;
    }
    const bool is_finished = hdst__stage_has_finished(node->call->stage, i), is_filled = !is_finished && !output->partial && output->tables->first_level;
    const hdst_status status = make_rows(node, table, rows_of_param[table->param], is_finished || is_filled, error);
    if (status == HDST_OK && is_finished) pin_rows(node, table);
    return status == HDST_OK ? read_rows(node, node->call->stage, output, table, i, table->rows, error) : status;
}

// Turns the node's table into rows of C structs, one array per accumulator, unless the device did.
static hdst_status finish_tables(hdst__node *node, const hdst__stage_output *output, hdst_error *error)
{
    const hdst__row_tuples *tuples = &((const stage_node *)node->own)->tuples;
    hdst_status status = HDST_OK;
    size_t accum = 0;
    for (size_t i = 0; i < node->table_count && status == HDST_OK; i++)
        if (!hdst__row_tuples_has(tuples, &node->tables[i])) status = finish_table(node, output, &node->tables[i], accum++, error);
    return status;
}

static void drop_partial(stage_node *own)
{
    hdst__partial_destroy(own->partial);
    own->partial = NULL;
}

// The same accumulators unfinished, for who asked for them. Those that a stage has of its own, behind the node's, are left out.
static hdst_status keep_partial(hdst__node *node, const hdst__stage_output *output, hdst_error *error)
{
    stage_node *own = node->own;
    if (!own->keeps_partial || !(output->table || output->partial)) return HDST_OK;
    drop_partial(own);
    if (output->partial) {
        own->partial = hdst__partial_create_empty(HDST__ALLOCATOR(node->dataset));
        return own->partial ? hdst__partial_append(own->partial, output->partial, node->table_count, error) : hdst__error_memory(error, "unfinished sums");
    }
    const hdst__device_table table = {.tables = output->tables, .rows = own->call.values->rows, .words = output->table, .scale = output->scale};
    hdst__tables tables = *output->tables;
    tables.accum_count = node->table_count;
    own->partial = hdst__partial_create(HDST__ALLOCATOR(node->dataset), &tables, table.rows);
    return own->partial ? hdst__partial_add_device_table(own->partial, &table, error) : hdst__error_memory(error, "unfinished sums");
}

void hdst__stage_node_keep_partial(hdst__node *node)
{
    stage_node *own = node->own;
    own->keeps_partial = true;
    if (own->call.stage) hdst__stage_keep_table(own->call.stage);
}

// The rows of a reduce are wanted on the device by the stage that reads them.
static void keep_rows(hdst__node *node)
{
    const stage_node *own = node->own;
    bool keeps = false;
    if (own->records_table && node->keeps) node->tables[own->records_table - node->tables].keeps = true;
    for (size_t i = 0; i < node->table_count; i++) keeps |= node->tables[i].keeps;
    if (keeps) hdst__stage_keep_rows(own->call.stage);
}

static void show_records(hdst__node *node, const hdst__stage_output *output)
{
    const hdst__plan_table *table = ((const stage_node *)node->own)->records_table;
    node->rows = table ? table->rows : output->records;
    node->row_count = table ? table->row_count : output->record_count;
    node->resident = !table ? output->resident : table->rows ? NULL : table->resident;
    if (!node->resident) node->reader = hdst__node_rows_reader(node, node->dataset->record);
    else node->reader = table ? *hdst__dataset_cache_own_reader(table->resident) : output->reader;
}

// --- In passes over ranges of the rows of accumulators ---

static bool gives_records(const ir_func *func) { return func->params[func->param_count - 1].kind == IR_OUTPUT; }

// What tables of one pass come to has its place among all rows.
static hdst_status take_rows(hdst__node *node, hdst_error *error)
{
    const stage_node *own = node->own;
    hdst_status status = HDST_OK;
    for (size_t i = 0; i < node->table_count && status == HDST_OK; i++) {
        uint64_t first, all;
        hdst__row_passes_range(&own->passes, &own->call, node->tables[i].param, &first, &all);
        node->tables[i].resident = NULL;
        status = make_rows(node, &node->tables[i], all, false, error);
    }
    return status;
}

static hdst_status place_rows(hdst__node *node, hdst__stage *stage, const hdst__stage_output *output, hdst_error *error)
{
    const stage_node *own = node->own;
    hdst_status status = HDST_OK;
    for (size_t i = 0; i < node->table_count && status == HDST_OK; i++) {
        const hdst__plan_table *table = &node->tables[i];
        uint64_t first, all;
        hdst__row_passes_range(&own->passes, &own->call, table->param, &first, &all);
        status = read_rows(node, stage, output, table, i, (char *)table->rows + first * table->record->size, error);
    }
    return status;
}

// A stage that gives no records: those of the first pass stay.
static hdst_status make_rest(hdst__node *node, hdst_error *error)
{
    stage_node *own = node->own;
    hdst__stage_spec spec;
    const hdst_status status = describe_stage(node, &spec, error);
    if (status != HDST_OK) return status;
    if (own->passes.rest) return hdst__stage_set_input(own->passes.rest, &spec.reader, spec.cache, error);
    spec.consumer = hdst__row_passes_sink();
    spec.keep_output = spec.keep_whole = spec.may_spill = false;
    own->passes.rest = hdst__stage_create(node->dataset->object.context->engine, &spec);
    return own->passes.rest ? HDST_OK : hdst__error_memory(error, "a stage");
}

static hdst_status run_pass(hdst__node *node, hdst__stage *stage, uint32_t pass, hdst__stage_output *output, hdst_error *error)
{
    stage_node *own = node->own;
    hdst__row_passes_move(&own->passes, &own->call, pass);
    hdst_status status = hdst__stage_call_values(&own->call, error);
    if (status != HDST_OK) return status;
    status = hdst__stage_run(stage, own->call.values, output, error);
    own->passes.lacks_memory = status == HDST_E_MEMORY;
    if (own->passes.lacks_memory && error) own->passes.why = *error;
    if (status == HDST_OK && own->passes.windows) status = place_rows(node, stage, output, error);
    hdst__row_passes_count(&own->passes, hdst__stage_stats(stage), pass);
    return status;
}

static hdst_status run_later_passes(hdst__node *node, hdst_error *error)
{
    stage_node *own = node->own;
    const bool apart = gives_records(own->call.func);
    hdst_status status = apart ? make_rest(node, error) : HDST_OK;
    if (apart) hdst__stage_forget_plan(own->call.stage);
    for (uint32_t pass = 1; pass < own->passes.count && status == HDST_OK; pass++) {
        hdst__stage_output output = {0};
        status = run_pass(node, apart ? own->passes.rest : own->call.stage, pass, &output, error);
    }
    if (own->passes.rest) hdst__stage_forget_plan(own->passes.rest);
    return status;
}

// --- By way of tuples ---

// Of a table whose tuples another run of the function gives.
static hdst_status run_tuples(hdst__node *node, hdst__table_by_tuples *by, hdst_error *error)
{
    stage_node *own = node->own;
    hdst__stage_spec spec;
    hdst__stage_output output = {0};
    hdst_status status = describe_stage(node, &spec, error);
    if (status == HDST_OK && !give_tuples(node, by, &spec)) status = hdst__error_memory(error, "a reduction of accumulators");
    if (status == HDST_OK && by->call.stage) status = hdst__stage_set_input(by->call.stage, &spec.reader, spec.cache, error);
    else if (status == HDST_OK) by->call.stage = hdst__stage_create(node->dataset->object.context->engine, &spec);
    if (status == HDST_OK && !by->call.stage) status = hdst__error_memory(error, "a stage");
    if (status == HDST_OK) status = hdst__stage_call_values(&by->call, error);
    if (status == HDST_OK) status = hdst__stage_run(by->call.stage, by->call.values, &output, error);
    if (by->call.stage) hdst__row_passes_count(&own->passes, hdst__stage_stats(by->call.stage), 1);
    return status;
}

// The node's own run is over.
static hdst_status finish_tuples(hdst__node *node, hdst_error *error)
{
    stage_node *own = node->own;
    hdst_status status = HDST_OK;
    for (size_t i = 0; i < own->tuples.count && status == HDST_OK; i++) {
        hdst__table_by_tuples *by = &own->tuples.table[i];
        if (i || !own->tuples.alone) status = run_tuples(node, by, error);
        if (status != HDST_OK) break;
        status = hdst__row_tuples_end(by, error);
        hdst__row_passes_count(&own->passes, hdst__aggregate_stats(by->aggregate), 1);
        if (i || !own->tuples.alone) hdst__stage_forget_plan(by->call.stage);
    }
    own->passes.lacks_memory = status == HDST_E_MEMORY;
    if (own->passes.lacks_memory && error) own->passes.why = *error;
    return status;
}

static hdst_status cannot_keep(const hdst__node *node, hdst_error *error)
{
    hdst__error_set(error, HDST_E_MEMORY, "accumulators that are kept unfinished take all of their rows at once, for which there was no memory");
    if (node->dataset->row_passes_why) hdst__error_cause(error, "%s", node->dataset->row_passes_why);
    return HDST_E_MEMORY;
}

// What is read once, and what another node runs as often as it likes, goes without. So does code of the program's own.
static bool takes_less(hdst__node *node)
{
    stage_node *own = node->own;
    if (own->folds || node->driver || node->inputs[0]->reader.open_end || own_code(node)) return false;
    return hdst__row_passes_take_less(node->dataset, &own->call, &own->passes);
}

// --- A run ---

// The first pass, or the only one.
static hdst_status run_first(hdst__node *node, hdst__stage_output *output, hdst_error *error)
{
    stage_node *own = node->own;
    hdst_status status = hdst__stage_node_input(node, error);
    if (status == HDST_OK) status = hdst__stage_call_values(&own->call, error);
    if (status != HDST_OK) return status;
    if (own->tuples.count && own->keeps_partial) return cannot_keep(node, error);
    if (!own->passes.windows) keep_rows(node);
    else status = own->keeps_partial ? cannot_keep(node, error) : take_rows(node, error);
    return status == HDST_OK ? run_pass(node, own->call.stage, 0, output, error) : status;
}

hdst_status hdst__stage_node_run(hdst__node *node, hdst_error *error)
{
    const stage_node *own = node->own;
    hdst__stage_output output = {0};
    node->ran = false;
    if (own->part.wanted) hdst__fold_part_begin(node);
    hdst__node_drop_texts(node);
    hdst_status status = run_first(node, &output, error);
    if (status == HDST_E_RECORD && node->inputs[0]->op->name_failed) {
        if (error) node->inputs[0]->op->name_failed(node->inputs[0], error);
    } else if (status == HDST_E_RECORD) hdst__replay_save(node, own, own->folds ? hdst__stage_failed_pair(own->call.stage) : NULL, error);
    if (status == HDST_OK && own->part.wanted) status = hdst__fold_part_take(node, &output, error);
    if (status == HDST_OK) status = keep_partial(node, &output, error);
    if (status == HDST_OK) status = own->passes.windows ? run_later_passes(node, error) : finish_tables(node, &output, error);
    if (status == HDST_OK && own->tuples.count) status = finish_tuples(node, error);
    node->ran = status == HDST_OK;
    if (node->ran && output.texts) node->texts = hdst__text_heap_hold(output.texts);
    if (node->ran && node->dataset->record) show_records(node, &output);
    return status;
}

hdst_status hdst__stage_node_run_in_turn(hdst__plan *plan, hdst__node *node, hdst_error *error)
{
    if (node->driver) return HDST_OK;
    const hdst_status status = hdst__stage_node_run(node, error);
    const stage_node *own = node->own;
    const hdst__row_passes *passes = &own->passes;
    if (node->call->stage) hdst__plan_add_stats(&plan->stats, passes->windows || own->tuples.count ? &passes->stats : hdst__stage_stats(node->call->stage));
    return status;
}

// --- Explaining ---

void hdst__stage_node_line(const hdst__node *node, hdst__buffer *out)
{
    const stage_node *own = node->own;
    hdst__node_describe_inputs(node, out);
    for (size_t i = 0; i < own->item_count; i++) own->items[i]->op->describe(own->items[i], out);
    if (own->limit) hdst__buffer_printf(out, ", until there are %" PRIu64, own->limit);
}

// Of a stage that did not run little is known, as of the addends in a loop's first turn, so that more memory seems due than a run takes: no reason to fail.
static hdst_status explain_shortage(const hdst__node *node, hdst_status status, hdst__buffer *out, hdst_error *error)
{
    const stage_node *own = node->own;
    if (status != HDST_E_MEMORY || node->ran) return status;
    hdst__buffer_printf(out, "stage %s: how it runs is found out by the next run; memory is short for what is known before: %s\n", own->call.func->name,
                        error->message);
    *error = (hdst_error)HDST_ERROR_INIT;
    return HDST_OK;
}

hdst_status hdst__stage_node_explain(hdst__node *node, hdst__buffer *out, hdst_error *error)
{
    const stage_node *own = node->own;
    if (node->driver && !node->driver->op->drives(node->driver)) return HDST_OK;       // it does not run
    if (!hdst__node_inputs_known(node)) {
        hdst__buffer_printf(out, "stage %s: what it reads is computed by the next run%s\n", own->call.func->name,
                            node->ran ? "; memory was short, so the last one gave it back" : "");
        return HDST_OK;
    }
    hdst_status status = hdst__stage_node_input(node, error);
    if (status == HDST_OK) status = hdst__stage_call_values(&own->call, error);
    if (status != HDST_OK) return status;
    status = explain_shortage(node, hdst__stage_explain(own->call.stage, own->call.values, out, error), out, error);
    if (status == HDST_OK) hdst__searched_input_explain(&own->searched, out);
    if (status == HDST_OK) hdst__row_passes_explain(node->dataset, &own->passes, out);
    if (status == HDST_OK) hdst__row_tuples_explain(node->dataset, &own->tuples, out);
    return status;
}

// --- Ending ---

void hdst__stage_node_drop(hdst__node *node)
{
    if (node->call->stage) hdst__stage_forget(node->call->stage);
}

void hdst__stage_node_release(hdst__node *node)
{
    hdst__stage_call_end(node->call);
    drop_partial(node->own);
    hdst__stage_destroy(((stage_node *)node->own)->passes.rest);
    ((stage_node *)node->own)->passes.rest = NULL;
    hdst__fold_part_release(node);
    hdst__row_tuples_release(&((stage_node *)node->own)->tuples);
    hdst__searched_input_release(&((stage_node *)node->own)->searched);
    for (size_t i = 0; i < node->table_count; i++) free_rows(node, &node->tables[i]);
}

const hdst__operator hdst__op_stage = {
    .name = "a stage", .build = build, .run = hdst__stage_node_run_in_turn, .known = hdst__node_has_run, .line = hdst__stage_node_line,
    .explain = hdst__stage_node_explain,
    .drop = hdst__stage_node_drop, .release = hdst__stage_node_release, .node_takes_less = takes_less,
};
