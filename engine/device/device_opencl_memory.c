// SPDX-License-Identifier: Apache-2.0
// OpenCL devices: memory, and the copies to, from and within it. Every call is checked.
#include "engine/device/device_opencl.h"

#include "base/costs_gpu.h"
#include "engine/device/give_up.h"

#define TRY(self, error, function, ...) HDST__CL_TRY((self)->cl, (self)->base.info->name, error, function, __VA_ARGS__)

static hdst_status create_buffer(hdst__opencl_device *self, cl_mem_flags flags, uint64_t bytes, void *host, void **object, hdst_error *error)
{
    cl_int code;
    *object = self->cl->clCreateBuffer(self->context, flags, bytes, host, &code);
    if (code == CL_SUCCESS) return HDST_OK;
    *object = NULL;
    return hdst__opencl_failed(self, "clCreateBuffer", code, error);
}

// A CPU's buffers are memory of the host: they come from the hook and count there, whoever touches them. (One that stands in for a GPU keeps to what
// a GPU does.)
static bool is_host_memory(const hdst__opencl_device *self) { return self->base.info->class_ == HDST__DEVICE_CPU && self->base.unified; }

static hdst_status create_in_host_memory(hdst__opencl_device *self, hdst__memory *memory, const char *what, hdst_error *error)
{
    hdst__memory own = {.bytes = memory->bytes, .owner = memory->owner};
    hdst_status status = hdst__device_host_memory(&self->base, &own, what, error);
    if (status != HDST_OK) return status;
    memory->buffer = own.allocation;
    memory->in_host = own.host;
    return create_buffer(self, CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, hdst__page_round(memory->bytes), own.host, &memory->object, error);
}

// A buffer of the device's own, unless a kept one is there. Where the driver has no memory, kept ones may be what takes it.
static hdst_status create_apart(hdst__opencl_device *self, hdst__memory *memory, hdst_error *error)
{
    const uint64_t bytes = memory->held;
    if (!bytes) return create_buffer(self, CL_MEM_READ_WRITE, hdst__page_round(memory->bytes), NULL, &memory->object, error);
    hdst__opencl_pool_make_room(self);
    hdst_status status = create_buffer(self, CL_MEM_READ_WRITE, bytes, NULL, &memory->object, NULL);
    if (status != HDST_OK) {
        hdst__opencl_pool_clear(self);
        status = create_buffer(self, CL_MEM_READ_WRITE, bytes, NULL, &memory->object, error);
    }
    if (status == HDST_OK) hdst__meter_add(&self->base.held, bytes);
    return status;
}

// Page-aligned host memory is wrapped once: on a unified device that is the buffer, elsewhere it pins the pages for quick copies to a buffer beside it.
static hdst_status create_objects(hdst__opencl_device *self, hdst__memory *memory, const char *what, hdst_error *error)
{
    if (memory->kind == HDST__MEMORY_SHARED) {
        hdst_status status = hdst__device_host_memory(&self->base, memory, what, error);
        if (status != HDST_OK) return status;
        void **wrapped = self->base.unified ? &memory->object : &memory->pinned;
        status = create_buffer(self, CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, hdst__page_round(memory->bytes), memory->host, wrapped, error);
        if (status != HDST_OK) return status;
    }
    if (memory->object) return HDST_OK;
    if (is_host_memory(self)) return create_in_host_memory(self, memory, what, error);
    return create_apart(self, memory, error);
}

static void drop(hdst__opencl_device *self, hdst__memory *memory)
{
    const uint64_t bytes = memory->held ? memory->held : hdst__page_round(memory->bytes);
    if (memory->arena) {
        hdst__opencl_arena_give(self, memory);
    } else {
        hdst__budget_release(&self->base.budget, memory->owner, bytes);
        if (memory->object && memory->held) hdst__opencl_pool_give(self, memory->object, memory->held);
        else if (memory->object) self->cl->clReleaseMemObject(memory->object);
    }
    if (memory->pinned) self->cl->clReleaseMemObject(memory->pinned);
    hdst__device_free_host_memory(&self->base, memory);
    hdst__free(self->base.runtime->allocator, memory->buffer);
    hdst__free(self->base.runtime->allocator, memory);
}

