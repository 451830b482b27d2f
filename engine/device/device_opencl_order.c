// SPDX-License-Identifier: Apache-2.0
// OpenCL devices: the order of commands. What a launch, a copy or a read waits for, and who is told when it has ended.
#include "engine/device/device_opencl.h"

#include "engine/device/give_up.h"

#define TRY(self, error, function, ...) HDST__CL_TRY((self)->cl, (self)->base.info->name, error, function, __VA_ARGS__)

void hdst__opencl_release_event(const hdst__opencl_device *self, cl_event *event)
{
    if (*event) self->cl->clReleaseEvent(*event);
    *event = NULL;
}

void hdst__opencl_replace_event(const hdst__opencl_device *self, cl_event *event, cl_event with)
{
    hdst__opencl_release_event(self, event);
    *event = with;
}

hdst_status hdst__opencl_flush(hdst__opencl_device *self, hdst_error *error)
{
    const cl_command_queue queues[] = {self->in, self->compute, self->out};
    for (int i = HDST__OPENCL_IN; i <= HDST__OPENCL_OUT; i++) {
        if (self->has_new[i]) TRY(self, error, clFlush, queues[i]);
        self->has_new[i] = false;
    }
    return HDST_OK;
}

hdst_status hdst__opencl_start(hdst__opencl_device *self, hdst_error *error) { return self->hurries ? HDST_OK : hdst__opencl_flush(self, error); }

void hdst__opencl_note_in(hdst__opencl_device *self, cl_event event)
{
    hdst__opencl_replace_event(self, &self->last_in, event);
    self->in_awaited = false;
    self->has_new[HDST__OPENCL_IN] = true;
}

void hdst__opencl_note_small(hdst__opencl_device *self, cl_event event)
{
    hdst__opencl_replace_event(self, &self->last_small, event);
    self->has_new[HDST__OPENCL_COMPUTE] = true;
}

hdst_status hdst__opencl_launched(hdst__opencl_device *self, cl_event event, hdst_error *error)
{
    hdst__opencl_replace_event(self, &self->last_launch, event);
    hdst__opencl_release_event(self, &self->last_small);
    self->in_awaited = true;
    self->has_new[HDST__OPENCL_COMPUTE] = true;
    self->launches++;
    return hdst__opencl_start(self, error);
}

static void CL_CALLBACK on_finished(cl_event event, cl_int code, void *user)
{
    (void)event;
    hdst__ticket *ticket = user;
    atomic_store(&ticket->code, code);
    ticket->done(ticket->user);         // the ticket may be gone after this
}

// Where the driver has no event for it, as its memory is short, by the call that needs none: who waits is about to give memory back. Nobody could leave
// that call if a kernel had no end, so those that have events are waited for before.
static void finish_queue(hdst__opencl_device *self, cl_command_queue queue)
{
    if (hdst__opencl_await_queue(self, queue, NULL) == HDST_OK || hdst__given_up(&self->base)) return;
    hdst__opencl_await_known(self);
    if (!hdst__given_up(&self->base)) self->cl->clFinish(queue);
}

void hdst__opencl_finish(hdst__device *device)
{
    hdst__opencl_device *self = (hdst__opencl_device *)device;
    const cl_command_queue queues[] = {self->in, self->compute, self->out};
    for (int i = HDST__OPENCL_IN; i <= HDST__OPENCL_OUT && !hdst__given_up(device); i++) finish_queue(self, queues[i]);
    if (!hdst__given_up(device)) self->ended = self->launches;
}

// What was submitted has ended, so no command of the one queue waits for one of the other.
static void forget_events(hdst__opencl_device *self)
{
    cl_event *const events[] = {&self->last_in, &self->last_launch, &self->last_out, &self->last_small, &self->begun};
    for (size_t i = 0; i < sizeof events / sizeof *events; i++) hdst__opencl_release_event(self, events[i]);
    self->in_awaited = true;
}

