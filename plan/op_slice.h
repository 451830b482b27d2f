// SPDX-License-Identifier: Apache-2.0
// A slice for who holds the lock; hdst_slice checks what it is given, and takes it.
#ifndef HDST_PLAN_OP_SLICE_H
#define HDST_PLAN_OP_SLICE_H

#include "plan/dataset.h"

// Records from number `first` on, at most `count`. `from` is one of the context's, perhaps in error.
hdst_dataset *hdst__dataset_slice(hdst_dataset *from, uint64_t first, uint64_t count);

#endif
