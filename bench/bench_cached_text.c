// SPDX-License-Identifier: Apache-2.0
// Text that stays on a device: how fast the lines of a file are counted by words, and looked through for a word, once they lie there.
//   bench_cached_text DEVICE FILE [RUNS]
// Of each run its wall time, and the time of the function's kernels by the device's clock, with the GB of text a second that both stand for.
#include "bench/hdst_side.h"

#include <sys/stat.h>

static const char functions[] =
    "flat_map words(text line) -> (key text word, uint64_t n) { for (text w : tokens(line, WORD)) emit(w, 1); }\n"
    "reduce add(uint64_t a, uint64_t b) { return a + b; }\n"
    "map has(text line, accum uint64_t n) { if (find(line, \"zzqqxx\") >= 0) n += 1; }\n";

static int measure(const char *what, hdst_result *result, double bytes, int runs)
{
    hdst_error error;
    for (int run = 0; run < runs; run++) {
        const double begun = bench_seconds();
        if (hdst_run(result, &error) != HDST_OK) return fprintf(stderr, "%s: %s\n", what, error.message), 1;
        const double seconds = bench_seconds() - begun;
        const hdst_run_stats stats = hdst_result_stats(result);
        const double busy = stats.device[0].busy_seconds;
        printf("%s, run %d: %.2f ms, %.1f GB/s; kernels %.2f ms, %.1f GB/s; %.1f MB to the device, %.1f MB from it\n", what, run, seconds * 1e3,
               bytes / seconds * 1e-9, busy * 1e3, bytes / busy * 1e-9, (double)stats.bytes_to_device * 1e-6, (double)stats.bytes_from_device * 1e-6);
    }
    return 0;
}

int main(int argc, char **argv)
{
    hdst_context_options options = HDST_CONTEXT_OPTIONS_INIT;
    struct stat info;
    if (argc < 3 || stat(argv[2], &info)) return fprintf(stderr, "usage: bench_cached_text DEVICE FILE [RUNS]\n"), 2;
    options.device = argv[1];
    const int runs = argc > 3 ? atoi(argv[3]) : 5;
    hdst_context *context = hdst_context_create(&options);
    hdst_module *module = hdst_module_parse(context, "cached_text.hk", functions, NULL);
    hdst_dataset *lines = hdst_cache(hdst_read(hdst_source_open_lines(context, argv[2]), module, "text"));
    hdst_result *counts = hdst_result_create(hdst_reduce_by_key(hdst_flat_map_function(lines, module, "words"), module, "add"));
    hdst_map_spec *has = hdst_map_spec_create(module, "has");
    hdst_result *found = hdst_result_create(hdst_map(lines, has));
    int failed = measure("word count", counts, (double)info.st_size, runs);
    if (!failed) failed = measure("search", found, (double)info.st_size, runs);
    const char *explained = failed ? "" : hdst_explain(counts, NULL);
    if (getenv("BENCH_TIMES")) fputs(explained, stderr);
    hdst_context_destroy(context);
    return failed;
}
