// SPDX-License-Identifier: Apache-2.0
// Distinct records: all fields are the key, and nothing is reduced.
#include "plan/aggregate_node.h"
#include "plan/op_reduce_arranged.h"

// --- The node ---

static void describe(const hdst_dataset *dataset, hdst__buffer *out)
{
    (void)dataset;
    hdst__buffer_puts(out, " -> distinct ones");
}

static hdst_status build(hdst__arena *arena, hdst__node *node, hdst_error *error)
{
    (void)error;
    static const hdst__accumulate_op sum = HDST__SUM;
    const hdst_dataset *dataset = node->dataset;
    const uint32_t count = (uint32_t)dataset->record->leaf_count;
    uint32_t *leaves = HDST__NEW_ARRAY(arena, uint32_t, count);
    for (uint32_t i = 0; i < count; i++) leaves[i] = i;
    hdst__aggregate_node_make(arena, node, &(hdst__aggregate_spec){.record = dataset->record, .key_leaves = leaves, .key_count = count,
                                                                   .laws = &sum, .container = ((const hdst__aggregate_own *)dataset->own)->container}, true);
    return HDST_OK;
}

const hdst__operator hdst__op_distinct = {
    HDST__AGGREGATE_OPERATOR, .name = "hdst_distinct", .describe = describe, .build = build, .stands_in = hdst__distinct_arranged_stands_in,
};

// --- The dataset ---

hdst_dataset *hdst_distinct(hdst_dataset *from)
{
    HDST__NEEDS(hdst_dataset, from, "dataset");
    hdst_context *context = from->object.context;
    hdst_error error = HDST_ERROR_INIT;
    hdst__lock(context);
    hdst_dataset *dataset = hdst__dataset_new(context, &hdst__op_distinct, from);
    if (!dataset->object.error && (hdst__dataset_has_records(from, "hdst_distinct", &error) != HDST_OK ||
                                   hdst__aggregate_check_key(from, "hdst_distinct", true, &error) != HDST_OK))
        hdst__dataset_fail(dataset, &error);
    if (dataset->object.context) hdst__dataset_as_structs(dataset);
    hdst__unlock(context);
    return dataset;
}
