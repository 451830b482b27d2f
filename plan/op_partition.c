// SPDX-License-Identifier: Apache-2.0
// Records in the order of parts that a function of the user names. The function is a map of its own over the records; the partition has both as inputs.
#include "plan/plan.h"
#include "plan/map_spec.h"
#include "shuffle/group/repartition.h"

#include <inttypes.h>
#include <string.h>

typedef struct partition_own {
    uint64_t parts;
} partition_own;

static uint64_t parts_of(const hdst__node *node) { return ((const partition_own *)node->dataset->own)->parts; }

// --- The node ---

typedef struct partition_node {
    hdst__repartition *repartition; // made at the first run
} partition_node;

static void line(const hdst__node *node, hdst__buffer *out)
{
    hdst__buffer_printf(out, "records of %u in the order of %" PRIu64 " parts, whose numbers are the records of %u",
                        (unsigned)node->inputs[0]->number, parts_of(node), (unsigned)node->inputs[1]->number);
}

static hdst_status build(hdst__arena *arena, hdst__node *node, hdst_error *error)
{
    (void)error;
    node->own = HDST__NEW(arena, partition_node);
    node->parts = parts_of(node);
    return HDST_OK;
}

static hdst_status create(const hdst__node *node, hdst_error *error)
{
    partition_node *own = node->own;
    const hdst_dataset *dataset = node->dataset;
    const char *why;
    if (!own->repartition) own->repartition = hdst__repartition_create(dataset->object.context->engine, dataset->record, parts_of(node), &why);
    if (own->repartition) return HDST_OK;
    return why ? hdst__error_set(error, HDST_E_UNSUPPORTED, "records of '%s' with their part: %s", dataset->record->name, why)
               : hdst__error_memory(error, "records in parts");
}

static hdst_status no_part(const hdst__node *node, hdst_error *error)
{
    uint64_t record;
    uint32_t number;
    hdst__repartition_bad(((const partition_node *)node->own)->repartition, &record, &number);
    hdst__error_set(error, HDST_E_RECORD, "'%s' gives part %" PRIu32 ", out of range 0..%" PRIu64 ", in record %" PRIu64,
                    node->dataset->inputs[1]->spec->function->name, number, parts_of(node) - 1, record);
    if (error) error->record = record;
    return HDST_E_RECORD;
}

static hdst_status order(hdst__node *node, hdst__repartition *repartition, hdst_error *error)
{
    const hdst__reader *records = &node->inputs[0]->reader, *numbers = &node->inputs[1]->reader;
    const hdst_status status = hdst__repartition_run(repartition, records, numbers, error);
    if (status == HDST_E_RECORD && numbers->records == records->records) return no_part(node, error);
    if (status != HDST_OK) return status;
    node->ran = true;
    node->reader = hdst__repartition_reader(repartition);
    node->part_counts = hdst__repartition_counts(repartition);
    return HDST_OK;
}

static hdst_status run(hdst__plan *plan, hdst__node *node, hdst_error *error)
{
    partition_node *own = node->own;
    node->ran = false;
    node->part_counts = NULL;
    hdst_status status = create(node, error);
    if (status != HDST_OK) return status;
    status = order(node, own->repartition, error);
    hdst__plan_add_stats(&plan->stats, hdst__repartition_stats(own->repartition));
    return status;
}

static hdst_status explain(hdst__node *node, hdst__buffer *out, hdst_error *error)
{
    (void)error;
    const partition_node *own = node->own;
    hdst__buffer_printf(out, "partition %u: a stable sort by the parts' numbers\n", (unsigned)node->number);
    if (node->ran) hdst__repartition_explain(own->repartition, out);
    return HDST_OK;
}

static void drop(hdst__node *node)
{
    const partition_node *own = node->own;
    if (own->repartition) hdst__repartition_forget(own->repartition);
}

static void release(hdst__node *node)
{
    partition_node *own = node->own;
    hdst__repartition_destroy(own->repartition);
    own->repartition = NULL;
}

