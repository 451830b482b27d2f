// SPDX-License-Identifier: Apache-2.0
// The scalar passes one by one, on small kernels: what the dump says before and after.
#include "codegen/front/front.h"
#include "codegen/lower/lower.h"
#include "codegen/pass/passes.h"

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

TestSuite(pass, .init = set_up, .fini = tear_down);

static const char declarations[] = "struct p { float x; float y; float z; float w; double d; int32_t n; uint32_t k; bool on; float a[4]; };\n"
                                   "struct r { float x; double d; int32_t n; uint64_t u; bool b; };\n"
                                   "struct row { float x[4]; };\n"
                                   "const float TABLE[3] = { 1.5f, 2.5f, 3.5f };\n"
                                   "float times(float a, float b) { return a * b; }\n";

// The function `f` of a kernel, as lowered.
static ir_func *lowered(const char *text)
{
    const char *source = hdst__arena_printf(&arena, "%s%s", declarations, text);
    hdst__front_options options = {0};
    const ast_module *module = hdst__module_compile(&diags, "t.hk", source, strlen(source), &options);
    hdst__buffer report;
    hdst__buffer_init(&report, NULL);
    hdst__diags_render(&diags, &report);
    cr_assert_eq(diags.errors, 0, "%s", hdst__buffer_text(&report));
    hdst__buffer_destroy(&report);
    ir_func *func = hdst__lower(&arena, module, hdst__module_function(module, "f"));
    cr_assert_not_null(func);
    return func;
}

static const char *dump(const ir_func *func)
{
    cr_expect_null(hdst__ir_verify(func), "%s", hdst__ir_verify(func));
    hdst__buffer text;
    hdst__buffer_init(&text, NULL);
    hdst__ir_dump(func, &text);
    char *copy = hdst__arena_strdup(&arena, hdst__buffer_text(&text));
    hdst__buffer_destroy(&text);
    return copy;
}

static const char *body(const ir_func *func)
{
    return strstr(dump(func), "\n{\n") + 3;
}

static int count(const char *text, const char *part)
{
    int found = 0;
    for (; (text = strstr(text, part)); text += strlen(part)) found++;
    return found;
}

#define EXPECT_BODY(func, expected) cr_expect_str_eq(body(func), (expected), "%s", body(func))
#define EXPECT_COUNT(func, part, n) cr_expect_eq(count(body(func), (part)), (n), "%d of '%s' in\n%s", count(body(func), (part)), (part), body(func))

// --- fma ---

static void expect_fma(const char *expression, const char *expected)
{
    ir_func *func = lowered(hdst__arena_printf(&arena, "map f(p p, accum double t) { float v = %s; t += v; }", expression));
    hdst__pass_fma_placement(func);
    const char *line = hdst__arena_printf(&arena, "  v = %s\n", expected);
    cr_expect(strstr(body(func), line), "%s: %s", expression, body(func));
    hdst__diags_init(&diags, &arena);
}

Test(pass, fma_takes_the_leftmost_product)
{
    expect_fma("p.x * p.y + p.z", "fma(p.x, p.y, p.z)");
    expect_fma("p.z + p.x * p.y", "fma(p.x, p.y, p.z)");
    expect_fma("p.x * p.y + p.z * p.w", "fma(p.x, p.y, mul(p.z, p.w))");
    expect_fma("p.x * p.y - p.z", "fma(p.x, p.y, neg(p.z))");
    expect_fma("p.x * p.y - p.z * p.w", "fma(p.x, p.y, neg(mul(p.z, p.w)))");
    expect_fma("p.z - p.x * p.y", "fma(neg(p.x), p.y, p.z)");
    expect_fma("p.x * p.y + p.z * p.w + p.x", "add(fma(p.x, p.y, mul(p.z, p.w)), p.x)");
    expect_fma("p.x + p.y * p.z + p.w * p.x", "fma(p.w, p.x, fma(p.y, p.z, p.x))");
    expect_fma("p.x * p.y * p.w + p.z", "fma(mul(p.x, p.y), p.w, p.z)");
    expect_fma("(p.x * p.y) + p.z", "fma(p.x, p.y, p.z)");
}

