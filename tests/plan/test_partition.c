// SPDX-License-Identifier: Apache-2.0
// Records in parts that the program names, against plain C: order, counts, reductions that keep the parts, numbers that are no parts.
#include "tests/hdst/support.h"

#include "shuffle/group/repartition.h"
#include "plan/dataset.h"

#include <stdlib.h>

typedef struct row { uint32_t k; float v; int16_t a; double w; } row;
typedef struct total { uint32_t k; double v; uint64_t n; } total;

static const char kernels[] =
    "struct row { uint32_t key; float v; int16_t a; double w; };\n"
    "struct count { uint32_t key; uint64_t n; };\n"
    "struct values { double v; uint64_t n; };\n"
    "map by_key(row r) -> uint32_t { return r.key % 7u; }\n"
    "map by_a(row r) -> uint32_t { return (uint32_t)r.a; }\n"
    "map by_place(row r) -> uint32_t { return (uint32_t)(record_index() % 2); }\n"
    "map value_of(row r) -> float { return r.v; }\n"
    "map by_range(row r, broadcast uint32_t borders[]) -> uint32_t\n"
    "{\n"
    "    uint32_t part = 0;\n"
    "    while (part < len(borders) && r.key >= borders[part]) part++;\n"
    "    return part;\n"
    "}\n"
    "filter some(row r) { return r.key % 3u > 0u; }\n"
    "map totals(row r) -> (key uint32_t k, double v, uint64_t n) { return (r.key, r.w, 1); }\n"
    "map checked(row r) -> uint32_t { return 100u / r.key; }\n"
    "reduce in_order(values a, values b) { return (values){ .v = b.v - a.v, .n = a.n + b.n }; }\n"
    "associative reduce last(values a, values b) { return (values){ .v = b.v, .n = a.n + b.n }; }\n"
    "reduce add(values a, values b) { return (values){ .v = a.v + b.v, .n = a.n + b.n }; }\n";

enum { N = 20000, KEYS = 500, PARTS = 7 };
static row rows[N];

static void fill_rows(void)
{
    uint64_t state = 1;
    for (uint32_t i = 0; i < N; i++) {
        state = state * UINT64_C(6364136223846793005) + 1442695040888963407;
        rows[i] = (row){(uint32_t)(state >> 33) % KEYS, (float)i, (int16_t)(i % 5), (double)(state >> 40) / 1024};
    }
}

typedef struct job {
    hdst_context *context;
    hdst_module *module;
    hdst_dataset *data;
} job;

static const char *const forms[] = {"interp", "cpu", "gpu-form"};
#define ON_EACH_FORM(j)                                                                 \
    for (size_t form_ = 0; form_ < sizeof forms / sizeof *forms; form_++)               \
        if ((form_ == 0 || have_cpu()) && (open_job(&(j), context_in_form(forms[form_])), true))

static void open_job(job *j, hdst_context *context)
{
    fill_rows();
    j->context = context;
    j->module = module_of(context, kernels);
    j->data = hdst_read(hdst_source_from_memory(context, rows, N, sizeof(row)), j->module, "row");
}

// The rows that `take` lets through, part by part: what a loop for each part finds.
static void check_order(const row *got, uint64_t n, const uint64_t *counts, bool (*take)(const row *r), const char *what)
{
    uint64_t at = 0;
    for (uint32_t p = 0; p < PARTS; p++) {
        uint64_t count = 0;
        for (uint32_t i = 0; i < N; i++) {
            if (rows[i].k % PARTS != p || (take && !take(&rows[i]))) continue;
            cr_assert(at < n && got[at].k == rows[i].k && got[at].v == rows[i].v && got[at].a == rows[i].a && got[at].w == rows[i].w,
                      "%s: part %u", what, (unsigned)p);
            at++;
            count++;
        }
        cr_assert_eq(counts[p], count, "%s: part %u", what, (unsigned)p);
    }
    cr_assert_eq(at, n, "%s", what);
}

static bool is_some(const row *r) { return r->k % 3 > 0; }

