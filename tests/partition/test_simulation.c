// SPDX-License-Identifier: Apache-2.0
// Policies for several workers in a simulated run, against the least time in which the devices could have done it.
#include "simulator.h"

#include <criterion/criterion.h>
#include <math.h>

static uint64_t seed = 1;

static uint64_t random_below(uint64_t limit)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (seed >> 20) % limit;
}

static double random_between(double low, double high) { return low + (high - low) * (double)random_below(1 << 20) / (1 << 20); }

static void random_device(sim_device *device)
{
    *device = (sim_device){.kernel = exp2(random_between(-31, -24)), .copies_apart = random_below(2), .fixed = random_between(0, 2e-4)};
    device->copy = device->kernel * random_between(0, 1.5);
}

// As many records as take about so many seconds.
static sim_job random_job(sim_device *device, uint32_t devices, double seconds)
{
    double rate = 0;
    for (uint32_t i = 0; i < devices; i++) {
        random_device(&device[i]);
        rate += 1 / (device[i].copies_apart ? fmax(device[i].copy, device[i].kernel) : device[i].copy + device[i].kernel);
    }
    return (sim_job){.records = (uint64_t)(seconds * rate), .unit = 64, .device = device, .devices = devices, .seed = random_below(1 << 30),
                     .patient = random_below(2)};
}

static const uint32_t counts[] = {1, 2, 3, 5, 8, 16, 64};

enum { COUNTS = sizeof counts / sizeof *counts };

#define RUNS(devices) ((devices) > 8 ? 3 : 20)

// --- What may come otherwise than expected ---

static void constant(sim_device *device, double seconds) { (void)device, (void)seconds; }

static void step(sim_device *device, double seconds)
{
    device->paces = 1;
    device->pace[0].from = random_between(0, seconds);
    device->pace[0].pace = random_below(2) ? random_between(0.2, 1) : random_between(1, 3);
}

// From full speed to a third of it, or to three times.
static void drift(sim_device *device, double seconds)
{
    const double last = random_below(2) ? 1.0 / 3 : 3;
    device->paces = SIM_PACES;
    for (uint32_t i = 0; i < SIM_PACES; i++) {
        device->pace[i].from = seconds * i / SIM_PACES;
        device->pace[i].pace = 1 + (last - 1) * i / SIM_PACES;
    }
}

static void stalls(sim_device *device, double seconds)
{
    double time = 0;
    for (device->paces = 0; device->paces < 10;) {
        time += random_between(0.02, 0.2) * seconds;
        device->pace[device->paces].from = time;
        device->pace[device->paces++].pace = 0;
        time += random_between(0, 0.05) * seconds;
        device->pace[device->paces].from = time;
        device->pace[device->paces++].pace = 1;
    }
}

static void noise(sim_device *device, double seconds)
{
    (void)seconds;
    device->noise = 1;
}

static void told(sim_device *device, double seconds)
{
    (void)seconds;
    device->is_told = true;
}

// Nanoseconds a record of slices of a quarter of a second, one after another: Monte Carlo on two cores that compilers and tests of others used too.
static const double recorded_slices[] = {
    6.34, 8.78, 7.66, 9.09, 9.24, 8.56, 9.42, 8.36, 10.17, 7.51, 8.06, 7.95, 8.71, 8.44, 7.75, 10.87, 12.18, 15.51, 14.67, 12.88, 10.31, 11.44,
    11.18, 9.86, 10.47, 7.70, 9.26, 9.65, 9.70, 9.30, 6.63, 9.76, 7.32, 8.01, 9.19, 9.21, 8.91, 10.53, 9.83, 9.67, 9.39, 9.70, 6.92, 6.77, 7.06,
    8.56, 8.84, 7.80, 8.44, 8.16, 7.14, 8.10, 7.09, 6.03, 8.01, 9.38, 7.78, 6.84, 6.56, 6.07, 8.15, 9.82, 8.51, 12.33, 13.62, 12.57, 12.37, 8.81,
    10.11, 10.24, 12.07, 9.13, 10.04, 15.78, 8.47, 10.91, 8.93, 9.02, 7.62, 13.27, 11.44, 11.08, 8.32, 6.62, 8.66, 8.53, 9.53, 8.22, 10.67, 8.28,
    7.37, 7.18, 8.10, 4.92, 7.30,
};

