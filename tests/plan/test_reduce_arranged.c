// SPDX-License-Identifier: Apache-2.0
// Reduces, counts and distinct values of the very key that records are arranged by: the rows, in the order of the keys' hashes, that plain C has, which adds
// up in integers of 128 bits, and that records in any order have; on every device, with keys that functions change, records that are left out, and in little
// memory.
#include "record/key_hash.h"
#include "tests/hdst/support.h"
#include "tests/support/key_unmix.h"

#include <math.h>
#include <stdlib.h>

typedef struct item { uint32_t at; int32_t key; float x; double y; } item;
typedef struct sums { double y; float x, least; uint64_t n; } sums;
typedef struct wide { int64_t key; uint32_t n; } wide;

static const char kernels[] =
    "struct item { uint32_t at; int32_t key; float x; double y; };\n"
    "struct sums { double y; float x; float least; uint64_t n; };\n"
    "struct wide { int64_t key; uint32_t n; };\n"
    "struct counted { int32_t key; uint64_t n; };\n"
    "map send(item i, lookup double factor[]) -> (key int32_t k, sums s)\n"
    "{\n"
    "    return (i.key, (sums){ .y = i.y * factor[i.at % 4u], .x = i.x, .least = i.x, .n = 1u });\n"
    "}\n"
    "reduce add(sums a, sums b) { return (sums){ .y = a.y + b.y, .x = a.x + b.x, .least = min(a.least, b.least), .n = a.n + b.n }; }\n"
    "map tell(item i) -> (key int32_t k, uint64_t n) { return (i.key, (uint64_t)i.at + 1u); }\n"
    "map narrow(item i) -> (key int8_t k, uint64_t n) { return ((int8_t)i.key, (uint64_t)i.at + 1u); }\n"
    "map widen(item i) -> (key int64_t k, uint64_t n) { return ((int64_t)i.key, (uint64_t)i.at + 1u); }\n"
    "map choose(item i) -> (key int32_t k, uint64_t n) { return (i.x > 0.0f ? i.key : 0, (uint64_t)i.at + 1u); }\n"
    "map index(item i) -> (key int32_t k, uint64_t n) { uint32_t a[4] = {1, 2, 3, 4}; return (i.key, (uint64_t)a[i.at % 5u]); }\n"
    "map key_of(item i) -> int32_t { return i.key; }\n"
    "filter positive(item i) { return i.x > 0.0f; }\n"
    "reduce add_counts(uint64_t a, uint64_t b) { return a + b; }\n"
    "reduce add_numbers(uint32_t a, uint32_t b) { return a + b; }\n";

enum { ITEMS = 30011, KEYS = 5000, MANY = 17 };
static item items[ITEMS];
static const double unit = 0x1p-30, factor[4] = {0.5, 1, 2, -4};
static const char stretches[] = "each a stretch of the arranged records";

static uint64_t state;
static uint64_t next_random(void) { return state = state * UINT64_C(6364136223846793005) + 1442695040888963407; }

// Half of the records have one key, many keys have one record, half of all are negative. Addends have many sizes.
static void make_items(void)
{
    state = 7;
    for (uint32_t i = 0; i < ITEMS; i++) {
        const int32_t other = (int32_t)(next_random() >> 33) % (2 * KEYS) - KEYS, key = i % 2 ? MANY : other;
        const int64_t x = (int64_t)(next_random() >> 40) >> next_random() % 24, y = (int64_t)(next_random() >> 12) >> next_random() % 50;
        items[i] = (item){i, key, (float)(x * (next_random() >> 63 ? 1 : -1)) * (float)unit, (double)(y * (next_random() >> 63 ? 1 : -1)) * unit};
    }
}

static hdst_dataset *read_items(hdst_context *context, hdst_module *module, uint64_t count)
{
    return hdst_read(hdst_source_from_memory(context, items, count, sizeof *items), module, "item");
}

static hdst_dataset *sent(hdst_dataset *from, hdst_module *module)
{
    hdst_value *factors = hdst_value_create(module, "double", 4);
    hdst_value_set(factors, factor, 4);
    hdst_map_spec *spec = hdst_map_spec_create(module, "send");
    hdst_bind_value(spec, "factor", factors);
    hdst_dataset *reduced = hdst_reduce_by_key(hdst_map(from, spec), module, "add");
    hdst_map_spec_destroy(spec);
    hdst_value_destroy(factors);
    return reduced;
}

// --- In plain C ---

