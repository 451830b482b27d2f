// SPDX-License-Identifier: Apache-2.0
// How many keys are expected from a sample, where all are as likely, where none comes twice, and where some come again at once and then never.
#include "shuffle/aggregate/distinct_keys.h"

#include <criterion/criterion.h>
#include <stdbool.h>
#include <stdlib.h>

enum { SAMPLE = 1 << 17, ALL = 8000000 };

static uint64_t state = 88172645463325252u;
static uint64_t next(void)
{
    state ^= state << 13; state ^= state >> 7; state ^= state << 17;
    return state;
}

// Of SAMPLE draws from `keys` keys, or of keys that are all new (0), of which one in `again` comes a second time at once.
static double expected(uint64_t keys, uint64_t again)
{
    bool *met = calloc(keys ? keys : 1, 1);
    double half = 0, seen = 0;
    for (uint64_t i = 0; i < SAMPLE; i++) {
        if (i == SAMPLE / 2) half = seen;
        if (again && i % again == 0) continue;
        const uint64_t key = keys ? next() % keys : 0;
        seen += !keys || !met[key];
        met[key] = true;
    }
    free(met);
    return hdst__distinct_keys_going_on(half, seen, SAMPLE, ALL);
}

static void near(double got, double wanted) { cr_assert(got > 0.9 * wanted && got < 1.1 * wanted, "%g, not %g", got, wanted); }

Test(distinct_keys, as_likely_ones_are_as_many_as_there_are)
{
    near(expected(1000, 0), 1000);
    near(expected(100000, 0), 100000);
    near(expected(100000, 5), 100000);
}

Test(distinct_keys, new_ones_go_on)
{
    near(expected(0, 0), ALL);
    near(expected(0, 5), ALL * 0.8);
    near(expected(0, 20), ALL * 0.95);
}

Test(distinct_keys, never_fewer_than_were_seen_nor_more_than_records)
{
    cr_assert_eq(hdst__distinct_keys_going_on(0, 0, 0, 0), 0);
    cr_assert_eq(hdst__distinct_keys_going_on(0, 1, 1, 1), 1);
    cr_assert_eq(hdst__distinct_keys_going_on(50, 50, 100, 1000), 50);
    cr_assert_eq(hdst__distinct_keys_going_on(10, 100, 100, 1000), 1000);
    cr_assert_eq(hdst__distinct_keys_going_on(50, 100, 100, 100), 100);
}
