// SPDX-License-Identifier: Apache-2.0
// The pass hoist on IR alone, in block form.
#include "codegen/pass/block_form.h"
#include "tests/support/pass_case.h"

#include <criterion/criterion.h>

TestSuite(pass_hoist, .init = pass_set_up, .fini = pass_tear_down);

static const char head[] = "  block 64\n"
                           "  input p p {f32 x, u32 n}\n"
                           "  broadcast row c[] {f32 y, f32 from.z}\n"
                           "  broadcast float w {f32 value}\n"
                           "  accum double t {f64 value}\n"
                           "  output r r {f32 x}\n"
                           "  var u32 j\n  var f32 d varying\n  var f32 s per record\n  var f32 k\n  var i64 q varying\n  var i64 sum\n";
static const pass_case c = {hdst__pass_loop_invariants, head};

Test(pass_hoist, loads_from_broadcasts_come_before_the_record_loop)
{
    PASS_GIVES(c, "  for j = 0u to u32(length(c)) {\n    records vectorize {\n      d = sub(p.x, c[j].y)\n    }\n  }\n",
               "  for j = 0u to u32(length(c)) {\n    c_y_j = c[j].y\n    records vectorize {\n      d = sub(p.x, c_y_j)\n    }\n  }\n");
    PASS_GIVES(c, "  records vectorize {\n    d = mul(p.x, w.value)\n    s = add(d, c[1u].from.z)\n  }\n",
               "  w = w.value\n  c_from_z_1 = c[1u].from.z\n  records vectorize {\n    d = mul(p.x, w)\n    s = add(d, c_from_z_1)\n  }\n");
}

Test(pass_hoist, the_largest_tree_once)
{
    PASS_GIVES(c, "  records vectorize {\n    d = add(p.x, mul(k, 2f))\n    s = add(d, mul(k, 2f))\n  }\n",
               "  u = mul(k, 2f)\n  records vectorize {\n    d = add(p.x, u)\n    s = add(d, u)\n  }\n");
    PASS_GIVES(c, "  records {\n    d = select(lt(p.n, u32(length(c))), c[add(j, 2u)].y, 0f)\n  }\n",
               "  u = u32(length(c))\n  c_y_j2 = c[add(j, 2u)].y\n  records {\n    d = select(lt(p.n, u), c_y_j2, 0f)\n  }\n");
    PASS_LEAVES(c, "  records {\n    d = select(lt(u64(p.n), length(c)), p.x, 0f)\n  }\n");      // a length has a name already
}

Test(pass_hoist, out_of_branches_inside_as_expressions_are_total)
{
    PASS_GIVES(c,
               "  records {\n"
               "    if lt(p.x, 0f) {\n"
               "      s = add(k, 1f)\n"
               "    }\n"
               "  }\n",
               "  u = add(k, 1f)\n"
               "  records {\n"
               "    if lt(p.x, 0f) {\n"
               "      s = u\n"
               "    }\n"
               "  }\n");
}

Test(pass_hoist, what_differs_constants_and_variables_stay)
{
    PASS_LEAVES(c, "  records vectorize {\n    d = add(p.x, k)\n    s = c[p.n].y\n  }\n");
    PASS_LEAVES(c, "  records vectorize {\n    d = f32(record_index())\n    s = mul(s, d)\n  }\n");
    PASS_LEAVES(c, "  records vectorize {\n    q = fixed(t.value, f64(p.x))\n    reduce sum += q\n  }\n");
    PASS_LEAVES(c, "  k = add(c[0u].y, 1f)\n");         // outside already
}

// The loop over a row counts within the record loop: before it, its variable holds nothing yet.
Test(pass_hoist, what_reads_the_counter_of_a_loop_over_a_row_stays)
{
    static const pass_case rows = {hdst__pass_loop_invariants,
                                   "  block 64\n  rows\n  input p p {f32 x}\n  broadcast row c[] {f32 y[9]}\n  output r r {f32 x[18]}\n"
                                   "  var u32 i\n  var f32 k\n  check 0 index y\n",
                                   .runs_in_block = true};
    PASS_LEAVES(rows, "  records {\n    for i = 0u to 18u vectorize {\n      store r.x[i] = 0f\n    }\n    for i = 0u to 9u vectorize {\n"
                      "      store r.x[add(9u, i)] = c[0u].y[i]\n    }\n  }\n");
    PASS_GIVES(rows, "  records {\n    for i = 0u to 18u vectorize {\n      store r.x[i] = add(f32(i), add(c[0u].y[1u], p.x))\n    }\n  }\n",
               "  c_y1_0 = c[0u].y[1u]\n  records {\n    for i = 0u to 18u vectorize {\n      store r.x[i] = add(f32(i), add(c_y1_0, p.x))\n    }\n  }\n");
    // After the record loop the variable is free to count around others.
    PASS_GIVES(rows, "  records {\n    for i = 0u to 18u vectorize {\n      store r.x[i] = add(f32(i), 1f)\n    }\n  }\n"
                     "  for i = 0u to 9u {\n    records vectorize {\n      store r.x[add(i, 1u)] = p.x\n    }\n  }\n",
               "  records {\n    for i = 0u to 18u vectorize {\n      store r.x[i] = add(f32(i), 1f)\n    }\n  }\n"
               "  for i = 0u to 9u {\n    i1 = add(i, 1u)\n    records vectorize {\n      store r.x[i1] = p.x\n    }\n  }\n");
}
