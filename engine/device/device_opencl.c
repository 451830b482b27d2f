// SPDX-License-Identifier: Apache-2.0
// OpenCL devices: opening one, with a context and queues of its own, and its end.
#include "engine/device/device_opencl.h"

#include "engine/device/backend.h"
#include "engine/device/give_up.h"
#include "engine/device/opencl_devices.h"
#include "engine/device/driver_gate.h"
#include "partition/power_table.h"
#include "base/clock.h"

#include <string.h>

// A part of a device is freed when it is released (opencl_devices.c), whoever still works on it. PoCL's threads do so for a moment after a command has
// ended, and hold its queue meanwhile.
static void await_end(const hdst__opencl_device *self, cl_command_queue queue)
{
    enum { LOOKS = 10000 };
    cl_uint holders = 2;
    if (!queue || hdst__driver_is_lost() || self->cl->clFinish(queue) != CL_SUCCESS) return;
    for (int i = 0; i < LOOKS; i++) {
        if (self->cl->clGetCommandQueueInfo(queue, CL_QUEUE_REFERENCE_COUNT, sizeof holders, &holders, NULL) != CL_SUCCESS || holders <= 1) return;
        hdst__sleep(1e-4);
    }
}

static void destroy(hdst__device *device)
{
    hdst__opencl_device *self = (hdst__opencl_device *)device;
    const hdst__opencl *cl = self->cl;
    hdst__opencl_timeline_end(self);
    hdst__opencl_forget_built(self);
    hdst__opencl_release_event(self, &self->last_in);
    hdst__opencl_release_event(self, &self->last_launch);
    hdst__opencl_release_event(self, &self->last_out);
    hdst__opencl_release_event(self, &self->last_small);
    hdst__opencl_release_event(self, &self->begun);
    hdst__opencl_pool_clear(self);
    if (self->is_part) await_end(self, self->in), await_end(self, self->compute), await_end(self, self->other), await_end(self, self->out);
    if (self->in) cl->clReleaseCommandQueue(self->in);
    if (self->compute) cl->clReleaseCommandQueue(self->compute);
    if (self->other) cl->clReleaseCommandQueue(self->other);
    if (self->out) cl->clReleaseCommandQueue(self->out);
    if (self->context) cl->clReleaseContext(self->context);
    pthread_cond_destroy(&self->wait.condition);
    pthread_mutex_destroy(&self->wait.mutex);
    pthread_mutex_destroy(&self->pool.mutex);
    hdst__power_table_destroy(device->powers);
    hdst__free(device->runtime->allocator, self);
}

static const hdst__device_ops ops = {
    .destroy = destroy,
    .alloc = hdst__opencl_alloc, .release = hdst__opencl_release, .to_host = hdst__opencl_to_host, .to_device = hdst__opencl_to_device,
    .write = hdst__opencl_write, .read = hdst__opencl_read, .copy = hdst__opencl_copy, .fill = hdst__opencl_fill,
    .sub_buffer = hdst__opencl_sub_buffer, .release_sub_buffer = hdst__opencl_release_sub_buffer, .wrap = hdst__opencl_wrap, .unwrap = hdst__opencl_unwrap,
    .load = hdst__opencl_load, .unload = hdst__opencl_unload, .proven = hdst__opencl_proven,
    .launch = hdst__opencl_launch, .finish_table = hdst__opencl_finish_table, .work = hdst__opencl_work,
    .mark = hdst__opencl_mark, .settle = hdst__opencl_settle, .finish = hdst__opencl_finish, .hurry = hdst__opencl_hurry,
};

static hdst_status create_queue(hdst__opencl_device *self, cl_command_queue *queue, hdst_error *error)
{
    cl_int code;
    *queue = self->cl->clCreateCommandQueue(self->context, self->device, CL_QUEUE_PROFILING_ENABLE, &code);
    if (code == CL_SUCCESS) return HDST_OK;
    *queue = NULL;
    return hdst__opencl_failed(self, "clCreateCommandQueue", code, error);
}

