// SPDX-License-Identifier: Apache-2.0
// Random functions full of checks: indices that are in range, or nearly, behind branches, loops and early exits; and records for them that sometimes fail.
#ifndef HDST_TESTS_RANDOM_CHECKS_H
#define HDST_TESTS_RANDOM_CHECKS_H

#include "base/arena.h"

#include <stdint.h>

// What the functions stand on; the table `row` has to be in front of the text.
#define RANDOM_CHECKS_DECLARATIONS                                                                         \
    "struct in { int32_t a; uint32_t b; uint8_t c; int8_t d; uint64_t e; float x; };\n"                    \
    "struct out { int64_t r; };\n"                                                                         \
    "struct row { int32_t v[3]; };\n"                                                                      \
    "const int32_t FEW[6] = { 2, 0, 1, 3, 5, 4 };\n"

typedef struct random_record { int32_t a; uint32_t b; uint8_t c; int8_t d; uint64_t e; float x; } random_record;

// `map f(in p, broadcast row t[], broadcast row w[]) -> out`. Seeds rand(). Now and then one that the checker
// refuses: an index that is constant and out of range.
const char *random_checks(hdst__arena *arena, unsigned seed);
random_record random_checks_record(void);

#endif
