// SPDX-License-Identifier: Apache-2.0
// All records of one input with all of another: pairs {the left record; the right one}, those of the first left record before those of the next. The right side
// lies in memory, the left one is read as it comes; pairs are made where they are read.
#ifndef HDST_SHUFFLE_JOIN_CROSS_H
#define HDST_SHUFFLE_JOIN_CROSS_H

#include "engine/common/run_stats.h"
#include "engine/engine.h"
#include "engine/memory/host_rows.h"
#include "engine/memory/reader.h"

typedef struct hdst__cross {
    hdst__engine *engine;
    const hdst__record *result;     // of its two fields the records of the inputs
    hdst__rows right;
    const hdst__reader *left;       // must outlive what is read
    hdst__arena arena;
    const hdst__storage *piece;     // a few left records
    uint64_t results;
} hdst__cross;

void hdst__cross_init(hdst__cross *cross, hdst__engine *engine, const hdst__record *result);
void hdst__cross_forget(hdst__cross *cross);        // gives the records back; safe on a zeroed one
// HDST_E_MEMORY where a quarter of what the budget has left has no room for the right records.
hdst_status hdst__cross_run(hdst__cross *cross, const hdst__reader *left, const hdst__reader *right, hdst__run_stats *stats, hdst_error *error);
hdst__reader hdst__cross_reader(hdst__cross *cross);

#endif
