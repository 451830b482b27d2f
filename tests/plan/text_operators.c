// SPDX-License-Identifier: Apache-2.0
// Operators over records with texts, for text_operators.py and hostile_texts.py: reads lines from a file, runs the operators that are named, and prints
// what they give.
//
//     text_operators DEVICE MEMORY cached|streamed FILE OPERATOR...
//     text_operators DEVICE MEMORY cached|streamed @LIST OPERATOR...      the same with each file that LIST names, behind a line with its name; of those with a
//                                                                         name that ends with "cr" the lines end with \r\n
//
// DEVICE: a device, "gpu-form" or "apart" (the CPU device with memory of its own, and the first with kernels as a GPU gets them). For each operator a line with
// its name, then one for each record: its fields, numbers as they are, texts as x and two hexadecimal digits for each byte; then one for the parts' records.
#include "engine/engine_state.h"
#include "hdst/hdst.h"
#include "plan/object.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_FIELDS = 8, PARTS = 5, TOP = 7, PIECES = 4 };

static const char functions[] =
    "struct numbered { uint64_t line; text text; };\n"
    "struct item { text key; uint64_t line, size; text text; };\n"
    "map keyed(numbered a) -> item\n"
    "{\n"
    "    item i; i.key = \"no word at all in this line\"; i.line = a.line; i.size = len(a.text); i.text = a.text;\n"
    "    for (text w : tokens(a.text, WORD)) { i.key = lower(w); break; }\n"
    "    return i;\n"
    "}\n"
    "struct summary { text key; uint64_t n, first, last; text longest, least; };\n"
    "group by_word(key text key, stream item e) -> summary\n"
    "{\n"
    "    summary s; s.key = key; s.n = 0; s.first = 0; s.last = 0; s.longest = \"\"; s.least = \"\";\n"
    "    for (item i : e) {\n"
    "        if (s.n == 0) { s.first = i.line; s.least = i.text; }\n"
    "        s.last = i.line; s.n++;\n"
    "        if (len(i.text) > len(s.longest)) s.longest = i.text;\n"
    "        if (i.text < s.least) s.least = i.text;\n"
    "    }\n"
    "    return s;\n"
    "}\n"
    "struct sized { uint64_t size; text least; };\n"
    "group by_size(key uint64_t k, stream item e) -> sized\n"
    "{\n"
    "    sized s; s.size = k; s.least = \"\"; uint64_t n = 0;\n"
    "    for (item i : e) { if (n == 0 || upper(i.key) < s.least) s.least = upper(i.key); n++; }\n"
    "    return s;\n"
    "}\n"
    "map part(item i) -> uint32_t { return (uint32_t)(len(i.key) * 7 + (len(i.key) > 0 ? (uint64_t)i.key[0] : 0)) % 5; }\n"
    "map counted(item i) -> (key text key, uint64_t n, uint64_t size) { return (i.key, 1, i.size); }\n"
    "struct sums { uint64_t n, size; };\n"
    "reduce add(sums a, sums b) { return (sums){ .n = a.n + b.n, .size = a.size + b.size }; }\n"
    "map key_of(item i) -> text { return i.key; }\n"
    "struct pair { text key; uint64_t half; };\n"
    "map pair_of(item i) -> pair { return (pair){ .key = i.key, .half = i.size / 2 }; }\n"
    "struct indexed { uint64_t at; item i; };\n"
    "associative reduce longer(item a, item b) { return len(b.text) > len(a.text) ? b : a; }\n"
    "associative reduce loud(item a, item b) { item c = len(b.key) >= len(a.key) ? b : a; c.text = upper(c.text); return c; }\n"
    "reduce last_word(item a, item b) { item c = b; c.key = len(b.key) > 3 ? b.key : a.key; c.size = a.size + 1; return c; }\n"
    "flat_map words(item i) -> (key text word, uint64_t n) { for (text w : tokens(i.text, WORD)) emit(lower(w), 1); }\n"
    "reduce total(uint64_t a, uint64_t b) { return a + b; }\n"
    "filter has_ab(item i) { return find(i.text, \"ab\") >= 0; }\n"
    "filter line_has_ab(numbered a) { return find(a.text, \"ab\") >= 0 || (starts_with(a.text, \"b\") && ends_with(a.text, \"a\")); }\n"
    "flat_map line_words(text line) -> (key text word, uint64_t n) { for (text w : tokens(line, WORD)) emit(w, 1); }\n"
    "flat_map pieces(numbered a) -> numbered\n"
    "{ for (text w : tokens(a.text, SPACE)) if (len(w) > 2) emit((numbered){ .line = a.line, .text = upper(w[1:70]) }); }\n"
    "bool is_letter(uint8_t c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }\n"
    "flat_map built_words(item i) -> (key text word, uint64_t n)\n"
    "{\n"
    "    for (text w : tokens(i.text, WORD)) {\n"
    "        uint8_t b[41]; uint32_t n = 0;\n"
    "        if (len(w) > 40) { emit(lower(w[0:50]), 1); continue; }\n"
    "        for (uint64_t k = 0; k < len(w); k++)\n"
    "            if (is_letter(w[k])) { b[n] = w[k] | 32; n++; }\n"
    "        b[n] = '|';\n"
    "        emit(text(b, n + 1), 1);\n"
    "    }\n"
    "}\n"
    "map built(item i) -> item\n"
    "{\n"
    "    uint8_t b[24];\n"
    "    if (i.line % 3 == 0) return i;\n"
    "    uint64_t n = min(len(i.key), (uint64_t)14);\n"
    "    for (uint64_t k = 0; k < n; k++) b[len(b) - 1 - k] = i.key[k];\n"
    "    if (i.line % 3 == 1) return (item){ .key = text(b, len(b)), .line = i.line, .size = i.size, .text = i.text };\n"
    "    uint8_t digits[10]; uint32_t d = 0;\n"
    "    for (uint64_t rest = i.size; rest > 0; rest /= 10) { digits[d] = (uint8_t)(rest % 10) + '0'; d++; }\n"
    "    return (item){ .key = upper(i.key), .line = i.line, .size = i.size, .text = text(digits, d) };\n"
    "}\n"
    "flat_map squeezed(numbered a) -> numbered\n"
    "{\n"
    "    uint8_t b[64]; uint32_t n = 0;\n"
    "    for (uint64_t k = 0; k < len(a.text) && n < 64; k++)\n"
    "        if (a.text[k] != ' ' || (n > 0 && b[n - 1] != ' ')) { b[n] = a.text[k]; n++; }\n"
    "    if (n > 1) emit((numbered){ .line = a.line, .text = text(b, n) });\n"
    "}\n";

