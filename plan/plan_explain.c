// SPDX-License-Identifier: Apache-2.0
// A plan as a text for people: a line per node, then what the engine says of each stage.
#include "plan/plan.h"

#include "plan/materialised.h"

#include <inttypes.h>

static const char *layout_name(hdst__layout layout)
{
    static const char *const names[] = {"aos", "soa", "aosoa", "aop"};
    return names[layout];
}

static void explain_inputs(const hdst__node *node, hdst__buffer *out)
{
    for (size_t i = 0; i < node->input_count; i++) hdst__buffer_printf(out, "%s%u", i ? ", " : "", (unsigned)node->inputs[i]->number);
}

static void explain_item(const hdst_dataset *item, hdst__buffer *out)
{
    switch (item->op) {
    case HDST__OP_MAP: hdst__buffer_printf(out, " -> map %s", item->spec->function->name); break;
    case HDST__OP_FILTER: hdst__buffer_printf(out, " -> filter %s", item->spec->function->name); break;
    case HDST__OP_FLAT_MAP: hdst__buffer_printf(out, " -> flat_map %s", item->spec->function->name); break;
    case HDST__OP_REDUCE: hdst__buffer_printf(out, " -> reduce %s", item->spec->function->name); break;
    case HDST__OP_REDUCE_DENSE: hdst__buffer_printf(out, " -> reduce %s by key to %" PRIu64 " records", item->spec->function->name, item->count); break;
    case HDST__OP_SAMPLE: hdst__buffer_printf(out, " -> sample %g, seed %" PRIu64, (double)item->limit * 0x1p-63, item->seed); break;
    case HDST__OP_SIEVE: hdst__buffer_puts(out, " -> candidates"); break;
    case HDST__OP_ONES: hdst__buffer_puts(out, " -> a 1 for each key"); break;
    case HDST__OP_ZIP: hdst__buffer_puts(out, " -> zip with index"); break;
    default: hdst__buffer_puts(out, " -> count");
    }
}

static void explain_by_key(const hdst_dataset *d, hdst__buffer *out)
{
    if (d->op == HDST__OP_REDUCE_DENSE) explain_item(d, out);
    else if (d->op == HDST__OP_DISTINCT) hdst__buffer_puts(out, " -> distinct ones");
    else if (d->op == HDST__OP_COUNT_BY_KEY) hdst__buffer_puts(out, " -> counts by key");
    else hdst__buffer_printf(out, " -> reduce %s by key", d->spec->function->name);
}

static void explain_node(const hdst__node *node, hdst__buffer *out)
{
    const hdst_dataset *d = node->dataset;
    hdst__buffer_printf(out, "%u: ", (unsigned)node->number);
    switch (node->kind) {
    case HDST__NODE_READ:
        hdst__buffer_printf(out, "read %s as %s (%s), %" PRIu64 " records", d->source->source->name, d->record->name, layout_name(d->layout), d->reader.records);
        break;
    case HDST__NODE_LAYOUT: hdst__buffer_puts(out, "records of "); explain_inputs(node, out); hdst__buffer_printf(out, " as %s", layout_name(d->layout)); break;
    case HDST__NODE_SLICE:
        hdst__buffer_puts(out, "records of ");
        explain_inputs(node, out);
        hdst__buffer_printf(out, " from %" PRIu64 " on, %" PRIu64 " at most", d->first, d->count);
        break;
    case HDST__NODE_UNION: hdst__buffer_puts(out, "records of "); explain_inputs(node, out); hdst__buffer_puts(out, ", one after another"); break;
    case HDST__NODE_SORT:
        hdst__buffer_puts(out, "records of ");
        explain_inputs(node, out);
        hdst__buffer_printf(out, " sorted by %s", d->sort_text);
        break;
    case HDST__NODE_TOP:
        hdst__buffer_puts(out, "records of ");
        explain_inputs(node, out);
        if (d->extreme) hdst__buffer_printf(out, " -> the record with the %s %s", d->largest ? "largest" : "smallest", d->record->leaves[d->place.leaf].path);
        else hdst__buffer_printf(out, " -> the %" PRIu64 " with the largest %s", d->count, d->record->leaves[d->place.leaf].path);
        break;
    case HDST__NODE_PARTITION:
        hdst__buffer_puts(out, "records of ");
        hdst__buffer_printf(out, "%u", (unsigned)node->inputs[0]->number);
        hdst__buffer_printf(out, " in the order of %" PRIu64 " parts, whose numbers are the records of %u", d->count, (unsigned)node->inputs[1]->number);
        break;
    case HDST__NODE_GROUP:
        hdst__buffer_puts(out, "records of ");
        explain_inputs(node, out);
        hdst__buffer_printf(out, " by key -> %s %s", d->spec->function->kind == AST_GROUP ? "group" : "reduce", d->spec->function->name);
        if (d->dense) hdst__buffer_printf(out, " to %" PRIu64 " records", d->count);
        break;
    case HDST__NODE_BY_KEY:
        hdst__buffer_puts(out, "records of ");
        explain_inputs(node, out);
        explain_by_key(d, out);
        break;
    case HDST__NODE_CACHE: hdst__buffer_printf(out, "cache (%s)", hdst__kept_is_filled(d->kept) ? "filled" : "filled by the next run"); break;
    default:
        hdst__buffer_puts(out, "records of ");
        explain_inputs(node, out);
        for (size_t i = 0; i < node->item_count; i++) explain_item(node->items[i], out);
        if (node->enough) hdst__buffer_printf(out, ", until there are %" PRIu64, node->enough);
    }
    hdst__buffer_puts(out, "\n");
}

