// SPDX-License-Identifier: Apache-2.0
// How many keys there are (shuffle/aggregate/distinct_keys.h).
#include "shuffle/aggregate/distinct_keys.h"

#include <math.h>

// Linear counting: of m bits, b are set after d different hashes, where 1 - b/m is e^(-d/m) (Whang, Vander-Zanden, Taylor, "A linear-time probabilistic
// counting algorithm for database applications", 1990).
double hdst__distinct_keys_counted(const uint64_t *map, uint32_t bits)
{
    uint64_t set = 0;
    const double m = (double)(UINT64_C(1) << bits);
    for (uint64_t i = 0; i < (UINT64_C(1) << bits) / 64; i++) set += (uint64_t)__builtin_popcountll(map[i]);
    return -m * log1p(-(double)(set < (UINT64_C(1) << bits) ? set : set - 1) / m);
}

// n draws from D keys, all as likely, give D (1 - e^(-n/D)) different ones: D from what was seen. At most `most`.
double hdst__distinct_keys_expected(double seen, double n, double most)
{
    double low = seen, high = most;
    if (n >= most || seen >= most) return seen < most ? seen : most;
    for (int i = 0; i < 60; i++) {
        const double middle = sqrt(low * high);
        if (middle * -expm1(-n / middle) < seen) low = middle;
        else high = middle;
    }
    return high;
}

// Of keys that come again soon, as those of a line do, the draws above would have to be so few that they tell little. Where only a share r of them counts,
// there are D (1 - e^(-rn/D)) of n: what the second half brings for each of the first is e^(-rn/2D).
double hdst__distinct_keys_going_on(double half, double seen, double n, double most)
{
    const double new_ones = half > 0 ? seen / half - 1 : 0, all = n < most ? seen / n * most : seen;
    const double keys = new_ones < 1 ? half / (1 - new_ones) : all;
    return keys < seen ? seen : keys < all ? keys : all;
}
