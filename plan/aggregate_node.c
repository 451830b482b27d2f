// SPDX-License-Identifier: Apache-2.0
// The node of a reduction by key, a count by key, or distinct records.
#include "plan/plan.h"

#include "plan/keyed_records.h"

// A count's only value is a sum; distinct records have none.
static const hdst__accumulate_op *laws_of(hdst__arena *arena, const hdst_dataset *dataset, hdst_error *error)
{
    if (dataset->op != HDST__OP_REDUCE_BY_KEY) {
        hdst__accumulate_op *sum = HDST__NEW(arena, hdst__accumulate_op);
        *sum = HDST__SUM;
        return sum;
    }
    const ir_func *reduce = hdst__plan_lower(arena, dataset, error);
    return reduce ? reduce->params[1].leaf_op : NULL;
}

// The key of a count's records is all but the last field.
static uint32_t key_leaves(const hdst_dataset *dataset, uint32_t *leaves)
{
    const hdst__record *record = dataset->record;
    if (dataset->op == HDST__OP_REDUCE_BY_KEY) return hdst__key_leaves(record, leaves);
    const uint32_t count = (uint32_t)record->leaf_count - (dataset->op == HDST__OP_COUNT_BY_KEY);
    for (uint32_t i = 0; i < count; i++) leaves[i] = i;
    return count;
}

hdst_status hdst__by_key_node_make(hdst__arena *arena, hdst__node *node, hdst_error *error)
{
    const hdst_dataset *dataset = node->dataset;
    if (dataset->op == HDST__OP_REDUCE_DENSE) {
        hdst__rows_node_make(arena, node);
        return HDST_OK;
    }
    uint32_t *leaves = HDST__NEW_ARRAY(arena, uint32_t, dataset->record->leaf_count);
    hdst__aggregate_spec *spec = HDST__NEW(arena, hdst__aggregate_spec);
    *spec = (hdst__aggregate_spec){.record = dataset->record, .key_leaves = leaves, .key_count = key_leaves(dataset, leaves), .laws = laws_of(arena, dataset, error),
                                .container = dataset->container};
    node->by_key_spec = spec;
    hdst__parted_make(arena, node);
    return spec->laws ? HDST_OK : error->code;
}

static void forget_rows(hdst__node *node)
{
    node->rows = NULL;
    node->resident = NULL;
    node->row_count = 0;
    node->part_counts = NULL;
    node->ran = false;
    hdst__rows_node_show(node);
}

static hdst_status make(hdst__node *node, hdst_error *error)
{
    if (!node->by_key) node->by_key = hdst__aggregate_create(node->dataset->object.context->engine, node->by_key_spec);
    return node->by_key ? HDST_OK : hdst__error_memory(error, "a reduce by key");
}

bool hdst__by_key_node_wants_whole(hdst__node *node, uint64_t records, hdst_error *error)
{
    return make(node, error) == HDST_OK && hdst__aggregate_wants_whole(node->by_key, records);
}

const hdst__sink *hdst__by_key_node_sink(hdst__node *node, hdst_error *error)
{
    return make(node, error) == HDST_OK ? hdst__aggregate_sink(node->by_key) : NULL;
}

// What the maps in front give goes in while they run; else it is read. Which of both may have been found out just before they run for the first time.
static hdst_status run_whole(hdst__plan *plan, hdst__node *node, hdst_error *error)
{
    hdst__node *from = node->inputs[0];
    hdst_status status = from->taker == node ? hdst__plan_run_node(plan, from, error) : HDST_OK;
    if (status == HDST_OK && from->taker == node) {
        status = hdst__aggregate_end(node->by_key, &node->rows, &node->row_count, error);
    } else if (status == HDST_OK) {
        const hdst__aggregate_input input = {&from->reader, from->resident, from->resident ? NULL : from->rows, from->kind == HDST__NODE_CACHE};
        status = hdst__aggregate_run(node->by_key, &input, &node->rows, &node->row_count, error);
    }
    hdst__plan_add_stats(&plan->stats, hdst__aggregate_stats(node->by_key));
    return status;
}

static hdst_status run_part(hdst__node *node, const hdst__reader *part, uint64_t first, hdst__run_stats *stats, hdst_error *error)
{
    const hdst__node *from = node->inputs[0];
    const hdst__aggregate_input input = {part, NULL, from->resident || !from->rows ? NULL : (const char *)from->rows + first * from->dataset->record->size};
    const void *rows;
    uint64_t count;
    hdst_status status = hdst__aggregate_run(node->by_key, &input, &rows, &count, error);
    hdst__plan_add_stats(stats, hdst__aggregate_stats(node->by_key));
    return status == HDST_OK ? hdst__parted_add(node, rows, count, error) : status;
}

hdst_status hdst__by_key_node_run(hdst__plan *plan, hdst__node *node, hdst_error *error)
{
    forget_rows(node);
    hdst_status status = make(node, error);
    if (status == HDST_OK) status = node->parted ? hdst__parted_run(node, run_part, &plan->stats, error) : run_whole(plan, node, error);
    if (status != HDST_OK) {
        hdst__rows_node_error(node, error);
        forget_rows(node);
        return status;
    }
    hdst__rows_node_show(node);
    node->ran = true;
    node->resident = hdst__aggregate_resident(node->by_key);
    node->reader = node->resident ? *hdst__dataset_cache_own_reader(node->resident) : hdst__reader_of_rows(node, node->dataset->record);
    return HDST_OK;
}

void hdst__by_key_node_release(hdst__node *node)
{
    if (!node->by_key) return;
    forget_rows(node);
    hdst__aggregate_destroy(node->by_key);
    node->by_key = NULL;
}

void hdst__by_key_node_explain(const hdst__node *node, hdst__buffer *out)
{
    hdst__buffer_printf(out, "by key %u\n", (unsigned)node->number);
    if (node->parted) hdst__buffer_printf(out, "    each of the parts of %u by itself; of the last one:\n", (unsigned)node->parted->number);
    if (node->by_key) hdst__aggregate_explain(node->by_key, out);
    else hdst__buffer_puts(out, "  the container is chosen by the next run\n");
}
