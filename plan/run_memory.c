// SPDX-License-Identifier: Apache-2.0
// What is there only so that runs are quicker (cached datasets, segments in turn, what stages of other results work with) gives way to a run that ends for
// want of memory, which is made once more as a lean one. The next run is none: it has cached datasets in whole again, where there is room. But what needed
// it once needs it again, so
// - a result whose run was lean has lean ones, until an eighth less than then is in use for other things;
// - each further time that something gave way (there may be a new result for each turn of a loop) four times as many runs that follow are lean.
#include "plan/object.h"
#include "plan/plan.h"

#include "engine/stage/stage_run.h"

enum { MOST_TIMES = 5, LESS_SHARE = 8 };

void hdst__plan_begin_run(hdst_context *context, uint64_t lean_at)
{
    context->needed = hdst__engine_needed_bytes(context->engine);
    const bool known = lean_at && context->needed >= lean_at - lean_at / LESS_SHARE, waits = !known && context->lean_runs;
    if (waits) context->lean_runs--;
    hdst__engine_begin_run(context->engine, known || waits);
}

static bool gives_back(hdst_context *context, hdst_status status, hdst_error *error)
{
    if (status != HDST_E_MEMORY || context->gave_back) return false;
    context->gave_back = true;
    hdst__explain_memory(context, error);
    if (!hdst__engine_lacks_what_is_used(context->engine)) return false;
    const bool plans = hdst__stages_forget_plans(hdst__engine_runtime(context->engine));
    return hdst__engine_give_back(context->engine, error) || plans;
}

bool hdst__call_has_more_memory(hdst_context *context, hdst_status status, hdst_error *error)
{
    return context->engine && gives_back(context, status, error);
}

static void gave_way(hdst_context *context)
{
    if (context->times_lean < MOST_TIMES) context->times_lean++;
    context->lean_runs = (1u << 2 * (context->times_lean - 1)) - 1;
}

bool hdst__plan_has_more_memory(hdst_context *context, hdst_status status, uint64_t *lean_at, hdst_error *error)
{
    if (!gives_back(context, status, error)) return false;
    gave_way(context);
    if (lean_at) *lean_at = context->needed;
    return true;
}
