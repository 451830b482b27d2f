// SPDX-License-Identifier: Apache-2.0
// A run of several devices in virtual time, without threads and clocks: devices ask a policy for shares, cut them into slices, have several of them under
// way, and tell what each has cost. Beside it the least time in which the devices could have done it, computed another way.
#ifndef HDST_TESTS_SIMULATOR_H
#define HDST_TESTS_SIMULATOR_H

#include "partition/policy.h"

// How fast a device is from time to time, 1 being as its seconds say. It changes at most so often; the last pace stays. 0: it stands still.
enum { SIM_PACES = 64, SIM_WORKERS = 64 };

typedef struct sim_device {
    double fixed, copy, kernel;     // seconds: of a slice, of a record
    bool copies_apart;
    bool is_told;                   // the policy knows this before
    double told_wrong;              // not 0: it is told so many times the seconds
    struct { double from, pace; } pace[SIM_PACES];      // in order of time; before the first: 1
    uint32_t paces;
    double dies;                    // 0: never; then what it has not done is given back
    double noise;                   // of a slice's seconds, as a part: each takes between 1 and 1 + noise of them
    hdst__share resident;
} sim_device;

typedef struct sim_job {
    uint64_t records, unit;
    hdst__wish wish;
    const sim_device *device;
    uint32_t devices;
    double (*weight)(uint64_t first, uint64_t count);      // NULL, or how many average records these are worth
    uint64_t seed;
    bool patient;                   // who has nothing to do asks again when others have ended something; else it never does
} sim_job;

typedef struct sim_result {
    double seconds;                 // until the last slice ended
    uint64_t done[SIM_WORKERS];     // records
    uint32_t slices, shares;
    bool ascends;                   // no device had a share that lies before one that it had earlier
    const char *left_out[SIM_WORKERS];      // as the policy said before its end; constant texts
    double thought;                 // of the policy, as it began
} sim_result;

// Checks that every record is done once, and that it ends.
sim_result simulate(const sim_job *job, const hdst__policy *policy);

// The least time: as if records were a liquid, all devices worked until the end, and a device's fixed cost came once.
double sim_optimum(const sim_job *job);

#endif
