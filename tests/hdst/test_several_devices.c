// SPDX-License-Identifier: Apache-2.0
// Runs that several devices share: two halves of a CPU, and the interpreter beside them. Whatever the split, results have the bits that the interpreter
// alone gives: accumulators, output with and without gaps, what consumers take, cached input. A record that fails is the first of the input that does.
#include "base/clock.h"
#include "tests/hdst/random_split.h"
#include "tests/hdst/support.h"

#include "engine/device/device.h"
#include "tests/support/last_block.h"
#include "tests/support/stillness.h"

#include <math.h>
#include <stdlib.h>

enum { RECORDS = 20000, FEWER = 5000, ROWS = 29, SPLITS = 50 };

TestSuite(several_devices, .init = fail_when_all_wait);

typedef struct row { uint32_t k; float v; double w; } row;

static const char text[] =
    "struct row { uint32_t k; float v; double w; };\n"
    "struct total { float v; uint32_t n; double w; int32_t least; uint32_t bits; };\n"
    "struct sums { double w; uint64_t n; };\n"
    "map gather(row r, accum total t[], accum total all)\n"
    "{\n"
    "    t[r.k % 29].v += r.v;\n"
    "    t[r.k % 29].w += r.w;\n"
    "    t[r.k % 29].n += 1;\n"
    "    acc_min(t[r.k % 29].least, (int32_t)r.k);\n"
    "    t[r.k % 29].bits |= r.k;\n"
    "    all.v += r.v;\n"
    "    all.w += r.w;\n"
    "}\n"
    "map twice(row r) -> row { return (row){ .k = r.k * 2u, .v = r.v * 2.0f, .w = r.w + 1.0 }; }\n"
    "filter odd(row r) { return (r.k & 1u) == 1u; }\n"
    "map pairs(row r) -> (key uint32_t k, double w, uint64_t n) { return (r.k % 290u, r.w, 1); }\n"
    "reduce add(sums a, sums b) { return (sums){ .w = a.w + b.w, .n = a.n + b.n }; }\n"
    "flat_map some(row r) -> row { for (uint32_t i = 0; i < r.k % 4u; i++) emit((row){ .k = r.k + i, .v = r.v, .w = r.w }); }\n"
    "map rest(row r) -> (uint32_t k, uint32_t m) { return (r.k % 1000u, 1u); }\n"
    "map at(row r, broadcast float v[], accum sums s) { s.w += (double)v[r.k]; s.n += 1; }\n";

static row rows[RECORDS];
static uint64_t read_records = RECORDS;         // by jobs

static void fill(void)
{
    uint64_t state = 88172645463325252;
    for (uint32_t i = 0; i < RECORDS; i++) {
        state ^= state << 13, state ^= state >> 7, state ^= state << 17;
        const double v = ldexp((double)(int32_t)(state >> 40) - 8388608, (int)(state % 70) - 50);
        rows[i] = (row){(uint32_t)(state >> 20), (float)v, v * 1.0009765625};
    }
}

// --- Jobs ---

typedef struct job {
    hdst_context *context;
    hdst_module *module;
    hdst_dataset *data;
} job;

static job open_job(const char *device, hdst_on_error on_error)
{
    hdst_context_options options = HDST_CONTEXT_OPTIONS_INIT;
    options.device = device;
    options.cpu_parts = 2;
    options.on_error = on_error;
    options.replay_dir = "";
    job j = {.context = hdst_context_create(&options)};
    cr_assert_eq(hdst_context_status(j.context, NULL), HDST_OK);
    hdst__engine_limits(j.context->engine)->share_bytes = 0;
    j.module = module_of(j.context, text);
    j.data = hdst_read(hdst_source_from_memory(j.context, rows, read_records, sizeof(row)), j.module, "row");
    return j;
}

// Whether there are two halves of a CPU.
static bool have_halves(void)
{
    hdst_context_options options = HDST_CONTEXT_OPTIONS_INIT;
    options.cpu_parts = 2;
    hdst_context *context = hdst_context_create(&options);
    uint32_t count = 0;
    const bool have = hdst_device_count(context, &count, NULL) == HDST_OK && count >= 3;
    if (!have) cr_log_warn("no OpenCL CPU device that can be halved: skipped");
    hdst_context_destroy(context);
    return have;
}

