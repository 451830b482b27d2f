// SPDX-License-Identifier: Apache-2.0
// A context on several devices, drawn by a seed: halves or more parts of a CPU and the interpreter, in any number and order, under any policy or one that
// cuts the input as it likes, one of them slow. However little there is to do, they share it.
#ifndef TESTS_HDST_RANDOM_TEAM_H
#define TESTS_HDST_RANDOM_TEAM_H

#include "hdst/hdst.h"

// `options` says the rest: device, cpu_parts and policy are set here. What was drawn stands in `words`, which has room for 100 letters.
hdst_context *random_team(uint64_t seed, hdst_context_options options, char *words);

// Whether there is a CPU to be halved here.
bool random_team_have(void);

#endif
