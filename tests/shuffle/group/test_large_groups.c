// SPDX-License-Identifier: Apache-2.0
// Groups and reduces by key whose keys have more records than the memory budget has room for: the results of a run without a budget, to the bit.
#include "tests/hdst/support.h"

#include "record/key_hash.h"

#include <stdlib.h>

enum { N = 150000, OTHERS = 100 };

typedef struct item { uint64_t key; uint32_t p, q; } item;
typedef struct span { uint64_t key, n; int32_t longest, first; double sum; } span;

static const char kernels[] =
    "struct item { uint64_t key; uint32_t p; uint32_t q; };\n"
    "struct affine { uint32_t p; uint32_t q; };\n"
    "struct span { uint64_t key; uint64_t n; int32_t longest; int32_t first; double sum; };\n"
    "group spans(key uint64_t key, stream item s) -> span\n"
    "{\n"
    "    span r; r.key = key;\n"
    "    uint32_t last = 0;\n"
    "    for (item i : s) {\n"
    "        if (r.n == 0) r.first = (int32_t)i.q;\n"
    "        else r.longest = max(r.longest, (int32_t)(i.q - last));\n"
    "        last = i.q;\n"
    "        r.n++;\n"
    "    }\n"
    "    for (item i : s) r.sum = r.sum / 2 + i.p;\n"        // once more, and in order
    "    return r;\n"
    "}\n"
    "group checked(key uint64_t key, stream item s) -> int32_t { int32_t z = 7; for (item i : s) z = z / (int32_t)(i.p - 4u); return z; }\n"
    // It is not associative: the tree shows.
    "associative reduce mix(affine a, affine b) identity { .p = 7 } { return (affine){ a.p * 3u + b.p, a.q * 5u + b.q * b.p }; }\n"
    "reduce ordered(affine a, affine b) identity { .p = 9, .q = 1 } { return (affine){ a.p * 3u + b.p, a.q * 5u + b.q * b.p }; }\n"
    "reduce checked_last(affine a, affine b) { return (affine){ b.p, 5 / (b.p - 4u) }; }\n";

static item items[N];
static const char *const forms[] = {"interp", "cpu", "gpu-form"};