Test(pass, fma_does_not_cross_calls_conversions_or_signs)
{
    expect_fma("times(p.x, p.y) + p.z", "add(times, p.z)");
    expect_fma("(float)(p.x * p.y) + p.z", "add(f32(mul(p.x, p.y)), p.z)");
    expect_fma("-(p.x * p.y) + p.z", "add(neg(mul(p.x, p.y)), p.z)");
    expect_fma("(p.on ? p.x * p.y : p.w) + p.z", "add(select(p.on, mul(p.x, p.y), p.w), p.z)");
    expect_fma("(float)(p.d + p.x * p.y)", "f32(add(p.d, f64(mul(p.x, p.y))))");
}

Test(pass, fma_leaves_integers_and_accumulators)
{
    ir_func *func = lowered("map f(p p, accum float t, accum int32_t n) { float v = p.z; v += p.x * p.y;"
                            " t += p.x * p.y; t -= v * p.y + p.z; n += p.n * p.n + 1; }");
    hdst__pass_fma_placement(func);
    EXPECT_BODY(func, "  v = p.z\n"
                      "  v = fma(p.x, p.y, v)\n"
                      "  accum t.value += mul(p.x, p.y)\n"
                      "  accum t.value += neg(fma(v, p.y, p.z))\n"
                      "  accum n.value += add(mul(p.n, p.n), 1)\n"
                      "}\n");
}

// --- fold ---

Test(pass, fold_keeps_every_bit_of_floats)
{
    ir_func *func = lowered("map f(p p) -> r { return (r){ .x = p.x + 0.0f + (p.y - 0.0f) * 1.0f,"
                            " .n = p.n * 1 + 0, .d = -0.0 + p.d, .u = p.k * 0, .b = !(p.n < 3) && true }; }");
    hdst__pass_constant_folding(func);
    EXPECT_BODY(func, "  store result.x = add(add(p.x, 0f), p.y)\n"        // x + 0 is not x when x is -0
                      "  store result.n = p.n\n"
                      "  store result.d = p.d\n"
                      "  store result.u = 0ul\n"
                      "  store result.b = ge(p.n, 3)\n"
                      "}\n");
}

Test(pass, fold_adds_no_zero_to_what_is_never_minus_zero)
{
    ir_func *func = lowered("map f(p p) -> r { return (r){ .x = 0.0f + abs(p.x), .d = (p.x + p.n) + 0.0f }; }");
    hdst__pass_constant_folding(func);
    EXPECT_COUNT(func, "store result.x = abs(p.x)", 1);
    EXPECT_COUNT(func, "store result.d = f64(add(p.x, f32(p.n)))", 1);      // the integer is never -0, so the sum is not
    func = lowered("map f(p p) -> r { float z = 0; return (r){ .x = p.x * p.x + 0.0f, .d = p.x * p.y + 0.0f }; }");
    hdst__pass_fma_placement(func);
    hdst__pass_constant_folding(func);
    EXPECT_COUNT(func, "store result.x = mul(p.x, p.x)", 1);
    EXPECT_COUNT(func, "fma(p.x, p.y, 0f)", 1);      // -0 where one is -0 or tiny, +0 here
}

Test(pass, fold_drops_what_is_never_taken)
{
    ir_func *func = lowered("enum { OFF }; map f(p p) -> r { r r; if (OFF == 1) r.n = 1; else r.n = 2;"
                            " for (int i = 3; i < 2; i++) r.n = 7; while (OFF == 2) r.n = 8; return r; }");
    hdst__pass_constant_folding(func);
    EXPECT_COUNT(func, "if", 0);
    EXPECT_COUNT(func, "for", 0);
    EXPECT_COUNT(func, "loop", 0);
    EXPECT_COUNT(func, "r_n = 2", 1);
}

