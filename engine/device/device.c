// SPDX-License-Identifier: Apache-2.0
// What back ends share: page-aligned host memory under the budget; what a compiled program is known by.
#define _DEFAULT_SOURCE     // madvise
#include "engine/device/device.h"
#include "base/costs_host.h"
#include "base/huge_pages.h"
#include "engine/device/backend.h"

#include <unistd.h>

#ifndef HDST__BUILD_ID
#define HDST__BUILD_ID "unknown"
#endif

enum { PAGE = HDST__HOST_PAGE_BYTES, HUGE_PAGE = HDST__HOST_HUGE_PAGE_BYTES };

uint64_t hdst__page_round(uint64_t bytes)
{
    if (bytes == 0) bytes = 1;
    return bytes > UINT64_MAX - PAGE ? UINT64_MAX / PAGE * PAGE : (bytes + PAGE - 1) / PAGE * PAGE;
}

// What comes before the first huge page counts too, so it must be little of what is left.
static uint64_t alignment(uint64_t bytes, uint64_t left)
{
    return bytes >= HDST__HOST_HUGE_LEAST_BYTES && left / HDST__HOST_HUGE_SHARE > HUGE_PAGE && left - HUGE_PAGE > bytes ? HUGE_PAGE : PAGE;
}

hdst_status hdst__device_host_memory(hdst__device *device, hdst__memory *memory, const char *what, hdst_error *error)
{
    hdst__budget *budget = &device->runtime->memory;
    uint64_t bytes = hdst__page_round(memory->bytes), align = alignment(bytes, hdst__budget_left(budget));
    memory->allocation = hdst__budget_alloc(budget, memory->owner, bytes > UINT64_MAX - align ? bytes : bytes + align, what, error);
    if (!memory->allocation) return HDST_E_MEMORY;
    memory->host = (void *)(((uintptr_t)memory->allocation + align - 1) / align * align);
    hdst__ask_for_huge_pages(memory->host, bytes);
    return HDST_OK;
}

void hdst__device_free_host_memory(hdst__device *device, hdst__memory *memory)
{
    if (!memory->allocation) return;
    hdst__free(device->runtime->allocator, memory->allocation);
    memory->allocation = memory->host = NULL;
}

uint32_t hdst__device_process(const hdst__device *device) { return HDST__TIMELINE_HOST + 1 + device->info->index; }

void hdst__device_name_tracks(const hdst__device *device)
{
    static const char *const names[] = {"in", "compute", "out"};
    hdst__timeline *timeline = device->runtime->timeline;
    if (!timeline) return;
    hdst__timeline_name_process(timeline, hdst__device_process(device), device->info->name);
    for (uint32_t track = HDST__TRACK_IN; track <= HDST__TRACK_OUT; track++)
        if (device->info->backend->has_driver || track == HDST__TRACK_COMPUTE)
            hdst__timeline_name_track(timeline, hdst__device_process(device), track, names[track - HDST__TRACK_IN]);
}

void hdst__device_count_memory(const hdst__device *device)
{
    hdst__timeline *timeline = device->runtime->timeline;
    if (!timeline) return;
    hdst__timeline_count(timeline, HDST__TIMELINE_HOST, "host memory", atomic_load(&device->runtime->memory.used));
    hdst__timeline_count(timeline, hdst__device_process(device), "device memory", atomic_load(&device->budget.used));
}

hdst_status hdst__device_wait(hdst__device *device, hdst_error *error)
{
    hdst__ticket ticket = {.notify = false};
    const hdst_status status = device->ops->mark(device, &ticket, error);
    return status == HDST_OK ? device->ops->settle(device, &ticket, error) : status;
}

hdst__hash hdst__device_program_key(const hdst__device *device, const hdst__kernel *kernel)
{
    hdst__hash key = HDST__HASH_INIT;
    const hdst__device_info *info = device->info;
    const char *parts[] = {HDST__BUILD_ID, info->platform, info->name, info->driver, info->cl_version, kernel->build_options, kernel->source};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) hdst__hash_add_text(&key, parts[i]);
    return key;
}
