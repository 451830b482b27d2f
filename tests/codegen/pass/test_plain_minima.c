// SPDX-License-Identifier: Apache-2.0
// Which minima and maxima become a comparison and a selection, on IR as text, in block form.
#include "codegen/pass/block_form.h"
#include "tests/support/pass_case.h"

#include <criterion/criterion.h>

TestSuite(plain_minima, .init = pass_set_up, .fini = pass_tear_down);

static const char head[] = "  block 64\n"
                           "  input p p {f32 x, f32 y, f64 z, u32 n}\n"
                           "  var f32 a varying\n  var f32 b varying\n  var f32 m varying\n  var f32 q varying\n  var f32 s varying per record\n"
                           "  var f32 t varying per record\n  var f64 d varying\n  var f64 e varying\n  var f64 g varying per record\n  var u32 k varying per record\n"
                           "  var bool c varying\n  var i64 sum\n";
static const pass_case test = {hdst__pass_plain_minima, head};

// Of two sums of squares; `least` is what becomes of their minimum, `rest` comes behind it.
static void expect(const char *least, const char *rest, const char *after)
{
    static const char squares[] = "  records vectorize {\n    a = mul(p.x, p.x)\n    b = fma(p.y, p.y, mul(p.x, p.x))\n";
    const ir_func *any = pass_read(head, "");
    const char *before = hdst__arena_printf(any->arena, "%s    m = %s\n%s  }\n", squares, least, rest);
    PASS_GIVES(test, before, hdst__arena_printf(any->arena, "%s    m = %s\n%s  }\n", squares, after, rest));
}

static void stays(const char *least, const char *rest) { expect(least, rest, least); }

Test(plain_minima, where_all_that_comes_of_a_nan_is_one)
{
    expect("min(a, b)", "    s = div(m, b)\n", "select(lt(b, a), b, a)");
    expect("max(a, b)", "    s = mul(b, fma(m, m, a))\n", "select(gt(b, a), b, a)");
    expect("min(a, b)", "    s = div(m, a)\n", "select(lt(a, b), a, b)");
    expect("min(a, b)", "    s = select(eq(b, m), 1f, div(m, b))\n", "select(lt(b, a), b, a)");
    expect("min(a, b)", "    s = select(ne(b, m), div(m, b), 1f)\n", "select(lt(b, a), b, a)");
    expect("min(a, b)", "    c = eq(b, m)\n    q = select(not(c), div(m, b), 0f)\n    s = canonical(sqrt(neg(q)))\n", "select(lt(b, a), b, a)");
    expect("min(a, b)", "    q = add(m, b)\n    s = q\n    t = a\n", "select(lt(b, a), b, a)");
    expect("min(a, b)", "    s = a\n", "select(lt(b, a), b, a)");          // nothing comes of it
    expect("min(a, b)", "    m = p.x\n    s = m\n", "select(lt(b, a), b, a)");
}

Test(plain_minima, not_where_something_else_shows)
{
    stays("min(a, b)", "    s = m\n");
    stays("min(a, b)", "    s = mul(m, p.x)\n");
    stays("min(a, b)", "    s = div(m, b)\n    t = m\n");
    stays("min(a, b)", "    s = div(m, mul(p.y, p.y))\n");          // as large as b, but not known to be
    stays("min(a, b)", "    s = select(eq(p.x, m), 1f, div(m, p.x))\n");
    stays("min(a, b)", "    s = select(lt(m, 1f), 1f, b)\n");       // the condition may differ
    stays("min(a, b)", "    s = select(eq(b, m), div(m, b), 1f)\n    t = m\n");
    stays("min(a, b)", "    k = u32(add(m, b))\n");
    stays("min(a, b)", "    c = isnan(m)\n    s = select(c, 1f, 2f)\n");
    stays("min(a, b)", "    s = select(lt(p.x, 0f), b, 1f)\n    t = select(lt(p.x, 0f), m, b)\n");
    stays("min(a, b)", "    a = p.x\n    b = p.x\n    s = mul(m, b)\n");      // other numbers by then
}

