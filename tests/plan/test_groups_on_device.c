// SPDX-License-Identifier: Apache-2.0
// Functions over the records of each key where a device has them: keys of all kinds, as plain C puts them in order, runs of all lengths, functions that fail,
// and what the host does. What a group gives depends on the order of its records.
#include "tests/hdst/support.h"
#include "tests/support/key_unmix.h"
#include "record/key_hash.h"

#include <math.h>
#include <stdlib.h>

typedef struct item { uint32_t at, u; int16_t i; uint8_t b; float f; int64_t l; double d; uint64_t c; } item;
typedef struct digest { uint64_t chain; uint32_t first, count; float sum; } digest;

#define GROUP(name, key) \
    "group " name "(key " key " k, stream item v) -> digest\n" \
    "{\n" \
    "    digest g = (digest){ .count = 0u };\n" \
    "    for (item e : v) {\n" \
    "        if (g.count == 0u) g.first = e.at;\n" \
    "        g.chain = g.chain * 31ul + (uint64_t)e.at;\n" \
    "        g.sum = g.sum * 0.5f + (float)(e.at % 1000u);\n" \
    "        g.count++;\n" \
    "    }\n" \
    "    return g;\n" \
    "}\n"

static const char kernels[] =
    "struct item { uint32_t at, u; int16_t i; uint8_t b; float f; int64_t l; double d; uint64_t c; };\n"
    "struct digest { uint64_t chain; uint32_t first, count; float sum; };\n"
    "struct three { uint8_t b; int16_t i; uint32_t u; };\n"
    "struct wide { uint32_t u; int64_t l; };\n"
    GROUP("by_u", "uint32_t") GROUP("by_i", "int16_t") GROUP("by_b", "uint8_t") GROUP("by_f", "float") GROUP("by_l", "int64_t") GROUP("by_d", "double")
    GROUP("by_c", "uint64_t") GROUP("by_three", "three") GROUP("by_wide", "wide")
    "struct lone { uint32_t u; };\n"
    "struct tally { uint32_t u, n; };\n"
    "struct row { uint16_t a[3]; uint32_t u; };\n"
    "group tallied(key uint32_t u, stream lone v) -> tally { tally t = (tally){ .u = u }; for (lone e : v) t.n++; return t; }\n"
    "group some(key uint32_t k, stream item v) -> item { for (item e : v) if (e.at % 3u == 0u) emit(e); }\n"
    "group checked(key uint32_t k, stream item v) -> digest\n"
    "{\n"
    "    digest g = (digest){ .count = 0u };\n"
    "    for (item e : v) { g.count += 100u / (e.at - 4001u); g.first = e.at; }\n"
    "    return g;\n"
    "}\n"
    "group weighed(key uint32_t k, stream item v, lookup double w[]) -> digest\n"
    "{\n"
    "    digest g = (digest){ .count = 0u };\n"
    "    for (item e : v) {\n"
    "        if (g.count == 0u) g.first = e.at;\n"
    "        g.chain = g.chain * 31ul + (uint64_t)e.at;\n"
    "        g.sum = g.sum * 0.5f + (float)w[e.at * 4u];\n"
    "        g.count++;\n"
    "    }\n"
    "    return g;\n"
    "}\n"
    "map keyed(item e) -> (key uint32_t u, double d) { return (e.u, e.d); }\n"
    "associative reduce larger(double a, double b) { return a * 0.5 + b * 0.5; }\n";

enum { ITEMS = 20000, BUDGET = 4 << 20 };
static item items[ITEMS];
static uint64_t count = ITEMS;

// --- The same in C ---

typedef struct named { const char *function, *key; const char *why_host; } named;
static const named keys[] = {
    {"by_u", "u", NULL}, {"by_i", "i", NULL}, {"by_b", "b", NULL}, {"by_f", "f", NULL}, {"by_l", "l", NULL}, {"by_d", "d", NULL}, {"by_c", "c", NULL},
    {"by_three", "b, i, u", NULL}, {"by_wide", "u, l", "the key has more than 8 bytes"}};
static const named *now;

