// SPDX-License-Identifier: Apache-2.0
// Much more input than memory: a step of KMeans, or a sum by key, over records of 16 bytes from a callback that does not say how many it has. Tells the
// seconds, the most memory by the context's own count and by the system's, and whether the answer is right. Records repeat after 2^20, so that answers are
// known; keys are i % KEYS. usage: bench_stream kmeans|by-key DEVICE GB [MEMORY_MIB [DEVICE_MEMORY_MIB [KEYS]]]
#include "hdst/hdst.h"

#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { PERIOD = 1 << 20, CENTERS = 8, CALLS_A_LOOK = 64 };

typedef struct item { float x, y; uint64_t key; } item;
typedef struct center { float x, y; } center;
typedef struct near { uint64_t n; double s; } near;

static const char kernels[] =
    "struct item { float x; float y; uint64_t key; };\n"
    "struct center { float x; float y; };\n"
    "struct near { uint64_t n; double s; };\n"
    "map assign(item i, broadcast center c[], accum near rows[])\n"
    "{\n"
    "    float least = 1e30f; uint32_t best = 0u;\n"
    "    for (uint32_t k = 0u; k < 8u; k++) {\n"
    "        float d = (i.x - c[k].x) * (i.x - c[k].x) + (i.y - c[k].y) * (i.y - c[k].y);\n"
    "        if (d < least) { least = d; best = k; }\n"
    "    }\n"
    "    rows[best].n += 1; rows[best].s += least;\n"
    "}\n"
    "map pairs(item i) -> (key uint64_t key, uint64_t n, double s) { return (i.key, 1, (double)i.x); }\n"
    "reduce add(near a, near b) { return (near){ .n = a.n + b.n, .s = a.s + b.s }; }\n";

static item period[PERIOD];
static uint64_t records, keys;
static _Atomic uint64_t calls, most_anonymous;

// --- What the system counts ---

static uint64_t status_kib(const char *name)
{
    char line[256];
    uint64_t kib = 0;
    FILE *file = fopen("/proc/self/status", "r");
    while (file && fgets(line, sizeof line, file))
        if (!strncmp(line, name, strlen(name))) kib = strtoull(line + strlen(name), NULL, 10);
    if (file) fclose(file);
    return kib;
}

static void look(void)
{
    const uint64_t now = status_kib("RssAnon:");
    uint64_t most = atomic_load(&most_anonymous);
    while (now > most && !atomic_compare_exchange_weak(&most_anonymous, &most, now)) continue;
}

// --- Input ---

static bool give(uint64_t first, uint64_t count, void *to, uint64_t *given, bool *ended, char *message, void *user)
{
    (void)message, (void)user;
    const uint64_t at = first % PERIOD, left = first < records ? records - first : 0;
    item *rows = to;
    if (count > PERIOD - at) count = PERIOD - at;
    if (count > left) count = left;
    memcpy(rows, period + at, count * sizeof *rows);
    for (uint64_t i = 0, key = keys ? first % keys : 0; keys && i < count; i++, key = key + 1 < keys ? key + 1 : 0) rows[i].key = key;
    if (atomic_fetch_add(&calls, 1) % CALLS_A_LOOK == 0) look();
    *given = count;
    *ended = count == left;
    return true;
}

// --- Jobs ---

static const center centers[CENTERS] = {{0, 0}, {397, 211}, {794, 422}, {167, 633}, {564, 844}, {961, 31}, {334, 242}, {731, 453}};

static void assign(const item *i, uint64_t times, near *rows)
{
    float least = 1e30f;
    int best = 0;
    for (int k = 0; k < CENTERS; k++) {
        const float d = (i->x - centers[k].x) * (i->x - centers[k].x) + (i->y - centers[k].y) * (i->y - centers[k].y);
        if (d < least) least = d, best = k;
    }
    rows[best].n += times;
    rows[best].s += (double)least * (double)times;      // whole numbers: exact
}

