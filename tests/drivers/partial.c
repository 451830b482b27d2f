// SPDX-License-Identifier: Apache-2.0
// Partials across processes: this program starts itself for each part of the records; what those processes write as bytes, one after another on its
// pipe, it merges, and compares with one run over all records of its own. Exits with 1 and says why where a bit differs.
// usage: partial DEVICE [DEVICE-OF-THE-WHOLE]
#include "hdst/hdst.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RECORDS = 30000, ROWS = 50, PARTS = 3 };

static const char kernel[] = "struct item { uint32_t k; float v; };\n"
                             "struct total { double sum; float most; uint32_t n; };\n"
                             "map gather(item i, accum total t[])\n"
                             "{\n"
                             "    t[i.k % len(t)].sum += i.v;\n"
                             "    acc_max(t[i.k % len(t)].most, i.v);\n"
                             "    t[i.k % len(t)].n += 1;\n"
                             "}\n";

typedef struct item { uint32_t k; float v; } item;
typedef struct total { double sum; float most; uint32_t n; } total;

static void fill(item *items)
{
    uint32_t state = 2463534242u;
    for (int i = 0; i < RECORDS; i++) {
        state ^= state << 13, state ^= state >> 17, state ^= state << 5;
        items[i] = (item){state >> 9, ldexpf((float)(int32_t)state, (int)(state % 50) - 60)};
    }
}

static void check(hdst_status status, const char *what, const hdst_error *error)
{
    char text[2500];
    if (status == HDST_OK) return;
    hdst_error_format(error, text, sizeof text);
    fprintf(stderr, "partial: %s: %s\n", what, text);
    exit(1);
}

static hdst_result *run(hdst_context *context, const item *items, uint64_t count)
{
    hdst_error error = HDST_ERROR_INIT;
    hdst_module *module = hdst_module_parse(context, "gather.hk", kernel, NULL);
    hdst_map_spec *spec = hdst_map_spec_create(module, "gather");
    hdst_bind_accum(spec, "t", ROWS);
    hdst_result *result = hdst_result_create(hdst_map(hdst_read(hdst_source_from_memory(context, items, count, sizeof *items), module, "item"), spec));
    check(hdst_result_keep_partial(result, &error), "keep", &error);
    check(hdst_run(result, &error), "run", &error);
    return result;
}

// In a process of its own: the bytes to standard output.
static int write_part(hdst_context *context, const item *items, int part)
{
    hdst_error error = HDST_ERROR_INIT;
    const void *bytes;
    uint64_t size;
    const uint64_t first = RECORDS / PARTS * (uint64_t)part;
    hdst_partial *partial = hdst_partial_from_result(run(context, items + first, RECORDS / PARTS));
    check(hdst_partial_write(partial, &bytes, &size, &error), "write", &error);
    return fwrite(bytes, 1, size, stdout) == size ? 0 : 1;
}

static hdst_partial *read_part(hdst_context *context, const char *program, const char *device, int part)
{
    enum { MOST = 1 << 20 };
    static char bytes[MOST];
    char command[4096];
    hdst_error error = HDST_ERROR_INIT;
    snprintf(command, sizeof command, "'%s' %s part %d", program, device, part);
    FILE *pipe = popen(command, "r");
    if (!pipe) exit(1);
    const size_t size = fread(bytes, 1, sizeof bytes, pipe);
    if (pclose(pipe) != 0) exit(1);
    hdst_partial *partial = hdst_partial_from_bytes(context, bytes, size);
    check(hdst_partial_status(partial, &error), "read", &error);
    return partial;
}

static int merge_parts(hdst_context *context, const char *program, const char *device, const item *items)
{
    hdst_error error = HDST_ERROR_INIT;
    hdst_partial *part[PARTS];
    uint64_t count;
    for (int p = 0; p < PARTS; p++) part[p] = read_part(context, program, device, p);
    check(hdst_partial_merge(part[2], part[0], &error), "merge", &error);
    check(hdst_partial_merge(part[1], part[2], &error), "merge", &error);
    const total *found = hdst_partial_rows(part[1], "t", &count), *expected = hdst_result_rows(run(context, items, RECORDS), "t", NULL);
    if (found && expected && count == ROWS && !memcmp(found, expected, ROWS * sizeof *found)) return 0;
    fprintf(stderr, "partial: what the parts come to differs from one run\n");
    return 1;
}

int main(int argc, char **argv)
{
    static item items[RECORDS];
    hdst_context_options options = HDST_CONTEXT_OPTIONS_INIT;
    if (argc < 2) return 2;
    const bool is_part = argc > 3;
    options.device = argc == 3 ? argv[2] : argv[1];
    fill(items);
    hdst_context *context = hdst_context_create(&options);
    const int failed = is_part ? write_part(context, items, atoi(argv[3])) : merge_parts(context, argv[0], argv[1], items);
    hdst_context_destroy(context);
    return failed;
}
