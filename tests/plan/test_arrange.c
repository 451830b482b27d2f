// SPDX-License-Identifier: Apache-2.0
// Arranged datasets: their order is that of a stable sort, and dense reductions by their key have the bits that plain C has, which adds up in integers of
// 128 bits, and that records in any order have; on every device, in another layout, in little memory.
#include "tests/hdst/support.h"

#include <math.h>
#include <stdlib.h>

typedef struct item { uint32_t at; int32_t key; float x; double y; } item;
typedef struct sums { float x; double y; uint64_t n; float least; int32_t bits; } sums;

static const char kernels[] =
    "struct item { uint32_t at; int32_t key; float x; double y; };\n"
    "struct sums { float x; double y; uint64_t n; float least; int32_t bits; };\n"
    "map total(item i, accum sums t[])\n"
    "{\n"
    "    t[i.key].x += i.x; t[i.key].y += i.y; t[i.key].n += 1; acc_min(t[i.key].least, i.x); t[i.key].bits |= 1 << (int32_t)(i.at % 31);\n"
    "}\n"
    "struct weight { float w; uint32_t n; };\n"
    "map weigh(item i, accum weight t[]) { t[i.key].w += i.x; t[i.key].n += 1; }\n"
    "map count(item i, accum uint64_t n[]) { n[i.key] += 1; }\n"
    "map send(item i, lookup double factor[]) -> (key int32_t key, double y) { return (i.key, i.y * factor[i.at % 4u]); }\n"
    "map tell(item i) -> (key int32_t key, uint64_t n) { return (i.key, (uint64_t)i.at + 1u); }\n"
    "map narrow(item i) -> (key uint8_t key, uint64_t n) { return ((uint8_t)i.key, (uint64_t)i.at + 1u); }\n"
    "map choose(item i) -> (key int32_t key, uint64_t n) { return (i.x > 0.0f ? i.key : 0, (uint64_t)i.at + 1u); }\n"
    "reduce add(double a, double b) { return a + b; }\n"
    "reduce add_counts(uint64_t a, uint64_t b) { return a + b; }\n";

enum { ITEMS = 30011, KEYS = 5000, ALONE = 4711, MANY = 17, LAST = KEYS - 1 };
static item items[ITEMS];
static const double unit = 0x1p-30, factor[4] = {0.5, 1, 2, -4};

static const char *const forms[] = {"interp", "cpu", "gpu-form", "team"};
#define ON_EACH_FORM                                      \
    for (size_t form = 0; form < 4; form++)               \
        if (!form || (form == 3 ? have_team() : have_cpu()))

static uint64_t state;
static uint64_t next_random(void) { return state = state * UINT64_C(6364136223846793005) + 1442695040888963407; }

// Half of the records have one key, one key has one record, the last key has some, and of the others every third has none. Addends have many sizes.
static void make_items(void)
{
    state = 5;
    for (uint32_t i = 0; i < ITEMS; i++) {
        const int32_t other = (int32_t)(next_random() >> 33) % KEYS;
        const int32_t key = i % 2 ? MANY : i == 1000 ? ALONE : other % 3 == 0 || other == ALONE ? LAST : other;
        const int64_t x = (int64_t)(next_random() >> 40) >> next_random() % 24, y = (int64_t)(next_random() >> 12) >> next_random() % 50;
        items[i] = (item){i, key, (float)(x * (next_random() >> 63 ? 1 : -1)) * (float)unit, (double)(y * (next_random() >> 63 ? 1 : -1)) * unit};
    }
}

static hdst_dataset *read_items(hdst_context *context, hdst_module *module, uint64_t count)
{
    return hdst_read(hdst_source_from_memory(context, items, count, sizeof *items), module, "item");
}

static hdst_result *totals(hdst_dataset *from, hdst_module *module, uint64_t rows)
{
    hdst_map_spec *spec = hdst_map_spec_create(module, "total");
    hdst_bind_accum(spec, "t", rows);
    hdst_result *r = hdst_result_create(hdst_map(from, spec));
    hdst_map_spec_destroy(spec);
    return r;
}

