// SPDX-License-Identifier: Apache-2.0
// Strips of CPU devices where the memory budget has little room for their tables: fewer, or all without tables; the same rows, as plain C has
// them, within the budget.
#include "base/costs_cpu.h"
#include "base/costs_host.h"
#include "engine/stage/launch_strips.h"
#include "tests/hdst/support.h"

#include <stdlib.h>

typedef struct item { uint32_t key; int32_t v; } item;
typedef struct cell { int64_t sum; int32_t most; uint32_t bits; } cell;

static const char kernels[] =
    "struct item { uint32_t key; int32_t v; };\n"
    "struct cell { int64_t sum; int32_t most; uint32_t bits; };\n"
    "map gather(item i, accum cell t[]) { t[i.key].sum += i.v; acc_max(t[i.key].most, i.v); "
    "t[i.key].bits |= 1u << (uint32_t)(i.v & 31); }\n"
    "map gather_doubles(item i, accum double t[]) { t[i.key] += (double)i.v; }\n";

enum { N = 300000, MIB = 1 << 20 };
static item items[N];

static void fill(uint32_t rows)
{
    uint64_t state = 3;
    for (uint32_t i = 0; i < N; i++) {
        state = state * UINT64_C(6364136223846793005) + 1442695040888963407;
        items[i] = (item){i % 5 ? (uint32_t)(state >> 33) % rows : rows / 2, (int32_t)(state >> 20)};
    }
}

static hdst_result *run_with(hdst_context *context, const char *map, uint64_t rows)
{
    hdst_module *module = module_of(context, kernels);
    hdst_map_spec *spec = hdst_map_spec_create(module, map);
    hdst_bind_accum(spec, "t", rows);
    hdst_result *result = hdst_result_create(hdst_map(hdst_read(hdst_source_from_memory(context, items, N, sizeof *items), module, "item"), spec));
    RUN(result);
    RUN(result);        // tables are cleared
    return result;
}

static void check_cells(hdst_result *result, uint32_t rows)
{
    cell *expected = calloc(rows, sizeof *expected);
    for (uint32_t k = 0; k < rows; k++) expected[k].most = INT32_MIN;
    for (uint32_t i = 0; i < N; i++) {
        cell *e = &expected[items[i].key];
        *e = (cell){e->sum + items[i].v, items[i].v > e->most ? items[i].v : e->most, e->bits | UINT32_C(1) << (items[i].v & 31)};
    }
    cr_assert(!memcmp(hdst_result_rows(result, "t", NULL), expected, rows * sizeof *expected));
    free(expected);
}

static hdst_context *context_with(uint64_t memory)
{
    hdst_context_options options = HDST_CONTEXT_OPTIONS_INIT;
    options.device = "cpu";
    options.memory = memory;
    return hdst_context_create(&options);
}

// "...; 12 work-items (WORDS": how many there are.
static unsigned long strips_of(const char *explained, const char *words)
{
    const char *at = strstr(explained, words);
    cr_assert(at, "no '%s' in %s", words, explained);
    while (at > explained && *at != ';') at--;
    return strtoul(at + 1, NULL, 10);
}

static void check_way(uint64_t memory, uint32_t rows, const char *words, unsigned long least)
{
    fill(rows);
    hdst_context *context = context_with(memory);
    hdst_result *result = run_with(context, "gather", rows);
    check_cells(result, rows);
    cr_assert_geq(strips_of(hdst_explain(result, NULL), words), least, "%s", hdst_explain(result, NULL));
    if (memory) cr_assert_leq(hdst_result_stats(result).host_peak_bytes, memory + memory / 10);
    hdst_context_destroy(context);
}

Test(launch_strips, as_many_as_there_is_room_for)
{
    enum { ROWS = 8000 };               // 256,000 bytes a strip
    if (!have_cpu()) return;
    check_way(0, ROWS, "8 strips per core", 8);
    hdst_context *context = context_with(0);
    hdst_device_info info;
    cr_assert_eq(hdst_device_chosen(context, &info, NULL), HDST_OK);
    const uint64_t all = UINT64_C(8) * info.compute_units * ROWS * 4 * 8;       // a row's three words are padded to four
    hdst_context_destroy(context);
    check_way(3 * all / 2, ROWS, "as many strips as the budget has room for tables", 2);
}

// The device's table has room, what comes back of it and the rows; the strips' have not.
Test(launch_strips, without_tables_of_their_own)
{
    enum { ROWS = 400000 };             // 9.6 MB of words, 12.8 MB of a strip's, 6.4 MB of rows
    if (!have_cpu()) return;
    check_way(40 * MIB, ROWS, "which add to the device's table", 8);
}

// Sums of floats keep their strips, whose words are quick.
Test(launch_strips, float_sums_keep_theirs)
{
    enum { ROWS = 4000 };
    if (!have_cpu()) return;
    fill(ROWS);
    hdst_context *context = context_with(14 * MIB);
    hdst_result *result = run_with(context, "gather_doubles", ROWS);
    double expected[ROWS] = {0};
    for (uint32_t i = 0; i < N; i++) expected[items[i].key] += items[i].v;      // exact: whole numbers below 2^53
    cr_assert(!memcmp(hdst_result_rows(result, "t", NULL), expected, sizeof expected));
    cr_assert_not(strstr(hdst_explain(result, NULL), "which add to the device's table"));
    hdst_context_destroy(context);
}

// Tables that take long to add up are added up rarely; a run with the largest ones can still be cancelled.
Test(launch_strips, slices_with_large_tables_are_longer)
{
    cr_expect_eq(hdst__slice_seconds(0), HDST__HOST_SLICE_SECONDS);
    cr_expect_lt(hdst__slice_seconds(1000), 1.01 * HDST__HOST_SLICE_SECONDS);
    const double flush = (32 << 20) * HDST__CPU_FLUSH_WORD_SECONDS;
    cr_expect_gt(hdst__slice_seconds(32 << 20), 8 * flush);
    cr_expect_eq(hdst__slice_seconds(UINT64_MAX), HDST__HOST_LONG_SLICE_SECONDS);
}
