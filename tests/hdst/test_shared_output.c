// SPDX-License-Identifier: Apache-2.0
// Output of several devices that a consumer takes in the order of the input, where one is far behind the other.
#include "tests/hdst/support.h"
#include "tests/support/stillness.h"

#include "partition/policy.h"

#include <sched.h>
#include <stdatomic.h>

enum { RECORDS = 80000, SHARE = 640, BUDGET = 6 << 20 };

TestSuite(shared_output, .init = fail_when_all_wait);

typedef struct item { uint64_t key, v; } item;

static const char text[] = "struct item { uint64_t key; uint64_t v; };\n"
                           "struct value { uint64_t v; };\n"
                           "map sum(item i, accum value s) { s.v += i.v; }\n"
                           "filter some(item i) { return i.v != 5u; }\n"
                           "reduce add(value a, value b) { return (value){ .v = a.v + b.v }; }\n";

static bool fill(uint64_t first, uint64_t count, void *records, char *message, void *user)
{
    (void)message, (void)user;
    for (uint64_t i = 0; i < count; i++) ((item *)records)[i] = (item){(first + i) % 10, first + i};
    return true;
}

// --- A policy that has the second device first and last, and lets the first one run ahead ---

struct hdst__schedule { const hdst__allocator *allocator; };

static _Atomic uint64_t reached, done_by_first;
static uint64_t second_again;           // where the second device's other share begins
static bool forgets;                    // the last of the input is given to nobody
static _Atomic uint32_t shares_of_second;

static bool suits(const hdst__job *job) { return job->workers == 2; }

static hdst__schedule *begin(const hdst__job *job, const hdst__allocator *allocator)
{
    cr_assert_eq(job->records, RECORDS);
    atomic_store(&reached, second_again == SHARE ? 2 * SHARE : SHARE);
    atomic_store(&done_by_first, 0);
    atomic_store(&shares_of_second, 0);
    hdst__schedule *schedule = hdst__alloc_zero(allocator, sizeof *schedule);
    schedule->allocator = allocator;
    return schedule;
}

// The second device's first share is the input's first; while it has that in flight it waits here for what the first device does, and asks for its other.
static bool next(hdst__schedule *schedule, uint32_t worker, hdst__share *share)
{
    (void)schedule;
    if (worker == 0) {
        while (!shares_of_second) sched_yield();
        *share = (hdst__share){atomic_fetch_add(&reached, SHARE), SHARE};
        return share->first < (second_again == SHARE && !forgets ? RECORDS : RECORDS - SHARE);
    }
    const uint32_t count = shares_of_second++;
    *share = (hdst__share){count ? second_again : 0, SHARE};
    while (count == 1 && done_by_first < RECORDS - 10 * SHARE) sched_yield();
    return count < 2;
}

static uint64_t slice(hdst__schedule *schedule, uint32_t worker, const hdst__slice_limits *limits)
{
    (void)schedule, (void)worker;
    return limits->most < limits->left ? limits->most : limits->left;
}

static void done(hdst__schedule *schedule, uint32_t worker, const hdst__slice_cost *cost)
{
    (void)schedule;
    if (worker == 0) done_by_first += cost->records;
}

static const char *left_out(hdst__schedule *schedule, uint32_t worker) { return (void)schedule, (void)worker, NULL; }
static double seconds(hdst__schedule *schedule) { return (void)schedule, 0; }
static void end(hdst__schedule *schedule) { hdst__free(schedule->allocator, schedule); }

static const hdst__policy first_ahead = {
    .name = "first ahead", .suits = suits, .begin = begin, .next = next, .slice = slice, .done = done, .left_out = left_out, .seconds = seconds, .end = end,
};

static hdst_context *two_devices(uint64_t again, bool forgetful)
{
    second_again = again;
    forgets = forgetful;
    hdst_context_options options = HDST_CONTEXT_OPTIONS_INIT;
    options.device = "0,1";
    options.cpu_parts = 2;
    options.memory = BUDGET;
    hdst_context *context = hdst_context_create(&options);
    hdst__limits *limits = hdst__engine_limits(context->engine);
    limits->share_bytes = 0;
    limits->policy = &first_ahead;
    return context;
}

static void run_with(uint64_t again)
{
    hdst_context *context = two_devices(again, false);
    hdst_module *m = module_of(context, text);
    hdst_dataset *items = hdst_read(hdst_source_from_callback(context, RECORDS, fill, NULL), m, "item");
    hdst_result *r = hdst_result_create(hdst_reduce_by_key(hdst_filter_function(items, m, "some"), m, "add"));
    RUN(r);
    cr_assert_geq(shares_of_second, 3, "it took part");
    uint64_t count;
    const item *rows = hdst_result_rows(r, NULL, &count);
    cr_assert_eq(count, 10);
    for (uint64_t i = 0; i < count; i++) {
        uint64_t right = 0;
        for (uint64_t v = rows[i].key; v < RECORDS; v += 10) right += v == 5 ? 0 : v;
        cr_assert_eq(rows[i].v, right, "key %llu", (unsigned long long)rows[i].key);
    }
    hdst_context_destroy(context);
}

// What the first device has made waits for the second one's slice, and is more than may wait. The second one must not wait with it in flight.
Test(shared_output, who_is_waited_for_does_not_wait)
{
    if (!have_team()) cr_skip("no halves\n");
    run_with(RECORDS - SHARE);
}

// Nor where its next share is what all wait for.
Test(shared_output, the_share_that_is_next_does_not_wait)
{
    if (!have_team()) cr_skip("no halves\n");
    run_with(SHARE);
}

// A policy with a fault is no reason for a wrong sum.
Test(shared_output, records_that_nobody_had_are_missed)
{
    if (!have_team()) cr_skip("no halves\n");
    hdst_context *context = two_devices(SHARE, true);
    hdst_module *m = module_of(context, text);
    hdst_dataset *items = hdst_read(hdst_source_from_callback(context, RECORDS, fill, NULL), m, "item");
    hdst_error error;
    cr_assert_eq(hdst_run(hdst_result_create(hdst_map_function(items, m, "sum")), &error), HDST_E_INTERNAL);
    cr_assert(strstr(error.message, "of 80000 records 79360 were run"), "%s", error.message);
    hdst_context_destroy(context);
}
