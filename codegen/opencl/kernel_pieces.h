// SPDX-License-Identifier: Apache-2.0
// The hand-written OpenCL C of kernels (codegen/opencl/templates/). Constant; may be used from any thread.
#ifndef HDST_CODEGEN_OPENCL_KERNEL_PIECES_H
#define HDST_CODEGEN_OPENCL_KERNEL_PIECES_H

#include "base/pieces.h"

extern const hdst__pieces hdst__kernel_pieces;

#endif
