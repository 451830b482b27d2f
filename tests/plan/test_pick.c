// SPDX-License-Identifier: Apache-2.0
// Records picked by the value of a field, against a plain C loop, on the interpreter, the CPU form and the GPU form.
#include "tests/hdst/support.h"

#include <math.h>
#include <stdlib.h>

enum { N = 5003 };

typedef struct spot { float x[3]; uint8_t tag; } spot;
typedef struct row { int16_t k; float f; double d; uint64_t u; bool b; spot at[2]; uint32_t i; } row;

static const char kernels[] =
    "struct spot { float x[3]; uint8_t tag; };\n"
    "struct row { int16_t k; float f; double d; uint64_t u; bool b; spot at[2]; uint32_t i; };\n"
    "filter none(row r) { return r.i > 99999; }\n"
    "filter odd(row r) { return (r.i & 1) != 0; }\n"
    "map shifted(row r) -> row { row s = r; s.k = -r.k; return s; }\n";

static row rows[N];
static const char *const forms[] = {"interp", "cpu", "gpu-form"};

typedef struct job {
    hdst_context *context;
    hdst_module *module;
    hdst_dataset *data;
} job;

// Few different values, so that there are ties; NaN, both zeros and infinities among the floats.
static void fill_rows(void)
{
    static const float special[] = {NAN, -0.0f, 0.0f, 1.5f, -2.25f, NAN};
    srand(7);
    memset(rows, 0, sizeof rows);
    for (uint32_t i = 0; i < N; i++) {
        row *r = &rows[i];
        r->k = (int16_t)(rand() % 41 - 20);
        r->f = special[rand() % 6];
        r->d = rand() % 50 ? (double)(rand() % 1000 - 500) / 8 : rand() % 2 ? INFINITY : (double)NAN;
        r->u = UINT64_MAX - (uint64_t)(rand() % 100);
        r->b = rand() % 3 == 0;
        for (int s = 0; s < 2; s++) {
            for (int e = 0; e < 3; e++) r->at[s].x[e] = (float)(rand() % 200 - 100);
            r->at[s].tag = (uint8_t)(rand() % 256);
        }
        r->i = i;
    }
}

static bool open_job(job *j, const char *form)
{
    if (strcmp(form, "interp") && !have_cpu()) return false;
    fill_rows();
    j->context = context_in_form(form);
    j->context->engine->limits.pick_least = 1000;          // kernels look for candidates, also among so few
    j->module = module_of(j->context, kernels);
    j->data = hdst_read(hdst_source_from_memory(j->context, rows, N, sizeof(row)), j->module, "row");
    return true;
}

#define ON_EACH_FORM(j) for (size_t form_ = 0; form_ < 3; form_++) if (open_job(&(j), forms[form_]))

// --- The fields, read in C ---

typedef long double (*reader)(const row *r);
static long double read_k(const row *r) { return r->k; }
static long double read_f(const row *r) { return r->f; }
static long double read_d(const row *r) { return r->d; }
static long double read_u(const row *r) { return r->u; }
static long double read_b(const row *r) { return r->b; }
static long double read_x(const row *r) { return r->at[1].x[2]; }
static long double read_tag(const row *r) { return r->at[0].tag; }

static const struct { const char *path; reader read; } fields[] = {
    {"f", read_f}, {"k", read_k}, {"u", read_u}, {"d", read_d}, {"at[1].x[2]", read_x}, {"b", read_b}, {"at[0].tag", read_tag}};
enum { FIELDS = sizeof fields / sizeof *fields };

static uint32_t extreme_of(const row *from, size_t count, reader read, bool largest)
{
    size_t best = 0;
    for (size_t i = 1; i < count; i++) {
        const long double value = read(&from[i]), so_far = read(&from[best]);
        if (isnan(so_far) ? !isnan(value) : largest ? value > so_far : value < so_far) best = i;
    }
    return from[best].i;
}

