// SPDX-License-Identifier: Apache-2.0
// Which minima and maxima become a comparison and a selection, on IR as text, in block form.
#include "codegen/ir/eval.h"
#include "codegen/pass/block_form.h"
#include "tests/support/ir_make.h"
#include "tests/support/pass_case.h"

#include <criterion/criterion.h>

TestSuite(plain_minima, .init = pass_set_up, .fini = pass_tear_down);

static const char head[] = "  block 64\n"
                           "  input p p {f32 x, f32 y, f64 z, u32 n}\n"
                           "  var f32 a varying\n  var f32 b varying\n  var f32 m varying\n  var f32 q varying\n  var f32 s varying per record\n"
                           "  var f32 t varying per record\n  var f64 d varying\n  var f64 e varying\n  var f64 g varying per record\n"
                           "  var u32 k varying per record\n"
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

// Of a square and what comes behind it.
static void leaves(const char *rest)
{
    const ir_func *any = pass_read(head, "");
    PASS_LEAVES(test, hdst__arena_printf(any->arena, "  records vectorize {\n    a = mul(p.x, p.x)\n%s    s = mul(m, b)\n  }\n", rest));
}

Test(plain_minima, not_where_a_zero_may_have_a_sign)
{
    leaves("    b = p.y\n    m = min(a, b)\n");
    leaves("    b = mul(p.x, p.y)\n    m = min(a, b)\n");
    leaves("    b = sub(a, a)\n    m = max(a, b)\n");
    leaves("    b = neg(a)\n    m = max(a, b)\n");
    leaves("    b = fma(p.x, p.x, p.y)\n    m = max(a, b)\n");
    leaves("    a = p.y\n    b = abs(p.y)\n    m = max(a, b)\n");
    PASS_LEAVES(test, "  records vectorize {\n    a = abs(p.x)\n  }\n"
                      "  records vectorize {\n    b = abs(p.x)\n    m = min(a, b)\n    s = mul(m, b)\n  }\n");
    PASS_GIVES(test, "  records vectorize {\n    d = abs(p.z)\n    e = div(sqrt(abs(p.z)), add(d, 1d))\n    d = max(d, e)\n    g = mul(d, e)\n  }\n",
        "  records vectorize {\n    d = abs(p.z)\n    e = div(sqrt(abs(p.z)), add(d, 1d))\n    d = select(gt(e, d), e, d)\n    g = mul(d, e)\n  }\n");
}

