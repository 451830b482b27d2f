// SPDX-License-Identifier: Apache-2.0
// A scheduling policy: shares of two records, and slices as long as may be.
#include "partition/policy.h"

#include <stdio.h>

enum { EACH = 2 };

struct hdst__schedule {
    const hdst__allocator *allocator;
    hdst__job job;
    uint64_t reached;
};

static bool suits(const hdst__job *job) { return job->workers == 1; }

static hdst__schedule *begin(const hdst__job *job, const hdst__allocator *allocator)
{
    hdst__schedule *schedule = hdst__alloc_zero(allocator, sizeof *schedule);
    if (schedule) *schedule = (hdst__schedule){.allocator = allocator, .job = *job};
    return schedule;
}

static bool next(hdst__schedule *schedule, uint32_t worker, hdst__share *share)
{
    (void)worker;
    const uint64_t left = schedule->job.records - schedule->reached;
    *share = (hdst__share){schedule->reached, left < EACH ? left : EACH};
    schedule->reached += share->count;
    if (share->count) fprintf(stderr, "recipe: a policy gives %d records from %d on\n", (int)share->count, (int)share->first);
    return share->count > 0;
}

static uint64_t slice(hdst__schedule *schedule, uint32_t worker, const hdst__slice_limits *limits)
{
    (void)schedule, (void)worker;
    return limits->left < limits->most ? limits->left : limits->most;
}

static void done(hdst__schedule *schedule, uint32_t worker, const hdst__slice_cost *cost) { (void)schedule, (void)worker, (void)cost; }

static bool give_back(hdst__schedule *schedule, uint32_t worker, const hdst__share *share, bool leaves)
{
    (void)schedule, (void)worker, (void)share, (void)leaves;
    return false;
}

static const char *left_out(hdst__schedule *schedule, uint32_t worker)
{
    (void)schedule, (void)worker;
    return NULL;
}

static double seconds(hdst__schedule *schedule)
{
    (void)schedule;
    return 0;
}

static void end(hdst__schedule *schedule) { hdst__free(schedule->allocator, schedule); }

const hdst__policy hdst__policy_recipe = {
    .name = "recipe", .suits = suits, .begin = begin, .next = next, .slice = slice, .done = done, .give_back = give_back, .left_out = left_out,
    .seconds = seconds, .end = end,
};
