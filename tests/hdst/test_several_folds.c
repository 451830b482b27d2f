// SPDX-License-Identifier: Apache-2.0
// Folds, the largest records and records for the next stage, of inputs that several devices share. The functions are not associative, whatever they
// are declared to be, so a record in another place of the tree shows.
#include "tests/hdst/random_split.h"
#include "tests/hdst/support.h"

#include <stdlib.h>

typedef struct row { uint32_t k, n; double w; } row;

static const char text[] =
    "struct row { uint32_t k, n; double w; };\n"
    "associative reduce chain(row a, row b) { return (row){ .k = a.k * 31u + b.k, .n = a.n + b.n, .w = a.w * 0.5 + b.w }; }\n"
    "associative reduce divided(row a, row b) { return (row){ .k = a.k + 1u / b.k, .n = a.n + b.n, .w = a.w }; }\n"
    "filter odd(row r) { return (r.k & 1u) == 1u; }\n"
    "map twice(row r) -> row { return (row){ .k = r.k * 2u + 1u, .n = r.n, .w = r.w + 1.0 }; }\n"
    "map inverse(row r) -> row { return (row){ .k = 1000u / r.k, .n = r.n, .w = r.w }; }\n"
    "struct sum { double w; uint64_t n; };\n"
    "map gather(row r, accum sum s) { s.w += r.w; s.n += r.n; }\n";

enum { MOST = 300000 };

static row rows[MOST];

static void fill(void)
{
    uint64_t state = 88172645463325252;
    for (uint32_t i = 0; i < MOST; i++) {
        state ^= state << 13, state ^= state >> 7, state ^= state << 17;
        rows[i] = (row){(uint32_t)(state >> 20), 1, (double)(int32_t)(state >> 31) * 0.125};
    }
}

static row chain(row a, row b) { return (row){a.k * 31 + b.k, a.n + b.n, a.w * 0.5 + b.w}; }

// The fixed tree in plain C: 64 to one, and so on.
static row by_tree(const row *from, uint64_t count)
{
    row *level = malloc(count * sizeof *level);
    memcpy(level, from, count * sizeof *level);
    while (count > 1) {
        const uint64_t runs = (count + 63) / 64;
        for (uint64_t r = 0; r < runs; r++) {
            row sum = level[64 * r];
            for (uint64_t i = 64 * r + 1; i < 64 * r + 64 && i < count; i++) sum = chain(sum, level[i]);
            level[r] = sum;
        }
        count = runs;
    }
    const row result = level[0];
    free(level);
    return result;
}

// --- Jobs ---

typedef struct job {
    hdst_context *context;
    hdst_module *module;
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
    return j;
}

static hdst_dataset *data_of(const job *j, uint64_t count)
{
    return hdst_read(hdst_source_from_memory(j->context, rows, count, sizeof(row)), j->module, "row");
}

static const char *const teams[] = {"0,1", "0,1,2", "1,2"};
#define ON_EACH_TEAM(team) for (size_t team = 0; team < sizeof teams / sizeof *teams; team++)

static void expect_row(hdst_result *r, const row *wanted, const char *what, uint64_t count)
{
    uint64_t got_rows;
    const row *got = hdst_result_rows(r, NULL, &got_rows);
    cr_assert_eq(got_rows, 1);
    cr_assert(!memcmp(got, wanted, sizeof *got), "%s, %llu records: %u %u %g, not %u %u %g", what, (unsigned long long)count, got->k, got->n, got->w,
              wanted->k, wanted->n, wanted->w);
}

static void expect_shared(hdst_result *r, uint64_t records, const char *what)
{
    const hdst_run_stats stats = hdst_result_stats(r);
    uint64_t sum = 0;
    for (uint32_t i = 0; i < stats.device_count; i++) sum += stats.device[i].records;
    cr_assert_geq(stats.device_count, 2, "%s: one device", what);
    cr_assert_eq(sum, records, "%s: %llu records, not %llu", what, (unsigned long long)sum, (unsigned long long)records);
}

// --- Folds ---

