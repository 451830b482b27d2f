// SPDX-License-Identifier: Apache-2.0
// The kernels that add words of tables from other devices to a table of this one (accum/add_words.cl): sums at the same scales, or words of any one
// operation; and those that make 32 bits of words that need no more, for their way between devices.
#ifndef HDST_ENGINE_STAGE_WORD_ADDITION_H
#define HDST_ENGINE_STAGE_WORD_ADDITION_H

#include "accum/cell.h"
#include "engine/device/device.h"

enum { HDST__WORD_ADDITION_GROUP = 256, HDST__WORD_KERNELS = 4 };       // work-items, which the device must be able to have

typedef struct hdst__word_addition {    // zeroed at first
    hdst__device *device;
    hdst__program *program[HDST__WORD_KERNELS];         // NULL: not loaded yet
    hdst__arena arena;
    const char *text;                   // of the kernels, in it
    hdst__kernel kernel[HDST__WORD_KERNELS];
    hdst__memory *narrow, *spans;       // hdst__word_addition_may_narrow
    uint64_t *spans_here;
} hdst__word_addition;

// Compiles the one that adds words as they are, unless that was done for this device.
hdst_status hdst__word_addition_load(hdst__word_addition *addition, hdst__device *device, hdst_error *error);
void hdst__word_addition_unload(hdst__word_addition *addition);     // and gives memory back. Zeroed is fine
// Behind what was submitted before: `words` words of each of `tables` runs that lie one behind the other in `from`, from word `at`
// on, meet those of `to` from word `first` on.
hdst_status hdst__word_addition_add(const hdst__word_addition *addition, hdst__memory *to, uint64_t first, const hdst__memory *from, uint64_t at,
                                    uint64_t words, uint64_t tables, hdst__word_op op, hdst_error *error);

// Memory for a table of so many words as narrow ones, and the other kernels. HDST_E_MEMORY: they have to go as they are, and nothing is taken.
hdst_status hdst__word_addition_may_narrow(hdst__word_addition *addition, uint64_t words, hdst_error *error);
// Waits until what was submitted before has ended. *narrow: 32 bits of each word of the table, from bit *shift on, say all of it, and are in addition->narrow
// once the device has come to it.
hdst_status hdst__word_addition_narrow(const hdst__word_addition *addition, const hdst__memory *table, uint64_t words, hdst__word_op op, bool *narrow,
                                       uint32_t *shift, hdst_error *error);
// As hdst__word_addition_add, of one table, with narrow words, which `at` counts, too.
hdst_status hdst__word_addition_add_narrow(const hdst__word_addition *addition, hdst__memory *to, uint64_t first, const hdst__memory *from, uint64_t at,
                                           uint64_t words, uint32_t shift, hdst__word_op op, hdst_error *error);

#endif
