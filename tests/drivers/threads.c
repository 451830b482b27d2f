// SPDX-License-Identifier: Apache-2.0
// What the public interface promises about threads, as a plain program, because Criterion does not start under the thread sanitizer: contexts in two threads,
// one context in two threads, a run that another thread cancels, runs that are observed while devices share them. Exits with 1 and says why when a result
// is wrong.
// usage: threads DEVICE
#include "hdst/hdst.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { RECORDS = 8000, SIDES = 2, RUNS = 3 };

static const char kernel[] = "struct point { float x; float y; };\n"
                             "struct total { float x; float y; uint32_t n; };\n"
                             "map add(point p, broadcast float scale[], accum total t[])\n"
                             "{\n"
                             "    uint32_t side = p.x < 500 ? 0 : 1;\n"
                             "    t[side].x += p.x * scale[0];\n"
                             "    t[side].y += p.y;\n"
                             "    t[side].n += 1;\n"
                             "}\n";

typedef struct job {
    hdst_context *context;      // NULL: the thread makes its own
    const char *device;
    float scale;
    bool failed;
} job;

// Small integers: every sum is exact in float, so there is one right answer.
static bool fill(uint64_t first, uint64_t count, void *records, char *message, void *user)
{
    (void)message, (void)user;
    float *row = records;
    for (uint64_t i = 0; i < count; i++) {
        row[2 * i] = (float)((first + i) % 1000);
        row[2 * i + 1] = (float)((first + i) % 7);
    }
    return true;
}

static bool complain(const char *what, const hdst_error *error)
{
    char text[2500];
    hdst_error_format(error, text, sizeof text);
    fprintf(stderr, "threads: %s: %s\n", what, text);
    return false;
}

static bool right(hdst_result *result, float scale)
{
    double x[SIDES] = {0}, y[SIDES] = {0};
    int64_t n[SIDES] = {0};
    for (uint64_t i = 0; i < RECORDS; i++) {
        int side = i % 1000 < 500 ? 0 : 1;
        x[side] += (double)(i % 1000) * (double)scale;
        y[side] += (double)(i % 7);
        n[side]++;
    }
    hdst_view vx = hdst_result_field(result, "t", "x"), vy = hdst_result_field(result, "t", "y"), vn = hdst_result_field(result, "t", "n");
    for (int side = 0; side < SIDES; side++) {
        double gx = hdst_view_double(vx, side, 0), gy = hdst_view_double(vy, side, 0);
        int64_t gn = hdst_view_int64(vn, side, 0);
        if (gx == x[side] && gy == y[side] && gn == n[side]) continue;
        fprintf(stderr, "threads: side %d: %g %g %lld, not %g %g %lld\n", side, gx, gy, (long long)gn, x[side], y[side], (long long)n[side]);
        return false;
    }
    return true;
}

static bool compute(hdst_context *context, float scale)
{
    hdst_error error = HDST_ERROR_INIT;
    hdst_module *module = hdst_module_parse(context, "threads.hk", kernel, NULL);
    hdst_source *source = hdst_source_from_callback(context, RECORDS, fill, NULL);
    hdst_value *value = hdst_value_create(module, "float", 1);
    hdst_map_spec *spec = hdst_map_spec_create(module, "add");
    hdst_bind_value(spec, "scale", value);
    hdst_bind_accum(spec, "t", SIDES);
    hdst_result *result = hdst_result_create(hdst_map(hdst_cache(hdst_read(source, module, "point")), spec));
    bool good = true;
    for (int run = 0; run < RUNS && good; run++) {
        float now = scale + (float)run;
        hdst_value_set(value, &now, 1);
        good = hdst_run(result, &error) == HDST_OK ? right(result, now) : complain("run", &error);
    }
    hdst_result_destroy(result);
    hdst_map_spec_destroy(spec);
    hdst_value_destroy(value);
    hdst_source_destroy(source);
    hdst_module_destroy(module);
    return good;
}

static hdst_context *open_context(const char *device)
{
    hdst_context_options options = HDST_CONTEXT_OPTIONS_INIT;
    options.device = device;
    return hdst_context_create(&options);
}

static void *work(void *argument)
{
    job *j = argument;
    hdst_context *own = j->context ? NULL : open_context(j->device);
    j->failed = !compute(own ? own : j->context, j->scale);
    hdst_context_destroy(own);
    return NULL;
}

// Two threads; returns whether both were right.
static bool both(hdst_context *context, const char *device)
{
    job jobs[2] = {{context, device, 1, false}, {context, device, 2, false}};
    pthread_t thread[2];
    for (int i = 0; i < 2; i++)
        if (pthread_create(&thread[i], NULL, work, &jobs[i])) return false;
    for (int i = 0; i < 2; i++) pthread_join(thread[i], NULL);
    return !jobs[0].failed && !jobs[1].failed;
}

static void *cancel(void *context)
{
    hdst_context_cancel(context);
    return NULL;
}

// The run ends, by itself or cancelled; afterwards the context works.
static bool cancelled(const char *device)
{
    hdst_error error = HDST_ERROR_INIT;
    hdst_context *context = open_context(device);
    hdst_module *module = hdst_module_parse(context, "threads.hk", "map add(int64_t i, accum int64_t s) { s += i; }\n", NULL);
    hdst_result *result = hdst_result_create(hdst_map_function(hdst_read(hdst_source_from_range(context, 0, 20000000), module, "int64_t"), module, "add"));
    pthread_t thread;
    if (pthread_create(&thread, NULL, cancel, context)) return false;
    hdst_status status = hdst_run(result, &error);
    pthread_join(thread, NULL);
    bool good = status == HDST_OK || status == HDST_E_CANCELLED || complain("a cancelled run", &error);
    good = good && compute(context, 3);         // a cancel that came late hits no later run
    hdst_context_destroy(context);
    return good;
}

static void count_call(const hdst_progress *progress, void *user)
{
    (void)progress;
    ++*(uint32_t *)user;
}

static bool is_whole(const char *path)
{
    char end[4] = "";
    FILE *file = fopen(path, "r");
    const bool read = file && fseek(file, -3, SEEK_END) == 0 && fread(end, 1, 3, file) == 3;
    if (file) fclose(file);
    return read && !strcmp(end, "]}\n");
}

// A context with a timeline and a progress function, used by two threads; each run is shared by the halves of a CPU.
static bool observed(const char *device)
{
    char path[] = "/tmp/hdst-threads-XXXXXX";
    uint32_t calls = 0;
    hdst_context_options options = HDST_CONTEXT_OPTIONS_INIT;
    close(mkstemp(path));
    setenv("HDST_SHARE_BYTES", "0", 1);
    options.device = device;
    options.cpu_parts = 2;
    options.trace = path;
    options.progress = count_call;
    options.progress_user = &calls;
    hdst_context *context = hdst_context_create(&options);
    const bool good = both(context, device);
    hdst_context_destroy(context);
    const bool whole = is_whole(path);
    unlink(path);
    if (!whole) fprintf(stderr, "the timeline is not whole\n");
    return good && whole;
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: threads DEVICE\n");
        return 2;
    }
    if (!both(NULL, argv[1])) return 1;
    hdst_context *shared = open_context(argv[1]);
    bool good = both(shared, argv[1]);
    hdst_context_destroy(shared);
    return good && cancelled(argv[1]) && observed(argv[1]) ? 0 : 1;
}
