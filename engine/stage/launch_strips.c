// SPDX-License-Identifier: Apache-2.0
// Strips of a plan on a CPU device (engine/stage/launch_strips.h).
#include "engine/stage/launch_strips.h"

#include "base/costs_cpu.h"
#include "base/costs_host.h"

bool hdst__plan_has_argument(const hdst__launch_plan *plan, hdst__arg_kind kind)
{
    for (size_t i = 0; plan->kernel && i < plan->kernel->arg_count; i++)
        if (plan->kernel->args[i].kind == kind) return true;
    return false;
}

static uint64_t strip_bytes(const hdst__launch_plan *plan)
{
    return hdst__plan_has_argument(plan, HDST__ARG_PRIVATE_TABLES) ? plan->private_words * sizeof(int64_t) : 0;
}

// Whose budget has least left, and how much a buffer of all strips' tables may take of it.
static const hdst__budget *find_room(const hdst__launch_plan *plan, uint64_t *most)
{
    const hdst__budget *host = &plan->device->runtime->memory, *device = &plan->device->budget;
    const uint64_t on_device = hdst__budget_left(device), on_host = hdst__budget_left(host), left = on_host < on_device ? on_host : on_device;
    *most = left < plan->device->info->max_alloc_bytes ? left : plan->device->info->max_alloc_bytes;
    return left == on_host ? host : device;
}

// Half of the room is for the device's table.
static uint64_t strips_with_room(const hdst__launch_plan *plan)
{
    const uint64_t bytes = strip_bytes(plan);
    uint64_t most;
    find_room(plan, &most);
    return bytes ? most / 2 / bytes : UINT64_MAX;
}

uint64_t hdst__plan_bytes_of_results(const hdst__launch_plan *plan)
{
    uint64_t bytes = 0;
    for (size_t i = 0; plan->tables && i < plan->tables->accum_count; i++) {
        const uint32_t param = plan->tables->accum[i].param;
        bytes += plan->rows[param] * plan->func->params[param].record->size;
    }
    return bytes;
}

// A superaccumulator takes far longer than a word.
static bool has_float_sums(const hdst__tables *tables) { return tables->scale_count > 0; }

enum { COPIES = 2 };            // of the device's table: its own, and what comes back

// Beside all that a run needs, half of the room is left to segments.
static bool has_room_for_strips(const hdst__launch_plan *plan, uint64_t strips)
{
    uint64_t most;
    const uint64_t left = hdst__budget_left(find_room(plan, &most)), bytes = strip_bytes(plan),
        others = COPIES * plan->device_words * sizeof(int64_t) + hdst__plan_bytes_of_results(plan);
    return others < left / 2 && (left / 2 - others) / strips >= bytes && most / strips >= bytes;
}

bool hdst__plan_adds_directly(const hdst__launch_plan *plan)
{
    if (!plan->tables || !plan->kernel->one_group_per_strip || !strip_bytes(plan) || has_float_sums(plan->tables)) return false;
    return !has_room_for_strips(plan, plan->device->info->compute_units / 2 + 1);
}

// More strips even out what cores do beside; each adds its whole table to the device's.
static uint32_t strips_per_unit(const hdst__launch_plan *plan, uint64_t table_bytes, const char **why)
{
    const bool large = table_bytes > HDST__CPU_BIG_STRIP_BYTES,
               flushed_long = plan->tables && plan->tables->first_level && table_bytes > HDST__CPU_LONG_FLUSH_BYTES;
    *why = large ? "a strip per core, for its table is large" : flushed_long ? "2 strips per core, for it takes long to add up tables" : "8 strips per core";
    return large ? 1 : flushed_long ? 2 : HDST__CPU_STRIPS_PER_UNIT;
}

hdst_status hdst__plan_choose_strips(hdst__launch_plan *plan, hdst_error *error)
{
    const uint32_t units = plan->device->info->compute_units;
    const uint64_t bytes = strip_bytes(plan), fit = strips_with_room(plan);
    uint64_t most;
    const hdst__budget *budget = find_room(plan, &most);
    plan->items = units * strips_per_unit(plan, bytes, &plan->items_why);
    if (plan->items > fit) {
        plan->items = fit ? (uint32_t)fit : 1;
        plan->items_why = fit > 1 ? "as many strips as the budget has room for tables" : "one strip: the budget has no room for more tables";
    }
    if (plan->adds_directly) plan->items_why = "8 strips per core, which add to the device's table: the budget has no room for tables of their own";
    if (bytes > most)
        return hdst__budget_error(budget, bytes + (plan->first_level_words + plan->device_words) * sizeof(int64_t),
                                  "the table of accumulators, and that of a strip,", error);
    return HDST_OK;
}

// Slices go by the time of a record. If that is mostly the tables' time, shorter slices only make it longer.
double hdst__slice_seconds(uint64_t words)
{
    const double seconds = HDST__HOST_SLICE_SECONDS + HDST__HOST_FLUSHES_OF_SLICE * HDST__CPU_FLUSH_WORD_SECONDS * (double)words;
    return seconds < HDST__HOST_LONG_SLICE_SECONDS ? seconds : HDST__HOST_LONG_SLICE_SECONDS;
}

double hdst__plan_slice_seconds(const hdst__launch_plan *plan)
{
    const bool has_strips = plan->kernel && plan->kernel->one_group_per_strip;
    return hdst__slice_seconds(has_strips ? strip_bytes(plan) / sizeof(int64_t) * plan->items : 0);
}