static row one_of(hdst_dataset *dataset)
{
    row *out = NULL;
    uint64_t n = 0;
    hdst_error error = HDST_ERROR_INIT;
    cr_assert_eq(hdst_collect(dataset, (void **)&out, &n, &error), HDST_OK, "%s", error.message);
    cr_assert_eq(n, 1);
    const row result = *out;
    hdst_rows_destroy(((hdst__object *)dataset)->context, out);
    return result;
}

Test(pick, the_smallest_and_the_largest_of_any_field)
{
    job j;
    ON_EACH_FORM(j) {
        const size_t step = strcmp(forms[form_], "interp") ? 2 : 1;     // of kernels fewer: each is compiled
        for (size_t f = 0; f < FIELDS; f += step) {
            const row low = one_of(hdst_min_by(j.data, fields[f].path)), high = one_of(hdst_max_by(j.data, fields[f].path));
            cr_expect_eq(low.i, extreme_of(rows, N, fields[f].read, false), "%s: smallest %s", forms[form_], fields[f].path);
            cr_expect_eq(high.i, extreme_of(rows, N, fields[f].read, true), "%s: largest %s", forms[form_], fields[f].path);
            cr_expect(low.at[1].x[2] == rows[low.i].at[1].x[2] && low.u == rows[low.i].u, "the whole record comes");
        }
        hdst_context_destroy(j.context);
    }
}

Test(pick, extremes_behind_other_operators_and_in_other_layouts)
{
    job j;
    static row odd[N];
    ON_EACH_FORM(j) {
        size_t n = 0;
        for (size_t i = 1; i < N; i += 2) odd[n++] = rows[i];
        const uint32_t expected = extreme_of(odd, n, read_d, true);
        cr_expect_eq(one_of(hdst_max_by(hdst_filter_function(j.data, j.module, "odd"), "d")).i, expected);
        for (int layout = HDST_SOA; layout <= HDST_AOSOA; layout++)
            cr_expect_eq(one_of(hdst_min_by(hdst_with_layout(j.data, (hdst_layout)layout), "f")).i, extreme_of(rows, N, read_f, false));
        const row top = one_of(hdst_map_function(hdst_min_by(hdst_cache(j.data), "k"), j.module, "shifted"));
        cr_expect_eq(top.k, 20);
        hdst_context_destroy(j.context);
    }
}

Test(pick, all_nan_gives_the_first_and_one_record_itself)
{
    job j;
    ON_EACH_FORM(j) {
        for (int i = 0; i < N; i++) rows[i].f = NAN;
        cr_expect_eq(one_of(hdst_min_by(j.data, "f")).i, 0);
        cr_expect_eq(one_of(hdst_max_by(j.data, "f")).i, 0);
        cr_expect_eq(one_of(hdst_max_by(hdst_slice(j.data, 77, 1), "k")).i, 77);
        hdst_context_destroy(j.context);
    }
}

Test(pick, bare_numbers_need_no_name)
{
    hdst_context *context = context_on("interp");
    hdst_module *module = module_of(context, kernels);
    int64_t value = 0;
    hdst_dataset *range = hdst_read(hdst_source_from_range(context, -300, 1200), module, "int64_t");
    cr_assert_eq(hdst_take(hdst_max_by(range, NULL), 1, &value, NULL, NULL), HDST_OK);
    cr_assert_eq(value, 1199);
    cr_assert_eq(hdst_take(hdst_min_by(range, ""), 1, &value, NULL, NULL), HDST_OK);
    cr_assert_eq(value, -300);
    hdst_context_destroy(context);
}

// --- The largest ---

static int by_value(const void *a, const void *b, reader read)
{
    const row *x = a, *y = b;
    const long double left = read(x), right = read(y);
    if (isnan(left) != isnan(right)) return isnan(left) ? 1 : -1;
    if (left != right && !isnan(left)) return left > right ? -1 : 1;
    return x->i < y->i ? -1 : 1;
}

static reader current;
static int by_current(const void *a, const void *b) { return by_value(a, b, current); }

