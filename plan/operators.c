// SPDX-License-Identifier: Apache-2.0
// The table of operators (operator.h), in a file of its own: the graph, which operators call, calls none of them by name.
#include "plan/operator.h"

#define ENTRY(name) &hdst__op_##name,
const hdst__operator *const hdst__operators[] = {HDST__OPERATORS(ENTRY) NULL};
