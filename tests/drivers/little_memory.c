// SPDX-License-Identifier: Apache-2.0
// Threads of one context run over cached datasets in budgets that are too little for most of what they do at once, as a plain program, because Criterion does
// not start under the thread sanitizer: whole datasets and parts of them give way and come back, while other threads make, look at and end objects of the
// same context. Every call ends, well or for want of memory; answers are right, the budget holds.
// usage: little_memory DEVICE
#include "hdst/hdst.h"
#include "tests/support/little_memory.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COUNT = 30000, THREADS = 3, CALLS = 12, MOST = 9 * COUNT / 10, KINDS = 6 };

typedef struct shared {
    hdst_context *context;
    hdst_module *module;
    hdst_dataset *cached, *some;    // two datasets that want to stay
    double sum;                     // of x * y, which double holds
    _Atomic unsigned seed, well;    // calls that ended well
    _Atomic bool failed;
} shared;

static void expect(shared *s, bool right, const char *what)
{
    if (right) return;
    s->failed = true;
    fprintf(stderr, "little_memory: %s\n", what);
}

// --- Calls ---

static hdst_status collect(shared *s, hdst_error *error)
{
    void *rows;
    uint64_t count;
    const hdst_status status = hdst_collect(s->cached, &rows, &count, error);
    if (status != HDST_OK) return status;
    bool right = count == COUNT;
    for (uint64_t i = 0; i < count && right; i++) {
        const item wanted = item_at(i);
        right = !memcmp(&wanted, (item *)rows + i, sizeof wanted);
    }
    expect(s, right, "other records");
    hdst_rows_destroy(s->context, rows);
    return status;
}

static hdst_status run_and_count(shared *s, hdst_dataset *dataset, uint64_t wanted, hdst_error *error)
{
    hdst_result *r = hdst_result_create(dataset);
    const hdst_status status = hdst_run(r, error);
    uint64_t count;
    if (status == HDST_OK && hdst_result_rows(r, NULL, &count)) expect(s, count == wanted, "another number of records");
    hdst_result_destroy(r);
    return status;
}

static hdst_status add(shared *s, hdst_error *error)
{
    hdst_result *r = hdst_result_create(hdst_map_function(s->cached, s->module, "totals"));
    const hdst_status status = hdst_run(r, error);
    const double *sum = status == HDST_OK ? hdst_result_rows(r, "s", NULL) : NULL;
    if (sum) expect(s, *sum == s->sum, "another sum");
    hdst_result_destroy(r);
    return status;
}

static hdst_status largest(shared *s, hdst_error *error)
{
    item first;
    const hdst_status status = hdst_dataset_take(hdst_top(s->cached, MOST, "at"), 0, 1, &first, error);
    if (status == HDST_OK) expect(s, first.at == COUNT - 1, "another record is the largest");
    return status;
}

static hdst_status sort(shared *s, hdst_error *error)
{
    hdst_dataset *sorted = hdst_cache(hdst_sort(s->cached, "y"));
    item least;
    const hdst_status status = hdst_dataset_take(sorted, 0, 1, &least, error);
    if (status == HDST_OK) expect(s, least.y == 0, "another record is the least");
    hdst_uncache(sorted);
    return status;
}

static hdst_status call(shared *s, int kind, hdst_error *error)
{
    switch (kind) {
    case 0: return collect(s, error);
    case 1: return sort(s, error);
    case 2: return add(s, error);
    case 3: return run_and_count(s, s->some, COUNT - COUNT / 3, error);
    case 4: return largest(s, error);
    default: return run_and_count(s, hdst_reduce_by_key(hdst_map_function(s->cached, s->module, "by_key"), s->module, "add"), KEYS, error);
    }
}

static void *work(void *user)
{
    shared *s = user;
    unsigned seed = atomic_fetch_add(&s->seed, 17);
    for (int i = 0; i < CALLS && !s->failed; i++) {
        hdst_error error = HDST_ERROR_INIT;
        hdst_memory_use use = HDST_MEMORY_USE_INIT;
        const hdst_status status = call(s, rand_r(&seed) % KINDS, &error);
        expect(s, status == HDST_OK || status == HDST_E_MEMORY, error.message);
        s->well += status == HDST_OK;
        expect(s, hdst_memory_usage(s->context, &use, NULL) == HDST_OK, "no memory usage");
    }
    return NULL;
}

// --- Budgets ---

static bool within(const char *device, uint64_t budget)
{
    static char text[sizeof kernels + UNUSED * LENGTH];
    hdst_context_options options = HDST_CONTEXT_OPTIONS_INIT;
    options.device = device;
    options.memory = budget;
    shared s = {.context = hdst_context_create(&options), .seed = (unsigned)(budget >> 10)};
    for (uint64_t i = 0; i < COUNT; i++) s.sum += (double)item_at(i).x * (double)item_at(i).y;
    s.module = hdst_module_parse(s.context, "little_memory.hk", with_unused(text, sizeof text), NULL);
    hdst_source *source = hdst_source_from_callback(s.context, COUNT, fill, NULL);
    s.cached = hdst_cache(hdst_with_layout(hdst_read(source, s.module, "item"), HDST_SOA));
    s.some = hdst_cache(hdst_filter_function(s.cached, s.module, "some"));
    pthread_t thread[THREADS];
    for (int i = 0; i < THREADS; i++)
        if (pthread_create(&thread[i], NULL, work, &s)) return false;
    for (int i = 0; i < THREADS; i++) pthread_join(thread[i], NULL);
    hdst_memory_use use = HDST_MEMORY_USE_INIT;
    expect(&s, hdst_memory_usage(s.context, &use, NULL) == HDST_OK && use.host.peak <= budget / 10 * 11 + (2 << 20), "more memory than the budget");
    fprintf(stderr, "little_memory: %s, %llu KiB: %u of %d calls ended well\n", device, (unsigned long long)(budget >> 10), s.well, THREADS * CALLS);
    hdst_context_destroy(s.context);
    return !s.failed;
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: little_memory DEVICE\n");
        return 2;
    }
    for (uint64_t kib = 1800; kib <= 3600; kib += 600)
        if (!within(argv[1], kib << 10)) return 1;
    return 0;
}
