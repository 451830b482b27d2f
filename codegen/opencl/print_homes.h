// SPDX-License-Identifier: Apache-2.0
// Where variables are declared, in a function or in the body of a record loop.
#ifndef HDST_CODEGEN_OPENCL_PRINT_HOMES_H
#define HDST_CODEGEN_OPENCL_PRINT_HOMES_H

#include "codegen/opencl/printer.h"

typedef struct hdst__homes {            // by variable
    bool *declared;
    uint32_t *references;               // uses
    uint32_t *in_own_loops;             // those in counted loops over the variable
    const ir_block **home;              // the block that declares it; NULL: the top
    const ir_block *here;               // the block that is printed now
    struct hdst__record_homes *of_records;      // of the record loops in it, one after another
} hdst__homes;

void hdst__find_homes(hdst__printer *p, ir_block *body);                // into p->homes
// The same of a record loop, which are put back by who asked; what it does with each variable (hdst__ir_accesses).
const uint8_t *hdst__find_homes_in_records(hdst__printer *p, ir_block *body);

#endif
