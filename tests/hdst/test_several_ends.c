// SPDX-License-Identifier: Apache-2.0
// Runs that end early, on several devices: the first records of an input that are wanted, whoever found them, and those that the order of the input puts
// behind them never. Against plain C.
#include "tests/hdst/random_split.h"
#include "tests/hdst/random_team.h"
#include "tests/hdst/support.h"
#include "tests/support/stillness.h"

#include <stdlib.h>

enum { RECORDS = 40000, SEEDS = 20 };

TestSuite(several_ends, .init = fail_when_all_wait);

typedef struct row { uint32_t k, n; } row;

static const char text[] =
    "struct row { uint32_t k, n; };\n"
    "filter odd(row r) { return (r.k & 1u) == 1u; }\n"
    "filter rare(row r) { return r.k % 97u == 0; }\n"
    "map twice(row r) -> row { return (row){ .k = r.k * 2u, .n = r.n }; }\n"
    "flat_map fan(row r) -> row { for (uint32_t i = 0; i < r.k % 4u; i++) emit(r.k + i, r.n); }\n"
    "map strict(row r) -> row { return (row){ .k = 1000u / r.k, .n = r.n }; }\n"
    "struct sum { uint64_t n; };\n"
    "map total(row r, accum sum s) { s.n += r.k; }\n";

static row rows[RECORDS], wanted[4 * RECORDS];

static void fill(void)
{
    uint64_t state = 88172645463325252;
    for (uint32_t i = 0; i < RECORDS; i++) {
        state ^= state << 13, state ^= state >> 7, state ^= state << 17;
        rows[i] = (row){(uint32_t)(state >> 20) | 2, i};
    }
}

// --- Jobs ---

typedef enum kind { TWICE, ODD, RARE, FAN, ODD_FAN, KINDS } kind;

static hdst_module *begin_job(hdst_context *context, hdst_dataset **data)
{
    cr_assert_eq(hdst_context_status(context, NULL), HDST_OK);
    hdst_module *module = module_of(context, text);
    *data = hdst_read(hdst_source_from_memory(context, rows, RECORDS, sizeof(row)), module, "row");
    return module;
}

static hdst_dataset *make(hdst_context *context, kind k)
{
    hdst_dataset *data;
    hdst_module *module = begin_job(context, &data);
    switch (k) {
    case TWICE: return hdst_map_function(data, module, "twice");
    case ODD: return hdst_filter_function(data, module, "odd");
    case RARE: return hdst_filter_function(data, module, "rare");
    case FAN: return hdst_flat_map_function(data, module, "fan");
    default: return hdst_flat_map_function(hdst_filter_function(data, module, "odd"), module, "fan");
    }
}

// All that the function gives, in plain C.
static uint64_t in_c(kind k)
{
    uint64_t count = 0;
    for (uint32_t i = 0; i < RECORDS; i++) {
        const row r = rows[i];
        const bool passes = k == ODD || k == ODD_FAN ? r.k & 1 : k == RARE ? r.k % 97 == 0 : true;
        const uint32_t times = !passes ? 0 : k == FAN || k == ODD_FAN ? r.k % 4 : 1;
        for (uint32_t t = 0; t < times; t++) wanted[count++] = (row){k == TWICE ? r.k * 2 : r.k + t, r.n};
    }
    return count;
}

static void expect_slice(hdst_result *r, uint64_t all, uint64_t first, uint64_t count, const char *what, kind k)
{
    uint64_t got_rows;
    const row *got = hdst_result_rows(r, NULL, &got_rows);
    const uint64_t left = first < all ? all - first : 0, n = count < left ? count : left;
    cr_assert_eq(got_rows, n, "%s, kind %d, %llu from %llu on: %llu rows", what, (int)k, (unsigned long long)count, (unsigned long long)first,
                 (unsigned long long)got_rows);
    cr_assert(!n || !memcmp(got, wanted + first, n * sizeof *got), "%s, kind %d, %llu from %llu on", what, (int)k, (unsigned long long)count,
              (unsigned long long)first);
}

static hdst_context *team(const char *device, hdst_on_error on_error)
{
    hdst_context_options options = HDST_CONTEXT_OPTIONS_INIT;
    options.device = device;
    options.cpu_parts = 2;
    options.on_error = on_error;
    options.replay_dir = "";
    hdst_context *context = hdst_context_create(&options);
    hdst__engine_limits(context->engine)->share_bytes = 0;
    return context;
}

static uint64_t looked_at(hdst_result *r)
{
    const hdst_run_stats stats = hdst_result_stats(r);
    uint64_t records = 0;
    for (uint32_t i = 0; i < stats.device_count; i++) records += stats.device[i].records;
    return records;
}

