// SPDX-License-Identifier: Apache-2.0
// Partials through the public interface: runs over parts of the data, on any device and in any form, merged in any order and grouping, have the bits of
// one run over all. What is refused, and in which words.
#include "tests/hdst/support.h"

#include <math.h>
#include <stdlib.h>

enum { RECORDS = 20000, ROWS = 1500, MOST_PARTS = 7 };

typedef struct row { uint32_t k; float v; double w; int32_t i; uint32_t pad; } row;
typedef struct total { float v; uint32_t bits; double w; uint64_t n; int32_t least, most; float lowest, zero; } total;

static const char text[] =
    "struct row { uint32_t k; float v; double w; int32_t i; uint32_t pad; };\n"
    "struct total { float v; uint32_t bits; double w; uint64_t n; int32_t least; int32_t most; float lowest; float zero; };\n"
    "struct sums { double w; uint64_t n; };\n"
    "map gather(row r, accum total t[], accum double all)\n"
    "{\n"
    "    t[r.k % len(t)].v += r.v;\n"
    "    t[r.k % len(t)].w += r.w;\n"
    "    t[r.k % len(t)].n += 1;\n"
    "    acc_min(t[r.k % len(t)].least, r.i);\n"
    "    acc_max(t[r.k % len(t)].most, r.i);\n"
    "    acc_min(t[r.k % len(t)].lowest, r.v);\n"
    "    t[r.k % len(t)].bits |= r.k;\n"
    "    all += r.w;\n"
    "}\n"
    "map gather_less(row r, accum total t[], accum double all) { t[r.k % len(t)].v += r.v; all -= r.w; }\n"
    "map pairs(row r) -> (key uint32_t k, double w, uint64_t n) { return (r.k % 37u, r.w, 1); }\n"
    "map gather_pairs(row r, accum uint64_t some) -> (key uint32_t k, double w, uint64_t n) { some += 1; return (r.k % 37u, r.w, 1); }\n"
    "struct pair { uint32_t key; double w; uint64_t n; };\n"
    "map pair_of(row r) -> pair { return (pair){ .key = r.k % 37u, .w = r.w, .n = 1 }; }\n"
    "map part(pair p) -> uint32_t { return p.key % 3u; }\n"
    "struct weighed { double w; uint32_t k; };\n"
    "map weighed_row(row r) -> weighed { return (weighed){ .w = r.w, .k = r.k }; }\n"
    "map weight(row r) -> double { return r.w; }\n"
    "map count_sums(sums s, accum uint64_t some) { some += s.n; }\n"
    "reduce add(sums a, sums b) { return (sums){ .w = a.w + b.w, .n = a.n + b.n }; }\n"
    "reduce sum(double a, double b) { return a + b; }\n"
    "associative reduce later(double a, double b) { return b; }\n";

static row rows[RECORDS];

static void fill(void)
{
    uint64_t state = 88172645463325252;
    for (uint32_t i = 0; i < RECORDS; i++) {
        state ^= state << 13, state ^= state >> 7, state ^= state << 17;
        const double v = ldexp((double)(int32_t)(state >> 40) - 8388608, (int)(state % 60) - 40);
        rows[i] = (row){(uint32_t)(state >> 20), (float)v, v * 1.0009765625, (int32_t)(state >> 11), 0};
    }
    rows[7].v = INFINITY;
    rows[77].w = 1e300;
    rows[RECORDS - 1].w = -1e300;
}

typedef struct side {       // one context: a device in a form
    hdst_context *context;
    hdst_module *module;
} side;

static side open_side(const char *form)
{
    side s = {.context = context_in_form(form)};
    s.module = module_of(s.context, text);
    return s;
}

static hdst_result *gather(side s, const char *map, uint64_t first, uint64_t count, uint64_t table_rows)
{
    hdst_dataset *data = hdst_read(hdst_source_from_memory(s.context, rows + first, count, sizeof(row)), s.module, "row");
    hdst_map_spec *spec = hdst_map_spec_create(s.module, map);
    hdst_bind_accum(spec, "t", table_rows);
    return hdst_result_create(hdst_map(data, spec));
}

