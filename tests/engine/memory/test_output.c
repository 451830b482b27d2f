// SPDX-License-Identifier: Apache-2.0
// Output records on the host: when their memory is registered, and that it is no more once it moves or goes.
#include "engine/memory/output.h"

#include "engine/memory/registered.h"

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
