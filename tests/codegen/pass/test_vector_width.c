// SPDX-License-Identifier: Apache-2.0
// The pass widths on IR alone: how many records make a vector of 64 bytes, by what a record loop mostly works on.
#include "codegen/pass/block_form.h"
#include "tests/support/pass_case.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

TestSuite(pass_widths, .init = pass_set_up, .fini = pass_tear_down);

static const char head[] = "  input p p {u8 b, i16 h, i32 n, i64 l, f32 x, f64 z, bool a}\n"
                           "  output r r {u8 b, i16 h, i32 n, i64 l, f32 x, f64 z}\n"
                           "  var f32 d varying per record\n  var f64 e varying per record\n  var i64 q varying\n  var bool any\n  var u32 j\n";

// The loop as it is written in `body`, which has one; what is found behind "records vectorize ".
static void expect_width(const char *block, const char *body, const char *width)
{
    char declarations[1024];
    snprintf(declarations, sizeof declarations, "  block %s\n%s", block, head);
    const pass_case c = {hdst__pass_vector_width, .runs_in_block = true, .head = declarations};
    const char *found = strstr(pass_body(pass_after(&c, body)), "records vectorize ");
    cr_assert_not_null(found);
    found += strlen("records vectorize ");
    cr_expect(!strncmp(found, width, strlen(width)), "%s expected, found\n%s", width, found);
}

#define RECORDS(body) "  records vectorize {\n" body "  }\n"

Test(pass_widths, as_many_records_as_fill_64_bytes)
{
    expect_width("128", RECORDS("    store r.x = mul(p.x, 2f)\n"), "16 by 1 {");
    expect_width("128", RECORDS("    store r.n = add(p.n, 1)\n"), "16 by 1 {");
    expect_width("128", RECORDS("    store r.z = mul(p.z, 2d)\n"), "8 by 1 {");
    expect_width("128", RECORDS("    store r.l = add(p.l, 1l)\n"), "8 by 1 {");
    expect_width("128", RECORDS("    store r.h = i16(add(i32(p.h), 1))\n"), "32 by 1 {");       // C's promotion makes 32-bit arithmetic, which compilers narrow
    expect_width("128", RECORDS("    store r.b = u8(add(i32(p.b), 1))\n"), "64 by 1 {");
}

Test(pass_widths, what_it_mostly_works_on)
{
    expect_width("128", RECORDS("    store r.x = add(p.x, f32(p.b))\n"), "16 by 1 {");
    expect_width("128", RECORDS("    store r.z = mul(f64(p.x), p.z)\n    store r.x = p.x\n"), "8 by 1 {");
    expect_width("128", RECORDS("    store r.x = f32(p.z)\n"), "8 by 1 {");                     // doubles are worked on
    expect_width("128", RECORDS("    store r.n = i32(p.l)\n    store r.x = p.x\n"), "16 by 1 {");
}

Test(pass_widths, no_vector_is_longer_than_a_block)
{
    expect_width("32", RECORDS("    store r.b = u8(add(i32(p.b), 1))\n"), "32 by 1 {");
}

// The chains of dependences of one vector would leave the processor idle.
Test(pass_widths, small_bodies_in_loops_go_four_vectors_at_a_time)
{
    expect_width("128", "  for j = 0u to 9u {\n    records vectorize {\n      store r.x = mul(p.x, 2f)\n    }\n  }\n", "16 by 4 {");
    // No more than a block has.
    expect_width("32",
                 "  for j = 0u to 9u {\n"
                 "    records vectorize {\n"
                 "      store r.x = mul(p.x, 2f)\n"
                 "    }\n"
                 "  }\n",
                 "16 by 2 {");
    expect_width("64",
                 "  any = false\n"
                 "  loop while lt(j, 3u) {\n"
                 "    records vectorize {\n"
                 "      reduce any |= p.a\n"
                 "    }\n"
                 "    j = add(j, 1u)\n"
                 "  }\n",
                 "16 by 4 {");
}

