// SPDX-License-Identifier: Apache-2.0
// An engine: options, devices, and what it lends to all who work for it. What runs on it is in stage/, what lies in its memory in memory/.
//
// Threads: one engine may be used from several threads; a mutex inside guards its devices, and is held while a stage runs.
#ifndef HDST_ENGINE_ENGINE_H
#define HDST_ENGINE_ENGINE_H

#include "base/runtime.h"
#include "engine/device/device_info.h"
#include "engine/common/limits.h"
#include "engine/common/options.h"

#include <stddef.h>

typedef struct hdst__engine hdst__engine;
struct hdst__device;
struct hdst__ring;

// Opens nothing yet. NULL only when out of memory.
hdst__engine *hdst__engine_create(const hdst__engine_options *options);
void hdst__engine_destroy(hdst__engine *engine);
// To be called before anything else is asked of it: in a process that was forked from the one with its drivers all that needs its device gives
// HDST_E_DEVICE from then on.
void hdst__engine_look_for_fork(hdst__engine *engine);
// Whether its device was given up (give_up.h): then all memory stays, the engine's too, and so must what it was created with.
bool hdst__engine_given_up(const hdst__engine *engine);
// All devices of all platforms and the interpreter. Opens the OpenCL loader (dlopen) at first use; without one only the interpreter is listed and
// *loader_note says what is missing (else NULL). The array belongs to the engine.
hdst_status hdst__engine_devices(hdst__engine *engine, const hdst__device_info **devices, size_t *count, const char **loader_note, hdst_error *error);
// The fastest of the devices that the options ask for; falls back to the interpreter when there is no OpenCL at all (logged at WARN).
// "cpu"/"gpu"/INDEX that is not there: HDST_E_DEVICE with what there is as the hint.
hdst_status hdst__engine_device(hdst__engine *engine, const hdst__device_info **device, hdst_error *error);
// Whether that device runs kernels: there is one, and it is not the interpreter.
bool hdst__engine_runs_kernels(hdst__engine *engine);
// Whether there is that device, and it was not given up: the error that a stage would end with.
hdst_status hdst__engine_has_device(hdst__engine *engine, hdst_error *error);
// Opens that device at first use. With the mutex held.
hdst_status hdst__engine_open(hdst__engine *engine, struct hdst__device **device, hdst_error *error);
const struct hdst__device *hdst__engine_opened(const hdst__engine *engine);       // the first worker's, if it is open; NULL. Without the mutex
// The devices that were asked for, as workers (worker.h), once one of them was: number 0 is the one above. A worker's device is opened at first use;
// NULL: it cannot be. With the mutex held.
uint32_t hdst__engine_workers(const hdst__engine *engine);
struct hdst__device_worker *hdst__engine_worker(hdst__engine *engine, uint32_t number, hdst_error *error);
const hdst__device_info *hdst__engine_worker_info(const hdst__engine *engine, uint32_t number);
bool hdst__engine_has_gpu(const hdst__engine *engine);          // among its workers, once they were chosen
// Whether the first worker alone runs what comes, for there is no memory for several. Switched on, the segments of the others are given back.
bool hdst__engine_alone(const hdst__engine *engine);
void hdst__engine_set_alone(hdst__engine *engine, bool alone);
bool hdst__engine_has_others(const hdst__engine *engine);       // others were opened
// The first worker's segments. With the mutex held.
struct hdst__ring *hdst__engine_ring(hdst__engine *engine);

// What belongs to the engine, and ends with it. The runtime's parts are there by name too. Of no engine (NULL) there is no runtime.
hdst__runtime *hdst__engine_runtime(const hdst__engine *engine);
const hdst__allocator *hdst__engine_allocator(const hdst__engine *engine);      // what counts towards its budget: for all objects above it
const hdst__allocator *hdst__engine_owned(const hdst__engine *engine, hdst__owner owner);    // the same, of that owner
hdst__budget *hdst__engine_memory(const hdst__engine *engine);                  // of the host
const hdst__cancel *hdst__engine_cancel(const hdst__engine *engine);            // of the call in progress; NULL: it cannot be cancelled
hdst__thread_pool *hdst__engine_threads(const hdst__engine *engine);
struct hdst__registered *hdst__engine_registered(const hdst__engine *engine);   // memory of the program's
void hdst__engine_lock(const hdst__engine *engine);
void hdst__engine_unlock(const hdst__engine *engine);
const hdst__engine_options *hdst__engine_settings(const hdst__engine *engine);  // the options, resolved
hdst__limits *hdst__engine_limits(const hdst__engine *engine);

// A run begins. Lean: it had no memory for what it cannot do without when it had all that is there only so that runs are quicker; that is given back, and
// takes little from now on. Else cached datasets that were given back for such a run, and for which there is room now, are kept again.
void hdst__engine_begin_run(hdst__engine *engine, bool lean);
// Behind a run, or the making of a plan, that came to no end for want of memory: what is there only so that runs are quicker is given back: segments through
// which inputs stream, and cached datasets, which are read again in every run, for `cause`. The run goes on as a lean one. While nothing runs. False: there
// was nothing that makes a difference.
bool hdst__engine_give_back(hdst__engine *engine, const hdst_error *cause);
// Before: whether a budget refused anything since that was forgotten, and what was lacking is not more than all that is in use now, behind the run. Else
// nothing helps that could be given back.
bool hdst__engine_lacks_what_is_used(const hdst__engine *engine);
void hdst__engine_forget_refusals(const hdst__engine *engine);
// Bytes in use, in all budgets together, for what stays when that was given back.
uint64_t hdst__engine_needed_bytes(const hdst__engine *engine);
// How often the budget refused memory so far; and of an error for memory after that, why, and which budget would do.
uint64_t hdst__engine_refusals(const hdst__engine *engine);
void hdst__engine_explain_memory(hdst__engine *engine, uint64_t refusals, hdst_error *error);

#endif
