// SPDX-License-Identifier: Apache-2.0
// How far the scan in progress is, told to the program now and then.
//
// Threads: workers add from threads of their own; only the thread that began the scan tells, ten times a second at most.
#ifndef HDST_BASE_PROGRESS_H
#define HDST_BASE_PROGRESS_H

#include <pthread.h>
#include <stdint.h>

enum { HDST__PROGRESS_WORKERS = 16 };

typedef struct hdst__progress_worker {
    const void *worker;         // whoever it is to the one who is told
    uint64_t records;
} hdst__progress_worker;

typedef struct hdst__progress_turn {    // of a loop; zeroed: no loop runs
    uint64_t number, of;        // from 1, of how many at most
    const char *until;          // the accumulator that may end the loop; NULL: none
    double value;               // of it after an earlier turn; NaN: it was not looked at so far
    double seconds;             // of a turn so far, on average; 0: this is the first one
} hdst__progress_turn;

typedef struct hdst__progress_state {
    const char *function;       // of the scan; NULL: none is in progress
    uint64_t records, of;       // done so far, of how many; of: 0, not known, or not less than are done
    double seconds;             // since the scan began
    hdst__progress_turn turn;   // in which the scan is
    uint32_t count;
    hdst__progress_worker worker[HDST__PROGRESS_WORKERS];
} hdst__progress_state;

typedef struct hdst__progress {
    void (*tell)(const hdst__progress_state *state, void *user);
    void *user;
    pthread_mutex_t lock;       // of all below
    pthread_t caller;           // who began the scan
    double began, told;         // the scan; when it was told last
    hdst__progress_state state;
    hdst__progress_turn turn;
} hdst__progress;

void hdst__progress_init(hdst__progress *progress, void (*tell)(const hdst__progress_state *state, void *user), void *user);
void hdst__progress_destroy(hdst__progress *progress);

// NULL, in all of these: nobody wants to know, which costs a test. A scan begins, or begins anew; these records of it are done; a moment to tell of it, on any
// thread; it has ended, and there is nothing to tell until the next one.
void hdst__progress_begin(hdst__progress *progress, const char *function, uint64_t of);
void hdst__progress_add(hdst__progress *progress, const void *worker, uint64_t records);
void hdst__progress_look(hdst__progress *progress);
void hdst__progress_end(hdst__progress *progress);
// The scans that begin from now on are in this turn. Returns the one before, for whoever ends a loop within another one to set again.
hdst__progress_turn hdst__progress_set_turn(hdst__progress *progress, hdst__progress_turn turn);

#endif