typedef struct run {
    hdst_context *context;
    hdst_module *module;
    hdst_source *source;
    hdst_dataset *lines, *items;
} run;

static void check(const run *r, const char *what, hdst_status status, const hdst_error *error)
{
    char text[2500];
    if (status == HDST_OK) return;
    hdst_error_format(error, text, sizeof text);
    printf("%s fails: %s\n", what, text);
    fflush(stdout);
    (void)r;
    exit(1);
}

static void print_field(const hdst_view *view, uint64_t row)
{
    if (view->type != HDST_TEXT) {
        printf("%" PRId64, hdst_view_int64(*view, row, 0));
        return;
    }
    const hdst_text text = hdst_view_text(*view, row, 0);
    putchar('x');
    for (uint64_t i = 0; i < text.length; i++) printf("%02x", (unsigned char)text.data[i]);
}

static size_t split(const char *names, char field[MOST_FIELDS][32])
{
    size_t count = 0;
    for (const char *at = names; *at && count < MOST_FIELDS; count++) {
        const size_t length = strcspn(at, " ");
        snprintf(field[count], sizeof field[count], "%.*s", (int)length, at);
        at += length + (at[length] == ' ');
    }
    return count;
}

static void print_views(const hdst_view *view, size_t count)
{
    for (uint64_t row = 0; row < view[0].rows; row++)
        for (size_t f = 0; f < count; f++) {
            print_field(&view[f], row);
            putchar(f + 1 < count ? ' ' : '\n');
        }
}

