// SPDX-License-Identifier: Apache-2.0
// An OpenCL device: its own context and queues, so that it can be dropped alone. Shared by the files device_opencl*.c, each of which stands
// on those behind it: device_opencl.c on ..._program.c on ..._call.c and ..._memory.c, which stands on ..._arena.c on ..._pool.c, on ..._order.c on ..._wait.c;
// all on ..._timeline.c.
#ifndef HDST_ENGINE_DEVICE_DEVICE_OPENCL_H
#define HDST_ENGINE_DEVICE_DEVICE_OPENCL_H

#include "base/hash.h"
#include "engine/device/device.h"
#include "engine/device/opencl.h"
#include "engine/device/program_cache.h"

#include <pthread.h>

typedef struct hdst__built {        // a program that was built, shared by all stages that print the same source
    struct hdst__built *next;
    hdst__hash key;
    cl_program program;
    bool on_disk;
} hdst__built;

typedef struct hdst__opencl_wait {      // for the driver's thread to tell that a command has ended
    pthread_mutex_t mutex;
    pthread_cond_t condition;
    bool ended;                         // guarded by the mutex
} hdst__opencl_wait;

enum { HDST__OPENCL_IN, HDST__OPENCL_COMPUTE, HDST__OPENCL_OUT, HDST__OPENCL_QUEUES };

enum { HDST__OPENCL_MOST_KEPT = 64 };

typedef struct hdst__opencl_marks {     // what each queue had got at some time
    cl_event after[HDST__OPENCL_QUEUES];
} hdst__opencl_marks;

typedef struct hdst__opencl_kept {      // a buffer that nobody has
    void *object;
    uint64_t bytes;
    hdst__opencl_marks given;           // when it was given back
} hdst__opencl_kept;

typedef struct hdst__opencl_pool {
    pthread_mutex_t mutex;              // guards all below but the last
    hdst__opencl_kept kept[HDST__OPENCL_MOST_KEPT];     // the oldest first
    uint32_t count;
    uint64_t bytes;                     // of all
    struct hdst__opencl_arena *arenas;  // see device_opencl_arena.c
    _Atomic uint64_t reused;            // buffers, so far
} hdst__opencl_pool;

typedef struct hdst__opencl_device {
    hdst__device base;
    const hdst__opencl *cl;
    cl_platform_id platform;
    cl_device_id device;
    bool is_part;                   // of a device that the driver has whole
    cl_context context;
    // In-order each. Large copies in and out have queues of their own, so that they overlap the launches; the events below carry the order between queues.
    cl_command_queue in, compute, out;
    cl_command_queue other;         // for `compute`, when the device begins or ends to hurry: one whose commands are not timed. NULL: there is none yet
    bool hurries;                   // `compute` is that one
    cl_event last_in, last_launch, last_out;    // NULL: nothing to wait for
    cl_event last_small;            // a write or fill in the launches' queue that no launch stands behind yet; NULL: none
    bool last_out_is_small;         // it stands in the launches' queue
    bool in_awaited;                // the launches' queue stands behind last_in already
    bool has_new[HDST__OPENCL_QUEUES];  // by queue: commands that the driver was not told to start
    cl_event begun;                 // the first kernel of the last launch, when it has several
    uint64_t launches, ended;       // launches so far; of them, those that are known to have ended
    hdst__opencl_wait wait;
    hdst__opencl_pool pool;
    hdst__built *built;
    struct hdst__opencl_timeline *timeline;     // NULL: commands are not recorded
} hdst__opencl_device;

struct hdst__program {
    hdst__code code;
    hdst__built *built;
    cl_kernel kernel;
    cl_kernel count, scan;          // run before it; NULL: none
    cl_kernel combine, gather;      // run in place of it; NULL: none
    cl_kernel products, merge;      // run behind it; NULL: none
    cl_kernel finish;               // makes rows of accumulators; NULL: none
    cl_kernel spare;                // runs behind it; NULL: none
    cl_kernel tuple_kernel[HDST__TUPLE_KERNELS];     // by way of tuples: run before `kernel`, which takes the last records
};

