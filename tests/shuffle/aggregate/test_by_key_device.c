// SPDX-License-Identifier: Apache-2.0
// Reductions by key on a GPU (kernels as a GPU gets them, on a CPU device) against the container in host memory,
// which test_by_key.c holds against plain C: the same records in the same order, bit for bit.
#include "tests/hdst/support.h"

#include "engine/engine_state.h"

#include <math.h>
#include <stdlib.h>

typedef struct row { uint32_t key; float v; } row;

static const char kernels[] =
    "struct row { uint32_t key; float v; };\n"
    "reduce add(float a, float b) { return a + b; }\n";

static const char many_kernels[] =
    "struct id { uint16_t a; uint32_t b; };\n"
    "struct row { struct id key; double w; int16_t least; float most; uint8_t bits; uint32_t n; };\n"
    "struct values { double w; int16_t least; float most; uint8_t bits; uint32_t n; };\n"
    "reduce join(values a, values b) { return (values){ .w = a.w + b.w, .least = min(a.least, b.least), .most = max(a.most, b.most),\n"
    "                                                   .bits = a.bits | b.bits, .n = a.n + b.n }; }\n";
typedef struct keyed { uint16_t a; uint32_t b; double w; int16_t least; float most; uint8_t bits; uint32_t n; } keyed;

enum { N = 60000 };
static row rows[N];
static keyed wide_rows[N];

static uint64_t next_random(void)
{
    static uint64_t state = 11;
    state = state * UINT64_C(6364136223846793005) + 1442695040888963407;
    return state >> 20;
}

typedef struct form {
    const char *name;
    bool device;
    uint32_t table_bits, part_bits;
    uint64_t overflow_cells;
} form;

static const form host = {"host", false, 0, 0, 0};
static const form forms[] = {{"as chosen", true, 0, 0, 0}, {"small tables", true, 7, 2, 16}};

typedef struct rows_of { void *bytes; uint64_t count, size; char how[4096]; } rows_of;

static rows_of reduce(const form *f, const char *text, const void *records, uint64_t count, uint64_t size, hdst_layout layout, const char *function)
{
    hdst_context *context = context_in_form(f->device ? "gpu-form" : "interp");
    context->engine->limits.by_key_device_least = 1;
    context->engine->limits.by_key_table_bits = f->table_bits;
    context->engine->limits.by_key_partition_bits = f->part_bits;
    context->engine->options.overflow_cells = f->overflow_cells;
    hdst_module *module = module_of(context, text);
    hdst_dataset *data = hdst_cache(hdst_with_layout(hdst_read(hdst_source_from_memory(context, records, count, size), module, "row"), layout));
    hdst_result *result = hdst_result_create(function ? hdst_reduce_by_key(data, module, function) : hdst_distinct(data));
    rows_of all = {.size = size};
    for (int run = 0; run < 2; run++) {         // the second one knows what the first one found
        RUN(result);
        const void *got = hdst_result_rows(result, NULL, &all.count);
        free(all.bytes);
        all.bytes = malloc(all.count * size + 1);
        memcpy(all.bytes, got, all.count * size);
    }
    snprintf(all.how, sizeof all.how, "%s", hdst_explain(result, NULL));
    cr_assert_eq(strstr(all.how, "device hash") != NULL, f->device, "%s", all.how);
    hdst_context_destroy(context);
    return all;
}

static void check_same(const rows_of *expected, const rows_of *got, const char *what, const char *how)
{
    cr_assert_eq(got->count, expected->count, "%s, %s: %llu rows, not %llu\n%s", what, how, (unsigned long long)got->count,
                 (unsigned long long)expected->count, got->how);
    for (uint64_t i = 0; i < got->count; i++)
        cr_assert(memcmp((char *)got->bytes + i * got->size, (char *)expected->bytes + i * got->size, got->size) == 0,
                  "%s, %s: row %llu of %llu differs\n%s", what, how,
                  (unsigned long long)i, (unsigned long long)got->count, got->how);
}

