// SPDX-License-Identifier: Apache-2.0
// Tables with many rows on a GPU (the GPU form on a CPU device): a word for each float sum, overflow cells for what does
// not fit. Against plain C where sums are whole numbers, and against the interpreter, whose cells are all wide, where
// addends lie over 240 binades.
#include "tests/hdst/support.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

enum { RECORDS = 40000, ROWS = 3000, LOCAL = 4096 };

static const char text[] =
    "struct pair { uint32_t key; float value; };\n"
    "struct row { float sum; uint32_t n; float least; double twice; uint64_t all; };\n"
    "struct sums { float sum; uint32_t n; double twice; uint64_t all; };\n"
    "struct bounds { float least; int16_t most; int32_t every; };\n"
    "map gather_bounds(pair p, accum bounds t[])\n"
    "{\n"
    "    acc_min(t[p.key].least, p.value);\n"
    "    acc_max(t[p.key].most, (int16_t)(p.key * 7));\n"
    "    t[p.key].every &= (int32_t)(p.key | 1);\n"
    "}\n"
    "reduce add(float a, float b) { return a + b; }\n"
    "map gather(pair p, accum row t[])\n"
    "{\n"
    "    t[p.key].sum += p.value;\n"
    "    t[p.key].n += 1;\n"
    "    acc_min(t[p.key].least, p.value);\n"
    "    t[p.key].twice += p.value * 2;\n"
    "    t[p.key].all += p.key * 3;\n"
    "}\n"
    "map gather_sums(pair p, accum sums t[])\n"
    "{\n"
    "    if (p.key % 7 != 2) {\n"
    "        t[p.key].sum += p.value;\n"
    "        t[p.key].n += 1;\n"
    "        t[p.key].twice += p.value * 2;\n"
    "        t[p.key].all += p.key * 3;\n"
    "    }\n"
    "}\n";

typedef struct pair { uint32_t key; float value; } pair;
typedef struct row { float sum; uint32_t n; float least; double twice; uint64_t all; } row;

typedef struct sums { float sum; uint32_t n; double twice; uint64_t all; } sums;

typedef struct bounds { float least; int16_t most; int32_t every; } bounds;

static pair pairs[RECORDS];

static uint64_t random_bits(uint64_t *state)        // xorshift64*
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * UINT64_C(0x2545f4914f6cdd1d);
}

// Local memory has no room for the table.
static hdst_context *gpu_context(uint64_t overflow_cells, bool parted)
{
    hdst_context *context = context_in_form("gpu-form");
    context->engine->options.local_bytes = parted ? 2 * LOCAL : LOCAL;
    context->engine->options.tuples_always = parted;
    context->engine->limits.sample_seconds = 1;        // all of the sample, however slow the machine is
    context->engine->options.overflow_cells = overflow_cells;
    return context;
}

static hdst_dataset *dataset(hdst_context *context, hdst_module *module, uint64_t records)
{
    return hdst_cache(hdst_read(hdst_source_from_memory(context, pairs, records, sizeof *pairs), module, "pair"));
}

static void expect_explained(hdst_result *r, const char *words)
{
    hdst_error error;
    const char *explanation = hdst_explain(r, &error);
    cr_assert(explanation && strstr(explanation, words), "no '%s' in:\n%s", words, explanation ? explanation : error.message);
}