// --- Which records ---

static const uint64_t slices[][2] = {{0, 1}, {0, 64}, {0, 65}, {5, 300}, {0, 5000}, {12345, 777}, {0, RECORDS}, {RECORDS / 2, 4 * RECORDS}};

Test(several_ends, the_first_records_of_the_input_on_any_team)
{
    char words[100];
    fill();
    if (!random_team_have()) cr_skip("no halves\n");
    for (kind k = 0; k < KINDS; k++) {
        const uint64_t all = in_c(k);
        for (uint64_t seed = 0; seed < SEEDS; seed++) {
            const uint64_t first = slices[seed % 8][0], count = slices[seed % 8][1];
            hdst_context *context = random_team(seed * KINDS + k, (hdst_context_options)HDST_CONTEXT_OPTIONS_INIT, words);
            hdst_result *r = hdst_result_create(hdst_slice(make(context, k), first, count));
            for (int run = 0; run < 2; run++) {             // the second with what the first learnt
                RUN(r);
                expect_slice(r, all, first, count, words, k);
            }
            hdst_context_destroy(context);
        }
    }
}

// A function that gives one record for each runs behind the slice, over those alone.
Test(several_ends, every_device_has_a_part)
{
    fill();
    if (!random_team_have()) cr_skip("no halves\n");
    for (kind k = 0; k < KINDS; k++) {
        const uint64_t all = in_c(k), count = all / 2;
        uint64_t had[3] = {0};
        hdst_context *context = team("0,1,2", HDST_ON_ERROR_FAIL);
        hdst__engine_limits(context->engine)->policy = &random_split;
        hdst_result *r = hdst_result_create(hdst_slice(make(context, k), 0, count));
        for (random_split_seed = 0; random_split_seed < 10; random_split_seed++) {
            random_split_backwards = random_split_seed % 2;
            RUN(r);
            expect_slice(r, all, 0, count, "a random split", k);
            const uint64_t seen = looked_at(r);
            if (k == TWICE) cr_assert_eq(seen, count, "%llu records", (unsigned long long)seen);
            const hdst_run_stats stats = hdst_result_stats(r);
            for (uint32_t i = 0; i < stats.device_count; i++) had[i] += stats.device[i].records;
        }
        cr_assert(had[0] && had[1] && had[2], "kind %d", (int)k);
        cr_assert(strstr(hdst_explain(r, NULL), "shares: policy at random"), "%s", hdst_explain(r, NULL));
        hdst_context_destroy(context);
    }
}

// Shares are in the order of the input, so what is far behind the end is not looked at.
Test(several_ends, the_rest_of_the_input_is_left)
{
    fill();
    if (!random_team_have()) cr_skip("no halves\n");
    for (kind k = ODD; k < KINDS; k++) {
        const uint64_t all = in_c(k), count = all / 20;
        hdst_context *context = team("0,1,2", HDST_ON_ERROR_FAIL);
        hdst__engine_limits(context->engine)->policy = &random_split;
        random_split_backwards = false;
        random_split_seed = 7;
        hdst_result *r = hdst_result_create(hdst_slice(make(context, k), 0, count));
        uint64_t least = UINT64_MAX;        // where the machine lets one of the devices wait the others go ahead
        for (int run = 0; run < 5 && least >= RECORDS / 2; run++) {
            RUN(r);
            expect_slice(r, all, 0, count, "forwards", k);
            if (looked_at(r) < least) least = looked_at(r);
        }
        cr_assert_lt(least, RECORDS / 2, "kind %d: %llu records", (int)k, (unsigned long long)least);
        hdst_context_destroy(context);
    }
}

// Behind a slice other stages go on, and of what several find equal the first ones count.
Test(several_ends, what_comes_behind_reads_those)
{
    fill();
    if (!random_team_have()) cr_skip("no halves\n");
    in_c(ODD);
    uint64_t sum = 0, n;
    for (int i = 0; i < 3000; i++) sum += wanted[i].k;
    hdst_context *context = team("0,1", HDST_ON_ERROR_FAIL);
    hdst_dataset *odd = make(context, ODD), *some = hdst_slice(odd, 0, 3000);
    hdst_result *total = hdst_result_create(hdst_map_function(some, module_of(context, text), "total"));
    RUN(total);
    cr_assert_eq(hdst_view_int64(hdst_result_field(total, "s", "n"), 0, 0), (int64_t)sum);
    cr_assert_eq(hdst_count(some, &n, NULL), HDST_OK);
    cr_assert_eq(n, 3000);
    hdst_context_destroy(context);
}

// --- Which of them share ---