static void print_result(const run *r, const char *name, hdst_dataset *dataset, const char *fields)
{
    hdst_error error = HDST_ERROR_INIT;
    char field[MOST_FIELDS][32];
    hdst_view view[MOST_FIELDS];
    const size_t count = split(fields, field);
    hdst_result *result = hdst_result_create(dataset);
    uint64_t parts = 0;
    for (int turn = 0; turn < 2; turn++) check(r, name, hdst_run(result, &error), &error);      // the second time over what the first one left
    for (size_t f = 0; f < count; f++) view[f] = hdst_result_field(result, NULL, field[f]);
    check(r, name, hdst_result_status(result, &error), &error);
    printf("%s\n", name);
    print_views(view, count);
    const uint64_t *records = hdst_result_parts(result, &parts);
    for (uint64_t p = 0; records && p < parts; p++) printf("%s%" PRIu64 "%s", p ? " " : "parts ", records[p], p + 1 < parts ? "" : "\n");
    hdst_result_destroy(result);
}

// --- Partials: the lines in pieces, each a run of its own; their bytes meet in another context, in several orders ---

typedef hdst_dataset *(*make_function)(const run *r, hdst_dataset *items);

typedef struct piece { void *bytes; uint64_t size; } piece;

static piece bytes_of(const run *r, const char *name, hdst_dataset *dataset, uint64_t first)
{
    hdst_error error = HDST_ERROR_INIT;
    const void *bytes;
    piece p;
    hdst_result *result = hdst_result_create(dataset);
    check(r, name, hdst_result_keep_partial_at(result, first, &error), &error);
    check(r, name, hdst_run(result, &error), &error);
    hdst_partial *partial = hdst_partial_from_result(result);
    hdst_result_destroy(result);
    check(r, name, hdst_partial_write(partial, &bytes, &p.size, &error), &error);
    p.bytes = memcpy(malloc(p.size), bytes, p.size);
    hdst_partial_destroy(partial);
    return p;
}

// In the order that `order` numbers, pieces going into one another on the way.
static hdst_partial *merged(const run *r, const char *name, hdst_context *context, const piece *pieces, int order)
{
    hdst_error error = HDST_ERROR_INIT;
    hdst_partial *partial[PIECES];
    for (int i = 0; i < PIECES; i++) {
        const piece *p = &pieces[order == 0 ? i : order == 1 ? PIECES - 1 - i : (i * 3 + order) % PIECES];
        partial[i] = hdst_partial_from_bytes(context, p->bytes, p->size);
    }
    if (order == 2) check(r, name, hdst_partial_merge(partial[2], partial[3], &error), &error);
    for (int i = 1; i < (order == 2 ? PIECES - 1 : PIECES); i++) check(r, name, hdst_partial_merge(partial[0], partial[i], &error), &error);
    for (int i = 1; i < PIECES; i++) hdst_partial_destroy(partial[i]);
    return partial[0];
}

static void print_partial(const run *r, const char *name, make_function make, const char *fields)
{
    hdst_error error = HDST_ERROR_INIT;
    char field[MOST_FIELDS][32];
    const size_t count = split(fields, field);
    uint64_t lines = 0;
    piece pieces[PIECES], whole = {0};
    check(r, name, hdst_count(r->items, &lines, &error), &error);
    for (int i = 0; i < PIECES; i++) {
        const uint64_t first = lines * (uint64_t)i / PIECES, end = lines * (uint64_t)(i + 1) / PIECES;
        pieces[i] = bytes_of(r, name, make(r, hdst_slice(r->items, first, end - first)), first);
    }
    hdst_context_options options = HDST_CONTEXT_OPTIONS_INIT;
    options.device = "interp";
    for (int order = 0; order < 3; order++) {
        hdst_context *context = hdst_context_create(&options);
        hdst_partial *partial = merged(r, name, context, pieces, order);
        hdst_view view[MOST_FIELDS];
        const void *bytes;
        uint64_t size;
        check(r, name, hdst_partial_write(partial, &bytes, &size, &error), &error);
        if (!order) whole = (piece){memcpy(malloc(size), bytes, size), size};
        else if (size != whole.size || memcmp(bytes, whole.bytes, size)) printf("%s: other bytes in another order\n", name);
        for (size_t f = 0; f < count; f++) view[f] = hdst_partial_field(partial, NULL, field[f]);
        check(r, name, hdst_partial_status(partial, &error), &error);
        printf("%s\n", name);
        print_views(view, count);
        hdst_partial_destroy(partial);
        hdst_context_destroy(context);
    }
    for (int i = 0; i < PIECES; i++) free(pieces[i].bytes);
    free(whole.bytes);
}

