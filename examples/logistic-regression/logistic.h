// SPDX-License-Identifier: Apache-2.0
// Logistic regression on hdst, without the command line.
#ifndef LOGISTIC_REGRESSION_LOGISTIC_H
#define LOGISTIC_REGRESSION_LOGISTIC_H

#include "program.h"

typedef struct logistic {
    uint32_t d;                     // predictors
    uint64_t rows;
    // The answer so far
    double *coefficients;           // d + 1, the intercept first
    double log_likelihood, accuracy;
    uint32_t iterations;            // Newton steps, halved ones too
    bool settled;                   // false: `most` steps were not enough
    // hdst's side
    hdst_module *module;
    hdst_dataset *data;
    hdst_value *scaling, *newton, *curvature, *ending;         // of the same records of the kernel file
    hdst_dataset *loop;
    double *mean_factor;            // 2 d
} logistic;

// The last column of run->source is the class, 0 or 1. On failure what was made is freed by logistic_close.
hdst_status logistic_open(logistic *job, program_run *run, hdst_error *error);
void logistic_close(logistic *job);

// Newton's method (iteratively reweighted least squares: McCullagh and Nelder, "Generalized Linear Models", 2.5) from zero, on predictors scaled to mean 0 and
// variance 1; a step that lowers the likelihood is halved. The turns of a loop, whose model stays on the device. Ends when no coefficient of a scaled predictor
// changes by more than `tolerance`, or after `most` steps. HDST_E_RECORD for rows that are not finite or of another class;
// HDST_E_USAGE for predictors that depend on one another.
hdst_status logistic_run(logistic *job, program_run *run, uint32_t most, double tolerance, hdst_error *error);

// A result with one double for each row, the probability of class 1; the caller destroys it.
hdst_status logistic_predict(logistic *job, program_run *run, hdst_result **predicted, hdst_error *error);

#endif
