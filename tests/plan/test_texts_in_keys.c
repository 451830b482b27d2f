// SPDX-License-Identifier: Apache-2.0
// Texts in keys through the public functions: sums by text, records that differ in a text, reductions that are no sums, what is refused.
#include "tests/hdst/support.h"

typedef struct word { hdst_text_span key; uint64_t n; } word;
typedef struct place { uint32_t shop; hdst_text_span name; } place;

static const char kernels[] =
    "struct word { text key; uint64_t n; };\n"
    "struct place { uint32_t shop; text name; };\n"
    "reduce add(uint64_t a, uint64_t b) { return a + b; }\n"
    "reduce last(uint64_t a, uint64_t b) identity { 0ul } { return b; }\n";

static const char *const texts[] = {"", "a", "ab", "twelve bytes", "thirteen byte", "thirteen bytes", "thirteen bytf", "a text of many bytes and then some",
                                    "a text of many bytes and then none"};
enum { TEXTS = 9, N = 5000 };
static char elsewhere[TEXTS][40];               // the same bytes in another place

static hdst_text_span span_of(uint32_t which, bool other)
{
    const char *bytes = other ? strcpy(elsewhere[which], texts[which]) : texts[which];
    return hdst_text_span_of(bytes, (uint32_t)strlen(bytes));
}

static uint32_t text_at(const hdst_text_span *span)
{
    for (uint32_t t = 0; t < TEXTS; t++)
        if (span->length == strlen(texts[t]) && !memcmp(hdst_text_bytes(span), texts[t], span->length)) return t;
    return TEXTS;
}

static word words[N];

static hdst_dataset *read_words(hdst_context *context, hdst_module *module)
{
    for (uint32_t i = 0; i < N; i++) words[i] = (word){span_of(i * 7 % TEXTS, i % 2), i % 13};
    return hdst_read(hdst_source_from_memory(context, words, N, sizeof *words), module, "word");
}

static void expect_words(hdst_dataset *dataset, const uint64_t *expected)
{
    hdst_result *r = hdst_result_create(dataset);
    RUN(r);
    uint64_t n, seen = 0;
    const word *got = hdst_result_rows(r, NULL, &n);
    cr_assert_eq(n, TEXTS, "%d rows: %s", (int)n, hdst_explain(r, NULL));
    for (uint64_t i = 0; i < n; i++) {
        const uint32_t t = text_at(&got[i].key);
        cr_assert(t < TEXTS && !(seen >> t & 1) && got[i].n == expected[t], "row %d", (int)i);
        seen |= UINT64_C(1) << t;
    }
}

Test(texts_in_keys, sums_and_last_ones_and_counts)
{
    uint64_t sum[TEXTS] = {0}, last[TEXTS], count[TEXTS] = {0};
    for (uint32_t i = 0; i < N; i++) {
        sum[i * 7 % TEXTS] += i % 13;
        last[i * 7 % TEXTS] = i % 13;
        count[i * 7 % TEXTS]++;
    }
    hdst_context *context = context_on("interp");
    hdst_module *module = module_of(context, kernels);
    for (hdst_container c = HDST_CONTAINER_AUTO; c <= HDST_CONTAINER_SORTED; c++)
        if (c != HDST_CONTAINER_DENSE) expect_words(hdst_with_container(hdst_reduce_by_key(read_words(context, module), module, "add"), c), sum);
    expect_words(hdst_reduce_by_key(read_words(context, module), module, "last"), last);       // in the input's order
    expect_words(hdst_count_by_key(read_words(context, module), module, "word"), count);
    hdst_context_destroy(context);
}

static bool fill_places(uint64_t first, uint64_t count, void *records, char *message, void *user)
{
    (void)message, (void)user;
    for (uint64_t i = first; i < first + count; i++) ((place *)records)[i - first] = (place){(uint32_t)(i % 4), span_of((uint32_t)(i % TEXTS), i % 5 == 0)};
    return true;
}

Test(texts_in_keys, distinct_records)
{
    hdst_context *context = context_on("interp");
    hdst_module *module = module_of(context, kernels);
    hdst_result *r = hdst_result_create(hdst_distinct(hdst_read(hdst_source_from_callback(context, N, fill_places, NULL), module, "place")));
    RUN(r);
    uint64_t n, seen = 0;
    const place *got = hdst_result_rows(r, NULL, &n);
    cr_assert_eq(n, 4 * TEXTS);
    for (uint64_t i = 0; i < n; i++) {
        const uint64_t which = got[i].shop * TEXTS + text_at(&got[i].name);
        cr_assert(which < 4 * TEXTS && !(seen >> which & 1));
        seen |= UINT64_C(1) << which;
    }
    hdst_context_destroy(context);
}

Test(texts_in_keys, what_is_not_there_yet_is_told)
{
    hdst_context *context = context_on("interp");
    hdst_module *module = module_of(context, kernels);
    hdst_result *r = hdst_result_create(hdst_reduce_by_key(read_words(context, module), module, "add"));
    hdst_error error = HDST_ERROR_INIT;
    cr_assert_eq(hdst_result_keep_partial(r, &error), HDST_OK);
    RUN(r);
    hdst_partial *partial = hdst_partial_from_result(r);
    const void *bytes;
    uint64_t size;
    cr_assert_eq(hdst_partial_write(partial, &bytes, &size, &error), HDST_E_UNSUPPORTED);
    cr_assert(strstr(error.message, "texts in its keys"), "%s", error.message);
    hdst_context_destroy(context);
}
