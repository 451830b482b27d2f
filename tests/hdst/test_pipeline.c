// SPDX-License-Identifier: Apache-2.0
// Whole pipelines through the public interface, on the interpreter and on an OpenCL CPU device, against plain C loops.
#include "tests/hdst/support.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

enum { N = 10007 };     // odd, so that slices and blocks have rests

typedef struct row { float x; int32_t k; double w; } row;

static const char kernels[] =
    "struct row { float x; int32_t k; double w; };\n"
    "struct total { double w; uint32_t n; int32_t low; };\n"
    "struct pair { double a; int32_t b; };\n"
    "filter odd(row r) { return (r.k & 1) != 0; }\n"
    "map twice(row r) -> row { return (row){ .x = r.x * 2.0f, .k = r.k + 1, .w = -r.w }; }\n"
    "map sums(row r, broadcast float limit, accum total t[], accum float all)\n"
    "{\n"
    "    uint32_t b = (uint32_t)(r.k & 3);\n"
    "    if (r.x < limit) { t[b].w += r.w; t[b].n += 1; acc_min(t[b].low, r.k); }\n"
    "    all += r.x;\n"
    "}\n"
    "map to_pair(row r) -> pair { return (pair){ .a = r.w, .b = r.k }; }\n"
    "flat_map votes(row r) -> (key uint32_t k, uint64_t n) { for (int i = 0; i < r.k % 4; i++) emit((uint32_t)i, (uint64_t)(r.k & 7)); }\n"
    "reduce sum(uint64_t a, uint64_t b) { return a + b; }\n"
    "struct numbered { uint64_t at; double a; int32_t b; };\n"
    "flat_map halves(row r) -> pair { for (int i = 0; i < r.k % 4; i++) emit(r.w, i); if (r.x > 0) emit((pair){ .a = (double)r.x, .b = r.k }); }\n"
    "reduce add(pair a, pair b) { return (pair){ .a = a.a + b.a, .b = a.b + b.b }; }\n"
    "associative reduce last(pair a, pair b) { return (pair){ .a = b.a, .b = a.b ^ b.b }; }\n"
    "associative reduce nearest(pair a, pair b) identity { .a = -INFINITY, .b = -7 } { return a.a < b.a ? b : a; }\n"
    "reduce mix(pair a, pair b) { return (pair){ .a = a.a * 0.5 + b.a, .b = a.b * 31 + b.b }; }\n";

static row rows[N];

static void make_rows(void)
{
    srand(1);
    for (int i = 0; i < N; i++)
        rows[i] = (row){(float)rand() / (float)RAND_MAX - 0.5f, rand() % 2001 - 1000, ldexp((double)rand() / RAND_MAX - 0.5, rand() % 80 - 40)};
}

static const char *const devices[] = {"interp", "cpu"};

typedef struct job {
    hdst_context *context;
    hdst_module *module;
    hdst_dataset *data;
} job;

static bool open_job(job *j, const char *device)
{
    if (!strcmp(device, "cpu") && !have_cpu()) return false;
    make_rows();
    j->context = context_on(device);
    j->module = module_of(j->context, kernels);
    j->data = hdst_read(hdst_source_from_memory(j->context, rows, N, sizeof(row)), j->module, "row");
    return true;
}

#define ON_EACH_DEVICE(j) for (size_t device_ = 0; device_ < 2; device_++) if (open_job(&(j), devices[device_]))

