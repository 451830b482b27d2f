// SPDX-License-Identifier: Apache-2.0
// Reductions by key that keep the parts of a partition below: each part is reduced by itself, and what they give stands one after another.
#include "plan/by_partition.h"

#include "engine/engine.h"
#include "plan/stage_node.h"
#include "base/costs_host.h"

#include <inttypes.h>

// The partition below, if the functions between make one record of each.
static const hdst__node *partition_below(const hdst__node *node)
{
    for (node = node->inputs[0]; node->op != &hdst__op_partition; node = node->inputs[0]) {
        if (node->op == &hdst__op_layout) continue;
        if (node->op != &hdst__op_stage) return NULL;
        const hdst__stage_node *stage = hdst__node_stage(node);
        for (size_t i = 0; i < stage->item_count; i++)
            if (stage->items[i]->op->gives != HDST__GIVES_EACH) return NULL;
    }
    return node;
}

void hdst__by_partition_make(hdst__arena *arena, hdst__node *node, hdst__by_partition *p)
{
    const hdst_dataset *dataset = node->dataset;
    hdst__engine *engine = dataset->object.context->engine;
    const hdst__aggregate_spec *spec = p->spec;
    const hdst__node *partition = partition_below(node);
    if (!partition) return;
    hdst__field_place *fields = HDST__NEW_ARRAY(arena, hdst__field_place, spec->key_count);
    for (uint32_t i = 0; i < spec->key_count; i++)
        fields[i] = (hdst__field_place){.leaf = spec->key_leaves[i], .elements = dataset->record->leaves[spec->key_leaves[i]].elements};
    p->key_fields = fields;
    p->counts = HDST__NEW_ARRAY(arena, uint64_t, partition->parts);
    hdst__output_init(&p->rows, hdst__engine_owned(engine, HDST__OWNER_OUTPUT), hdst__engine_memory(engine), dataset->record->size);
    p->partition = partition;
    node->parts = partition->parts;
    node->inputs[0]->consumer = NULL;   // parts are read one after the other
}

hdst_status hdst__by_partition_create(const hdst__node *node, hdst__by_partition *p, hdst_error *error)
{
    if (!p->aggregate) p->aggregate = hdst__aggregate_create(node->dataset->object.context->engine, p->spec);
    return p->aggregate ? HDST_OK : hdst__error_memory(error, "a reduce by key");
}

static void forget_file(const hdst__node *node, hdst__by_partition *p)
{
    if (p->mapped) hdst__spill_unmap_read(hdst__engine_runtime(node->dataset->object.context->engine), &p->file, p->mapped);
    hdst__spill_close(&p->file);
    p->mapped = NULL;
}

void hdst__by_partition_drop(const hdst__node *node, hdst__by_partition *p)
{
    if (!p->partition) return;
    hdst__output_destroy(&p->rows);
    forget_file(node, p);
}

// --- The result ---

static hdst_status go_to_file(hdst__by_partition *p, hdst_error *error)
{
    hdst__output *rows = &p->rows;
    const uint64_t count = rows->count;
    hdst_status status = hdst__spill_open(hdst__engine_runtime(p->partition->dataset->object.context->engine), &p->file, error);
    if (status == HDST_OK && count) status = hdst__spill_add(&p->file, rows->records, count * rows->record_bytes, error);
    hdst__output_destroy(rows);
    rows->count = count;
    return status;
}

hdst_status hdst__by_partition_add(hdst__by_partition *p, const void *rows, uint64_t count, hdst_error *error)
{
    hdst__output *to = &p->rows;
    hdst_status status = HDST_OK;
    if (!count) return HDST_OK;
    if (!p->file.open && (to->count + count) * to->record_bytes > p->room / HDST__HOST_BY_PARTITION_RESULT_SHARE) status = go_to_file(p, error);
    if (!p->file.open) return status == HDST_OK ? hdst__output_add(to, rows, count, error) : status;
    if (status == HDST_OK) status = hdst__spill_add(&p->file, rows, count * to->record_bytes, error);
    to->count += count;
    return status;
}

static hdst_status end_result(hdst__node *node, hdst__by_partition *p, hdst_error *error)
{
    node->rows = p->rows.records;
    node->row_count = p->rows.count;
    if (!p->file.open) return HDST_OK;
    const hdst_status status = hdst__spill_map(&p->file, &p->mapped, error);
    node->rows = p->mapped;
    return status;
}

// --- Running ---

typedef struct part_reader {
    const hdst__reader *all;
    uint64_t first;
} part_reader;

static hdst_status fill_part(void *user, uint64_t first, uint64_t count, const hdst__storage *storage, void *const *buffers,
                             uint64_t to_first, hdst_error *error)
{
    const part_reader *part = user;
    return part->all->fill(part->all->user, part->first + first, count, storage, buffers, to_first, error);
}

static hdst_status run_part(hdst__node *node, hdst__by_partition *p, hdst__part_step step, uint64_t part, uint64_t first,
                            hdst__run_stats *stats, hdst_error *error)
{
    part_reader user = {&node->inputs[0]->reader, first};
    hdst__reader reader = *user.all;
    const uint64_t before = p->rows.count;
    reader.fill = fill_part;
    reader.rows = NULL;
    reader.user = &user;
    reader.records = p->partition->part_counts[part];
    const hdst_status status = reader.records ? step(node, &reader, first, stats, error) : HDST_OK;
    p->counts[part] = p->rows.count - before;
    return status;
}

// Each part's keys are its own, or the same key would come out twice.
static hdst_status check_keys(const hdst__node *node, const hdst__by_partition *p, hdst_error *error)
{
    const hdst__record *record = node->dataset->record;
    hdst__aggregate_duplicate twice;
    char key[200];
    hdst_status status = hdst__aggregate_across(p->aggregate, node->rows, p->counts, p->partition->parts, &twice, error);
    if (status != HDST_OK || !twice.found) return status;
    hdst__fields_describe(record, p->key_fields, p->spec->key_count, (const char *)node->rows + twice.row * record->size, key, sizeof key);
    hdst__error_set(error, HDST_E_USAGE, "records with the key %s lie in part %" PRIu64 " and in part %" PRIu64, key, twice.part[0], twice.part[1]);
    hdst__error_hint(error, "let the function of hdst_partition give all records of a key one part");
    return HDST_E_USAGE;
}

hdst_status hdst__by_partition_run(hdst__node *node, hdst__by_partition *p, hdst__part_step step, hdst__run_stats *stats, hdst_error *error)
{
    const uint64_t parts = p->partition->parts, records = node->inputs[0]->reader.records, all = p->partition->reader.records;
    hdst_status status = HDST_OK;
    if (records != all)
        return hdst__error_set(error, HDST_E_UNSUPPORTED, "a map behind hdst_partition left out %" PRIu64
                                                             " records that failed, so it is not known where its parts begin", all - records);
    hdst__output_reset(&p->rows);
    forget_file(node, p);
    p->room = hdst__budget_left(p->rows.budget) + p->rows.capacity * p->rows.record_bytes;
    for (uint64_t part = 0, first = 0; part < parts && status == HDST_OK; first += p->partition->part_counts[part++])
        status = run_part(node, p, step, part, first, stats, error);
    if (status == HDST_OK) status = end_result(node, p, error);
    if (status == HDST_OK) status = check_keys(node, p, error);
    if (status != HDST_OK) return status;
    node->part_counts = p->counts;
    return HDST_OK;
}
