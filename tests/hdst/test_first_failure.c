// SPDX-License-Identifier: Apache-2.0
// The record that is told of a run is the first of the input that fails, also where memory, or a device, ends before it was looked at while a later one was
// in flight; and nobody looks at what lies where records that fail would have gone.
#include "partition/policy.h"
#include "tests/hdst/support.h"

#include <pthread.h>
#include <stdatomic.h>

enum { RECORDS = 40000, LARGE = 40, FIRST = 50, LATER = 100, GIVES = 400000, ROWS = 5, SHARE = 6400, MEMORY = 16 << 20 };

typedef struct gift { uint32_t n, k; } gift;

static const char kernels[] =
    "struct gift { uint32_t n; uint32_t k; };\n"
    "flat_map gives(gift g) -> (key uint32_t k, uint32_t n)\n"
    "{ const uint32_t c[5] = {1, 2, 3, 4, 5}; uint32_t v = c[g.k]; for (uint32_t i = 0; i < g.n; i++) emit(i % 7, v); }\n"
    "map counts(gift g, accum uint64_t t[]) { t[g.k] += g.n; }\n"
    "reduce add(uint32_t a, uint32_t b) { return a + b; }\n";

static gift gifts[RECORDS];
static hdst__device_ops broken[3];
static const hdst__device_ops *whole[3];

static void fill(void)
{
    for (uint32_t i = 0; i < RECORDS; i++) gifts[i] = (gift){i % 13, i % ROWS};
}

static hdst_dataset *data_of(hdst_context *context, hdst_module *m, uint64_t records)
{
    return hdst_read(hdst_source_from_memory(context, gifts, records, sizeof *gifts), m, "gift");
}

// --- Memory that ends ---

static _Atomic int32_t refused;

// There is no memory for what the large record gives, the first time.
static hdst_status alloc(hdst__device *device, hdst__memory_kind kind, hdst__owner owner, uint64_t bytes, const char *what, hdst__memory **memory,
                         hdst_error *error)
{
    if (!strncmp(what, "the output of record", 20) && atomic_fetch_add(&refused, 1) == 0)
        return hdst__error_set(error, HDST_E_MEMORY, "the test has no memory for %s", what);
    return whole[0]->alloc(device, kind, owner, bytes, what, memory, error);
}

static hdst_context *open_with_slices(const char *form)
{
    hdst_context_options options = HDST_CONTEXT_OPTIONS_INIT;
    options.device = strcmp(form, "gpu form") ? form : "cpu";
    options.memory = MEMORY;
    hdst_context *context = hdst_context_create(&options);
    cr_assert_not_null(context->engine);
    context->engine->options.gpu_form_on_cpu = !strcmp(form, "gpu form");
    hdst__engine_limits(context->engine)->slice_records = 64;       // so that the large record and the later one that fails lie in two
    return context;
}

static void check_memory_ends(const char *form)
{
    hdst_error error = HDST_ERROR_INIT;
    hdst_context *context = open_with_slices(form);
    hdst_module *m = module_of(context, kernels);
    fill();
    cr_assert_eq(hdst_run(hdst_result_create(hdst_reduce_by_key(hdst_flat_map_function(data_of(context, m, 256), m, "gives"), m, "add")), &error), HDST_OK);
    gifts[LARGE].n = GIVES;
    gifts[FIRST].k = gifts[LATER].k = ROWS;
    hdst__device *device = context->engine->worker[0].device;
    whole[0] = device->ops;
    broken[0] = *whole[0];
    broken[0].alloc = alloc;
    device->ops = &broken[0];
    atomic_store(&refused, 0);
    hdst_result *r = hdst_result_create(hdst_reduce_by_key(hdst_flat_map_function(data_of(context, m, 256), m, "gives"), m, "add"));
    hdst_status status = hdst_run(r, &error);
    cr_assert_gt(atomic_load(&refused), 0, "%s: memory was not asked for: %s", form, error.message);
    cr_assert(status == HDST_E_MEMORY || (status == HDST_E_RECORD && error.record == FIRST), "%s: %d, %s", form, (int)status, error.message);
    device->ops = whole[0];
    status = hdst_run(r, &error);
    cr_assert(status == HDST_E_RECORD && error.record == FIRST, "%s: %d, %s", form, (int)status, error.message);
    hdst_context_destroy(context);
}

Test(first_failure, memory_that_ends_in_the_interpreter) { check_memory_ends("interp"); }
Test(first_failure, memory_that_ends_on_a_cpu)
{
    if (has_cpu()) check_memory_ends("cpu");
}
Test(first_failure, memory_that_ends_in_the_gpu_form)
{
    if (has_cpu()) check_memory_ends("gpu form");
}

// --- What was not written ---

typedef struct word { hdst_text_span t; uint32_t k, n; } word;

