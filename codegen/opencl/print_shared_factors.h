// SPDX-License-Identifier: Apache-2.0
// CPU form: loops over a block that add products with one factor to several sums of the whole dataset (codegen/pass/shared_factors.c).
#ifndef HDST_CODEGEN_OPENCL_PRINT_SHARED_FACTORS_H
#define HDST_CODEGEN_OPENCL_PRINT_SHARED_FACTORS_H

#include "codegen/ir/shared_family.h"
#include "codegen/opencl/printer.h"

void hdst__print_shared_loops(hdst__printer *p);    // at file scope: a function for each kind of group

// How one sum is written: what it is, and how it is added to by itself.
typedef struct hdst__shared_texts {
    const char *(*state)(hdst__printer *p, const ir_stmt *stmt);       // its levels
    const char *(*cell)(hdst__printer *p, const ir_stmt *stmt);        // in the device table, with its digits
    void (*alone)(hdst__printer *p, const ir_stmt *stmt);
} hdst__shared_texts;
void hdst__print_shared_starts(hdst__printer *p, const hdst__shared_texts *texts);     // of a strip, behind its sums
void hdst__print_shared_ends(hdst__printer *p);                                        // before the sums are handed over
// The groups at the front of `stmts` whose other factors are the same: how many statements these are. stmts[0] is of a group.
size_t hdst__print_shared_groups(hdst__printer *p, ir_stmt *const *stmts, size_t count, const hdst__shared_texts *texts);
bool hdst__family_is_plus(const hdst__printer *p, const hdst__shared_family *family);            // its factors are summed, and have no sign
const char *hdst__family_name(hdst__printer *p, const hdst__shared_family *family);        // of what the kernel has for it

#endif
