// SPDX-License-Identifier: Apache-2.0
// The pass overwritten on IR alone.
#include "codegen/pass/passes.h"
#include "tests/support/pass_case.h"

#include <criterion/criterion.h>

TestSuite(pass_overwritten, .init = pass_set_up, .fini = pass_tear_down);

static const pass_case c = {hdst__pass_dead_stores, "  input p p {f32 x[4], u32 k, bool a}\n"
                                                    "  output r r {f32 y}\n"
                                                    "  var u32 e\n  var u32 j\n  var f32 s\n  var f32 d[4]\n"};

#define ZEROES "  for e = 0u to 4u {\n    d[e] = 0f\n  }\n"
#define FILL "  for j = 0u to 4u {\n    d[j] = p.x[j]\n    s = add(s, d[j])\n  }\n"
#define READ "  store r.y = add(s, d[and(p.k, 3u)])\n"

Test(pass_overwritten, zeroes_go_where_the_array_is_filled_before_it_is_read)
{
    PASS_GIVES(c, ZEROES "  s = 0f\n" FILL READ, "  s = 0f\n" FILL READ);
    PASS_GIVES(c, "  d[0u] = 0f\n  d[1u] = 0f\n  s = 0f\n" FILL READ, "  s = 0f\n" FILL READ);
    PASS_GIVES(c,
               "  s = 0f\n"
               "  for e = 0u to 2u {\n"
               "    for j = 0u to 4u {\n"
               "      d[j] = 0f\n"
               "    }\n"
               "    for j = 0u to 4u {\n"
               "      d[j] = p.x[j]\n"
               "    }\n"
               "  }\n" READ,
               "  s = 0f\n"
               "  for e = 0u to 2u {\n"
               "    for j = 0u to 4u {\n"
               "      d[j] = p.x[j]\n"
               "    }\n"
               "  }\n" READ);
}

Test(pass_overwritten, a_fill_that_is_itself_filled_over_goes_too)
{
    PASS_GIVES(c, "  s = 0f\n" ZEROES "  for j = 0u to 4u {\n    d[j] = 1f\n  }\n" FILL READ, "  s = 0f\n" FILL READ);
}

Test(pass_overwritten, zeroes_that_someone_may_see_stay)
{
    // Read before.
    PASS_LEAVES(c, ZEROES "  s = d[1u]\n" FILL READ);
    // Filled in part.
    PASS_LEAVES(c, ZEROES "  s = 0f\n"
                          "  for j = 0u to 3u {\n"
                          "    d[j] = p.x[j]\n"
                          "  }\n" READ);
    // For some records.
    PASS_LEAVES(c, ZEROES "  s = 0f\n"
                          "  for j = 0u to 4u {\n"
                          "    if p.a {\n"
                          "      d[j] = p.x[j]\n"
                          "    }\n"
                          "  }\n" READ);
    // Read in its turn.
    PASS_LEAVES(c, ZEROES "  s = 0f\n"
                          "  for j = 0u to 4u {\n"
                          "    s = add(s, d[j])\n"
                          "    d[j] = p.x[j]\n"
                          "  }\n" READ);
    // Of a later turn.
    PASS_LEAVES(c, ZEROES "  s = 0f\n"
                          "  for j = 0u to 4u {\n"
                          "    d[j] = p.x[j]\n"
                          "    s = add(s, d[3u])\n"
                          "  }\n" READ);
    PASS_LEAVES(c, ZEROES "  s = 0f\n  for j = 0u to 4u {\n    if lt(p.k, j) {\n      break\n    }\n    d[j] = p.x[j]\n  }\n" READ);               // left early
    PASS_LEAVES(c, "  s = 0f\n"
                   "  for e = 0u to 2u {\n"
                   "    for j = 0u to 4u {\n"
                   "      d[j] = 0f\n"
                   "    }\n"
                   "    if p.a {\n"
                   "      break\n"
                   "    }\n"
                   "    for j = 0u to 4u {\n"
                   "      d[j] = p.x[j]\n"
                   "    }\n"
                   "  }\n" READ);
}
