// SPDX-License-Identifier: Apache-2.0
// Which shape of a GPU kernel is quickest: a search by coordinates over few shapes, driven by whoever runs slices. Each slice of the data runs once, in one of
// the shapes under test; its time by the device's clock is a sample. No shape changes a result. Knows nothing of devices, programs or files.
//
// Rounds: work-groups per compute unit (no compiling), records of a lane (more of them while that helps, else fewer), work-items of a group. In each the best
// shape so far runs against a few others in turn, HDST__GPU_TUNING_SAMPLES slices each; the least median wins, by HDST__GPU_TUNING_MARGIN at least. A shape
// that is hopeless after a slice gets no second one. At most HDST__GPU_TUNING_SLICES slices are part of it, mostly 20 to 30, and only the difference in their
// times is lost.
#ifndef HDST_ENGINE_STAGE_SHAPE_SEARCH_H
#define HDST_ENGINE_STAGE_SHAPE_SEARCH_H

#include "base/costs_gpu.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct hdst__tuning_shape {
    uint32_t group;                     // work-items of a work-group, a power of two
    uint32_t records;                   // that a lane takes at once
    uint32_t units;                     // work-groups per compute unit of the device
} hdst__tuning_shape;

typedef enum hdst__tuning_round {
    HDST__TUNING_UNITS, HDST__TUNING_MORE_RECORDS, HDST__TUNING_FEWER_RECORDS, HDST__TUNING_GROUP, HDST__TUNING_DONE
} hdst__tuning_round;

// For tests: stands in for the device's clock. Seconds that `records` records take in a shape.
typedef double (*hdst__tuning_clock)(const hdst__tuning_shape *shape, uint64_t records, void *user);

typedef struct hdst__tuning_try {
    hdst__tuning_shape shape;
    uint32_t submitted, samples;        // slices of this round: given out, measured
    double sample[HDST__GPU_TUNING_SAMPLES];    // seconds a record
    double seconds;                     // a record: the last round's median; 0: not measured to the end
    bool out;                           // not worth another slice, or cannot run:
    bool failed;
} hdst__tuning_try;

typedef struct hdst__tuning {
    hdst__tuning_shape least, most;     // what may be tried
    hdst__tuning_try tries[HDST__GPU_TUNING_TRIES];     // [0]: where it began
    uint32_t count, best;
    uint32_t first;                     // of the round: `best` and those from here on are in it
    hdst__tuning_round round;
    uint64_t least_records;             // shorter slices say too little
    uint64_t reference;                 // records of the longest slice that was measured in the round
    uint32_t slices;                    // given out for samples
    hdst__tuning_clock clock;           // NULL: the times are as noted
    void *clock_user;
} hdst__tuning;

// Begins with `shape` in `round`. Where least and most agree there is nothing to try.
void hdst__tuning_start(hdst__tuning *tuning, hdst__tuning_shape shape, hdst__tuning_round round, hdst__tuning_shape least, hdst__tuning_shape most,
                        uint64_t least_records);

// With nothing in flight: slices of a run that ended early will never be noted.
void hdst__tuning_resume(hdst__tuning *tuning);
// The shape of the next slice, of so many records: an index of `tries`. Every slice is noted later, in the order of asking.
uint32_t hdst__tuning_next(hdst__tuning *tuning, uint64_t records);
// A slice in that shape took so long on the device. `valid` is false where it did not do its work, so its time means nothing.
void hdst__tuning_note(hdst__tuning *tuning, uint32_t index, double seconds, uint64_t records, bool valid);
// A shape that the device cannot run. Not the best one.
void hdst__tuning_drop(hdst__tuning *tuning, uint32_t index);

bool hdst__tuning_is_measured(const hdst__tuning *tuning);      // the round has all its samples, or there will be no more
// With nothing in flight: ends a round that is measured, chooses, and begins the next one. The shapes from `first` on are new.
void hdst__tuning_advance(hdst__tuning *tuning);

#endif
