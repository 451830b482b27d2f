// SPDX-License-Identifier: Apache-2.0
// OpenCL devices: their commands on the timeline of the runtime (base/timeline.h), with the driver's times: queued, submitted, start, end. Commands wait
// in a list until they have ended; what asked for them is long gone by then, so their names are copied.
//
// A device's clock counts from where it likes. How far it is behind the host's is measured when the device is opened, by a marker that does nothing: it is
// queued between two looks at the host's clock.
#include "engine/device/device_opencl.h"

#include "base/clock.h"

#include <stdio.h>
#include <string.h>

enum {
    MOST_COMMANDS = 512,        // that have not ended, or that nobody looked at since
    LOOK_EACH = 64,             // so many more and they are looked at
    MOST_COPIES = 64,           // of which it is known when they were, for flows to launches
    NAME_BYTES = 64,
    TRIES = 5,
};

typedef struct command {
    cl_event event;
    uint32_t track;
    char name[NAME_BYTES], function[NAME_BYTES];
    uint64_t records, bytes;
    uint64_t copy, copies;      // the number of a copy in; of a launch, of the last of those that it is the first to wait for
    uint64_t copies_before;     //     and of the last that another waited for
} command;

typedef struct copied {
    uint64_t copy;
    double begin;
} copied;

struct hdst__opencl_timeline {
    double offset;              // to be added to the device's times
    double ended[HDST__TRACK_OUT + 1];      // by track: of the last command
    uint64_t copies, awaited;   // so far; of them, those that a launch waits for
    copied copied[MOST_COPIES]; // by number
    uint64_t lost;              // commands
    uint32_t count, looked;     // looked: of those that were there when they were looked at last
    command command[MOST_COMMANDS];
};

// --- The two clocks ---

static double time_of(const hdst__opencl_device *self, cl_event event, cl_profiling_info what)
{
    cl_ulong time = 0;
    return self->cl->clGetEventProfilingInfo(event, what, sizeof time, &time, NULL) == CL_SUCCESS ? (double)time * 1e-9 : 0;
}

// Between two looks at the clock, the nearer the better.
static bool try_offset(hdst__opencl_device *self, double *offset, double *apart)
{
    cl_event event;
    const double before = hdst__now();
    if (self->cl->clEnqueueMarkerWithWaitList(self->compute, 0, NULL, &event) != CL_SUCCESS) return false;
    const double after = hdst__now();
    const bool ended = self->cl->clWaitForEvents(1, &event) == CL_SUCCESS;
    const double queued = ended ? time_of(self, event, CL_PROFILING_COMMAND_QUEUED) : 0;
    self->cl->clReleaseEvent(event);
    *offset = before + (after - before) / 2 - queued;
    *apart = after - before;
    return queued > 0;
}

static bool find_offset(hdst__opencl_device *self, double *offset)
{
    double least = 1e9, next, apart;
    for (int i = 0; i < TRIES; i++) {
        if (!try_offset(self, &next, &apart)) return false;
        if (apart < least) *offset = next, least = apart;
    }
    return true;
}

// Without memory for it, or a clock, the host's part of the timeline is all there is.
void hdst__opencl_timeline_begin(hdst__opencl_device *self)
{
    hdst__runtime *runtime = self->base.runtime;
    if (!runtime->timeline) return;
    hdst__device_name_tracks(&self->base);
    self->timeline = hdst__alloc_zero(runtime->allocator, sizeof *self->timeline);
    if (self->timeline && find_offset(self, &self->timeline->offset)) return;
    hdst__log_write(&runtime->log, HDST__LOG_WARN, "the commands of %s are not on the timeline: %s", self->base.info->name,
                    self->timeline ? "its driver gives no times" : "out of memory");
    hdst__free(runtime->allocator, self->timeline);
    self->timeline = NULL;
}

void hdst__opencl_timeline_end(hdst__opencl_device *self)
{
    struct hdst__opencl_timeline *t = self->timeline;
    if (!t) return;
    hdst__opencl_timeline_look(self);
    for (uint32_t i = 0; i < t->count; i++) self->cl->clReleaseEvent(t->command[i].event);
    t->lost += t->count;
    if (t->lost)
        hdst__log_write(&self->base.runtime->log, HDST__LOG_WARN, "%llu commands of %s are not on the timeline", (unsigned long long)t->lost,
                        self->base.info->name);
    hdst__free(self->base.runtime->allocator, t);
    self->timeline = NULL;
}

