// SPDX-License-Identifier: Apache-2.0
// Which datasets become nodes of a plan. Datasets are made from older ones, so their serial numbers are an order of running; no recursion is needed, however
// deep the graph is.
#include "plan/lookup_tables.h"
#include "plan/probe.h"
#include "plan/stage_call.h"

#include "engine/engine.h"

#include <stdlib.h>
#include <string.h>

enum { LONGEST_CHAIN = 64 };        // functions of one stage

typedef struct reached {            // every dataset that the target needs
    hdst__arena *arena;
    hdst_dataset **items;
    size_t count, capacity;
    uint64_t plan;
} reached;

static void reach(reached *r, hdst_dataset *dataset, const hdst_dataset *consumer)
{
    if (dataset->mark.plan != r->plan) {
        dataset->mark = (hdst__plan_mark){.plan = r->plan};
        HDST__PUSH(r->arena, r->items, r->count, r->capacity, dataset);
    }
    if (consumer) dataset->mark.consumers++;
    dataset->mark.consumer = consumer;
}

static int by_serial(const void *a, const void *b)
{
    uint64_t left = (*(hdst_dataset *const *)a)->serial, right = (*(hdst_dataset *const *)b)->serial;
    return left < right ? -1 : left > right;
}

static void reach_lookups(reached *r, const hdst_dataset *dataset)
{
    for (size_t b = 0; dataset->spec && b < dataset->spec->binding_count; b++)
        if (dataset->spec->bindings[b].lookup) reach(r, dataset->spec->bindings[b].lookup->records, dataset);
}

// What a cache holds belongs to a plan of its own.
static void reach_all(reached *r, hdst_dataset *target)
{
    reach(r, target, NULL);
    for (size_t i = 0; i < r->count; i++) {
        hdst_dataset *dataset = r->items[i];
        if (dataset->op->below) continue;
        reach_lookups(r, dataset);
        if (dataset->input_count)
            for (size_t j = 0; j < dataset->input_count; j++) reach(r, dataset->inputs[j], dataset);
        else if (dataset->parent) reach(r, dataset->parent, dataset);
    }
    qsort(r->items, r->count, sizeof *r->items, by_serial);
}

// Who gives the dataset's records.
static const hdst_dataset *in_plan(const hdst_dataset *dataset) { return dataset->mark.stand_in ? dataset->mark.stand_in : dataset; }

// A stand-in reads what the dataset does, and is read by who reads that.
static void put_stand_in(reached *r, size_t i, hdst_dataset *stand_in)
{
    hdst_dataset *dataset = r->items[i];
    stand_in->mark = (hdst__plan_mark){.plan = r->plan, .consumers = dataset->mark.consumers, .consumer = dataset->mark.consumer,
                                       .looked_up = stand_in->mark.looked_up};
    for (size_t k = 0; k < dataset->input_count; k++)
        if (dataset->inputs[k]->mark.consumer == dataset) dataset->inputs[k]->mark.consumer = stand_in;
    dataset->mark.stand_in = stand_in;
    r->items[i] = stand_in;
}

// From the last one on: who stands in asks for those that read it as they were made.
static void put_stand_ins(reached *r, const hdst__plan *plan)
{
    for (size_t i = r->count; i-- > 0;) {
        hdst_dataset *dataset = r->items[i], *stand_in = dataset->op->stands_in ? dataset->op->stands_in(r->arena, plan, dataset) : NULL;
        if (stand_in) put_stand_in(r, i, stand_in);
    }
}

// --- Cuts ---

static bool is_function(const hdst_dataset *dataset) { return dataset->op->lower != NULL; }

static bool folds(const ir_func *func) { return func->param_count > 1 && func->params[1].kind == IR_INPUT; }

static bool has_own_code(const hdst_dataset *dataset) { return dataset->spec && dataset->spec->separate; }

// Texts that it builds are texts only once its records were taken (engine/stage/built_texts.h).
static bool builds_texts(const ir_func *func)
{
    for (size_t i = 0; func && i < func->param_count; i++)
        if (func->params[i].given) return true;
    return false;
}

