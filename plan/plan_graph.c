// SPDX-License-Identifier: Apache-2.0
// Which datasets become nodes of a plan. Datasets are made from older ones, so their serial numbers are an order of running; no recursion is needed, however
// deep the graph is.
#include "plan/plan.h"

#include "engine/engine.h"

#include <stdlib.h>

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

// What a cache holds belongs to a plan of its own.
static void reach_all(reached *r, hdst_dataset *target)
{
    reach(r, target, NULL);
    for (size_t i = 0; i < r->count; i++) {
        hdst_dataset *dataset = r->items[i];
        if (dataset->op == HDST__OP_CACHE) continue;
        if (dataset->input_count)
            for (size_t j = 0; j < dataset->input_count; j++) reach(r, dataset->inputs[j], dataset);
        else if (dataset->parent) reach(r, dataset->parent, dataset);
    }
    qsort(r->items, r->count, sizeof *r->items, by_serial);
}

// --- Cuts ---

static bool is_function(const hdst_dataset *dataset) { return dataset->op >= HDST__OP_MAP && dataset->op <= HDST__OP_REDUCE_DENSE; }

static bool see_index(ir_expr **slot, void *user)
{
    bool *seen = user;
    *seen |= (*slot)->op == IR_RECORD_INDEX;
    return !*seen;
}

bool hdst__reads_index(ir_func *func)
{
    bool seen = false;
    hdst__ir_visit_exprs(&func->body, see_index, &seen);
    return seen;
}

static bool folds(const ir_func *func) { return func->param_count > 1 && func->params[1].kind == IR_INPUT; }

static bool has_own_code(const hdst_dataset *dataset) { return dataset->spec && dataset->spec->separate; }

// Whether this function can be put behind what its only input has fused so far.
static bool fuses_with_parent(const hdst_dataset *dataset)
{
    const hdst_dataset *parent = dataset->parent;
    if (!is_function(parent) || parent->mark.consumers > 1) return false;
    if (has_own_code(dataset) || has_own_code(parent)) return false;
    if (parent->op >= HDST__OP_REDUCE && parent->op <= HDST__OP_REDUCE_DENSE) return false;
    if (folds(dataset->mark.func) || parent->mark.length >= LONGEST_CHAIN) return false;
    return !(parent->mark.drops && hdst__reads_index(dataset->mark.func));    // the index of a record is its place in what the function runs over
}

// Sums of many rows, of records that are there, are made by parts of the rows (shuffle/aggregate/aggregate.h).
static bool goes_by_parts(const hdst_dataset *dataset)
{
    return dataset->op == HDST__OP_REDUCE_DENSE && !fuses_with_parent(dataset) &&
           hdst__aggregate_suits_rows(dataset->object.context->engine, dataset->record, dataset->count);
}

static bool accumulates(const ir_func *func)
{
    for (size_t i = 0; i < func->param_count; i++)
        if (func->params[i].kind == IR_ACCUM_TABLE) return true;
    return false;
}

// Functions that make one record of each, and nothing else, need only run over the records that a slice of them asks for.
static bool slices_input(const hdst_dataset *slice)
{
    const hdst_dataset *parent = slice->parent;
    if (slice->op != HDST__OP_SLICE || !is_function(parent) || parent->mark.consumers > 1 || has_own_code(parent)) return false;
    return !folds(parent->mark.func) && !parent->mark.drops && !parent->mark.whole;
}

// Where records that fail are left out, a function with a check may drop some, as a filter does.
static bool may_leave_out(const hdst_dataset *dataset)
{
    const hdst_context *context = dataset->object.context;
    return hdst__engine_settings(context->engine)->skip_failed && !context->unchecked && dataset->mark.func->check_count > 0;
}

// Whether the dataset's records must exist, or be read in a way of their own.
static bool needs_node(const hdst_dataset *dataset)
{
    const hdst_dataset *consumer = dataset->mark.consumer;
    if (consumer && dataset->mark.consumers == 1 && slices_input(consumer)) return false;
    return !is_function(dataset) || !consumer || dataset->mark.consumers > 1 || !is_function(consumer) || !fuses_with_parent(consumer);
}

// --- Nodes ---

static hdst__node_kind kind_of(const hdst_dataset *dataset)
{
    switch (dataset->op) {
    case HDST__OP_READ: return HDST__NODE_READ;
    case HDST__OP_LAYOUT: return HDST__NODE_LAYOUT;
    case HDST__OP_SLICE: return HDST__NODE_SLICE;
    case HDST__OP_UNION: return HDST__NODE_UNION;
    case HDST__OP_CACHE: return HDST__NODE_CACHE;
    case HDST__OP_SORT: return HDST__NODE_SORT;
    case HDST__OP_GROUP: return HDST__NODE_GROUP;
    case HDST__OP_PARTITION: return HDST__NODE_PARTITION;
    case HDST__OP_TOP: return HDST__NODE_TOP;
    case HDST__OP_REDUCE_BY_KEY: case HDST__OP_COUNT_BY_KEY: case HDST__OP_DISTINCT: return HDST__NODE_BY_KEY;
    case HDST__OP_REDUCE_DENSE: return goes_by_parts(dataset) ? HDST__NODE_BY_KEY : HDST__NODE_STAGE;
    default: return folds(dataset->mark.func) ? HDST__NODE_FOLD : HDST__NODE_STAGE;
    }
}

