// SPDX-License-Identifier: Apache-2.0
// Groups that emit any number of records: those of plain C, keys in the order of their hash, and of a key in the order of the emits, on every device, whatever
// there are of groups and of memory.
#include "tests/hdst/support.h"

#include <math.h>
#include <stdlib.h>

typedef struct visit { uint32_t user; int32_t at; double spent; } visit;
typedef struct session { uint32_t user; int32_t from, to; uint32_t visits; double spent; } session;

static const char kernels[] =
    "struct visit { uint32_t user; int32_t at; double spent; };\n"
    "struct session { uint32_t user; int32_t from, to; uint32_t visits; double spent; };\n"
    "group sessions(key uint32_t user, stream visit v, broadcast int32_t pause) -> session\n"
    "{\n"
    "    session s = (session){ .user = user };\n"
    "    for (visit e : v) {\n"
    "        if (s.visits > 0u && e.at - s.to > pause) { emit(s); s = (session){ .user = user }; }\n"
    "        if (s.visits == 0u) s.from = e.at;\n"
    "        s.to = e.at;\n"
    "        s.visits++;\n"
    "        s.spent = s.spent / 2 + e.spent;\n"
    "    }\n"
    "    if (s.visits > 1u) emit(s);\n"
    "}\n"
    "group all_of_them(key uint32_t user, stream visit v) -> visit { for (visit e : v) emit(e); }\n"
    "group no_more_than_two(key uint32_t user, stream visit v) -> visit\n"
    "{\n"
    "    uint32_t n = 0;\n"
    "    for (visit e : v) { if (n == 2u) return; emit(user, e.at / (e.at - 7), e.spent); n++; }\n"
    "}\n"
    "struct mark { float f; uint32_t n; };\n"
    "group twice(key float f, stream mark m) -> mark { for (mark e : m) { emit(f, e.n); emit(f, e.n + 1000u); } }\n"
    "struct word { text w; uint32_t n; };\n"
    "group doubled(key text w, stream word s) -> word { for (word e : s) { emit(e); emit(upper(e.w), e.n); } }\n";

enum { VISITS = 60000, PAUSE = 900 };
static visit visits[VISITS];
static session want[VISITS];
static uint64_t wanted;

static const char *const forms[] = {"interp", "cpu", "gpu-form", "team"};
#define ON_FORMS(count)                                   \
    for (size_t form = 0; form < (count); form++)         \
        if (!form || (form == 3 ? have_team() : have_cpu()))

// A fifth of all visits are of one user.
static void fill(uint64_t count, uint32_t users)
{
    uint64_t state = 88172645463325252;
    for (uint64_t i = 0; i < count; i++) {
        state ^= state << 13, state ^= state >> 7, state ^= state << 17;
        const uint32_t user = state % 5 || users == 1 ? (uint32_t)(state >> 20) % users : 5;
        visits[i] = (visit){user, (int32_t)(i * 50 + (state >> 40) % 800 + 8), (double)(state >> 50) / 8};
    }
}

// --- The same in C ---

// The hash that orders results, from its published constants.
static uint32_t mixed(uint32_t k)
{
    k = (k ^ (k >> 16)) * 0x7feb352du;
    k = (k ^ (k >> 15)) * 0x846ca68bu;
    return k ^ (k >> 16);
}

static int by_key(const void *a, const void *b)
{
    const visit *x = *(const visit *const *)a, *y = *(const visit *const *)b;
    const uint32_t h = mixed(x->user), i = mixed(y->user);
    return h != i ? h < i ? -1 : 1 : x < y ? -1 : x > y;
}

static const visit **in_order(uint64_t count)
{
    const visit **order = malloc((count + 1) * sizeof *order);
    for (uint64_t i = 0; i < count; i++) order[i] = &visits[i];
    qsort(order, count, sizeof *order, by_key);
    return order;
}

