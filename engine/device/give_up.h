// SPDX-License-Identifier: Apache-2.0
// Giving up a device. A kernel that has begun cannot be stopped; where a call was cancelled and the device does not come to its end, nobody waits
// any longer. What the device may still write to, or read, stays for ever: nothing of the engine is freed from then on, and no driver's object is
// released. The same goes for the drivers' objects in a process that was forked (driver_gate.h), where nobody answers.
#ifndef HDST_ENGINE_DEVICE_GIVE_UP_H
#define HDST_ENGINE_DEVICE_GIVE_UP_H

#include "engine/device/device.h"

#include <pthread.h>

// Of one wait for a device; zeroed at first.
typedef struct hdst__patience {
    double asked, worked;       // when the cancel was seen, and what this process had worked by then, seconds of processors; 0: not yet
} hdst__patience;

// Whether what is waited for is to be given up: the call was cancelled, and the engine's grace has passed since. A CPU device works in this process, which
// must have had a processor for as long: where others have them, a kernel that ends takes longer. But not for ever.
bool hdst__patience_ends(hdst__patience *patience, const hdst__device *device);

// HDST_E_CANCELLED. From then on all functions of the device do nothing, but for an error where they return one. With the engine's mutex held.
hdst_status hdst__give_up(hdst__device *device, hdst_error *error);
bool hdst__given_up(const hdst__device *device);
// The same, without a word of it, for a device whose driver is not in this process (driver_gate.h).
void hdst__device_lose(hdst__device *device);
// HDST_E_DEVICE: what there is to say where hdst__driver_is_lost.
hdst_status hdst__device_lost(hdst_error *error);
// HDST_E_DEVICE: what there is to say of a device that was given up before.
hdst_status hdst__given_up_before(const char *device, hdst_error *error);

// A condition that is waited for in short pieces, so that a cancel, which wakes nobody since signal handlers may ask for it, is seen in between.
void hdst__pieces_init(pthread_cond_t *condition);
void hdst__pieces_wait(pthread_cond_t *condition, pthread_mutex_t *mutex);

#endif
