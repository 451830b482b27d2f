// SPDX-License-Identifier: Apache-2.0
// Segments and their ring, on the interpreter's memory.
#include "engine/engine_state.h"
#include "engine/memory/registered.h"

#include <criterion/criterion.h>
#include <string.h>

static hdst__arena arena;
static jmp_buf out_of_memory;
static hdst__engine *engine;
static hdst__device *device;
static hdst__record record;
static hdst__reader reader;

// Record i: x[0..2] = 10 i + e, and a byte, so that rows are of odd size.
static hdst_status fill(void *user, uint64_t first, uint64_t count, const hdst__storage *storage, void *const *buffers, uint64_t to_first, hdst_error *error)
{
    (void)user, (void)error;
    for (uint64_t i = 0; i < count; i++) {
        for (uint32_t e = 0; e < 3; e++) {
            float x = (float)(10 * (first + i) + e);
            memcpy((char *)buffers[storage->leaf[0].buffer] + hdst__storage_offset(storage, 0, to_first + i, e), &x, sizeof x);
        }
        *((uint8_t *)buffers[storage->leaf[1].buffer] + hdst__storage_offset(storage, 1, to_first + i, 0)) = (uint8_t)(first + i);
    }
    return HDST_OK;
}

static void set_up(void)
{
    hdst__arena_init(&arena, NULL, &out_of_memory);
    hdst__field *fields = HDST__NEW_ARRAY(&arena, hdst__field, 2);
    fields[0] = (hdst__field){.name = "x", .type = hdst__type_array(&arena, hdst__type_scalar(HDST__F32), 3)};
    fields[1] = (hdst__field){.name = "b", .type = hdst__type_scalar(HDST__U8)};
    record = (hdst__record){.name = "row", .fields = fields, .field_count = 2, .pack = 1};
    const char *why;
    hdst_error error = HDST_ERROR_INIT;
    cr_assert(hdst__record_finish(&arena, &record, &why));
    reader = (hdst__reader){.fill = fill, .records = 1000, .record = &record};
    engine = hdst__engine_create(&(hdst__engine_options){.device = "interp", .memory = 1 << 20});
    cr_assert_eq(hdst__engine_open(engine, &device, &error), HDST_OK);
}

static void tear_down(void)
{
    cr_assert_eq(engine->runtime.memory.used, 0, "%llu bytes of the budget were not given back", (unsigned long long)engine->runtime.memory.used);
    hdst__engine_destroy(engine);
    hdst__arena_destroy(&arena);
}

TestSuite(segment, .init = set_up, .fini = tear_down);

Test(segment, takes_whole_multiples_of_64_or_of_the_block)
{
    cr_assert_eq(record.size, 13);
    cr_assert_eq(hdst__segment_records(&reader, 13 * 200, 1000), 192);
    cr_assert_eq(hdst__segment_records(&reader, 13 * 200, 100), 128, "no more than the records need");
    cr_assert_eq(hdst__segment_records(&reader, 1, 1000), 64, "at least one row of 64");
    reader.layout = HDST__AOSOA;
    reader.block = 256;
    cr_assert_eq(hdst__segment_records(&reader, 13 * 600, 1000), 512);
    cr_assert_eq(hdst__segment_records(&reader, 1, 1000), 256);
}

static void expect_records(const hdst__segment *segment, uint64_t first, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        for (uint32_t e = 0; e < 3; e++) {
            float x;
            memcpy(&x, (char *)segment->memory[segment->storage->leaf[0].buffer]->host + hdst__storage_offset(segment->storage, 0, i, e), sizeof x);
            cr_assert_eq(x, (float)(10 * (first + i) + e), "record %llu element %u is %g", (unsigned long long)(first + i), e, (double)x);
        }
        const uint8_t *b = segment->memory[segment->storage->leaf[1].buffer]->host;
        cr_assert_eq(b[hdst__storage_offset(segment->storage, 1, i, 0)], (uint8_t)(first + i));
    }
}