typedef struct want { int32_t key; __int128 x, y; float least; uint64_t n; } want;
static want wanted[2 * KEYS];

static int by_hash(const void *a, const void *b)
{
    const uint32_t left = hdst__key_mix32((uint32_t)((const want *)a)->key), right = hdst__key_mix32((uint32_t)((const want *)b)->key);
    return (left > right) - (left < right);
}

static uint64_t want_rows(void)
{
    uint64_t count = 0;
    memset(wanted, 0, sizeof wanted);
    for (int i = 0; i < ITEMS; i++) {
        want *w = &wanted[items[i].key + KEYS];
        if (w->n++ == 0 || items[i].x < w->least) w->least = items[i].x;
        w->key = items[i].key;
        w->x += (int64_t)(items[i].x / unit);
        w->y += (int64_t)(items[i].y / unit) * (__int128)(2 * factor[items[i].at % 4]);
    }
    for (int k = 0; k < 2 * KEYS; k++)
        if (wanted[k].n) wanted[count++] = wanted[k];
    qsort(wanted, count, sizeof *wanted, by_hash);
    return count;
}

typedef struct sent_row { int32_t k; sums s; } sent_row;

static void expect_rows(hdst_result *r, const char *form)
{
    uint64_t count, rows = want_rows();
    RUN(r);
    const sent_row *got = hdst_result_rows(r, NULL, &count);
    cr_assert_eq(count, rows, "%s: %d rows in place of %d", form, (int)count, (int)rows);
    for (uint64_t i = 0; i < rows; i++) {
        const want *w = &wanted[i];
        cr_assert_eq(got[i].k, w->key, "%s: row %d has key %d, not %d", form, (int)i, (int)got[i].k, (int)w->key);
        cr_assert_eq(got[i].s.y, (double)w->y * (unit / 2), "%s: y of key %d", form, (int)w->key);
        cr_assert_eq(got[i].s.x, (float)w->x * (float)unit, "%s: x of key %d", form, (int)w->key);
        cr_assert_eq(got[i].s.least, w->least, "%s: least of key %d", form, (int)w->key);
        cr_assert_eq(got[i].s.n, w->n, "%s: n of key %d", form, (int)w->key);
    }
}

static bool by_stretches(hdst_result *r) { return strstr(hdst_explain(r, NULL), stretches); }

Test(reduce_arranged, rows_in_their_order)
{
    static const char *const forms[] = {"interp", "cpu", "gpu-form", "team", "pair"};
    make_items();
    for (size_t form = 0; form < 5; form++) {
        if (form && !(form > 2 ? have_team() : have_cpu())) continue;
        hdst_context *context = form == 4 ? pair_of_gpus(64 << 10, 0) : context_in_form(forms[form]);
        hdst_module *module = module_of(context, kernels);
        hdst_result *r = hdst_result_create(sent(hdst_arrange(read_items(context, module, ITEMS), "key"), module));
        expect_rows(r, forms[form]);
        expect_rows(r, forms[form]);        // from what was kept
        cr_expect_eq(by_stretches(r), form != 0, "%s: %s", forms[form], hdst_explain(r, NULL));
        hdst_context_destroy(context);
    }
}

// --- Counts, distinct keys ---

typedef struct counted { int32_t key; uint64_t n; } counted;

static void expect_counts(hdst_result *r, uint64_t rows, const char *form)
{
    uint64_t count;
    RUN(r);
    const counted *got = hdst_result_rows(r, NULL, &count);
    cr_assert_eq(count, rows, "%s: %d counts in place of %d", form, (int)count, (int)rows);
    for (uint64_t i = 0; i < rows; i++) {
        cr_assert_eq(got[i].key, wanted[i].key, "%s: count %d is of key %d, not %d", form, (int)i, (int)got[i].key, (int)wanted[i].key);
        cr_assert_eq(got[i].n, wanted[i].n, "%s: %d of key %d, not %d", form, (int)got[i].n, (int)wanted[i].key, (int)wanted[i].n);
    }
}

static void expect_keys(hdst_result *r, uint64_t rows, const char *form)
{
    uint64_t count;
    RUN(r);
    const int32_t *got = hdst_result_rows(r, NULL, &count);
    cr_assert_eq(count, rows, "%s: %d keys in place of %d", form, (int)count, (int)rows);
    for (uint64_t i = 0; i < rows; i++) cr_assert_eq(got[i], wanted[i].key, "%s: key %d is %d, not %d", form, (int)i, (int)got[i], (int)wanted[i].key);
}

