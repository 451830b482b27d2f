// SPDX-License-Identifier: Apache-2.0
// Records in parts that a function of the user names. The function is a map of its own over the records; the partition has both as inputs.
#include "plan/dataset.h"

#include <inttypes.h>
#include <string.h>

enum { MOST_PARTS = 1 << 24 };

static hdst_status check(const hdst_dataset *from, const hdst_dataset *numbers, uint64_t parts, hdst_error *error)
{
    const char *function = numbers->spec->function->name;
    hdst_status status = hdst__dataset_has_records(from, "hdst_partition", error);
    if (status != HDST_OK) return status;
    if (parts == 0 || parts > MOST_PARTS) return hdst__error_set(error, HDST_E_USAGE, "hdst_partition to %" PRIu64 " parts; 1 to %d are possible", parts, MOST_PARTS);
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
    hdst_dataset *dataset = hdst__dataset_new(from->object.context, HDST__OP_PARTITION, from);
    if (!dataset->object.context) return dataset;
    hdst__object_inherit(&dataset->object, &numbers->object);
    dataset->layout = HDST__AOS;
    dataset->block = 0;
    dataset->count = parts;
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
    hdst_dataset *dataset = numbers ? add_partition(from, numbers, parts) : hdst__dataset_fail(hdst__dataset_new(context, HDST__OP_PARTITION, from), &error);
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
