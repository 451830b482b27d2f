// SPDX-License-Identifier: Apache-2.0
// Memory that was registered (engine/memory/registered.h).
#include "engine/memory/registered.h"

#include "base/costs_host.h"

#include <pthread.h>

typedef struct pin {                    // of a range, for a device
    struct pin *next;
    hdst__device *device;
    hdst__memory memory;
    bool refused;
} pin;

typedef struct range {
    struct range *next;
    const char *begin;
    uint64_t bytes;
    pin *pins;
} range;

struct hdst__registered {
    const hdst__allocator *allocator;
    const char *what;
    pthread_mutex_t lock;
    range *ranges;
};

hdst__registered *hdst__registered_create(const hdst__allocator *allocator, const char *what)
{
    hdst__registered *all = hdst__alloc_zero(allocator, sizeof *all);
    if (!all) return NULL;
    all->allocator = allocator;
    all->what = what;
    pthread_mutex_init(&all->lock, NULL);
    return all;
}

static void free_range(const hdst__registered *all, range *r)
{
    while (r->pins) {
        pin *p = r->pins;
        r->pins = p->next;
        if (!p->refused) p->device->ops->release_sub_buffer(p->device, &p->memory);
        hdst__free(all->allocator, p);
    }
    hdst__free(all->allocator, r);
}

void hdst__registered_destroy(hdst__registered *all)
{
    if (!all) return;
    while (all->ranges) {
        range *r = all->ranges;
        all->ranges = r->next;
        free_range(all, r);
    }
    pthread_mutex_destroy(&all->lock);
    hdst__free(all->allocator, all);
}

static hdst_status check(const hdst__registered *all, const char *begin, uint64_t bytes, hdst_error *error)
{
    if (bytes == 0) return hdst__error_set(error, HDST_E_USAGE, "memory of no bytes is registered");
    if (bytes > UINTPTR_MAX - (uintptr_t)begin)
        return hdst__error_set(error, HDST_E_USAGE, "memory of %llu bytes at %p ends beyond all addresses", (unsigned long long)bytes, (const void *)begin);
    for (const range *r = all->ranges; r; r = r->next) {
        if (begin >= r->begin + r->bytes || r->begin >= begin + bytes) continue;
        hdst__error_set(error, HDST_E_USAGE, "memory of %llu bytes at %p is registered already: %llu bytes at %p", (unsigned long long)bytes,
                        (const void *)begin, (unsigned long long)r->bytes, (const void *)r->begin);
        hdst__error_hint(error, "register a range once, and whole; hdst_memory_unregister takes it back");
        return HDST_E_USAGE;
    }
    return HDST_OK;
}

hdst_status hdst__registered_add(hdst__registered *all, const void *memory, uint64_t bytes, hdst_error *error)
{
    pthread_mutex_lock(&all->lock);
    hdst_status status = check(all, memory, bytes, error);
    range *r = status == HDST_OK ? hdst__alloc_zero(all->allocator, sizeof *r) : NULL;
    if (r) {
        *r = (range){.next = all->ranges, .begin = memory, .bytes = bytes};
        all->ranges = r;
    } else if (status == HDST_OK) {
        status = hdst__error_memory(error, "a range of registered memory");
    }
    pthread_mutex_unlock(&all->lock);
    return status;
}

hdst_status hdst__registered_remove(hdst__registered *all, const void *memory, hdst_error *error)
{
    pthread_mutex_lock(&all->lock);
    range **at = &all->ranges, *found;
    while (*at && (*at)->begin != memory) at = &(*at)->next;
    found = *at;
    if (found) *at = found->next;
    pthread_mutex_unlock(&all->lock);
    if (!found) return hdst__error_set(error, HDST_E_USAGE, "no memory that is registered begins at %p", memory);
    free_range(all, found);
    return HDST_OK;
}

uint64_t hdst__registered_bytes(hdst__registered *all)
{
    uint64_t bytes = 0;
    pthread_mutex_lock(&all->lock);
    for (const range *r = all->ranges; r; r = r->next) bytes += r->bytes;
    pthread_mutex_unlock(&all->lock);
    return bytes;
}

// Devices that the host shares its memory with have nothing to pin. Others pin whole pages.
static pin *make_pin(const hdst__registered *all, range *r, hdst__device *device)
{
    pin *p = hdst__alloc_zero(all->allocator, sizeof *p);
    if (!p) return NULL;
    const uint64_t page = HDST__HOST_PAGE_BYTES, before = (uintptr_t)r->begin % page, bytes = (before + r->bytes + page - 1) / page * page;
    hdst_error error = HDST_ERROR_INIT;
    p->device = device;
    p->refused = device->unified || device->ops->wrap(device, (char *)r->begin - before, bytes, &p->memory, &error) != HDST_OK;
    if (p->refused && !device->unified)
        hdst__log_write(&device->runtime->log, HDST__LOG_WARN, "%s is copied on the host, as it cannot be pinned: %s", all->what, error.message);
    p->next = r->pins;
    r->pins = p;
    return p;
}

static range *range_of(const hdst__registered *all, const char *begin, uint64_t bytes)
{
    range *r = all->ranges;
    while (r && !(begin >= r->begin && bytes <= r->bytes && (uint64_t)(begin - r->begin) <= r->bytes - bytes)) r = r->next;
    return r;
}

bool hdst__registered_has(hdst__registered *all, const void *memory, uint64_t bytes)
{
    if (!all) return false;
    pthread_mutex_lock(&all->lock);
    const bool has = range_of(all, memory, bytes);
    pthread_mutex_unlock(&all->lock);
    return has;
}

bool hdst__registered_holds(hdst__registered *all, hdst__device *device, const void *memory, uint64_t bytes)
{
    if (!all) return false;
    pthread_mutex_lock(&all->lock);
    range *r = range_of(all, memory, bytes);
    pin *p = r ? r->pins : NULL;
    while (p && p->device != device) p = p->next;
    if (r && !p) p = make_pin(all, r, device);
    const bool holds = p && (device->unified || !p->refused);
    pthread_mutex_unlock(&all->lock);
    return holds;
}
