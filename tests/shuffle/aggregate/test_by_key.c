// SPDX-License-Identifier: Apache-2.0
// Reductions by key against plain C: records are sorted by the bytes of their keys, sums are made by a big integer
// (bignum.h), hashes by another way of computing.
#include "tests/hdst/support.h"

#include "engine/engine_state.h"
#include "plan/operator.h"
#include "tests/support/bignum.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

typedef struct row { uint32_t k; float v; int16_t a; int64_t b; double w; } row;
typedef struct sum { uint32_t k; float v; } sum;
typedef struct pair { uint16_t a; int64_t b; double w; int32_t least, most; uint8_t bits; uint64_t n; } pair;
typedef struct by_float { float f; uint64_t n; } by_float;
typedef struct by_bytes { struct { uint8_t id[12]; } key; int32_t n; } by_bytes;
typedef struct key_count { uint16_t a; int64_t b; uint64_t n; } key_count;
typedef struct wide { uint64_t k; double v; } wide;

static const char kernels[] =
    "struct row { uint32_t k; float v; int16_t a; int64_t b; double w; };\n"
    "struct sum { uint32_t key; float v; };\n"
    "struct id { uint8_t id[12]; };\n"
    "struct by_bytes { struct id key; int32_t n; };\n"
    "struct key_count { uint16_t a; int64_t b; uint64_t n; };\n"
    "struct few { uint16_t a; uint64_t n; };\n"
    "struct values { double w; int32_t least; int32_t most; uint8_t bits; uint64_t n; };\n"
    "struct wide { uint64_t key; double v; };\n"
    "struct page { uint16_t number; uint8_t bytes[5000]; };\n"
    "map plain(row r) -> sum { return (sum){ .key = r.k, .v = r.v }; }\n"
    "map compound(row r) -> (key uint16_t a, key int64_t b, double w, int32_t least, int32_t most, uint8_t bits, uint64_t n)\n"
    "{ return ((uint16_t)(r.k % 7u), r.b, r.w, (int32_t)r.a, (int32_t)r.a, (uint8_t)r.k, 1); }\n"
    "map float_key(row r) -> (key float f, uint64_t n) { return (r.v, 1); }\n"
    "map only_some(row r) -> (key uint16_t a, key int64_t b) { return ((uint16_t)(r.k % 7u), r.b); }\n"
    "map twice(sum s) -> sum { return (sum){ .key = s.key, .v = s.v * 2.0f }; }\n"
    "map divided(row r) -> sum { return (sum){ .key = 1000u / r.k, .v = r.v }; }\n"
    "filter none(row r) { return r.k > 4294967294u && r.k < 5u; }\n"
    "reduce add(float a, float b) { return a + b; }\n"
    "reduce add_double(double a, double b) { return a + b; }\n"
    "reduce count(uint64_t a, uint64_t b) { return a + b; }\n"
    "reduce total(int32_t a, int32_t b) { return a + b; }\n"
    "reduce join(values a, values b) { return (values){ .w = a.w + b.w, .least = min(a.least, b.least), .most = max(a.most, b.most),\n"
    "                                                   .bits = a.bits | b.bits, .n = a.n + b.n }; }\n";

enum { N = 20000, FORMS = 7 };
static row rows[N];
// tiny: tables that overflow at each level; the last ones on the interpreter, in containers that are asked for:
// threads' tables that overflow, sorted runs whole and in pieces
static const char *const forms[] = {"interp", "cpu", "gpu-form", "tiny", "table", "sorted", "pieces"};
static hdst_container container;        // of what is collected

static uint64_t next_random(void)
{
    static uint64_t state = 7;
    state = state * UINT64_C(6364136223846793005) + 1442695040888963407;
    return state >> 20;
}

typedef struct job {
    hdst_context *context;
    hdst_module *module;
    hdst_dataset *data;
} job;

