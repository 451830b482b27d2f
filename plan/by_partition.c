// SPDX-License-Identifier: Apache-2.0
// Reductions by key that keep the parts of a partition below: each part is reduced by itself, and what they give stands one after another.
#include "plan/plan.h"

#include "engine/engine.h"

#include <inttypes.h>

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

void hdst__parted_make(hdst__arena *arena, hdst__node *node)
{
    const hdst_dataset *dataset = node->dataset;
    hdst__engine *engine = dataset->object.context->engine;
    const hdst__aggregate_spec *spec = node->by_key_spec;
    node->parted = partition_below(node);
    if (!node->parted) return;
    node->inputs[0]->taker = NULL;      // parts are read one after the other
    hdst__field_place *fields = HDST__NEW_ARRAY(arena, hdst__field_place, spec->key_count);
    for (uint32_t i = 0; i < spec->key_count; i++)
        fields[i] = (hdst__field_place){.leaf = spec->key_leaves[i], .elements = dataset->record->leaves[spec->key_leaves[i]].elements};
    node->key_fields = fields;
    node->own_counts = HDST__NEW_ARRAY(arena, uint64_t, hdst__partition_count(node->parted));
    hdst__output_init(&node->parted_rows, hdst__engine_allocator(engine), hdst__engine_memory(engine), dataset->record->size);
}

static void forget_file(hdst__node *node)
{
    if (node->parted_mapped) hdst__spill_unmap_read(hdst__engine_runtime(node->dataset->object.context->engine), &node->parted_file, node->parted_mapped);
    hdst__spill_close(&node->parted_file);
    node->parted_mapped = NULL;
}

void hdst__parted_release(hdst__node *node)
{
    if (!node->parted) return;
    hdst__output_destroy(&node->parted_rows);
    forget_file(node);
}

// --- The result ---

enum { RESULT_SHARE = 4 };              // of what the budget had left: the parts that come need room too

static hdst_status go_to_file(hdst__node *node, hdst_error *error)
{
    hdst__output *rows = &node->parted_rows;
    const uint64_t count = rows->count;
    hdst_status status = hdst__spill_open(&node->parted_file, error);
    if (status == HDST_OK && count) status = hdst__spill_add(&node->parted_file, rows->records, count * rows->record_bytes, error);
    hdst__output_destroy(rows);
    rows->count = count;
    return status;
}

hdst_status hdst__parted_add(hdst__node *node, const void *rows, uint64_t count, hdst_error *error)
{
    hdst__output *to = &node->parted_rows;
    hdst_status status = HDST_OK;
    if (!count) return HDST_OK;
    if (!node->parted_file.open && (to->count + count) * to->record_bytes > node->parted_room / RESULT_SHARE) status = go_to_file(node, error);
    if (!node->parted_file.open) return status == HDST_OK ? hdst__output_add(to, rows, count, error) : status;
    if (status == HDST_OK) status = hdst__spill_add(&node->parted_file, rows, count * to->record_bytes, error);
    to->count += count;
    return status;
}

static hdst_status end_result(hdst__node *node, hdst_error *error)
{
    node->rows = node->parted_rows.records;
    node->row_count = node->parted_rows.count;
    if (!node->parted_file.open) return HDST_OK;
    const hdst_status status = hdst__spill_map(&node->parted_file, &node->parted_mapped, error);
    node->rows = node->parted_mapped;
    return status;
}

// --- Running ---

typedef struct part_reader {
    const hdst__reader *all;
    uint64_t first;
} part_reader;

static hdst_status fill_part(void *user, uint64_t first, uint64_t count, const hdst__storage *storage, void *const *buffers, uint64_t to_first, hdst_error *error)
{
    const part_reader *part = user;
    return part->all->fill(part->all->user, part->first + first, count, storage, buffers, to_first, error);
}

static hdst_status run_part(hdst__node *node, hdst__part_step step, uint64_t part, uint64_t first, hdst__run_stats *stats, hdst_error *error)
{
    part_reader user = {&node->inputs[0]->reader, first};
    hdst__reader reader = *user.all;
    const uint64_t before = node->parted_rows.count;
    reader.fill = fill_part;
    reader.user = &user;
    reader.records = node->parted->part_counts[part];
    const hdst_status status = reader.records ? step(node, &reader, first, stats, error) : HDST_OK;
    node->own_counts[part] = node->parted_rows.count - before;
    return status;
}

// Each part's keys are its own, or the same key would come out twice.
static hdst_status check_keys(const hdst__node *node, hdst_error *error)
{
    const hdst__record *record = node->dataset->record;
    hdst__aggregate_duplicate twice;
    char key[200];
    hdst_status status = hdst__aggregate_across(node->by_key, node->rows, node->own_counts, hdst__partition_count(node->parted), &twice, error);
    if (status != HDST_OK || !twice.found) return status;
    hdst__fields_describe(record, node->key_fields, node->by_key_spec->key_count, (const char *)node->rows + twice.row * record->size, key, sizeof key);
    hdst__error_set(error, HDST_E_USAGE, "records with the key %s lie in part %" PRIu64 " and in part %" PRIu64, key, twice.part[0], twice.part[1]);
    hdst__error_hint(error, "let the function of hdst_partition give all records of a key one part");
    return HDST_E_USAGE;
}

hdst_status hdst__parted_run(hdst__node *node, hdst__part_step step, hdst__run_stats *stats, hdst_error *error)
{
    const uint64_t parts = hdst__partition_count(node->parted), records = node->inputs[0]->reader.records, all = node->parted->reader.records;
    hdst_status status = HDST_OK;
    if (records != all)
        return hdst__error_set(error, HDST_E_UNSUPPORTED, "a map behind hdst_partition left out %" PRIu64
                                                             " records that failed, so it is not known where its parts begin", all - records);
    hdst__output_reset(&node->parted_rows);
    forget_file(node);
    node->parted_room = hdst__budget_left(node->parted_rows.budget) + node->parted_rows.capacity * node->parted_rows.record_bytes;
    for (uint64_t p = 0, first = 0; p < parts && status == HDST_OK; first += node->parted->part_counts[p++]) status = run_part(node, step, p, first, stats, error);
    if (status == HDST_OK) status = end_result(node, error);
    if (status == HDST_OK) status = check_keys(node, error);
    if (status != HDST_OK) return status;
    node->part_counts = node->own_counts;
    return HDST_OK;
}
