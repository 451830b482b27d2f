// SPDX-License-Identifier: Apache-2.0
// Whether a device of another class than the first's joins it where the program asked for all, as a CPU may a GPU: by what was measured. It does once the first
// has taken long enough alone that opening another is worth it, and only where records are read in place (hdst_memory_register): otherwise the CPU has to copy
// what the GPU reads, and lost more by that than it computed (docs/performance.md). It leaves for good where a record takes as long with it as without.
#ifndef HDST_ENGINE_STAGE_STAGE_JOIN_H
#define HDST_ENGINE_STAGE_STAGE_JOIN_H

#include <stdbool.h>
#include <stdint.h>

typedef struct hdst__stage_join {   // seconds, but for what compiling took
    double alone_seconds;           // of all runs by the first device alone, but for the first one
    double alone_each, together_each;   // of a record: in the quickest run, in the quickest of the last few together
    uint32_t alone, together;       // runs
    char why_not[160];              // not empty: it was tried and did not pay
} hdst__stage_join;

struct hdst__stage;

// With the engine's mutex held, the first device open.
bool hdst__stage_joins(const struct hdst__stage *stage, uint32_t number);
void hdst__stage_join_note(struct hdst__stage *stage);      // after a run that went well

#endif