Test(several_folds, the_tree_is_the_same_on_any_team)
{
    static const uint64_t counts[] = {1, 64, 65, 4097, 20000, MOST};
    fill();
    if (!have_team()) cr_skip("no halves\n");
    ON_EACH_TEAM(t) {
        const job j = open_job(teams[t], HDST_ON_ERROR_FAIL);
        for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
            const row wanted = by_tree(rows, counts[i]);
            hdst_result *r = hdst_result_create(hdst_reduce(data_of(&j, counts[i]), j.module, "chain"));
            for (int run = 0; run < 2; run++) {             // the second with what the first learnt
                RUN(r);
                expect_row(r, &wanted, teams[t], counts[i]);
            }
            expect_shared(r, counts[i], teams[t]);
        }
        hdst_context_destroy(j.context);
    }
}

Test(several_folds, any_split_gives_the_same_tree)
{
    enum { RECORDS = 20001 };
    fill();
    if (!have_team()) cr_skip("no halves\n");
    const row wanted = by_tree(rows, RECORDS);
    const job j = open_job("0,1,2", HDST_ON_ERROR_FAIL);
    hdst__engine_limits(j.context->engine)->policy = &random_split;
    hdst_result *r = hdst_result_create(hdst_reduce(data_of(&j, RECORDS), j.module, "chain"));
    for (random_split_seed = 0; random_split_seed < 50; random_split_seed++) {
        random_split_backwards = random_split_seed % 2;
        RUN(r);
        expect_row(r, &wanted, "a random split", RECORDS);
        expect_shared(r, RECORDS, "a random split");
    }
    cr_assert(strstr(hdst_explain(r, NULL), "shares: policy at random"));
    hdst_context_destroy(j.context);
}

// The workers would ask each other's devices for records while these are at work.
Test(several_folds, a_slice_of_a_cache_has_one_device)
{
    fill();
    if (!have_team()) cr_skip("no halves\n");
    ON_EACH_TEAM(t) {
        const job j = open_job(teams[t], HDST_ON_ERROR_FAIL);
        const row wanted = by_tree(rows + 13, 20000);
        for (int n = 0; n < 10; n++) {
            hdst_dataset *last = hdst_slice(hdst_cache(data_of(&j, 30000)), 10000, 20000);
            hdst_result *sliced = hdst_result_create(hdst_reduce(hdst_slice(hdst_cache(data_of(&j, 30000 + 97 * (uint64_t)n)), 13, 20000), j.module, "chain"));
            hdst_result *joined = hdst_result_create(hdst_reduce(hdst_slice(hdst_union(hdst_cache(data_of(&j, 10000)), last), 13, 20000), j.module, "chain"));
            RUN(sliced);
            expect_row(sliced, &wanted, teams[t], 20000);
            cr_assert(strstr(hdst_explain(sliced, NULL), "its input is copied from a device"), "%s", hdst_explain(sliced, NULL));
            RUN(joined);
            expect_row(joined, &wanted, teams[t], 20000);
        }
        hdst_context_destroy(j.context);
    }
}

// Parts change hands while one device or another is slow; they begin at multiples of 64, or the tree would be another one.
Test(several_folds, a_cached_input_is_folded_where_it_lies)
{
    static const uint64_t counts[] = {100, 5000, 50001};
    fill();
    if (!have_team()) cr_skip("no halves\n");
    for (uint32_t slow = 0; slow < 9; slow++) {
        const uint64_t count = counts[slow / 3];
        const row wanted = by_tree(rows, count);
        const job j = open_job("0,1,2", HDST_ON_ERROR_FAIL);
        hdst_result *r = hdst_result_create(hdst_reduce(hdst_cache(data_of(&j, count)), j.module, "chain"));
        for (uint32_t turn = 0; turn < 4; turn++) {
            hdst__engine_limits(j.context->engine)->slow_device = (slow + turn) % 3;
            hdst__engine_limits(j.context->engine)->slow_times = 20;
            RUN(r);
            expect_row(r, &wanted, "a cached input", count);
        }
        cr_assert(strstr(hdst_explain(r, NULL), "resident on 3 devices, a part with each"));
        if (count > 64 * 3) expect_shared(r, count, "a cached input");
        hdst_context_destroy(j.context);
    }
}

