// SPDX-License-Identifier: Apache-2.0
// Linear least squares on hdst, without the command line.
#ifndef LINEAR_REGRESSION_REGRESSION_H
#define LINEAR_REGRESSION_REGRESSION_H

#include "program.h"

typedef struct regression {
    uint32_t d, degree, terms;      // predictors, highest power of each, d * degree
    bool intercept;
    uint64_t rows;
    // The answer so far
    double *model;                  // terms + 1 coefficients, the intercept first, then what each lacks beyond double
    double r2;                      // 1 - (sum of squared remainders) / (sum of squares of the target about its mean; without an intercept about 0)
    // hdst's side
    hdst_module *module;
    hdst_dataset *data;
    hdst_value *model_value;
    double *mean, *factor, *step;
    double yy;
    bool explained;
} regression;

// The last column of run->source is the target. HDST_E_USAGE for fewer rows than coefficients. On failure what was made is freed by regression_close.
hdst_status regression_open(regression *job, program_run *run, uint32_t degree, bool intercept, hdst_error *error);
void regression_close(regression *job);

// Normal equations of centred terms by Cholesky's method, then iterative refinement: the remainders of all rows in twice the digits of double, their exact sums
// with the terms, and a correction from the same factor (Golub and Wilkinson, "Note on the iterative refinement of least squares solution", Numerische
// Mathematik 9, 1966), until nothing changes in double. HDST_E_RECORD for rows that are not finite; HDST_E_USAGE for terms that depend on one another.
hdst_status regression_run(regression *job, program_run *run, hdst_error *error);

// A result with one double for each row, the model's value; the caller destroys it.
hdst_status regression_fit(regression *job, program_run *run, hdst_result **fit, hdst_error *error);

#endif
