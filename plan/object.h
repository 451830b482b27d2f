// SPDX-License-Identifier: Apache-2.0
// What all public objects share: the context they belong to, the error that sticks to them, and a count of who uses them.
#ifndef HDST_PLAN_OBJECT_H
#define HDST_PLAN_OBJECT_H

#include "base/alloc.h"
#include "base/cancel.h"
#include "base/error_object.h"
#include "base/log.h"
#include "engine/engine.h"
#include "engine/memory/host_rows.h"
#include "engine/stage/stage_run.h"
#include "hdst/hdst.h"

#include <pthread.h>

typedef struct hdst__object hdst__object;

struct hdst__object {
    hdst_context *context;      // NULL: a constant that stands in where no object could be made, of which there is nothing but this head: nobody looks further
    hdst_error *error;          // the sticky error, or NULL
    void (*release)(hdst__object *object);      // frees what the object holds, not the object
    uint32_t uses;              // the caller's handle and every object that refers to this one
    hdst__object *next, *previous;              // all objects of the context
    const char *call, *argument;                // of a stand-in that a call returns which was given NULL for an object: which ones
};

struct hdst_context {
    hdst__object object;
    hdst__allocator allocator;  // of everything: the engine's, which counts towards the budget, once there is one
    hdst__allocator hook;       // where all memory comes from: of the context itself and its options
    hdst__log log;
    hdst__progress progress;    // where it has a function to tell
    hdst__timeline *timeline;   // NULL: nobody asked for one
    hdst__engine *engine;
    pthread_mutex_t lock;       // held by every public call on the context or its objects, except cancel
    hdst__cancel cancel;        // of the call that holds it
    hdst__object *objects;
    hdst__rows *mapped;         // what hdst_collect gave through files, until hdst_rows_destroy
    size_t mapped_count;
    struct hdst_job *jobs;      // runs on threads of their own that nobody has destroyed yet (hdst/job_object.c); guarded by the lock
    uint64_t refusals;          // of the budget, when the lock was taken
    bool gave_back;             // what runs can do without was given back, in the call that holds the lock (plan/run_memory.c)
    uint64_t needed;            // bytes that were in use for other things when the last run began
    uint32_t lean_runs, times_lean;     // that many of the next ones are lean; how often one became it
    uint64_t datasets, plans;   // made so far: numbers for the next ones
    bool closing;               // the context is being destroyed: references no longer count
    char *device, *cache_dir, *replay_dir;      // copies of the options
    bool unchecked;
};

// The one error that needs no memory.
extern hdst_error hdst__no_memory;

// A zeroed object of `bytes`, in the context's list, with one use. If the context has failed its error sticks to the new object.
// Returns `stand_in` (a constant with hdst__no_memory) when there is no memory. The context's lock must be held.
void *hdst__object_create(hdst_context *context, size_t bytes, void (*release)(hdst__object *), void *stand_in);
void hdst__object_retain(hdst__object *object);
void hdst__object_drop(hdst__object *object);           // one use less; the last one frees
// The public _destroy: takes the lock; NULL and stand-ins are fine. Not safe twice, as free().
void hdst__object_destroy(hdst__object *object);
void hdst__object_free_all(hdst_context *context);      // the context's end

// Gives the object an error (the first one stays) and returns it to fill; never NULL: without memory it is a copy nobody reads and the object gets
// hdst__no_memory.
hdst_status hdst__object_fail(hdst__object *object, const hdst_error *error);
hdst_status hdst__object_inherit(hdst__object *object, const hdst__object *from);      // takes over from's error, if any; HDST_OK when there is none
hdst_status hdst__object_status(const hdst__object *object, hdst_error *error);

// The context's allocator for what belongs to an owner.
const hdst__allocator *hdst__owned_by(const hdst_context *context, hdst__owner owner);

void hdst__lock(hdst_context *context);
// An error that says "out of memory" also says so of the budget, where that refused memory since the lock was taken: what for, and which budget would do.
void hdst__explain_memory(const hdst_context *context, hdst_error *error);
// run_memory.c: behind a part of a call that is no run and ended for want of memory, and that can be done again: whether there is more now, as what is there
// only so that runs are quicker was given back. Once in a call.
bool hdst__call_has_more_memory(hdst_context *context, hdst_status status, hdst_error *error);
void hdst__unlock(hdst_context *context);

// --- What a call is given. The caller's objects may be NULL, of another context, in error or stand-ins ---

// The first object of a call that makes one: NULL, or a stand-in, makes a stand-in of what the call returns. Only heads are looked at, whatever their types.
#define HDST__NEEDS(type, object_, name)                                                                               \
    do {                                                                                                               \
        static const hdst__object given_null = {.error = (hdst_error *)&hdst__given_null, .call = __func__, .argument = (name)}; \
        const hdst__object *instead = hdst__needs((const hdst__object *)(object_), &given_null);                      \
        if (instead) return (type *)instead;                                                                           \
    } while (0)
extern const hdst_error hdst__given_null;
const hdst__object *hdst__needs(const hdst__object *object, const hdst__object *given_null);       // what is to be returned; NULL: go on
// Another object of a call: neither NULL, nor of another context, nor in error.
hdst_status hdst__check_object(const hdst_context *context, const char *call, const char *name, const void *object, hdst_error *error);
// Anything else that must not be NULL.
hdst_status hdst__check_pointer(const char *call, const char *name, const void *pointer, hdst_error *error);
// Options of `bytes` bytes of which `least` were there from the start: copies the `size` bytes that the caller says to have over the defaults. What a
// newer program has beyond must be zeroes.
hdst_status hdst__read_options(const char *type, const char *init, void *options, size_t least, size_t bytes, const void *given,
                               size_t size, hdst_error *error);
// The object of a call that makes none, with a context: HDST_OK. Its own error, or that it is NULL, else.
hdst_status hdst__check_alive(const char *call, const char *name, const void *object, hdst_error *error);

#define HDST__STAND_IN(type, name) static type name = {.object = {.error = &hdst__no_memory}}
#define HDST__ALLOCATOR(object_pointer) (&(object_pointer)->object.context->allocator)

#endif
