// SPDX-License-Identifier: Apache-2.0
// Sorts by the first bytes of keys against qsort with a comparison of its own, over key and place, which is what stable means: texts that have much in common,
// NUL bytes, lengths around words and spans, numbers in front of texts and behind them, either direction, few records and many, one thread and several.
#include "record/layout.h"
#include "shuffle/sort/sort_prefixes.h"

#include <criterion/criterion.h>
#include <stddef.h>
#include <stdlib.h>

enum { MOST = 70000, LONGEST = 700 };

typedef struct row { uint32_t number; hdst__text_span text; uint16_t last; } row;

static row rows[MOST];
static char *bytes;
static hdst__sort_field fields[3];
static size_t field_count;
static uint64_t state;

static uint32_t next(uint32_t below)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(state >> 33) % below;
}

// What this way of making texts gives: 0 any bytes; 1 few letters; 2 zero bytes; 3 all begin alike, for longer than any word; 4 one text; 5 one letter, all
// lengths
static uint32_t make_text(int way, char *to)
{
    uint32_t length = next(way == 3 ? LONGEST : 40), i = 0;
    if (way == 4) length = 33;
    for (; i < length; i++) to[i] = way == 0 ? (char)next(256) : way == 1 ? (char)('a' + next(2)) : way == 2 ? (char)(next(5) == 0) : 'x';
    if (way == 3 && length > 600) to[600 + next(length - 600)] = (char)next(256);
    return length;
}

static void make_rows(int way, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        char *at = bytes + i * LONGEST;
        const uint32_t length = make_text(way, at);
        rows[i] = (row){.number = next(3), .text = hdst__text_span_of(at, length), .last = (uint16_t)next(4)};
    }
}

static int order_of(const row *a, const row *b)
{
    for (size_t f = 0; f < field_count; f++) {
        int order;
        if (fields[f].kind == HDST__TEXT) {
            const uint32_t shorter = a->text.length < b->text.length ? a->text.length : b->text.length;
            order = memcmp(bytes + (a - rows) * LONGEST, bytes + (b - rows) * LONGEST, shorter);
            if (!order) order = (a->text.length > b->text.length) - (a->text.length < b->text.length);
        } else {
            const uint32_t x = fields[f].bits == 32 ? a->number : a->last, y = fields[f].bits == 32 ? b->number : b->last;
            order = (x > y) - (x < y);
        }
        if (order) return fields[f].descending ? -order : order;
    }
    return 0;
}

static int by_key_and_place(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    const int order = order_of(&rows[x], &rows[y]);
    return order ? order : (x > y) - (x < y);
}

static void check(hdst__thread_pool *threads, size_t count, const char *what)
{
    static uint32_t expected[MOST];
    static hdst__sort_entry entries[MOST], scratch[MOST];
    for (uint32_t i = 0; i < count; i++) expected[i] = i;
    qsort(expected, count, sizeof *expected, by_key_and_place);
    const hdst__sort_entry *sorted = hdst__sort_by_prefixes(threads, fields, field_count, (const char *)rows, sizeof *rows, count, entries, scratch, NULL);
    for (size_t i = 0; i < count; i++) cr_assert_eq(sorted[i].index, expected[i], "%s: %zu of %zu", what, i, count);
}

static const hdst__sort_field text_up = {offsetof(row, text), HDST__TEXT, 128, false}, text_down = {offsetof(row, text), HDST__TEXT, 128, true},
    number_up = {offsetof(row, number), HDST__U32, 32, false}, number_down = {offsetof(row, number), HDST__U32, 32, true},
    last_down = {offsetof(row, last), HDST__U16, 16, true};

static void check_orders(hdst__thread_pool *threads, size_t count)
{
    static const struct { const char *what; const hdst__sort_field *field[3]; } orders[] = {
        {"text", {&text_up}}, {"text down", {&text_down}}, {"text, number", {&text_up, &number_down}}, {"number, text", {&number_up, &text_down}},
        {"text down, last, number", {&text_down, &last_down, &number_up}}, {"number", {&number_down}}};
    for (size_t o = 0; o < sizeof orders / sizeof *orders; o++) {
        for (field_count = 0; field_count < 3 && orders[o].field[field_count]; field_count++) fields[field_count] = *orders[o].field[field_count];
        check(threads, count, orders[o].what);
    }
}

Test(sort_prefixes, texts_and_numbers_are_in_order)
{
    static const size_t counts[] = {0, 1, 2, 5, 17, 200, 300, 5000, MOST};
    hdst__thread_pool *threads = hdst__thread_pool_create(NULL, 3);
    bytes = calloc(MOST, LONGEST);
    cr_assert(threads && bytes);
    for (int way = 0; way < 6; way++) {
        for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
            state = (uint64_t)way * 100 + c;
            make_rows(way, counts[c]);
            check_orders(counts[c] % 2 ? NULL : threads, counts[c]);
        }
    }
    free(bytes);
    hdst__thread_pool_destroy(threads);
}

Test(sort_prefixes, one_that_is_cancelled_ends)
{
    static hdst__sort_entry entries[MOST], scratch[MOST];
    hdst__cancel cancel = {0};
    bytes = calloc(MOST, LONGEST);
    make_rows(1, MOST);
    hdst__cancel_begin(&cancel);
    hdst__cancel_ask(&cancel);
    cr_assert_null(hdst__sort_by_prefixes(NULL, &text_up, 1, (const char *)rows, sizeof *rows, MOST, entries, scratch, &cancel));
    free(bytes);
}