static const char *const teams[] = {"0,1", "0,1,2", "1,2"};
#define ON_EACH_TEAM(team) for (size_t team = 0; team < sizeof teams / sizeof *teams; team++)

// Those behind KINDS are split at random only, which the cached ones cannot be.
typedef enum kind { GATHERED, DENSE, FILTERED, SORTED, BY_KEY, CACHED, CACHED_ODD, KINDS, FLAT = KINDS, ROW_SUMS, LARGEST, DISTINCT, ALL_KINDS } kind;

static hdst_result *make(const job *j, kind k)
{
    hdst_map_spec *gather = hdst_map_spec_create(j->module, "gather");
    hdst_bind_accum(gather, "t", ROWS);
    hdst_dataset *odd = hdst_filter_function(j->data, j->module, "odd");
    switch (k) {
    case GATHERED: return hdst_result_create(hdst_map(j->data, gather));
    case DENSE: return hdst_result_create(hdst_map_function(j->data, j->module, "twice"));
    case FILTERED: return hdst_result_create(odd);
    case SORTED: return hdst_result_create(hdst_sort(odd, "w"));
    case BY_KEY: return hdst_result_create(hdst_reduce_by_key(hdst_map_function(odd, j->module, "pairs"), j->module, "add"));
    case CACHED: return hdst_result_create(hdst_map(hdst_cache(j->data), gather));
    case FLAT: return hdst_result_create(hdst_flat_map_function(j->data, j->module, "some"));
    case ROW_SUMS: return hdst_result_create(hdst_reduce_dense(hdst_map_function(j->data, j->module, "pairs"), j->module, "add", 290));
    case LARGEST: return hdst_result_create(hdst_top(odd, 100, "w"));
    case DISTINCT: return hdst_result_create(hdst_distinct(hdst_map_function(j->data, j->module, "rest")));
    default: return hdst_result_create(hdst_filter_function(hdst_cache(j->data), j->module, "odd"));
    }
}

static const char *table_of(kind k) { return k == GATHERED || k == CACHED ? "t" : NULL; }

typedef struct answer {
    char *bytes;
    uint64_t rows, size;
} answer;

static uint64_t row_size(kind k)
{
    return k == BY_KEY || k == GATHERED || k == CACHED ? 24 : k == ROW_SUMS ? 16 : k == DISTINCT ? 8 : sizeof(row);
}

static answer answer_of(hdst_result *r, kind k)
{
    answer a = {.size = row_size(k)};
    const void *from = hdst_result_rows(r, table_of(k), &a.rows);
    cr_assert_not_null(from);
    a.bytes = malloc(a.rows * a.size);
    memcpy(a.bytes, from, a.rows * a.size);
    return a;
}

static answer alone(kind k)
{
    const job j = open_job("interp", HDST_ON_ERROR_FAIL);
    hdst_result *r = make(&j, k);
    RUN(r);
    const answer a = answer_of(r, k);
    hdst_context_destroy(j.context);
    return a;
}

static void expect(const answer *right, hdst_result *r, kind k, const char *team)
{
    const answer a = answer_of(r, k);
    cr_assert_eq(a.rows, right->rows, "%s, kind %d: %llu rows, not %llu", team, (int)k, (unsigned long long)a.rows, (unsigned long long)right->rows);
    cr_assert(!memcmp(a.bytes, right->bytes, a.rows * a.size), "%s, kind %d", team, (int)k);
    free(a.bytes);
}