Test(pass, fold_reads_constant_arrays)
{
    ir_func *func = lowered("map f(p p) -> r { return (r){ .x = TABLE[1] + p.x }; }");
    hdst__pass_constant_folding(func);
    EXPECT_COUNT(func, "store result.x = add(2.5f, p.x)", 1);
}

// --- checks ---

static void check_and_fold(ir_func *func)
{
    hdst__pass_constant_folding(func);
    hdst__pass_bounds_checks(func);
    hdst__pass_constant_folding(func);
}

Test(pass, checks_are_proved_by_the_bounds_of_loops)
{
    ir_func *func = lowered("map f(p p, broadcast row c[], accum double t) {"
                            " for (uint32_t j = 0; j < len(c); j++) for (int32_t i = 0; i < 4; i++) t += c[j].x[i] + p.a[i]; }");
    EXPECT_COUNT(func, "check", 3);
    check_and_fold(func);
    EXPECT_COUNT(func, "check", 0);
    EXPECT_COUNT(func, "select", 0);
    EXPECT_COUNT(func, "c[j].x[u32(i)]", 1);
}

Test(pass, checks_are_proved_by_masks_remainders_and_narrow_types)
{
    ir_func *func = lowered("map f(p p, accum double t) { t += p.a[p.k & 3] + p.a[p.k % 4] + p.a[p.k >> 30] + p.a[3 - (p.k & 1)]; }");
    check_and_fold(func);
    EXPECT_COUNT(func, "check", 0);
}

Test(pass, checks_that_may_fail_stay)
{
    ir_func *func = lowered("map f(p p, broadcast row c[], broadcast row e[], accum double t) {"
                            " for (uint32_t j = 0; j < len(c); j++) t += e[j].x[0];"        // another table's length
                            " for (uint32_t i = 0; i <= 4; i++) t += p.a[i];"               // one too far
                            " for (int32_t i = p.n; i < 4; i++) t += p.a[i];"               // may begin below zero
                            " t += p.a[p.n & 7]; t += p.a[p.n % 4]; t += p.a[p.k - 1]; }");
    check_and_fold(func);
    EXPECT_COUNT(func, "check", 6);
}

Test(pass, a_check_is_made_once_while_its_operands_stay)
{
    ir_func *func = lowered("map f(p p, accum row t[]) { uint32_t i = p.k; t[i].x[0] += p.x; t[i].x[1] += p.y; i += 1; t[i].x[2] += p.z; }");
    check_and_fold(func);
    EXPECT_COUNT(func, "check", 2);
}

Test(pass, checks_that_every_turn_repeats_are_made_before_the_loop)
{
    ir_func *func =
        lowered("map f(p p, accum row t[], accum double s) { for (uint32_t i = 0; i < 4; i++) t[p.k].x[i] += p.a[i]; "
                "for (uint32_t i = 0; i < p.k; i++) s += p.n / p.k; }");
    check_and_fold(func);
    hdst__pass_loop_checks(func);
    EXPECT_COUNT(func, "\n    check", 0);
    EXPECT_COUNT(func, "\n  check", 2);
    EXPECT_COUNT(func, "\n  divisor = p.k", 1);     // goes with its check
    EXPECT_COUNT(func, ": or(ge(0u, p.k), ne(divisor, 0u))", 1);     // the second loop may have no turn
}

Test(pass, a_check_after_one_that_changes_stays_in_its_loop)
{
    ir_func *func = lowered("map f(p p, broadcast row c[], accum row t[]) { for (uint32_t i = 0; i < 4; i++) t[p.k].x[i] += c[p.k + i].x[0]; }");
    check_and_fold(func);
    const int checks = count(body(func), "\n    check");
    hdst__pass_loop_checks(func);
    EXPECT_COUNT(func, "\n    check", checks - 1);     // that of t comes first
}

// --- contract ---

