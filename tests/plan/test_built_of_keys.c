// SPDX-License-Identifier: Apache-2.0
// Texts that groups and joins build in arrays (text(b, n)): of one dataset and of two, by return and by emit, as records and as keys of what stands behind;
// what they give is what loops in C over all records give, on every device, in small slices, in little memory. What does not fit tells its key.
#include "tests/hdst/support.h"

#include <stdlib.h>

static const char *const forms[] = {"interp", "cpu", "gpu-form", "team"};

#define ON_EACH_FORM                                      \
    for (size_t form = 0; form < 4; form++)               \
        if (!form || (form == 3 ? have_team() : have_cpu()))

typedef struct note { uint32_t k; hdst_text_span name; } note;
typedef struct code { uint32_t k, digit; } code;
typedef struct made { uint32_t k; hdst_text_span given, last; } made;

static const char kernels[] =
    "struct note { uint32_t k; text name; };\n"
    "struct code { uint32_t k, digit; };\n"
    "struct made { uint32_t k; text given, last; };\n"
    "group initials(key uint32_t k, stream note e) -> made\n"
    "{\n"
    "    uint8_t b[20]; uint32_t n = 0; text last = \"\";\n"
    "    for (note a : e) {\n"
    "        last = a.name;\n"
    "        if (len(a.name) > 0) { b[n] = a.name[0]; n++; }\n"
    "    }\n"
    "    if (n == 0) return (made){ .k = k, .given = \"nothing to be seen\", .last = last };\n"
    "    return (made){ .k = k, .given = text(b, n), .last = last };\n"
    "}\n"
    "group backwards(key text name, stream note e) -> made\n"
    "{\n"
    "    uint8_t b[32]; uint64_t n = len(name);\n"
    "    for (uint64_t i = 0; i < n; i++) b[n - 1 - i] = name[i];\n"
    "    for (note a : e) {\n"
    "        if (a.k % 3 == 0) emit((made){ .k = a.k, .given = upper(name), .last = name });\n"
    "        else emit((made){ .k = a.k, .given = text(b, n), .last = name });\n"
    "    }\n"
    "}\n"
    "map given(made m) -> text { return m.given; }\n"
    "join with_code(note a, optional code c) -> made\n"
    "{\n"
    "    uint8_t b[32]; uint64_t n = len(a.name);\n"
    "    for (uint64_t i = 0; i < n; i++) b[i] = a.name[i];\n"
    "    b[n] = '='; b[n + 1] = '0' + (uint8_t)c.digit;\n"
    "    if (!has(c)) return (made){ .k = a.k, .given = a.name, .last = \"alone\" };\n"
    "    return (made){ .k = a.k, .given = text(b, n + 2), .last = a.name };\n"
    "}\n"
    "join tally(note a, code c) -> (key text word, uint64_t n)\n"
    "{\n"
    "    uint8_t b[32]; uint64_t n = len(a.name);\n"
    "    for (uint64_t i = 0; i < n; i++) b[i] = a.name[i];\n"
    "    b[n] = '0' + (uint8_t)c.digit;\n"
    "    return (text(b, n + 1), 1);\n"
    "}\n"
    "reduce total(uint64_t a, uint64_t b) { return a + b; }\n"
    "group sizes(key uint32_t k, stream note a, stream code c) -> text\n"
    "{\n"
    "    uint8_t b[2] = { '0', '0' };\n"
    "    for (note e : a) b[0]++;\n"
    "    for (code e : c) b[1]++;\n"
    "    return text(b, 2);\n"
    "}\n";

// Keys have up to nine notes and up to two codes each; names of 0 to 29 letters come with several keys.
enum { KEYS = 400, NAMES = 30, MOST = KEYS * 9, COPIES = 30, MOST_KEYS = KEYS * COPIES };

static note notes[MOST * COPIES];
static code codes[KEYS * 2];
static uint32_t key_count;
static int note_count, code_count;
static char letters[NAMES][NAMES];

