// SPDX-License-Identifier: Apache-2.0
// The pass narrow on IR alone: which arithmetic may be done in the small type, and which needs the bits above it.
#include "codegen/pass/block_form.h"
#include "tests/support/pass_case.h"
#include "codegen/pass/passes.h"

#include <criterion/criterion.h>

TestSuite(pass_narrow, .init = pass_set_up, .fini = pass_tear_down);

static void narrow(ir_func *func)
{
    hdst__pass_uniformity(func);       // it goes by what varies
    hdst__pass_integer_narrowing(func);
}

static const pass_case c = {narrow, "  input p p {u8 b, u8 c, i8 s, i16 h, u16 g, i32 n, i64 l, bool a, f32 x}\n"
                                    "  broadcast w w {i32 n, u8 b}\n"
                                    "  output r r {u8 b, i16 h, i32 n, bool a}\n"};

// Low bits come of low bits alone.
Test(pass_narrow, sums_products_bits_and_shifts_to_the_left)
{
    PASS_GIVES(c, "  store r.b = u8(add(xor(i32(p.b), i32(p.c)), mul(i32(p.b), 3)))\n", "  store r.b = add(xor(p.b, p.c), mul(p.b, 3u8))\n");
    PASS_GIVES(c, "  store r.b = u8(sub(neg(i32(p.b)), bitnot(i32(p.c))))\n", "  store r.b = sub(neg(p.b), bitnot(p.c))\n");
    PASS_GIVES(c, "  store r.h = i16(add(mul(i32(p.h), i32(p.h)), 70000))\n", "  store r.h = add(mul(p.h, p.h), 4464i16)\n");
    PASS_GIVES(c, "  store r.h = i16(shl(i32(p.h), 5u))\n", "  store r.h = shl(p.h, 5u)\n");
    PASS_GIVES(c, "  store r.h = i16(add(i32(p.s), i32(p.b)))\n", "  store r.h = add(i16(p.s), i16(p.b))\n");            // widened as far as needed
    PASS_GIVES(c, "  store r.n = i32(mul(i64(p.n), i64(p.h)))\n", "  store r.n = mul(p.n, i32(p.h))\n");
    PASS_GIVES(c, "  store r.b = u8(select(p.a, add(i32(p.b), 1), i32(p.a)))\n", "  store r.b = select(p.a, add(p.b, 1u8), u8(p.a))\n");
    PASS_GIVES(c, "  store r.b = u8(add(i32(p.s), i32(p.b)))\n", "  store r.b = add(u8(p.s), p.b)\n");                  // the sign bits are cut off
    PASS_GIVES(c, "  store r.b = u8(add(i32(u16(i32(p.b))), 1))\n", "  store r.b = add(p.b, 1u8)\n");
}

// What reads high bits may, where those are known from the low ones.
Test(pass_narrow, shifts_to_the_right_minimum_and_maximum_of_widened_numbers)
{
    PASS_GIVES(c, "  store r.b = u8(shr(i32(p.b), 1u))\n", "  store r.b = shr(p.b, 1u)\n");
    PASS_GIVES(c, "  store r.h = i16(shr(xor(i32(p.h), i32(p.s)), 3u))\n", "  store r.h = shr(xor(p.h, i16(p.s)), 3u)\n");
    PASS_GIVES(c, "  store r.b = u8(add(min(i32(p.b), 200), max(i32(p.c), i32(p.b))))\n", "  store r.b = add(min(p.b, 200u8), max(p.c, p.b))\n");
    PASS_LEAVES(c, "  store r.b = u8(shr(add(i32(p.b), i32(p.c)), 1u))\n");            // the average of two bytes has nine bits on the way
    PASS_LEAVES(c, "  store r.b = u8(shr(i32(p.s), 1u))\n");                            // its sign comes down
    PASS_LEAVES(c, "  store r.b = u8(shr(i32(p.b), 9u))\n");                            // counts are masked to the width
    PASS_LEAVES(c, "  store r.b = u8(min(i32(p.b), 300))\n");
    PASS_LEAVES(c, "  store r.b = u8(max(i32(p.b), -1))\n");
    PASS_LEAVES(c, "  store r.b = u8(div(add(i32(p.b), 1), 2))\n");
    PASS_LEAVES(c, "  store r.h = i16(shl(i32(p.h), 17u))\n");
}

Test(pass_narrow, comparisons)
{
    PASS_GIVES(c, "  store r.a = lt(i32(p.b), 100)\n", "  store r.a = lt(p.b, 100u8)\n");
    PASS_GIVES(c, "  store r.a = le(-5, i32(p.h))\n", "  store r.a = le(-5i16, p.h)\n");
    PASS_GIVES(c, "  store r.a = eq(and(i32(p.b), 7), i32(p.c))\n", "  store r.a = eq(and(p.b, 7u8), p.c)\n");
    PASS_LEAVES(c, "  store r.a = lt(i32(p.b), 256)\n");
    PASS_LEAVES(c, "  store r.a = lt(i32(p.b), i32(p.s))\n");                           // no small type holds both
    PASS_LEAVES(c, "  store r.a = lt(i32(p.b), add(i32(p.c), 1))\n");                   // the sum may have nine bits
    PASS_LEAVES(c, "  store r.a = lt(u32(p.s), 100u)\n");                               // a negative one is large
    PASS_LEAVES(c, "  store r.n = i32(min(18446744073709551487ul, u64(p.b)))\n");       // a constant that is large, too
    PASS_LEAVES(c, "  store r.a = lt(p.n, 100)\n");
    PASS_LEAVES(c, "  store r.a = lt(f32(p.b), p.x)\n");
}

// A wide number would be cut before, one that is the same for all records once.
Test(pass_narrow, wide_numbers)
{
    PASS_LEAVES(c, "  store r.b = u8(add(p.n, i32(p.b)))\n");
    PASS_LEAVES(c, "  store r.b = u8(p.n)\n");
    PASS_LEAVES(c, "  store r.b = u8(i32(p.x))\n");                                     // of a float: it saturates
    PASS_GIVES(c, "  store r.b = u8(add(w.n, i32(p.b)))\n", "  store r.b = add(u8(w.n), p.b)\n");
}
