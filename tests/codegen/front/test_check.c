// SPDX-License-Identifier: Apache-2.0
// The checker on good programs: types and conversions, constants, classes of reduces, what is not available yet. Bad programs: test_bad_kernels.c.
#include "codegen/front/builtins.h"
#include "codegen/front/front.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
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

TestSuite(check, .init = set_up, .fini = tear_down);

static const char *messages(void)
{
    hdst__buffer text;
    hdst__buffer_init(&text, NULL);
    hdst__diags_render(&diags, &text);
    const char *copy = hdst__arena_strdup(&arena, hdst__buffer_text(&text));
    hdst__buffer_destroy(&text);
    return copy;
}

static ast_module *compile_with(const char *text, const hdst__front_options *options)
{
    ast_module *module = hdst__module_compile(&diags, "t.hk", text, strlen(text), options);
    cr_assert_eq(diags.errors, 0, "%s", messages());
    return module;
}

static ast_module *compile(const char *text) { return compile_with(text, NULL); }

// --- The programs of the design ---

static bool read_example(const char *name, const char *importing, char **text, size_t *length, const hdst__allocator *allocator, void *user)
{
    (void)importing;
    char path[2048];
    snprintf(path, sizeof path, "%s/%s", (const char *)user, name);
    FILE *file = fopen(path, "rb");
    if (!file) return false;
    *text = hdst__alloc(allocator, 65536);
    *length = fread(*text, 1, 65536, file);
    fclose(file);
    return true;
}

static ast_module *example(const char *folder, const char *file, const hdst__param_value *params, size_t count)
{
    char path[1024], *text;
    size_t length;
    snprintf(path, sizeof path, "%s/docs/design/%s", SOURCE_ROOT, folder);
    cr_assert(read_example(file, "", &text, &length, NULL, path));
    hdst__front_options options = {.params = params, .param_count = count, .read_import = read_example, .import_user = path};
    ast_module *module = hdst__module_compile(&diags, file, text, length, &options);
    hdst__free(NULL, text);
    cr_assert_eq(diags.count, 0, "%s", messages());
    return module;
}

Test(check, kmeans_checks_and_can_run)
{
    hdst__param_value d = {.name = "D", .bits = 3};
    ast_module *m = example("kmeans", "kmeans.hk", &d, 1);
    const ast_function *assign = hdst__module_function(m, "assign");
    cr_assert_null(assign->unsupported);
    cr_assert_null(hdst__module_function(m, "label")->unsupported);
    cr_assert_eq(assign->params[0]->type->record, hdst__module_record(m, "point"));
    cr_assert_eq(hdst__module_record(m, "point")->layout, HDST__SOA);
    cr_assert_eq(hdst__module_record(m, "total")->size, 16);
    cr_assert(assign->params[2]->is_table && assign->params[2]->qualifier == AST_ACCUM);
    cr_assert_eq(assign->params[3]->type->kind, HDST__F64);
}

Test(check, the_other_programs_check_and_say_what_is_missing)
{
    static const struct { const char *folder, *file, *function, *missing; } cases[] = {
        {"wordcount", "wordcount.hk", "words", NULL}, {"wordcount", "wordcount.hk", "add", NULL}, {"wordcount", "wordcount.hk", "most", NULL},
        {"pagerank", "pagerank.hk", "count_edges", NULL}, {"pagerank", "pagerank.hk", "send", NULL},
        {"pagerank", "pagerank.hk", "settle", NULL}, {"pagerank", "pagerank.hk", "dangling", NULL},
        {"join", "join.hk", "since", NULL}, {"join", "join.hk", "pay", NULL}, {"join", "join.hk", "longest_pause", NULL},
        {"black_scholes", "black_scholes.hk", "normal", NULL}, {"black_scholes", "black_scholes.hk", "price", NULL},
        {"black_scholes", "black_scholes.hk", "value", NULL},
        {"neural_net", "neural_net.hk", "train", NULL}, {"neural_net", "neural_net.hk", "largest", NULL},
    };
    hdst__param_value pixels = {.name = "PIXELS", .bits = 784};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bool net = !strcmp(cases[i].folder, "neural_net");
        ast_function *f = hdst__module_function(example(cases[i].folder, cases[i].file, &pixels, net), cases[i].function);
        cr_assert_not_null(f, "%s", cases[i].function);
        if (!cases[i].missing) cr_assert_null(f->unsupported, "%s: %s", cases[i].function, f->unsupported);
        else cr_assert_str_eq(f->unsupported, cases[i].missing, "%s", cases[i].function);
    }
}