// The notes of the first keys come again with further keys, which have no codes.
static void fill(uint32_t copies)
{
    note_count = code_count = 0;
    key_count = KEYS * copies;
    for (int i = 0; i < NAMES; i++)
        for (int c = 0; c < i; c++) letters[i][c] = (char)('a' + (i * 7 + c) % 26);
    for (uint32_t i = 0; i < MOST; i++) {
        const uint32_t k = i * 7 % KEYS, name = (i + i / KEYS * 11) % NAMES;
        if (i / KEYS <= k % 9) notes[note_count++] = (note){k, hdst_text_span_of(letters[name], name)};
    }
    const int once = note_count;
    for (uint32_t copy = 1; copy < copies; copy++)
        for (int i = 0; i < once; i++) notes[note_count++] = (note){notes[i].k + copy * KEYS, notes[i].name};
    for (uint32_t i = 0; i < KEYS * 2; i++)
        if (i < KEYS ? i % 4 : i % 5 == 0) codes[code_count++] = (code){i % KEYS, i % 10};
}

typedef struct shop { hdst_context *context; hdst_module *module; hdst_dataset *notes, *codes; } shop;

static shop open_shop(hdst_context *context, uint32_t copies)
{
    shop s = {.context = context, .module = module_of(context, kernels)};
    fill(copies);
    if (context->engine && copies == 1) hdst__engine_limits(context->engine)->slice_records = 64;
    s.notes = hdst_read(hdst_source_from_memory(context, notes, (uint64_t)note_count, sizeof *notes), s.module, "note");
    s.codes = hdst_read(hdst_source_from_memory(context, codes, (uint64_t)code_count, sizeof *codes), s.module, "code");
    return s;
}

// --- What is right: lines of text, one a record, in some order ---

typedef struct lines { char (*line)[100]; uint64_t count; } lines;

static void add_line(lines *to, uint32_t k, const char *given, size_t length, const hdst_text_span *last)
{
    if (!(to->count & (to->count + 1))) to->line = realloc(to->line, 2 * (to->count + 1) * sizeof *to->line);
    snprintf(to->line[to->count++], sizeof *to->line, "%u %.*s %.*s", k, (int)length, given, last ? (int)last->length : 0, last ? hdst_text_bytes(last) : "");
}

static int by_bytes(const void *a, const void *b) { return strcmp(a, b); }

static void expect_lines(lines *got, lines *want, const char *words)
{
    cr_assert_eq(got->count, want->count, "%s: %d records, not %d", words, (int)got->count, (int)want->count);
    qsort(got->line, got->count, sizeof *got->line, by_bytes);
    qsort(want->line, want->count, sizeof *want->line, by_bytes);
    for (uint64_t i = 0; i < want->count; i++) cr_assert_str_eq(got->line[i], want->line[i], "%s", words);
    free(got->line);
    free(want->line);
}

static void expect_made(hdst_dataset *dataset, lines want, const char *words)
{
    hdst_result *r = hdst_result_create(dataset);
    for (int run = 0; run < 2; run++) {
        lines got = {0}, right = {0};
        uint64_t rows;
        RUN(r);
        const made *row = hdst_result_rows(r, NULL, &rows);
        for (uint64_t i = 0; i < rows; i++) add_line(&got, row[i].k, hdst_text_bytes(&row[i].given), row[i].given.length, &row[i].last);
        right = (lines){memcpy(malloc(want.count * sizeof *want.line), want.line, want.count * sizeof *want.line), want.count};
        expect_lines(&got, &right, words);
    }
    free(want.line);
    hdst_result_destroy(r);
}

static lines right_initials(void)
{
    static struct { char b[20]; size_t n; hdst_text_span last; } of[MOST_KEYS];
    lines want = {0};
    memset(of, 0, sizeof of);
    for (int i = 0; i < note_count; i++) {
        const uint32_t k = notes[i].k;
        of[k].last = notes[i].name;
        if (of[k].last.length) of[k].b[of[k].n++] = hdst_text_bytes(&of[k].last)[0];
    }
    for (uint32_t k = 0; k < key_count; k++)
        if (of[k].n) add_line(&want, k, of[k].b, of[k].n, &of[k].last);
        else add_line(&want, k, "nothing to be seen", 18, &of[k].last);
    return want;
}

static void turn(char *to, const hdst_text_span *name, bool loud)
{
    const char *from = hdst_text_bytes(name);
    for (uint32_t c = 0; c < name->length; c++) to[c] = loud ? (char)(from[c] - 32) : from[name->length - 1 - c];
}

