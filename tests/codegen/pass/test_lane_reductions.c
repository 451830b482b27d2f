// SPDX-License-Identifier: Apache-2.0
// The pass lanes on IR alone.
#include "codegen/pass/row_form.h"
#include "tests/support/pass_case.h"
#include "codegen/pass/passes.h"

#include <criterion/criterion.h>

TestSuite(pass_lanes, .init = pass_set_up, .fini = pass_tear_down);

static const char head[] = "  input p p {f32 x[40]}\n"
                           "  output r r {f32 y}\n"
                           "  var u32 lane\n  var u32 i\n  var f32 sum\n  var f32 e\n  var f32 lanes[16]\n";
static const pass_case c = {hdst__pass_lane_reductions, head};

#define IN_TURN(elements)                                                                                              \
    "  for lane = 0u to 16u {\n"                                                                                       \
    "    sum = 0f\n"                                                                                                   \
    "    for i = lane to " elements " step 16 {\n"                                                                     \
    "      e = mul(p.x[i], 2f)\n"                                                                                      \
    "      sum = add(sum, e)\n"                                                                                        \
    "    }\n"                                                                                                          \
    "    lanes[lane] = sum\n"                                                                                          \
    "  }\n"

Test(pass_lanes, elements_outside_lanes_inside)
{
    PASS_GIVES(c, IN_TURN("32u") "  store r.y = lanes[3u]\n",
               "  for lane = 0u to 16u {\n"
               "    lanes[lane] = 0f\n"
               "  }\n"
               "  for first = 0u to 32u step 16 {\n"
               "    for lane = 0u to 16u {\n"
               "      e_2 = mul(p.x[add(first, lane)], 2f)\n"
               "      lanes[lane] = add(lanes[lane], e_2)\n"
               "    }\n"
               "  }\n"
               "  store r.y = lanes[3u]\n");
}

Test(pass_lanes, what_is_left_has_a_loop_of_its_own)
{
    const char *after = pass_body(pass_after(&c, IN_TURN("39u") "  store r.y = lanes[3u]\n"));
    cr_expect_not_null(strstr(after, "for first = 0u to 32u step 16"), "%s", after);
    cr_expect_not_null(strstr(after, "for lane = 0u to 7u {"), "%s", after);
    cr_expect_not_null(strstr(after, "p.x[add(32u, lane)]"), "%s", after);
}

Test(pass_lanes, other_nests_stay)
{
    PASS_LEAVES(c, IN_TURN("32u") "  store r.y = sum\n");               // the last lane's sum is read
    PASS_LEAVES(c, IN_TURN("32u") "  store r.y = f32(i)\n");            // where the loop ended is read
    PASS_LEAVES(c, "  for lane = 0u to 15u {\n"
                   "    sum = 0f\n"
                   "    for i = lane to 32u step 16 {\n"
                   "      sum = add(sum, p.x[i])\n"
                   "    }\n"
                   "    lanes[lane] = sum\n"
                   "  }\n");
    PASS_LEAVES(c, "  for lane = 0u to 16u {\n"
                   "    sum = 0f\n"
                   "    for i = lane to 32u step 16 {\n"
                   "      sum = add(sum, mul(lanes[0u], p.x[i]))\n"
                   "    }\n"
                   "    lanes[lane] = sum\n"
                   "  }\n");
    // e is carried.
    PASS_LEAVES(c, "  for lane = 0u to 16u {\n"
                   "    sum = 0f\n"
                   "    for i = lane to 32u step 16 {\n"
                   "      e = add(e, p.x[i])\n"
                   "      sum = add(sum, e)\n"
                   "    }\n"
                   "    lanes[lane] = sum\n"
                   "  }\n");
}
