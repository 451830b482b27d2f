// SPDX-License-Identifier: Apache-2.0
// Code of the user's own in place of a map's or a filter's body.
#ifndef HDST_ENGINE_DEVICE_SEPARATE_H
#define HDST_ENGINE_DEVICE_SEPARATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// What a C function is called with that is the code of a map: records `first` ... of the input, as C structs, and room for as many of the output.
typedef struct hdst__slice {
    uint64_t first, count;
    const void *records;
    void *output;                   // of a map
    bool *keep;                     // of a filter: which records stay; all false before
    const void *const *values;      // rows of the broadcast parameters, in their order
    const uint64_t *value_rows;
    size_t value_count;
} hdst__slice;

// false fails the run, with `message` (512 bytes) filled. Called from several threads at once, on different records.
typedef bool (*hdst__slice_function)(const hdst__slice *slice, char *message, void *user);

// The code of a map that the program gives for devices of a class, in place of the function's body: OpenCL C (see hdst__kernel_separate) or, not on
// GPUs, a C function.
typedef struct hdst__separate {
    const char *text, *name;        // OpenCL C, its __kernel; NULL: none
    uint32_t local_size;            // work-items of a group; 0: HDST__SEPARATE_GROUP
    hdst__slice_function call;      // NULL: none
    void *user;
    bool filters;                   // `call` says which records stay
} hdst__separate;

#endif
