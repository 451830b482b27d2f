// SPDX-License-Identifier: Apache-2.0
// The node of a reduction by key, a count by key, or distinct records.
#include "hdst/plan.h"

#include "engine/engine_private.h"
#include "hdst/keyed_records.h"

#include <inttypes.h>

// A count's only value is a sum; distinct records have none.
static const ir_accum_op *laws_of(hdst__arena *arena, const hdst_dataset *dataset, hdst_error *error)
{
    if (dataset->op != HDST__OP_REDUCE_BY_KEY) {
        ir_accum_op *sum = HDST__NEW(arena, ir_accum_op);
        *sum = IR_SUM;
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

// The partition below, if the functions between make one record of each.
static const hdst__node *partition_below(const hdst__node *node)
{
    for (node = node->inputs[0]; node->kind != HDST__NODE_PARTITION; node = node->inputs[0]) {
        if (node->kind != HDST__NODE_STAGE && node->kind != HDST__NODE_LAYOUT) return NULL;
        for (size_t i = 0; i < node->item_count; i++) {
            const hdst__operator op = node->items[i]->op;
            if (op != HDST__OP_MAP && op != HDST__OP_ZIP && op != HDST__OP_ONES) return NULL;
        }
    }
    return node;
}

hdst_status hdst__by_key_node_make(hdst__arena *arena, hdst__node *node, hdst_error *error)
{
    const hdst_dataset *dataset = node->dataset;
    uint32_t *leaves = HDST__NEW_ARRAY(arena, uint32_t, dataset->record->leaf_count);
    hdst__by_key_spec *spec = HDST__NEW(arena, hdst__by_key_spec);
    *spec = (hdst__by_key_spec){.record = dataset->record, .key_leaves = leaves, .key_count = key_leaves(dataset, leaves), .laws = laws_of(arena, dataset, error),
                                .container = dataset->container};
    node->by_key_spec = spec;
    node->parted = partition_below(node);
    if (node->parted) node->inputs[0]->taker = NULL;    // parts are read one after the other
    hdst__field_place *fields = HDST__NEW_ARRAY(arena, hdst__field_place, spec->key_count);
    for (uint32_t i = 0; i < spec->key_count; i++) fields[i] = (hdst__field_place){.leaf = leaves[i], .elements = dataset->record->leaves[leaves[i]].elements};
    node->key_fields = fields;
    const hdst__engine *engine = dataset->object.context->engine;
    if (node->parted) node->own_counts = HDST__NEW_ARRAY(arena, uint64_t, hdst__partition_count(node->parted));
    hdst__output_init(&node->parted_rows, engine->allocator, (hdst__budget *)&engine->memory, dataset->record->size);
    return spec->laws ? HDST_OK : error->code;
}

static void forget_rows(hdst__node *node)
{
    node->rows = NULL;
    node->row_count = 0;
    node->part_counts = NULL;
    node->ran = false;
}

static hdst_status make(hdst__node *node, hdst_error *error)
{
    if (!node->by_key) node->by_key = hdst__by_key_create(node->dataset->object.context->engine, node->by_key_spec);
    return node->by_key ? HDST_OK : hdst__error_memory(error, "a reduce by key");
}

const hdst__sink *hdst__by_key_node_sink(hdst__node *node, hdst_error *error)
{
    return make(node, error) == HDST_OK ? hdst__by_key_sink(node->by_key) : NULL;
}

// What the maps in front give goes in while they run; else it is read.
static hdst_status run_whole(hdst__plan *plan, hdst__node *node, hdst_error *error)
{
    hdst__node *from = node->inputs[0];
    const hdst__by_key_input input = {&from->reader, from->resident, from->resident ? NULL : from->rows};
    hdst_status status;
    if (from->taker != node) {
        status = hdst__by_key_run(node->by_key, &input, &node->rows, &node->row_count, error);
    } else {
        status = hdst__plan_run_node(plan, from, error);
        if (status == HDST_OK) status = hdst__by_key_end(node->by_key, &node->rows, &node->row_count, error);
    }
    hdst__plan_add_stats(&plan->stats, hdst__by_key_stats(node->by_key));
    return status;
}

// --- Part by part ---

typedef struct part_reader {
    const hdst__reader *all;
    uint64_t first;
} part_reader;

static hdst_status fill_part(void *user, uint64_t first, uint64_t count, const hdst__storage *storage, void *const *buffers, uint64_t to_first, hdst_error *error)
{
    const part_reader *part = user;
    return part->all->fill(part->all->user, part->first + first, count, storage, buffers, to_first, error);
}

static hdst_status run_part(hdst__node *node, uint64_t part, uint64_t first, hdst__run_stats *stats, hdst_error *error)
{
    const hdst__node *from = node->inputs[0];
    part_reader reader_of_part = {&from->reader, first};
    hdst__reader reader = from->reader;
    reader.fill = fill_part;
    reader.user = &reader_of_part;
    reader.records = node->parted->part_counts[part];
    const hdst__by_key_input input = {&reader, NULL, from->resident || !from->rows ? NULL : (const char *)from->rows + first * from->dataset->record->size};
    const void *rows;
    hdst_status status = hdst__by_key_run(node->by_key, &input, &rows, &node->own_counts[part], error);
    hdst__plan_add_stats(stats, hdst__by_key_stats(node->by_key));
    return status == HDST_OK ? hdst__output_add(&node->parted_rows, rows, node->own_counts[part], error) : status;
}

// Each part's keys are its own, or the same key would come out twice.
static hdst_status check_keys(const hdst__node *node, hdst_error *error)
{
    const hdst__record *record = node->dataset->record;
    const hdst__by_key_spec *spec = node->by_key_spec;
    hdst__by_key_twice twice;
    char key[200];
    hdst_status status = hdst__by_key_across(node->by_key, node->parted_rows.records, node->own_counts, hdst__partition_count(node->parted), &twice, error);
    if (status != HDST_OK || !twice.found) return status;
    hdst__fields_describe(record, node->key_fields, spec->key_count, node->parted_rows.records + twice.row * record->size, key, sizeof key);
    hdst__error_set(error, HDST_E_USAGE, "records with the key %s lie in part %" PRIu64 " and in part %" PRIu64, key, twice.part[0], twice.part[1]);
    hdst__error_hint(error, "let the function of hdst_partition give all records of a key one part");
    return HDST_E_USAGE;
}

static hdst_status run_parts(hdst__plan *plan, hdst__node *node, hdst_error *error)
{
    const uint64_t parts = hdst__partition_count(node->parted), records = node->inputs[0]->reader.records;
    hdst_status status = HDST_OK;
    if (records != node->parted->reader.records)
        return hdst__error_set(error, HDST_E_UNSUPPORTED, "a map behind hdst_partition left out %" PRIu64 " records that failed, so it is not known where its parts begin", node->parted->reader.records - records);
    hdst__output_reset(&node->parted_rows);
    for (uint64_t p = 0, first = 0; p < parts && status == HDST_OK; first += node->parted->part_counts[p++]) {
        node->own_counts[p] = 0;
        if (node->parted->part_counts[p]) status = run_part(node, p, first, &plan->stats, error);
    }
    if (status == HDST_OK) status = check_keys(node, error);
    if (status != HDST_OK) return status;
    node->part_counts = node->own_counts;
    node->rows = node->parted_rows.records;
    node->row_count = node->parted_rows.count;
    return HDST_OK;
}

hdst_status hdst__by_key_node_run(hdst__plan *plan, hdst__node *node, hdst_error *error)
{
    forget_rows(node);
    hdst_status status = make(node, error);
    if (status == HDST_OK) status = (node->parted ? run_parts : run_whole)(plan, node, error);
    if (status != HDST_OK) {
        forget_rows(node);
        return status;
    }
    node->ran = true;
    node->reader = hdst__reader_of_rows(node, node->dataset->record);
    return HDST_OK;
}

void hdst__by_key_node_release(hdst__node *node)
{
    if (node->parted_rows.record_bytes) hdst__output_destroy(&node->parted_rows);
    if (!node->by_key) return;
    forget_rows(node);
    hdst__by_key_destroy(node->by_key);
    node->by_key = NULL;
}

void hdst__by_key_node_explain(const hdst__node *node, hdst__buffer *out)
{
    hdst__buffer_printf(out, "by key %u\n", (unsigned)node->number);
    if (node->parted) hdst__buffer_printf(out, "    each of the parts of %u by itself; of the last one:\n", (unsigned)node->parted->number);
    if (node->by_key) hdst__by_key_explain(node->by_key, out);
    else hdst__buffer_puts(out, "  the container is chosen by the next run\n");
}
