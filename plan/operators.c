// SPDX-License-Identifier: Apache-2.0
// The table of operators (operator.h).
#include "plan/operator.h"

#define ENTRY(name) &hdst__op_##name,
const hdst__operator *const hdst__operators[] = {HDST__OPERATORS(ENTRY) NULL};
