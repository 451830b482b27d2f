// SPDX-License-Identifier: Apache-2.0
// Cached datasets of which all stays (engine/memory/whole_cache.c): they are listed as long as they do, and give way together.
#include "engine/engine_state.h"
#include "engine/memory/dataset_cache.h"

#include <criterion/criterion.h>
#include <setjmp.h>
#include <string.h>

enum { CACHES = 3 };

static hdst__arena arena;
static jmp_buf out_of_memory;
static hdst__engine *engine;
static hdst__record record;
static hdst__dataset_cache *cache[CACHES];

static hdst_status fill(void *user, uint64_t first, uint64_t count, const hdst__storage *storage, void *const *buffers, uint64_t to_first, hdst_error *error)
{
    (void)user, (void)error;
    for (uint64_t i = 0; i < count; i++) {
        const uint32_t x = (uint32_t)(first + i);
        memcpy((char *)buffers[storage->leaf[0].buffer] + hdst__storage_offset(storage, 0, to_first + i, 0), &x, sizeof x);
    }
    return HDST_OK;
}

static void set_up(void)
{
    const char *why;
    hdst_error error = HDST_ERROR_INIT;
    hdst__device *device;
    hdst__arena_init(&arena, NULL, &out_of_memory);
    hdst__field *field = HDST__NEW_ARRAY(&arena, hdst__field, 1);
    *field = (hdst__field){.name = "x", .type = hdst__type_scalar(HDST__U32)};
    record = (hdst__record){.name = "row", .fields = field, .field_count = 1};
    cr_assert(hdst__record_finish(&arena, &record, &why));
    engine = hdst__engine_create(&(hdst__engine_options){.device = "interp", .memory = 1 << 20});
    cr_assert_eq(hdst__engine_open(engine, &device, &error), HDST_OK);
    for (int i = 0; i < CACHES; i++) {
        cache[i] = hdst__dataset_cache_create(&engine->runtime, &(hdst__reader){.fill = fill, .records = 1000, .record = &record});
        cr_assert_eq(hdst__dataset_cache_prepare(cache[i], device, &error), HDST_OK);
        cr_assert(!cache[i]->streamed);
    }
}

static void tear_down(void)
{
    for (int i = 0; i < CACHES; i++) hdst__dataset_cache_destroy(cache[i]);
    cr_assert_eq(engine->runtime.memory.used, 0);
    hdst__engine_destroy(engine);
    hdst__arena_destroy(&arena);
}

TestSuite(whole_cache, .init = set_up, .fini = tear_down);

Test(whole_cache, one_that_is_released_is_listed_no_longer)
{
    const hdst__partial_caches *all = &engine->runtime.partial;
    cr_assert(all->whole == cache[2] && cache[2]->next_whole == cache[1] && cache[1]->next_whole == cache[0] && !cache[0]->next_whole);
    hdst__dataset_cache_release(cache[1]);
    cr_assert(all->whole == cache[2] && cache[2]->next_whole == cache[0] && !cache[0]->next_whole);
    hdst__dataset_cache_release(cache[1]);
    cr_assert(all->whole == cache[2] && cache[2]->next_whole == cache[0], "once more");
    hdst__dataset_cache_release(cache[2]);
    cr_assert(all->whole == cache[0]);
    hdst__dataset_cache_release(cache[0]);
    cr_assert_null(all->whole);
}

// Those that read their segments find by the number, and by how often they were laid out, that they are no longer there.
Test(whole_cache, all_give_way_together_and_are_others_from_then_on)
{
    uint64_t number[CACHES];
    hdst_error cause = HDST_ERROR_INIT;
    hdst__error_set(&cause, HDST_E_MEMORY, "no room");
    for (int i = 0; i < CACHES; i++) number[i] = cache[i]->number;
    cr_assert(hdst__whole_caches_stream(&engine->runtime, &cause));
    for (int i = 0; i < CACHES; i++) {
        cr_expect(cache[i]->streamed && !cache[i]->segment);
        cr_expect_str_eq(cache[i]->why, "no room");
        cr_expect_eq(cache[i]->spreads, 1);
        for (int k = 0; k < CACHES; k++) cr_expect(cache[i]->number != number[k] && (i == k || cache[i]->number != cache[k]->number));
    }
    cr_expect(!hdst__whole_caches_stream(&engine->runtime, &cause), "none is left");
}