// --- Commands that have ended ---

static void add_flows(const hdst__opencl_device *self, const command *c, double begin)
{
    const struct hdst__opencl_timeline *t = self->timeline;
    const uint32_t process = hdst__device_process(&self->base);
    for (uint64_t copy = c->copies_before + 1; copy <= c->copies; copy++) {
        const copied *from = &t->copied[copy % MOST_COPIES];
        if (from->copy == copy)
            hdst__timeline_flow(self->base.runtime->timeline, &(hdst__timeline_place){process, HDST__TRACK_IN, from->begin},
                                &(hdst__timeline_place){process, HDST__TRACK_COMPUTE, begin});
    }
}

// A queue does one after another. Where a driver rounds its times so that two seem to overlap, by less than it can tell, the later one gives way.
static void add_command(const hdst__opencl_device *self, const command *c)
{
    struct hdst__opencl_timeline *t = self->timeline;
    double begin = time_of(self, c->event, CL_PROFILING_COMMAND_START), end = time_of(self, c->event, CL_PROFILING_COMMAND_END);
    if (begin <= 0 || end < begin) return;         // it failed
    begin += t->offset, end += t->offset;
    if (begin < t->ended[c->track]) begin = t->ended[c->track];
    if (end < begin) end = begin;
    t->ended[c->track] = end;
    if (c->copy) t->copied[c->copy % MOST_COPIES] = (copied){c->copy, begin};
    hdst__timeline_add(self->base.runtime->timeline, &(hdst__timeline_span){
        .process = hdst__device_process(&self->base), .track = c->track, .name = c->name, .function = c->function[0] ? c->function : NULL,
        .begin = begin, .end = end, .queued = time_of(self, c->event, CL_PROFILING_COMMAND_QUEUED) + t->offset,
        .submitted = time_of(self, c->event, CL_PROFILING_COMMAND_SUBMIT) + t->offset, .records = c->records, .bytes = c->bytes});
    add_flows(self, c, begin);
}

static bool has_ended(const hdst__opencl_device *self, cl_event event)
{
    cl_int state = CL_COMPLETE;
    const cl_int code = self->cl->clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof state, &state, NULL);
    return code != CL_SUCCESS || state <= CL_COMPLETE;
}

// Those of a queue in their order, so that none behind one that has not ended, or seems not to have.
void hdst__opencl_timeline_look(hdst__opencl_device *self)
{
    struct hdst__opencl_timeline *t = self->timeline;
    bool waits[HDST__TRACK_OUT + 1] = {false};
    uint32_t left = 0;
    if (!t) return;
    for (uint32_t i = 0; i < t->count; i++) {
        command *c = &t->command[i];
        if (!waits[c->track] && has_ended(self, c->event)) {
            add_command(self, c);
            self->cl->clReleaseEvent(c->event);
            continue;
        }
        waits[c->track] = true;
        t->command[left++] = *c;
    }
    t->count = t->looked = left;
}

// --- Commands as they are submitted ---

static void copy_name(char to[NAME_BYTES], const char *name) { snprintf(to, NAME_BYTES, "%s", name ? name : ""); }

void hdst__opencl_record(hdst__opencl_device *self, uint32_t track, cl_event event, const char *name, uint64_t records, uint64_t bytes)
{
    struct hdst__opencl_timeline *t = self->timeline;
    if (!t) return;
    if (t->count >= t->looked + LOOK_EACH) hdst__opencl_timeline_look(self);
    if (t->count == MOST_COMMANDS || self->cl->clRetainEvent(event) != CL_SUCCESS) {
        t->lost++;
        return;
    }
    command *c = &t->command[t->count++];
    *c = (command){.event = event, .track = track, .records = records, .bytes = bytes};
    copy_name(c->name, name);
    copy_name(c->function, self->base.function);
    if (track == HDST__TRACK_IN) c->copy = ++t->copies;
    if (track != HDST__TRACK_COMPUTE || !records) return;
    c->copies_before = t->awaited;
    t->awaited = c->copies = t->copies;
}
