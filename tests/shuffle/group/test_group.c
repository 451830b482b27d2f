// SPDX-License-Identifier: Apache-2.0
// Functions over the records of each key against plain C, on the interpreter, the CPU form and the GPU form.
#include "tests/hdst/support.h"

#include <math.h>
#include <stdlib.h>

enum { N = 6007, KEYS = 300, ROWS = 320 };

typedef struct day { uint16_t year; uint8_t month; } day;
typedef struct row { uint32_t user; int32_t at; float x; double w; uint64_t wide; day when; uint8_t code[5]; } row;
typedef struct pause { uint32_t user; int32_t longest; double sum; uint64_t n; } pause;
typedef struct affine { uint32_t p, q; } affine;

static const char kernels[] =
    "struct day { uint16_t year; uint8_t month; };\n"
    "struct row { uint32_t user; int32_t at; float x; double w; uint64_t wide; day when; uint8_t code[5]; };\n"
    "struct pause { uint32_t user; int32_t longest; double sum; uint64_t n; };\n"
    "struct affine { uint32_t p; uint32_t q; };\n"
    "struct code { uint8_t c[5]; };\n"
    "struct list { float x[3]; bool full; };\n"
    "group pauses(key uint32_t user, stream row s) -> pause\n"
    "{\n"
    "    pause p;\n"
    "    int32_t last = 0;\n"
    "    p.user = user;\n"
    "    for (row r : s) {\n"
    "        if (p.n > 0) p.longest = max(p.longest, r.at - last);\n"
    "        last = r.at;\n"
    "        p.sum = p.sum / 2 + r.w;\n"              // of the order of the records
    "        p.n++;\n"
    "    }\n"
    "    return p;\n"
    "}\n"
    "group count(key uint32_t k, stream row s) -> uint64_t { uint64_t n = 0; for (row r : s) n++; return n; }\n"
    "group by_wide(key uint64_t k, stream row s) -> (uint64_t k, uint64_t n) { uint64_t n = 0; for (row r : s) n++; return (k, n); }\n"
    "group by_x(key float k, stream row s) -> (uint32_t k, uint64_t n) { uint64_t n = 0; for (row r : s) n++; return (as_uint(k), n); }\n"
    "group by_day(key day when, stream row s) -> (uint32_t k, uint64_t n) { uint64_t n = 0; for (row r : s) n++; return (when.year * 100u + when.month, n); }\n"
    "group by_code(key code k, stream row s) -> (uint8_t c[5], uint64_t n) { uint64_t n = 0; for (row r : s) n++; return (k.c, n); }\n"
    "group near(key uint32_t user, stream row s, broadcast float c[]) -> (uint32_t user, float least)\n"
    "{\n"
    "    float least = INFINITY;\n"
    "    for (row r : s)\n"
    "        for (uint32_t i = 0; i < len(c); i++) {\n"
    "            if (isnan(r.x)) continue;\n"
    "            least = min(least, fabs(r.x - c[i]));\n"
    "        }\n"
    "    return (user, least);\n"
    "}\n"
    "group second(key uint32_t user, stream row s) -> (uint32_t user, int32_t at)\n"
    "{\n"
    "    uint32_t n = 0;\n"
    "    for (row r : s) {\n"
    "        r.at = r.at * 2;\n"
    "        if (n == 1) return (user, r.at);\n"
    "        n++;\n"
    "    }\n"
    "    return (user, -1);\n"
    "}\n"
    "group mean(key uint32_t user, stream row s) -> (uint32_t user, int32_t each)\n"
    "{\n"
    "    int32_t sum = 0; int32_t n = 0;\n"
    "    for (row r : s) { sum += r.at; if (r.user % 50u != 7u) n++; }\n"
    "    return (user, sum / n);\n"
    "}\n"
    "map keyed(row r) -> (uint32_t p, key uint32_t k, uint32_t q) { return ((uint32_t)r.at | 1u, r.user, (uint32_t)(r.at * 77)); }\n"
    "map keyed_list(row r) -> (key int16_t k, float x[3], bool full) { list l; l.x[r.user % 3u] = r.x; return ((int16_t)r.user, l.x, r.at > 100); }\n"
    "associative reduce compose(affine a, affine b) identity { .p = 1 } { return (affine){ a.p * b.p, a.q * b.p + b.q }; }\n"
    "associative reduce mix(affine a, affine b) identity { .p = 7 } { return (affine){ a.p * 3u + b.p, a.q * 5u + b.q * b.p }; }\n"      // it is not: the tree shows
    "reduce ordered(affine a, affine b) identity { .p = 9, .q = 1 } { return (affine){ a.p * 3u + b.p, a.q * 5u + b.q * b.p }; }\n"
    "struct ends { int32_t first, last; };\n"
    "map compound(row r) -> (key uint64_t a, key uint8_t b, key int16_t c, int32_t first, int32_t last)\n"
    "{\n"
    "    return (r.wide, r.when.month, (int16_t)(r.user % 3u) - 1, r.at, r.at);\n"
    "}\n"
    "reduce span(ends a, ends b) { return (ends){ a.first, b.last }; }\n"
    "reduce bare(affine a, affine b) { return b; }\n"
    "reduce fill(list a, list b) identity { .full = true }\n"
    "{\n"
    "    list l = a;\n"
    "    for (uint32_t i = 0; i < 3; i++) if (b.x[i] != 0) l.x[i] = b.x[i];\n"
    "    l.full = a.full || !b.full;\n"
    "    return l;\n"
    "}\n"
    "map doubled(pause p) -> pause { pause q = p; q.n = p.n * 2; return q; }\n";