// In the first part, in the middle of all, in what the last device has.
Test(several_folds, the_first_record_that_fails_is_told)
{
    enum { RECORDS = 20000 };
    static const uint64_t first[] = {7, 9999, 19990};
    if (!have_team()) cr_skip("no halves\n");
    for (int cached = 0; cached < 2; cached++)
        for (size_t i = 0; i < sizeof first / sizeof *first; i++) {
            for (uint32_t k = 0; k < RECORDS; k++) rows[k] = (row){.k = k < first[i] || k % 3 ? 2 : 0, .n = 1};
            rows[first[i]].k = 0;
            const job j = open_job("0,1,2", HDST_ON_ERROR_FAIL);
            if (!cached) hdst__engine_limits(j.context->engine)->policy = &random_split;
            hdst_dataset *data = data_of(&j, RECORDS);
            hdst_result *r = hdst_result_create(hdst_reduce(cached ? hdst_cache(data) : data, j.module, "divided"));
            random_split_backwards = true;
            for (random_split_seed = 0; random_split_seed < 5; random_split_seed++) {
                hdst_error error;
                cr_assert_eq(hdst_run(r, &error), HDST_E_RECORD);
                cr_assert_eq(error.record, first[i], "%s", error.message);
            }
            hdst_context_destroy(j.context);
        }
}

// The second device has no memory for its plan; one does it all, and explain says so.
Test(several_folds, one_does_it_where_there_is_no_memory_for_two)
{
    enum { RECORDS = 20000 };
    fill();
    if (!have_team()) cr_skip("no halves\n");
    const row wanted = by_tree(rows, RECORDS);
    const job j = open_job("0,1", HDST_ON_ERROR_FAIL);
    RUN(hdst_result_create(hdst_map_function(data_of(&j, RECORDS), j.module, "twice")));         // opens both
    hdst__budget *second = &j.context->engine->worker[1].device->budget;
    second->limit = atomic_load(&second->used);
    hdst_result *r = hdst_result_create(hdst_reduce(data_of(&j, RECORDS), j.module, "chain"));
    RUN(r);
    expect_row(r, &wanted, "without memory for two", RECORDS);
    cr_assert_eq(hdst_result_stats(r).device_count, 1);
    const char *words = hdst_explain(r, NULL);
    cr_assert(strstr(words, "other devices: not used: ") && strstr(words, "device memory"), "%s", words);
    hdst_context_destroy(j.context);
}

// --- The largest ---

static int by_w_then_place(const void *a, const void *b)
{
    const row *x = *(const row *const *)a, *y = *(const row *const *)b;
    return x->w < y->w ? 1 : x->w > y->w ? -1 : x < y ? -1 : x > y;
}

// Of many values, and of so few that a second run, which ends early, asks for the first of those that are equal.
static void find_largest(const char *team, uint32_t values)
{
    enum { WANTED = 40 };
    static const row *order[MOST];
    for (uint32_t i = 0; i < MOST; i++) rows[i].w = (double)(rows[i].k % values), rows[i].n = i, order[i] = &rows[i];
    qsort(order, MOST, sizeof *order, by_w_then_place);
    const job j = open_job(team, HDST_ON_ERROR_FAIL);
    hdst__engine_limits(j.context->engine)->pick_least = 1000;
    hdst__engine_limits(j.context->engine)->share_bytes = 1 << 20;          // more than the sample has
    hdst__engine_limits(j.context->engine)->policy = &random_split;         // so many shares that nobody goes with nothing
    hdst_result *r = hdst_result_create(hdst_top(data_of(&j, MOST), WANTED, "w"));
    for (int run = 0; run < 3; run++) {
        uint64_t count;
        RUN(r);
        const row *got = hdst_result_rows(r, NULL, &count);
        cr_assert_eq(count, WANTED);
        for (int i = 0; i < WANTED; i++) cr_assert(!memcmp(&got[i], order[i], sizeof *got), "%s, %u values: number %d", team, values, i);
        const hdst_run_stats stats = hdst_result_stats(r);
        uint32_t busy = 0;
        for (uint32_t i = 0; i < stats.device_count; i++) busy += stats.device[i].records > 0;
        cr_assert_geq(busy, 2);
        cr_assert(strstr(hdst_explain(r, NULL), "shares: policy"));
    }
    cr_assert(strstr(hdst_explain(r, NULL), "a sample of 4608 records told the limit"));
    hdst_context_destroy(j.context);
}

Test(several_folds, devices_share_the_search_for_the_largest)
{
    fill();
    if (!have_team()) cr_skip("no halves\n");
    ON_EACH_TEAM(t) {
        find_largest(teams[t], 20011);
        find_largest(teams[t], 97);
    }
}

// --- Records that stay on the devices for the next stage ---

static row kept[MOST];

static uint64_t odd_rows(uint64_t count)
{
    uint64_t found = 0;
    for (uint64_t i = 0; i < count; i++)
        if (rows[i].k & 1) kept[found++] = rows[i];
    return found;
}