static void set_input(hdst__arena *arena, hdst__node *node, hdst__node *input)
{
    node->inputs = HDST__NEW_ARRAY(arena, hdst__node *, 1);
    node->inputs[node->input_count++] = input;
}

// Records of functions that nobody else reads need not exist in whole: the node takes them as they come. Reduces give theirs at the end.
static void take_slices(hdst__node *node)
{
    hdst__node *from = node->inputs[0];
    const hdst__operator op = from->dataset->op;
    if (from->kind == HDST__NODE_STAGE && from->dataset->mark.consumers == 1 && !(op >= HDST__OP_REDUCE && op <= HDST__OP_REDUCE_DENSE)) from->taker = node;
}

static void add_inputs(hdst__arena *arena, hdst__node *node)
{
    hdst_dataset *dataset = node->dataset;
    if (node->kind == HDST__NODE_READ || node->kind == HDST__NODE_CACHE) return;
    if (dataset->input_count) {
        node->inputs = HDST__NEW_ARRAY(arena, hdst__node *, dataset->input_count);
        for (; node->input_count < dataset->input_count; node->input_count++) {
            node->inputs[node->input_count] = dataset->inputs[node->input_count]->mark.node;
            node->inputs[node->input_count]->feeds = true;
        }
        return;
    }
    // A stage's output is best left where the next one reads it.
    const hdst_dataset *before = node->item_count ? node->items[0] : dataset;
    if (node->item_count) before->parent->mark.node->keeps = true;
    set_input(arena, node, before->parent->mark.node);
    node->inputs[0]->feeds = true;
    if (node->kind == HDST__NODE_BY_KEY) take_slices(node);
}

// The functions from the last node on, up to `dataset`.
static void add_items(hdst__arena *arena, hdst__node *node, hdst_dataset *dataset)
{
    if (!is_function(dataset) || node->kind == HDST__NODE_BY_KEY) return;
    node->item_count = dataset->mark.length;
    node->items = HDST__NEW_ARRAY(arena, hdst_dataset *, node->item_count);
    for (size_t i = node->item_count; i-- > 0; dataset = dataset->parent) node->items[i] = dataset;
}

static hdst__node *add_node(hdst__arena *arena, hdst__plan *plan, hdst_dataset *dataset, hdst__node_kind kind)
{
    hdst__node *node = HDST__NEW(arena, hdst__node);
    node->dataset = dataset;
    node->kind = kind;
    HDST__PUSH(arena, plan->nodes, plan->node_count, plan->node_capacity, node);
    node->number = (uint32_t)plan->node_count;
    dataset->mark.node = plan->target = node;
    return node;
}

// A slice of the functions' input, and then the functions.
static void add_sliced_input(hdst__arena *arena, hdst__plan *plan, hdst_dataset *slice)
{
    hdst__node *part = add_node(arena, plan, slice, HDST__NODE_SLICE), *stage = add_node(arena, plan, slice, HDST__NODE_STAGE);
    add_items(arena, stage, slice->parent);
    set_input(arena, part, stage->items[0]->parent->mark.node);
    set_input(arena, stage, part);
}

// Functions of whose records only the first ones are read end with them, unless something is totalled on the way.
static void end_with_slice(const hdst_dataset *slice)
{
    const hdst_dataset *parent = slice->parent;
    hdst__node *node = parent->mark.node;
    uint64_t end;
    if (slice->op != HDST__OP_SLICE || node->kind != HDST__NODE_STAGE || parent->mark.consumers > 1 || slice->count == 0) return;
    for (size_t i = 0; i < node->item_count; i++)
        if (accumulates(node->items[i]->mark.func)) return;
    if (!__builtin_add_overflow(slice->first, slice->count, &end)) node->enough = end;
}

static void add_nodes(hdst__arena *arena, hdst__plan *plan, hdst_dataset *dataset)
{
    if (slices_input(dataset)) {
        add_sliced_input(arena, plan, dataset);
        return;
    }
    hdst__node *node = add_node(arena, plan, dataset, kind_of(dataset));
    add_items(arena, node, dataset);
    add_inputs(arena, node);
    if (node->kind == HDST__NODE_SLICE) end_with_slice(dataset);
}

hdst_status hdst__plan_nodes(hdst__arena *arena, hdst_dataset *dataset, hdst__plan *plan, hdst_error *error)
{
    reached r = {.arena = arena, .plan = ++plan->context->plans};
    reach_all(&r, dataset);
    for (size_t i = 0; i < r.count; i++) {
        hdst_dataset *d = r.items[i];
        hdst__plan_mark *mark = &d->mark;
        if (is_function(d)) {
            mark->func = hdst__plan_lower(arena, d, error);
            if (!mark->func) return error->code;
            bool fused = fuses_with_parent(d);
            mark->length = 1 + (fused ? d->parent->mark.length : 0);
            mark->drops = mark->func->emits || may_leave_out(d) || (fused && d->parent->mark.drops);
            mark->whole = hdst__reads_index(mark->func) || accumulates(mark->func) || (fused && d->parent->mark.whole);
        }
    }
    for (size_t i = 0; i < r.count; i++)
        if (needs_node(r.items[i])) add_nodes(arena, plan, r.items[i]);
    return HDST_OK;
}