// A timeline is made of the times of commands. Without a second queue the device goes on as ever.
void hdst__opencl_hurry(hdst__device *device, bool hurries)
{
    hdst__opencl_device *self = (hdst__opencl_device *)device;
    cl_int code;
    hdst__opencl_finish(device);
    if (hdst__given_up(device) || self->timeline || hurries == self->hurries) return;
    if (!self->other) self->other = self->cl->clCreateCommandQueue(self->context, self->device, 0, &code);
    if (!self->other) return;
    forget_events(self);
    cl_command_queue before = self->compute;
    self->compute = self->other;
    self->other = before;
    self->hurries = hurries;
}

// Of a device that hurries no command has an event but a read.
static hdst_status mark_launches(hdst__opencl_device *self, hdst_error *error)
{
    if (!self->hurries || self->last_out) return HDST_OK;
    TRY(self, error, clEnqueueMarkerWithWaitList, self->compute, 0, NULL, &self->last_out);
    self->has_new[HDST__OPENCL_COMPUTE] = true;
    return HDST_OK;
}

// The last read stands for the launches before it; without one the last launch does. With neither, earlier marks stand for all there was: the ticket has ended.
hdst_status hdst__opencl_mark(hdst__device *device, hdst__ticket *ticket, hdst_error *error)
{
    hdst__opencl_device *self = (hdst__opencl_device *)device;
    hdst_status status = mark_launches(self, error);
    if (status == HDST_OK) status = hdst__opencl_flush(self, error);
    if (status != HDST_OK) return status;
    atomic_store(&ticket->code, CL_COMPLETE);
    ticket->launches = self->launches;
    ticket->begun = self->begun;
    ticket->launch = self->last_launch;
    ticket->finished = self->last_out ? self->last_out : self->last_launch;
    self->begun = self->last_launch = NULL;
    if (self->last_out) self->last_out = NULL;
    else if (ticket->finished) TRY(self, error, clRetainEvent, ticket->finished);
    if (!ticket->notify) return HDST_OK;
    if (!ticket->finished) {
        ticket->done(ticket->user);
        return HDST_OK;
    }
    cl_int code = self->cl->clSetEventCallback(ticket->finished, CL_COMPLETE, on_finished, ticket);
    if (code == CL_SUCCESS) return HDST_OK;
    hdst__opencl_finish(device);
    hdst__opencl_release_event(self, (cl_event *)&ticket->begun);
    hdst__opencl_release_event(self, (cl_event *)&ticket->launch);
    hdst__opencl_release_event(self, (cl_event *)&ticket->finished);
    return hdst__opencl_failed(self, "clSetEventCallback", code, error);
}

static double launch_seconds(const hdst__opencl_device *self, cl_event begun, cl_event event)
{
    cl_ulong start = 0, end = 0;
    if (!event || self->cl->clGetEventProfilingInfo(begun ? begun : event, CL_PROFILING_COMMAND_START, sizeof start, &start, NULL) != CL_SUCCESS) return 0;
    if (self->cl->clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof end, &end, NULL) != CL_SUCCESS) return 0;
    return end > start ? (double)(end - start) * 1e-9 : 0;
}

hdst_status hdst__opencl_settle(hdst__device *device, hdst__ticket *ticket, hdst_error *error)
{
    hdst__opencl_device *self = (hdst__opencl_device *)device;
    cl_int code = atomic_load(&ticket->code), launch = CL_COMPLETE;
    hdst_status status = !ticket->notify && ticket->finished ? hdst__opencl_await(self, ticket->finished, &code, error) : HDST_OK;
    if (status != HDST_OK) return status;
    if (ticket->launches > self->ended) self->ended = ticket->launches;
    hdst__opencl_timeline_look(self);
    if (ticket->launch) self->cl->clGetEventInfo(ticket->launch, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof launch, &launch, NULL);
    ticket->seconds = launch_seconds(self, ticket->begun, ticket->launch);
    hdst__opencl_release_event(self, (cl_event *)&ticket->begun);
    hdst__opencl_release_event(self, (cl_event *)&ticket->launch);
    hdst__opencl_release_event(self, (cl_event *)&ticket->finished);
    if (launch < 0 || code < 0) hdst__opencl_finish(device);      // who is told gives memory back, which the others may use still
    if (launch < 0) return hdst__opencl_failed(self, "a kernel", launch, error);
    if (code < 0) return hdst__opencl_failed(self, "a command", code, error);
    return HDST_OK;
}
