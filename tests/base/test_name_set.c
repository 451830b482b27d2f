// SPDX-License-Identifier: Apache-2.0
// Duplicates among many names.
#include "base/name_set.h"

#include <criterion/criterion.h>

static hdst__arena arena;
static jmp_buf out_of_memory;

static void set_up(void) { hdst__arena_init(&arena, NULL, &out_of_memory); }
static void tear_down(void) { hdst__arena_destroy(&arena); }

TestSuite(name_set, .init = set_up, .fini = tear_down);

Test(name_set, the_first_value_of_a_name_stays)
{
    hdst__name_set set = {0};
    cr_assert_eq(hdst__name_set_find(&set, "x"), HDST__NO_NAME);
    cr_assert_eq(hdst__name_set_add(&arena, &set, "x", 7), HDST__NO_NAME);
    cr_assert_eq(hdst__name_set_add(&arena, &set, "x", 8), 7);
    cr_assert_eq(hdst__name_set_find(&set, "x"), 7);
    cr_assert_eq(hdst__name_set_find(&set, ""), HDST__NO_NAME);
    cr_assert_eq(hdst__name_set_find(&set, "xx"), HDST__NO_NAME);
}

Test(name_set, thousands_of_names_are_told_apart)
{
    enum { NAMES = 5000 };
    hdst__name_set set = {0};
    for (uint32_t i = 0; i < NAMES; i++) cr_assert_eq(hdst__name_set_add(&arena, &set, hdst__arena_printf(&arena, "name%u", i), i), HDST__NO_NAME);
    for (uint32_t i = 0; i < NAMES; i++) cr_assert_eq(hdst__name_set_find(&set, hdst__arena_printf(&arena, "name%u", i)), i);
    cr_assert_eq(hdst__name_set_find(&set, "name5000"), HDST__NO_NAME);
    cr_assert_eq(set.count, NAMES);
}
