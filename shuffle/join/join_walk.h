// SPDX-License-Identifier: Apache-2.0
// Two ordered sides side by side: runs of records with one key on either, of which each makes some results, in the order of the join.
#ifndef HDST_SHUFFLE_JOIN_JOIN_WALK_H
#define HDST_SHUFFLE_JOIN_JOIN_WALK_H

#include "shuffle/join/join_side.h"

typedef struct hdst__join_walk {
    const hdst__join_side *left, *right;
    bool pairs;                     // each record of the left with each of the right; else each of the left once (semi)
    bool partners;                  // keys that both sides have give results
    bool left_alone, right_alone;   // keys of one side do
    uint64_t end_left, end_right;   // behind the last records that are walked through
} hdst__join_walk;

// Where it stands: the first records that it has not seen, the number of the next result.
typedef struct hdst__join_place {
    uint64_t left, right, result;
} hdst__join_place;

typedef struct hdst__join_match {
    uint64_t left, lefts, right, rights;    // the first record of each side, how many; none on one side: lefts or rights is 0
    uint64_t first, results;
} hdst__join_match;

// The next run that gives results. false: there is none, or there are more than 2^64 results (`overflow`).
bool hdst__join_next(const hdst__join_walk *walk, hdst__join_place *at, hdst__join_match *run, bool *overflow);

#endif
