// SPDX-License-Identifier: Apache-2.0
// Signs of floats, as far as operations tell: a sum of squares, a quotient of such. "Plus" is a NaN, of any sign, or a number whose sign bit is 0: at least +0.
#ifndef HDST_CODEGEN_IR_SIGN_H
#define HDST_CODEGEN_IR_SIGN_H

#include "codegen/ir/ir.h"

// plus: by variable, of those that the expression reads.
bool hdst__ir_is_plus(const ir_expr *e, const bool *plus);
// By variable: all that it is ever set to is plus. In memory of the function's arena.
bool *hdst__ir_plus_vars(const ir_func *func);

#endif
