// SPDX-License-Identifier: Apache-2.0
// The hash table of reductions by key: room, order, keys that come round from its end, crowds.
#include "shuffle/aggregate/key_table.h"

#include <criterion/criterion.h>
#include <stdlib.h>

enum { WORDS = 3 };             // of a row: tag, key, sum

static void add(hdst__key_table *table, uint32_t hash, uint64_t key, uint64_t value) { hdst__key_table_find(table, hash, &key, true)[2] += value; }

static void expect_sorted(const hdst__key_table *table, uint64_t count)
{
    uint64_t *rows = malloc((count + 1) * WORDS * 8);
    cr_assert_eq(table->count, count);
    hdst__key_table_sorted(table, rows);
    for (uint64_t i = 1; i < count; i++) {
        const uint64_t *a = rows + (i - 1) * WORDS, *b = rows + i * WORDS;
        cr_assert(a[0] < b[0] || (a[0] == b[0] && a[1] < b[1]), "row %llu", (unsigned long long)i);
    }
    free(rows);
}

Test(key_table, it_grows_by_as_much_as_is_asked_for)
{
    hdst__key_table table;
    cr_assert(hdst__key_table_create(&table, NULL, WORDS, 1, 4, 0));
    for (uint32_t i = 0; i < 8; i++) add(&table, i * 0x20000001u, i, i + 1);
    cr_assert(!hdst__key_table_has_room(&table, 1000) && hdst__key_table_grow(&table, 1000) && hdst__key_table_has_room(&table, 1000));
    for (uint32_t i = 0; i < 8; i++) {
        const uint64_t key = i, *row = hdst__key_table_find(&table, i * 0x20000001u, &key, false);
        cr_assert(row && row[2] == i + 1u);
    }
    expect_sorted(&table, 8);
    hdst__key_table_destroy(&table);
}

// Homes at the table's end: rows go on at its beginning, before those that belong there.
Test(key_table, rows_that_come_round_from_the_end_are_last)
{
    hdst__key_table table;
    cr_assert(hdst__key_table_create(&table, NULL, WORDS, 1, 5, 0));
    for (uint32_t i = 0; i < 6; i++) add(&table, 0xffffffffu - i * 3, i, 1);
    for (uint32_t i = 0; i < 4; i++) add(&table, i * 7, 100 + i, 1);
    for (uint64_t key = 9; key-- > 4;) add(&table, 0xfffffff1u, key, 1);       // one hash, keys from above
    expect_sorted(&table, 15);
    const uint64_t none = 77;
    cr_assert_null(hdst__key_table_find(&table, 0xfffffff1u, &none, false));
    hdst__key_table_destroy(&table);
}

Test(key_table, it_knows_when_keys_crowd_and_forgets_it_when_cleared)
{
    hdst__key_table table;
    cr_assert(hdst__key_table_create(&table, NULL, WORDS, 1, 12, 0));
    for (uint64_t key = 0; key < HDST__KEY_PROBES; key++) add(&table, 0x12345678u, key, 1);
    cr_assert(!hdst__key_table_is_crowded(&table) && table.longest == HDST__KEY_PROBES - 1);
    const uint64_t one_more = HDST__KEY_PROBES;
    cr_assert_null(hdst__key_table_find(&table, 0x12345678u, &one_more, true));
    cr_assert(hdst__key_table_is_crowded(&table));
    expect_sorted(&table, HDST__KEY_PROBES);
    hdst__key_table_clear(&table, 0);
    cr_assert(!hdst__key_table_is_crowded(&table) && table.count == 0);
    uint64_t hash = 1;
    for (uint64_t key = 0; key < 2000; key++, hash = hash * UINT64_C(6364136223846793005) + 1442695040888963407) add(&table, (uint32_t)(hash >> 32), key, 1);
    cr_assert(!hdst__key_table_is_crowded(&table), "%llu", (unsigned long long)table.longest);
    expect_sorted(&table, 2000);
    hdst__key_table_destroy(&table);
}

// Each where it belongs, one beside the other: who comes between them would be far from home, and goes past no more of them than others do.
Test(key_table, it_is_crowded_where_rows_at_home_fill_a_stretch)
{
    enum { BITS = 12, STRETCH = 1500 };
    const uint64_t key = STRETCH;
    hdst__key_table table;
    cr_assert(hdst__key_table_create(&table, NULL, WORDS, 1, BITS, 0));
    for (uint32_t i = 0; i < STRETCH; i++) add(&table, i << (32 - BITS), i, 1);
    cr_assert(!hdst__key_table_is_crowded(&table) && table.longest == 0);
    cr_assert_null(hdst__key_table_find(&table, 1, &key, false));
    cr_assert(!hdst__key_table_is_crowded(&table), "looking for a key that is not there");
    cr_assert_null(hdst__key_table_find(&table, 1, &key, true));
    cr_assert(hdst__key_table_is_crowded(&table));
    expect_sorted(&table, STRETCH);
    hdst__key_table_destroy(&table);
}

// So all of them are found: neighbouring hashes in an order of their own, some of them round the table's end, with room for twice and for four times as many.
Test(key_table, no_row_stands_farther_from_home_in_a_larger_table)
{
    enum { BITS = 9, KEYS = 250 };
    for (uint32_t base = 0; base < 8; base++) {
        hdst__key_table table;
        cr_assert(hdst__key_table_create(&table, NULL, WORDS, 1, BITS, 0));
        for (uint64_t key = 0; key < KEYS; key++) add(&table, (base << 29) - (uint32_t)(key * 7919 % KEYS << (16 + base)), key, key + 1);
        for (uint32_t more = 1; more < 5; more++) {
            const uint64_t before = table.longest;
            cr_assert(hdst__key_table_grow(&table, more * KEYS));
            cr_assert(table.longest <= before && table.count == KEYS, "%llu places, %llu before", (unsigned long long)table.longest,
                      (unsigned long long)before);
            for (uint64_t key = 0; key < KEYS; key++) {
                const uint64_t *row = hdst__key_table_find(&table, (base << 29) - (uint32_t)(key * 7919 % KEYS << (16 + base)), &key, false);
                cr_assert(row && row[2] == key + 1);
            }
            expect_sorted(&table, KEYS);
        }
        hdst__key_table_destroy(&table);
    }
}
