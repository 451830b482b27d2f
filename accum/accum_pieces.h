// SPDX-License-Identifier: Apache-2.0
// The accumulators' OpenCL C (accum/*.cl). Constant; may be used from any thread.
#ifndef HDST_ACCUM_ACCUM_PIECES_H
#define HDST_ACCUM_ACCUM_PIECES_H

#include "base/pieces.h"

extern const hdst__pieces hdst__accum_pieces;

#endif
