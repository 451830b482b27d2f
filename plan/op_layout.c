// SPDX-License-Identifier: Apache-2.0
// The same records, read in another layout.
#include "plan/plan.h"

static void describe(const hdst_dataset *dataset, hdst__buffer *out) { hdst__buffer_printf(out, " as %s", hdst__layout_name(dataset->layout)); }

static hdst_status run(hdst__plan *plan, hdst__node *node, hdst_error *error)
{
    (void)plan, (void)error;
    node->reader = node->inputs[0]->reader;
    node->reader.layout = node->dataset->layout;
    node->reader.block = node->dataset->block;
    return HDST_OK;
}

static bool is_range(const hdst__node *node, uint64_t *first) { return hdst__node_is_range(node->inputs[0], first); }

const hdst__operator hdst__op_layout = {.name = "hdst_with_layout", .gives = HDST__GIVES_EACH, .describe = describe, .run = run,
                                        .known = hdst__node_inputs_known, .is_range = is_range};

hdst_dataset *hdst_with_layout(hdst_dataset *from, hdst_layout layout)
{
    HDST__NEEDS(hdst_dataset, from, "dataset");
    hdst__lock(from->object.context);
    hdst_dataset *dataset = hdst__dataset_new(from->object.context, &hdst__op_layout, from);
    hdst_error error = HDST_ERROR_INIT;
    if (!dataset->object.error) {
        if ((unsigned)layout > HDST_AOP) hdst__error_set(&error, HDST_E_USAGE, "layout %d; HDST_AOS, HDST_SOA, HDST_AOSOA and HDST_AOP exist", (int)layout);
        else hdst__dataset_has_records(from, "hdst_with_layout", &error);
        if (error.code != HDST_OK) hdst__dataset_fail(dataset, &error);
        dataset->layout = (hdst__layout)layout;
        dataset->arranged = from->arranged;
        dataset->block = layout != HDST_AOSOA ? 0 : from->block ? from->block : 256;
    }
    hdst__unlock(from->object.context);
    return dataset;
}
