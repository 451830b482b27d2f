// SPDX-License-Identifier: Apache-2.0
// Partials of reductions by key: of any part of the records, from any device, merged in any order, they come to the rows of one run over all, in its order.
#include "tests/hdst/support.h"

#include "base/hash.h"

#include <math.h>
#include <stdlib.h>

enum { RECORDS = 20000, MOST_PARTS = 7 };

typedef struct row { uint32_t k; float v; double w; int32_t i; uint32_t j; } row;
typedef struct wide_row { uint32_t k; double of; uint16_t h[3]; float v, u; double w; uint64_t n; int32_t least; } wide_row;

static const char text[] =
    "struct row { uint32_t k; float v; double w; int32_t i; uint32_t j; };\n"
    "struct wide_values { float v; float u; double w; uint64_t n; int32_t least; };\n"
    "struct counted { uint32_t k; uint64_t n; };\n"
    "map few(row r) -> (key uint32_t k, float v) { return (r.k % 37u, r.v); }\n"
    "map many(row r) -> (key uint32_t k, float v) { return (r.k % 15000u, r.v); }\n"
    "map compound(row r) -> (key uint32_t k, key double of, key uint16_t h[3], float v, float u, double w, uint64_t n, int32_t least)\n"
    "{\n"
    "    uint16_t h[3];\n"
    "    h[0] = (uint16_t)(r.k % 5u); h[1] = 7; h[2] = (uint16_t)(r.j % 3u);\n"
    "    return (r.k % 40u, (double)(r.j % 7u) - 3.0, h, r.v, -r.v, r.w, 1, r.i);\n"
    "}\n"
    "map middle(row r) -> (key uint64_t k, double w) { return ((uint64_t)(r.k % 900u) << 40, r.w); }\n"
    "reduce add(float a, float b) { return a + b; }\n"
    "reduce add_double(double a, double b) { return a + b; }\n"
    "reduce meet(wide_values a, wide_values b)\n"
    "{\n"
    "    return (wide_values){ .v = a.v + b.v, .u = a.u + b.u, .w = a.w + b.w, .n = a.n + b.n, .least = min(a.least, b.least) };\n"
    "}\n";

static row rows[RECORDS];

static void fill(void)
{
    uint64_t state = 88172645463325252;
    for (uint32_t i = 0; i < RECORDS; i++) {
        state ^= state << 13, state ^= state >> 7, state ^= state << 17;
        const double v = ldexp((double)(int32_t)(state >> 40) - 8388608, (int)(state % 60) - 40);
        rows[i] = (row){(uint32_t)(state >> 20), (float)v, v * 1.0009765625, (int32_t)(state >> 11), (uint32_t)(state >> 33)};
    }
    rows[7].v = INFINITY;
    rows[77].w = 1e300;
    rows[RECORDS - 1].w = -1e300;
}

typedef struct side {
    hdst_context *context;
    hdst_module *module;
} side;

static side open_side(const char *form)
{
    side s = {.context = context_in_form(form)};
    hdst__engine_limits(s.context->engine)->by_key_device_least = 1;     // kernels as a GPU gets them keep states, too
    s.module = module_of(s.context, text);
    return s;
}

typedef hdst_dataset *(*maker)(side s, hdst_dataset *data);

static hdst_dataset *few_keys(side s, hdst_dataset *data) { return hdst_reduce_by_key(hdst_map_function(data, s.module, "few"), s.module, "add"); }
static hdst_dataset *many_keys(side s, hdst_dataset *data) { return hdst_reduce_by_key(hdst_map_function(data, s.module, "many"), s.module, "add"); }
static hdst_dataset *middle_keys(side s, hdst_dataset *data) { return hdst_reduce_by_key(hdst_map_function(data, s.module, "middle"), s.module, "add_double"); }
static hdst_dataset *wide_keys(side s, hdst_dataset *data) { return hdst_reduce_by_key(hdst_map_function(data, s.module, "compound"), s.module, "meet"); }
static hdst_dataset *counts(side s, hdst_dataset *data) { return hdst_count_by_key(hdst_map_function(data, s.module, "many"), s.module, "counted"); }
static hdst_dataset *distinct_ones(side s, hdst_dataset *data) { return hdst_distinct(hdst_map_function(data, s.module, "few")); }

static hdst_result *result_of(side s, maker make, uint64_t first, uint64_t count)
{
    return hdst_result_create(make(s, hdst_read(hdst_source_from_memory(s.context, rows + first, count, sizeof(row)), s.module, "row")));
}

