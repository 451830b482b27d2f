// SPDX-License-Identifier: Apache-2.0
// An operator: every second record, and it says so when it runs.
#include "plan/plan.h"

#include <inttypes.h>
#include <stdio.h>

static void describe(const hdst_dataset *dataset, hdst__buffer *out)
{
    (void)dataset;
    hdst__buffer_puts(out, ", every second one");
}

static hdst_status fill(void *user, uint64_t first, uint64_t count, const hdst__storage *storage, void *const *buffers, uint64_t to_first,
                        hdst_error *error)
{
    const hdst__reader *from = &((const hdst__node *)user)->inputs[0]->reader;
    hdst_status status = HDST_OK;
    for (uint64_t i = 0; i < count && status == HDST_OK; i++)
        status = from->fill(from->user, 2 * (first + i), 1, storage, buffers, to_first + i, error);
    return status;
}

static hdst_status run(hdst__plan *plan, hdst__node *node, hdst_error *error)
{
    (void)plan, (void)error;
    const hdst__reader *from = &node->inputs[0]->reader;
    fprintf(stderr, "recipe: an operator takes half of %" PRIu64 " records\n", from->records);
    node->reader = (hdst__reader){fill, node, (from->records + 1) / 2, from->record, from->layout, from->block, from->held};
    return HDST_OK;
}

const hdst__operator hdst__op_recipe = {
    .name = "hdst_recipe", .gives = HDST__GIVES_SOME, .describe = describe, .run = run, .known = hdst__node_inputs_known,
};

hdst_dataset *hdst_recipe(hdst_dataset *from)
{
    HDST__NEEDS(hdst_dataset, from, "dataset");
    hdst_error error = HDST_ERROR_INIT;
    hdst__lock(from->object.context);
    hdst_dataset *dataset = hdst__dataset_new(from->object.context, &hdst__op_recipe, from);
    if (!dataset->object.error && hdst__dataset_has_records(from, "hdst_recipe", &error) != HDST_OK) hdst__dataset_fail(dataset, &error);
    hdst__unlock(from->object.context);
    return dataset;
}
