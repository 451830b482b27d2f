// SPDX-License-Identifier: Apache-2.0
// The hash table of reductions by key: room, order, keys that come round from its end, crowds.
#include "shuffle/key_table.h"

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
    add(&table, 0x12345678u, HDST__KEY_PROBES, 1);
    cr_assert(hdst__key_table_is_crowded(&table));
    expect_sorted(&table, HDST__KEY_PROBES + 1);
    hdst__key_table_clear(&table, 0);
    cr_assert(!hdst__key_table_is_crowded(&table) && table.count == 0);
    uint64_t hash = 1;
    for (uint64_t key = 0; key < 2000; key++, hash = hash * UINT64_C(6364136223846793005) + 1442695040888963407) add(&table, (uint32_t)(hash >> 32), key, 1);
    cr_assert(!hdst__key_table_is_crowded(&table), "%llu", (unsigned long long)table.longest);
    expect_sorted(&table, 2000);
    hdst__key_table_destroy(&table);
}
