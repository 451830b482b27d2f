// SPDX-License-Identifier: Apache-2.0
// Reduces by the key that their input is arranged by (op_reduce_arranged.c).
#ifndef HDST_PLAN_OP_REDUCE_ARRANGED_H
#define HDST_PLAN_OP_REDUCE_ARRANGED_H

#include "plan/plan.h"

struct hdst__arranged_keys;

bool hdst__plan_wants_keys(const hdst__plan *plan, const struct hdst__arranged_keys *keys);      // a node of the plan makes its rows by these
hdst_dataset *hdst__reduce_by_key_stands_in(hdst__arena *arena, const hdst__plan *plan, hdst_dataset *dataset);     // hdst__operator.stands_in

#endif
