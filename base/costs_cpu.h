// SPDX-License-Identifier: Apache-2.0
// What CPU devices cost: sizes at which the engine takes another way on them, each with its unit. They are chosen, not measured, where nothing is said.
#ifndef HDST_BASE_COSTS_CPU_H
#define HDST_BASE_COSTS_CPU_H

enum {
    HDST__CPU_STRIPS_PER_UNIT = 8,              // strips per core: evens out what cores do beside. KMeans takes 1.07 to 1.2 of a C program with 16 threads of a
                                                // Xeon with 64 strips, 6 with 2
    HDST__CPU_BIG_STRIP_BYTES = 256 << 10,      // a strip's table that leaves the caches of a core: then a strip per core
    HDST__CPU_STRIP_OUTPUT_BYTES = 8 << 20,     // output of a slice where strips leave gaps, which the host closes: while it lies in a cache
    HDST__CPU_COUNTED_INPUT_BYTES = 8 << 20,    // input of a slice whose records are counted first: the second run finds most of it in a cache
    HDST__CPU_LEAST_FLUSH = 64,                 // records; a strip that flushed more often would do little else
    HDST__CPU_SORT_STRIPS_PER_UNIT = 4,         // strips per core that sort
    HDST__CPU_SORT_LEAST_STRIP = 1 << 14,       // records of such a strip
    HDST__CPU_BINARY_STARTS = 16,               // processes of a program until its binary is asked for where the driver keeps machine code itself (PoCL):
                                                // that takes 0.3 s and saves 0.02 s, its look at the source, in each process
    HDST__CPU_CALLBACK_RECORDS = 4096,          // records of a C function's thread: one for fewer costs more than it saves
};

#endif
