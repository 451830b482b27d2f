// SPDX-License-Identifier: Apache-2.0
// The time, for measuring how long something took (base/clock.h).
#include "base/clock.h"

#include <errno.h>
#include <time.h>

double hdst__now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

void hdst__sleep(double seconds)
{
    struct timespec left = {.tv_sec = (time_t)seconds, .tv_nsec = (long)((seconds - (double)(time_t)seconds) * 1e9)};
    while (nanosleep(&left, &left) != 0 && errno == EINTR) continue;
}
