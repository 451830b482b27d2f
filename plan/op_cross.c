// SPDX-License-Identifier: Apache-2.0
// A function of the user makes one record of each left record with each right one. As in a join the function is a map over pairs (op_join.c).
#include "plan/join_node.h"
#include "shuffle/join/cross.h"

// --- The node ---

static void describe(const hdst_dataset *dataset, hdst__buffer *out)
{
    (void)dataset;
    hdst__buffer_puts(out, " -> each with each");
}

static hdst_status build(hdst__arena *arena, hdst__node *node, hdst_error *error)
{
    (void)error;
    hdst__cross *cross = HDST__NEW(arena, hdst__cross);
    hdst__cross_init(cross, node->dataset->object.context->engine, node->dataset->record);
    node->own = cross;
    return HDST_OK;
}

static hdst_status run(hdst__plan *plan, hdst__node *node, hdst_error *error)
{
    node->ran = false;
    const hdst_status status = hdst__cross_run(node->own, &node->inputs[0]->reader, &node->inputs[1]->reader, &plan->stats, error);
    if (status != HDST_OK) return status;
    node->ran = true;
    node->reader = hdst__cross_reader(node->own);
    return HDST_OK;
}

static hdst_status explain(hdst__node *node, hdst__buffer *out, hdst_error *error)
{
    (void)error;
    const hdst__cross *cross = node->own;
    char bytes[24];
    hdst__buffer_printf(out, "cross %u: the right side in memory, the left one as it is read\n", (unsigned)node->number);
    if (node->ran)
        hdst__buffer_printf(out, "  last run: %llu pairs; right side: %llu records, %s\n", (unsigned long long)cross->results,
                            (unsigned long long)cross->right.count, hdst__bytes_text(cross->right.bytes, bytes));
    return HDST_OK;
}

static void drop(hdst__node *node) { hdst__cross_forget(node->own); }

const hdst__operator hdst__op_cross_pairs = {
    .name = "pairs of hdst_cross", .gives = HDST__GIVES_OTHERS, .own_bytes = sizeof(hdst__join_own), .may_stay_on_host = true, .describe = describe,
    .build = build, .run = run, .known = hdst__node_has_run, .explain = explain, .drop = drop, .reads_on = true,
    .release = drop, .end = hdst__join_node_end,
};

// --- The datasets ---

static hdst_status check_sides(hdst_dataset *pairs, const hdst__join_call *call, hdst_error *error)
{
    const hdst__join_own *own = pairs->own;
    if (!own->optional[0] && !own->optional[1]) return HDST_OK;
    hdst__error_set(error, HDST_E_USAGE, "%s was given a join with an optional side, and no record is without a partner", call->name);
    hdst__error_hint(error, "leave `optional` out, or use hdst_join");
    return HDST_E_USAGE;
}

hdst_dataset *hdst_cross_by(hdst_dataset *left, hdst_dataset *right, const hdst_map_spec *spec)
{
    HDST__NEEDS(hdst_dataset, left, "left");
    return hdst__join_by_spec(&(hdst__join_call){__func__, &hdst__op_cross_pairs, {left, right}, {NULL, NULL}, check_sides}, spec);
}

hdst_dataset *hdst_cross(hdst_dataset *left, hdst_dataset *right, hdst_module *module, const char *function)
{
    HDST__NEEDS(hdst_dataset, left, "left");
    return hdst__join_by_name(&(hdst__join_call){__func__, &hdst__op_cross_pairs, {left, right}, {NULL, NULL}, check_sides}, module, function);
}
