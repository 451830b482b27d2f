// SPDX-License-Identifier: Apache-2.0
// Which sums of the whole dataset are added together as products with one factor, on IR as text, and what the verifier refuses.
#include "tests/support/pass_case.h"

#include "codegen/pass/sum_loops.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

TestSuite(shared_factors, .init = pass_set_up, .fini = pass_tear_down);

static const char head[] = "  block 64\n"
                           "  input p p {f32 x[5], f64 z}\n"
                           "  accum t t {f32 x[6], f32 y[7], f32 w, f32 v, f64 z[4]}\n"
                           "  place t registers: x tested blocks of floats, y tested blocks of floats, w tested blocks of floats, v tested blocks of floats, "
                           "z tested blocks of doubles\n"
                           "  tables\n"
                           "  var f32 w varying per record\n"
                           "  var f32 v varying per record\n"
                           "  var f32 u varying per record\n"
                           "  var f32 k\n"
                           "  var u32 j\n"
                           "  var f64 d varying per record\n";

static const char *shared(const char *body, bool has_double)
{
    ir_func *func = pass_read(head, body);
    hdst__pass_sum_loops(func, has_double);
    hdst__pass_shared_factors(func);
    const char *wrong = hdst__ir_verify(func);
    cr_assert_null(wrong, "%s", wrong);
    const char *text = ir_text_of(func->arena, func);
    const ir_func *again = ir_text_read(func->arena, text, &wrong);
    cr_assert_not_null(again, "%s\n%s", wrong, text);
    cr_expect_str_eq(ir_text_of(func->arena, again), text);
    return pass_body(func);
}

static void expect(const char *body, const char *after)
{
    const char *got = shared(body, true);
    cr_expect_str_eq(got, after, "expected\n%sfound\n%s", after, got);
}

// A group of u waits for one that has the same other factors.
static void expect_none(const char *body, bool has_double)
{
    static const char family[] = "  block t.y[0u] += mul(p.x[0u], u)\n  block t.y[1u] += mul(p.x[1u], u)\n  block t.y[2u] += mul(p.x[2u], u)\n";
    ir_func *any = pass_read(head, "");
    const char *got = shared(hdst__arena_printf(any->arena, "%s%s", family, body), has_double);
    cr_expect_null(strstr(got, "joint"), "%s", got);
}

Test(shared_factors, products_first_then_the_factor_itself)
{
    expect("  block t.x[0u] += mul(p.x[0u], w)\n"
           "  block t.w += w\n"
           "  block t.x[1u] += mul(w, p.x[1u])\n"
           "  block t.v += v\n"
           "  block t.x[2u] += mul(p.x[2u], w)\n"
           "  block t.x[3u] += mul(v, p.x[0u])\n"
           "  block t.x[4u] += mul(v, p.x[1u])\n"
           "  block t.x[5u] += mul(v, p.x[2u])\n",
           "  block t.x[0u] += mul(p.x[0u], w) by loop 1 joint 1\n"
           "  block t.x[1u] += mul(p.x[1u], w) by loop 1 joint 1\n"
           "  block t.x[2u] += mul(p.x[2u], w) by loop 1 joint 1\n"
           "  block t.w += w by loop 0 joint 1\n"
           "  block t.x[3u] += mul(p.x[0u], v) by loop 1 joint 2\n"
           "  block t.x[4u] += mul(p.x[1u], v) by loop 1 joint 2\n"
           "  block t.x[5u] += mul(p.x[2u], v) by loop 1 joint 2\n"
           "  block t.v += v by loop 0 joint 2\n");
}

