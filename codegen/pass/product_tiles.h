// SPDX-License-Identifier: Apache-2.0
// GPU form: wide sums of products, which a kernel of their own makes as products of matrices (product_tiles.c). Thread-safe: nothing is kept.
#ifndef HDST_CODEGEN_PASS_PRODUCT_TILES_H
#define HDST_CODEGEN_PASS_PRODUCT_TILES_H

#include "accum/tables.h"
#include "codegen/ir/ir.h"

typedef struct hdst__product_limits {
    bool has_double;            // the device can add exactly in registers
    uint64_t local_bytes;       // of local memory that tiles may have
} hdst__product_limits;

// Marks nests of `loops`, what the work-group makes behind the records of `func`, that another kernel makes tile by tile; both are placed. False: there is
// none that is worth a kernel, and nothing was changed. Else func->tables->apart is set.
bool hdst__pass_product_tiles(ir_func *loops, const ir_func *func, const hdst__tables *tables, const hdst__product_limits *limits);

// Of the addition of such a nest: its operand that the inner loop counts (NULL: there is no such loop), and the one that the outer loop counts.
const ir_expr *hdst__product_factor(const ir_stmt *nest);
const ir_expr *hdst__product_element(const ir_stmt *nest);
// Tiles that cover the nest's factors, and its elements, with work-groups of `group`.
uint64_t hdst__product_factor_tiles(const ir_stmt *nest, uint32_t group);
uint64_t hdst__product_element_tiles(const ir_stmt *nest);
// Of one record in local memory, in floats: its factors, of a lane four by four; its elements, in an odd number for lanes that put there different records'.
uint64_t hdst__product_factor_stride(const ir_stmt *nest, uint32_t group);
uint64_t hdst__product_element_stride(const ir_stmt *nest);
uint64_t hdst__product_bytes(const ir_func *loops);         // local memory of a work-group of that kernel

#endif
