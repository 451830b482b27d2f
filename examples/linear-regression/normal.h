// SPDX-License-Identifier: Apache-2.0
// Symmetric positive definite systems of a few unknowns, as least squares has them.
#ifndef EXAMPLES_NORMAL_H
#define EXAMPLES_NORMAL_H

#include <stdbool.h>
#include <stdint.h>

// Cholesky's factor L of a matrix, in place: n rows of the lower triangle, one behind the other (row i has i + 1 numbers). L times its transpose is the matrix
// (Golub and Van Loan, "Matrix Computations", 4.2).
// false: a column depends on those before it as far as double can tell (its square is below 1e-13 of what it was); *column says which.
bool normal_factor(double *matrix, uint32_t n, uint32_t *column);

// Solves with the factor; `b` becomes the solution.
void normal_solve(const double *factor, uint32_t n, double *b);

#endif
