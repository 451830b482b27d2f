// SPDX-License-Identifier: Apache-2.0
// The policy of one worker: its slices against the documented rule in whole numbers.
#include "base/costs_host.h"
#include "partition/policy.h"

#include <criterion/criterion.h>

static uint64_t seed = 1;

static uint64_t random_below(uint64_t limit)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (seed >> 20) % limit;
}

static hdst__schedule *begin(uint64_t records, hdst__power *power)
{
    const hdst__worker worker = {.power = power};
    const hdst__job job = {.records = records, .workers = 1, .worker = &worker};
    cr_assert_eq(hdst__policy_for(&job), &hdst__policy_one_worker);
    hdst__schedule *schedule = hdst__policy_one_worker.begin(&job, NULL);
    cr_assert_not_null(schedule);
    return schedule;
}

static void done(hdst__schedule *schedule, uint64_t records, double seconds)
{
    hdst__policy_one_worker.done(schedule, 0, &(hdst__slice_cost){.records = records, .kernel = seconds});
}

static uint64_t slice(hdst__schedule *schedule, const hdst__slice_limits *limits) { return hdst__policy_one_worker.slice(schedule, 0, limits); }

// The largest multiple of the unit that takes no more than the time, or all that there is room for where that takes less: `ticks` of 2^-20 s were spent on
// `records`.
static uint64_t by_rule(const hdst__slice_limits *limits, uint64_t time, uint64_t ticks, uint64_t records)
{
    const unsigned __int128 fit = (unsigned __int128)time * records / ticks;
    uint64_t count = fit < limits->most ? (uint64_t)fit / limits->unit * limits->unit : limits->most;
    if (count < limits->least) count = limits->least;
    return count < limits->left ? count : limits->left;
}

Test(one_worker, slices_follow_the_time_that_all_slices_of_the_run_took)
{
    static const double tick = 1.0 / (1 << 20);
    uint64_t by_time = 0;
    for (int run = 0; run < 2000; run++) {
        hdst__power power = {.kernel = 0.125};
        uint64_t records = (uint64_t)1 << random_below(10), ticks = 1 + random_below(1000);      // a power of two, so that doubles are exact
        hdst__schedule *schedule = begin((uint64_t)1 << 40, &power);
        done(schedule, records, (double)ticks * tick);
        for (int i = 0; i < 20; i++) {
            const uint64_t time = 1 + random_below(1 << 20), unit = (uint64_t)1 << random_below(10), least = 1 + random_below(1 << random_below(20));
            const hdst__slice_limits limits = {.left = 1 + random_below((uint64_t)1 << random_below(40)), .unit = unit, .least = least,
                                               .most = least + random_below((uint64_t)1 << random_below(40)), .seconds = (double)time * tick};
            const uint64_t want = by_rule(&limits, time, ticks, records);
            cr_assert_eq(slice(schedule, &limits), want, "run %d, slice %d", run, i);
            by_time += want != limits.least && want != limits.most && want != limits.left;
            const uint64_t took = random_below(100000);
            done(schedule, records, (double)took * tick);
            records *= 2;
            ticks += took;
        }
        hdst__policy_one_worker.end(schedule);
    }
    cr_assert_gt(by_time, 2000, "only %llu slices were chosen by time", (unsigned long long)by_time);
}

Test(one_worker, what_is_known_before_holds_until_a_slice_has_ended_and_outlives_the_run)
{
    const hdst__slice_limits limits = {.left = 1 << 20, .unit = 64, .least = 64, .most = 1 << 19, .seconds = 0.25};
    hdst__power power = {0};
    hdst__schedule *schedule = begin(1 << 20, &power);
    cr_assert_eq(slice(schedule, &limits), HDST__HOST_FIRST_RECORDS);
    done(schedule, 100, 0);       // a device that cannot tell
    cr_assert_eq(slice(schedule, &limits), HDST__HOST_FIRST_RECORDS);
    done(schedule, 156, 0.5);
    cr_assert_eq(power.kernel, 0.5 / 256);
    hdst__policy_one_worker.end(schedule);
    schedule = begin(1 << 20, &power);
    cr_assert_eq(slice(schedule, &limits), 128);
    hdst__policy_one_worker.end(schedule);
}

Test(one_worker, has_all_of_the_input_in_one_share)
{
    hdst__power power = {0};
    hdst__share share = {7, 7};
    hdst__schedule *schedule = begin(1001, &power);
    cr_assert(hdst__policy_one_worker.next(schedule, 0, &share));
    cr_assert(share.first == 0 && share.count == 1001);
    cr_assert_not(hdst__policy_one_worker.next(schedule, 0, &share));
    hdst__policy_one_worker.end(schedule);
    schedule = begin(0, &power);
    cr_assert_not(hdst__policy_one_worker.next(schedule, 0, &share));
    hdst__policy_one_worker.end(schedule);
}

Test(one_worker, has_again_what_it_gave_back_unless_it_leaves)
{
    hdst__power power = {0};
    hdst__share share = {7, 7};
    hdst__schedule *schedule = begin(1001, &power);
    cr_assert(hdst__policy_one_worker.next(schedule, 0, &share));
    cr_assert(hdst__policy_one_worker.give_back(schedule, 0, &(hdst__share){640, 361}, false));
    cr_assert(hdst__policy_one_worker.next(schedule, 0, &share));
    cr_assert(share.first == 640 && share.count == 361);
    cr_assert_not(hdst__policy_one_worker.next(schedule, 0, &share));
    cr_assert(hdst__policy_one_worker.give_back(schedule, 0, &(hdst__share){960, 41}, true));
    cr_assert_not(hdst__policy_one_worker.next(schedule, 0, &share));
    hdst__policy_one_worker.end(schedule);
}