static void make_sessions(uint64_t count)
{
    const visit **order = in_order(count);
    session s = {0};
    wanted = 0;
    for (uint64_t i = 0; i < count; i++) {
        const visit *e = order[i];
        const bool begins = !i || order[i - 1]->user != e->user;
        if (begins && s.visits > 1) want[wanted++] = s;
        else if (!begins && e->at - s.to > PAUSE) want[wanted++] = s;
        if (begins || e->at - s.to > PAUSE) s = (session){.user = e->user, .from = e->at};
        s.to = e->at;
        s.visits++;
        s.spent = s.spent / 2 + e->spent;
    }
    if (count && s.visits > 1) want[wanted++] = s;
    free(order);
}

// --- Running it ---

static hdst_dataset *grouped(hdst_context *context, uint64_t count, const char *function)
{
    hdst_module *module = module_of(context, kernels);
    hdst_dataset *data = hdst_read(hdst_source_from_memory(context, visits, count, sizeof *visits), module, "visit");
    if (strcmp(function, "sessions")) return hdst_group_function(data, "user", module, function);
    hdst_value *pause = hdst_value_create(module, "int32_t", 1);
    cr_assert_eq(hdst_value_set(pause, (int32_t[]){PAUSE}, 1), HDST_OK);
    hdst_map_spec *spec = hdst_map_spec_create(module, function);
    hdst_bind_value(spec, "pause", pause);
    return hdst_group(data, NULL, spec);
}

static void expect_sessions(hdst_context *context, uint64_t count, const char *words)
{
    hdst_result *r = hdst_result_create(grouped(context, count, "sessions"));
    make_sessions(count);
    for (int run = 0; run < 2; run++) {
        uint64_t rows;
        RUN(r);
        const session *got = hdst_result_rows(r, NULL, &rows);
        cr_assert_eq(rows, wanted, "%s, %d records: %d rows, not %d", words, (int)count, (int)rows, (int)wanted);
        for (uint64_t i = 0; i < rows; i++) cr_assert(!memcmp(&got[i], &want[i], sizeof *got), "%s, %d records: row %d", words, (int)count, (int)i);
    }
    hdst_result_destroy(r);
}

Test(group_emits, sessions_are_those_of_plain_c)
{
    ON_FORMS(4) {
        hdst_context *context = context_in_form(forms[form]);
        for (int i = 0; i < 4; i++) {
            const uint64_t count = (uint64_t[]){0, 1, 3000, VISITS}[i];
            fill(count, i == 2 ? 1 : 5000);
            expect_sessions(context, count, forms[form]);
        }
        hdst_context_destroy(context);
    }
}

static void expect_all(hdst_context *context, uint64_t count, const char *words)
{
    uint64_t rows;
    const visit **order = in_order(count);
    hdst_result *r = hdst_result_create(grouped(context, count, "all_of_them"));
    RUN(r);
    const visit *got = hdst_result_rows(r, NULL, &rows);
    cr_assert_eq(rows, count, "%s", words);
    for (uint64_t i = 0; i < count; i++) cr_assert(!memcmp(&got[i], order[i], sizeof *got), "%s: row %d", words, (int)i);
    free(order);
    hdst_result_destroy(r);
}

// One group with all records, all groups of one, and what lies between.
Test(group_emits, every_record_comes_out_once)
{
    ON_FORMS(3) {
        hdst_context *context = context_in_form(forms[form]);
        fill(20000, 1);
        expect_all(context, 20000, forms[form]);
        for (uint32_t i = 0; i < VISITS; i++) visits[i].user = i * 7;
        expect_all(context, VISITS, forms[form]);
        hdst_context_destroy(context);
    }
}

// --- Memory ---

// Where keys come in parts what one part gave stands behind that of the one before; and one key has more records than there is room for.
Test(group_emits, little_memory_changes_nothing)
{
    for (uint32_t users = 1; users <= 5000; users += 4999) {
        hdst_context_options options = HDST_CONTEXT_OPTIONS_INIT;
        options.device = "interp";
        options.memory = 3 << 20;
        hdst_context *context = hdst_context_create(&options);
        fill(VISITS, users);
        expect_sessions(context, VISITS, "3 MiB");
        hdst_context_destroy(context);
    }
}

