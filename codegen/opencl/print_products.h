// SPDX-License-Identifier: Apache-2.0
// GPU form: the kernel behind the records that adds up wide sums of products, tile by tile (codegen/pass/product_tiles.h). What is printed goes to p->out;
// nothing is where the work-group's loops are no kernel of their own.
#ifndef HDST_CODEGEN_OPENCL_PRINT_PRODUCTS_H
#define HDST_CODEGEN_OPENCL_PRINT_PRODUCTS_H

#include "codegen/opencl/printer.h"

bool hdst__has_products(const hdst__printer *p);
uint32_t hdst__product_items(const hdst__printer *p);               // work-groups that share a stretch of records
const char *hdst__product_stretches_text(hdst__printer *p);         // stretches of the launch, each of which has a table
void hdst__print_product_memory(hdst__printer *p);                  // start of the kernel: local memory
void hdst__print_products(hdst__printer *p);                        // what a work-group does for its part, `item`, of the records from `start` to `stop`
const char *hdst__products_why(hdst__printer *p);

#endif