Test(several_devices, results_have_the_bits_of_one)
{
    fill();
    if (!have_halves()) cr_skip("no halves\n");
    for (kind k = 0; k < KINDS; k++) {
        const answer right = alone(k);
        ON_EACH_TEAM(t) {
            const job j = open_job(teams[t], HDST_ON_ERROR_FAIL);
            hdst_result *r = make(&j, k);
            RUN(r);
            expect(&right, r, k, teams[t]);
            RUN(r);                                 // with what the first run learnt
            expect(&right, r, k, teams[t]);
            const hdst_run_stats stats = hdst_result_stats(r);
            uint64_t records = 0;
            for (uint32_t i = 0; i < stats.device_count; i++) records += stats.device[i].records;
            cr_assert_geq(stats.device_count, 2, "%s, kind %d", teams[t], (int)k);
            cr_assert_eq(records % RECORDS, 0, "every record once, in each stage");
            hdst_context_destroy(j.context);
        }
        free(right.bytes);
    }
}

Test(several_devices, any_split_gives_the_same_bits)
{
    fill();
    if (!have_halves()) cr_skip("no halves\n");
    read_records = FEWER;               // so that many splits take no long time
    for (kind k = 0; k < ALL_KINDS; k++) {
        if (k == CACHED || k == CACHED_ODD) continue;
        const answer right = alone(k);
        const job j = open_job("0,1,2", HDST_ON_ERROR_FAIL);
        hdst__engine_limits(j.context->engine)->policy = &random_split;
        hdst_result *r = make(&j, k);
        for (random_split_seed = 0; random_split_seed < SPLITS; random_split_seed++) {
            random_split_backwards = random_split_seed % 2;
            RUN(r);
            expect(&right, r, k, "a random split");
        }
        hdst_context_destroy(j.context);
        free(right.bytes);
    }
}

// A spread cache is read by who runs on one device, too.
Test(several_devices, what_is_spread_is_sorted_by_one)
{
    fill();
    if (!have_halves()) cr_skip("no halves\n");
    const job one = open_job("interp", HDST_ON_ERROR_FAIL), j = open_job("0,1", HDST_ON_ERROR_FAIL);
    hdst_dataset *cached = hdst_cache(j.data);
    hdst_map_spec *gather = hdst_map_spec_create(j.module, "gather");
    hdst_bind_accum(gather, "t", ROWS);
    hdst_result *first = hdst_result_create(hdst_map(cached, gather)), *sorted = hdst_result_create(hdst_sort(cached, "w")),
                *right = hdst_result_create(hdst_sort(one.data, "w"));
    RUN(first);
    cr_assert_eq(hdst_result_stats(first).device_count, 2);
    cr_assert(strstr(hdst_explain(first, NULL), "resident on 2 devices, a part with each"));
    RUN(sorted);
    RUN(right);
    cr_assert(!memcmp(hdst_result_rows(sorted, NULL, NULL), hdst_result_rows(right, NULL, NULL), sizeof rows));
    hdst_context_destroy(j.context);
    hdst_context_destroy(one.context);
}

// As if the halves were much larger than they are, so that the interpreter has nothing at first.
static void enlarge_halves(const job *j)
{
    hdst_device_info info;
    cr_assert_eq(hdst_device_chosen(j->context, &info, NULL), HDST_OK);
    for (uint32_t i = 0; i < j->context->engine->workers; i++) {
        hdst__device_info *known = (hdst__device_info *)j->context->engine->worker[i].info;
        if (known->class_ == HDST__DEVICE_CPU) known->compute_units = 1000;
    }
}