static void expect_top(hdst_dataset *dataset, uint64_t count, const char *path, reader read, const row *from, size_t n, const char *what)
{
    row *sorted = malloc(sizeof rows), *out = NULL;
    uint64_t got = 0;
    hdst_error error = HDST_ERROR_INIT;
    memcpy(sorted, from, n * sizeof *from);
    current = read;
    qsort(sorted, n, sizeof *sorted, by_current);
    hdst_dataset *top = hdst_top(dataset, count, path);
    cr_assert_eq(hdst_collect(top, (void **)&out, &got, &error), HDST_OK, "%s", error.message);
    cr_assert_eq(got, count < n ? count : n);
    for (uint64_t i = 0; i < got; i++) cr_assert_eq(out[i].i, sorted[i].i, "%s: number %llu by %s", what, (unsigned long long)i, path);
    hdst_rows_destroy(((hdst__object *)top)->context, out);
    free(sorted);
}

Test(pick, the_largest_in_descending_order)
{
    job j;
    static row odd[N];
    const uint64_t counts[] = {0, 1, 7, 19, 2600, 5002, N, UINT64_MAX};
    ON_EACH_FORM(j) {
        size_t n = 0;
        for (size_t i = 1; i < N; i += 2) odd[n++] = rows[i];
        for (size_t f = 0; f < FIELDS; f++)
            for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) expect_top(j.data, counts[c], fields[f].path, fields[f].read, rows, N, forms[form_]);
        expect_top(hdst_filter_function(hdst_with_layout(j.data, HDST_SOA), j.module, "odd"), 20, "d", read_d, odd, n, "of filtered ones");
        const row third = one_of(hdst_slice(hdst_map_function(hdst_top(j.data, 10, "k"), j.module, "shifted"), 2, 1));
        cr_expect_eq(third.k, -20);
        hdst_context_destroy(j.context);
    }
}

// More candidates than room for them: ascending values make every record one, with many of each value.
Test(pick, the_largest_of_many_ascending_values)
{
    enum { MANY = 300000, WANTED = 20000, EACH = 3 };
    typedef struct pair { uint32_t value, index; } pair;
    pair *many = malloc(MANY * sizeof *many);
    hdst_context *context = context_on("interp");
    hdst_module *module = module_of(context, "struct pair { uint32_t value; uint32_t index; };\n");
    for (uint32_t i = 0; i < MANY; i++) many[i] = (pair){i / EACH, i};
    hdst_dataset *data = hdst_read(hdst_source_from_memory(context, many, MANY, sizeof *many), module, "pair");
    hdst_result *result = hdst_result_create(hdst_top(data, WANTED, "value"));
    uint64_t n = 0;
    RUN(result);
    const pair *top = hdst_result_rows(result, NULL, &n);
    cr_assert_eq(n, WANTED);
    for (uint32_t i = 0; i < WANTED; i++) cr_assert_eq(top[i].index, MANY - EACH - i / EACH * EACH + i % EACH, "number %u", i);
    cr_expect(strstr(hdst_explain(result, NULL), "the 20000 with the largest value"));
    cr_expect_eq(hdst_result_stats(result).records, MANY);
    hdst_context_destroy(context);
    free(many);
}

// --- Candidates ---

enum { MORE = 40000 };

typedef struct sample { double v; int8_t small; uint64_t big; uint32_t i; } sample;

static sample samples[MORE];
static double read_v(const sample *s) { return s->v; }
static double read_small(const sample *s) { return s->small; }
static double read_big(const sample *s) { return (double)s->big; }

typedef struct shape { const char *name; double (*value)(uint32_t i); } shape;
static double up(uint32_t i) { return i; }
static double down(uint32_t i) { return -(double)i; }
static double same(uint32_t i) { return (void)i, 7; }
static double mostly_nan(uint32_t i) { return i % 1000 == 3 ? (double)(i * 7919 % 1000) : NAN; }
static double no_numbers(uint32_t i) { return i == 31000 ? 5 : NAN; }
static double ends(uint32_t i) { return i % 3 == 0 ? INFINITY : i % 3 == 1 ? -INFINITY : (double)i; }
static double zeros(uint32_t i) { return i == 5 ? -0.0 : i == 9000 ? 0.0 : i % 2 ? -1 - (double)i : -0.5; }
static double scattered(uint32_t i) { return (double)(i * 2654435761u % 1000003u); }
static const shape shapes[] = {{"up", up}, {"down", down}, {"same", same}, {"mostly NaN", mostly_nan}, {"no numbers", no_numbers},
                               {"ends", ends}, {"zeros", zeros}, {"scattered", scattered}};