// An exact sum by an independent way: the values here are multiples of 2^-110 below 2^45, so two __int128 hold their sum.
static double exact_sum(const double *values, int n)
{
    __int128 whole = 0, part = 0;       // in units of 2^-20 and of 2^-110
    for (int i = 0; i < n; i++) {
        double v = values[i], upper = trunc(ldexp(v, 20));
        whole += (__int128)upper;
        part += (__int128)ldexp(ldexp(v, 20) - upper, 90);
    }
    whole += part >> 90;                // floor
    part &= ((__int128)1 << 90) - 1;
    // Round once: the sum is whole * 2^-20 + part * 2^-110; enough leading bits are in whole << k plus a sticky bit.
    int negative = whole < 0;
    if (negative) {                     // negate the two-part number
        whole = -whole - (part != 0);
        part = part ? ((__int128)1 << 90) - part : 0;
    }
    unsigned __int128 w = (unsigned __int128)whole;
    int shift = 0;
    while (w && w < ((unsigned __int128)1 << 100)) {
        part <<= 1;
        w = w << 1 | (unsigned)(part >> 90 & 1);
        part &= ((__int128)1 << 90) - 1;
        shift++;
    }
    int drop = 0;
    unsigned __int128 t = w;
    while (t >> 53) t >>= 1, drop++;
    unsigned __int128 rest = w & (((unsigned __int128)1 << drop) - 1), half = drop ? (unsigned __int128)1 << (drop - 1) : 0;
    if (drop && (rest > half || (rest == half && (part || (t & 1))))) t++;
    double result = ldexp((double)(uint64_t)t, drop - shift - 20);
    return negative ? -result : result;
}

Test(pipeline, accumulators_under_a_filter_and_a_map)
{
    job j;
    ON_EACH_DEVICE(j) {
        hdst_dataset *d = hdst_map_function(hdst_filter_function(j.data, j.module, "odd"), j.module, "twice");
        hdst_map_spec *spec = hdst_map_spec_create(j.module, "sums");
        hdst_value *limit = hdst_value_create(j.module, "float", 1);
        hdst_value_set(limit, &(float){0.25f}, 1);
        hdst_bind_value(spec, "limit", limit);
        hdst_bind_accum(spec, "t", 4);
        hdst_result *r = hdst_result_create(hdst_map(d, spec));
        RUN(r);
        static double w[4][N], all[N];
        int n[4] = {0}, count = 0, low[4] = {INT32_MAX, INT32_MAX, INT32_MAX, INT32_MAX};
        for (int i = 0; i < N; i++) {
            if (!(rows[i].k & 1)) continue;
            row t = {rows[i].x * 2, rows[i].k + 1, -rows[i].w};
            int b = t.k & 3;
            all[count++] = t.x;
            if (!(t.x < 0.25f)) continue;
            w[b][n[b]++] = t.w;
            if (t.k < low[b]) low[b] = t.k;
        }
        for (int b = 0; b < 4; b++) {
            cr_assert_eq(hdst_view_int64(hdst_result_field(r, "t", "n"), b, 0), n[b]);
            cr_assert_eq(hdst_view_int64(hdst_result_field(r, "t", "low"), b, 0), low[b]);
            cr_assert_eq(hdst_view_double(hdst_result_field(r, "t", "w"), b, 0), exact_sum(w[b], n[b]), "bucket %d on %s", b, devices[device_]);
        }
        cr_assert_eq((float)hdst_view_double(hdst_result_field(r, "all", NULL), 0, 0), (float)exact_sum(all, count));
        hdst_context_destroy(j.context);
    }
}

Test(pipeline, records_come_out_in_input_order)
{
    job j;
    ON_EACH_DEVICE(j) {
        hdst_result *r = hdst_result_create(hdst_map_function(hdst_filter_function(j.data, j.module, "odd"), j.module, "twice"));
        RUN(r);
        uint64_t count;
        const row *out = hdst_result_rows(r, NULL, &count);
        uint64_t expected = 0;
        for (int i = 0; i < N; i++) {
            if (!(rows[i].k & 1)) continue;
            cr_assert_lt(expected, count);
            cr_assert(out[expected].x == rows[i].x * 2 && out[expected].k == rows[i].k + 1 && out[expected].w == -rows[i].w);
            expected++;
        }
        cr_assert_eq(count, expected);
        hdst_context_destroy(j.context);
    }
}

