// SPDX-License-Identifier: Apache-2.0
// The power of a plan's device for its function.
#include "engine/stage/launch_power.h"

#include "engine/device/power_note.h"
#include "partition/power_table.h"
#include "base/costs_host.h"

#include <string.h>

#ifndef HDST__BUILD_ID
#define HDST__BUILD_ID "unknown"
#endif

// The function as the device is to run it, the records that it reads, and the device: whatever shape its kernel has.
static bool key_of(const hdst__launch_plan *plan, const char device[33], hdst__hash *key)
{
    const uint64_t record[2] = {plan->reader.record->size, plan->piece->layout};
    hdst__buffer text;
    hdst__buffer_init(&text, plan->device->runtime->allocator);
    hdst__ir_dump(plan->func, &text);
    *key = (hdst__hash)HDST__HASH_INIT;
    hdst__hash_add_text(key, HDST__BUILD_ID);
    hdst__hash_add_text(key, device);
    hdst__hash_add(key, record, sizeof record);
    if (!text.failed) hdst__hash_add(key, text.data, text.length);
    const bool known = !text.failed;
    hdst__buffer_destroy(&text);
    return known;
}

static hdst__power_table *table_of(hdst__device *device)
{
    if (!device->powers) device->powers = hdst__power_table_create(device->runtime->allocator);
    return device->powers;
}

void hdst__plan_power_before(hdst__launch_plan *plan)
{
    hdst__device *device = plan->device;
    hdst__power_note note;
    hdst__hash key;
    if (plan->sought_power || plan->power.slices || !table_of(device)) return;
    plan->sought_power = true;          // a loop's runs are short, and this may be a file
    hdst__power_device(device->info, note.device);
    if (!key_of(plan, note.device, &key) || hdst__power_table_find(device->powers, &key, &plan->power)) return;
    if (!device->cache || !hdst__power_note_read(device->cache, &key, &note)) return;
    hdst__power_table_note(device->powers, &key, &note.power);
    plan->power = note.power;
}

// Names of functions are identifiers, and fused ones several with signs between them.
static void note_name(const hdst__launch_plan *plan, char name[HDST__POWER_NAME_BYTES])
{
    const char *text = plan->func->name && *plan->func->name ? plan->func->name : "-";
    size_t length = 0;
    for (; text[length] && length + 1 < HDST__POWER_NAME_BYTES; length++) name[length] = text[length] > ' ' && text[length] < 0x7f ? text[length] : '_';
    name[length] = '\0';
}

void hdst__plan_power_after(hdst__launch_plan *plan, const hdst__power_estimate *run)
{
    hdst__device *device = plan->device;
    hdst__power_note note;
    hdst__hash key;
    double seconds = 0;
    for (uint32_t i = 0; i < run->slices && i < HDST__POWER_SAMPLES; i++) seconds += run->sample[i].kernel;
    if (seconds < HDST__HOST_POWER_SECONDS || !hdst__power_estimate_read(run, &note.power)) return;
    if (plan->noted.slices && !hdst__power_has_drifted(&plan->noted, &note.power)) return;
    hdst__power_device(device->info, note.device);
    if (!table_of(device) || !key_of(plan, note.device, &key)) return;
    note_name(plan, note.kernel);
    plan->noted = note.power;
    hdst__power_note kept;
    hdst__power known;
    if (device->cache && !hdst__power_table_find(device->powers, &key, &known) && hdst__power_note_read(device->cache, &key, &kept))
        hdst__power_table_note(device->powers, &key, &kept.power);
    if (hdst__power_table_note(device->powers, &key, &note.power) && device->cache) hdst__power_note_write(device->cache, &key, &note);
}
