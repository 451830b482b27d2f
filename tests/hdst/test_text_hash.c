// SPDX-License-Identifier: Apache-2.0
// hash(t) of texts of all lengths around those that spans treat apart, of slices and of texts in another case, beside the function that the language's
// description states, on all forms.
#include "tests/hdst/support.h"

#include <stdlib.h>

enum { N = 300, LONGEST = 60 };

static const char *const forms[] = {"interp", "cpu", "gpu-form"};

static const char functions[] = "struct word { text t; };\n"
                                "struct hashes { uint64_t whole, from_third, lowered; bool same; };\n"
                                "map hashes_of(word w) -> hashes\n"
                                "{\n"
                                "    const uint64_t from = min(len(w.t), (uint64_t)3);\n"
                                "    return (hashes){ .whole = hash(w.t), .from_third = hash(w.t[from:len(w.t)]), .lowered = hash(lower(w.t)),\n"
                                "                     .same = hash(\"a text of twenty-six bytes\") == hash(w.t) };\n"
                                "}\n";

typedef struct hashes {
    uint64_t whole, from_third, lowered;
    bool same;
} hashes;

static char bytes[N][LONGEST];
static uint32_t length[N];
static hdst_text_span spans[N];

// As docs/kernel-language.md says.
static uint64_t hash_of(const char *text, size_t count)
{
    uint64_t h = count;
    for (size_t i = 0; i < count; i += 8) {
        uint64_t w = 0;
        memcpy(&w, text + i, count - i < 8 ? count - i : 8);
        h = (h ^ w) + 0x9e3779b97f4a7c15;
        h = (h ^ h >> 30) * 0xbf58476d1ce4e5b9;
        h = (h ^ h >> 27) * 0x94d049bb133111eb;
        h = h ^ h >> 31;
    }
    return h;
}

static void make_texts(void)
{
    static const char known[] = "a text of twenty-six bytes";
    srand(3);
    for (int i = 0; i < N; i++) {
        length[i] = i == 7 ? sizeof known - 1 : (uint32_t)(i % LONGEST);
        for (uint32_t b = 0; b < length[i]; b++) bytes[i][b] = i == 7 ? known[b] : (char)rand();
        spans[i] = hdst_text_span_of(bytes[i], length[i]);
    }
}

static void check(const char *form)
{
    hdst_context *context = context_in_form(form);
    hdst_module *module = module_of(context, functions);
    hdst_error error = HDST_ERROR_INIT;
    hashes *got;
    uint64_t count;
    hdst_dataset *words = hdst_read(hdst_source_from_memory(context, spans, N, sizeof *spans), module, "word");
    cr_assert_eq(hdst_collect(hdst_map_function(words, module, "hashes_of"), (void **)&got, &count, &error), HDST_OK, "%s", error.message);
    cr_assert_eq(count, N);
    for (int i = 0; i < N; i++) {
        char lowered[LONGEST];
        for (uint32_t b = 0; b < length[i]; b++) lowered[b] = bytes[i][b] >= 'A' && bytes[i][b] <= 'Z' ? (char)(bytes[i][b] + 32) : bytes[i][b];
        const uint32_t from = length[i] < 3 ? length[i] : 3;
        cr_assert_eq(got[i].whole, hash_of(bytes[i], length[i]), "text %d on %s", i, form);
        cr_assert_eq(got[i].from_third, hash_of(bytes[i] + from, length[i] - from), "text %d on %s", i, form);
        cr_assert_eq(got[i].lowered, hash_of(lowered, length[i]), "text %d on %s", i, form);
        cr_assert_eq(got[i].same, i == 7, "text %d on %s", i, form);
    }
    hdst_rows_destroy(context, got);
    hdst_context_destroy(context);
}

Test(text_hash, all_forms_give_what_is_documented)
{
    make_texts();
    for (size_t form = 0; form < 3; form++)
        if (!strcmp(forms[form], "interp") || have_cpu()) check(forms[form]);
}

Test(text_hash, records_and_arrays_of_texts_have_none)
{
    hdst_context *context = context_in_form("interp");
    hdst_module *module = hdst_module_parse(context, "m.hk", "struct two { text a; uint32_t b; };\nmap f(two t) -> uint64_t { return hash(t); }\n", NULL);
    cr_assert_eq(hdst_module_status(module, NULL), HDST_E_KERNEL);
    cr_assert(strstr(hdst_module_diagnostics(module), "a text alone"), "%s", hdst_module_diagnostics(module));
    hdst_context_destroy(context);
}
