// SPDX-License-Identifier: Apache-2.0
// The private memory that a work-item of a kernel needs, in bytes: an estimate, for drivers tell only when it is too late.
#ifndef HDST_CODEGEN_OPENCL_PRIVATE_MEMORY_H
#define HDST_CODEGEN_OPENCL_PRIVATE_MEMORY_H

#include "codegen/opencl/printer.h"

uint64_t hdst__private_bytes(hdst__printer *p, const ir_func *func);
// False, with a diagnostic, when a work-item needs more private memory than the limit.
bool hdst__private_fits(hdst__printer *p, const ir_func *func, uint64_t bytes, uint64_t limit, hdst__diags *diags);

#endif
