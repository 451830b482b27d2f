// SPDX-License-Identifier: Apache-2.0
// Early exits become structure: of a function's returns by a pass, of a block's by the lowering of loops.
#ifndef HDST_CODEGEN_PASS_STRUCTURED_EXITS_H
#define HDST_CODEGEN_PASS_STRUCTURED_EXITS_H

#include "codegen/ir/ir.h"

// Rewrites a block without `exit` (IR_RETURN, or IR_CONTINUE of the loop that the block is the body of): what an exit skips moves behind a condition.
void hdst__ir_structure_exits(ir_func *func, ir_block *block, ir_stmt_kind exit);

#endif
