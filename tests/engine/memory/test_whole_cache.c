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

static bool is_new(const hdst__dataset_cache *one) { return !one->streamed && !one->device && !one->segment && !one->each; }

static void let_all_give_way(void)
{
    hdst_error cause = HDST_ERROR_INIT;
    hdst__error_set(&cause, HDST_E_MEMORY, "no room");
    cr_assert(hdst__whole_caches_stream(&engine->runtime, &cause));
}

Test(whole_cache, those_that_gave_way_come_back_as_if_nobody_had_read_them)
{
    uint64_t number[CACHES];
    hdst__device *device = cache[0]->device;
    cr_expect(!hdst__whole_caches_return(&engine->runtime), "none gave way");
    let_all_give_way();
    for (int i = 0; i < CACHES; i++) number[i] = cache[i]->number;
    cr_assert(hdst__whole_caches_return(&engine->runtime));
    for (int i = 0; i < CACHES; i++) {
        cr_expect(is_new(cache[i]));
        cr_expect_eq(cache[i]->spreads, 2);
        cr_expect_eq(cache[i]->returns, 1);
        for (int k = 0; k < CACHES; k++) cr_expect_neq(cache[i]->number, number[k]);
    }
    cr_expect(!hdst__whole_caches_return(&engine->runtime), "none is left");
    cr_assert_eq(hdst__dataset_cache_prepare(cache[0], device, NULL), HDST_OK);
    cr_expect(!cache[0]->streamed && cache[0]->segment && engine->runtime.partial.whole == cache[0]);
}

// 4,000 bytes each, and three quarters of what is left are for them.
Test(whole_cache, those_for_which_there_is_no_room_stay_away)
{
    hdst__budget *memory = &engine->runtime.memory;
    let_all_give_way();
    const uint64_t most = hdst__budget_left(memory) - 5000;
    cr_assert(hdst__budget_reserve(memory, HDST__OWNER_VALUES, most));
    cr_expect(!hdst__whole_caches_return(&engine->runtime));
    for (int i = 0; i < CACHES; i++) cr_expect(cache[i]->streamed && cache[i]->returns == 0);
    hdst__dataset_cache_release(cache[1]);
    hdst__budget_hand_over(memory, HDST__OWNER_VALUES, HDST__OWNER_SEGMENTS, most);
    cr_expect(hdst__whole_caches_return(&engine->runtime), "segments through which inputs stream go for it");
    cr_expect(is_new(cache[0]) && is_new(cache[2]));
    cr_expect_eq(cache[1]->returns, 0, "one that was released is not there to come back");
    hdst__budget_release(memory, HDST__OWNER_SEGMENTS, most);
}

Test(whole_cache, a_lean_run_has_none_and_the_next_one_all)
{
    hdst__engine_begin_run(engine, true);
    for (int i = 0; i < CACHES; i++) cr_expect(cache[i]->streamed);
    cr_expect(engine->runtime.lean);
    hdst__engine_begin_run(engine, true);
    for (int i = 0; i < CACHES; i++) cr_expect(cache[i]->streamed);
    hdst__engine_begin_run(engine, false);
    cr_expect(!engine->runtime.lean);
    for (int i = 0; i < CACHES; i++) cr_expect(is_new(cache[i]));
}

Test(whole_cache, what_is_in_use_helps_only_where_as_much_is_lacking)
{
    hdst_error error = HDST_ERROR_INIT;
    hdst__budget *memory = &engine->runtime.memory;
    uint64_t owned[HDST__OWNERS];
    hdst__engine_forget_refusals(engine);
    cr_expect(!hdst__engine_lacks_what_is_used(engine), "nothing was refused");
    cr_expect_null(hdst__budget_alloc(memory, HDST__OWNER_VALUES, memory->limit + hdst__budget_used(memory, owned) + 4096, "rows", &error));
    cr_expect(!hdst__engine_lacks_what_is_used(engine), "more than all that there is");
    cr_expect_null(hdst__budget_alloc(memory, HDST__OWNER_VALUES, hdst__budget_left(memory) + 64, "rows", &error));
    cr_expect(hdst__engine_lacks_what_is_used(engine));
    hdst__engine_forget_refusals(engine);
    cr_expect(!hdst__engine_lacks_what_is_used(engine));
    hdst__budget_error(memory, hdst__budget_left(memory) + 64, "rows", &error);
    cr_expect(hdst__engine_lacks_what_is_used(engine), "who looks first is refused, too");
}

Test(whole_cache, what_stays_is_no_part_of_what_runs_need)
{
    const uint64_t needed = hdst__engine_needed_bytes(engine);
    cr_expect(hdst__budget_reserve(&engine->runtime.memory, HDST__OWNER_VALUES, 5000));
    cr_expect_eq(hdst__engine_needed_bytes(engine), needed + 5000);
    hdst__budget_hand_over(&engine->runtime.memory, HDST__OWNER_VALUES, HDST__OWNER_CACHES, 5000);
    cr_expect_eq(hdst__engine_needed_bytes(engine), needed);
    hdst__budget_release(&engine->runtime.memory, HDST__OWNER_CACHES, 5000);
}