// The factor itself belongs to one group, and to none where something else adds to its sum.
Test(shared_factors, the_factor_itself_is_added_once)
{
    expect("  block t.x[0u] += mul(p.x[0u], w)\n"
           "  block t.x[1u] += mul(p.x[1u], w)\n"
           "  block t.x[2u] += mul(p.x[2u], w)\n"
           "  block t.x[3u] += mul(p.x[3u], w)\n"
           "  block t.w += w\n"
           "  block t.x[4u] += mul(p.x[0u], w)\n"
           "  block t.x[5u] += mul(p.x[1u], w)\n"
           "  block t.y[0u] += mul(p.x[2u], w)\n"
           "  block t.y[1u] += mul(p.x[0u], v)\n"
           "  block t.y[2u] += mul(p.x[1u], v)\n"
           "  block t.y[3u] += mul(p.x[2u], v)\n"
           "  block t.v += v\n",
           "  block t.x[0u] += mul(p.x[0u], w) by loop 1\n"
           "  block t.x[1u] += mul(p.x[1u], w) by loop 1\n"
           "  block t.x[2u] += mul(p.x[2u], w) by loop 1\n"
           "  block t.x[3u] += mul(p.x[3u], w) by loop 1\n"
           "  block t.w += w by loop 0\n"
           "  block t.x[4u] += mul(p.x[0u], w) by loop 1\n"
           "  block t.x[5u] += mul(p.x[1u], w) by loop 1\n"
           "  block t.y[0u] += mul(p.x[2u], w) by loop 1\n"
           "  block t.y[1u] += mul(p.x[0u], v) by loop 1\n"
           "  block t.y[2u] += mul(p.x[1u], v) by loop 1\n"
           "  block t.y[3u] += mul(p.x[2u], v) by loop 1\n"
           "  block t.v += v by loop 0\n");
    expect("  block t.x[0u] += mul(p.x[0u], w)\n"
           "  block t.x[1u] += mul(p.x[1u], w)\n"
           "  block t.x[2u] += mul(p.x[2u], w)\n"
           "  block t.x[3u] += mul(p.x[0u], v)\n"
           "  block t.x[4u] += mul(p.x[1u], v)\n"
           "  block t.x[5u] += mul(p.x[2u], v)\n"
           "  block t.w += w\n"
           "  block t.w += v\n",
           "  block t.x[0u] += mul(p.x[0u], w) by loop 1 joint 1\n"
           "  block t.x[1u] += mul(p.x[1u], w) by loop 1 joint 1\n"
           "  block t.x[2u] += mul(p.x[2u], w) by loop 1 joint 1\n"
           "  block t.x[3u] += mul(p.x[0u], v) by loop 1 joint 2\n"
           "  block t.x[4u] += mul(p.x[1u], v) by loop 1 joint 2\n"
           "  block t.x[5u] += mul(p.x[2u], v) by loop 1 joint 2\n"
           "  block t.w += w by loop 0\n"
           "  block t.w += v by loop 0\n");
}

Test(shared_factors, within_a_branch)
{
    expect("  if gt(k, 3f) {\n"
           "    block t.x[0u] += mul(p.x[0u], w)\n"
           "    block t.x[1u] += mul(p.x[1u], w)\n"
           "    block t.x[2u] += mul(p.x[2u], w)\n"
           "    block t.x[3u] += mul(p.x[0u], v)\n"
           "    block t.x[4u] += mul(p.x[1u], v)\n"
           "    block t.x[5u] += mul(p.x[2u], v)\n"
           "  }\n",
           "  if gt(k, 3f) {\n"
           "    block t.x[0u] += mul(p.x[0u], w) by loop 1 joint 1\n"
           "    block t.x[1u] += mul(p.x[1u], w) by loop 1 joint 1\n"
           "    block t.x[2u] += mul(p.x[2u], w) by loop 1 joint 1\n"
           "    block t.x[3u] += mul(p.x[0u], v) by loop 1 joint 2\n"
           "    block t.x[4u] += mul(p.x[1u], v) by loop 1 joint 2\n"
           "    block t.x[5u] += mul(p.x[2u], v) by loop 1 joint 2\n"
           "  }\n");
}

