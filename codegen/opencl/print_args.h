// SPDX-License-Identifier: Apache-2.0
// The arguments of a kernel: listed for the engine, which binds them in this order (kernel_args.h), and declared in the kernel's text.
// Everything lives in the printer's arena. One thread to a printer.
#ifndef HDST_CODEGEN_OPENCL_PRINT_ARGS_H
#define HDST_CODEGEN_OPENCL_PRINT_ARGS_H

#include "codegen/opencl/printer.h"

// `format` and what follows it: the declaration.
void hdst__kernel_add_arg(hdst__printer *p, hdst__arg_kind kind, uint32_t index, const char *format, ...) __attribute__((format(printf, 4, 5)));
// Those that every form has: records, inputs, broadcasts, tables, output, the error.
void hdst__kernel_add_common_args(hdst__printer *p);

#endif
