// SPDX-License-Identifier: Apache-2.0
// The dynamic pool: whoever is ready takes the next slice, in the order of the input, and what lies with it. Slices are as long as HDST__HOST_SLICE_SECONDS
// by measured speed and shrink towards the end; a slow worker takes no more when the others would end the rest sooner than it would end one slice
// (HeteroDoop's tail scheduling).
#include "partition/deal.h"

static bool suits(const hdst__job *job) { return job->wish == HDST__POLICY_DYNAMIC; }

static bool next(hdst__schedule *schedule, uint32_t worker, hdst__share *share)
{
    pthread_mutex_lock(&schedule->mutex);
    const bool given = hdst__dealt(schedule, worker, share, hdst__dealt_in_turns(schedule, worker, hdst__dealt_pool, share));
    pthread_mutex_unlock(&schedule->mutex);
    return given;
}

const hdst__policy hdst__policy_dynamic = {
    .name = "dynamic", .suits = suits, .begin = hdst__deal_begin, .next = next, .slice = hdst__deal_slice, .done = hdst__deal_done,
    .give_back = hdst__deal_give_back, .left_out = hdst__deal_left_out, .seconds = hdst__deal_seconds, .end = hdst__deal_end,
};
