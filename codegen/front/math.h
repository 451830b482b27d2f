// SPDX-License-Identifier: Apache-2.0
// The mathematics of the kernel language: kernel files of codegen/math/, built into the library by embed.py. exp() in a kernel is
// the helper function exp_float or exp_double there. They are checked and inlined as a user's helpers are, so that every back end
// computes the same.
#ifndef HDST_CODEGEN_FRONT_MATH_H
#define HDST_CODEGEN_FRONT_MATH_H

#include <stddef.h>

typedef struct hdst__math_file {
    const char *name;       // "hdst:exp.hk", among the sources of a module
    const char *text;
    size_t length;
} hdst__math_file;

typedef struct hdst__math_function {
    const char *name;       // "exp_float"
    size_t file;
} hdst__math_function;

extern const hdst__math_file hdst__math_files[];
extern const size_t hdst__math_file_count;
extern const hdst__math_function hdst__math_functions[];
extern const size_t hdst__math_function_count;

#endif
