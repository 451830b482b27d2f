// SPDX-License-Identifier: Apache-2.0
// Functions over the records of each key that a device with memory of its own has no room for: for a moment, or again and again. The host does such a run;
// what was done in vain counts for nothing, and the device is asked again.
#include "tests/hdst/support.h"
#include "record/key_hash.h"

#include <stdlib.h>

typedef struct item { uint32_t at, u; double d; } item;
typedef struct value { uint32_t u; double d; } value;

static const char kernels[] =
    "struct item { uint32_t at, u; double d; };\n"
    "struct digest { uint64_t chain; };\n"
    "group chained(key uint32_t k, stream item v) -> digest\n"
    "{ digest g = (digest){ .chain = 0ul }; for (item e : v) g.chain = g.chain * 31ul + (uint64_t)e.at; return g; }\n"
    "map keyed(item e) -> (key uint32_t u, double d) { return (e.u, e.d); }\n"
    "associative reduce larger(double a, double b) { return a * 0.5 + b * 0.5; }\n";

enum { ITEMS = 20000 };
static item items[ITEMS];

static void fill(uint32_t different)
{
    for (uint32_t k = 0; k < ITEMS; k++) items[k] = (item){k, (k * 2654435761u >> 8) % different * 2654435761u, k * 0.37};
}

static hdst_context *context_of(void)
{
    hdst_context *context = context_in_form("gpu-form");
    hdst__engine_limits(context->engine)->sort_least = 0;
    return context;
}

static hdst_dataset *read_items(hdst_context *context, hdst_module *module)
{
    return hdst_read(hdst_source_from_memory(context, items, ITEMS, sizeof *items), module, "item");
}

static void expect_place(hdst_result *r, const char *why_host)
{
    const char *text = hdst_explain(r, NULL);
    cr_expect(strstr(text, why_host ? why_host : "records ordered by key on the device, which the function reads there"), "'%s': %s", why_host, text);
    cr_expect_eq(strstr(text, "not on the device") != NULL, why_host != NULL, "%s", text);
}

// Some allocation fails once, wherever the run is by then: the host does it anew, and what was done in vain counts for nothing.
static hdst__device_ops refusing;
static const hdst__device_ops *usual;
static int until_refused;

static hdst_status refuse(hdst__device *device, hdst__memory_kind kind, hdst__owner owner, uint64_t bytes, const char *what, hdst__memory **memory,
                          hdst_error *error)
{
    if (--until_refused == 0) return hdst__error_set(error, HDST_E_MEMORY, "no memory for a moment");
    return usual->alloc(device, kind, owner, bytes, what, memory, error);
}

static void refuse_from_now_on(hdst_context *context)
{
    hdst__device *device;
    cr_assert_eq(hdst__engine_open(context->engine, &device, NULL), HDST_OK);
    usual = device->ops;
    refusing = *usual;
    refusing.alloc = refuse;
    device->ops = &refusing;
}

// As much as decides whether a run counted what it did in vain.
static void expect_counts(hdst_result *r, const hdst_run_stats *want, int at)
{
    const hdst_run_stats stats = hdst_result_stats(r);
    const hdst_device_use *use = stats.device;
    cr_expect_eq(stats.records, want->records, "allocation %d: %d records, not %d", at, (int)stats.records, (int)want->records);
    for (uint32_t i = 0; i < stats.level_count; i++)
        cr_expect(stats.level[i].in == want->level[i].in && stats.level[i].out == want->level[i].out, "allocation %d: level %d has %d and %d", at, (int)i,
                  (int)stats.level[i].in, (int)stats.level[i].out);
    uint64_t records = 0, wanted = 0;
    for (uint32_t i = 0; i < stats.device_count; i++) records += use[i].records;
    for (uint32_t i = 0; i < want->device_count; i++) wanted += want->device[i].records;
    cr_expect_leq(records, wanted, "allocation %d: %d records on devices, not %d", at, (int)records, (int)wanted);
}