// Packed as record/key_hash.h says. Returns the bytes.
static size_t pack(const item *p, uint64_t words[2])
{
    char *to = (char *)words;
    words[0] = words[1] = 0;
    switch (now - keys) {
    case 0: memcpy(to, &p->u, 4); return 4;
    case 1: memcpy(to, &p->i, 2); return 2;
    case 2: memcpy(to, &p->b, 1); return 1;
    case 3: memcpy(to, &p->f, 4); return 4;
    case 4: memcpy(to, &p->l, 8); return 8;
    case 5: memcpy(to, &p->d, 8); return 8;
    case 6: memcpy(to, &p->c, 8); return 8;
    case 7: memcpy(to, &p->b, 1), memcpy(to + 2, &p->i, 2), memcpy(to + 4, &p->u, 4); return 8;
    default: memcpy(to, &p->u, 4), memcpy(to + 8, &p->l, 8); return 16;
    }
}

static int compare_keys(const item *x, const item *y)
{
    uint64_t a[2], b[2];
    const size_t bytes = pack(x, a);
    pack(y, b);
    const uint32_t h = hdst__key_hash(a, bytes), g = hdst__key_hash(b, bytes);
    if (h != g) return h < g ? -1 : 1;
    if (a[0] != b[0]) return a[0] < b[0] ? -1 : 1;
    return a[1] != b[1] ? a[1] < b[1] ? -1 : 1 : 0;
}

static int in_order(const void *a, const void *b)
{
    const item *x = *(const item *const *)a, *y = *(const item *const *)b;
    const int keys_are = compare_keys(x, y);
    return keys_are ? keys_are : x < y ? -1 : x > y;
}

static const item **ordered(void)
{
    const item **order = malloc((count + 1) * sizeof *order);
    for (uint64_t i = 0; i < count; i++) order[i] = &items[i];
    qsort(order, count, sizeof *order, in_order);
    return order;
}

static void expect_digests(hdst_result *r, const char *words)
{
    uint64_t rows, next = 0;
    RUN(r);
    const digest *got = hdst_result_rows(r, NULL, &rows);
    const item **order = ordered();
    for (uint64_t i = 0; i < count; next++) {
        digest want = {.first = order[i]->at};
        const item *key = order[i];
        for (; i < count && !compare_keys(key, order[i]); i++, want.count++) {
            want.chain = want.chain * 31 + order[i]->at;
            want.sum = want.sum * 0.5f + (float)(order[i]->at % 1000);
        }
        cr_assert_lt(next, rows, "%s, %s: %d rows", words, now->function, (int)rows);
        cr_assert(got[next].chain == want.chain && got[next].first == want.first && got[next].count == want.count && got[next].sum == want.sum,
                  "%s, %s: row %d begins with %u of %u, not %u of %u", words, now->function, (int)next, got[next].first, got[next].count, want.first,
                  want.count);
    }
    cr_assert_eq(rows, next, "%s, %s: %d rows, not %d", words, now->function, (int)rows, (int)next);
    free(order);
}

// --- Data ---

static uint64_t state;
static uint64_t next_random(void) { return state = state * UINT64_C(6364136223846793005) + 1442695040888963407; }

static void fill(uint32_t different)
{
    static const float odd[] = {0.0f, -0.0f, INFINITY, -INFINITY, 0x1p-149f, -1.5f};
    state = 77;
    for (uint32_t k = 0; k < ITEMS; k++) {
        const uint64_t r = next_random() >> 20;
        const uint32_t n = (uint32_t)(r % different);
        items[k] = (item){.at = k, .u = n * 2654435761u, .i = (int16_t)(n % 3000 - 1500), .b = (uint8_t)n, .f = n % 20 < 6 ? odd[n % 20] : (float)n - 100,
                          .l = (int64_t)((n - UINT64_C(50)) * UINT64_C(1234567890123)), .d = n % 7 ? (double)n / 3 : -0.0};
        // Four keys for each hash, which the mixed keys have in another order.
        items[k].c = unmix64((uint64_t)(n / 4 * 2654435761u) << 32 | (n % 4 * 977u));
        if (n % 50 == 7) memcpy(&items[k].f, &(uint32_t){k % 2 ? 0x7fc00000 : 0xffc00001}, 4);
        if (n % 50 == 8) memcpy(&items[k].d, &(uint64_t){k % 2 ? UINT64_C(0x7ff8000000000000) : UINT64_C(0xfff8000000000001)}, 8);
    }
}

// --- Running it ---

static const char *const forms[] = {"interp", "cpu", "gpu-form"};
#define ON_EACH_FORM for (size_t form = 0; form < 3 && (!form || have_cpu()); form++)
enum { ON_DEVICE = 2 };