enum { WORDS = 6000, SLICE = 1024, BAD = 3, PARTS = 7 };

static const char word_kernels[] =
    "struct word { text t; uint32_t k; uint32_t n; };\n"
    "struct digest { uint64_t n; };\n"
    "map named(word w) -> word { const uint32_t c[5] = {1, 2, 3, 4, 5}; word v = w; v.n = c[w.k]; return v; }\n"
    "map count(word w, accum uint64_t n) { n += (uint64_t)w.k; }\n"
    "map part_of(word w) -> uint32_t { return w.n; }\n"
    "group told(key text t, stream word v) -> digest { digest d = (digest){ .n = 0ul }; for (word w : v) d.n += (uint64_t)w.n; return d; }\n"
    "struct plain { uint32_t n; uint32_t k; };\n"
    "map bare(word w) -> plain { const uint32_t c[5] = {1, 2, 3, 4, 5}; return (plain){ .n = c[w.k], .k = w.k }; }\n"
    "map bare_part(plain p) -> uint32_t { return p.n; }\n"
    "map numbered(word w) -> (key uint32_t k, uint32_t n) { const uint32_t c[5] = {1, 2, 3, 4, 5}; return (c[w.k], 1u); }\n"
    "map keyed(word w) -> (key text t, uint32_t n) { return (w.t, w.n); }\n"
    "reduce add(uint32_t a, uint32_t b) { return a + b; }\n";

// Memory as it may be: texts without end at no address, parts that there are not.
static void *give_used(size_t bytes, void *user)
{
    (void)user;
    void *p = malloc(bytes ? bytes : 1);
    return p ? memset(p, 0xff, bytes) : NULL;
}

static void *give_more(void *old, size_t bytes, void *user) { return (void)user, realloc(old, bytes ? bytes : 1); }
static void take_back(void *p, void *user) { (void)user, free(p); }

static void expect_bad(hdst_dataset *dataset, const char *form, const char *what)
{
    hdst_error error = HDST_ERROR_INIT;
    hdst_result *r = hdst_result_create(dataset);
    for (int times = 0; times < 2; times++) {
        const hdst_status status = hdst_run(r, &error);
        cr_expect(status == HDST_E_RECORD && error.record == BAD, "%s, %s: %d, record %llu: %s", form, what, (int)status, (unsigned long long)error.record,
                  error.message);
        cr_expect_not_null(strstr(error.message, "out of range"), "%s, %s: %s", form, what, error.message);
    }
    hdst_result_destroy(r);
}

static void check_not_written(const char *form)
{
    static word words[WORDS];
    static const char text[] = "a text that does not fit its span";
    hdst_context_options options = HDST_CONTEXT_OPTIONS_INIT;
    options.device = strcmp(form, "gpu form") ? form : "cpu";
    options.allocator = (hdst_allocator){give_used, give_more, take_back, NULL};
    hdst_context *context = hdst_context_create(&options);
    cr_assert_not_null(context->engine);
    context->engine->options.gpu_form_on_cpu = !strcmp(form, "gpu form");
    hdst__engine_limits(context->engine)->slice_records = SLICE;    // the failing one lies in the first, whose output nothing has gone to before
    hdst_module *m = module_of(context, word_kernels);
    for (uint32_t i = 0; i < WORDS; i++) words[i] = (word){hdst_text_span_of(text, (uint32_t)sizeof text - 1 - i % 9), i == BAD ? ROWS : i % ROWS, 0};
    // Of a cache: who reads on meanwhile asks for failures anyway.
    hdst_dataset *in = hdst_cache(hdst_read(hdst_source_from_memory(context, words, WORDS, sizeof *words), m, "word"));
    cr_assert_eq(hdst_run(hdst_result_create(hdst_map_function(in, m, "count")), NULL), HDST_OK);
    hdst_dataset *named = hdst_map_function(in, m, "named");
    expect_bad(named, form, "records");
    expect_bad(hdst_partition(named, m, "part_of", PARTS), form, "parts");
    expect_bad(hdst_sort(named, "t, n"), form, "a sort");
    expect_bad(hdst_group_function(named, "t", m, "told"), form, "groups");
    expect_bad(hdst_reduce_by_key(hdst_map_function(named, m, "keyed"), m, "add"), form, "a reduction");
    expect_bad(hdst_distinct(named), form, "distinct records");
    expect_bad(hdst_top(named, 5, "n"), form, "the largest");
    expect_bad(hdst_cache(named), form, "a cache");
    hdst_dataset *bare = hdst_map_function(in, m, "bare");
    expect_bad(hdst_partition(bare, m, "bare_part", PARTS), form, "parts of numbers");
    expect_bad(hdst_sort(bare, "n"), form, "a sort of numbers");
    expect_bad(hdst_reduce_dense(hdst_map_function(in, m, "numbered"), m, "add", PARTS), form, "a dense reduction");
    hdst_context_destroy(context);
}

