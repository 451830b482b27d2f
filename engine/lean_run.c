// SPDX-License-Identifier: Apache-2.0
// What is there only so that runs are quicker gives way to those that end for want of memory: segments through which inputs stream, cached datasets. A run
// that begins, or goes on, without it is a lean one.
#include "engine/engine_state.h"
#include "engine/memory/cached_dataset.h"

// --- What was refused ---

static void for_each_budget(const hdst__engine *engine, void (*f)(hdst__budget *budget, void *user), void *user)
{
    f((hdst__budget *)&engine->runtime.memory, user);
    for (uint32_t i = 0; i < HDST__MOST_WORKERS; i++) {
        hdst__device *device = atomic_load(&engine->opened[i]);
        if (device) f(&device->budget, user);
    }
}

static void forget_lack(hdst__budget *budget, void *user)
{
    (void)user;
    hdst__budget_forget_lack(budget);
}

void hdst__engine_forget_refusals(const hdst__engine *engine) { for_each_budget(engine, forget_lack, NULL); }

static void look_for_lack(hdst__budget *budget, void *user)
{
    uint64_t owned[HDST__OWNERS];
    const uint64_t lack = hdst__budget_lack(budget);
    *(bool *)user |= lack && lack <= hdst__budget_used(budget, owned);
}

bool hdst__engine_lacks_what_is_used(const hdst__engine *engine)
{
    bool some = false;
    for_each_budget(engine, look_for_lack, &some);
    return some;
}

// --- What gives way ---

// Those of a lean run are as few as it can do with.
static bool takes_less_now(const hdst__engine *engine, const hdst__ring *ring)
{
    return ring->count && (ring->of_run != engine->runtime.runs || (ring->count > 1 && !engine->runtime.lean));
}

static bool give_rings_back(hdst__engine *engine)
{
    bool some = false;
    hdst__engine_lock(engine);
    for (uint32_t i = 0; i < engine->workers; i++) {
        hdst__device_worker *worker = &engine->worker[i];
        some |= takes_less_now(engine, &worker->ring);
        if (worker->device) hdst__ring_destroy(&worker->ring, worker->device);
    }
    hdst__engine_unlock(engine);
    return some;
}

bool hdst__engine_give_back(hdst__engine *engine, const hdst_error *cause)
{
    if (engine->runtime.given_up) return false;
    const bool rings = give_rings_back(engine), caches = hdst__whole_caches_stream(&engine->runtime, cause);
    engine->runtime.lean = true;
    return rings || caches;
}

// --- Runs ---

void hdst__engine_begin_run(hdst__engine *engine, bool lean)
{
    static const hdst_error before = {.code = HDST_E_MEMORY, .message = "a run had no memory beside it before"};
    hdst__runtime *runtime = &engine->runtime;
    runtime->runs++;
    if (runtime->given_up) return;
    if (lean && !runtime->lean) hdst__engine_give_back(engine, &before);
    runtime->lean = lean;
    if (!lean && hdst__whole_caches_return(runtime)) give_rings_back(engine);
}

static void add_needed(hdst__budget *budget, void *user)
{
    uint64_t owned[HDST__OWNERS];
    *(uint64_t *)user += hdst__budget_used(budget, owned) - owned[HDST__OWNER_SEGMENTS] - owned[HDST__OWNER_CACHES];
}

uint64_t hdst__engine_needed_bytes(const hdst__engine *engine)
{
    uint64_t all = 0;
    for_each_budget(engine, add_needed, &all);
    return all;
}