// --- The operators ---

static hdst_dataset *items(const run *r, hdst_dataset *d) { return (void)r, d; }
static hdst_dataset *by_word(const run *r, hdst_dataset *d) { return hdst_group_function(d, "key", r->module, "by_word"); }
static hdst_dataset *by_size(const run *r, hdst_dataset *d) { return hdst_group_function(d, "size", r->module, "by_size"); }
static hdst_dataset *top_text(const run *r, hdst_dataset *d) { return (void)r, hdst_top(d, TOP, "text"); }
static hdst_dataset *top_key(const run *r, hdst_dataset *d) { return (void)r, hdst_top(d, TOP, "key"); }
static hdst_dataset *top_size(const run *r, hdst_dataset *d) { return (void)r, hdst_top(d, TOP, "size"); }
static hdst_dataset *top_all(const run *r, hdst_dataset *d) { return (void)r, hdst_top(d, 1 << 20, "text"); }
static hdst_dataset *top_filtered(const run *r, hdst_dataset *d) { return hdst_top(hdst_filter_function(d, r->module, "has_ab"), TOP, "key"); }
static hdst_dataset *least_text(const run *r, hdst_dataset *d) { return (void)r, hdst_min_by(d, "text"); }
static hdst_dataset *most_text(const run *r, hdst_dataset *d) { return (void)r, hdst_max_by(d, "text"); }
static hdst_dataset *least_size(const run *r, hdst_dataset *d) { return (void)r, hdst_min_by(d, "size"); }
static hdst_dataset *partition(const run *r, hdst_dataset *d) { return hdst_partition(d, r->module, "part", PARTS); }
static hdst_dataset *sums(const run *r, hdst_dataset *d) { return hdst_reduce_by_key(hdst_map_function(d, r->module, "counted"), r->module, "add"); }
static hdst_dataset *part_sums(const run *r, hdst_dataset *d) { return sums(r, partition(r, d)); }
static hdst_dataset *part_groups(const run *r, hdst_dataset *d) { return by_word(r, partition(r, d)); }
static hdst_dataset *keys(const run *r, hdst_dataset *d) { return hdst_distinct(hdst_map_function(d, r->module, "key_of")); }
static hdst_dataset *pairs(const run *r, hdst_dataset *d) { return hdst_distinct(hdst_map_function(d, r->module, "pair_of")); }
static hdst_dataset *words(const run *r, hdst_dataset *d)
{
    return hdst_reduce_by_key(hdst_flat_map_function(d, r->module, "words"), r->module, "total");
}
static hdst_dataset *sorted(const run *r, hdst_dataset *d) { return (void)r, hdst_sort(d, "key desc, size, text"); }
static hdst_dataset *slices(const run *r, hdst_dataset *d) { return (void)r, hdst_union(hdst_slice(d, 20, 30), hdst_slice(d, 3, 9)); }
static hdst_dataset *twice(const run *r, hdst_dataset *d)
{
    return hdst_union(hdst_top(d, TOP, "text"), hdst_filter_function(d, r->module, "has_ab"));
}
static hdst_dataset *indexed(const run *r, hdst_dataset *d) { return hdst_zip_with_index(hdst_filter_function(d, r->module, "has_ab"), r->module, "indexed"); }
static hdst_dataset *sample(const run *r, hdst_dataset *d) { return (void)r, hdst_sample(d, 1, 7); }
static hdst_dataset *some_lines(const run *r, hdst_dataset *d) { return hdst_filter_function(d, r->module, "line_has_ab"); }
static hdst_dataset *pieces(const run *r, hdst_dataset *d) { return hdst_flat_map_function(d, r->module, "pieces"); }
static hdst_dataset *line_words(const run *r, hdst_dataset *d)
{
    (void)d;
    return hdst_reduce_by_key(hdst_flat_map_function(hdst_read(r->source, r->module, "text"), r->module, "line_words"), r->module, "total");
}
static hdst_dataset *squeezed(const run *r, hdst_dataset *d) { return hdst_flat_map_function(d, r->module, "squeezed"); }
static hdst_dataset *built(const run *r, hdst_dataset *d) { return hdst_map_function(d, r->module, "built"); }
static hdst_dataset *built_sorted(const run *r, hdst_dataset *d) { return hdst_sort(built(r, d), "key, line"); }
static hdst_dataset *built_filtered(const run *r, hdst_dataset *d) { return hdst_filter_function(built(r, d), r->module, "has_ab"); }
static hdst_dataset *built_words(const run *r, hdst_dataset *d)
{
    return hdst_reduce_by_key(hdst_flat_map_function(d, r->module, "built_words"), r->module, "total");
}
static hdst_dataset *longer(const run *r, hdst_dataset *d) { return hdst_reduce(d, r->module, "longer"); }
static hdst_dataset *loud(const run *r, hdst_dataset *d) { return hdst_reduce(d, r->module, "loud"); }
static hdst_dataset *last_word(const run *r, hdst_dataset *d) { return hdst_reduce(d, r->module, "last_word"); }