#define GOOD(call)                                                                          \
    do {                                                                                    \
        hdst_error good_error = HDST_ERROR_INIT, *e = &good_error;                          \
        cr_assert_eq((call), HDST_OK, "%s", e->message);                                    \
    } while (0)

static hdst_partial *partial_of(hdst_result *result)
{
    GOOD(hdst_result_keep_partial(result, e));
    RUN(result);
    hdst_partial *partial = hdst_partial_from_result(result);
    GOOD(hdst_partial_status(partial, e));
    return partial;
}

// To another context, as bytes.
static hdst_partial *carried(hdst_context *to, hdst_partial *partial)
{
    const void *bytes;
    uint64_t size;
    GOOD(hdst_partial_write(partial, &bytes, &size, e));
    void *copy = malloc(size);
    memcpy(copy, bytes, size);
    hdst_partial *arrived = hdst_partial_from_bytes(to, copy, size);
    free(copy);
    GOOD(hdst_partial_status(arrived, e));
    hdst_partial_destroy(partial);
    return arrived;
}

static void expect_equal(hdst_partial *partial, hdst_result *whole, const char *what)
{
    uint64_t count, expected_count;
    const total *found = hdst_partial_rows(partial, "t", &count), *expected = hdst_result_rows(whole, "t", &expected_count);
    const double *all = hdst_partial_field(partial, "gather.all", NULL).base, *expected_all = hdst_result_field(whole, "all", NULL).base;
    cr_assert(found && expected && count == expected_count, "%s", what);
    cr_assert(!memcmp(found, expected, count * sizeof *found), "%s: t", what);
    cr_assert(all && !memcmp(all, expected_all, sizeof *all), "%s: all: %a instead of %a", what, *all, *expected_all);
}

static void merge_all(hdst_partial **partial, size_t count, uint64_t *seed)
{
    for (; count > 1; count--) {
        *seed = *seed * 6364136223846793005u + 1442695040888963407u;
        const size_t to = (*seed >> 33) % count, from = (to + 1 + (*seed >> 13) % (count - 1)) % count;
        GOOD(hdst_partial_merge(partial[to], partial[from], e));
        hdst_partial_destroy(partial[from]);
        partial[from] = partial[count - 1];
    }
}

static void run_splits(const char *const *forms, size_t form_count, uint64_t table_rows, int rounds)
{
    side s[4], home = open_side("interp");
    uint64_t seed = 5 + table_rows;
    for (size_t f = 0; f < form_count; f++) s[f] = open_side(forms[f]);
    hdst_result *whole = gather(home, "gather", 0, RECORDS, table_rows);
    RUN(whole);
    for (int n = 0; n < rounds; n++) {
        hdst_partial *partial[MOST_PARTS];
        size_t parts = 0;
        for (uint64_t first = 0; first < RECORDS; parts++) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            const uint64_t left = RECORDS - first, count = parts == MOST_PARTS - 1 || left < 100 ? left : (seed >> 30) % left;
            hdst_result *result = gather(s[parts % form_count], "gather", first, count, table_rows);
            partial[parts] = carried(home.context, partial_of(result));
            hdst_result_destroy(result);
            first += count;
        }
        merge_all(partial, parts, &seed);
        expect_equal(partial[0], whole, forms[n % form_count]);
        hdst_partial_destroy(partial[0]);
    }
    for (size_t f = 0; f < form_count; f++) hdst_context_destroy(s[f].context);
    hdst_context_destroy(home.context);
}

Test(partial, parts_on_the_interpreter_have_the_bits_of_one_run)
{
    fill();
    run_splits((const char *const[]){"interp"}, 1, 7, 5);
    run_splits((const char *const[]){"interp"}, 1, 1, 3);
}

