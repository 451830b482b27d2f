// SPDX-License-Identifier: Apache-2.0
// Flat maps: a function of the user makes any number of records of each.
#include "plan/map_spec.h"
#include "plan/user_function.h"

static void describe(const hdst_dataset *dataset, hdst__buffer *out) { hdst__buffer_printf(out, " -> flat_map %s", dataset->spec->function->name); }

const hdst__operator hdst__op_flat_map = {.name = "hdst_flat_map", .gives = HDST__GIVES_MANY, .describe = describe, .lower = hdst__plan_lower_function};

static const hdst__user_function call = {&hdst__op_flat_map, AST_FLAT_MAP, NULL};

hdst_dataset *hdst_flat_map(hdst_dataset *dataset, const hdst_map_spec *spec)
{
    HDST__NEEDS(hdst_dataset, dataset, "dataset");
    return hdst__user_function_by_spec(__func__, dataset, &call, spec);
}

hdst_dataset *hdst_flat_map_function(hdst_dataset *dataset, hdst_module *module, const char *function)
{
    HDST__NEEDS(hdst_dataset, dataset, "dataset");
    return hdst__user_function_by_name(__func__, dataset, &call, module, function);
}