static inline hdst_status hdst__opencl_failed(const hdst__opencl_device *self, const char *function, cl_int code, hdst_error *error)
{
    return hdst__opencl_fail(error, function, code, self->base.info->name);
}

// device_opencl_program.c: functions of hdst__device_ops
hdst_status hdst__opencl_load(hdst__device *device, const hdst__code *code, hdst__program **program, hdst_error *error);
void hdst__opencl_unload(hdst__device *device, hdst__program *program);
hdst_status hdst__opencl_launch(hdst__device *device, hdst__program *program, const hdst__launch *launch, hdst_error *error);
hdst_status hdst__opencl_work(hdst__device *device, hdst__program *program, const hdst__work_arg *args, size_t count, uint64_t groups, uint32_t local,
                              hdst_error *error);
hdst_status hdst__opencl_finish_table(hdst__device *device, hdst__program *program, const hdst__launch *launch, hdst_error *error);
bool hdst__opencl_proven(hdst__device *device, hdst__program *program);
void hdst__opencl_forget_built(hdst__opencl_device *device);     // at the end of the device

// device_opencl_memory.c: functions of hdst__device_ops
hdst_status hdst__opencl_alloc(hdst__device *device, hdst__memory_kind kind, hdst__owner owner, uint64_t bytes, const char *what, hdst__memory **memory,
                               hdst_error *error);
void hdst__opencl_release(hdst__device *device, hdst__memory *memory);
hdst_status hdst__opencl_to_host(hdst__device *device, hdst__memory *memory, hdst_error *error);
hdst_status hdst__opencl_to_device(hdst__device *device, hdst__memory *memory, hdst_error *error);
hdst_status hdst__opencl_write(hdst__device *device, hdst__memory *memory, uint64_t offset, const void *bytes, uint64_t count, bool wait,
                               hdst_error *error);
hdst_status hdst__opencl_read(hdst__device *device, hdst__memory *memory, uint64_t offset, void *bytes, uint64_t count, bool wait, hdst_error *error);
hdst_status hdst__opencl_copy(hdst__device *device, hdst__memory *to, uint64_t to_offset, const hdst__memory *from, uint64_t from_offset, uint64_t count,
                              hdst_error *error);
hdst_status hdst__opencl_fill(hdst__device *device, hdst__memory *memory, uint64_t words, uint64_t pattern, hdst_error *error);
hdst_status hdst__opencl_sub_buffer(hdst__device *device, const hdst__memory *of, uint64_t offset, uint64_t bytes, hdst__memory *part, hdst_error *error);
void hdst__opencl_release_sub_buffer(hdst__device *device, hdst__memory *part);
hdst_status hdst__opencl_wrap(hdst__device *device, void *host, uint64_t bytes, hdst__memory *memory, hdst_error *error);
hdst_status hdst__opencl_unwrap(hdst__device *device, hdst__memory *memory, hdst_error *error);

// device_opencl_order.c: functions of hdst__device_ops
hdst_status hdst__opencl_mark(hdst__device *device, hdst__ticket *ticket, hdst_error *error);
hdst_status hdst__opencl_settle(hdst__device *device, hdst__ticket *ticket, hdst_error *error);
void hdst__opencl_finish(hdst__device *device);
void hdst__opencl_hurry(hdst__device *device, bool hurries);
// The driver may start what it was given, while the host goes on. The second leaves it the choice where the device hurries.
hdst_status hdst__opencl_flush(hdst__opencl_device *self, hdst_error *error);
hdst_status hdst__opencl_start(hdst__opencl_device *self, hdst_error *error);
// Where a command puts its event; NULL: nobody asks for it, as the device hurries, and the event stays NULL.
static inline cl_event *hdst__opencl_event(const hdst__opencl_device *self, cl_event *event)
{
    *event = NULL;
    return self->hurries ? NULL : event;
}
// `event`, which is the device's from then on, is the last launch; the last large copy in; the last small write or fill.
hdst_status hdst__opencl_launched(hdst__opencl_device *self, cl_event event, hdst_error *error);     // and flushes
void hdst__opencl_note_in(hdst__opencl_device *self, cl_event event);
void hdst__opencl_note_small(hdst__opencl_device *self, cl_event event);
void hdst__opencl_release_event(const hdst__opencl_device *self, cl_event *event);      // which is NULL then; NULL is fine
void hdst__opencl_replace_event(const hdst__opencl_device *self, cl_event *event, cl_event with);

