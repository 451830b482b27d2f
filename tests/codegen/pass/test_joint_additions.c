// SPDX-License-Identifier: Apache-2.0
// Which additions of the GPU form share a test, on IR as text: both sides of each limit; how far lanes fill their words;
// what the verifier refuses.
#include "tests/support/pass_case.h"

#include "accum/fixed_point.h"
#include "codegen/pass/gpu_form.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

TestSuite(joint_additions, .init = pass_set_up, .fini = pass_tear_down);

static const char head[] = "  shape group 256 records 4\n"
                           "  input p p {f32 x[2], f64 z, u32 n}\n"
                           "  accum t t[] {f32 x[2], u32 n}\n"
                           "  accum s s {f32 y, f32 w}\n"
                           "  accum d d {f64 z}\n"
                           "  place t local 5 slots: x joint 0 by 2, n word 4 by 1\n"
                           "  place s registers 4 slots: y levels 0 by 2, w levels 2 by 2\n"
                           "  place d registers 4 slots: z pair 0 by 2\n"
                           "  tables copies 16\n";
static const pass_case c = {.run = hdst__pass_joint_additions, .head = head};

// What makes no test stands in front; sums of doubles in registers share a test of their own.
Test(joint_additions, those_that_stand_together_share_a_test)
{
    PASS_GIVES(c,
               "  accum t[0u].x[0u] += p.x[0u]\n"
               "  accum d.z += p.z\n"
               "  accum t[0u].n += p.n\n"
               "  accum s.y += p.x[1u]\n"
               "  accum t[0u].x[1u] += p.x[1u]\n"
               "  if lt(p.n, 3u) {\n"
               "    accum s.w += p.x[0u]\n"
               "  }\n"
               "  accum t[0u].n += 1u\n",
               "  accum t[0u].n += p.n\n"
               "  accum t[0u].x[0u] += p.x[0u] joint 1\n"
               "  accum s.y += p.x[1u] joint 1\n"
               "  accum t[0u].x[1u] += p.x[1u] joint 1\n"
               "  accum d.z += p.z joint 2\n"
               "  if lt(p.n, 3u) {\n"
               "    accum s.w += p.x[0u] joint 3\n"
               "  }\n"
               "  accum t[0u].n += 1u\n");
}

// `count` times the statement, with the number of its test: `most` have one.
static const char *many(hdst__arena *arena, const char *stmt, size_t count, size_t most)
{
    const char *text = "";
    for (size_t i = 0; i < count; i++)
        text = hdst__arena_printf(arena, most ? "%s  %s joint %zu\n" : "%s  %s\n", text, stmt, most ? i / most + 1 : 0);
    return text;
}

Test(joint_additions, no_more_than_a_lane_has_registers_for)
{
    hdst__arena *arena = pass_read(head, "")->arena;
    for (size_t count = 31; count <= 65; count += 17)
        PASS_GIVES(c, many(arena, "accum s.y += p.x[0u]", count, 0), many(arena, "accum s.y += p.x[0u]", count, 32));
    for (size_t count = 7; count <= 9; count++)
        PASS_GIVES(c, many(arena, "accum d.z += p.z", count, 0), many(arena, "accum d.z += p.z", count, 8));
}

// --- A lane's words ---

// What the tables say, of a body for a record and one for several.
static const char *words_of(const char *single, const char *spans, const uint64_t *rows)
{
    hdst__gpu_forms forms = {.single = pass_read(head, single)};
    forms.spans = pass_read(head, spans);
    forms.spans->tables = forms.single->tables;
    hdst__pass_joint_additions(forms.single);
    hdst__pass_joint_additions(forms.spans);
    hdst__pass_lane_words(&forms, rows);
    const char *wrong = hdst__ir_verify(forms.spans), *text = ir_text_of(forms.single->arena, forms.spans);
    cr_expect_null(wrong, "%s", wrong);
    const ir_func *again = ir_text_read(forms.single->arena, text, &wrong);
    cr_assert_not_null(again, "%s", wrong);
    cr_expect_str_eq(ir_text_of(forms.single->arena, again), text);
    const char *tables = strstr(pass_head(forms.spans), "  tables");
    return hdst__arena_printf(forms.single->arena, "%.*s", (int)strcspn(tables, "\n"), tables);
}

