// SPDX-License-Identifier: Apache-2.0
// What additions to the cells of accumulators are made of. Texts are in the printer's arena.
#ifndef HDST_CODEGEN_OPENCL_PRINT_CELL_H
#define HDST_CODEGEN_OPENCL_PRINT_CELL_H

#include "codegen/opencl/printer.h"

const hdst__accum_plan *hdst__find_plan(const hdst__printer *p, uint32_t param);
const hdst__cell *hdst__find_cell(const hdst__printer *p, uint32_t param, uint32_t leaf);

// Where the accumulator is in the form that is printed now (codegen/ir/placement.h).
const ir_placement *hdst__placement(const hdst__printer *p, const hdst__accum_plan *plan);
const ir_leaf_placement *hdst__leaf_placement(const hdst__printer *p, uint32_t param, uint32_t leaf);
bool hdst__sums_are_fast(const hdst__printer *p);       // some sums of the form are rounded at each addition: all that may

// Addends are floats, or floats made double: float arithmetic does. The type of that arithmetic.
bool hdst__sums_floats(const hdst__printer *p, uint32_t param, uint32_t leaf);
const char *hdst__sum_type(const hdst__printer *p, uint32_t param, uint32_t leaf);
const char *hdst__scale_name(hdst__printer *p, uint32_t param, uint32_t leaf);      // NAME_Up and NAME_Down are 2^s and 2^-s, NAME_Scale is s
// A call of `function` ("fixed", "fits", "rest") with an addend and its scale.
const char *hdst__fixed_text(hdst__printer *p, const char *function, uint32_t param, uint32_t leaf, const char *addend);
// The key of a minimum or maximum that stands for the value.
const char *hdst__key_text(hdst__printer *p, hdst__accumulate_op acc, hdst__kind kind, const char *value);

#endif