Test(partition, records_lie_in_the_order_of_their_parts)
{
    job j;
    ON_EACH_FORM(j) {
        for (int kind = 0; kind < 4; kind++) {
            hdst_dataset *d = kind == 1 ? hdst_filter_function(j.data, j.module, "some") : kind == 2 ? hdst_cache(hdst_with_layout(j.data, HDST_SOA)) : j.data;
            d = hdst_partition(d, j.module, "by_key", PARTS);
            if (kind == 3) d = hdst_with_layout(d, HDST_AOSOA);
            hdst_result *r = hdst_result_create(d);
            for (int turn = 0; turn < 2; turn++) {
                uint64_t n, parts;
                RUN(r);
                const row *got = hdst_result_rows(r, NULL, &n);
                const uint64_t *counts = hdst_result_parts(r, &parts);
                if (kind == 3) {
                    cr_assert(!counts && parts == 0, "another layout of them has no parts of its own");
                    continue;
                }
                cr_assert(counts && parts == PARTS);
                check_order(got, n, counts, kind == 1 ? is_some : NULL, forms[form_]);
            }
            const char *explanation = hdst_explain(r, NULL);
            cr_assert(strstr(explanation, "in the order of 7 parts") && strstr(explanation, "last run: 7 parts of "), "%s", explanation);
        }
        hdst_context_destroy(j.context);
    }
}

// With other borders the next run has other parts.
Test(partition, ranges_between_bound_borders)
{
    job j;
    open_job(&j, context_on("interp"));
    hdst_value *borders = hdst_value_create(j.module, "uint32_t", 2);
    hdst_map_spec *spec = hdst_map_spec_create(j.module, "by_range");
    hdst_bind_value(spec, "borders", borders);
    hdst_result *r = hdst_result_create(hdst_partition_by(j.data, spec, 3));
    for (uint32_t turn = 0; turn < 2; turn++) {
        const uint32_t cut[2] = {100, turn ? 101 : 400};
        uint64_t n, expected[3] = {0}, at = 0;
        for (uint32_t i = 0; i < N; i++) expected[(rows[i].k >= cut[0]) + (rows[i].k >= cut[1])]++;
        hdst_value_set(borders, cut, 2);
        RUN(r);
        const row *got = hdst_result_rows(r, NULL, &n);
        const uint64_t *counts = hdst_result_parts(r, NULL);
        for (uint32_t p = 0; p < 3; at += counts[p++]) {
            cr_assert_eq(counts[p], expected[p]);
            for (uint64_t i = at; i < at + counts[p]; i++)
                cr_assert((got[i].k >= cut[0]) + (got[i].k >= cut[1]) == (int)p && (i == at || got[i].v > got[i - 1].v));
        }
    }
    hdst_context_destroy(j.context);
}

Test(partition, none_one_and_too_many)
{
    job j;
    open_job(&j, context_on("interp"));
    hdst_result *none = hdst_result_create(hdst_partition(hdst_slice(j.data, 0, 0), j.module, "by_key", PARTS));
    hdst_result *many = hdst_result_create(hdst_partition(hdst_slice(j.data, 0, 3), j.module, "by_key", 5000));
    hdst_result *plain = hdst_result_create(j.data), *one = hdst_result_create(hdst_partition(hdst_slice(j.data, 0, 1), j.module, "by_place", 1));
    uint64_t n, parts;
    RUN(none);
    RUN(many);
    RUN(plain);
    hdst_result_rows(none, NULL, &n);
    const uint64_t *counts = hdst_result_parts(none, &parts);
    cr_assert(n == 0 && parts == PARTS && counts[0] == 0 && counts[PARTS - 1] == 0);
    counts = hdst_result_parts(many, &parts);
    uint64_t sum = 0;
    RUN(one);
    cr_assert(hdst_result_parts(one, NULL)[0] == 1 && ((const row *)hdst_result_rows(one, NULL, NULL))->k == rows[0].k);
    for (uint64_t p = 0; p < parts; p++) sum += counts[p];
    cr_assert(parts == 5000 && sum == 3);
    hdst_error error;
    cr_assert(!hdst_result_parts(plain, &parts) && parts == 0 && !hdst_result_parts(plain, NULL));
    cr_assert_eq(hdst_result_status(plain, &error), HDST_E_USAGE);
    cr_assert(strstr(error.message, "have no parts"));
    hdst_context_destroy(j.context);
}

// --- Reductions that keep the parts ---

static uint32_t mix32(uint32_t x)       // as docs/datasets.md has the order of small keys
{
    x = (x ^ x >> 16) * 0x7feb352d;
    x = (x ^ x >> 15) * 0x846ca68b;
    return x ^ x >> 16;
}

