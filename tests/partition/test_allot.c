// SPDX-License-Identifier: Apache-2.0
// Partitioning by a table of powers, against all splits of small inputs and against what must hold of large ones.
#include "partition/allot.h"

#include <criterion/criterion.h>
#include <math.h>

static uint64_t seed = 1;

static uint64_t random_below(uint64_t limit)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (seed >> 20) % limit;
}

static double random_seconds(double most) { return most * (double)random_below(1 << 20) / (1 << 20); }

// As the head of allot.h has it.
static double end_of(const hdst__allotment *worker, uint64_t records)
{
    if (!records) return 0;
    if (!worker->copies_apart) return worker->busy + worker->fixed + (double)records * worker->copy + (double)records * worker->kernel;
    const double copies = worker->copying + (double)records * worker->copy, kernels = worker->busy + (double)records * worker->kernel;
    return worker->fixed + (copies > kernels ? copies : kernels);
}

// The least end of all splits into whole units; a rest that is less than one goes to any of them.
static double by_brute_force(const hdst__allotment *worker, uint32_t workers, uint64_t records, uint64_t unit)
{
    if (workers == 1) return end_of(worker, records);
    double least = HUGE_VAL;
    for (uint64_t mine = 0;; mine += unit) {
        if (mine > records) mine = records;
        least = fmin(least, fmax(end_of(worker, mine), by_brute_force(worker + 1, workers - 1, records - mine, unit)));
        if (mine == records) return least;
    }
}

static void random_worker(hdst__allotment *worker)
{
    *worker = (hdst__allotment){.busy = random_below(2) ? 0 : random_seconds(20), .fixed = random_below(3) ? random_seconds(10) : 0,
                                .kernel = 0.01 + random_seconds(random_below(4) ? 1 : 20), .copies_apart = random_below(2)};
    if (random_below(3)) worker->copy = random_seconds(2);
    if (random_below(3)) worker->copying = random_seconds(10);
}

Test(allot, is_the_best_of_all_splits)
{
    int left_out = 0, cases = 3000;
    for (int run = 0; run < cases; run++) {
        hdst__allotment worker[4];
        const uint32_t workers = 1 + (uint32_t)random_below(4);
        const uint64_t unit = 1 + random_below(5), units = random_below(workers == 4 ? 14 : 40), records = units * unit;
        for (uint32_t i = 0; i < workers; i++) random_worker(&worker[i]);
        const double best = records ? by_brute_force(worker, workers, records, unit) : 0, told = hdst__allot(worker, workers, records, unit);
        double end = 0;
        uint64_t all = 0;
        for (uint32_t i = 0; i < workers; i++) {
            end = fmax(end, end_of(&worker[i], worker[i].records));
            all += worker[i].records;
            cr_assert_eq(worker[i].records % unit, 0);
            left_out += records && !worker[i].records;
        }
        cr_assert_eq(all, records);
        cr_assert_float_eq(end, best, 1e-9 * (1 + best), "run %d: %.17g, %.17g would do", run, end, best);
        cr_assert_float_eq(told, best, 1e-9 * (1 + best));
        cr_assert_float_eq(hdst__allot_seconds(worker, workers, records, unit), best, 1e-9 * (1 + best));
    }
    cr_assert_gt(left_out, cases / 10, "only %d workers got nothing", left_out);
}

Test(allot, a_rest_that_is_no_unit_costs_one_at_most)
{
    for (int run = 0; run < 2000; run++) {
        hdst__allotment worker[3];
        const uint64_t unit = 2 + random_below(5), records = 1 + random_below(100);
        double slowest = 0;
        for (uint32_t i = 0; i < 3; i++) random_worker(&worker[i]), slowest = fmax(slowest, (worker[i].copy + worker[i].kernel) * (double)unit);
        const double best = by_brute_force(worker, 3, records, unit), told = hdst__allot(worker, 3, records, unit);
        cr_assert_eq(worker[0].records + worker[1].records + worker[2].records, records);
        cr_assert(told >= best - 1e-9 * best && told <= best + slowest + 1e-9, "%g, not %g", told, best);
    }
}

Test(allot, of_much_all_end_together)
{
    for (int run = 0; run < 500; run++) {
        hdst__allotment worker[64];
        const uint32_t workers = 1 + (uint32_t)random_below(64);
        const uint64_t records = (uint64_t)1 << (20 + random_below(20));
        for (uint32_t i = 0; i < workers; i++) worker[i] = (hdst__allotment){.fixed = random_seconds(1e-3), .kernel = exp2(-(double)random_below(12)) * 1e-6};
        const double end = hdst__allot(worker, workers, records, 64);
        uint64_t all = 0;
        for (uint32_t i = 0; i < workers; i++) {
            all += worker[i].records;
            const double one_more = end_of(&worker[i], worker[i].records + 64);
            cr_assert(end_of(&worker[i], worker[i].records) <= end * (1 + 1e-9) && one_more >= end * (1 - 1e-9));
        }
        cr_assert_eq(all, records);
    }
}

Test(allot, who_takes_no_part_gets_nothing)
{
    hdst__allotment worker[2] = {{.fixed = HUGE_VAL, .kernel = 1, .records = 7}, {.fixed = 1, .kernel = 2, .records = 7}};
    cr_assert_eq(hdst__allot(worker, 2, 128, 64), 1 + 256);
    cr_assert(worker[0].records == 0 && worker[1].records == 128);
    cr_assert_eq(hdst__allot(worker, 1, 128, 64), HUGE_VAL);
    cr_assert_eq(worker[0].records, 0);
    cr_assert_eq(hdst__allot_seconds(worker, 1, 128, 64), HUGE_VAL);
}
