// SPDX-License-Identifier: Apache-2.0
// The loops by which sums of the whole dataset take the addends of a block, on IR as text: what shares one, how each may
// add, what the verifier refuses.
#include "tests/support/pass_case.h"

#include "codegen/pass/sum_loops.h"

#include <criterion/criterion.h>
#include <string.h>

TestSuite(sum_loops, .init = pass_set_up, .fini = pass_tear_down);

static const char head[] = "  block 64\n"
                           "  input p p {f32 x[2], f64 z, i16 n}\n"
                           "  broadcast float m {f32 value}\n"
                           "  accum t t {f32 x, f64 z}\n"
                           "  place t registers: x tested blocks of floats, z tested blocks of doubles\n"
                           "  tables\n"
                           "  var f32 w varying per record\n"
                           "  var f32 k\n"
                           "  var u32 j\n"
                           "  var f64 rows[4] varying per record\n";

static ir_func *made(const char *before, const char *body, bool has_double)
{
    ir_func *func = pass_read(before, body);
    hdst__pass_sum_loops(func, has_double);
    const char *wrong = hdst__ir_verify(func);
    cr_assert_null(wrong, "%s", wrong);
    return func;
}

static const char *loops_of(const ir_func *func)
{
    const char *text = strstr(pass_head(func), "  sum loop ");
    return text ? text : "";
}

// The loops, the statements, and the text says all of it: it is read back.
static void expect(const ir_func *func, const char *loops, const char *body)
{
    const char *text = ir_text_of(func->arena, func), *wrong;
    cr_expect_str_eq(loops_of(func), loops, "expected\n%sfound\n%s", loops, loops_of(func));
    cr_expect_str_eq(pass_body(func), body, "expected\n%sfound\n%s", body, pass_body(func));
    const ir_func *again = ir_text_read(func->arena, text, &wrong);
    cr_assert_not_null(again, "%s\n%s", wrong, text);
    cr_expect_str_eq(ir_text_of(func->arena, again), text);
    cr_expect_null(hdst__ir_verify(again));
}

Test(sum_loops, addends_made_alike_share_one)
{
    expect(made(head,
                "  block t.x += mul(w, p.x[0u])\n"
                "  block t.x += mul(p.x[1u], w)\n"
                "  block t.x += mul(w, w)\n"
                "  block t.x += w\n"
                "  block t.x += p.x[1u]\n"
                "  block t.x += p.x[0u]\n", true),
           "  sum loop 0 f32 by 16 one two three double (block f32 a) a\n"
           "  sum loop 1 f32 by 16 one two three double (input f32 a, block f32 b) mul(a, b)\n"
           "  sum loop 2 f32 by 16 one two three double (block f32 a) mul(a, a)\n"
           "  sum loop 3 f32 by 16 one two three double (input f32 a) a\n",
           "  block t.x += mul(p.x[0u], w) by loop 1\n"
           "  block t.x += mul(p.x[1u], w) by loop 1\n"
           "  block t.x += mul(w, w) by loop 2\n"
           "  block t.x += w by loop 0\n"
           "  block t.x += p.x[1u] by loop 3\n"
           "  block t.x += p.x[0u] by loop 3\n");
}

