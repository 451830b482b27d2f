// SPDX-License-Identifier: Apache-2.0
// Records of one dataset by whether another has such a key: semi joins, anti joins.
#include "plan/join_node.h"

#define OPERATOR(text)                                                                                                                  \
    {                                                                                                                                   \
        .name = (text), .gives = HDST__GIVES_OTHERS, .own_bytes = sizeof(hdst__join_own), .may_stay_on_host = true,                     \
        .describe = hdst__join_node_describe, .build = hdst__join_node_build, .run = hdst__join_node_run, .known = hdst__node_has_run,  \
        .explain = hdst__join_node_explain, .stands_in = hdst__join_stands_in, .drop = hdst__join_node_drop,                            \
        .release = hdst__join_node_release, .end = hdst__join_node_end,                                                                 \
    }

const hdst__operator hdst__op_semi_join = OPERATOR("hdst_semi_join");
const hdst__operator hdst__op_anti_join = OPERATOR("hdst_anti_join");

static hdst_dataset *keep_left(const char *call, const hdst__operator *op, hdst__join_kind kind, hdst_dataset *const sides[2], const char *const key[2])
{
    hdst_error error = HDST_ERROR_INIT;
    hdst__lock(sides[0]->object.context);
    hdst_dataset *dataset = hdst__join_dataset(call, op, sides[0], sides[1]);
    if (dataset->object.context && !dataset->object.error) {
        ((hdst__join_own *)dataset->own)->kind = kind;
        if (hdst__join_keys(call, dataset, key[0], key[1], &error) != HDST_OK) hdst__dataset_fail(dataset, &error);
    }
    hdst__unlock(sides[0]->object.context);
    return dataset;
}

hdst_dataset *hdst_semi_join(hdst_dataset *left, const char *left_key, hdst_dataset *right, const char *right_key)
{
    HDST__NEEDS(hdst_dataset, left, "left");
    return keep_left(__func__, &hdst__op_semi_join, HDST__JOIN_SEMI, (hdst_dataset *[]){left, right}, (const char *[]){left_key, right_key});
}

hdst_dataset *hdst_anti_join(hdst_dataset *left, const char *left_key, hdst_dataset *right, const char *right_key)
{
    HDST__NEEDS(hdst_dataset, left, "left");
    return keep_left(__func__, &hdst__op_anti_join, HDST__JOIN_ANTI, (hdst_dataset *[]){left, right}, (const char *[]){left_key, right_key});
}
