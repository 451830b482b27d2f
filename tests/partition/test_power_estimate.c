// SPDX-License-Identifier: Apache-2.0
// Powers from slices with noise that has no mean, against the powers that the slices were made with.
#include "partition/power_estimate.h"

#include <criterion/criterion.h>
#include <math.h>

static uint64_t seed = 1;

static double random_part(void)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return ((double)(seed >> 12) + 0.5) / ((uint64_t)1 << 52);
}

// Of a Cauchy distribution, upwards only: neither a mean nor a variance.
static double heavy_tail(void) { return fabs(tan(3.14159265358979 * (random_part() - 0.5))); }

static void add(hdst__power_estimate *estimate, const hdst__power *truth, double records, double factor)
{
    hdst__power_estimate_add(estimate, &(hdst__slice_cost){(uint64_t)records, 0, truth->copy * records * factor,
                                                           (truth->fixed + truth->kernel * records) * factor});
}

static hdst__power read(const hdst__power_estimate *estimate)
{
    hdst__power power = {0};
    cr_assert(hdst__power_estimate_read(estimate, &power));
    return power;
}

Test(power_estimate, parts_are_told_apart_under_noise_with_heavy_tails)
{
    double worst_each = 0, worst_fixed = 0;
    for (int run = 0; run < 300; run++) {
        const hdst__power truth = {.fixed = exp2(-16 + 6 * random_part()), .copy = exp2(-32 + 6 * random_part()), .kernel = exp2(-32 + 6 * random_part())};
        hdst__power_estimate estimate = {0};
        for (int i = 0; i < 64; i++)        // from half the fixed part to 30 times of it
            add(&estimate, &truth, truth.fixed / truth.kernel * exp2(-1 + 6 * random_part()), 1 + 0.01 * heavy_tail());
        const hdst__power power = read(&estimate);
        worst_each = fmax(worst_each, fmax(fabs(power.kernel / truth.kernel - 1), fabs(power.copy / truth.copy - 1)));
        worst_fixed = fmax(worst_fixed, fabs(power.fixed / truth.fixed - 1));
    }
    cr_log_info("each: %g, fixed: %g\n", worst_each, worst_fixed);
    cr_assert_lt(worst_each, 0.05);
    cr_assert_lt(worst_fixed, 0.10);
}

// A quarter of the slices takes a thousand times as long, or no time at all.
Test(power_estimate, wild_slices_do_not_matter)
{
    const hdst__power truth = {.copy = 2e-9, .kernel = 1e-9};
    for (int run = 0; run < 100; run++) {
        hdst__power_estimate estimate = {0};
        for (int i = 0; i < 64; i++)
            add(&estimate, &truth, 1e6 * (1 + 3 * random_part()), i % 4 ? 1 + 0.01 * random_part() : random_part() < 0.5 ? 1e3 * random_part() : 1e-6);
        const hdst__power power = read(&estimate);
        cr_assert_float_eq(power.kernel, 1e-9, 0.03e-9);
        cr_assert_float_eq(power.copy, 2e-9, 0.06e-9);
        cr_assert_lt(power.spread, 0.03);
    }
}

Test(power_estimate, slices_of_one_length_have_no_fixed_part)
{
    const hdst__power truth = {.fixed = 1e-3, .kernel = 1e-9};
    hdst__power_estimate estimate = {0};
    for (int i = 0; i < 20; i++) add(&estimate, &truth, 1e6 + i, 1);
    const hdst__power power = read(&estimate);
    cr_assert_eq(power.fixed, 0);
    cr_assert_float_eq(power.kernel, 2e-9, 1e-12);
    cr_assert_eq(power.slices, 20);
}

// On a machine that is shared with others every slice takes up to three times as long: a line through such slices begins anywhere.
Test(power_estimate, slices_that_differ_much_have_no_fixed_part)
{
    const hdst__power truth = {.kernel = 1e-9};
    for (int run = 0; run < 300; run++) {
        hdst__power_estimate estimate = {0};
        for (int i = 0; i < 40; i++) add(&estimate, &truth, 1e7 * (1 + 3 * random_part()), 1 + 2 * random_part());
        const hdst__power power = read(&estimate);
        cr_assert_eq(power.fixed, 0);
        cr_assert(power.kernel > 1.5e-9 && power.kernel < 2.5e-9 && power.spread > 0.15);
    }
}

Test(power_estimate, what_a_device_tells_of_its_fixed_part_is_taken)
{
    hdst__power_estimate estimate = {0};
    for (int i = 0; i < 9; i++) hdst__power_estimate_add(&estimate, &(hdst__slice_cost){1000, i == 3 ? 50 : 2e-5, 0, 1e-3});
    cr_assert_float_eq(read(&estimate).fixed, 2e-5, 1e-12);
}

Test(power_estimate, the_last_slices_count_and_few_say_nothing)
{
    const hdst__power slow = {.kernel = 5e-9}, quick = {.kernel = 1e-9};
    hdst__power_estimate estimate = {0};
    hdst__power power = {.kernel = 7};
    add(&estimate, &slow, 0, 1);
    hdst__power_estimate_add(&estimate, &(hdst__slice_cost){1000, 0, 0, 0});
    for (int i = 0; i < 3; i++) add(&estimate, &slow, 1e6, 1);
    cr_assert_not(hdst__power_estimate_read(&estimate, &power));
    cr_assert_eq(power.kernel, 7);
    for (int i = 0; i < 100; i++) add(&estimate, &slow, 1e6, 1);
    for (int i = 0; i < 64; i++) add(&estimate, &quick, 1e6, 1);
    cr_assert_float_eq(read(&estimate).kernel, 1e-9, 1e-13);
}
