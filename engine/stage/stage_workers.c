// SPDX-License-Identifier: Apache-2.0
// The workers of a stage: which of them the program wants, and what they are at.
#include "engine/stage/stage_share.h"

#include "engine/stage/cache_layout.h"
#include "engine/worker.h"

static bool names_each(const hdst__engine *engine)
{
    const char *device = hdst__engine_settings(engine)->device;
    return *device >= '0' && *device <= '9' && !hdst__engine_limits((hdst__engine *)engine)->named_join;
}

// A program that names devices by their numbers wants them all.
bool hdst__stage_names_each(const hdst__stage *stage) { return names_each(stage->engine); }

// Whether a worker belongs to what "all" or a class means. A CPU beside a GPU reads and copies the GPU's records meanwhile; where it was measured it lost
// more there than it computed, so it takes part where it is named.
bool hdst__worker_is_wanted(const hdst__engine *engine, uint32_t number)
{
    return names_each(engine) || hdst__engine_worker_info(engine, number)->class_ == hdst__engine_worker_info(engine, 0)->class_;
}

bool hdst__stage_wants(const hdst__stage *stage, uint32_t number)
{
    return hdst__worker_is_wanted(stage->engine, number) || hdst__stage_joins(stage, number);
}

void hdst__stage_worker_start(hdst__stage_worker *other, void (*work)(void *user))
{
    other->started = hdst__worker_start(other->worker, work, other);
    if (other->started) return;
    other->status = hdst__error_set(&other->error, HDST_E_MEMORY, "no thread can be made for %s", other->worker->info->name);
}

void hdst__stage_worker_wait(hdst__stage_worker *other)
{
    if (other->started) hdst__worker_wait(other->worker);
    other->started = false;
}
