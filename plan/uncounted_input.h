// SPDX-License-Identifier: Apache-2.0
// Reads of sources whose number of records nobody knows beforehand.
#ifndef HDST_PLAN_UNCOUNTED_INPUT_H
#define HDST_PLAN_UNCOUNTED_INPUT_H

#include "plan/plan.h"

// Sets node->uncounted of each read, and of each layout of one, once all nodes are built.
void hdst__plan_note_uncounted(const hdst__plan *plan);

#endif
