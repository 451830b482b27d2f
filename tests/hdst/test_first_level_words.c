// SPDX-License-Identifier: Apache-2.0
// Wide accumulators on a CPU device: first-level words take what fits fixed point, cells the rest. Against plain C where
// sums are whole numbers, and against the interpreter, whose sums are all in superaccumulators, where addends lie over 240
// binades.
#include "tests/hdst/support.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

enum { RECORDS = 3200, COLUMNS = 192, ROWS = 7 };

static const char text[] =
    "struct sample { uint32_t y; float x[192]; };\n"
    "struct sums { float x[3][192]; double twice[192]; uint64_t all; float most; float one; };\n"
    "struct wide { float x[192]; uint32_t n; };\n"
    "map train(sample s, accum sums g)\n"
    "{\n"
    "    for (uint32_t j = 0; j < 3; j++) {\n"
    "        float delta = j == 0 ? 1.0f : s.x[j] * 0.5f;\n"
    "        for (uint32_t i = 0; i < 192; i++) g.x[j][i] += delta * s.x[i];\n"
    "    }\n"
    "    for (uint32_t i = 0; i < 192; i++) g.twice[i] += s.x[i] * 2;\n"
    "    g.all += s.y * 3;\n"
    "    acc_max(g.most, s.x[3]);\n"
    "    g.one += s.x[1];\n"
    "}\n"
    "map by_class(sample s, accum wide t[])\n"
    "{\n"
    "    for (uint32_t i = 0; i < 192; i++) t[s.y].x[i] += s.x[i];\n"
    "    t[s.y].n += 1;\n"
    "}\n";

typedef struct sample { uint32_t y; float x[COLUMNS]; } sample;
typedef struct sums { float x[3][COLUMNS]; double twice[COLUMNS]; uint64_t all; float most; float one; } sums;
typedef struct wide { float x[COLUMNS]; uint32_t n; } wide;

static sample samples[RECORDS];
static uint32_t used = RECORDS;         // of them, from the first on

static uint64_t random_bits(uint64_t *state)        // xorshift64*
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * UINT64_C(0x2545f4914f6cdd1d);
}

static void make_whole(uint64_t *state)
{
    for (uint32_t r = 0; r < RECORDS; r++) {
        samples[r].y = (uint32_t)(random_bits(state) % ROWS);
        for (int i = 0; i < COLUMNS; i++) samples[r].x[i] = (float)(random_bits(state) % 2001) - 1000;
    }
}

// Between the records that the engine looks at beforehand, the first ones of each 200: or it would choose superaccumulators from the start.
static bool is_unseen(uint32_t record) { return record % 200 > 110 && record % 200 < 180; }

// One in `rare` of those lies anywhere over 240 binades, denormals among them; the others have their 24 bits within `binades`.
static void make_wild(uint32_t rare, uint32_t binades)
{
    uint64_t state = 42;
    for (uint32_t r = 0; r < RECORDS; r++) {
        samples[r].y = (uint32_t)(random_bits(&state) % ROWS);
        for (int i = 0; i < COLUMNS; i++) {
            const float mantissa = (float)(random_bits(&state) >> 40) * 0x1p-24f + 1;
            const bool wild = rare && is_unseen(r) && random_bits(&state) % rare == 0;
            samples[r].x[i] = ldexpf(random_bits(&state) % 2 ? mantissa : -mantissa,
                                     wild ? (int)(random_bits(&state) % 240) - 140 : -(int)(random_bits(&state) % binades));
        }
    }
}

static void make_special(void)
{
    samples[1160].x[10] = NAN;
    samples[1161].x[11] = INFINITY;
    samples[1162].x[12] = INFINITY;
    samples[1163].x[12] = -INFINITY;
    samples[1164].x[13] = samples[1165].x[13] = FLT_MAX;
}

// `runs` runs, each over all samples; rows of the accumulator after each, one behind the other. The caller frees them.
static void *gather(const char *device, const char *map, const char *accum, size_t bytes, int runs, const char *explained)
{
    char *all = calloc((size_t)runs, bytes);
    hdst_context *context = context_on(device);
    hdst_module *m = module_of(context, text);
    hdst_map_spec *spec = hdst_map_spec_create(m, map);
    if (!strcmp(map, "by_class")) hdst_bind_accum(spec, accum, ROWS);
    hdst_result *r = hdst_result_create(hdst_map(hdst_read(hdst_source_from_memory(context, samples, used, sizeof *samples), m, "sample"), spec));
    for (int t = 0; t < runs; t++) {
        uint64_t count;
        RUN(r);
        const void *rows = hdst_result_rows(r, accum, &count);
        cr_assert(rows);
        memcpy(all + (size_t)t * bytes, rows, bytes);
    }
    hdst_error error;
    const char *explanation = hdst_explain(r, &error);
    cr_assert(explanation && (!explained || strstr(explanation, explained)), "no '%s' in:\n%s", explained ? explained : "",
              explanation ? explanation : error.message);
    hdst_context_destroy(context);
    return all;
}

