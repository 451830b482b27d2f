// SPDX-License-Identifier: Apache-2.0
// Values of options: from text to numbers, sizes and words. For options.c only.
#ifndef EXAMPLES_OPTION_VALUE_H
#define EXAMPLES_OPTION_VALUE_H

#include "options.h"

// Reads `value` into o->to. HDST_E_USAGE says what would be right.
hdst_status option_read_value(const option *o, const char *value, hdst_error *error);

#endif
