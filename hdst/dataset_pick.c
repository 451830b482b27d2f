// SPDX-License-Identifier: Apache-2.0
// Operators that pick records by the value of a field.
#include "hdst/dataset.h"

static hdst_status fill_extreme(hdst_dataset *dataset, const char *what, const char *field, hdst_error *error)
{
    hdst_status status = hdst__dataset_has_records(dataset, what, error);
    if (status == HDST_OK) status = hdst__field_find_scalar(dataset->record, field, &dataset->place, error);
    if (status != HDST_OK) return status;
    const hdst__leaf *leaf = &dataset->record->leaves[dataset->place.leaf];
    if (leaf->kind == HDST__TEXT) return hdst__error_set(error, HDST_E_UNSUPPORTED, "%s by '%s' is not available yet: it is a text", what, leaf->path);
    dataset->layout = HDST__AOS;        // computed records are C structs
    dataset->block = 0;
    return HDST_OK;
}

hdst_dataset *hdst_top(hdst_dataset *from, uint64_t count, const char *field)
{
    if (!from->object.context) return from;
    hdst__lock(from->object.context);
    hdst_dataset *dataset = hdst__dataset_new(from->object.context, HDST__OP_TOP, from);
    hdst_error error = HDST_ERROR_INIT;
    if (!dataset->object.error && fill_extreme(dataset, "hdst_top", field, &error) != HDST_OK) hdst__dataset_fail(dataset, &error);
    if (dataset->object.context) dataset->count = count;
    hdst__unlock(from->object.context);
    return dataset;
}

static hdst_dataset *extreme(hdst_dataset *from, const char *field, bool largest)
{
    if (!from->object.context) return from;
    hdst__lock(from->object.context);
    hdst_dataset *dataset = hdst__dataset_new(from->object.context, HDST__OP_EXTREME, from);
    hdst_error error = HDST_ERROR_INIT;
    if (!dataset->object.error && fill_extreme(dataset, largest ? "hdst_max_by" : "hdst_min_by", field, &error) != HDST_OK) hdst__dataset_fail(dataset, &error);
    if (dataset->object.context) dataset->largest = largest;
    hdst__unlock(from->object.context);
    return dataset;
}

hdst_dataset *hdst_min_by(hdst_dataset *dataset, const char *field) { return extreme(dataset, field, false); }
hdst_dataset *hdst_max_by(hdst_dataset *dataset, const char *field) { return extreme(dataset, field, true); }
