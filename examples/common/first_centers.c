// SPDX-License-Identifier: Apache-2.0
// The first centers of clusters, drawn from points (first_centers.h).
#include "first_centers.h"

#include "random.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void init_sample(uint64_t n, uint64_t count, uint64_t seed, uint64_t *records)
{
    // Selection sampling (Knuth, TAOCP 2, 3.4.2, algorithm S), one draw per record; for a small share of many records, one draw per stretch instead.
    uint64_t state = seed;
    if (n / (count ? count : 1) >= 64) {
        for (uint64_t i = 0; i < count; i++) {
            uint64_t from = n / count * i, width = n / count;
            records[i] = from + random_next(&state) % width;
        }
        return;
    }
    for (uint64_t i = 0, taken = 0; taken < count; i++)
        if (random_unit(&state) * (double)(n - i) < (double)(count - taken)) records[taken++] = i;
}

static double squared_distance(const float *a, const float *b, uint32_t d)
{
    double sum = 0;
    for (uint32_t i = 0; i < d; i++) sum += ((double)a[i] - b[i]) * ((double)a[i] - b[i]);
    return sum;
}

// A point drawn with probability in proportion to its weight; total is the weights' sum.
static uint64_t draw(const double *weight, uint64_t n, double total, uint64_t *state)
{
    double left = random_unit(state) * total;
    for (uint64_t i = 0; i < n; i++) {
        left -= weight[i];
        if (left < 0) return i;
    }
    return n - 1;       // rounding: all weight was used up
}

typedef struct candidate {
    uint64_t point;
    double cost;
} candidate;

// The cost if `point` became a center; nearest distances then go to `lowered`.
static double try_center(const float *points, uint64_t n, uint32_t d, uint64_t point, const double *nearest, double *lowered)
{
    double cost = 0;
    for (uint64_t i = 0; i < n; i++) {
        double distance = squared_distance(points + i * d, points + point * d, d);
        lowered[i] = distance < nearest[i] ? distance : nearest[i];
        cost += lowered[i];
    }
    return cost;
}

static candidate best_of(const float *points, uint64_t n, uint32_t d, int trials, double cost, double **nearest,
                         double **best, double **scratch, uint64_t *state)
{
    candidate chosen = {0, INFINITY};
    for (int t = 0; t < trials; t++) {
        uint64_t point = cost > 0 ? draw(*nearest, n, cost, state) : random_next(state) % n;      // all points are centers already
        double lowered = try_center(points, n, d, point, *nearest, *scratch);
        if (lowered >= chosen.cost) continue;
        chosen = (candidate){point, lowered};
        double *swap = *best;
        *best = *scratch;
        *scratch = swap;
    }
    double *swap = *nearest;
    *nearest = *best;
    *best = swap;
    return chosen;
}

// The arrays that lower in turn: distances to the nearest center so far, of the best candidate, of the one that is tried.
typedef struct work {
    double *nearest, *best, *scratch;
} work;

static int choose_centers(const float *points, uint64_t n, uint32_t d, uint32_t k, uint64_t *state, const volatile int *stop, work *w, float *centers)
{
    int trials = k > 1000 ? 1 : 2 + (int)log((double)k);
    candidate chosen = {random_next(state) % n, 0};
    for (uint64_t i = 0; i < n; i++) w->nearest[i] = INFINITY;
    chosen.cost = try_center(points, n, d, chosen.point, w->nearest, w->best);
    memcpy(w->nearest, w->best, n * sizeof *w->nearest);
    memcpy(centers, points + chosen.point * d, d * sizeof *centers);
    for (uint32_t j = 1; j < k; j++) {
        if (stop && *stop) return INIT_STOPPED;
        chosen = best_of(points, n, d, trials, chosen.cost, &w->nearest, &w->best, &w->scratch, state);
        memcpy(centers + (uint64_t)j * d, points + chosen.point * d, d * sizeof *centers);
    }
    return INIT_OK;
}

int init_plus_plus(const float *points, uint64_t n, uint32_t d, uint32_t k, uint64_t seed, const volatile int *stop, float *centers)
{
    uint64_t state = seed;
    work w = {malloc(n * sizeof(double)), malloc(n * sizeof(double)), malloc(n * sizeof(double))};
    int code = w.nearest && w.best && w.scratch ? choose_centers(points, n, d, k, &state, stop, &w, centers) : INIT_NO_MEMORY;
    free(w.nearest);
    free(w.best);
    free(w.scratch);
    return code;
}
