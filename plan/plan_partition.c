// SPDX-License-Identifier: Apache-2.0
// A partition's node. Its inputs are the records, and what the user's function gave for each.
#include "plan/plan.h"

#include "shuffle/group/repartition.h"

#include <inttypes.h>

uint64_t hdst__partition_count(const hdst__node *node) { return node->dataset->count; }

static hdst_status create(hdst__node *node, hdst_error *error)
{
    const hdst_dataset *dataset = node->dataset;
    const char *why;
    if (!node->parting) node->parting = hdst__repartition_create(dataset->object.context->engine, dataset->record, dataset->count, &why);
    if (node->parting) return HDST_OK;
    return why ? hdst__error_set(error, HDST_E_UNSUPPORTED, "records of '%s' with their part: %s", dataset->record->name, why)
               : hdst__error_memory(error, "records in parts");
}

static hdst_status no_part(const hdst__node *node, hdst_error *error)
{
    uint64_t record;
    uint32_t number;
    hdst__repartition_bad(node->parting, &record, &number);
    hdst__error_set(error, HDST_E_RECORD, "'%s' gives part %" PRIu32 ", out of range 0..%" PRIu64 ", in record %" PRIu64, node->dataset->inputs[1]->spec->function->name,
                    number, node->dataset->count - 1, record);
    if (error) error->record = record;
    return HDST_E_RECORD;
}

hdst_status hdst__partition_node_run(hdst__node *node, hdst_error *error)
{
    node->ran = false;
    node->part_counts = NULL;
    hdst_status status = create(node, error);
    if (status != HDST_OK) return status;
    const hdst__reader *records = &node->inputs[0]->reader, *numbers = &node->inputs[1]->reader;
    status = hdst__repartition_run(node->parting, records, numbers, error);
    if (status == HDST_E_RECORD && numbers->records == records->records) return no_part(node, error);
    if (status != HDST_OK) return status;
    node->ran = true;
    node->reader = hdst__repartition_reader(node->parting);
    node->part_counts = hdst__repartition_counts(node->parting);
    return HDST_OK;
}

void hdst__partition_node_explain(const hdst__node *node, hdst__buffer *out)
{
    hdst__buffer_printf(out, "partition %u: a stable sort by the parts' numbers\n", (unsigned)node->number);
    if (node->ran) hdst__repartition_explain(node->parting, out);
}

void hdst__partition_node_release(hdst__node *node)
{
    hdst__repartition_destroy(node->parting);
    node->parting = NULL;
    node->part_counts = NULL;
}
