// SPDX-License-Identifier: Apache-2.0
// Loops that look up keys in batches, on IR alone: what becomes of them, and which stay as they are.
#include "codegen/pass/passes.h"
#include "tests/support/pass_case.h"

#include <criterion/criterion.h>

TestSuite(lookup_batches, .init = pass_set_up, .fini = pass_tear_down);

#define HEAD(table)                                                                                                    \
    "  input p p {f32 x, u32 n}\n"                                                                                     \
    "  " table " t t[] {f32 y}\n"                                                                                      \
    "  output r r {f32 y, u64 i}\n"                                                                                    \
    "  var u64 i\n  var u64 s\n  var f32 sum\n  var f32 v\n  var f32 few[4]\n"
static const pass_case c = {hdst__pass_lookup_batches, HEAD("hashed")};

// The next turn's number, and a row that depends on it and on the record.
#define NEXT "i = add(i, 1ul)\n"
#define FIND "s = rem(add(i, u64(p.n)), length(t))\n"
#define BATCH "    turns = 0ul\n    loop while true {\n      if ge(turns, 16ul) {\n        break\n      }\n      goes_on = false\n"
#define ASK "      prefetch t[s]\n      turns = add(turns, 1ul)\n      goes_on = true\n    }\n    for turn = 0ul to turns {\n"
#define END "    }\n    if not(goes_on) {\n      break\n    }\n  }\n"

Test(lookup_batches, rows_are_asked_for_before_the_first_is_read)
{
    PASS_GIVES(c,
               "  i = 0ul\n"
               "  loop while lt(i, 20ul) most 20ul {\n"
               "    " NEXT
               "    " FIND
               "    v = t[s].y\n"
               "    store r.y = v\n"
               "    store r.i = i\n"
               "    emit if gt(i, 8ul)\n"
               "  }\n",
               "  i = 0ul\n"
               "  loop while true {\n" BATCH
               "      if not(lt(i, 20ul)) {\n"
               "        break\n"
               "      }\n"
               "      " NEXT
               "      " FIND
               "      kept_i[turns] = i\n"
               "      kept_s[turns] = s\n" ASK
               "      later_i = kept_i[turn]\n"
               "      later_s = kept_s[turn]\n"
               "      v = t[later_s].y\n"
               "      store r.y = v\n"
               "      store r.i = later_i\n"
               "      emit if gt(later_i, 8ul)\n" END);
}

Test(lookup_batches, sums_of_the_second_part_are_added_in_order)
{
    PASS_GIVES(c,
               "  i = 0ul\n"
               "  sum = 0f\n"
               "  loop while true {\n"
               "    if ge(i, 33ul) {\n"
               "      break\n"
               "    }\n"
               "    " NEXT
               "    " FIND
               "    sum = add(sum, t[s].y)\n"
               "  }\n"
               "  store r.y = sum\n"
               "  store r.i = i\n"
               "  emit\n",
               "  i = 0ul\n"
               "  sum = 0f\n"
               "  loop while true {\n" BATCH
               "      if ge(i, 33ul) {\n"
               "        break\n"
               "      }\n"
               "      " NEXT
               "      " FIND
               "      kept_s[turns] = s\n" ASK
               "      later_s = kept_s[turn]\n"
               "      sum = add(sum, t[later_s].y)\n" END
               "  store r.y = sum\n"
               "  store r.i = i\n"
               "  emit\n");
}

// A turn that is left out takes no place in its batch, but makes its step.
Test(lookup_batches, turns_may_be_left_out)
{
    PASS_GIVES(c,
               "  i = 0ul\n"
               "  loop while lt(i, 40ul) {\n"
               "    if lt(rem(i, 4ul), 3ul) {\n"
               "      continue\n"
               "    }\n"
               "    " FIND
               "    store r.y = t[s].y\n"
               "    store r.i = s\n"
               "    emit\n"
               "  } step {\n"
               "    " NEXT
               "  }\n",
               "  i = 0ul\n"
               "  loop while true {\n"
               "    turns = 0ul\n"
               "    loop while true {\n"
               "      if ge(turns, 16ul) {\n        break\n      }\n"
               "      goes_on = false\n"
               "      if not(lt(i, 40ul)) {\n        break\n      }\n"
               "      if lt(rem(i, 4ul), 3ul) {\n        continue\n      }\n"
               "      " FIND
               "      kept_s[turns] = s\n"
               "      prefetch t[s]\n"
               "      turns = add(turns, 1ul)\n"
               "      goes_on = true\n"
               "    } step {\n"
               "      " NEXT
               "    }\n"
               "    for turn = 0ul to turns {\n"
               "      later_s = kept_s[turn]\n"
               "      store r.y = t[later_s].y\n"
               "      store r.i = later_s\n"
               "      emit\n" END);
}

#define LOOP(body) "  i = 0ul\n  sum = 0f\n  loop while lt(i, 20ul) {\n    " NEXT body "  }\n"
#define GIVE(value) "    store r.y = " value "\n    store r.i = i\n    emit if gt(i, 8ul)\n"

Test(lookup_batches, what_stays_as_it_is)
{
    static const pass_case dense = {hdst__pass_lookup_batches, HEAD("lookup")};
    PASS_LEAVES(dense, LOOP("    " FIND GIVE("t[s].y")));
    // The second part leaves the loop; the first emits.
    PASS_LEAVES(c, LOOP("    " FIND "    if lt(t[s].y, 0f) {\n      break\n    }\n" GIVE("p.x")));
    PASS_LEAVES(c, LOOP(GIVE("p.x") "    " FIND "    sum = t[s].y\n"));
    // The first waits for the second; what it reads in the next turn is set in the second.
    PASS_LEAVES(c, LOOP("    i = add(i, u64(lt(sum, 3f)))\n    " FIND "    sum = t[s].y\n" GIVE("sum")));
    PASS_LEAVES(c, LOOP("    " FIND GIVE("t[s].y") "    i = add(i, 1ul)\n"));
    // An array is handed on; no row is known where the body is cut.
    PASS_LEAVES(c, LOOP("    few[rem(i, 4ul)] = p.x\n    " FIND "    sum = t[s].y\n" GIVE("few[1u]")));
    PASS_LEAVES(c, LOOP("    if lt(p.x, 0f) {\n      " FIND "    }\n    sum = t[s].y\n"));
}
