// SPDX-License-Identifier: Apache-2.0
// OpenCL devices with memory of their own: buffers that were given back are kept for whoever wants as much next, as runs take and give the same sizes
// again and again. A driver takes a while for a buffer, and to give one back it may wait for all that the device does.
//
// A kept buffer is reused for at least eight ninths of its bytes, all of which count then; and once the commands that were submitted before it was given
// back have ended, so that nobody writes into what is still read. Kept buffers are no part of the budget's used bytes, so nothing is refused for their
// sake; both together never pass its limit: the oldest ones go first, and all of them when the driver has no memory.
#include "engine/device/device_opencl.h"

#include "base/costs_gpu.h"
#include "base/costs_host.h"

#include <string.h>

bool hdst__opencl_pools(const hdst__opencl_device *self) { return !self->base.unified; }

// Eight classes for each power of two, so that sizes that are nearly the same are the same; but not for more than a little of the budget, nor of what a
// buffer may have.
uint64_t hdst__opencl_pool_size(const hdst__opencl_device *self, uint64_t bytes)
{
    if (bytes > self->base.budget.limit / HDST__GPU_CLASSED_SHARE || bytes < 8 * HDST__HOST_PAGE_BYTES) return bytes;
    const uint64_t step = (UINT64_C(1) << (63 - __builtin_clzll(bytes))) / 8, size = (bytes + step - 1) / step * step;
    return size <= self->base.info->max_alloc_bytes ? size : bytes;
}

// --- Marks ---

void hdst__opencl_marks_release(const hdst__opencl_device *self, hdst__opencl_marks *marks)
{
    for (int q = 0; q < HDST__OPENCL_QUEUES; q++) hdst__opencl_release_event(self, &marks->after[q]);
}

bool hdst__opencl_marks_ended(const hdst__opencl_device *self, const hdst__opencl_marks *marks)
{
    bool ended = true;
    for (int q = 0; q < HDST__OPENCL_QUEUES && ended; q++) {
        cl_int status = CL_QUEUED;
        ended = self->cl->clGetEventInfo(marks->after[q], CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL) == CL_SUCCESS &&
            status == CL_COMPLETE;
    }
    return ended;
}

bool hdst__opencl_marks_set(const hdst__opencl_device *self, hdst__opencl_marks *marks)
{
    const cl_command_queue queues[] = {self->in, self->compute, self->out};
    for (int q = 0; q < HDST__OPENCL_QUEUES; q++) {
        if (self->cl->clEnqueueMarkerWithWaitList(queues[q], 0, NULL, &marks->after[q]) == CL_SUCCESS) {
            self->cl->clFlush(queues[q]);           // at once: any thread may give back, so nothing is noted for later
            continue;
        }
        while (q--) hdst__opencl_release_event(self, &marks->after[q]);
        return false;
    }
    return true;
}

// --- With the mutex held ---

static void free_kept(hdst__opencl_device *self, uint32_t i)
{
    hdst__opencl_pool *pool = &self->pool;
    hdst__opencl_kept *kept = &pool->kept[i];
    hdst__opencl_marks_release(self, &kept->given);
    self->cl->clReleaseMemObject(kept->object);
    pool->bytes -= kept->bytes;
    hdst__meter_take(&self->base.held, kept->bytes);
    memmove(kept, kept + 1, (--pool->count - i) * sizeof *kept);
}

static void trim(hdst__opencl_device *self, uint64_t most)
{
    while (self->pool.count && self->pool.bytes > most) free_kept(self, 0);
}

static uint64_t beside_used(const hdst__opencl_device *self)
{
    const hdst__budget *budget = &self->base.budget;
    const uint64_t used = atomic_load(&budget->used), left = used < budget->limit ? budget->limit - used : 0;
    const uint64_t share = budget->limit / HDST__GPU_KEPT_SHARE;
    return left < share ? left : share;
}

// The smallest that has room; pool->count: none.
static uint32_t find(const hdst__opencl_device *self, uint64_t bytes)
{
    const hdst__opencl_pool *pool = &self->pool;
    uint32_t best = pool->count;
    for (uint32_t i = 0; i < pool->count; i++) {
        const uint64_t has = pool->kept[i].bytes;
        const bool fits = has >= bytes && has - bytes <= bytes / 8 && (best == pool->count || has < pool->kept[best].bytes);
        if (fits && hdst__opencl_marks_ended(self, &pool->kept[i].given)) best = i;
    }
    return best;
}

// --- Taking and giving ---

static bool take_out(hdst__opencl_device *self, uint64_t bytes, void **object, uint64_t *held)
{
    hdst__opencl_pool *pool = &self->pool;
    pthread_mutex_lock(&pool->mutex);
    const uint32_t i = find(self, bytes);
    const bool found = i < pool->count;
    if (found) {
        hdst__opencl_kept *kept = &pool->kept[i];
        hdst__opencl_marks_release(self, &kept->given);
        *object = kept->object;
        *held = kept->bytes;
        pool->bytes -= kept->bytes;
        memmove(kept, kept + 1, (--pool->count - i) * sizeof *kept);
    }
    pthread_mutex_unlock(&pool->mutex);
    return found;
}

// Without the mutex: to make room the budget may have others give buffers back, which come here.
bool hdst__opencl_pool_take(hdst__opencl_device *self, hdst__owner owner, uint64_t bytes, void **object, uint64_t *held)
{
    if (!take_out(self, bytes, object, held)) return false;
    if (hdst__budget_reserve(&self->base.budget, owner, *held)) {
        atomic_fetch_add(&self->pool.reused, 1);
        hdst__opencl_pool_make_room(self);
        return true;
    }
    hdst__opencl_pool_give(self, *object, *held);
    *object = NULL;
    *held = 0;
    return false;
}

void hdst__opencl_pool_make_room(hdst__opencl_device *self)
{
    pthread_mutex_lock(&self->pool.mutex);
    trim(self, beside_used(self));
    pthread_mutex_unlock(&self->pool.mutex);
}

bool hdst__opencl_pool_clear(hdst__opencl_device *self)
{
    pthread_mutex_lock(&self->pool.mutex);
    const bool any = self->pool.count > 0;
    trim(self, 0);
    pthread_mutex_unlock(&self->pool.mutex);
    return any;
}

void hdst__opencl_pool_give(hdst__opencl_device *self, void *object, uint64_t bytes)
{
    hdst__opencl_pool *pool = &self->pool;
    hdst__opencl_kept kept = {.object = object, .bytes = bytes};
    pthread_mutex_lock(&pool->mutex);
    const uint64_t most = beside_used(self);
    if (bytes >= HDST__GPU_KEPT_LEAST_BYTES && bytes <= most && hdst__opencl_marks_set(self, &kept.given)) {
        trim(self, most - bytes);
        if (pool->count == HDST__OPENCL_MOST_KEPT) free_kept(self, 0);
        pool->kept[pool->count++] = kept;
        pool->bytes += bytes;
    } else {
        self->cl->clReleaseMemObject(object);
        hdst__meter_take(&self->base.held, bytes);
    }
    pthread_mutex_unlock(&pool->mutex);
}
