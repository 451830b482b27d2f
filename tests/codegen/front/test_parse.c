// SPDX-License-Identifier: Apache-2.0
// The parser alone: the shape of trees, shown as S-expressions, and what it makes of broken text.
#include "codegen/front/parse.h"

#include <criterion/criterion.h>
#include <string.h>

static hdst__arena arena;
static jmp_buf out_of_memory;
static hdst__diags diags;

static void set_up(void)
{
    hdst__arena_init(&arena, NULL, &out_of_memory);
    hdst__diags_init(&diags, &arena);
}

static void tear_down(void) { hdst__arena_destroy(&arena); }

TestSuite(parse, .init = set_up, .fini = tear_down);

static ast_file *parse(const char *text)
{
    return hdst__parse(&diags, hdst__diags_add_source(&diags, "t.hk", text, strlen(text)));
}

static const char *shape(const ast_expr *e)
{
    static const char *const ops[] = {"neg", "plus", "!", "~", "+",  "-", "*",  "/",  "%",  "<<", ">>",
                                      "&",   "|",    "^", "<", "<=", ">", ">=", "==", "!=", "&&", "||"};
    switch (e->kind) {
    case AST_NUMBER: return hdst__arena_printf(&arena, "%llu", (unsigned long long)e->number.bits);
    case AST_NAME: return e->name;
    case AST_UNARY: return hdst__arena_printf(&arena, "(%s %s)", ops[e->op], shape(e->left));
    case AST_BINARY: return hdst__arena_printf(&arena, "(%s %s %s)", ops[e->op], shape(e->left), shape(e->right));
    case AST_TERNARY: return hdst__arena_printf(&arena, "(? %s %s %s)", shape(e->left), shape(e->right), shape(e->third));
    case AST_CONVERT: return hdst__arena_printf(&arena, "(cast %s %s)", e->written->name, shape(e->left));
    case AST_MEMBER: return hdst__arena_printf(&arena, "(. %s %s)", shape(e->left), e->name);
    case AST_INDEX: return hdst__arena_printf(&arena, "([] %s %s)", shape(e->left), shape(e->right));
    default: break;
    }
    const char *text = e->kind == AST_CALL ? e->name : e->kind == AST_TUPLE ? "tuple" : e->written ? e->written->name : "{}";
    for (size_t i = 0; i < e->arg_count; i++) {
        const char *field = e->kind == AST_COMPOUND && e->inits[i].field ? hdst__arena_printf(&arena, ".%s=", e->inits[i].field) : "";
        text = hdst__arena_printf(&arena, "%s %s%s", text, field, shape(e->args[i]));
    }
    return hdst__arena_printf(&arena, "(%s)", text);
}

static const char *shape_of(const char *expression)
{
    ast_file *file = parse(hdst__arena_printf(&arena, "int f(int a) { return %s; }", expression));
    cr_assert_eq(diags.errors, 0, "%s", expression);
    return shape(file->functions[0]->body->body[0]->value);
}

Test(parse, names_that_are_types_elsewhere_are_values_in_parentheses)
{
    cr_assert_str_eq(shape_of("(uchar + 1) * (half)"), "(* (+ uchar 1) half)");
    cr_assert_str_eq(shape_of("(uint) - (ulong.x) + (text[2])"), "(+ (- uint (. ulong x)) ([] text 2))");
    // Refused by the checker, which says what to write.
    cr_assert_str_eq(shape_of("(uint)a + (ushort)(a + 1)"), "(+ (cast uint a) (cast ushort (+ a 1)))");
}

Test(parse, operators_bind_as_in_c)
{
    cr_assert_str_eq(shape_of("a + b * c - d"), "(- (+ a (* b c)) d)");
    cr_assert_str_eq(shape_of("a | b ^ c & d == e < f << g + h * i"), "(| a (^ b (& c (== d (< e (<< f (+ g (* h i))))))))");
    cr_assert_str_eq(shape_of("a || b && c || d"), "(|| (|| a (&& b c)) d)");
    cr_assert_str_eq(shape_of("-a * !b % ~c"), "(% (* (neg a) (! b)) (~ c))");
    cr_assert_str_eq(shape_of("a ? b : c ? d : e"), "(? a b (? c d e))");
    cr_assert_str_eq(shape_of("a < b ? c + 1 : d"), "(? (< a b) (+ c 1) d)");
    cr_assert_str_eq(shape_of("-a.b[1].c"), "(neg (. ([] (. a b) 1) c))");
}

Test(parse, casts_compounds_and_tuples_are_told_apart_from_parentheses)
{
    cr_assert_str_eq(shape_of("(float)a * b"), "(* (cast float a) b)");
    cr_assert_str_eq(shape_of("(a) * b"), "(* a b)");
    cr_assert_str_eq(shape_of("(a)-b"), "(- a b)");
    cr_assert_str_eq(shape_of("(unsigned int)-a"), "(cast unsigned int (neg a))");
    cr_assert_str_eq(shape_of("(point){ .x = { 1, 2 }, .n = f(a, b) }"), "(point .x=({} 1 2) .n=(f a b))");
    cr_assert_str_eq(shape_of("(a + 1, b)"), "(tuple (+ a 1) b)");
}