// --- Types, shown as S-expressions; conversions that the checker put in begin with a ':' ---

static const char *shape(const ast_expr *e)
{
    static const char *const ops[] = {"neg", "plus", "!", "~", "+", "-", "*", "/", "%", "<<", ">>", "&", "|", "^", "<", "<=", ">", ">=", "==", "!=",
        "&&", "||"};
    const char *type = hdst__type_name(&arena, e->type);
    switch (e->kind) {
    case AST_NUMBER: return hdst__arena_printf(&arena, "%llx:%s", (unsigned long long)e->number.bits, type);
    case AST_NAME: return e->name;
    case AST_UNARY: return hdst__arena_printf(&arena, "(%s:%s %s)", ops[e->op], type, shape(e->left));
    case AST_BINARY: return hdst__arena_printf(&arena, "(%s:%s %s %s)", ops[e->op], type, shape(e->left), shape(e->right));
    case AST_TERNARY: return hdst__arena_printf(&arena, "(?:%s %s %s %s)", type, shape(e->left), shape(e->right), shape(e->third));
    case AST_CONVERT: return hdst__arena_printf(&arena, "(%s%s %s)", e->implied ? ":" : "", type, shape(e->left));
    case AST_MEMBER: return hdst__arena_printf(&arena, "%s.%s", shape(e->left), e->field->name);
    case AST_INDEX: return hdst__arena_printf(&arena, "%s[%s]", shape(e->left), shape(e->right));
    default: break;
    }
    const char *text = hdst__arena_printf(&arena, "%s:%s", e->kind == AST_CALL ? e->name : "{}", type);
    for (size_t i = 0; i < e->arg_count; i++) text = hdst__arena_printf(&arena, "%s %s", text, shape(e->args[i]));
    return hdst__arena_printf(&arena, "(%s)", text);
}

static const char *shape_in(const char *parameters, const char *result, const char *expression)
{
    ast_module *m =
        compile(hdst__arena_printf(&arena,
                                   "const float C = 2; enum { E = 7 }; struct r { float x[2]; int8_t n; };\n"
                                   "%s f(%s) { return %s; }",
                                   result, parameters, expression));
    return shape(m->functions[0]->body->body[0]->value);
}

Test(check, arithmetic_converts_as_in_c)
{
    cr_assert_str_eq(shape_in("int8_t a, uint16_t b", "int", "a + b"), "(+:int32_t (:int32_t a) (:int32_t b))");
    cr_assert_str_eq(shape_in("int a, unsigned b", "unsigned", "a * b"), "(*:uint32_t (:uint32_t a) b)");
    cr_assert_str_eq(shape_in("int64_t a, uint32_t b", "int64_t", "a - b"), "(-:int64_t a (:int64_t b))");
    cr_assert_str_eq(shape_in("int64_t a, uint64_t b", "uint64_t", "a | b"), "(|:uint64_t (:uint64_t a) b)");
    cr_assert_str_eq(shape_in("uint64_t a, float b", "float", "a / b"), "(/:float (:float a) b)");
    cr_assert_str_eq(shape_in("float a, double b", "double", "a + b"), "(+:double (:double a) b)");
    cr_assert_str_eq(shape_in("bool a, bool b", "int", "a + b"), "(+:int32_t (:int32_t a) (:int32_t b))");
    cr_assert_str_eq(shape_in("uint8_t a", "int", "-a"), "(neg:int32_t (:int32_t a))");
    cr_assert_str_eq(shape_in("uint8_t a", "int", "~a"), "(~:int32_t (:int32_t a))");
}

Test(check, dot_and_sum_have_the_type_of_an_element_as_promoted)
{
    const char *text = "struct v { int8_t k[3]; float x[20]; double z[5]; };\n"
                       "map m(v a) -> (int32_t k, float x, double z) { return (sum(a.k), dot(a.x, a.x), sum(a.z)); }\n";
    const ast_function *m = hdst__module_function(compile(text), "m");
    const ast_expr *result = m->body->body[0]->value;
    static const hdst__kind kind[] = {HDST__I32, HDST__F32, HDST__F64};
    for (size_t i = 0; i < 3; i++) cr_assert_eq(result->args[i]->type->kind, kind[i]);
}

