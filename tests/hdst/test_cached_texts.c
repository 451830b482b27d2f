// SPDX-License-Identifier: Apache-2.0
// Cached datasets with texts on a device with memory of its own: a second run reads nothing anew and moves nothing there; where they have no room they are read
// again in every run. What is expected comes from the interpreter.
#include "tests/hdst/support.h"

#include <stdlib.h>
#include <unistd.h>

enum { LINES = 20000 };

static const char functions[] =
    "flat_map words(text line) -> (key text word, uint64_t n) { for (text w : tokens(line, WORD)) emit(lower(w), 1); }\n"
    "reduce add(uint64_t a, uint64_t b) { return a + b; }\n"
    "filter long_line(text line) { return len(line) > 60 && find(line, \"q7\") >= 0; }\n"
    "struct note { uint32_t number; text words; };\n"
    "map shout(note n) -> (key text words, uint64_t n) { return (upper(n.words[1:len(n.words)]), n.number); }\n";

typedef struct note { uint32_t number; hdst_text_span words; } note;

static char path[64];
static note notes[LINES];
static char bytes[LINES][40];

static void make_texts(void)
{
    uint32_t state = 2463534242u;
    strcpy(path, "/tmp/hdst-cached-XXXXXX");
    const int file = mkstemp(path);
    FILE *out = fdopen(file, "w");
    cr_assert(file >= 0 && out);
    for (uint32_t i = 0; i < LINES; i++) {
        state ^= state << 13, state ^= state >> 17, state ^= state << 5;
        for (uint32_t w = 0; w < state % 9; w++) fprintf(out, "%s%u ", w % 3 ? "q" : "A word of many letters, antidisestablishment", (state >> w) % 50);
        fputc('\n', out);
        snprintf(bytes[i], sizeof bytes[i], "%.*s%u", (int)(state % 30), "abcdefghijklmnopqrstuvwxyz012345", state % 100);
        notes[i] = (note){i, hdst_text_span_of(bytes[i], (uint32_t)strlen(bytes[i]))};
    }
    fclose(out);
}

static hdst_dataset *cached_lines(hdst_context *context, hdst_module *module)
{
    return hdst_cache(hdst_read(hdst_source_open_lines(context, path), module, "text"));
}

static hdst_result *counted(hdst_dataset *lines, hdst_module *module)
{
    return hdst_result_create(hdst_reduce_by_key(hdst_flat_map_function(lines, module, "words"), module, "add"));
}

static void expect_same(hdst_result *a, hdst_result *b, const char *const *fields)
{
    uint64_t n, m;
    (void)hdst_result_rows(a, NULL, &n);
    (void)hdst_result_rows(b, NULL, &m);
    cr_assert(n == m && n > 10, "%d and %d", (int)n, (int)m);
    for (; *fields; fields++) {
        hdst_view x = hdst_result_field(a, NULL, *fields), y = hdst_result_field(b, NULL, *fields);
        for (uint64_t i = 0; i < n; i++) {
            const hdst_text u = hdst_view_text(x, i, 0), v = hdst_view_text(y, i, 0);
            cr_assert(u.length == v.length && (!u.length || !memcmp(u.data, v.data, u.length)), "row %d", (int)i);
            if (!u.data) cr_assert_eq(hdst_view_int64(x, i, 0), hdst_view_int64(y, i, 0), "row %d", (int)i);
        }
    }
}

static const char *const word_fields[] = {"word", "n", NULL}, *const note_fields[] = {"words", "n", NULL}, *const line_fields[] = {"value", NULL};

static hdst_context *gpu_with(uint64_t device_memory)
{
    hdst_context_options options = HDST_CONTEXT_OPTIONS_INIT;
    options.device = "cpu";
    options.device_memory = device_memory;
    hdst_context *gpu = hdst_context_create(&options);
    gpu->engine->options.gpu_form_on_cpu = true;
    hdst__engine_limits(gpu->engine)->by_key_slice_least = 100;
    return gpu;
}

