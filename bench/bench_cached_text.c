// SPDX-License-Identifier: Apache-2.0
// Text in memory: how fast its lines are counted by words, and looked through for a word, once they lie on a device, and on their way to it from memory that
// is registered or not.
//   bench_cached_text DEVICE TEXT [RUNS [cached|registered|plain]...]
// TEXT is a file, even:MB (lines of 12 words), or zipf:MB (of 1 to 4096 words, by Zipf's law). Of each run its wall time, and the time of the function's
// kernels by the device's clock, with the GB of text a second that both stand for; then what the words come to.
#include "bench/hdst_side.h"
#include "bench/zipf_text.h"

static const char functions[] =
    "flat_map words(text line) -> (key text word, uint64_t n) { for (text w : tokens(line, WORD)) emit(w, 1); }\n"
    "reduce add(uint64_t a, uint64_t b) { return a + b; }\n"
    "map has(text line, accum uint64_t n) { if (find(line, \"zzqqxx\") >= 0) n += 1; }\n";

typedef struct lines {
    char *text;
    hdst_text_span *line;
    uint64_t bytes, count;
} lines;

static void measure(const char *how, const char *what, hdst_result *result, double bytes, int runs)
{
    hdst_error error;
    for (int run = 0; run < runs; run++) {
        const double begun = bench_seconds();
        if (hdst_run(result, &error) != HDST_OK) side_die(&error);
        const double seconds = bench_seconds() - begun;
        const hdst_run_stats stats = hdst_result_stats(result);
        const double busy = stats.device[0].busy_seconds;
        printf("%s, %s, run %d: %.2f ms, %.1f GB/s; kernels %.2f ms, %.1f GB/s; %.1f MB to the device, %.1f MB from it\n", how, what, run, seconds * 1e3,
               bytes / seconds * 1e-9, busy * 1e3, bytes / busy * 1e-9, (double)stats.bytes_to_device * 1e-6, (double)stats.bytes_from_device * 1e-6);
    }
}

// Of all words their number, and one that depends on which came how often.
static void tell_words(hdst_result *counts)
{
    struct { hdst_text_span word; uint64_t n; } const *rows;
    uint64_t count, all = 0, check = 0;
    rows = hdst_result_rows(counts, NULL, &count);
    for (uint64_t i = 0; i < count; i++) {
        all += rows[i].n;
        for (uint32_t b = 0; b < rows[i].word.length; b++) check = (check + (uint8_t)hdst_text_bytes(&rows[i].word)[b]) * 0x9e3779b97f4a7c15u;
        check += rows[i].n * i;
    }
    printf("%llu words, %llu different ones, check %016llx\n", (unsigned long long)all, (unsigned long long)count, (unsigned long long)check);
}

static void measure_way(hdst_context *context, const lines *in, const char *how, int runs)
{
    hdst_module *module = hdst_module_parse(context, "cached_text.hk", functions, NULL);
    hdst_source *source = hdst_source_from_memory(context, in->line, in->count, sizeof *in->line);
    hdst_dataset *input = hdst_read(source, module, "text");
    hdst_error error = HDST_ERROR_INIT;
    if (!strcmp(how, "registered") && (hdst_memory_register(context, in->line, in->count * sizeof *in->line, &error) != HDST_OK ||
                                       hdst_memory_register(context, in->text, in->bytes, &error) != HDST_OK)) side_die(&error);
    if (!strcmp(how, "cached")) input = hdst_cache(input);
    hdst_result *counts = hdst_result_create(hdst_reduce_by_key(hdst_flat_map_function(input, module, "words"), module, "add"));
    hdst_result *found = hdst_result_create(hdst_map(input, hdst_map_spec_create(module, "has")));
    measure(how, "word count", counts, (double)in->bytes, runs);
    measure(how, "search", found, (double)in->bytes, runs);
    tell_words(counts);
    if (getenv("BENCH_TIMES")) fputs(hdst_explain(counts, NULL), stderr);
    hdst_result_destroy(counts);
    hdst_result_destroy(found);
    if (!strcmp(how, "registered") && (hdst_memory_unregister(context, in->line, &error) != HDST_OK ||
                                       hdst_memory_unregister(context, in->text, &error) != HDST_OK)) side_die(&error);
}

// --- The text ---

static void read_file(lines *in, const char *path)
{
    FILE *file = fopen(path, "rb");
    if (!file || fseek(file, 0, SEEK_END)) {
        fprintf(stderr, "bench_cached_text: no file %s\n", path);
        exit(2);
    }
    in->bytes = (uint64_t)ftell(file);
    in->text = bench_allocate(in->bytes + 1);
    rewind(file);
    in->bytes = fread(in->text, 1, in->bytes, file);
    in->text[in->bytes] = '\n';
    fclose(file);
}

static lines lines_of(const char *what)
{
    lines in = {0};
    if (!strncmp(what, "even:", 5) || !strncmp(what, "zipf:", 5)) {
        in.bytes = (uint64_t)(atof(what + 5) * 1e6);
        in.text = bench_allocate(in.bytes + 1);
        zipf_text(in.text, in.bytes, *what == 'e');
        in.text[in.bytes] = '\n';
    } else
        read_file(&in, what);
    for (uint64_t i = 0; i < in.bytes; i++) in.count += in.text[i] == '\n';
    in.line = bench_allocate((in.count + 1) * sizeof *in.line);
    char *at = in.text;
    for (uint64_t i = 0; i < in.count; i++) {
        char *const end = memchr(at, '\n', (size_t)(in.text + in.bytes + 1 - at));
        in.line[i] = hdst_text_span_of(at, (uint32_t)(end - at));
        at = end + 1;
    }
    printf("%s: %.1f MB, %llu lines\n", what, (double)in.bytes * 1e-6, (unsigned long long)in.count);
    return in;
}

int main(int argc, char **argv)
{
    static char *const all[] = {"cached", "registered", "plain"};
    hdst_context_options options = HDST_CONTEXT_OPTIONS_INIT;
    if (argc < 3) return fprintf(stderr, "usage: bench_cached_text DEVICE TEXT [RUNS [cached|registered|plain]...]\n"), 2;
    options.device = argv[1];
    options.log = side_log;
    options.trace = getenv("BENCH_TRACE");
    const int runs = argc > 3 ? atoi(argv[3]) : 5;
    char *const *ways = argc > 4 ? argv + 4 : all;
    const int count = argc > 4 ? argc - 4 : 3;
    lines in = lines_of(argv[2]);
    for (int w = 0; w < count; w++) {
        hdst_context *context = hdst_context_create(&options);
        measure_way(context, &in, ways[w], runs);
        hdst_context_destroy(context);
    }
    free(in.text);
    free(in.line);
    return 0;
}