static bool open_job(job *j, const char *form)
{
    const bool on_device = !strcmp(form, "cpu") || !strcmp(form, "gpu-form");
    if (on_device && !have_cpu()) return false;
    j->context = context_in_form(on_device ? form : "interp");
    container = !strcmp(form, "table") ? HDST_CONTAINER_TABLE : !strcmp(form, "sorted") ||
        !strcmp(form, "pieces") ? HDST_CONTAINER_SORTED : HDST_CONTAINER_AUTO;
    if (!on_device && strcmp(form, "interp") && strcmp(form, "sorted")) {
        j->context->engine->limits.by_key_table_bits = 12;
        j->context->engine->limits.by_key_partition_bits = 2;
    }
    j->module = module_of(j->context, kernels);
    j->data = hdst_read(hdst_source_from_memory(j->context, rows, N, sizeof(row)), j->module, "row");
    return true;
}

#define ON_EACH_FORM(j) for (size_t form_ = 0; form_ < FORMS; form_++) if (open_job(&(j), forms[form_]))

// All that a test collected, freed at its end.
enum { MOST_COLLECTED = 256 };
static void *collected[MOST_COLLECTED];
static size_t collected_count;

static void forget_collected(void)
{
    while (collected_count) free(collected[--collected_count]);
}

TestSuite(by_key, .fini = forget_collected);

static void *collect(hdst_dataset *dataset, uint64_t *count)
{
    hdst_error error = HDST_ERROR_INIT;
    void *all = NULL;
    char text[2048];
    if (dataset->op->containers && dataset->op->containers->set) dataset = hdst_with_container(dataset, container);
    if (hdst_collect(dataset, &all, count, &error) != HDST_OK) {
        hdst_error_format(&error, text, sizeof text);
        cr_assert_fail("%s", text);
    }
    cr_assert_lt(collected_count, MOST_COLLECTED);
    const size_t bytes = *count * dataset->record->size;
    void *copy = collected[collected_count++] = malloc(bytes + 1);
    memcpy(copy, all, bytes);
    hdst_rows_destroy(dataset->object.context, all);
    return copy;
}

// The hash as its description has it, with products as long multiplications and without the header that the library uses.
static uint64_t times(uint64_t a, uint64_t b)
{
    uint64_t result = 0;
    for (int bit = 0; bit < 64; bit++)
        if (b >> bit & 1) result += a << bit;
    return result;
}

static uint32_t hash_of(const uint64_t *words, size_t bytes)
{
    if (bytes <= 4) {
        uint64_t x = words[0];
        x = times(x ^ x >> 16, 0x7feb352d) & 0xffffffff;
        x = times(x ^ x >> 15, 0x846ca68b) & 0xffffffff;
        return (uint32_t)(x ^ x >> 16);
    }
    uint64_t h = 0;
    for (size_t i = 0; i * 8 < bytes; i++) {
        h = bytes <= 8 ? words[0] : (h ^ words[i]) + UINT64_C(0x9e3779b97f4a7c15);
        h = times(h ^ h >> 30, UINT64_C(0xbf58476d1ce4e5b9));
        h = times(h ^ h >> 27, UINT64_C(0x94d049bb133111eb));
        h = h ^ h >> 31;
    }
    return (uint32_t)(h >> 32);
}

static bool comes_after(const uint64_t *a, const uint64_t *b, size_t bytes)
{
    const uint32_t x = hash_of(a, bytes), y = hash_of(b, bytes);
    if (x != y) return x > y;
    for (size_t i = 0; i * 8 < bytes; i++)
        if (a[i] != b[i]) return a[i] > b[i];
    return false;
}

// --- One small key, one float ---

static int by_k(const void *a, const void *b)
{
    const uint32_t x = ((const row *)a)->k, y = ((const row *)b)->k;
    return x < y ? -1 : x > y;
}

static uint32_t float_bits(float f)
{
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    return bits;
}

static void add_to(big *total, double v)
{
    const big b = big_of(v);
    big_add(total, &b);
}

