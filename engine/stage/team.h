// SPDX-License-Identifier: Apache-2.0
// What the workers of one run share: the schedule that gives out the input, the least record that failed, whether to go on, the place of their output.
// A worker has its own launch plan, segments and statistics; nothing else is common.
#ifndef HDST_ENGINE_STAGE_TEAM_H
#define HDST_ENGINE_STAGE_TEAM_H

#include "engine/device/device_list.h"
#include "engine/stage/assembly.h"
#include "engine/stage/combined_tables.h"
#include "partition/ranges.h"

#include <stdatomic.h>

typedef struct hdst__team {
    const hdst__policy *policy;     // NULL: each worker has a part of the input of its own
    hdst__schedule *schedule;
    hdst__assembly *assembly;       // NULL: there are no output records
    _Atomic uint64_t failure;       // least error word of all workers (executor.h); UINT64_MAX: none
    atomic_bool stops;              // one of them ended with an error, or there is as much output as is wanted
    // What a worker makes lies in its own tables until the end, so that all of it can be left out, and done by others, when its device fails.
    bool survives;
    hdst__ranges given[HDST__MOST_WORKERS];     // with that: what each was given, by its number in the schedule; its own thread's
    hdst__combined_tables combined[HDST__MOST_WORKERS];     // of a worker that has ended, or none: records that its kernels made fewer, for the consumer
} hdst__team;

// A share that a worker was given. False: out of memory.
bool hdst__team_note_share(hdst__team *team, uint32_t worker, const hdst__share *share);
// All that a worker was given goes to the others, and it gets no more. Nobody works meanwhile. False: out of memory.
bool hdst__team_give_back(hdst__team *team, uint32_t worker);
void hdst__team_forget_shares(hdst__team *team);

// When a worker has ended: its tables, which the host has (hdst__combined_tables_close), are the team's.
void hdst__team_keep_tables(hdst__team *team, uint32_t worker, hdst__combined_tables *tables);
// When all have ended, on the first one's thread: what the tables hold goes to the consumer, behind all other records; `to` counts it.
hdst_status hdst__team_give_tables(const hdst__team *team, hdst__output *to, hdst_error *error);
void hdst__team_end_tables(hdst__team *team);

void hdst__team_note_failure(hdst__team *team, uint64_t word);
// Whether a share that begins at record `at` of the input is not to be gone on with: an error ended the run, there is enough output, or a record before
// it failed. Those before the failing record are still computed, so the one that is told is the first of the input, as with one worker.
bool hdst__team_stops(const hdst__team *team, uint64_t at);

#endif