// The first `count` of the others in a stable order, by choosing the best that is left: an answer of its own.
static void expect_best(hdst_dataset *dataset, uint64_t count, double (*read)(const sample *s), bool largest, const char *what)
{
    static bool taken[MORE];
    sample *out = NULL;
    uint64_t n = 0;
    hdst_error error = HDST_ERROR_INIT;
    memset(taken, 0, sizeof taken);
    cr_assert_eq(hdst_collect(dataset, (void **)&out, &n, &error), HDST_OK, "%s: %s", what, error.message);
    cr_assert_eq(n, count);
    for (uint64_t k = 0; k < count; k++) {
        uint32_t best = UINT32_MAX;
        for (uint32_t i = 0; i < MORE; i++) {
            if (taken[i]) continue;
            const double value = read(&samples[i]), so_far = best == UINT32_MAX ? NAN : read(&samples[best]);
            if (best == UINT32_MAX || (isnan(so_far) ? !isnan(value) : largest ? value > so_far : value < so_far)) best = i;
        }
        taken[best] = true;
        cr_assert_eq(out[k].i, best, "%s: number %llu is %u, not %u", what, (unsigned long long)k, out[k].i, best);
    }
    hdst_rows_destroy(((hdst__object *)dataset)->context, out);
}

Test(pick, candidates_of_any_shape_of_input)
{
    for (size_t f = 1; f < 3; f++) {
        if (!have_cpu()) return;
        hdst_context *context = context_in_form(forms[f]);
        context->engine->limits.pick_least = 1000;
        hdst_module *module = module_of(context, "struct sample { double v; int8_t small; uint64_t big; uint32_t i; };\n");
        hdst_dataset *data = hdst_read(hdst_source_from_memory(context, samples, MORE, sizeof *samples), module, "sample");
        hdst_dataset *top = hdst_top(data, 12, "v"), *small = hdst_top(data, 5, "small"), *low = hdst_min_by(data, "v"), *big = hdst_max_by(data, "big");
        hdst_dataset *later = hdst_top(hdst_with_layout(data, HDST_SOA), 3, "v"), *kept = hdst_max_by(hdst_cache(data), "v");
        for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
            for (uint32_t i = 0; i < MORE; i++) {
                const double v = shapes[s].value(i);
                samples[i] = (sample){v, (int8_t)(isnan(v) || isinf(v) ? -128 : (int64_t)v % 128), isnan(v) || isinf(v) ? UINT64_MAX : (uint64_t)(int64_t)v, i};
            }
            expect_best(top, 12, read_v, true, shapes[s].name);
            expect_best(low, 1, read_v, false, shapes[s].name);
            if (s % 3 == f) expect_best(small, 5, read_small, true, shapes[s].name);
            if (s % 3 == f) expect_best(big, 1, read_big, true, shapes[s].name);
            if (s % 3 == f) expect_best(later, 3, read_v, true, shapes[s].name);
            if (s == 0) expect_best(kept, 1, read_v, true, shapes[s].name);
        }
        hdst_context_destroy(context);
    }
}

