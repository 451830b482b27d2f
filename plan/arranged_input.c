// SPDX-License-Identifier: Apache-2.0
// Stages whose input is in the order of a key.
#include "plan/stage_node.h"

#include "codegen/lower/operator_functions.h"

// Only a dense reduce has a row for each key.
void hdst__arranged_input_add(const hdst__node *node, ir_func *func)
{
    const hdst__stage_node *own = node->own;
    const hdst_dataset *last = own->items[own->item_count - 1];
    func->params[0].arranged = hdst__input_arranged_by(last);
    if (!func->params[0].arranged || own->passes.count > 1 || node->dataset->row_tuples) return;
    if (!last->op->row_starts || !last->op->row_starts(last, 0) || !hdst__engine_runs_kernels(node->dataset->object.context->engine)) return;
    const ir_param starts = {.kind = IR_BROADCAST_TABLE, .name = "starts", .bind = "starts", .is_table = true, .is_lookup = true,
                             .record = hdst__number_record(func->arena, HDST__U64)};
    const uint32_t param = hdst__ir_add_param(func, starts);
    func->params[0].starts = param;
}

void hdst__arranged_input_bind(hdst__node *node)
{
    hdst__stage_node *own = node->own;
    const uint32_t param = own->call.func->params[0].starts;
    if (!param) return;
    const hdst_dataset *last = own->items[own->item_count - 1];
    const uint64_t rows = own->call.params[own->records_table->param].rows;
    own->call.params[param] = (hdst__plan_param){.function = "hdst_arrange", .name = "starts", .held = last->op->row_starts(last, rows)};
}