static row rows[N];
static const char *const forms[] = {"interp", "cpu", "gpu-form"};

typedef struct job {
    hdst_context *context;
    hdst_module *module;
    hdst_dataset *data;
} job;

static float from_bits(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

// User 5 has a fifth of all records; the values of `wide` are few, and neighbours.
static void fill_rows(void)
{
    const float few[] = {0.0f, -0.0f, NAN, from_bits(0x7fc00001), 1.5f, -3};
    srand(11);
    memset(rows, 0, sizeof rows);
    for (int i = 0; i < N; i++) {
        row *r = &rows[i];
        r->user = rand() % 5 ? (uint32_t)(rand() % KEYS) : 5;
        r->at = i * 3 + rand() % 100;
        r->x = few[rand() % 6];
        r->w = rand() % 1000 / 7.0;
        r->wide = UINT64_MAX / 3 + (uint64_t)(rand() % 5) * 1000003;
        r->when = (day){(uint16_t)(1990 + rand() % 4), (uint8_t)(rand() % 12)};
        for (int c = 0; c < 5; c++) r->code[c] = (uint8_t)("ab"[rand() % 2]);
    }
}

static bool open_job(job *j, const char *form, hdst_on_error on_error)
{
    if (strcmp(form, "interp") && !have_cpu()) return false;
    fill_rows();
    hdst_context_options options = HDST_CONTEXT_OPTIONS_INIT;
    options.device = strcmp(form, "gpu-form") ? form : "cpu";
    options.on_error = on_error;
    options.replay_dir = "";
    j->context = hdst_context_create(&options);
    if (j->context->engine) j->context->engine->options.gpu_form_on_cpu = !strcmp(form, "gpu-form");
    j->module = module_of(j->context, kernels);
    j->data = hdst_read(hdst_source_from_memory(j->context, rows, N, sizeof(row)), j->module, "row");
    return true;
}

#define ON_EACH_FORM(j) for (size_t form_ = 0; form_ < 3; form_++) if (open_job(&(j), forms[form_], HDST_ON_ERROR_FAIL))

static uint64_t collect(hdst_dataset *dataset, void **out)
{
    uint64_t n = 0;
    hdst_error error = HDST_ERROR_INIT;
    char text[2048];
    if (hdst_collect(dataset, out, &n, &error) == HDST_OK) return n;
    hdst_error_format(&error, text, sizeof text);
    cr_assert_fail("%s", text);
    return 0;
}

static void drop(hdst_dataset *dataset, void *out) { hdst_rows_destroy(((hdst__object *)dataset)->context, out); }

// --- The same in C ---

static pause pause_of(uint32_t user)
{
    pause p = {.user = user};
    int32_t last = 0;
    for (int i = 0; i < N; i++) {
        if (rows[i].user != user) continue;
        if (p.n && rows[i].at - last > p.longest) p.longest = rows[i].at - last;
        last = rows[i].at;
        p.sum = p.sum / 2 + rows[i].w;
        p.n++;
    }
    return p;
}

// The hash that orders results, from its published constants: shifts as divisions, in wide numbers.
static uint32_t mixed(uint32_t k)
{
    const uint64_t first = (uint64_t)(k ^ (k / 65536)) * 0x7feb352du % 4294967296u;
    const uint64_t second = (first ^ (first / 32768)) * 0x846ca68bu % 4294967296u;
    return (uint32_t)(second ^ (second / 65536));
}

static uint64_t present_users(void)
{
    uint64_t n = 0;
    for (uint32_t user = 0; user < KEYS; user++) n += pause_of(user).n > 0;
    return n;
}

Test(group, each_key_gives_one_record_from_all_its_records_in_order)
{
    job j;
    ON_EACH_FORM(j) {
        pause *got;
        hdst_dataset *grouped = hdst_group_function(j.data, "user", j.module, "pauses");
        const uint64_t n = collect(grouped, (void **)&got);
        cr_assert_eq(n, present_users());
        for (uint64_t i = 0; i < n; i++) {
            const pause expected = pause_of(got[i].user);
            cr_expect_eq(got[i].longest, expected.longest, "%s: user %u", forms[form_], got[i].user);
            cr_expect_eq(got[i].n, expected.n);
            cr_expect_eq(got[i].sum, expected.sum);
            if (i) cr_expect_lt(mixed(got[i - 1].user), mixed(got[i].user), "by the hash of the keys");
        }
        drop(grouped, got);
        hdst_context_destroy(j.context);
    }
}

Test(group, groups_stand_between_other_operators)
{
    job j;
    ON_EACH_FORM(j) {
        pause *got;
        uint64_t *counts;
        hdst_dataset *twice = hdst_map_function(hdst_cache(hdst_group_function(hdst_with_layout(j.data, HDST_SOA), NULL, j.module, "pauses")), j.module, "doubled");
        const uint64_t n = collect(twice, (void **)&got);
        for (uint64_t i = 0; i < n; i++) cr_expect_eq(got[i].n, 2 * pause_of(got[i].user).n);
        drop(twice, got);
        hdst_dataset *count = hdst_group_function(hdst_slice(j.data, 10, 1), "user", j.module, "count");
        cr_assert_eq(collect(count, (void **)&counts), 1);
        cr_expect_eq(counts[0], 1);
        drop(count, counts);
        hdst_dataset *none = hdst_group_function(hdst_slice(j.data, N, 1), "user", j.module, "count");
        cr_expect_eq(collect(none, (void **)&counts), 0);
        drop(none, counts);
        hdst_context_destroy(j.context);
    }
}

Test(group, leaving_a_loop_early_and_changing_what_it_gives)
{
    job j;
    ON_EACH_FORM(j) {
        struct { uint32_t user; int32_t at; } *got;
        hdst_dataset *grouped = hdst_group_function(j.data, "user", j.module, "second");
        const uint64_t n = collect(grouped, (void **)&got);
        for (uint64_t i = 0; i < n; i++) {
            int seen = 0;
            int32_t expected = -1;
            for (int r = 0; r < N && seen < 2; r++)
                if (rows[r].user == got[i].user && ++seen == 2) expected = rows[r].at * 2;
            cr_expect_eq(got[i].at, expected);
        }
        drop(grouped, got);
        hdst_context_destroy(j.context);
    }
}

// --- Keys of all kinds ---

static uint64_t count_if(bool (*same)(const row *, const void *), const void *key)
{
    uint64_t n = 0;
    for (int i = 0; i < N; i++) n += same(&rows[i], key);
    return n;
}

static bool same_wide(const row *r, const void *key) { return r->wide == *(const uint64_t *)key; }
static bool same_x(const row *r, const void *key) { return !memcmp(&r->x, key, 4); }
static bool same_day(const row *r, const void *key) { return r->when.year * 100u + r->when.month == *(const uint32_t *)key; }
static bool same_code(const row *r, const void *key) { return !memcmp(r->code, key, 5); }

Test(group, keys_are_numbers_floats_by_their_bits_records_and_bytes)
{
    job j;
    ON_EACH_FORM(j) {
        struct { uint64_t k, n; } *wide;
        struct { uint32_t k; uint64_t n; } *small;
        struct { uint8_t c[5]; uint64_t n; } *code;
        hdst_dataset *d = hdst_group_function(j.data, "wide", j.module, "by_wide");
        cr_assert_eq(collect(d, (void **)&wide), 5);
        for (int i = 0; i < 5; i++) cr_expect_eq(wide[i].n, count_if(same_wide, &wide[i].k));
        drop(d, wide);
        d = hdst_group_function(j.data, "x", j.module, "by_x");
        uint64_t n = collect(d, (void **)&small), both = 0;
        cr_assert_eq(n, 6, "two NaNs, two zeros");
        for (uint64_t i = 0; i < n; i++) {
            both += small[i].n;
            cr_expect(small[i].k == 0x7fc00000 || small[i].n == count_if(same_x, &small[i].k));     // as_uint knows one NaN only
        }
        cr_expect_eq(both, N);
        drop(d, small);
        for (int named = 0; named < 2; named++) {
            d = hdst_group_function(j.data, named ? "when.year, when.month" : NULL, j.module, "by_day");
            n = collect(d, (void **)&small);
            cr_assert_eq(n, 48);
            for (uint64_t i = 0; i < n; i++) cr_expect_eq(small[i].n, count_if(same_day, &small[i].k));
            drop(d, small);
        }
        d = hdst_group_function(j.data, "code", j.module, "by_code");
        n = collect(d, (void **)&code);
        cr_assert_eq(n, 32);
        for (uint64_t i = 0; i < n; i++) cr_expect_eq(code[i].n, count_if(same_code, code[i].c));
        drop(d, code);
        hdst_context_destroy(j.context);
    }
}

static uint64_t inverse(uint64_t odd)       // modulo 2^64: Newton's iteration doubles the right bits
{
    uint64_t x = odd;
    for (int i = 0; i < 6; i++) x *= 2 - odd * x;
    return x;
}

static uint64_t without_shift(uint64_t y, unsigned shift)       // x of y = x ^ x >> shift
{
    uint64_t x = y;
    for (int i = 0; i < 3; i++) x = y ^ x >> shift;
    return x;
}

// The 8-byte key that SplitMix64's finaliser takes to `mixed`: its high half is the key's hash.
static uint64_t key_of(uint64_t mixed)
{
    const uint64_t x = without_shift(without_shift(mixed, 31) * inverse(0x94d049bb133111eb), 27) * inverse(0xbf58476d1ce4e5b9);
    return without_shift(x, 30);
}

Test(group, keys_that_share_a_hash_are_told_apart)
{
    job j;
    ON_EACH_FORM(j) {
        struct { uint64_t k, n; } *got;
        uint64_t keys[9];
        for (uint64_t k = 0; k < 9; k++) keys[k] = key_of((k < 6 ? UINT64_C(77) : 5000 + k) << 32 | (k * 1000 + 3));
        for (int i = 0; i < N; i++) rows[i].wide = keys[rand() % 9];
        hdst_dataset *d = hdst_group_function(j.data, "wide", j.module, "by_wide");
        cr_assert_eq(collect(d, (void **)&got), 9);
        for (int i = 0; i < 9; i++) {
            cr_expect_eq(got[i].n, count_if(same_wide, &got[i].k));
            if (i && i < 6) cr_expect_lt(got[i - 1].k, got[i].k, "of one hash by the key");
        }
        cr_expect_eq(got[8].k, keys[8]);
        drop(d, got);
        hdst_context_destroy(j.context);
    }
}

Test(group, broadcasts_are_bound_as_for_maps)
{
    job j;
    const float centers[] = {1, -2.5f, 40};
    ON_EACH_FORM(j) {
        struct { uint32_t user; float least; } *got;
        hdst_map_spec *spec = hdst_map_spec_create(j.module, "near");
        hdst_value *value = hdst_value_create(j.module, "float", 3);
        hdst_value_set(value, centers, 3);
        hdst_bind_value(spec, "c", value);
        hdst_dataset *grouped = hdst_group(j.data, "user", spec);
        const uint64_t n = collect(grouped, (void **)&got);
        for (uint64_t i = 0; i < n; i++) {
            float least = INFINITY;
            for (int r = 0; r < N; r++)
                for (int c = 0; c < 3 && rows[r].user == got[i].user; c++)
                    if (!isnan(rows[r].x)) least = fminf(least, fabsf(rows[r].x - centers[c]));
            cr_expect_eq(got[i].least, least);
        }
        drop(grouped, got);
        hdst_context_destroy(j.context);
    }
}

// --- Reduces ---

static affine compose(affine a, affine b) { return (affine){a.p * b.p, a.q * b.p + b.q}; }
static affine mix(affine a, affine b) { return (affine){a.p * 3 + b.p, a.q * 5 + b.q * b.p}; }

static size_t of_user(uint32_t user, affine *to)
{
    size_t n = 0;
    for (int i = 0; i < N; i++)
        if (rows[i].user == user) to[n++] = (affine){(uint32_t)rows[i].at | 1, (uint32_t)rows[i].at * 77};
    return n;
}

static affine fold(const affine *from, size_t count, affine (*f)(affine, affine))
{
    affine a = from[0];
    for (size_t i = 1; i < count; i++) a = f(a, from[i]);
    return a;
}

static affine fold_tree(affine *values, size_t count, affine (*f)(affine, affine))
{
    while (count > 1) {
        size_t to = 0;
        for (size_t at = 0; at < count; at += 64) values[to++] = fold(values + at, count - at < 64 ? count - at : 64, f);
        count = to;
    }
    return values[0];
}

static void expect_dense(job *j, const char *function, affine identity, affine (*f)(affine, affine), affine (*over)(affine *, size_t, affine (*)(affine, affine)))
{
    static affine values[N];
    affine *got;
    hdst_dataset *reduced = hdst_reduce_dense(hdst_map_function(j->data, j->module, "keyed"), j->module, function, ROWS);
    cr_assert_eq(collect(reduced, (void **)&got), ROWS);
    for (uint32_t user = 0; user < ROWS; user++) {
        const size_t n = of_user(user, values);
        const affine expected = n ? over(values, n, f) : identity;
        cr_expect(got[user].p == expected.p && got[user].q == expected.q, "%s of user %u (%zu records)", function, user, n);
    }
    drop(reduced, got);
}

static affine fold_in_order(affine *values, size_t count, affine (*f)(affine, affine)) { return fold(values, count, f); }

Test(group, dense_reduces_of_every_class)
{
    job j;
    ON_EACH_FORM(j) {
        expect_dense(&j, "compose", (affine){.p = 1}, compose, fold_in_order);
        expect_dense(&j, "mix", (affine){.p = 7}, mix, fold_tree);
        expect_dense(&j, "ordered", (affine){9, 1}, mix, fold_in_order);
        hdst_context_destroy(j.context);
    }
}

// Records {p, k, q}, in the order of the keys' hash.
static void expect_by_key(job *j, const char *function, affine (*f)(affine, affine), affine (*over)(affine *, size_t, affine (*)(affine, affine)))
{
    typedef struct keyed { uint32_t p, k, q; } keyed;
    static affine values[N];
    keyed *got;
    hdst_dataset *reduced = hdst_reduce_by_key(hdst_map_function(j->data, j->module, "keyed"), j->module, function);
    const uint64_t n = collect(reduced, (void **)&got);
    cr_assert_eq(n, present_users());
    for (uint64_t i = 0; i < n; i++) {
        const affine expected = over(values, of_user(got[i].k, values), f);
        cr_expect(got[i].p == expected.p && got[i].q == expected.q, "%s of user %u", function, got[i].k);
        if (i) cr_expect_lt(mixed(got[i - 1].k), mixed(got[i].k));
    }
    drop(reduced, got);
}

static affine second(affine a, affine b) { (void)a; return b; }

Test(group, reduces_by_key_of_every_class)
{
    job j;
    ON_EACH_FORM(j) {
        expect_by_key(&j, "compose", compose, fold_in_order);
        expect_by_key(&j, "mix", mix, fold_tree);
        expect_by_key(&j, "bare", second, fold_in_order);
        hdst_context_destroy(j.context);
    }
}

Test(group, levels_are_counted)
{
    job j;
    cr_assert(open_job(&j, "interp", HDST_ON_ERROR_FAIL));
    uint64_t pieces = 0;
    static affine values[N];
    for (uint32_t user = 0; user < KEYS; user++) pieces += (of_user(user, values) + 63) / 64;
    hdst_result *result = hdst_result_create(hdst_reduce_by_key(hdst_map_function(j.data, j.module, "keyed"), j.module, "compose"));
    RUN(result);
    const hdst_run_stats stats = hdst_result_stats(result);
    cr_assert_eq(stats.level_count, 3);
    cr_expect_eq(stats.level[0].in, N);
    cr_expect_eq(stats.level[0].out, pieces);
    cr_expect_eq(stats.level[1].out, present_users());
    hdst_context_destroy(j.context);
}

// Keys of 12 bytes in three fields, which share hashes with nobody else; the order of a key's records shows in the reduce.
Test(group, compound_keys)
{
    job j;
    ON_EACH_FORM(j) {
        struct { uint64_t a; uint8_t b; int16_t c; int32_t first, last; } *got;
        hdst_dataset *reduced = hdst_reduce_by_key(hdst_map_function(j.data, j.module, "compound"), j.module, "span");
        const uint64_t n = collect(reduced, (void **)&got);
        uint64_t keys = 0;
        for (int i = 0; i < N; i++) {
            bool seen = false;
            for (int e = 0; e < i && !seen; e++)
                seen = rows[e].wide == rows[i].wide && rows[e].when.month == rows[i].when.month && rows[e].user % 3 == rows[i].user % 3;
            keys += !seen;
        }
        cr_assert_eq(n, keys);
        for (uint64_t g = 0; g < n; g++) {
            int32_t first = -1, last = -1;
            for (int i = 0; i < N; i++) {
                if (rows[i].wide != got[g].a || rows[i].when.month != got[g].b || (int)(rows[i].user % 3) - 1 != got[g].c) continue;
                if (first < 0) first = rows[i].at;
                last = rows[i].at;
            }
            cr_expect(got[g].first == first && got[g].last == last);
        }
        drop(reduced, got);
        hdst_context_destroy(j.context);
    }
}

Test(group, reduces_of_records_with_arrays)
{
    typedef struct list { float x[3]; bool full; } list;
    job j;
    ON_EACH_FORM(j) {
        list *got;
        hdst_dataset *reduced = hdst_reduce_dense(hdst_map_function(j.data, j.module, "keyed_list"), j.module, "fill", ROWS);
        cr_assert_eq(collect(reduced, (void **)&got), ROWS);
        for (uint32_t user = 0; user < ROWS; user++) {
            list l = {.full = true};
            bool any = false;
            for (int i = 0; i < N; i++) {
                if (rows[i].user != user) continue;
                if (!any) l = (list){.full = rows[i].at > 100};
                if (!any || rows[i].x != 0) l.x[user % 3] = rows[i].x;
                if (any) l.full = l.full || rows[i].at <= 100;
                any = true;
            }
            cr_expect(!memcmp(got[user].x, l.x, sizeof l.x) || isnan(l.x[user % 3]), "%s: user %u", forms[form_], user);
            cr_expect_eq(got[user].full, l.full, "%s: user %u", forms[form_], user);
        }
        drop(reduced, got);
        hdst_context_destroy(j.context);
    }
}

Test(group, a_result_runs_again_with_other_records)
{
    job j;
    ON_EACH_FORM(j) {
        hdst_result *result = hdst_result_create(hdst_group_function(j.data, "user", j.module, "pauses"));
        for (int run = 0; run < 3; run++) {
            uint64_t n;
            RUN(result);
            const pause *got = hdst_result_rows(result, NULL, &n);
            for (uint64_t i = 0; i < n; i++) cr_expect_eq(got[i].sum, pause_of(got[i].user).sum);
            for (int i = 0; i < N; i++) rows[i].w += 1;
        }
        cr_expect(strstr(hdst_explain(result, NULL), "by key -> group pauses"));
        cr_expect(strstr(hdst_explain(result, NULL), "of 6007 records"));
        hdst_result_destroy(result);
        hdst_context_destroy(j.context);
    }
}

static void expect_error(hdst_dataset *dataset, hdst_status code, const char *message, const char *hint)
{
    hdst_error error = HDST_ERROR_INIT;
    uint64_t n;
    void *out;
    cr_expect_eq(hdst_collect(dataset, &out, &n, &error), code);
    if (message) cr_expect_str_eq(error.message, message);
    if (hint) cr_expect_str_eq(error.hint, hint);
}

// --- Larger than the memory budget ---

static bool job_with_memory(job *j, const char *form, uint64_t bytes)
{
    if (!open_job(j, form, HDST_ON_ERROR_FAIL)) return false;
    j->context->engine->runtime.memory.limit = bytes;       // no device is open yet
    return true;
}

Test(group, keys_come_in_parts_where_memory_is_short)
{
    job j;
    const uint64_t budgets[] = {1200000, 700000};
    for (size_t b = 0; b < 2; b++) {
        cr_assert(job_with_memory(&j, "interp", budgets[b]));
        uint64_t n;
        hdst_result *result = hdst_result_create(hdst_group_function(j.data, "user", j.module, "pauses"));
        for (int again = 0; again < 2; again++) {
            RUN(result);
            const pause *got = hdst_result_rows(result, NULL, &n);
            cr_assert_eq(n, present_users());
            for (uint64_t i = 0; i < n; i++) {
                const pause expected = pause_of(got[i].user);
                cr_expect(got[i].n == expected.n && got[i].sum == expected.sum && got[i].longest == expected.longest);
                if (i) cr_expect_lt(mixed(got[i - 1].user), mixed(got[i].user));
            }
        }
        cr_expect(strstr(hdst_explain(result, NULL), "memory was short: keys in "), "%s", hdst_explain(result, NULL));
        cr_expect(j.context->engine->runtime.memory.peak <= budgets[b]);
        hdst_result_destroy(result);
        hdst_context_destroy(j.context);
    }
}

Test(group, dense_reduces_in_parts)
{
    job j;
    cr_assert(job_with_memory(&j, "interp", 600000));
    expect_dense(&j, "mix", (affine){.p = 7}, mix, fold_tree);
    expect_dense(&j, "ordered", (affine){9, 1}, mix, fold_in_order);
    expect_error(hdst_reduce_dense(hdst_map_function(j.data, j.module, "keyed"), j.module, "ordered", 1), HDST_E_RECORD, NULL, NULL);
    hdst_context_destroy(j.context);
}

// --- Mistakes ---

Test(group, mistakes_say_what_is_right)
{
    job j;
    cr_assert(open_job(&j, "interp", HDST_ON_ERROR_FAIL));
    hdst_dataset *keyed = hdst_map_function(j.data, j.module, "keyed");
    expect_error(hdst_group_function(j.data, "usr", j.module, "pauses"), HDST_E_USAGE, "record 'row' has no field 'usr'", "did you mean 'user'?");
    expect_error(hdst_group_function(j.data, "at", j.module, "pauses"), HDST_E_USAGE, "'at' is int32_t, which key 'user' of 'pauses' is not at this place", NULL);
    expect_error(hdst_group_function(j.data, "user, at", j.module, "pauses"), HDST_E_USAGE, "key 'user' of 'pauses' has 1 field, hdst_group was given 2", NULL);
    expect_error(hdst_group_function(j.data, "user,", j.module, "pauses"), HDST_E_USAGE, "a key of hdst_group has no name", "name the fields with commas between: \"user, day\"");
    char path[400];
    memset(path, 'x', sizeof path);
    memcpy(path + sizeof path - 6, ", at", 5);
    expect_error(hdst_group_function(j.data, path, j.module, "pauses"), HDST_E_USAGE,
                 "'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx...' is no path to a field of 'row': it is too long", NULL);
    expect_error(hdst_group_function(j.data, "when.year", j.module, "by_day"), HDST_E_USAGE, "key 'when' of 'by_day' has 2 fields, hdst_group was given 1", NULL);
    expect_error(hdst_group_function(j.data, NULL, j.module, "count"), HDST_E_USAGE, "records of 'row' have no field 'k' of the key's type",
                 "name the key: the second argument of hdst_group");
    expect_error(hdst_group_function(keyed, "k", j.module, "count"), HDST_E_USAGE, "'count' groups records of 'row', the dataset has 'keyed'", NULL);
    expect_error(hdst_group_function(j.data, "user", j.module, "ordered"), HDST_E_USAGE, "hdst_group was given 'ordered', which is no group",
                 "group ordered(key K k, stream V v) -> T { for (V e : v) ... }");
    expect_error(hdst_group_function(j.data, "user", j.module, "near"), HDST_E_USAGE, "parameter 'c' of 'near' is not bound", NULL);
    expect_error(hdst_map_function(j.data, j.module, "count"), HDST_E_USAGE, "hdst_map was given 'count', which is a group", NULL);
    expect_error(hdst_reduce_dense(keyed, j.module, "bare", ROWS), HDST_E_USAGE, "hdst_reduce_dense with 'bare' needs its identity, for records whose key does not occur",
                 "declare it: reduce bare(T a, T b) identity { ... } { ... }");
    hdst_context_destroy(j.context);
}

// `mean` divides by zero for users that leave 7 modulo 50.
static bool is_bad(uint32_t user) { return user % 50 == 7; }

Test(group, records_that_fail_are_named_by_their_key)
{
    job j;
    ON_EACH_FORM(j) {
        hdst_error error = HDST_ERROR_INIT;
        uint32_t first = 0, before = 0;
        char expected[80];
        void *out;
        uint64_t n;
        for (uint32_t user = 0; user < KEYS; user++)
            if (is_bad(user) && pause_of(user).n && (!first || mixed(user) < mixed(first))) first = user;
        for (uint32_t user = 0; user < KEYS; user++) before += pause_of(user).n && mixed(user) < mixed(first);
        snprintf(expected, sizeof expected, "division by zero in the records with user = %u", first);
        cr_expect_eq(hdst_collect(hdst_group_function(j.data, "user", j.module, "mean"), &out, &n, &error), HDST_E_RECORD);
        cr_expect_str_eq(error.message, expected);
        cr_expect_eq(error.record, before, "the number of the key");
        cr_expect_neq(error.line, 0);
        hdst_context_destroy(j.context);
    }
}

Test(group, keys_out_of_range_end_the_run)
{
    job j;
    ON_EACH_FORM(j) {
        hdst_dataset *keyed = hdst_map_function(j.data, j.module, "keyed");
        int first = 0;
        char expected[80];
        while (rows[first].user < 200) first++;
        snprintf(expected, sizeof expected, "key 'k' is %u, out of range 0..199, in record %d", rows[first].user, first);
        expect_error(hdst_reduce_dense(keyed, j.module, "ordered", 200), HDST_E_RECORD, expected, NULL);
        snprintf(expected, sizeof expected, "key 'k' is %u in record 0, and the result has no records", rows[0].user);
        expect_error(hdst_reduce_dense(keyed, j.module, "ordered", 0), HDST_E_RECORD, expected, NULL);
        hdst_context_destroy(j.context);
    }
}

Test(group, what_fails_may_be_left_out)
{
    job j;
    for (size_t form = 0; form < 3; form++) {
        if (!open_job(&j, forms[form], HDST_ON_ERROR_SKIP)) continue;
        struct { uint32_t user; int32_t each; } *got;
        uint64_t n, bad = 0;
        for (uint32_t user = 0; user < KEYS; user++) bad += is_bad(user) && pause_of(user).n;
        hdst_result *result = hdst_result_create(hdst_group_function(j.data, "user", j.module, "mean"));
        RUN(result);
        got = (void *)hdst_result_rows(result, NULL, &n);
        cr_expect_eq(n, present_users() - bad);
        for (uint64_t i = 0; i < n; i++) cr_expect(!is_bad(got[i].user));
        cr_expect_eq(hdst_result_stats(result).records_skipped, bad, "a key counts once");
        hdst_result_destroy(result);

        uint64_t above = 0;
        for (int i = 0; i < N; i++) above += rows[i].user >= 200;
        result = hdst_result_create(hdst_reduce_dense(hdst_map_function(j.data, j.module, "keyed"), j.module, "ordered", 200));
        RUN(result);
        cr_expect_eq(hdst_result_stats(result).records_skipped, above);
        hdst_context_destroy(j.context);
    }
}