// The sums of keys in 128 bits, whose conversion rounds to nearest even.
static void expect_totals(const sums *got, uint64_t count, const char *form)
{
    static struct { __int128 x, y; uint64_t n; float least; int32_t bits; } want[KEYS];
    memset(want, 0, sizeof want);
    for (uint64_t i = 0; i < count; i++) {
        const item *p = &items[i];
        want[p->key].x += (int64_t)((double)p->x / unit);
        want[p->key].y += (int64_t)(p->y / unit);
        if (want[p->key].n++ == 0 || p->x < want[p->key].least) want[p->key].least = p->x;
        want[p->key].bits |= 1 << p->at % 31;
    }
    for (int k = 0; k < KEYS; k++) {
        cr_assert_eq(got[k].x, (float)want[k].x * (float)unit, "%s: x of key %d", form, k);
        cr_assert_eq(got[k].y, (double)want[k].y * unit, "%s: y of key %d", form, k);
        cr_assert_eq(got[k].n, want[k].n, "%s: n of key %d is %d", form, k, (int)got[k].n);
        cr_assert_eq(got[k].least, want[k].n ? want[k].least : INFINITY, "%s: least of key %d", form, k);
        cr_assert_eq(got[k].bits, want[k].bits, "%s: bits of key %d", form, k);
    }
}

static int by_key(const void *a, const void *b)
{
    const item *x = a, *y = b;
    return x->key != y->key ? (x->key > y->key) - (x->key < y->key) : (x->at > y->at) - (x->at < y->at);
}

static void expect_order(hdst_dataset *arranged)
{
    static item want[ITEMS];
    hdst_result *r = hdst_result_create(arranged);
    RUN(r);
    uint64_t rows;
    const item *got = hdst_result_rows(r, NULL, &rows);
    memcpy(want, items, sizeof want);
    qsort(want, ITEMS, sizeof *want, by_key);
    cr_assert_eq(rows, ITEMS);
    for (int i = 0; i < ITEMS; i++) cr_assert_eq(got[i].at, want[i].at, "record %d", i);
    hdst_result_destroy(r);
}

// What is sorted by the key first stays as it is; the other way round it is sorted again, and equal keys stay in their order.
Test(arrange, sorted_records_are_not_sorted_again)
{
    make_items();
    hdst_context *context = context_in_form("interp");
    hdst_module *module = module_of(context, kernels);
    hdst_dataset *from = read_items(context, module, ITEMS);
    hdst_dataset *in_order = hdst_arrange(hdst_sort(from, "key, at desc"), "key");
    expect_order(hdst_arrange(hdst_sort(from, "key desc, at"), "key"));
    expect_order(hdst_arrange(hdst_sort(from, "at"), "key"));
    hdst_result *r = hdst_result_create(in_order);
    RUN(r);
    const item *got = hdst_result_rows(r, NULL, NULL);
    for (int i = 1; i < ITEMS; i++)
        cr_assert(got[i - 1].key < got[i].key || (got[i - 1].key == got[i].key && got[i - 1].at > got[i].at), "record %d", i);
    const char *text = hdst_explain(r, NULL), *first = strstr(text, " sorted by key, at desc");
    cr_expect(first && !strstr(first + 1, " sorted by"), "%s", text);
    hdst_context_destroy(context);
}

Test(arrange, order_and_totals)
{
    make_items();
    ON_EACH_FORM {
        hdst_context *context = context_in_form(forms[form]);
        hdst_module *module = module_of(context, kernels);
        hdst_dataset *arranged = hdst_arrange(read_items(context, module, ITEMS), "key");
        hdst_result *r = totals(arranged, module, KEYS);
        RUN(r);
        expect_totals(hdst_result_rows(r, "t", NULL), ITEMS, forms[form]);
        RUN(r);             // from what was kept
        expect_totals(hdst_result_rows(r, "t", NULL), ITEMS, forms[form]);
        const char *why = hdst_explain(r, NULL);
        cr_expect_not_null(strstr(why, "arranged by key (sorted and kept)"), "%s", why);
        if (form == 1) cr_expect_not_null(strstr(why, "a key's records one behind the other"), "%s", why);
        expect_order(arranged);
        hdst_uncache(arranged);
        RUN(r);
        expect_totals(hdst_result_rows(r, "t", NULL), ITEMS, forms[form]);
        hdst_context_destroy(context);
    }
}