static hdst_status explain_stage(hdst__node *node, hdst__buffer *out, hdst_error *error)
{
    if (!hdst__node_is_known(node->inputs[0])) {
        hdst__buffer_printf(out, "stage %s: what it reads is computed by the next run%s\n", node->func->name, node->ran ? "; memory was short, so the last one gave it back" : "");
        return HDST_OK;
    }
    hdst_status status = hdst__stage_node_input(node, error);
    if (status == HDST_OK) status = hdst__stage_node_values(node, error);
    if (status != HDST_OK) return status;
    return hdst__stage_explain(node->stage, node->values, out, error);
}

static void explain_sort(const hdst__node *node, hdst__buffer *out)
{
    hdst__buffer_printf(out, "sort %u\n", (unsigned)node->number);
    if (node->sort) hdst__sort_explain(node->sort, out);
    else hdst__buffer_puts(out, "  how it sorts is chosen by the next run\n");
}

// Caches that hold nothing yet show what will fill them.
static hdst_status explain_below(const hdst__plan *plan, hdst__buffer *out, hdst_error *error)
{
    for (size_t i = 0; i < plan->node_count; i++) {
        const hdst__node *node = plan->nodes[i];
        if (node->kind != HDST__NODE_CACHE) continue;
        hdst__buffer_printf(out, "below cache %u:\n", (unsigned)node->number);
        hdst_status status = hdst__plan_explain(hdst__kept_plan(node->dataset->kept), out, error);
        if (status != HDST_OK) return status;
    }
    return HDST_OK;
}

hdst_status hdst__plan_explain(hdst__plan *plan, hdst__buffer *out, hdst_error *error)
{
    for (size_t i = 0; i < plan->node_count; i++) explain_node(plan->nodes[i], out);
    hdst_status status = explain_below(plan, out, error);
    for (size_t i = 0; i < plan->node_count && status == HDST_OK; i++) {
        hdst__node *node = plan->nodes[i];
        if (node->held && !hdst__top_node_sieves(node->held)) continue;         // it does not run
        if (node->kind == HDST__NODE_STAGE || node->kind == HDST__NODE_FOLD) status = explain_stage(node, out, error);
        else if (node->kind == HDST__NODE_SORT) explain_sort(node, out);
        else if (node->kind == HDST__NODE_TOP) hdst__top_node_explain(node, out);
        else if (node->kind == HDST__NODE_GROUP) hdst__group_node_explain(node, out);
        else if (node->kind == HDST__NODE_BY_KEY) hdst__by_key_node_explain(node, out);
        else if (node->kind == HDST__NODE_PARTITION) hdst__partition_node_explain(node, out);
        else if (hdst__node_is_known(node)) status = hdst__plan_run_node(plan, node, error);
    }
    return status;
}