// By runs of two stages over one cache, while one device or another is slow: parts change hands, some have nothing for a while.
Test(several_devices, a_cached_input_is_laid_out_anew)
{
    static const uint64_t counts[] = {120, 200, 5000, RECORDS};
    fill();
    if (!have_halves()) cr_skip("no halves\n");
    for (uint32_t slow = 0; slow < 12; slow++) {
        const uint64_t count = counts[slow / 3];
        const job j = open_job("0,1,2", HDST_ON_ERROR_FAIL);
        hdst__limits *limits = hdst__engine_limits(j.context->engine);
        if (slow % 2) enlarge_halves(&j);
        hdst_dataset *cached = hdst_cache(hdst_read(hdst_source_from_memory(j.context, rows, count, sizeof(row)), j.module, "row"));
        hdst_map_spec *gather = hdst_map_spec_create(j.module, "gather");
        hdst_bind_accum(gather, "t", ROWS);
        hdst_result *sums = hdst_result_create(hdst_map(cached, gather)), *odd = hdst_result_create(hdst_filter_function(cached, j.module, "odd"));
        for (uint32_t turn = 0; turn < 4; turn++) {
            limits->slow_device = (slow + turn) % 3;
            limits->slow_times = 20;
            uint64_t n = 0, wanted = 0, kept, at = 0;
            RUN(sums);
            RUN(odd);
            const char *t = hdst_result_rows(sums, "t", NULL);
            for (uint32_t i = 0; i < ROWS; i++) n += ((const uint32_t *)(t + 24 * i))[1];
            cr_assert_eq(n, count);
            const row *got = hdst_result_rows(odd, NULL, &kept);
            for (uint64_t i = 0; i < count; i++) {
                if (!(rows[i].k & 1)) continue;
                wanted++;
                cr_assert(at < kept && !memcmp(&got[at++], &rows[i], sizeof(row)), "record %llu", (unsigned long long)i);
            }
            cr_assert_eq(kept, wanted);
        }
        hdst_context_destroy(j.context);
    }
}

static hdst__device_ops patched;
static const hdst__device_ops *whole;

static hdst_status no_room_for_caches(hdst__device *device, hdst__memory_kind of, hdst__owner owner, uint64_t bytes, const char *what,
                                      hdst__memory **memory, hdst_error *error)
{
    if (owner == HDST__OWNER_CACHES) return hdst__error_set(error, HDST_E_MEMORY, "the test has no room for caches");
    return whole->alloc(device, of, owner, bytes, what, memory, error);
}

// Parts of a cached input change hands when there is no room for them any more: it is read from where it comes from, not from the parts that were.
Test(several_devices, a_cached_input_that_is_laid_out_anew_has_no_room)
{
    uint32_t streamed = 0;
    fill();
    read_records = FEWER;
    if (!have_halves()) cr_skip("no halves\n");
    for (uint32_t turn = 0; turn < 4; turn++) {
        const job j = open_job("0,1,2", HDST_ON_ERROR_FAIL);
        hdst_result *odd = make(&j, CACHED_ODD);
        hdst__limits *limits = hdst__engine_limits(j.context->engine);
        limits->slow_times = 20;
        for (uint32_t run = 0; run < 3; run++) {
            uint64_t kept, at = 0;
            limits->slow_device = (turn + run) % 3;
            RUN(odd);
            const row *got = hdst_result_rows(odd, NULL, &kept);
            for (uint32_t i = 0; i < read_records; i++) {
                if (!(rows[i].k & 1)) continue;
                cr_assert(at < kept && !memcmp(&got[at++], &rows[i], sizeof(row)), "turn %u, run %u: record %u", turn, run, i);
            }
            cr_assert_eq(at, kept);
            streamed += strstr(hdst_explain(odd, NULL), "the test has no room for caches") != NULL;
            if (run > 0) continue;
            hdst__device *device = j.context->engine->worker[0].device;
            whole = device->ops;
            patched = *whole;
            patched.alloc = no_room_for_caches;
            device->ops = &patched;
        }
        j.context->engine->worker[0].device->ops = whole;
        hdst_context_destroy(j.context);
    }
    cr_assert_gt(streamed, 0, "its parts never changed hands");
}

// --- A cache where another one was ---

static uint32_t launches;           // since the run began

// Where parts were taken for what they are not a run may find no end.
static hdst_status count_launch(hdst__device *device, hdst__program *program, const hdst__launch *launch, hdst_error *error)
{
    if (++launches > FEWER) return hdst__error_set(error, HDST_E_INTERNAL, "more slices than there are records");
    return whole->launch(device, program, launch, error);
}