#define ITEM "key line size text"
#define SUMMARY "key n first last longest least"

static const struct {
    const char *name;
    make_function make;
    const char *fields;
    bool partial, of_lines;
} operators[] = {
    {"items", items, ITEM, 0, 0}, {"by_word", by_word, SUMMARY, 0, 0}, {"by_size", by_size, "size least", 0, 0}, {"top_text", top_text, ITEM, 0, 0},
    {"top_key", top_key, ITEM, 0, 0}, {"top_size", top_size, ITEM, 0, 0}, {"top_all", top_all, ITEM, 0, 0}, {"top_filtered", top_filtered, ITEM, 0, 0},
    {"least_text", least_text, ITEM, 0, 0}, {"most_text", most_text, ITEM, 0, 0}, {"least_size", least_size, ITEM, 0, 0},
    {"top_lines", top_text, "line text", 0, 1}, {"partition", partition, ITEM, 0, 0}, {"part_sums", part_sums, "key n size", 0, 0},
    {"part_groups", part_groups, SUMMARY, 0, 0}, {"sums", sums, "key n size", 0, 0}, {"keys", keys, "value", 0, 0}, {"pairs", pairs, "key half", 0, 0},
    {"words", words, "word n", 0, 0}, {"sorted", sorted, ITEM, 0, 0}, {"slices", slices, ITEM, 0, 0}, {"twice", twice, ITEM, 0, 0},
    {"indexed", indexed, "at i.key i.line i.text", 0, 0}, {"sample", sample, ITEM, 0, 0}, {"longer", longer, ITEM, 0, 0}, {"loud", loud, ITEM, 0, 0},
    {"last_word", last_word, ITEM, 0, 0},
    {"lines", items, "line text", 0, 1}, {"some_lines", some_lines, "line text", 0, 1}, {"pieces", pieces, "line text", 0, 1},
    {"line_words", line_words, "word n", 0, 1}, {"squeezed", squeezed, "line text", 0, 1},
    {"built", built, ITEM, 0, 0}, {"built_sorted", built_sorted, ITEM, 0, 0}, {"built_filtered", built_filtered, ITEM, 0, 0},
    {"built_words", built_words, "word n", 0, 0}, {"partial_built_words", built_words, "word n", 1, 0},
    {"partial_sums", sums, "key n size", 1, 0}, {"partial_keys", keys, "value", 1, 0}, {"partial_pairs", pairs, "key half", 1, 0},
    {"partial_top_text", top_text, ITEM, 1, 0}, {"partial_top_size", top_size, ITEM, 1, 0}, {"partial_least", least_text, ITEM, 1, 0},
    {"partial_longer", longer, ITEM, 1, 0}, {"partial_loud", loud, ITEM, 1, 0},
};

