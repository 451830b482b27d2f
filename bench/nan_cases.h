// SPDX-License-Identifier: Apache-2.0
// NaNs of all signs and payloads through every operation and operator that could show which one they are, beside a second statement of the rule in
// docs/kernel-language.md (Numeric rules): what functions give is one NaN, what only goes through keeps its bits.
#ifndef HDST_BENCH_NAN_CASES_H
#define HDST_BENCH_NAN_CASES_H

#include <hdst/hdst.h>

#include <stdbool.h>
#include <stdint.h>

// Told of each case: a number that stands for all its results, the same on every device; and what is wrong with them, or NULL.
typedef struct nan_look {
    void (*see)(void *user, const char *name, uint64_t digest, const char *wrong);
    void *user;
} nan_look;

// False, with words on stderr, when something does not run. Nothing was said about those that follow.
bool nan_cases_operations(hdst_context *context, const nan_look *look);     // of float and double
bool nan_cases_operators(hdst_context *context, const nan_look *look);      // maps, filters, sorts, keys ...
bool nan_cases_math(hdst_context *context, const nan_look *look);           // the mathematical functions

#endif
