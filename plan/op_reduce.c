// SPDX-License-Identifier: Apache-2.0
// Reduces of a whole dataset. A function that is no accumulation runs as a fold (fold_node.c).
#include "plan/map_spec.h"
#include "plan/user_function.h"

static void describe(const hdst_dataset *dataset, hdst__buffer *out) { hdst__buffer_printf(out, " -> reduce %s", dataset->spec->function->name); }

const hdst__operator hdst__op_reduce = {.name = "hdst_reduce", .gives = HDST__GIVES_OTHERS, .describe = describe, .lower = hdst__plan_lower_function};

static const hdst__user_function call = {&hdst__op_reduce, AST_REDUCE, NULL};

hdst_dataset *hdst_reduce(hdst_dataset *dataset, hdst_module *module, const char *function)
{
    HDST__NEEDS(hdst_dataset, dataset, "dataset");
    return hdst__user_function_by_name(__func__, dataset, &call, module, function);
}