Test(joint_additions, lanes_fill_their_words_no_further_than_they_have_room)
{
    hdst__arena *arena = pass_read(head, "")->arena;
    const char *one = "  accum s.y += p.x[0u]\n";
    cr_expect_str_eq(words_of("  accum d.z += p.z\n", "  accum d.z += p.z\n", NULL), "  tables copies 16");
    cr_expect_str_eq(words_of(one, one, NULL), "  tables copies 16 lane adds 991");                                         // 31 * 32 - 1
    cr_expect_str_eq(words_of(one, many(arena, "accum s.y += p.x[0u]", 8, 0), NULL), "  tables copies 16 lane adds 774");   // 31 * 25 - 1
    cr_expect_str_eq(words_of(one, many(arena, "accum s.y += p.x[0u]", 16, 0), NULL), "  tables copies 16 lane adds 526");  // 31 * 17 - 1
    cr_expect_str_eq(words_of(one, many(arena, "accum s.y += p.x[0u]", 17, 0), NULL), "  tables copies 16 lane adds 480");
    // Two of the eight share a test with what stands before them, and six have one of their own.
    const char *apart = hdst__arena_printf(arena, "%s%s", many(arena, "accum t[0u].x[0u] += p.x[0u]", 30, 0), many(arena, "accum s.y += p.x[0u]", 8, 0));
    cr_expect_str_eq(words_of(one, apart, NULL), "  tables copies 16 lane adds 836");                                       // 31 * 27 - 1
    const char *other = hdst__arena_printf(arena, "%s  accum s.w += p.x[1u]\n", one);
    cr_expect_str_eq(words_of(other, other, NULL), "  tables copies 16 lane adds 991", "each sum counts by itself");
}

// A record that may add more than 60 times: whoever takes a sum looks whether the word has room.
Test(joint_additions, records_that_may_fill_a_word)
{
    hdst__arena *arena = pass_read(head, "")->arena;
    const char *stmt = "accum s.y += p.x[0u]";
    cr_expect_str_eq(words_of(many(arena, stmt, 60, 0), many(arena, stmt, 60, 0), NULL), "  tables copies 16 lane adds 480");
    cr_expect_str_eq(words_of(many(arena, stmt, 61, 0), many(arena, stmt, 61, 0), NULL), "  tables copies 16 lane room");
}

// --- What the verifier refuses ---

static void refuse(const char *body, const char *why)
{
    ir_func *any = pass_read(head, "");
    const char *wrong;
    const ir_func *func = ir_text_read(any->arena, hdst__arena_printf(any->arena, "func f\n%s{\n%s}\n", head, body), &wrong);
    cr_assert_not_null(func, "%s", wrong);
    wrong = hdst__ir_verify(func);
    cr_assert_not_null(wrong, "nothing is wrong with\n%s", body);
    cr_expect_not_null(strstr(wrong, why), "'%s', not '%s'", wrong, why);
}

Test(joint_additions, tests_are_of_what_stands_together_and_makes_one)
{
    refuse("  accum t[0u].n += p.n joint 1\n", "makes none");
    refuse("  accum s.y += p.x[0u] joint 1\n  accum s.w += p.x[0u]\n  accum s.y += p.x[0u] joint 1\n", "does not stand in front");
    refuse("  if lt(p.n, 3u) {\n    accum s.y += p.x[0u] joint 1\n  }\n  accum s.y += p.x[0u] joint 1\n", "does not stand in front");
    refuse("  accum s.y += p.x[0u] joint 1\n  accum d.z += p.z joint 1\n", "sums of another kind");
}