static double rounded(const big *total, bool single) { return big_bits_to_double(big_round(total, single), single); }

// What all values of each key come to; `sorted` rows by key.
static uint64_t expect_sums(sum *expected, bool exact)
{
    static row sorted[N];
    uint64_t count = 0;
    memcpy(sorted, rows, sizeof rows);
    qsort(sorted, N, sizeof *sorted, by_k);
    for (size_t i = 0; i < N;) {
        const uint32_t k = sorted[i].k;
        big total = {0};
        double plain = 0;
        for (; i < N && sorted[i].k == k; i++) {
            if (exact) add_to(&total, sorted[i].v);
            else plain += sorted[i].v;
        }
        expected[count++] = (sum){k, exact ? (float)rounded(&total, true) : (float)plain};
    }
    return count;
}

static int by_sum_key(const void *a, const void *b)
{
    const uint32_t x = ((const sum *)a)->k, y = ((const sum *)b)->k;
    return x < y ? -1 : x > y;
}

static void check_sums(const sum *got, uint64_t n, const sum *expected, uint64_t count, const char *what)
{
    cr_assert_eq(n, count, "%s: %llu keys, not %llu", what, (unsigned long long)n, (unsigned long long)count);
    for (uint64_t i = 1; i < n; i++)
        cr_assert(comes_after(&(uint64_t){got[i].k}, &(uint64_t){got[i - 1].k}, 4), "%s: order at %llu", what, (unsigned long long)i);
    for (uint64_t i = 0; i < n; i++) {
        const sum *e = bsearch(&got[i], expected, count, sizeof *expected, by_sum_key);
        cr_assert(e, "%s: key %u", what, (unsigned)got[i].k);
        cr_assert_eq(float_bits(e->v), float_bits(got[i].v), "%s: key %u is %a, not %a", what, (unsigned)got[i].k, (double)got[i].v, (double)e->v);
    }
}

typedef enum keys { EQUAL, FEW, MANY, HOT, DIFFERENT, KEYS } keys;

static uint32_t key_of(keys kind, uint32_t i)
{
    switch (kind) {
    case EQUAL: return 77;
    case FEW: return (uint32_t)(next_random() % 100) * 7919;
    case MANY: return (uint32_t)(next_random() % 9000);
    case HOT: return i % 5 ? (uint32_t)(next_random() % 10) : i;
    default: return i * 2654435761u;
    }
}

static float value_of(bool far_apart)
{
    const int32_t mantissa = (int32_t)(next_random() % 33554432) - 16777216;
    return far_apart ? ldexpf((float)mantissa, (int)(next_random() % 250) - 149) : (float)mantissa / 65536;
}

static void check_all_forms(const char *what, bool exact)
{
    static sum expected[N];
    job j;
    const uint64_t count = expect_sums(expected, exact);
    ON_EACH_FORM(j) {
        uint64_t n;
        sum *got = collect(hdst_reduce_by_key(hdst_map_function(j.data, j.module, "plain"), j.module, "add"), &n);
        char text[64];
        snprintf(text, sizeof text, "%s on %s", what, forms[form_]);
        check_sums(got, n, expected, count, text);
        hdst_context_destroy(j.context);
    }
}

Test(by_key, sums_of_floats)
{
    for (keys kind = EQUAL; kind < KEYS; kind++) {
        for (uint32_t i = 0; i < N; i++) rows[i] = (row){.k = key_of(kind, i), .v = value_of(false)};
        check_all_forms((const char *const[]){"equal keys", "few keys", "many keys", "hot keys", "different keys"}[kind], true);
    }
}

