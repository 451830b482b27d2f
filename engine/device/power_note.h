// SPDX-License-Identifier: Apache-2.0
// The measured power of a kernel on a device, as a small file beside the compiled programs. What is damaged, of another version or cannot be is as good as
// absent, and is replaced by the next measurement.
#ifndef HDST_ENGINE_DEVICE_POWER_NOTE_H
#define HDST_ENGINE_DEVICE_POWER_NOTE_H

#include "base/buffer.h"
#include "engine/device/device_info.h"
#include "engine/device/program_cache.h"
#include "partition/policy.h"

enum { HDST__POWER_NAME_BYTES = 64 };

typedef struct hdst__power_note {
    char device[33];                // of hdst__power_device
    char kernel[HDST__POWER_NAME_BYTES];        // for people: several may have one name
    hdst__power power;
} hdst__power_note;

// What tells devices apart: platform, name, driver and its version, compute units (a part of a device has fewer).
void hdst__power_device(const hdst__device_info *info, char device[33]);

bool hdst__power_note_parse(const char *bytes, size_t length, hdst__power_note *note);
void hdst__power_note_print(const hdst__power_note *note, hdst__buffer *out);

bool hdst__power_note_read(hdst__program_cache *cache, const hdst__hash *key, hdst__power_note *note);     // false: there is none
void hdst__power_note_write(hdst__program_cache *cache, const hdst__hash *key, const hdst__power_note *note);

#endif