Test(reduce_arranged, counts_and_distinct_keys)
{
    static const char *const forms[] = {"interp", "cpu", "gpu-form"};
    make_items();
    const uint64_t rows = want_rows();
    for (size_t form = 0; form < 3; form++) {
        if (form && !have_cpu()) continue;
        hdst_context *context = context_in_form(forms[form]);
        hdst_module *module = module_of(context, kernels);
        hdst_dataset *arranged = hdst_arrange(read_items(context, module, ITEMS), "key");
        hdst_result *counts = hdst_result_create(hdst_count_by_key(arranged, module, "counted"));
        hdst_result *keys = hdst_result_create(hdst_distinct(hdst_map_function(arranged, module, "key_of")));
        expect_counts(counts, rows, forms[form]);
        expect_keys(keys, rows, forms[form]);
        cr_expect_eq(by_stretches(counts), form != 0, "%s: %s", forms[form], hdst_explain(counts, NULL));
        cr_expect_eq(by_stretches(keys), form != 0, "%s: %s", forms[form], hdst_explain(keys, NULL));
        hdst_context_destroy(context);
    }
}

// Functions in front run, though nobody reads what they make beside the key; records that a filter leaves out are not counted.
Test(reduce_arranged, counts_behind_functions)
{
    if (!have_cpu()) return;
    make_items();
    hdst_context *context = context_in_form("cpu");
    hdst_module *module = module_of(context, kernels);
    hdst_dataset *arranged = hdst_arrange(read_items(context, module, ITEMS), "key");
    hdst_result *r = hdst_result_create(hdst_count_by_key(hdst_map_function(arranged, module, "index"), module, "counted"));
    hdst_error error = HDST_ERROR_INIT;
    cr_expect_eq(hdst_run(r, &error), HDST_E_RECORD, "%s", error.message);
    r = hdst_result_create(hdst_count_by_key(hdst_filter_function(arranged, module, "positive"), module, "counted"));
    uint64_t rows, left[2 * KEYS] = {0}, keys = 0;
    for (int i = 0; i < ITEMS; i++)
        if (items[i].x > 0) keys += left[items[i].key + KEYS]++ == 0;
    RUN(r);
    const counted *got = hdst_result_rows(r, NULL, &rows);
    cr_assert_eq(rows, keys);
    for (uint64_t i = 0; i < rows; i++) cr_assert_eq(got[i].n, left[got[i].key + KEYS], "%d of key %d", (int)got[i].n, (int)got[i].key);
    hdst_context_destroy(context);
}

// --- Where keys begin is found once, for dense reduces and for others ---

static void expect_dense(hdst_result *r)
{
    uint64_t count, sum[KEYS] = {0};
    for (int i = 0; i < ITEMS; i++) sum[items[i].key] += (uint64_t)items[i].at + 1;
    RUN(r);
    const uint64_t *got = hdst_result_rows(r, NULL, &count);
    cr_assert_eq(count, KEYS);
    for (int k = 0; k < KEYS; k++) cr_assert_eq(got[k], sum[k], "row %d", k);
}

static void expect_both(hdst_context *context, bool dense_first)
{
    hdst_module *module = module_of(context, kernels);
    hdst_dataset *arranged = hdst_arrange(read_items(context, module, ITEMS), "key");
    hdst_result *dense = hdst_result_create(hdst_reduce_dense(hdst_map_function(arranged, module, "tell"), module, "add_counts", KEYS));
    hdst_result *counts = hdst_result_create(hdst_count_by_key(arranged, module, "counted"));
    if (dense_first) expect_dense(dense);
    expect_counts(counts, want_rows(), dense_first ? "behind a dense reduce" : "ahead of one");
    cr_expect(by_stretches(counts));
    expect_dense(dense);
}

// Some keys have no records, and so do the last ones.
static void make_dense_items(void)
{
    make_items();
    for (int i = 0; i < ITEMS; i++) items[i].key = abs(items[i].key) % (KEYS - 10) / 3 * 3;
}

Test(reduce_arranged, keys_known_from_rows)
{
    if (!have_cpu()) return;
    hdst_context *context = context_in_form("cpu");
    make_dense_items();
    expect_both(context, true);
    hdst_context_destroy(context);
}