Test(plain_minima, a_constant_comes_first)
{
    PASS_GIVES(test, "  records vectorize {\n    a = p.x\n    s = min(a, 1f)\n  }\n",
        "  records vectorize {\n    a = p.x\n    s = select(lt(1f, a), 1f, a)\n  }\n");
    PASS_GIVES(test, "  records vectorize {\n    a = p.x\n    s = max(-1f, a)\n  }\n",
        "  records vectorize {\n    a = p.x\n    s = select(gt(-1f, a), -1f, a)\n  }\n");
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

// --- The same numbers, of random loops and hostile numbers ---

enum { LOOPS = 20000, STATEMENTS = 14, TRIES = 24, LOCALS = 4, KEPT = 2, FIELDS = 2 };

static uint64_t state;

static uint32_t below(uint32_t n)      // xorshift64*
{
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    return (uint32_t)((state * UINT64_C(0x2545f4914f6cdd1d) >> 33) % n);
}

static ir_expr *operand(ir_func *f)
{
    static const uint32_t constants[] = {0, 0x80000000, 0x3f800000, 0xbf800000, 0x40200000, 0x7f800000, 0x7fc00000};
    if (below(4)) return hdst__ir_var(f, below(LOCALS));
    if (below(3)) return ir_read(f, IR_FIELD, 0, below(FIELDS), NULL, NULL);
    return hdst__ir_const(f, HDST__F32, constants[below(7)]);
}

static ir_expr *value(ir_func *f)
{
    static const ir_op two[] = {IR_ADD, IR_MUL, IR_DIV, IR_DIV, IR_MIN, IR_MIN, IR_MIN, IR_MAX, IR_MAX, IR_SUB};
    static const ir_op compare[] = {IR_LT, IR_LE, IR_GT, IR_EQ, IR_EQ, IR_NE};
    ir_expr *a = operand(f), *b = operand(f), *c = operand(f);
    switch (below(9)) {
    case 0: return hdst__ir_unary(f, (const ir_op[]){IR_ABS, IR_ABS, IR_SQRT, IR_NEG}[below(4)], HDST__F32, a);
    case 1: return ir_op2(f, IR_MUL, a, hdst__ir_copy(f, a));
    case 2: {
        ir_expr *fma = hdst__ir_binary(f, IR_FMA, HDST__F32, a, below(2) ? hdst__ir_copy(f, a) : b);
        fma->c = c;
        return fma;
    }
    case 3: {
        ir_expr *is = hdst__ir_binary(f, compare[below(6)], HDST__BOOL, a, b);
        return hdst__ir_select(f, below(4) ? is : hdst__ir_unary(f, IR_NOT, HDST__BOOL, is), c, ir_op2(f, IR_DIV, operand(f), hdst__ir_copy(f, a)));
    }
    default: return ir_op2(f, two[below(10)], a, b);
    }
}

static uint64_t evaluate(const ir_expr *e, const uint64_t *var, const uint64_t *field)
{
    if (e->op == IR_CONST) return e->bits;
    if (e->op == IR_VAR) return var[e->var];
    if (e->op == IR_FIELD) return field[e->leaf];
    const uint64_t a = evaluate(e->a, var, field);
    if (!e->b) return hdst__eval_unary(e->op, e->kind, e->a->kind, a);
    const uint64_t b = evaluate(e->b, var, field);
    if (!e->c) return hdst__eval_binary(e->op, e->a->kind, a, b);
    const uint64_t c = evaluate(e->c, var, field);
    return e->op == IR_SELECT ? (a ? b : c) : hdst__eval_fma(e->kind, a, b, c);
}

static void run_loop(const ir_block *body, uint64_t *var, const uint64_t *field)
{
    for (size_t i = 0; i < body->count; i++) var[body->items[i]->var] = evaluate(body->items[i]->value, var, field);
}

static uint64_t hostile(void)
{
    static const uint32_t numbers[] = {0, 0x80000000, 1, 0x80000001, 0x3f800000, 0xbf800000, 0x40000000, 0x7f800000,
                                        0xff800000, 0x7fc00000, 0xffc00000, 0x7f7fffff};
    return numbers[below(12)];
}

static bool same_number(uint64_t a, uint64_t b)
{
    return a == b || ((a & 0x7fffffff) > 0x7f800000 && (b & 0x7fffffff) > 0x7f800000);
}

Test(plain_minima, the_same_bits_whatever_the_numbers)
{
    static const char vars[] = "  block 64\n  input p p {f32 x, f32 y}\n  var f32 a varying\n  var f32 b varying\n  var f32 c varying\n  var f32 d varying\n"
                               "  var f32 s varying per record\n  var f32 t varying per record\n";
    size_t plain = 0;
    state = 42;
    for (int loop = 0; loop < LOOPS; loop++) {
        ir_func *f = pass_read(vars, "  records vectorize {\n    a = p.x\n  }\n");
        ir_block *body = &f->body.items[0]->body;
        for (uint32_t v = 1; v < LOCALS; v++)
            hdst__ir_push(f, body, hdst__ir_set(f, v, below(2) ? value(f) : hdst__ir_unary(f, IR_ABS, HDST__F32, operand(f))));
        for (int i = 0; i < STATEMENTS; i++) hdst__ir_push(f, body, hdst__ir_set(f, below(LOCALS), value(f)));
        for (uint32_t v = 0; v < KEPT; v++) hdst__ir_push(f, body, hdst__ir_set(f, LOCALS + v, value(f)));
        ir_func *with = hdst__ir_copy_func(f->arena, f);
        hdst__pass_plain_minima(with);
        const ir_block *after = &with->body.items[0]->body;
        for (size_t i = 0; i < body->count; i++) plain += after->items[i]->value->op != body->items[i]->value->op;
        for (int i = 0; i < TRIES; i++) {
            uint64_t field[FIELDS] = {hostile(), hostile()}, was[LOCALS + KEPT], is[LOCALS + KEPT];
            for (int v = 0; v < LOCALS + KEPT; v++) was[v] = is[v] = hostile();
            run_loop(body, was, field);
            run_loop(after, is, field);
            for (int v = LOCALS; v < LOCALS + KEPT; v++)
                cr_assert(same_number(was[v], is[v]), "loop %d: %llx, not %llx\n%s%s", loop, (unsigned long long)is[v], (unsigned long long)was[v],
                    pass_body(f), pass_body(with));
        }
        if (loop % 64 == 63) {
            pass_tear_down();
            pass_set_up();
        }
    }
    cr_expect_gt(plain, 1000u, "%zu", plain);
}
