// SPDX-License-Identifier: Apache-2.0
// CPU form: sums of a whole dataset, a block of records at a time (IR_ACCUM_BLOCK). There are two ways: exact ones, in
// levels of floats (print_levels.c), and those that may be rounded at each addition (print_fast.c).
#ifndef HDST_CODEGEN_OPENCL_PRINT_LEVELS_H
#define HDST_CODEGEN_OPENCL_PRINT_LEVELS_H

#include "codegen/opencl/printer.h"

typedef struct hdst__block_sums {       // what is printed goes to p->out
    hdst__print_run add;                // IR_ACCUM_BLOCK, one or more
    void (*start)(hdst__printer *p);    // of the kernel
    void (*end_block)(hdst__printer *p);        // NULL: nothing
    void (*end)(hdst__printer *p);      // of the kernel
} hdst__block_sums;

extern const hdst__block_sums hdst__exact_block_sums, hdst__fast_block_sums;

// Every leaf that has such sums.
typedef void (*hdst__print_level_sum)(hdst__printer *p, const hdst__accum_plan *plan, uint32_t leaf, bool is_double);
void hdst__levels_each(hdst__printer *p, hdst__print_level_sum print);
bool hdst__levels_of(const hdst__printer *p, bool is_double);           // whether there are any
// The cell in the device table; `element`: text, in range.
const char *hdst__levels_place(hdst__printer *p, const hdst__accum_plan *plan, uint32_t leaf, const char *element);

#endif
