// SPDX-License-Identifier: Apache-2.0
// The power of a plan: measured, kept in the device's table and in a file, found by another plan of the same function, and replaced when it has drifted.
#include "engine/stage/launch_power.h"
#include "engine/stage/stage.h"
#include "tests/engine/fixture.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

static char root[64];

static void set_up(void)
{
    snprintf(root, sizeof root, "/tmp/hdst-test-power-XXXXXX");
    cr_assert_not_null(mkdtemp(root));
    cr_assert_eq(setenv("HDST_CACHE_DIR", root, 1), 0);
}

static void tear_down(void)
{
    char command[256];
    snprintf(command, sizeof command, "rm -rf '%s'", root);
    cr_assert_eq(system(command), 0);
}

TestSuite(launch_power, .init = set_up, .fini = tear_down);

static hdst__launch_plan *open_plan(fixture *f, const char *device, int32_t rows)
{
    const fixture_options options = {.device = device, .layout = HDST__SOA, .records = 1000, .accumulates = true, .rows = (uint64_t)rows};
    cr_assert_eq(fixture_open(f, &options), HDST_OK);
    cr_assert_eq(fixture_run(f), HDST_OK);
    cr_assert_not_null(f->stage->plan);
    f->stage->plan->power = (hdst__power){.kernel = 1};        // a guess
    return f->stage->plan;
}

// Eight slices of the lengths that tell fixed and other parts apart.
static hdst__power_estimate slices(double fixed, double each)
{
    hdst__power_estimate estimate = {.slices = 0};
    for (uint64_t i = 1; i <= 8; i++) {
        const uint64_t records = i * 1000000;
        hdst__power_estimate_add(&estimate, &(hdst__slice_cost){.records = records, .kernel = fixed + each * (double)records});
    }
    return estimate;
}

static double found(const char *device, int32_t rows)
{
    fixture f;
    hdst__launch_plan *plan = open_plan(&f, device, rows);
    hdst__plan_power_before(plan);
    const double kernel = plan->power.kernel;
    cr_assert_eq(plan->power.slices > 0, kernel != 1);
    fixture_close(&f);
    return kernel;
}

static void measure(const char *device, double each)
{
    fixture f;
    hdst__launch_plan *plan = open_plan(&f, device, 10);
    const hdst__power_estimate estimate = slices(1e-3, each);
    hdst__plan_power_after(plan, &estimate);
    hdst__plan_power_before(plan);
    cr_assert_eq(plan->power.slices, 8, "the table of the device has it");
    cr_assert_float_eq(plan->power.fixed, 1e-3, 1e-6);
    fixture_close(&f);
}

Test(launch_power, outlives_the_process_beside_the_compiled_programs)
{
    cr_assert_eq(found("cpu", 10), 1);
    measure("cpu", 1e-8);
    cr_assert_float_eq(found("cpu", 10), 1e-8, 1e-12);
    measure("cpu", 1.05e-8);
    cr_assert_float_eq(found("cpu", 10), 1e-8, 1e-12, "5 %% are no drift");
    measure("cpu", 1.2e-8);
    cr_assert_float_eq(found("cpu", 10), 1.2e-8, 1e-12);
}

Test(launch_power, of_a_device_that_keeps_nothing_is_in_its_table)
{
    measure("interp", 1e-8);
    cr_assert_eq(found("interp", 10), 1);
}

// Less than a twentieth of a second of slices, or fewer than four.
Test(launch_power, is_not_taken_from_runs_that_say_little)
{
    fixture f;
    hdst__launch_plan *plan = open_plan(&f, "cpu", 10);
    hdst__power_estimate estimate = slices(1e-3, 1e-10);
    hdst__plan_power_after(plan, &estimate);
    estimate = (hdst__power_estimate){.slices = 0};
    for (int i = 0; i < 3; i++) hdst__power_estimate_add(&estimate, &(hdst__slice_cost){.records = 1000, .kernel = 10});
    hdst__plan_power_after(plan, &estimate);
    fixture_close(&f);
    cr_assert_eq(found("cpu", 10), 1);
}