// A sum of an array's first element has no index where the text has a constant 0.
Test(shared_factors, an_element_without_an_index_is_the_first)
{
    expect("  block t.x += mul(p.x[0u], w)\n"
           "  block t.x[1u] += mul(p.x[1u], w)\n"
           "  block t.x[2u] += mul(p.x[2u], w)\n"
           "  block t.y += mul(p.x[0u], v)\n"
           "  block t.y[1u] += mul(p.x[1u], v)\n"
           "  block t.y[2u] += mul(p.x[2u], v)\n",
           "  block t.x += mul(p.x[0u], w) by loop 1 joint 1\n"
           "  block t.x[1u] += mul(p.x[1u], w) by loop 1 joint 1\n"
           "  block t.x[2u] += mul(p.x[2u], w) by loop 1 joint 1\n"
           "  block t.y += mul(p.x[0u], v) by loop 1 joint 2\n"
           "  block t.y[1u] += mul(p.x[1u], v) by loop 1 joint 2\n"
           "  block t.y[2u] += mul(p.x[2u], v) by loop 1 joint 2\n");
    static const char *const same_cell[] = {
        "  block t.x += mul(p.x[0u], w)\n  block t.x[0u] += mul(p.x[1u], w)\n  block t.x[2u] += mul(p.x[2u], w)\n",
        "  block t.x[1u] += mul(p.x[0u], w)\n  block t.x[0u] += mul(p.x[1u], w)\n  block t.x[2u] += mul(p.x[2u], w)\n  block t.x += v\n",
        "  block t.x += mul(p.x[0u], w)\n  block t.x[1u] += mul(p.x[1u], w)\n  block t.x[2u] += mul(p.x[2u], w)\n  block t.x[0u] += v\n",
    };
    for (size_t i = 0; i < sizeof same_cell / sizeof *same_cell; i++) expect_none(same_cell[i], true);
}

Test(shared_factors, a_family_has_each_factor_once)
{
    static const char body[] = "  block t.x[0u] += mul(p.x[0u], w)\n"
                               "  block t.x[1u] += mul(p.x[1u], w)\n"
                               "  block t.x[2u] += mul(p.x[2u], w)\n"
                               "  block t.x[3u] += mul(p.x[3u], w)\n"
                               "  block t.y[0u] += mul(p.x[0u], w)\n"
                               "  block t.y[1u] += mul(p.x[1u], w)\n"
                               "  block t.y[2u] += mul(p.x[2u], w)\n"
                               "  block t.y[3u] += mul(p.x[3u], w)\n";
    const char *got = shared(body, true);
    cr_expect_null(strstr(got, "joint"), "%s", got);
}

Test(shared_factors, families_first_then_what_is_left)
{
    expect("  block t.x[0u] += mul(p.x[0u], w)\n"
           "  block t.x[1u] += mul(p.x[1u], w)\n"
           "  block t.x[2u] += mul(p.x[2u], w)\n"
           "  block t.y[6u] += mul(p.x[3u], w)\n"
           "  block t.y[0u] += mul(p.x[1u], v)\n"
           "  block t.y[1u] += mul(p.x[2u], v)\n"
           "  block t.y[2u] += mul(p.x[3u], v)\n"
           "  block t.y[3u] += mul(p.x[0u], u)\n"
           "  block t.y[4u] += mul(p.x[1u], u)\n"
           "  block t.y[5u] += mul(p.x[2u], u)\n"
           "  block t.x[3u] += mul(p.x[4u], w)\n"
           "  block t.v += v\n"
           "  block t.x[4u] += mul(p.x[3u], u)\n",
           "  block t.x[0u] += mul(p.x[0u], w) by loop 1 joint 1\n"
           "  block t.x[1u] += mul(p.x[1u], w) by loop 1 joint 1\n"
           "  block t.x[2u] += mul(p.x[2u], w) by loop 1 joint 1\n"
           "  block t.y[6u] += mul(p.x[3u], w) by loop 1 joint 1\n"
           "  block t.y[3u] += mul(p.x[0u], u) by loop 1 joint 2\n"
           "  block t.y[4u] += mul(p.x[1u], u) by loop 1 joint 2\n"
           "  block t.y[5u] += mul(p.x[2u], u) by loop 1 joint 2\n"
           "  block t.x[4u] += mul(p.x[3u], u) by loop 1 joint 2\n"
           "  block t.y[0u] += mul(p.x[1u], v) by loop 1\n"
           "  block t.y[1u] += mul(p.x[2u], v) by loop 1\n"
           "  block t.y[2u] += mul(p.x[3u], v) by loop 1\n"
           "  block t.x[3u] += mul(p.x[4u], w) by loop 1\n"
           "  block t.v += v by loop 0\n");
}

