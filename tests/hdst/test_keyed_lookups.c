// SPDX-License-Identifier: Apache-2.0
// Lookup tables that are read by key: in all forms they give what loops over the records give in C; keys that are not there, and keys that are there twice, are
// told; tables are made anew when their records may be others.
#include "record/text_span.h"
#include "tests/hdst/support.h"

static const char *const forms[] = {"interp", "cpu", "gpu-form", "team"};

#define ON_EACH_FORM                                      \
    for (size_t form = 0; form < 4; form++)               \
        if (!form || (form == 3 ? have_team() : have_cpu()))

typedef struct sale { uint64_t wide; uint32_t article; int16_t shop; hdst_text_span name; } sale;
typedef struct price { int16_t shop; double price; uint32_t article; } price;
typedef struct rate { uint64_t key; float value; } rate;
typedef struct code { hdst_text_span name; uint32_t code; } code;
typedef struct line { hdst_text_span words; uint64_t number; } line;
typedef struct hit { uint64_t line; uint32_t code, place; } hit;
typedef struct found { double price; float rate; uint32_t code, known; } found;

static const char kernels[] =
    "struct sale { uint64_t wide; uint32_t article; int16_t shop; text name; };\n"
    "struct price { int16_t shop; double price; uint32_t article; };\n"
    "struct rate { uint64_t key; float value; };\n"
    "struct code { text name; uint32_t code; };\n"
    "struct line { text words; uint64_t number; };\n"
    "struct hit { uint64_t line; uint32_t code, place; };\n"
    "struct where { uint32_t article; int16_t shop; };\n"
    "struct found { double price; float rate; uint32_t code, known; };\n"
    "map find_all(sale s, lookup price p[where], lookup float r[uint64_t], lookup uint32_t c[text]) -> found\n"
    "{\n"
    "    found f;\n"
    "    if (has(p, (s.article, s.shop))) { f.price = p[(s.article, s.shop)].price; f.known += 1; }\n"
    "    f.rate = has(r, s.wide) ? r[s.wide] : -1;\n"
    "    if (has(c, s.name)) { f.code = c[s.name]; f.known += 2; }\n"
    "    f.known += 4 * (uint32_t)len(p);\n"
    "    return f;\n"
    "}\n"
    "map by_rate(sale s, lookup float r[uint64_t]) -> float { return r[s.wide]; }\n"
    "map by_shop(sale s, lookup rate r[int32_t]) -> float { return r[s.shop].value; }\n"
    "map by_price(sale s, lookup price p[where]) -> double { return p[(where){ s.article, s.shop }].price; }\n"
    "map by_name(sale s, lookup uint32_t c[text]) -> uint32_t { return c[s.name]; }\n"
    "filter has_rate(sale s, lookup float r[uint64_t]) { return has(r, s.wide); }\n"
    "flat_map each(sale s, lookup float r[uint64_t]) -> float { if (has(r, s.wide)) { emit(r[s.wide]); emit(-r[s.wide]); } }\n"
    "map tally(float v, lookup uint32_t n[uint32_t], accum double sum[], accum uint64_t seen) { sum[n[(uint32_t)fabs(v) % 3u]] += v; seen += 1; }\n"
    "group rated(key uint32_t article, stream sale s, lookup float r[uint64_t]) -> (uint32_t article, float sum)\n"
    "{\n"
    "    float sum = 0;\n"
    "    for (sale e : s) if (has(r, e.wide)) sum += r[e.wide];\n"
    "    return (article, sum);\n"
    "}\n"
    "flat_map hits(line l, lookup uint32_t c[text]) -> hit\n"
    "{\n"
    "    uint32_t place = 0;\n"
    "    for (text w : tokens(l.words, SPACE)) {\n"
    "        place++;\n"
    "        if (w[0] == '-') continue;\n"
    "        emit((hit){ .line = l.number, .code = c[w], .place = place });\n"
    "    }\n"
    "}\n"
    "map with_key(uint32_t n) -> (key uint32_t key, uint32_t value) { return (n % 3u, 1); }\n"
    "reduce add(uint32_t a, uint32_t b) { return a + b; }\n"
    "map next(rate r, lookup rate of[uint64_t]) -> rate { return (rate){ r.key, r.value + of[(r.key + 1) % len(of)].value }; }\n";