static hdst_context *context_of(size_t form, uint64_t memory, uint64_t device_memory, hdst_on_error on_error)
{
    hdst_context_options options = HDST_CONTEXT_OPTIONS_INIT;
    options.device = form == ON_DEVICE ? "cpu" : forms[form];
    options.memory = memory;
    options.device_memory = device_memory;
    options.on_error = on_error;
    hdst_context *context = hdst_context_create(&options);
    context->engine->options.gpu_form_on_cpu = form == ON_DEVICE;
    hdst__engine_limits(context->engine)->sort_least = 0;
    return context;
}

static hdst_dataset *read_items(hdst_context *context, hdst_module *module)
{
    return hdst_read(hdst_source_from_memory(context, items, count, sizeof *items), module, "item");
}

static void expect_place(hdst_result *r, size_t form, const char *why_host)
{
    const char *text = hdst_explain(r, NULL), *there = "records ordered by key on the device, which the function reads there",
               *here = "records ordered by key on the host";
    cr_expect_not_null(strstr(text, form == ON_DEVICE && !why_host ? there : here), "%s: %s", forms[form], text);
    if (form != ON_DEVICE || !why_host || !*why_host) cr_expect_null(strstr(text, "not on the device"), "%s: %s", forms[form], text);
    else cr_expect_not_null(strstr(text, why_host), "%s: %s", why_host, text);
}

Test(groups_on_device, keys_of_all_kinds)
{
    fill(700);
    ON_EACH_FORM {
        hdst_context *context = context_of(form, 0, 0, HDST_ON_ERROR_FAIL);
        hdst_module *module = module_of(context, kernels);
        hdst_dataset *cached = hdst_cache(read_items(context, module));
        for (now = keys; now < keys + sizeof keys / sizeof *keys; now++) {
            hdst_result *r = hdst_result_create(hdst_group_function(cached, now->key, module, now->function));
            expect_digests(r, forms[form]);
            expect_place(r, form, now->why_host);
            expect_digests(r, forms[form]);         // in memory that is there
            hdst_result_destroy(r);
        }
        hdst_context_destroy(context);
    }
}

// Keys made to share a hash, thousands of them.
Test(groups_on_device, keys_of_one_hash)
{
    fill(3000);
    for (int i = 0; i < ITEMS; i++) items[i].c = i % 5 ? unmix64(UINT64_C(77) << 32 | (uint32_t)(i * 31 % 4001)) : (uint64_t)i;
    now = keys + 6;
    ON_EACH_FORM {
        hdst_context *context = context_of(form, 0, 0, HDST_ON_ERROR_FAIL);
        hdst_module *module = module_of(context, kernels);
        hdst_result *r = hdst_result_create(hdst_group_function(hdst_cache(read_items(context, module)), "c", module, "by_c"));
        expect_digests(r, forms[form]);
        expect_place(r, form, NULL);
        hdst_result_destroy(r);
        hdst_context_destroy(context);
    }
}

// No records, one, one key, keys of one record each; borders of what a work-group looks at.
Test(groups_on_device, runs_of_all_lengths)
{
    static const struct { uint64_t count; uint32_t different; } of[] = {
        {0, 1}, {1, 1}, {2, 1}, {15, 1000}, {16, 1}, {17, 2}, {4095, 1}, {4096, 100000}, {4097, 2}, {8193, 3}, {ITEMS, 1}, {ITEMS, 1u << 31}};
    now = keys;
    ON_EACH_FORM {
        hdst_context *context = context_of(form, 0, 0, HDST_ON_ERROR_FAIL);
        hdst_module *module = module_of(context, kernels);
        for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
            fill(of[i].different);
            count = of[i].count;
            hdst_result *r = hdst_result_create(hdst_group_function(hdst_cache(read_items(context, module)), "u", module, "by_u"));
            expect_digests(r, forms[form]);
            if (count) expect_place(r, form, NULL);
            hdst_result_destroy(r);
        }
        count = ITEMS;
        hdst_context_destroy(context);
    }
}