enum { RECORDED = sizeof recorded_slices / sizeof *recorded_slices };

// From any of them on.
static void recorded(sim_device *device, double seconds)
{
    (void)seconds;
    const uint64_t start = random_below(RECORDED);
    device->paces = SIM_PACES;
    for (uint32_t i = 0; i < SIM_PACES; i++) {
        device->pace[i].from = 0.25 * i;
        device->pace[i].pace = 9 / recorded_slices[(start + i) % RECORDED];
    }
}

// Records at the end weigh seven times as much as those at the start: the integral of 1/4 + 3/2 x.
static double million = 1e6;

static double irregular(uint64_t first, uint64_t count)
{
    const double from = (double)first / million, to = (double)(first + count) / million;
    return million * ((to - from) / 4 + (to * to - from * from) * 0.75);
}

static double worst;

static void check(const sim_job *job, const hdst__policy *policy, double most, const char *what)
{
    const double best = sim_optimum(job);
    const sim_result result = simulate(job, policy);
    worst = fmax(worst, result.seconds / best);
    cr_assert_leq(result.seconds, best * most, "%s, %s, %u devices: %g s, %g would do: %g", policy->name, what, job->devices, result.seconds, best,
                  result.seconds / best);
    cr_assert_geq(result.seconds, best * (1 - 1e-9 - 0.05 * job->device[0].noise), "%s: the least time is not the least: %g < %g", what, result.seconds, best);
}

typedef struct scenario {
    const char *name;
    void (*change)(sim_device *device, double seconds);
    double most;                    // times the least time
} scenario;

static void check_all(const scenario *s, const hdst__policy *policy, double seconds)
{
    worst = 0;
    for (int i = 0; i < COUNTS; i++)
        for (int k = 0; k < RUNS(counts[i]); k++) {
            sim_device device[SIM_WORKERS];
            const sim_job job = random_job(device, counts[i], seconds);
            for (uint32_t j = 0; j < job.devices; j++) s->change(&device[j], seconds);
            check(&job, policy, s->most, s->name);
        }
    cr_log_info("%s, %s: %.4f of the least time at most\n", policy->name, s->name, worst);
}

Test(simulation, the_dynamic_pool_follows_what_comes)
{
    static const scenario scenarios[] = {{"constant", constant, 1.05}, {"told", told, 1.05}, {"step", step, 1.30}, {"drift", drift, 1.10},
                                         {"stalls", stalls, 1.10}, {"noise", noise, 1.10}, {"recorded", recorded, 1.10}};
    for (size_t i = 0; i < sizeof scenarios / sizeof *scenarios; i++) check_all(&scenarios[i], &hdst__policy_dynamic, 10);
}

// Fixed cost, copies and kernels as told.
Test(simulation, the_static_partitioner_hits_the_least_time_where_speeds_are_as_told)
{
    const scenario as_told = {"told", told, 1.02};
    check_all(&as_told, &hdst__policy_static, 40);
}

static void told_wrong(sim_device *device, double seconds)
{
    told(device, seconds);
    device->told_wrong = random_below(3) ? 1 : random_between(0.3, 3);
}

static void told_step(sim_device *device, double seconds) { told_wrong(device, seconds), step(device, seconds); }
static void told_drift(sim_device *device, double seconds) { told(device, seconds), drift(device, seconds); }
static void told_stalls(sim_device *device, double seconds) { told(device, seconds), stalls(device, seconds); }
static void told_recorded(sim_device *device, double seconds) { told(device, seconds), recorded(device, seconds); }
static void told_noise(sim_device *device, double seconds) { told(device, seconds), noise(device, seconds); }

static void compare(const scenario *s, const sim_job *job, double *worst_of_auto, double *over)
{
    const double best = sim_optimum(job), automatic = simulate(job, &hdst__policy_auto).seconds;
    const double better = fmin(simulate(job, &hdst__policy_static).seconds, simulate(job, &hdst__policy_dynamic).seconds);
    cr_assert_leq(automatic, better * s->most, "%s, %u devices: %g s, %g with the better policy", s->name, job->devices, automatic, better);
    *worst_of_auto = fmax(*worst_of_auto, automatic / best);
    *over = fmax(*over, automatic / better);
}

