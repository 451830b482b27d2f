// SPDX-License-Identifier: Apache-2.0
// Every allocation of the main path fails once: the job then says "out of memory", leaks nothing and crashes nowhere.
#include "tests/hdst/support.h"

#include "engine/memory/dataset_cache.h"
#include "hdst/result.h"

#include <stdlib.h>

typedef struct counter {
    _Atomic long left;  // allocations until the one that fails; negative: none does
    _Atomic long live;  // blocks in use; workers of a run allocate at the same time
    _Atomic bool failed;
} counter;

static bool fails(counter *c)
{
    if (c->left < 0 || c->left-- != 0) return false;       // of several threads one brings it below 0
    return c->failed = true;
}

static void *allocate(size_t bytes, void *user)
{
    counter *c = user;
    if (fails(c)) return NULL;
    void *p = malloc(bytes);
    c->live += p != NULL;
    return p;
}

static void *reallocate(void *pointer, size_t bytes, void *user)
{
    counter *c = user;
    if (fails(c)) return NULL;
    void *p = realloc(pointer, bytes);
    c->live += p && !pointer;
    return p;
}

static void release(void *pointer, void *user)
{
    counter *c = user;
    c->live -= pointer != NULL;
    free(pointer);
}

static const char kernels[] =
    "struct point { float x[2]; };\n"
    "struct total { float x[2]; uint32_t n; };\n"
    "filter inside(point p) { return p.x[0] < 90.0f; }\n"
    "map assign(point p, broadcast point c[], accum total t[], accum double far)\n"
    "{\n"
    "    uint32_t best = 0;\n"
    "    float best_d = INFINITY;\n"
    "    for (uint32_t j = 0; j < len(c); j++) {\n"
    "        float d = (p.x[0] - c[j].x[0]) * (p.x[0] - c[j].x[0]);\n"
    "        if (d < best_d) { best_d = d; best = j; }\n"
    "    }\n"
    "    t[best].x[0] += p.x[0];\n"
    "    t[best].n += 1;\n"
    "    far += best_d;\n"
    "}\n";

// The tutorial's job on 100 points. Returns the run's status and the number of points counted.
static hdst_status job(const char *device, counter *c, int64_t *counted)
{
    static float table[200];
    for (int i = 0; i < 200; i++) table[i] = (float)i;
    hdst_context_options options = HDST_CONTEXT_OPTIONS_INIT;
    options.device = device;
    options.allocator = (hdst_allocator){allocate, reallocate, release, c};
    hdst_context *context = hdst_context_create(&options);
    hdst_module *module = hdst_module_parse(context, "test.hk", kernels, NULL);
    hdst_source *source = hdst_source_from_floats(context, table, 100, 2);
    hdst_dataset *points = hdst_cache(hdst_with_layout(hdst_read(source, module, "point"), HDST_SOA));
    hdst_value *centers = hdst_value_create(module, "point", 2);
    hdst_value_set(centers, (float[4]){0, 0, 100, 100}, 2);
    hdst_map_spec *spec = hdst_map_spec_create(module, "assign");
    hdst_bind_value(spec, "c", centers);
    hdst_bind_accum(spec, "t", 2);
    hdst_result *result = hdst_result_create(hdst_map(hdst_filter_function(points, module, "inside"), spec));
    hdst_error error = HDST_ERROR_INIT;
    hdst_status status = hdst_run(result, &error);
    cr_assert_eq(status, error.code);
    hdst_view n = hdst_result_field(result, "t", "n");
    *counted = hdst_view_int64(n, 0, 0) + hdst_view_int64(n, 1, 0);
    hdst_context_destroy(context);
    return status;
}

// An addend that no word takes beside the others, so that there are superaccumulators.
static const char partial_kernel[] =
    "struct point { float x[2]; };\n"
    "map gather(point p, accum double all, accum double far) { all += p.x[0]; far += p.x[1]; far += p.x[0] == 4.0f ? 1e200 : 1e-200; }\n";