static void sum_whole_numbers(uint64_t records, uint64_t rows, bool parted, const char *explained)
{
    float *expected = calloc(rows, sizeof *expected);
    uint64_t state = 7;
    for (uint32_t i = 0; i < records; i++) {
        pairs[i] = (pair){(uint32_t)(random_bits(&state) % (rows - 1)), (float)(random_bits(&state) % 2000) - 1000};      // nothing comes to the last row
        if (i % 3 == 0) pairs[i].key = 1;
        expected[pairs[i].key] += pairs[i].value;
    }
    hdst_context *context = gpu_context(0, parted);
    hdst_module *m = module_of(context, text);
    hdst_result *r = hdst_result_create(hdst_reduce_dense(dataset(context, m, records), m, "add", rows));
    for (int t = 0; t < 2; t++) {
        uint64_t count;
        RUN(r);
        const float *to = hdst_result_rows(r, NULL, &count);
        cr_assert_eq(count, rows);
        for (uint64_t k = 0; k < rows; k++) cr_assert_eq(to[k], expected[k], "run %d, row %d: %g, not %g", t, (int)k, (double)to[k], (double)expected[k]);
        cr_assert_eq(signbit(to[rows - 1]), 0);
    }
    expect_explained(r, explained);
    hdst_context_destroy(context);
    free(expected);
}

Test(fixed_point_tables, whole_numbers_are_right)
{
    if (have_cpu()) sum_whole_numbers(RECORDS, ROWS, false, "words in device memory");
}

Test(fixed_point_tables, parts_are_right_in_one_order_and_in_two)
{
    if (!have_cpu()) return;
    sum_whole_numbers(RECORDS, ROWS, true, "radix partitions of 512 rows");
    sum_whole_numbers(RECORDS, 150000, true, "then of");
    sum_whole_numbers(100, ROWS, true, "radix partitions of");
}

// One in 150 lies anywhere over 240 binades, denormals among them; none of those that a sample may meet, which would choose another form.
static void make_wild(void)
{
    uint64_t state = 42;
    for (uint32_t i = 0; i < RECORDS; i++) {
        const float mantissa = (float)(random_bits(&state) >> 40) * 0x1p-24f + 1;
        const bool wild = random_bits(&state) % 150 == 0 && i % (RECORDS / 16) >= 16;
        pairs[i].key = (uint32_t)(random_bits(&state) % ROWS);
        pairs[i].value = ldexpf(mantissa, wild ? (int)(random_bits(&state) % 240) - 140 : -(int)(random_bits(&state) % 4));
        if (random_bits(&state) % 2) pairs[i].value = -pairs[i].value;
    }
    pairs[100] = (pair){5, NAN};
    pairs[200] = (pair){6, INFINITY};
    pairs[201] = (pair){7, INFINITY};
    pairs[202] = (pair){7, -INFINITY};
    pairs[300] = (pair){8, FLT_MAX};
    pairs[301] = (pair){8, FLT_MAX};
}

// What a conversion makes of a number below zero is not what the number's own type makes of it.
Test(fixed_point_tables, parts_add_what_conversions_make)
{
    static const char wide[] =
        "struct pair { uint32_t key; int8_t small; int16_t value; };\n"
        "struct total { int64_t a; int64_t b; };\n"
        "map gather(pair p, accum total t[])\n"
        "{\n"
        "    t[p.key].a += (int64_t)(uint32_t)p.small;\n"
        "    t[p.key].b += (int64_t)(int32_t)(uint16_t)p.value;\n"
        "}\n";
    typedef struct small { uint32_t key; int8_t small; int16_t value; } small;
    static small records[RECORDS];
    static int64_t a[ROWS], b[ROWS];
    uint64_t state = 3;
    if (!have_cpu()) return;
    for (int i = 0; i < RECORDS; i++) {
        const uint64_t bits = random_bits(&state);
        records[i] = (small){(uint32_t)(bits % ROWS), (int8_t)(bits >> 40), (int16_t)(bits >> 20)};
        a[records[i].key] += (uint32_t)records[i].small;
        b[records[i].key] += (uint16_t)records[i].value;
    }
    hdst_context *context = gpu_context(0, true);
    hdst_module *m = module_of(context, wide);
    hdst_map_spec *spec = hdst_map_spec_create(m, "gather");
    hdst_bind_accum(spec, "t", ROWS);
    hdst_result *r = hdst_result_create(hdst_map(hdst_read(hdst_source_from_memory(context, records, RECORDS, sizeof *records), m, "pair"), spec));
    RUN(r);
    const struct total { int64_t a, b; } *to = hdst_result_rows(r, "t", NULL);
    for (int k = 0; k < ROWS; k++)
        cr_assert(to[k].a == a[k] && to[k].b == b[k], "row %d: %lld %lld, not %lld %lld", k, (long long)to[k].a, (long long)to[k].b,
                  (long long)a[k], (long long)b[k]);
    expect_explained(r, "radix partitions of");
    hdst_context_destroy(context);
}

