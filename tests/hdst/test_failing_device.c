// SPDX-License-Identifier: Apache-2.0
// A device that fails in the middle of a run that it shares: the others do what it had, or the first one does the stage anew, with the same bits, and
// explain says why. When the device works again it takes part in other stages.
#include "tests/hdst/support.h"

#include <stdatomic.h>
#include <stdlib.h>

enum { RECORDS = 30000, ROWS = 7 };

typedef struct row { uint32_t k; uint32_t v; } row;

static const char text[] =
    "struct row { uint32_t key; uint32_t v; };\n"
    "struct total { uint64_t v; uint32_t n; };\n"
    "struct value { uint32_t v; };\n"
    "map gather(row r, accum total t[]) { t[r.key % 7].v += r.v; t[r.key % 7].n += 1; }\n"
    "map twice(row r) -> row { return (row){ .key = r.key, .v = r.v * 2u }; }\n"
    "struct number { int64_t i; };\n"
    "map checked(number n, accum uint64_t t[]) { t[(n.i * 3 + 1) / 60001] += 1; }\n"
    "filter odd(row r) { return r.v % 2 == 1; }\n"
    "reduce add(value a, value b) { return (value){ .v = a.v + b.v }; }\n";

static row rows[RECORDS];

static void fill(void)
{
    uint32_t state = 12345;
    for (uint32_t i = 0; i < RECORDS; i++) {
        state = state * 1664525 + 1013904223;
        rows[i] = (row){i % 100, state >> 16};
    }
}

// --- The second device, with calls that fail ---

typedef enum fault { LAUNCHES, READS, MARKS, ALL, FAULTS } fault;

static const hdst__device_ops *whole;
static hdst__device_ops broken;
static _Atomic int32_t left;        // calls that go well

static hdst_status refuse(hdst_error *error) { return hdst__error_set(error, HDST_E_DRIVER, "the test has this device fail"); }

static hdst_status launch(hdst__device *device, hdst__program *program, const hdst__launch *what, hdst_error *error)
{
    return atomic_fetch_sub(&left, 1) > 0 ? whole->launch(device, program, what, error) : refuse(error);
}

static hdst_status read_back(hdst__device *device, hdst__memory *from, uint64_t offset, void *to, uint64_t bytes, bool wait, hdst_error *error)
{
    return atomic_fetch_sub(&left, 1) > 0 ? whole->read(device, from, offset, to, bytes, wait, error) : refuse(error);
}

static hdst_status mark(hdst__device *device, hdst__ticket *ticket, hdst_error *error)
{
    return atomic_fetch_sub(&left, 1) > 0 ? whole->mark(device, ticket, error) : refuse(error);
}

// From the first call that failed on nothing of the device's memory can be read.
static hdst_status to_host(hdst__device *device, hdst__memory *memory, hdst_error *error)
{
    return atomic_load(&left) >= 0 ? whole->to_host(device, memory, error) : refuse(error);
}

static void break_device(hdst__device *device, fault f, int32_t after)
{
    whole = device->ops;
    broken = *whole;
    atomic_store(&left, after);
    if (f == LAUNCHES || f == ALL) broken.launch = launch;
    if (f == ALL) broken.to_host = to_host;
    if (f == READS) broken.read = read_back;
    if (f == MARKS) broken.mark = mark;
    device->ops = &broken;
}

// --- Jobs, and what plain C makes of the rows ---

typedef enum kind { SUMS, DENSE, FILTERED, BY_KEY, CACHED, KINDS } kind;

static hdst_result *make(hdst_context *context, kind k)
{
    hdst_module *m = module_of(context, text);
    hdst_dataset *data = hdst_read(hdst_source_from_memory(context, rows, RECORDS, sizeof(row)), m, "row");
    hdst_map_spec *gather = hdst_map_spec_create(m, "gather");
    hdst_bind_accum(gather, "t", ROWS);
    switch (k) {
    case SUMS: return hdst_result_create(hdst_map(data, gather));
    case DENSE: return hdst_result_create(hdst_map_function(data, m, "twice"));
    case FILTERED: return hdst_result_create(hdst_filter_function(data, m, "odd"));
    case BY_KEY: return hdst_result_create(hdst_reduce_by_key(hdst_filter_function(data, m, "odd"), m, "add"));
    default: return hdst_result_create(hdst_map(hdst_cache(data), gather));
    }
}

static void expect_sums(hdst_result *r)
{
    for (uint32_t t = 0; t < ROWS; t++) {
        int64_t sum = 0, n = 0;
        for (uint32_t i = 0; i < RECORDS; i++)
            if (rows[i].k % ROWS == t) sum += rows[i].v, n++;
        cr_assert_eq(hdst_view_int64(hdst_result_field(r, "t", "v"), t, 0), sum);
        cr_assert_eq(hdst_view_int64(hdst_result_field(r, "t", "n"), t, 0), n);
    }
}