// Waits for it, and for no launch but on a device that has no thread left for it.
static hdst_status map(hdst__opencl_device *self, const hdst__memory *memory, cl_map_flags flags, uint64_t bytes, void **address, hdst_error *error)
{
    cl_int code;
    cl_event event;
    *address = self->cl->clEnqueueMapBuffer(self->in, memory->object, CL_FALSE, flags, 0, bytes, 0, NULL, &event, &code);
    if (code != CL_SUCCESS) return hdst__opencl_failed(self, "clEnqueueMapBuffer", code, error);
    TRY(self, error, clFlush, self->in);
    self->has_new[HDST__OPENCL_IN] = false;
    hdst_status status = hdst__opencl_await(self, event, &code, error);
    if (status == HDST_OK) self->cl->clReleaseEvent(event);
    return status == HDST_OK && code < 0 ? hdst__opencl_failed(self, "clEnqueueMapBuffer", code, error) : status;
}

hdst_status hdst__opencl_to_host(hdst__device *device, hdst__memory *memory, hdst_error *error)
{
    hdst__opencl_device *self = (hdst__opencl_device *)device;
    if (memory->kind != HDST__MEMORY_SHARED || !device->unified || memory->mapped) return HDST_OK;
    void *address;
    hdst_status status = map(self, memory, CL_MAP_READ | CL_MAP_WRITE, hdst__page_round(memory->bytes), &address, error);
    if (status != HDST_OK) return status;
    if (address != memory->host) return hdst__error_set(error, HDST_E_INTERNAL, "%s maps wrapped memory to another address", device->info->name);
    memory->mapped = true;
    return HDST_OK;
}

hdst_status hdst__opencl_to_device(hdst__device *device, hdst__memory *memory, hdst_error *error)
{
    hdst__opencl_device *self = (hdst__opencl_device *)device;
    if (!memory->mapped) return HDST_OK;
    cl_event event;
    TRY(self, error, clEnqueueUnmapMemObject, self->in, memory->object, memory->host, 0, NULL, &event);
    hdst__opencl_record(self, HDST__TRACK_IN, event, "hand over", 0, memory->bytes);
    hdst__opencl_note_in(self, event);
    memory->mapped = false;
    return HDST_OK;
}

// Of an arena, of what was kept, or to be made. False: the budget has no room.
static bool reserve(hdst__opencl_device *self, hdst__memory *memory)
{
    const uint64_t rounded = hdst__page_round(memory->bytes);
    const uint64_t size = memory->owner == HDST__OWNER_CACHES ? rounded : hdst__opencl_pool_size(self, rounded);     // how many fit was reckoned without
    hdst__budget *budget = &self->base.budget;
    if (!hdst__opencl_pools(self)) return hdst__budget_reserve(budget, memory->owner, rounded);
    if (hdst__opencl_arena_take(self, memory) || hdst__opencl_pool_take(self, memory->owner, rounded, &memory->object, &memory->held)) return true;
    memory->held = hdst__budget_unused(budget) >= size ? size : rounded;
    return hdst__budget_reserve(budget, memory->owner, memory->held);
}

hdst_status hdst__opencl_alloc(hdst__device *device, hdst__memory_kind kind, hdst__owner owner, uint64_t bytes, const char *what, hdst__memory **out,
                               hdst_error *error)
{
    hdst__opencl_device *self = (hdst__opencl_device *)device;
    uint64_t rounded = hdst__page_round(bytes);
    if (rounded > device->info->max_alloc_bytes) {
        char wanted[24], most[24];
        hdst__error_set(error, HDST_E_MEMORY, "%s: %s needs %s, a buffer may have %s", device->info->name, what, hdst__bytes_text(bytes, wanted),
                        hdst__bytes_text(device->info->max_alloc_bytes, most));
        hdst__error_hint(error, "fewer rows, or --device interp");
        return HDST_E_MEMORY;
    }
    hdst__memory *memory = hdst__alloc_zero(device->runtime->allocator, sizeof *memory);
    if (!memory) return hdst__error_memory(error, what);
    *memory = (hdst__memory){.kind = kind, .owner = owner, .bytes = bytes};
    if (!reserve(self, memory)) {
        hdst__free(device->runtime->allocator, memory);
        return hdst__budget_error(&device->budget, rounded, what, error);
    }
    hdst_status status = create_objects(self, memory, what, error);
    if (status == HDST_OK) status = hdst__opencl_to_host(device, memory, error);
    if (status == HDST_OK) *out = memory;
    else drop(self, memory);
    return status;
}

void hdst__opencl_release(hdst__device *device, hdst__memory *memory)
{
    hdst__opencl_device *self = (hdst__opencl_device *)device;
    if (!memory) return;
    // A buffer must not go away mapped. Nothing can be done about a failure here.
    if (memory->mapped && hdst__opencl_to_device(device, memory, NULL) == HDST_OK) hdst__opencl_await_queue(self, self->in, NULL);
    // The driver keeps its own memory until no command uses it, but not the host's: a clearing for the next run, or what a failed one left, may be under way.
    if ((memory->buffer || memory->host) && !hdst__given_up(device) && !hdst__opencl_all_ended(self)) hdst__opencl_finish(device);
    if (!hdst__given_up(device)) drop(self, memory);
}