// Every other one has no room and is streamed: the next one, which has, lies where it did, and its parts are read as parts.
Test(several_devices, a_cache_that_lies_where_another_one_did)
{
    fill();
    if (!have_halves()) cr_skip("no halves\n");
    hdst_context_options options = HDST_CONTEXT_OPTIONS_INIT;
    options.device = "0,1,2";
    options.cpu_parts = 2;
    options.replay_dir = "";
    options.allocator = (hdst_allocator){allocate_last, reallocate_last, release_last, NULL};
    job j = {.context = hdst_context_create(&options)};
    hdst__engine_limits(j.context->engine)->share_bytes = 0;
    j.module = module_of(j.context, text);
    j.data = hdst_read(hdst_source_from_memory(j.context, rows, FEWER, sizeof(row)), j.module, "row");
    hdst_dataset *cached = hdst_cache(j.data);
    hdst_result *odd = hdst_result_create(hdst_filter_function(cached, j.module, "odd"));
    for (uint32_t run = 0; run < 5; run++) {
        uint64_t kept, at = 0;
        for (uint32_t i = 0; i < FEWER; i++) rows[i].w += 1;
        hdst_uncache(cached);
        hdst__device *device = j.context->engine->worker[0].device;     // open behind the first run
        launches = 0;
        if (run == 1) {
            whole = device->ops;
            patched = *whole;
            patched.launch = count_launch;
            device->ops = &patched;
        }
        if (run > 0) patched.alloc = run % 2 ? no_room_for_caches : whole->alloc;
        RUN(odd);
        const row *got = hdst_result_rows(odd, NULL, &kept);
        for (uint32_t i = 0; i < FEWER; i++) {
            if (!(rows[i].k & 1)) continue;
            cr_assert(at < kept && !memcmp(&got[at++], &rows[i], sizeof(row)), "run %u: record %u", run, i);
        }
        cr_assert_eq(at, kept);
    }
    j.context->engine->worker[0].device->ops = whole;
    hdst_context_destroy(j.context);
}

// --- Records that fail ---

enum { FIRST_BAD = 7777 };

static hdst_result *failing(const job *j, const float *values, bool cached)
{
    hdst_value *v = hdst_value_create(j->module, "float", 100);
    cr_assert_eq(hdst_value_set(v, values, 100), HDST_OK);
    hdst_map_spec *at = hdst_map_spec_create(j->module, "at");
    hdst_bind_value(at, "v", v);
    return hdst_result_create(hdst_map(cached ? hdst_cache(j->data) : j->data, at));
}

Test(several_devices, of_records_that_fail_the_first_of_the_input_is_told)
{
    float values[100];
    if (!have_halves()) cr_skip("no halves\n");
    for (int i = 0; i < 100; i++) values[i] = (float)i;
    for (uint32_t i = 0; i < RECORDS; i++) rows[i] = (row){.k = i % 100};
    for (uint32_t i = FIRST_BAD; i < RECORDS; i += 1111) rows[i].k = 100 + i;
    ON_EACH_TEAM(t) {
        const job j = open_job(teams[t], HDST_ON_ERROR_FAIL);
        hdst__engine_limits(j.context->engine)->policy = &random_split;
        hdst_result *r = failing(&j, values, false);
        random_split_backwards = true;
        for (random_split_seed = 0; random_split_seed < 5; random_split_seed++) {
            hdst_error error;
            cr_assert_eq(hdst_run(r, &error), HDST_E_RECORD);
            cr_assert(strstr(error.message, "in record 7,777"), "%s", error.message);
        }
        hdst_context_destroy(j.context);
    }
}

// In the second device's part of a cached input.
Test(several_devices, a_record_that_fails_has_its_place_in_the_whole_input)
{
    float values[100];
    if (!have_halves()) cr_skip("no halves\n");
    for (int i = 0; i < 100; i++) values[i] = (float)i;
    for (uint32_t i = 0; i < RECORDS; i++) rows[i] = (row){.k = i % 100};
    rows[17777].k = rows[18888].k = 100;
    const job j = open_job("0,1", HDST_ON_ERROR_FAIL);
    hdst_error error;
    cr_assert_eq(hdst_run(failing(&j, values, true), &error), HDST_E_RECORD);
    cr_assert(strstr(error.message, "in record 17,777"), "%s", error.message);
    hdst_context_destroy(j.context);
}