static void expect_rows(hdst_result *r, kind k)
{
    uint64_t count, at = 0;
    const row *got = hdst_result_rows(r, NULL, &count);
    cr_assert_not_null(got);
    for (uint32_t i = 0; i < RECORDS; i++) {
        if (k == FILTERED && rows[i].v % 2 == 0) continue;
        cr_assert(at < count && got[at].k == rows[i].k && got[at].v == (k == DENSE ? rows[i].v * 2 : rows[i].v), "record %u", (unsigned)i);
        at++;
    }
    cr_assert_eq(at, count);
}

static void expect_keys(hdst_result *r)
{
    uint64_t count;
    const row *got = hdst_result_rows(r, NULL, &count);
    uint32_t sums[100] = {0}, seen[100] = {0}, there = 0;
    for (uint32_t i = 0; i < RECORDS; i++)
        if (rows[i].v % 2) there += !seen[rows[i].k]++, sums[rows[i].k] += rows[i].v;
    cr_assert_eq(count, there);
    for (uint64_t i = 0; i < count; i++) cr_assert_eq(got[i].v, sums[got[i].k]);
}

static void expect(hdst_result *r, kind k)
{
    if (k == SUMS || k == CACHED) expect_sums(r);
    else if (k == BY_KEY) expect_keys(r);
    else expect_rows(r, k);
}

static uint64_t records_of_all(const hdst_result *r)
{
    const hdst_run_stats stats = hdst_result_stats(r);
    uint64_t sum = 0;
    for (uint32_t i = 0; i < stats.device_count; i++) sum += stats.device[i].records;
    return sum;
}

// Sums are merged at the end: those of the device that failed are left out, and the two others do its records.
static void expect_others(hdst_result *r)
{
    cr_assert_eq(hdst_result_stats(r).device_count, 2, "%s", hdst_explain(r, NULL));
    cr_assert_eq(records_of_all(r), RECORDS, "%s", hdst_explain(r, NULL));
}

Test(failing_device, others_do_the_rest_or_the_first_one_the_stage)
{
    fill();
    if (!have_team()) cr_skip("no halves\n");
    for (int trial = 0; trial < KINDS * FAULTS * 2; trial++) {
        const kind k = (kind)(trial % KINDS);
        hdst_context *context = context_of_team();
        hdst_result *r = make(context, k), *other = make(context, SUMS);
        RUN(k == SUMS ? r : make(context, SUMS));       // opens all; what it leaves in tables of sums is not to be added
        hdst__device *second = context->engine->worker[1].device;
        break_device(second, (fault)(trial / KINDS % FAULTS), trial / KINDS / FAULTS);
        RUN(r);
        const bool failed = atomic_load(&left) < 0;
        expect(r, k);
        if (failed) cr_assert(strstr(hdst_explain(r, NULL), "the test has this device fail"), "kind %d: %s", (int)k, hdst_explain(r, NULL));
        if (failed && k == SUMS) expect_others(r);
        second->ops = whole;
        RUN(r);                                         // as it has learnt to
        expect(r, k);
        RUN(other);
        expect(other, SUMS);
        cr_assert_eq(hdst_result_stats(other).device_count, 3, "the second one is back");
        hdst_context_destroy(context);
    }
}

// Where the first one fails nobody else may do what one does; the error is told, and the next run works. On a busy machine the others may have done all
// before the first one was asked for anything: then there is nothing to tell.
Test(failing_device, the_first_one_s_error_is_told)
{
    fill();
    if (!have_team()) cr_skip("no halves\n");
    int told = 0;
    for (kind k = 0; k < KINDS; k++) {
        hdst_context *context = context_of_team();
        hdst_result *r = make(context, k);
        hdst_error error;
        RUN(make(context, SUMS));
        hdst__device *first = context->engine->worker[0].device;
        break_device(first, LAUNCHES, 0);
        const hdst_status status = hdst_run(r, &error);
        const bool failed = atomic_load(&left) < 0;
        cr_assert_eq(status, failed ? HDST_E_DRIVER : HDST_OK, "%s", error.message);
        if (failed) cr_assert(strstr(error.message, "the test has this device fail"), "%s", error.message);
        told += failed;
        first->ops = whole;
        RUN(r);
        expect(r, k);
        hdst_context_destroy(context);
    }
    cr_assert(told, "the first one was asked for nothing");
}

// Numbers that kernels make are never waited for: whether one failed is asked at the end.
Test(failing_device, a_number_that_fails_is_told)
{
    if (!have_team()) cr_skip("no halves\n");
    hdst_context *context = context_of_team();
    hdst_module *m = module_of(context, text);
    hdst_dataset *numbers = hdst_read(hdst_source_from_range(context, 0, RECORDS), m, "number");
    hdst_map_spec *checked = hdst_map_spec_create(m, "checked");
    hdst_bind_accum(checked, "t", 1);
    hdst_result *r = hdst_result_create(hdst_map(numbers, checked));
    hdst_error error;
    cr_assert_eq(hdst_run(r, &error), HDST_E_RECORD, "%s", error.message);
    cr_assert(strstr(error.message, "in record 20,000"), "%s", error.message);
    hdst_context_destroy(context);
}
