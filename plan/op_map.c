// SPDX-License-Identifier: Apache-2.0
// Maps: a function of the user makes one record of each.
#include "plan/map_spec.h"
#include "plan/user_function.h"

static void describe(const hdst_dataset *dataset, hdst__buffer *out) { hdst__buffer_printf(out, " -> map %s", dataset->spec->function->name); }

const hdst__operator hdst__op_map = {.name = "hdst_map", .gives = HDST__GIVES_EACH, .describe = describe, .lower = hdst__plan_lower_function};

static const hdst__user_function call = {&hdst__op_map, AST_MAP, NULL};

hdst_dataset *hdst_map(hdst_dataset *dataset, const hdst_map_spec *spec)
{
    HDST__NEEDS(hdst_dataset, dataset, "dataset");
    return hdst__user_function_by_spec(__func__, dataset, &call, spec);
}

hdst_dataset *hdst_map_function(hdst_dataset *dataset, hdst_module *module, const char *function)
{
    HDST__NEEDS(hdst_dataset, dataset, "dataset");
    return hdst__user_function_by_name(__func__, dataset, &call, module, function);
}
