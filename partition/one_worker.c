// SPDX-License-Identifier: Apache-2.0
// One worker has all of the input, in one share. A slice is as many records as take the time that it is given, going by all slices of the run that have
// ended, before that by what earlier runs or a sample say, and without those HDST__HOST_FIRST_RECORDS: a whole number of units, no fewer than are worth a
// launch, no more than there is room for.
#include "base/costs_host.h"
#include "partition/policy.h"

struct hdst__schedule {
    const hdst__allocator *allocator;
    hdst__job job;
    bool given;                     // the share
    uint64_t records;               // of the slices that have ended
    double seconds;
};

static bool suits(const hdst__job *job) { return job->workers == 1; }

static hdst__schedule *begin(const hdst__job *job, const hdst__allocator *allocator)
{
    hdst__schedule *schedule = hdst__alloc_zero(allocator, sizeof *schedule);
    if (!schedule) return NULL;
    schedule->allocator = allocator;
    schedule->job = *job;
    return schedule;
}

static bool next(hdst__schedule *schedule, uint32_t worker, hdst__share *share)
{
    (void)worker;
    if (schedule->given || schedule->job.records == 0) return false;
    schedule->given = true;
    *share = (hdst__share){0, schedule->job.records};
    return true;
}

static uint64_t slice(hdst__schedule *schedule, uint32_t worker, const hdst__slice_limits *limits)
{
    const double each = schedule->job.seconds_per_record[worker], fit = each > 0 ? limits->seconds / each : HDST__HOST_FIRST_RECORDS;
    uint64_t records = fit < (double)limits->most ? (uint64_t)fit / limits->unit * limits->unit : limits->most;
    if (records < limits->least) records = limits->least;
    return records < limits->left ? records : limits->left;
}

// Over all slices of the run: a short one at the end says little.
static void done(hdst__schedule *schedule, uint32_t worker, uint64_t records, double seconds)
{
    schedule->records += records;
    schedule->seconds += seconds;
    if (schedule->seconds > 0) schedule->job.seconds_per_record[worker] = schedule->seconds / (double)schedule->records;
}

static void end(hdst__schedule *schedule) { hdst__free(schedule->allocator, schedule); }

const hdst__policy hdst__policy_one_worker = {
    .name = "one worker", .suits = suits, .begin = begin, .next = next, .slice = slice, .done = done, .end = end,
};