Test(pipeline, every_layout_gives_the_same_bits)
{
    job j;
    ON_EACH_DEVICE(j) {
        double first = 0;
        for (int layout = HDST_AOS; layout <= HDST_AOP; layout++) {
            hdst_map_spec *spec = hdst_map_spec_create(j.module, "sums");
            hdst_value *limit = hdst_value_create(j.module, "float", 1);
            hdst_value_set(limit, &(float){INFINITY}, 1);
            hdst_bind_value(spec, "limit", limit);
            hdst_bind_accum(spec, "t", 4);
            hdst_result *r = hdst_result_create(hdst_map(hdst_cache(hdst_with_layout(j.data, (hdst_layout)layout)), spec));
            RUN(r);
            RUN(r);     // and again from the cache
            double w = hdst_view_double(hdst_result_field(r, "t", "w"), 1, 0);
            if (layout == HDST_AOS) first = w;
            cr_assert_eq(w, first, "layout %d on %s", layout, devices[device_]);
        }
        static double values[N];
        int n = 0;
        for (int i = 0; i < N; i++)
            if ((rows[i].k & 3) == 1) values[n++] = rows[i].w;
        cr_assert_eq(first, exact_sum(values, n));
        hdst_context_destroy(j.context);
    }
}

static hdst_result *reduced(job *j, const char *function)
{
    hdst_result *r = hdst_result_create(hdst_reduce(hdst_map_function(j->data, j->module, "to_pair"), j->module, function));
    RUN(r);
    return r;
}

Test(pipeline, a_field_wise_reduce_is_exact)
{
    job j;
    ON_EACH_DEVICE(j) {
        hdst_result *r = reduced(&j, "add");
        static double values[N];
        int32_t b = 0;
        for (int i = 0; i < N; i++) values[i] = rows[i].w, b += rows[i].k;
        cr_assert_eq(hdst_view_double(hdst_result_field(r, NULL, "a"), 0, 0), exact_sum(values, N));
        cr_assert_eq(hdst_view_int64(hdst_result_field(r, NULL, "b"), 0, 0), b);
        hdst_context_destroy(j.context);
    }
}

Test(pipeline, a_filter_gives_its_input_records_and_a_flat_map_any_number)
{
    job j;
    ON_EACH_DEVICE(j) {
        hdst_result *kept = hdst_result_create(hdst_filter_function(j.data, j.module, "odd"));
        hdst_result *many = hdst_result_create(hdst_flat_map_function(hdst_filter_function(j.data, j.module, "odd"), j.module, "halves"));
        RUN(kept);
        RUN(many);
        struct pair { double a; int32_t b; };
        uint64_t kept_count, many_count, k = 0, m = 0;
        const row *rows_out = hdst_result_rows(kept, NULL, &kept_count);
        const struct pair *pairs = hdst_result_rows(many, NULL, &many_count);
        for (int i = 0; i < N; i++) {
            if (!(rows[i].k & 1)) continue;
            cr_assert(k < kept_count && rows_out[k].x == rows[i].x && rows_out[k].k == rows[i].k && rows_out[k].w == rows[i].w);
            k++;
            for (int e = 0; e < rows[i].k % 4; e++, m++) cr_assert(m < many_count && pairs[m].a == rows[i].w && pairs[m].b == e);
            if (!(rows[i].x > 0)) continue;
            cr_assert(m < many_count && pairs[m].a == (double)rows[i].x && pairs[m].b == rows[i].k);
            m++;
        }
        cr_expect_eq(k, kept_count);
        cr_expect_eq(m, many_count);
        hdst_context_destroy(j.context);
    }
}

