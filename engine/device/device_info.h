// SPDX-License-Identifier: Apache-2.0
// What is known of a device before it is opened.
#ifndef HDST_ENGINE_DEVICE_DEVICE_INFO_H
#define HDST_ENGINE_DEVICE_DEVICE_INFO_H

#include <stdbool.h>
#include <stdint.h>

typedef enum hdst__device_class { HDST__DEVICE_INTERP, HDST__DEVICE_CPU, HDST__DEVICE_GPU } hdst__device_class;

typedef struct hdst__device_backend hdst__device_backend;

typedef struct hdst__device_info {
    const hdst__device_backend *backend;    // that found it (backend.h)
    uint32_t place;                 // among those of its back end

    uint32_t index;                 // stable within a machine: platforms in the loader's order, devices in the platform's order; the interpreter is last
    hdst__device_class class_;
    char name[128], platform[128], driver[64], cl_version[64];
    uint32_t compute_units, max_group;
    uint64_t memory_bytes, max_alloc_bytes, local_bytes;
    bool has_double, has_int64_atomics, correctly_rounded;
    bool usable;
    char why_not[128];              // when not usable
} hdst__device_info;

// The budget of its memory where the program names none: what others take, and drivers, has room beside it.
static inline uint64_t hdst__device_usual_memory(const hdst__device_info *info) { return info->memory_bytes / 4 * 3; }

#endif