// The first loop of a kind takes what was put side by side. What all records share is one number.
Test(sum_loops, doubles_have_loops_of_their_own)
{
    expect(made(head,
                "  block t.z += fma(p.z, f64(p.x[0u]), rows[2u])\n"
                "  block t.z += rows[j]\n"
                "  block t.x += mul(sub(p.x[0u], m.value), f32(p.n))\n"
                "  block t.x += mul(sub(p.x[1u], k), f32(p.n))\n"
                "  block t.x += mul(sub(p.x[1u], 2f), f32(p.n))\n", true),
           "  sum loop 0 f64 by 8 bits one two three (block f64 a) a\n"
           "  sum loop 1 f64 by 8 bits one two three (input f64 a, input f32 b, block f64 c) fma(a, f64(b), c)\n"
           "  sum loop 2 f32 by 16 one two three double (block f32 a) a\n"
           "  sum loop 3 f32 by 16 one two three double (input f32 a, f32 b, input i16 c) mul(sub(a, b), f32(c))\n"
           "  sum loop 4 f32 by 16 one two three double (input f32 a, input i16 b) mul(sub(a, 2f), f32(b))\n",
           "  block t.z += fma(p.z, f64(p.x[0u]), rows[2u]) by loop 1\n"
           "  block t.z += rows[j] by loop 0\n"
           "  block t.x += mul(sub(p.x[0u], m.value), f32(p.n)) by loop 3\n"
           "  block t.x += mul(sub(p.x[1u], k), f32(p.n)) by loop 3\n"
           "  block t.x += mul(sub(p.x[1u], 2f), f32(p.n)) by loop 4\n");
}

Test(sum_loops, devices_without_doubles_keep_floats_in_levels)
{
    expect(made(head, "  block t.x += p.x[0u]\n", false),
           "  sum loop 0 f32 by 16 one two three (block f32 a) a\n  sum loop 1 f32 by 16 one two three (input f32 a) a\n",
           "  block t.x += p.x[0u] by loop 1\n");
}

// Fast sums: nothing is added again, so there is no other loop.
Test(sum_loops, fast_sums_are_rounded)
{
    const char *fast = hdst__arena_printf(pass_read(head, "")->arena, "%.*splace t registers: x tested blocks of floats fast, z tested%s",
        (int)(strstr(head, "place") - head), head, strstr(head, " blocks of doubles"));
    expect(made(fast, "  block t.x += p.x[0u]\n", true), "  sum loop 0 f32 by 16 rounded (input f32 a) a\n", "  block t.x += p.x[0u] by loop 0\n");
}

// --- What the verifier refuses ---

static void refuse(const char *loops, const char *body, const char *why)
{
    ir_func *any = pass_read(head, "");
    const char *text = hdst__arena_printf(any->arena, "func f\n%s%s{\n%s}\n", head, loops, body), *wrong;
    const ir_func *func = ir_text_read(any->arena, text, &wrong);
    cr_assert_not_null(func, "%s\n%s", wrong, text);
    wrong = hdst__ir_verify(func);
    cr_assert_not_null(wrong, "nothing is wrong with\n%s", text);
    cr_expect_not_null(strstr(wrong, why), "'%s', not '%s'", wrong, why);
}

Test(sum_loops, loops_are_what_the_sums_say)
{
    refuse("  sum loop 0 f32 by 16 one (input f32 a) a\n", "  block t.x += w by loop 0\n", "adds something else");
    refuse("  sum loop 0 f32 by 16 one (block f32 a) mul(a, a)\n", "  block t.x += w by loop 0\n", "adds something else");
    refuse("  sum loop 0 f32 by 16 one (block f32 a, block f32 b) mul(a, b)\n", "  block t.x += mul(w, w) by loop 0\n", "adds something else");
    refuse("  sum loop 0 f32 by 16 one (block f32 a) a\n", "  block t.x += w by loop 1\n", "no such loop");
    refuse("  sum loop 0 f32 by 24 one (block f32 a) a\n", "", "vectors do not make a block");
    refuse("  sum loop 0 f32 by 16 (block f32 a) a\n", "", "no such way");
    refuse("  sum loop 0 f32 by 16 bits (block f32 a) a\n", "", "numbers of another size");
    refuse("  sum loop 0 f64 by 8 double (block f64 a) a\n", "", "numbers of another size");
    refuse("  sum loop 0 u32 by 16 one (block u32 a) a\n", "", "no floats");
    refuse("", "  block t.x += sqrt(w)\n", "no loop over the block takes");
    refuse("", "  block t.x += p.x[j]\n", "no loop over the block takes");
}
