// SPDX-License-Identifier: Apache-2.0
// What an OpenCL device does where calls of the driver fail while commands are under way: memory goes back to its owner when those have ended.
#include "base/clock.h"
#include "engine/device/device_opencl.h"
#include "engine/device/give_up.h"
#include "engine/engine.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

enum { FILLS = 12 };

static hdst__opencl failing;

static cl_int no_marker(cl_command_queue queue, cl_uint count, const cl_event *list, cl_event *event)
{
    (void)queue, (void)count, (void)list, (void)event;
    return CL_OUT_OF_HOST_MEMORY;
}

static void *no_map(cl_command_queue queue, cl_mem memory, cl_bool waits, cl_map_flags flags, size_t offset, size_t bytes, cl_uint count,
                    const cl_event *list, cl_event *event, cl_int *code)
{
    (void)queue, (void)memory, (void)waits, (void)flags, (void)offset, (void)bytes, (void)count, (void)list, (void)event;
    *code = CL_MAP_FAILURE;
    return NULL;
}

static int finishes;

static cl_int note_finish(cl_command_queue queue)
{
    (void)queue;
    finishes++;
    return CL_SUCCESS;
}

static cl_int still_at_work(cl_event event, cl_event_info what, size_t bytes, void *value, size_t *needed)
{
    (void)event, (void)what, (void)bytes, (void)needed;
    *(cl_int *)value = CL_RUNNING;
    return CL_SUCCESS;
}

static cl_int no_unmap(cl_command_queue queue, cl_mem memory, void *address, cl_uint count, const cl_event *list, cl_event *event)
{
    (void)queue, (void)memory, (void)address, (void)count, (void)list, (void)event;
    return CL_OUT_OF_HOST_MEMORY;
}

static uint64_t *fill_often(hdst__device *device, hdst__memory *memory, uint64_t words)
{
    uint64_t *host = malloc(words * sizeof *host);
    cr_assert_eq(device->ops->wrap(device, host, words * sizeof *host, memory, NULL), HDST_OK);
    for (uint64_t i = 1; i <= FILLS; i++) cr_assert_eq(device->ops->fill(device, memory, words, i, NULL), HDST_OK);
    return host;
}

// Memory of the caller's is the caller's again when what writes to it has ended, although the driver cannot say so in the usual way.
Test(failing_driver, memory_goes_when_what_writes_to_it_has_ended)
{
    const uint64_t words = 8 * 1024 * 1024;
    hdst__engine *engine = hdst__engine_create(&(hdst__engine_options){.device = "cpu"});
    hdst__device *device;
    hdst__memory memory;
    hdst_error error = HDST_ERROR_INIT;
    cr_assert_eq(hdst__engine_open(engine, &device, &error), HDST_OK, "%s", error.message);
    hdst__opencl_device *self = (hdst__opencl_device *)device;
    const hdst__opencl *usual = self->cl;
    for (int maps = 0; maps < 2; maps++) {
        failing = *usual;
        if (maps) failing.clEnqueueMapBuffer = no_map;
        else failing.clEnqueueMarkerWithWaitList = no_marker;
        uint64_t *host = fill_often(device, &memory, words);
        self->cl = &failing;
        if (maps) cr_expect_eq(device->ops->unwrap(device, &memory, &error), HDST_E_DRIVER);
        else device->ops->finish(device);
        cr_expect_eq(host[words - 1], FILLS, "%d: %d", maps, (int)host[words - 1]);
        self->cl = usual;
        device->ops->finish(device);
        if (!maps) cr_expect_eq(device->ops->unwrap(device, &memory, &error), HDST_OK, "%s", error.message);
        free(host);
    }
    hdst__engine_destroy(engine);
}