Test(segment, is_filled_at_once_or_piece_by_piece_with_the_same_records)
{
    for (hdst__layout layout = HDST__AOS; layout <= HDST__AOP; layout++) {
        hdst_error error = HDST_ERROR_INIT;
        reader.layout = layout;
        reader.block = layout == HDST__AOSOA ? 64 : 0;
        const hdst__storage *large = hdst__storage_make(&arena, &record, layout, reader.block, 1000),
            *piece = hdst__storage_make(&arena, &record, layout, reader.block, 192);
        hdst__segment segment, staging;
        uint64_t moved = 0;
        cr_assert_eq(hdst__segment_create(device, HDST__MEMORY_SHARED, HDST__OWNER_SEGMENTS, large, "a test", &segment, &error), HDST_OK);
        cr_assert_eq(hdst__segment_create(device, HDST__MEMORY_SHARED, HDST__OWNER_SEGMENTS, piece, "a test", &staging, &error), HDST_OK);
        cr_assert_eq(hdst__segment_load(&segment, device, &reader, large, 0, 1000, &moved, &error), HDST_OK);
        cr_assert_eq(moved, 0, "memory that is the host's own moves nothing");
        expect_records(&segment, 0, 1000);
        segment.first = 5;
        segment.count = 990;
        for (int concurrent = 0; concurrent < 2; concurrent++) {        // then one half of the staging memory is copied while the other is filled
            memset(segment.memory[0]->host, 0xff, segment.memory[0]->bytes);
            reader.concurrent = concurrent;
            moved = 0;
            cr_assert_eq(hdst__segment_load_staged(&segment, &staging, piece, device, &reader, &moved, &error), HDST_OK);
            cr_assert_geq(moved, 990 * 13);
            cr_assert_lt(moved, 990 * 13 + 64 * 13);
            expect_records(&segment, 5, 990);
        }
        hdst__segment_destroy(device, &staging);
        hdst__segment_destroy(device, &segment);
    }
}

static hdst_status fill_or_fail(void *user, uint64_t first, uint64_t count, const hdst__storage *storage, void *const *buffers, uint64_t to_first,
                                hdst_error *error)
{
    if (first + count > *(const uint64_t *)user) return hdst__error_set(error, HDST_E_IO, "beyond");
    return fill(NULL, first, count, storage, buffers, to_first, error);
}

Test(segment, an_error_of_the_reader_ends_a_load_by_pieces)
{
    const hdst__storage *large = hdst__storage_make(&arena, &record, HDST__AOS, 0, 1000), *piece = hdst__storage_make(&arena, &record, HDST__AOS, 0, 192);
    for (uint64_t good = 0; good < 1000; good += 111) {
        hdst_error error = HDST_ERROR_INIT;
        hdst__reader bad = {fill_or_fail, &good, 1000, &record, HDST__AOS, 0, .concurrent = true};
        hdst__segment segment, staging;
        uint64_t moved = 0;
        cr_assert_eq(hdst__segment_create(device, HDST__MEMORY_SHARED, HDST__OWNER_SEGMENTS, large, "a test", &segment, &error), HDST_OK);
        cr_assert_eq(hdst__segment_create(device, HDST__MEMORY_SHARED, HDST__OWNER_SEGMENTS, piece, "a test", &staging, &error), HDST_OK);
        segment.count = 1000;
        cr_assert_eq(hdst__segment_load_staged(&segment, &staging, piece, device, &bad, &moved, &error), HDST_E_IO);
        cr_assert_str_eq(error.message, "beyond");
        cr_assert_leq(moved, good * 13);
        hdst__segment_destroy(device, &staging);
        hdst__segment_destroy(device, &segment);
    }
}

