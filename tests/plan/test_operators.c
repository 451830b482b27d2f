// SPDX-License-Identifier: Apache-2.0
// Each operator through the public interface against a plain C loop, on the interpreter, the CPU form and the GPU form.
#include "tests/hdst/support.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

enum { N = 5003, KEYS = 37 };

typedef struct row { float x; int32_t k; double w; } row;
typedef struct indexed { uint64_t i; float x; int32_t k; double w; } indexed;
typedef struct stat { double sum; int32_t low; } stat;

static const char kernels[] =
    "struct row { float x; int32_t k; double w; };\n"
    "struct indexed { uint64_t i; float x; int32_t k; double w; };\n"
    "struct stat { double sum; int32_t low; };\n"
    "filter odd(row r) { return (r.k & 1) != 0; }\n"
    "map twice(row r) -> row { return (row){ .x = r.x * 2.0f, .k = r.k + 1, .w = -r.w }; }\n"
    "map numbered(row r) -> row { return (row){ .x = r.x, .k = (int32_t)record_index(), .w = r.w }; }\n"
    "map counted(row r, accum uint64_t n, accum double sum) -> row { n += 1; sum += r.w; return r; }\n"
    "map keyed(row r) -> (key uint32_t bucket, double sum, int32_t low) { return ((uint32_t)(r.k + 1000) % 37u, r.w, r.k); }\n"
    "map one_value(row r) -> (key uint32_t bucket, double v) { return ((uint32_t)(r.k + 1000) % 37u, r.w); }\n"
    "map late(row r) -> (key int64_t bucket, double v) { return ((int64_t)record_index() - 5000, r.w); }\n"
    "reduce join(stat a, stat b) { return (stat){ .sum = a.sum + b.sum, .low = a.low < b.low ? a.low : b.low }; }\n"
    "reduce join_min(stat a, stat b) { return (stat){ .sum = a.sum + b.sum, .low = min(a.low, b.low) }; }\n"
    "reduce add(double a, double b) { return a + b; }\n"
    "associative reduce right(stat a, stat b) { return b; }\n"
    "map halve(stat s) -> stat { return (stat){ .sum = s.sum / 2, .low = s.low + (int32_t)record_index() }; }\n"
    "map square(double v) -> double { return v * v; }\n"
    "map centered(row r, broadcast stat s[]) -> double { return r.w - s[0].sum; }\n"
    "map far(row r) -> (key uint64_t bucket, double v) { return (18446744073709551615u - record_index(), r.w); }\n";

static row rows[N];
static const char *const forms[] = {"interp", "cpu", "gpu-form"};

typedef struct job {
    hdst_context *context;
    hdst_module *module;
    hdst_dataset *data;
} job;

static bool open_job(job *j, const char *form)
{
    if (strcmp(form, "interp") && !have_cpu()) return false;
    srand(1);
    // Sums of these are exact in double, so a plain loop knows the answer.
    for (int i = 0; i < N; i++) rows[i] = (row){(float)(rand() % 1000) / 8, rand() % 2001 - 1000, (double)(rand() % 100000 - 50000) / 64};
    j->context = context_in_form(form);
    j->module = module_of(j->context, kernels);
    j->data = hdst_read(hdst_source_from_memory(j->context, rows, N, sizeof(row)), j->module, "row");
    return true;
}

#define ON_EACH_FORM(j) for (size_t form_ = 0; form_ < 3; form_++) if (open_job(&(j), forms[form_]))

