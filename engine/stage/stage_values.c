// SPDX-License-Identifier: Apache-2.0
// What is bound to a function's parameters in a run (engine/stage/stage_values.h).
#include "engine/stage/stage_values.h"

#include "engine/memory/value_rows.h"

hdst_status hdst__stage_value_on_host(const hdst__stage_values *values, size_t param, const void **rows, hdst_error *error)
{
    if (values->resident && values->resident[param]) return hdst__value_rows_on_host(values->resident[param], rows, error);
    *rows = values->broadcast[param];
    return HDST_OK;
}