// Tables that overflow pass on what they have; the sums are those of tables that do not.
Test(by_key, tables_overflow)
{
    static sum expected[N];
    for (uint32_t i = 0; i < N; i++) rows[i] = (row){.k = key_of(HOT, i), .v = value_of(false)};
    job j;
    const uint64_t count = expect_sums(expected, true);
    cr_assert(open_job(&j, "tiny"));
    hdst_result *r = hdst_result_create(hdst_reduce_by_key(hdst_map_function(j.data, j.module, "plain"), j.module, "add"));
    RUN(r);
    const hdst_run_stats stats = hdst_result_stats(r);
    cr_assert(stats.level[0].in == N && stats.level[0].out > count && stats.level[0].out < N && stats.level[2].out == count);
    cr_assert(strstr(hdst_explain(r, NULL), "full tables emptied"));
    uint64_t n;
    const sum *got = hdst_result_rows(r, NULL, &n);
    check_sums(got, n, expected, count, "tables that overflow");
    hdst_context_destroy(j.context);
}

// Addends over 240 binades fit no two words: the sums are exact all the same.
Test(by_key, sums_of_floats_that_are_far_apart)
{
    for (uint32_t i = 0; i < N; i++) rows[i] = (row){.k = key_of(i % 2 ? FEW : MANY, i), .v = value_of(true)};
    check_all_forms("far apart", true);
}

// Nearly all addends fit, a few are far off, infinite or no number.
Test(by_key, addends_that_do_not_fit)
{
    for (uint32_t i = 0; i < N; i++) rows[i] = (row){.k = key_of(MANY, i), .v = i % 500 == 499 ? value_of(true) : value_of(false)};
    check_all_forms("exceptions", true);
    for (uint32_t i = 0; i < N; i++)
        rows[i] = (row){.k = i % 100 == 7 ? 1000000 + i / 100 % 2 : key_of(FEW, i),
                        .v = i % 100 == 7 ? (i / 100 % 2 ? INFINITY : -INFINITY) : value_of(false) * 256};
    check_all_forms("infinities", false);      // integers below 2^24, so a plain sum of doubles is exact
}

static struct { uint64_t k; big total; } doubles[N];

static uint64_t expect_doubles(const wide *in)
{
    uint64_t count = 0;
    for (uint32_t r = 0; r < N; r++) {
        uint64_t at = 0;
        while (at < count && doubles[at].k != in[r].k) at++;
        if (at == count) doubles[count++].k = in[r].k, doubles[at].total = (big){0};
        add_to(&doubles[at].total, in[r].v);
    }
    return count;
}

static double double_of(uint64_t k, uint64_t count)
{
    uint64_t at = 0;
    while (at < count && doubles[at].k != k) at++;
    cr_assert_lt(at, count);
    return rounded(&doubles[at].total, false);
}

// Doubles take two words; so do keys of 64 bits.
// Addends far below the last bit of a word, or of two, behind a sample that has none: what is left of the others cancels out.
static void addends_finer_than_words(double base)
{
    enum { FINE_KEYS = 100, FINE = 300000 };
    static wide in[FINE];
    for (uint32_t i = 0; i < FINE; i++) in[i] = (wide){i % FINE_KEYS, i / FINE_KEYS % 2 ? -base : base};
    for (uint32_t k = 0; k < FINE_KEYS; k++) in[FINE - 1000 + k] = (wide){k, 0};
    for (uint32_t k = 0; k < FINE_KEYS; k++) in[FINE - 900 + k] = (wide){k, ldexp(k + 1, -200)};
    double left[FINE_KEYS] = {0};
    for (uint32_t i = 0; i < FINE; i++)
        if (fabs(in[i].v) > 1) left[in[i].k] += in[i].v;       // exact: signs take turns
    job j;
    ON_EACH_FORM(j) {
        uint64_t n;
        wide *got = collect(hdst_reduce_by_key(hdst_read(hdst_source_from_memory(j.context, in, FINE, sizeof *in), j.module, "wide"), j.module,
                                               "add_double"), &n);
        cr_assert_eq(n, FINE_KEYS);
        for (uint64_t i = 0; i < n; i++)
            cr_assert_eq(got[i].v, left[got[i].k] + ldexp((double)got[i].k + 1, -200), "key %u on %s: %a", (unsigned)got[i].k, forms[form_], got[i].v);
        hdst_context_destroy(j.context);
    }
}