#define OK(call)                                                                                    \
    do {                                                                                            \
        hdst_error ok_error = HDST_ERROR_INIT;                                                      \
        hdst_status ok_status = (call);                                                             \
        cr_assert_eq(ok_status, HDST_OK, "%s: %s", #call, ok_error.message);                        \
    } while (0)
#define ERR &ok_error

static bool same(const row *a, const row *b) { return a->x == b->x && a->k == b->k && a->w == b->w; }

static void expect_rows(hdst_dataset *dataset, const row *expected, uint64_t count, const char *what)
{
    void *out;
    uint64_t n;
    OK(hdst_collect(dataset, &out, &n, ERR));
    cr_assert_eq(n, count, "%s: %llu records, not %llu", what, (unsigned long long)n, (unsigned long long)count);
    for (uint64_t i = 0; i < n; i++) cr_assert(same((row *)out + i, &expected[i]), "%s: record %llu", what, (unsigned long long)i);
    OK(hdst_count(dataset, &n, ERR));
    cr_assert_eq(n, count, "%s is counted as %llu", what, (unsigned long long)n);
    hdst_rows_destroy(((hdst__object *)dataset)->context, out);
}

static uint64_t keep_odd(row *to)
{
    uint64_t n = 0;
    for (int i = 0; i < N; i++)
        if (rows[i].k & 1) to[n++] = rows[i];
    return n;
}

Test(operators, records_that_were_only_read_run_too)
{
    job j;
    ON_EACH_FORM(j) {
        for (int layout = HDST_AOS; layout <= HDST_AOP; layout++) {
            hdst_dataset *d = hdst_with_layout(j.data, (hdst_layout)layout);
            expect_rows(d, rows, N, "a layout");
            hdst_result *r = hdst_result_create(hdst_cache(d));
            RUN(r);
            uint64_t n;
            const row *out = hdst_result_rows(r, NULL, &n);
            cr_assert_eq(n, N);
            cr_assert(same(&out[N - 1], &rows[N - 1]));
            cr_assert_eq(hdst_result_stats(r).records, N);
        }
        hdst_context_destroy(j.context);
    }
}

Test(operators, filters_alone_give_records)
{
    job j;
    static row expected[N];
    ON_EACH_FORM(j) {
        uint64_t n = keep_odd(expected);
        expect_rows(hdst_filter_function(j.data, j.module, "odd"), expected, n, "a filter");
        hdst_context_destroy(j.context);
    }
}

Test(operators, slices_unions_and_caches_of_computed_records)
{
    job j;
    static row odd[N], expected[2 * N];
    ON_EACH_FORM(j) {
        uint64_t n = keep_odd(odd);
        hdst_dataset *filtered = hdst_filter_function(j.data, j.module, "odd");
        expect_rows(hdst_slice(filtered, 100, 200), odd + 100, 200, "a slice of a filter");
        expect_rows(hdst_slice(filtered, n - 3, 200), odd + n - 3, 3, "a slice over the end");
        expect_rows(hdst_slice(filtered, n + 3, 200), odd, 0, "a slice behind the end");
        expect_rows(hdst_slice(hdst_slice(j.data, 10, 1000), 5, UINT64_MAX), rows + 15, 995, "a slice of a slice");
        memcpy(expected, rows, sizeof rows);
        memcpy(expected + N, odd, n * sizeof(row));
        expect_rows(hdst_union(j.data, filtered), expected, N + n, "a union");
        for (uint64_t i = 0; i < N + n; i++) expected[i] = (row){expected[i].x * 2, expected[i].k + 1, -expected[i].w};
        hdst_dataset *kept = hdst_cache(hdst_map_function(hdst_with_layout(hdst_union(j.data, filtered), HDST_SOA), j.module, "twice"));
        expect_rows(kept, expected, N + n, "a cache");
        expect_rows(hdst_slice(kept, 7, 5), expected + 7, 5, "a slice of a cache");
        hdst_uncache(kept);
        expect_rows(hdst_with_layout(kept, HDST_AOSOA), expected, N + n, "a cache filled again");
        hdst_context_destroy(j.context);
    }
}

Test(operators, the_index_is_that_of_the_dataset)
{
    job j;
    static row odd[N];
    ON_EACH_FORM(j) {
        uint64_t n = keep_odd(odd), count;
        void *out;
        hdst_dataset *filtered = hdst_filter_function(j.data, j.module, "odd");
        OK(hdst_collect(hdst_zip_with_index(filtered, j.module, "indexed"), &out, &count, ERR));
        cr_assert_eq(count, n);
        for (uint64_t i = 0; i < n; i++) {
            const indexed *z = (const indexed *)out + i;
            cr_assert(z->i == i && z->x == odd[i].x && z->k == odd[i].k && z->w == odd[i].w, "record %llu on %s", (unsigned long long)i, forms[form_]);
        }
        hdst_rows_destroy(j.context, out);
        for (uint64_t i = 0; i < n; i++) odd[i].k = (int32_t)i;
        expect_rows(hdst_map_function(hdst_filter_function(j.data, j.module, "odd"), j.module, "numbered"), odd, n, "numbers after a filter");
        hdst_context_destroy(j.context);
    }
}

// Philox 4x32-10 as the paper states it, with the published answers of its distribution (Random123, kat_vectors).
static void philox(uint32_t c[4], uint32_t k0, uint32_t k1)
{
    for (int round = 0; round < 10; round++) {
        uint64_t a = (uint64_t)0xD2511F53 * c[0], b = (uint64_t)0xCD9E8D57 * c[2];
        uint32_t next[4] = {(uint32_t)(b >> 32) ^ c[1] ^ k0, (uint32_t)b, (uint32_t)(a >> 32) ^ c[3] ^ k1, (uint32_t)a};
        memcpy(c, next, sizeof next);
        k0 += 0x9E3779B9;
        k1 += 0xBB67AE85;
    }
}

static bool in_sample(uint64_t index, double fraction, uint64_t seed)
{
    uint32_t c[4] = {(uint32_t)index, (uint32_t)(index >> 32), 0, 0};
    philox(c, (uint32_t)seed, (uint32_t)(seed >> 32));
    return (double)(((uint64_t)c[1] << 32 | c[0]) >> 12) < fraction * 0x1p52;       // exact for the fractions here
}

Test(operators, a_sample_is_the_same_everywhere)
{
    uint32_t zeros[4] = {0}, ones[4] = {UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX};
    philox(zeros, 0, 0);
    philox(ones, UINT32_MAX, UINT32_MAX);
    cr_assert(zeros[0] == 0x6627e8d5 && zeros[1] == 0xe169c58d && zeros[2] == 0xbc57ac4c && zeros[3] == 0x9b00dbd8);
    cr_assert(ones[0] == 0x408f276d && ones[1] == 0x41c83b0e && ones[2] == 0xa20bc7c6 && ones[3] == 0x6d5451fd);
    job j;
    static row expected[N];
    ON_EACH_FORM(j) {
        static const double fractions[] = {0, 0.125, 0.75, 1};
        static const uint64_t seeds[] = {0, 7, UINT64_MAX - 3};
        for (size_t f = 0; f < 4; f++) {
            uint64_t n = 0, seed = seeds[f % 3];
            for (int i = 0; i < N; i++)
                if (in_sample((uint64_t)i, fractions[f], seed)) expected[n++] = rows[i];
            cr_assert(fractions[f] != 1 || n == N);
            expect_rows(hdst_sample(j.data, fractions[f], seed), expected, n, "a sample");
        }
        hdst_context_destroy(j.context);
    }
}

// Values by key, as the reduces have it; low is the largest number where nothing came.
static void by_key(stat to[KEYS])
{
    for (int k = 0; k < KEYS; k++) to[k] = (stat){0, INT32_MAX};
    for (int i = 0; i < N; i++) {
        stat *s = &to[(uint32_t)(rows[i].k + 1000) % 37u];
        s->sum += rows[i].w;
        if (rows[i].k < s->low) s->low = rows[i].k;
    }
}

Test(operators, a_dense_reduce_gives_every_row)
{
    job j;
    ON_EACH_FORM(j) {
        stat expected[KEYS];
        by_key(expected);
        hdst_dataset *dense = hdst_reduce_dense(hdst_map_function(j.data, j.module, "keyed"), j.module, "join_min", KEYS + 2);
        hdst_result *r = hdst_result_create(dense);
        RUN(r);
        uint64_t n;
        const stat *out = hdst_result_rows(r, NULL, &n);
        cr_assert_eq(n, KEYS + 2);
        for (int k = 0; k < KEYS; k++) cr_assert(out[k].sum == expected[k].sum && out[k].low == expected[k].low, "key %d on %s", k, forms[form_]);
        cr_assert(out[KEYS + 1].sum == 0 && out[KEYS + 1].low == INT32_MAX, "no value came with this key");
        // What follows a reduce runs over its records.
        hdst_result *next = hdst_result_create(hdst_map_function(dense, j.module, "halve"));
        RUN(next);
        const stat *half = hdst_result_rows(next, NULL, &n);
        cr_assert_eq(n, KEYS + 2);
        for (int k = 0; k < KEYS; k++) cr_assert(half[k].sum == expected[k].sum / 2 && half[k].low == expected[k].low + k);
        hdst_context_destroy(j.context);
    }
}

Test(operators, numbers_reduced_by_key_and_on)
{
    job j;
    ON_EACH_FORM(j) {
        stat expected[KEYS];
        double total = 0, v;
        by_key(expected);
        for (int k = 0; k < KEYS; k++) total += expected[k].sum * expected[k].sum;
        hdst_dataset *dense = hdst_reduce_dense(hdst_map_function(j.data, j.module, "one_value"), j.module, "add", KEYS);
        uint64_t n;
        OK(hdst_take(hdst_reduce(hdst_map_function(dense, j.module, "square"), j.module, "add"), 3, &v, &n, ERR));
        cr_assert_eq(n, 1);
        cr_assert_eq(v, total, "%.17g, not %.17g", v, total);     // sums are multiples of 2^-6 below 2^17, so their squares add up exactly in any order
        hdst_context_destroy(j.context);
    }
}

Test(operators, a_key_out_of_range_names_the_record)
{
    job j;
    ON_EACH_FORM(j) {
        hdst_dataset *dense = hdst_reduce_dense(hdst_map_function(j.data, j.module, "late"), j.module, "add", 10);
        hdst_error error;
        void *out;
        uint64_t n;
        cr_assert_eq(hdst_collect(dense, &out, &n, &error), HDST_E_RECORD);
        cr_assert_null(out);
        cr_assert_eq(error.record, 0);
        cr_assert(strstr(error.message, "key 'bucket' is -5000, out of range 0..9,"), "%s", error.message);
        cr_assert_eq(error.line, 13, "the place is the reduce's: line %u", error.line);
        dense = hdst_reduce_dense(hdst_map_function(j.data, j.module, "far"), j.module, "add", 10);
        cr_assert_eq(hdst_collect(dense, &out, &n, &error), HDST_E_RECORD);
        cr_assert(strstr(error.message, "key 'bucket' is 18446744073709551615, out of range 0..9,"), "%s", error.message);
        hdst_context_destroy(j.context);
    }
}

Test(operators, shared_parts_run_once)
{
    job j;
    ON_EACH_FORM(j) {
        hdst_dataset *shared = hdst_map_function(j.data, j.module, "counted");
        hdst_result *r = hdst_result_create(hdst_union(hdst_filter_function(shared, j.module, "odd"), hdst_map_function(shared, j.module, "twice")));
        RUN(r);
        static row odd[N];
        uint64_t n = keep_odd(odd), count;
        hdst_result_rows(r, NULL, &count);
        cr_assert_eq(count, n + N);
        cr_assert_eq(hdst_view_int64(hdst_result_field(r, "n", NULL), 0, 0), N, "every record is counted once");
        hdst_run_stats stats = hdst_result_stats(r);
        cr_assert_eq(stats.device[0].records, 3 * N, "three stages over all records");
        hdst_result *alone = hdst_result_create(shared);
        RUN(alone);
        cr_assert_eq(stats.bytes_to_device, hdst_result_stats(alone).bytes_to_device, "what the first stage gave did not leave the device to come back");
        hdst_error error;
        const char *text = hdst_explain(r, &error);
        cr_assert(strstr(text, "map counted") && strstr(text, "filter odd") && strstr(text, "map twice") && strstr(text, "one after another"), "%s", text);
        hdst_context_destroy(j.context);
    }
}

Test(operators, a_cache_of_computed_records_is_filled_once)
{
    job j;
    ON_EACH_FORM(j) {
        hdst_dataset *kept = hdst_cache(hdst_map_function(j.data, j.module, "counted"));
        hdst_result *a = hdst_result_create(hdst_map_function(kept, j.module, "twice"));
        hdst_result *b = hdst_result_create(hdst_filter_function(kept, j.module, "odd"));
        RUN(a);
        cr_assert_eq(hdst_result_stats(a).device[0].records, 2 * N);
        RUN(b);
        cr_assert_eq(hdst_result_stats(b).device[0].records, N, "what is cached is not computed again");
        cr_assert_eq(hdst_result_stats(b).bytes_to_device, 0, "nor sent again");
        cr_assert_eq(hdst_view_int64(hdst_result_field(b, "n", NULL), 0, 0), N, "accumulators below the cache keep what they had");
        rows[0].k = 1;
        RUN(a);
        cr_assert_neq(((const row *)hdst_result_rows(a, NULL, NULL))[0].k, 2);
        hdst_uncache(kept);
        RUN(a);
        cr_assert_eq(((const row *)hdst_result_rows(a, NULL, NULL))[0].k, 2, "now it was filled again");
        hdst_context_destroy(j.context);
    }
}

Test(operators, a_slice_of_mapped_records_maps_no_others)
{
    job j;
    ON_EACH_FORM(j) {
        hdst_dataset *mapped = hdst_map_function(hdst_map_function(hdst_with_layout(j.data, HDST_SOA), j.module, "twice"), j.module, "twice");
        hdst_result *r = hdst_result_create(hdst_filter_function(hdst_slice(mapped, 40, 20), j.module, "odd"));
        RUN(r);
        uint64_t n = 0, count;
        const row *out = hdst_result_rows(r, NULL, &count);
        for (int i = 40; i < 60; i++) {
            row want = {rows[i].x * 4, rows[i].k + 2, rows[i].w};
            if (want.k & 1) cr_assert(n < count && same(&out[n++], &want));
        }
        cr_assert_eq(n, count);
        cr_assert_eq(hdst_result_stats(r).device[0].records, 40, "20 in each of two stages");
        // Accumulators and indices are of all records.
        hdst_result *all = hdst_result_create(hdst_slice(hdst_map_function(mapped, j.module, "counted"), 0, 1));
        RUN(all);
        cr_assert_eq(hdst_view_int64(hdst_result_field(all, "n", NULL), 0, 0), N);
        row late;
        hdst_error error;
        cr_assert_eq(hdst_dataset_take(hdst_slice(hdst_map_function(j.data, j.module, "numbered"), 50, 9), 3, 1, &late, &error), HDST_OK, "%s", error.message);
        cr_assert_eq(late.k, 53);
        hdst_context_destroy(j.context);
    }
}

static uint64_t filled;

static bool fill_rows(uint64_t first, uint64_t count, void *records, char *message, void *user)
{
    (void)message, (void)user;
    memcpy(records, rows + first, count * sizeof(row));
    filled += count;
    return true;
}

Test(operators, what_is_cached_is_not_read_again_on_the_host_either)
{
    job j;
    ON_EACH_FORM(j) {
        if (!strcmp(forms[form_], "gpu-form")) {        // whose memory the host does not share
            hdst_context_destroy(j.context);
            continue;
        }
        for (int layout = HDST_AOS; layout <= HDST_AOP; layout++) {
            hdst_dataset *read = hdst_read(hdst_source_from_callback(j.context, N, fill_rows, NULL), j.module, "row");
            hdst_dataset *kept = hdst_cache(hdst_with_layout(read, (hdst_layout)layout));
            hdst_result *r = hdst_result_create(hdst_filter_function(kept, j.module, "odd"));
            RUN(r);
            filled = 0;
            expect_rows(hdst_slice(kept, 1000, 2000), rows + 1000, 2000, "a slice of a cache");
            expect_rows(hdst_with_layout(kept, HDST_AOSOA), rows, N, "a cache in another layout");
            cr_assert_eq(filled, 0, "%llu records were read again", (unsigned long long)filled);
            hdst_uncache(kept);
            expect_rows(hdst_slice(kept, 1000, 2000), rows + 1000, 2000, "a slice of an empty cache");
            cr_assert_gt(filled, 0);
        }
        hdst_context_destroy(j.context);
    }
}

// --- Memory ---

static int warned;

static void count_warnings(hdst_log_level level, const char *message, void *user)
{
    (void)user;
    warned += level == HDST_LOG_WARN && strstr(message, "records between two stages go through the host") != NULL;
}

Test(operators, records_that_the_device_has_no_room_for_go_through_the_host)
{
    enum { MANY = 1 << 22 };
    if (!have_cpu()) return;
    hdst_context_options options = HDST_CONTEXT_OPTIONS_INIT;
    options.device = "cpu";
    options.log = count_warnings;
    options.device_memory = 56 << 20;       // the records take 64 MiB; what is in flight on the way to the host takes 44
    hdst_context *context = hdst_context_create(&options);
    hdst_module *m = module_of(context, "map wide(int64_t v) -> (int64_t a, int64_t b) { return (v, v * v); }\n"
                                        "map tell(wide w, accum int64_t sum, accum uint64_t index) { sum += w.b - w.a; index += record_index(); }\n");
    hdst_dataset *d = hdst_map_function(hdst_read(hdst_source_from_range(context, 0, MANY), m, "int64_t"), m, "wide");
    hdst_result *r = hdst_result_create(hdst_map_function(hdst_cache(d), m, "tell"));
    RUN(r);
    uint64_t sum = 0;       // wraps, as the kernel's does
    for (uint64_t i = 0; i < MANY; i++) sum += i * i - i;
    cr_assert_eq((uint64_t)hdst_view_int64(hdst_result_field(r, "sum", NULL), 0, 0), sum);
    cr_assert_eq(hdst_view_int64(hdst_result_field(r, "index", NULL), 0, 0), (int64_t)MANY * (MANY - 1) / 2);
    cr_assert_eq(warned, 1);
    hdst_context_destroy(context);
}

// --- Runs that end early ---

enum { MANY = 2000000 };

static bool fill_counted(uint64_t first, uint64_t count, void *records, char *message, void *user)
{
    (void)message;
    *(uint64_t *)user += count;
    // A hundred odd, a hundred even ones
    for (uint64_t i = 0; i < count; i++) ((row *)records)[i] = (row){(float)i, (int32_t)((first + i) / 100), (double)(first + i)};
    return true;
}

static uint64_t kept(uint64_t n) { return n / 100 * 200 + 100 + n % 100; }      // the input's index of the n-th odd record

static uint64_t computed(const hdst_result *result)
{
    const hdst_run_stats stats = hdst_result_stats(result);
    return stats.device[0].records;
}

// The first and the last of a slice's rows, and how much was read and computed for them.
static void expect_early_end(hdst_dataset *odd, uint64_t first, uint64_t count)
{
    hdst_result *result = hdst_result_create(hdst_slice(odd, first, count));
    RUN(result);
    uint64_t n;
    const row *got = hdst_result_rows(result, NULL, &n);
    cr_assert_eq(n, count);
    cr_expect_eq(got[0].w, (double)kept(first));
    cr_expect_eq(got[count - 1].w, (double)kept(first + count - 1));
    cr_expect_geq(computed(result), kept(first + count - 1) + 1);
    cr_expect_lt(computed(result), (uint64_t)MANY / 2, "%llu records were computed", (unsigned long long)computed(result));
    hdst_result_destroy(result);
}

Test(operators, a_slice_of_filtered_records_ends_the_run)
{
    job j;
    ON_EACH_FORM(j) {
        uint64_t read = 0, taken = 0;
        hdst_dataset *many = hdst_read(hdst_source_from_callback(j.context, MANY, fill_counted, &read), j.module, "row");
        hdst_dataset *odd = hdst_filter(many, hdst_map_spec_create(j.module, "odd"));
        row some[10];
        OK(hdst_take(odd, 10, some, &taken, ERR));
        cr_assert_eq(taken, 10);
        for (uint64_t i = 0; i < 10; i++) cr_expect_eq(some[i].w, (double)kept(i));
        cr_expect_lt(read, (uint64_t)MANY, "%llu records were read", (unsigned long long)read);
        if (strcmp(forms[form_], "interp")) expect_early_end(odd, 1000, 150000);
        hdst_context_destroy(j.context);
    }
}

Test(operators, what_is_totalled_on_the_way_to_a_slice_sees_all_records)
{
    job j;
    ON_EACH_FORM(j) {
        hdst_map_spec *counted = hdst_map_spec_create(j.module, "counted");
        hdst_bind_accum(counted, "n", 1);
        hdst_bind_accum(counted, "sum", 1);
        hdst_result *result = hdst_result_create(hdst_slice(hdst_filter(hdst_map(j.data, counted), hdst_map_spec_create(j.module, "odd")), 0, 3));
        RUN(result);
        cr_expect_eq(*(const uint64_t *)hdst_result_field(result, "n", NULL).base, (uint64_t)N);
        hdst_result_destroy(result);
        hdst_context_destroy(j.context);
    }
}

// Who reads all records of a filter does not get fewer, because another one needs only the first ones.
Test(operators, a_slice_ends_nothing_that_others_read)
{
    enum { RECORDS = 3000000, WANTED = 10 };
    hdst_context *context = context_on("interp");
    hdst_module *module = module_of(context, "struct pair { uint32_t key; float v; };\nfilter most(pair i) { return i.key % 8u != 3u; }\n");
    struct { uint32_t key; float v; } *items = malloc(RECORDS * sizeof *items), *got;
    uint64_t left = 0, n;
    for (uint32_t i = 0; i < RECORDS; i++) items[i].key = i, items[i].v = (float)i, left += i % 8 != 3;
    hdst_dataset *some = hdst_filter_function(hdst_read(hdst_source_from_memory(context, items, RECORDS, sizeof *items), module, "pair"), module, "most");
    hdst_result *r = hdst_result_create(hdst_union(hdst_slice(some, 0, WANTED), some));
    RUN(r);
    got = (void *)hdst_result_rows(r, NULL, &n);
    cr_assert_eq(n, WANTED + left, "%llu", (unsigned long long)n);
    for (uint64_t i = 0; i < WANTED; i++) cr_assert(!memcmp(got + i, got + WANTED + i, sizeof *got));
    cr_assert_eq(got[n - 1].key, RECORDS - 1);
    free(items);
    hdst_context_destroy(context);
}
