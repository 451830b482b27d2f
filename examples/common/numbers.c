// SPDX-License-Identifier: Apache-2.0
// Sums of a run as doubles (numbers.h).
#include "numbers.h"

#include <math.h>

void numbers_copy(hdst_result *result, const char *table, const char *field, double *to, uint32_t count)
{
    hdst_view view = hdst_result_field(result, table, field);
    for (uint32_t i = 0; i < count; i++) to[i] = hdst_view_double(view, 0, i);
}

bool numbers_finite(const double *numbers, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (!isfinite(numbers[i])) return false;
    return true;
}
