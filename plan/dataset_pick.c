// SPDX-License-Identifier: Apache-2.0
// Operators that pick records by the value of a field: a stage lets candidates through, of which the best are picked (op_top.c).
#include "plan/dataset.h"

static hdst_status find_value(hdst_dataset *dataset, const char *what, const char *field, hdst_error *error)
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

static hdst_dataset *pick(hdst_dataset *from, const char *what, const char *extreme, uint64_t count, const char *field, bool largest)
{
    hdst__lock(from->object.context);
    hdst_dataset *sieve = hdst__dataset_new(from->object.context, HDST__OP_SIEVE, from);
    hdst_error error = HDST_ERROR_INIT;
    if (!sieve->object.error && find_value(sieve, what, field, &error) != HDST_OK) hdst__dataset_fail(sieve, &error);
    hdst_dataset *dataset = sieve->object.context ? hdst__dataset_new(from->object.context, HDST__OP_TOP, sieve) : sieve;
    if (dataset->object.context) {
        dataset->place = sieve->place;
        dataset->count = count;
        dataset->largest = largest;
        dataset->extreme = extreme;
    }
    hdst__unlock(from->object.context);
    return dataset;
}

hdst_dataset *hdst_top(hdst_dataset *dataset, uint64_t count, const char *field) { HDST__NEEDS(hdst_dataset, dataset, "dataset"); return pick(dataset, "hdst_top", NULL, count, field, true); }
hdst_dataset *hdst_min_by(hdst_dataset *dataset, const char *field) { HDST__NEEDS(hdst_dataset, dataset, "dataset"); return pick(dataset, "hdst_min_by", "min_by", 1, field, false); }
hdst_dataset *hdst_max_by(hdst_dataset *dataset, const char *field) { HDST__NEEDS(hdst_dataset, dataset, "dataset"); return pick(dataset, "hdst_max_by", "max_by", 1, field, true); }
