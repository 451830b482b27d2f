// SPDX-License-Identifier: Apache-2.0
// The turns of a loop (op_loop.c): each runs the datasets of the body in their order and gives what they gave to values, which the next ones read.
#ifndef HDST_PLAN_LOOP_TURNS_H
#define HDST_PLAN_LOOP_TURNS_H

#include "plan/plan.h"

typedef struct hdst__loop_step {    // copied from hdst_loop_step
    size_t part;                    // which dataset of the body gives it
    char *table;                    // an accumulator; NULL: its records
    hdst_value *value;              // retained
    hdst__plan_table *from;         // of a table: in the part's plan
} hdst__loop_step;

typedef struct hdst__loop_part {    // a dataset of the body
    hdst_dataset *dataset;
    hdst__plan plan;
} hdst__loop_part;

typedef struct hdst__loop {
    hdst_value *state;              // retained
    hdst__loop_part *parts;
    hdst__loop_step *steps;         // those of a part stand together
    size_t part_count, step_count;
    uint64_t limit, every;
    double threshold;
    char *until;                    // the accumulator that decides; NULL: none does
    hdst__plan_table *decides;
    hdst__arena arena;              // of all plans
    hdst__plan start;               // gives the state before the first turn
    bool planned;
    // The last run
    hdst_loop_turn *turns;
    uint64_t turn_count, turn_capacity;
    bool converged;
} hdst__loop;

// Makes the plans, unless they are there.
hdst_status hdst__loop_plan(hdst__loop *loop, const hdst_dataset *dataset, hdst_error *error);
// From the start to the last turn. The state is then what its value has.
hdst_status hdst__loop_run(hdst__loop *loop, const hdst_dataset *dataset, hdst__run_stats *stats, hdst_error *error);
void hdst__loop_release(hdst__loop *loop);      // what runs took; it can run again
void hdst__loop_end(hdst__loop *loop, const hdst__allocator *allocator);

#endif
