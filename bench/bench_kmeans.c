// SPDX-License-Identifier: Apache-2.0
// KMeans steps through the public interface, on points that stay resident: prints "name ns" (per point and step), a line for each step.
//   bench_kmeans [-n POINTS] [-k CENTERS] [-d COORDINATES] [-l aos|soa|aosoa|aop] [-m l2|l1] [-i STEPS] [-D DEVICE] [-c (print sums)] [-e (explain)]
#include "bench/points.h"
#include "hdst/hdst.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

typedef struct settings {
    uint64_t points;
    uint32_t k, d, steps;
    const char *layout, *metric, *device, *kernels;
    bool print_sums, explain;
} settings;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int report(const hdst_error *error)
{
    char text[4096];
    hdst_error_format(error, text, sizeof text);
    fprintf(stderr, "%s\n", text);
    return hdst_status_exit_code(error->code);
}

static void log_line(hdst_log_level level, const char *message, void *user)
{
    (void)level, (void)user;
    fprintf(stderr, "%s\n", message);
}

static bool fill_points(uint64_t first, uint64_t count, void *records, char *message, void *user)
{
    (void)message;
    const settings *s = user;
    float *x = records;
    for (uint64_t i = 0; i < count; i++)
        for (uint32_t c = 0; c < s->d; c++) x[i * s->d + c] = bench_coordinate(first + i, c);
    return true;
}

static hdst_layout layout_of(const char *name)
{
    static const char *const names[] = {"aos", "soa", "aosoa", "aop"};
    for (int i = 0; i < 4; i++)
        if (!strcmp(name, names[i])) return (hdst_layout)i;
    fprintf(stderr, "no layout '%s'\n", name);
    exit(2);
}

static settings read_settings(int argc, char **argv)
{
    settings s = {20000000, 50, 2, 9, "soa", "l2", "all", BENCH_SOURCE_DIR, false, false};
    for (int option; (option = getopt(argc, argv, "n:k:d:l:m:i:D:s:ce")) != -1;) {
        if (option == 'n') s.points = strtoull(optarg, NULL, 10);
        else if (option == 'k') s.k = (uint32_t)atoi(optarg);
        else if (option == 'd') s.d = (uint32_t)atoi(optarg);
        else if (option == 'l') s.layout = optarg;
        else if (option == 'm') s.metric = optarg;
        else if (option == 'i') s.steps = (uint32_t)atoi(optarg);
        else if (option == 'D') s.device = optarg;
        else if (option == 's') s.kernels = optarg;
        else if (option == 'c') s.print_sums = true;
        else if (option == 'e') s.explain = true;
        else exit(2);
    }
    return s;
}

// All bits of the sums, so that two devices can be compared.
static void print_sums(hdst_result *r, const settings *s)
{
    hdst_view x = hdst_result_field(r, "t", "x"), n = hdst_result_field(r, "t", "n"), inertia = hdst_result_field(r, "inertia", NULL);
    uint64_t hash = 1469598103934665603u;
    for (uint32_t j = 0; j < s->k; j++)
        for (uint32_t c = 0; c <= s->d; c++) {
            double v = c < s->d ? hdst_view_double(x, j, c) : hdst_view_double(n, j, 0);
            uint64_t bits;
            memcpy(&bits, &v, sizeof bits);
            hash = (hash ^ bits) * 1099511628211u;
        }
    printf("# sums %016" PRIx64 " inertia %a\n", hash, hdst_view_double(inertia, 0, 0));
}

static int run_steps(hdst_result *r, hdst_value *c, const float *centers, const settings *s)
{
    hdst_error error;
    hdst_value_set(c, centers, s->k);
    if (hdst_run(r, &error) != HDST_OK) return report(&error);      // reads, compiles
    hdst_run_stats first = hdst_result_stats(r);
    fprintf(stderr, "# first run: read %.3f s, compile %.3f s\n", first.read_seconds, first.compile_seconds);
    for (uint32_t i = 0; i < s->steps; i++) {
        double start = now();
        hdst_value_set(c, centers, s->k);
        if (hdst_run(r, &error) != HDST_OK) return report(&error);
        double seconds = now() - start;
        printf("hdst_kmeans_%s_%s_d%u %.5f\n", s->metric, s->layout, s->d, seconds * 1e9 / (double)s->points);
        fflush(stdout);
    }
    hdst_run_stats last = hdst_result_stats(r);
    fprintf(stderr, "# last step: %" PRIu64 " bytes to the device, %" PRIu64 " back\n", last.bytes_to_device, last.bytes_from_device);
    if (s->print_sums) print_sums(r, s);
    return 0;
}

int main(int argc, char **argv)
{
    settings s = read_settings(argc, argv);
    hdst_context_options options = HDST_CONTEXT_OPTIONS_INIT;
    options.device = s.device;
    options.log = log_line;
    hdst_context *ctx = hdst_context_create(&options);
    char path[4096];
    snprintf(path, sizeof path, "%s/kmeans_%s.hk", s.kernels, s.metric);
    hdst_source *in = hdst_source_from_callback(ctx, s.points, fill_points, &s);
    hdst_module *hk = hdst_module_load(ctx, path, HDST_PARAM("D", s.d));
    hdst_dataset *points = hdst_cache(hdst_with_layout(hdst_read(in, hk, "point"), layout_of(s.layout)));
    hdst_value *c = hdst_value_create(hk, "center", s.k);
    hdst_map_spec *spec = hdst_map_spec_create(hk, "assign");
    hdst_bind_value(spec, "c", c);
    hdst_bind_accum(spec, "t", s.k);
    hdst_result *r = hdst_result_create(hdst_map(points, spec));
    float *centers = malloc((size_t)s.k * s.d * sizeof *centers);
    for (uint32_t j = 0; j < s.k; j++)
        for (uint32_t i = 0; i < s.d; i++) centers[j * s.d + i] = bench_coordinate(1000000000u + j, i);
    int status = run_steps(r, c, centers, &s);
    hdst_error error;
    if (s.explain) fprintf(stderr, "%s", hdst_explain(r, &error));
    free(centers);
    hdst_context_destroy(ctx);
    return status;
}
