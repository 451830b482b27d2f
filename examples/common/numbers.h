// SPDX-License-Identifier: Apache-2.0
// Sums of a run as doubles.
#ifndef EXAMPLES_NUMBERS_H
#define EXAMPLES_NUMBERS_H

#include "hdst/hdst.h"

// The first `count` numbers of a field of an accumulator, in its first row. Zeros when there is no such field.
void numbers_copy(hdst_result *result, const char *table, const char *field, double *to, uint32_t count);

bool numbers_finite(const double *numbers, uint32_t count);

#endif
