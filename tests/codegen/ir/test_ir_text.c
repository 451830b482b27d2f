// SPDX-License-Identifier: Apache-2.0
// The text of the IR says all there is: what was read from it prints as the same text, is well formed and computes the same bits.
#include "tests/support/ir_text.h"
#include "tests/support/program_suite.h"
#include "codegen/ir/accum_tables.h"
#include "codegen/lower/lower.h"
#include "codegen/pass/passes.h"

#include <criterion/criterion.h>
#include <string.h>

TestSuite(ir_text, .init = set_up, .fini = tear_down);

static ir_func *read_back(const ir_func *func)
{
    const char *text = ir_text_of(&arena, func), *wrong = NULL;
    ir_func *read = ir_text_read(&arena, text, &wrong);
    cr_assert_not_null(read, "%s: %s\n%s", func->name, wrong, text);
    cr_assert_str_eq(ir_text_of(&arena, read), text, "%s\nread as\n%s", text, ir_text_of(&arena, read));
    wrong = hdst__ir_verify(read);
    cr_assert_null(wrong, "%s\n%s", wrong, text);
    return read;
}

static void expect_same_bits(const ir_func *func, const ir_func *read)
{
    for (unsigned seed = 0; seed < 2; seed++) {
        const program_result a = program_run(&arena, func, seed), b = program_run(&arena, read, seed);
        cr_expect(program_same(&a, &b), "%s computes something else, seed %u", func->name, seed);
    }
}

Test(ir_text, every_program_is_read_back_in_every_form)
{
    int programs = 0;
    for (size_t f = 0; f < module->function_count; f++) {
        const ast_function *function = module->functions[f];
        if (function->kind != AST_MAP && function->kind != AST_FILTER && function->kind != AST_REDUCE) continue;
        ir_func *func = hdst__lower(&arena, module, function);
        cr_assert_not_null(func, "%s", function->name);
        expect_same_bits(func, read_back(func));
        cr_assert_null(hdst__passes_scalar(func));
        expect_same_bits(func, read_back(func));
        ir_func *rows = hdst__ir_copy_func(&arena, func);
        const bool one_input = func->param_count < 2 || func->params[1].kind != IR_INPUT;
        cr_assert(!one_input || !hdst__passes_block(func, hdst__ir_accum_tables(&arena, func, NULL)));
        read_back(func);
        cr_assert(!one_input || !hdst__passes_row(rows, hdst__ir_accum_tables(&arena, rows, NULL)));
        read_back(rows);
        programs++;
    }
    cr_expect_gt(programs, 15);
}

Test(ir_text, constants_keep_their_bits)
{
    const char *text = "func f\n"
                       "  input p p {f64 x}\n"
                       "  var f32 a[6] const {0.1f, -0f, inff, -inff, nanf, nanf:0xffc12345}\n"
                       "  var f64 b[4] const {1e-300d, nand, nand:0x7ff8000000000001, 3d}\n"
                       "  var i8 c[2] const {-128i8, 127i8}\n"
                       "  var i64 d[1] const {-9223372036854775808l}\n"
                       "  var u64 e[1] const {18446744073709551615ul}\n"
                       "  var u16 g[1] const {65535u16}\n"
                       "  var bool h[2] const {true, false}\n"
                       "{\n"
                       "}\n";
    static const uint64_t floats[] = {0x3dcccccd, 0x80000000, 0x7f800000, 0xff800000, 0x7fc00000, 0xffc12345};
    const char *wrong = NULL;
    const ir_func *func = ir_text_read(&arena, text, &wrong);
    cr_assert_not_null(func, "%s", wrong);
    for (int i = 0; i < 6; i++) cr_expect_eq(func->vars[0].init[i], floats[i], "%d: %llx", i, (unsigned long long)func->vars[0].init[i]);
    cr_expect_eq(func->vars[1].init[2], 0x7ff8000000000001);
    cr_expect_eq(func->vars[2].init[0], (uint64_t)-128);
    cr_expect_eq(func->vars[3].init[0], UINT64_C(1) << 63);
    cr_expect_eq(func->vars[4].init[0], UINT64_MAX);
    cr_expect_eq(func->vars[5].init[0], 65535);
    cr_expect_eq(func->vars[6].init[0], 1);
    cr_expect_eq(func->vars[6].init[1], 0);
    read_back(func);
}

Test(ir_text, checks_of_every_kind)
{
    static const char *const kinds[IR_CHECK_KINDS] = {"index", "table index", "division", "emit", "key", "unsigned key", "length", "number",
        "lookup", "text lookup"};
    ir_func func = {.name = "f", .arena = &arena};
    for (int k = 0; k < IR_CHECK_KINDS; k++) hdst__ir_add_check(&func, (ir_check){.kind = (ir_check_kind)k, .what = "x"});
    const char *text = ir_text_of(&arena, &func);
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        cr_expect(strstr(text, hdst__arena_printf(&arena, "  check %zu %s x\n", k, kinds[k])), "%s", text);
    read_back(&func);
}

static void expect_wrong(const char *text, const char *expected)
{
    const char *wrong = NULL;
    cr_expect_null(ir_text_read(&arena, text, &wrong));
    cr_assert_not_null(wrong);
    cr_expect_str_eq(wrong, expected, "%s", wrong);
}

Test(ir_text, what_is_no_text_is_refused_with_its_line)
{
    expect_wrong("func f\n{\n  x = 1\n}\n", "line 3: no variable 'x' at ' = 1'");
    expect_wrong("func f\n  var u32 x\n{\n  x = p.y\n}\n", "line 4: no parameter 'p' at '.y'");
    expect_wrong("func f\n  var u32 x\n{\n  x = frob(x)\n}\n", "line 4: no operation 'frob' at 'x)'");
    expect_wrong("func f\n  var u33 x\n{\n}\n", "line 2: a type should stand before at ' x'");
    expect_wrong("func f\n  var u32 x\n{\n  x = 1u 2u\n}\n", "line 4: the line should end at '2u'");
    expect_wrong("func f\n{\n", "line 3: no such statement at ''");
}

// What the verifier says of a text.
static const char *verdict(const char *text)
{
    const char *wrong = NULL;
    ir_func *func = ir_text_read(&arena, text, &wrong);
    cr_assert_not_null(func, "%s\n%s", wrong, text);
    return hdst__ir_verify(func);
}

Test(ir_text, only_innermost_loops_of_a_gpu_form_are_to_be_unrolled)
{
    static const char inner[] = "func f\n  input p p {f32 x}\n  var u32 i\n  var u32 j\n  var f32 d\n{\n  d = 0f\n  for i = 0u to 3u {\n"
                                "    for j = 0u to i unroll 4 {\n      d = add(d, p.x)\n    }\n  }\n}\n";
    static const char outer[] = "func f\n  input p p {f32 x}\n  var u32 i\n  var u32 j\n  var f32 d\n{\n  d = 0f\n  for i = 0u to 3u unroll 4 {\n"
                                "    for j = 0u to i {\n      d = add(d, p.x)\n    }\n  }\n}\n";
    cr_expect_null(verdict(inner));
    cr_expect_str_eq(verdict(outer), "f: to be unrolled, with a loop inside in 'for'");
    ir_func *blocks = ir_text_read(&arena, inner, &(const char *){NULL});
    blocks->block = 64;
    cr_expect_str_eq(hdst__ir_verify(blocks), "f: to be unrolled in another form than a GPU's in 'for'");
}
