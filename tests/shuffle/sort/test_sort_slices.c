// SPDX-License-Identifier: Apache-2.0
// Sorts that take records slice by slice from a flat_map in front, and others, against qsort by key and place, which is what stable means:
// keys in any order, ascending ones, of which the first records tell nothing, nearly all of one key; with memory for all, and with less, where they go
// through a temporary file.
#include "tests/hdst/support.h"

#include <stdlib.h>

enum { N = 60000 };

typedef struct row { int32_t key; uint32_t id; double value; } row;

static const char text[] =
    "struct row { int32_t key; uint32_t id; double value; };\n"
    "filter most(row r) { return r.id % 10u != 3u; }\n"
    "map halved(row r) -> row { return (row){ .key = r.key, .id = r.id, .value = r.value / 2 }; }\n"
    "flat_map twice(row r) -> row { emit(r); emit((row){ .key = r.key, .id = r.id, .value = -r.value }); }\n"
    "flat_map same(row r) -> row { emit(r); }\n";

static row rows[N], expected[2 * N];

static int by_key(const void *a, const void *b)
{
    const row *x = a, *y = b;
    if (x->key != y->key) return x->key < y->key ? -1 : 1;
    if (x->id != y->id) return x->id < y->id ? -1 : 1;
    return (x->value < y->value) - (x->value > y->value);       // of the two that a flat_map emits the first is not negative
}

enum { WAYS = 4 };
// The first records of every second one tell little of the others.
static const char *const ways[WAYS] = {"any", "ascending", "few", "nearly one"};

static void make_rows(int way)
{
    for (uint32_t i = 0; i < N; i++) {
        const int32_t any = (int32_t)((uint32_t)rand() * 2654435761u), key[WAYS] = {any, (int32_t)i - 1000, any % 5, i > 9000 && i % 50 ? 12345 : any};
        rows[i] = (row){key[way], i, i / 4.0};
    }
}

static uint64_t expect(const char *function)
{
    uint64_t n = 0;
    for (uint32_t i = 0; i < N; i++) {
        row r = rows[i];
        if (*function == 'm' && i % 10 == 3) continue;
        if (*function == 'h') r.value /= 2;
        expected[n++] = r;
        r.value = -r.value;
        if (*function == 't') expected[n++] = r;
    }
    qsort(expected, n, sizeof *expected, by_key);
    return n;
}

static hdst_context *open_context(uint64_t memory)
{
    hdst_context_options options = HDST_CONTEXT_OPTIONS_INIT;
    options.device = "cpu";
    options.memory = memory;
    hdst_context *context = hdst_context_create(&options);
    context->engine->limits.sort_least = 1;
    context->engine->limits.sort_sample_bytes = 50000;
    context->engine->limits.sort_dealing_threads = UINT32_MAX;
    return context;
}

static void check(hdst_context *context, int way, const char *function, const char *how)
{
    const hdst__budget *memory = &context->engine->runtime.memory;
    hdst_module *module = module_of(context, text);
    hdst_dataset *read = hdst_read(hdst_source_from_memory(context, rows, N, sizeof *rows), module, "row");
    hdst_dataset *made = *function == 'm' ? hdst_filter_function(read, module, function)
        : *function == 'h' ? hdst_map_function(read, module, function) : hdst_flat_map_function(read, module, function);
    hdst_result *result = hdst_result_create(hdst_sort(made, "key"));
    for (int run = 0; run < 2; run++) {
        hdst_error error = HDST_ERROR_INIT;
        uint64_t n, wanted = expect(function);
        cr_assert_eq(hdst_run(result, &error), HDST_OK, "%s, %s: %s (%s)", ways[way], function, error.message, error.cause);
        const row *sorted = hdst_result_rows(result, NULL, &n);
        cr_assert_eq(n, wanted, "%s, %s", ways[way], function);
        for (uint64_t i = 0; i < n; i++)
            cr_assert(!memcmp(&sorted[i], &expected[i], sizeof *sorted), "%s, %s, run %d: %llu", ways[way], function, run, (unsigned long long)i);
        cr_assert(strstr(hdst_explain(result, NULL), how), "%s, %s: %s", ways[way], function, hdst_explain(result, NULL));
        cr_assert(memory->peak <= memory->limit);
        for (uint32_t i = 0; i < N; i++) rows[i].key = (int32_t)(~(uint32_t)rows[i].key);       // the next run's are others
    }
    hdst_result_destroy(result);
}