// A record loop of `statements` statements of four nodes each, in a loop or not.
static const char *long_body(char *text, size_t size, unsigned statements, bool in_loop)
{
    int at = snprintf(text, size, "%s  records vectorize {\n", in_loop ? "  for j = 0u to 9u {\n" : "");
    for (unsigned i = 0; i < statements; i++) at += snprintf(text + at, size - (size_t)at, "    store r.x = fma(p.x, 2f, p.x)\n");
    snprintf(text + at, size - (size_t)at, "  }\n%s", in_loop ? "  }\n" : "");
    return text;
}

// Two vectors share the constants that are loaded.
Test(pass_widths, long_bodies_outside_of_loops_go_two_vectors_at_a_time)
{
    static char text[16384];
    expect_width("128", long_body(text, sizeof text, 79, false), "16 by 1 {");
    expect_width("128", long_body(text, sizeof text, 80, false), "16 by 2 {");
    expect_width("16", long_body(text, sizeof text, 80, false), "16 by 1 {");       // no more than a block has
    expect_width("128", long_body(text, sizeof text, 256, false), "16 by 2 {");
    expect_width("128", long_body(text, sizeof text, 257, false), "16 by 1 {");     // takes long to compile
    expect_width("128", long_body(text, sizeof text, 80, true), "16 by 1 {");
}

// One number for all records takes no room in a vector.
Test(pass_widths, what_is_the_same_for_all_records_does_not_count)
{
    expect_width("128", RECORDS("    store r.b = add(p.b, u8(j))\n"), "64 by 1 {");
}

// --- Rows: loops over the elements of an array ---

// How the loop from `from` to `to` over elements of a record's type is marked.
static const char *loop_mark(const char *bounds, const char *body)
{
    static char text[512];
    snprintf(text, sizeof text, "  for j = %s vectorize {\n    %s\n  }\n", bounds, body);
    const pass_case c = {hdst__pass_vector_width,
                         .head = "  rows\n  input p p {f32 x[1000], f64 z[1000], i16 h[1000]}\n"
                                 "  output r r {f32 x[1000], f64 z[1000], i16 h[1000]}\n  var u32 j\n  var u32 k\n"};
    const char *found = strstr(pass_body(pass_after(&c, text)), "vectorize");
    cr_assert_not_null(found);
    return found;
}

#define EXPECT_MARK(bounds, body, mark) \
    do { \
        const char *found_ = loop_mark(bounds, body); \
        cr_expect(!strncmp(found_, mark, strlen(mark)), "%s expected for %s, found\n%s", mark, bounds, found_); \
    } while (0)

Test(pass_widths, the_turns_that_fill_no_vector_are_one_with_lanes_off)
{
    static const char floats[] = "store r.x[j] = mul(p.x[j], 2f)", doubles[] = "store r.z[j] = mul(p.z[j], 2d)", halves[] = "store r.h[j] = p.h[j]";
    EXPECT_MARK("0u to 30u", floats, "vectorize masked {");
    EXPECT_MARK("0u to 14u", floats, "vectorize masked {");
    EXPECT_MARK("2u to 18u", floats, "vectorize {");                // what counts is how many there are
    EXPECT_MARK("0u to 32u", floats, "vectorize {");
    EXPECT_MARK("0u to 12u", doubles, "vectorize masked {");        // of doubles eight fill a vector
    EXPECT_MARK("0u to 24u", doubles, "vectorize {");
    EXPECT_MARK("0u to 40u", halves, "vectorize masked {");
    EXPECT_MARK("0u to 127u", floats, "vectorize masked {");
    EXPECT_MARK("0u to 129u", floats, "vectorize {");               // of many vectors each would pay for the mask
    EXPECT_MARK("0u to k", floats, "vectorize {");                  // nobody knows whether something is left
}