bool hdst__dataset_fuses(const hdst_dataset *dataset)
{
    const hdst_dataset *parent = hdst__dataset_before(dataset);
    if (!is_function(parent) || parent->mark.consumers > 1 || dataset->mark.runs_as) return false;
    if (has_own_code(dataset) || has_own_code(parent) || builds_texts(parent->mark.func)) return false;
    if (parent->op->gives_blocks && hdst__engine_settings(dataset->object.context->engine)->skip_failed) return false;
    if (parent->op->gives == HDST__GIVES_OTHERS) return false;      // a reduce
    if (folds(dataset->mark.func) || parent->mark.length >= LONGEST_CHAIN) return false;
    return !(parent->mark.drops && hdst__reads_index(dataset->mark.func));    // the index of a record is its place in what the function runs over
}

// Functions that make one record of each, and nothing else, need only run over the records that a slice of them asks for.
static bool slices_input(const hdst_dataset *slice)
{
    const hdst_dataset *parent = hdst__dataset_before(slice);
    if (!slice->op->takes_some || !is_function(parent) || parent->mark.consumers > 1 || has_own_code(parent)) return false;
    return !folds(parent->mark.func) && !parent->mark.drops && !parent->mark.whole;
}

// Where records that fail are left out, a function with a check may drop some, as a filter does.
static bool may_leave_out(const hdst_dataset *dataset)
{
    const hdst_context *context = dataset->object.context;
    return hdst__engine_settings(context->engine)->skip_failed && !context->unchecked && dataset->mark.func->check_count > 0;
}

// Whether the function of `reader` looks the dataset's records up.
static bool is_looked_up(const hdst_dataset *dataset, const hdst_dataset *reader)
{
    if (reader->mark.looked_up && in_plan(reader->mark.looked_up) == dataset) return true;
    return reader->spec && hdst__map_spec_looks_up_in(reader->spec, dataset, in_plan);
}

// Whether the dataset's records must exist, or be read in a way of their own.
static bool needs_node(const hdst_dataset *dataset)
{
    const hdst_dataset *consumer = dataset->mark.consumer;
    if (consumer && dataset->mark.consumers == 1 && slices_input(consumer)) return false;
    if (consumer && is_looked_up(dataset, consumer)) return true;
    return !is_function(dataset) || !consumer || dataset->mark.consumers > 1 || !is_function(consumer) || !hdst__dataset_fuses(consumer);
}

// --- Nodes ---

static const hdst__operator *operator_of_node(const hdst_dataset *dataset)
{
    if (dataset->mark.runs_as) return dataset->mark.runs_as;
    return !is_function(dataset) ? dataset->op : folds(dataset->mark.func) ? &hdst__op_fold : &hdst__op_stage;
}

static void set_input(hdst__arena *arena, hdst__node *node, hdst__node *input)
{
    node->inputs = HDST__NEW_ARRAY(arena, hdst__node *, 1);
    node->inputs[node->input_count++] = input;
}

static size_t count_tables(const hdst_dataset *item) { return (item->mark.looked_up ? 1 : 0) + (item->mark.lookups ? item->spec->binding_count : 0); }

static void add_tables_of(hdst__node *node, const hdst_dataset *item)
{
    if (item->mark.looked_up) node->inputs[node->input_count++] = hdst__probe_table(item);
    for (size_t b = 0; item->mark.lookups && b < item->spec->binding_count; b++)
        if (item->mark.lookups[b]) node->inputs[node->input_count++] = item->mark.lookups[b];
}

// A node reads the tables that its functions, of which `last` is the last one, look up in beside its records. What is no function of records may call one.
static void add_tables(hdst__arena *arena, hdst__node *node, const hdst_dataset *last)
{
    const hdst_dataset *item = last;
    const uint32_t length = is_function(last) ? last->mark.length : 1;
    size_t tables = 0;
    for (uint32_t i = 0; i < length; i++, item = hdst__dataset_before(item)) tables += count_tables(item);
    if (!tables) return;
    hdst__node **inputs = HDST__NEW_ARRAY(arena, hdst__node *, node->input_count + tables);
    if (node->input_count) memcpy(inputs, node->inputs, node->input_count * sizeof *inputs);
    node->inputs = inputs;
    item = last;
    for (uint32_t i = 0; i < length; i++, item = hdst__dataset_before(item)) add_tables_of(node, item);
}