Test(sort_slices, as_they_come)
{
    static const char *const functions[] = {"most", "halved", "twice"};
    if (!have_cpu()) return;
    hdst_context *context = open_context(0);
    for (int way = 0; way < WAYS; way++) {
        make_rows(way);
        for (int f = 0; f < 3; f++)
            check(context, way, functions[f], f < 2 ? "by the host's threads, from the highest digit"
                                            : way % 2 ? "dealt as they came, and again" : "dealt by the highest digit as they came");
    }
    hdst_context_destroy(context);
}

Test(sort_slices, what_has_no_room_goes_through_a_file)
{
    static const uint64_t budgets[] = {2 << 20, 4 << 20, 2 << 20};
    if (!have_cpu()) return;
    for (int b = 0; b < 3; b++) {
        hdst_context *context = open_context(budgets[b]);
        if (b == 2) context->engine->limits.sort_sample_bytes = 4 << 20;       // no bucket was chosen yet
        make_rows(b);
        check(context, b, "twice", "out of a temporary file");
        hdst_context_destroy(context);
    }
}

typedef struct shrinking { hdst__budget *memory; uint64_t limit; } shrinking;

// Once all have been read there is room for a part of them only.
static bool give_while_memory_ends(uint64_t first, uint64_t count, void *records, char *message, void *user)
{
    shrinking *s = user;
    (void)message;
    if (first + count == N && s->memory->used > 1 << 20) s->memory->limit = s->memory->used + (400 << 10);
    memcpy(records, rows + first, count * sizeof *rows);
    return true;
}

static bool give_while_a_part_is_left(uint64_t first, uint64_t count, void *records, char *message, void *user)
{
    shrinking *s = user;
    (void)message;
    if (first + count == N && s->memory->used > 1 << 20) s->memory->limit = s->memory->used + N * sizeof *rows * 3 / 4;
    memcpy(records, rows + first, count * sizeof *rows);
    return true;
}

// The pipeline of the two tests below: its source takes memory away, which comes back behind the run.
static void expect_through_a_file(hdst_context *context, hdst_source_callback give)
{
    hdst__budget *memory = &context->engine->runtime.memory;
    shrinking s = {memory, memory->limit};
    const uint64_t n = expect("same");
    hdst_module *module = module_of(context, text);
    hdst_source *source = hdst_source_from_callback(context, N, give, &s);
    hdst_result *result = hdst_result_create(hdst_sort(hdst_flat_map_function(hdst_read(source, module, "row"), module, "same"), "key"));
    hdst_error error = HDST_ERROR_INIT;
    uint64_t found;
    cr_assert_eq(hdst_run(result, &error), HDST_OK, "%s (%s)", error.message, error.cause);
    memory->limit = s.limit;
    const row *sorted = hdst_result_rows(result, NULL, &found);
    cr_assert(strstr(hdst_explain(result, NULL), "out of a temporary file"), "%s", hdst_explain(result, NULL));
    cr_assert_eq(found, n);
    for (uint64_t i = 0; i < n; i++) cr_assert(!memcmp(&sorted[i], &expected[i], sizeof *sorted), "%u", (unsigned)i);
}

// Some of a slice are in buckets then, and all of these go to the file, once.
Test(sort_slices, memory_that_ends_within_a_slice)
{
    if (!have_cpu()) return;
    hdst_context *context = open_context(64 << 20);
    context->engine->limits.sort_sample_bytes = 2000;
    make_rows(2);
    for (uint32_t i = 0; i < N; i++) rows[i].value = 0;         // so that they are packed, and taken a few at a time
    expect_through_a_file(context, give_while_memory_ends);
    hdst_context_destroy(context);
}

// All are in buckets, the device has no room for them, and the host none for a second copy: they go to the file, each once.
Test(sort_slices, buckets_that_have_no_room_to_come_out_go_to_a_file)
{
    if (!have_cpu()) return;
    hdst_context *context = open_context(64 << 20);
    context->engine->options.device_memory = 3 << 20;
    make_rows(2);
    expect_through_a_file(context, give_while_a_part_is_left);
    hdst_context_destroy(context);
}

// What a bucket holds comes out of it again.
Test(sort_slices, where_the_device_has_no_room_for_the_result_others_take_over)
{
    if (!have_cpu()) return;
    hdst_context *context = open_context(0);
    context->engine->options.device_memory = 3 << 20;
    for (int way = 0; way < WAYS; way++) {
        make_rows(way);
        check(context, way, "twice", "tiles that the host merges");
    }
    hdst_context_destroy(context);
}
