// SPDX-License-Identifier: Apache-2.0
// A pass that changes nothing and says that it was asked.
//
// Before and After: the same.
#include "codegen/pass/passes.h"

#include <stdio.h>

void hdst__pass_recipe_pass(ir_func *func)
{
    fprintf(stderr, "recipe: a pass sees %s\n", func->name);
}
