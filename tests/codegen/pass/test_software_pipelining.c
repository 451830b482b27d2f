// SPDX-License-Identifier: Apache-2.0
// In which record loops a family of sums is added for the block before, on IR as text, and what the verifier refuses.
#include "tests/support/pass_case.h"

#include "codegen/pass/sum_loops.h"

#include <criterion/criterion.h>
#include <string.h>

TestSuite(software_pipelining, .init = pass_set_up, .fini = pass_tear_down);

static const char vars[] = "  input p p {f32 x[5], f64 z}\n"
                           "  broadcast c c {f32 m[4]}\n"
                           "  accum t t {f32 x[6], f32 y[7], f32 w, f32 v, f64 z[4]}\n"
                           "  place t registers: x tested blocks of floats, y tested blocks of floats, w tested blocks of floats, v tested blocks of floats, "
                           "z tested blocks of doubles\n"
                           "  tables\n"
                           "  var f32 w varying per record\n"
                           "  var f32 v varying per record\n"
                           "  var f32 u varying per record\n"
                           "  var f32 q varying per record\n"
                           "  var f32 d varying\n"
                           "  var bool near varying\n"
                           "  var f32 k\n"
                           "  var u32 n varying\n";

static const char before[] = "  block t.x[0u] += mul(p.x[0u], w)\n"
                             "  block t.x[1u] += mul(p.x[1u], w)\n"
                             "  block t.x[2u] += mul(p.x[2u], w)\n"
                             "  block t.x[3u] += mul(p.x[0u], v)\n"
                             "  block t.x[4u] += mul(p.x[1u], v)\n"
                             "  block t.x[5u] += mul(p.x[2u], v)\n"
                             "  block t.y[0u] += mul(p.x[0u], u)\n"
                             "  block t.y[1u] += mul(p.x[1u], u)\n"
                             "  block t.y[2u] += mul(p.x[2u], u)\n"
                             "  block t.y[3u] += mul(p.x[0u], q)\n"
                             "  block t.y[4u] += mul(p.x[1u], q)\n"
                             "  block t.y[5u] += mul(p.x[2u], q)\n";
static const char sums[] = "  block t.x[0u] += mul(p.x[0u], w) by loop 1 joint 1\n"
                           "  block t.x[1u] += mul(p.x[1u], w) by loop 1 joint 1\n"
                           "  block t.x[2u] += mul(p.x[2u], w) by loop 1 joint 1\n"
                           "  block t.x[3u] += mul(p.x[0u], v) by loop 1 joint 2\n"
                           "  block t.x[4u] += mul(p.x[1u], v) by loop 1 joint 2\n"
                           "  block t.x[5u] += mul(p.x[2u], v) by loop 1 joint 2\n"
                           "  block t.y[0u] += mul(p.x[0u], u) by loop 1 joint 3\n"
                           "  block t.y[1u] += mul(p.x[1u], u) by loop 1 joint 3\n"
                           "  block t.y[2u] += mul(p.x[2u], u) by loop 1 joint 3\n"
                           "  block t.y[3u] += mul(p.x[0u], q) by loop 1 joint 4\n"
                           "  block t.y[4u] += mul(p.x[1u], q) by loop 1 joint 4\n"
                           "  block t.y[5u] += mul(p.x[2u], q) by loop 1 joint 4\n";

static ir_func *pipelined(unsigned block, const char *body)
{
    ir_func *any = pass_read("", "");
    ir_func *func = pass_read(hdst__arena_printf(any->arena, "  block %u\n%s", block, vars), body);
    hdst__pass_sum_loops(func, true);
    hdst__pass_shared_factors(func);
    hdst__pass_software_pipelining(func);
    const char *wrong = hdst__ir_verify(func);
    cr_assert_null(wrong, "%s", wrong);
    const char *text = ir_text_of(func->arena, func);
    const ir_func *again = ir_text_read(func->arena, text, &wrong);
    cr_assert_not_null(again, "%s\n%s", wrong, text);
    cr_expect_str_eq(ir_text_of(func->arena, again), text);
    return func;
}

// `loop`: a record loop that makes w and v, and what stands between it and the sums.
static void expect(unsigned block, const char *loop, const char *behind, bool pipelines)
{
    ir_func *any = pass_read("", "");
    const char *got = pass_body(pipelined(block, hdst__arena_printf(any->arena, "%s%s%s", loop, before, behind)));
    cr_expect_eq(strstr(got, "16 by 2 beside joint 1 {") != NULL, pipelines, "%s", got);
    cr_expect_eq(strstr(got, "beside") != NULL, pipelines, "%s", got);
    cr_expect_not_null(strstr(got, sums), "%s", got);
}

// The two other factors.
#define REST "    u = mul(w, 2f)\n    q = neg(w)\n"

static void expect_of(const char *statements, bool pipelines)
{
    ir_func *any = pass_read("", "");
    expect(64, hdst__arena_printf(any->arena, "  records vectorize 16 by 2 {\n%s" REST "  }\n", statements), "", pipelines);
}