#define GOOD(call)                                                                          \
    do {                                                                                    \
        hdst_error good_error = HDST_ERROR_INIT, *e = &good_error;                          \
        cr_assert_eq((call), HDST_OK, "%s", e->message);                                    \
    } while (0)

static void expect_rows(const void *found, uint64_t count, hdst_result *whole, uint64_t size, const char *what)
{
    uint64_t expected_count;
    const void *expected = hdst_result_rows(whole, NULL, &expected_count);
    cr_assert(found && expected, "%s", what);
    cr_assert_eq(count, expected_count, "%s: %d keys", what, (int)count);
    cr_assert(!memcmp(found, expected, count * size), "%s", what);
}

// The run that keeps its state gives the same records as one that does not.
static hdst_partial *part(side from, side to, maker make, uint64_t first, uint64_t count, uint64_t size)
{
    const void *bytes;
    uint64_t length, rows_found;
    hdst_result *result = result_of(from, make, first, count), *plain = result_of(from, make, first, count);
    GOOD(hdst_result_keep_partial(result, e));
    RUN(result);
    RUN(plain);
    const void *found = hdst_result_rows(result, NULL, &rows_found);
    expect_rows(found, rows_found, plain, size, "records of the run itself");
    hdst_partial *partial = hdst_partial_from_result(result);
    GOOD(hdst_partial_status(partial, e));
    found = hdst_partial_rows(partial, NULL, &rows_found);
    expect_rows(found, rows_found, plain, size, "a partial of one run");
    GOOD(hdst_partial_write(partial, &bytes, &length, e));
    hdst_partial *arrived = hdst_partial_from_bytes(to.context, bytes, length);
    GOOD(hdst_partial_status(arrived, e));
    hdst_partial_destroy(partial);
    hdst_result_destroy(result);
    hdst_result_destroy(plain);
    return arrived;
}

static uint64_t next(uint64_t *seed) { return (*seed = *seed * 6364136223846793005u + 1442695040888963407u) >> 33; }

static void run_split(const side *sides, size_t side_count, side home, maker make, uint64_t seed)
{
    hdst_result *whole = result_of(home, make, 0, RECORDS);
    RUN(whole);
    const uint64_t size = hdst_result_field(whole, NULL, "k").stride;
    hdst_partial *partial[MOST_PARTS];
    size_t parts = 0;
    for (uint64_t first = 0; first < RECORDS; parts++) {
        const uint64_t left = RECORDS - first, count = parts == MOST_PARTS - 1 || left < 100 ? left : next(&seed) % left;
        partial[parts] = part(sides[parts % side_count], home, make, first, count, size);
        first += count;
    }
    for (size_t count = parts; count > 1; count--) {
        const size_t to = next(&seed) % count, from = (to + 1 + next(&seed) % (count - 1)) % count;
        GOOD(hdst_partial_merge(partial[to], partial[from], e));
        hdst_partial_destroy(partial[from]);
        partial[from] = partial[count - 1];
    }
    uint64_t count;
    const void *found = hdst_partial_rows(partial[0], NULL, &count);
    expect_rows(found, count, whole, size, "all parts");
    hdst_partial_destroy(partial[0]);
    hdst_result_destroy(whole);
}

static void run_all(const char *const *forms, size_t form_count, int rounds)
{
    static const maker makers[] = {few_keys, many_keys, middle_keys, wide_keys, counts, distinct_ones};
    side sides[3], home = open_side("interp");
    fill();
    for (size_t f = 0; f < form_count; f++) sides[f] = open_side(forms[f]);
    for (size_t m = 0; m < sizeof makers / sizeof *makers; m++)
        for (int n = 0; n < rounds; n++) run_split(sides, form_count, home, makers[m], 17 * m + (uint64_t)n);
    for (size_t f = 0; f < form_count; f++) hdst_context_destroy(sides[f].context);
    hdst_context_destroy(home.context);
}

Test(partial_by_key, parts_on_the_interpreter_have_the_rows_of_one_run) { run_all((const char *const[]){"interp"}, 1, 3); }

Test(partial_by_key, parts_on_several_devices_have_the_rows_of_one_run)
{
    if (!have_cpu()) cr_skip();
    run_all((const char *const[]){"cpu", "gpu-form", "interp"}, 3, 1);
}

Test(partial_by_key, parts_that_several_devices_share)
{
    if (!have_team()) cr_skip();
    run_all((const char *const[]){"team", "interp"}, 2, 1);
}