static const char graph_kernels[] =
    "struct point { float x[2]; };\n"
    "struct numbered { uint64_t i; float x[2]; };\n"
    "filter inside(point p) { return p.x[0] < 90.0f; }\n"
    "struct keyed { uint32_t key; double v; };\n"
    "map key_of(numbered n) -> keyed { return (keyed){ .key = (uint32_t)(n.i % 7u), .v = n.x[1] }; }\n"
    "map value_of(keyed k) -> double { return k.v; }\n"
    "map weigh(double v, broadcast double by, accum uint64_t n) -> double { n += 1; return v * by; }\n"
    "associative reduce later(double a, double b) { return b; }\n"
    "reduce add(double a, double b) { return a + b; }\n";

// A graph of every operator on 100 points; `counted` is the sum it comes to, twice computed.
static hdst_status graph_job(const char *device, counter *c, int64_t *counted)
{
    static float table[200];
    for (int i = 0; i < 200; i++) table[i] = (float)i;
    hdst_context_options options = HDST_CONTEXT_OPTIONS_INIT;
    options.device = device;
    options.allocator = (hdst_allocator){allocate, reallocate, release, c};
    hdst_context *context = hdst_context_create(&options);
    hdst_module *m = hdst_module_parse(context, "test.hk", graph_kernels, NULL);
    hdst_dataset *points = hdst_read(hdst_source_from_floats(context, table, 100, 2), m, "point");
    hdst_dataset *some = hdst_filter_function(hdst_union(points, hdst_sample(points, 1, 3)), m, "inside");
    hdst_dataset *keyed = hdst_map_function(hdst_zip_with_index(hdst_cache(some), m, "numbered"), m, "key_of");
    hdst_value *by = hdst_value_create(m, "double", 1);
    hdst_map_spec *weigh = hdst_map_spec_create(m, "weigh");
    hdst_bind_value(weigh, "by", by);
    hdst_dataset *sums = hdst_cache(hdst_map(hdst_reduce_dense(keyed, m, "add", 8), weigh));
    hdst_dataset *last = hdst_reduce(hdst_with_layout(hdst_slice(sums, 0, 7), HDST_SOA), m, "later");
    hdst_dataset *by_key = hdst_map_function(hdst_distinct(hdst_reduce_by_key(keyed, m, "add")), m, "value_of");
    hdst_result *result = hdst_result_create(hdst_reduce(hdst_union(hdst_union(sums, last), by_key), m, "add"));
    double one = 1, *all = NULL;
    hdst_error error = HDST_ERROR_INIT;
    hdst_value_set(by, &one, 1);
    hdst_status status = hdst_run(result, &error);
    cr_assert_eq(status, error.code);
    *counted = hdst_view_int64(hdst_result_field(result, NULL, NULL), 0, 0);
    if (status == HDST_OK) status = hdst_value_set_result(by, result, NULL, &error);
    uint64_t count = 0, taken = 0;
    if (status == HDST_OK) status = hdst_count(some, &count, &error);
    if (status == HDST_OK) status = hdst_take(sums, 1, &one, &taken, &error);
    if (status == HDST_OK) status = hdst_collect(sums, (void **)&all, &taken, &error);
    if (status == HDST_OK) *counted += (int64_t)(count * 1000 + taken);
    hdst_explain(result, NULL);
    if (context) hdst_rows_destroy(context, all);
    hdst_context_destroy(context);
    return status;
}