// Records that are nothing but their key.
Test(groups_on_device, keys_alone)
{
    static uint32_t lone[ITEMS];
    fill(300);
    now = keys;
    for (int i = 0; i < ITEMS; i++) lone[i] = items[i].u;
    ON_EACH_FORM {
        uint64_t rows, next = 0;
        hdst_context *context = context_of(form, 0, 0, HDST_ON_ERROR_FAIL);
        hdst_module *module = module_of(context, kernels);
        hdst_dataset *from = hdst_read(hdst_source_from_memory(context, lone, ITEMS, sizeof *lone), module, "lone");
        hdst_result *r = hdst_result_create(hdst_group_function(hdst_cache(from), "u", module, "tallied"));
        RUN(r);
        const uint32_t *got = hdst_result_rows(r, NULL, &rows);
        const item **order = ordered();
        for (int i = 0, end; i < ITEMS; i = end, next++) {
            for (end = i; end < ITEMS && order[end]->u == order[i]->u;) end++;
            cr_assert(next < rows && got[2 * next] == order[i]->u && got[2 * next + 1] == (uint32_t)(end - i), "%s: row %d", forms[form], (int)next);
        }
        cr_assert_eq(rows, next);
        expect_place(r, form, NULL);
        free(order);
        hdst_result_destroy(r);
        hdst_context_destroy(context);
    }
}

// As columns, not kept at all, behind a sort, and other records than before.
Test(groups_on_device, records_from_anywhere)
{
    now = keys;
    ON_EACH_FORM {
        fill(5000);
        hdst_context *context = context_of(form, 0, 0, HDST_ON_ERROR_FAIL);
        hdst_module *module = module_of(context, kernels);
        hdst_dataset *from = read_items(context, module), *columns = hdst_cache(hdst_with_layout(from, HDST_SOA)), *kept = hdst_cache(from),
                     *blocks = hdst_cache(hdst_with_layout(from, HDST_AOSOA)), *arrays = hdst_cache(hdst_with_layout(from, HDST_AOP));
        hdst_dataset *inputs[] = {columns, blocks, arrays, kept, hdst_sort(columns, "at"), from};
        hdst_result *r[6];
        for (int i = 0; i < 6; i++) r[i] = hdst_result_create(hdst_group_function(inputs[i], "u", module, "by_u"));
        for (int turn = 0; turn < 2; turn++) {
            for (int i = 0; i < 6; i++) {
                expect_digests(r[i], forms[form]);
                expect_digests(r[i], forms[form]);
                expect_place(r[i], form, NULL);
                const uint64_t bytes = hdst_result_stats(r[i]).bytes_to_device;         // kept records stay where they are
                if (form == ON_DEVICE && i < 4) cr_expect_lt(bytes, sizeof items / 4, "%d: %d bytes", i, (int)bytes);
            }
            fill(5000 - 4000 * (turn == 0));
            hdst_uncache(columns);
            hdst_uncache(blocks);
            hdst_uncache(arrays);
            hdst_uncache(kept);
        }
        for (int i = 0; i < 6; i++) hdst_result_destroy(r[i]);
        hdst_context_destroy(context);
    }
}

static void run_with_small_buffers(hdst_context *context, hdst_dataset *dataset, uint64_t bytes)
{
    hdst_result *r = hdst_result_create(dataset);
    hdst_error error;
    hdst__device *device;
    cr_assert_eq(hdst__engine_open(context->engine, &device, &error), HDST_OK);
    hdst__device_info *info = (hdst__device_info *)(uintptr_t)device->info;
    const uint64_t usual = info->max_alloc_bytes;
    info->max_alloc_bytes = bytes;
    RUN(r);
    info->max_alloc_bytes = usual;
    hdst_result_destroy(r);
}

// A run of equal keys is longer than a segment.
Test(groups_on_device, records_in_many_segments)
{
    static const hdst_layout layouts[] = {HDST_AOS, HDST_SOA, HDST_AOSOA};
    if (!have_cpu()) return;
    now = keys;
    for (int i = 0; i < 3; i++) {
        hdst_context *context = context_of(ON_DEVICE, 0, 0, HDST_ON_ERROR_FAIL);
        hdst_module *module = module_of(context, kernels);
        fill(3);
        hdst_dataset *cached = hdst_cache(hdst_with_layout(read_items(context, module), layouts[i]));
        run_with_small_buffers(context, hdst_sort(cached, "at"), 100 << 10);         // for which the device has no room, but it loads them
        hdst_result *r = hdst_result_create(hdst_group_function(cached, "u", module, "by_u"));
        expect_digests(r, "segments");
        expect_place(r, ON_DEVICE, NULL);
        cr_expect_lt(hdst_result_stats(r).bytes_to_device, sizeof items / 4);
        hdst_result_destroy(r);
        hdst_context_destroy(context);
    }
}

