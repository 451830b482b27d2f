// SPDX-License-Identifier: Apache-2.0
// Sorts of words against qsort over number and place, which is what stable means: words by their upper half, entries by their key, words by comparing.
#include "shuffle/sort/radix_sort.h"

#include "base/costs_host.h"

#include <criterion/criterion.h>
#include <stdlib.h>

enum { MOST = 3000 };

static uint64_t random_bits(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state >> 31 ^ *state << 29;
}

// Numbers that differ in some of their bits only, so that digits are left out.
static uint64_t number(uint64_t *state, int form)
{
    const uint64_t bits = random_bits(state);
    return form == 0 ? bits : form == 1 ? bits & 3 : form == 2 ? bits & UINT64_C(0xff00000000) : form == 3 ? 42 : bits & UINT64_C(0xffe00000);
}

static int by_key_and_place(const void *a, const void *b)
{
    const hdst__radix_entry *x = a, *y = b;
    if (x->key != y->key) return x->key < y->key ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

static const uint64_t counts[] = {0, 1, 2, 17, MOST};

Test(radix_sort, entries_are_in_the_order_of_their_keys)
{
    static hdst__radix_entry entries[MOST], scratch[MOST], expected[MOST];
    uint64_t state = 1;
    for (int form = 0; form < 5; form++) {
        for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
            for (uint64_t i = 0; i < counts[c]; i++) expected[i] = entries[i] = (hdst__radix_entry){number(&state, form), i};
            qsort(expected, counts[c], sizeof *expected, by_key_and_place);
            const hdst__radix_entry *sorted = hdst__radix_sort_entries(entries, scratch, counts[c], NULL);
            for (uint64_t i = 0; i < counts[c]; i++) cr_assert_eq(sorted[i].index, expected[i].index, "form %d, %d of %d", form, (int)i, (int)counts[c]);
        }
    }
}

// Through several looks at whether it was cancelled; and one that is.
Test(radix_sort, many_entries_are_in_order_and_a_cancel_ends_it)
{
    const uint64_t count = 2 * HDST__HOST_CANCEL_RECORDS + 5;
    hdst__radix_entry *entries = calloc(count, sizeof *entries), *scratch = calloc(count, sizeof *scratch), *sorted;
    hdst__cancel cancel = {0};
    uint64_t state = 3, sum = 0;
    cr_assert(entries && scratch);
    for (uint64_t i = 0; i < count; i++) entries[i] = (hdst__radix_entry){number(&state, 4), i};
    hdst__cancel_begin(&cancel);
    cr_assert_not_null(sorted = hdst__radix_sort_entries(entries, scratch, count, &cancel));
    for (uint64_t i = 1; i < count; i++) cr_assert(by_key_and_place(&sorted[i - 1], &sorted[i]) < 0, "entry %d", (int)i);
    for (uint64_t i = 0; i < count; i++) sum += sorted[i].index;
    cr_assert_eq(sum, count * (count - 1) / 2);
    sorted[count - 1].key = 0;
    hdst__cancel_ask(&cancel);
    cr_assert_null(hdst__radix_sort_entries(sorted, sorted == entries ? scratch : entries, count, &cancel));
    free(entries);
    free(scratch);
}

static int by_lower_bits(const void *user, uint64_t a, uint64_t b)
{
    const uint64_t mask = *(const uint64_t *)user;
    return ((a & mask) > (b & mask)) - ((a & mask) < (b & mask));
}

Test(radix_sort, words_are_in_the_order_of_their_upper_halves)
{
    static uint64_t words[MOST], scratch[MOST];
    static hdst__radix_entry expected[MOST];
    uint64_t state = 2;
    for (int form = 0; form < 5; form++) {
        for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
            for (uint64_t i = 0; i < counts[c]; i++) {
                words[i] = number(&state, form) << 32 | i;
                expected[i] = (hdst__radix_entry){words[i] >> 32, i};
            }
            qsort(expected, counts[c], sizeof *expected, by_key_and_place);
            const uint64_t *sorted = hdst__radix_sort_words(words, scratch, counts[c]);
            for (uint64_t i = 0; i < counts[c]; i++) cr_assert_eq((uint32_t)sorted[i], expected[i].index, "form %d, %d of %d", form, (int)i, (int)counts[c]);
        }
    }
}

Test(radix_sort, words_that_compare_equal_stay_in_their_order)
{
    static uint64_t words[MOST], scratch[MOST];
    static hdst__radix_entry expected[MOST];
    uint64_t state = 3, mask = 0xff;
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
        for (uint64_t i = 0; i < counts[c]; i++) {
            words[i] = (random_bits(&state) & mask) | i << 8;
            expected[i] = (hdst__radix_entry){words[i] & mask, i};
        }
        qsort(expected, counts[c], sizeof *expected, by_key_and_place);
        const uint64_t *sorted = hdst__merge_sort_words(words, scratch, counts[c], by_lower_bits, &mask);
        for (uint64_t i = 0; i < counts[c]; i++) cr_assert_eq(sorted[i] >> 8, expected[i].index, "%d of %d", (int)i, (int)counts[c]);
    }
}
