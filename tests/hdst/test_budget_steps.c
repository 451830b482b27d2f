// SPDX-License-Identifier: Apache-2.0
// What runs in some memory budget runs in every larger one, with the same bits: what is there only so that runs are quicker (cached datasets, segments in
// turn) takes nothing from what a run cannot do without. Each job goes through budgets in small steps, from far too little on.
#include "tests/hdst/support.h"

#include <stdlib.h>

enum { COUNT = 60000, KEYS = 701 };     // 16 bytes each: 938 KiB

typedef struct item { uint32_t key; float x, y; uint32_t at; } item;

static const char kernels[] =
    "struct item { uint32_t key; float x; float y; uint32_t at; };\n"
    "struct sums { double s[8]; double t[8]; uint64_t n; };\n"
    "struct total { uint32_t key; uint32_t n; double s; };\n"
    "map sum(item i, broadcast float c[], accum sums all)\n"
    "{\n"
    "    all.n += 1;\n"
    "    for (uint32_t j = 0; j < 8u; j++) {\n"
    "        double a = (double)i.x - (double)c[j], b = (double)i.y + (double)c[j];\n"
    "        for (uint32_t k = 0; k < 4u; k++) { a = a * b + 1.0; b = b / (1.0 + a * a); }\n"
    "        all.s[j] += a * b;\n"
    "        all.t[7u - j] += a - b;\n"
    "    }\n"
    "}\n"
    "map by_key(item i) -> (key uint32_t key, uint32_t n, double s) { return (i.key, 1, (double)i.x); }\n"
    "struct values { uint32_t n; double s; };\n"
    "reduce add(values a, values b) { return (values){ .n = a.n + b.n, .s = a.s + b.s }; }\n"
    "filter some(item i) { return i.at % 3u != 1u; }\n"
    "group spread(key uint32_t key, stream item i) -> total\n"
    "{ double low = 0; uint32_t n = 0; for (item e : i) { low = n == 0 ? (double)e.y : min(low, (double)e.y); n += 1; }"
    " return (total){ .key = key, .s = low, .n = n }; }\n";

// Functions that nobody calls: what the module takes is more than what counts towards no budget, so all that is made later does.
static const char *with_unused(void)
{
    enum { FUNCTIONS = 280, LENGTH = 160 };
    static char text[sizeof kernels + FUNCTIONS * LENGTH];
    size_t at = (size_t)snprintf(text, sizeof text, "%s", kernels);
    for (int i = 0; i < FUNCTIONS; i++)
        at += (size_t)snprintf(text + at, sizeof text - at,
                               "map unused%d(item i, accum double p) { p += ((double)i.x * %d.5 + (double)i.y) * (double)i.at; }\n", i, i);
    return text;
}

static item item_at(uint64_t i) { return (item){(uint32_t)(i * 7919 % KEYS), (float)(i % 1013) / 64, (float)(i * 31 % 509) / 32, (uint32_t)i}; }

static bool fill(uint64_t first, uint64_t count, void *records, char *message, void *user)
{
    (void)message, (void)user;
    for (uint64_t i = 0; i < count; i++) ((item *)records)[i] = item_at(first + i);
    return true;
}

typedef struct job {
    hdst_context *context;
    hdst_module *module;
    hdst_dataset *items, *cached;
    uint64_t hash;                      // of all that its steps gave so far
} job;

static void note(job *j, const void *bytes, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) j->hash = (j->hash ^ ((const unsigned char *)bytes)[i]) * 1099511628211u;
}

// --- Steps ---

static hdst_status run_twice(job *j, hdst_result *r, const char *table, uint64_t row_bytes, hdst_error *error)
{
    hdst_status status = HDST_OK;
    for (int turn = 0; turn < 2 && status == HDST_OK; turn++) {
        uint64_t rows = 0;
        status = hdst_run(r, error);
        const void *got = status == HDST_OK ? hdst_result_rows(r, table, &rows) : NULL;
        note(j, got, rows * row_bytes);
    }
    hdst_result_destroy(r);
    return status;
}

static hdst_status step_take(job *j, hdst_error *error)
{
    item some[5];
    const hdst_status status = hdst_dataset_take(j->cached, COUNT / 2, 5, some, error);
    if (status == HDST_OK) note(j, some, sizeof some);
    return status;
}

static hdst_status step_sum(job *j, hdst_error *error)
{
    hdst_map_spec *spec = hdst_map_spec_create(j->module, "sum");
    hdst_value *c = hdst_value_create(j->module, "float", 8);
    hdst_value_set(c, (float[8]){0, 0.25f, 0.5f, 1, 1.5f, 2, 3, 4}, 8);
    hdst_bind_value(spec, "c", c);
    hdst_result *r = hdst_result_create(hdst_map(j->cached, spec));
    hdst_map_spec_destroy(spec);
    const hdst_status status = run_twice(j, r, "all", 17 * sizeof(double), error);
    hdst_value_destroy(c);
    return status;
}

static hdst_status step_by_key(job *j, hdst_error *error)
{
    return run_twice(j, hdst_result_create(hdst_reduce_by_key(hdst_map_function(j->cached, j->module, "by_key"), j->module, "add")), NULL, 16, error);
}

