// SPDX-License-Identifier: Apache-2.0
// The breeding of cluster centers: a population of members, each K centers of D coordinates, and how the next one is made from their fitness.
#ifndef GENETIC_EVOLVE_H
#define GENETIC_EVOLVE_H

#include <stdbool.h>
#include <stdint.h>

typedef struct evolution {
    uint32_t members, k, d;
    float *now, *next;          // members rows of k * d floats, as struct member of genetic.hk
    double *inertia;            // of each member of `now`: the caller's to fill; less is better
    uint32_t *order;            // members, the best first
    double *spread;             // of each column: how far mutation goes at most
    bool *taken;                // k, of one mating
    const float *points;        // what evolve_start was given
    uint64_t count;
    uint64_t random;            // the state of the generator
} evolution;

// False: out of memory. evolve_free is due in any case.
bool evolve_create(evolution *e, uint32_t members, uint32_t k, uint32_t d, uint64_t seed);
void evolve_free(evolution *e);

// The first population: centers are points drawn from `count` rows of d floats. Their standard deviations are the
// spreads. The points must stay until the last evolve_breed.
void evolve_start(evolution *e, const float *points, uint64_t count);

// Sorts `order` by inertia; of equals the earlier member is the better. The best of all, in a row of k * d floats.
const float *evolve_rank(evolution *e);

// Makes the next population of the ranked one: the best member as it is, the others children of two of the best quarter.
void evolve_breed(evolution *e);

#endif
