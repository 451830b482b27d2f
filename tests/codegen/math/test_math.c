// SPDX-License-Identifier: Apache-2.0
// The mathematics of the kernel language: how far each function is from the C library's of a wider type, and that all back ends compute the same bits.
#include "bench/math_functions.h"
#include "tests/hdst/support.h"

#include <math.h>
#include <stdlib.h>

// Calls of `look` with up to MATH_TOGETHER functions at a time: a kernel for each function would take long to compile.
static void in_lots(int args, void (*look)(const math_function *const *functions, size_t count, bool is_double))
{
    for (int is_double = 0; is_double < 2; is_double++) {
        const math_function *lot[MATH_TOGETHER];
        size_t count = 0;
        for (size_t i = 0; i < math_function_count; i++) {
            if (math_functions[i].args == args) lot[count++] = &math_functions[i];
            if (count == MATH_TOGETHER || (count && i + 1 == math_function_count)) look(lot, count, is_double), count = 0;
        }
    }
}

static void make_points(const math_function *f, bool is_double, size_t n, void *points)
{
    if (is_double) math_points_double(f, 0, n, points);
    else math_points_float(f, 0, n, points);
}

// --- Accuracy, on the interpreter ---

enum { FEW = 60000 };
static union { math_pair_float f[FEW]; math_pair_double d[FEW]; } points;
static union { float f[FEW * MATH_TOGETHER]; double d[FEW * MATH_TOGETHER]; } value, other;

static void check_error(const math_function *f, bool is_double, size_t i, size_t place)
{
    const double x = is_double ? points.d[i].x : (double)points.f[i].x, y = is_double ? points.d[i].y : (double)points.f[i].y;
    const double got = is_double ? value.d[place] : (double)value.f[place];
    const double error = is_double ? math_error_double(f, x, y, got) : math_error_float(f, points.f[i].x, points.f[i].y, value.f[place]);
    cr_expect(error <= (is_double ? f->limit_double : f->limit_float), "%s of %s: %a (%a, %a) is wrong by %g", f->name,
              is_double ? "double" : "float", got, x, y, error);
}

static void is_near(const math_function *const *functions, size_t count, bool is_double)
{
    hdst_context *context = context_on("interp");
    make_points(functions[0], is_double, FEW, &points);
    cr_assert(math_evaluate(context, functions, count, is_double, &points, FEW, &value));
    for (size_t i = 0; i < FEW; i++)
        for (size_t k = 0; k < count; k++) check_error(functions[k], is_double, i, i * count + k);
    hdst_context_destroy(context);
}

Test(math, functions_of_one_number_are_as_near_as_promised) { in_lots(1, is_near); }
Test(math, functions_of_two_numbers_are_as_near_as_promised) { in_lots(2, is_near); }

// Every 4099th float is 1048 numbers in each power of two.
static void is_near_over_all_floats(const math_function *const *functions, size_t count, bool is_double)
{
    if (is_double) return;
    hdst_context *context = context_on("interp");
    for (uint64_t at = 0; at < UINT64_C(1) << 32;) {
        size_t n = 0;
        for (; n < FEW && at < UINT64_C(1) << 32; n++, at += 4099) memcpy(&points.f[n].x, &(uint32_t){(uint32_t)at}, sizeof(float));
        cr_assert(math_evaluate(context, functions, count, false, &points, n, &value));
        for (size_t i = 0; i < n; i++)
            for (size_t k = 0; k < count; k++) check_error(functions[k], false, i, i * count + k);
    }
    hdst_context_destroy(context);
}

Test(math, floats_of_all_sizes) { in_lots(1, is_near_over_all_floats); }

// --- Equal bits ---

static void has_equal_bits(const math_function *const *functions, size_t count, bool is_double)
{
    static const char *const forms[] = {"cpu", "gpu-form"};
    make_points(functions[0], is_double, FEW, &points);
    hdst_context *context = context_on("interp");
    cr_assert(math_evaluate(context, functions, count, is_double, &points, FEW, &value));
    hdst_context_destroy(context);
    for (size_t form = 0; form < 2; form++) {
        context = context_in_form(forms[form]);
        cr_assert(math_evaluate(context, functions, count, is_double, &points, FEW, &other));
        hdst_context_destroy(context);
        for (size_t i = 0; i < FEW; i++)
            for (size_t k = 0; k < count; k++) {
                const size_t at = i * count + k;
                const bool same = is_double ? !memcmp(&value.d[at], &other.d[at], 8) : !memcmp(&value.f[at], &other.f[at], 4);
                cr_expect(same, "%s of %s, %s: at %a, %a", functions[k]->name, is_double ? "double" : "float", forms[form],
                          is_double ? points.d[i].x : (double)points.f[i].x, is_double ? points.d[i].y : (double)points.f[i].y);
            }
    }
}

Test(math, back_ends_agree_on_functions_of_one_number)
{
    if (have_cpu()) in_lots(1, has_equal_bits);
}

Test(math, back_ends_agree_on_functions_of_two_numbers)
{
    if (have_cpu()) in_lots(2, has_equal_bits);
}

// --- Names ---

Test(math, a_function_of_the_user_may_have_the_name)
{
    hdst_context *context = context_on("interp");
    hdst_module *module = module_of(context, "const float twice = 2; float exp(float x) { return x * twice; }\n"
                                             "map f(float x) -> float { return exp(x) + log(1.0f); }");
    static const float three = 3;
    hdst_map_spec *spec = hdst_map_spec_create(module, "f");
    hdst_source *source = hdst_source_from_memory(context, &three, 1, sizeof three);
    float *rows;
    uint64_t count;
    cr_assert_eq(hdst_collect(hdst_map(hdst_read(source, module, "float"), spec), (void **)&rows, &count, NULL), HDST_OK);
    cr_assert_eq(rows[0], 6);
    hdst_rows_destroy(context, rows);
    hdst_map_spec_destroy(spec);
    hdst_source_destroy(source);
    hdst_module_destroy(module);
    hdst_context_destroy(context);
}

// What the user calls by names that the mathematics uses inside is not what it uses.
Test(math, names_inside_are_its_own)
{
    hdst_context *context = context_on("interp");
    hdst_module *module = module_of(context, "const int n = 7; struct inside { float r; }; float scale_float(float x) { return x; }\n"
        "int loose_int(float x) { return (int)x; }\nmap f(float x) -> float { return exp(x) + scale_float((float)n) + (float)loose_int(x); }");
    cr_assert_eq(strcmp(hdst_module_diagnostics(module), ""), 0, "%s", hdst_module_diagnostics(module));
    hdst_module_destroy(module);
    hdst_context_destroy(context);
}