static hdst_status create_context(hdst__opencl_device *self, hdst_error *error)
{
    cl_int code;
    cl_context_properties properties[] = {CL_CONTEXT_PLATFORM, (cl_context_properties)self->platform, 0};
    self->context = self->cl->clCreateContext(properties, 1, &self->device, NULL, NULL, &code);
    if (code != CL_SUCCESS) {
        self->context = NULL;
        return hdst__opencl_failed(self, "clCreateContext", code, error);
    }
    hdst_status status = create_queue(self, &self->in, error);
    if (status == HDST_OK) status = create_queue(self, &self->compute, error);
    if (status == HDST_OK) status = create_queue(self, &self->out, error);
    return status;
}

// Of CPU devices that stand in for GPUs: what PoCL calls local memory is a cache, as large as this processor's happens to be.
enum { MOST_LOCAL_OF_A_STAND_IN = 512 << 10 };

static uint64_t local_bytes(const hdst__device_info *info, const hdst__engine_options *options)
{
    const bool stands_in = options->gpu_form_on_cpu && info->class_ != HDST__DEVICE_GPU;
    const uint64_t has = stands_in && info->local_bytes > MOST_LOCAL_OF_A_STAND_IN ? MOST_LOCAL_OF_A_STAND_IN : info->local_bytes;
    return options->local_bytes && options->local_bytes < has ? options->local_bytes : has;
}

static hdst__target_facts facts_of(const hdst__device_info *info, const hdst__engine_options *options)
{
    const bool gpu = info->class_ == HDST__DEVICE_GPU || options->gpu_form_on_cpu;
    return (hdst__target_facts){
        .target = gpu ? HDST__TARGET_GPU : HDST__TARGET_CPU, .max_group = info->max_group, .compute_units = info->compute_units,
        .local_bytes = local_bytes(info, options),
        .correctly_rounded = info->correctly_rounded, .has_double = info->has_double, .has_int64_atomics = info->has_int64_atomics,
        .follows_structs = !gpu && hdst__processor_follows_structs(info->name), .foreign_nans = options->foreign_nans, .no_vectors = options->no_vectors,
        .portable = options->portable_kernels || !strcmp(info->platform, "Oclgrind"),     // which has no compiler built-ins
    };
}

static hdst_status open_device(const hdst__device_setup *setup, hdst__device **out, hdst_error *error)
{
    hdst__opencl_device *self = hdst__alloc_zero(setup->runtime->allocator, sizeof *self);
    if (!self) return hdst__error_memory(error, "a device");
    const hdst__device_info *info = setup->info;
    const uint64_t memory = setup->options->device_memory;
    self->base = (hdst__device){.ops = &ops, .runtime = setup->runtime, .options = setup->options, .limits = setup->limits, .cache = setup->cache,
        .info = info};
    self->base.facts = facts_of(info, setup->options);
    self->base.unified = self->base.facts.target != HDST__TARGET_GPU && !setup->options->no_mapping;
    hdst__budget_init(&self->base.budget, "device memory", "--device-memory", memory ? memory : hdst__device_usual_memory(info));
    const hdst__opencl_devices *found = setup->own;
    self->cl = found->cl;
    self->platform = found->at[info->place].platform;
    self->device = found->at[info->place].device;
    self->is_part = found->at[info->place].is_part;
    pthread_mutex_init(&self->wait.mutex, NULL);
    pthread_mutex_init(&self->pool.mutex, NULL);
    hdst__meter_init(&self->base.held);
    hdst__pieces_init(&self->wait.condition);
    cl_uint align_bits = 0;
    if (self->cl->clGetDeviceInfo(self->device, CL_DEVICE_MEM_BASE_ADDR_ALIGN, sizeof align_bits, &align_bits, NULL) == CL_SUCCESS)
        self->base.has_sub_buffers = align_bits / 8 <= HDST__SUB_BUFFER_BYTES;
    hdst_status status = create_context(self, error);
    if (status == HDST_OK) hdst__opencl_timeline_begin(self);
    if (status == HDST_OK) *out = &self->base;
    else destroy(&self->base);
    return status;
}

const hdst__device_backend hdst__device_opencl = {
    .name = "OpenCL", .has_driver = true, .find = hdst__opencl_find, .forget = hdst__opencl_forget, .open = open_device,
};
