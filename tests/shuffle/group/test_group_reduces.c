// SPDX-License-Identifier: Apache-2.0
// Reduces by key and dense ones, with functions of two records, against plain C: on the interpreter, the CPU form and the GPU form.
#include "tests/shuffle/group/group_rows.h"

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

static void expect_dense(job *j, const char *function, affine identity, affine (*f)(affine, affine),
                         affine (*over)(affine *, size_t, affine (*)(affine, affine)))
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

Test(group_reduces, dense_reduces_of_every_class)
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

Test(group_reduces, reduces_by_key_of_every_class)
{
    job j;
    ON_EACH_FORM(j) {
        expect_by_key(&j, "compose", compose, fold_in_order);
        expect_by_key(&j, "mix", mix, fold_tree);
        expect_by_key(&j, "bare", second, fold_in_order);
        hdst_context_destroy(j.context);
    }
}

Test(group_reduces, levels_are_counted)
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
Test(group_reduces, compound_keys)
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

Test(group_reduces, reduces_of_records_with_arrays)
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

Test(group_reduces, dense_reduces_in_parts)
{
    job j;
    cr_assert(job_with_memory(&j, "interp", 600000));
    expect_dense(&j, "mix", (affine){.p = 7}, mix, fold_tree);
    expect_dense(&j, "ordered", (affine){9, 1}, mix, fold_in_order);
    expect_error(hdst_reduce_dense(hdst_map_function(j.data, j.module, "keyed"), j.module, "ordered", 1), HDST_E_RECORD, NULL, NULL);
    hdst_context_destroy(j.context);
}

Test(group_reduces, keys_out_of_range_end_the_run)
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