// What it cannot hand back it does not call handed back.
Test(failing_driver, an_unmap_that_fails_is_told)
{
    hdst__engine *engine = hdst__engine_create(&(hdst__engine_options){.device = "cpu"});
    hdst__device *device;
    hdst__memory memory;
    hdst_error error = HDST_ERROR_INIT;
    cr_assert_eq(hdst__engine_open(engine, &device, &error), HDST_OK, "%s", error.message);
    hdst__opencl_device *self = (hdst__opencl_device *)device;
    const hdst__opencl *usual = self->cl;
    failing = *usual;
    failing.clEnqueueUnmapMemObject = no_unmap;
    uint64_t *host = fill_often(device, &memory, 1024);
    self->cl = &failing;
    cr_expect_neq(device->ops->unwrap(device, &memory, &error), HDST_OK);
    cr_expect(strstr(error.message, "ran out of host memory"), "%s", error.message);
    cr_expect_eq(host[1023], FILLS);
    self->cl = usual;
    free(host);
    hdst__engine_destroy(engine);
}

// What a device that was given up may still touch stays, and can be reached: it is no leak.
static struct {
    hdst__engine *engine;
    uint64_t *host;
} left;

// A kernel without an end, after a cancel, where the driver has no memory to tell of it: nobody waits in a call that cannot be left.
Test(failing_driver, a_device_without_an_end_is_given_up, .timeout = 60)
{
    static hdst__cancel cancel;
    hdst__engine *engine = left.engine = hdst__engine_create(&(hdst__engine_options){.device = "cpu", .cancel = &cancel});
    hdst__device *device;
    hdst_error error = HDST_ERROR_INIT;
    hdst__memory memory;
    cr_assert_eq(hdst__engine_open(engine, &device, &error), HDST_OK, "%s", error.message);
    hdst__engine_limits(engine)->grace_seconds = 0.01;
    hdst__opencl_device *self = (hdst__opencl_device *)device;
    failing = *self->cl;
    failing.clEnqueueMarkerWithWaitList = no_marker;
    failing.clFinish = note_finish;
    failing.clGetEventInfo = still_at_work;
    left.host = fill_often(device, &memory, 1024);
    self->cl = &failing;
    hdst__cancel_begin(&cancel);
    hdst__cancel_ask(&cancel);
    device->ops->finish(device);
    cr_expect(hdst__given_up(device));
    cr_expect_eq(finishes, 0);
}

// --- Patience ---

static void work_for(double seconds)
{
    const double end = hdst__process_time() + seconds;
    while (hdst__process_time() < end) continue;
}

static bool ends(hdst__patience *patience, hdst__device_class class_, double grace, const hdst__cancel *cancel)
{
    hdst__runtime runtime = {.cancel = cancel};
    const hdst__limits limits = {.grace_seconds = grace};
    const hdst__device_info info = {.class_ = class_};
    const hdst__device device = {.runtime = &runtime, .limits = &limits, .info = &info};
    return hdst__patience_ends(patience, &device);
}

// A CPU device that gets no processor is not given up for that: the kernel may end once it gets one.
Test(failing_driver, a_cancel_on_a_busy_machine_gives_nothing_up)
{
    hdst__cancel cancel = {0};
    hdst__patience cpu = {0}, gpu = {0};
    cr_expect(!ends(&cpu, HDST__DEVICE_CPU, 0, NULL), "nobody can cancel");
    hdst__cancel_begin(&cancel);
    cr_expect(!ends(&cpu, HDST__DEVICE_CPU, 0, &cancel), "nobody did");
    hdst__cancel_ask(&cancel);
    cr_expect(!ends(&cpu, HDST__DEVICE_CPU, 0.2, &cancel) && !ends(&gpu, HDST__DEVICE_GPU, 0.2, &cancel));
    hdst__sleep(0.3);
    cr_expect(!ends(&cpu, HDST__DEVICE_CPU, 0.2, &cancel), "it did not work");
    cr_expect(ends(&gpu, HDST__DEVICE_GPU, 0.2, &cancel), "which does not work here");
    work_for(0.25);
    cr_expect(ends(&cpu, HDST__DEVICE_CPU, 0.2, &cancel));
    cpu = (hdst__patience){0};
    cr_expect(!ends(&cpu, HDST__DEVICE_CPU, 0.02, &cancel));
    hdst__sleep(0.35);
    cr_expect(ends(&cpu, HDST__DEVICE_CPU, 0.02, &cancel), "one that does nothing at all");
}