Test(check, functions_of_the_user_may_be_called_dot_and_sum)
{
    const ast_module *m = compile("float dot(float x) { return x; }\n"
                                  "reduce sum(float a, float b) { return a + b; }\n"
                                  "map m(float v) -> float { return dot(v); }\n");
    cr_assert_not_null(hdst__module_function(m, "sum"));
    cr_assert_not_null(hdst__module_function(m, "dot"));
}

Test(check, shifts_have_the_type_of_their_left_side)
{
    cr_assert_str_eq(shape_in("uint8_t a, int64_t b", "int", "a << b"), "(<<:int32_t (:int32_t a) (:uint32_t b))");
    cr_assert_str_eq(shape_in("uint64_t a", "uint64_t", "a >> 3"), "(>>:uint64_t a 3:uint32_t)");
}

Test(check, comparisons_and_logic_give_bool)
{
    cr_assert_str_eq(shape_in("float a, int b", "bool", "a < b"), "(<:bool a (:float b))");
    cr_assert_str_eq(shape_in("float a, int b", "bool", "a && !b"), "(&&:bool (:bool a) (!:bool (:bool b)))");
    cr_assert_str_eq(shape_in("float a, int b", "int", "a == b"), "(:int32_t (==:bool a (:float b)))");
}

Test(check, results_arguments_and_constants_convert)
{
    cr_assert_str_eq(shape_in("int a", "double", "a"), "(:double a)");
    cr_assert_str_eq(shape_in("int a", "float", "1"), "3f800000:float");
    cr_assert_str_eq(shape_in("double a", "int8_t", "(int8_t)a"), "(int8_t a)");
    cr_assert_str_eq(shape_in("float a", "float", "C * a + E"), "(+:float (*:float 40000000:float a) 40e00000:float)");
    cr_assert_str_eq(shape_in("float a", "int", "-E"), "fffffffffffffff9:int32_t");
    cr_assert_str_eq(shape_in("bool b, float x, double y", "double", "b ? x : y"), "(?:double b (:double x) y)");
    cr_assert_str_eq(shape_in("float a, int b", "float", "max(a, b)"), "(max:float a (:float b))");
    cr_assert_str_eq(shape_in("int a", "double", "sqrt(a)"), "(sqrt:double (:double a))");
    cr_assert_str_eq(shape_in("r a, uint8_t i", "float", "a.x[i] * a.n"), "(*:float a.x[(:int32_t i)] (:float a.n))");
    cr_assert_str_eq(
        shape_in("r a", "r", "(r){ { 1, 2 }, .n = 300 - 250 }"),
        "({}:struct r ({}:float[2] 3f800000:float 40000000:float) (:int8_t (-:int32_t 12c:int32_t fa:int32_t)))");
    cr_assert_str_eq(shape_in("float a[5]", "uint64_t", "len(a)"), "5:uint64_t");
    cr_assert_str_eq(shape_in("float a", "uint32_t", "as_uint(a) >> 31"), "(>>:uint32_t (as_uint:uint32_t a) 1f:uint32_t)");
}

Test(check, compound_assignments_say_in_which_type_they_are_done)
{
    ast_module *m = compile("int8_t f(float d) { int8_t n = 1; float x = 2; x += d * n; n += x; n <<= 3; n++; return n + (int8_t)x; }");
    ast_stmt **s = m->functions[0]->body->body;
    cr_assert_str_eq(shape(s[2]->value), "(*:float d (:float n))");
    cr_assert_str_eq(shape(s[3]->value), "x");          // n is converted to float, the sum back to int8_t
    cr_assert_str_eq(shape(s[4]->value), "3:uint32_t");
    cr_assert_str_eq(shape(s[5]->value), "1:int32_t");
}

