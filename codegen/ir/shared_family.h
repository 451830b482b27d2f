// SPDX-License-Identifier: Apache-2.0
// Block form: groups of sums that share a factor (codegen/pass/shared_factors.c), and families of them: groups with the same other factors, which are added
// together.
#ifndef HDST_CODEGEN_IR_SHARED_FAMILY_H
#define HDST_CODEGEN_IR_SHARED_FAMILY_H

#include "codegen/ir/ir.h"

typedef struct hdst__shared_group {
    ir_stmt *const *sum;
    size_t count, products;         // products: of the factor and another one; the last sum may be of the factor itself
    const ir_expr *factor;
} hdst__shared_group;

typedef struct hdst__shared_family {
    ir_stmt *const *sum;            // of all groups
    hdst__shared_group first;
    size_t groups, sums;            // groups: 0, there is no family
} hdst__shared_family;

// More groups would put more records aside, as any group does that for all.
enum { HDST__FAMILY_GROUPS = 8 };

hdst__shared_group hdst__shared_group_at(const ir_func *func, ir_stmt *const *stmts, size_t count);
const ir_expr *hdst__shared_other(const hdst__shared_group *group, size_t product);
// Of the groups at the front, each with another factor. stmts[0] is of a group.
hdst__shared_family hdst__shared_family_at(const ir_func *func, ir_stmt *const *stmts, size_t count);
const ir_expr *hdst__shared_family_factor(const ir_func *func, const hdst__shared_family *family, size_t group);
// The family of the function's own statements, not of nested ones, whose first group has this number.
hdst__shared_family hdst__shared_family_of(const ir_func *func, uint32_t joint);
// Whether it is added beside the records of the next block (codegen/pass/software_pipelining.c).
bool hdst__shared_family_waits(const ir_func *func, const hdst__shared_family *family);

#endif