enum { SALES = 5000, PRICES = 700, RATES = 20000, CODES = 60 };       // a table of so many rates has several parts

static sale sales[SALES];
static price prices[PRICES];
static rate rates[RATES];
static code codes[CODES];
static char names[2 * CODES][40];

static void fill(void)
{
    uint32_t state = 7;
    for (int i = 0; i < 2 * CODES; i++) snprintf(names[i], sizeof names[i], i % 3 ? "n%d" : "a name that is longer than a span, %d", i);
    for (int i = 0; i < PRICES; i++) prices[i] = (price){(int16_t)(i % 7 - 3), 0.25 * i, (uint32_t)i / 7 * 40503u};
    for (int i = 0; i < RATES; i++) rates[i] = (rate){(uint64_t)i << 33 | 5, 1.5f * (float)i};
    for (int i = 0; i < CODES; i++) codes[i] = (code){hdst_text_span_of(names[2 * i], (uint32_t)strlen(names[2 * i])), 1000u + (uint32_t)i};
    for (int i = 0; i < SALES; i++) {
        state = state * 1664525 + 1013904223;
        const char *name = names[(state >> 5) % (2 * CODES)];
        sales[i] = (sale){(uint64_t)(state >> 8) % (2 * RATES) << 33 | 5, (state >> 10) % 120 * 40503u, (int16_t)((state >> 20) % 9) - 4,
                          hdst_text_span_of(name, (uint32_t)strlen(name))};
    }
}

static found expected(const sale *s)
{
    found f = {.rate = -1, .known = 4 * PRICES};
    for (int i = 0; i < PRICES; i++)
        if (prices[i].article == s->article && prices[i].shop == s->shop) f.price = prices[i].price, f.known += 1;
    if (s->wide >> 33 < RATES) f.rate = 1.5f * (float)(s->wide >> 33);      // which is where fill() put it
    for (int i = 0; i < CODES; i++)
        if (s->name.length == codes[i].name.length && !memcmp(hdst_text_bytes(&s->name), hdst_text_bytes(&codes[i].name), s->name.length))
            f.code = codes[i].code, f.known += 2;
    return f;
}

typedef struct shop { hdst_context *context; hdst_module *module; hdst_dataset *sales, *prices, *rates, *codes; } shop;

static hdst_dataset *records(const shop *s, const void *rows, uint64_t count, uint64_t size, const char *record)
{
    return hdst_read(hdst_source_from_memory(s->context, rows, count, size), s->module, record);
}

static shop open_shop(hdst_context *context)
{
    shop s = {.context = context};
    fill();
    s.module = module_of(context, kernels);
    s.sales = records(&s, sales, SALES, sizeof *sales, "sale");
    s.prices = records(&s, prices, PRICES, sizeof *prices, "price");
    s.rates = records(&s, rates, RATES, sizeof *rates, "rate");
    s.codes = records(&s, codes, CODES, sizeof *codes, "code");
    return s;
}

static hdst_map_spec *bound(const shop *s, const char *function, const char *parameter, hdst_dataset *to, const char *key)
{
    hdst_map_spec *spec = hdst_map_spec_create(s->module, function);
    hdst_error error;
    hdst_bind_lookup(spec, parameter, to, key);
    cr_assert_eq(hdst_map_spec_status(spec, &error), HDST_OK, "%s", error.message);
    return spec;
}

Test(keyed_lookups, numbers_records_and_texts)
{
    ON_EACH_FORM {
        shop s = open_shop(context_in_form(forms[form]));
        hdst_map_spec *spec = bound(&s, "find_all", "p", s.prices, "article, shop");
        cr_assert_eq(hdst_bind_lookup(spec, "r", s.rates, NULL), HDST_OK);
        cr_assert_eq(hdst_bind_lookup(spec, "c", s.codes, "name"), HDST_OK);
        hdst_result *result = hdst_result_create(hdst_map(s.sales, spec));
        for (int run = 0; run < 2; run++) {
            RUN(result);
            const found *got = hdst_result_rows(result, NULL, NULL);
            for (int i = 0; i < SALES; i++) {
                const found want = expected(&sales[i]);
                cr_assert(got[i].price == want.price && got[i].rate == want.rate && got[i].code == want.code && got[i].known == want.known,
                          "record %d on %s: %g %g %u %u", i, forms[form], got[i].price, got[i].rate, got[i].code, got[i].known);
            }
        }
        hdst_context_destroy(s.context);
    }
}

