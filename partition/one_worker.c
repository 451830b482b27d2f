// SPDX-License-Identifier: Apache-2.0
// One worker has all of the input, in one share. The time of a record, by which slices go, is that of all slices of the run that have ended, before that
// what earlier runs or a sample say.
#include "partition/slice_by_time.h"

struct hdst__schedule {
    const hdst__allocator *allocator;
    hdst__power *power;
    hdst__share left;               // not given out
    bool leaves;
    uint64_t records;               // of the slices that have ended
    double seconds;
};

static bool suits(const hdst__job *job) { return job->workers == 1; }

static hdst__schedule *begin(const hdst__job *job, const hdst__allocator *allocator)
{
    hdst__schedule *schedule = hdst__alloc_zero(allocator, sizeof *schedule);
    if (!schedule) return NULL;
    *schedule = (hdst__schedule){.allocator = allocator, .power = job->worker[0].power, .left = {0, job->records}};
    return schedule;
}

static bool next(hdst__schedule *schedule, uint32_t worker, hdst__share *share)
{
    (void)worker;
    if (schedule->leaves || schedule->left.count == 0) return false;
    *share = schedule->left;
    schedule->left.count = 0;
    return true;
}

static uint64_t slice(hdst__schedule *schedule, uint32_t worker, const hdst__slice_limits *limits)
{
    (void)worker;
    return hdst__slice_by_time(schedule->power->kernel, limits);
}

// Over all slices of the run: a short one at the end says little.
static void done(hdst__schedule *schedule, uint32_t worker, const hdst__slice_cost *cost)
{
    (void)worker;
    schedule->records += cost->records;
    schedule->seconds += cost->kernel;
    if (schedule->seconds > 0) schedule->power->kernel = schedule->seconds / (double)schedule->records;
}

// The end of the input, as it had all of it in one share.
static bool give_back(hdst__schedule *schedule, uint32_t worker, const hdst__share *share, bool leaves)
{
    (void)worker;
    schedule->left = *share;
    schedule->leaves = leaves;
    return true;
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

const hdst__policy hdst__policy_one_worker = {
    .name = "one worker", .suits = suits, .begin = begin, .next = next, .slice = slice, .done = done, .give_back = give_back, .left_out = left_out,
    .seconds = seconds, .end = end,
};
