// SPDX-License-Identifier: Apache-2.0
// Dense reductions of arranged records write rows of their result as soon as these are complete. Each row is the exact sum rounded once, as integers of
// 128 bits have it, or has the bits of the interpreter, whatever strips, slices and blocks its records lie in.
#include "tests/hdst/support.h"

#include <math.h>
#include <stdlib.h>

typedef struct item { uint32_t at; int32_t key; float x; double y; } item;
typedef struct sums { float x; double y; int32_t n; float few; } sums;

static const char kernels[] =
    "struct item { uint32_t at; int32_t key; float x; double y; };\n"
    "struct sums { float x; double y; int32_t n; float few; };\n"
    "map send(item i, lookup double factor[]) -> (key int32_t key, sums s)\n"
    "{\n"
    "    return (i.key, (sums){ .x = i.x, .y = i.y * factor[i.at % 4u], .n = (int32_t)(i.at % 3u), .few = (float)(i.at % 5u) });\n"
    "}\n"
    "reduce add(sums a, sums b) { return (sums){ .x = a.x + b.x, .y = a.y + b.y, .n = a.n + b.n, .few = a.few + b.few }; }\n"
    "map receive(sums s, accum double all, accum int64_t n) { all += s.y; n += s.n; }\n";

enum { ITEMS = 30011, KEYS = 5000, ROWS = KEYS + 700, SOME = 100, MANY = 2917, LAST = KEYS - 1 };
static item items[ITEMS];
static const double unit = 0x1p-30, factor[4] = {0.5, 1, 2, -4};
static const char *const forms[] = {"interp", "cpu", "gpu-form"};
static const char written[] = "added up and rounded before they reach its row";

static uint64_t state;
static uint64_t next_random(void) { return state = state * UINT64_C(6364136223846793005) + 1442695040888963407; }

// Half of the records have one key, every third of the others has none, the last key has many, and one has 400, which lie in some blocks of one strip.
static void make_items(void)
{
    state = 11;
    for (uint32_t i = 0; i < ITEMS; i++) {
        const int32_t other = (int32_t)(next_random() >> 33) % KEYS, key = i % 2 ? MANY : i % 8 == 2 && i < 3200 ? SOME : other % 3 == 0 ? LAST : other;
        const int64_t x = (int64_t)(next_random() >> 40) >> next_random() % 12, y = (int64_t)(next_random() >> 12) >> next_random() % 40;
        items[i] = (item){0, key, (float)(x * (next_random() >> 63 ? 1 : -1)) * (float)unit, (double)(y * (next_random() >> 63 ? 1 : -1)) * unit};
    }
}

static int by_key(const void *a, const void *b) { return ((const item *)a)->key - ((const item *)b)->key; }

static void arrange_items(void)
{
    qsort(items, ITEMS, sizeof *items, by_key);
    for (uint32_t i = 0; i < ITEMS; i++) items[i].at = i;
}

static hdst_dataset *arranged_items(hdst_context *context, hdst_module *module)
{
    return hdst_arrange(hdst_read(hdst_source_from_memory(context, items, ITEMS, sizeof *items), module, "item"), "key");
}

static hdst_dataset *added_of(hdst_dataset *from, hdst_module *module)
{
    hdst_value *factors = hdst_value_create(module, "double", 4);
    hdst_value_set(factors, factor, 4);
    hdst_map_spec *spec = hdst_map_spec_create(module, "send");
    hdst_bind_value(spec, "factor", factors);
    hdst_dataset *reduced = hdst_reduce_dense(hdst_map(from, spec), module, "add", ROWS);
    hdst_map_spec_destroy(spec);
    hdst_value_destroy(factors);
    return reduced;
}

static hdst_dataset *added(hdst_context *context, hdst_module *module) { return added_of(arranged_items(context, module), module); }

static void expect_sums(const sums *got, const char *form)
{
    static struct { __int128 x, y; int32_t n, few; } want[ROWS];
    memset(want, 0, sizeof want);
    for (int i = 0; i < ITEMS; i++) {
        const item *p = &items[i];
        want[p->key].x += (int64_t)((double)p->x / unit);
        want[p->key].y += (int64_t)(p->y / unit) * (__int128)(2 * factor[p->at % 4]);
        want[p->key].n += p->at % 3;
        want[p->key].few += p->at % 5;
    }
    for (int k = 0; k < ROWS; k++) {
        cr_assert_eq(got[k].x, (float)want[k].x * (float)unit, "%s: x of key %d", form, k);
        cr_assert_eq(got[k].y, (double)want[k].y * (unit / 2), "%s: y of key %d", form, k);
        cr_assert_eq(got[k].n, want[k].n, "%s: n of key %d", form, k);
        cr_assert_eq(got[k].few, (float)want[k].few, "%s: few of key %d", form, k);
    }
}

static void expect_words(hdst_result *r, const char *words)
{
    const char *why = hdst_explain(r, NULL);
    cr_expect(why && strstr(why, words), "no '%s' in %s", words, why);
}

Test(written_rows, exact_sums)
{
    make_items();
    arrange_items();
    for (size_t form = 0; form < 3 && (!form || have_cpu()); form++) {
        hdst_context *context = context_in_form(forms[form]);
        hdst_module *module = module_of(context, kernels);
        hdst_result *r = hdst_result_create(added(context, module));
        for (int turn = 0; turn < 2; turn++) {
            RUN(r);
            expect_sums(hdst_result_rows(r, NULL, NULL), forms[form]);
        }
        if (form) expect_words(r, written);
        hdst_context_destroy(context);
    }
}

