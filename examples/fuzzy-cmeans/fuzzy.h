// SPDX-License-Identifier: Apache-2.0
// Fuzzy c-means on hdst, without the command line (Bezdek, Ehrlich, Full, "FCM: the fuzzy c-means clustering algorithm", Computers & Geosciences 10, 1984).
#ifndef FUZZY_CMEANS_FUZZY_H
#define FUZZY_CMEANS_FUZZY_H

#include "program.h"

typedef struct fuzzy {
    uint32_t k, d;
    double m;                   // the fuzzifier, above 1
    uint64_t points;
    // The answer so far
    float *centers;             // k rows of d
    double objective;           // sum over points and clusters of u^m times the squared distance
    uint32_t iterations;        // steps that moved the centers
    // hdst's side
    hdst_module *module;
    hdst_dataset *data;
    hdst_value *center_value, *m_value, *power_value;
    hdst_result *step;
    bool explained;
} fuzzy;

// k, m: of the job. More clusters than points is HDST_E_USAGE. On failure what was made is freed by fuzzy_close.
hdst_status fuzzy_open(fuzzy *job, program_run *run, uint32_t k, double m, hdst_error *error);
void fuzzy_close(fuzzy *job);

// The first centers: of a file of k rows, or (path NULL) by k-means++ on a sample.
hdst_status fuzzy_start(fuzzy *job, program_run *run, const char *path, uint64_t seed, hdst_error *error);

// Steps until no center moves further than `tolerance` (Euclidean distance) or `most` were made, then a pass that measures the last centers.
hdst_status fuzzy_steps(fuzzy *job, program_run *run, uint32_t most, double tolerance, hdst_error *error);

// A result with the field "u", k float32 degrees for each point, in input order; the caller destroys it.
hdst_status fuzzy_degrees(fuzzy *job, program_run *run, hdst_result **degrees, hdst_error *error);

#endif