static const char words[] = "the device's has a strip's words too";

static void compare(const char *map, const char *accum, size_t bytes)
{
    enum { RUNS = 3 };
    char *expected = gather("interp", map, accum, bytes, 1, NULL), *rows = gather("cpu", map, accum, bytes, RUNS, words);
    for (int t = 0; t < RUNS; t++)
        for (size_t i = 0; i < bytes; i += 4) cr_assert(!memcmp(rows + (size_t)t * bytes + i, expected + i, 4), "%s, run %d, byte %zu", map, t, i);
    free(expected);
    free(rows);
}

static void compare_both(void)
{
    compare("train", "g", sizeof(sums));
    compare("by_class", "t", ROWS * sizeof(wide));
}

Test(first_level_words, whole_numbers_are_right)
{
    enum { RUNS = 2 };
    uint64_t state = 7;
    if (!have_cpu()) return;
    make_whole(&state);
    wide expected[ROWS] = {0};
    for (uint32_t r = 0; r < RECORDS; r++) {
        expected[samples[r].y].n++;
        for (int i = 0; i < COLUMNS; i++) expected[samples[r].y].x[i] += samples[r].x[i];       // below 2^24: exact
    }
    wide *rows = gather("cpu", "by_class", "t", sizeof expected, RUNS, words);
    for (int t = 0; t < RUNS; t++)
        for (int k = 0; k < ROWS; k++) {
            cr_assert_eq(rows[t * ROWS + k].n, expected[k].n);
            for (int i = 0; i < COLUMNS; i++) cr_assert_eq(rows[t * ROWS + k].x[i], expected[k].x[i]);
        }
    free(rows);
}

Test(first_level_words, addends_of_one_and_of_two_words_are_as_in_the_interpreter)
{
    if (!have_cpu()) return;
    make_wild(0, 4);
    compare_both();
    make_wild(0, 30);
    compare_both();
}

Test(first_level_words, what_does_not_fit_is_in_cells)
{
    if (!have_cpu()) return;
    make_wild(50000, 4);        // a few pages
    compare_both();
    make_wild(150, 4);          // all
    compare_both();
    make_wild(0, 4);
    make_special();
    compare_both();
}

// Each core has a strip of them; what does not fit a word of a strip comes from all at once.
Test(first_level_words, of_few_records_too)
{
    static const uint32_t counts[] = {1, 50, 97, 129, 255};
    if (!have_cpu()) return;
    make_wild(150, 20);
    for (size_t n = 0; n < sizeof counts / sizeof *counts; n++) {
        used = counts[n];
        char *expected = gather("interp", "train", "g", sizeof(sums), 1, NULL), *rows = gather("cpu", "train", "g", sizeof(sums), 2, "a strip per core, of 48");
        cr_assert(!memcmp(rows, expected, sizeof(sums)) && !memcmp(rows + sizeof(sums), expected, sizeof(sums)), "%" PRIu32 " records", used);
        free(expected);
        free(rows);
    }
    used = RECORDS;
}

Test(first_level_words, runs_do_not_see_the_one_before)
{
    if (!have_cpu()) return;
    make_wild(100000, 4);
    make_special();
    hdst_context *context = context_on("cpu");
    hdst_module *m = module_of(context, text);
    hdst_map_spec *spec = hdst_map_spec_create(m, "by_class");
    hdst_bind_accum(spec, "t", ROWS);
    hdst_result *r = hdst_result_create(hdst_map(hdst_read(hdst_source_from_memory(context, samples, RECORDS, sizeof *samples), m, "sample"), spec));
    RUN(r);
    for (uint32_t i = 0; i < RECORDS; i++)
        for (int c = 0; c < COLUMNS; c++) samples[i].x[c] = (float)(i % 5) - 2;     // of each five records the sum is 0
    RUN(r);
    uint64_t count;
    float total[COLUMNS] = {0};
    const wide *t = hdst_result_rows(r, "t", &count);
    for (int k = 0; k < ROWS; k++)
        for (int c = 0; c < COLUMNS; c++) total[c] += t[k].x[c];
    for (int c = 0; c < COLUMNS; c++) cr_assert_eq(total[c], 0);
    hdst_context_destroy(context);
}
