// SPDX-License-Identifier: Apache-2.0
// What stands in front of a kernel.
#ifndef HDST_CODEGEN_OPENCL_PRELUDE_H
#define HDST_CODEGEN_OPENCL_PRELUDE_H

#include "codegen/opencl/print.h"

// What the kernel's text names of the templates' functions (of the parts that the printer marked) and of the macros in `head`, and what those name in turn. In the arena.
void hdst__prelude(hdst__printer *p, const char *kernel, const char *head, const char **used_head, const char **used_pieces);
const char *hdst__prelude_file(hdst__part part);       // of codegen/opencl/templates/

#endif