// --- What comes behind ---

Test(group_emits, others_read_them_as_any_records)
{
    hdst_context *context = context_on("interp");
    hdst_error error;
    uint64_t count, taken;
    session few[5];
    fill(VISITS, 900);
    make_sessions(VISITS);
    hdst_dataset *all = grouped(context, VISITS, "sessions");
    cr_assert_eq(hdst_count(all, &count, &error), HDST_OK);
    cr_assert_eq(count, wanted);
    cr_assert_eq(hdst_take(all, 5, few, &taken, &error), HDST_OK);
    cr_assert(taken == 5 && !memcmp(few, want, sizeof few));
    cr_assert_eq(hdst_dataset_take(all, wanted - 5, 5, few, &error), HDST_OK);
    cr_assert(!memcmp(few, want + wanted - 5, sizeof few));
    hdst_context_destroy(context);
}

// --- Keys that fail ---

Test(group_emits, the_key_of_a_record_that_fails_is_told)
{
    ON_FORMS(2) {
        hdst_error error;
        hdst_context *context = context_in_form(forms[form]);
        fill(1000, 40);
        visits[500].at = visits[600].at = 7;
        for (int i = 0; i < 1000; i++)
            if (i != 500 && i != 600 && visits[i].user == 33) visits[i].user = 34;
        visits[500].user = visits[600].user = 33;
        hdst_result *r = hdst_result_create(grouped(context, 1000, "no_more_than_two"));
        cr_assert_eq(hdst_run(r, &error), HDST_E_RECORD);
        cr_assert_not_null(strstr(error.message, "division by zero in the records with user = 33"), "%s: %s", forms[form], error.message);
        hdst_context_destroy(context);
    }
}

// What it emitted before counts for nothing.
Test(group_emits, a_key_that_fails_is_left_out_whole)
{
    hdst_context_options options = HDST_CONTEXT_OPTIONS_INIT;
    options.device = "interp";
    options.on_error = HDST_ON_ERROR_SKIP;
    hdst_context *context = hdst_context_create(&options);
    uint64_t rows;
    fill(1000, 40);
    for (int i = 0; i < 1000; i++) visits[i].user = (uint32_t)i % 10;
    visits[13].at = 7;          // the second of its key
    hdst_result *r = hdst_result_create(grouped(context, 1000, "no_more_than_two"));
    RUN(r);
    const visit *got = hdst_result_rows(r, NULL, &rows);
    cr_assert_eq(rows, 18);
    for (uint64_t i = 0; i < rows; i++) cr_assert_neq(got[i].user, 3);
    cr_assert_eq(hdst_result_stats(r).records_skipped, 1);
    hdst_context_destroy(context);
}

// --- Keys of other types ---

static int by_bits(const void *a, const void *b) { return memcmp(a, b, 8); }

Test(group_emits, each_nan_and_each_zero_is_a_key)
{
    typedef struct mark { float f; uint32_t n; } mark;
    static const uint32_t bits[] = {0x7fc00000, 0x7fc00001, 0xffc00000, 0, 0x80000000, 0x3f800000, 0x7f800000};
    mark marks[70], right[140];
    uint64_t rows;
    for (uint32_t i = 0; i < 70; i++) {
        memcpy(&marks[i].f, &bits[i % 7], 4);
        marks[i].n = i;
        right[2 * i] = marks[i];
        right[2 * i + 1] = (mark){marks[i].f, i + 1000};
        for (int twin = 0; twin < 2; twin++)
            if (isnan(marks[i].f)) memcpy(&right[2 * i + (uint32_t)twin].f, &bits[0], 4);      // what functions give has one NaN
    }
    hdst_context *context = context_on("interp");
    hdst_module *module = module_of(context, kernels);
    hdst_dataset *data = hdst_read(hdst_source_from_memory(context, marks, 70, sizeof *marks), module, "mark");
    hdst_result *r = hdst_result_create(hdst_group_function(data, "f", module, "twice"));
    RUN(r);
    mark *got = malloc(sizeof right);
    memcpy(got, hdst_result_rows(r, NULL, &rows), sizeof right);
    cr_assert_eq(rows, 140);
    for (uint32_t i = 2; i < 140; i += 2)       // each key's lie together, in their order
        if (got[i].n >= 7) cr_assert(got[i - 2].n + 7 == got[i].n && got[i + 1].n == got[i].n + 1000, "row %d", (int)i);
    qsort(got, 140, sizeof *got, by_bits);
    qsort(right, 140, sizeof *right, by_bits);
    cr_assert(!memcmp(got, right, sizeof right));
    free(got);
    hdst_context_destroy(context);
}

