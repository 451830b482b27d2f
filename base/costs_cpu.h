// SPDX-License-Identifier: Apache-2.0
// What CPU devices cost: sizes at which the engine takes another way on them, each with its unit. All are chosen, not measured.
#ifndef HDST_BASE_COSTS_CPU_H
#define HDST_BASE_COSTS_CPU_H

enum {
    HDST__CPU_STRIPS_PER_UNIT = 8,              // strips per core: evens out what cores do beside
    HDST__CPU_BIG_STRIP_BYTES = 256 << 10,      // a strip's table that leaves the caches of a core: then a strip per core
    HDST__CPU_STRIP_OUTPUT_BYTES = 8 << 20,     // output of a slice where strips leave gaps, which the host closes: while it lies in a cache
    HDST__CPU_COUNTED_INPUT_BYTES = 8 << 20,    // input of a slice whose records are counted first: the second run finds most of it in a cache
    HDST__CPU_LEAST_FLUSH = 64,                 // records; a strip that flushed more often would do little else
    HDST__CPU_CALLBACK_RECORDS = 4096,          // records of a C function's thread: one for fewer costs more than it saves
};

#endif
