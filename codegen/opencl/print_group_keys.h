// SPDX-License-Identifier: Apache-2.0
// GPU form: keys of minima and maxima in lanes' registers. What is printed goes to p->out.
#ifndef HDST_CODEGEN_OPENCL_PRINT_GROUP_KEYS_H
#define HDST_CODEGEN_OPENCL_PRINT_GROUP_KEYS_H

#include "codegen/opencl/print_cell.h"

// Whether the leaf's keys of a work-group meet in local memory, half of them with the other half, again and again.
bool hdst__meets_by_halves(const hdst__printer *p, const hdst__accum_plan *plan, uint32_t leaf);
void hdst__print_key_memory(hdst__printer *p);          // start of the kernel
void hdst__print_halves(hdst__printer *p, const hdst__accum_plan *plan, uint32_t leaf);     // the flush: all lanes come by

#endif
