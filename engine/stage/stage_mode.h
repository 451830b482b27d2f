// SPDX-License-Identifier: Apache-2.0
// How a stage runs now, and why no longer as it began. Each change makes a run possible that could not end the way it was, at some cost, and stays
// for later runs.
#ifndef HDST_ENGINE_STAGE_STAGE_MODE_H
#define HDST_ENGINE_STAGE_STAGE_MODE_H

#include "base/buffer.h"

#include <stdbool.h>

typedef enum hdst__mode_change {
    HDST__MODE_ONE_DEVICE,              // not shared by several devices: there is no memory for what each needs
    HDST__MODE_OUTPUT_ON_HOST,          // records for another stage do not stay on the device: it has no room for them
    HDST__MODE_OUTPUT_IN_FILE,          // nor do they in the host's memory
    HDST__MODE_COUNTED_OUTPUT,          // output is counted first: what a record could give at most has no room
    HDST__MODE_ROUND_ON_HOST,           // accumulators do not become rows on the device: it has no room for them
    HDST__MODE_TABLE_OF_WORDS,          // rows are not written as soon as they are complete: too many had addends that did not fit their words
    HDST__MODE_SUPERACCUMULATORS,              // no tables in fixed point: more addends than there are overflow cells did not fit their words
    HDST__MODE_SKIP_FAILED,             // records that fail take no part: one did
    HDST__MODE_CHANGES
} hdst__mode_change;

typedef struct hdst__stage_mode {       // zeroed: as it began
    bool is[HDST__MODE_CHANGES];
    char why[HDST__MODE_CHANGES][160];  // what happened, in words; long ones are cut
} hdst__stage_mode;

void hdst__mode_set(hdst__stage_mode *mode, hdst__mode_change change, const char *why);
// A line of two words' indent, "what is done (why)", where the mode was changed so; else nothing.
void hdst__mode_explain(const hdst__stage_mode *mode, hdst__mode_change change, hdst__buffer *out);

#endif
