// SPDX-License-Identifier: Apache-2.0
// Values of options: from text to numbers, sizes and words. For options.c only.
#ifndef EXAMPLES_OPTION_VALUE_H
#define EXAMPLES_OPTION_VALUE_H

#include "options.h"

// Reads `value` into o->to. HDST_E_USAGE says what would be right.
hdst_status option_read_value(const option *o, const char *value, hdst_error *error);

// The name that was probably meant: the word is its beginning or has at most two typing errors. NULL when none is near.
const char *option_near_name(const char *word, const char *const *names, size_t count);

#endif