static bool fuses(const hdst__node *node) { return node->op == &hdst__op_stage || node->op == &hdst__op_fold; }

// The first function of those that end with `last`.
static const hdst_dataset *first_function(const hdst_dataset *last)
{
    for (uint32_t i = last->mark.length; i > 1; i--) last = hdst__dataset_before(last);
    return last;
}

static hdst__node *node_of(const hdst_dataset *dataset) { return in_plan(dataset)->mark.node; }

static void add_inputs(hdst__arena *arena, hdst__node *node)
{
    hdst_dataset *dataset = node->dataset;
    if (!dataset->parent || node->op->below) return;
    if (dataset->input_count) {
        node->inputs = HDST__NEW_ARRAY(arena, hdst__node *, dataset->input_count);
        for (; node->input_count < dataset->input_count; node->input_count++) node->inputs[node->input_count] = node_of(dataset->inputs[node->input_count]);
        add_tables(arena, node, dataset);
        return;
    }
    // A stage's output is best left where the next one reads it.
    const hdst_dataset *first = fuses(node) ? first_function(dataset) : dataset;
    hdst__node *before = hdst__dataset_before(first)->mark.node;
    if (fuses(node)) before->keeps = true;
    set_input(arena, node, before);
    if (fuses(node) || !is_function(dataset)) add_tables(arena, node, dataset);
}

static hdst__node *add_node(hdst__arena *arena, hdst__plan *plan, hdst_dataset *dataset, const hdst__operator *op)
{
    hdst__node *node = HDST__NEW(arena, hdst__node);
    node->dataset = dataset;
    node->op = op;
    HDST__PUSH(arena, plan->nodes, plan->node_count, plan->node_capacity, node);
    node->number = (uint32_t)plan->node_count;
    dataset->mark.node = plan->target = node;
    return node;
}

// A slice of the functions' input, and then the functions.
static void add_sliced_input(hdst__arena *arena, hdst__plan *plan, hdst_dataset *slice)
{
    hdst__node *part = add_node(arena, plan, slice, slice->op), *stage = add_node(arena, plan, slice, &hdst__op_stage);
    set_input(arena, part, hdst__dataset_before(first_function(hdst__dataset_before(slice)))->mark.node);
    set_input(arena, stage, part);
    add_tables(arena, stage, hdst__dataset_before(slice));
}

static hdst__node *add_table(hdst__arena *arena, hdst__plan *plan, hdst_dataset *item, const hdst__operator *op, const hdst_dataset *records)
{
    hdst__node *own = item->mark.node, *table = add_node(arena, plan, item, op);
    item->mark.node = own;
    set_input(arena, table, node_of(records));
    return table;
}

static void add_lookups(hdst__arena *arena, hdst__plan *plan, hdst_dataset *item)
{
    const hdst_map_spec *spec = item->spec;
    if (!spec || !hdst__map_spec_looks_up(spec)) return;
    item->mark.lookups = HDST__NEW_ARRAY(arena, hdst__node *, spec->binding_count);
    for (size_t b = 0; b < spec->binding_count; b++) {
        const hdst__bound_lookup *lookup = spec->bindings[b].lookup;
        if (!lookup) continue;
        const bool stretches = lookup->parameter->has_stretches;
        hdst__node *table = add_table(arena, plan, item, stretches ? &hdst__op_stretches : &hdst__op_lookup_table, lookup->records);
        (stretches ? hdst__stretches_init : hdst__lookup_table_init)(arena, table, lookup);
        item->mark.lookups[b] = table;
    }
}

// Of the functions of a node that ends with `last`: nodes of the tables that they look up in.
static void add_table_nodes(hdst__arena *arena, hdst__plan *plan, hdst_dataset *last)
{
    hdst_dataset *item = last;
    const uint32_t length = is_function(last) ? last->mark.length : 1;
    for (uint32_t i = 0; i < length; i++, item = hdst__dataset_before(item)) {
        add_lookups(arena, plan, item);
        if (item->mark.looked_up) hdst__probe_set_table(item, add_table(arena, plan, item, &hdst__op_join_table, item->mark.looked_up));
    }
}