// The bits of a reduction are those of the same records in any order.
Test(arrange, bits_of_records_in_any_order)
{
    make_items();
    items[3].y = INFINITY, items[5].y = -INFINITY, items[7].y = NAN, items[1000].y = 0x1p-1073, items[10].y = -0x1p1000, items[12].y = 0x1p-1000;
    const int32_t keys[] = {2, 2, 1};
    for (int i = 0; i < 3; i++) items[3 + 2 * i].key = keys[i];
    items[10].key = items[12].key = 1500;
    static double plain[KEYS];
    ON_EACH_FORM {
        hdst_context *context = context_in_form(forms[form]);
        hdst_module *module = module_of(context, kernels);
        hdst_value *factors = hdst_value_create(module, "double", 4);
        hdst_value_set(factors, factor, 4);
        for (int arranged = form != 0; arranged < 2; arranged++) {
            hdst_dataset *from = read_items(context, module, ITEMS);
            if (arranged) from = hdst_arrange(from, "key");
            hdst_map_spec *spec = hdst_map_spec_create(module, "send");
            hdst_bind_value(spec, "factor", factors);
            hdst_result *r = hdst_result_create(hdst_reduce_dense(hdst_map(from, spec), module, "add", KEYS));
            hdst_map_spec_destroy(spec);
            RUN(r);
            if (!arranged) memcpy(plain, hdst_result_rows(r, NULL, NULL), sizeof plain);
            cr_expect_eq(memcmp(plain, hdst_result_rows(r, NULL, NULL), sizeof plain), 0, "%s: other bits", forms[form]);
            hdst_result_destroy(r);
        }
        cr_expect(isinf(plain[2]) && isnan(plain[1]) && plain[1500] == -0x1p1001 && plain[ALONE] == 0x1p-1074);
        hdst_value_destroy(factors);
        hdst_context_destroy(context);
    }
}

// --- Where keys begin is known ---

static void expect_others(hdst_dataset *from, hdst_module *module, const char *map, uint64_t (*key_of)(const item *i), const char *form)
{
    static uint64_t want[KEYS];
    memset(want, 0, sizeof want);
    for (int i = 0; i < ITEMS; i++) want[key_of(&items[i])] += items[i].at + 1;
    hdst_result *r = hdst_result_create(hdst_reduce_dense(hdst_map_function(from, module, map), module, "add_counts", KEYS));
    RUN(r);
    const uint64_t *got = hdst_result_rows(r, NULL, NULL);
    for (int k = 0; k < KEYS; k++) cr_assert_eq(got[k], want[k], "%s, %s: key %d", form, map, k);
    hdst_result_destroy(r);
}

static uint64_t narrow(const item *i) { return (uint8_t)i->key; }
static uint64_t choose(const item *i) { return i->x > 0 ? (uint64_t)i->key : 0; }

// What a function makes of the key the records have no order by.
Test(arrange, keys_that_become_others)
{
    make_items();
    ON_EACH_FORM {
        hdst_context *context = context_in_form(forms[form]);
        hdst_module *module = module_of(context, kernels);
        hdst_dataset *arranged = hdst_arrange(read_items(context, module, ITEMS), "key");
        expect_others(arranged, module, "narrow", narrow, forms[form]);
        expect_others(arranged, module, "choose", choose, forms[form]);
        hdst_context_destroy(context);
    }
}

static hdst_result *sent(hdst_dataset *from, hdst_module *module, uint64_t rows)
{
    hdst_value *factors = hdst_value_create(module, "double", 4);
    hdst_value_set(factors, factor, 4);
    hdst_map_spec *spec = hdst_map_spec_create(module, "send");
    hdst_bind_value(spec, "factor", factors);
    hdst_result *r = hdst_result_create(hdst_reduce_dense(hdst_map(from, spec), module, "add", rows));
    hdst_map_spec_destroy(spec);
    hdst_value_destroy(factors);
    return r;
}