Test(pick, candidates_behind_maps_ranges_indices_and_totals)
{
    const char *const text =
        "struct sample { double v; int8_t small; uint64_t big; uint32_t i; };\n"
        "struct zipped { uint64_t index; int64_t x; };\n"
        "map mixed(int64_t x) -> (uint32_t h, uint32_t x) { return ((uint32_t)x * 2654435761u, (uint32_t)x); }\n"
        "map counted(sample s, accum uint64_t n) -> sample { n++; return s; }\n";
    for (size_t f = 0; f < 3; f++) {
        if (f && !have_cpu()) return;
        hdst_context *context = context_in_form(forms[f]);
        context->engine->limits.pick_least = 1000;
        hdst_module *module = module_of(context, text);
        struct { uint32_t h, x; } best = {0}, want = {0};
        int64_t last = 0;
        uint64_t total = 0;
        hdst_dataset *range = hdst_read(hdst_source_from_range(context, 5, MORE), module, "int64_t");
        cr_assert_eq(hdst_take(hdst_max_by(range, NULL), 1, &last, NULL, NULL), HDST_OK);
        cr_expect_eq(last, MORE - 1);
        cr_assert_eq(hdst_take(hdst_max_by(hdst_map_function(range, module, "mixed"), "h"), 1, &best, NULL, NULL), HDST_OK);
        for (uint32_t x = 5; x < MORE; x++)
            if (x * 2654435761u > want.h) want.h = x * 2654435761u, want.x = x;
        cr_expect(best.h == want.h && best.x == want.x);
        struct { uint64_t index; int64_t x; } zipped = {0};
        cr_assert_eq(hdst_take(hdst_max_by(hdst_zip_with_index(range, module, "zipped"), "index"), 1, &zipped, NULL, NULL), HDST_OK);
        cr_expect(zipped.index == MORE - 6 && zipped.x == MORE - 1);
        for (uint32_t i = 0; i < MORE; i++) samples[i] = (sample){same(i), 0, 0, i};
        hdst_dataset *data = hdst_read(hdst_source_from_memory(context, samples, MORE, sizeof *samples), module, "sample");
        hdst_dataset *counted = hdst_map_function(data, module, "counted");
        hdst_result *result = hdst_result_create(hdst_top(counted, 9, "v"));
        RUN(result);
        total = (uint64_t)hdst_view_int64(hdst_result_field(result, "n", NULL), 0, 0);
        cr_expect_eq(total, MORE);
        hdst_result_destroy(result);
        hdst_context_destroy(context);
    }
}

// Uniform numbers: about wanted * records / sampled of them are better than the limit.
Test(pick, few_records_are_candidates)
{
    if (!have_cpu()) return;
    hdst_context *context = context_on("cpu");
    context->engine->limits.pick_least = 1000;
    hdst_module *module = module_of(context, "struct sample { double v; int8_t small; uint64_t big; uint32_t i; };\n");
    for (uint32_t i = 0; i < MORE; i++) samples[i] = (sample){scattered(i), 0, 0, i};
    hdst_result *result = hdst_result_create(hdst_top(hdst_read(hdst_source_from_memory(context, samples, MORE, sizeof *samples), module, "sample"), 4, "v"));
    RUN(result);
    unsigned long long sampled = 0, passed = 0;
    const char *told = strstr(hdst_explain(result, NULL), "a sample of ");
    cr_assert(told && sscanf(told, "a sample of %llu records told the limit, which %llu records passed", &sampled, &passed) == 2, "%s",
              hdst_explain(result, NULL));
    cr_expect(sampled <= MORE / 64 && passed >= 4 && passed < 8 * 4 * MORE / sampled, "%llu of %llu", passed, sampled);
    cr_expect_eq(hdst_result_stats(result).records, MORE);
    hdst_context_destroy(context);
}

// What the device's memory goes through on its way to the host and back.
static const hdst__device_ops *usual;
static uint64_t taken, given, asked;

static hdst_status count_to_host(hdst__device *device, hdst__memory *memory, hdst_error *error)
{
    taken += !memory->mapped;
    return usual->to_host(device, memory, error);
}

static hdst_status count_to_device(hdst__device *device, hdst__memory *memory, hdst_error *error)
{
    given += memory->mapped;
    asked++;
    return usual->to_device(device, memory, error);
}

