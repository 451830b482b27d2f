// SPDX-License-Identifier: Apache-2.0
// The turns of a loop (op_loop.c): each runs the datasets of the body in their order and gives what they gave to values, which the next ones read.
#ifndef HDST_PLAN_LOOP_TURNS_H
#define HDST_PLAN_LOOP_TURNS_H

#include "engine/stage/turn_chain.h"
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

typedef struct hdst__loop_ahead {   // loop_chain.c: turns that are enqueued ahead
    hdst__turn_chain *chain;        // of the run; NULL: none are
    uint64_t turns, chains;         // so many, in so many chains that ended with a turn that went otherwise
    const char *why;                // there were none; a text that stays. NULL: there was no reason
} hdst__loop_ahead;

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
    hdst__loop_ahead ahead;
} hdst__loop;

// loop_plans.c: makes the plans, unless they are there.
hdst_status hdst__loop_plan(hdst__loop *loop, hdst_error *error);
// Runs the plan of a part; one that ends for want of memory once more, where another plan takes less.
hdst_status hdst__loop_run_part(hdst__loop *loop, hdst__loop_part *part, hdst__run_stats *stats, hdst_error *error);
// From the start to the last turn. The state is then what its value has.
hdst_status hdst__loop_run(hdst__loop *loop, const hdst_dataset *dataset, hdst__run_stats *stats, hdst_error *error);
// loop_report.c. Of a turn that began so: what it did is noted, and whether the loop has settled.
hdst_status hdst__loop_end_turn(hdst__loop *loop, const hdst_dataset *dataset, double begin, hdst_loop_turn turn, hdst_error *error);
double hdst__loop_decision(const hdst__loop *loop, const void *at);     // what decides, of its row
bool hdst__loop_looks(const hdst__loop *loop, uint64_t turn);           // whether that is asked behind turn number `turn`, from 1
void hdst__loop_tell_progress(const hdst__loop *loop, const hdst__runtime *runtime, double now);
// loop_chain.c. At the begin of a run, and its end; around a turn that runs as ever; then turns that are enqueued ahead, as many as go.
void hdst__loop_ahead_begin(hdst__loop *loop, const hdst_dataset *dataset);
void hdst__loop_ahead_end(hdst__loop *loop);
void hdst__loop_ahead_watch(hdst__loop *loop);
void hdst__loop_ahead_watched(hdst__loop *loop);
hdst_status hdst__loop_ahead_run(hdst__loop *loop, const hdst_dataset *dataset, hdst__run_stats *stats, hdst_error *error);
void hdst__loop_ahead_explain(const hdst__loop *loop, unsigned number, hdst__buffer *out);
void hdst__loop_release(hdst__loop *loop);      // loop_plans.c: what runs took; it can run again
void hdst__loop_end_plans(hdst__loop *loop);    // loop_plans.c
void hdst__loop_end(hdst__loop *loop, const hdst__allocator *allocator);

#endif
