// SPDX-License-Identifier: Apache-2.0
// The powers of devices that were measured and kept, for `hdst devices`.
#ifndef HDST_TOOLS_DEVICE_POWERS_H
#define HDST_TOOLS_DEVICE_POWERS_H

#include "engine/device/power_note.h"

typedef struct device_powers {
    hdst__power_note *note;         // in the order of names of kernels
    size_t count;
} device_powers;

// All of them; those that cannot be read are left out. False: out of memory.
bool device_powers_read(device_powers *powers);
void device_powers_free(device_powers *powers);

// Removes them; true, and how many there were, or false (errno).
bool device_powers_reset(uint64_t *count);

void device_powers_print(const device_powers *powers, const hdst__device_info *device);
void device_powers_print_json(const device_powers *powers, const hdst__device_info *device);        // an array

#endif
