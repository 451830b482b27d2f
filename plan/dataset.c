// SPDX-License-Identifier: Apache-2.0
// The graph: datasets, and what all operators share. Nothing runs here.
#include "plan/dataset.h"

#include "plan/operator.h"

#include <stddef.h>
#include <string.h>

hdst_dataset hdst__no_dataset = {.object = {.error = &hdst__no_memory}};

static void release_dataset(hdst__object *object)
{
    hdst_dataset *dataset = (hdst_dataset *)object;
    if (dataset->op && dataset->op->end) dataset->op->end(dataset);
    if (dataset->module) hdst__object_drop(&dataset->module->object);
    if (dataset->spec) hdst__object_drop(&dataset->spec->object);
    hdst__free(HDST__ALLOCATOR(dataset), dataset->inputs);
    hdst__free(HDST__ALLOCATOR(dataset), dataset->row_passes_why);
}

// The operator's own struct stands behind the dataset, in one piece of memory.
enum { OWN_AT = (sizeof(hdst_dataset) + _Alignof(max_align_t) - 1) / _Alignof(max_align_t) * _Alignof(max_align_t) };

hdst_dataset *hdst__dataset_new(hdst_context *context, const hdst__operator *op, hdst_dataset *parent)
{
    hdst_dataset *dataset = hdst__object_create(context, OWN_AT + op->own_bytes, release_dataset, &hdst__no_dataset);
    if (dataset == &hdst__no_dataset) return dataset;
    dataset->op = op;
    if (op->own_bytes) dataset->own = (char *)dataset + OWN_AT;
    dataset->serial = ++context->datasets;
    dataset->parent = parent;
    if (!parent) return dataset;
    hdst__object_inherit(&dataset->object, &parent->object);
    dataset->record = parent->record;
    dataset->layout = parent->layout;
    dataset->block = parent->block;
    dataset->nested = parent->nested;
    return dataset;
}

hdst_dataset *hdst__dataset_fail(hdst_dataset *dataset, const hdst_error *error)
{
    if (dataset->object.context) hdst__object_fail(&dataset->object, error);
    return dataset;
}

hdst_status hdst__dataset_has_records(const hdst_dataset *dataset, const char *what, hdst_error *error)
{
    if (dataset->record) return HDST_OK;
    hdst__error_set(error, HDST_E_USAGE, "%s needs records, but the map before it gives accumulators only", what);
    hdst__error_hint(error, "give that map a result with '-> record'");
    return HDST_E_USAGE;
}

static bool same_leaf(const hdst__leaf *a, const hdst__leaf *b)
{
    if (a->kind != b->kind || a->offset != b->offset || a->elements != b->elements || a->dims != b->dims || strcmp(a->path, b->path)) return false;
    for (uint32_t d = 0; d < a->dims; d++)
        if (a->dim[d].count != b->dim[d].count || a->dim[d].stride != b->dim[d].stride) return false;
    return true;
}

const hdst_dataset *hdst__fused_input(const hdst_dataset *last)
{
    for (uint32_t i = last->mark.length; i > 1; i--) last = last->parent;
    return last->parent;
}

uint32_t hdst__input_arranged_by(const hdst_dataset *last)
{
    const hdst_dataset *input = hdst__fused_input(last);
    return input ? input->arranged : 0;
}

bool hdst__same_records(const hdst__record *a, const hdst__record *b)
{
    if (a == b) return true;
    if (a->size != b->size || a->leaf_count != b->leaf_count) return false;
    for (size_t i = 0; i < a->leaf_count; i++)
        if (!same_leaf(&a->leaves[i], &b->leaves[i])) return false;
    return true;
}

void hdst__dataset_as_structs(hdst_dataset *dataset)
{
    dataset->layout = HDST__AOS;
    dataset->block = 0;
}

hdst_status hdst_dataset_status(const hdst_dataset *dataset, hdst_error *error) { return hdst__check_alive(__func__, "dataset", dataset, error); }