Test(pipeline, what_a_flat_map_emits_is_counted_numbered_and_reduced_by_key)
{
    job j;
    ON_EACH_DEVICE(j) {
        hdst_error error;
        uint64_t count = 0, wanted = 0, rows_out, sums[3] = {0};
        for (int i = 0; i < N; i++) {
            wanted += (uint64_t)(rows[i].k % 4 > 0 ? rows[i].k % 4 : 0) + (rows[i].x > 0);
            for (int e = 0; e < rows[i].k % 4; e++) sums[e] += (uint64_t)(rows[i].k & 7);
        }
        hdst_dataset *many = hdst_flat_map_function(j.data, j.module, "halves");
        cr_assert_eq(hdst_count(many, &count, &error), HDST_OK, "%s", error.message);
        cr_expect_eq(count, wanted);
        struct numbered { uint64_t at; double a; int32_t b; } *numbered;
        cr_assert_eq(hdst_collect(hdst_zip_with_index(many, j.module, "numbered"), (void **)&numbered, &rows_out, &error), HDST_OK, "%s", error.message);
        cr_expect_eq(rows_out, wanted);
        for (uint64_t i = 0; i < rows_out; i++) cr_assert_eq(numbered[i].at, i);
        hdst_rows_destroy(j.context, numbered);
        uint64_t *totals;
        hdst_dataset *by_key = hdst_reduce_dense(hdst_flat_map_function(j.data, j.module, "votes"), j.module, "sum", 3);
        cr_assert_eq(hdst_collect(by_key, (void **)&totals, &rows_out, &error), HDST_OK, "%s", error.message);
        cr_assert_eq(rows_out, 3);
        for (int e = 0; e < 3; e++) cr_expect_eq(totals[e], sums[e], "key %d on %s", e, devices[device_]);
        hdst_rows_destroy(j.context, totals);
        hdst_context_destroy(j.context);
    }
}

Test(pipeline, an_associative_reduce_keeps_the_order)
{
    job j;
    ON_EACH_DEVICE(j) {
        hdst_result *r = reduced(&j, "last");
        int32_t b = 0;
        for (int i = 0; i < N; i++) b ^= rows[i].k;
        cr_assert_eq(hdst_view_double(hdst_result_field(r, NULL, "a"), 0, 0), rows[N - 1].w);
        cr_assert_eq(hdst_view_int64(hdst_result_field(r, NULL, "b"), 0, 0), b);
        hdst_context_destroy(j.context);
    }
}

Test(pipeline, any_other_reduce_runs_in_input_order)
{
    job j;
    ON_EACH_DEVICE(j) {
        hdst_result *r = reduced(&j, "mix");
        double a = rows[0].w;
        uint32_t b = (uint32_t)rows[0].k;
        for (int i = 1; i < N; i++) a = fma(a, 0.5, rows[i].w), b = b * 31 + (uint32_t)rows[i].k;
        cr_assert_eq(hdst_view_double(hdst_result_field(r, NULL, "a"), 0, 0), a);
        cr_assert_eq(hdst_view_int64(hdst_result_field(r, NULL, "b"), 0, 0), (int32_t)b);
        hdst_context_destroy(j.context);
    }
}

Test(pipeline, an_index_out_of_range_names_the_first_record)
{
    job j;
    ON_EACH_DEVICE(j) {
        hdst_module *m = module_of(j.context, "struct row { float x; int32_t k; double w; };\nmap bad(row r, accum uint32_t t[])\n{\n"
                                              "    t[r.k + 1000 - 200] += 1;\n}\n");
        hdst_map_spec *spec = hdst_map_spec_create(m, "bad");
        hdst_bind_accum(spec, "t", 1801);
        hdst_result *r = hdst_result_create(hdst_map(hdst_read(hdst_source_from_memory(j.context, rows, N, sizeof(row)), m, "row"), spec));
        hdst_error error;
        cr_assert_eq(hdst_run(r, &error), HDST_E_RECORD);
        uint64_t first = 0;
        while (rows[first].k + 800 >= 0 && rows[first].k + 800 <= 1800) first++;
        cr_assert_eq(error.record, first, "%s", error.message);
        cr_assert_eq(error.line, 4);
        cr_assert(strstr(error.message, "out of range 0..1800"), "%s", error.message);
        cr_assert_null(hdst_result_rows(r, "t", NULL), "a failed run leaves nothing behind");
        hdst_context_destroy(j.context);
    }
}