// A sample has records from 256 places. All are read while the cache is the host's, which it is but once, and not when kernels read it.
Test(pick, a_cache_is_handed_over_once_for_a_sample)
{
    if (!have_cpu()) return;
    for (hdst_layout layout = HDST_AOS; layout <= HDST_SOA; layout++) {
        hdst_context *context = context_on("cpu");
        context->engine->limits.pick_least = 1000;
        hdst_module *module = module_of(context, "struct sample { double v; int8_t small; uint64_t big; uint32_t i; };\n");
        for (uint32_t i = 0; i < MORE; i++) samples[i] = (sample){scattered(i), 0, 0, i};
        hdst_dataset *data = hdst_read(hdst_source_from_memory(context, samples, MORE, sizeof *samples), module, "sample");
        hdst_dataset *top = hdst_top(hdst_cache(hdst_with_layout(data, layout)), 4, "v");
        hdst_result *result = hdst_result_create(top);
        RUN(result);
        hdst__device *device = context->engine->worker[0].device;
        usual = device->ops;
        hdst__device_ops counting = *usual;
        counting.to_host = count_to_host;
        counting.to_device = count_to_device;
        device->ops = &counting;
        taken = given = asked = 0;
        RUN(result);
        device->ops = usual;
        cr_expect(taken && taken <= 16, "%llu times to the host", (unsigned long long)taken);
        cr_expect(given >= taken && asked <= 32, "%llu times back, asked %llu times", (unsigned long long)given, (unsigned long long)asked);
        expect_best(top, 4, read_v, true, "cached");
        hdst_context_destroy(context);
    }
}

// --- Mistakes ---

static void expect_error(hdst_dataset *dataset, const char *message, const char *hint)
{
    hdst_error error = HDST_ERROR_INIT;
    uint64_t n;
    void *out;
    cr_expect_eq(hdst_collect(dataset, &out, &n, &error), HDST_E_USAGE);
    cr_expect_str_eq(error.message, message);
    cr_expect_str_eq(error.hint, hint);
}

Test(pick, mistakes_in_a_path_say_what_is_right)
{
    hdst_context *context = context_on("interp");
    hdst_module *module = module_of(context, kernels);
    hdst_dataset *data = hdst_read(hdst_source_from_memory(context, rows, N, sizeof(row)), module, "row");
    expect_error(hdst_min_by(data, NULL), "record 'row' has several fields: name one", "its fields are k, f, d, u, b, at, i");
    expect_error(hdst_top(data, 5, "kk"), "record 'row' has no field 'kk'", "its fields are k, f, d, u, b, at, i");
    expect_error(hdst_min_by(data, "at[1].tga"), "record 'spot' has no field 'tga'", "did you mean 'tag'?");
    expect_error(hdst_min_by(data, "at[2].tag"), "index 2 in 'at[2].tag' is out of range 0..1", "");
    expect_error(hdst_min_by(data, "at[99999999999999999999].tag"), "index 18446744073709551615 in 'at[99999999999999999999].tag' is out of range 0..1", "");
    expect_error(hdst_min_by(data, "at[1].x"), "'at[1].x' of 'row' is an array of 3 numbers", "name one of them, as 'at[1].x[0]'");
    expect_error(hdst_min_by(data, "at[1]"), "'at[1]' of 'row' is a record", "name one of its fields, as 'at[1].x'");
    expect_error(hdst_min_by(data, "at.tag"), "'at' of 'row' is no record, so 'at.tag' is no field", "");
    expect_error(hdst_min_by(data, "k.x"), "'k' of 'row' is no record, so 'k.x' is no field", "");
    expect_error(hdst_min_by(data, "k[0]"), "'k' is no array", "");
    expect_error(hdst_min_by(data, "at[x].tag"), "the index in 'at[x].tag' is no number", "");
    expect_error(hdst_min_by(data, "at[1"), "the index in 'at[1' is no number", "");
    expect_error(hdst_min_by(data, "at[1]tag"), "'at[1]' of 'row' is no record, so 'at[1]tag' is no field", "");
    expect_error(hdst_min_by(data, ".k"), "'.k' is no path to a field of 'row'", "write it as in a kernel: 'x', 'from.x', 'line[2].x'");
    hdst_context_destroy(context);
}

