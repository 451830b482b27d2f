// SPDX-License-Identifier: Apache-2.0
// A job of several workers under way: memory that is short at any moment, resident shares at the ends, what is worth a slice.
#include "base/costs_host.h"
#include "partition/policy.h"

#include <criterion/criterion.h>
#include <stdlib.h>

typedef struct counted {
    int left;               // allocations that succeed
    int blocks;
} counted;

static void *take(size_t bytes, void *user)
{
    counted *c = user;
    if (c->left-- <= 0) return NULL;
    c->blocks++;
    return malloc(bytes ? bytes : 1);
}

static void *again(void *pointer, size_t bytes, void *user)
{
    counted *c = user;
    if (!pointer) return take(bytes, user);
    return c->left-- <= 0 ? NULL : realloc(pointer, bytes);
}

static void release(void *pointer, void *user)
{
    counted *c = user;
    c->blocks -= pointer != NULL;
    free(pointer);
}

static const hdst__policy *const policies[] = {&hdst__policy_static, &hdst__policy_dynamic, &hdst__policy_auto};
static const hdst__wish wishes[] = {HDST__POLICY_STATIC, HDST__POLICY_DYNAMIC, HDST__POLICY_AUTO};

// All that can be had is done; what cannot be given back for want of memory stays with whoever has it.
static bool run_all(const hdst__policy *policy, hdst__schedule *schedule, uint64_t records)
{
    uint64_t done = 0;
    hdst__share share;
    cr_assert(policy->next(schedule, 1, &share));
    bool all = policy->give_back(schedule, 1, &share, true);
    if (!all) done += share.count;
    for (uint32_t worker = 0, idle = 0; idle < 3; worker = (worker + 1) % 3) {
        if (!policy->next(schedule, worker, &share)) {
            idle++;
            continue;
        }
        idle = 0;
        done += share.count;
        policy->done(schedule, worker, &(hdst__slice_cost){.records = share.count, .kernel = 1e-8 * (double)share.count});
    }
    cr_assert_eq(done, records, "%s: %llu", policy->name, (unsigned long long)done);
    return all;
}

Test(deal, memory_may_be_short_at_any_moment)
{
    const hdst__share resident[2] = {{0, 1000}, {5000, 3000}};
    for (int p = 0; p < 3; p++) {
        bool ended = false;
        for (int allowed = 0; !ended; allowed++) {
            hdst__power power[3] = {{.kernel = 1e-8, .slices = 9}, {.kernel = 1e-8, .slices = 9}, {.kernel = 2e-8, .slices = 9}};
            const hdst__worker worker[3] = {{.power = &power[0]}, {.power = &power[1], .resident = resident, .resident_count = 2}, {.power = &power[2]}};
            const hdst__job job = {.records = 100000, .workers = 3, .worker = worker, .wish = wishes[p]};
            counted c = {.left = allowed};
            const hdst__allocator allocator = {.allocate = take, .reallocate = again, .release = release, .user = &c};
            cr_assert_eq(hdst__policy_for(&job), policies[p]);
            hdst__schedule *schedule = policies[p]->begin(&job, &allocator);
            if (schedule) ended = run_all(policies[p], schedule, job.records) && c.left > 0;
            if (schedule) policies[p]->end(schedule);
            cr_assert_eq(c.blocks, 0, "%s, %d allocations", policies[p]->name, allowed);
        }
    }
}

// The pool is what lies between them; a share ends where theirs begins.
Test(deal, what_lies_with_a_worker_is_nobody_elses)
{
    hdst__power power[2] = {{.kernel = 1e-5, .slices = 9}, {.kernel = 1e-5, .slices = 9}};
    const hdst__share resident = {1000, 500};
    const hdst__worker worker[2] = {{.power = &power[0]}, {.power = &power[1], .resident = &resident, .resident_count = 1}};
    for (int p = 0; p < 3; p++) {
        const hdst__job job = {.records = 4000, .workers = 2, .worker = worker, .wish = wishes[p]};
        hdst__schedule *schedule = policies[p]->begin(&job, NULL);
        hdst__share share;
        while (policies[p]->next(schedule, 0, &share)) {
            cr_assert(share.first + share.count <= 1000 || share.first >= 1500, "%s: %llu", policies[p]->name, (unsigned long long)share.first);
            policies[p]->done(schedule, 0, &(hdst__slice_cost){.records = share.count, .kernel = 1e-5 * (double)share.count});
        }
        cr_assert(policies[p]->next(schedule, 1, &share));
        cr_assert_eq(share.first, 1000);
        policies[p]->end(schedule);
    }
}

// Nobody knows how quick it is: a short share, and no other until it has told what that took.
Test(deal, an_unknown_worker_is_measured_first)
{
    hdst__power power[2] = {{0}, {0}};
    const hdst__worker worker[2] = {{.power = &power[0]}, {.power = &power[1]}};
    const hdst__job job = {.records = (uint64_t)1 << 40, .workers = 2, .worker = worker, .wish = HDST__POLICY_DYNAMIC};
    hdst__schedule *schedule = hdst__policy_dynamic.begin(&job, NULL);
    hdst__share share;
    cr_assert(hdst__policy_dynamic.next(schedule, 0, &share));
    cr_assert_eq(share.count, HDST__HOST_PROBE_RECORDS);
    cr_assert_not(hdst__policy_dynamic.next(schedule, 0, &(hdst__share){0, 0}));
    hdst__policy_dynamic.done(schedule, 0, &(hdst__slice_cost){.records = share.count, .kernel = 1e-9 * (double)share.count});
    cr_assert(hdst__policy_dynamic.next(schedule, 0, &share));
    cr_assert_float_eq((double)share.count, HDST__HOST_SLICE_SECONDS / 1e-9, 64);
    cr_assert(hdst__policy_dynamic.next(schedule, 0, &share), "from now on several at a time");
    hdst__policy_dynamic.end(schedule);
}

// A share is cut into slices by time, but no small rest is left for a slice of its own.
Test(deal, a_small_rest_goes_with_the_slice_before_it)
{
    hdst__power power[2] = {{.kernel = 1e-6, .slices = 9}, {.kernel = 1e-6, .slices = 9}};
    const hdst__worker worker[2] = {{.power = &power[0]}, {.power = &power[1]}};
    const hdst__job job = {.records = 1 << 30, .workers = 2, .worker = worker};
    hdst__schedule *schedule = hdst__policy_auto.begin(&job, NULL);
    hdst__slice_limits limits = {.left = 10000, .unit = 64, .least = 64, .most = 100000, .seconds = 64 * 50 * 1e-6};
    cr_assert_eq(hdst__policy_auto.slice(schedule, 0, &limits), 3200);
    limits.left = 4800;
    cr_assert_eq(hdst__policy_auto.slice(schedule, 0, &limits), 3200);
    limits.left = 4799;
    cr_assert_eq(hdst__policy_auto.slice(schedule, 0, &limits), 4799);
    limits.most = 4000;
    cr_assert_eq(hdst__policy_auto.slice(schedule, 0, &limits), 3200);
    hdst__policy_auto.end(schedule);
}
