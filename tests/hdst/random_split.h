// SPDX-License-Identifier: Apache-2.0
// A policy for tests that cuts as it likes: whatever it does, results have the same bits.
#ifndef TESTS_HDST_RANDOM_SPLIT_H
#define TESTS_HDST_RANDOM_SPLIT_H

#include "partition/policy.h"

extern const hdst__policy random_split;         // for hdst__limits.policy
extern uint64_t random_split_seed;              // of the next run's cuts
extern bool random_split_backwards;             // the end of the input is given out first

#endif