static row row_of_sums(const sums *s) { return (row){s->sum, s->n, 0, s->twice, s->all}; }

static row row_of_bounds(const bounds *b) { return (row){.least = b->least, .n = (uint32_t)b->most, .all = (uint32_t)b->every}; }

static row row_of(const char *map, const void *rows, int k)
{
    if (!strcmp(map, "gather_sums")) return row_of_sums((const sums *)rows + k);
    return !strcmp(map, "gather_bounds") ? row_of_bounds((const bounds *)rows + k) : ((const row *)rows)[k];
}

static void gather(hdst_context *context, const char *map, row *rows, int runs, const char *explained)
{
    hdst_module *m = module_of(context, text);
    hdst_map_spec *spec = hdst_map_spec_create(m, map);
    hdst_bind_accum(spec, "t", ROWS);
    hdst_result *r = hdst_result_create(hdst_map(dataset(context, m, RECORDS), spec));
    for (int t = 0; t < runs; t++) {
        uint64_t count;
        RUN(r);
        const void *from = hdst_result_rows(r, "t", &count);
        cr_assert(from && count == ROWS);
        for (int k = 0; k < ROWS; k++) rows[t * ROWS + k] = row_of(map, from, k);
    }
    if (explained) expect_explained(r, explained);
    hdst_context_destroy(context);
}

static bool same(const row *a, const row *b)
{
    return !memcmp(&a->sum, &b->sum, sizeof a->sum) && !memcmp(&a->least, &b->least, sizeof a->least) &&
        !memcmp(&a->twice, &b->twice, sizeof a->twice) && a->n == b->n && a->all == b->all;
}

static void compare_in(hdst_context *context, const char *map, const char *explained)
{
    enum { RUNS = 3 };
    row *expected = calloc(ROWS, sizeof *expected), *rows = calloc(RUNS * ROWS, sizeof *rows);
    gather(context_on("interp"), map, expected, 1, NULL);
    gather(context, map, rows, RUNS, explained);
    for (int i = 0; i < RUNS * ROWS; i++)
        cr_assert(same(&rows[i], &expected[i % ROWS]), "run %d, row %d: %a and %a, not %a and %a", i / ROWS, i % ROWS, (double)rows[i].sum,
                  rows[i].twice, (double)expected[i % ROWS].sum,
                  expected[i % ROWS].twice);
    free(expected);
    free(rows);
}

static void compare(const char *map, uint64_t overflow_cells, bool parted, const char *explained)
{
    compare_in(gpu_context(overflow_cells, parted), map, explained);
}

// Both halves of the CPU as GPUs, and the interpreter.
static hdst_context *team_of_gpus(uint64_t overflow_cells)
{
    hdst_context *context = context_of_team();
    context->engine->options.gpu_form_on_cpu = true;
    context->engine->options.local_bytes = LOCAL;
    context->engine->limits.sample_seconds = 1;        // all of the sample, however slow the machine is
    context->engine->options.overflow_cells = overflow_cells;
    return context;
}

// Each worker's words come to the host with what did not fit them.
Test(fixed_point_tables, several_devices_merge_words_and_overflow_cells)
{
    make_wild();
    if (!have_team()) return;
    compare_in(team_of_gpus(0), "gather", "words in device memory");
    compare_in(team_of_gpus(0), "gather_sums", "words in device memory");
}