// Little memory: parts of the keys are reduced piece by piece, and the states go through a file.
Test(partial_by_key, with_little_memory)
{
    enum { KEYS = 120000 };
    static row many[2 * KEYS];
    hdst_context_options options = HDST_CONTEXT_OPTIONS_INIT;
    options.device = "interp";
    options.memory = 10 << 20;
    side s = {.context = hdst_context_create(&options)};
    s.module = module_of(s.context, "struct row { uint32_t k; float v; double w; int32_t i; uint32_t j; };\n"
                         "map all(row r) -> (key uint32_t k, float v) { return (r.k, r.v); }\nreduce add(float a, float b) { return a + b; }\n");
    for (uint32_t i = 0; i < 2 * KEYS; i++) many[i] = (row){.k = i % KEYS * 2654435761u, .v = i % 1000 ? 0.1f * (float)(i % 17) : 1e30f};
    hdst_dataset *data = hdst_map_function(hdst_read(hdst_source_from_memory(s.context, many, 2 * KEYS, sizeof(row)), s.module, "row"), s.module, "all");
    hdst_result *result = hdst_result_create(hdst_reduce_by_key(data, s.module, "add")), *plain = hdst_result_create(hdst_reduce_by_key(data, s.module, "add"));
    GOOD(hdst_result_keep_partial(result, e));
    RUN(result);
    uint64_t count;
    cr_assert(strstr(hdst_explain(result, NULL), "temporary file"), "%s", hdst_explain(result, NULL));
    hdst_partial *partial = hdst_partial_from_result(result);
    GOOD(hdst_partial_status(partial, e));
    hdst_result_destroy(result);
    const void *found = hdst_partial_rows(partial, NULL, &count);
    RUN(plain);
    expect_rows(found, count, plain, 8, "with little memory");
    hdst_context_destroy(s.context);
}

Test(partial_by_key, of_other_functions)
{
    fill();
    side s = open_side("interp");
    hdst_error error;
    hdst_partial *few = part(s, s, few_keys, 0, 100, 8), *many = part(s, s, many_keys, 0, 100, 8), *none = part(s, s, few_keys, 0, 0, 8);
    cr_expect_eq(hdst_partial_merge(few, many, &error), HDST_E_USAGE);
    cr_expect_str_eq(error.message, "two partials of 'add.records' cannot be merged: their functions, records or numbers of rows differ");
    uint64_t count;
    cr_expect_not_null(hdst_partial_rows(none, NULL, &count));
    cr_expect_eq(count, 0);
    GOOD(hdst_partial_merge(none, few, e));
    GOOD(hdst_partial_merge(none, few, e));            // the same keys
    const double once = hdst_view_double(hdst_partial_field(few, NULL, "v"), 3, 0);
    cr_expect_eq(hdst_view_double(hdst_partial_field(none, NULL, "v"), 3, 0), 2 * once);
    cr_expect_eq(hdst_partial_field(none, NULL, "k").rows, hdst_partial_field(few, NULL, "k").rows);
    hdst_context_destroy(s.context);
}

// Keys that are not in order, and bits flipped with a checksum that is right again, are refused or harmless.
Test(partial_by_key, damaged_bytes)
{
    fill();
    side s = open_side("interp");
    const void *bytes;
    uint64_t size;
    hdst_partial *few = part(s, s, wide_keys, 0, 50, sizeof(wide_row));
    GOOD(hdst_partial_write(few, &bytes, &size, e));
    char *copy = malloc(size);
    int accepted = 0;
    for (uint64_t at = 24; at < size - 16; at++) {
        memcpy(copy, bytes, size);
        copy[at] ^= (char)(1 << at % 8);
        cr_assert_eq(hdst_partial_status(hdst_partial_from_bytes(s.context, copy, size), NULL), HDST_E_FORMAT);
        hdst__hash checksum = HDST__HASH_INIT;
        hdst__hash_add(&checksum, copy, size - sizeof checksum);
        memcpy(copy + size - sizeof checksum, &checksum, sizeof checksum);
        hdst_partial *made = hdst_partial_from_bytes(s.context, copy, size);
        if (hdst_partial_status(made, NULL) == HDST_OK) {
            accepted++;
            (void)hdst_partial_rows(made, NULL, NULL);
            (void)hdst_partial_merge(made, few, NULL);
        }
        hdst_partial_destroy(made);
    }
    cr_expect_gt(accepted, 100);
    free(copy);
    hdst_context_destroy(s.context);
}
