// SPDX-License-Identifier: Apache-2.0
// Lowering: from a checked function to IR.
#ifndef HDST_CODEGEN_LOWER_LOWER_H
#define HDST_CODEGEN_LOWER_LOWER_H

#include "codegen/front/ast.h"
#include "codegen/ir/ir.h"

// One function in IR, as written; helpers are put in place. NULL for what cannot run (yet), or with an error in the
// module's diags when it is too large. A recognised field-wise reduce becomes a body that accumulates into a one-row
// accum parameter called "result"; another reduce has two inputs a, b and an output.
ir_func *hdst__lower(hdst__arena *arena, const ast_module *module, const ast_function *function);

// Where a leaf of a group's key lies in the records of its stream: at element `element` of leaf `leaf`, and on.
typedef struct hdst__key_leaf {
    uint32_t leaf;
    uint64_t element;
} hdst__key_leaf;

// A group in IR is a map over the runs of records with equal keys: its input is {first, count}, both uint64_t; a
// table with the stream's name (the first broadcast) holds the records of all runs, one after another; what comes
// after are its own broadcasts and the output. `key` has a place for each leaf of the key, in their order; NULL: the
// field that has the name of the key parameter. NULL (with nothing in the diags) when there is none; of other
// functions as hdst__lower, which asks for groups so.
ir_func *hdst__lower_group(hdst__arena *arena, const ast_module *module, const ast_function *function, const hdst__key_leaf *key);
const hdst__record *hdst__group_run_record(hdst__arena *arena);     // {first, count}
ir_expr *hdst__group_run_leaf(ir_func *func, uint32_t leaf);        // of such a record, the function's first parameter: a uint64_t
// A reduce by key over such runs, from left to right: `reduce` as lowered, two inputs and an output; leaf i of its
// record is leaf value[i] of `keyed`, whose other leaves are the key. Its parameters: {first, count}, the table
// "records" of `keyed`, the output of `keyed`, one for each run.
ir_func *hdst__operator_group_reduce(hdst__arena *arena, const ir_func *reduce, const hdst__record *keyed, const uint32_t *value);

// The parameters of a map alone, as `hdst__lower` orders them, for code that is given apart.
ir_func *hdst__lower_signature(hdst__arena *arena, const ast_module *module, const ast_function *function);

#endif