static void check(const char *what, hdst_layout layout)
{
    rows_of expected = reduce(&host, kernels, rows, N, sizeof(row), layout, "add");
    for (size_t f = 0; f < sizeof forms / sizeof *forms; f++) {
        rows_of got = reduce(&forms[f], kernels, rows, N, sizeof(row), layout, "add");
        check_same(&expected, &got, what, forms[f].name);
        free(got.bytes);
    }
    free(expected.bytes);
}

static float value_of(bool wild)
{
    const uint64_t bits = next_random();
    return ldexpf((float)(bits % (1 << 24)) - (1 << 23), wild ? (int)(bits >> 24) % 200 - 120 : -24);
}

Test(by_key_device, sums_of_floats)
{
    if (!have_cpu()) return;
    for (uint32_t i = 0; i < N; i++) rows[i] = (row){(uint32_t)next_random(), value_of(false)};
    check("different keys", HDST_AOS);
    for (uint32_t i = 0; i < N; i++) rows[i] = (row){(uint32_t)next_random() % 5000 * 77777, value_of(false)};
    check("many keys", HDST_SOA);
    for (uint32_t i = 0; i < N; i++) rows[i] = (row){(uint32_t)next_random() % 100, value_of(false)};
    check("few keys", HDST_AOS);
    for (uint32_t i = 0; i < N; i++) rows[i] = (row){i % 3 ? 12345 : (uint32_t)next_random() % 20000, value_of(i % 50 == 0)};
    check("a hot key", HDST_AOS);
    for (uint32_t i = 0; i < N; i++) rows[i] = (row){7, value_of(i % 1000 == 0)};
    check("one key", HDST_SOA);
}

// A key of two fields in 64 bits; doubles in two words; minima, maxima, bits and counts; padding.
Test(by_key_device, wide_keys_and_all_laws)
{
    if (!have_cpu()) return;
    memset(wide_rows, 0, sizeof wide_rows);
    for (uint32_t i = 0; i < N; i++) {
        const uint64_t r = next_random();
        wide_rows[i] = (keyed){.a = (uint16_t)(r % 50), .b = (uint32_t)(r >> 8) % 200 * 0x1000001u,
                               .w = ldexp((double)(int64_t)(next_random() >> 3) * 0x1p-40 - 8, i % 400 == 0 ? (int)(r % 60) : 0), .least = (int16_t)(r >> 4),
                             .most = (float)(int)(r >> 12), .bits = (uint8_t)(1u << r % 8), .n = (uint32_t)r};
    }
    rows_of expected = reduce(&host, many_kernels, wide_rows, N, sizeof(keyed), HDST_AOS, "join");
    for (size_t f = 0; f < sizeof forms / sizeof *forms; f++) {
        rows_of got = reduce(&forms[f], many_kernels, wide_rows, N, sizeof(keyed), f ? HDST_SOA : HDST_AOS, "join");
        check_same(&expected, &got, "wide keys", forms[f].name);
        free(got.bytes);
    }
    free(expected.bytes);
}

static const char extreme_kernels[] =
    "struct row { uint32_t key; int64_t low; double high; uint64_t top; };\n"
    "struct values { int64_t low; double high; uint64_t top; };\n"
    "reduce extremes(values a, values b) { return (values){ .low = min(a.low, b.low), .high = max(a.high, b.high), .top = max(a.top, b.top) }; }\n";
typedef struct extreme { uint32_t key; int64_t low; double high; uint64_t top; } extreme;

static double some_double(uint64_t bits)
{
    static const double special[] = {0.0, -0.0, INFINITY, -INFINITY, NAN, 0x1p-1074, -0x1.fffffffffffffp1023};
    return bits % 40 < 7 ? special[bits % 40] : ldexp((double)(int64_t)bits, (int)(bits % 64) - 40);
}

