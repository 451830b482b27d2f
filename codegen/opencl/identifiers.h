// SPDX-License-Identifier: Apache-2.0
// The identifiers of generated OpenCL C. They come from three spaces, which no two share a word, so nothing that
// users name can meet what generated text is made of:
//
//   best_, p_x_, e_2_        of the program: what users name, and the variables of passes. They end in one underscore (hdst__name_take)
//   p_x_At, t_Rows, best_Of  made from such a name: what belongs to it. They end in a capitalised word (NAME followed by At, Rows ...)
//   lane, LANES, fma, row    of the templates, the printers and OpenCL C. They do neither: embed.py sees to it for the templates, tests for the printers
//
// Kernels are called NAME (of which 64 letters) and eight hexadecimal digits, near_1a2b3c4d, which is none of these
// either. tests/codegen/opencl/test_identifiers.c tells the spaces apart in kernels of all forms.
#ifndef HDST_CODEGEN_OPENCL_IDENTIFIERS_H
#define HDST_CODEGEN_OPENCL_IDENTIFIERS_H

#include "base/name_map.h"

typedef struct hdst__names {        // of one scope
    hdst__arena *arena;
    const struct hdst__names *outer;        // the scope around it, whose names are not to be hidden; NULL: none
    hdst__name_map taken;
} hdst__names;

hdst__names *hdst__names_create(hdst__arena *arena, const hdst__names *outer);
// An identifier of the program's space, with letters and digits of `wanted`, that nobody took before in this scope or
// around it; a number tells apart what is wanted twice.
const char *hdst__name_take(hdst__names *names, const char *wanted);
// What the identifier is spelled like when nobody has it; two that are wanted may be spelled alike.
const char *hdst__name_spell(hdst__arena *arena, const char *wanted);

#endif
