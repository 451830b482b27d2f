// SPDX-License-Identifier: Apache-2.0
// Which names are near enough to be suggested.
#include "base/suggest.h"

#include "hdst/error.h"

#include <criterion/criterion.h>
#include <string.h>

static const char *near(const char *name, const char *known) { return hdst__nearest_name(name, (const char *[]){known}, 1); }

Test(suggest, a_slip_of_the_pen_is_forgiven)
{
    static const char *const slips[][2] = {
        {"centre", "center"}, {"filtre", "filter"}, {"acum", "accum"}, {"record", "records"}, {"verison", "version"}, {"--parm", "--param"}, {"kye", "key"},
        {"Filter", "filter"}, {"TRUE", "true"}, {"sqrtf", "sqrt"}, {"idd", "id"}, {"colour", "color"}, {"inf", "INFINITY"}, {"dev", "device"},
    };
    for (size_t i = 0; i < sizeof slips / sizeof *slips; i++) cr_expect_eq(near(slips[i][0], slips[i][1]), slips[i][1], "%s", slips[i][0]);
}

Test(suggest, what_is_another_word_is_not_suggested)
{
    static const char *const others[][2] = {{"velocity", "center"}, {"y", "x"}, {"yy", "x"}, {"rand", "tan"}, {"assert", "sqrt"}, {"pont", "int"},
                                            {"print", "int"}, {"malloc", "max"}, {"z", ""}, {"", "z"}, {"in", "INFINITY"}};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) cr_expect_null(near(others[i][0], others[i][1]), "%s: %s", others[i][0], others[i][1]);
}

Test(suggest, the_nearest_of_several_is_taken_and_a_name_is_not_suggested_for_itself)
{
    const char *const names[] = {"points", "point", "pointer"};
    cr_assert_str_eq(hdst__nearest_name("poimt", names, 3), "point");
    cr_assert_str_eq(hdst__nearest_name("point", names, 3), "points");
    char much[1000];
    memset(much, 'p', sizeof much - 1);
    much[sizeof much - 1] = 0;
    cr_assert_null(hdst__nearest_name(much, names, 3));
    const char *const longer[] = {much};
    cr_assert_null(hdst__nearest_name("pp", longer, 1));
    cr_assert_str_eq(hdst__nearest_name("pointx", (const char *[]){"pointa", "pointb"}, 2), "pointa", "the first of equals");
    cr_assert_str_eq(hdst__nearest_name("dev", (const char *[]){"device", "dew"}, 2), "dew", "a slip rather than a beginning");
}

// Names of more than 64 letters are never near, whichever of the two they are.
Test(suggest, long_names_are_not_compared)
{
    char name[80], other[80];
    for (int n = 60; n < 70; n++) {
        for (int m = 60; m < 70; m++) {
            memset(name, 'a', sizeof name);
            memset(other, 'a', sizeof other);
            name[0] = 'b';
            name[n] = other[m] = 0;
            cr_expect_eq(near(name, other) != NULL, n <= 64 && m <= 64, "%d and %d letters", n, m);
        }
    }
}

Test(suggest, the_hint_lists_what_there_is_as_far_as_it_fits)
{
    const char *const names[] = {"center", "point", "x"};
    char hint[100];
    hdst__suggest(hint, sizeof hint, "its fields are", "pint", names, 3);
    cr_assert_str_eq(hint, "did you mean 'point'?");
    hdst__suggest(hint, sizeof hint, "its fields are", "velocity", names, 3);
    cr_assert_str_eq(hint, "its fields are center, point, x");
    hdst__suggest(hint, sizeof hint, NULL, "velocity", names, 3);
    cr_assert_str_eq(hint, "");
    hdst__suggest(hint, sizeof hint, "its fields are", "velocity", names, 0);
    cr_assert_str_eq(hint, "");
    const char *many[100];
    for (int i = 0; i < 100; i++) many[i] = "name";
    for (size_t bytes = 1; bytes <= sizeof hint; bytes++) {
        hdst__suggest(hint, bytes, "its fields are", "velocity", many, 100);
        cr_assert_lt(strlen(hint), bytes);
    }
    cr_assert_str_eq(hint, "its fields are name, name, name, name, name, name, name, name, name and 91 more");
    char large[1000], wanted[1000] = "its fields are name";
    for (int i = 1; i < 16; i++) strcat(wanted, ", name");
    strcat(wanted, " and 84 more");
    hdst__suggest(large, sizeof large, "its fields are", "velocity", many, 100);
    cr_assert_str_eq(large, wanted, "%s", large);
    for (size_t bytes = 1; bytes <= sizeof hint; bytes++) {        // whole, or not at all
        hdst__suggest(hint, bytes, NULL, "pint", names, 3);
        cr_assert(!*hint || !strcmp(hint, "did you mean 'point'?"), "%s", hint);
    }
}

Test(suggest, programs_ask_by_the_public_door)
{
    const char *names[] = {"points", "clusters", "iterations"};
    cr_expect_str_eq(hdst_nearest_name("Cluster", names, 3), "clusters");
    cr_expect_str_eq(hdst_nearest_name("iter", names, 3), "iterations");
    cr_expect_null(hdst_nearest_name("seed", names, 3));
    cr_expect_null(hdst_nearest_name(NULL, names, 3));
}
