// SPDX-License-Identifier: Apache-2.0
// Measured powers as files.
#include "engine/device/power_note.h"

#include "base/buffer.h"
#include "partition/power_table.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { MOST_SLICES = 999999999 };        // as many digits as are read

#define NOTE_SCAN "hdst power 1 device %32[0-9a-f] kernel %63s fixed %lf copy %lf record %lf spread %lf slices %9" SCNu32

void hdst__power_device(const hdst__device_info *info, char device[33])
{
    hdst__hash hash = HDST__HASH_INIT;
    const char *parts[] = {info->platform, info->name, info->driver, info->cl_version};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) hdst__hash_add_text(&hash, parts[i]);
    hdst__hash_add(&hash, &info->compute_units, sizeof info->compute_units);
    hdst__hash_hex(&hash, device);
}

bool hdst__power_note_parse(const char *bytes, size_t length, hdst__power_note *note)
{
    char text[512];
    if (length >= sizeof text) return false;
    memcpy(text, bytes, length);
    text[length] = '\0';
    *note = (hdst__power_note){0};
    hdst__power *p = &note->power;
    return sscanf(text, NOTE_SCAN, note->device, note->kernel, &p->fixed, &p->copy, &p->kernel, &p->spread, &p->slices) == 7 &&
        strlen(note->device) == 32 && p->slices <= MOST_SLICES && hdst__power_can_be(p);
}

void hdst__power_note_print(const hdst__power_note *note, hdst__buffer *out)
{
    const hdst__power *p = &note->power;
    const uint32_t slices = p->slices < MOST_SLICES ? p->slices : MOST_SLICES;
    hdst__buffer_printf(out, "hdst power 1\ndevice %s\nkernel %s\nfixed %.17g\ncopy %.17g\nrecord %.17g\nspread %.17g\nslices %" PRIu32 "\n", note->device,
                        note->kernel, p->fixed, p->copy, p->kernel, p->spread, slices);
}

bool hdst__power_note_read(hdst__program_cache *cache, const hdst__hash *key, hdst__power_note *note)
{
    size_t length;
    char *bytes = hdst__program_cache_read_power(cache, key, &length);
    if (!bytes) return false;
    const bool good = hdst__power_note_parse(bytes, length, note);
    hdst__free(cache->allocator, bytes);
    if (!good) hdst__log_write(cache->log, HDST__LOG_DEBUG, "the kernel cache has a measured power that cannot be, ignored");
    return good;
}

void hdst__power_note_write(hdst__program_cache *cache, const hdst__hash *key, const hdst__power_note *note)
{
    hdst__buffer text;
    hdst__buffer_init(&text, cache->allocator);
    hdst__power_note_print(note, &text);
    if (!text.failed) hdst__program_cache_write_power(cache, key, text.data, text.length);
    hdst__buffer_destroy(&text);
}