Test(simulation, auto_is_no_worse_than_the_better_of_both)
{
    static const scenario scenarios[] = {
        {"constant", constant, 1.10}, {"told", told, 1.10}, {"told wrong", told_wrong, 1.10}, {"told, step", told_step, 1.10},
        {"told, drift", told_drift, 1.10}, {"told, stalls", told_stalls, 1.10}, {"told, noise", told_noise, 1.10}, {"drift", drift, 1.10},
        {"step", step, 1.10}, {"stalls", stalls, 1.10}, {"noise", noise, 1.10}, {"recorded", recorded, 1.10}, {"told, recorded", told_recorded, 1.10},
    };
    for (size_t i = 0; i < sizeof scenarios / sizeof *scenarios; i++) {
        double worst_of_auto = 0, over = 0;
        for (int c = 0; c < COUNTS; c++)
            for (int k = 0; k < RUNS(counts[c]); k++) {
                sim_device device[SIM_WORKERS];
                const sim_job job = random_job(device, counts[c], 10);
                for (uint32_t j = 0; j < job.devices; j++) scenarios[i].change(&device[j], 10);
                compare(&scenarios[i], &job, &worst_of_auto, &over);
            }
        cr_log_info("auto, %s: %.4f of the least time at most, %.4f of the better policy\n", scenarios[i].name, worst_of_auto, over);
    }
}

// A device that is slowed eight times in the middle of its share: others take from the end of it.
Test(simulation, what_a_device_cannot_do_in_time_is_stolen)
{
    sim_device device[3];
    for (uint32_t i = 0; i < 3; i++) device[i] = (sim_device){.kernel = 1e-8, .is_told = true};
    device[1].paces = 1;
    device[1].pace[0].from = 4;
    device[1].pace[0].pace = 0.125;
    const sim_job job = {.records = 3000000000, .unit = 1 << 16, .device = device, .devices = 3};
    const sim_result alone = simulate(&job, &hdst__policy_static), stolen = simulate(&job, &hdst__policy_auto);
    cr_assert_float_eq(alone.thought, 10, 0.01);
    cr_assert_float_eq(alone.seconds, 4 + 6 * 8, 0.1, "a static share stays: %g", alone.seconds);
    check(&job, &hdst__policy_auto, 1.05, "stolen");
    cr_assert_gt(stolen.done[0], 1000000000 + 100000000);
    cr_assert(alone.ascends && !stolen.ascends);
}

// One that is a fifth slower than told is steady, so that nothing goes back to the pool.
Test(simulation, what_a_steady_device_cannot_do_in_time_is_stolen)
{
    sim_device device[3];
    for (uint32_t i = 0; i < 3; i++) device[i] = (sim_device){.kernel = 1e-8, .is_told = true};
    device[1].paces = 1;
    device[1].pace[0].from = 1;
    device[1].pace[0].pace = 0.8;
    const sim_job job = {.records = 3000000000, .unit = 1 << 16, .device = device, .devices = 3};
    check(&job, &hdst__policy_auto, 1.02, "stolen");
    check(&job, &hdst__policy_static, 1.20, "not stolen");
    const sim_result result = simulate(&job, &hdst__policy_auto);
    cr_assert_lt(result.shares, 3 * 70);
}

Test(simulation, a_static_share_that_would_cost_more_than_it_gains_is_left_out)
{
    sim_device device[3] = {{.kernel = 1e-8, .is_told = true}, {.kernel = 1e-8, .is_told = true, .fixed = 6}, {.kernel = 2e-6, .is_told = true}};
    const sim_job job = {.records = 500000000, .unit = 1 << 22, .device = device, .devices = 3};
    const sim_result result = simulate(&job, &hdst__policy_static);
    cr_assert(result.done[1] == 0 && result.done[2] == 0);
    cr_assert_null(result.left_out[0]);
    cr_assert_str_eq(result.left_out[1], "the others end all of it before this one is ready to begin");
    cr_assert_str_eq(result.left_out[2], "one unit of records would take this one longer than the others take for all");
    cr_assert_float_eq(result.thought, 5.033, 0.01, "%g", result.thought);
}

Test(simulation, records_of_the_dynamic_pool_need_not_weigh_the_same)
{
    worst = 0;
    for (int i = 0; i < COUNTS; i++)
        for (int k = 0; k < RUNS(counts[i]); k++) {
            sim_device device[SIM_WORKERS];
            sim_job job = random_job(device, counts[i], 10);
            job.weight = irregular;
            million = (double)job.records;
            check(&job, &hdst__policy_dynamic, 1.10, "irregular");
        }
    cr_log_info("worst: %g\n", worst);
}

