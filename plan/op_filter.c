// SPDX-License-Identifier: Apache-2.0
// Filters: a function of the user says which records stay.
#include "plan/map_spec.h"
#include "plan/user_function.h"

static void describe(const hdst_dataset *dataset, hdst__buffer *out) { hdst__buffer_printf(out, " -> filter %s", dataset->spec->function->name); }

const hdst__operator hdst__op_filter = {.name = "hdst_filter", .gives = HDST__GIVES_SOME, .describe = describe, .lower = hdst__plan_lower_function};

static const hdst__user_function call = {&hdst__op_filter, AST_FILTER, NULL};

hdst_dataset *hdst_filter(hdst_dataset *dataset, const hdst_map_spec *spec)
{
    HDST__NEEDS(hdst_dataset, dataset, "dataset");
    return hdst__user_function_by_spec(__func__, dataset, &call, spec);
}

hdst_dataset *hdst_filter_function(hdst_dataset *dataset, hdst_module *module, const char *function)
{
    HDST__NEEDS(hdst_dataset, dataset, "dataset");
    return hdst__user_function_by_name(__func__, dataset, &call, module, function);
}
