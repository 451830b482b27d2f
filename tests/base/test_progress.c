// SPDX-License-Identifier: Apache-2.0
// Progress: what is told, when and by whom. (Whole runs: tests/hdst/test_progress.c.)
#include "base/progress.h"
#include "base/clock.h"

#include <criterion/criterion.h>

static uint32_t calls;
static hdst__progress_state last;
static hdst__progress progress;

static void note(const hdst__progress_state *state, void *user)
{
    cr_assert_eq(user, &calls);
    calls++;
    last = *state;
}

static void set_up(void) { hdst__progress_init(&progress, note, &calls); }
static void tear_down(void) { hdst__progress_destroy(&progress); }

TestSuite(progress, .init = set_up, .fini = tear_down);

static void look_later(void)
{
    hdst__sleep(0.11);
    hdst__progress_look(&progress);
}

Test(progress, only_a_scan_is_told)
{
    look_later();
    cr_expect_eq(calls, 0, "before the first");
    hdst__progress_begin(&progress, "f", 100);
    hdst__progress_look(&progress);
    cr_expect_eq(calls, 1);
    cr_expect_str_eq(last.function, "f");
    cr_expect(last.records == 0 && last.of == 100 && last.count == 0);
    hdst__progress_end(&progress);
    look_later();
    cr_expect_eq(calls, 1, "behind the last");
}

// On a busy machine any of this may take longer than the time between two: by the clock there are as many as there may be.
static void look_often(double since)
{
    for (int i = 0; i < 1000; i++) hdst__progress_look(&progress);
    cr_expect_leq(calls, (hdst__now() - since) / 0.0999);
}

Test(progress, it_is_told_seldom)
{
    const double since = progress.told;         // when it was made
    hdst__progress_begin(&progress, "f", 0);
    look_often(since);          // not at once either
    look_later();
    cr_expect_geq(calls, 1);
    look_often(since);
}

Test(progress, records_add_up_by_worker)
{
    int one, two;
    hdst__progress_begin(&progress, "f", 100);
    hdst__progress_add(&progress, &one, 10);
    hdst__progress_add(&progress, &two, 20);
    hdst__progress_add(&progress, &one, 30);
    look_later();
    cr_expect(last.records == 60 && last.of == 100 && last.count == 2);
    cr_expect(last.worker[0].worker == &one && last.worker[0].records == 40);
    cr_expect(last.worker[1].worker == &two && last.worker[1].records == 20);
    hdst__progress_add(&progress, &two, 50);
    look_later();
    cr_expect(last.records == 100 && last.worker[1].records == 60, "more than there are");
    hdst__progress_begin(&progress, "g", 0);
    hdst__progress_add(&progress, &two, 500);
    look_later();
    cr_expect(last.records == 500 && last.of == 0 && last.count == 1, "a scan begins anew");
    cr_expect_eq(calls, 3);
}

Test(progress, more_workers_than_are_told_count_in_all)
{
    char worker[HDST__PROGRESS_WORKERS + 4];
    hdst__progress_begin(&progress, "f", 0);
    for (size_t i = 0; i < sizeof worker; i++) hdst__progress_add(&progress, &worker[i], 1);
    look_later();
    cr_expect(last.count == HDST__PROGRESS_WORKERS && last.records == sizeof worker);
}

// A scan is in the turn that was set when it began; who ends an inner loop sets the outer one's again.
Test(progress, turns_are_told_with_their_scans)
{
    const hdst__progress_turn outer = {.number = 3, .of = 9, .until = "outer", .value = 0.5, .seconds = 2}, inner = {.number = 1, .of = 4};
    cr_expect_eq(hdst__progress_set_turn(&progress, outer).number, 0);
    hdst__progress_begin(&progress, "f", 1);
    const hdst__progress_turn before = hdst__progress_set_turn(&progress, inner);
    look_later();
    cr_expect(last.turn.number == 3 && last.turn.of == 9 && last.turn.value == 0.5 && last.turn.seconds == 2);
    cr_expect_str_eq(last.turn.until, "outer");
    hdst__progress_begin(&progress, "g", 1);
    look_later();
    cr_expect(last.turn.number == 1 && last.turn.of == 4 && !last.turn.until);
    cr_expect_eq(hdst__progress_set_turn(&progress, before).of, 4);
    hdst__progress_begin(&progress, "f", 1);
    look_later();
    cr_expect_eq(last.turn.number, 3);
}

static void *look_elsewhere(void *user)
{
    (void)user;
    hdst__progress_add(&progress, &calls, 5);
    look_later();
    return NULL;
}

Test(progress, other_threads_add_and_tell_nothing)
{
    pthread_t thread;
    hdst__progress_begin(&progress, "f", 10);
    cr_assert_eq(pthread_create(&thread, NULL, look_elsewhere, NULL), 0);
    pthread_join(thread, NULL);
    cr_expect_eq(calls, 0);
    hdst__progress_look(&progress);
    cr_expect(calls == 1 && last.records == 5);
}

Test(progress, without_one_nothing_happens)
{
    hdst__progress_begin(NULL, "f", 1);
    hdst__progress_add(NULL, NULL, 1);
    hdst__progress_look(NULL);
    hdst__progress_end(NULL);
    cr_expect_eq(hdst__progress_set_turn(NULL, (hdst__progress_turn){.number = 5}).number, 0);
}