Test(fixed_point_tables, one_of_several_devices_without_overflow_cells_left)
{
    make_wild();
    if (have_team()) compare_in(team_of_gpus(8), "gather", "tables in device memory for all work-groups");
}

// Most addends fit; those that do not are some, and all of one device.
Test(fixed_point_tables, one_of_several_devices_has_all_that_does_not_fit)
{
    uint64_t state = 9;
    for (uint32_t i = 0; i < RECORDS; i++) pairs[i] = (pair){(uint32_t)(random_bits(&state) % ROWS), (float)(i % 100) / 4};
    for (uint32_t i = RECORDS - 40; i < RECORDS - 20; i++) pairs[i] = (pair){i % 3, i % 2 ? 0x1.8p100f : -0x1p-120f};
    if (have_team()) compare_in(team_of_gpus(0), "gather", "words in device memory");
}

// The first device has room for all that it meets, another one has not.
Test(fixed_point_tables, another_of_several_devices_without_overflow_cells_left)
{
    uint64_t state = 9;
    for (uint32_t i = 0; i < RECORDS; i++) pairs[i] = (pair){(uint32_t)(random_bits(&state) % ROWS), (float)(i % 100) / 4};
    for (uint32_t i = RECORDS / 2; i < RECORDS / 2 + 400; i++) pairs[i] = (pair){i % ROWS, i % 2 ? 0x1.8p100f : -0x1p-120f};
    if (have_team()) compare_in(team_of_gpus(8), "gather", "tables in device memory for all work-groups");
}

static void make_tame(void)
{
    uint64_t state = 9;
    for (uint32_t i = 0; i < RECORDS; i++) pairs[i] = (pair){(uint32_t)(random_bits(&state) % ROWS), (float)(i % 100) / 4 - 7};
}

static const char added_there[] = "accumulators of the other devices are added on";

Test(fixed_point_tables, words_of_another_gpu_are_added_where_the_rows_are_made)
{
    make_tame();
    if (have_team()) compare_in(pair_of_gpus(LOCAL, 0), "gather_sums", added_there);
}

// What does not fit the first one's words is in its own overflow cells.
Test(fixed_point_tables, the_first_gpu_has_all_that_does_not_fit)
{
    make_tame();
    for (uint32_t i = 20; i < 40; i++) pairs[i] = (pair){i % 3, i % 2 ? 0x1.8p100f : -0x1p-120f};
    if (have_team()) compare_in(pair_of_gpus(LOCAL, 0), "gather_sums", added_there);
}

// Many sums that need superaccumulators are for one device: the others' tables would be more to merge than there is input.
Test(fixed_point_tables, large_tables_of_superaccumulators_are_for_one)
{
    if (!have_team()) return;
    make_wild();
    hdst_context *context = pair_of_gpus(LOCAL, 8);
    hdst_module *m = module_of(context, text);
    hdst_map_spec *spec = hdst_map_spec_create(m, "gather_sums");
    hdst_bind_accum(spec, "t", ROWS);
    hdst_result *r = hdst_result_create(hdst_map(dataset(context, m, RECORDS), spec));
    RUN(r);
    cr_assert(strstr(hdst_explain(r, NULL), "its many sums need superaccumulators"), "%s", hdst_explain(r, NULL));
    hdst_context_destroy(context);
}

// The other one's overflow cells meet the words on the host, and so do minima beside sums.
Test(fixed_point_tables, what_cannot_be_added_there_is_merged_on_the_host)
{
    make_tame();
    if (!have_team()) return;
    compare_in(pair_of_gpus(LOCAL, 0), "gather", NULL);
    for (uint32_t i = RECORDS - 40; i < RECORDS - 20; i++) pairs[i] = (pair){i % 3, i % 2 ? 0x1.8p100f : -0x1p-120f};
    compare_in(pair_of_gpus(LOCAL, 0), "gather_sums", NULL);
    compare_in(pair_of_gpus(LOCAL, 8), "gather_sums", NULL);
}