Test(segment, registered_rows_are_lent_to_a_segment_and_copied_to_what_stays)
{
    static const uint64_t none = 0;             // the reader fails whenever it is called
    char rows[1000 * 13];
    hdst_error error = HDST_ERROR_INIT;
    const hdst__storage *piece = hdst__storage_make(&arena, &record, HDST__AOS, 0, 192), *large = hdst__storage_make(&arena, &record, HDST__AOS, 0, 1000);
    const hdst__reader all = {.fill = fill, .records = 1000, .record = &record}, lent = {fill_or_fail, (void *)&none, 1000, &record, .rows = rows};
    uint64_t moved = 0;
    hdst__segment segment, stays;
    cr_assert_eq(hdst__segment_create(device, HDST__MEMORY_SHARED, HDST__OWNER_SEGMENTS, piece, "a test", &segment, &error), HDST_OK);
    cr_assert_eq(hdst__segment_create(device, HDST__MEMORY_SHARED, HDST__OWNER_SEGMENTS, large, "a test", &stays, &error), HDST_OK);
    cr_assert_eq(all.fill(NULL, 0, 1000, large, (void *[]){rows}, 0, NULL), HDST_OK);
    const void *own = segment.memory[0]->host;
    cr_assert_eq(hdst__segment_stream(&segment, device, &lent, piece, 64, 192, &moved, &error), HDST_E_IO, "it is not registered");
    cr_assert_eq(hdst__registered_add(engine->runtime.registered, rows, sizeof rows, &error), HDST_OK);
    for (int turn = 0; turn < 2; turn++) {
        cr_assert_eq(hdst__segment_stream(&segment, device, &lent, piece, 64, 192, &moved, &error), HDST_OK);
        cr_assert_eq(segment.memory[0]->host, rows + 64 * 13);
        expect_records(&segment, 64, 192);
    }
    stays.first = 100;
    stays.count = 900;
    cr_assert_eq(hdst__segment_load_staged(&stays, &segment, piece, device, &lent, &moved, &error), HDST_OK);
    cr_assert_eq(moved, 900 * 13);
    expect_records(&stays, 100, 900);
    cr_assert_eq(hdst__segment_stream(&segment, device, &all, piece, 5, 100, &moved, &error), HDST_OK);
    cr_assert_eq(segment.memory[0]->host, own, "it has its own memory again");
    expect_records(&segment, 5, 100);
    cr_assert_eq(hdst__segment_stream(&segment, device, &lent, piece, 64, 192, &moved, &error), HDST_OK);
    hdst__segment_destroy(device, &segment);
    hdst__segment_destroy(device, &stays);
    cr_assert_eq(hdst__registered_remove(engine->runtime.registered, rows, &error), HDST_OK);
}

Test(segment, memory_is_registered_where_all_of_it_lies_in_one_range)
{
    static const char bytes[100];
    hdst__registered *all = engine->runtime.registered;
    cr_assert_not(hdst__registered_holds(all, device, bytes, 1));
    cr_assert_eq(hdst__registered_add(all, bytes + 10, 40, NULL), HDST_OK);
    cr_assert_eq(hdst__registered_add(all, bytes + 50, 20, NULL), HDST_OK);
    cr_assert(hdst__registered_holds(all, device, bytes + 10, 40));
    cr_assert(hdst__registered_holds(all, device, bytes + 49, 1));
    cr_assert(hdst__registered_holds(all, device, bytes + 50, 20));
    cr_assert_not(hdst__registered_holds(all, device, bytes + 9, 2));
    cr_assert_not(hdst__registered_holds(all, device, bytes + 40, 11), "neighbours are not one range");
    cr_assert_not(hdst__registered_holds(all, device, bytes + 69, 2));
    cr_assert_not(hdst__registered_holds(all, device, bytes + 10, UINT64_MAX));
    cr_assert_eq(hdst__registered_remove(all, bytes + 10, NULL), HDST_OK);
    cr_assert_not(hdst__registered_holds(all, device, bytes + 10, 1));
    cr_assert_eq(hdst__registered_remove(all, bytes + 50, NULL), HDST_OK);
}