static void add_nodes(hdst__arena *arena, hdst__plan *plan, hdst_dataset *dataset)
{
    hdst_dataset *front = dataset->mark.front;
    const bool sliced = slices_input(dataset);
    add_table_nodes(arena, plan, sliced ? hdst__dataset_before(dataset) : front ? front : dataset);
    if (sliced) {
        add_sliced_input(arena, plan, dataset);
    } else if (front) {
        add_inputs(arena, add_node(arena, plan, front, &hdst__op_stage));
        set_input(arena, add_node(arena, plan, dataset, operator_of_node(dataset)), front->mark.node);
    } else {
        add_inputs(arena, add_node(arena, plan, dataset, operator_of_node(dataset)));
    }
}

static hdst_status note_function(hdst__arena *arena, hdst_dataset *dataset, hdst_error *error)
{
    hdst__plan_mark *mark = &dataset->mark;
    mark->func = hdst__plan_lower(arena, dataset, error);
    if (!mark->func) return error->code;
    const bool fused = hdst__dataset_fuses(dataset);
    const hdst__plan_mark *before = fused ? &hdst__dataset_before(dataset)->mark : NULL;
    mark->length = 1 + (fused ? before->length : 0);
    mark->drops = mark->func->emits || may_leave_out(dataset) || (fused && before->drops);
    mark->whole = hdst__reads_index(mark->func) || hdst__accumulates(mark->func) || (fused && before->whole);
    return HDST_OK;
}

// One that is no part of a stage after all. Functions before it end with another one then, where it would have been fused with them, or by itself.
static hdst_status note_own_node(hdst__arena *arena, const hdst__plan *plan, hdst_dataset *dataset, hdst_error *error)
{
    const bool fused = hdst__dataset_fuses(dataset);
    dataset->mark.runs_as = dataset->op->runs_as ? dataset->op->runs_as(arena, plan, dataset) : NULL;
    if (!dataset->mark.runs_as || !(fused || dataset->op->always_in_front)) return HDST_OK;
    hdst_dataset *front = dataset->op->in_front(arena, dataset);
    if (!front) return HDST_OK;
    front->mark = (hdst__plan_mark){.plan = dataset->mark.plan, .consumers = 1, .consumer = dataset};
    const hdst_status status = note_function(arena, front, error);
    if (status != HDST_OK || !(dataset->op->always_in_front || hdst__dataset_fuses(front))) return status;
    dataset->mark.front = front;
    hdst__dataset_before(front)->mark.consumer = front;
    return HDST_OK;
}

// Who is no stage keeps the records that it reads, and so needs their texts to stay: those that are read from a source then come to memory as a whole.
static void read_into_memory(hdst__node *node)
{
    if (hdst__node_reads_texts(node)) node->op = &hdst__op_read_rows;
    if (node->op != &hdst__op_slice && node->op != &hdst__op_union && node->op != &hdst__op_layout) return;
    for (size_t i = 0; i < node->input_count; i++) read_into_memory(node->inputs[i]);
}

static bool only_passes_on(const hdst__node *node)
{
    return fuses(node) || node->op == &hdst__op_slice || node->op == &hdst__op_union || node->op == &hdst__op_layout;
}

static void note_texts(const hdst__plan *plan)
{
    if (plan->target) read_into_memory(plan->target);
    for (size_t i = 0; i < plan->node_count; i++) {
        const hdst__node *node = plan->nodes[i];
        for (size_t k = 0; k < node->input_count && !only_passes_on(node); k++) read_into_memory(node->inputs[k]);
    }
}

hdst_status hdst__plan_nodes(hdst__arena *arena, hdst_dataset *dataset, hdst__plan *plan, hdst_error *error)
{
    reached r = {.arena = arena, .plan = ++plan->context->plans};
    reach_all(&r, dataset);
    put_stand_ins(&r, plan);
    for (size_t i = 0; i < r.count; i++) {
        hdst_dataset *d = r.items[i];
        hdst_status status = is_function(d) ? note_function(arena, d, error) : HDST_OK;
        if (status == HDST_OK && is_function(d)) status = note_own_node(arena, plan, d, error);
        if (status != HDST_OK) return status;
    }
    for (size_t i = 0; i < r.count; i++)
        if (needs_node(r.items[i])) add_nodes(arena, plan, r.items[i]);
    note_texts(plan);
    return HDST_OK;
}
