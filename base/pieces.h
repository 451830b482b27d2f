// SPDX-License-Identifier: Apache-2.0
// The files of codegen/opencl/templates/, built into the library by embed.py.
#ifndef HDST_BASE_PIECES_H
#define HDST_BASE_PIECES_H

#include <stdbool.h>
#include <stddef.h>

typedef struct hdst__template {
    const char *name;       // "kernel_cpu.cl"
    const char *text;       // with holes
    bool is_kernel;         // the skeleton of a form; else what goes into one, or behind it
} hdst__template;

typedef struct hdst__program_text {     // of kernels that the engine has of its own: no names of the user stand beside theirs
    const char *name;       // "sort_cpu.cl"
    const char *text;
} hdst__program_text;

typedef struct hdst__piece {        // of the prelude: a function, an enum, a macro
    const char *file;       // "integers.cl"
    const char *names;      // what it declares, with spaces between; "": the comment of its file, which comes first
    const char *text;
} hdst__piece;

extern const hdst__template hdst__templates[];
extern const size_t hdst__template_count;
extern const hdst__program_text hdst__program_texts[];
extern const size_t hdst__program_text_count;
extern const hdst__piece hdst__pieces[];        // those of a file stand together, in its order
extern const size_t hdst__piece_count;

const char *hdst__template_text(const char *name);     // of a skeleton that exists; never NULL
const char *hdst__program_text_of(const char *name);   // of a program's text that exists; never NULL

#endif
