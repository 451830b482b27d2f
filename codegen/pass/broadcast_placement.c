// SPDX-License-Identifier: Apache-2.0
// GPU form: which broadcasts are copied into local memory: tables of aligned rows, in order, as long as they have room
// in half of what the accumulators leave. A lookup is read where it lies, however few its rows are.
//
// Before: broadcast c c[] {f32 x}
// After:  broadcast c c[] {f32 x}      place c local
#include "codegen/pass/gpu_form.h"

static bool all_aligned(const ir_param *param)
{
    bool aligned = param->record->align >= 4 && param->record->size % 4 == 0;
    for (size_t l = 0; l < param->record->leaf_count; l++) aligned &= hdst__leaf_is_aligned(param->record, &param->record->leaves[l]);
    return aligned;
}

static uint64_t free_bytes(const ir_func *func, const ir_func *loops, const hdst__tables *tables, const hdst__place_limits *limits)
{
    const uint64_t copies = hdst__place_copy_bytes(func, tables, limits->rows) * func->tables->copies;
    const uint64_t taken = copies + hdst__place_loop_bytes(loops, tables, limits);
    return taken < limits->local_bytes ? (limits->local_bytes - taken) / 2 : 0;
}

void hdst__pass_broadcast_placement(ir_func *func, const ir_func *loops, const hdst__tables *tables, const hdst__place_limits *limits)
{
    uint64_t room = free_bytes(func, loops, tables, limits);
    for (size_t i = 0; i < func->param_count; i++) {
        const ir_param *param = &func->params[i];
        if (param->kind != IR_BROADCAST_TABLE || !param->is_table || param->is_lookup) continue;
        if (param->record->has_text) continue;      // short texts are read where they lie
        if (!all_aligned(param) || !limits->rows || limits->rows[i] > room) continue;
        const uint64_t bytes = limits->rows[i] * param->record->size + HDST__LOCAL_ALIGN;
        if (bytes > room) continue;
        param->placement->place = IR_PLACE_LOCAL;
        room -= bytes;
    }
}
