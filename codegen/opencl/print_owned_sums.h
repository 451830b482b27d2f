// SPDX-License-Identifier: Apache-2.0
// GPU form: sums of doubles that work-items own (codegen/pass/owned_sums.h). What is printed goes to p->out; nothing is where p->owned is NULL.
#ifndef HDST_CODEGEN_OPENCL_PRINT_OWNED_SUMS_H
#define HDST_CODEGEN_OPENCL_PRINT_OWNED_SUMS_H

#include "codegen/opencl/printer.h"

typedef struct hdst__owned_sums hdst__owned_sums;

hdst__owned_sums *hdst__owned_sums_create(hdst__printer *p, const ir_func *sums);     // sums: its body is the additions
void hdst__print_owned_places(hdst__printer *p);        // which values a sum takes, and where it goes: the file's scope
void hdst__print_owned_memory(hdst__printer *p);        // what records leave: start of the kernel
void hdst__print_owned_starts(hdst__printer *p);        // sums are empty: behind the bases of tables
void hdst__print_owned_keep(hdst__printer *p);          // end of a lane's record: it leaves its values
void hdst__print_owned_sums(hdst__printer *p);          // additions of the group's records
void hdst__print_owned_takes(hdst__printer *p);         // where the group merges
bool hdst__owned_carries(const hdst__printer *p, uint32_t var);         // the form that is printed now leaves the variable there

#endif