// Groups and picked records of 100 numbers 1, 3 ... 199 with the keys 0 ... 6 in turn.
static hdst_status group_job(const char *device, counter *c, int64_t *counted)
{
    static const char text[] =
        "struct keyed { uint32_t key; double v; };\n"
        "map key_of(uint64_t n) -> keyed { return (keyed){ .key = (uint32_t)(n % 7u), .v = 2 * n + 1 }; }\n"
        "map value_of(keyed k) -> double { return k.v; }\n"
        "map part_of(keyed k) -> uint32_t { return k.key % 3u; }\n"
        "group total(key uint32_t key, stream keyed s) -> double { double sum = 0; for (keyed k : s) sum += k.v; return sum; }\n"
        "associative reduce later(double a, double b) identity { 0 } { return b; }\n"
        "reduce add(double a, double b) { return a + b; }\n";
    hdst_context_options options = HDST_CONTEXT_OPTIONS_INIT;
    options.device = device;
    options.allocator = (hdst_allocator){allocate, reallocate, release, c};
    hdst_context *context = hdst_context_create(&options);
    hdst_module *m = hdst_module_parse(context, "test.hk", text, NULL);
    hdst_dataset *keyed = hdst_map_function(hdst_read(hdst_source_from_range(context, 0, 100), m, "uint64_t"), m, "key_of");
    hdst_dataset *parts[] = {
        hdst_group_function(keyed, NULL, m, "total"), hdst_reduce_dense(keyed, m, "later", 9),
        hdst_map_function(hdst_reduce_by_key(keyed, m, "later"), m, "value_of"),
        hdst_map_function(hdst_top(keyed, 3, "v"), m, "value_of"), hdst_map_function(hdst_max_by(keyed, "v"), m, "value_of"),
        hdst_map_function(hdst_with_container(hdst_reduce_by_key(hdst_partition(keyed, m, "part_of", 3), m, "add"), HDST_CONTAINER_SORTED), m, "value_of")};
    hdst_result *result = hdst_result_create(hdst_reduce(hdst_union_all(parts, 6), m, "add"));
    hdst_error error = HDST_ERROR_INIT;
    hdst_status status = hdst_run(result, &error);
    cr_assert_eq(status, error.code);
    *counted = hdst_view_int64(hdst_result_field(result, NULL, NULL), 0, 0);
    hdst_explain(result, NULL);
    hdst_context_destroy(context);
    return status;
}

enum { NUMBERS = 3000 };

static int64_t in_order(const uint32_t *numbers, uint64_t count)
{
    int64_t sum = 0;
    for (uint64_t i = 0; i < count; i++) sum += numbers[i] == i * 3 ? (int64_t)i : -1;
    return sum;
}

// Numbers sorted within `memory` bytes, by the device however few they are, and read twice: as C structs and by a filter in another layout.
static hdst_status sort_job_in(const char *device, uint64_t memory, counter *c, int64_t *counted)
{
    static uint32_t numbers[NUMBERS];
    for (uint32_t i = 0; i < NUMBERS; i++) numbers[i] = (i * 7919u % NUMBERS) * 3;
    hdst_context_options options = HDST_CONTEXT_OPTIONS_INIT;
    options.device = device;
    options.memory = memory;
    options.allocator = (hdst_allocator){allocate, reallocate, release, c};
    hdst_context *context = hdst_context_create(&options);
    if (context->engine) context->engine->limits.sort_least = 1;
    hdst_module *m = hdst_module_parse(context, "test.hk", "struct number { uint32_t v; };\nfilter all(number n) { return n.v < 100000u; }\n", NULL);
    hdst_dataset *sorted = hdst_sort(hdst_read(hdst_source_from_memory(context, numbers, NUMBERS, 4), m, "number"), "v");
    hdst_dataset *read = memory ? sorted : hdst_filter_function(hdst_with_layout(sorted, HDST_SOA), m, "all");      // a stage needs more
    hdst_error error = HDST_ERROR_INIT;
    void *rows;
    uint64_t count;
    hdst_status status = hdst_collect(hdst_union(sorted, read), &rows, &count, &error);
    if (status == HDST_OK) *counted += in_order(rows, count / 2) + in_order((uint32_t *)rows + count / 2, count - count / 2);
    if (context) hdst_rows_destroy(context, rows);
    hdst_context_destroy(context);
    return status;
}

static hdst_status sort_job(const char *device, counter *c, int64_t *counted)
{
    *counted = 0;
    hdst_status status = sort_job_in(device, 0, c, counted);
    return status == HDST_OK ? sort_job_in(device, 64 << 10, c, counted) : status;
}

static hdst_status device_sort_job(const char *device, counter *c, int64_t *counted)
{
    (void)device;
    *counted = 0;
    return sort_job_in("cpu", 0, c, counted);
}