Test(several_ends, a_run_that_ends_soon_is_for_one)
{
    fill();
    if (!random_team_have()) cr_skip("no halves\n");
    const uint64_t all = in_c(ODD), counts[] = {100, all - 1000};
    for (int i = 0; i < 2; i++) {
        hdst_context *context = team("0,1", HDST_ON_ERROR_FAIL);
        hdst__engine_limits(context->engine)->share_bytes = RECORDS / 2 * sizeof(row);
        hdst_result *r = hdst_result_create(hdst_slice(make(context, ODD), 0, counts[i]));
        for (int run = 0; run < 2; run++) {
            RUN(r);
            expect_slice(r, all, 0, counts[i], "in halves", ODD);
            const char *explained = hdst_explain(r, NULL);
            cr_assert_eq(strstr(explained, "other devices: not used: it ends early, after about ") != NULL, i == 0, "%s", explained);
            cr_assert_eq(strstr(explained, "shares: policy dynamic") != NULL, i == 1, "%s", explained);
        }
        hdst_context_destroy(context);
    }
}

// Of a cached dataset each device has a part, and the second one's comes into question when the first one's is used up.
Test(several_ends, a_cached_input_is_for_one)
{
    fill();
    if (!random_team_have()) cr_skip("no halves\n");
    const uint64_t all = in_c(ODD);
    hdst_context *context = team("0,1", HDST_ON_ERROR_FAIL);
    hdst_dataset *data;
    hdst_module *module = begin_job(context, &data);
    hdst_dataset *odd = hdst_filter_function(hdst_cache(data), module, "odd");
    hdst_result *some = hdst_result_create(hdst_slice(odd, 0, all / 2)), *each = hdst_result_create(odd);
    RUN(each);
    cr_assert_eq(hdst_result_stats(each).device_count, 2);
    RUN(some);
    expect_slice(some, all, 0, all / 2, "cached", ODD);
    cr_assert(strstr(hdst_explain(some, NULL), "other devices: not used: it ends early, and of its cached input each"), "%s", hdst_explain(some, NULL));
    hdst_context_destroy(context);
}

// --- Records that fail ---

static hdst_result *strict(hdst_context *context, uint64_t count)
{
    hdst_dataset *data;
    hdst_module *module = begin_job(context, &data);
    return hdst_result_create(hdst_slice(hdst_filter_function(hdst_map_function(data, module, "strict"), module, "odd"), 0, count));
}

// One that fails behind the end is nobody's concern; the first of those before it is told.
Test(several_ends, records_behind_the_end_may_fail)
{
    enum { BAD = 20000, MORE = 30011 };
    uint64_t before = 0;
    fill();
    if (!random_team_have()) cr_skip("no halves\n");
    for (uint32_t i = 0; i < RECORDS; i++) rows[i].k = 1 + i % 1500;
    for (uint32_t i = 0; i < BAD; i++) before += 1000 / rows[i].k & 1;
    rows[BAD].k = rows[MORE].k = 0;
    hdst_context *context = team("0,1,2", HDST_ON_ERROR_FAIL);
    hdst__engine_limits(context->engine)->policy = &random_split;
    hdst_result *early = strict(context, before / 2), *late = strict(context, before + 1);
    for (random_split_seed = 0; random_split_seed < 20; random_split_seed++) {
        hdst_error error;
        uint64_t n, at = 0;
        random_split_backwards = random_split_seed % 2;
        RUN(early);
        const row *got = hdst_result_rows(early, NULL, &n);
        cr_assert_eq(n, before / 2);
        for (uint32_t i = 0; at < n; i++) {
            const uint32_t k = 1000 / rows[i].k;
            if (!(k & 1)) continue;
            cr_assert(got[at].k == k && got[at].n == i, "record %llu", (unsigned long long)at);
            at++;
        }
        cr_assert_eq(hdst_run(late, &error), HDST_E_RECORD);
        cr_assert(strstr(error.message, "in record 20,000"), "%s", error.message);
    }
    hdst_context_destroy(context);
}

// Records that fail are left out, and the limit counts those that are not.
Test(several_ends, records_that_fail_are_left_out)
{
    uint64_t n;
    fill();
    if (!random_team_have()) cr_skip("no halves\n");
    for (uint32_t i = 0; i < RECORDS; i++) rows[i].k = i % 10 == 3 ? 0 : 1000;
    hdst_context *context = team("0,1,2", HDST_ON_ERROR_SKIP);
    hdst_result *r = strict(context, 5000);
    RUN(r);
    const row *got = hdst_result_rows(r, NULL, &n);
    cr_assert_eq(n, 5000);
    for (uint32_t i = 0, at = 0; at < n; i++)
        if (rows[i].k) cr_assert_eq(got[at++].n, i);
    hdst_context_destroy(context);
}