static hdst_result *told(hdst_dataset *from, hdst_module *module, uint64_t rows)
{
    return hdst_result_create(hdst_reduce_dense(hdst_map_function(from, module, "tell"), module, "add_counts", rows));
}

static void expect_sent(hdst_result *r, uint64_t rows, const char *form)
{
    static __int128 want[2 * KEYS];
    memset(want, 0, sizeof want);
    for (int i = 0; i < ITEMS; i++) want[items[i].key] += (int64_t)(items[i].y / unit) * (__int128)(2 * factor[i % 4]);
    RUN(r);
    const double *got = hdst_result_rows(r, NULL, NULL);
    for (uint64_t k = 0; k < rows; k++) cr_assert_eq(got[k], (double)want[k] * (unit / 2), "%s: key %d of %d", form, (int)k, (int)rows);
}

static void expect_told(hdst_result *r, uint64_t rows, const char *form)
{
    static uint64_t want[KEYS];
    memset(want, 0, sizeof want);
    for (uint64_t i = 0; i < ITEMS; i++) want[items[i].key] += i + 1;
    RUN(r);
    const uint64_t *got = hdst_result_rows(r, NULL, NULL);
    for (uint64_t k = 0; k < rows; k++) cr_assert_eq(got[k], want[k], "%s: key %d", form, (int)k);
}

// No key is below none: the first record of the order fails; without records there is nothing to fail.
Test(arrange, to_no_rows)
{
    make_items();
    for (size_t form = 0; form < 2 && (!form || have_cpu()); form++) {
        hdst_context *context = context_in_form(forms[form]);
        hdst_module *module = module_of(context, kernels);
        hdst_error error;
        hdst_result *all = told(hdst_arrange(read_items(context, module, ITEMS), "key"), module, 0);
        cr_expect_eq(hdst_run(all, &error), HDST_E_RECORD, "%s", forms[form]);
        cr_expect_not_null(strstr(error.message, "record 0"), "%s", error.message);
        uint64_t count = 1;
        hdst_result *none = told(hdst_arrange(read_items(context, module, 0), "key"), module, 0);
        RUN(none);
        hdst_result_rows(none, NULL, &count);
        cr_expect_eq(count, 0, "%s", forms[form]);
        hdst_result_destroy(all);
        hdst_result_destroy(none);
        hdst_context_destroy(context);
    }
}

// Records are sorted on the device, few as they are, and stay there.
static hdst_context *sorting_context(size_t form)
{
    hdst_context *context = context_in_form(forms[form]);
    hdst__engine_limits(context->engine)->sort_least = 0;
    return context;
}

// Also of other records than the last time, and with more rows than there are keys.
Test(arrange, keys_that_nobody_looks_at)
{
    for (size_t form = 0; form < 3 && (!form || have_cpu()); form++) {
        make_items();
        hdst_context *context = sorting_context(form);
        hdst_module *module = module_of(context, kernels);
        hdst_dataset *arranged = hdst_arrange(read_items(context, module, ITEMS), "key");
        hdst_result *few = sent(arranged, module, KEYS), *many = sent(arranged, module, 2 * KEYS), *counts = told(arranged, module, KEYS);
        expect_sent(few, KEYS, forms[form]);
        if (form == 1) cr_expect_not_null(strstr(hdst_explain(few, NULL), "so no key is looked at"), "%s", hdst_explain(few, NULL));
        const char *found = "arranged by key (sorted and kept; where its keys begin: found on the device)";
        cr_expect_eq(strstr(hdst_explain(few, NULL), found) != NULL, form == 2, "%s", hdst_explain(few, NULL));
        expect_sent(many, 2 * KEYS, forms[form]);
        expect_told(counts, KEYS, forms[form]);
        for (int i = 0; i < ITEMS; i++) items[i].key = (items[i].key + 7 * (i % 3)) % KEYS;
        hdst_uncache(arranged);
        expect_sent(few, KEYS, forms[form]);
        expect_told(counts, KEYS, forms[form]);
        hdst_context_destroy(context);
    }
}

