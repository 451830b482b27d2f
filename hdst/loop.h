// SPDX-License-Identifier: Apache-2.0
// What a loop keeps from one turn to the next. hdst/hdst.h includes it.
#ifndef HDST_LOOP_H
#define HDST_LOOP_H

#include "hdst/api.h"
#include "hdst/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hdst_dataset hdst_dataset;
typedef struct hdst_result hdst_result;
typedef struct hdst_value hdst_value;

// Takes the rows of an accumulator table of the result's last run, or (table NULL) its records, as they are now; rows may be of any record with the same
// struct, or, where both are numbers, or records of one field, of one type, as many numbers laid end to end (12 rows of a float are 3 of {float x[4]}). In a
// loop: run a result, give what it computed to the value that its next run reads; records of a map stay on the device then (docs/datasets.md). On failure the
// value is as it was, but for a device that fails while it copies: that error sticks to the value. HDST_E_USAGE: other rows, no whole ones.
HDST_API hdst_status hdst_value_set_result(hdst_value *value, hdst_result *result, const char *table, hdst_error *error);
// The rows of a value as records, in their order: each run reads those that the value has then. Rows that a result left on the device stay there. The
// dataset retains the value, which the program may destroy.
HDST_API hdst_dataset *hdst_read_value(hdst_value *value);

// --- Loops ---

// A step of a turn: what `dataset` gives goes to `value`, for the steps behind it and the next turn.
typedef struct hdst_loop_step {
    hdst_dataset *dataset;
    const char *table;              // an accumulator of it, "t" or "function.t", which one alone is called; NULL: its records
    hdst_value *value;              // that can take them (hdst_value_set_result)
} hdst_loop_step;

// Start from HDST_LOOP_OPTIONS_INIT; `size` lets the struct grow.
typedef struct hdst_loop_options {
    size_t size;
    uint64_t limit;                 // turns, at most
    const char *until;              // an accumulator of the body, one number, of the first step that has one of this name: the loop ends when a turn leaves
                                    //     `threshold` or less in it; NULL: at its limit
    double threshold;               // -INFINITY: the body alone says when, and a loop that makes all of its turns says nothing of that
    uint64_t every;                 // it is looked at every so many turns, and after the last one; 0, 1: after each
    uint64_t quiet;                 // not 0: a loop that ends at its limit without having settled gives no warning; hdst_loop_read_report tells
} hdst_loop_options;
#define HDST_LOOP_OPTIONS_INIT {sizeof(hdst_loop_options), 100, NULL, 0, 1, 0}

// The records that a loop leaves. It begins with those of `start`, which become the rows of `state`. A turn runs the datasets of the steps, in their order (of
// steps with one dataset, once), which read the state and other values as broadcasts, as lookups or through hdst_read_value, and gives values what they made;
// one step makes the state anew. Values stay on the device between turns, where their rows were computed there. When the loop has ended the records of the
// dataset are the rows of `state`; each run begins with `start` again, and leaves the values as the last turn did. A loop that ends at its limit without
// having settled says so in a warning, unless it is `quiet`, and in hdst_loop_read_report. HDST_E_USAGE, at the run at the latest: a step whose records are not
// those of its value, no step that makes the state, no limit, an accumulator that is not there or no number.
// Steps are copied; values are retained. A loop may be part of the body of another one, but not of its own.
HDST_API hdst_dataset *hdst_loop(hdst_dataset *start, hdst_value *state, const hdst_loop_step *steps, size_t count, const hdst_loop_options *options);

// A delta loop: state of which a turn changes few rows, and a work set of what is left to do. It begins with the records of `start`, which become the rows of
// `state`, then with those of `first`, which become the rows of `work`. A turn runs the steps as in hdst_loop, but a step whose value is `state` changes rows
// of it: its dataset gives records with the number of a row in front, an integer, and then the fields of the state as they are from now on. All other rows
// stay as they are, and cost nothing; of several changes of one row the last one counts. Another step makes `work` anew. So a turn costs what the work set and
// the changes cost, if its datasets read the state by lookups. (A state by keys: hdst_dictionary numbers them.) The loop ends when the work set is empty, which
// it may be at the start, or as hdst_loop does; one that ends at its limit with records in its work set says so. State, work set and the number of turns are
// all that there is: who keeps the rows of both values (hdst_read_value) can go on from them with another loop.
// HDST_E_RECORD: a change of a row that there is not, with the number of the change. HDST_E_USAGE, also: a state with texts, changes that do not have its
// fields, a state that an accumulator makes, no step that makes the work set.
HDST_API hdst_dataset *hdst_delta_loop(hdst_dataset *start, hdst_value *state, hdst_dataset *first, hdst_value *work, const hdst_loop_step *steps, size_t count,
                                       const hdst_loop_options *options);

typedef struct hdst_loop_turn {
    double seconds;                 // of wall-clock time
    uint64_t records;               // that went through the stages of the body
    double value;                   // of `until`; NaN where it was not looked at
    uint64_t work;                  // records in the work set when it began; 0 where there is none
    uint64_t changes;               // of rows of the state; 0 where all are made anew
} hdst_loop_turn;

// Start from HDST_LOOP_REPORT_INIT; `size` lets the struct grow.
typedef struct hdst_loop_report {
    size_t size;
    uint64_t turns;                 // that were made
    const hdst_loop_turn *turn;     // each; valid until the loop runs again
    bool converged;                 // `until` came to its threshold, or the work set was empty
} hdst_loop_report;
#define HDST_LOOP_REPORT_INIT {sizeof(hdst_loop_report), 0, NULL, false}

// What the last run of the loop did, or how far it came; no turns before the first one. HDST_E_USAGE: the dataset is none that hdst_loop gave.
HDST_API hdst_status hdst_loop_read_report(const hdst_dataset *loop, hdst_loop_report *report, hdst_error *error);

#ifdef __cplusplus
}
#endif
#endif