static void run_operator(const run *r, const char *name)
{
    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++) {
        if (strcmp(operators[i].name, name)) continue;
        if (operators[i].partial) print_partial(r, name, operators[i].make, operators[i].fields);
        else print_result(r, name, operators[i].make(r, operators[i].of_lines ? r->lines : r->items), operators[i].fields);
        return;
    }
    printf("no operator is called %s\n", name);
    exit(1);
}

static hdst_context *open_context(const char *device, uint64_t memory)
{
    const bool gpu_form = !strcmp(device, "gpu-form"), apart = !strcmp(device, "apart");
    hdst_context_options options = HDST_CONTEXT_OPTIONS_INIT;
    options.device = gpu_form || apart ? "cpu" : device;
    options.memory = memory;
    hdst_context *context = hdst_context_create(&options);
    if (!context->engine) return context;
    hdst__engine_limits(context->engine)->share_bytes = 0;
    hdst__engine_limits(context->engine)->pick_least = 50;
    hdst__engine_limits(context->engine)->by_key_slice_least = 50;
    context->engine->options.gpu_form_on_cpu = gpu_form;        // no device is open yet
    context->engine->options.no_mapping = apart;
    return context;
}

static void run_file(run *r, const char *path, const char *how, char **names, int count)
{
    const size_t length = strlen(path);
    hdst_lines_options options = HDST_LINES_OPTIONS_INIT;
    options.strip_returns = length > 3 && !strcmp(path + length - 3, ".cr");
    r->source = hdst_source_open_all_lines(r->context, &path, 1, &options);
    r->lines = hdst_read(r->source, r->module, "numbered");
    r->items = hdst_map_function(r->lines, r->module, "keyed");
    if (!strcmp(how, "cached")) r->items = hdst_cache(r->items);
    for (int i = 0; i < count; i++) run_operator(r, names[i]);
    hdst_source_destroy(r->source);
}

static void run_files(run *r, const char *list, const char *how, char **names, int count)
{
    char path[1024];
    FILE *file = fopen(list, "r");
    if (!file) printf("%s cannot be read\n", list), exit(1);
    while (fgets(path, sizeof path, file)) {
        path[strcspn(path, "\n")] = 0;
        printf("file %s\n", path);
        run_file(r, path, how, names, count);
    }
    fclose(file);
}

int main(int argc, char **argv)
{
    enum { FIRST = 5, NO_DEVICE = 77 };
    run r;
    hdst_device_info info;
    hdst_error error = HDST_ERROR_INIT;
    if (argc <= FIRST) return fprintf(stderr, "usage: text_operators DEVICE MEMORY cached|streamed FILE OPERATOR...\n"), 2;
    r.context = open_context(argv[1], strtoull(argv[2], NULL, 10));
    if (hdst_device_chosen(r.context, &info, &error) != HDST_OK) return printf("%s\n", error.message), NO_DEVICE;
    r.module = hdst_module_parse(r.context, "texts.hk", functions, NULL);
    if (hdst_module_status(r.module, NULL) != HDST_OK) return printf("%s\n", hdst_module_diagnostics(r.module)), 1;
    if (argv[4][0] == '@') run_files(&r, argv[4] + 1, argv[3], argv + FIRST, argc - FIRST);
    else run_file(&r, argv[4], argv[3], argv + FIRST, argc - FIRST);
    hdst_context_destroy(r.context);
    return 0;
}
