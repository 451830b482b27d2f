// SPDX-License-Identifier: Apache-2.0
// A function in IR that a node runs: what its parameters are bound to, and the engine's stage that runs it.
#ifndef HDST_PLAN_STAGE_CALL_H
#define HDST_PLAN_STAGE_CALL_H

#include "plan/plan.h"

typedef struct hdst__stage_call {
    const ir_func *func;
    hdst__plan_param *params;       // one per parameter of func; NULL: a fold's, which has none
    const hdst__stage_values *values;       // refilled before each run
    hdst__stage *stage;             // made at the first run
} hdst__stage_call;

// An operator's own function. Its parameters have texts `bind` of their own: after fusion they are known by the very pointer of these.
ir_func *hdst__plan_lower(hdst__arena *arena, const hdst_dataset *item, hdst_error *error);
// What it does last: leaves checks out where the context has none, and makes the texts `bind`. NULL stays NULL.
ir_func *hdst__plan_name_params(hdst__arena *arena, const hdst_dataset *item, ir_func *func);
ir_func *hdst__plan_lower_function(hdst__arena *arena, const hdst_dataset *item, hdst_error *error);       // hdst__operator.lower of a function of the user
hdst_status hdst__plan_passes(ir_func *func, hdst_error *error);
bool hdst__accumulates(const ir_func *func);
bool hdst__reads_index(ir_func *func);      // whether it asks which record of its input it has
hdst__plan_param hdst__plan_param_of(const ir_func *func, const ir_param *param, const hdst_dataset *item);     // of an item's own function
// The same later, when the item has marks of another plan: with the tables of its lookups, as they were marked.
hdst__plan_param hdst__plan_param_in(const ir_func *func, const ir_param *param, const hdst_dataset *item, hdst__node *const *lookups);
// Rows on the host that it reads, of one that accumulates their number.
hdst_status hdst__plan_param_rows(const hdst__plan_param *param, const void **rows, uint64_t *count, hdst_error *error);
// The row that stands for no record, as C struct: a reduce's `identity`. NULL: none, or with an error.
const void *hdst__plan_identity(hdst__arena *arena, const ast_function *reduce, const hdst__record *record, hdst_error *error);

// Room for what the parameters of call->func are bound to. `input`: parameter that has the records of the input, 0: none.
void hdst__stage_call_bind(hdst__arena *arena, hdst__stage_call *call, size_t input);
// Takes the snapshot, unless a value has an error, or rows that its parameter cannot have.
hdst_status hdst__stage_call_values(const hdst__stage_call *call, hdst_error *error);
void hdst__stage_call_end(hdst__stage_call *call);      // the engine's stage

#endif