static void gather_partial(hdst_context *context, row *rows, row *merged, const char *explained)
{
    hdst_error error;
    hdst_module *m = module_of(context, text);
    hdst_map_spec *spec = hdst_map_spec_create(m, "gather");
    hdst_bind_accum(spec, "t", ROWS);
    hdst_result *r = hdst_result_create(hdst_map(dataset(context, m, RECORDS), spec));
    cr_assert_eq(hdst_result_keep_partial(r, &error), HDST_OK, "%s", error.message);
    for (int run = 0; run < 2; run++) {
        uint64_t count;
        RUN(r);
        memcpy(rows, hdst_result_rows(r, "t", &count), ROWS * sizeof *rows);
        hdst_partial *partial = hdst_partial_from_result(r);
        memcpy(merged, hdst_partial_rows(partial, "t", &count), ROWS * sizeof *merged);
        cr_assert_eq(count, ROWS);
        hdst_partial_destroy(partial);
    }
    expect_explained(r, explained);
    hdst_context_destroy(context);
}

// A result that keeps a partial has the words, too, and its rows are those of the partial.
Test(fixed_point_tables, partials_take_words_and_overflow_cells)
{
    static row expected[ROWS], rows[ROWS], merged[ROWS];
    make_wild();
    if (!have_cpu()) return;
    gather(context_on("interp"), "gather", expected, 1, NULL);
    const struct { hdst_context *context; const char *explained; } forms[] = {
        {gpu_context(0, false), "words in device memory"}, {gpu_context(8, false), "tables in device memory for all work-groups"},
    };
    for (size_t f = 0; f < sizeof forms / sizeof *forms; f++) {
        gather_partial(forms[f].context, rows, merged, forms[f].explained);
        for (int k = 0; k < ROWS; k++) cr_assert(same(&rows[k], &expected[k]) && same(&merged[k], &expected[k]), "form %zu, row %d", f, k);
    }
}

Test(fixed_point_tables, what_does_not_fit_a_word_has_an_overflow_cell)
{
    make_wild();
    if (have_cpu()) compare("gather", 0, false, "words in device memory");
}

Test(fixed_point_tables, without_overflow_cells_left_all_are_superaccumulators)
{
    make_wild();
    if (have_cpu()) compare("gather", 8, false, "tables in device memory for all work-groups");
}

Test(fixed_point_tables, parts_have_overflow_cells_too)
{
    make_wild();
    if (!have_cpu()) return;
    compare("gather_sums", 0, true, "has a table in local memory");
    compare("gather_sums", 8, true, "tables in device memory for all work-groups");
}

Test(fixed_point_tables, a_record_with_a_bad_key_is_told)
{
    make_wild();
    pairs[31234].key = ROWS;
    pairs[31235].key = 4000000000u;
    if (!have_cpu()) return;
    for (int parted = 0; parted < 2; parted++) {
        hdst_error error;
        hdst_context *context = gpu_context(0, parted);
        hdst_module *m = module_of(context, text);
        hdst_result *r = hdst_result_create(hdst_reduce_dense(dataset(context, m, RECORDS), m, "add", ROWS));
        cr_assert_eq(hdst_run(r, &error), HDST_E_RECORD);
        cr_assert(strstr(error.message, "31,234"), "%s", error.message);
        hdst_context_destroy(context);
    }
}

Test(fixed_point_tables, parts_have_minima_maxima_and_bits)
{
    make_wild();
    if (have_cpu()) compare("gather_bounds", 0, true, "has a table in local memory");
}

// --- Integers of 64 bits, of which a pair carries the narrower addend ---

static const char integers[] =
    "struct pair { uint32_t key; float value; };\n"
    "struct counts { int64_t whole; int64_t small; int64_t high; };\n"
    "map count(pair p, accum counts t[])\n"
    "{\n"
    "    t[p.key].whole += (int32_t)p.value * 1000000;\n"
    "    t[p.key].small += (int8_t)(p.value / 8.0f);\n"
    "    t[p.key].high += p.key + 4294960000u;\n"
    "}\n";