Test(first_failure, what_was_not_written_in_the_interpreter) { check_not_written("interp"); }
Test(first_failure, what_was_not_written_on_a_cpu)
{
    if (has_cpu()) check_not_written("cpu");
}
Test(first_failure, what_was_not_written_in_the_gpu_form)
{
    if (has_cpu()) check_not_written("gpu form");
}

// --- A device that ends ---

// The first share is the second worker's, and who comes later does what it has given back.
struct hdst__schedule {
    pthread_mutex_t mutex;
    uint64_t records, reached, back;
    bool begun;
};

static struct hdst__schedule the_schedule = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static bool suits(const hdst__job *job) { return job->workers > 1; }

static hdst__schedule *begin(const hdst__job *job, const hdst__allocator *allocator)
{
    (void)allocator;
    the_schedule.records = job->records;
    the_schedule.reached = SHARE;
    the_schedule.back = 0;
    the_schedule.begun = false;
    return &the_schedule;
}

static bool next(hdst__schedule *schedule, uint32_t worker, hdst__share *share)
{
    pthread_mutex_lock(&schedule->mutex);
    const uint64_t left = schedule->records - schedule->reached;
    if (worker == 1 && !schedule->begun) {
        *share = (hdst__share){0, SHARE};
        schedule->begun = true;
    } else if (schedule->back) {
        *share = (hdst__share){0, schedule->back};
        schedule->back = 0;
    } else {
        *share = (hdst__share){schedule->reached, left < SHARE ? left : SHARE};
        schedule->reached += share->count;
    }
    pthread_mutex_unlock(&schedule->mutex);
    return share->count > 0;
}

static bool give_back(hdst__schedule *schedule, uint32_t worker, const hdst__share *share, bool leaves)
{
    (void)worker, (void)leaves;
    if (share->first == 0) schedule->back = SHARE;
    return true;
}

static uint64_t slice(hdst__schedule *schedule, uint32_t worker, const hdst__slice_limits *limits)
{
    (void)schedule, (void)worker;
    return limits->most < limits->left ? limits->most : limits->left;
}

static void done(hdst__schedule *schedule, uint32_t worker, const hdst__slice_cost *cost) { (void)schedule, (void)worker, (void)cost; }
static const char *left_out(hdst__schedule *schedule, uint32_t worker) { return (void)schedule, (void)worker, NULL; }
static double seconds(hdst__schedule *schedule) { return (void)schedule, 0; }
static void end(hdst__schedule *schedule) { (void)schedule; }

static const hdst__policy first_to_second = {
    .name = "the first share is the second worker's", .suits = suits, .begin = begin, .next = next, .slice = slice, .done = done, .give_back = give_back,
    .left_out = left_out, .seconds = seconds, .end = end,
};

static _Atomic bool fails;

// The others have met their records that fail before it is known.
static hdst_status launch(hdst__device *device, hdst__program *program, const hdst__launch *what, hdst_error *error)
{
    (void)device, (void)program, (void)what;
    atomic_store(&fails, true);
    return hdst__error_set(error, HDST_E_DRIVER, "the test has this device fail");
}

static void check_device_ends(uint32_t first)
{
    hdst_error error = HDST_ERROR_INIT;
    hdst_context *context = context_of_team();
    hdst_module *m = module_of(context, kernels);
    hdst_map_spec *counts = hdst_map_spec_create(m, "counts");
    fill();
    for (uint32_t i = SHARE + 17; i < RECORDS; i += 997) gifts[i].k = ROWS;
    if (first < SHARE) gifts[first].k = ROWS;
    hdst_bind_accum(counts, "t", ROWS);
    hdst__engine_limits(context->engine)->policy = &first_to_second;
    hdst_result *r = hdst_result_create(hdst_map(data_of(context, m, RECORDS), counts));
    cr_assert_eq(hdst_run(r, &error), HDST_E_RECORD, "%s", error.message);
    cr_assert_eq(error.record, first, "%s", error.message);
    hdst__device *second = context->engine->worker[1].device;
    whole[1] = second->ops;
    broken[1] = *whole[1];
    broken[1].launch = launch;
    second->ops = &broken[1];
    atomic_store(&fails, false);
    cr_assert_eq(hdst_run(r, &error), HDST_E_RECORD, "%s", error.message);
    cr_assert(atomic_load(&fails), "the device was not asked for anything");
    cr_assert_eq(error.record, first, "a device ended: %s", error.message);
    second->ops = whole[1];
    hdst_context_destroy(context);
}

Test(first_failure, a_device_that_ends)
{
    if (!have_team()) cr_skip("no halves\n");
    check_device_ends(5);
    check_device_ends(SHARE - 1);
    check_device_ends(SHARE + 17);
}
