// SPDX-License-Identifier: Apache-2.0
// Waiting for an OpenCL device, unless the call is cancelled and the device does not come to its end: then it is given up. On a CPU device all
// commands may stand behind an endless kernel, also those of other queues, because it keeps all threads of the driver; elsewhere only launches take long.
#include "engine/device/device_opencl.h"

#include "base/clock.h"
#include "base/costs_gpu.h"
#include "engine/device/give_up.h"

#include <time.h>

static void CL_CALLBACK on_ended(cl_event event, cl_int code, void *user)
{
    hdst__opencl_wait *wait = user;
    (void)event, (void)code;
    pthread_mutex_lock(&wait->mutex);
    wait->ended = true;
    pthread_cond_signal(&wait->condition);
    pthread_mutex_unlock(&wait->mutex);
}

static cl_int state_of(const hdst__opencl_device *self, cl_event event)
{
    cl_int state = CL_COMPLETE;
    const cl_int code = self->cl->clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof state, &state, NULL);
    return code == CL_SUCCESS ? state : code;
}

static bool has_ended(const hdst__opencl_device *self, cl_event event) { return !event || state_of(self, event) <= CL_COMPLETE; }

// Each queue's last command tells of those before it. Of a device that hurries few have events.
bool hdst__opencl_all_ended(const hdst__opencl_device *self)
{
    if (self->hurries) return false;
    return (self->launches == self->ended || (self->last_launch && has_ended(self, self->last_launch))) && has_ended(self, self->last_in) &&
           has_ended(self, self->last_small) && has_ended(self, self->last_out);
}

// The driver's thread tells. After a device was given up it may still do so: the device's memory stays.
static hdst_status await_callback(hdst__opencl_device *self, cl_event event, hdst_error *error)
{
    hdst__opencl_wait *wait = &self->wait;
    hdst__patience patience = {0};
    wait->ended = false;
    if (self->cl->clSetEventCallback(event, CL_COMPLETE, on_ended, wait) != CL_SUCCESS) {
        self->cl->clWaitForEvents(1, &event);
        return HDST_OK;
    }
    bool ends = false;
    pthread_mutex_lock(&wait->mutex);
    while (!wait->ended && !ends) {
        hdst__pieces_wait(&wait->condition, &wait->mutex);
        ends = !wait->ended && hdst__patience_ends(&patience, &self->base);
    }
    pthread_mutex_unlock(&wait->mutex);
    return ends ? hdst__give_up(&self->base, error) : HDST_OK;
}

// GPUs tell late, through a thread that must be woken; so they are asked, as their drivers do in a wait, and seldom once it takes long.
static hdst_status await_asking(hdst__opencl_device *self, cl_event event, hdst_error *error)
{
    const double start = hdst__now();
    hdst__patience patience = {0};
    while (state_of(self, event) > CL_COMPLETE) {
        const double passed = hdst__now() - start, wanted = passed * HDST__GPU_PAUSE_SHARE;
        const double pause = wanted < HDST__GPU_PAUSE_SECONDS ? wanted : HDST__GPU_PAUSE_SECONDS;
        if (passed < HDST__GPU_BUSY_SECONDS) continue;
        if (hdst__patience_ends(&patience, &self->base)) return hdst__give_up(&self->base, error);
        nanosleep(&(struct timespec){.tv_nsec = (long)(pause * 1e9)}, NULL);
    }
    return HDST_OK;
}

hdst_status hdst__opencl_await(hdst__opencl_device *self, cl_event event, cl_int *code, hdst_error *error)
{
    hdst_status status = HDST_OK;
    if (!self->base.runtime->cancel) self->cl->clWaitForEvents(1, &event);
    else if (state_of(self, event) > CL_COMPLETE) status = (self->base.info->class_ == HDST__DEVICE_GPU ? await_asking : await_callback)(self, event, error);
    if (status == HDST_OK && code) *code = state_of(self, event);
    return status;
}

hdst_status hdst__opencl_await_queue(hdst__opencl_device *self, cl_command_queue queue, hdst_error *error)
{
    cl_event event;
    HDST__CL_TRY(self->cl, self->base.info->name, error, clEnqueueMarkerWithWaitList, queue, 0, NULL, &event);
    HDST__CL_TRY(self->cl, self->base.info->name, error, clFlush, queue);
    hdst_status status = hdst__opencl_await(self, event, NULL, error);
    if (status == HDST_OK) self->cl->clReleaseEvent(event);
    return status;
}

// Asks, as the driver had no memory to tell.
void hdst__opencl_await_known(hdst__opencl_device *self)
{
    const cl_event events[] = {self->last_in, self->last_small, self->last_launch, self->last_out};
    for (size_t i = 0; i < sizeof events / sizeof *events && !hdst__given_up(&self->base); i++)
        if (!has_ended(self, events[i])) await_asking(self, events[i], NULL);
}

static hdst_status ended(hdst__opencl_device *self, hdst_status status)
{
    if (status == HDST_OK) self->ended = self->launches;
    return status;
}

// By the last launch's own event while it is at hand: a marker behind it costs a GPU a tenth of a millisecond more.
hdst_status hdst__opencl_await_launches(hdst__opencl_device *self, hdst_error *error)
{
    if (!self->base.runtime->cancel || self->launches == self->ended) return HDST_OK;
    if (!self->last_launch) return ended(self, hdst__opencl_await_queue(self, self->compute, error));
    HDST__CL_TRY(self->cl, self->base.info->name, error, clFlush, self->compute);
    return ended(self, hdst__opencl_await(self, self->last_launch, NULL, error));
}
