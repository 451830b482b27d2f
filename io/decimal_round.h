// SPDX-License-Identifier: Apache-2.0
// digits * 10^exponent, rounded once to the nearest double or float, to even where two are as near.
//
// D. Lemire, "Number parsing at a gigabyte per second", Software: Practice and Experience 51 (2021), after M. Eisel: the digits times the upper 128 bits of a
// power of five have all bits that decide, N. Mushtak and D. Lemire, "Fast number parsing without fallback", Software: Practice and Experience 53 (2023).
#ifndef HDST_IO_DECIMAL_ROUND_H
#define HDST_IO_DECIMAL_ROUND_H

#include <stdint.h>

enum { HDST__LEAST_POWER = -342, HDST__MOST_POWER = 308 };
extern const uint64_t hdst__powers_of_five[HDST__MOST_POWER - HDST__LEAST_POWER + 1][2];    // the upper 128 bits of 5^i, in two words

// Not negative. What is too large becomes infinite; too small: the nearest denormal, or 0.
double hdst__decimal_round_double(uint64_t digits, int64_t exponent);
float hdst__decimal_round_float(uint64_t digits, int64_t exponent);

#endif