static lines right_backwards(void)
{
    lines want = {0};
    char b[NAMES];
    for (int i = 0; i < note_count; i++) {
        turn(b, &notes[i].name, notes[i].k % 3 == 0);
        add_line(&want, notes[i].k, b, notes[i].name.length, &notes[i].name);
    }
    return want;
}

// Of their records, or what stands in `given` alone.
static lines right_with_code(bool whole)
{
    lines want = {0};
    const hdst_text_span alone = hdst_text_span_of("alone", 5);
    for (int i = 0; i < note_count; i++) {
        const note *a = &notes[i];
        bool has = false;
        char b[NAMES + 2];
        memcpy(b, hdst_text_bytes(&a->name), a->name.length);
        b[a->name.length] = '=';
        for (int c = 0; c < code_count; c++) {
            if (codes[c].k != a->k) continue;
            b[a->name.length + 1] = (char)('0' + codes[c].digit);
            add_line(&want, whole ? a->k : 0, b, a->name.length + 2, whole ? &a->name : NULL);
            has = true;
        }
        if (!has) add_line(&want, whole ? a->k : 0, b, a->name.length, whole ? &alone : NULL);
    }
    return want;
}

// --- Records ---

static void check_records(const shop *s, const char *words)
{
    expect_made(hdst_group_function(s->notes, "k", s->module, "initials"), right_initials(), words);
    expect_made(hdst_join(s->notes, "k", s->codes, "k", s->module, "with_code"), right_with_code(true), words);
}

Test(built_of_keys, records_are_those_of_loops_in_c)
{
    ON_EACH_FORM {
        const shop s = open_shop(context_in_form(forms[form]), 1);
        check_records(&s, forms[form]);
        expect_made(hdst_group_function(s.notes, "name", s.module, "backwards"), right_backwards(), forms[form]);
        hdst_context_destroy(s.context);
    }
}

// Keys come in parts, whose results go to a file.
Test(built_of_keys, little_memory_changes_nothing)
{
    hdst_context_options options = HDST_CONTEXT_OPTIONS_INIT;
    options.device = "interp";
    options.memory = 3 << 20;
    const shop s = open_shop(hdst_context_create(&options), COPIES);
    check_records(&s, "3 MiB");
    hdst_result *r = hdst_result_create(hdst_group_function(s.notes, "k", s.module, "initials"));
    RUN(r);
    cr_expect(strstr(hdst_explain(r, NULL), "memory was short: keys in "), "%s", hdst_explain(r, NULL));
    hdst_context_destroy(s.context);
}

// --- Keys of what stands behind ---

static void keep_distinct(lines *l)
{
    uint64_t n = 0;
    qsort(l->line, l->count, sizeof *l->line, by_bytes);
    for (uint64_t i = 0; i < l->count; i++)
        if (!i || strcmp(l->line[i], l->line[n - 1])) memmove(l->line[n++], l->line[i], sizeof *l->line);
    l->count = n;
}

static void expect_distinct(hdst_dataset *dataset, lines want, const char *words)
{
    lines got = {0};
    uint64_t rows;
    hdst_result *r = hdst_result_create(hdst_distinct(dataset));
    RUN(r);
    const hdst_text_span *row = hdst_result_rows(r, NULL, &rows);
    for (uint64_t i = 0; i < rows; i++) add_line(&got, 0, hdst_text_bytes(&row[i]), row[i].length, NULL);
    keep_distinct(&want);
    expect_lines(&got, &want, words);
    hdst_result_destroy(r);
}

static lines right_given(void)
{
    lines want = {0};
    char b[NAMES];
    for (int i = 0; i < note_count; i++) {
        turn(b, &notes[i].name, notes[i].k % 3 == 0);
        add_line(&want, 0, b, notes[i].name.length, NULL);
    }
    return want;
}

static lines right_sizes(void)
{
    lines want = {0};
    for (uint32_t k = 0; k < key_count; k++) {
        char b[] = "00";
        for (int i = 0; i < note_count; i++) b[0] = (char)(b[0] + (notes[i].k == k));
        for (int i = 0; i < code_count; i++) b[1] = (char)(b[1] + (codes[i].k == k));
        add_line(&want, 0, b, 2, NULL);
    }
    return want;
}

