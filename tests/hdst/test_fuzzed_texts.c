// SPDX-License-Identifier: Apache-2.0
// Words of 200 texts made at random (fuzzed_text.h), counted by every kind of device: slices that end within lines, tables with a place for few keys, and
// hashes of a few values. Rows are those of the interpreter; how many words there are, and how many bytes they have, is counted here. bench/text_bits.c does
// the same with any devices.
#include "tests/hdst/fuzzed_text.h"
#include "tests/hdst/support.h"

#include <stdlib.h>
#include <unistd.h>

enum { FORMS = 5 };

static const char functions[] =
    "flat_map words(text line) -> (key text word, uint64_t n, uint64_t bytes) { for (text w : tokens(line, SPACE)) emit(lower(w), 1, len(w)); }\n"
    "struct counts { uint64_t n, bytes; };\n"
    "reduce add(counts a, counts b) { return (counts){ .n = a.n + b.n, .bytes = a.bytes + b.bytes }; }\n";

static char path[64];

typedef struct form {
    hdst_context *context;
    hdst_module *module;
    hdst_result *result;
} form;

static form open_form(int which)
{
    hdst_context_options options = HDST_CONTEXT_OPTIONS_INIT;
    form f = {NULL};
    if (which == 4) {                       // two halves of the CPU, which share each run
        options.device = "0,1";
        options.cpu_parts = 2;
        f.context = hdst_context_create(&options);
        hdst__engine_limits(f.context->engine)->share_bytes = 0;
    } else {
        options.device = which == 0 ? "interp" : "cpu";
        options.device_memory = which >= 2 ? 48 << 20 : 0;      // what each run takes is less then
        f.context = hdst_context_create(&options);
        if (which >= 2) f.context->engine->options.gpu_form_on_cpu = true;
    }
    hdst__limits *limits = hdst__engine_limits(f.context->engine);
    limits->combine_least = 1;
    limits->by_key_slice_least = which == 2 ? 1 : 50;
    limits->by_key_slice_homes = which == 3 ? 4 : 0;
    limits->by_key_slice_rows = 4096;
    f.module = module_of(f.context, functions);
    return f;
}

// What decides how the text is cut and where keys have a place; nothing that the rows may depend on.
static void run_form(form *f, int which, uint32_t seed)
{
    hdst__limits *limits = hdst__engine_limits(f->context->engine);
    limits->slice_records = seed % 8 == 1 ? 64 : seed % 4 == 2 ? 128 : 0;
    limits->combine_bits = which == 1 ? 6 + seed % 5 : which == 3 ? 1 + seed % 9 : 0;
    limits->combine_room = which == 3 && seed % 3 ? 300 + seed % 50 : 0;        // no line has more words
    hdst_source *lines = hdst_source_open_lines(f->context, path);
    f->result = hdst_result_create(hdst_reduce_by_key(hdst_flat_map_function(hdst_read(lines, f->module, "text"), f->module, "words"), f->module, "add"));
    RUN(f->result);
}

static void expect_same(const form *a, const form *b, int which, uint32_t seed)
{
    uint64_t n, m;
    (void)hdst_result_rows(a->result, NULL, &n);
    (void)hdst_result_rows(b->result, NULL, &m);
    cr_assert_eq(n, m, "text %u, form %d: %d words and %d", seed, which, (int)n, (int)m);
    if (!n) return;
    const hdst_view x = hdst_result_field(a->result, NULL, "word"), y = hdst_result_field(b->result, NULL, "word");
    const hdst_view s = hdst_result_field(a->result, NULL, "n"), t = hdst_result_field(b->result, NULL, "n");
    for (uint64_t i = 0; i < n; i++) {
        const hdst_text u = hdst_view_text(x, i, 0), v = hdst_view_text(y, i, 0);
        cr_assert(u.length == v.length && !memcmp(u.data, v.data, u.length), "text %u, form %d: word %d", seed, which, (int)i);
        cr_assert_eq(hdst_view_int64(s, i, 0), hdst_view_int64(t, i, 0), "text %u, form %d: word %d", seed, which, (int)i);
    }
}

static void expect_counts(const form *f, uint32_t seed)
{
    uint64_t n, words, bytes, found = 0, found_bytes = 0;
    count_text(&words, &bytes);
    (void)hdst_result_rows(f->result, NULL, &n);
    for (uint64_t i = 0; i < n; i++) {
        found += (uint64_t)hdst_view_int64(hdst_result_field(f->result, NULL, "n"), i, 0);
        found_bytes += (uint64_t)hdst_view_int64(hdst_result_field(f->result, NULL, "bytes"), i, 0);
    }
    cr_assert(found == words && found_bytes == bytes, "text %u: %d words of %d bytes, not %d of %d", seed, (int)found, (int)found_bytes, (int)words,
              (int)bytes);
}

Test(fuzzed_texts, have_the_same_words_on_every_device)
{
    if (!have_team()) return;
    form f[FORMS];
    for (int i = 0; i < FORMS; i++) f[i] = open_form(i);
    for (uint32_t seed = 1; seed <= TEXTS; seed++) {
        strcpy(path, "/tmp/hdst-fuzzed-XXXXXX");
        const int file = mkstemp(path);
        make_text(seed);
        cr_assert(file >= 0 && write(file, fuzzed.bytes, fuzzed.length) == (ssize_t)fuzzed.length && close(file) == 0);
        for (int i = 0; i < FORMS; i++) {
            run_form(&f[i], i, seed);
            if (i) expect_same(&f[0], &f[i], i, seed);
        }
        expect_counts(&f[0], seed);
        for (int i = 0; i < FORMS; i++) hdst_result_destroy(f[i].result);
        unlink(path);
    }
    for (int i = 0; i < FORMS; i++) hdst_context_destroy(f[i].context);
}