Test(several_devices, records_that_fail_are_left_out_and_counted)
{
    float values[100];
    uint64_t bad = 0;
    double sum = 0;
    if (!have_halves()) cr_skip("no halves\n");
    for (int i = 0; i < 100; i++) values[i] = (float)i;
    for (uint32_t i = 0; i < RECORDS; i++) rows[i] = (row){.k = i % 101};
    for (uint32_t i = 0; i < RECORDS; i++) bad += rows[i].k == 100, sum += rows[i].k == 100 ? 0 : rows[i].k;
    ON_EACH_TEAM(t) {
        const job j = open_job(teams[t], HDST_ON_ERROR_SKIP);
        hdst_result *r = failing(&j, values, false);
        RUN(r);
        cr_assert_eq(hdst_result_stats(r).records_skipped, bad);
        cr_assert_eq(hdst_view_double(hdst_result_field(r, "s", "w"), 0, 0), sum);
        cr_assert_eq(hdst_view_int64(hdst_result_field(r, "s", "n"), 0, 0), (int64_t)(RECORDS - bad));
        hdst_context_destroy(j.context);
    }
}

// --- Memory ---

// The second device has no memory for a plan; then one does it, which explain says.
Test(several_devices, one_does_it_where_there_is_no_memory_for_two)
{
    fill();
    if (!have_halves()) cr_skip("no halves\n");
    for (kind k = 0; k < KINDS; k++) {
        const answer right = alone(k);
        const job j = open_job("0,1", HDST_ON_ERROR_FAIL);
        RUN(make(&j, DENSE));                       // opens both
        hdst__budget *second = &j.context->engine->worker[1].device->budget;
        second->limit = atomic_load(&second->used);
        hdst_result *r = make(&j, k == DENSE ? FILTERED : k);
        RUN(r);
        if (k != DENSE) expect(&right, r, k, "without memory for two");
        const char *words = hdst_explain(r, NULL);
        cr_assert(strstr(words, "other devices: not used: ") && strstr(words, "device memory"), "kind %d: %s", (int)k, words);
        hdst_context_destroy(j.context);
        free(right.bytes);
    }
}

// --- Which devices ---

// Of the last run: how much of the records each had.
static double shares_in(const char *words)
{
    double sum = 0, share;
    const char *at = strstr(words, "  last run: ");
    cr_assert(at && strstr(at, " to devices, "), "%s", words);
    while ((at = strstr(at, "\n    ")) != NULL) {
        at += 5;
        if (sscanf(at, "%*[^:]: %lf %% of the records in ", &share) == 1) sum += share;
    }
    return sum;
}

Test(several_devices, explain_says_who_works_and_who_does_not)
{
    fill();
    if (!have_halves()) cr_skip("no halves\n");
    const job j = open_job("0,1,2", HDST_ON_ERROR_FAIL);
    hdst_result *r = make(&j, GATHERED);
    const char *words = hdst_explain(r, NULL);
    cr_assert(strstr(words, "part 1 of 2") && strstr(words, "part 2 of 2") && strstr(words, "2 interpreter (interp)"), "%s", words);
    cr_assert_null(strstr(words, "shares:"), "%s", words);
    cr_assert_null(strstr(words, "last run:"), "%s", words);
    RUN(r);
    words = hdst_explain(r, NULL);
    cr_assert(strstr(words, "shares: policy auto"), "%s", words);
    cr_assert(shares_in(words) >= 98 && shares_in(words) <= 102, "%s", words);
    hdst__engine_limits(j.context->engine)->policy = &random_split;
    RUN(r);
    words = hdst_explain(r, NULL);
    cr_assert(strstr(words, "shares: policy at random, 2.5 s expected\n  interpreter has had nothing: the test says so\n"), "%s", words);
    hdst__engine_limits(j.context->engine)->share_bytes = UINT64_MAX;
    RUN(r);
    words = hdst_explain(r, NULL);
    cr_assert(strstr(words, "other devices: not used: its input is too small") && !strstr(words, "shares:"), "%s", words);
    cr_assert_eq(hdst_result_stats(r).device_count, 1);
    RUN(r);
    words = hdst_explain(r, NULL);
    cr_assert_eq(shares_in(words), 100, "%s", words);
    cr_assert(strstr(strstr(words, "  last run: "), " s at work, "), "%s", words);
    cr_assert(strstr(strstr(words, "  last run: "), " s expected\n"), "what the run before measured is expected: %s", words);
    hdst_context_destroy(j.context);
}