Test(pass, an_array_that_is_filled_and_read_becomes_an_expression)
{
    ir_func *func =
        lowered("map f(p p, broadcast row c, accum double t) { float e[4]; for (uint32_t i = 0; i < 4; i++) { "
                "float d = p.a[i] - c.x[i]; e[i] = d * d; }"
                " for (uint32_t i = 0; i < 4; i++) t += e[i]; t += e[3]; }");
    check_and_fold(func);
    hdst__pass_array_contraction(func);
    hdst__pass_dead_code(func);
    EXPECT_COUNT(func, "e[", 0);
    EXPECT_COUNT(func, "for ", 1);
    EXPECT_COUNT(func, "= mul(sub(p.a[i_2], c.x[i_2]), sub(p.a[i_2], c.x[i_2]))", 1);
    EXPECT_COUNT(func, "= mul(sub(p.a[3u], c.x[3u]), sub(p.a[3u], c.x[3u]))", 1);
}

static void expect_array(const char *statements)
{
    ir_func *func = lowered(hdst__arena_printf(&arena, "map f(p p, accum double t) { float e[4]; float y = p.y; %s }", statements));
    check_and_fold(func);
    const char *before = body(func);
    hdst__pass_array_contraction(func);
    EXPECT_BODY(func, before);
    hdst__diags_init(&diags, &arena);
}

Test(pass, arrays_that_change_or_cost_much_stay)
{
    expect_array("for (uint32_t i = 0; i < 4; i++) e[i] = p.a[i]; e[2] = 1; for (uint32_t i = 0; i < 4; i++) t += e[i];");
    expect_array("for (uint32_t i = 0; i < 4; i++) e[i] = p.a[i] * y; y = 2; for (uint32_t i = 0; i < 4; i++) t += e[i];");
    expect_array("for (uint32_t i = 0; i < 3; i++) e[i] = p.a[i]; for (uint32_t i = 0; i < 4; i++) t += e[i];");
    expect_array("for (uint32_t i = 0; i < 4; i++) e[i] = y / p.a[i]; for (uint32_t i = 0; i < 4; i++) t += e[i];");
    expect_array("for (uint32_t i = 0; i < 4; i++) { y += p.a[i]; e[i] = y; } for (uint32_t i = 0; i < 4; i++) t += e[i];");
    expect_array("for (uint32_t i = 0; i < 4; i++) e[i] = p.a[i]; for (uint32_t i = 0; i < 4; i++) if (e[i] > 1) t += 1;");
    expect_array("for (uint32_t k = 0; k < 2; k++) { t += e[k]; for (uint32_t i = 0; i < 4; i++) e[i] = p.a[i]; }");
}

// --- unroll, unread, exits ---

Test(pass, unroll_takes_short_constant_loops_only)
{
    ir_func *func = lowered("map f(p p, accum double t) { for (uint32_t i = 0; i < 4; i++) t += p.a[i]; for (uint32_t i = 0; i < 9; i++) t += p.x;"
                            " for (uint32_t i = 0; i < 3; i++) { if (p.on) break; t += p.y; } for (uint32_t i = 1; i < 8; i += 3) t += i; }");
    hdst__pass_loop_unrolling(func);
    EXPECT_COUNT(func, "for", 2);       // nine turns; a break
    check_and_fold(func);
    EXPECT_COUNT(func, "p.a[3u]", 1);
    EXPECT_COUNT(func, "+= 7d", 1);
}

Test(pass, unread_variables_go_and_leaves_are_marked)
{
    ir_func *func = lowered("map f(p p, broadcast row c, accum double t) { float a = p.x; float b = a + 1; b += b;"
                            " int32_t n = 0; for (int32_t i = 0; i < p.n; i++) n += i; t += p.y; }");
    hdst__pass_dead_code(func);
    EXPECT_BODY(func, "  accum t.value += f64(p.y)\n}\n");
    cr_expect_eq(func->var_count, 0);
    const hdst__record *record = func->params[0].record;
    for (size_t i = 0; i < record->leaf_count; i++) cr_expect_eq(func->params[0].leaf_used[i], !strcmp(record->leaves[i].path, "y"));
    cr_expect_not(func->params[1].leaf_used[0]);
}