Test(by_key, doubles_finer_than_a_word) { addends_finer_than_words(1.25); }
Test(by_key, doubles_finer_than_two_words) { addends_finer_than_words(1.25 + 0x1p-45); }

Test(by_key, sums_of_doubles)
{
    static wide in[N];
    for (uint32_t i = 0; i < N; i++)
        in[i] = (wide){(next_random() % 700) << 40 | 5, (double)(int64_t)(next_random() - (UINT64_C(1) << 43)) * 0x1p-20 + 1e-9 * (double)(i % 97)};
    in[11].v = 0x1p700;
    in[12].v = 0x1p-1074;
    for (uint32_t far = 0; far < 2; far++) {
        job j;
        const uint64_t count = expect_doubles(in);
        ON_EACH_FORM(j) {
            uint64_t n;
            hdst_dataset *d = hdst_read(hdst_source_from_memory(j.context, in, N, sizeof *in), j.module, "wide");
            wide *got = collect(hdst_reduce_by_key(d, j.module, "add_double"), &n);
            cr_assert_eq(n, count);
            for (uint64_t i = 0; i < n; i++) {
                const double v = double_of(got[i].k, count);
                cr_assert_eq(v, got[i].v, "key %llx on %s: %a, not %a", (unsigned long long)got[i].k, forms[form_], got[i].v, v);
                cr_assert(i == 0 || comes_after(&got[i].k, &got[i - 1].k, 8));
            }
            hdst_context_destroy(j.context);
        }
        for (uint32_t i = 0; i < N; i++) in[i].v = ldexp(in[i].v, (int)(next_random() % 1200) - 600);
    }
}

// --- Compound keys, all laws ---

static bool same_pair_key(const pair *a, const pair *b) { return a->a == b->a && a->b == b->b; }

Test(by_key, compound_keys_and_all_laws)
{
    enum { MOST = 7 * 5 };
    static pair expected[MOST];
    uint64_t count = 0;
    for (uint32_t i = 0; i < N; i++)
        rows[i] = (row){.k = (uint32_t)next_random(), .a = (int16_t)next_random(), .b = (int64_t)(next_random() % 5) - 2,
                        .w = (double)(next_random() % 1000) / 8};
    for (uint32_t i = 0; i < N; i++) {
        const row *r = &rows[i];
        const pair p = {(uint16_t)(r->k % 7), r->b, r->w, r->a, r->a, (uint8_t)r->k, 1};
        uint64_t at = 0;
        while (at < count && !same_pair_key(&expected[at], &p)) at++;
        pair *e = &expected[at];
        if (at == count) {
            expected[count++] = p;
            continue;
        }
        e->w += p.w;
        e->least = p.least < e->least ? p.least : e->least;
        e->most = p.most > e->most ? p.most : e->most;
        e->bits |= p.bits;
        e->n++;
    }
    job j;
    ON_EACH_FORM(j) {
        uint64_t n, counts, distinct;
        pair *got = collect(hdst_reduce_by_key(hdst_map_function(j.data, j.module, "compound"), j.module, "join"), &n);
        key_count *counted = collect(hdst_count_by_key(hdst_map_function(j.data, j.module, "only_some"), j.module, "key_count"), &counts);
        struct { uint16_t a; int64_t b; } *different = collect(hdst_distinct(hdst_map_function(j.data, j.module, "only_some")), &distinct);
        cr_assert(n == count && counts == count && distinct == count);
        for (uint64_t i = 0; i < n; i++) {
            uint64_t at = 0;
            while (at < count && !same_pair_key(&expected[at], &got[i])) at++;
            cr_assert_lt(at, count);
            const pair *e = &expected[at];
            cr_assert(e->w == got[i].w && e->least == got[i].least && e->most == got[i].most && e->bits == got[i].bits && e->n == got[i].n, "on %s",
                      forms[form_]);
            cr_assert(counted[i].a == got[i].a && counted[i].b == got[i].b && counted[i].n == e->n, "on %s", forms[form_]);
            cr_assert(different[i].a == got[i].a && different[i].b == got[i].b);
            const uint64_t now[2] = {got[i].a, (uint64_t)got[i].b};
            if (i) cr_assert(comes_after(now, (uint64_t[]){got[i - 1].a, (uint64_t)got[i - 1].b}, 16));
        }
        hdst_context_destroy(j.context);
    }
}