Test(group_refusals, a_reduce_that_is_short_of_memory_for_a_moment)
{
    if (!have_cpu()) return;
    fill(5);                            // keys with so many records that a tree has three levels
    hdst_run_stats want = {0};
    static value first[ITEMS];
    uint64_t first_rows = 0, rows, refused = 0;
    for (int at = 0; at >= 0; at += 1 + at / 5) {
        hdst_context *context = context_of();
        hdst_module *module = module_of(context, kernels);
        hdst_dataset *cached = hdst_cache(hdst_map_function(read_items(context, module), module, "keyed"));
        hdst_result *r = hdst_result_create(hdst_reduce_by_key(cached, module, "larger")), *all = hdst_result_create(cached);
        RUN(all);
        refuse_from_now_on(context);
        until_refused = at;
        RUN(r);
        const value *got = hdst_result_rows(r, NULL, &rows);
        const bool last = until_refused > 0;
        until_refused = 0;
        if (!at) {
            first_rows = rows, want = hdst_result_stats(r);
            memcpy(first, got, rows * sizeof *first);
        }
        cr_assert_eq(rows, first_rows, "allocation %d: %d rows", at, (int)rows);
        for (uint64_t i = 0; i < rows; i++) cr_assert(got[i].u == first[i].u && got[i].d == first[i].d, "allocation %d: row %d", at, (int)i);
        expect_counts(r, &want, at);
        refused += strstr(hdst_explain(r, NULL), "not on the device: ") != NULL;
        RUN(r);                                 // memory is there again
        expect_place(r, NULL);
        hdst_context_destroy(context);
        if (last) break;
    }
    cr_expect_gt(refused, 2);
}

// The function has no room in each run that asks the device, until the last one.
static bool launch_fails;

static hdst_status launch(hdst__device *device, hdst__program *program, const hdst__launch *what, hdst_error *error)
{
    const bool fails = launch_fails;
    launch_fails = false;
    return fails ? hdst__error_set(error, HDST_E_MEMORY, "no memory for a kernel") : usual->launch(device, program, what, error);
}

static int in_order(const void *a, const void *b)
{
    const item *x = a, *y = b;
    const uint32_t h = hdst__key_hash(&(uint64_t){x->u}, 4), g = hdst__key_hash(&(uint64_t){y->u}, 4);
    return h != g ? h < g ? -1 : 1 : x->u != y->u ? x->u < y->u ? -1 : 1 : x->at < y->at ? -1 : x->at > y->at;
}

// The same in C.
static void expect_digests(hdst_result *r)
{
    static item sorted[ITEMS];
    uint64_t rows, next = 0;
    RUN(r);
    const uint64_t *got = hdst_result_rows(r, NULL, &rows);
    memcpy(sorted, items, sizeof items);
    qsort(sorted, ITEMS, sizeof *sorted, in_order);
    for (int i = 0; i < ITEMS; next++) {
        uint64_t chain = 0;
        const uint32_t key = sorted[i].u;
        for (; i < ITEMS && sorted[i].u == key; i++) chain = chain * 31 + sorted[i].at;
        cr_assert(next < rows && got[next] == chain, "row %d", (int)next);
    }
    cr_assert_eq(next, rows);
}

Test(group_refusals, a_function_that_is_asked_for_more_and_more_seldom)
{
    static const int rests[] = {0, 1, 0, 3, 2, 1, 0, 7, 6, 5, 4, 3, 2, 1, 0, -1, -1, 0, 1};    // runs that will not ask the device; -1: it had room
    if (!have_cpu()) return;
    fill(300);
    hdst_context *context = context_of();
    hdst_module *module = module_of(context, kernels);
    hdst_dataset *cached = hdst_cache(read_items(context, module));
    hdst_result *r = hdst_result_create(hdst_group_function(cached, "u", module, "chained")), *all = hdst_result_create(cached);
    RUN(all);
    until_refused = 0;
    refuse_from_now_on(context);
    refusing.launch = launch;
    for (size_t turn = 0; turn < sizeof rests / sizeof *rests; turn++) {
        const int rest = rests[turn];
        char words[160] = "the device has no room for them and the function\n";
        const bool asks = !turn || rests[turn - 1] <= 0;
        launch_fails = asks && rest >= 0;
        if (rest > 0) snprintf(words, sizeof words, "for them and the function, which the next %d run%s will not", rest, rest > 1 ? "s" : "");
        expect_digests(r);
        cr_expect(!launch_fails, "turn %d: nothing was launched", (int)turn);
        expect_place(r, rest >= 0 ? words : NULL);
    }
    hdst_result_destroy(r);
    hdst_result_destroy(all);
    hdst_context_destroy(context);
}