// Records that lie with two devices, as with GPUs, reduced by key; `counted`: what the keys come to.
static hdst_status spread_job(const char *device, counter *c, int64_t *counted)
{
    static const char text[] = "struct number { uint32_t key; uint32_t v; };\nreduce add(uint32_t a, uint32_t b) { return a + b; }\n";
    static uint32_t numbers[2 * NUMBERS];
    hdst_context_options options = HDST_CONTEXT_OPTIONS_INIT;
    (void)device;
    for (uint32_t i = 0; i < NUMBERS; i++) numbers[2 * i] = i % 20, numbers[2 * i + 1] = i;
    options.device = "0,1";
    options.cpu_parts = 2;
    options.allocator = (hdst_allocator){allocate, reallocate, release, c};
    hdst_context *context = hdst_context_create(&options);
    if (context->engine) {
        context->engine->options.gpu_form_on_cpu = true;
        context->engine->limits.share_bytes = 0;
        context->engine->limits.by_key_device_least = 1;
    }
    hdst_module *m = hdst_module_parse(context, "test.hk", text, NULL);
    hdst_dataset *data = hdst_cache(hdst_read(hdst_source_from_memory(context, numbers, NUMBERS, 8), m, "number"));
    hdst_result *r = hdst_result_create(hdst_reduce_by_key(data, m, "add"));
    hdst_error error = HDST_ERROR_INIT;
    uint64_t count;
    const hdst_status status = hdst_run(r, &error);
    const uint32_t *rows = hdst_result_rows(r, NULL, &count);
    cr_assert_eq(status, error.code, "status %d, and the error is %d: %s", status, error.code, error.message);     // where a second device is opened, too
    *counted = 0;
    for (uint64_t i = 0; status == HDST_OK && i < count; i++) *counted += rows[2 * i + 1];
    hdst_context_destroy(context);
    return status;
}

// With each allocation failing once.
static void fail_each(hdst_status (*run)(const char *, counter *, int64_t *), int64_t expected, long least)
{
    int64_t counted;
    counter none = {.left = -1};
    cr_assert_eq(run("interp", &none, &counted), HDST_OK);
    cr_assert_eq(counted, expected, "%lld", (long long)counted);
    cr_assert_eq(none.live, 0);
    long n = 0;
    for (;; n++) {
        counter c = {.left = n};
        hdst_status status = run("interp", &c, &counted);
        cr_assert_eq(c.live, 0, "allocation %ld failing leaks %ld blocks", n, c.live);
        if (!c.failed) break;
        // What is only for convenience (a near name, a cached text) may fail unseen, but then the answer is right.
        // Without memory to look for them there are no devices.
        cr_assert(status == HDST_E_MEMORY || status == HDST_E_DEVICE || (status == HDST_OK && counted == expected), "allocation %ld: status %d", n, status);
    }
    cr_assert_gt(n, least, "only %ld allocations were seen", n);
}

Test(allocation_failure, each_one_is_reported_and_leaks_nothing) { fail_each(job, 45, 20); }

// Of the 45 points with x[0] < 90, twice, the second numbers are 1, 3 ... 89: 2 * 2025. The last of the seven sums is that of the points with number % 7 == 6.
static int64_t graph_sum(void)
{
    int64_t sum = 0, last = 0;
    for (int i = 0; i < 90; i++) {
        int64_t v = 2 * (i % 45) + 1;
        sum += v;
        if (i % 7 == 6) last += v;
    }
    return 2 * sum + last + 90 * 1000 + 8;     // by dense keys and by any keys
}

// Two halves as partials, one by way of bytes; `counted`: what they come to.
static hdst_status partial_job(const char *device, counter *c, int64_t *counted)
{
    static float table[200];
    hdst_partial *half[2];
    const void *bytes = "";
    uint64_t size = 0;
    for (int i = 0; i < 200; i++) table[i] = (float)i;
    hdst_context_options options = HDST_CONTEXT_OPTIONS_INIT;
    options.device = device;
    options.allocator = (hdst_allocator){allocate, reallocate, release, c};
    hdst_context *context = hdst_context_create(&options);
    hdst_module *module = hdst_module_parse(context, "test.hk", partial_kernel, NULL);
    hdst_error error = HDST_ERROR_INIT;
    hdst_status status = HDST_OK;
    for (int h = 0; h < 2; h++) {
        hdst_dataset *points = hdst_read(hdst_source_from_floats(context, table + 100 * h, 50, 2), module, "point");
        hdst_result *result = hdst_result_create(hdst_map_function(points, module, "gather"));
        if (status == HDST_OK) status = hdst_result_keep_partial(result, &error);
        if (status == HDST_OK) status = hdst_run(result, &error);
        half[h] = hdst_partial_from_result(result);
        if (status == HDST_OK) status = hdst_partial_status(half[h], &error);
    }
    if (status == HDST_OK) status = hdst_partial_write(half[1], &bytes, &size, &error);
    hdst_partial *arrived = hdst_partial_from_bytes(context, bytes, size);
    if (status == HDST_OK) status = hdst_partial_status(arrived, &error);
    if (status == HDST_OK) status = hdst_partial_merge(half[0], arrived, &error);
    const hdst_view all = hdst_partial_field(half[0], "all", NULL);
    if (status == HDST_OK) status = hdst_partial_status(half[0], &error);
    *counted = hdst_view_int64(all, 0, 0);
    hdst_context_destroy(context);
    return status;
}