// Floats are keys by their bits; of the NaNs a map makes one.
Test(by_key, float_keys)
{
    static const uint32_t patterns[] = {0, 0x80000000, 0x3f800000, 0x7fc00000, 0x7f800000, 0xff800000, 1, /* as the fourth */ 0x7fc00001, 0xffc00000};
    enum { PATTERNS = sizeof patterns / sizeof *patterns, FLOAT_KEYS = PATTERNS - 2, NAN_KEY = 3 };
    uint64_t times_of[PATTERNS] = {0};
    for (uint32_t i = 0; i < N; i++) {
        const uint64_t p = next_random() % PATTERNS;
        memcpy(&rows[i].v, &patterns[p], 4);
        times_of[p < FLOAT_KEYS ? p : NAN_KEY]++;
    }
    job j;
    ON_EACH_FORM(j) {
        uint64_t n;
        by_float *got = collect(hdst_reduce_by_key(hdst_map_function(j.data, j.module, "float_key"), j.module, "count"), &n);
        cr_assert_eq(n, FLOAT_KEYS);
        for (uint64_t i = 0; i < n; i++) {
            uint32_t p = 0;
            while (p < FLOAT_KEYS && patterns[p] != float_bits(got[i].f)) p++;
            cr_assert(p < FLOAT_KEYS && times_of[p] == got[i].n);
        }
        hdst_context_destroy(j.context);
    }
}

// A record of bytes that is called "key".
Test(by_key, keys_of_bytes)
{
    enum { IDS = 300, EACH = 21 };
    static by_bytes in[IDS * EACH];
    for (uint32_t i = 0; i < IDS * EACH; i++) {
        memset(in[i].key.id, 'x', 12);
        in[i].key.id[i % IDS % 12] = (uint8_t)(i % IDS / 12);
        in[i].n = (int32_t)(i % IDS * 900000);
    }
    job j;
    ON_EACH_FORM(j) {
        for (hdst_layout layout = HDST_AOS; layout <= HDST_AOP; layout++) {
            uint64_t n;
            hdst_dataset *d = hdst_with_layout(hdst_read(hdst_source_from_memory(j.context, in, IDS * EACH, sizeof *in), j.module, "by_bytes"), layout);
            by_bytes *got = collect(hdst_reduce_by_key(d, j.module, "total"), &n);
            cr_assert_eq(n, IDS);
            for (uint64_t i = 0; i < n; i++) {
                uint64_t now[2] = {0}, before[2] = {0};
                uint32_t id = 0;
                while (id < IDS && memcmp(in[id].key.id, got[i].key.id, 12)) id++;
                cr_assert(id < IDS && got[i].n == (int32_t)(UINT32_C(900000) * EACH * id), "a sum of a narrow type wraps");
                memcpy(now, got[i].key.id, 12);
                if (i) memcpy(before, got[i - 1].key.id, 12);
                cr_assert(i == 0 || comes_after(now, before, 12));
            }
        }
        hdst_context_destroy(j.context);
    }
}

// --- Around it ---

