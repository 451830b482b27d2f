// SPDX-License-Identifier: Apache-2.0
// What the workers of one run share: the schedule that gives out the input, the least record that failed, whether to go on, the place of their output.
// A worker has its own launch plan, segments and statistics; nothing else is common.
#ifndef HDST_ENGINE_STAGE_TEAM_H
#define HDST_ENGINE_STAGE_TEAM_H

#include "engine/stage/assembly.h"
#include "partition/policy.h"

#include <stdatomic.h>

typedef struct hdst__team {
    const hdst__policy *policy;     // NULL: each worker has a part of the input of its own
    hdst__schedule *schedule;
    hdst__assembly *assembly;       // NULL: there are no output records
    _Atomic uint64_t failure;       // least error word of all workers (executor.h); UINT64_MAX: none
    atomic_bool stops;              // one of them ended with an error, or there is as much output as is wanted
} hdst__team;

void hdst__team_note_failure(hdst__team *team, uint64_t word);
// Whether a share that begins at record `at` of the input is not to be gone on with: an error ended the run, there is enough output, or a record before
// it failed. Those before the failing record are still computed, so the one that is told is the first of the input, as with one worker.
bool hdst__team_stops(const hdst__team *team, uint64_t at);

#endif