Test(allocation_failure, each_one_of_partials) { fail_each(partial_job, 9900, 40); }

Test(allocation_failure, each_one_in_a_graph_of_every_operator) { fail_each(graph_job, graph_sum(), 100); }

// All numbers, twice; the last of each key, which are the last seven, twice; the three largest; the largest.
Test(allocation_failure, groups_and_picked_records) { fail_each(group_job, 2 * 10000 + 2 * 7 * 193 + 199 + 197 + 195 + 199, 100); }

Test(allocation_failure, each_one_in_a_sort) { fail_each(sort_job, (int64_t)4 * (NUMBERS - 1) * NUMBERS / 2, 50); }

Test(allocation_failure, each_one_in_a_sort_by_a_device)
{
    if (have_cpu()) fail_each(device_sort_job, (int64_t)2 * (NUMBERS - 1) * NUMBERS / 2, 50);
}

Test(allocation_failure, each_one_in_a_reduction_by_key_of_two_devices)
{
    if (have_team()) fail_each(spread_job, (int64_t)(NUMBERS - 1) * NUMBERS / 2, 50);
}

// --- What was lent is given back ---

static bool host_has_some(const hdst_result *r)
{
    for (size_t i = 0; i < r->plan.node_count; i++) {
        const hdst__dataset_cache *cache = r->plan.nodes[i]->op->below ? r->plan.nodes[i]->resident : NULL;
        for (uint64_t s = 0; cache && s < cache->count; s++)
            for (uint32_t b = 0; b < cache->segment[s].buffers; b++)
                if (cache->segment[s].memory[b]->mapped) return true;
    }
    return false;
}

// A reduction by key reads a cached dataset where it lies; then it is the device's again, however the run ends. What the run before it chose is no longer told.
Test(allocation_failure, a_cache_is_the_devices_after_a_reduction_by_key)
{
    static struct { uint32_t key; float v; } rows[500];
    if (!have_cpu()) return;
    for (uint32_t i = 0; i < 500; i++) rows[i].key = i % 7, rows[i].v = 1;
    counter c = {.left = -1};
    hdst_context_options options = HDST_CONTEXT_OPTIONS_INIT;
    options.device = "cpu";
    options.allocator = (hdst_allocator){allocate, reallocate, release, &c};
    hdst_context *context = hdst_context_create(&options);
    hdst_module *m = module_of(context, "struct row { uint32_t key; float v; };\nreduce add(float a, float b) { return a + b; }\n");
    hdst_dataset *cached = hdst_cache(hdst_read(hdst_source_from_memory(context, rows, 500, sizeof *rows), m, "row"));
    hdst_result *r = hdst_result_create(hdst_reduce_by_key(cached, m, "add"));
    RUN(r);
    cr_assert(strstr(hdst_explain(r, NULL), "keys: 7"));
    long failures = 0;
    for (;; failures++) {
        hdst_error error = HDST_ERROR_INIT;
        c.failed = false;
        c.left = failures;
        const hdst_status status = hdst_run(r, &error);
        c.left = -1;
        cr_assert(!host_has_some(r), "after allocation %ld failed", failures);
        if (status == HDST_OK) break;
        cr_assert_eq(status, HDST_E_MEMORY);
        cr_assert(strstr(hdst_explain(r, NULL), "chosen by the next run"), "%s", hdst_explain(r, NULL));
    }
    cr_assert_gt(failures, 10);
    uint64_t n;
    cr_assert(hdst_result_rows(r, NULL, &n) && n == 7);
    hdst_context_destroy(context);
    cr_assert_eq(c.live, 0);
}