Test(partition, reductions_by_key_keep_them)
{
    total expected[KEYS] = {0};
    job j;
    fill_rows();
    for (uint32_t i = 0; i < N; i++) {
        expected[rows[i].k].v += rows[i].w;     // multiples of 2^-10 below 2^25: a plain sum is exact
        expected[rows[i].k].n++;
    }
    ON_EACH_FORM(j) {
        hdst_dataset *d = hdst_partition(j.data, j.module, "by_key", PARTS);
        hdst_result *r = hdst_result_create(hdst_reduce_by_key(hdst_map_function(d, j.module, "totals"), j.module, "add"));
        hdst_result *c = hdst_result_create(hdst_with_container(hdst_count_by_key(d, j.module, "count"), HDST_CONTAINER_SORTED));
        for (int turn = 0; turn < 2; turn++) {
            RUN(r);
            RUN(c);
            uint64_t n, m, parts, at = 0;
            const total *got = hdst_result_rows(r, NULL, &n);
            const struct { uint32_t k; uint64_t n; } *counted = hdst_result_rows(c, NULL, &m);
            const uint64_t *counts = hdst_result_parts(r, &parts);
            cr_assert(n == KEYS && m == KEYS && parts == PARTS);
            for (uint32_t p = 0; p < PARTS; p++)
                for (uint64_t i = 0; i < counts[p]; i++, at++) {
                    cr_assert(got[at].k % PARTS == p && got[at].v == expected[got[at].k].v && got[at].n == expected[got[at].k].n, "key %u",
                              (unsigned)got[at].k);
                    cr_assert(i == 0 || mix32(got[at].k) > mix32(got[at - 1].k));
                    cr_assert(counted[at].k == got[at].k && counted[at].n == got[at].n);
                }
            cr_assert_eq(at, KEYS);
            const hdst_run_stats stats = hdst_result_stats(r);
            cr_assert(stats.level_count == 3 && stats.level[2].out == KEYS);
            cr_assert(strstr(hdst_explain(r, NULL), "each of the parts of "), "%s", hdst_explain(r, NULL));
        }
        hdst_context_destroy(j.context);
    }
}

// So do those that are no accumulation: from left to right, and up a tree.
Test(partition, reductions_in_order_keep_them)
{
    total in_order[KEYS] = {0}, last[KEYS] = {0};
    job j;
    fill_rows();
    for (uint32_t i = 0; i < N; i++) {
        total *t = &in_order[rows[i].k];
        t->v = t->n++ ? rows[i].w - t->v : rows[i].w;
        last[rows[i].k].v = rows[i].w;
    }
    ON_EACH_FORM(j) {
        hdst_dataset *d = hdst_map_function(hdst_partition(j.data, j.module, "by_key", PARTS), j.module, "totals");
        hdst_result *r[] = {hdst_result_create(hdst_reduce_by_key(d, j.module, "in_order")), hdst_result_create(hdst_reduce_by_key(d, j.module, "last"))};
        for (int turn = 0; turn < 4; turn++) {
            RUN(r[turn % 2]);
            const total *expected = turn % 2 ? last : in_order;
            uint64_t n, parts, at = 0;
            const total *got = hdst_result_rows(r[turn % 2], NULL, &n);
            const uint64_t *counts = hdst_result_parts(r[turn % 2], &parts);
            cr_assert(n == KEYS && counts && parts == PARTS);
            for (uint32_t p = 0; p < PARTS; p++)
                for (uint64_t i = 0; i < counts[p]; i++, at++) {
                    cr_assert(got[at].k % PARTS == p && got[at].v == expected[got[at].k].v && got[at].n == in_order[got[at].k].n, "key %u",
                              (unsigned)got[at].k);
                    cr_assert(i == 0 || mix32(got[at].k) > mix32(got[at - 1].k));
                }
            const hdst_run_stats stats = hdst_result_stats(r[turn % 2]);
            cr_assert(stats.level[0].in == N && stats.level[2].out == KEYS);
            cr_assert(strstr(hdst_explain(r[turn % 2], NULL), "each of the parts of "));
        }
        hdst_context_destroy(j.context);
    }
}

static void expect_error(hdst_dataset *dataset, hdst_status code, const char *message, const char *hint)
{
    hdst_error error = HDST_ERROR_INIT;
    void *all;
    uint64_t n;
    cr_assert_eq(hdst_collect(dataset, &all, &n, &error), code, "%d %s", error.code, error.message);
    cr_assert(strstr(error.message, message), "'%s' lacks '%s'", error.message, message);
    cr_assert(strstr(error.hint, hint), "'%s' lacks '%s'", error.hint, hint);
}