// Of all sizes, in units of all sizes, with residents: simulate() looks that each record is done once, also where nobody asks a second time.
Test(simulation, small_jobs_are_done_too)
{
    static const hdst__policy *const policies[] = {&hdst__policy_static, &hdst__policy_dynamic, &hdst__policy_auto};
    static void (*const changes[])(sim_device *, double) = {constant, told, told_wrong, step, noise, told_noise, told_drift};
    for (int k = 0; k < 3000; k++) {
        sim_device device[SIM_WORKERS];
        sim_job job = random_job(device, counts[random_below(COUNTS - 2)], 1);
        job.records = random_below((uint64_t)1 << random_below(24));
        job.unit = (uint64_t)64 << random_below(12);
        const double times = (double)((uint64_t)1 << random_below(16));         // a few slices, or some hundred
        for (uint32_t j = 0; j < job.devices; j++) device[j].kernel *= times, device[j].copy *= times;
        for (uint32_t j = 0; j < job.devices; j++) changes[random_below(sizeof changes / sizeof *changes)](&device[j], 0.01);
        if (random_below(2)) device[random_below(job.devices)].resident = (hdst__share){job.records / 3, job.records / 4};
        simulate(&job, policies[k % 3]);
    }
}

Test(simulation, shares_of_the_dynamic_pool_ascend)
{
    sim_device device[SIM_WORKERS];
    const sim_job job = random_job(device, 8, 10);
    const sim_result result = simulate(&job, &hdst__policy_dynamic);
    cr_assert(result.ascends);
    cr_assert_gt(result.shares, 8 * 20);
}

// All but one of them.
Test(simulation, others_end_what_a_device_that_dies_had)
{
    static const hdst__policy *const policies[] = {&hdst__policy_dynamic, &hdst__policy_auto};
    worst = 0;
    for (int i = 1; i < COUNTS; i++)
        for (int k = 0; k < RUNS(counts[i]); k++) {
            sim_device device[SIM_WORKERS];
            const sim_job job = random_job(device, counts[i], 10);
            for (uint32_t j = 0; j + 1 < job.devices; j++)
                if (random_below(2)) device[j].dies = random_between(0.01, 12);
            if (k % 2) device[random_below(job.devices)].resident = (hdst__share){job.records / 3, job.records / 64};
            check(&job, policies[k / 2 % 2], 1.40, "dying");
        }
    cr_log_info("dying: %.4f of the least time at most\n", worst);
}

// Each has its own from a cached dataset, one twice as much as another: what lies with none evens it out.
Test(simulation, what_lies_with_a_device_runs_there)
{
    sim_device device[3];
    for (uint32_t i = 0; i < 3; i++)
        device[i] = (sim_device){.kernel = 1e-8, .copy = 4e-8, .copies_apart = true, .resident = {(uint64_t)i * 200000000, 100000000 * (i + 1) / 2}};
    const sim_job job = {.records = 600000000, .unit = 64, .device = device, .devices = 3};
    check(&job, &hdst__policy_dynamic, 1.10, "resident");
    const sim_result result = simulate(&job, &hdst__policy_dynamic);
    cr_assert(result.done[0] > result.done[1] - 100000000 && result.done[1] < result.done[2]);
}

// The tail rule: a hundred times as slow, and the others are done before it would have ended one slice; a slice that is short enough is taken.
Test(simulation, a_slow_device_takes_nothing_that_others_would_end_sooner)
{
    sim_device device[2] = {{.kernel = 1e-8, .is_told = true}, {.kernel = 1e-6, .is_told = true, .fixed = 0.1}};
    sim_job job = {.records = 8000000, .unit = 64, .device = device, .devices = 2};
    sim_result result = simulate(&job, &hdst__policy_dynamic);
    cr_assert_eq(result.done[1], 0);
    cr_assert_not_null(result.left_out[1]);
    cr_assert_null(result.left_out[0]);
    device[1].fixed = 0.01;
    result = simulate(&job, &hdst__policy_dynamic);
    cr_assert_gt(result.done[1], 0);
    cr_assert_null(result.left_out[1]);
    cr_assert_lt(result.seconds, 0.08 * 1.2, "%g", result.seconds);
}
