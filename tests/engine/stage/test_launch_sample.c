// SPDX-License-Identifier: Apache-2.0
// How many records a look at the data takes: as many on a busy machine as on an idle one, and fewer where each of them has to be waited for.
#include "base/costs_host.h"
#include "engine/engine_state.h"
#include "engine/stage/stage.h"
#include "tests/engine/fixture.h"

#include <criterion/criterion.h>

enum { RECORDS = 20000, FIRST_LOOKS = 1 + 4 };        // one record, then a few

static uint64_t sampled(uint64_t waits_at, uint64_t wait_fills)
{
    fixture f;
    const fixture_options options = {.device = "interp", .layout = HDST__SOA, .records = RECORDS, .accumulates = true,
                                     .waits_at = waits_at, .wait_fills = wait_fills, .wait_seconds = 0.08};
    cr_assert_eq(fixture_open(&f, &options), HDST_OK);
    f.engine->limits.sample_seconds = 0.02;             // ten times what it is, for sanitizers and slow machines
    cr_assert_eq(fixture_run(&f), HDST_OK, "%s", f.error.message);
    fixture_expect_right(&f);
    const uint64_t count = f.stage->plan->sampled;
    fixture_close(&f);
    return count;
}

Test(launch_sample, takes_all_that_it_may) { cr_assert_eq(sampled(0, 0), FIRST_LOOKS + HDST__HOST_SAMPLE_RECORDS); }

// A thread that loses its processor for a while, or waits for a disk, does not find its records expensive.
Test(launch_sample, is_not_shorter_for_a_wait)
{
    for (uint64_t at = 1; at <= 3; at++) cr_assert_eq(sampled(at, 1), FIRST_LOOKS + HDST__HOST_SAMPLE_RECORDS, "call %d waits", (int)at);
}

Test(launch_sample, ends_where_all_have_to_be_waited_for)
{
    const uint64_t count = sampled(1, 12);
    cr_assert(count > FIRST_LOOKS && count < FIRST_LOOKS + HDST__HOST_SAMPLE_RECORDS, "%llu", (unsigned long long)count);
}
