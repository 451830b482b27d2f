// SPDX-License-Identifier: Apache-2.0
// Texts in keys through the public functions: sums by text, records that differ in a text, reductions that are no sums, partials.
#include "tests/hdst/support.h"

#include "base/hash.h"

#include <stdlib.h>

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

// --- Partials, whose bytes have been changed on the way ---

typedef struct piece { char *bytes; uint64_t size; } piece;

static piece bytes_of(hdst_dataset *dataset)
{
    hdst_error error = HDST_ERROR_INIT;
    const void *bytes;
    piece p;
    hdst_result *r = hdst_result_create(dataset);
    cr_assert_eq(hdst_result_keep_partial(r, &error), HDST_OK, "%s", error.message);
    RUN(r);
    hdst_partial *partial = hdst_partial_from_result(r);
    hdst_result_destroy(r);
    cr_assert_eq(hdst_partial_write(partial, &bytes, &p.size, &error), HDST_OK, "%s", error.message);
    p.bytes = memcpy(malloc(p.size), bytes, p.size);
    hdst_partial_destroy(partial);
    return p;
}

static void make_checksum(piece *p)
{
    hdst__hash checksum = HDST__HASH_INIT;
    hdst__hash_add(&checksum, p->bytes, p->size - sizeof checksum);
    memcpy(p->bytes + p->size - sizeof checksum, &checksum, sizeof checksum);
}

// A partial, or an error that says so. One that is taken has rows, and is written and merged again.
static bool use(hdst_context *context, const piece *p)
{
    hdst_error error = HDST_ERROR_INIT;
    const void *bytes;
    uint64_t size, rows;
    hdst_partial *one = hdst_partial_from_bytes(context, p->bytes, p->size), *other = hdst_partial_from_bytes(context, p->bytes, p->size);
    const bool taken = hdst_partial_write(one, &bytes, &size, &error) == HDST_OK;
    cr_assert(taken || error.code == HDST_E_FORMAT || error.code == HDST_E_MEMORY || error.code == HDST_E_KERNEL, "%s", error.message);
    if (taken) {
        (void)hdst_partial_rows(one, NULL, &rows);
        (void)hdst_partial_merge(one, other, &error);
        (void)hdst_partial_write(one, &bytes, &size, &error);
    }
    hdst_partial_destroy(one);
    hdst_partial_destroy(other);
    return taken;
}

static void change_bytes(hdst_context *context, piece p, uint32_t times)
{
    uint32_t state = 88172645u, taken = 0;
    cr_assert(use(context, &p));
    for (uint32_t i = 0; i < times; i++) {
        piece changed = {memcpy(malloc(p.size), p.bytes, p.size), p.size};
        for (uint32_t k = 0; k <= i % 3; k++) {
            state ^= state << 13, state ^= state >> 17, state ^= state << 5;
            changed.bytes[48 + state % (p.size - 64)] = (char)(state >> 24);
        }
        make_checksum(&changed);
        taken += use(context, &changed);
        free(changed.bytes);
    }
    cr_assert_gt(taken, times / 100);       // else they are refused for something else than what they say
    free(p.bytes);
}

Test(texts_in_keys, damaged_partials_are_refused_or_harmless)
{
    hdst_context *context = context_on("interp");
    hdst_module *module = module_of(context, kernels);
    hdst_dataset *places = hdst_read(hdst_source_from_callback(context, 400, fill_places, NULL), module, "place");
    change_bytes(context, bytes_of(hdst_reduce_by_key(read_words(context, module), module, "add")), 300);
    change_bytes(context, bytes_of(hdst_distinct(places)), 300);
    change_bytes(context, bytes_of(hdst_top(places, 12, "name")), 300);
    hdst_context_destroy(context);
}