Test(pass, exits_leave_no_return_or_continue)
{
    ir_func *func = lowered("map f(p p, accum double t) { for (uint32_t i = 0; i < p.k; i++) { if (p.a[i & 3] < 0) continue;"
                            " if (p.x < p.y) return; t += 1; } t += 2; }");
    hdst__pass_structured_exits(func);
    EXPECT_COUNT(func, "continue", 0);
    EXPECT_COUNT(func, "return", 0);
    EXPECT_COUNT(func, "break", 1);
}

// --- uniform, if-convert ---

static bool varies(const ir_func *func, const char *name)
{
    for (size_t i = 0; i < func->var_count; i++)
        if (!strcmp(func->vars[i].name, name)) return func->vars[i].varying;
    cr_assert_fail("no variable %s", name);
    return false;
}

Test(pass, uniform_is_what_does_not_depend_on_the_record)
{
    ir_func *func = lowered("map f(p p, broadcast row c[], accum double t) {"
                            " float u = c[0].x[1]; float v = c[0].x[1]; float w = p.x; uint32_t n = 0; uint32_t m = 0;"
                            " for (uint32_t j = 0; j < len(c); j++) { v += c[j].x[0]; if (w > 0) n = 1; if (v > 0) m = j; }"
                            " for (uint32_t g = 0; g < len(c); g++) { if (p.on) break; u = c[g].x[0]; }"
                            " t += u + v + w + n + m + c[p.k & 1].x[0]; }");
    hdst__pass_uniformity(func);
    cr_expect_not(varies(func, "v"));
    cr_expect_not(varies(func, "j"));
    cr_expect_not(varies(func, "m"));
    cr_expect(varies(func, "w"));
    cr_expect(varies(func, "n"));       // set where only some records come
    cr_expect(varies(func, "u"));       // set in a loop that some records have left
    cr_expect(varies(func, "g"));
}

Test(pass, if_convert_takes_assignments_under_varying_conditions)
{
    ir_func *func = lowered("map f(p p, broadcast float c, accum double t) { float s = p.x; int32_t n = 0;"
                            " if (p.on) { if (p.n > 2) { s = p.y; n = 1; } else s = p.z; }"
                            " if (c > 0) n = 2;"
                            " if (p.x > 0) t += s;"
                            " t += s * n; }");
    hdst__pass_uniformity(func);
    hdst__pass_if_conversion(func);
    EXPECT_COUNT(func, "if gt(c.value, 0f)", 1);      // all records go the same way
    EXPECT_COUNT(func, "if gt(p.x, 0f)", 1);    // it adds
    EXPECT_COUNT(func, "if ", 2);
}

// --- Reduces ---

Test(pass, a_field_wise_reduce_accumulates)
{
    ir_func *func = lowered("reduce f(r a, r b) { return (r){ .x = b.x + a.x, .d = min(a.d, b.d), .n = a.n | b.n, .u = max(b.u, a.u), .b = a.b && b.b }; }");
    EXPECT_BODY(func, "  accum result.x += a.x\n"
                      "  accum result.d min= a.d\n"
                      "  accum result.n |= a.n\n"
                      "  accum result.u max= a.u\n"
                      "  accum result.b &= a.b\n"
                      "}\n");
}

Test(pass, elements_of_an_array_that_combine_in_two_ways_make_no_accumulation)
{
    ir_func *func = lowered("reduce f(row a, row b) { return (row){ .x = { a.x[0] + b.x[0], min(a.x[1], b.x[1]), a.x[2] + b.x[2], a.x[3] + b.x[3] } }; }");
    cr_expect_eq(func->params[1].kind, IR_INPUT);
    EXPECT_COUNT(func, "store", 4);
}