Test(cached_texts, stay_on_the_device)
{
    if (!have_cpu()) return;
    make_texts();
    hdst_context *interp = context_on("interp"), *gpu = gpu_with(0);
    hdst_module *plain = module_of(interp, functions), *module = module_of(gpu, functions);
    hdst_dataset *lines = cached_lines(gpu, module);
    hdst_result *right = counted(cached_lines(interp, plain), plain), *found = counted(lines, module);
    RUN(right);
    for (int run = 0; run < 3; run++) {
        RUN(found);
        expect_same(right, found, word_fields);
        const hdst_run_stats stats = hdst_result_stats(found);
        if (run) cr_assert(stats.bytes_to_device < 4096 && stats.cache_hit_bytes == LINES * sizeof(hdst_text_span), "%d bytes", (int)stats.bytes_to_device);
        else cr_assert_gt(stats.bytes_to_device, LINES * 20);
    }
    // Another operator over them finds them there; their bytes are those of the cache, which lasts as long as the result.
    hdst_result *kept = hdst_result_create(hdst_filter_function(lines, module, "long_line"));
    hdst_result *kept_right = hdst_result_create(hdst_filter_function(cached_lines(interp, plain), plain, "long_line"));
    RUN(kept);
    RUN(kept_right);
    expect_same(kept_right, kept, line_fields);
    cr_assert_lt(hdst_result_stats(kept).bytes_to_device, 4096);
    hdst_context_destroy(gpu);
    hdst_context_destroy(interp);
    unlink(path);
}

static hdst_result *shouted(hdst_context *context)
{
    hdst_module *module = module_of(context, functions);
    hdst_dataset *all = hdst_cache(hdst_read(hdst_source_from_memory(context, notes, LINES, sizeof *notes), module, "note"));
    return hdst_result_create(hdst_reduce_by_key(hdst_map_function(all, module, "shout"), module, "add"));
}

// Rows of the program's memory, whose texts lie here and there.
Test(cached_texts, of_rows_in_memory)
{
    if (!have_cpu()) return;
    make_texts();
    hdst_context *interp = context_on("interp"), *gpu = gpu_with(0);
    hdst_result *right = shouted(interp), *found = shouted(gpu);
    RUN(right);
    for (int run = 0; run < 2; run++) {
        RUN(found);
        expect_same(right, found, note_fields);
    }
    cr_assert_lt(hdst_result_stats(found).bytes_to_device, 4096);
    hdst_context_destroy(gpu);
    hdst_context_destroy(interp);
    unlink(path);
}

// 3.2 MB of spans and lines: no room for them; room for spans that are known beforehand, and not for what they turn out to refer to.
Test(cached_texts, that_have_no_room_are_read_again)
{
    if (!have_cpu()) return;
    make_texts();
    static const uint64_t room[] = {2500000, 2900000, 3 << 20, 4 << 20};
    hdst_context *interp = context_on("interp");
    hdst_module *plain = module_of(interp, functions);
    hdst_result *right = counted(cached_lines(interp, plain), plain);
    int again = 0, known_before = 0;
    RUN(right);
    for (size_t i = 0; i < sizeof room / sizeof *room; i++) {
        hdst_context *gpu = gpu_with(room[i]);
        hdst_module *module = module_of(gpu, functions);
        hdst_result *found = counted(cached_lines(gpu, module), module);
        for (int run = 0; run < 2; run++) {
            RUN(found);
            expect_same(right, found, word_fields);
        }
        again += strstr(hdst_explain(found, NULL), "read again in every run") != NULL;
        known_before += strstr(hdst_explain(found, NULL), "a cached dataset, and room beside it") != NULL;
        hdst_context_destroy(gpu);
    }
    cr_assert(again > 0);
    cr_assert(known_before > 0);
    hdst_context_destroy(interp);
    unlink(path);
}