Test(partition, a_key_in_two_parts)
{
    job j;
    open_job(&j, context_on("interp"));
    for (uint32_t i = 0; i < N; i++) rows[i].k = i;      // in one part each ...
    rows[17].k = 4016;                                   // ... but for this one
    hdst_dataset *d = hdst_map_function(hdst_partition(j.data, j.module, "by_place", 2), j.module, "totals");
    expect_error(hdst_reduce_by_key(d, j.module, "add"), HDST_E_USAGE, "records with the key k = 4016 lie in part 0 and in part 1",
                 "all records of a key one part");
    expect_error(hdst_reduce_by_key(d, j.module, "in_order"), HDST_E_USAGE, "records with the key k = 4016 lie in part 0 and in part 1",
                 "all records of a key one part");
    rows[17].k = 17;
    hdst_error error = HDST_ERROR_INIT;
    uint64_t n = 0;
    cr_assert_eq(hdst_count(hdst_reduce_by_key(d, j.module, "add"), &n, &error), HDST_OK, "%s", error.message);
    cr_assert_eq(n, N);
    hdst_context_destroy(j.context);
}

// --- Numbers that are no parts ---

Test(partition, a_number_that_is_no_part)
{
    job j;
    ON_EACH_FORM(j) {
        hdst_error error = HDST_ERROR_INIT;
        uint64_t n;
        rows[4321].a = -2;
        rows[9999].a = 5;
        cr_assert_eq(hdst_count(hdst_partition(j.data, j.module, "by_a", 5), &n, &error), HDST_E_RECORD);
        cr_assert(strstr(error.message, "'by_a' gives part 4294967294, out of range 0..4, in record 4321"), "%s", error.message);
        cr_assert(error.record == 4321 && hdst_status_exit_code(error.code) == 7);
        rows[4321].a = 1;               // the number behind the last part is left
        cr_assert_eq(hdst_count(hdst_partition(j.data, j.module, "by_a", 5), &n, &error), HDST_E_RECORD);
        cr_assert(strstr(error.message, "'by_a' gives part 5, out of range 0..4, in record 9999"), "%s", error.message);
        hdst_context_destroy(j.context);
    }
}

// In the engine: of several such records the first one is told, also where they are left out.
static hdst_status fill_numbers(void *user, uint64_t first, uint64_t count, const hdst__storage *storage, void *const *buffers,
                                uint64_t to_first, hdst_error *error)
{
    (void)user, (void)error, (void)storage;
    for (uint64_t i = 0; i < count; i++)
        ((uint32_t *)buffers[0])[to_first + i] = (first + i) % 1000 == 777 ? (uint32_t)(first + i) : (uint32_t)((first + i) % 5);
    return HDST_OK;
}

Test(partition, the_first_bad_part_is_told)
{
    hdst_context_options options = HDST_CONTEXT_OPTIONS_INIT;
    options.device = "interp";
    options.on_error = HDST_ON_ERROR_SKIP;
    hdst_context *context = hdst_context_create(&options);
    hdst_module *module = module_of(context, "struct number { uint32_t n; };\n");
    const hdst__record *number = hdst_read(hdst_source_from_memory(context, rows, 1, 4), module, "number")->record;
    const hdst__reader reader = {fill_numbers, NULL, N, number, HDST__AOS, 0};
    const char *why;
    uint64_t record;
    uint32_t told;
    hdst__repartition *parting = hdst__repartition_create(context->engine, number, 5, &why);
    cr_assert_not_null(parting);
    cr_assert_eq(hdst__repartition_run(parting, &reader, &reader, NULL), HDST_OK);
    hdst__repartition_bad(parting, &record, &told);
    cr_assert(record == 777 && told == 777, "%llu %u", (unsigned long long)record, (unsigned)told);
    hdst__repartition_destroy(parting);
    hdst_context_destroy(context);
}

Test(partition, records_without_a_part_may_be_left_out)
{
    hdst_context_options options = HDST_CONTEXT_OPTIONS_INIT;
    options.device = "interp";
    options.on_error = HDST_ON_ERROR_SKIP;
    job j;
    open_job(&j, hdst_context_create(&options));
    rows[4321].a = -2;
    rows[9999].a = 5;
    hdst_result *r = hdst_result_create(hdst_partition(j.data, j.module, "by_a", 5));
    RUN(r);
    uint64_t n, parts, at = 0;
    const row *got = hdst_result_rows(r, NULL, &n);
    const uint64_t *counts = hdst_result_parts(r, &parts);
    cr_assert(n == N - 2 && parts == 5 && counts[1] == N / 5 - 1 && counts[4] == N / 5 - 1);
    for (uint32_t p = 0; p < 5; p++)
        for (uint64_t i = 0; i < counts[p]; i++, at++) cr_assert(got[at].a == (int16_t)p && (i == 0 || got[at].v > got[at - 1].v));
    cr_assert_eq(hdst_result_stats(r).records_skipped, 2);
    rows[3].k = 0;      // 100 / 0
    expect_error(hdst_partition(j.data, j.module, "checked", 1000), HDST_E_RECORD, "records have no part, as their function failed", "");
    hdst_context_destroy(j.context);
}

