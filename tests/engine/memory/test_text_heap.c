// SPDX-License-Identifier: Apache-2.0
// Text heaps: bytes stay where they are and what they were, whoever lets go first, in the budget and beyond it; a full disk is told.
#include "engine/memory/text_heap.h"

#include <criterion/criterion.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>

static hdst__runtime runtime;
static hdst__allocator allocator;

static void start(uint64_t limit)
{
    runtime = (hdst__runtime){0};
    hdst__budget_init(&runtime.memory, "host memory", "--memory", limit);
    allocator = hdst__budget_allocator(&runtime.memory, NULL);
    runtime.allocator = hdst__budget_owned(&runtime.memory, HDST__OWNER_BY_KEY);
}

enum { TEXTS = 60000, THREADS = 4 };
static hdst__text_span spans[THREADS][TEXTS];

static uint32_t make_text(uint32_t thread, uint32_t i, char *bytes)
{
    const uint32_t length = i % 1000 == 7 ? 9000 : i % 40;
    for (uint32_t k = 0; k < length; k++) bytes[k] = (char)(thread * 7 + i * 13 + k * 31);
    return length;
}

static hdst__text_heap *heap;

static void *put(void *number)
{
    const uint32_t thread = (uint32_t)(uintptr_t)number;
    hdst__text_writer writer = {.heap = heap};
    char bytes[9000];
    for (uint32_t i = 0; i < TEXTS; i++) {
        spans[thread][i] = hdst__text_span_of(bytes, make_text(thread, i, bytes));
        if (hdst__text_keep(&writer, &spans[thread][i], NULL) != HDST_OK) return number;
    }
    return NULL;
}

static void put_by_threads(void)
{
    pthread_t threads[THREADS];
    for (uintptr_t t = 0; t < THREADS; t++) cr_assert_eq(pthread_create(&threads[t], NULL, put, (void *)t), 0);
    for (int t = 0; t < THREADS; t++) {
        void *failed;
        pthread_join(threads[t], &failed);
        cr_assert_null(failed);
    }
}

static void check_all(void)
{
    char bytes[9000];
    for (uint32_t t = 0; t < THREADS; t++)
        for (uint32_t i = 0; i < TEXTS; i++) {
            const uint32_t length = make_text(t, i, bytes);
            const hdst__text_span wanted = hdst__text_span_of(bytes, length);
            cr_assert(hdst__text_equal(&spans[t][i], &wanted));
            const char *at = hdst__text_bytes(&spans[t][i]);
            if (length > HDST__TEXT_INLINE)
                for (int k = 0; k < 8; k++) (void)((volatile const char *)at)[length + k];      // may be read
        }
}

Test(text_heap, keeps_what_several_threads_put_in)
{
    start(UINT64_C(1) << 30);
    heap = hdst__text_heap_create(&runtime, HDST__OWNER_BY_KEY);
    put_by_threads();
    check_all();
    hdst__text_heap *outer = hdst__text_heap_create(&runtime, HDST__OWNER_OUTPUT);
    cr_assert(hdst__text_heap_holds(outer, heap) && hdst__text_heap_holds(outer, heap) && hdst__text_heap_holds(outer, outer) &&
              hdst__text_heap_holds(outer, NULL));
    hdst__text_heap_drop(heap);
    check_all();                        // the other one holds it
    cr_assert_gt(hdst__text_heap_bytes(heap), 4 * 60 * 9000);
    hdst__text_heap_drop(outer);
    cr_assert_eq(atomic_load(&runtime.memory.used), 0, "something was not given back");
}

Test(text_heap, goes_to_a_file_where_the_budget_is_small)
{
    start(4 << 20);
    heap = hdst__text_heap_create(&runtime, HDST__OWNER_BY_KEY);
    put_by_threads();
    check_all();
    cr_assert_leq(hdst__budget_peak(&runtime.memory), 2 << 20, "a quarter of the budget, and blocks that are small");
    cr_assert_gt(atomic_load(&runtime.files.bytes.now), 4 << 20);
    hdst__text_heap_drop(heap);
    cr_assert_eq(atomic_load(&runtime.memory.used), 0);
    cr_assert_eq(atomic_load(&runtime.files.bytes.now), 0, "a file was not given back");
}

Test(text_heap, tells_a_full_disk)
{
    start(4 << 20);
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &(struct rlimit){3 << 20, 3 << 20});
    heap = hdst__text_heap_create(&runtime, HDST__OWNER_BY_KEY);
    hdst_error error = HDST_ERROR_INIT;
    char *at;
    cr_assert_eq(hdst__text_heap_take(heap, 1000, &at, &error), HDST_OK);
    at[999] = 1;
    cr_assert_eq(at[1000], 0);
    cr_assert_eq(hdst__text_heap_take(heap, 8 << 20, &at, &error), HDST_E_IO);
    cr_assert_not_null(strstr(error.message, "temporary file"));
    cr_assert_eq(hdst__text_heap_take(heap, 100, &at, &error), HDST_OK, "what fits still does");
    hdst__text_heap_drop(heap);
    cr_assert_eq(atomic_load(&runtime.memory.used), 0);
}