static hdst_result *kmeans(hdst_dataset *data, hdst_module *module)
{
    hdst_value *c = hdst_value_create(module, "center", CENTERS);
    hdst_map_spec *spec = hdst_map_spec_create(module, "assign");
    hdst_value_set(c, centers, CENTERS);
    hdst_bind_value(spec, "c", c);
    hdst_bind_accum(spec, "rows", CENTERS);
    return hdst_result_create(hdst_map(data, spec));
}

static bool kmeans_is_right(hdst_result *result)
{
    near expected[CENTERS] = {{0}};
    for (uint64_t i = 0; i < PERIOD; i++) assign(&period[i], records / PERIOD + (i < records % PERIOD), expected);
    const near *rows = hdst_result_rows(result, "rows", NULL);
    return rows && !memcmp(rows, expected, sizeof expected);
}

static bool by_key_is_right(hdst_result *result)
{
    uint64_t count;
    const struct { uint64_t key, n; double s; } *rows = hdst_result_rows(result, NULL, &count);
    uint64_t all = 0;
    bool right = rows && count == (keys < records ? keys : records);
    for (uint64_t k = 0; right && k < count; k++) {
        right = rows[k].n == records / keys + (rows[k].key < records % keys);
        all += rows[k].n;
    }
    return right && all == records;
}

int main(int argc, char **argv)
{
    const bool by_key = argc > 1 && !strcmp(argv[1], "by-key");
    if (argc < 4) return fprintf(stderr, "usage: bench_stream kmeans|by-key DEVICE GB [MEMORY_MIB [DEVICE_MEMORY_MIB [KEYS]]]\n"), 1;
    records = (uint64_t)(atof(argv[3]) * 1e9) / sizeof(item);
    keys = !by_key ? 0 : argc > 6 ? strtoull(argv[6], NULL, 10) : records / 8;
    for (uint32_t i = 0; i < PERIOD; i++) period[i] = (item){(float)(i % 1024), (float)(i / 1024), 0};
    hdst_context_options options = HDST_CONTEXT_OPTIONS_INIT;
    options.device = argv[2];
    options.memory = (argc > 4 ? strtoull(argv[4], NULL, 10) : 2048) << 20;
    options.device_memory = (argc > 5 ? strtoull(argv[5], NULL, 10) : 1024) << 20;
    hdst_context *context = hdst_context_create(&options);
    hdst_module *module = hdst_module_parse(context, "stream.hk", kernels, NULL);
    hdst_dataset *data = hdst_read(hdst_source_from_uncounted_callback(context, give, true, NULL), module, "item");
    hdst_result *result = by_key ? hdst_result_create(hdst_reduce_by_key(hdst_map_function(data, module, "pairs"), module, "add")) : kmeans(data, module);
    look();
    const uint64_t before = atomic_load(&most_anonymous);
    hdst_error error = HDST_ERROR_INIT;
    if (hdst_run(result, &error) != HDST_OK) {
        char text[2500];
        hdst_error_format(&error, text, sizeof text);
        fprintf(stderr, "bench_stream: %s\n", text);
        return hdst_status_exit_code(error.code);
    }
    const bool right = by_key ? by_key_is_right(result) : kmeans_is_right(result);
    const hdst_run_stats stats = hdst_result_stats(result);
    const double mib = 1 << 20;
    printf("%s, %s: %.1f GB, %llu records in %.1f s; budget %.0f MiB, of devices %.0f MiB\n", argv[1], argv[2], (double)(records * sizeof(item)) / 1e9,
           (unsigned long long)records, stats.total_seconds, (double)options.memory / mib, (double)options.device_memory / mib);
    printf("at most %.1f MiB of the host's, %.1f MiB of the device's; anonymous memory %.1f MiB more than the %.1f MiB before; VmHWM %.1f MiB; %s\n",
           (double)stats.host_peak_bytes / mib, (double)stats.device_peak_bytes / mib, (double)(most_anonymous - before) / 1024, (double)before / 1024,
           (double)status_kib("VmHWM:") / 1024, right ? "right" : "WRONG");
    hdst_context_destroy(context);
    return !right;
}
