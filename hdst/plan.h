// SPDX-License-Identifier: Apache-2.0
// From a chain of operators to stages of the engine: one stage for everything up to the end or up to a reduce that cannot accumulate, and one for that reduce.
#ifndef HDST_PLAN_H
#define HDST_PLAN_H

#include "base/arena.h"
#include "hdst/dataset.h"

// What a parameter of the fused function reads or fills.
typedef struct hdst__plan_param {
    const char *function, *name;    // where the user declared it
    hdst_value *value;              // broadcast
    uint64_t rows;                  // accum
} hdst__plan_param;

typedef struct hdst__fold {         // a reduce that is not a field-wise sum, minimum ...
    hdst__stage_kind kind;
    const ir_func *func;
    const void *identity;           // one row, or NULL
    const hdst__record *record;
    const void *rows;               // its input when a stage comes before: that stage's records
    hdst__stage *stage;
} hdst__fold;

typedef struct hdst__plan {
    hdst_dataset *read;             // the chain's start
    const ir_func *func;            // the fused chain; NULL: a fold directly after the read
    hdst__plan_param *params;       // one per parameter of func
    const hdst__stage_values *values;       // arrays in the arena, refilled before each run
    hdst__stage *stage;
    hdst__fold fold;                // fold.func is NULL when there is none
    const hdst__record *output;     // of the records that come out; NULL: none
    bool reduced;                   // those records are the one row of the accumulator "result"
    hdst__run_stats stats;          // of all stages together
} hdst__plan;

// Builds IR and stages; nothing is compiled for a device yet. IR lives in `arena` (whose out-of-memory handler is the caller's), stages until hdst__plan_destroy.
hdst_status hdst__plan_make(hdst__arena *arena, hdst_dataset *dataset, hdst__plan *plan, hdst_error *error);
void hdst__plan_destroy(hdst__plan *plan);
// Reads the bound values as they are now and runs. `output` is the last stage's; its records are `output->records`, its tables `output->tables`.
hdst_status hdst__plan_run(hdst__plan *plan, hdst__stage_output *output, hdst_error *error);
hdst_status hdst__plan_explain(hdst__plan *plan, const hdst_dataset *dataset, hdst__buffer *out, hdst_error *error);

#endif