typedef struct counts { int64_t whole, small, high; } counts;

Test(fixed_point_tables, parts_extend_narrow_addends_by_their_own_sign)
{
    if (!have_cpu()) return;
    static counts expected[ROWS];
    uint64_t state = 13, count;
    for (uint32_t i = 0; i < RECORDS; i++) {
        pairs[i] = (pair){(uint32_t)(random_bits(&state) % ROWS), (float)(random_bits(&state) % 2000) - 1000};
        counts *to = &expected[pairs[i].key];
        to->whole += (int32_t)pairs[i].value * 1000000;
        to->small += (int8_t)(pairs[i].value / 8.0f);
        to->high += pairs[i].key + 4294960000u;
    }
    hdst_context *context = gpu_context(0, true);
    hdst_module *m = module_of(context, integers);
    hdst_map_spec *spec = hdst_map_spec_create(m, "count");
    hdst_bind_accum(spec, "t", ROWS);
    hdst_result *r = hdst_result_create(hdst_map(dataset(context, m, RECORDS), spec));
    RUN(r);
    const counts *got = hdst_result_rows(r, "t", &count);
    cr_assert_eq(count, ROWS);
    for (int k = 0; k < ROWS; k++)
        cr_assert(got[k].whole == expected[k].whole && got[k].small == expected[k].small && got[k].high == expected[k].high,
                  "row %d: %lld, %lld, %lld, not %lld, %lld, %lld", k,
                  (long long)got[k].whole, (long long)got[k].small, (long long)got[k].high, (long long)expected[k].whole,
                      (long long)expected[k].small, (long long)expected[k].high);
    expect_explained(r, "has a table in local memory");
    hdst_context_destroy(context);
}

// --- Doubles, which are two words of a pair ---

static const char doubles[] =
    "struct large { uint32_t key; double value; };\n"
    "struct total { double sum; uint32_t n; };\n"
    "map add_up(large p, accum total t[]) { t[p.key].sum += p.value; t[p.key].n += 1; }\n";

typedef struct large { uint32_t key; double value; } large;
typedef struct total { double sum; uint32_t n; } total;

static large larges[RECORDS];

static void add_up(hdst_context *context, total *totals, const char *explained)
{
    uint64_t count;
    hdst_module *m = module_of(context, doubles);
    hdst_map_spec *spec = hdst_map_spec_create(m, "add_up");
    hdst_bind_accum(spec, "t", ROWS);
    hdst_result *r = hdst_result_create(hdst_map(hdst_cache(hdst_read(hdst_source_from_memory(context, larges, RECORDS, sizeof *larges), m, "large")), spec));
    RUN(r);
    memcpy(totals, hdst_result_rows(r, "t", &count), ROWS * sizeof *totals);
    if (explained) expect_explained(r, explained);
    hdst_context_destroy(context);
}

Test(fixed_point_tables, sums_of_doubles_are_those_of_the_interpreter)
{
    static total expected[ROWS], totals[ROWS];
    uint64_t state = 5;
    for (int i = 0; i < RECORDS; i++) {
        larges[i] = (large){(uint32_t)(random_bits(&state) % ROWS), (double)(random_bits(&state) % 1000000) / 64 - 5000};
        const bool wild = random_bits(&state) % 150 == 0 && i % (RECORDS / 16) >= 16;
        if (wild) larges[i].value = ldexp((double)random_bits(&state), (int)(random_bits(&state) % 1800) - 1100);
    }
    if (!have_cpu()) return;
    add_up(context_on("interp"), expected, NULL);
    for (int parted = 0; parted < 2; parted++) {
        add_up(gpu_context(0, parted), totals, parted ? "has a table in local memory" : "words in device memory");
        for (int k = 0; k < ROWS; k++)
            cr_assert(!memcmp(&totals[k].sum, &expected[k].sum, sizeof totals[k].sum) && totals[k].n == expected[k].n,
                      "row %d: %a, not %a", k, totals[k].sum, expected[k].sum);
    }
}

