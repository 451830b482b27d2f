// SPDX-License-Identifier: Apache-2.0
// Conversions between scalar kinds, as the kernel language has them: C's rules; a float to an integer saturates, NaN
// gives 0; to bool is != 0. The one place where they are written down as host code. Patterns: integers sign- or
// zero-extended to 64 bits, bool 0 or 1, float in the low 32 bits, double as its bits.
#ifndef HDST_RECORD_SCALAR_CONVERT_H
#define HDST_RECORD_SCALAR_CONVERT_H

#include "record/type.h"

#include <stddef.h>

void hdst__scalar_convert_n(hdst__kind to, hdst__kind from, const uint64_t *a, uint64_t *out, size_t n);    // out may be a
uint64_t hdst__scalar_convert(hdst__kind to, hdst__kind from, uint64_t a);

#endif