Test(check, accumulators_take_values_of_their_cells_type)
{
    ast_module *m = compile("struct t { float x; uint32_t n; int16_t low; };\n"
                            "map f(double v, accum t a[], accum double s, accum bool any) { a[3].x += v; a[1].n++; "
                            "acc_min(a[0].low, v); s -= 1; any |= v > 0; }");
    ast_stmt **s = m->functions[0]->body->body;
    cr_assert_str_eq(shape(s[0]->value), "(:float v)");
    cr_assert(s[0]->accumulates && s[1]->accumulates && s[3]->accumulates);
    cr_assert_str_eq(shape(s[1]->value), "1:uint32_t");
    cr_assert_str_eq(shape(s[2]->value), "(acc_min:void a[0:int32_t].low (:int16_t v))");
    cr_assert_eq(s[2]->value->builtin, HDST__BI_ACC_MIN);
    cr_assert_str_eq(shape(s[3]->value), "3ff0000000000000:double");
    cr_assert_str_eq(shape(s[4]->value), "(>:bool v 0:double)");
}

// --- Constants and params ---

Test(check, constants_are_folded_with_the_rules_of_the_language)
{
    ast_module *m = compile("enum { A = 3, B, C = -A, D = 1 << 33, E = 7 / 2 * 2 };\n"
                            "const uint8_t W = (uint8_t)(255 + A);\n"
                            "const double H = 1.0f / 3;\n"
                            "const int T[2][2] = { { A, B }, { 5 } };\n"
                            "const int64_t WRAP = (int)(2147483647 + 1);\n"
                            "const bool Y = A < B && !(C > 0);\n"
                            "param uint32_t N = A * 2;\n"
                            "struct s { float x[N + 1]; };");
    static const struct { const char *name; uint64_t bits; } cases[] = {
        {"A", 3}, {"B", 4}, {"C", (uint64_t)-3}, {"D", 2}, {"E", 6}, {"W", 2}, {"H", 0x3fd5555560000000u}, {"WRAP", (uint64_t)INT32_MIN}, {"Y", 1}, {"N", 6},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        size_t k = 0;
        while (strcmp(m->globals[k]->name, cases[i].name)) k++;
        cr_assert_eq(m->globals[k]->bits, cases[i].bits, "%s is %llx", cases[i].name, (unsigned long long)m->globals[k]->bits);
    }
    cr_assert_eq(hdst__module_record(m, "s")->size, 28);
}

Test(check, params_come_from_the_caller_then_from_the_default)
{
    hdst__param_value params[] = {{.name = "N", .bits = 5}, {.name = "eps", .is_real = true, .real = 0.25}, {.name = "on", .bits = 1}};
    hdst__front_options options = {.params = params, .param_count = 3};
    ast_module *m = compile_with("param uint32_t N = 9; param float eps; param bool on = false; param int8_t other = -4;", &options);
    cr_assert_eq(m->globals[0]->bits, 5);
    cr_assert_eq(m->globals[1]->bits, 0x3e800000);
    cr_assert_eq(m->globals[2]->bits, 1);
    cr_assert_eq(m->globals[3]->bits, (uint64_t)-4);
}

// Integers keep their value or are refused; a float is what C makes of the number, rounded once.
Test(check, given_params_keep_their_value)
{
    static const struct { const char *type; hdst__param_value given; bool good; uint64_t bits; } cases[] = {
        {"int64_t", {.bits = (uint64_t)INT64_MIN}, true, (uint64_t)INT64_MIN},
        {"int64_t", {.bits = (UINT64_C(1) << 53) + 1, .is_unsigned = true}, true, (UINT64_C(1) << 53) + 1},
        {"int64_t", {.bits = UINT64_C(1) << 63, .is_unsigned = true}, false, 0},
        {"int32_t", {.bits = UINT64_MAX, .is_unsigned = true}, false, 0},
        {"uint64_t", {.bits = UINT64_MAX, .is_unsigned = true}, true, UINT64_MAX},
        {"uint64_t", {.bits = UINT64_MAX}, false, 0},
        {"uint32_t", {.bits = UINT32_MAX}, true, UINT32_MAX},
        {"int64_t", {.is_real = true, .real = 0x1p63}, false, 0},
        {"int64_t", {.is_real = true, .real = -0x1p63}, true, (uint64_t)INT64_MIN},
        {"uint64_t", {.is_real = true, .real = 0x1p63}, true, UINT64_C(1) << 63},
        {"uint64_t", {.is_real = true, .real = 0x1p64}, false, 0},
        {"int8_t", {.is_real = true, .real = NAN}, false, 0},
        {"float", {.bits = (UINT64_C(1) << 54) + (UINT64_C(1) << 30) + 1}, true, 0x5a800001},      // a double would lose the 1, and round to even
        {"float", {.is_real = true, .real = 1e39}, false, 0},
        {"float", {.is_real = true, .real = INFINITY}, true, 0x7f800000},
        {"double", {.bits = UINT64_MAX, .is_unsigned = true}, true, 0x43f0000000000000},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        hdst__param_value given = cases[i].given;
        given.name = "N";
        const hdst__front_options options = {.params = &given, .param_count = 1};
        const char *text = hdst__arena_printf(&arena, "param %s N;", cases[i].type);
        ast_module *m = hdst__module_compile(&diags, "test.hk", text, strlen(text), &options);
        cr_expect_eq(diags.errors == 0, cases[i].good, "case %zu", i);
        if (cases[i].good) cr_expect_eq(m->globals[0]->bits, cases[i].bits, "case %zu: %llx", i, (unsigned long long)m->globals[0]->bits);
        diags.errors = 0;
    }
}

