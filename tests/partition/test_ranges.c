// SPDX-License-Identifier: Apache-2.0
// Ranges of records against a map with a byte for each record.
#include "partition/ranges.h"

#include <criterion/criterion.h>

enum { RECORDS = 600 };

static uint64_t seed = 1;

static uint64_t random_below(uint64_t limit)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (seed >> 20) % limit;
}

static uint32_t check(const hdst__ranges *ranges, const char *there)
{
    uint64_t at = 0, records = 0;
    uint32_t runs = 0;
    for (uint64_t i = 0; i < RECORDS; i++) records += there[i], runs += there[i] && (i == 0 || !there[i - 1]);
    cr_assert_eq(ranges->records, records);
    cr_assert_eq(ranges->count, runs, "neighbours are joined");
    for (uint32_t i = 0; i < ranges->count; i++) {
        for (; at < ranges->range[i].first; at++) cr_assert_not(there[at]);
        for (; at < ranges->range[i].first + ranges->range[i].count; at++) cr_assert(there[at]);
    }
    for (; at < RECORDS; at++) cr_assert_not(there[at]);
    return runs;
}

static void add_some(hdst__ranges *ranges, char *there)
{
    const uint64_t first = random_below(RECORDS), most = 1 + random_below(60);
    uint64_t count = 0;
    while (count < most && first + count < RECORDS && !there[first + count]) there[first + count++] = 1;
    cr_assert(hdst__ranges_add(ranges, &(hdst__share){first, count}));
}

// Of the places for a cut the one that is nearest to what is wanted from below, else the nearest; where there is none, or all is wanted, all.
static uint64_t expected(const hdst__share *range, bool from_end, uint64_t wanted, uint64_t unit)
{
    uint64_t below = 0, above = range->count;
    for (uint64_t n = range->count - 1; n > 0; n--) {
        if ((from_end ? range->first + range->count - n : range->first + n) % unit) continue;
        if (n > wanted) above = n;
        else if (!below) below = n;
    }
    return wanted >= range->count ? range->count : below ? below : above;
}

static void take_some(hdst__ranges *ranges, char *there)
{
    const bool from_end = random_below(2);
    const uint64_t unit = (uint64_t[]){1, 7, 64}[random_below(3)], wanted = random_below(100);
    const hdst__share range = ranges->count ? ranges->range[from_end ? ranges->count - 1 : 0] : (hdst__share){0, 0};
    hdst__share taken = {0, 0};
    cr_assert_eq((from_end ? hdst__ranges_take_last : hdst__ranges_take_first)(ranges, wanted, unit, &taken), range.count > 0);
    if (!range.count) return;
    const uint64_t want = expected(&range, from_end, wanted, unit);
    cr_assert_eq(taken.count, want, "%d of %d+%d, unit %d: %d, not %d", (int)wanted, (int)range.first, (int)range.count, (int)unit,
                 (int)taken.count, (int)want);
    cr_assert_eq(taken.first, from_end ? range.first + range.count - want : range.first);
    for (uint64_t i = 0; i < taken.count; i++) there[taken.first + i] = 0;
}

Test(ranges, hold_what_was_added_and_not_taken)
{
    uint32_t most = 0;
    for (int run = 0; run < 200; run++) {
        char there[RECORDS] = {0};
        hdst__ranges ranges = {0};
        for (int step = 0; step < 100; step++) {
            random_below(2) ? add_some(&ranges, there) : take_some(&ranges, there);
            const uint32_t runs = check(&ranges, there);
            most = runs > most ? runs : most;
        }
        hdst__ranges_free(&ranges);
    }
    cr_assert_gt(most, 8, "more than there is room for at first");
}

Test(ranges, of_another_are_added_all_at_once)
{
    hdst__ranges a = {0}, b = {0};
    cr_assert(hdst__ranges_add(&a, &(hdst__share){10, 5}) && hdst__ranges_add(&a, &(hdst__share){30, 5}));
    cr_assert(hdst__ranges_add(&b, &(hdst__share){15, 15}) && hdst__ranges_add(&b, &(hdst__share){40, 1}));
    cr_assert(hdst__ranges_add_all(&a, &b));
    cr_assert(a.count == 2 && a.records == 26 && a.range[0].first == 10 && a.range[0].count == 25 && a.range[1].first == 40);
    hdst__ranges_clear(&a);
    cr_assert(a.count == 0 && a.records == 0);
    hdst__ranges_free(&a);
    hdst__ranges_free(&b);
}