Test(pick, nothing_to_pick_from)
{
    job j;
    ON_EACH_FORM(j) {
        expect_error(hdst_max_by(hdst_filter_function(j.data, j.module, "none"), "k"), "'max_by' of an empty dataset has no result", "");
        hdst_context_destroy(j.context);
    }
}

typedef struct pair { double a, b; } pair;

static bool fill_pairs(uint64_t first, uint64_t count, void *records, char *message, void *user)
{
    (void)message, (void)user;
    for (uint64_t i = 0; i < count; i++) ((pair *)records)[i] = (pair){(double)(first + i), 1};
    return true;
}

// 2^60 records of 16 bytes are 2^64 bytes, which a word holds as none.
Test(pick, more_than_an_address_can_tell)
{
    hdst_context *context = context_on("interp");
    hdst_error error;
    const uint64_t many = UINT64_C(1) << 60;
    hdst_module *module = module_of(context, "struct pair { double a; double b; };\n");
    hdst_dataset *pairs = hdst_read(hdst_source_from_callback(context, many, fill_pairs, NULL), module, "pair");
    hdst_result *r = hdst_result_create(hdst_top(pairs, many, "a"));
    cr_assert_eq(hdst_run(r, &error), HDST_E_MEMORY);
    cr_assert(strstr(error.message, "the records with the largest values"), "%s", error.message);
    hdst_context_destroy(context);
}

// A map in front that totals must see each record once, so there is no second run for those that are equal to the limit: they come with the others.
Test(pick, equal_values_behind_a_map_that_totals)
{
    enum { RECORDS = 200000, WANTED = 50 };
    static float x[RECORDS];
    const char *const devices[] = {"interp", "cpu"};
    for (int d = 0; d < (have_cpu() ? 2 : 1); d++) {
        hdst_context *context = context_on(devices[d]);
        hdst_module *module = module_of(context, "map tally(float x, accum uint64_t n) -> float { n += 1; return x * 2.0f; }\n");
        context->engine->limits.pick_least = 1000;
        for (int i = 0; i < RECORDS; i++) x[i] = (float)(i % 10);
        hdst_dataset *values = hdst_map_function(hdst_read(hdst_source_from_floats(context, x, RECORDS, 1), module, "float"), module, "tally");
        hdst_result *r = hdst_result_create(hdst_top(values, WANTED, NULL));
        for (int turn = 0; turn < 2; turn++) {
            uint64_t n;
            RUN(r);
            const float *got = hdst_result_rows(r, NULL, &n);
            cr_assert_eq(n, WANTED, "%s: %llu", devices[d], (unsigned long long)n);
            for (uint64_t i = 0; i < n; i++) cr_assert_eq(got[i], 18.0f);
            cr_assert_eq(hdst_view_int64(hdst_result_field(r, "n", NULL), 0, 0), RECORDS);
        }
        cr_assert(strstr(hdst_explain(r, NULL), "a sample of"), "%s", hdst_explain(r, NULL));
        hdst_context_destroy(context);
    }
}

// A sample from all over would give each record another index, and with it values that there are not.
Test(pick, values_that_depend_on_the_index)
{
    enum { RECORDS = 200000, WANTED = 20, END = 3000 };
    static float x[RECORDS];
    const char *const devices[] = {"interp", "cpu"};
    for (int d = 0; d < (have_cpu() ? 2 : 1); d++) {
        hdst_context *context = context_on(devices[d]);
        hdst_module *module = module_of(context, "map early(float x) -> float { return record_index() < 3000ul ? x : 0.0f; }\n");
        context->engine->limits.pick_least = 1000;
        for (int i = 0; i < RECORDS; i++) x[i] = i < END ? (float)i / END : 1000 + (float)i;
        hdst_dataset *values = hdst_map_function(hdst_read(hdst_source_from_floats(context, x, RECORDS, 1), module, "float"), module, "early");
        hdst_result *r = hdst_result_create(hdst_top(values, WANTED, NULL));
        uint64_t n;
        RUN(r);
        const float *got = hdst_result_rows(r, NULL, &n);
        cr_assert_eq(n, WANTED, "%s: %llu", devices[d], (unsigned long long)n);
        for (uint64_t i = 0; i < n; i++) cr_assert_eq(got[i], x[END - 1 - i], "%s: %a", devices[d], (double)got[i]);
        cr_assert(strstr(hdst_explain(r, NULL), "a sample of"), "%s", hdst_explain(r, NULL));
        hdst_context_destroy(context);
    }
}