// Texts of different lengths that have one hash: as many zeros as their length makes up for.
Test(keyed_lookups, texts_of_one_hash)
{
    enum { ONES = 8 };
    static const char bytes[ONES][9] = {"a", "b", "c", "d", "e", "f", "g", "h"};
    code ones[ONES];
    sale asked[ONES] = {0};
    for (uint32_t i = 0; i < ONES; i++) {
        ones[i] = (code){hdst_text_span_of(bytes[i], i + 1), 100 + i};
        asked[ONES - 1 - i].name = ones[i].name;
        cr_assert_eq(hdst__text_hash(bytes[i], i + 1), hdst__text_hash("a", 1));
    }
    ON_EACH_FORM {
        shop s = open_shop(context_in_form(forms[form]));
        hdst_dataset *codes_here = records(&s, ones, ONES, sizeof *ones, "code");
        hdst_result *result = hdst_result_create(hdst_map(records(&s, asked, ONES, sizeof *asked, "sale"), bound(&s, "by_name", "c", codes_here, "name")));
        RUN(result);
        const uint32_t *got = hdst_result_rows(result, NULL, NULL);
        for (uint32_t i = 0; i < ONES; i++) cr_assert_eq(got[i], 100 + ONES - 1 - i, "%u on %s", (unsigned)got[i], forms[form]);
        hdst_context_destroy(s.context);
    }
}

// --- What is not there, or there twice ---

static hdst_context *alone(bool skip)
{
    hdst_context_options options = HDST_CONTEXT_OPTIONS_INIT;
    options.device = "interp";
    options.replay_dir = "";
    options.on_error = skip ? HDST_ON_ERROR_SKIP : HDST_ON_ERROR_FAIL;
    return hdst_context_create(&options);
}

static void expect_missing(hdst_dataset *mapped, uint64_t record, const char *message, const char *hint)
{
    hdst_error error = HDST_ERROR_INIT;
    cr_assert_eq(hdst_run(hdst_result_create(mapped), &error), HDST_E_RECORD);
    cr_expect_eq(hdst_status_exit_code(error.code), 7);
    cr_expect_eq(error.record, record);
    cr_expect(strstr(error.message, message), "'%s' has no '%s'", error.message, message);
    cr_expect(strstr(error.hint, hint), "%s", error.hint);
    cr_expect_gt(error.line, 0);
}

Test(keyed_lookups, a_key_that_is_not_there_is_told)
{
    shop s = open_shop(alone(false));
    const sale wrong[] = {{5, 40503, -3, sales[0].name}, {7, 40503, -3, sales[0].name}};
    const sale other[] = {{5, 40503, -3, hdst_text_span_of("n\"1", 3)}, {5, 3, -5, hdst_text_span_of("nobody", 6)}};
    hdst_dataset *in = records(&s, wrong, 2, sizeof *wrong, "sale"), *others = records(&s, other, 2, sizeof *other, "sale");
    expect_missing(hdst_map(in, bound(&s, "by_rate", "r", s.rates, "key")), 1, "lookup 'r' has no key 7, in record 1", "has(r, k)");
    expect_missing(hdst_map(others, bound(&s, "by_price", "p", s.prices, "article, shop")), 1, "lookup 'p' has no key (3, -5), in record 1", "has(p, k)");
    expect_missing(hdst_map(others, bound(&s, "by_name", "c", s.codes, NULL)), 0, "lookup 'c' has no key \"n\\\"1\", in record 0", "has(c, k)");
    hdst_context_destroy(s.context);
}

// --- In loops over words: as many as fill a batch of rows that are asked for, several batches and none; words that take no part between them ---

enum { LINES = 300, LINE_BYTES = 4096 };

static char line_bytes[LINES][LINE_BYTES];
static line lines[LINES];
static hit hits[LINES * 64];

// Word number k: short ones, and ones that are longer than a span holds.
static int write_word(char *to, uint32_t k) { return sprintf(to, k % 3 ? "w%u" : "word-of-more-bytes-%u", k); }