// What was written in the last run does not stay.
Test(written_rows, rows_that_lose_their_records)
{
    for (size_t form = 1; form < 3 && have_cpu(); form++) {
        make_items();
        arrange_items();
        hdst_context *context = context_in_form(forms[form]);
        hdst_module *module = module_of(context, kernels);
        hdst_dataset *arranged = arranged_items(context, module);
        hdst_result *r = hdst_result_create(added_of(arranged, module));
        RUN(r);
        for (int i = 0; i < ITEMS; i++) items[i].key = (items[i].key + 1) % KEYS;
        hdst_uncache(arranged);
        RUN(r);
        expect_sums(hdst_result_rows(r, NULL, NULL), forms[form]);
        hdst_context_destroy(context);
    }
}

// Slices of few blocks: nearly each of them shares rows with the next one.
Test(written_rows, rows_of_several_slices)
{
    make_items();
    arrange_items();
    for (size_t form = 1; form < 3 && have_cpu(); form++) {
        hdst_context *context = context_in_form(forms[form]);
        hdst_module *module = module_of(context, kernels);
        hdst_result *r = hdst_result_create(added(context, module));
        context->engine->limits.slice_records = 4160;       // no whole number of blocks
        RUN(r);
        expect_sums(hdst_result_rows(r, NULL, NULL), forms[form]);
        expect_words(r, written);
        hdst_context_destroy(context);
    }
}

// The records stream from a file, piece by piece.
Test(written_rows, little_memory)
{
    if (!have_cpu()) return;
    make_items();
    arrange_items();
    hdst_context_options options = HDST_CONTEXT_OPTIONS_INIT;
    options.memory = 2 << 20;
    options.device = "cpu";
    hdst_context *context = hdst_context_create(&options);
    hdst_module *module = module_of(context, kernels);
    hdst_result *r = hdst_result_create(added(context, module));
    for (int turn = 0; turn < 2; turn++) {
        RUN(r);
        expect_sums(hdst_result_rows(r, NULL, NULL), "little memory");
    }
    cr_expect_leq(context->engine->runtime.memory.peak, options.memory);
    hdst_context_destroy(context);
}

// What another operator reads of them, on the device.
Test(written_rows, rows_for_another_stage)
{
    make_items();
    arrange_items();
    double all[3];
    for (size_t form = 0; form < 3 && (!form || have_cpu()); form++) {
        hdst_context *context = context_in_form(forms[form]);
        hdst_module *module = module_of(context, kernels);
        hdst_map_spec *spec = hdst_map_spec_create(module, "receive");
        hdst_bind_accum(spec, "all", 1);
        hdst_bind_accum(spec, "n", 1);
        hdst_result *r = hdst_result_create(hdst_map(added(context, module), spec));
        hdst_map_spec_destroy(spec);
        RUN(r);
        int64_t n = 0;
        for (int i = 0; i < ITEMS; i++) n += i % 3;
        cr_expect_eq(*(const int64_t *)hdst_result_rows(r, "n", NULL), n, "%s", forms[form]);
        all[form] = *(const double *)hdst_result_rows(r, "all", NULL);
        cr_expect_eq(all[form], all[0], "%s", forms[form]);
        hdst_context_destroy(context);
    }
}

// Far from where a look at the data takes its records, so the words are chosen without them.
static void spoil_items(void)
{
    static const struct { int at; float x; double y; } odd[] = {
        {300, 3, 0x1p60}, {800, NAN, 0}, {5200, 1, INFINITY}, {5400, 0x1p-149f, -0x1p-1074}, {9000, 0x1p127f, 0x1p1023}, {9001, 0x1p127f, 0x1p1023},
        {12900, 1, -INFINITY}, {13000, -INFINITY, NAN}, {16000, 0x1p120f, -0x1p1000}, {20100, 0x1p-140f, 0x1p-1060},
        {28900, INFINITY, 3}, {29000, -0x1p-100f, 0x1p900},
    };
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) items[odd[i].at].x = odd[i].x, items[odd[i].at].y = odd[i].y;
}

// `cells`: of the overflow table; 0: as many as usual.
static void expect_bits_of_interp(uint64_t cells, const char *words)
{
    static sums plain[ROWS];
    make_items();
    arrange_items();
    spoil_items();
    for (size_t form = 0; form < 3 && (!form || have_cpu()); form++) {
        hdst_context *context = context_in_form(forms[form]);
        context->engine->options.overflow_cells = cells;
        hdst_module *module = module_of(context, kernels);
        hdst_result *r = hdst_result_create(added(context, module));
        for (int turn = 0; turn < 2; turn++) {
            RUN(r);
            if (!form) memcpy(plain, hdst_result_rows(r, NULL, NULL), sizeof plain);
            cr_expect_eq(memcmp(plain, hdst_result_rows(r, NULL, NULL), sizeof plain), 0, "%s: other bits", forms[form]);
        }
        if (form) expect_words(r, words);
        hdst_context_destroy(context);
    }
    cr_assert(items[260].key == SOME && items[520].key == SOME);
    cr_expect(isnan(plain[items[800].key].x) && isinf(plain[items[5200].key].y) && isnan(plain[items[13000].key].y));
}

Test(written_rows, addends_that_fit_no_words) { expect_bits_of_interp(0, written); }
Test(written_rows, too_many_that_fit_no_words) { expect_bits_of_interp(1, "rows: by way of a table of words (addends differ too much in size)"); }
