// SPDX-License-Identifier: Apache-2.0
// How fast records reach a device: the sums of two floats over memory of the program's, registered and not, in layouts aos and soa; GB of the memory per
// second, the best of the runs after the first, and the first, which pins the pages. usage: bench_read [DEVICE [GIB [RUNS]]]
#include "hdst/hdst.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

typedef struct pair { float x, y; } pair;

static const char kernel[] = "struct pair { float x; float y; };\nmap add(pair p, accum double x, accum double y) { x += p.x; y += p.y; }\n";

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void expect(hdst_status status, const hdst_error *error)
{
    if (status == HDST_OK) return;
    char text[2500];
    hdst_error_format(error, text, sizeof text);
    fprintf(stderr, "bench_read: %s\n", text);
    exit(hdst_status_exit_code(status));
}

static void measure(hdst_context *context, const pair *rows, uint64_t count, bool registered, hdst_layout layout, int runs)
{
    hdst_error error = HDST_ERROR_INIT;
    hdst_module *module = hdst_module_parse(context, "read.hk", kernel, NULL);
    hdst_source *source = hdst_source_from_memory(context, rows, count, sizeof *rows);
    hdst_result *result = hdst_result_create(hdst_map_function(hdst_with_layout(hdst_read(source, module, "pair"), layout), module, "add"));
    const double bytes = (double)count * sizeof *rows;
    double first = 0, best = 1e30, sum = 0;
    if (registered) expect(hdst_memory_register(context, rows, count * sizeof *rows, &error), &error);
    for (int run = 0; run <= runs; run++) {
        const double start = now();
        expect(hdst_run(result, &error), &error);
        const double seconds = now() - start;
        if (run == 0) first = seconds;
        else if (seconds < best) best = seconds;
        sum = hdst_view_double(hdst_result_field(result, "x", NULL), 0, 0);
    }
    if (registered) expect(hdst_memory_unregister(context, rows, &error), &error);
    printf("%-14s %s  %6.1f GB/s  (first %.1f, the sum %.9g)\n", registered ? "registered" : "not registered", layout == HDST_SOA ? "soa" : "aos",
           bytes / best / 1e9, bytes / first / 1e9, sum);
    hdst_result_destroy(result);
    hdst_source_destroy(source);
    hdst_module_destroy(module);
}

int main(int argc, char **argv)
{
    const double gib = argc > 2 ? atof(argv[2]) : 1;
    const int runs = argc > 3 ? atoi(argv[3]) : 5;
    const uint64_t count = (uint64_t)(gib * (1 << 30)) / sizeof(pair);
    hdst_context_options options = HDST_CONTEXT_OPTIONS_INIT;
    options.device = argc > 1 ? argv[1] : "all";
    hdst_context *context = hdst_context_create(&options);
    hdst_device_info info;
    hdst_error error = HDST_ERROR_INIT;
    expect(hdst_device_chosen(context, &info, &error), &error);
    pair *rows = aligned_alloc(1 << 21, (count * sizeof *rows + (1 << 21) - 1) >> 21 << 21);
    if (!rows) return 5;
    for (uint64_t i = 0; i < count; i++) rows[i] = (pair){(float)(i % 1000), (float)(i % 7)};
    printf("%s, %.1f GiB of pairs of floats\n", info.name, gib);
    for (int layout = 0; layout < 2; layout++)
        for (int registered = 0; registered < 2; registered++) measure(context, rows, count, registered, layout ? HDST_SOA : HDST_AOS, runs);
    hdst_context_destroy(context);
    free(rows);
    return 0;
}