Test(plain_minima, not_where_a_zero_may_have_a_sign)
{
    PASS_LEAVES(test, "  records vectorize {\n    a = mul(p.x, p.x)\n    b = p.y\n    m = min(a, b)\n    s = mul(m, b)\n  }\n");
    PASS_LEAVES(test, "  records vectorize {\n    a = mul(p.x, p.x)\n    b = mul(p.x, p.y)\n    m = min(a, b)\n    s = mul(m, b)\n  }\n");
    PASS_LEAVES(test, "  records vectorize {\n    a = mul(p.x, p.x)\n    b = sub(a, a)\n    m = max(a, b)\n    s = mul(m, b)\n  }\n");
    PASS_LEAVES(test, "  records vectorize {\n    a = mul(p.x, p.x)\n    b = neg(a)\n    m = max(a, b)\n    s = mul(m, b)\n  }\n");
    PASS_LEAVES(test, "  records vectorize {\n    a = mul(p.x, p.x)\n    b = fma(p.x, p.x, p.y)\n    m = max(a, b)\n    s = mul(m, b)\n  }\n");
    PASS_LEAVES(test, "  records vectorize {\n    a = mul(p.x, p.x)\n    a = p.y\n    b = abs(p.y)\n    m = max(a, b)\n    s = mul(m, b)\n  }\n");
    PASS_LEAVES(test, "  records vectorize {\n    a = abs(p.x)\n  }\n  records vectorize {\n    b = abs(p.x)\n    m = min(a, b)\n    s = mul(m, b)\n  }\n");
    PASS_GIVES(test, "  records vectorize {\n    d = abs(p.z)\n    e = div(sqrt(abs(p.z)), add(d, 1d))\n    d = max(d, e)\n    g = mul(d, e)\n  }\n",
        "  records vectorize {\n    d = abs(p.z)\n    e = div(sqrt(abs(p.z)), add(d, 1d))\n    d = select(gt(e, d), e, d)\n    g = mul(d, e)\n  }\n");
}

Test(plain_minima, a_constant_comes_first)
{
    PASS_GIVES(test, "  records vectorize {\n    a = p.x\n    s = min(a, 1f)\n  }\n", "  records vectorize {\n    a = p.x\n    s = select(lt(1f, a), 1f, a)\n  }\n");
    PASS_GIVES(test, "  records vectorize {\n    a = p.x\n    s = max(-1f, a)\n  }\n", "  records vectorize {\n    a = p.x\n    s = select(gt(-1f, a), -1f, a)\n  }\n");
    PASS_GIVES(test, "  records vectorize {\n    a = abs(p.x)\n    s = max(a, 0f)\n  }\n",
        "  records vectorize {\n    a = abs(p.x)\n    s = select(gt(0f, a), 0f, a)\n  }\n");
    PASS_LEAVES(test, "  records vectorize {\n    a = p.x\n    s = max(a, 0f)\n  }\n");
    PASS_LEAVES(test, "  records vectorize {\n    a = p.x\n    s = min(a, -0f)\n  }\n");
    PASS_LEAVES(test, "  records vectorize {\n    d = p.z\n    g = max(d, 0d)\n  }\n");
}

Test(plain_minima, not_elsewhere)
{
    PASS_LEAVES(test, "  records vectorize {\n    k = min(p.n, 3u)\n  }\n");
    PASS_LEAVES(test, "  records {\n    a = p.x\n    s = min(a, 1f)\n  }\n");
    PASS_LEAVES(test, "  records vectorize {\n    s = min(p.x, 1f)\n  }\n");       // would be read twice
    PASS_LEAVES(test, "  records vectorize {\n    a = p.x\n    s = min(a, 1f)\n    reduce sum += i64(p.n)\n  }\n");
}
