// SPDX-License-Identifier: Apache-2.0
// Threads of one context run over one cached dataset in a budget that is too little for most of what they do at once: every call ends, well or for want of
// memory, the answers are right, and the budget holds. Whose attempt began again for as long as parts of the dataset gave way never ended.
#include "tests/hdst/support.h"
#include "tests/support/little_memory.h"

#include <pthread.h>
#include <stdlib.h>

enum { COUNT = 40000, THREADS = 3, CALLS = 25 };

typedef struct shared {
    hdst_context *context;
    hdst_module *module;
    hdst_dataset *cached;
    _Atomic unsigned seed;
    double sum;                 // of x * y, which double holds
} shared;

static hdst_status collect(const shared *s, hdst_error *error)
{
    void *rows;
    uint64_t count;
    const hdst_status status = hdst_collect(s->cached, &rows, &count, error);
    if (status != HDST_OK) return status;
    cr_assert_eq(count, COUNT);
    for (uint64_t i = 0; i < count; i++) {
        const item wanted = item_at(i);
        cr_assert(!memcmp(&wanted, (item *)rows + i, sizeof wanted), "row %d", (int)i);
    }
    hdst_rows_destroy(s->context, rows);
    return status;
}

static hdst_status sort(const shared *s, hdst_error *error)
{
    hdst_dataset *sorted = hdst_cache(hdst_sort(s->cached, "y"));
    item least;
    const hdst_status status = hdst_dataset_take(sorted, 0, 1, &least, error);
    if (status == HDST_OK) cr_assert_eq(least.y, 0);
    hdst_uncache(sorted);
    return status;
}

static hdst_status run_and_count(hdst_result *r, uint64_t wanted, hdst_error *error)
{
    const hdst_status status = hdst_run(r, error);
    uint64_t count;
    if (status == HDST_OK && hdst_result_rows(r, NULL, &count)) cr_assert_eq(count, wanted);
    hdst_result_destroy(r);
    return status;
}

static hdst_status add(const shared *s, hdst_error *error)
{
    hdst_result *r = hdst_result_create(hdst_map_function(s->cached, s->module, "totals"));
    const hdst_status status = hdst_run(r, error);
    if (status == HDST_OK) cr_assert_eq(*(const double *)hdst_result_rows(r, "s", NULL), s->sum);
    hdst_result_destroy(r);
    return status;
}

static void *work(void *user)
{
    shared *s = user;
    unsigned seed = s->seed += 17;
    for (int i = 0; i < CALLS; i++) {
        hdst_error error = HDST_ERROR_INIT;
        hdst_status status = HDST_OK;
        switch (rand_r(&seed) % 5) {
        case 0: status = collect(s, &error); break;
        case 1: status = sort(s, &error); break;
        case 2: status = add(s, &error); break;
        case 3: status = run_and_count(hdst_result_create(hdst_filter_function(s->cached, s->module, "some")), COUNT - COUNT / 3, &error); break;
        default: {
            hdst_dataset *sums = hdst_reduce_by_key(hdst_map_function(s->cached, s->module, "by_key"), s->module, "add");
            status = run_and_count(hdst_result_create(sums), KEYS, &error);
        }
        }
        cr_assert(status == HDST_OK || status == HDST_E_MEMORY, "%s", error.message);
    }
    return NULL;
}

static void expect_an_end(uint64_t budget)
{
    static char text[sizeof kernels + UNUSED * LENGTH];
    hdst_context_options options = HDST_CONTEXT_OPTIONS_INIT;
    options.device = "cpu";
    options.memory = budget;
    shared s = {.context = hdst_context_create(&options)};
    cr_assert_eq(hdst_context_status(s.context, NULL), HDST_OK);
    s.context->engine->options.gpu_form_on_cpu = true;
    for (uint64_t i = 0; i < COUNT; i++) s.sum += (double)item_at(i).x * (double)item_at(i).y;
    s.module = hdst_module_parse(s.context, "threads.hk", with_unused(text, sizeof text), NULL);
    hdst_source *source = hdst_source_from_callback(s.context, COUNT, fill, NULL);
    s.cached = hdst_cache(hdst_with_layout(hdst_read(source, s.module, "item"), HDST_SOA));
    pthread_t thread[THREADS];
    for (int i = 0; i < THREADS; i++) cr_assert_eq(pthread_create(&thread[i], NULL, work, &s), 0);
    for (int i = 0; i < THREADS; i++) pthread_join(thread[i], NULL);
    hdst_uncache(s.cached);
    hdst_source_destroy(source);
    const hdst__budget *memory = &s.context->engine->runtime.memory;
    cr_expect(memory->peak <= budget, "%lu of %lu", (unsigned long)memory->peak, (unsigned long)budget);
    cr_expect_eq(memory->evictable, 0);
    hdst_context_destroy(s.context);
}

Test(threads_in_little_memory, every_call_ends)
{
    if (!have_cpu()) return;
    for (uint64_t kib = 2700; kib <= 3200; kib += 250) expect_an_end(kib << 10);
}