static const char quotients[] = "    w = div(1f, p.x[0u])\n    v = div(w, c.m[1u])\n";

Test(software_pipelining, arithmetic_of_floats_that_divides)
{
    expect_of(quotients, true);
    expect_of("    d = sub(p.x[0u], k)\n    near = and(lt(d, 1f), not(eq(d, w)))\n    w = div(k, d)\n    v = select(near, fma(w, d, neg(w)), abs(d))\n", false);
    expect_of("    d = sub(p.x[0u], k)\n    near = and(lt(d, 1f), not(eq(d, k)))\n    w = div(k, d)\n    v = select(near, fma(w, d, neg(w)), abs(d))\n", true);
}

Test(software_pipelining, not_what_waits_for_nothing)
{
    expect_of("    w = mul(2f, p.x[0u])\n    v = mul(w, c.m[1u])\n", false);
}

Test(software_pipelining, not_what_vectors_lack)
{
    expect_of("    w = div(1f, p.x[0u])\n    v = sqrt(w)\n", false);
    expect_of("    w = div(1f, p.x[0u])\n    v = min(w, 1f)\n", false);
    expect_of("    w = div(1f, p.x[0u])\n    v = f32(p.z)\n", false);
    expect_of("    n = u32(p.x[1u])\n    w = div(1f, p.x[0u])\n    v = f32(n)\n", false);
}

Test(software_pipelining, one_loop_makes_all_factors)
{
#define LOOP(...) "  records vectorize 16 by 2 {\n" __VA_ARGS__ "  }\n"
    const char *w = "    w = div(1f, p.x[0u])\n";
    ir_func *any = pass_read("", "");
    expect(64, hdst__arena_printf(any->arena, LOOP("%s" REST) LOOP("    v = div(1f, p.x[1u])\n"), w), "", false);
    expect(64, hdst__arena_printf(any->arena, LOOP("%s    v = 1f\n" REST) LOOP("    v = div(1f, p.x[1u])\n"), w), "", false);
    expect(64, hdst__arena_printf(any->arena, LOOP("    d = p.x[0u]\n") LOOP("%s    v = w\n" REST), w), "", true);
}

Test(software_pipelining, nobody_else_reads_a_factor)
{
    const char *loop = "  records vectorize 16 by 2 {\n    w = div(1f, p.x[0u])\n    v = div(w, c.m[1u])\n" REST "  }\n";
    expect(64, loop, "  block t.y[6u] += p.x[3u]\n", true);
    expect(64, loop, "  block t.y[6u] += add(v, k)\n", false);
    expect(64, loop, "  records vectorize 16 by 1 {\n    d = v\n  }\n", false);
}

Test(software_pipelining, not_in_vectors_of_another_width)
{
    expect(64, "  records vectorize 8 by 2 {\n    w = div(1f, p.x[0u])\n    v = w\n" REST "  }\n", "", false);
    expect(64, "  records {\n    w = div(1f, p.x[0u])\n    v = w\n" REST "  }\n", "", false);
}

// A vector for each group.
Test(software_pipelining, blocks_with_room)
{
    const char *loop = "  records vectorize 16 by 2 {\n    w = div(1f, p.x[0u])\n    v = div(w, c.m[1u])\n" REST "  }\n";
    expect(64, loop, "", true);
    expect(48, loop, "", false);
}

// A family of three groups, or two.
Test(software_pipelining, groups_enough)
{
    ir_func *any = pass_read("", "");
    const char *end = strstr(before, "  block t.y[3u]");
    const char *loop = "  records vectorize 16 by 2 {\n    w = div(1f, p.x[0u])\n    v = div(w, c.m[1u])\n" REST "  }\n";
    const char *got = pass_body(pipelined(64, hdst__arena_printf(any->arena, "%s%.*s", loop, (int)(end - before), before)));
    cr_expect_not_null(strstr(got, "joint 3"), "%s", got);
    cr_expect_null(strstr(got, "beside"), "%s", got);
}

Test(software_pipelining, says_so)
{
    ir_func *any = pass_read("", "");
    ir_func *func = pass_read(hdst__arena_printf(any->arena, "  block 64\n%s", vars),
        hdst__arena_printf(any->arena, "  records vectorize 16 by 2 {\n%s" REST "  }\n%s", quotients, before));
    func->form_why = "blocks";
    hdst__pass_sum_loops(func, true);
    hdst__pass_shared_factors(func);
    hdst__pass_software_pipelining(func);
    cr_expect_str_eq(func->form_why, "blocks; 12 sums in 4 groups that share a factor, added beside the records of the next block");
}

Test(software_pipelining, the_verifier_wants_a_family)
{
    ir_func *any = pass_read("", "");
    ir_func *func = pipelined(64, hdst__arena_printf(any->arena, "  records vectorize 16 by 2 {\n%s" REST "  }\n%s", quotients, before));
    cr_assert_eq(func->body.items[0]->joint, 1u);
    func->body.items[0]->joint = 5;
    cr_expect_not_null(hdst__ir_verify(func));
}
