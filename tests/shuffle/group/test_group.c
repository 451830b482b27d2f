// SPDX-License-Identifier: Apache-2.0
// Functions over the records of each key against plain C, on the interpreter, the CPU form and the GPU form.
#include "tests/shuffle/group/group_rows.h"

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
        hdst_dataset *twice = hdst_map_function(hdst_cache(hdst_group_function(hdst_with_layout(j.data, HDST_SOA), NULL, j.module, "pauses")),
                                                j.module, "doubled");
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

static void expect_pauses(hdst_dataset *grouped, const char *what)
{
    pause *got;
    const uint64_t n = collect(grouped, (void **)&got);
    cr_assert_eq(n, present_users(), "%s", what);
    for (uint64_t i = 0; i < n; i++) {
        const pause expected = pause_of(got[i].user);
        cr_expect(got[i].n == expected.n && got[i].sum == expected.sum && got[i].longest == expected.longest, "%s: user %u", what, got[i].user);
    }
    drop(grouped, got);
}

// Records are read where they lie.
Test(group, cached_records_of_all_layouts_and_those_of_other_groups)
{
    job j;
    const hdst_layout layouts[] = {HDST_AOS, HDST_SOA, HDST_AOSOA, HDST_AOP};
    ON_EACH_FORM(j) {
        struct { uint64_t n, users; } *got;
        for (int l = 0; l < 4; l++) {
            hdst_dataset *cached = hdst_cache(hdst_with_layout(j.data, layouts[l]));
            expect_pauses(hdst_group_function(cached, "user", j.module, "pauses"), forms[form_]);
        }
        hdst_dataset *twice = hdst_group_function(hdst_group_function(j.data, "user", j.module, "pauses"), "n", j.module, "by_n");
        const uint64_t n = collect(twice, (void **)&got);
        uint64_t users = 0;
        for (uint64_t i = 0; i < n; i++) {
            uint64_t same = 0;
            for (uint32_t user = 0; user < KEYS; user++) same += pause_of(user).n == got[i].n;
            cr_expect_eq(got[i].users, same, "%s: %d", forms[form_], (int)got[i].n);
            users += same;
        }
        cr_expect_eq(users, present_users());
        drop(twice, got);
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

// --- Larger than the memory budget ---

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

// --- Mistakes ---

Test(group, mistakes_say_what_is_right)
{
    job j;
    cr_assert(open_job(&j, "interp", HDST_ON_ERROR_FAIL));
    hdst_dataset *keyed = hdst_map_function(j.data, j.module, "keyed");
    expect_error(hdst_group_function(j.data, "usr", j.module, "pauses"), HDST_E_USAGE, "record 'row' has no field 'usr'", "did you mean 'user'?");
    expect_error(hdst_group_function(j.data, "at", j.module, "pauses"), HDST_E_USAGE,
                 "'at' is int32_t, which key 'user' of 'pauses' is not at this place", NULL);
    expect_error(hdst_group_function(j.data, "user, at", j.module, "pauses"), HDST_E_USAGE, "key 'user' of 'pauses' has 1 field, hdst_group was given 2", NULL);
    expect_error(hdst_group_function(j.data, "user,", j.module, "pauses"), HDST_E_USAGE, "a key of hdst_group has no name",
                 "name the fields with commas between: \"user, day\"");
    char path[400];
    memset(path, 'x', sizeof path);
    memcpy(path + sizeof path - 6, ", at", 5);
    expect_error(hdst_group_function(j.data, path, j.module, "pauses"), HDST_E_USAGE,
                 "'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx...' is no path to a field of 'row': it is too long", NULL);
    expect_error(hdst_group_function(j.data, "when.year", j.module, "by_day"), HDST_E_USAGE,
                 "key 'when' of 'by_day' has 2 fields, hdst_group was given 1", NULL);
    expect_error(hdst_group_function(j.data, NULL, j.module, "count"), HDST_E_USAGE, "records of 'row' have no field 'k' of the key's type",
                 "name the key: the second argument of hdst_group");
    expect_error(hdst_group_function(keyed, "k", j.module, "count"), HDST_E_USAGE, "'count' groups records of 'row', the dataset has 'keyed'", NULL);
    expect_error(hdst_group_function(j.data, "user", j.module, "ordered"), HDST_E_USAGE, "hdst_group was given 'ordered', which is no group",
                 "group ordered(key K k, stream V v) -> T { for (V e : v) ... }");
    expect_error(hdst_group_function(j.data, "user", j.module, "near"), HDST_E_USAGE, "parameter 'c' of 'near' is not bound", NULL);
    expect_error(hdst_map_function(j.data, j.module, "count"), HDST_E_USAGE, "hdst_map was given 'count', which is a group", NULL);
    expect_error(hdst_reduce_dense(keyed, j.module, "bare", ROWS), HDST_E_USAGE,
                 "hdst_reduce_dense with 'bare' needs its identity, for records whose key does not occur",
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
