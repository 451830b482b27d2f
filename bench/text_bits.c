// SPDX-License-Identifier: Apache-2.0
// Words of texts made at random, on any devices: counted by key, and one after the other in the order of the text. Rows and their order must be those of the
// first device named; how many words there are, and how many bytes they have, is counted by hand.
//   text_bits [DEVICE]...        ("interp", "gpu", "0,1" ...: as --device of the examples; without any: interp and cpu)
#include "hdst/hdst.h"
#include "tests/hdst/fuzzed_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char functions[] =
    "flat_map counted(text line) -> (key text word, uint64_t n, uint64_t bytes) { for (text w : tokens(line, SPACE)) emit(lower(w), 1, len(w)); }\n"
    "struct counts { uint64_t n, bytes; };\n"
    "reduce add(counts a, counts b) { return (counts){ .n = a.n + b.n, .bytes = a.bytes + b.bytes }; }\n"
    "flat_map listed(text line) -> (text word, uint64_t n, uint64_t bytes) { for (text w : tokens(line, WORD)) emit(w, len(line), len(w)); }\n";

typedef struct word { hdst_text_span word; uint64_t n, bytes; } word;
typedef struct sums { uint64_t rows, n, bytes, hash; } sums;       // hash: of all bytes and numbers, in their order
enum { MOST_DEVICES = 16 };

static void must(hdst_status status, const hdst_error *error)
{
    char message[4096];
    if (status == HDST_OK) return;
    hdst_error_format(error, message, sizeof message);
    fprintf(stderr, "text_bits: %s\n", message);
    exit(hdst_status_exit_code(status));
}

static sums sums_of(hdst_result *result)
{
    hdst_error error = HDST_ERROR_INIT;
    sums s = {0};
    must(hdst_run(result, &error), &error);
    const word *rows = hdst_result_rows(result, NULL, &s.rows);
    for (uint64_t i = 0; i < s.rows; i++) {
        const char *bytes = hdst_text_bytes(&rows[i].word);
        for (uint32_t b = 0; b < rows[i].word.length; b++) s.hash = (s.hash ^ (uint8_t)bytes[b]) * 0x100000001b3u;
        s.hash = ((s.hash ^ rows[i].n) * 0x100000001b3u ^ rows[i].bytes) * 0x100000001b3u ^ rows[i].word.length;
        s.n += rows[i].n;
        s.bytes += rows[i].bytes;
    }
    hdst_result_destroy(result);
    return s;
}

typedef struct side { const char *device; hdst_context *context; hdst_module *module; } side;

static void run(const side *with, const char *path, sums of[2])
{
    hdst_source *lines = hdst_source_open_lines(with->context, path);
    hdst_dataset *read = hdst_read(lines, with->module, "text");
    hdst_dataset *counted = hdst_reduce_by_key(hdst_flat_map_function(read, with->module, "counted"), with->module, "add");
    of[0] = sums_of(hdst_result_create(counted));
    of[1] = sums_of(hdst_result_create(hdst_flat_map_function(read, with->module, "listed")));
}

static uint32_t check(const side *sides, int count, uint32_t seed, const char *path)
{
    uint32_t wrong = 0;
    uint64_t words, bytes;
    sums first[2], other[2];
    FILE *file = fopen(path, "wb");
    make_text(seed);
    if (!file || fwrite(fuzzed.bytes, 1, fuzzed.length, file) != fuzzed.length || fclose(file)) {
        perror(path);
        exit(6);
    }
    count_text(&words, &bytes);
    for (int i = 0; i < count; i++) {
        run(&sides[i], path, i ? other : first);
        const bool same = i == 0 || !memcmp(first, other, sizeof first), right = i || (first[0].n == words && first[0].bytes == bytes);
        if (same && right) continue;
        printf("text %u on %s: %s\n", seed, sides[i].device, same ? "not as counted by hand" : "other rows than on the first device");
        wrong++;
    }
    return wrong;
}

int main(int argc, char **argv)
{
    static char *const usual[] = {"interp", "cpu"};
    char *const *devices = argc > 1 ? argv + 1 : usual;
    const int count = argc > 1 ? argc - 1 : 2;
    side sides[MOST_DEVICES];
    char path[64] = "/tmp/hdst-text-bits-XXXXXX";
    const int made = mkstemp(path);
    uint32_t wrong = 0;
    if (count > MOST_DEVICES || made < 0 || close(made)) return fprintf(stderr, "text_bits: at most %d devices, and a file in /tmp\n", MOST_DEVICES), 2;
    for (int i = 0; i < count; i++) {
        hdst_context_options options = HDST_CONTEXT_OPTIONS_INIT;
        options.device = devices[i];
        sides[i] = (side){devices[i], hdst_context_create(&options), NULL};
        sides[i].module = hdst_module_parse(sides[i].context, "text_bits.hk", functions, NULL);
    }
    for (uint32_t seed = 1; seed <= TEXTS; seed++) wrong += check(sides, count, seed, path);
    for (int i = 0; i < count; i++) hdst_context_destroy(sides[i].context);
    unlink(path);
    printf("%d texts on %d devices, %u differences\n", TEXTS, count, wrong);
    return wrong != 0;
}