static uint64_t write_lines(void)
{
    uint64_t count = 0;
    uint32_t state = 11;
    for (uint32_t l = 0; l < LINES; l++) {
        int at = 0;
        for (uint32_t w = 0; w < l % 50; w++) {
            state = state * 1664525 + 1013904223;
            const uint32_t k = (state >> 9) % CODES;
            const bool out = (state >> 20) % 4 == 0;
            if (out) line_bytes[l][at++] = '-';
            at += write_word(line_bytes[l] + at, k);
            line_bytes[l][at++] = ' ';
            if (!out) hits[count++] = (hit){l, 2000 + k, w + 1};
        }
        lines[l] = (line){hdst_text_span_of(line_bytes[l], (uint32_t)at), l};
    }
    return count;
}

Test(keyed_lookups, words_of_lines)
{
    static char words[CODES][40];
    static code known[CODES];
    const uint64_t all = write_lines();
    for (uint32_t k = 0; k < CODES; k++) known[k] = (code){hdst_text_span_of(words[k], (uint32_t)write_word(words[k], k)), 2000 + k};
    const line strange[] = {{hdst_text_span_of("w1 -w0", 6), 0}, {hdst_text_span_of("w4 -no neither nor", 18), 1}, {hdst_text_span_of("nor", 3), 2}};
    ON_EACH_FORM {
        shop s = open_shop(context_in_form(forms[form]));
        hdst_dataset *in = records(&s, lines, LINES, sizeof *lines, "line"), *codes_of = records(&s, known, CODES, sizeof *known, "code");
        hdst_result *result = hdst_result_create(hdst_flat_map(in, bound(&s, "hits", "c", codes_of, "name")));
        RUN(result);
        uint64_t count;
        const hit *got = hdst_result_rows(result, NULL, &count);
        cr_assert_eq(count, all, "%s", forms[form]);
        cr_expect(!memcmp(got, hits, all * sizeof *got), "%s", forms[form]);
        expect_missing(hdst_flat_map(records(&s, strange, 3, sizeof *strange, "line"), bound(&s, "hits", "c", codes_of, "name")), 1,
                       "lookup 'c' has no key \"neither\", in record 1", "has(c, k)");
        hdst_context_destroy(s.context);
    }
}

Test(keyed_lookups, failing_records_are_left_out_where_the_program_asks)
{
    shop s = open_shop(alone(true));
    hdst_result *result = hdst_result_create(hdst_map(s.sales, bound(&s, "by_rate", "r", s.rates, "key")));
    RUN(result);
    uint64_t there = 0, count;
    hdst_result_rows(result, NULL, &count);
    for (int i = 0; i < SALES; i++) there += expected(&sales[i]).rate >= 0;
    cr_expect_eq(count, there);
    cr_expect(there > 0 && there < SALES);
    hdst_context_destroy(s.context);
}

Test(keyed_lookups, a_key_that_is_there_twice_is_told)
{
    shop s = open_shop(alone(false));
    rates[250].key = rates[20].key;
    hdst_error error = HDST_ERROR_INIT;
    cr_assert_eq(hdst_run(hdst_result_create(hdst_map(s.sales, bound(&s, "by_rate", "r", s.rates, "key"))), &error), HDST_E_RECORD);
    char words[160];
    snprintf(words, sizeof words, "lookup 'r' has a key twice, key = %llu, in records 20 and 250", (unsigned long long)rates[20].key);
    cr_expect(strstr(error.message, words), "%s", error.message);
    hdst_context_destroy(s.context);
}

// Not even the one whose bytes the slots of an empty table have.
Test(keyed_lookups, an_empty_table_has_no_key)
{
    shop s = open_shop(alone(false));
    sales[SALES / 2].wide = 0;
    hdst_result *none = hdst_result_create(hdst_filter(s.sales, bound(&s, "has_rate", "r", hdst_slice(s.rates, 0, 0), "key")));
    RUN(none);
    uint64_t count;
    hdst_result_rows(none, NULL, &count);
    cr_expect_eq(count, 0);
    hdst_context_destroy(s.context);
}

// --- Where lookups stand ---

