// SPDX-License-Identifier: Apache-2.0
// Some of the records, by their numbers.
#include "plan/op_slice.h"

#include "plan/stage_node.h"

#include <inttypes.h>

typedef struct slice_own {
    uint64_t first, count;          // from which record on, how many at most
} slice_own;

static void describe(const hdst_dataset *dataset, hdst__buffer *out)
{
    const slice_own *own = dataset->own;
    hdst__buffer_printf(out, " from %" PRIu64 " on, %" PRIu64 " at most", own->first, own->count);
}

// Functions of whose records only the first ones are read end with them, unless something is totalled on the way. The input is another node where the
// functions run behind the slice.
static hdst_status build(hdst__arena *arena, hdst__node *node, hdst_error *error)
{
    (void)arena, (void)error;
    const hdst_dataset *slice = node->dataset;
    const slice_own *own = slice->own;
    hdst__stage_node *functions = node->inputs[0]->op == &hdst__op_stage ? node->inputs[0]->own : NULL;
    uint64_t end;
    if (!functions || node->inputs[0]->dataset != slice->parent || slice->parent->mark.consumers > 1 || own->count == 0) return HDST_OK;
    for (size_t i = 0; i < functions->item_count; i++)
        if (hdst__accumulates(functions->items[i]->mark.func)) return HDST_OK;
    if (!__builtin_add_overflow(own->first, own->count, &end)) functions->limit = end;
    return HDST_OK;
}

static hdst_status fill_from_slice(void *user, uint64_t first, uint64_t count, const hdst__storage *storage, void *const *buffers, uint64_t to_first,
                                   hdst_error *error)
{
    const hdst__node *node = user;
    const hdst__reader *from = &node->inputs[0]->reader;
    const slice_own *own = node->dataset->own;
    return from->fill(from->user, own->first + first, count, storage, buffers, to_first, error);
}

static hdst_status run(hdst__plan *plan, hdst__node *node, hdst_error *error)
{
    (void)plan;
    const slice_own *own = node->dataset->own;
    uint64_t records, wanted;
    if (__builtin_add_overflow(own->first, own->count, &wanted)) wanted = UINT64_MAX;
    const hdst_status status = hdst__read_reach(node->inputs[0], wanted, &records, error);
    if (status != HDST_OK) return status;
    const hdst__reader *from = &node->inputs[0]->reader;
    uint64_t left = own->first < records ? records - own->first : 0;
    node->reader = *from;
    node->reader.fill = fill_from_slice;
    node->reader.user = node;
    node->reader.records = own->count < left ? own->count : left;
    node->reader.open_end = NULL;
    node->reader.rows = from->rows && left ? (const char *)from->rows + own->first * from->record->size : NULL;
    return HDST_OK;
}

static bool is_range(const hdst__node *node, uint64_t *first)
{
    if (!hdst__node_is_range(node->inputs[0], first)) return false;
    *first += ((const slice_own *)node->dataset->own)->first;
    return true;
}

const hdst__operator hdst__op_slice = {
    .name = "hdst_slice", .gives = HDST__GIVES_SOME, .own_bytes = sizeof(slice_own), .describe = describe, .build = build, .run = run,
    .known = hdst__node_inputs_known, .takes_some = true, .is_range = is_range,
};

hdst_dataset *hdst__dataset_slice(hdst_dataset *from, uint64_t first, uint64_t count)
{
    hdst_dataset *dataset = hdst__dataset_new(from->object.context, &hdst__op_slice, from);
    if (dataset->object.context) *(slice_own *)dataset->own = (slice_own){first, count};
    return dataset;
}

hdst_dataset *hdst_slice(hdst_dataset *from, uint64_t first, uint64_t count)
{
    HDST__NEEDS(hdst_dataset, from, "dataset");
    hdst__lock(from->object.context);
    hdst_dataset *dataset = hdst__dataset_slice(from, first, count);
    hdst_error error = HDST_ERROR_INIT;
    if (!dataset->object.error && hdst__dataset_has_records(from, "hdst_slice", &error) != HDST_OK) hdst__dataset_fail(dataset, &error);
    hdst__unlock(from->object.context);
    return dataset;
}