// Records that the memory budget has no room for go through a file.
Test(partition, over_the_memory_budget)
{
    hdst_context_options options = HDST_CONTEXT_OPTIONS_INIT;
    options.device = "interp";
    options.memory = 900 << 10;
    job j;
    open_job(&j, hdst_context_create(&options));
    hdst_dataset *d = hdst_partition(j.data, j.module, "by_key", PARTS);
    static row got[N];
    hdst_error error = HDST_ERROR_INIT;
    uint64_t n, counts[PARTS] = {0};
    cr_assert_eq(hdst_save(d, "partition_test.raw", &error), HDST_OK, "%s", error.message);
    FILE *file = fopen("partition_test.raw", "rb");
    n = fread(got, sizeof *got, N, file);
    fclose(file);
    remove("partition_test.raw");
    for (uint32_t i = 0; i < N; i++) counts[rows[i].k % PARTS]++;
    check_order(got, n, counts, NULL, "over the budget");
    cr_assert_leq(j.context->engine->runtime.memory.peak, 900 << 10);
    hdst_context_destroy(j.context);
}

Test(partition, mistakes)
{
    job j;
    open_job(&j, context_on("interp"));
    expect_error(hdst_partition(j.data, j.module, "by_key", 0), HDST_E_USAGE, "to 0 parts", "");
    expect_error(hdst_partition(j.data, j.module, "by_key", UINT64_C(1) << 40), HDST_E_USAGE, "1 to 16777216 are possible", "");
    expect_error(hdst_partition(j.data, j.module, "value_of", 3), HDST_E_USAGE, "was given 'value_of', which gives 'float', no part's number",
                 "map value_of(row a) -> uint32_t");
    expect_error(hdst_partition(j.data, j.module, "some", 3), HDST_E_USAGE, "'some', which is a filter", "");
    expect_error(hdst_partition(j.data, j.module, "by_kay", 3), HDST_E_USAGE, "no function 'by_kay'", "did you mean 'by_key'?");
    expect_error(hdst_partition(hdst_map_function(j.data, j.module, "totals"), j.module, "by_key", 3), HDST_E_USAGE, "'by_key' takes records of 'row'", "");
    hdst_context_destroy(j.context);
}

// Whether a key lies in two parts is looked up in little more memory than the rows take.
enum { MANY = 1 << 20, MANY_KEYS = 1 << 19, LITTLE = 18 << 20 };
typedef struct counted { uint32_t k, n; } counted;

static bool fill_counted(uint64_t first, uint64_t count, void *records, char *message, void *user)
{
    (void)message, (void)user;
    for (uint64_t i = 0; i < count; i++) ((counted *)records)[i] = (counted){(uint32_t)((first + i) * 7919 % MANY_KEYS), 1};
    return true;
}

Test(partition, many_keys_in_little_memory)
{
    static const char text[] = "struct counted { uint32_t k; uint32_t n; };\n"
                               "map keyed(counted c) -> (key uint32_t k, uint32_t n) { return (c.k, c.n); }\n"
                               "map half(counted c) -> uint32_t { return c.k & 1u; }\n"
                               "map third(counted c) -> uint32_t { return c.n + (c.k == 12u ? record_index() < 300000 ? 0u : 1u : 0u); }\n"
                               "reduce add(uint32_t a, uint32_t b) { return a + b; }\n";
    hdst_context_options options = HDST_CONTEXT_OPTIONS_INIT;
    options.device = "interp";
    options.memory = LITTLE;
    hdst_context *context = hdst_context_create(&options);
    hdst_module *module = module_of(context, text);
    hdst_dataset *data = hdst_read(hdst_source_from_callback(context, MANY, fill_counted, NULL), module, "counted");
    static const char *const functions[] = {"half", "third"};
    for (int f = 0; f < 2; f++) {
        hdst_error error;
        uint64_t count = 0;
        hdst_result *r = hdst_result_create(hdst_reduce_by_key(hdst_map_function(hdst_partition(data, module, functions[f], 4), module, "keyed"),
                                                               module, "add"));
        const hdst_status status = hdst_run(r, &error);
        cr_assert_eq(status, f ? HDST_E_USAGE : HDST_OK, "%s", error.message);
        if (f) cr_assert_str_eq(error.message, "records with the key k = 12 lie in part 1 and in part 2");
        else hdst_result_rows(r, NULL, &count);
        cr_assert_eq(count, f ? 0 : MANY_KEYS);
        hdst_result_destroy(r);
    }
    hdst_context_destroy(context);
}