// Each result says which of its records has no row; others with more rows go on.
Test(arrange, keys_without_rows)
{
    for (size_t form = 0; form < 3 && (!form || have_cpu()); form++) {
        make_items();
        hdst_context *context = sorting_context(form);
        hdst_module *module = module_of(context, kernels);
        hdst_dataset *arranged = hdst_arrange(read_items(context, module, ITEMS), "key");
        hdst_result *few = sent(arranged, module, LAST), *all = sent(arranged, module, KEYS);
        uint64_t below = 0;
        for (int i = 0; i < ITEMS; i++) below += items[i].key < LAST;
        hdst_error error;
        for (int turn = 0; turn < 2; turn++) {
            cr_expect_eq(hdst_run(few, &error), HDST_E_RECORD);
            cr_expect_eq(error.record, below, "%s: record %d, not %d", forms[form], (int)error.record, (int)below);
            expect_sent(all, KEYS, forms[form]);
        }
        items[77].key = -1;
        hdst_uncache(arranged);
        cr_expect_eq(hdst_run(all, &error), HDST_E_RECORD);
        cr_expect_eq(error.record, 0, "%s: record %d", forms[form], (int)error.record);
        hdst_context_destroy(context);
    }
}

Test(arrange, few_records_and_another_layout)
{
    make_items();
    for (size_t form = 0; form < 2; form++) {
        static const uint64_t counts[] = {0, 1, ITEMS};
        if (form && !have_cpu()) continue;
        hdst_context *context = context_in_form(forms[form]);
        hdst_module *module = module_of(context, kernels);
        for (int i = 0; i < 3; i++) {
            hdst_dataset *arranged = hdst_arrange(read_items(context, module, counts[i]), "key");
            if (i == 2) arranged = hdst_cache(hdst_with_layout(arranged, HDST_SOA));
            hdst_result *r = totals(arranged, module, KEYS);
            RUN(r);
            expect_totals(hdst_result_rows(r, "t", NULL), counts[i], forms[form]);
            if (i == 2 && form) cr_expect_not_null(strstr(hdst_explain(r, NULL), "a key's records one behind the other"), "%s", hdst_explain(r, NULL));
            hdst_result_destroy(r);
        }
        hdst_context_destroy(context);
    }
}

// The records and what sorts them have no room: they go through a temporary file, in order.
Test(arrange, little_memory)
{
    make_items();
    for (size_t form = 0; form < 2; form++) {
        static uint64_t want[KEYS];
        if (form && !have_cpu()) continue;
        hdst_context_options options = HDST_CONTEXT_OPTIONS_INIT;
        options.memory = 1 << 20;
        options.device = forms[form];
        hdst_context *context = hdst_context_create(&options);
        hdst_module *module = module_of(context, kernels);
        hdst_map_spec *spec = hdst_map_spec_create(module, "count");
        hdst_bind_accum(spec, "n", KEYS);
        hdst_result *r = hdst_result_create(hdst_map(hdst_arrange(read_items(context, module, ITEMS), "key"), spec));
        hdst_map_spec_destroy(spec);
        memset(want, 0, sizeof want);
        for (int i = 0; i < ITEMS; i++) want[items[i].key]++;
        for (int turn = 0; turn < 2; turn++) {
            RUN(r);
            cr_expect_eq(memcmp(hdst_result_rows(r, "n", NULL), want, sizeof want), 0, "%s", forms[form]);
        }
        cr_expect_leq(context->engine->runtime.memory.peak, options.memory);
        hdst_result_destroy(r);
        hdst_context_destroy(context);
    }
}

typedef struct weight { float w; uint32_t n; } weight;

static void make_small_addends(void)
{
    make_items();
    for (int i = 0; i < ITEMS; i++) items[i].x = (float)((int)(next_random() >> 44) - (1 << 19)) * 0x1p-20f;
    items[77].x = 0x1p-60f, items[78].x = 0x1p50f, items[999].x = NAN;
    items[999].key = 4000;
}