Test(pipeline, an_empty_input_gives_identities)
{
    job j;
    ON_EACH_DEVICE(j) {
        hdst_dataset *none = hdst_read(hdst_source_from_memory(j.context, rows, 0, sizeof(row)), j.module, "row");
        hdst_result *r = hdst_result_create(hdst_reduce(hdst_map_function(none, j.module, "to_pair"), j.module, "add"));
        RUN(r);
        cr_assert_eq(hdst_view_double(hdst_result_field(r, NULL, "a"), 0, 0), 0);
        hdst_result *nearest = hdst_result_create(hdst_reduce(hdst_map_function(none, j.module, "to_pair"), j.module, "nearest"));
        RUN(nearest);
        cr_assert_eq(hdst_view_double(hdst_result_field(nearest, NULL, "a"), 0, 0), -INFINITY);
        cr_assert_eq(hdst_view_int64(hdst_result_field(nearest, NULL, "b"), 0, 0), -7);
        hdst_error error;
        hdst_result *last = hdst_result_create(hdst_reduce(hdst_map_function(none, j.module, "to_pair"), j.module, "last"));
        cr_assert_neq(hdst_run(last, &error), HDST_OK, "nothing stands for no record at all");
        hdst_result *records = hdst_result_create(hdst_map_function(none, j.module, "twice"));
        RUN(records);
        uint64_t count = 1;
        hdst_result_rows(records, NULL, &count);
        cr_assert_eq(count, 0);
        hdst_context_destroy(j.context);
    }
}

// A double beyond int64 reads as the nearest number that is one; 2^63 is the first of them.
Test(pipeline, numbers_beyond_int64_are_read_as_its_limits)
{
    const double d[] = {0x1p63, 0x1.fffffffffffffp62, -0x1p63, -0x1.0000000000001p63, INFINITY, -INFINITY, NAN, -1.9};
    const int64_t expected[] = {INT64_MAX, 0x7ffffffffffffc00, INT64_MIN, INT64_MIN, INT64_MAX, INT64_MIN, 0, -1};
    const float f = 0x1p63f;
    for (int i = 0; i < 8; i++) {
        const int64_t got = hdst_view_int64((hdst_view){.base = &d[i], .stride = 8, .rows = 1, .elements = 1, .type = HDST_FLOAT64}, 0, 0);
        cr_expect_eq(got, expected[i], "%g: %lld", d[i], (long long)got);
    }
    const uint64_t large[] = {UINT64_C(1) << 63, UINT64_MAX, 5};
    for (int i = 0; i < 3; i++)
        cr_expect_eq(hdst_view_double((hdst_view){.base = &large[i], .stride = 8, .rows = 1, .elements = 1, .type = HDST_UINT64}, 0, 0), (double)large[i]);
    cr_expect_eq(hdst_view_int64((hdst_view){.base = &f, .stride = 4, .rows = 1, .elements = 1, .type = HDST_FLOAT32}, 0, 0), INT64_MAX);
}

Test(pipeline, a_view_is_saved_and_read_back)
{
    job j;
    cr_assert(open_job(&j, "interp"));
    hdst_result *r = hdst_result_create(hdst_map_function(j.data, j.module, "twice"));
    RUN(r);
    char path[] = "/tmp/hdst-view-XXXXXX.npy";
    int file = mkstemps(path, 4);
    cr_assert_geq(file, 0);
    close(file);
    cr_assert_eq(hdst_view_save(hdst_result_field(r, NULL, "x"), path, NULL), HDST_OK);
    hdst_source *saved = hdst_source_open(j.context, path);
    cr_assert_eq(hdst_source_rows(saved), N);
    hdst_module *m = module_of(j.context, "struct one { float x; };\nfilter any(one o) { return true; }\n");
    static float back[N];
    cr_assert_eq(hdst_dataset_take(hdst_read(saved, m, "one"), 0, N, back, NULL), HDST_OK);
    for (int i = 0; i < N; i++) cr_assert_eq(back[i], rows[i].x * 2);
    unlink(path);
    hdst_context_destroy(j.context);
}

