// SPDX-License-Identifier: Apache-2.0
// The table of powers: what stands there stays until it has drifted by more than 10 %.
#include "partition/power_table.h"

#include <criterion/criterion.h>
#include <math.h>

static const hdst__power known = {.fixed = 1e-3, .copy = 1e-9, .kernel = 3e-9, .spread = 0.1, .slices = 20};

static bool note(hdst__power_table *table, uint64_t key, hdst__power power) { return hdst__power_table_note(table, &(hdst__hash){key, 7}, &power); }

Test(power_table, holds_a_power_for_each_key)
{
    hdst__power_table *table = hdst__power_table_create(NULL);
    hdst__power power = known;
    for (uint64_t i = 0; i < 100; i++) {
        cr_assert_not(hdst__power_table_find(table, &(hdst__hash){i, 7}, &power));
        power.kernel = (double)(i + 1);
        cr_assert(note(table, i, power));
    }
    for (uint64_t i = 0; i < 100; i++) {
        cr_assert(hdst__power_table_find(table, &(hdst__hash){i, 7}, &power));
        cr_assert_eq(power.kernel, (double)(i + 1));
        cr_assert_not(hdst__power_table_find(table, &(hdst__hash){i, 8}, &power));
    }
    hdst__power_table_destroy(table);
    hdst__power_table_destroy(NULL);
}

// 10 % of a record's 4 ns, or of a slice's quarter of a second.
Test(power_table, is_refreshed_when_a_part_drifts_by_more_than_a_tenth)
{
    static const struct {
        hdst__power power;
        bool news;
    } cases[] = {
        {{1e-3, 1e-9, 3.39e-9, 0.1, 20}, false}, {{1e-3, 1e-9, 3.41e-9, 0.1, 20}, true}, {{1e-3, 1e-9, 2.61e-9, 0.1, 20}, false},
        {{1e-3, 1e-9, 2.59e-9, 0.1, 20}, true},  {{1e-3, 1.41e-9, 3e-9, 0.1, 20}, true}, {{1e-3, 0.61e-9, 3e-9, 0.1, 20}, false},
        {{25e-3, 1e-9, 3e-9, 0.1, 20}, false},   {{27e-3, 1e-9, 3e-9, 0.1, 20}, true},   {{1e-3, 1e-9, 3e-9, 0.9, 79}, false},
        {{1e-3, 1e-9, 3e-9, 0.1, 80}, true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        hdst__power_table *table = hdst__power_table_create(NULL);
        hdst__power power;
        cr_assert(note(table, 1, known));
        cr_assert_eq(note(table, 1, cases[i].power), cases[i].news, "case %zu", i);
        cr_assert(hdst__power_table_find(table, &(hdst__hash){1, 7}, &power));
        const hdst__power *want = cases[i].news ? &cases[i].power : &known;
        cr_assert(power.fixed == want->fixed && power.copy == want->copy && power.kernel == want->kernel && power.slices == want->slices);
        hdst__power_table_destroy(table);
    }
}

Test(power_table, takes_nothing_that_cannot_be)
{
    static const hdst__power wrong[] = {{0, 0, 0, 0, 9},  {0, 0, -1, 0, 9},      {-1, 0, 1, 0, 9},       {0, NAN, 1, 0, 9}, {0, 0, NAN, 0, 9},
                                        {0, 0, 1, 0, 0},  {0, 0, 1, NAN, 9},     {0, 0, HUGE_VAL, 0, 9}, {0, 0, 1e7, 0, 9}, {HUGE_VAL, 0, 1, 0, 9},
                                        {0, 0, 1, -1, 9}, {0, 0, 1, HUGE_VAL, 9}};
    hdst__power_table *table = hdst__power_table_create(NULL);
    hdst__power power;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) cr_assert_not(note(table, 1, wrong[i]), "case %zu", i);
    cr_assert_not(hdst__power_table_find(table, &(hdst__hash){1, 7}, &power));
    cr_assert(note(table, 1, known));
    hdst__power_table_destroy(table);
}