static hdst_result *weights(hdst_dataset *from, hdst_module *module, uint64_t rows)
{
    hdst_map_spec *spec = hdst_map_spec_create(module, "weigh");
    hdst_bind_accum(spec, "t", rows);
    hdst_result *r = hdst_result_create(hdst_map(from, spec));
    hdst_map_spec_destroy(spec);
    return r;
}

// As GPUs have them: words in device memory, to which a lane's neighbouring records go together. What does not fit goes elsewhere.
Test(arrange, lanes_add_up_neighbours)
{
    static weight plain[KEYS];
    make_small_addends();
    for (int form = 0; form < 3 && (!form || have_cpu()); form++) {
        hdst_context *context = context_in_form(form ? "gpu-form" : "interp");
        if (form) context->engine->options.local_bytes = 4096;
        hdst_module *module = module_of(context, kernels);
        hdst_dataset *from = read_items(context, module, ITEMS);
        hdst_result *r = weights(form == 2 ? hdst_arrange(from, "key") : from, module, KEYS);
        RUN(r);
        if (!form) memcpy(plain, hdst_result_rows(r, "t", NULL), sizeof plain);
        cr_expect_eq(memcmp(plain, hdst_result_rows(r, "t", NULL), sizeof plain), 0, "form %d has other bits", form);
        const bool in_runs = strstr(hdst_explain(r, NULL), "added up before they reach its row's words in device memory");
        cr_expect_eq(in_runs, form == 2, "%s", hdst_explain(r, NULL));
        hdst_context_destroy(context);
    }
    cr_expect(isnan(plain[4000].w) && plain[MANY].n > ITEMS / 3);
}

// A record that fails is found among the lane's neighbours.
Test(arrange, a_key_out_of_range_in_a_lane)
{
    make_small_addends();
    items[20000].key = KEYS;
    items[20001].key = KEYS + 5;
    if (!have_cpu()) return;
    hdst_context *context = context_in_form("gpu-form");
    context->engine->options.local_bytes = 4096;
    hdst_module *module = module_of(context, kernels);
    hdst_result *r = weights(hdst_arrange(read_items(context, module, ITEMS), "key"), module, KEYS);
    hdst_error error;
    cr_expect_eq(hdst_run(r, &error), HDST_E_RECORD);
    cr_expect_eq(error.record, ITEMS - 2, "record %d", (int)error.record);
    hdst_context_destroy(context);
}

Test(arrange, a_key_out_of_range)
{
    make_items();
    items[20000].key = KEYS;
    items[20001].key = -1;
    ON_EACH_FORM {
        hdst_context *context = context_in_form(forms[form]);
        hdst_module *module = module_of(context, kernels);
        hdst_result *r = totals(hdst_arrange(read_items(context, module, ITEMS), "key"), module, KEYS);
        hdst_error error;
        cr_expect_eq(hdst_run(r, &error), HDST_E_RECORD);
        cr_expect_eq(error.record, 0, "%s: record %d: the least key comes first", forms[form], (int)error.record);
        hdst_context_destroy(context);
    }
}

static void expect_misuse(hdst_dataset *dataset, const char *words)
{
    hdst_error error;
    cr_expect_eq(hdst_dataset_status(dataset, &error), HDST_E_USAGE, "%s", words);
    cr_expect_not_null(strstr(error.message, words), "%s", error.message);
}

Test(arrange, what_is_no_key)
{
    hdst_context *context = context_on("interp");
    hdst_module *module = module_of(context, kernels);
    hdst_dataset *from = read_items(context, module, ITEMS);
    expect_misuse(hdst_arrange(from, "kay"), "kay");
    expect_misuse(hdst_arrange(from, "x"), "'x' of 'item' is no integer");
    expect_misuse(hdst_arrange(from, NULL), "");
    expect_misuse(hdst_arrange(NULL, "key"), "dataset");
    hdst_result *r = totals(from, module, KEYS);
    hdst_map_spec *spec = hdst_map_spec_create(module, "total");
    hdst_bind_accum(spec, "t", KEYS);
    expect_misuse(hdst_arrange(hdst_map(from, spec), "key"), "hdst_arrange");
    hdst_map_spec_destroy(spec);
    hdst_result_destroy(r);
    hdst_context_destroy(context);
}
