// SPDX-License-Identifier: Apache-2.0
// Static or dynamic, by what slices took. Where the powers of all workers are known and steady, from earlier runs or since a few slices ago, the input is
// divided by them, and whoever is done with its share takes slices from the end of the share of the one that would end last. Where they are not, or turn
// out not to be, there is the dynamic pool.
#include "partition/deal.h"

#include "base/costs_host.h"

static bool suits(const hdst__job *job) { return job->workers > 0; }

// Between the two limits things stay as they are, so that they do not go to and fro.
static void choose(hdst__schedule *schedule)
{
    const double spread = hdst__dealt_spread(schedule);
    if (schedule->split && spread > HDST__HOST_UNSTEADY) hdst__dealt_join(schedule);
    else if (!schedule->split && spread <= HDST__HOST_STEADY && hdst__dealt_all_measured(schedule, HDST__HOST_STEADY_SLICES)) hdst__dealt_split(schedule);
}

static hdst__schedule *begin(const hdst__job *job, const hdst__allocator *allocator)
{
    hdst__schedule *schedule = hdst__deal_begin(job, allocator);
    if (schedule) choose(schedule);
    return schedule;
}

static bool next(hdst__schedule *schedule, uint32_t worker, hdst__share *share)
{
    pthread_mutex_lock(&schedule->mutex);
    choose(schedule);
    const bool given = hdst__dealt(schedule, worker, share, hdst__dealt_in_turns(schedule, worker, hdst__dealt_own_or_others, share));
    pthread_mutex_unlock(&schedule->mutex);
    return given;
}

const hdst__policy hdst__policy_auto = {
    .name = "auto", .suits = suits, .begin = begin, .next = next, .slice = hdst__deal_slice, .done = hdst__deal_done,
    .give_back = hdst__deal_give_back, .left_out = hdst__deal_left_out, .seconds = hdst__deal_seconds, .end = hdst__deal_end,
};