// Fields of several numbers, in columns of which each number has one.
Test(groups_on_device, a_sort_of_columns_with_arrays)
{
    typedef struct row { uint16_t a[3]; uint32_t u; } row;
    static row rows[ITEMS];
    fill(ITEMS);
    for (uint32_t i = 0; i < ITEMS; i++) rows[i] = (row){{(uint16_t)i, (uint16_t)(i >> 3), (uint16_t)(i * 7)}, (i * 7919u) % ITEMS};
    ON_EACH_FORM {
        uint64_t count_of;
        hdst_context *context = context_of(form, 0, 0, HDST_ON_ERROR_FAIL);
        hdst_module *module = module_of(context, kernels);
        hdst_dataset *from = hdst_read(hdst_source_from_memory(context, rows, ITEMS, sizeof *rows), module, "row");
        hdst_result *r = hdst_result_create(hdst_sort(hdst_cache(hdst_with_layout(from, HDST_SOA)), "u"));
        RUN(r);
        const row *got = hdst_result_rows(r, NULL, &count_of);
        cr_assert_eq(count_of, ITEMS);
        for (uint32_t i = 0; i < ITEMS; i++) {
            const uint32_t at = (uint32_t)got[i].a[0];
            cr_assert(got[i].u == i && rows[at].u == i && got[i].a[1] == rows[at].a[1] && got[i].a[2] == rows[at].a[2], "%s: row %u", forms[form], i);
        }
        hdst_result_destroy(r);
        hdst_context_destroy(context);
    }
}

// --- Other functions ---

Test(groups_on_device, emits_and_reduces)
{
    static struct { uint32_t u; double d; } first[ITEMS];
    static item emitted[ITEMS];
    uint64_t first_rows = 0, emits = 0;
    fill(300);
    now = keys;
    ON_EACH_FORM {
        uint64_t rows;
        hdst_context *context = context_of(form, 0, 0, HDST_ON_ERROR_FAIL);
        hdst_module *module = module_of(context, kernels);
        hdst_dataset *cached = hdst_cache(read_items(context, module));
        hdst_result *some = hdst_result_create(hdst_group_function(cached, "u", module, "some"));
        RUN(some);
        const item *got = hdst_result_rows(some, NULL, &rows);
        const item **order = ordered();
        emits = 0;
        for (int i = 0; i < ITEMS; i++)
            if (order[i]->at % 3 == 0) emitted[emits++] = *order[i];
        cr_assert_eq(rows, emits, "%s: %d", forms[form], (int)rows);
        for (uint64_t i = 0; i < rows; i++) cr_assert(got[i].at == emitted[i].at && got[i].u == emitted[i].u, "%s: row %d", forms[form], (int)i);
        expect_place(some, form, NULL);
        free(order);
        hdst_result *reduced = hdst_result_create(hdst_reduce_by_key(hdst_map_function(cached, module, "keyed"), module, "larger"));
        RUN(reduced);
        const void *values = hdst_result_rows(reduced, NULL, &rows);
        if (!form) first_rows = rows, memcpy(first, values, rows * sizeof *first);
        cr_expect_eq(rows, first_rows);
        for (uint64_t i = 0; i < rows; i++) {
            const char *row = (const char *)values + i * sizeof *first;
            cr_assert(!memcmp(row, &first[i].u, 4) && !memcmp(row + 8, &first[i].d, 8), "%s: a tree has other bits in row %d", forms[form], (int)i);
        }
        expect_place(reduced, form, NULL);
        hdst_result_destroy(some);
        hdst_result_destroy(reduced);
        hdst_context_destroy(context);
    }
}