Test(parse, numbers_have_the_types_of_c)
{
    static const struct { const char *text; hdst__kind kind; uint64_t bits; } cases[] = {
        {"1", HDST__I32, 1},
        {"2147483647", HDST__I32, 2147483647},
        {"2147483648", HDST__I64, 2147483648u},
        {"0x80000000", HDST__U32, 0x80000000u},
        {"1u", HDST__U32, 1},
        {"1ll", HDST__I64, 1},
        {"1UL", HDST__U64, 1},
        {"0xFFFFFFFFFFFFFFFF", HDST__U64, UINT64_MAX},
        {"017", HDST__I32, 15},
        {"0b101", HDST__I32, 5},
        {"1.0f", HDST__F32, 0x3f800000},
        {"0x1p-1f", HDST__F32, 0x3f000000},
        {"1e0", HDST__F64, 0x3ff0000000000000u},
        {".5", HDST__F64, 0x3fe0000000000000u},
        {"'a'", HDST__I32, 97},
        {"'\\n'", HDST__I32, 10},
        {"'\\0'", HDST__I32, 0},
        {"'\\012'", HDST__I32, 10},
        {"'\\377'", HDST__I32, 255},
        {"'\\x7'", HDST__I32, 7},
        {"'\\x000fE'", HDST__I32, 254},
        {"'\\a'", HDST__I32, 7},
        {"'\\?'", HDST__I32, '?'},
        {"true", HDST__BOOL, 1},
        {"16777217.0f", HDST__F32, 0x4b800000}, // a tie: to even
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ast_file *file = parse(hdst__arena_printf(&arena, "int f(int a) { return %s; }", cases[i].text));
        ast_expr *number = file->functions[0]->body->body[0]->value;
        cr_assert_eq(diags.errors, 0, "%s", cases[i].text);
        cr_assert_eq(number->type->kind, cases[i].kind, "%s", cases[i].text);
        cr_assert_eq(number->number.bits, cases[i].bits, "%s", cases[i].text);
    }
}

Test(parse, words_of_the_language_are_names_elsewhere)
{
    ast_file *file = parse("map map(key key, broadcast float broadcast[], accum double accum) { int param = 1; accum += key.x[param] * broadcast[0]; }");
    cr_assert_eq(diags.errors, 0);
    ast_function *f = file->functions[0];
    cr_assert_str_eq(f->params[0]->written->name, "key");
    cr_assert_eq(f->params[0]->qualifier, AST_PLAIN);
    cr_assert_eq(f->params[1]->qualifier, AST_BROADCAST);
    cr_assert_eq(f->params[2]->qualifier, AST_ACCUM);
}

Test(parse, several_declarators_share_the_scope_around)
{
    ast_file *file = parse("int f(int a) { int x = 1, y[3], z; for (int i = 0, n = 9; i < n; i++) ; return x; }");
    cr_assert_eq(diags.errors, 0);
    ast_stmt *several = file->functions[0]->body->body[0];
    cr_assert(several->kind == AST_BLOCK && several->declares && several->body_count == 3);
    cr_assert_eq(several->body[1]->decl->written->dim_count, 1);
    cr_assert_eq(several->body[2]->decl->written->dim_count, 0);
    ast_stmt *loop = file->functions[0]->body->body[1];
    cr_assert(loop->init->declares && loop->step->compound && loop->step->op == AST_ADD);
}

Test(parse, goes_on_after_errors)
{
    ast_file *file = parse("struct s { float *x; float y; };\n"
                           "map f(T a) {\n"
                           "  int x = ;\n"
                           "  x = 1 + ;\n"
                           "  if (x { x = 2; }\n"
                           "  x = 3\n"
                           "  x = 4;\n"
                           "}\n"
                           "map g(T a) { x = 1; }\n");
    cr_assert_eq(diags.errors, 5);
    static const uint32_t lines[] = {1, 3, 4, 5, 6};
    for (size_t i = 0; i < 5; i++) {
        uint32_t line, column;
        hdst__span_position(&diags, diags.items[i].span, &line, &column);
        cr_assert_eq(line, lines[i]);
    }
    cr_assert_eq(file->function_count, 2);
    cr_assert_str_eq(file->structs[0]->fields[0]->name, "y");
}

Test(parse, a_missing_brace_is_noticed_at_the_next_function)
{
    ast_file *file = parse("map f(T a) {\n  if (a.x) {\n}\nmap g(T a) { }\n");
    cr_assert_eq(diags.errors, 1);
    cr_assert_str_eq(diags.items[0].message, "expected '}' before 'map', to close the '{' of line 1");
    cr_assert_eq(file->function_count, 2);
}

static char *repeat(const char *text, size_t times)
{
    size_t n = strlen(text);
    char *all = hdst__arena_alloc(&arena, n * times + 1);
    for (size_t i = 0; i < times; i++) memcpy(all + i * n, text, n);
    return all;
}

Test(parse, deep_nesting_is_an_error_not_a_crash)
{
    static const char *const openings[] = {"(", "-", "a[", "f(", "{", "if (a) ", "(point){", "a ? ", "do ", "a ? b : ", "a + ", "a = {"};
    for (size_t i = 0; i < sizeof openings / sizeof *openings; i++) {
        size_t before = diags.errors;
        parse(hdst__arena_printf(&arena, "int f(int a) { x = %s", repeat(openings[i], 100000)));
        parse(hdst__arena_printf(&arena, "int f(int a) { %s", repeat(openings[i], 100000)));
        cr_assert_gt(diags.errors, before);
    }
}

Test(parse, a_long_call_is_a_call_wherever_its_inner_brackets_lie)
{
    const char *const records = repeat("(p){1}, ", 1000);       // seven tokens each: with so many more in front every place has a ')' once
    for (int more = 0; more < 7; more++) {
        parse(hdst__arena_printf(&arena, "int f(int a) { g(%.*s%s1); }", more, "~~~~~~~", records));
        cr_assert_eq(diags.errors, 0, "%d more: %s", more, diags.count ? diags.items[0].message : "");
    }
}