static void twice_rows(uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) kept[i] = (row){rows[i].k * 2 + 1, rows[i].n, rows[i].w + 1};
}

static void expect_words(hdst_result *r, const char *words)
{
    const char *text_of = hdst_explain(r, NULL);
    cr_assert(strstr(text_of, words), "no '%s' in %s", words, text_of);
}

// Runs of the input move between the devices, as they are slow in turns.
Test(several_folds, a_map_in_front_leaves_its_records_where_they_are_folded)
{
    static const uint64_t counts[] = {100, 5000, 70001};
    fill();
    if (!have_team()) cr_skip("no halves\n");
    for (uint32_t slow = 0; slow < 9; slow++) {
        const uint64_t count = counts[slow / 3];
        twice_rows(count);
        const row wanted = by_tree(kept, count);
        const job j = open_job("0,1,2", HDST_ON_ERROR_FAIL);
        hdst_result *r = hdst_result_create(hdst_reduce(hdst_map_function(data_of(&j, count), j.module, "twice"), j.module, "chain"));
        for (uint32_t turn = 0; turn < 4; turn++) {
            hdst__engine_limits(j.context->engine)->slow_device = (slow + turn) % 3;
            hdst__engine_limits(j.context->engine)->slow_times = 20;
            RUN(r);
            expect_row(r, &wanted, "a map in front", count);
            if (count > 64 * 3) expect_shared(r, 2 * count, "a map in front");
        }
        expect_words(r, "output: stays on the devices for the next stage, a part with each");
        expect_words(r, "resident on 3 devices, a part with each");
        hdst_context_destroy(j.context);
    }
}

// Parts of a filter's output begin anywhere, so one device folds them all. Here all but an early record are kept: wherever the input is cut, the second
// part begins one in front of a run of 64.
Test(several_folds, parts_that_a_filter_leaves_are_folded_by_one)
{
    enum { RECORDS = 70001 };
    fill();
    for (uint32_t i = 0; i < RECORDS; i++) rows[i].k |= 1;
    rows[5].k = 2;
    if (!have_team()) cr_skip("no halves\n");
    const row wanted = by_tree(kept, odd_rows(RECORDS));
    ON_EACH_TEAM(t) {
        const job j = open_job(teams[t], HDST_ON_ERROR_FAIL);
        hdst_dataset *odd = hdst_filter_function(data_of(&j, RECORDS), j.module, "odd");
        hdst_result *alone = hdst_result_create(hdst_reduce(odd, j.module, "chain")), *r = hdst_result_create(hdst_reduce(hdst_cache(odd), j.module, "chain"));
        for (int run = 0; run < 3; run++) {
            RUN(r);
            expect_row(r, &wanted, teams[t], RECORDS);
            RUN(alone);
            expect_row(alone, &wanted, teams[t], RECORDS);
        }
        expect_words(alone, "other devices: not used: its records stay on the device for the next stage");
        expect_words(r, "other devices: not used: its input lies in parts that are no whole runs of 64");
        hdst_context_destroy(j.context);
    }
}

static void expect_rows(hdst_result *r, uint64_t count, const char *what)
{
    uint64_t got_rows;
    const row *got = hdst_result_rows(r, NULL, &got_rows);
    cr_assert_eq(got_rows, count, "%s: %llu rows, not %llu", what, (unsigned long long)got_rows, (unsigned long long)count);
    for (uint64_t i = 0; i < count; i++) cr_assert(!memcmp(&got[i], &kept[i], sizeof *got), "%s: record %llu", what, (unsigned long long)i);
}