// --- Imports ---

static bool from_memory(const char *name, const char *importing, char **text, size_t *length, const hdst__allocator *allocator, void *user)
{
    (void)importing;
    for (const char *const *file = user; *file; file += 2) {
        if (strcmp(*file, name)) continue;
        *text = hdst__strdup(allocator, file[1]);
        *length = strlen(file[1]);
        return true;
    }
    return false;
}

Test(check, files_may_import_one_another)
{
    static const char *const files[] = {
        "a.hk", "import \"b.hk\"; import \"./t.hk\"; import \"p.yaml\"; float twice(float x) { return 2 * x; }",
        "b.hk", "import \"a.hk\"; import \"p.yaml\"; const float HALF = 0.5f; float four(float x) { return twice(twice(x)); }",
        "p.yaml", "params: [D]\nrecords:\n  point:\n    fields:\n      - {name: x, type: float32, count: D}\n", NULL,
    };
    hdst__param_value d = {.name = "D", .bits = 2};
    hdst__front_options options = {.params = &d, .param_count = 1, .read_import = from_memory, .import_user = (void *)files};
    ast_module *m = compile_with("import \"a.hk\"; import \"b.hk\"; param uint32_t D;\n"
                                 "map f(point p, accum double s) { s += four(p.x[D - 1]) * HALF; }",
                                 &options);
    cr_assert_eq(m->function_count, 3);
    cr_assert_eq(hdst__module_record(m, "point")->size, 8);
}

// --- Reduces ---

static const ast_function *reduce(const char *text)
{
    return compile(hdst__arena_printf(&arena,
                                      "struct r { double x; int8_t n; struct_in in; };\n"
                                      "struct struct_in { float lo; bool any; uint32_t h[2]; };\n"
                                      "%s",
                                      text))
        ->functions[0];
}

#define WHOLE "(r){ .x = a.x + b.x, .n = b.n + a.n, .in = { min(a.in.lo, b.in.lo), a.in.any || b.in.any, { a.in.h[0] | b.in.h[0], a.in.h[1] | b.in.h[1] } } }"

Test(check, field_wise_reduces_are_recognised)
{
    static const char *const texts[] = {
        "reduce f(double a, double b) { return a + b; }", "reduce f(double a, double b) { return b + a; }", "reduce f(int8_t a, int8_t b) { return a + b; }",
        "reduce f(float a, float b) identity { INFINITY } { return min(a, b); }", "reduce f(uint8_t a, uint8_t b) identity { 255 } { return a & b; }",
        "reduce f(r a, r b) { return " WHOLE "; }", "reduce f(bool a, bool b) { return a && b; }",
        "reduce f(r a, r b) identity { .in = { .lo = INFINITY } } { return " WHOLE "; }",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        const ast_function *f = reduce(texts[i]);
        cr_assert_eq(f->reduce_class, AST_FIELD_WISE, "%s: %s", texts[i], f->class_reason);
    }
}

