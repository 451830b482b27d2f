// SPDX-License-Identifier: Apache-2.0
// How many records there are: what hdst_count runs. It gives an accumulator, no records.
#include "codegen/lower/operator_functions.h"
#include "plan/plan.h"

static void describe(const hdst_dataset *dataset, hdst__buffer *out)
{
    (void)dataset;
    hdst__buffer_puts(out, " -> count");
}

static ir_func *lower(hdst__arena *arena, const hdst_dataset *dataset, hdst_error *error)
{
    (void)error;
    return hdst__operator_count(arena, dataset->parent->record);
}

const hdst__operator hdst__op_count = {.name = "hdst_count", .gives = HDST__GIVES_NONE, .describe = describe, .lower = lower};