Test(by_key, results_are_datasets)
{
    for (uint32_t i = 0; i < N; i++) rows[i] = (row){.k = i % 1000, .v = 1};
    job j;
    ON_EACH_FORM(j) {
        hdst_error error = HDST_ERROR_INIT;
        hdst_dataset *sums = hdst_reduce_by_key(hdst_map_function(j.data, j.module, "plain"), j.module, "add");
        hdst_dataset *twice = hdst_cache(hdst_map_function(hdst_with_layout(sums, HDST_SOA), j.module, "twice"));
        for (int turn = 0; turn < 2; turn++) {
            uint64_t n;
            sum *got = collect(twice, &n);
            cr_assert_eq(n, 1000);
            for (uint64_t i = 0; i < n; i++) cr_assert_eq(got[i].v, 2 * N / 1000);
            got = collect(hdst_reduce_by_key(hdst_union(twice, twice), j.module, "add"), &n);
            for (uint64_t i = 0; i < n; i++) cr_assert_eq(got[i].v, 4 * N / 1000);
            cr_assert_eq(hdst_count(sums, &n, &error), HDST_OK);
            cr_assert_eq(n, 1000);
        }
        hdst_result *r = hdst_result_create(sums);
        cr_assert(strstr(hdst_explain(r, &error), "reduce add by key") && strstr(hdst_explain(r, &error), "chosen by the next run"));
        for (int turn = 0; turn < 3; turn++) RUN(r);
        const hdst_run_stats stats = hdst_result_stats(r);
        cr_assert(stats.level[0].in == N && stats.level[2].out == 1000 && !strcmp(stats.level[0].name, "block"));
        cr_assert(strstr(hdst_explain(r, &error), "container: ") && strstr(hdst_explain(r, &error), "keys: 1000"), "%s", hdst_explain(r, &error));
        hdst_value *v = hdst_value_create(j.module, "sum", 1);
        cr_assert_eq(hdst_value_set_result(v, r, NULL, &error), HDST_OK, "%s", error.message);
        cr_assert_eq(hdst_save(sums, "by_key_test.npy", &error), HDST_OK, "%s", error.message);
        unlink("by_key_test.npy");
        hdst_context_destroy(j.context);
    }
}

Test(by_key, no_record_and_one)
{
    rows[0] = (row){.k = 5, .v = -0.0f};
    job j;
    ON_EACH_FORM(j) {
        uint64_t n;
        collect(hdst_reduce_by_key(hdst_map_function(hdst_filter_function(j.data, j.module, "none"), j.module, "plain"), j.module, "add"), &n);
        cr_assert_eq(n, 0);
        sum *got = collect(hdst_reduce_by_key(hdst_map_function(hdst_slice(j.data, 0, 1), j.module, "plain"), j.module, "add"), &n);
        cr_assert(n == 1 && got[0].k == 5 && float_bits(got[0].v) == 0, "an exact sum of nothing but zeros is +0");
        collect(hdst_distinct(hdst_slice(j.data, 0, 0)), &n);
        cr_assert_eq(n, 0);
        hdst_context_destroy(j.context);
    }
}