Test(reduce_arranged, rows_known_from_keys)
{
    if (!have_cpu()) return;
    hdst_context *context = context_in_form("cpu");
    make_dense_items();
    expect_both(context, false);
    items[7].key = -3;              // which no row has
    hdst_module *module = module_of(context, kernels);
    hdst_dataset *arranged = hdst_arrange(read_items(context, module, ITEMS), "key");
    hdst_result *counts = hdst_result_create(hdst_count_by_key(arranged, module, "counted"));
    expect_counts(counts, want_rows(), "with a negative key");
    hdst_result *dense = hdst_result_create(hdst_reduce_dense(hdst_map_function(arranged, module, "tell"), module, "add_counts", KEYS));
    cr_expect_eq(hdst_run(dense, NULL), HDST_E_RECORD);
    hdst_context_destroy(context);
}

// --- Keys of 8 bytes, without functions in front ---

static hdst_result *sums_of_arranged(hdst_context *context, const wide *records, uint64_t count)
{
    hdst_module *module = module_of(context, kernels);
    hdst_dataset *from = hdst_read(hdst_source_from_memory(context, records, count, sizeof *records), module, "wide");
    hdst_result *r = hdst_result_create(hdst_reduce_by_key(hdst_arrange(from, "key"), module, "add_numbers"));
    RUN(r);
    return r;
}

// Keys whose hash is one come in the order of their words without a sign, not in that in which they are arranged.
Test(reduce_arranged, keys_with_one_hash)
{
    enum { ALL = 4000 };
    static wide records[ALL];
    for (uint32_t i = 0; i < ALL; i++) records[i] = (wide){(int64_t)unmix64((uint64_t)(i % 7) << 32 | i % 90), i};
    for (int form = 1; form < 3 && have_cpu(); form++) {
        hdst_context *context = context_in_form(form == 1 ? "cpu" : "gpu-form");
        hdst_result *r = sums_of_arranged(context, records, ALL);
        uint64_t rows;
        const wide *got = hdst_result_rows(r, NULL, &rows);
        cr_assert_eq(rows, 630);
        for (uint64_t i = 0; i < rows; i++) {
            const uint64_t word = hdst__key_mix64((uint64_t)got[i].key);
            uint32_t sum = 0;
            for (uint32_t k = 0; k < ALL; k++) sum += records[k].key == got[i].key ? records[k].n : 0;
            cr_assert_eq(got[i].n, sum, "key %d of hash %d", (int)(uint32_t)word, (int)(word >> 32));
            if (i == 0) continue;
            const uint64_t before = hdst__key_mix64((uint64_t)got[i - 1].key);
            cr_assert(before >> 32 < word >> 32 || (before >> 32 == word >> 32 && (uint64_t)got[i - 1].key < (uint64_t)got[i].key), "row %d", (int)i);
        }
        cr_expect(by_stretches(r));
        hdst_context_destroy(context);
    }
}

// As many as would take minutes if each of them were moved past all that have a sign, in front of which it belongs.
Test(reduce_arranged, very_many_keys_with_one_hash)
{
    if (!have_cpu()) return;
    enum { ALL = 600000 };
    wide *records = malloc(ALL * sizeof *records);
    for (uint32_t i = 0; i < ALL; i++) records[i] = (wide){(int64_t)unmix64(UINT64_C(5) << 32 | i), i};
    hdst_context *context = context_in_form("cpu");
    hdst_result *r = sums_of_arranged(context, records, ALL);
    uint64_t rows;
    const wide *got = hdst_result_rows(r, NULL, &rows);
    cr_assert_eq(rows, ALL);
    for (uint64_t i = 0; i < rows; i++) {
        cr_assert_eq(got[i].n, (uint32_t)hdst__key_mix64((uint64_t)got[i].key), "row %d", (int)i);
        cr_assert(i == 0 || (uint64_t)got[i - 1].key < (uint64_t)got[i].key, "row %d", (int)i);
    }
    cr_expect(by_stretches(r));
    hdst_context_destroy(context);
    free(records);
}

// --- What is no stretch ---

static void expect_as_in_any_order(hdst_context *context, const char *map, bool filtered, bool stretched)
{
    hdst_module *module = module_of(context, kernels);
    const void *rows[2];
    uint64_t count[2];
    hdst_result *r[2];
    for (int arranged = 0; arranged < 2; arranged++) {
        hdst_dataset *from = read_items(context, module, ITEMS);
        if (arranged) from = hdst_arrange(from, "key");
        if (filtered) from = hdst_filter_function(from, module, "positive");
        r[arranged] = hdst_result_create(hdst_reduce_by_key(hdst_map_function(from, module, map), module, "add_counts"));
        RUN(r[arranged]);
        rows[arranged] = hdst_result_rows(r[arranged], NULL, &count[arranged]);
    }
    cr_assert_eq(count[0], count[1], "%s: %d rows, %d", map, (int)count[0], (int)count[1]);
    cr_expect_eq(memcmp(rows[0], rows[1], count[0] * 16), 0, "%s: other rows", map);
    cr_expect_eq(by_stretches(r[1]), stretched, "%s: %s", map, hdst_explain(r[1], NULL));
    hdst_result_destroy(r[0]);
    hdst_result_destroy(r[1]);
}