// Many rows: tables with first-level words on CPU devices; tables in fixed point, were they not wanted unfinished, in the GPU form.
Test(partial, parts_on_several_devices_have_the_bits_of_one_run)
{
    if (!have_cpu()) cr_skip();
    fill();
    run_splits((const char *const[]){"cpu", "gpu-form", "interp"}, 3, 7, 2);
    run_splits((const char *const[]){"cpu", "gpu-form", "interp"}, 3, ROWS, 2);
}

Test(partial, parts_that_several_devices_share)
{
    if (!have_team()) cr_skip();
    fill();
    side s = open_side("team");
    hdst_result *shared = gather(s, "gather", 0, RECORDS, 7);
    hdst_partial_destroy(partial_of(shared));
    cr_assert_gt(hdst_result_stats(shared).device_count, 1, "the run is not shared: %s", hdst_explain(shared, NULL));
    hdst_context_destroy(s.context);
    run_splits((const char *const[]){"team", "interp"}, 2, 7, 2);
    run_splits((const char *const[]){"team"}, 1, ROWS, 2);
}

// A result that ran before it was asked, and one that runs again: the partial is the last run's, and a copy.
Test(partial, of_the_last_run)
{
    fill();
    side s = open_side("interp");
    hdst_result *result = gather(s, "gather", 0, 1000, 7), *whole = gather(s, "gather", 0, 1000, 7);
    RUN(whole);
    RUN(result);
    hdst_partial *first = partial_of(result), *second = partial_of(result);
    hdst_result_destroy(result);
    expect_equal(first, whole, "the first run");
    expect_equal(second, whole, "the second run");
    GOOD(hdst_partial_merge(first, second, e));
    uint64_t count;
    const total *t = hdst_partial_rows(first, "t", &count);
    uint64_t n = 0;
    for (uint64_t i = 0; i < count; i++) n += t[i].n;
    cr_expect_eq(n, 2000, "a merge after rows were read");
    hdst_context_destroy(s.context);
}

// The records of a result are a reduce's: table NULL. A dense reduce is a table, too.
Test(partial, of_reduces)
{
    fill();
    side s = open_side("interp");
    hdst_partial *half[2], *dense[2];
    double expected = 0;
    uint64_t count;
    for (uint64_t h = 0; h < 2; h++) {
        hdst_dataset *data = hdst_read(hdst_source_from_memory(s.context, rows + h * 500, 500, sizeof(row)), s.module, "row");
        half[h] = partial_of(hdst_result_create(hdst_reduce(hdst_map_function(data, s.module, "weight"), s.module, "sum")));
        dense[h] = partial_of(hdst_result_create(hdst_reduce_dense(hdst_map_function(data, s.module, "pairs"), s.module, "add", 37)));
    }
    GOOD(hdst_partial_merge(half[1], half[0], e));
    GOOD(hdst_partial_merge(dense[0], dense[1], e));
    hdst_dataset *all = hdst_read(hdst_source_from_memory(s.context, rows, 1000, sizeof(row)), s.module, "row");
    hdst_result *whole = hdst_result_create(hdst_reduce(hdst_map_function(all, s.module, "weight"), s.module, "sum")),
                *whole_dense = hdst_result_create(hdst_reduce_dense(hdst_map_function(all, s.module, "pairs"), s.module, "add", 37));
    RUN(whole);
    RUN(whole_dense);
    expected = *(const double *)hdst_result_rows(whole, NULL, NULL);
    const double *sum = hdst_partial_rows(half[1], NULL, &count);
    cr_assert(sum && count == 1 && !memcmp(sum, &expected, sizeof expected));
    const void *found = hdst_partial_rows(dense[0], NULL, &count), *right = hdst_result_rows(whole_dense, NULL, NULL);
    cr_assert(found && count == 37 && !memcmp(found, right, 37 * 16));
    cr_expect_eq(hdst_view_int64(hdst_partial_field(dense[0], NULL, "n"), 3, 0), hdst_view_int64(hdst_result_field(whole_dense, NULL, "n"), 3, 0));
    hdst_context_destroy(s.context);
}