// A stage that finds its first bad record begins anew, and so does the container.
Test(by_key, records_with_errors_are_skipped_in_front)
{
    for (uint32_t i = 0; i < N; i++) rows[i] = (row){.k = i % 10, .v = 1};
    job j;
    ON_EACH_FORM(j) {
        uint64_t n;
        j.context->engine->options.skip_failed = true;
        hdst_result *r = hdst_result_create(hdst_reduce_by_key(hdst_map_function(j.data, j.module, "divided"), j.module, "add"));
        for (int turn = 0; turn < 2; turn++) {
            RUN(r);
            const sum *got = hdst_result_rows(r, NULL, &n);
            cr_assert_eq(n, 9);
            for (uint64_t i = 0; i < n; i++) cr_assert(got[i].v == N / 10.0f && got[i].k >= 111, "on %s", forms[form_]);
            cr_assert_eq(hdst_result_stats(r).records_skipped, N / 10);
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

Test(by_key, mistakes)
{
    job j;
    cr_assert(open_job(&j, "interp"));
    hdst_dataset *plain = hdst_map_function(j.data, j.module, "plain");
    expect_error(hdst_reduce_by_key(j.data, j.module, "add"), HDST_E_USAGE, "hdst_reduce_by_key needs records with a key; 'row' has none", "key uint32_t");
    expect_error(hdst_count_by_key(j.data, j.module, "key_count"), HDST_E_USAGE, "hdst_count_by_key needs records with a key", "key uint32_t");
    expect_error(hdst_reduce_by_key(plain, j.module, "add_double"), HDST_E_USAGE, "'add_double' takes double as value 1; 'sum' has float 'v' there",
                 "in order");
    expect_error(hdst_reduce_by_key(plain, j.module, "join"), HDST_E_USAGE, "'join' takes double 'w' as value 1; 'sum' has float 'v' there", "in order");
    expect_error(hdst_reduce_by_key(hdst_map_function(j.data, j.module, "compound"), j.module, "add_double"), HDST_E_USAGE,
                 "'add_double' takes nothing as value 2; 'compound' has int32_t 'least' there", "in order");
    expect_error(hdst_reduce_by_key(hdst_map_function(j.data, j.module, "only_some"), j.module, "add"), HDST_E_USAGE,
                 "takes float as value 1; 'only_some' has nothing there", "in order");
    expect_error(hdst_reduce_by_key(plain, j.module, "ad"), HDST_E_USAGE, "no function 'ad'", "did you mean 'add'?");
    expect_error(hdst_reduce_by_key(plain, j.module, "twice"), HDST_E_USAGE, "was given 'twice', which is no reduce", "");
    expect_error(hdst_count_by_key(plain, j.module, "key_count"), HDST_E_USAGE,
                 "field 1 of 'key_count' is to hold the key's uint32_t 'key', it is uint16_t 'a'", "then a uint64_t");
    expect_error(hdst_count_by_key(hdst_map_function(j.data, j.module, "only_some"), j.module, "few"), HDST_E_USAGE,
                 "field 2 of 'few' is to hold the key's int64_t 'b', it is not there",
                 "then a uint64_t");
    expect_error(hdst_count_by_key(plain, j.module, "sum"), HDST_E_USAGE, "record 'sum' does not hold a count: its last field is float 'v'", "then a uint64_t");
    expect_error(hdst_count_by_key(plain, j.module, "sun"), HDST_E_USAGE, "sun", "");
    static const char page[5002];
    hdst_source *pages = hdst_source_from_memory(j.context, page, 1, sizeof page);
    expect_error(hdst_distinct(hdst_read(pages, j.module, "page")), HDST_E_UNSUPPORTED, "'page' apart by 'bytes': a key has 4096 elements at most", "");
    hdst_source_destroy(pages);
    hdst_context_destroy(j.context);
}

// However few the records are, and though none of these needs the device for them.
Test(by_key, a_device_that_is_not_there)
{
    static const uint32_t numbers[] = {3, 1, 2};
    hdst_context_options options = HDST_CONTEXT_OPTIONS_INIT;
    options.device = "99";
    hdst_context *context = hdst_context_create(&options);
    hdst_module_options module_options = HDST_MODULE_OPTIONS_INIT;
    hdst_module *module = hdst_module_parse(context, "n.hk", "struct n { uint32_t key; };\n", &module_options);
    hdst_source *source = hdst_source_from_memory(context, numbers, 3, 4);
    hdst_dataset *data = hdst_read(source, module, "n");
    expect_error(hdst_distinct(data), HDST_E_DEVICE, "99", "");
    expect_error(hdst_sort(data, "key"), HDST_E_DEVICE, "99", "");
    expect_error(hdst_top(data, 2, "key"), HDST_E_DEVICE, "99", "");
    hdst_source_destroy(source);
    hdst_module_destroy(module);
    hdst_context_destroy(context);
}
