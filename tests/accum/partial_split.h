// SPDX-License-Identifier: Apache-2.0
// Addends split at random over partials, by way of device tables of random forms and scales, and the partials merged at random.
#ifndef HDST_TESTS_PARTIAL_SPLIT_H
#define HDST_TESTS_PARTIAL_SPLIT_H

#include "tests/accum/partial_case.h"

#include <criterion/criterion.h>

enum { MOST_PARTIALS = 7, ROW = 1, ELEMENT = 1 };      // where the addends go: the other elements stay empty

static inline hdst__partial *new_partial(const case_table *like)
{
    hdst__partial *partial = hdst__partial_create(NULL, like->table.tables, case_rows);
    cr_assert_not_null(partial);
    return partial;
}

static inline void merge(hdst__partial *to, const hdst__partial *from)
{
    hdst_error error = HDST_ERROR_INIT;
    cr_assert_eq(hdst__partial_merge(to, from, &error), HDST_OK, "%s", error.message);
}

static inline void add_table(hdst__partial *to, const case_table *from)
{
    hdst_error error = HDST_ERROR_INIT;
    cr_assert_eq(hdst__partial_add_device_table(to, &from->table, &error), HDST_OK, "%s", error.message);
}

// Each addend to one of `count` partials' tables; some partials get two tables, of different forms.
static inline size_t split(const case_shape *s, const uint64_t *bits, size_t count, uint64_t *seed, hdst__partial **partial)
{
    const size_t parts = 1 + random_word(seed) % MOST_PARTIALS;
    case_table table[2 * MOST_PARTIALS];
    for (size_t t = 0; t < 2 * parts; t++) case_table_random(&table[t], s, seed);
    for (size_t i = 0; i < count; i++) {
        case_table *to = &table[random_word(seed) % (2 * parts)];
        case_add(to, 0, ROW, 0, 1);
        case_add(to, 1, ROW, ELEMENT, bits[i]);
    }
    for (size_t t = 0; t < 2 * parts; t++) case_soil(&table[t]);
    for (size_t p = 0; p < parts; p++) {
        partial[p] = new_partial(&table[p]);
        add_table(partial[p], &table[2 * p]);
        add_table(partial[p], &table[2 * p + 1]);
    }
    for (size_t t = 0; t < 2 * parts; t++) case_table_destroy(&table[t]);
    return parts;
}

// Any two, until one is left.
static inline hdst__partial *merge_at_random(hdst__partial **partial, size_t count, uint64_t *seed)
{
    while (count > 1) {
        const size_t to = random_word(seed) % count, other = (to + 1 + random_word(seed) % (count - 1)) % count;
        merge(partial[to], partial[other]);
        hdst__partial_destroy(partial[other]);
        partial[other] = partial[--count];
    }
    return partial[0];
}

#endif