// A filter, a flat_map and a map in one stage, with three tables, one of which is what a reduction by key gives; slices; a group.
Test(keyed_lookups, in_chains_of_functions)
{
    shop s = open_shop(alone(false));
    static const uint32_t digits[9] = {0, 1, 2, 3, 4, 5, 6, 7, 8};
    hdst_dataset *counts = hdst_reduce_by_key(hdst_map_function(records(&s, digits, 9, 4, "uint32_t"), s.module, "with_key"), s.module, "add");
    hdst_map_spec *tally = bound(&s, "tally", "n", counts, NULL);
    hdst_bind_accum(tally, "sum", 4);
    hdst_dataset *rated = hdst_filter(s.sales, bound(&s, "has_rate", "r", s.rates, "key"));
    hdst_result *result = hdst_result_create(hdst_map(hdst_flat_map(rated, bound(&s, "each", "r", hdst_slice(s.rates, 0, 200), "key")), tally));
    RUN(result);
    uint64_t seen = 0;
    for (int i = 0; i < SALES; i++) seen += sales[i].wide >> 33 < 200 ? 2 : 0;
    cr_expect_eq(hdst_view_int64(hdst_result_field(result, "seen", NULL), 0, 0), (int64_t)seen);
    cr_expect_eq(hdst_view_double(hdst_result_field(result, "sum", NULL), 3, 0), 0);        // all numbers and their opposites

    hdst_dataset *mapped = hdst_map(hdst_filter(s.sales, bound(&s, "has_rate", "r", s.rates, "key")), bound(&s, "by_rate", "r", s.rates, "key"));
    float some[3];
    hdst_error error;
    cr_assert_eq(hdst_dataset_take(mapped, 5, 3, some, &error), HDST_OK, "%s", error.message);
    for (int i = 0, at = 0; i < SALES && at < 8; i++) {
        if (expected(&sales[i]).rate < 0) continue;
        if (at >= 5) cr_expect_eq(some[at - 5], expected(&sales[i]).rate);
        at++;
    }
    hdst_context_destroy(s.context);
}

Test(keyed_lookups, in_groups_and_slices)
{
    shop s = open_shop(alone(false));
    hdst_result *result = hdst_result_create(hdst_group(s.sales, "article", bound(&s, "rated", "r", s.rates, "key")));
    RUN(result);
    uint64_t count;
    const struct { uint32_t article; float sum; } *got = hdst_result_rows(result, NULL, &count);
    for (uint64_t k = 0; k < count; k++) {
        float sum = 0;
        for (int i = 0; i < SALES; i++)
            if (sales[i].article == got[k].article && expected(&sales[i]).rate >= 0) sum += expected(&sales[i]).rate;
        cr_assert_eq(got[k].sum, sum);
    }
    cr_expect_gt(count, 50);
    for (int i = 0; i < SALES; i++) sales[i].wide = rates[i % RATES].key;
    hdst_result *slice = hdst_result_create(hdst_slice(hdst_map(s.sales, bound(&s, "by_rate", "r", s.rates, "key")), 100, 5));
    RUN(slice);
    const float *part = hdst_result_rows(slice, NULL, &count);
    cr_assert_eq(count, 5);
    for (int i = 0; i < 5; i++) cr_expect_eq(part[i], rates[(100 + i) % RATES].value);
    hdst_context_destroy(s.context);
}

// A dataset that looks itself up; rows of a value, which change from run to run.
Test(keyed_lookups, rows_of_a_value_by_key)
{
    shop s = open_shop(alone(false));
    hdst_value *state = hdst_value_create(s.module, "rate", 4);
    rate now[4] = {{2, 1}, {0, 10}, {3, 100}, {1, 1000}};
    hdst_value_set(state, now, 4);
    hdst_dataset *rows = hdst_read_value(state);
    hdst_result *result = hdst_result_create(hdst_map(rows, bound(&s, "next", "of", rows, "key")));
    hdst_error error;
    for (int turn = 0; turn < 3; turn++) {
        RUN(result);
        const rate *got = hdst_result_rows(result, NULL, NULL);
        rate next[4];
        for (int i = 0; i < 4; i++)
            for (int j = 0; j < 4; j++)
                if (now[j].key == (now[i].key + 1) % 4) next[i] = (rate){now[i].key, now[i].value + now[j].value};
        for (int i = 0; i < 4; i++) cr_assert(got[i].key == next[i].key && got[i].value == next[i].value, "turn %d row %d", turn, i);
        memcpy(now, next, sizeof now);
        cr_assert_eq(hdst_value_set_result(state, result, NULL, &error), HDST_OK, "%s", error.message);
    }
    hdst_context_destroy(s.context);
}

