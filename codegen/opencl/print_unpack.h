// SPDX-License-Identifier: Apache-2.0
// How the block form reads the records of a block (CPU devices).
#ifndef HDST_CODEGEN_OPENCL_PRINT_UNPACK_H
#define HDST_CODEGEN_OPENCL_PRINT_UNPACK_H

#include "codegen/opencl/printer.h"

typedef struct hdst__unpacking {    // by param and leaf; NULL by param: none of its leaves
    bool **array;               // copied into an array over the block
    bool **from_word;           // AoS: vector loops take it from the word that the struct is, through NAME_Part
    bool **has_part;            // NAME_Part is needed: by this form of the function or another one of the kernel
    bool prefetches;            // AoSoA: asks for what lies ahead, where memory is what counts
    bool prefetches_structs;    // AoS: the same, and the processor does not ask by itself in time
} hdst__unpacking;

void hdst__unpacking_create(hdst__printer *p);                  // in p->unpacking: nothing is copied; parts and prefetching as they were
void hdst__plan_unpack(hdst__printer *p, ir_func *func);        // func: in block form
uint64_t hdst__unpack_bytes(const hdst__printer *p, uint32_t block);    // private memory
bool hdst__has_part(const hdst__printer *p, uint32_t param, size_t leaf);
void hdst__print_unpack(hdst__printer *p);                      // start of a block: pointers, arrays
const char *hdst__block_field_text(hdst__printer *p, const ir_expr *field);

// A pointer to the value of the block's first record, of what lies side by side (hdst__sum_loop_can).
const char *hdst__block_pointer_text(hdst__printer *p, const ir_expr *e);

#endif
