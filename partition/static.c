// SPDX-License-Identifier: Apache-2.0
// The static partitioner: each worker has one share, behind that of the one before it, so long that by the table of powers all end together (allot.h). While
// the speed of a worker is not known all take slices of the pool, which measures it; then what is left is divided.
#include "partition/deal.h"

static bool suits(const hdst__job *job) { return job->wish == HDST__POLICY_STATIC; }

static void split_once(hdst__schedule *schedule)
{
    if (!schedule->split && hdst__dealt_all_measured(schedule, 1)) hdst__dealt_split(schedule);
}

static hdst__schedule *begin(const hdst__job *job, const hdst__allocator *allocator)
{
    hdst__schedule *schedule = hdst__deal_begin(job, allocator);
    if (schedule) split_once(schedule);
    return schedule;
}

// Its share; behind that there is something in the pool only when another has given it back.
static bool own_or_pool(hdst__schedule *schedule, uint32_t worker, hdst__share *share)
{
    return hdst__dealt_own(schedule, worker, share) || hdst__dealt_pool(schedule, worker, share);
}

static bool next(hdst__schedule *schedule, uint32_t worker, hdst__share *share)
{
    pthread_mutex_lock(&schedule->mutex);
    split_once(schedule);
    const bool given = hdst__dealt(schedule, worker, share, hdst__dealt_in_turns(schedule, worker, own_or_pool, share));
    pthread_mutex_unlock(&schedule->mutex);
    return given;
}

const hdst__policy hdst__policy_static = {
    .name = "static", .suits = suits, .begin = begin, .next = next, .slice = hdst__deal_slice, .done = hdst__deal_done,
    .give_back = hdst__deal_give_back, .left_out = hdst__deal_left_out, .seconds = hdst__deal_seconds, .end = hdst__deal_end,
};