Test(check, other_reduces_say_why_not)
{
    static const struct { const char *text; ast_reduce_class class; const char *reason; } cases[] = {
        {"reduce f(double a, double b) { return a - b; }", AST_ORDERED, "the result is not a OP b"},
        {"associative reduce f(double a, double b) { return a * b; }", AST_ASSOCIATIVE, "not declared commutative"},
        {"associative commutative reduce f(int a, int b) { int m = a > b ? a : b; return m; }", AST_ASSOCIATIVE_COMMUTATIVE, "more than one return"},
        {"reduce f(double a, double b) identity { 1 } { return a + b; }", AST_ORDERED, "identity of the result"},
        {"reduce f(double a, double b) { return a + a; }", AST_ORDERED, "the result is not a OP b"},
        {"reduce f(r a, r b) { return (r){ .x = a.x + b.x, .n = a.n + b.n }; }", AST_ORDERED, "in.lo is not given"},
        {"reduce f(r a, r b) { return a; }", AST_ORDERED, "not built from its parts"},
        {"reduce f(bool a, bool b) { return a + b; }", AST_ORDERED, "the result is not a OP b"},
        {"reduce f(int a, int b) { return a && b; }", AST_ORDERED, "the result is not a OP b"},
        {"associative commutative reduce f(int a, int b) { return a || b; }", AST_ASSOCIATIVE_COMMUTATIVE, "the result is not a OP b"},
        {"reduce f(r a, r b) { return (r){ .x = a.x + b.x, .n = b.n + a.n, .in = { min(a.in.lo, b.in.lo), a.in.any || b.in.any,"
         " { a.in.h[0] | b.in.h[0], max(a.in.h[1], b.in.h[1]) } } }; }", AST_ORDERED, "in.h[1] is combined in another way than the elements before it"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const ast_function *f = reduce(cases[i].text);
        cr_assert_eq(f->reduce_class, cases[i].class, "%s", cases[i].text);
        cr_assert_not_null(strstr(f->class_reason, cases[i].reason), "%s: %s", cases[i].text, f->class_reason);
    }
}

// --- Warnings ---

static void warns(const char *text, const char *warning)
{
    size_t before = diags.count;
    compile(text);
    cr_assert_eq(diags.count - before, *warning ? 1 : 0, "%s: %s", text, messages());
    if (*warning) cr_assert_not_null(strstr(diags.items[before].message, warning), "%s", diags.items[before].message);
}

Test(check, warns_where_c_programmers_slip)
{
    warns("float f(float x) { return 0.5 * x; }", "0.5 is a double");
    warns("float f(float x) { return 0.5f * x; }", "");
    warns("double f(double x) { return 0.5 * x; }", "");
    warns("float f(float x) { float y = 0.5; y += 1e-3; return x + y; }", "1e-3 is a double");
    warns("bool f(int a, unsigned b) { return a < b; }", "compared as uint32_t");
    warns("bool f(uint8_t a, unsigned b) { return a < b && 3 < b; }", "");
    warns("int f(int a) { uint8_t b = 300; return a + b; }", "300 does not fit uint8_t");
    warns("int f(int a) { uint32_t b = -1; return a + b; }", "");
    warns("int f(int a) { int unused = a; return a; }", "never read");
    warns("int f(int a) { f2(a); return a; }\nint f2(int a) { return a; }", "not used");
}

// --- Texts that were made to hurt: they end, and most with an error ---

static char *repeat(const char *format, int count)      // format takes the number of the copy, three times at most
{
    hdst__buffer text;
    hdst__buffer_init(&text, NULL);
    for (int i = 0; i < count; i++) hdst__buffer_printf(&text, format, i, i + 1, i + 1);
    char *copy = hdst__arena_strdup(&arena, hdst__buffer_text(&text));
    hdst__buffer_destroy(&text);
    return copy;
}

Test(check, long_chains_of_declarations_are_refused)
{
    static const struct { const char *format, *error; } cases[] = {
        {"const int a%d = a%d;\n", "depend on one another"}, {"struct s%d { s%d x; };\n", "depend on one another"},
        {"enum { e%d = e%d };\n", "depend on one another"},
        {"int f%d(int a) { return f%d(a); }\n", "more than 64 deep"}, {"int f%1$d(int a) { return f%2$d(a) + f%2$d(a); }\n", "grows too large"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        size_t before = diags.count;
        const int count = i == 4 ? 30 : 2000;
        const char *text = hdst__arena_printf(&arena, "%sint f%d(int a) { return a; }", repeat(cases[i].format, count), count);
        hdst__module_compile(&diags, "t.hk", text, strlen(text), NULL);
        cr_assert_gt(diags.count, before);
        cr_assert_not_null(strstr(diags.items[before].message, cases[i].error), "%s", diags.items[before].message);
        hdst__diags_init(&diags, &arena);
    }
}

Test(check, too_much_of_anything_is_refused)
{
    static const struct { const char *before, *format, *after, *error; int count; } cases[] = {
        {"int f(int a) { ", "int x%d;", " return a; }", "more than 1000 variables", 1100}, {"struct s { ", "int x%d;", " };", "more than 10000 fields", 11000},
        {"struct s { float x", "[1]", "; };", "more than 8 dimensions", 50000}, {"int f(int a", ", int b%d", ") { return a; }", "more than 64 parameters", 70},
        {"// ", "0123456789", "", "a kernel file of more than", 110000}, {"", "import \"f%d.hk\";", "", "cannot read", 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *text = hdst__arena_printf(&arena, "%s%s%s", cases[i].before, repeat(cases[i].format, cases[i].count), cases[i].after);
        hdst__module_compile(&diags, "t.hk", text, strlen(text), NULL);
        cr_assert_gt(diags.count, 0, "%s", cases[i].error);
        cr_assert_not_null(strstr(diags.items[0].message, cases[i].error), "%s", diags.items[0].message);
        hdst__diags_init(&diags, &arena);
    }
}

static bool endless_imports(const char *name, const char *importing, char **text, size_t *length, const hdst__allocator *allocator, void *user)
{
    (void)importing, (void)user;
    char next[64];
    snprintf(next, sizeof next, "import \"%d.hk\";", atoi(name) + 1);
    *text = hdst__strdup(allocator, next);
    *length = strlen(next);
    return *text != NULL;
}

Test(check, imports_that_never_end_are_refused)
{
    hdst__front_options options = {.read_import = endless_imports};
    hdst__module_compile(&diags, "t.hk", "import \"0.hk\";", 14, &options);
    cr_assert_eq(diags.errors, 1);
    cr_assert_str_eq(diags.items[0].message, "more than 256 files are imported");
}

// --- Out of memory ---

typedef struct failing_allocator {
    size_t calls, fail_at, live;
} failing_allocator;

static void *failing_allocate(size_t bytes, void *user)
{
    failing_allocator *f = user;
    if (++f->calls == f->fail_at) return NULL;
    f->live++;
    return malloc(bytes);
}

static void *failing_reallocate(void *pointer, size_t bytes, void *user)
{
    failing_allocator *f = user;
    if (++f->calls == f->fail_at) return NULL;
    f->live += pointer == NULL;
    return realloc(pointer, bytes);
}

static void counted_release(void *pointer, void *user)
{
    if (pointer) ((failing_allocator *)user)->live--;
    free(pointer);
}

// true: out of memory
static bool compile_or_fail(failing_allocator *f, const hdst__front_options *options, const char *text)
{
    hdst__allocator allocator = {failing_allocate, failing_reallocate, counted_release, f};
    hdst__arena small;
    jmp_buf handler;
    hdst__arena_init(&small, &allocator, &handler);
    if (setjmp(handler)) {
        hdst__arena_destroy(&small);
        return true;
    }
    hdst__diags own;
    hdst__diags_init(&own, &small);
    hdst__module_compile(&own, "t.hk", text, strlen(text), options);
    cr_assert(own.errors == 0 || f->fail_at <= f->calls);     // an import that could not be copied is reported as unreadable
    hdst__arena_destroy(&small);
    return false;
}

Test(check, every_allocation_may_fail)
{
    const char *files[] = {"big.hk", NULL, NULL};
    const char *text = "import \"big.hk\";\nmap m(float a) -> float { return f7(a); }";
    files[1] = repeat("struct s%1$d { float x[4]; }; float f%1$d(float x) { s%1$d y; y.x[0] = x; return y.x[0] * 3; }\n", 300);
    hdst__front_options options = {.read_import = from_memory, .import_user = files};
    size_t failures = 0;
    for (size_t n = 1;; n++) {
        failing_allocator f = {.fail_at = n};
        bool failed = compile_or_fail(&f, &options, text);
        cr_assert_eq(f.live, 0, "allocation %zu: %zu left", n, f.live);
        failures += failed;
        if (f.calls < n) break;
    }
    cr_assert_gt(failures, 3);
}
