// SPDX-License-Identifier: Apache-2.0
// What examples say: errors, messages of the library, and the statistics part of the JSON object.
#ifndef EXAMPLES_REPORT_H
#define EXAMPLES_REPORT_H

#include "hdst/hdst.h"
#include "json.h"

// "file:line:column: error: ..." or "PROGRAM: ...", cause and hint, on standard error. Returns the exit code.
int report_error(const char *program, const hdst_error *error);

// The log callback of a context; `user` is the program's name.
void report_log(hdst_log_level level, const char *message, void *user);

// Adds what a run did to the sum of the program's runs. Seconds, bytes, slices and counts of levels add up; of skipped records the most of a run counts.
void report_add(hdst_run_stats *sum, hdst_run_stats run);

// Seconds of a clock that only goes forward.
double report_clock(void);

// "workload", "records", "records_skipped", "fast_sums", "seconds", "devices", "bytes", "levels", inside an open object. total_seconds: of the whole program.
void report_json(json *j, const char *workload, uint64_t records, double total_seconds, const hdst_run_stats *sum);

#endif