// Element 0 of the table takes what is out of range, and a division by zero gives 0.
Test(pipeline, without_checks_no_record_fails)
{
    for (size_t d = 0; d < 2; d++) {
        if (!strcmp(devices[d], "cpu") && !have_cpu()) continue;
        make_rows();
        hdst_context_options options = HDST_CONTEXT_OPTIONS_INIT;
        options.device = devices[d];
        options.unchecked = true;
        hdst_context *context = hdst_context_create(&options);
        hdst_module *m = module_of(context, "struct row { float x; int32_t k; double w; };\n"
                                            "map bad(row r, accum uint32_t t[], accum int64_t n) { t[r.k] += 1; n += 1000 / (r.k & 1); }\n");
        hdst_map_spec *spec = hdst_map_spec_create(m, "bad");
        hdst_bind_accum(spec, "t", 500);
        hdst_result *r = hdst_result_create(hdst_map(hdst_read(hdst_source_from_memory(context, rows, N, sizeof(row)), m, "row"), spec));
        RUN(r);
        int64_t outside = 0, odd = 0;
        for (int i = 0; i < N; i++) {
            outside += rows[i].k <= 0 || rows[i].k >= 500;
            odd += rows[i].k & 1;
        }
        cr_assert_eq(hdst_view_int64(hdst_result_field(r, "t", NULL), 0, 0), outside);
        cr_assert_eq(hdst_view_int64(hdst_result_field(r, "n", NULL), 0, 0), 1000 * odd);
        hdst_context_destroy(context);
    }
}

// A filter, a map that may divide by zero, and an accumulating map; then a reduce that always does.
Test(pipeline, records_with_errors_are_skipped)
{
    for (size_t d = 0; d < 2; d++) {
        if (!strcmp(devices[d], "cpu") && !have_cpu()) continue;
        make_rows();
        hdst_context_options options = HDST_CONTEXT_OPTIONS_INIT;
        options.device = devices[d];
        options.on_error = HDST_ON_ERROR_SKIP;
        hdst_context *context = hdst_context_create(&options);
        hdst_module *m = module_of(context, "struct row { float x; int32_t k; double w; };\nstruct part { int32_t q; };\n"
                                            "filter positive(row r) { return r.x > 0; }\n"
                                            "map divide(row r) -> part { return (part){ 1000 / (r.k % 10) }; }\n"
                                            "map total(part p, accum int64_t sum, accum uint32_t n) { sum += p.q; n += 1; }\n"
                                            "associative reduce mixed(part a, part b) { return (part){ a.q / (b.q - b.q) }; }\n");
        hdst_dataset *data = hdst_read(hdst_source_from_memory(context, rows, N, sizeof(row)), m, "row");
        hdst_dataset *parts = hdst_map_function(hdst_filter_function(data, m, "positive"), m, "divide");
        hdst_map_spec *spec = hdst_map_spec_create(m, "total");
        hdst_result *r = hdst_result_create(hdst_map(parts, spec)), *records = hdst_result_create(parts);
        int64_t sum = 0, n = 0, zeros = 0;
        static int32_t expected[N];
        for (int i = 0; i < N; i++) {
            if (!(rows[i].x > 0)) continue;
            if (rows[i].k % 10 == 0) zeros++;
            else sum += expected[n++] = 1000 / (rows[i].k % 10);
        }
        for (int again = 0; again < 2; again++) {
            RUN(r);
            cr_assert_eq(hdst_view_int64(hdst_result_field(r, "sum", NULL), 0, 0), sum);
            cr_assert_eq(hdst_view_int64(hdst_result_field(r, "n", NULL), 0, 0), n);
            cr_assert_eq(hdst_result_stats(r).records_skipped, (uint64_t)zeros, "%s", devices[d]);
        }
        RUN(records);
        uint64_t count;
        const int32_t *got = hdst_result_rows(records, NULL, &count);
        cr_assert(count == (uint64_t)n && !memcmp(got, expected, (size_t)n * sizeof *got));
        // Of two records the second takes no part, so the first is left.
        hdst_result *folded = hdst_result_create(hdst_reduce(parts, m, "mixed"));
        RUN(folded);
        got = hdst_result_rows(folded, NULL, &count);
        cr_assert(count == 1 && *got == expected[0]);
        cr_assert_eq(hdst_result_stats(folded).records_skipped, (uint64_t)(zeros + n - 1), "%s", devices[d]);
        hdst_context_destroy(context);
    }
}

