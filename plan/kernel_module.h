// SPDX-License-Identifier: Apache-2.0
// A loaded kernel file: its checked tree and the records that it knows. Made by hdst/module_object.c; read with the context's lock held.
#ifndef HDST_PLAN_KERNEL_MODULE_H
#define HDST_PLAN_KERNEL_MODULE_H

#include "base/diag.h"
#include "codegen/front/ast.h"
#include "plan/object.h"

struct hdst_module {
    hdst__object object;
    hdst__arena arena;
    hdst__diags diags;
    ast_module *tree;           // NULL after an error
    char *diagnostics;          // rendered
    const hdst__param_value *params;        // as given
    size_t param_count;
    hdst__object **schemas;     // whose records the tree refers to
    size_t schema_count;
    hdst__record **records;     // of these schemas, as the module was compiled with them; in its arena
    size_t record_count;
    const hdst__record *scalar[HDST__SCALAR_KINDS];     // by kind, once it was asked for: a record of one field around it
};

// The record called `name`, a record of the module or a one-field record around a scalar type ("float"); NULL with the error filled (near names).
const hdst__record *hdst__module_find_record(hdst_module *module, const char *name, hdst_error *error);
const ast_function *hdst__module_find_function(hdst_module *module, const char *name, hdst_error *error);

#endif
