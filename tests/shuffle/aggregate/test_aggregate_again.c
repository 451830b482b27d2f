// SPDX-License-Identifier: Apache-2.0
// A reduction by key that runs again: the first result lies in a file that is read like memory, the next ones have
// hardly a record, or none. (Behind a plan the first result is mostly given back before the second run.)
#include "shuffle/aggregate/aggregate.h"
#include "engine/engine_state.h"
#include "tests/shuffle/pairs.h"

enum { RECORDS = 500000, MEMORY = 4 << 20 };

// Every key comes once.
static hdst_status fill(void *user, uint64_t first, uint64_t count, const hdst__storage *storage, void *const *buffers, uint64_t to_first, hdst_error *error)
{
    (void)user, (void)error;
    for (uint64_t i = 0; i < count; i++)
        for (size_t l = 0; l < storage->record->leaf_count; l++) {
            const hdst__leaf_address *at = &storage->leaf[l];
            const uint64_t number = l ? 1 : first + i;
            memcpy((char *)buffers[at->buffer] + at->offset + (to_first + i) * at->stride, &number, sizeof number);
        }
    return HDST_OK;
}

static void expect_keys(const pair *rows, uint64_t count, uint64_t records)
{
    uint64_t keys = 0;
    cr_assert_eq(count, records);
    for (uint64_t i = 0; i < count; i++) {
        cr_assert(rows[i].key < records && rows[i].value == 1, "row %llu", (unsigned long long)i);
        keys += rows[i].key;
    }
    cr_assert_eq(keys, records * (records - !!records) / 2);
}

Test(by_key_again, behind_a_result_in_a_file)
{
    const uint64_t turns[] = {RECORDS, 0, RECORDS, 1, RECORDS, 2, 0, 1};
    const uint32_t key = 0;
    const hdst__accumulate_op sum = HDST__SUM;
    hdst_error error = HDST_ERROR_INIT;
    jmp_buf out_of_memory;
    hdst__arena arena;
    hdst__arena_init(&arena, NULL, &out_of_memory);
    cr_assert(setjmp(out_of_memory) == 0);
    hdst__engine *engine = hdst__engine_create(&(hdst__engine_options){.device = "interp", .memory = MEMORY});
    const hdst__record *record = make_record(&arena, HDST__U64, 2);
    hdst__aggregate *by_key = hdst__aggregate_create(engine, &(hdst__aggregate_spec){.record = record, .key_leaves = &key, .key_count = 1, .laws = &sum});
    for (size_t turn = 0; turn < sizeof turns / sizeof *turns; turn++) {
        const hdst__reader reader = {.fill = fill, .records = turns[turn], .record = record, .layout = HDST__AOS};
        const void *rows;
        uint64_t count;
        cr_assert_eq(hdst__aggregate_run(by_key, &(hdst__aggregate_input){.reader = &reader}, &rows, &count, &error), HDST_OK, "turn %zu: %s", turn,
                     error.message);
        expect_keys(rows, count, turns[turn]);
    }
    hdst__aggregate_destroy(by_key);
    cr_assert_eq(atomic_load(&engine->runtime.memory.used), 0);
    hdst__engine_destroy(engine);
    hdst__arena_destroy(&arena);
}