// In local memory where keys are heavy hitters, and where each partition has a table of its own.
Test(by_key_device, minima_and_maxima_of_64_bits)
{
    if (!have_cpu()) return;
    static extreme records[N];
    for (int many = 0; many < 2; many++) {
        memset(records, 0, sizeof records);
        for (uint32_t i = 0; i < N; i++) {
            const uint64_t r = next_random();
            records[i].key = (uint32_t)r % (many ? 9000 : 60) * 7777777;
            records[i].low = (int64_t)(next_random() << 20 ^ r), records[i].top = next_random() << 20 ^ r;
            records[i].high = some_double(next_random() << 17 ^ r);
        }
        const hdst_layout layout = many ? HDST_SOA : HDST_AOS;
        rows_of expected = reduce(&host, extreme_kernels, records, N, sizeof(extreme), layout, "extremes");
        rows_of got = reduce(&forms[0], extreme_kernels, records, N, sizeof(extreme), layout, "extremes");
        check_same(&expected, &got, "minima and maxima", many ? "many keys" : "few keys");
        for (uint64_t k = 0; k < got.count; k++) {      // beside the host's way: plain C
            const extreme *at = (const extreme *)got.bytes + k;
            extreme all = {.key = at->key, .low = INT64_MAX};
            for (uint32_t i = 0; i < N && k % 50 == 0; i++) {
                if (records[i].key != at->key) continue;
                if (records[i].low < all.low) all.low = records[i].low;
                if (records[i].top > all.top) all.top = records[i].top;
            }
            if (k % 50 == 0) cr_assert(at->low == all.low && at->top == all.top, "key %u", at->key);
        }
        free(got.bytes);
        free(expected.bytes);
    }
}

// Keys alone.
Test(by_key_device, distinct_records)
{
    if (!have_cpu()) return;
    for (uint32_t i = 0; i < N; i++) rows[i] = (row){(uint32_t)next_random() % 3000, (float)(next_random() % 3)};
    rows_of expected = reduce(&host, kernels, rows, N, sizeof(row), HDST_AOS, NULL), got = reduce(&forms[0], kernels, rows, N, sizeof(row), HDST_AOS, NULL);
    check_same(&expected, &got, "distinct", forms[0].name);
    free(expected.bytes);
    free(got.bytes);
}

// Behind a filter and a map, whose records stay on the device: after another value is bound they are others, of other size, with other keys.
static const char mapped_kernels[] =
    "struct row { uint32_t key; float v; };\n"
    "struct count { uint32_t key; uint64_t n; };\n"
    "filter most(row r) { return r.key % 8u != 3u; }\n"
    "map scaled(row r, broadcast float by) -> row { return (row){ .key = by > 1.0f ? r.key % 1000u : r.key, .v = r.v * by }; }\n"
    "reduce add(float a, float b) { return a + b; }\n";

typedef struct job { hdst_context *context; hdst_value *by; hdst_result *sums, *counts; } job;

static job open_job(const char *device)
{
    job j = {.context = context_in_form(device)};
    j.context->engine->limits.by_key_device_least = 1;
    hdst_module *module = module_of(j.context, mapped_kernels);
    j.by = hdst_value_create(module, "float", 1);
    for (int counts = 0; counts < 2; counts++) {
        hdst_dataset *data = hdst_read(hdst_source_from_memory(j.context, rows, N, sizeof(row)), module, "row");
        hdst_map_spec *spec = hdst_map_spec_create(module, "scaled");
        hdst_bind_value(spec, "by", j.by);
        hdst_dataset *mapped = hdst_map(hdst_filter_function(data, module, "most"), spec);
        *(counts ? &j.counts : &j.sums) = hdst_result_create(counts ? hdst_count_by_key(mapped, module, "count") : hdst_reduce_by_key(mapped, module, "add"));
    }
    return j;
}

static rows_of run_with(hdst_result *result, uint64_t size, bool device)
{
    rows_of all = {.size = size};
    RUN(result);
    all.bytes = (void *)hdst_result_rows(result, NULL, &all.count);
    snprintf(all.how, sizeof all.how, "%s", hdst_explain(result, NULL));
    cr_assert_eq(strstr(all.how, "device hash") != NULL, device, "%s", all.how);
    return all;
}

