// SPDX-License-Identifier: Apache-2.0
// GPU form: loops that a work-group makes together (codegen/pass/cooperative_loops.c). What is printed goes to p->out;
// nothing is where p->cooperative is NULL.
#ifndef HDST_CODEGEN_OPENCL_PRINT_COOPERATIVE_H
#define HDST_CODEGEN_OPENCL_PRINT_COOPERATIVE_H

#include "codegen/opencl/printer.h"

typedef struct hdst__cooperative hdst__cooperative;

hdst__cooperative *hdst__cooperative_create(hdst__arena *arena, ir_func *func);         // func: its body is the loops
void hdst__print_cooperative_memory(hdst__printer *p);      // what lanes leave for each other: start of the kernel
void hdst__print_cooperative_keep(hdst__printer *p);        // end of a lane's record: it leaves it
void hdst__print_cooperative_loops(hdst__printer *p);       // the loops
// Where the loops are a kernel of their own (ir_tables.apart), print_cooperative_loops prints nothing. Of that kernel, print_products.h:
const ir_func *hdst__cooperative_func(const hdst__printer *p);      // the loops; NULL: there are none
void hdst__print_factor_memory(hdst__printer *p);           // start: what records left in `factors`
uint32_t hdst__cooperative_bytes(const hdst__printer *p);   //     so many bytes of each
void hdst__print_cooperative_rest(hdst__printer *p);        // the loops that are no products, of the `there` records from `base` on
// Calls `print` with the names of the loops, for a product, whose counters are known.
void hdst__cooperative_in_nest(hdst__printer *p, ir_stmt *nest, void (*print)(hdst__printer *p, ir_stmt *nest));
void hdst__print_cooperative_carried(hdst__printer *p);     // within it: what record `base + at` left
// Within it, for an element that the lane has: the sums of the nest's innermost block once more, over the `there` records from `base` on, each addition
// with a test. `taken`: what a plain sum holds already, as text; NULL: it is made again.
void hdst__print_cooperative_again(hdst__printer *p, ir_block *turn, const char *taken);
bool hdst__cooperative_carries(const hdst__printer *p, uint32_t var);       // the form that is printed now leaves the variable there
// The word that stands for one meanwhile, where stmt->home is not its accumulator's place.
const char *hdst__cooperative_home(hdst__printer *p, const ir_stmt *stmt, uint32_t word);
// Additions to sums in registers of such a loop, tested or not (print_group_sums.h); NULL: it is not so.
const char *hdst__cooperative_twofold(hdst__printer *p, const ir_stmt *stmt);
const char *hdst__cooperative_plain(hdst__printer *p, const ir_stmt *stmt);

#endif
