// SPDX-License-Identifier: Apache-2.0
// What the turns of a program's loop did, for its JSON object.
#ifndef EXAMPLES_TURNS_H
#define EXAMPLES_TURNS_H

#include "json.h"

#include "hdst/hdst.h"

// The sum of what `until` was in the turns of a loop.
double turns_sum(const hdst_dataset *loop);
// How many turns there were.
uint64_t turns_count(const hdst_dataset *loop);
// "turns": an array with an object for each turn: its seconds, the records that went through its stages, those of its work set (where there is one), and
// `value`: what `until` was, under this name.
void turns_json(json *j, const hdst_dataset *loop, const char *value);

#endif