const hdst__operator hdst__op_partition = {
    .name = "hdst_partition", .gives = HDST__GIVES_SOME, .own_bytes = sizeof(partition_own), .may_stay_on_host = true, .line = line, .build = build,
    .run = run, .known = hdst__node_has_run, .explain = explain, .drop = drop, .release = release,
};

// --- The dataset ---

enum { MOST_PARTS = 1 << 24 };

static hdst_status check(const hdst_dataset *from, const hdst_dataset *numbers, uint64_t parts, hdst_error *error)
{
    const char *function = numbers->spec->function->name;
    hdst_status status = hdst__dataset_has_records(from, "hdst_partition", error);
    if (status != HDST_OK) return status;
    if (parts == 0 || parts > MOST_PARTS)
        return hdst__error_set(error, HDST_E_USAGE, "hdst_partition to %" PRIu64 " parts; 1 to %d are possible", parts, MOST_PARTS);
    const hdst__record *gives = numbers->record;
    if (gives && gives->is_scalar && gives->leaves[0].kind == HDST__U32) return HDST_OK;
    hdst__error_set(error, HDST_E_USAGE, "hdst_partition was given '%s', which gives %s%s%s, no part's number", function, gives ? "'" : "nothing",
                    gives ? gives->name : "", gives ? "'" : "");
    hdst__error_hint(error, "map %s(%s a) -> uint32_t { ... }", function, from->record->name);
    return HDST_E_USAGE;
}

static hdst_dataset *add_partition(hdst_dataset *from, hdst_dataset *numbers, uint64_t parts)
{
    hdst_error error = HDST_ERROR_INIT;
    hdst_dataset *dataset = hdst__dataset_new(from->object.context, &hdst__op_partition, from);
    if (!dataset->object.context) return dataset;
    hdst__object_inherit(&dataset->object, &numbers->object);
    hdst__dataset_as_structs(dataset);
    ((partition_own *)dataset->own)->parts = parts;
    dataset->inputs = hdst__alloc(HDST__ALLOCATOR(dataset), 2 * sizeof *dataset->inputs);
    if (!dataset->inputs) hdst__error_memory(&error, "a partition");
    else if (!dataset->object.error) check(from, numbers, parts, &error);
    if (dataset->inputs) {
        dataset->inputs[0] = from;
        dataset->inputs[1] = numbers;
        dataset->input_count = 2;
    }
    return error.code == HDST_OK ? dataset : hdst__dataset_fail(dataset, &error);
}

// By a function of the module, or by the map of a spec. What is wrong with these is told in the name of the call.
static hdst_dataset *partition(const char *call, hdst_dataset *from, hdst_module *module, const char *function, const hdst_map_spec *spec, uint64_t parts)
{
    const bool by_spec = !strcmp(call, "hdst_partition_by");
    hdst_error error = HDST_ERROR_INIT;
    hdst_context *context = from->object.context;
    hdst_status status = hdst__check_object(context, call, by_spec ? "spec" : "module", by_spec ? (const void *)spec : module, &error);
    if (status == HDST_OK && !by_spec) status = hdst__check_pointer(call, "function", function, &error);
    hdst_dataset *numbers = status != HDST_OK ? NULL : by_spec ? hdst_map(from, spec) : hdst_map_function(from, module, function);
    if (numbers && !numbers->object.context) return numbers;
    hdst__lock(context);
    hdst_dataset *dataset = numbers ? add_partition(from, numbers, parts) : hdst__dataset_fail(hdst__dataset_new(context, &hdst__op_partition, from), &error);
    hdst__unlock(context);
    return dataset;
}

hdst_dataset *hdst_partition(hdst_dataset *from, hdst_module *module, const char *function, uint64_t parts)
{
    HDST__NEEDS(hdst_dataset, from, "dataset");
    return partition(__func__, from, module, function, NULL, parts);
}

hdst_dataset *hdst_partition_by(hdst_dataset *from, const hdst_map_spec *spec, uint64_t parts)
{
    HDST__NEEDS(hdst_dataset, from, "dataset");
    return partition(__func__, from, NULL, NULL, spec, parts);
}
