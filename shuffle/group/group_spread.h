// SPDX-License-Identifier: Apache-2.0
// Rows to the next free places of where they belong.
#ifndef HDST_SHUFFLE_GROUP_GROUP_SPREAD_H
#define HDST_SHUFFLE_GROUP_GROUP_SPREAD_H

#include <stdint.h>

enum { HDST__GROUP_NOWHERE = UINT32_MAX };

// Row i of `count`, each of `size` bytes, goes to row next[which[i]] of `to`, which is one further then; with HDST__GROUP_NOWHERE it goes nowhere.
void hdst__group_spread(char *to, const char *from, uint64_t count, uint64_t size, const uint32_t *which, uint64_t *next);

#endif
