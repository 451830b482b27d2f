// SPDX-License-Identifier: Apache-2.0
// When the policy that chooses divides, and when it has a pool: seen by where shares begin.
#include "partition/policy.h"

#include <criterion/criterion.h>

enum { UNIT = 64 };

static const uint64_t records = (uint64_t)1 << 30;

static hdst__schedule *begin(hdst__power power[2])
{
    const hdst__worker worker[2] = {{.power = &power[0]}, {.power = &power[1]}};
    const hdst__job job = {.records = records, .unit = UNIT, .workers = 2, .worker = worker};
    cr_assert_eq(hdst__policy_for(&job), &hdst__policy_auto);
    hdst__schedule *schedule = hdst__policy_auto.begin(&job, NULL);
    cr_assert_not_null(schedule);
    return schedule;
}

static hdst__share next(hdst__schedule *schedule, uint32_t worker)
{
    hdst__share share = {0, 0};
    cr_assert(hdst__policy_auto.next(schedule, worker, &share));
    return share;
}

// The next share of a worker, done at so many seconds a record.
static hdst__share run(hdst__schedule *schedule, uint32_t worker, double each)
{
    const hdst__share share = next(schedule, worker);
    hdst__policy_auto.done(schedule, worker, &(hdst__slice_cost){.records = share.count, .kernel = each * (double)share.count});
    return share;
}

Test(automatic, known_and_steady_powers_divide_the_input)
{
    hdst__power power[2] = {{.kernel = 1e-7, .slices = 100}, {.kernel = 3e-7, .slices = 100}};
    hdst__schedule *schedule = begin(power);
    cr_assert_float_eq(hdst__policy_auto.seconds(schedule), (double)records * 0.75e-7, 1e-3);
    cr_assert_eq(next(schedule, 0).first, 0);
    cr_assert_eq(next(schedule, 1).first, records / 4 * 3);
    hdst__policy_auto.end(schedule);
}

Test(automatic, powers_that_spread_do_not)
{
    hdst__power power[2] = {{.kernel = 1e-7, .slices = 100}, {.kernel = 3e-7, .slices = 100, .spread = 0.2}};
    hdst__schedule *schedule = begin(power);
    cr_assert_eq(hdst__policy_auto.seconds(schedule), 0);
    const hdst__share first = next(schedule, 0);
    cr_assert_eq(next(schedule, 1).first, first.count);
    hdst__policy_auto.end(schedule);
}

Test(automatic, slices_that_turn_out_unsteady_bring_the_pool_back)
{
    hdst__power power[2] = {{.kernel = 1e-7, .slices = 100}, {.kernel = 1e-7, .slices = 100}};
    hdst__schedule *schedule = begin(power);
    uint64_t reached = 0;
    for (int i = 0; i < 8; i++) {
        const hdst__share share = run(schedule, 0, 1e-7);
        cr_assert_eq(share.first, reached);
        reached = share.first + share.count;
        cr_assert_geq(run(schedule, 1, i % 2 ? 1e-7 : 1.2e-7).first, records / 2, "20 %% are steady enough");
    }
    hdst__share share = {records, 0};
    for (int i = 0; i < 8 && share.first >= records / 2; i++) share = run(schedule, 1, i % 2 ? 1e-7 : 4e-7);
    cr_assert_eq(share.first, reached);
    cr_assert_eq(next(schedule, 0).first, reached + share.count);
    hdst__policy_auto.end(schedule);
}

Test(automatic, slices_that_turn_out_steady_divide_the_rest)
{
    hdst__power power[2] = {{.kernel = 5e-9}, {.kernel = 5e-9}};       // guesses, and wrong
    hdst__schedule *schedule = begin(power);
    uint64_t reached = 0;
    for (int i = 0; i < 4; i++)
        for (uint32_t worker = 0; worker < 2; worker++) {
            const hdst__share share = run(schedule, worker, 1e-7);
            cr_assert_eq(share.first, reached);
            reached = share.first + share.count;
        }
    cr_assert_eq(next(schedule, 0).first, reached);
    const uint64_t middle = next(schedule, 1).first, expected = reached + (records - reached) / 2;
    cr_assert(middle + 2 * UNIT >= expected && middle <= expected + 2 * UNIT, "%llu, not %llu", (unsigned long long)middle, (unsigned long long)expected);
    cr_assert(power[0].slices == 4 && power[0].kernel == 1e-7);
    hdst__policy_auto.end(schedule);
}

// What one gives back when it leaves goes to the other, with all that was put down for it.
Test(automatic, a_worker_that_leaves_gives_back_all_that_was_put_down_for_it)
{
    hdst__power power[2] = {{.kernel = 1e-6, .slices = 100}, {.kernel = 1e-6, .slices = 100}};
    hdst__schedule *schedule = begin(power);
    const hdst__share mine = next(schedule, 0);
    cr_assert(hdst__policy_auto.give_back(schedule, 0, &mine, true));
    hdst__share share;
    cr_assert_not(hdst__policy_auto.next(schedule, 0, &share));
    uint64_t done = 0;
    for (hdst__share got; hdst__policy_auto.next(schedule, 1, &got); done += got.count)
        hdst__policy_auto.done(schedule, 1, &(hdst__slice_cost){.records = got.count, .kernel = 1e-6 * (double)got.count});
    cr_assert_eq(done, records);
    hdst__policy_auto.end(schedule);
}