Test(shared_factors, others_stay_by_themselves)
{
    expect_none("  block t.x[0u] += mul(p.x[0u], w)\n  block t.x[1u] += mul(p.x[1u], w)\n  block t.w += w\n", true);
    // A cell that two of them add to, or something else does; one that is not known.
    expect_none("  block t.x[0u] += mul(p.x[0u], w)\n  block t.x[1u] += mul(p.x[1u], w)\n  block t.x[1u] += mul(p.x[2u], w)\n", true);
    expect_none("  block t.x[0u] += mul(p.x[0u], w)\n  block t.x[1u] += mul(p.x[1u], w)\n  block t.x[2u] += mul(p.x[2u], w)\n  block t.x[2u] += v\n", true);
    expect_none("  block t.x[0u] += mul(p.x[0u], w)\n  block t.x[1u] += mul(p.x[1u], w)\n  block t.x[j] += mul(p.x[2u], w)\n", true);
    expect_none("  block t.x[0u] += mul(p.x[0u], w)\n  block t.x[1u] += mul(p.x[1u], w)\n  block t.x[2u] += mul(p.x[2u], w)\n  block t.x[j] += v\n", true);
    // A factor of the input, others that were worked out.
    expect_none("  block t.x[0u] += mul(p.x[0u], p.x[3u])\n  block t.x[1u] += mul(p.x[1u], p.x[3u])\n  block t.x[2u] += mul(p.x[2u], p.x[3u])\n", true);
    expect_none("  block t.x[0u] += mul(p.x[0u], w)\n  block t.x[1u] += mul(p.x[1u], w)\n  block t.x[2u] += mul(v, w)\n", true);
    // A factor that all records have; doubles; a device without doubles.
    expect_none("  block t.x[0u] += mul(p.x[0u], k)\n  block t.x[1u] += mul(p.x[1u], k)\n  block t.x[2u] += mul(p.x[2u], k)\n", true);
    expect_none("  block t.z[0u] += mul(p.z, d)\n  block t.z[1u] += mul(d, d)\n  block t.z[2u] += mul(p.z, d)\n", true);
    expect_none("  block t.x[0u] += mul(p.x[0u], w)\n  block t.x[1u] += mul(p.x[1u], w)\n  block t.x[2u] += mul(p.x[2u], w)\n", false);
}

// --- What the verifier refuses ---

static void refuse(const char *ways, const char *body, const char *why)
{
    ir_func *any = pass_read(head, "");
    const char *text = hdst__arena_printf(any->arena, "func f\n%s  sum loop 0 f32 by 16 %s (block f32 a) a\n"
        "  sum loop 1 f32 by 16 %s (input f32 a, block f32 b) mul(a, b)\n{\n%s}\n", head, ways, ways, body), *wrong;
    const ir_func *func = ir_text_read(any->arena, text, &wrong);
    cr_assert_not_null(func, "%s\n%s", wrong, text);
    wrong = hdst__ir_verify(func);
    cr_assert_not_null(wrong, "nothing is wrong with\n%s", text);
    cr_expect_not_null(strstr(wrong, why), "'%s', not '%s'", wrong, why);
}

Test(shared_factors, groups_are_what_they_say)
{
    static const char two[] = "  block t.x[0u] += mul(p.x[0u], w) by loop 1 joint 1\n  block t.x[1u] += mul(p.x[1u], w) by loop 1 joint 1\n";
    char body[1024];
    snprintf(body, sizeof body, "%s  block t.x[2u] += mul(p.x[2u], v) by loop 1 joint 1\n", two);
    refuse("one double", body, "share no factor");
    snprintf(body, sizeof body, "%s  block t.x[1u] += mul(p.x[2u], w) by loop 1 joint 1\n", two);
    refuse("one double", body, "share no factor");
    snprintf(body, sizeof body, "%s  block t.x[2u] += mul(p.x[2u], w) by loop 1 joint 1\n", two);
    refuse("one", body, "no sums in double");
    snprintf(body, sizeof body, "%s  block t.w += w by loop 0\n  block t.x[2u] += mul(p.x[2u], w) by loop 1 joint 1\n", two);
    refuse("one double", body, "share");
}
