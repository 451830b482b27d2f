// SPDX-License-Identifier: Apache-2.0
// Accumulator tables of a function's accumulators (codegen/ir/accum_tables.h).
#include "codegen/ir/accum_tables.h"

const hdst__tables *hdst__ir_accum_tables(hdst__arena *arena, const ir_func *func, const hdst__precision_class *classes)
{
    hdst__accum_shape *shape = HDST__NEW_ARRAY(arena, hdst__accum_shape, func->param_count + 1);
    size_t count = 0;
    for (size_t i = 0; i < func->param_count; i++) {
        const ir_param *param = &func->params[i];
        if (param->kind == IR_ACCUM_TABLE) shape[count++] = (hdst__accum_shape){(uint32_t)i, param->record,
            param->is_table, param->leaf_op, param->leaf_from_float};
    }
    return hdst__tables_make(arena, shape, count, classes);
}
