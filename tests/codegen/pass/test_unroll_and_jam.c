// SPDX-License-Identifier: Apache-2.0
// The pass jam on IR alone: a uniform loop around one vectorised record loop takes four turns at a time.
#include "codegen/pass/block_form.h"
#include "tests/support/pass_case.h"
#include "codegen/pass/passes.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

TestSuite(pass_jam, .init = pass_set_up, .fini = pass_tear_down);

static const pass_case c = {hdst__pass_unroll_and_jam, .runs_in_block = true,
                            .head = "  block 64\n"
                                    "  input p p {f32 x}\n"
                                    "  broadcast c c[] {f32 y, i32 n}\n"
                                    "  output r r {f32 y}\n"
                                    "  var f32 d varying per record\n  var f32 e varying\n  var u32 j\n  var i32 i\n  var u8 b\n  var f32 k\n"};

#define AROUND(loop) "  records vectorize {\n    d = 0f\n  }\n" loop "  records vectorize {\n    store r.y = d\n  }\n"

Test(pass_jam, four_turns_then_the_rest)
{
    PASS_GIVES(c, AROUND("  for j = 0u to u32(length(c)) {\n    records vectorize {\n      e = sub(p.x, c[j].y)\n      d = fma(e, e, d)\n    }\n  }\n"),
               AROUND("  j_end = u32(length(c))\n  j_whole = mul(div(j_end, 4u), 4u)\n"
                      "  for j = 0u to j_whole step 4 jammed 4 {\n    records vectorize {\n"
                      "      e = sub(p.x, c[j].y)\n      d = fma(e, e, d)\n"
                      "      e = sub(p.x, c[add(j, 1u)].y)\n      d = fma(e, e, d)\n"
                      "      e = sub(p.x, c[add(j, 2u)].y)\n      d = fma(e, e, d)\n"
                      "      e = sub(p.x, c[add(j, 3u)].y)\n      d = fma(e, e, d)\n    }\n  }\n"
                      "  for j = j_whole to j_end {\n    records vectorize {\n      e = sub(p.x, c[j].y)\n      d = fma(e, e, d)\n    }\n  }\n"));
}

// Whole groups from any beginning, with steps, of signed and small counters, when there is no turn at all: the interpreter says whether all turns are made.
Test(pass_jam, any_bounds)
{
    static const char *const loops[] = {"for i = -3 to 4",
                                        "for i = 5 to c[1u].n",
                                        "for i = c[0u].n to c[1u].n",
                                        "for i = -7 to 22 step 3",
                                        "for i = 2147483600 to 2147483647",
                                        "for i = -2147483647 to -2147483630",
                                        "for b = 250u8 to 255u8",
                                        "for b = 0u8 to 255u8",
                                        "for b = 1u8 to 190u8 step 63",
                                        "for j = 7u to 3u"};
    for (size_t l = 0; l < sizeof loops / sizeof *loops; l++) {
        char text[512];
        const char counter[2] = {loops[l][4], 0};
        snprintf(text, sizeof text,
                 "  records vectorize {\n"
                 "    d = 0f\n"
                 "  }\n"
                 "  %s {\n"
                 "    records vectorize {\n"
                 "      d = add(mul(d, 3f), f32(%s))\n"
                 "    }\n"
                 "  }\n"
                 "  records vectorize {\n"
                 "    store r.y = d\n"
                 "  }\n",
                 loops[l], counter);
        const char *after = pass_body(pass_after(&c, text));
        cr_expect_not_null(strstr(after, " jammed 4 {"), "%s", after);
    }
}

Test(pass_jam, other_loops_stay)
{
    // Not vectorised.
    PASS_LEAVES(c, AROUND("  for j = 0u to u32(length(c)) {\n"
                          "    records {\n"
                          "      d = add(d, c[j].y)\n"
                          "    }\n"
                          "  }\n"));
    // More than one statement.
    PASS_LEAVES(c, AROUND("  for j = 0u to u32(length(c)) {\n"
                          "    k = c[j].y\n"
                          "    records vectorize {\n"
                          "      d = add(d, k)\n"
                          "    }\n"
                          "  }\n"));
    // Jammed already.
    PASS_LEAVES(c, AROUND("  for j = 0u to 8u step 4 jammed 4 {\n"
                          "    records vectorize {\n"
                          "      d = add(d, c[0u].y)\n"
                          "    }\n"
                          "  }\n"));
    // Four steps would overflow.
    PASS_LEAVES(c, AROUND("  for j = 0u to 3u step 2147483647 {\n"
                          "    records vectorize {\n"
                          "      d = add(d, c[0u].y)\n"
                          "    }\n"
                          "  }\n"));
    // No small number.
    PASS_LEAVES(c, AROUND("  for b = 0u8 to 190u8 step 64 {\n"
                          "    records vectorize {\n"
                          "      d = add(d, f32(b))\n"
                          "    }\n"
                          "  }\n"));
}
