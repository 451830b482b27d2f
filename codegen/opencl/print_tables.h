// SPDX-License-Identifier: Apache-2.0
// Where tables stand around a kernel's body, and how they are emptied. What is printed goes to p->out.
#ifndef HDST_CODEGEN_OPENCL_PRINT_TABLES_H
#define HDST_CODEGEN_OPENCL_PRINT_TABLES_H

#include "codegen/opencl/printer.h"

bool hdst__has_private_tables(const hdst__printer *p);   // whether a strip, or a work-group in device memory, has a table of its own
void hdst__print_table_bases(hdst__printer *p);         // pointers into the device table and the strip's table, scales; start of the kernel
void hdst__print_finish_bases(hdst__printer *p);        // GPU: the kernel that makes C structs; pointers (print_finish.c)
// CPU devices
void hdst__print_strip_reset(hdst__printer *p);
void hdst__print_strip_turn(hdst__printer *p);          // strips_twice: which table the record takes
void hdst__print_strip_flush(hdst__printer *p);
void hdst__print_run_ends(hdst__printer *p);            // functions at file scope: IR_PLACE_RUN
// GPUs
void hdst__print_group_reset(hdst__printer *p);
void hdst__print_group_flush(hdst__printer *p);
void hdst__print_product_bases(hdst__printer *p);       // the kernel of print_products.h: pointers; those of a stretch of records
void hdst__print_stretch_bases(hdst__printer *p);
void hdst__print_merge_bases(hdst__printer *p);         // the kernel that merges the tables of work-groups; pointers
void hdst__print_merge(hdst__printer *p);

void hdst__print_scales(hdst__printer *p);               // of float sums: NAME_Scale, and the powers of two that follow from it

#endif