Test(reduce_arranged, keys_that_functions_change)
{
    if (!have_cpu()) return;
    make_items();
    hdst_context *context = context_in_form("cpu");
    expect_as_in_any_order(context, "tell", false, true);
    expect_as_in_any_order(context, "tell", true, false);
    expect_as_in_any_order(context, "narrow", false, false);
    expect_as_in_any_order(context, "widen", false, false);
    expect_as_in_any_order(context, "choose", false, false);
    hdst_context_destroy(context);
}

// Every fifth record fails; a key that has no others has no row.
Test(reduce_arranged, records_that_are_left_out)
{
    if (!have_cpu()) return;
    make_items();
    hdst_context_options options = HDST_CONTEXT_OPTIONS_INIT;
    options.device = "cpu";
    options.on_error = HDST_ON_ERROR_SKIP;
    hdst_context *context = hdst_context_create(&options);
    expect_as_in_any_order(context, "index", false, false);
    expect_as_in_any_order(context, "tell", false, true);
    hdst_context_destroy(context);
}

// --- Other records, none, little memory, unfinished ---

Test(reduce_arranged, other_records_in_the_next_run)
{
    if (!have_cpu()) return;
    hdst_context *context = context_in_form("cpu");
    hdst_module *module = module_of(context, kernels);
    make_items();
    hdst_dataset *arranged = hdst_arrange(read_items(context, module, ITEMS), "key");
    hdst_result *r = hdst_result_create(sent(arranged, module));
    expect_rows(r, "before");
    for (int i = 0; i < ITEMS; i++) items[i].key = items[i].key / 3 - 1;
    hdst_uncache(arranged);
    expect_rows(r, "behind");
    cr_expect(by_stretches(r));
    r = hdst_result_create(sent(hdst_arrange(read_items(context, module, 0), "key"), module));
    RUN(r);
    uint64_t rows;
    hdst_result_rows(r, NULL, &rows);
    cr_expect_eq(rows, 0);
    hdst_context_destroy(context);
}

// Where there is no room for what is to be known of the keys they are looked for in hash tables.
Test(reduce_arranged, little_memory)
{
    if (!have_cpu()) return;
    make_items();
    int stretched = 0, hashed = 0;
    for (uint64_t memory = 1536 << 10; memory <= 96 << 20; memory *= 4) {
        hdst_context_options options = HDST_CONTEXT_OPTIONS_INIT;
        options.device = "cpu";
        options.memory = memory;
        hdst_context *context = hdst_context_create(&options);
        hdst_module *module = module_of(context, kernels);
        hdst_result *r = hdst_result_create(sent(hdst_arrange(read_items(context, module, ITEMS), "key"), module));
        expect_rows(r, "little memory");
        (*(by_stretches(r) ? &stretched : &hashed))++;
        hdst_context_destroy(context);
    }
    cr_expect(stretched && hashed, "%d by stretches, %d by hash tables", stretched, hashed);
}

// A container that the program insists on, and sums that are kept unfinished, are the reduce by key's own.
Test(reduce_arranged, as_the_program_insists)
{
    if (!have_cpu()) return;
    make_items();
    hdst_context *context = context_in_form("cpu");
    hdst_module *module = module_of(context, kernels);
    hdst_dataset *arranged = hdst_arrange(read_items(context, module, ITEMS), "key");
    hdst_result *r = hdst_result_create(hdst_with_container(sent(arranged, module), HDST_CONTAINER_SORTED));
    hdst_result *parts = hdst_result_create(sent(arranged, module));
    expect_rows(r, "sorted");
    cr_expect(!by_stretches(r));
    cr_assert_eq(hdst_result_keep_partial(parts, NULL), HDST_OK);
    expect_rows(parts, "unfinished");
    hdst_partial *partial = hdst_partial_from_result(parts);
    cr_expect_eq(hdst_partial_status(partial, NULL), HDST_OK);
    hdst_partial_destroy(partial);
    hdst_context_destroy(context);
}
