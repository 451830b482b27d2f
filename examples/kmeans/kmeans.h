// SPDX-License-Identifier: Apache-2.0
// KMeans (Lloyd's algorithm) on hdst, without the command line.
#ifndef KMEANS_KMEANS_H
#define KMEANS_KMEANS_H

#include "hdst/hdst.h"

typedef struct kmeans {
    uint32_t k, d;
    uint64_t points;
    // The answer so far
    float *centers;             // k rows of d
    uint64_t *sizes;            // points of each center
    double inertia;             // sum of squared distances to the nearest center
    uint32_t iterations;        // steps that moved the centers
    hdst_run_stats stats;       // of all runs together
    // hdst's side
    hdst_context *context;
    hdst_module *module;
    hdst_dataset *data, *assigned;
    hdst_value *value, *totals, *inertias;     // the centers; of each the sum of its points and how many; one number
    hdst_dataset *loop;         // of the last kmeans_run
} kmeans;

// `folder` is where kmeans.hk lies. k must be 1 or more; more clusters than points is HDST_E_USAGE. On failure what was made is freed by kmeans_close.
hdst_status kmeans_open(kmeans *job, hdst_context *context, hdst_source *source, const char *folder, hdst_layout layout, uint32_t k, hdst_error *error);
void kmeans_close(kmeans *job);

// HDST_E_RECORD with the first record for points that have no nearest center: NaN, infinite, or 1e18 and more. One pass.
hdst_status kmeans_check_points(kmeans *job, hdst_error *error);

typedef enum kmeans_init { KMEANS_PLUS_PLUS, KMEANS_RANDOM, KMEANS_FIRST, KMEANS_FILE } kmeans_init;
// k-means++ works on a sample: at most 100,000 points and 2,000,000 numbers, but 20 points for each center if that is more, and never fewer than k.
// `path` is for KMEANS_FILE: a .npy or .csv of k rows. Ends with HDST_E_CANCELLED when *stop is set (stop may be NULL).
hdst_status kmeans_start(kmeans *job, kmeans_init method, const char *path, uint64_t seed, const volatile int *stop, hdst_error *error);

// Steps until no center moves further than `tolerance` (Euclidean distance) or `most` steps were made: the turns of a loop, whose centers stay on the device.
// Then one pass that measures sizes and inertia of the final centers, unless they are those of the last turn. An empty cluster keeps its center. `explain`
// (may be NULL) is shown the result before it runs.
typedef hdst_status (*kmeans_explain)(hdst_result *result, hdst_error *error);
hdst_status kmeans_run(kmeans *job, uint32_t most, double tolerance, kmeans_explain explain, hdst_error *error);

// A result with one int32 "cluster" for each point, in input order; the caller destroys it.
hdst_status kmeans_labels(kmeans *job, hdst_result **labels, hdst_error *error);

#endif
