// SPDX-License-Identifier: Apache-2.0
// Datasets of operators that call a function of the user: maps, filters, flat_maps, reduces. By the function's name in a module, or by a spec that
// also says what its parameters are bound to. Both take the lock; what is wrong is told in the name of the public call.
#ifndef HDST_PLAN_USER_FUNCTION_H
#define HDST_PLAN_USER_FUNCTION_H

#include "plan/stage_call.h"

typedef struct hdst__user_function {
    const hdst__operator *op;
    ast_function_kind kind;         // that it takes
    // Whether the function fits the dataset before it; NULL: it takes its records.
    hdst_status (*check)(hdst_dataset *dataset, const ast_function *function, hdst_error *error);
} hdst__user_function;

hdst_status hdst__user_function_takes(const hdst_dataset *parent, const ast_function *function, hdst_error *error);
hdst_dataset *hdst__user_function_by_spec(const char *name, hdst_dataset *parent, const hdst__user_function *call, const hdst_map_spec *spec);
hdst_dataset *hdst__user_function_by_name(const char *name, hdst_dataset *parent, const hdst__user_function *call, hdst_module *module,
                                          const char *function);

#endif