// Texts of all parts last, those that are made anew, too.
Test(group_emits, texts_of_every_part_last)
{
    typedef struct word { hdst_text_span w; uint32_t n; } word;
    enum { WORDS = 40000 };
    static char bytes[WORDS][24];
    word *words = calloc(WORDS, sizeof *words);
    hdst_context_options options = HDST_CONTEXT_OPTIONS_INIT;
    options.device = "interp";
    options.memory = 3 << 20;
    hdst_context *context = hdst_context_create(&options);
    uint64_t rows;
    for (uint32_t i = 0; i < WORDS; i++) {
        const int length = snprintf(bytes[i], sizeof bytes[i], "a longer word, %u", (unsigned)(i % 20000));
        words[i] = (word){hdst_text_span_of(bytes[i], (uint32_t)length), i};
    }
    hdst_module *module = module_of(context, kernels);
    hdst_dataset *data = hdst_read(hdst_source_from_memory(context, words, WORDS, sizeof *words), module, "word");
    hdst_result *r = hdst_result_create(hdst_group_function(data, "w", module, "doubled"));
    RUN(r);
    const word *got = hdst_result_rows(r, NULL, &rows);
    cr_assert_eq(rows, 2 * WORDS);
    cr_assert_not_null(strstr(hdst_explain(r, NULL), "memory was short: keys in"));
    static uint8_t seen[WORDS];
    for (uint64_t i = 0; i < rows; i++) {
        char right[24];
        snprintf(right, sizeof right, i % 2 ? "A LONGER WORD, %u" : "a longer word, %u", (unsigned)(got[i].n % 20000));
        cr_assert(got[i].w.length == strlen(right) && !memcmp(hdst_text_bytes(&got[i].w), right, strlen(right)), "row %d", (int)i);
        seen[got[i].n]++;
    }
    for (uint32_t i = 0; i < WORDS; i++) cr_assert_eq(seen[i], 2);
    free(words);
    hdst_context_destroy(context);
}

// --- What is wrong ---

static const char *wrong(hdst_context *context, const char *body)
{
    static char text[2000];
    snprintf(text, sizeof text, "struct v { uint32_t k; double x; };\ngroup g(key uint32_t k, stream v s) -> v\n{\n%s\n}\n", body);
    hdst_module *module = hdst_module_parse(context, "test.hk", text, NULL);
    cr_assert_neq(hdst_module_status(module, NULL), HDST_OK);
    return hdst_module_diagnostics(module);
}

Test(group_emits, a_group_emits_or_returns)
{
    hdst_context *context = context_on("interp");
    cr_assert_not_null(strstr(wrong(context, "for (v e : s) { emit(e); }\nreturn (v){ .k = k };"), "'g' emits its records, so it returns none"));
    cr_assert_not_null(strstr(wrong(context, "for (v e : s) { if (e.x > 1.0) return; }\nreturn (v){ .k = k };"), "'g' must return v"));
    cr_assert_not_null(strstr(wrong(context, "for (v e : s) { }"), "or emit(...) any number of records"));
    hdst_context_destroy(context);
}
