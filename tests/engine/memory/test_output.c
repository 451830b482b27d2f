// SPDX-License-Identifier: Apache-2.0
// Output records on the host: when their memory is registered, and that it is no more once it moves or goes.
#include "engine/memory/output.h"

#include "engine/memory/registered.h"
#include "engine/memory/store.h"
#include "engine/memory/window.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

enum { RECORD = 1024, COUNT = 17 << 10 };       // 17 MiB

Test(output, memory_is_registered_while_it_lies_where_it_was_filled)
{
    hdst__budget budget;
    hdst__budget_init(&budget, "host memory", "--memory", (uint64_t)1 << 30);
    const hdst__allocator allocator = hdst__budget_allocator(&budget, NULL);
    hdst__registered *pins = hdst__registered_create(&allocator, "memory of results");
    hdst__output output;
    char *record = calloc(1, RECORD);
    hdst__output_init(&output, &allocator, &budget, RECORD);
    output.pins = pins;
    cr_assert_eq(hdst__output_reserve(&output, COUNT, NULL), HDST_OK);
    hdst__output_pin(&output);
    cr_assert_eq(hdst__registered_bytes(pins), 0, "there was nothing in it yet");
    cr_assert_eq(hdst__output_add(&output, record, 1, NULL), HDST_OK);
    hdst__output_reset(&output);
    hdst__output_pin(&output);
    hdst__output_pin(&output);
    cr_assert_eq(hdst__registered_bytes(pins), (uint64_t)COUNT * RECORD);
    cr_assert_eq(hdst__output_reserve(&output, 2 * COUNT, NULL), HDST_OK);
    cr_assert_eq(hdst__registered_bytes(pins), 0, "it moved");
    hdst__output_pin(&output);
    cr_assert_eq(hdst__registered_bytes(pins), 0, "and was not filled there");
    cr_assert_eq(hdst__output_add(&output, record, 1, NULL), HDST_OK);
    hdst__output_reset(&output);
    hdst__output_pin(&output);
    cr_assert_eq(hdst__registered_bytes(pins), (uint64_t)2 * COUNT * RECORD);
    hdst__output_destroy(&output);
    cr_assert_eq(hdst__registered_bytes(pins), 0);
    free(record);
    hdst__registered_destroy(pins);
    cr_assert_eq(atomic_load(&budget.used), 0);
}

// --- Windows ---

static hdst_status wrap(hdst__device *device, void *host, uint64_t bytes, hdst__memory *out, hdst_error *error)
{
    (void)device, (void)error;
    out->host = host;
    out->bytes = bytes;
    return HDST_OK;
}

static hdst_status unwrap(hdst__device *device, hdst__memory *memory, hdst_error *error)
{
    (void)device, (void)memory, (void)error;
    return HDST_OK;
}

// Room of a window for `wanted` records of 112 bytes, `least` of them at least, in `bytes`.
static uint64_t room_for(uint64_t wanted, uint64_t least, uint64_t bytes)
{
    enum { SIZE = 112 };
    const hdst__device_info info = {.max_alloc_bytes = (uint64_t)1 << 30};
    const hdst__device_ops ops = {.wrap = wrap, .unwrap = unwrap};
    hdst__device device = {.info = &info, .ops = &ops};
    hdst__budget budget;
    hdst__output output;
    hdst__budget_init(&budget, "host memory", "--memory", bytes);
    const hdst__allocator allocator = hdst__budget_allocator(&budget, NULL);
    hdst__output_init(&output, &allocator, &budget, SIZE);
    hdst__window window = {.device = &device, .output = &output};
    const uint64_t room = hdst__window_open(&window, wanted, least, NULL) == HDST_OK ? window.room : 0;
    if (room) cr_assert_eq(hdst__window_close(&window, NULL), HDST_OK);
    hdst__output_destroy(&output);
    return room;
}

// Slices end where a window does, and the next one begins with the next slice: where that was not all, borders stay borders.
Test(output, a_window_without_room_for_all_ends_on_a_border)
{
    enum { UNIT = HDST__SUB_BUFFER_RECORDS };
    uint32_t shorter = 0;
    for (uint64_t bytes = 8 << 20; bytes < 9 << 20; bytes += 70001) {
        const uint64_t room = room_for(1000000, UNIT, bytes);
        cr_assert_geq(room, UNIT);
        cr_assert_eq(room % UNIT, 0, "%llu records in %llu bytes", (unsigned long long)room, (unsigned long long)bytes);
        shorter += room < 1000000;
    }
    cr_assert_gt(shorter, 0);
    cr_assert_geq(room_for(1001, 700, 8 << 20), 1001, "all have room");
    cr_assert_geq(room_for(1000000, 70001, 8 << 20), 70001, "one slice's records have room");
}
