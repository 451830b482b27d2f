// SPDX-License-Identifier: Apache-2.0
// The breeder genetic algorithm (Muehlenbein and Schlierkamp-Voosen, "Predictive models for the breeder genetic algorithm I", Evolutionary Computation 1(1),
// 1993): truncation selection, extended intermediate recombination, and mutation by steps of all sizes, 2^-0 to 2^-16 of the spread. Its operations are exact
// or correctly rounded, so that a seed breeds the same on every machine.
#include "evolve.h"

#include "random.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    MUTATION_BITS = 16,
    STAYING = 4             // one child of so many has a center that jumps to a point: small steps do not leave a bad division
};

bool evolve_create(evolution *e, uint32_t members, uint32_t k, uint32_t d, uint64_t seed)
{
    *e = (evolution){.members = members, .k = k, .d = d, .random = seed};
    size_t row = (size_t)k * d;
    e->now = calloc(members, row * sizeof *e->now);
    e->next = calloc(members, row * sizeof *e->next);
    e->inertia = calloc(members, sizeof *e->inertia);
    e->order = calloc(members, sizeof *e->order);
    e->spread = calloc(d, sizeof *e->spread);
    e->taken = calloc(k, sizeof *e->taken);
    return e->now && e->next && e->inertia && e->order && e->spread && e->taken;
}

void evolve_free(evolution *e)
{
    free(e->now);
    free(e->next);
    free(e->inertia);
    free(e->order);
    free(e->spread);
    free(e->taken);
    *e = (evolution){0};
}

void evolve_start(evolution *e, const float *points, uint64_t count)
{
    e->points = points;
    e->count = count;
    for (uint64_t i = 0; i < (uint64_t)e->members * e->k; i++)
        memcpy(e->now + i * e->d, points + random_next(&e->random) % count * e->d, e->d * sizeof *points);
    for (uint32_t column = 0; column < e->d; column++) {
        double mean = 0, square = 0;
        for (uint64_t i = 0; i < count; i++) mean += points[i * e->d + column];
        mean /= (double)count;
        for (uint64_t i = 0; i < count; i++) square += (points[i * e->d + column] - mean) * (points[i * e->d + column] - mean);
        e->spread[column] = sqrt(square / (double)count);
    }
}

const float *evolve_rank(evolution *e)
{
    for (uint32_t i = 0; i < e->members; i++) {         // insertion: a bred population is small, and stable for equals
        uint32_t at = i;
        for (; at > 0 && e->inertia[i] < e->inertia[e->order[at - 1]]; at--) e->order[at] = e->order[at - 1];
        e->order[at] = i;
    }
    return e->now + (size_t)e->order[0] * e->k * e->d;
}

static double distance(const float *a, const float *b, uint32_t d)
{
    double sum = 0;
    for (uint32_t i = 0; i < d; i++) sum += ((double)a[i] - b[i]) * ((double)a[i] - b[i]);
    return sum;
}

// Centers have no order, so each of one parent mates with the nearest of the other that has not mated yet.
static const float *mate(evolution *e, const float *center, const float *other)
{
    uint32_t best = UINT32_MAX;
    double best_distance = 0;
    for (uint32_t j = 0; j < e->k; j++) {
        double far = e->taken[j] ? 0 : distance(center, other + (size_t)j * e->d, e->d);
        if (e->taken[j] || (best != UINT32_MAX && !(far < best_distance))) continue;
        best = j;
        best_distance = far;
    }
    e->taken[best] = true;
    return other + (size_t)best * e->d;
}

// A coordinate between the parents' or a quarter beyond; one of a child, on average, moves by a step of any size.
static float cross(evolution *e, double a, double b, uint32_t column)
{
    double x = a + (random_unit(&e->random) * 1.5 - 0.25) * (b - a);
    if (random_next(&e->random) % ((uint64_t)e->k * e->d) == 0) {
        uint64_t draw = random_next(&e->random);
        double step = ldexp(e->spread[column] * (0.5 + 0.5 * random_unit(&e->random)), -(int)((draw >> 1) % (MUTATION_BITS + 1)));
        x += draw & 1 ? step : -step;
    }
    return (float)x;
}

static void breed_child(evolution *e, const float *mother, const float *father, float *child)
{
    memset(e->taken, 0, e->k * sizeof *e->taken);
    // Every other center, on average, stays the mother's, so that what both parents found in different places meets in one child.
    for (uint32_t j = 0; j < e->k; j++) {
        const float *a = mother + (size_t)j * e->d, *b = random_next(&e->random) % 2 ? mate(e, a, father) : a;
        for (uint32_t i = 0; i < e->d; i++) child[(size_t)j * e->d + i] = cross(e, a[i], b[i], i);
    }
    if (random_next(&e->random) % STAYING != 0) return;
    const float *point = e->points + random_next(&e->random) % e->count * e->d;
    memcpy(child + random_next(&e->random) % e->k * e->d, point, e->d * sizeof *child);
}

void evolve_breed(evolution *e)
{
    size_t row = (size_t)e->k * e->d;
    uint32_t parents = e->members < 8 ? (e->members + 1) / 2 : e->members / 4;
    memcpy(e->next, e->now + e->order[0] * row, row * sizeof *e->next);
    for (uint32_t i = 1; i < e->members; i++) {
        uint32_t mother = e->order[random_next(&e->random) % parents], father = e->order[random_next(&e->random) % parents];
        breed_child(e, e->now + mother * row, e->now + father * row, e->next + i * row);
    }
    float *swap = e->now;
    e->now = e->next;
    e->next = swap;
}
