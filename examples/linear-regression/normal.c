// SPDX-License-Identifier: Apache-2.0
// Symmetric positive definite systems of a few unknowns, as least squares has them (normal.h).
#include "normal.h"

#include <math.h>

bool normal_factor(double *matrix, uint32_t n, uint32_t *column)
{
    for (uint32_t i = 0; i < n; i++) {
        double *row = matrix + (uint64_t)i * (i + 1) / 2, whole = row[i];
        for (uint32_t j = 0; j <= i; j++) {
            const double *other = matrix + (uint64_t)j * (j + 1) / 2;
            double rest = row[j];
            for (uint32_t k = 0; k < j; k++) rest -= row[k] * other[k];
            if (j < i) row[j] = rest / other[j];
            else row[i] = sqrt(rest > 0 ? rest : 0);
        }
        *column = i;
        if (!(row[i] * row[i] > 1e-13 * whole)) return false;
    }
    return true;
}

void normal_solve(const double *factor, uint32_t n, double *b)
{
    for (uint32_t i = 0; i < n; i++) {
        const double *row = factor + (uint64_t)i * (i + 1) / 2;
        for (uint32_t k = 0; k < i; k++) b[i] -= row[k] * b[k];
        b[i] /= row[i];
    }
    for (uint32_t i = n; i-- > 0;) {
        for (uint32_t k = i + 1; k < n; k++) b[i] -= factor[(uint64_t)k * (k + 1) / 2 + i] * b[k];
        b[i] /= factor[(uint64_t)i * (i + 1) / 2 + i];
    }
}