// Rows of which a sample meets some again and again. Read anew in every run, so that there are several slices.
static bool goes_by_parts(pair *many, uint64_t records, uint64_t rows, uint32_t hot_share, uint64_t device_memory)
{
    hdst_error error;
    uint64_t state = 11, count;
    float *expected = calloc(rows, sizeof *expected);
    for (uint64_t i = 0; i < records; i++) {
        const uint64_t random = random_bits(&state);
        many[i] = (pair){hot_share && random % hot_share == 0 ? 77 : (uint32_t)((random >> 8) % rows), (float)(random >> 60)};
        expected[many[i].key] += many[i].value;
    }
    hdst_context *context = context_in_form("gpu-form");
    context->engine->options.local_bytes = 48 << 10;
    context->engine->options.device_memory = device_memory;
    context->engine->limits.sample_seconds = 60;       // all of the sample, however slow the machine is
    hdst_module *m = module_of(context, text);
    hdst_result *r = hdst_result_create(hdst_reduce_dense(hdst_read(hdst_source_from_memory(context, many, records, sizeof *many), m, "pair"), m, "add", rows));
    RUN(r);
    cr_assert_gt(hdst_result_stats(r).device[0].slices, 1);
    cr_assert(!memcmp(hdst_result_rows(r, NULL, &count), expected, rows * sizeof *expected));
    const char *explanation = hdst_explain(r, &error);
    cr_assert(explanation, "%s", error.message);
    const bool parts = strstr(explanation, "tuples are put in order") != NULL;
    hdst_context_destroy(context);
    free(expected);
    return parts;
}

Test(fixed_point_tables, hot_rows_are_seen_in_a_sample)
{
    enum { MANY = 9 << 19, MANY_ROWS = 600000 };
    pair *many = malloc(MANY * sizeof *many);
    if (have_cpu()) {
        cr_expect(!goes_by_parts(many, MANY, MANY_ROWS, 0, 0));
        cr_expect(goes_by_parts(many, MANY, MANY_ROWS, 8, 0));
        cr_expect(!goes_by_parts(many, MANY, MANY_ROWS, 8, 48 << 20), "no room for pairs");
    }
    free(many);
}

// A plan that has run takes a longer input, too: the tuples of its slices have room.
Test(fixed_point_tables, tuples_of_a_longer_input_have_room)
{
    static const uint64_t lengths[] = {30000, 3000000, 60000};
    if (!have_cpu()) return;
    hdst_context *context = gpu_context(0, true);
    hdst_module *m = module_of(context, "map spread(uint32_t i, accum float t[]) { t[i % 3000u] += (float)(i & 3u); }\n");
    hdst_value *numbers = hdst_value_create(m, "uint32_t", 1);
    hdst_map_spec *spec = hdst_map_spec_create(m, "spread");
    hdst_bind_accum(spec, "t", ROWS);
    hdst_result *r = hdst_result_create(hdst_map(hdst_read_value(numbers), spec));
    uint32_t *all = malloc(lengths[1] * sizeof *all);
    for (uint32_t i = 0; i < lengths[1]; i++) all[i] = i;
    for (int run = 0; run < 3; run++) {
        cr_assert_eq(hdst_value_set(numbers, all, lengths[run]), HDST_OK);
        RUN(r);
        const float *t = hdst_result_rows(r, "t", NULL);
        cr_assert_not_null(t);
        for (int k = 0; k < ROWS; k++) cr_assert_eq(t[k], (float)(lengths[run] / 3000 * (k & 3)), "run %d, row %d: %g", run, k, (double)t[k]);
    }
    expect_explained(r, "tuples are put in order");
    free(all);
    hdst_context_destroy(context);
}
