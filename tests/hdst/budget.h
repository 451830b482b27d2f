// SPDX-License-Identifier: Apache-2.0
// What the tests of memory budgets share: a job runs with a budget, and what the library takes is counted at the
// allocator hook. Its peak must not pass 1.1 times the budget and 2 MiB, all of it must come back, and the answer
// must be right. A job that has to have something in memory may also end with the error for memory; then the budget
// that the error names must do, and half of it not, unless that is little.
//
// A second witness sees memory that comes by another way than the hook: what the system says that the process has of
// its own (not of files), sampled while a job runs, above what it had before. The job runs three times, and the last run
// counts: drivers compile, start threads and grow their heaps in those before, some hundred MB that are not the
// library's. What may come beside the budget is slack() (fragments of the C library's heap, of each thread too,
// stacks, what the driver keeps for its queues) and what the job takes itself to check the answer
// (budget_own_memory).
#ifndef TESTS_HDST_BUDGET_H
#define TESTS_HDST_BUDGET_H

#include "hdst/hdst.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct budget_cell {
    hdst_status status;
    uint64_t budget, peak, left;
    uint64_t rss;                   // how much the process grew meanwhile, as the system counts; 0: not asked for
    hdst_error error;
    char wrong[300];                // "": the answer was right
} budget_cell;

enum { BUDGET_IN_MEMORY = 1 << 30 };

typedef struct budget_job {
    const char *name;
    uint64_t bytes;                 // of its input
    unsigned least;                 // it may end with the error for memory below so many MiB only
    unsigned within;                // then this part of the budget that the error names does not do; 0: half
    void (*run)(const struct budget_job *job, hdst_context *context, budget_cell *cell);        // fills status, error and wrong
    const void *what;
} budget_job;

// "interp", "cpu", or "gpu-form": the CPU device with kernels as a GPU gets them, and memory that is not shared with the host; or "team:SEED": several
// (random_team.h).
bool budget_have(const char *device);
// Runs the job and prints what came of it. False: something is wrong. `rss`: with the second witness.
bool budget_check(const budget_job *job, const char *device, uint64_t budget, bool rss);
// Zeroes, of a job, for its check: the second witness takes them off.
void *budget_own_memory(size_t bytes);

#endif