// --- Texts ---

typedef struct titled { hdst_text_span title; uint32_t i; } titled;

static titled books[MORE];
static char titles[MORE][24];

// Titles that begin alike, most of them longer than eight bytes; a NUL is no end.
static void fill_books(void)
{
    static const char *const starts[] = {"", "a", "b\0", "the same eight bytes", "the same eight", "\xff\xff\xff"};
    static const size_t lengths[] = {0, 1, 2, 20, 14, 3};
    srand(11);
    for (uint32_t i = 0; i < MORE; i++) {
        const size_t which = (size_t)rand() % 6;
        size_t length = lengths[which];
        memcpy(titles[i], starts[which], length);
        for (int more = rand() % 4; more; more--) titles[i][length++] = (char)("az\0\xfe"[rand() % 4]);
        books[i] = (titled){hdst_text_span_of(titles[i], (uint32_t)length), i};
    }
}

static int by_title(const void *a, const void *b)
{
    const titled *x = a, *y = b;
    const uint32_t least = x->title.length < y->title.length ? x->title.length : y->title.length;
    const int order = memcmp(hdst_text_bytes(&x->title), hdst_text_bytes(&y->title), least);
    if (order) return order;
    return x->title.length != y->title.length ? (x->title.length > y->title.length) - (x->title.length < y->title.length) : 0;
}

static int largest_title(const void *a, const void *b)
{
    const titled *x = a, *y = b;
    const int order = by_title(b, a);
    return order ? order : (x->i > y->i) - (x->i < y->i);
}

static int smallest_title(const void *a, const void *b)
{
    const titled *x = a, *y = b;
    const int order = by_title(a, b);
    return order ? order : (x->i > y->i) - (x->i < y->i);
}

static void expect_titles(hdst_dataset *dataset, const titled *sorted, uint64_t count, const char *explains)
{
    hdst_result *r = hdst_result_create(dataset);
    uint64_t n;
    RUN(r);
    const titled *got = hdst_result_rows(r, NULL, &n);
    cr_assert_eq(n, count);
    for (uint64_t i = 0; i < n; i++) cr_assert(got[i].i == sorted[i].i && !by_title(&got[i], &sorted[i]), "number %d is %u", (int)i, got[i].i);
    cr_assert(strstr(hdst_explain(r, NULL), explains), "%s", hdst_explain(r, NULL));
    hdst_result_destroy(r);
}

Test(pick, texts_by_their_first_bytes_and_then_the_rest)
{
    static titled up[MORE], down[MORE];
    fill_books();
    memcpy(up, books, sizeof books);
    memcpy(down, books, sizeof books);
    qsort(up, MORE, sizeof *up, smallest_title);
    qsort(down, MORE, sizeof *down, largest_title);
    for (size_t f = 0; f < 3; f++) {
        if (f && !have_cpu()) return;
        const char *stage = f ? "a sample of" : "records were among the best so far";
        hdst_context *context = context_in_form(forms[f]);
        context->engine->limits.pick_least = 1000;
        hdst_module *module = module_of(context, "struct titled { text title; uint32_t i; };\n");
        hdst_dataset *data = hdst_read(hdst_source_from_memory(context, books, MORE, sizeof *books), module, "titled");
        expect_titles(hdst_top(data, 9, "title"), down, 9, stage);
        expect_titles(hdst_min_by(data, "title"), up, 1, stage);
        expect_titles(hdst_max_by(data, "title"), down, 1, stage);
        expect_titles(hdst_top(data, MORE, "title"), down, MORE, "while the records pass by");
        hdst_context_destroy(context);
    }
}
