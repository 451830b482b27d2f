// SPDX-License-Identifier: Apache-2.0
// How fast partials take device tables, merge, give rows and become bytes (accum/partial.h), beside a plain loop of additions over as many words. A program
// of its own: it prints a line for each form of a table, the best of some turns.
// usage: bench_partial [ROWS]
#include "accum/first_level.h"
#include "accum/partial_bytes.h"
#include "base/clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LEAVES = 4, TURNS = 15 };

typedef enum table_form { PLAIN, FIRST_LEVEL, FIXED_POINT, FORMS } table_form;

typedef struct bench {
    hdst__arena arena;
    jmp_buf out_of_memory;
    uint64_t rows;
    hdst__leaf leaf[LEAVES];
    hdst__record record;
    int32_t scale[LEAVES];
    char *out;
} bench;

static void fail(const char *what)
{
    fprintf(stderr, "bench_partial: %s\n", what);
    exit(1);
}

static void start(bench *b, uint64_t rows)
{
    memset(b, 0, sizeof *b);
    hdst__arena_init(&b->arena, NULL, &b->out_of_memory);
    b->rows = rows;
    for (uint32_t i = 0; i < LEAVES; i++) {
        b->leaf[i] = (hdst__leaf){.path = "x", .kind = HDST__F32, .elements = 1, .offset = 4 * i};
        b->scale[i] = 10;
    }
    b->record = (hdst__record){.name = "row", .leaves = b->leaf, .leaf_count = LEAVES, .elements = LEAVES, .size = 4 * LEAVES, .align = 4};
    b->out = malloc(rows * b->record.size + 1);
    if (!b->out) fail("out of memory");
}

// All sums are there: a small number in each word, or in a digit of each superaccumulator.
static hdst__device_table make_table(bench *b, table_form form)
{
    const hdst__accum_shape shape = {.record = &b->record, .is_table = true};
    hdst__tables *tables = (hdst__tables *)hdst__tables_make(&b->arena, &shape, 1, NULL);
    if (form == FIXED_POINT) hdst__accum_make_fixed_point((hdst__accum *)tables->accum);
    tables->first_level = form == FIRST_LEVEL;
    const uint64_t marks = hdst__tables_mark_words(tables, &b->rows), front = hdst__tables_first_level_words(tables, &b->rows);
    const uint64_t words = front + hdst__tables_device_words(tables, &b->rows), each = tables->accum[0].cell[0].device_words;
    int64_t *table = calloc(words, sizeof *table);
    if (!table) fail("out of memory");
    if (form == FIRST_LEVEL)
        for (uint64_t i = 0; i < hdst__tables_private_words(tables, &b->rows); i++) table[marks + i] = (int64_t)i;
    else
        for (uint64_t i = form == PLAIN ? 4 : 0; i < words; i += each) table[i] = (int64_t)i;
    return (hdst__device_table){.tables = tables, .rows = &b->rows, .words = table, .scale = b->scale};
}

static double best(double *least, double begin)
{
    const double seconds = hdst__now() - begin;
    if (*least == 0 || seconds < *least) *least = seconds;
    return hdst__now();
}

static void measure(bench *b, table_form form)
{
    static const char *const names[] = {"superaccumulators", "first-level words", "fixed point"};
    const hdst__device_table table = make_table(b, form);
    hdst__partial *to = hdst__partial_create(NULL, table.tables, &b->rows), *from = hdst__partial_create(NULL, table.tables, &b->rows), *read = NULL;
    double added = 0, merged = 0, rows = 0, written = 0, arrived = 0;
    const double sums = (double)(b->rows * LEAVES);
    if (!to || !from || hdst__partial_add_device_table(from, &table, NULL) != HDST_OK) fail("out of memory");
    for (int turn = 0; turn < TURNS; turn++) {
        double at = hdst__now();
        hdst_status status = hdst__partial_add_device_table(to, &table, NULL);
        at = best(&added, at);
        if (status == HDST_OK) status = hdst__partial_merge(to, from, NULL);
        at = best(&merged, at);
        hdst__partial_read_rows(to, 0, &b->record, 0, b->rows, b->out);
        best(&rows, at);
        if (status != HDST_OK) fail("out of memory");
    }
    hdst__buffer bytes;
    hdst__partial_label label = {{1, 2}, "", 0};
    hdst__buffer_init(&bytes, NULL);
    double at = hdst__now();
    hdst_status status = hdst__partial_write(to, &label, &bytes, NULL);
    at = best(&written, at);
    if (status == HDST_OK) status = hdst__partial_from_bytes(NULL, bytes.data, bytes.length, &read, &label, NULL);
    best(&arrived, at);
    if (status != HDST_OK) fail("out of memory");
    printf("%-18s ns a sum: add %.2f, merge %.2f (%.1f GB/s of words in and out), rows %.2f, write %.1f, read %.1f; %.1f bytes\n", names[form],
           added / sums * 1e9, merged / sums * 1e9, 24 * sums / merged * 1e-9, rows / sums * 1e9, written / sums * 1e9, arrived / sums * 1e9,
           (double)bytes.length / sums);
    hdst__buffer_destroy(&bytes);
    hdst__partial_destroy(to);
    hdst__partial_destroy(from);
    hdst__partial_destroy(read);
    free((void *)table.words);
}

// What memory allows.
static void measure_loop(uint64_t words)
{
    uint64_t *to = malloc(words * sizeof *to), *from = malloc(words * sizeof *from);
    double least = 0;
    if (!to || !from) fail("out of memory");
    memset(to, 1, words * sizeof *to);
    memset(from, 1, words * sizeof *from);
    for (int turn = 0; turn < TURNS; turn++) {
        const double at = hdst__now();
        for (uint64_t i = 0; i < words; i++) to[i] += from[i];
        best(&least, at);
    }
    printf("%-18s ns a sum: merge %.2f (%.1f GB/s of words in and out)%s\n", "a plain loop", least / (double)words * 1e9, 24 * (double)words / least * 1e-9,
           to[words / 2] ? "" : ", of nothing");     // who looks at a sum keeps the loop
    free(to);
    free(from);
}

int main(int argc, char **argv)
{
    static bench b;
    const uint64_t rows = argc > 1 ? strtoull(argv[1], NULL, 10) : UINT64_C(1) << 20;
    if (rows == 0 || rows > UINT64_C(1) << 28) fail("rows are a number from 1 to 2^28");
    start(&b, rows);
    if (setjmp(b.out_of_memory)) fail("out of memory");
    for (table_form form = PLAIN; form < FORMS; form++) measure(&b, form);
    measure_loop(rows * LEAVES);
    hdst__arena_destroy(&b.arena);
    free(b.out);
    return 0;
}
