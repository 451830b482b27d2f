// SPDX-License-Identifier: Apache-2.0
// What is bound to a function's parameters in a run.
#ifndef HDST_ENGINE_STAGE_STAGE_VALUES_H
#define HDST_ENGINE_STAGE_STAGE_VALUES_H

#include "engine/memory/resident_value.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct hdst__stage_values { // read when a run starts; copied to the device if changed since the last run
    const void *const *broadcast;   // by param index: rows as C structs
    const uint64_t *rows;           // by param index: rows of broadcasts and accums
    const uint64_t *version;        // by param index: a number that changes when the value does
    hdst__value_rows *const *resident;  // by param index: rows that are on the device, in place of `broadcast`'s; NULL there, or here: none
    const bool *in_place;           // by param index, the same in all runs: the rows of `broadcast` stay until the run ends, so a device that shares
                                    // the host's memory reads them
                                    // where they lie; NULL: none
    const bool *is_input;           // by param index: the records of the input are there, and those in the reader's place say where; NULL: none
} hdst__stage_values;

// The host's rows of parameter `param`: those given, or a copy from the device, which is valid until the value changes. With the engine's mutex held.
hdst_status hdst__stage_value_on_host(const hdst__stage_values *values, size_t param, const void **rows, hdst_error *error);

#endif
