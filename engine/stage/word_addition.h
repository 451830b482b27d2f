// SPDX-License-Identifier: Apache-2.0
// The kernel that adds words of tables from other devices to a table of this one (accum/add_words.cl): sums at the same scales, or words of any one
// operation.
#ifndef HDST_ENGINE_STAGE_WORD_ADDITION_H
#define HDST_ENGINE_STAGE_WORD_ADDITION_H

#include "accum/cell.h"
#include "engine/device/device.h"

typedef struct hdst__word_addition {    // zeroed at first
    hdst__device *device;
    hdst__program *program;             // NULL: not loaded yet
    hdst__arena text;
} hdst__word_addition;

enum { HDST__WORD_ADDITION_GROUP = 256 };       // work-items, which the device must be able to have

// Compiles it, unless that was done for this device.
hdst_status hdst__word_addition_load(hdst__word_addition *addition, hdst__device *device, hdst_error *error);
void hdst__word_addition_unload(hdst__word_addition *addition);     // zeroed is fine
// Behind what was submitted before: `words` words of each of `tables` runs that lie one behind the other in `from` meet those of `to` from word `first` on.
hdst_status hdst__word_addition_add(const hdst__word_addition *addition, hdst__memory *to, uint64_t first, const hdst__memory *from, uint64_t words,
                                    uint64_t tables, hdst__word_op op, hdst_error *error);

#endif