// Records of a reduce with arrays, bytes and a double: what is left of the first record where the second takes no part.
Test(pipeline, reduces_skip_records_with_arrays)
{
    typedef struct sample { float x[3]; uint8_t tag; double w; int32_t bad; } sample;
    enum { RECORDS = 5000 };
    static sample samples[RECORDS], level[RECORDS];
    static uint64_t stands_for[RECORDS];
    for (int i = 0; i < RECORDS; i++) {
        samples[i] = (sample){{(float)i, (float)(i % 7), 1}, (uint8_t)i, i * 0.5, i % 10 == 4};
        level[i] = samples[i];
        stands_for[i] = 1;
    }
    uint64_t left = RECORDS;
    for (; left > 1; left = (left + 63) / 64)
        for (uint64_t r = 0; r < (left + 63) / 64; r++) {
            sample sum = level[64 * r];
            uint64_t taken = stands_for[64 * r];
            for (uint64_t i = 64 * r + 1; i < 64 * r + 64 && i < left; i++) {
                if (level[i].bad) continue;
                for (int e = 0; e < 3; e++) sum.x[e] = level[i].x[e] > sum.x[e] ? level[i].x[e] : sum.x[e];
                sum.tag ^= level[i].tag;
                sum.w += level[i].w;
                taken += stands_for[i];
            }
            level[r] = sum;
            stands_for[r] = taken;
        }
    static const char *const forms[] = {"interp", "cpu", "gpu-form"};
    for (size_t f = 0; f < 3; f++) {
        if (f && !have_cpu()) continue;
        hdst_context_options options = HDST_CONTEXT_OPTIONS_INIT;
        options.device = f ? "cpu" : "interp";
        options.on_error = HDST_ON_ERROR_SKIP;
        hdst_context *context = hdst_context_create(&options);
        context->engine->options.gpu_form_on_cpu = f == 2;
        hdst_module *m = module_of(context, "struct sample { float x[3]; uint8_t tag; double w; int32_t bad; };\n"
                                            "associative reduce all(sample a, sample b)\n"
                                            "{\n"
                                            "    sample s;\n"
                                            "    for (int e = 0; e < 3; e++) s.x[e] = b.x[e] > a.x[e] ? b.x[e] : a.x[e];\n"
                                            "    s.tag = a.tag ^ b.tag;\n"
                                            "    s.w = a.w + b.w;\n"
                                            "    s.bad = a.bad / (1 - b.bad);\n"
                                            "    return s;\n"
                                            "}\n");
        hdst_result *r = hdst_result_create(hdst_reduce(hdst_read(hdst_source_from_memory(context, samples, RECORDS, sizeof *samples), m, "sample"), m, "all"));
        RUN(r);
        uint64_t count;
        const sample *got = hdst_result_rows(r, NULL, &count);
        cr_assert_eq(count, 1);
        cr_expect(!memcmp(got->x, level[0].x, sizeof got->x) && got->tag == level[0].tag && got->w == level[0].w && got->bad == level[0].bad, "%s", forms[f]);
        cr_expect_eq(hdst_result_stats(r).records_skipped, RECORDS - stands_for[0], "%s", forms[f]);
        cr_expect(stands_for[0] < RECORDS - RECORDS / 10 - 64, "whole runs failed too");
        hdst_context_destroy(context);
    }
}
