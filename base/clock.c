// SPDX-License-Identifier: Apache-2.0
// The time, for measuring how long something took (base/clock.h).
#include "base/clock.h"

#include <errno.h>
#include <time.h>

static double seconds_of(clockid_t clock)
{
    struct timespec time;
    clock_gettime(clock, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

double hdst__now(void) { return seconds_of(CLOCK_MONOTONIC); }
double hdst__thread_time(void) { return seconds_of(CLOCK_THREAD_CPUTIME_ID); }
double hdst__process_time(void) { return seconds_of(CLOCK_PROCESS_CPUTIME_ID); }

void hdst__sleep(double seconds)
{
    struct timespec left = {.tv_sec = (time_t)seconds, .tv_nsec = (long)((seconds - (double)(time_t)seconds) * 1e9)};
    while (nanosleep(&left, &left) != 0 && errno == EINTR) continue;
}
