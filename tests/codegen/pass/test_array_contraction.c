// SPDX-License-Identifier: Apache-2.0
// The pass contract on IR alone.
#include "codegen/pass/passes.h"
#include "tests/support/pass_case.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

TestSuite(pass_contract, .init = pass_set_up, .fini = pass_tear_down);

static const char head[] = "  input p p {f32 x[4], f32 y}\n"
                           "  output r r {f32 y}\n"
                           "  var u32 i\n  var u32 k\n  var f32 d\n  var f32 s\n  var f32 e[4]\n  var f32 g[4]\n";
static const pass_case c = {hdst__pass_array_contraction, head};

#define FILL "  for i = 0u to 4u {\n    d = mul(p.x[i], p.y)\n    e[i] = sub(d, 1f)\n  }\n"

Test(pass_contract, reads_become_the_elements_expression)
{
    PASS_GIVES(c, FILL "  for k = 0u to 4u {\n    s = fma(e[k], e[k], s)\n  }\n  store r.y = s\n",
               "  for i = 0u to 4u {\n    d = mul(p.x[i], p.y)\n  }\n"
               "  for k = 0u to 4u {\n    e_2 = sub(mul(p.x[k], p.y), 1f)\n    s = fma(e_2, e_2, s)\n  }\n  store r.y = s\n");
}

Test(pass_contract, what_was_in_the_array_before_goes)
{
    PASS_GIVES(c,
               "  for k = 0u to 4u {\n"
               "    e[k] = 0f\n"
               "  }\n"
               "  for i = 0u to 4u {\n"
               "    e[i] = p.x[i]\n"
               "  }\n"
               "  store r.y = e[2u]\n",
               "  e_2 = p.x[2u]\n"
               "  store r.y = e_2\n");
}

Test(pass_contract, what_is_filled_from_an_array)
{
    PASS_GIVES(c,
               "  for i = 0u to 4u {\n"
               "    e[i] = mul(p.x[i], p.y)\n"
               "  }\n"
               "  for k = 0u to 4u {\n"
               "    g[k] = add(e[k], 1f)\n"
               "  }\n"
               "  store r.y = add(g[1u], g[2u])\n",
               "  for k = 0u to 4u {\n"
               "    e_2 = mul(p.x[k], p.y)\n"
               "  }\n"
               "  g_2 = add(mul(p.x[1u], p.y), 1f)\n"
               "  g_3 = add(mul(p.x[2u], p.y), 1f)\n"
               "  store r.y = add(g_2, g_3)\n");
}

// The second array is read by nobody; what it would have read of the first is set all the same, for later passes to drop.
Test(pass_contract, what_only_a_dead_array_read)
{
    PASS_GIVES(c, "  for i = 0u to 4u {\n    e[i] = p.x[i]\n  }\n  s = 2f\n  for k = 0u to 4u {\n    g[k] = fma(e[k], s, e[3u])\n  }\n  store r.y = s\n",
               "  s = 2f\n  for k = 0u to 4u {\n    e_2 = p.x[k]\n    e_3 = p.x[3u]\n  }\n  store r.y = s\n");
}

// What the first is filled with changes before the second reads it; but nobody reads the second, and without it nobody reads the first.
Test(pass_contract, arrays_that_wait_on_one_another)
{
    PASS_GIVES(c,
               "  s = 1f\n"
               "  for i = 0u to 4u {\n"
               "    e[i] = s\n"
               "  }\n"
               "  s = 2f\n"
               "  for k = 0u to 4u {\n"
               "    g[k] = e[k]\n"
               "  }\n"
               "  store r.y = s\n",
               "  s = 1f\n"
               "  s = 2f\n"
               "  store r.y = s\n");
}

Test(pass_contract, arrays_that_must_stay)
{
    PASS_LEAVES(c, FILL "  e[2u] = 1f\n  store r.y = e[1u]\n");                                             // written again
    PASS_LEAVES(c, "  s = 2f\n  for i = 0u to 4u {\n    e[i] = mul(p.x[i], s)\n  }\n  s = 3f\n  store r.y = e[1u]\n");   // what it reads changes
    PASS_LEAVES(c, "  for i = 0u to 3u {\n    e[i] = p.x[i]\n  }\n  store r.y = e[1u]\n");                  // filled in part
    PASS_LEAVES(c, FILL "  if lt(e[1u], 0f) {\n    s = 1f\n  }\n  store r.y = s\n");                        // read where no statement can stand in front
    PASS_LEAVES(c, FILL "  store r.y = add(e[1u], d)\n");                                                   // what the loop leaves is read
    PASS_LEAVES(c, "  for i = 0u to 4u {\n    e[i] = div(p.x[i], p.y)\n  }\n  store r.y = e[1u]\n");        // dear
    PASS_LEAVES(c, "  for i = 0u to 4u {\n    s = e[0u]\n    e[i] = p.x[i]\n  }\n  store r.y = e[1u]\n");      // read in the loop itself
}

// Sums of 2 ^ depth reads, each of an element of its own.
static void write_reads(char *text, int depth, unsigned first)
{
    if (depth == 0) {
        sprintf(text + strlen(text), "e[%uu]", first % 4);
        return;
    }
    strcat(text, "add(");
    write_reads(text, depth - 1, first);
    strcat(text, ", ");
    write_reads(text, depth - 1, first + (1u << (depth - 1)));
    strcat(text, ")");
}

static bool stays_array(int depth)
{
    static char text[1 << 20];
    strcpy(text, "  for i = 0u to 4u {\n    e[i] = p.x[i]\n  }\n  store r.y = add(e[0u], ");
    write_reads(text, depth, 0);
    strcat(text, ")\n");
    const char *given = pass_body(pass_after(&c, text));
    return strstr(given, "e[i] = p.x[i]") != NULL;
}

Test(pass_contract, arrays_that_one_statement_reads_very_often_stay)
{
    cr_expect(!stays_array(11));
    cr_expect(stays_array(12));
}