Test(segment, the_ring_keeps_its_memory_while_it_fits_and_shrinks_to_the_budget)
{
    hdst_error error = HDST_ERROR_INIT;
    hdst__ring ring = {0};
    const hdst__storage *small = hdst__storage_make(&arena, &record, HDST__SOA, 0, 64), *large = hdst__storage_make(&arena, &record, HDST__SOA, 0, 640);
    cr_assert_eq(hdst__ring_prepare(&ring, device, large, 3, &error), HDST_OK);
    cr_assert_eq(ring.count, 3);
    void *first = ring.segment[0].memory[0]->host;
    cr_assert_eq(hdst__ring_prepare(&ring, device, small, 3, &error), HDST_OK);
    cr_assert_eq(ring.segment[0].memory[0]->host, first, "a segment that is large enough is wrapped once");
    hdst__ring_destroy(&ring, device);
    cr_assert_eq(hdst__ring_prepare(&ring, device, large, 1, &error), HDST_OK);
    cr_assert_eq(hdst__ring_prepare(&ring, device, small, 3, &error), HDST_OK);
    cr_assert_eq(hdst__ring_prepare(&ring, device, large, 3, &error), HDST_OK);
    for (uint32_t i = 0; i < 3; i++) cr_assert_geq(ring.segment[i].memory[0]->bytes, large->buffer_bytes[0], "segment %u", i);
    const hdst__storage *half = hdst__storage_make(&arena, &record, HDST__SOA, 0, (1 << 19) / 13 / 64 * 64);
    cr_assert_eq(hdst__ring_prepare(&ring, device, half, 3, &error), HDST_OK, "%s", error.message);
    cr_assert_lt(ring.count, 3, "a budget of 1 MiB has no room for three times 512 KiB");
    cr_assert_gt(ring.count, 0);
    cr_assert_eq(error.code, HDST_OK, "fewer segments are no error: %s", error.message);
    const hdst__storage *huge = hdst__storage_make(&arena, &record, HDST__SOA, 0, 1 << 20);
    cr_assert_eq(hdst__ring_prepare(&ring, device, huge, 3, &error), HDST_E_MEMORY);
    hdst__ring_destroy(&ring, device);
}

Test(segment, large_memory_can_have_huge_pages_where_the_budget_has_room_for_what_is_left_out_in_front)
{
    enum { BYTES = 9 << 20, HUGE = 2 << 20, HEAD = 16 };
    hdst_error error = HDST_ERROR_INIT;
    hdst__engine *roomy = hdst__engine_create(&(hdst__engine_options){.device = "interp", .memory = 80 << 20}),
        *tight = hdst__engine_create(&(hdst__engine_options){.device = "interp", .memory = 10 << 20});
    hdst__device *on;
    hdst__memory *memory;
    cr_assert_eq(hdst__engine_open(roomy, &on, &error), HDST_OK);
    cr_assert_eq(on->ops->alloc(on, HDST__MEMORY_SHARED, HDST__OWNER_OTHER, BYTES, "a test", &memory, &error), HDST_OK);
    cr_expect_eq((uintptr_t)memory->host % HUGE, 0);
    cr_expect_eq(roomy->runtime.memory.used, BYTES + HUGE + HEAD);
    memset(memory->host, 1, BYTES);
    on->ops->release(on, memory);
    cr_expect_eq(roomy->runtime.memory.used, 0);
    cr_assert_eq(hdst__engine_open(tight, &on, &error), HDST_OK);
    cr_assert_eq(on->ops->alloc(on, HDST__MEMORY_SHARED, HDST__OWNER_OTHER, BYTES, "a test", &memory, &error), HDST_OK);
    cr_expect_lt(tight->runtime.memory.used, BYTES + (1 << 16));
    on->ops->release(on, memory);
    hdst__engine_destroy(tight);
    hdst__engine_destroy(roomy);
}
