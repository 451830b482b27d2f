// SPDX-License-Identifier: Apache-2.0
// A table of a GPU in which a kernel's records with equal keys become one as they are made (codegen/opencl/templates/combined_gpu.cl). A run takes it with the
// first slice that is worth it, and gives what it holds when all slices have ended.
#ifndef HDST_ENGINE_STAGE_DEVICE_ROWS_H
#define HDST_ENGINE_STAGE_DEVICE_ROWS_H

#include "engine/device/device.h"

typedef struct hdst__device_rows {        // of one run
    hdst__device *device;
    const hdst__kernel *kernel;             // which combines
    uint32_t bits;                          // logarithm of the table's rows
    hdst__memory *memory;                   // NULL: there is none
    bool tried, ended;                      // there was no memory, or there is; it does not pay: slices from here on do not look at it
    uint64_t made, left;                    // records so far; those of them that the table did not take
    uint64_t given;                         // of its rows, in the end
} hdst__device_rows;

// Has the kernel of a slice of which so many records are expected, and so many of all, use the table. False: it is to write its records, as others do.
// goes_on: it is not the slice's first turn, and the table is there, whether it pays or not.
bool hdst__device_rows_offer(hdst__device_rows *rows, uint64_t expected, uint64_t in_all, bool goes_on, hdst__launch *launch);
void hdst__device_rows_note(hdst__device_rows *rows, uint64_t made, uint64_t left);     // of such a slice, when it has ended
// As many as the table may be expected to leave of so many records.
uint64_t hdst__device_rows_left_of(const hdst__device_rows *rows, uint64_t records);
void hdst__device_rows_end(hdst__device_rows *rows);        // gives the memory back; fine where there is none

#endif