// --- What is refused ---

static void expect_refusal(hdst_status status, const hdst_error *error, hdst_status expected, const char *message)
{
    cr_expect_eq(status, expected, "%s", error->message);
    cr_expect_str_eq(error->message, message);
}

Test(partial, of_other_functions_rows_and_records)
{
    fill();
    side s = open_side("interp");
    hdst_error error;
    hdst_partial *of_all = partial_of(gather(s, "gather", 0, 100, 7)), *of_less = partial_of(gather(s, "gather_less", 0, 100, 7)),
                 *of_more = partial_of(gather(s, "gather", 0, 100, 8));
    expect_refusal(hdst_partial_merge(of_all, of_less, &error), &error, HDST_E_USAGE,
                   "a partial of 'gather.t', 'gather.all' cannot be merged with one of 'gather_less.t', 'gather_less.all'");
    expect_refusal(hdst_partial_merge(of_all, of_more, &error), &error, HDST_E_USAGE,
                   "two partials of 'gather.t', 'gather.all' cannot be merged: their functions, records or numbers of rows differ");
    expect_refusal(hdst_partial_merge(of_all, of_all, &error), &error, HDST_E_USAGE, "a partial was to be merged with itself");
    hdst_module *other = module_of(s.context, "struct row { uint32_t k; float v; double w; int32_t i; uint32_t pad; };\n"
                                   "struct total { float v; uint32_t bits; double w; uint64_t n; int32_t least; int32_t most; float lowest; float zero; };\n"
                                   "map gather(row r, accum total t[], accum double all) { t[r.k % len(t)].v += r.v; all += 2 * r.w; }\n");
    hdst_partial *of_other = partial_of(gather((side){s.context, other}, "gather", 0, 100, 7));
    expect_refusal(hdst_partial_merge(of_all, of_other, &error), &error, HDST_E_USAGE,
                   "two partials of 'gather.t', 'gather.all' cannot be merged: their functions, records or numbers of rows differ");
    GOOD(hdst_partial_status(of_all, e));
    hdst_result *whole = gather(s, "gather", 0, 100, 7);
    RUN(whole);
    expect_equal(of_all, whole, "nothing was done");
    hdst_context_destroy(s.context);
}

Test(partial, names_that_are_not_there)
{
    fill();
    side s = open_side("interp");
    hdst_error error;
    hdst_partial *partial = partial_of(gather(s, "gather", 0, 100, 7));
    cr_expect_null(hdst_partial_rows(partial, "u", NULL));
    expect_refusal(hdst_partial_status(partial, &error), &error, HDST_E_USAGE, "the partial has no accumulator 'u'");
    cr_expect_null(hdst_partial_rows(partial, NULL, NULL));
    expect_refusal(hdst_partial_status(partial, &error), &error, HDST_E_USAGE, "the partial has no records, only accumulators");
    cr_expect_null(hdst_partial_field(partial, "t", "leest").base);
    expect_refusal(hdst_partial_status(partial, &error), &error, HDST_E_USAGE, "record 'total' has no field 'leest'");
    cr_expect_str_eq(error.hint, "did you mean 'least'?");
    hdst_context_destroy(s.context);
}

static void expect_unkept(hdst_dataset *dataset, hdst_status expected, const char *message)
{
    hdst_error error;
    hdst_result *result = hdst_result_create(dataset);
    expect_refusal(hdst_result_keep_partial(result, &error), &error, expected, message);
    RUN(result);            // it runs as ever
    hdst_result_destroy(result);
}