// A CPU device's commands are submitted and then awaited. Elsewhere the driver waits for copies, once the launches have ended that they stand behind.
static bool awaits_copies(const hdst__opencl_device *self) { return self->base.runtime->cancel && self->base.info->class_ == HDST__DEVICE_CPU; }

static hdst_status await_copy(hdst__opencl_device *self, const char *function, cl_event event, hdst_error *error)
{
    cl_int code;
    hdst_status status = hdst__opencl_flush(self, error);
    if (status == HDST_OK) status = hdst__opencl_await(self, event, &code, error);
    return status == HDST_OK && code < 0 ? hdst__opencl_failed(self, function, code, error) : status;
}

// What is small and the host does not own goes the way of the launches: it is too little to overlap them, and no queue waits for another.
hdst_status hdst__opencl_write(hdst__device *device, hdst__memory *memory, uint64_t offset, const void *bytes, uint64_t count, bool wait, hdst_error *error)
{
    hdst__opencl_device *self = (hdst__opencl_device *)device;
    const bool small = count <= HDST__GPU_SMALL_COPY_BYTES && memory->kind == HDST__MEMORY_DEVICE;
    if (count == 0) return HDST_OK;
    cl_event event;
    const bool awaits = wait && awaits_copies(self);
    hdst_status status = wait && small && !awaits ? hdst__opencl_await_launches(self, error) : HDST_OK;
    if (status != HDST_OK) return status;
    TRY(self, error, clEnqueueWriteBuffer, small ? self->compute : self->in, memory->object, wait && !awaits ? CL_TRUE : CL_FALSE, offset, count,
        bytes, 0, NULL, small ? hdst__opencl_event(self, &event) : &event);
    hdst__opencl_record(self, small ? HDST__TRACK_COMPUTE : HDST__TRACK_IN, event, "copy in", 0, count);
    if (small) hdst__opencl_note_small(self, event);
    else hdst__opencl_note_in(self, event);
    return awaits ? await_copy(self, "clEnqueueWriteBuffer", event, error) : HDST_OK;
}

// A CPU's memory to where it lies already: OpenCL allows that between other uses of the buffer, which the queue of the launches sees to.
static bool stays_in_place(const hdst__memory *memory, uint64_t offset, const void *bytes)
{
    return memory->in_host && bytes == (const char *)memory->in_host + offset;
}

// Small reads stay in the queue of the launches: no copy worth overlapping, and no wait between queues. Each read follows the one before, so that the last
// one stands for all.
hdst_status hdst__opencl_read(hdst__device *device, hdst__memory *memory, uint64_t offset, void *bytes, uint64_t count, bool wait, hdst_error *error)
{
    hdst__opencl_device *self = (hdst__opencl_device *)device;
    if (count == 0) return HDST_OK;
    const bool small = count <= HDST__GPU_SMALL_COPY_BYTES || stays_in_place(memory, offset, bytes);
    cl_event event, after[4];
    cl_uint waits = 0;
    if (self->last_in && !(small && self->in_awaited)) after[waits++] = self->last_in;
    if (self->last_launch && !small) after[waits++] = self->last_launch;
    if (self->last_small && !small) after[waits++] = self->last_small;
    if (self->last_out && !(small && self->last_out_is_small)) after[waits++] = self->last_out;
    const bool awaits = wait && awaits_copies(self);
    hdst_status status = wait ? hdst__opencl_flush(self, error) : HDST_OK;
    if (status == HDST_OK && wait && !awaits) status = hdst__opencl_await_launches(self, error);
    if (status != HDST_OK) return status;
    TRY(self, error, clEnqueueReadBuffer, small ? self->compute : self->out, memory->object, wait && !awaits ? CL_TRUE : CL_FALSE, offset, count,
        bytes, waits, waits ? after : NULL,
        &event);
    hdst__opencl_record(self, small ? HDST__TRACK_COMPUTE : HDST__TRACK_OUT, event, "copy out", 0, count);
    hdst__opencl_replace_event(self, &self->last_out, event);
    self->last_out_is_small = small;
    self->has_new[small ? HDST__OPENCL_COMPUTE : HDST__OPENCL_OUT] = !wait || awaits;
    if (awaits) status = await_copy(self, "clEnqueueReadBuffer", event, error);
    if (wait && !hdst__given_up(device)) hdst__opencl_release_event(self, &self->last_out);      // it stands for nothing that a later mark could mean
    return status;
}

