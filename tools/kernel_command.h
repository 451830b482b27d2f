// SPDX-License-Identifier: Apache-2.0
// What `hdst kernel` was asked for, as its actions see it.
#ifndef HDST_TOOLS_KERNEL_COMMAND_H
#define HDST_TOOLS_KERNEL_COMMAND_H

#include "tools/arguments.h"
#include "codegen/front/ast.h"

typedef struct hdst_kernel_request {
    const char *action, *file;
    const char *schema;         // --schema FILE, or NULL: records known without an import
    const char *target;         // --target cpu|gpu|interp, or NULL
    bool ir;                    // --ir
    bool fast_sums;             // --fast-sums: kernels may add floats plainly
    const char *function;       // --function NAME, or NULL: all
    hdst_params params;
} hdst_kernel_request;

// kernel_show.c: prints functions of the checked module into `out`. Notes for stderr go to `messages`.
hdst_status hdst_kernel_show(const hdst_kernel_request *request, const ast_module *module, hdst__arena *arena, hdst__buffer *out,
                             hdst__buffer *messages, hdst_error *error);

#endif
