// SPDX-License-Identifier: Apache-2.0
// Large tables of narrow numbers on a CPU device, whose strips have words of 32 bits: the rows of plain C, and the interpreter's, which has words of 64.
#include "tests/hdst/support.h"

#include <math.h>
#include <stdlib.h>

enum { RECORDS = 50000, ROWS = 20000, RUNS = 2 };

static const char text[] =
    "struct noted { uint32_t row; int32_t number; float value; };\n"
    "map note(noted n, accum uint32_t least[], accum int32_t most[], accum float high[], accum float low[], accum uint32_t sum[], accum int32_t signs[],\n"
    "         accum int16_t small[], accum bool any[], accum int8_t bits[], accum int32_t flips[], accum uint32_t all[], accum int64_t wide[])\n"
    "{\n"
    "    acc_min(least[n.row], (uint32_t)n.number);\n"
    "    acc_max(most[n.row], n.number);\n"
    "    acc_max(high[n.row], n.value);\n"
    "    acc_min(low[n.row], n.value);\n"
    "    sum[n.row] += (uint32_t)n.number;\n"
    "    signs[n.row] += n.number % 1000;\n"
    "    small[n.row] -= (int16_t)n.number;\n"
    "    any[n.row] |= n.number > 0;\n"
    "    bits[n.row] |= (int8_t)n.number;\n"
    "    flips[n.row] ^= n.number;\n"
    "    all[n.row] &= (uint32_t)n.number;\n"
    "    wide[n.row] += n.number;\n"
    "}\n";

typedef struct noted { uint32_t row; int32_t number; float value; } noted;
typedef struct table { const char *name; size_t bytes; void *right; } table;

static noted records[RECORDS];
static uint32_t least[ROWS], sum[ROWS], all[ROWS];
static int32_t most[ROWS], signs[ROWS], flips[ROWS];
static int16_t small[ROWS];
static int8_t bits[ROWS];
static bool any[ROWS];
static int64_t wide[ROWS];
static float high[ROWS], low[ROWS];

static const table tables[] = {{"least", 4, least}, {"most", 4, most}, {"high", 4, high}, {"low", 4, low}, {"sum", 4, sum}, {"signs", 4, signs},
                               {"small", 2, small}, {"any", 1, any}, {"bits", 1, bits}, {"flips", 4, flips}, {"all", 4, all}, {"wide", 8, wide}};
enum { TABLES = sizeof tables / sizeof *tables };

static void make_records(void)
{
    uint64_t state = 11;
    for (uint32_t i = 0; i < RECORDS; i++) {
        state = state * UINT64_C(6364136223846793005) + 1442695040888963407;
        const uint32_t row = (uint32_t)(state >> 40) % (ROWS - 10);      // the last ones get nothing
        state = state * UINT64_C(6364136223846793005) + 1442695040888963407;
        records[i] = (noted){row, (int32_t)(state >> 32), i % 500 == 3 ? NAN : (float)(int32_t)(state >> 20)};
    }
}

static float or_nan(float a, float b, bool second) { return isnan(a) || isnan(b) ? NAN : second ? b : a; }

static void add_up(void)
{
    for (uint32_t k = 0; k < ROWS; k++) {
        least[k] = all[k] = UINT32_MAX;
        most[k] = INT32_MIN;
        high[k] = -INFINITY;
        low[k] = INFINITY;
    }
    for (const noted *n = records; n < records + RECORDS; n++) {
        const uint32_t k = n->row, number = (uint32_t)n->number;
        if (number < least[k]) least[k] = number;
        if (n->number > most[k]) most[k] = n->number;
        high[k] = or_nan(high[k], n->value, n->value > high[k]);
        low[k] = or_nan(low[k], n->value, n->value < low[k]);
        sum[k] += number;
        signs[k] += n->number % 1000;
        small[k] = (int16_t)(small[k] - (int16_t)n->number);
        any[k] |= n->number > 0;
        bits[k] |= (int8_t)n->number;
        flips[k] ^= n->number;
        all[k] &= number;
        wide[k] += n->number;
    }
}

static void compare(hdst_result *result, const char *device)
{
    for (int t = 0; t < TABLES; t++) {
        uint64_t count;
        const char *rows = hdst_result_rows(result, tables[t].name, &count), *right = tables[t].right;
        cr_assert(rows && count == ROWS);
        for (uint64_t k = 0; k < ROWS; k++)
            cr_assert(!memcmp(rows + k * tables[t].bytes, right + k * tables[t].bytes, tables[t].bytes), "%s, row %d of %s", device, (int)k, tables[t].name);
    }
}

static void run_on(const char *device, int narrow)
{
    hdst_context *context = context_on(device);
    hdst_module *module = module_of(context, text);
    hdst_map_spec *spec = hdst_map_spec_create(module, "note");
    for (int t = 0; t < TABLES; t++) hdst_bind_accum(spec, tables[t].name, ROWS);
    hdst_result *result = hdst_result_create(hdst_map(hdst_read(hdst_source_from_memory(context, records, RECORDS, sizeof *records), module, "noted"), spec));
    for (int run = 0; run < RUNS; run++) {
        RUN(result);
        compare(result, device);
    }
    hdst_error error;
    const char *said = hdst_explain(result, &error);
    cr_assert(said, "%s", error.message);
    for (; (said = strstr(said, "in words of 32 bits")); said++) narrow--;
    cr_assert_eq(narrow, 0);
    hdst_context_destroy(context);
}

Test(narrow_tables, have_the_rows_of_plain_c)
{
    make_records();
    add_up();
    run_on("interp", 0);
    if (has_cpu()) run_on("cpu", TABLES - 2);        // not the complements of `all`, nor what is wider
}