// What a filter gives is cached where it was made; all that reads it finds it there, or through the host.
Test(several_folds, what_a_stage_leaves_on_the_devices_is_cached_there)
{
    enum { RECORDS = 70001 };
    fill();
    if (!have_team()) cr_skip("no halves\n");
    ON_EACH_TEAM(t) {
        const job j = open_job(teams[t], HDST_ON_ERROR_FAIL);
        hdst_dataset *cached = hdst_cache(hdst_filter_function(data_of(&j, RECORDS), j.module, "odd"));
        hdst_result *mapped = hdst_result_create(hdst_map_function(cached, j.module, "twice")),
                    *gathered = hdst_result_create(hdst_map_function(cached, j.module, "gather")),
                    *again = hdst_result_create(hdst_filter_function(hdst_cache(hdst_map_function(cached, j.module, "twice")), j.module, "odd")),
                    *itself = hdst_result_create(cached), *sorted = hdst_result_create(hdst_sort(cached, "w"));
        for (int run = 0; run < 3; run++) {
            const uint64_t count = odd_rows(RECORDS);
            double sum = 0;
            for (uint64_t i = 0; i < count; i++) sum += kept[i].w;          // multiples of an eighth, far below 2^50
            RUN(itself);
            expect_rows(itself, count, "the cache itself");
            RUN(gathered);
            cr_assert_eq(hdst_view_double(hdst_result_field(gathered, "s", "w"), 0, 0), sum);
            cr_assert_eq(hdst_view_int64(hdst_result_field(gathered, "s", "n"), 0, 0), (int64_t)count);
            if (run == 2) expect_shared(gathered, count, "a cached filter");
            RUN(sorted);
            uint64_t sorted_rows;
            const row *in_order = hdst_result_rows(sorted, NULL, &sorted_rows);
            cr_assert_eq(sorted_rows, count);
            for (uint64_t i = 1; i < count; i++) cr_assert_leq(in_order[i - 1].w, in_order[i].w);
            for (uint64_t i = 0; i < count; i++) kept[i] = (row){kept[i].k * 2 + 1, kept[i].n, kept[i].w + 1};
            RUN(mapped);
            expect_rows(mapped, count, "a map of them");
            RUN(again);
            expect_rows(again, count, "a cache of a map of them");
        }
        expect_words(gathered, "devices, a part with each");
        hdst_context_destroy(j.context);
    }
}

// The second device has memory for its plans and none for what it makes.
Test(several_folds, without_room_on_a_device_records_go_through_the_host)
{
    enum { RECORDS = MOST };
    fill();
    if (!have_team()) cr_skip("no halves\n");
    twice_rows(RECORDS);
    const row wanted = by_tree(kept, RECORDS);
    const job j = open_job("0,1", HDST_ON_ERROR_FAIL);
    RUN(hdst_result_create(hdst_map_function(data_of(&j, RECORDS), j.module, "twice")));         // opens both
    hdst_result *r = hdst_result_create(hdst_reduce(hdst_map_function(data_of(&j, RECORDS), j.module, "twice"), j.module, "chain"));
    hdst__budget *second = &j.context->engine->worker[1].device->budget;
    hdst_explain(r, NULL);                                                                       // makes the first plans
    second->limit = atomic_load(&second->used) + (1 << 20);
    RUN(r);
    expect_row(r, &wanted, "without room", RECORDS);
    second->limit = UINT64_MAX;
    expect_words(r, "output: through the host");
    RUN(r);
    expect_row(r, &wanted, "with room again", RECORDS);
    hdst_context_destroy(j.context);
}

Test(several_folds, a_record_that_fails_on_its_way_has_its_place_in_the_whole_input)
{
    enum { RECORDS = 20000 };
    static const uint64_t first[] = {0, 9999, 19990};
    if (!have_team()) cr_skip("no halves\n");
    for (size_t i = 0; i < sizeof first / sizeof *first; i++) {
        uint64_t count = 0;
        for (uint32_t k = 0; k < RECORDS; k++) {
            rows[k] = (row){.k = k == first[i] || (k > first[i] && k % 3 == 0) ? 0 : k + 1, .n = 1};
            if (rows[k].k) kept[count++] = (row){.k = 1000u / rows[k].k, .n = 1};
        }
        for (int skips = 0; skips < 2; skips++) {
            hdst_error error;
            const job j = open_job("0,1,2", skips ? HDST_ON_ERROR_SKIP : HDST_ON_ERROR_FAIL);
            hdst_result *r = hdst_result_create(hdst_reduce(hdst_map_function(data_of(&j, RECORDS), j.module, "inverse"), j.module, "chain"));
            for (int run = 0; run < 2; run++)
                if (!skips) {
                    cr_assert_eq(hdst_run(r, &error), HDST_E_RECORD);
                    cr_assert_eq(error.record, first[i], "%s", error.message);
                } else {
                    const row wanted = by_tree(kept, count);
                    RUN(r);
                    expect_row(r, &wanted, "without those that fail", count);
                    cr_assert_eq(hdst_result_stats(r).records_skipped, RECORDS - count);
                }
            hdst_context_destroy(j.context);
        }
    }
}
