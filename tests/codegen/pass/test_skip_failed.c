// SPDX-License-Identifier: Apache-2.0
// The pass skip on IR alone: the body runs once for its checks, then for the records that passed. What records do is compared in test_skip_failed_random.c.
#include "tests/support/pass_case.h"
#include "codegen/pass/passes.h"

#include <criterion/criterion.h>
#include <string.h>

TestSuite(pass_skip_ir, .init = pass_set_up, .fini = pass_tear_down);

static void skip(ir_func *func) { cr_expect_eq(hdst__pass_skip_failed(func), func->param_count - (func->params[func->param_count - 1].kind == IR_OUTPUT) - 1); }

static const pass_case adds = {skip, "  input p p {f32 x, u32 k}\n"
                                     "  accum uint64_t t[] {u64 value}\n"
                                     "  check 0 table index t\n"
                                     "  var u32 i\n",
                               .changes_bits = true};
static const pass_case gives = {skip, "  input p p {f32 x[4], u32 k}\n"
                                      "  output r r {f32 y}\n"
                                      "  check 0 index x\n",
                                .changes_bits = true};

Test(pass_skip_ir, once_for_the_checks_and_once_for_the_effects)
{
    PASS_GIVES(adds, "  check 0: lt(u64(p.k), length(t))\n  accum t[select(lt(u64(p.k), length(t)), p.k, 0u)].value += 1ul\n",
               "  ok = true\n  ok = and(ok, lt(u64(p.k), length(t)))\n"
               "  if ok {\n    accum t[select(lt(u64(p.k), length(t)), p.k, 0u)].value += 1ul\n  }\n"
               "  accum records_skipped.value += u64(not(ok))\n");
}

Test(pass_skip_ir, the_checks_have_variables_of_their_own)
{
    PASS_GIVES(adds, "  i = add(p.k, 1u)\n  check 0: lt(u64(i), length(t))\n  accum t[select(lt(u64(i), length(t)), i, 0u)].value += 1ul\n",
               "  ok = true\n  i_checked = add(p.k, 1u)\n  ok = and(ok, lt(u64(i_checked), length(t)))\n"
               "  if ok {\n    i = add(p.k, 1u)\n    accum t[select(lt(u64(i), length(t)), i, 0u)].value += 1ul\n  }\n"
               "  accum records_skipped.value += u64(not(ok))\n");
}

// A map that gave a record for each gives one for each that passed; the output moves behind the new accumulator.
Test(pass_skip_ir, a_map_emits_for_the_records_that_passed)
{
    ir_func *func = pass_after(&gives, "  check 0: lt(u64(p.k), 4ul)\n  store r.y = p.x[select(lt(u64(p.k), 4ul), p.k, 0u)]\n");
    const char *body = pass_body(func);
    cr_expect_not_null(strstr(body, "  if ok {\n    store r.y = p.x[select(lt(u64(p.k), 4ul), p.k, 0u)]\n    emit\n  }\n"), "%s", body);
    cr_expect(func->params[func->param_count - 1].kind == IR_OUTPUT && func->params[func->param_count - 2].kind == IR_ACCUM_TABLE);
}

// --- Reduces ---

static void skip_fold(ir_func *func)
{
    const char *why = NULL;
    const hdst__record *counted = hdst__skip_fold_record(func->arena, func->params[0].record, &why);
    cr_assert_not_null(counted, "%s", why);
    hdst__pass_skip_failed_fold(func, counted, false);
}

static const pass_case combines = {skip_fold, "  input n a {u32 n, f32 x[2]}\n"
                                              "  input n b {u32 n, f32 x[2]}\n"
                                              "  output n r {u32 n, f32 x[2]}\n"
                                              "  check 0 division\n",
                                   .changes_bits = true};

// What came so far stays when the second record fails, and knows how many it stands for.
Test(pass_skip_ir, a_reduce_leaves_out_the_second_record)
{
    PASS_GIVES(combines,
               "  check 0: ne(b.n, 0u)\n"
               "  store r.n = div(a.n, b.n)\n"
               "  store r.x[0u] = b.x[1u]\n",
               "  ok = true\n"
               "  ok = and(ok, ne(b.n, 0u))\n"
               "  if ok {\n"
               "    store r.n = div(a.n, b.n)\n"
               "    store r.x[0u] = b.x[1u]\n"
               "    store r.records_taken = add(a.records_taken, 1ul)\n"
               "  } else {\n"
               "    store r.n = a.n\n"
               "    for e = 0ul to 2ul {\n"
               "      store r.x[e] = a.x[e]\n"
               "    }\n"
               "    store r.records_taken = a.records_taken\n"
               "  }\n");
}