Test(partial, results_that_have_none)
{
    fill();
    side s = open_side("interp");
    hdst_error error;
    hdst_dataset *data = hdst_read(hdst_source_from_memory(s.context, rows, 100, sizeof(row)), s.module, "row"),
                 *weights = hdst_map_function(data, s.module, "weight"), *pairs = hdst_map_function(data, s.module, "pairs");
    expect_unkept(weights, HDST_E_USAGE, "the result has no accumulators, so there is no partial of it");
    expect_unkept(hdst_reduce_by_key(hdst_partition(hdst_map_function(data, s.module, "pair_of"), s.module, "part", 3), s.module, "add"), HDST_E_UNSUPPORTED,
                  "the records of hdst_reduce_by_key cannot be kept unfinished");
    hdst_map_spec *and_pairs = hdst_map_spec_create(s.module, "gather_pairs");
    expect_unkept(hdst_reduce_by_key(hdst_map(data, and_pairs), s.module, "add"), HDST_E_UNSUPPORTED,
                  "accumulators of maps in front of hdst_reduce_by_key cannot be kept unfinished together with it");
    hdst_dataset *dense = hdst_reduce_dense(pairs, s.module, "add", 37);
    expect_unkept(hdst_map_function(dense, s.module, "count_sums"), HDST_E_UNSUPPORTED,
                  "accumulators behind hdst_reduce_dense cannot be kept unfinished: they see what all records of a run come to");
    expect_unkept(hdst_map_function(hdst_cache(dense), s.module, "count_sums"), HDST_E_UNSUPPORTED,
                  "accumulators behind hdst_reduce_dense cannot be kept unfinished: they see what all records of a run come to");
    hdst_result *result = gather(s, "gather", 0, 100, 7);
    hdst_partial *partial = hdst_partial_from_result(result);
    expect_refusal(hdst_partial_status(partial, &error), &error, HDST_E_USAGE, "the result holds nothing: its last run failed, or there was none");
    RUN(result);
    partial = hdst_partial_from_result(result);
    expect_refusal(hdst_partial_status(partial, &error), &error, HDST_E_USAGE, "the result's last run kept no partial");
    cr_expect_str_eq(error.hint, "call hdst_result_keep_partial, then hdst_run");
    GOOD(hdst_result_keep_partial(result, e));
    partial = hdst_partial_from_result(result);
    expect_refusal(hdst_partial_status(partial, &error), &error, HDST_E_USAGE, "the result's last run kept no partial");
    hdst_context_destroy(s.context);
}

// Damaged bytes: an object with the error, which every call gives.
Test(partial, bytes_that_are_none)
{
    fill();
    side s = open_side("interp");
    hdst_error error;
    const void *bytes;
    uint64_t size;
    hdst_partial *good = partial_of(gather(s, "gather", 0, 100, 7));
    GOOD(hdst_partial_write(good, &bytes, &size, e));
    char *copy = malloc(size);
    for (uint64_t at = 0; at < size; at += at < 700 ? 1 : 97) {
        memcpy(copy, bytes, size);
        copy[at] ^= 4;
        hdst_partial *flipped = hdst_partial_from_bytes(s.context, copy, size), *cut = hdst_partial_from_bytes(s.context, bytes, at);
        cr_expect_eq(hdst_partial_status(flipped, NULL), HDST_E_FORMAT, "byte %d", (int)at);
        cr_expect_eq(hdst_partial_status(cut, NULL), HDST_E_FORMAT, "%d bytes", (int)at);
        cr_expect_eq(hdst_partial_merge(good, cut, &error), HDST_E_FORMAT);
        cr_expect_eq(hdst_partial_merge(cut, good, &error), HDST_E_FORMAT);
        cr_expect_null(hdst_partial_rows(cut, "t", NULL));
        const void *none = copy;
        uint64_t none_size = 1;
        cr_expect_eq(hdst_partial_write(cut, &none, &none_size, &error), HDST_E_FORMAT);
        cr_expect(!none && !none_size);
        hdst_partial_destroy(flipped);
        hdst_partial_destroy(cut);
    }
    free(copy);
    hdst_context_destroy(s.context);
}