Test(several_devices, a_device_named_twice_is_wrong_use)
{
    hdst_context *context = context_on("0,0");
    hdst_device_info info;
    hdst_error error;
    cr_assert_eq(hdst_device_chosen(context, &info, &error), HDST_E_USAGE);
    cr_assert(strstr(error.message, "twice"), "%s", error.message);
    hdst_context_destroy(context);
}

Test(several_devices, what_the_environment_says)
{
    setenv("HDST_DEVICES", "interp", 1);
    hdst_context *context = context_on(NULL);
    hdst_device_info info;
    cr_assert_eq(hdst_device_chosen(context, &info, NULL), HDST_OK);
    cr_assert_eq(info.device_class, HDST_DEVICE_INTERP);
    hdst_context_destroy(context);
    setenv("HDST_DEVICES", "interpreter", 1);
    context = context_on(NULL);
    cr_assert_eq(hdst_device_chosen(context, &info, NULL), HDST_E_USAGE);
    hdst_context_destroy(context);
}

static void note_pace(hdst_log_level level, const char *message, void *user)
{
    (void)level;
    *(bool *)user |= strstr(message, "HDST_PACE is") != NULL;
}

// For benchmarks of policies: a slice takes as long as its records should, at least.
Test(several_devices, a_device_keeps_the_pace_that_it_is_given)
{
    enum { FEW = 10000 };
    const char *const paces[] = {"0:2000,1:2000,2:2000,3:2000,4:2000,5:2000,6:2000,7:2000", "0:2000,1:fast", "8:1", "0:1,", ""};
    for (size_t i = 0; i < sizeof paces / sizeof *paces; i++) {
        bool said = false;
        setenv("HDST_PACE", paces[i], 1);
        hdst_context_options options = HDST_CONTEXT_OPTIONS_INIT;
        options.device = "interp";
        options.log = note_pace;
        options.log_user = &said;
        hdst_context *context = hdst_context_create(&options);
        hdst_module *m = module_of(context, "map count(int64_t i, accum int64_t n) { n += i; }\n");
        hdst_result *r = hdst_result_create(hdst_map_function(hdst_read(hdst_source_from_range(context, 0, FEW), m, "int64_t"), m, "count"));
        const double begin = hdst__now();
        RUN(r);
        if (i == 0) cr_assert_geq(hdst__now() - begin, FEW * 2e-6);
        cr_assert_eq(*(const int64_t *)hdst_result_rows(r, "n", NULL), (int64_t)FEW * (FEW - 1) / 2);
        cr_assert_eq(said, i > 0 && paces[i][0], "HDST_PACE=%s", paces[i]);
        hdst_context_destroy(context);
    }
}

static void note_message(hdst_log_level level, const char *message, void *user)
{
    (void)level;
    *(bool *)user |= strstr(message, "too few compute units for 16 parts: it stays whole") != NULL;
}

Test(several_devices, a_cpu_of_too_few_units_stays_whole_and_it_is_said)
{
    bool said = false;
    hdst_context_options options = HDST_CONTEXT_OPTIONS_INIT;
    options.device = "cpu";
    options.cpu_parts = 16;
    options.log = note_message;
    options.log_user = &said;
    hdst_context *context = hdst_context_create(&options);
    hdst_device_info info;
    const bool have = hdst_device_chosen(context, &info, NULL) == HDST_OK;
    if (have) cr_assert_eq(said, info.compute_units < 16 && !strstr(info.name, "(part "));
    hdst_context_destroy(context);
}