// Who fails is named, or left out, as ever.
Test(groups_on_device, functions_that_fail)
{
    char message[512] = "";
    fill(300);
    now = keys;
    ON_EACH_FORM {
        hdst_error error;
        hdst_context *context = context_of(form, 0, 0, HDST_ON_ERROR_FAIL);
        hdst_module *module = module_of(context, kernels);
        hdst_result *r = hdst_result_create(hdst_group_function(hdst_cache(read_items(context, module)), "u", module, "checked"));
        for (int turn = 0; turn < 2; turn++) {
            cr_assert_eq(hdst_run(r, &error), HDST_E_RECORD, "%s", forms[form]);
            if (!form) memcpy(message, error.message, sizeof message);
            cr_expect_str_eq(error.message, message, "%s", forms[form]);
            cr_expect_not_null(strstr(error.message, "u = "), "%s", error.message);
        }
        hdst_result_destroy(r);
        hdst_context_destroy(context);
        context = context_of(form, 0, 0, HDST_ON_ERROR_SKIP);
        module = module_of(context, kernels);
        r = hdst_result_create(hdst_group_function(hdst_cache(read_items(context, module)), "u", module, "checked"));
        uint64_t rows;
        RUN(r);
        hdst_result_rows(r, NULL, &rows);
        cr_expect_eq(rows, 299, "%s: %d rows", forms[form], (int)rows);
        hdst_result_destroy(r);
        hdst_context_destroy(context);
    }
}

// Two that share the function's work, wherever the records are put in order.
Test(groups_on_device, several_devices)
{
    if (!have_cpu()) return;
    fill(5000);
    now = keys;
    for (int cached = 0; cached < 2; cached++) {
        hdst_context *context = pair_of_gpus(64 << 10, 0);
        hdst__engine_limits(context->engine)->sort_least = 0;
        hdst_module *module = module_of(context, kernels);
        hdst_dataset *from = read_items(context, module);
        hdst_result *r = hdst_result_create(hdst_group_function(cached ? hdst_cache(from) : from, "u", module, "by_u"));
        for (int turn = 0; turn < 3; turn++) expect_digests(r, cached ? "cached, of two" : "of two");
        hdst_result_destroy(r);
        hdst_context_destroy(context);
    }
}

// --- Little memory ---

static void expect_in_budget(uint64_t memory, uint64_t device_memory, const char *why_host)
{
    hdst_context *context = context_of(ON_DEVICE, memory, device_memory, HDST_ON_ERROR_FAIL);
    hdst_module *module = module_of(context, kernels);
    hdst_result *r = hdst_result_create(hdst_group_function(hdst_cache(read_items(context, module)), "u", module, "by_u"));
    for (int turn = 0; turn < 2; turn++) {
        expect_digests(r, "little memory");
        expect_place(r, ON_DEVICE, why_host);
    }
    const hdst__device *device = context->engine->worker[0].device;
    if (memory) cr_expect_leq(context->engine->runtime.memory.peak, memory);
    if (device_memory) cr_expect_leq(device->budget.peak, device_memory);
    hdst_result_destroy(r);
    hdst_context_destroy(context);
}

Test(groups_on_device, little_memory)
{
    fill(5000);
    now = keys;
    if (!have_cpu()) return;
    expect_in_budget(0, 6 << 20, NULL);
    expect_in_budget(0, 3 << 20, NULL);
    expect_in_budget(0, 2 << 20, "the device has no room");
    expect_in_budget(BUDGET, 0, "");                // parts by hash
    expect_in_budget(2 << 20, 2 << 20, "");
}

// A table that has room beside the records, but not beside those and what they are sorted from.
Test(groups_on_device, a_function_that_has_no_room)
{
    enum { WEIGHTS = 4 * ITEMS };
    static double weights[WEIGHTS];
    if (!have_cpu()) return;
    fill(5000);
    now = keys;
    for (int i = 0; i < WEIGHTS; i++) weights[i] = i / 4 % 1000;
    hdst_context *context = context_of(ON_DEVICE, 0, 2600 << 10, HDST_ON_ERROR_FAIL);
    hdst_module *module = module_of(context, kernels);
    hdst_value *value = hdst_value_create(module, "double", WEIGHTS);
    cr_assert_eq(hdst_value_set(value, weights, WEIGHTS), HDST_OK);
    hdst_map_spec *spec = hdst_map_spec_create(module, "weighed");
    hdst_bind_value(spec, "w", value);
    hdst_result *r = hdst_result_create(hdst_group(hdst_cache(read_items(context, module)), "u", spec));
    hdst_map_spec_destroy(spec);
    for (int turn = 0; turn < 2; turn++) {
        expect_digests(r, "no room");
        expect_place(r, ON_DEVICE, "the device has no room for them and the function");     // the second turn finds no weights of the first there
    }
    cr_expect_leq(context->engine->worker[0].device->budget.peak, 2600 << 10);
    hdst_result_destroy(r);
    hdst_value_destroy(value);
    hdst_context_destroy(context);
}
