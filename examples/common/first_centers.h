// SPDX-License-Identifier: Apache-2.0
// The first centers of clusters, drawn from points.
#ifndef EXAMPLES_FIRST_CENTERS_H
#define EXAMPLES_FIRST_CENTERS_H

#include <stdint.h>

// k-means++ over n points of d floats each (Arthur and Vassilvitskii, "k-means++: the advantages of careful seeding", SODA 2007), in its greedy form:
// of several candidates drawn by squared distance the one that lowers the sum most is taken (of one, where k is beyond 1000: the work is n * k for each).
// Writes k centers. Ends early when *stop is set (stop may be NULL).
enum { INIT_OK, INIT_NO_MEMORY, INIT_STOPPED };
int init_plus_plus(const float *points, uint64_t n, uint32_t d, uint32_t k, uint64_t seed, const volatile int *stop, float *centers);

// `count` different record numbers below n, in increasing order; the same for the same seed everywhere. count <= n.
void init_sample(uint64_t n, uint64_t count, uint64_t seed, uint64_t *records);

#endif
