// SPDX-License-Identifier: Apache-2.0
// What stands in front of a kernel.
#ifndef HDST_CODEGEN_OPENCL_PRELUDE_H
#define HDST_CODEGEN_OPENCL_PRELUDE_H

#include "base/pieces.h"
#include "codegen/opencl/printer.h"

typedef struct hdst__prelude {
    const char *dialect;        // extensions, and macros in which compilers differ
    const char *functions;
} hdst__prelude;

// What the kernel's text names, and what that names in turn. In the arena.
hdst__prelude hdst__prelude_of(hdst__printer *p, const char *kernel);

// The files with functions that kernels may name. Returns how many there are.
enum { HDST__PRELUDE_FILES = 48 };
size_t hdst__prelude_files(hdst__piece_file to[HDST__PRELUDE_FILES], bool has_double);

#endif