// A word for each pair: "2 abc7" says that two pairs gave "abc7".
static lines right_tally(void)
{
    lines pairs = {0}, want = {0};
    for (int i = 0; i < note_count; i++)
        for (int c = 0; c < code_count; c++) {
            char b[NAMES + 1];
            const hdst_text_span *name = &notes[i].name;
            if (codes[c].k != notes[i].k) continue;
            memcpy(b, hdst_text_bytes(name), name->length);
            b[name->length] = (char)('0' + codes[c].digit);
            add_line(&pairs, 0, b, name->length + 1, NULL);
        }
    qsort(pairs.line, pairs.count, sizeof *pairs.line, by_bytes);
    for (uint64_t i = 0, first = 0; i < pairs.count; i++) {
        if (i + 1 < pairs.count && !strcmp(pairs.line[i], pairs.line[i + 1])) continue;
        add_line(&want, (uint32_t)(i + 1 - first), pairs.line[i] + 2, strlen(pairs.line[i]) - 3, NULL);
        first = i + 1;
    }
    free(pairs.line);
    return want;
}

static void expect_tally(const shop *s, const char *words)
{
    typedef struct counted { hdst_text_span word; uint64_t n; } counted;
    lines got = {0}, want = right_tally();
    uint64_t rows;
    hdst_result *r = hdst_result_create(hdst_reduce_by_key(hdst_join(s->notes, "k", s->codes, "k", s->module, "tally"), s->module, "total"));
    RUN(r);
    const counted *row = hdst_result_rows(r, NULL, &rows);
    for (uint64_t i = 0; i < rows; i++) add_line(&got, (uint32_t)row[i].n, hdst_text_bytes(&row[i].word), row[i].word.length, NULL);
    expect_lines(&got, &want, words);
    hdst_result_destroy(r);
}

Test(built_of_keys, keys_outlive_what_gave_them)
{
    for (size_t form = 0; form < 4; form += 3) {       // the interpreter; the team, which has that and halves of a CPU: what counts is who owns bytes
        if (form && !have_team()) break;
        const shop s = open_shop(context_in_form(forms[form]), 1);
        hdst_dataset *turned = hdst_map_function(hdst_group_function(s.notes, "name", s.module, "backwards"), s.module, "given");
        hdst_dataset *joined = hdst_map_function(hdst_join(s.notes, "k", s.codes, "k", s.module, "with_code"), s.module, "given");
        expect_distinct(turned, right_given(), forms[form]);
        expect_distinct(joined, right_with_code(false), forms[form]);
        expect_distinct(hdst_co_group(s.notes, "k", s.codes, "k", s.module, "sizes"), right_sizes(), forms[form]);
        expect_tally(&s, forms[form]);
        hdst_context_destroy(s.context);
    }
}

// --- What does not fit ---

Test(built_of_keys, a_text_that_does_not_fit_tells_its_key)
{
    ON_EACH_FORM {
        shop s = open_shop(context_in_form(forms[form]), 1);
        hdst_error error = HDST_ERROR_INIT;
        for (int i = 0; i < 22; i++) notes[i] = (note){KEYS + 5, hdst_text_span_of("x", 1)};
        hdst_result *r = hdst_result_create(hdst_group_function(s.notes, "k", s.module, "initials"));
        cr_assert_eq(hdst_run(r, &error), HDST_E_RECORD, "%s", forms[form]);
        cr_expect(strstr(error.message, "index 20 out of range 0..19 in the records with k = 405"), "%s: %s", forms[form], error.message);
        hdst_context_destroy(s.context);
    }
}

static void refused(hdst_context *context, const char *text, const char *wanted)
{
    hdst_module *module = hdst_module_parse(context, "bad.hk", text, NULL);
    cr_expect_eq(hdst_module_status(module, NULL), HDST_E_KERNEL, "%s", text);
    cr_expect(strstr(hdst_module_diagnostics(module), wanted), "%s", hdst_module_diagnostics(module));
}

Test(built_of_keys, a_reduce_and_a_filter_build_none)
{
    hdst_context *context = context_on("interp");
    refused(context, "associative reduce f(text a, text c) { uint8_t b[9]; return text(b, 3); }", "make the text in a map behind it");
    refused(context, "filter f(text a) { uint8_t b[9]; return text(b, 3); }", "only what a map, flat_map, group or join gives");
    hdst_context_destroy(context);
}
