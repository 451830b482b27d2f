// SPDX-License-Identifier: Apache-2.0
// Several devices, drawn by a seed (tests/hdst/random_team.h).
#include "tests/hdst/random_team.h"

#include "engine/engine_state.h"
#include "partition/policy.h"
#include "plan/object.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum { MOST_PARTS = 5, WORDS = 100 };

static uint64_t draw(uint64_t *state, uint64_t below)
{
    *state ^= *state << 13, *state ^= *state >> 7, *state ^= *state << 17;
    return (*state >> 11) % below;
}

// --- A policy that cuts as it likes ---

struct hdst__schedule {
    const hdst__allocator *allocator;
    pthread_mutex_t mutex;
    uint64_t begin, end, random, longest;
};

static bool suits(const hdst__job *job) { return job->workers > 1; }

static hdst__schedule *begin(const hdst__job *job, const hdst__allocator *allocator)
{
    static _Atomic uint64_t count;
    hdst__schedule *schedule = hdst__alloc_zero(allocator, sizeof *schedule);
    if (!schedule) return NULL;
    *schedule = (hdst__schedule){.allocator = allocator, .end = job->records, .random = ++count * UINT64_C(0x9e3779b97f4a7c15) + 1};
    schedule->longest = 1 + draw(&schedule->random, 1 + job->records / 64 / (1 + draw(&schedule->random, 40)));
    pthread_mutex_init(&schedule->mutex, NULL);
    return schedule;
}

// From the start or from the end of what is left, to whoever asks.
static bool next(hdst__schedule *schedule, uint32_t worker, hdst__share *share)
{
    (void)worker;
    pthread_mutex_lock(&schedule->mutex);
    const uint64_t left = schedule->end - schedule->begin, wanted = (1 + draw(&schedule->random, schedule->longest)) * 64;
    const uint64_t count = wanted < left ? wanted : left;
    const bool from_end = draw(&schedule->random, 2) && count < left;
    if (from_end) {
        const uint64_t at = (schedule->end - count) / 64 * 64;
        *share = (hdst__share){at, schedule->end - at};
        schedule->end = at;
    } else {
        *share = (hdst__share){schedule->begin, count};
        schedule->begin += count;
    }
    pthread_mutex_unlock(&schedule->mutex);
    return count > 0;
}

static uint64_t slice(hdst__schedule *schedule, uint32_t worker, const hdst__slice_limits *limits)
{
    (void)worker;
    const uint64_t most = limits->most < limits->left ? limits->most : limits->left;
    pthread_mutex_lock(&schedule->mutex);
    const uint64_t units = 1 + draw(&schedule->random, 1 + most / limits->unit);
    pthread_mutex_unlock(&schedule->mutex);
    return units * limits->unit < most ? units * limits->unit : most;
}

static void done(hdst__schedule *schedule, uint32_t worker, const hdst__slice_cost *cost) { (void)schedule, (void)worker, (void)cost; }

static const char *left_out(hdst__schedule *schedule, uint32_t worker) { return (void)schedule, (void)worker, NULL; }

static double seconds(hdst__schedule *schedule) { return (void)schedule, 0; }

static void end(hdst__schedule *schedule)
{
    pthread_mutex_destroy(&schedule->mutex);
    hdst__free(schedule->allocator, schedule);
}

static const hdst__policy at_random = {
    .name = "at random", .suits = suits, .begin = begin, .next = next, .slice = slice, .done = done, .left_out = left_out, .seconds = seconds, .end = end,
};

// --- Devices ---

static uint32_t devices_of(uint32_t parts)
{
    hdst_context_options options = HDST_CONTEXT_OPTIONS_INIT;
    options.cpu_parts = parts;
    hdst_context *context = hdst_context_create(&options);
    uint32_t count = 0;
    if (hdst_device_count(context, &count, NULL) != HDST_OK) count = 0;
    hdst_context_destroy(context);
    return count;
}

bool random_team_have(void) { return devices_of(2) >= 3; }

// Two at least, in any order.
static void name_devices(uint64_t *state, uint32_t count, char *names)
{
    uint32_t order[16];
    const uint32_t wanted = 2 + (uint32_t)draw(state, count - 1);
    for (uint32_t i = 0; i < count; i++) order[i] = i;
    for (uint32_t i = 0; i < wanted; i++) {
        const uint32_t other = i + (uint32_t)draw(state, count - i), moved = order[i];
        order[i] = order[other];
        order[other] = moved;
        names += sprintf(names, "%s%u", i ? "," : "", order[i]);
    }
}

hdst_context *random_team(uint64_t seed, hdst_context_options options, char *words)
{
    static const char *const policies[] = {"auto", "static", "dynamic"};
    uint64_t state = (seed + 1) * UINT64_C(0xd1342543de82ef95);
    char names[48];
    for (int i = 0; i < 8; i++) draw(&state, 2);
    uint32_t parts = draw(&state, 3) ? 2 : 2 + (uint32_t)draw(&state, MOST_PARTS - 1), count = devices_of(parts);
    if (count < parts + 1) count = devices_of(parts = 2);
    name_devices(&state, count < 16 ? count : 16, names);
    const uint64_t policy = draw(&state, 5), slow = draw(&state, 2) ? draw(&state, count) : count, times = 2 + draw(&state, 30);
    options.device = names;
    options.cpu_parts = parts;
    options.policy = policy < 3 ? (hdst_policy)policy : HDST_POLICY_AUTO;
    hdst_context *context = hdst_context_create(&options);
    snprintf(words, WORDS, "on %s of %u, %s", names, (unsigned)count, policy < 3 ? policies[policy] : "cut at random");
    if (slow < count) snprintf(words + strlen(words), WORDS - strlen(words), ", %u is slow (%u)", (unsigned)slow, (unsigned)times);
    if (!context->engine) return context;
    hdst__limits *limits = hdst__engine_limits(context->engine);
    limits->share_bytes = 0;
    if (policy >= 3) limits->policy = &at_random;
    if (slow < count) limits->slow_device = (uint32_t)slow, limits->slow_times = (double)times;
    return context;
}