static hdst_status step_sort(job *j, hdst_error *error)
{
    hdst_dataset *sorted = hdst_sort(hdst_filter_function(j->cached, j->module, "some"), "y");
    return run_twice(j, hdst_result_create(hdst_slice(sorted, 100, 900)), NULL, sizeof(item), error);
}

static hdst_status step_group(job *j, hdst_error *error)
{
    return run_twice(j, hdst_result_create(hdst_group_function(j->cached, "key", j->module, "spread")), NULL, 16, error);
}

static hdst_status step_cache_of_cache(job *j, hdst_error *error)
{
    j->cached = hdst_cache(hdst_filter_function(j->cached, j->module, "some"));
    return step_take(j, error);
}

// --- Jobs ---

typedef hdst_status (*step)(job *j, hdst_error *error);

enum { MOST_STEPS = 4 };

static const step jobs[][MOST_STEPS] = {
    {step_take, step_sum}, {step_by_key, step_sum, step_sort}, {step_cache_of_cache, step_sum, step_group},
};

static hdst_status run_job(const step *steps, const char *form, uint64_t budget, uint64_t *hash, hdst_error *error)
{
    hdst_context_options options = HDST_CONTEXT_OPTIONS_INIT;
    const bool gpu = !strcmp(form, "gpu-form");
    options.device = gpu ? "cpu" : form;
    options.memory = budget;
    job j = {.context = hdst_context_create(&options), .hash = 14695981039346656037u};
    if (j.context->engine) j.context->engine->options.gpu_form_on_cpu = gpu;
    j.module = hdst_module_parse(j.context, "test.hk", with_unused(), NULL);
    hdst_source *source = hdst_source_from_callback(j.context, COUNT, fill, NULL);
    j.cached = hdst_cache(hdst_with_layout(hdst_read(source, j.module, "item"), HDST_SOA));
    hdst_status status = hdst_dataset_status(j.cached, error);
    for (size_t i = 0; i < MOST_STEPS && steps[i] && status == HDST_OK; i++) status = steps[i](&j, error);
    cr_assert(status == HDST_OK || status == HDST_E_MEMORY, "%s in %lu KiB: %s", form, (unsigned long)(budget >> 10), error->message);
    cr_expect(j.context->engine->runtime.memory.peak <= budget);
    hdst_context_destroy(j.context);
    *hash = j.hash;
    return status;
}

// Each step is so many hundredths of the budget.
static void go_up(const char *form, unsigned hundredths)
{
    for (size_t i = 0; i < sizeof jobs / sizeof *jobs; i++) {
        uint64_t right, least = 0, hash;
        hdst_error error;
        cr_assert_eq(run_job(jobs[i], form, 1 << 30, &right, &error), HDST_OK, "%s", error.message);
        for (uint64_t budget = 256 << 10; budget < 8 << 20; budget += budget / 100 * hundredths) {
            const hdst_status status = run_job(jobs[i], form, budget, &hash, &error);
            if (status == HDST_OK && !least) least = budget;
            cr_expect(status == HDST_OK || !least, "job %zu, %s: runs in %lu KiB, and not in %lu: %s", i, form, (unsigned long)(least >> 10),
                      (unsigned long)(budget >> 10), error.message);
            cr_expect(status != HDST_OK || hash == right, "job %zu, %s: other bits in %lu KiB", i, form, (unsigned long)(budget >> 10));
        }
        cr_log_info("job %zu, %s: runs in %lu KiB", i, form, (unsigned long)(least >> 10));
        cr_expect(least && least <= 3200 << 10, "job %zu, %s: runs in %lu KiB", i, form, (unsigned long)(least >> 10));
    }
}

Test(budget_steps, interpreter) { go_up("interp", 20); }
Test(budget_steps, cpu) { if (have_cpu()) go_up("cpu", 8); }
Test(budget_steps, gpu_form) { if (have_cpu()) go_up("gpu-form", 8); }

// --- Slices in flight ---

// Room for another one is none where the input's own segment has no room then: this is so in some budgets, and in larger ones it is not.
Test(budget_steps, slices_in_flight_leave_the_input_its_segment)
{
    enum { FROM = 36, TO = 100, STEP = 2 };     // KiB
    bool ran = false;
    for (uint64_t kib = FROM; kib <= TO; kib += STEP) {
        hdst_context_options options = HDST_CONTEXT_OPTIONS_INIT;
        options.device = "interp";
        options.memory = kib << 10;
        job j = {.context = hdst_context_create(&options)};
        j.module = module_of(j.context, kernels);
        hdst_dataset *items = hdst_read(hdst_source_from_callback(j.context, COUNT, fill, NULL), j.module, "item");
        hdst_error error;
        hdst_result *r = hdst_result_create(hdst_filter_function(items, j.module, "some"));
        const hdst_status status = hdst_run(r, &error);
        uint64_t rows = 0;
        if (status == HDST_OK) cr_expect(hdst_result_rows(r, NULL, &rows) && rows == COUNT - COUNT / 3, "%llu", (unsigned long long)rows);
        cr_expect(!ran || status == HDST_OK, "%llu KiB: %s", (unsigned long long)kib, error.message);
        ran |= status == HDST_OK;
        hdst_context_destroy(j.context);
    }
    cr_expect(ran);
}
