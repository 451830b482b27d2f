// SPDX-License-Identifier: Apache-2.0
// Ends a test whose threads all wait for each other, which they would do for ever, as no test has a time limit: where the whole program has had next to no
// processor time for a while, nobody is at work any more. A busy machine gives it some.
#ifndef TESTS_SUPPORT_STILLNESS_H
#define TESTS_SUPPORT_STILLNESS_H

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { STILL_SECONDS = 10 };

static inline double processor_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static inline void *watch_for_stillness(void *unused)
{
    double seen = 0;
    (void)unused;
    for (int still = 0; still < STILL_SECONDS; still++) {
        nanosleep(&(struct timespec){1, 0}, NULL);
        const double now = processor_seconds();
        if (now - seen > 1e-2) still = -1;
        seen = now;
    }
    fprintf(stderr, "Assertion: nothing has happened for %d seconds: all threads wait\n", STILL_SECONDS);
    abort();
}

// From now on, until the test ends.
static inline void fail_when_all_wait(void)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, watch_for_stillness, NULL) == 0) pthread_detach(thread);
}

#endif