// device_opencl_wait.c: for a command that the driver was told to start, for all that was submitted to a queue, for all launches. HDST_E_CANCELLED:
// the device was given up.
hdst_status hdst__opencl_await(hdst__opencl_device *device, cl_event event, cl_int *code, hdst_error *error);      // code: how it ended; may be NULL
hdst_status hdst__opencl_await_queue(hdst__opencl_device *device, cl_command_queue queue, hdst_error *error);
hdst_status hdst__opencl_await_launches(hdst__opencl_device *device, hdst_error *error);
void hdst__opencl_await_known(hdst__opencl_device *device);         // for all that it has an event of. It may be given up then
bool hdst__opencl_all_ended(const hdst__opencl_device *device);     // whether all it was given is known to have ended; asks, and waits for nothing

// device_opencl_pool.c: whether the device's buffers are kept. How many bytes a new buffer for so many (page-rounded) should have. A buffer of about so many,
// with what it really has reserved of the budget; false: there is none. Before more is asked of the driver: kept ones go as far as they and what is used pass
// the limit. All of them go: whether there were any. One that nobody needs: it is kept, or released; its bytes are no longer reserved.
bool hdst__opencl_pools(const hdst__opencl_device *device);
uint64_t hdst__opencl_pool_size(const hdst__opencl_device *device, uint64_t bytes);
bool hdst__opencl_pool_take(hdst__opencl_device *device, hdst__owner owner, uint64_t bytes, void **object, uint64_t *held);
void hdst__opencl_pool_make_room(hdst__opencl_device *device);
bool hdst__opencl_pool_clear(hdst__opencl_device *device);
void hdst__opencl_pool_give(hdst__opencl_device *device, void *object, uint64_t bytes);
// What the queues have got so far (false: the driver takes no marks); whether all of it has ended; the marks go.
bool hdst__opencl_marks_set(const hdst__opencl_device *device, hdst__opencl_marks *marks);
bool hdst__opencl_marks_ended(const hdst__opencl_device *device, const hdst__opencl_marks *marks);
void hdst__opencl_marks_release(const hdst__opencl_device *device, hdst__opencl_marks *marks);

// device_opencl_arena.c: `memory`, of which bytes and owner are set, becomes a part of a larger buffer, reserved of the budget; false: it is too large for
// that, or there is no room, and nothing was done. The end of such a memory.
bool hdst__opencl_arena_take(hdst__opencl_device *device, hdst__memory *memory);
void hdst__opencl_arena_give(hdst__opencl_device *device, hdst__memory *memory);
void *hdst__opencl_arena_object(const hdst__memory *memory);        // the larger buffer; one of the memory's own where it is no part

// device_opencl_timeline.c: once the device has its queues; at its end; what has ended goes to the timeline. A command of the queue of that track
// (HDST__TRACK_IN ...): a copy into the device, what the launches' queue does for `records` records (0: none), a copy out of it.
void hdst__opencl_timeline_begin(hdst__opencl_device *device);
void hdst__opencl_timeline_end(hdst__opencl_device *device);
void hdst__opencl_timeline_look(hdst__opencl_device *device);
void hdst__opencl_record(hdst__opencl_device *device, uint32_t track, cl_event event, const char *name, uint64_t records, uint64_t bytes);

// device_opencl_call.c: the callback of a program in place of its kernel
hdst_status hdst__opencl_call(hdst__opencl_device *device, hdst__program *program, const hdst__launch *launch, hdst_error *error);

#endif