Test(by_key_device, behind_functions)
{
    if (!have_cpu()) return;
    for (uint32_t i = 0; i < N; i++) rows[i] = (row){(uint32_t)next_random() % 30000, value_of(false)};
    job expected = open_job("interp"), got = open_job("gpu-form");
    const float by[] = {1, 1e20f, 0.25f};
    for (int run = 0; run < 3; run++) {
        hdst_value_set(expected.by, &by[run], 1);
        hdst_value_set(got.by, &by[run], 1);
        const rows_of sums = run_with(expected.sums, sizeof(row), false), counts = run_with(expected.counts, 16, false);
        cr_assert_eq(sums.count, counts.count);
        cr_assert_leq(sums.count, run == 1 ? 1000 : 30000);
        const rows_of device_sums = run_with(got.sums, sizeof(row), true), device_counts = run_with(got.counts, 16, true);
        check_same(&sums, &device_sums, "sums", "behind functions");
        check_same(&counts, &device_counts, "counts", "behind functions");
    }
    hdst_context_destroy(expected.context);
    hdst_context_destroy(got.context);
}

typedef struct registered_job { hdst_context *context; hdst_result *sums; } registered_job;

static registered_job over_memory(const char *device, const row *records, uint64_t count, bool registered)
{
    registered_job j = {.context = context_in_form(device)};
    j.context->engine->limits.by_key_device_least = 1000;
    if (registered) cr_assert_eq(hdst_memory_register(j.context, records, N * sizeof(row), NULL), HDST_OK);
    hdst_module *module = module_of(j.context, kernels);
    hdst_dataset *data = hdst_read(hdst_source_from_memory(j.context, records, count, sizeof(row)), module, "row");
    j.sums = hdst_result_create(hdst_reduce_by_key(data, module, "add"));
    return j;
}

// The program writes to its memory between runs: other keys, and values of sizes that no words hold, after which the device is not asked again.
Test(by_key_device, of_registered_memory)
{
    if (!have_cpu()) return;
    static const uint64_t counts[] = {N, N - 1, 1001};
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
        registered_job expected = over_memory("interp", rows, counts[c], false), got = over_memory("gpu-form", rows, counts[c], true);
        for (int run = 0; run < 4; run++) {
            const uint32_t keys[] = {30000, 1, UINT32_MAX, 900};
            for (uint32_t i = 0; i < N; i++) rows[i] = (row){(uint32_t)next_random() % keys[run], value_of(run == 2)};
            const rows_of host_sums = run_with(expected.sums, sizeof(row), false), sums = run_with(got.sums, sizeof(row), run < 2);
            check_same(&host_sums, &sums, "sums", "registered memory");
            cr_assert_eq(strstr(sums.how, "copied to the device for this run") != NULL, run < 2, "%s", sums.how);
            cr_assert_eq(strstr(sums.how, "not on the device: no two words") != NULL, run >= 2, "%s", sums.how);
        }
        hdst_context_destroy(expected.context);
        hdst_context_destroy(got.context);
    }
}

// Too few records, memory that is not registered, or only a part of it: the host's threads read it where it lies.
Test(by_key_device, of_memory_that_is_not_registered)
{
    if (!have_cpu()) return;
    for (uint32_t i = 0; i < N; i++) rows[i] = (row){(uint32_t)next_random() % 3000, value_of(false)};
    registered_job expected = over_memory("interp", rows, N, false), unregistered = over_memory("gpu-form", rows, N, false);
    const rows_of all = run_with(expected.sums, sizeof(row), false), sums = run_with(unregistered.sums, sizeof(row), false);
    check_same(&all, &sums, "sums", "unregistered memory");
    registered_job few = over_memory("gpu-form", rows, 999, true);
    cr_assert_geq(run_with(few.sums, sizeof(row), false).count, 1);
    hdst_context_destroy(few.context);
    registered_job part = over_memory("gpu-form", rows, N, false);
    cr_assert_eq(hdst_memory_register(part.context, rows, (N - 1) * sizeof(row), NULL), HDST_OK);
    const rows_of of_part = run_with(part.sums, sizeof(row), false);
    check_same(&all, &of_part, "sums", "a part is registered");
    hdst_context_destroy(part.context);
    hdst_context_destroy(expected.context);
    hdst_context_destroy(unregistered.context);
}

