// SPDX-License-Identifier: Apache-2.0
// What an OpenCL device does where calls of the driver fail while commands are under way: memory goes back to its owner when those have ended.
#include "engine/device/device_opencl.h"
#include "engine/engine.h"

#include <criterion/criterion.h>
#include <stdlib.h>

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
