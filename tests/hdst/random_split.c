// SPDX-License-Identifier: Apache-2.0
// A policy for tests that cuts as it likes (tests/hdst/random_split.h).
#include "tests/hdst/random_split.h"

#include <criterion/criterion.h>
#include <pthread.h>

struct hdst__schedule {
    const hdst__allocator *allocator;
    pthread_mutex_t mutex;
    uint64_t records, reached, random;
};

uint64_t random_split_seed;
bool random_split_backwards;

static bool suits(const hdst__job *job) { return job->workers > 1; }

static hdst__schedule *begin(const hdst__job *job, const hdst__allocator *allocator)
{
    hdst__schedule *schedule = hdst__alloc_zero(allocator, sizeof *schedule);
    cr_assert_not_null(schedule);
    schedule->allocator = allocator;
    schedule->records = job->records;
    schedule->random = random_split_seed * 2654435761u + 1;
    pthread_mutex_init(&schedule->mutex, NULL);
    return schedule;
}

// Shares of 64 to 12 * 64 records, to a worker that is drawn, so that who asks too early has to ask again, or goes with nothing.
static bool next(hdst__schedule *schedule, uint32_t worker, hdst__share *share)
{
    (void)worker;
    pthread_mutex_lock(&schedule->mutex);
    schedule->random ^= schedule->random << 13, schedule->random ^= schedule->random >> 7, schedule->random ^= schedule->random << 17;
    const uint64_t left = schedule->records - schedule->reached, wanted = (schedule->random % 12 + 1) * 64;
    const uint64_t tail = left > wanted ? (left - wanted + 63) / 64 * 64 : 0;
    *share = random_split_backwards ? (hdst__share){tail, left - tail} : (hdst__share){schedule->reached, wanted < left ? wanted : left};
    if (random_split_backwards) schedule->records = tail;
    else schedule->reached += share->count;
    pthread_mutex_unlock(&schedule->mutex);
    return share->count > 0;
}

static uint64_t slice(hdst__schedule *schedule, uint32_t worker, const hdst__slice_limits *limits)
{
    (void)schedule, (void)worker;
    return limits->most < limits->left ? limits->most : limits->left;
}

static void done(hdst__schedule *schedule, uint32_t worker, const hdst__slice_cost *cost) { (void)schedule, (void)worker, (void)cost; }

static void end(hdst__schedule *schedule)
{
    pthread_mutex_destroy(&schedule->mutex);
    hdst__free(schedule->allocator, schedule);
}

// For explain alone.
static const char *left_out(hdst__schedule *schedule, uint32_t worker)
{
    (void)schedule;
    return worker == 2 ? "the test says so" : NULL;
}

static double seconds(hdst__schedule *schedule)
{
    (void)schedule;
    return 2.5;
}

const hdst__policy random_split = {
    .name = "at random", .suits = suits, .begin = begin, .next = next, .slice = slice, .done = done, .left_out = left_out, .seconds = seconds, .end = end,
};
