// SPDX-License-Identifier: Apache-2.0
// How an accumulator takes its addends. No operation depends on the order in which they come, so records may be split over lanes, devices and slices at will.
#ifndef HDST_ACCUM_ACCUMULATE_OP_H
#define HDST_ACCUM_ACCUMULATE_OP_H

typedef enum hdst__accumulate_op { HDST__SUM, HDST__MIN, HDST__MAX, HDST__AND, HDST__OR, HDST__XOR } hdst__accumulate_op;

#endif