hdst_status hdst__opencl_sub_buffer(hdst__device *device, const hdst__memory *of, uint64_t offset, uint64_t bytes, hdst__memory *out, hdst_error *error)
{
    hdst__opencl_device *self = (hdst__opencl_device *)device;
    cl_buffer_region region = {of->arena_at + offset, bytes};
    cl_int code;
    *out = (hdst__memory){.kind = of->kind, .bytes = bytes, .host = of->host ? (char *)of->host + offset : NULL};
    out->object = self->cl->clCreateSubBuffer(hdst__opencl_arena_object(of), CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION, &region, &code);
    if (code == CL_SUCCESS) return HDST_OK;
    out->object = NULL;
    return hdst__opencl_failed(self, "clCreateSubBuffer", code, error);
}

// The driver keeps it until the commands that use it have finished.
void hdst__opencl_release_sub_buffer(hdst__device *device, hdst__memory *out)
{
    hdst__opencl_device *self = (hdst__opencl_device *)device;
    if (out->object) self->cl->clReleaseMemObject(out->object);
    *out = (hdst__memory){0};
}

hdst_status hdst__opencl_wrap(hdst__device *device, void *host, uint64_t bytes, hdst__memory *memory, hdst_error *error)
{
    *memory = (hdst__memory){.kind = HDST__MEMORY_SHARED, .bytes = bytes, .host = host};
    return create_buffer((hdst__opencl_device *)device, CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, bytes, host, &memory->object, error);
}

static hdst_status unmap(hdst__opencl_device *self, const hdst__memory *memory, void *address, hdst_error *error)
{
    TRY(self, error, clEnqueueUnmapMemObject, self->in, memory->object, address, 0, NULL, NULL);
    return hdst__opencl_await_queue(self, self->in, error);
}

// What kernels wrote is in the host's memory once it was mapped.
hdst_status hdst__opencl_unwrap(hdst__device *device, hdst__memory *memory, hdst_error *error)
{
    hdst__opencl_device *self = (hdst__opencl_device *)device;
    void *address = NULL;
    hdst_status status = map(self, memory, CL_MAP_READ, memory->bytes, &address, error);
    const bool is_mapped = status == HDST_OK;
    if (is_mapped && address != memory->host) status = hdst__error_set(error, HDST_E_INTERNAL, "%s maps wrapped memory to another address", device->info->name);
    if (is_mapped) {
        const hdst_status ended = unmap(self, memory, address, status == HDST_OK ? error : NULL);
        if (status == HDST_OK) status = ended;
    }
    if (status != HDST_OK && !hdst__given_up(device)) hdst__opencl_finish(device);      // nothing was waited for, and the memory is the caller's now
    if (hdst__given_up(device)) return status;
    self->cl->clReleaseMemObject(memory->object);
    *memory = (hdst__memory){0};
    return status;
}

// Stands in the queue of the launches and counts as one of them for whoever waits.
hdst_status hdst__opencl_copy(hdst__device *device, hdst__memory *to, uint64_t to_offset, const hdst__memory *from, uint64_t from_offset, uint64_t count,
                        hdst_error *error)
{
    hdst__opencl_device *self = (hdst__opencl_device *)device;
    if (count == 0) return HDST_OK;
    cl_event event;
    const bool waits = self->last_in && !self->in_awaited;
    TRY(self, error, clEnqueueCopyBuffer, self->compute, from->object, to->object, from_offset, to_offset, count, waits ? 1 : 0,
        waits ? &self->last_in : NULL, hdst__opencl_event(self, &event));
    hdst__opencl_record(self, HDST__TRACK_COMPUTE, event, "copy", 0, count);
    return hdst__opencl_launched(self, event, error);
}

hdst_status hdst__opencl_fill(hdst__device *device, hdst__memory *memory, uint64_t words, uint64_t pattern, hdst_error *error)
{
    hdst__opencl_device *self = (hdst__opencl_device *)device;
    if (words == 0) return HDST_OK;
    cl_event event;
    const bool waits = self->last_out && !self->last_out_is_small;      // what is filled may be read still
    TRY(self, error, clEnqueueFillBuffer, self->compute, memory->object, &pattern, sizeof pattern, 0, words * sizeof pattern, waits ? 1 : 0,
        waits ? &self->last_out : NULL, hdst__opencl_event(self, &event));
    hdst__opencl_record(self, HDST__TRACK_COMPUTE, event, "fill", 0, words * sizeof pattern);
    hdst__opencl_note_small(self, event);
    return hdst__opencl_start(self, error);          // it may be for later
}