// Records in the program's memory may change between runs; those of a cached dataset do not, and its table stays.
static void check_kept_tables(hdst_dataset *(*keep)(hdst_dataset *d))
{
    shop s = open_shop(alone(false));
    const float first = rates[3].value;
    for (int i = 0; i < SALES; i++) sales[i].wide = rates[i % RATES].key;
    hdst_dataset *cached = keep(s.rates);
    hdst_result *fresh = hdst_result_create(hdst_map(s.sales, bound(&s, "by_rate", "r", s.rates, "key")));
    hdst_result *kept = hdst_result_create(hdst_map(s.sales, bound(&s, "by_rate", "r", cached, "key")));
    for (int run = 0; run < 2; run++) {
        RUN(fresh);
        RUN(kept);
        cr_expect_eq(((const float *)hdst_result_rows(fresh, NULL, NULL))[3], run ? -8 : rates[3].value);
        cr_expect_eq(((const float *)hdst_result_rows(kept, NULL, NULL))[3], 4.5f);
        rates[3].value = -8;
    }
    cr_expect(strstr(hdst_explain(kept, NULL), "the table of an earlier run"), "%s", hdst_explain(kept, NULL));
    cr_expect(!strstr(hdst_explain(fresh, NULL), "the table of an earlier run"), "%s", hdst_explain(fresh, NULL));
    hdst_uncache(cached);
    RUN(kept);
    cr_expect_eq(((const float *)hdst_result_rows(kept, NULL, NULL))[3], -8);
    rates[3].value = first;
    hdst_context_destroy(s.context);
}

static hdst_dataset *arranged(hdst_dataset *d) { return hdst_arrange(d, "key"); }

Test(keyed_lookups, tables_are_kept_with_a_cached_dataset) { check_kept_tables(hdst_cache); }
Test(keyed_lookups, tables_are_kept_with_an_arranged_dataset) { check_kept_tables(arranged); }

// --- What cannot be bound ---

static void expect_unbindable(const shop *s, const char *function, const char *parameter, hdst_dataset *to, const char *key, const char *words)
{
    hdst_map_spec *spec = hdst_map_spec_create(s->module, function);
    hdst_error error;
    cr_expect_eq(hdst_bind_lookup(spec, parameter, to, key), HDST_E_USAGE);
    hdst_map_spec_status(spec, &error);
    cr_expect(strstr(error.message, words), "'%s' has no '%s'", error.message, words);
    cr_expect_neq(error.hint[0], 0);
}

Test(keyed_lookups, what_cannot_be_bound_is_told)
{
    shop s = open_shop(alone(false));
    expect_unbindable(&s, "by_rate", "r", s.rates, "value", "key 1 of lookup 'r' of 'by_rate' is uint64_t; 'value' is float");
    expect_unbindable(&s, "by_price", "p", s.prices, "article", "has a key of 2 fields, hdst_bind_lookup was given 1");
    expect_unbindable(&s, "by_rate", "r", s.sales, "wide", "lookup 'r' of 'by_rate' has rows of 'float'; the dataset has 'sale'");
    expect_unbindable(&s, "by_rate", "q", s.rates, "key", "'by_rate' has no parameter 'q'");
    hdst_map_spec *spec = hdst_map_spec_create(s.module, "by_rate");
    hdst_error error;
    hdst_value *v = hdst_value_create(s.module, "float", 1);
    cr_expect_eq(hdst_bind_value(spec, "r", v), HDST_E_USAGE);
    hdst_map_spec_status(spec, &error);
    cr_expect(strstr(error.message, "lookup 'r' of 'by_rate' goes by key"), "%s", error.message);
    hdst_result *unbound = hdst_result_create(hdst_map(s.sales, hdst_map_spec_create(s.module, "by_rate")));
    cr_assert_eq(hdst_run(unbound, &error), HDST_E_USAGE);
    cr_expect(strstr(error.hint, "hdst_bind_lookup"), "%s", error.hint);
    hdst_context_destroy(s.context);
}
