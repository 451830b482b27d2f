// SPDX-License-Identifier: Apache-2.0
// The device that kernels are made for: its class, and what it told of itself.
#ifndef HDST_RECORD_TARGET_H
#define HDST_RECORD_TARGET_H

#include <stdbool.h>
#include <stdint.h>

typedef enum hdst__target { HDST__TARGET_INTERP, HDST__TARGET_CPU, HDST__TARGET_GPU } hdst__target;

typedef struct hdst__target_facts {     // of the device, from queries
    hdst__target target;
    uint64_t local_bytes;               // local memory of a work-group
    uint32_t max_group;                 // work-items
    uint32_t compute_units;
    bool correctly_rounded;             // CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT for float
    bool has_double, has_int64_atomics;
    bool portable;                      // no compiler built-ins or pragmas beyond OpenCL C 1.2 (Oclgrind)
    bool no_vectors;                    // CPU kernels take records one by one, to measure what blocks of them gain
    bool follows_structs;               // a CPU that asks memory by itself in time for structs that are read one after another
    bool foreign_nans;                  // tests: operations give NaNs that no processor makes, so that whoever shows which one it is is found out
} hdst__target_facts;

#endif