// The device has no room for records and tuples: the host's threads reduce them, in the second run, too. Few records had better stay there anyhow.
Test(by_key_device, of_registered_memory_without_room)
{
    if (!have_cpu()) return;
    for (uint32_t i = 0; i < N; i++) rows[i] = (row){(uint32_t)next_random(), value_of(false)};
    registered_job expected = over_memory("interp", rows, N, false), got = over_memory("gpu-form", rows, N, true);
    got.context->engine->options.device_memory = 1 << 20;       // no device is open yet
    const rows_of all = run_with(expected.sums, sizeof(row), false);
    for (int run = 0; run < 2; run++) {
        const rows_of sums = run_with(got.sums, sizeof(row), false);
        check_same(&all, &sums, "sums", "no room");
        cr_expect(strstr(sums.how, "not on the device: records and tuples of them take "), "%s", sums.how);
    }
    got.context->engine->limits.by_key_device_least = N + 1;
    cr_expect_null(strstr(run_with(got.sums, sizeof(row), false).how, "not on the device"));
    hdst_context_destroy(expected.context);
    hdst_context_destroy(got.context);
    registered_job part = over_memory("gpu-form", rows, N, false);              // who registered nothing expects nothing
    part.context->engine->options.device_memory = 1 << 20;
    cr_assert_eq(hdst_memory_register(part.context, rows, (N - 1) * sizeof(row), NULL), HDST_OK);
    cr_expect_null(strstr(run_with(part.sums, sizeof(row), false).how, "not on the device"));
    hdst_context_destroy(part.context);
}

// Some allocation fails once, with a message or without. The host does that run, and the device the next one.
static hdst__device_ops refusing;
static const hdst__device_ops *usual;
static int until_refused;
static bool tells_why;

static hdst_status refuse(hdst__device *device, hdst__memory_kind kind, hdst__owner owner, uint64_t bytes, const char *what, hdst__memory **memory,
                          hdst_error *error)
{
    if (--until_refused == 0) return tells_why ? hdst__error_set(error, HDST_E_MEMORY, "no memory for a moment") : HDST_E_MEMORY;
    return usual->alloc(device, kind, owner, bytes, what, memory, error);
}

Test(by_key_device, of_registered_memory_that_is_short_for_a_moment)
{
    if (!have_cpu()) return;
    for (uint32_t i = 0; i < N; i++) rows[i] = (row){(uint32_t)next_random() % 30000, value_of(false)};
    registered_job expected = over_memory("interp", rows, N, false);
    const rows_of all = run_with(expected.sums, sizeof(row), false);
    int refused = 0, told[2] = {0};
    for (int at = 1;; at += 1 + at / 3) {
        tells_why = at % 2;
        registered_job got = over_memory("gpu-form", rows, N, true);
        hdst__device *device;
        cr_assert_eq(hdst__engine_open(got.context->engine, &device, NULL), HDST_OK);
        usual = device->ops;
        refusing = *usual;
        refusing.alloc = refuse;
        device->ops = &refusing;
        until_refused = at;
        RUN(got.sums);
        const bool done = until_refused > 0, did = strstr(hdst_explain(got.sums, NULL), "copied to the device for this run");
        refused += !did;
        if (!did) cr_expect(strstr(hdst_explain(got.sums, NULL), "not on the device: "), "allocation %d: %s", at, hdst_explain(got.sums, NULL));
        told[tells_why] += strstr(hdst_explain(got.sums, NULL), tells_why ? "no memory for a moment" : "its memory was short") != NULL;
        until_refused = 0;
        const rows_of sums = run_with(got.sums, sizeof(row), true);
        check_same(&all, &sums, "sums", "short for a moment");
        device->ops = usual;
        hdst_context_destroy(got.context);
        if (done) break;
    }
    cr_expect_gt(refused, 3, "%d runs were refused", refused);
    cr_expect(told[0] && told[1], "%d and %d reasons", told[0], told[1]);
    hdst_context_destroy(expected.context);
}
