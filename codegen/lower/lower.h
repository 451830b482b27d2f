// SPDX-License-Identifier: Apache-2.0
// Lowering: from a checked function to IR.
#ifndef HDST_CODEGEN_LOWER_LOWER_H
#define HDST_CODEGEN_LOWER_LOWER_H

#include "codegen/front/ast.h"
#include "codegen/ir/ir.h"

// One function in IR, as written, with its helpers inlined. NULL for what cannot run (yet), or with an error in the
// module's diags when it is too large. A recognised field-wise reduce becomes a body that accumulates into a one-row
// accum parameter called "result"; another reduce has two inputs a, b and an output.
ir_func *hdst__lower(hdst__arena *arena, const ast_module *module, const ast_function *function);

// Where a leaf of a group's key begins in the records of its stream: at element `element` of leaf `leaf`.
typedef struct hdst__key_leaf {
    uint32_t leaf;
    uint64_t element;
} hdst__key_leaf;

// A group in IR is a map over the runs of records with equal keys. Its input is {first, count}, both uint64_t; its first
// broadcast, a table with the stream's name, has the records of all runs, one after another; then come the group's own
// broadcasts and the output. Of a group of two streams that table is called "records", and has records of function->pair, whose first leaves are the key.
// `key` has a place for each leaf of the key, in order; NULL: the field that has the name of the key
// parameter, and if there is none the result is NULL (with nothing in the diags). Other functions are lowered as by hdst__lower,
// which calls this with NULL.
ir_func *hdst__lower_group(hdst__arena *arena, const ast_module *module, const ast_function *function, const hdst__key_leaf *key);
const hdst__record *hdst__group_run_record(hdst__arena *arena);     // {first, count}
ir_expr *hdst__group_run_leaf(ir_func *func, uint32_t leaf);        // of such a record, the function's first parameter: a uint64_t
// A reduce by key over such runs, from left to right. `reduce` is lowered, with two inputs and an output; leaf i of its record
// is leaf value[i] of the record `keyed`, whose other leaves are the key. Parameters of the result: {first, count}, the table
// "records" of `keyed`, an output of `keyed` for each run.
ir_func *hdst__operator_group_reduce(hdst__arena *arena, const ir_func *reduce, const hdst__record *keyed, const uint32_t *value);

// A reduce as a function of two records, field-wise or not: inputs a, b and an output. NULL as of hdst__lower.
ir_func *hdst__lower_reduce(hdst__arena *arena, const ast_module *module, const ast_function *function);

// A function with the parameters of a map as `hdst__lower` orders them, without a body: for external kernels.
ir_func *hdst__lower_signature(hdst__arena *arena, const ast_module *module, const ast_function *function);

#endif
