// SPDX-License-Identifier: Apache-2.0
// The turns of a loop (op_loop.c): each runs the datasets of the body in their order and gives what they gave to values, which the next ones read.
#ifndef HDST_PLAN_LOOP_TURNS_H
#define HDST_PLAN_LOOP_TURNS_H

#include "plan/plan.h"
#include "plan/row_changes.h"

typedef struct hdst__loop_step {    // copied from hdst_loop_step
    size_t part;                    // which dataset of the body gives it
    char *table;                    // an accumulator; NULL: its records
    hdst_value *value;              // retained
    bool is_changes;                // of rows of the value
    hdst__plan_table *from;         // of a table: in the part's plan
    hdst__row_changes changes;      // in the part's arena
} hdst__loop_step;

typedef struct hdst__loop_part {    // a dataset with a plan of its own
    hdst_dataset *dataset;
    hdst__arena arena;              // of the plan
    hdst__plan plan;
    bool planned;
} hdst__loop_part;

typedef struct hdst__loop {
    const char *made_by;            // the public function
    hdst_value *state;              // retained
    hdst_value *work;               // the work set; retained. NULL: the whole state is made anew in each turn
    hdst__loop_part start, first;   // give the state before the first turn, and the work set
    hdst__loop_part *parts;         // the body
    hdst__loop_step *steps;
    size_t part_count, step_count;
    uint64_t limit, every;
    double threshold;
    bool quiet;                     // says nothing where it ends at its limit
    char *until;                    // the accumulator that decides; NULL: none does
    hdst__plan_table *decides;
    size_t decides_part;            // the part that has it
    bool planned;
    // The last run
    hdst_loop_turn *turns;
    uint64_t turn_count, turn_capacity;
    double began;                   // its first turn
    double looked;                  // what `until` was when it was looked at last; NaN: not yet
    bool converged;
} hdst__loop;

// loop_plans.c: makes the plans, unless they are there.
hdst_status hdst__loop_plan(hdst__loop *loop, hdst_error *error);
// Runs the plan of a part; one that ends for want of memory once more, where another plan takes less.
hdst_status hdst__loop_run_part(hdst__loop *loop, hdst__loop_part *part, hdst__run_stats *stats, hdst_error *error);
// From the start to the last turn. The state is then what its value has.
hdst_status hdst__loop_run(hdst__loop *loop, const hdst_dataset *dataset, hdst__run_stats *stats, hdst_error *error);
void hdst__loop_release(hdst__loop *loop);      // loop_plans.c: what runs took; it can run again
void hdst__loop_end_plans(hdst__loop *loop);    // loop_plans.c
void hdst__loop_end(hdst__loop *loop, const hdst__allocator *allocator);

#endif
