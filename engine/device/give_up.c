// SPDX-License-Identifier: Apache-2.0
// Giving up a device (engine/device/give_up.h).
#include "engine/device/give_up.h"

#include "base/clock.h"
#include "base/costs_host.h"
#include "engine/device/driver_gate.h"

#include <time.h>

enum { SECOND = 1000 * 1000 * 1000 };       // in nanoseconds

void hdst__pieces_init(pthread_cond_t *condition)
{
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(condition, &attributes);
    pthread_condattr_destroy(&attributes);
}

void hdst__pieces_wait(pthread_cond_t *condition, pthread_mutex_t *mutex)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += HDST__HOST_WAIT_NANOSECONDS;
    if (until.tv_nsec >= SECOND) until.tv_sec++, until.tv_nsec -= SECOND;
    pthread_cond_timedwait(condition, mutex, &until);
}

bool hdst__patience_ends(hdst__patience *patience, const hdst__device *device)
{
    if (!hdst__cancel_asked(device->runtime->cancel)) return false;
    const double now = hdst__now(), worked = hdst__process_time(), grace = device->limits->grace_seconds;
    if (patience->asked == 0) *patience = (hdst__patience){now, worked};
    const double passed = now - patience->asked;
    if (device->info->class_ != HDST__DEVICE_CPU) return passed >= grace;
    return passed >= grace && (worked - patience->worked >= grace || passed >= HDST__HOST_GRACE_TIMES * grace);
}

// --- A device that was given up ---

hdst_status hdst__given_up_before(const char *device, hdst_error *error)
{
    hdst__error_set(error, HDST_E_DEVICE, "%s was given up: a kernel on it did not end after a run was cancelled", device);
    hdst__error_hint(error, "make a new context; device 'interp' if that kernel still keeps this one busy");
    return HDST_E_DEVICE;
}

hdst_status hdst__device_lost(hdst_error *error)
{
    hdst__error_set(error, HDST_E_DEVICE, "this process was forked from one that uses OpenCL: the drivers' threads are not here");
    hdst__error_hint(error, "fork before the first context looks for devices, or let the child exec a program; device 'interp' works here");
    return HDST_E_DEVICE;
}

static hdst_status told(const hdst__device *device, hdst_error *error)
{
    return hdst__driver_is_lost() ? hdst__device_lost(error) : hdst__given_up_before(device->info->name, error);
}

static void destroy(hdst__device *device) { (void)device; }
static void release(hdst__device *device, hdst__memory *memory) { (void)device, (void)memory; }
static void unload(hdst__device *device, hdst__program *program) { (void)device, (void)program; }
static void release_sub_buffer(hdst__device *device, hdst__memory *part) { (void)device, (void)part; }
static void finish(hdst__device *device) { (void)device; }
static void hurry(hdst__device *device, bool hurries) { (void)device, (void)hurries; }
static bool proven(hdst__device *device, hdst__program *program) { return (void)device, (void)program, false; }
static hdst_status unwrap(hdst__device *device, hdst__memory *memory, hdst_error *error) { return (void)memory, told(device, error); }
static hdst_status hand_over(hdst__device *device, hdst__memory *memory, hdst_error *error) { return (void)memory, told(device, error); }
static hdst_status mark(hdst__device *device, hdst__ticket *ticket, hdst_error *error) { return (void)ticket, told(device, error); }

static hdst_status alloc(hdst__device *device, hdst__memory_kind kind, hdst__owner owner, uint64_t bytes, const char *what, hdst__memory **memory,
                         hdst_error *error)
{
    return (void)kind, (void)owner, (void)bytes, (void)what, (void)memory, told(device, error);
}

static hdst_status write(hdst__device *device, hdst__memory *memory, uint64_t offset, const void *bytes, uint64_t count, bool wait, hdst_error *error)
{
    return (void)memory, (void)offset, (void)bytes, (void)count, (void)wait, told(device, error);
}

static hdst_status read(hdst__device *device, hdst__memory *memory, uint64_t offset, void *bytes, uint64_t count, bool wait, hdst_error *error)
{
    return (void)memory, (void)offset, (void)bytes, (void)count, (void)wait, told(device, error);
}

static hdst_status sub_buffer(hdst__device *device, const hdst__memory *of, uint64_t offset, uint64_t bytes, hdst__memory *out, hdst_error *error)
{
    return (void)of, (void)offset, (void)bytes, (void)out, told(device, error);
}

static hdst_status wrap(hdst__device *device, void *host, uint64_t bytes, hdst__memory *memory, hdst_error *error)
{
    return (void)host, (void)bytes, (void)memory, told(device, error);
}

static hdst_status copy(hdst__device *device, hdst__memory *to, uint64_t to_offset, const hdst__memory *from, uint64_t from_offset, uint64_t count,
                        hdst_error *error)
{
    return (void)to, (void)to_offset, (void)from, (void)from_offset, (void)count, told(device, error);
}

static hdst_status fill(hdst__device *device, hdst__memory *memory, uint64_t words, uint64_t pattern, hdst_error *error)
{
    return (void)memory, (void)words, (void)pattern, told(device, error);
}

static hdst_status load(hdst__device *device, const hdst__code *code, hdst__program **program, hdst_error *error)
{
    return (void)code, (void)program, told(device, error);
}

static hdst_status launch(hdst__device *device, hdst__program *program, const hdst__launch *at, hdst_error *error)
{
    return (void)program, (void)at, told(device, error);
}

static hdst_status work(hdst__device *device, hdst__program *program, const hdst__work_arg *args, size_t count, uint64_t groups, uint32_t local,
                        hdst_error *error)
{
    return (void)program, (void)args, (void)count, (void)groups, (void)local, told(device, error);
}

static const hdst__device_ops given_up = {
    .destroy = destroy, .alloc = alloc, .release = release, .to_host = hand_over, .to_device = hand_over, .write = write, .read = read,
        .sub_buffer = sub_buffer,
        .release_sub_buffer = release_sub_buffer,
    .wrap = wrap, .unwrap = unwrap, .copy = copy, .fill = fill, .load = load, .unload = unload, .launch = launch, .finish_table = launch,
        .work = work, .mark = mark,
    .settle = mark, .finish = finish, .hurry = hurry, .proven = proven,
};

bool hdst__given_up(const hdst__device *device) { return device->ops == &given_up; }

void hdst__device_lose(hdst__device *device) { device->ops = &given_up; }

hdst_status hdst__give_up(hdst__device *device, hdst_error *error)
{
    device->ops = &given_up;
    device->runtime->given_up = true;
    hdst__budget_keep(&device->runtime->memory);
    hdst__driver_run_begin();           // which never ends
    hdst__error_set(error, HDST_E_CANCELLED, "cancelled; a kernel on %s did not end, and the device is given up", device->info->name);
    hdst__error_hint(error, "make a new context, and try functions with loops on device 'interp', where every loop can be cancelled");
    return HDST_E_CANCELLED;
}