static int compare(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

// Two keys whose hashes are equal: among 400000 there are some (Knuth, vol. 2, 3.5: birthday spacings).
static void equal_hashes(uint64_t key[2])
{
    enum { TRIED = 400000 };
    uint64_t *hashed = malloc(TRIED * sizeof *hashed);
    for (uint64_t k = 0; k < TRIED; k++) hashed[k] = (uint64_t)hdst__key_hash(&k, 8) << 32 | k;
    qsort(hashed, TRIED, sizeof *hashed, compare);
    key[0] = key[1] = 0;
    for (uint64_t k = 1; k < TRIED; k++)
        if (hashed[k] >> 32 == hashed[k - 1] >> 32) key[0] = (uint32_t)hashed[k - 1], key[1] = (uint32_t)hashed[k];
    free(hashed);
    cr_assert_neq(key[0], key[1]);
}

// Most records have one of two keys with one hash, or all of them one key.
static void fill_items(bool one)
{
    uint64_t large[2];
    equal_hashes(large);
    srand(5);
    for (int i = 0; i < N; i++) {
        const int r = rand() % 16;
        items[i] = (item){one || r < 9 ? large[1] : r < 14 ? large[0] : (uint64_t)(rand() % OTHERS) * 77777, (uint32_t)(rand() % 1000) + 5,
            (uint32_t)i * 3 + (uint32_t)(rand() % 50)};
    }
}

typedef struct job {
    hdst_context *context;
    hdst_module *module;
    hdst_dataset *data;
} job;

static bool open_job(job *j, const char *form, uint64_t budget, bool skip)
{
    hdst_context_options options = HDST_CONTEXT_OPTIONS_INIT;
    if (strcmp(form, "interp") && !have_cpu()) return false;
    options.device = strcmp(form, "gpu-form") ? form : "cpu";
    options.on_error = skip ? HDST_ON_ERROR_SKIP : HDST_ON_ERROR_FAIL;
    options.replay_dir = "";
    j->context = hdst_context_create(&options);
    j->context->engine->options.gpu_form_on_cpu = !strcmp(form, "gpu-form");
    if (budget) j->context->engine->runtime.memory.limit = budget;
    j->module = module_of(j->context, kernels);
    j->data = hdst_read(hdst_source_from_memory(j->context, items, N, sizeof(item)), j->module, "item");
    return true;
}

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

static span span_of(uint64_t key)
{
    span r = {.key = key};
    uint32_t last = 0;
    for (int i = 0; i < N; i++) {
        if (items[i].key != key) continue;
        const int32_t gap = (int32_t)(items[i].q - last);
        if (r.n == 0) r.first = (int32_t)items[i].q;
        else if (gap > r.longest) r.longest = gap;
        last = items[i].q;
        r.n++;
        r.sum = r.sum / 2 + items[i].p;
    }
    return r;
}

Test(large_groups, a_function_reads_them_from_a_file)
{
    job j;
    for (int one = 0; one < 2; one++) {
        fill_items(one);
        for (int f = 0; f < 3; f++) {
            if (!open_job(&j, forms[f], f ? 2200000 : 900000, false)) continue;
            uint64_t n, records = 0;
            hdst_result *result = hdst_result_create(hdst_group_function(j.data, "key", j.module, "spans"));
            RUN(result);
            const span *got = hdst_result_rows(result, NULL, &n);
            for (uint64_t i = 0; i < n; i++) {
                const span expected = span_of(got[i].key);
                cr_expect(got[i].n == expected.n && got[i].longest == expected.longest && got[i].first == expected.first &&
                          got[i].sum == expected.sum, "%s, key %llu",
                          forms[f], (unsigned long long)got[i].key);
                const uint32_t hash = hdst__key_hash(&got[i].key, 8), before = i ? hdst__key_hash(&got[i - 1].key, 8) : 0;
                cr_expect(i == 0 || before < hash || (before == hash && got[i - 1].key < got[i].key));
                records += got[i].n;
            }
            cr_expect_eq(records, N);
            cr_expect(strstr(hdst_explain(result, NULL), "in a temporary file that the function reads"), "%s", hdst_explain(result, NULL));
            cr_expect_leq(j.context->engine->runtime.memory.peak, j.context->engine->runtime.memory.limit);
            hdst_result_destroy(result);
            hdst_context_destroy(j.context);
        }
    }
}

static void expect_reduced(const char *form, const char *name, const char *how)
{
    job without, with;
    if (!open_job(&without, "interp", 0, false) || !open_job(&with, form, strcmp(form, "interp") ? 2200000 : 900000, false)) return;
    void *expected;
    uint64_t n, expected_n = collect(hdst_reduce_by_key(without.data, without.module, name), &expected);
    hdst_result *result = hdst_result_create(hdst_reduce_by_key(with.data, with.module, name));
    RUN(result);
    const void *got = hdst_result_rows(result, NULL, &n);
    cr_expect_eq(n, expected_n);
    cr_expect(n == expected_n && !memcmp(got, expected, n * sizeof(item)), "%s, %s", form, name);
    cr_expect(strstr(hdst_explain(result, NULL), how), "%s", hdst_explain(result, NULL));
    cr_expect_leq(with.context->engine->runtime.memory.peak, with.context->engine->runtime.memory.limit);
    hdst_rows_destroy(without.context, expected);
    hdst_result_destroy(result);
    hdst_context_destroy(with.context);
    hdst_context_destroy(without.context);
}

Test(large_groups, reduces_take_them_in_pieces)
{
    for (int one = 0; one < 2; one++) {
        fill_items(one);
        for (int f = 0; f < 3; f++) {
            expect_reduced(forms[f], "mix", "read in pieces, whose results go up the tree");
            expect_reduced(forms[f], "ordered", "read in pieces, what came of those so far before the next");
        }
    }
}

static uint64_t keys_present(void)
{
    bool seen[OTHERS] = {false};
    uint64_t keys = 2;                  // those of most records
    for (int k = 0; k < N; k++) {
        const bool other = items[k].key % 77777 == 0 && items[k].key / 77777 < OTHERS;
        keys += other && !seen[items[k].key / 77777];
        if (other) seen[items[k].key / 77777] = true;
    }
    return keys;
}

// The last record of the key of most: a division by zero, in the last piece.
Test(large_groups, failures_name_the_key_or_leave_it_out)
{
    const char *const names[] = {"checked", "checked_last"};
    for (int i = 0; i < 2; i++) {
        job j;
        hdst_error error = HDST_ERROR_INIT;
        void *out;
        uint64_t n, large[2];
        char expected[64];
        fill_items(false);
        equal_hashes(large);
        int last = N - 1;
        while (items[last].key != large[1]) last--;
        items[last].p = 4;
        for (int skip = 0; skip < 2; skip++) {
            cr_assert(open_job(&j, "interp", 900000, skip));
            hdst_dataset *reduced = i ? hdst_reduce_by_key(j.data, j.module, names[i]) : hdst_group_function(j.data, "key", j.module, names[i]);
            if (skip) {
                n = collect(reduced, &out);
                for (uint64_t r = 0; r < n && i; r++) cr_expect_neq(((item *)out)[r].key, large[1]);
                cr_expect_eq(n, keys_present() - 1);
                hdst_rows_destroy(j.context, out);
            } else {
                cr_expect_eq(hdst_collect(reduced, &out, &n, &error), HDST_E_RECORD);
                snprintf(expected, sizeof expected, "in the records with key = %llu", (unsigned long long)large[1]);
                cr_expect(strstr(error.message, expected), "%s", error.message);
            }
            hdst_context_destroy(j.context);
        }
    }
}

Test(large_groups, a_temporary_file_that_cannot_be_made_is_an_error)
{
    job j;
    hdst_error error = HDST_ERROR_INIT;
    void *out;
    uint64_t n;
    fill_items(true);
    cr_assert(open_job(&j, "interp", 900000, false));
    setenv("TMPDIR", "/nowhere", 1);
    cr_expect_eq(hdst_collect(hdst_group_function(j.data, "key", j.module, "spans"), &out, &n, &error), HDST_E_IO);
    cr_expect(strstr(error.message, "/nowhere"), "%s", error.message);
    hdst_context_destroy(j.context);
}
