// SPDX-License-Identifier: Apache-2.0
// NaNs through the operations of the kernel language and its mathematical functions.
#define _GNU_SOURCE
#include "bench/math_functions.h"
#include "bench/nan_rule.h"

#include <stdio.h>
#include <stdlib.h>

// --- Operations ---

// What is stored as a number, and numbers whose bits are asked for: in the kernel language ($x, $y: the operands; $T:
// their type; $O: the other one; $F, $B: its bits as a number and back; $S: the sign bit) and in C, of T x and y; `b`
// is a NaN that is bound.
#define SIGN_OF(y) (!isnan(y) && signbit(y))
#define VALUES(OP)                                                                                          \
    OP("copy", "$x", x)                                                                                     \
    OP("-x", "-$x", -x)                                                                                     \
    OP("+x", "+$x", x)                                                                                      \
    OP("fabs", "fabs($x)", fabs(x))                                                                         \
    OP("abs", "abs(-$x)", fabs(x))                                                                          \
    OP("-fabs", "-fabs($x)", -fabs(x))                                                                      \
    OP("x + y", "$x + $y", x + y)                                                                           \
    OP("x - y", "$x - $y", x - y)                                                                           \
    OP("x * y", "$x * $y", x * y)                                                                           \
    OP("x / y", "$x / $y", x / y)                                                                           \
    OP("-(x / y)", "-($x / $y)", -(x / y))                                                                  \
    OP("x * 1", "$x * ($T)1", x)                                                                            \
    OP("x / 1", "$x / ($T)1", x)                                                                            \
    OP("x * -1", "$x * -($T)1", -x)                                                                         \
    OP("x - 0", "$x - ($T)0", x)                                                                            \
    OP("0 / 0", "($T)0 / ($x - $x)", 0 / (x - x))                                                           \
    OP("sqrt", "sqrt($x)", sqrt(x))                                                                         \
    OP("rsqrt", "rsqrt($x)", x == 0 ? copysign((T)INFINITY, x) : 1 / sqrt(x))                               \
    OP("rsqrt(-0.0)", "rsqrt(-($T)0)", -INFINITY)                                                           \
    OP("sqrt(-1)", "sqrt(-fabs($x) - ($T)1)", sqrt(-fabs(x) - 1))                                           \
    OP("fma", "fma($x, $y, $x)", fma(x, y, x))                                                              \
    OP("fma(y, 1, -x)", "fma($y, ($T)1, -$x)", y - x)                                                       \
    OP("min", "min($x, $y)", LESSER(x, y))                                                                  \
    OP("max", "max($x, $y)", GREATER(x, y))                                                                 \
    OP("min(-x, x * y)", "min(-$x, $x * $y)", LESSER(-x, x * y))                                            \
    OP("fmin", "fmin($x, $y)", isnan(x) ? y : isnan(y) ? x : LESSER(x, y))                                  \
    OP("fmax", "fmax($x, $y)", isnan(x) ? y : isnan(y) ? x : GREATER(x, y))                                 \
    OP("copysign", "copysign($x, $y)", isnan(x) ? x : SIGN_OF(y) ? -fabs(x) : fabs(x))                      \
    OP("copysign(1, y)", "copysign(($T)1, $y)", SIGN_OF(y) ? -1 : 1)                                        \
    OP("copysign(1, x * y)", "copysign(($T)1, $x * $y)", SIGN_OF(x * y) ? -1 : 1)                           \
    OP("copysign(1, -x)", "copysign(($T)1, -$x)", SIGN_OF(-x) ? -1 : 1)                                     \
    OP("?:", "$x < $y ? $x : $y", x < y ? x : y)                                                            \
    OP("?: of operations", "isnan($x) ? $x * $y : -$y", isnan(x) ? x * y : -y)                              \
    OP("there and back", "($T)($O)$x", (T)(O)x)                                                             \
    OP("bits and back", "$B($F($x))", x)                                                                    \
    OP("sign of bits", "$B($F($x) ^ $S)", -x)                                                               \
    OP("bits without sense", "$B($F($y) | $F(-($T)NAN))", isnan(y) ? y : (T)NAN)                            \
    OP("NAN", "($T)NAN + $x * 0", (T)NAN)                                                                   \
    OP("-NAN", "-($T)NAN", (T)NAN)                                                                          \
    OP("bound", "b.$T_value", b)                                                                            \
    OP("-bound", "-b.$T_value * $x", -b * x)                                                                \
    OP("of a helper", "same_$T($x)", x)                                                                     \
    OP("of a local array", "pick_$T($x, $y, p.n)", isnan(x) && isnan(y) ? x : x + y - y)                    \
    OP("sum", "sum_$T($x, $y)", 0 + x + y)
#define BITS(OP)                                                                                            \
    OP("bits", "$F($x)", BITS_OF(x))                                                                        \
    OP("bits of -x", "$F(-$x)", BITS_OF(-x))                                                                \
    OP("bits of fabs", "$F(fabs($x))", BITS_OF(fabs(x)))                                                    \
    OP("bits of x * y", "$F($x * $y)", BITS_OF(x * y))                                                      \
    OP("bits of min", "$F(min($x, $y))", BITS_OF(LESSER(x, y)))                                             \
    OP("bits of max", "$F(max($y, $x))", BITS_OF(GREATER(y, x)))                                            \
    OP("bits of ?:", "$F($x == $y ? $y : $x)", BITS_OF(x == y ? y : x))                                     \
    OP("bits of a conversion", "$F(($T)($O)$x)", BITS_OF((T)(O)x))                                          \
    OP("bits of bits", "$F($B($F($x) ^ $S))", BITS_OF(-x))                                                  \
    OP("hash", "hash($x)", step(0, BITS_OF(x)))                                                             \
    OP("hash of -x", "hash(-$x)", step(0, BITS_OF(-x)))                                                     \
    OP("hash of x / y", "hash($x / $y)", step(0, BITS_OF(x / y)))                                           \
    OP("isnan", "isnan($x - $y)", isnan(x - y))                                                             \
    OP("comparisons", "($x < $y) + 2 * ($x <= $y) + 4 * ($x == $y) + 8 * ($x != $y)", (x < y) + 2 * (x <= y) + 4 * (x == y) + 8 * (x != y)) \
    OP("bool", "(bool)($x * $y)", x * y != 0)                                                               \
    OP("as uint8_t", "(uint8_t)$x", isnan(x) || x <= 0 ? 0 : x >= 255 ? 255 : (uint8_t)x)                   \
    OP("as int64_t", "(uint64_t)(int64_t)$x", isnan(x) ? 0 : x >= 0x1p63 ? (uint64_t)INT64_MAX : x <= -0x1p63 ? (uint64_t)INT64_MIN : (uint64_t)(int64_t)x)

#define COUNT(name, text, c) +1
enum { VALUE_OPS = 0 VALUES(COUNT), BIT_OPS = 0 BITS(COUNT) };
#define NAME(name, text, c) name,
#define TEXT(name, text, c) text,
static const char *const value_names[] = {VALUES(NAME)}, *const value_texts[] = {VALUES(TEXT)};
static const char *const bit_names[] = {BITS(NAME)}, *const bit_texts[] = {BITS(TEXT)};

static uint64_t step(uint64_t h, uint64_t w)    // docs/kernel-language.md, hash
{
    h = (h ^ w) + UINT64_C(0x9e3779b97f4a7c15);
    h = (h ^ h >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    h = (h ^ h >> 27) * UINT64_C(0x94d049bb133111eb);
    return h ^ h >> 31;
}

typedef struct row {
    uint64_t double_values[VALUE_OPS], double_bits[BIT_OPS], float_bits[BIT_OPS];
    uint32_t float_values[VALUE_OPS];
} row;

// The same in C. What C gives of a NaN, whichever it is, is the one.
#define DEFINE_RIGHT(T, O, U)                                                                               \
    static void right_##T(T x, T y, T b, U *values, uint64_t *bits)                                         \
    {                                                                                                       \
        const T value[] = {VALUES(RIGHT)};                                                                  \
        const uint64_t bit[] = {BITS(RIGHT)};                                                               \
        for (int i = 0; i < VALUE_OPS; i++) values[i] = bits_##T(value[i]);                                 \
        memcpy(bits, bit, sizeof bit);                                                                      \
    }
#define RIGHT(name, text, c) c,
#define T float
#define O double
#define BITS_OF(v) bits_float((float)(v))
DEFINE_RIGHT(float, double, uint32_t)
#undef T
#undef O
#undef BITS_OF
#define T double
#define O float
#define BITS_OF(v) bits_double((double)(v))
DEFINE_RIGHT(double, float, uint64_t)
#undef T
#undef O
#undef BITS_OF

static void write_expression(FILE *out, const char *text, bool is_double)
{
    for (const char *c = text; *c; c++) {
        if (*c != '$') {
            fputc(*c, out);
            continue;
        }
        switch (*++c) {
        case 'x': fputs(is_double ? "p.u" : "p.x", out); break;
        case 'y': fputs(is_double ? "p.v" : "p.y", out); break;
        case 'T': fputs(is_double ? "double" : "float", out); break;
        case 'O': fputs(is_double ? "float" : "double", out); break;
        case 'F': fputs(is_double ? "as_ulong" : "as_uint", out); break;
        case 'B': fputs(is_double ? "as_double" : "as_float", out); break;
        default: fputs(is_double ? "0x8000000000000000u" : "0x80000000u", out); break;
        }
    }
}

static const char helpers[] =
    "T same_T(T a) { T kept = a; if (a > 1000) kept = a; return kept; }\n"
    "T pick_T(T a, T b, uint32_t n) { T w[4]; for (uint32_t i = 0; i < 4; i++) w[i] = i % 2 == n % 2 ? a : b;\n"
    "  return isnan(a) && isnan(b) ? w[n & 3u] : w[n & 3u] + b - b; }\n"
    "T sum_T(T a, T b) { T s = 0; for (uint32_t i = 0; i < 2; i++) s += i == 0 ? a : b; return s; }\n";

static void write_helpers(FILE *out, const char *type)
{
    for (const char *c = helpers; *c; c++)
        if (*c == 'T') fputs(type, out);
        else fputc(*c, out);
}

static void write_fields(FILE *out, const char *type, const char *name, int count)
{
    fprintf(out, "  %s %s[%d];\n", type, name, count);
}

static char *operations_text(void)
{
    char *text = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);
    if (!out) return NULL;
    fputs(NAN_RECORD_TEXT "struct bound { float float_value; uint32_t none; double double_value; };\nstruct row {\n", out);
    write_fields(out, "double", "double_values", VALUE_OPS);
    write_fields(out, "uint64_t", "double_bits", BIT_OPS);
    write_fields(out, "uint64_t", "float_bits", BIT_OPS);
    write_fields(out, "float", "float_values", VALUE_OPS);
    fputs("};\n", out);
    write_helpers(out, "float");
    write_helpers(out, "double");
    fputs("map apply(rec p, broadcast bound b) -> row\n{\n  row r;\n", out);
    for (int is_double = 0; is_double < 2; is_double++) {
        for (int i = 0; i < VALUE_OPS; i++) {
            fprintf(out, "  r.%s_values[%d] = ", is_double ? "double" : "float", i);
            write_expression(out, value_texts[i], is_double);
            fputs(";\n", out);
        }
        for (int i = 0; i < BIT_OPS; i++) {
            fprintf(out, "  r.%s_bits[%d] = ", is_double ? "double" : "float", i);
            write_expression(out, bit_texts[i], is_double);
            fputs(";\n", out);
        }
    }
    fputs("  return r;\n}\n", out);
    fclose(out);
    return text;
}

bool nan_cases_operations(hdst_context *context, const nan_look *look)
{
    static record records[RECORDS];
    static row right[RECORDS];
    const struct { uint32_t f, none; uint64_t d; } bound = {0xffc0beef, 0, UINT64_C(0xfff80000deadbeef)};
    nan_make_records(records);
    for (size_t i = 0; i < RECORDS; i++) {
        const record *r = &records[i];
        right_float(of_bits_float(r->x), of_bits_float(r->y), of_bits_float(bound.f), right[i].float_values, right[i].float_bits);
        right_double(of_bits_double(r->u), of_bits_double(r->v), of_bits_double(bound.d), right[i].double_values, right[i].double_bits);
    }
    char *text = operations_text();
    job j;
    nan_open_job(&j, context, look, text, records);
    hdst_value *value = hdst_value_create(j.module, "bound", 1);
    hdst_value_set(value, &bound, 1);
    hdst_map_spec *spec = hdst_map_spec_create(j.module, "apply");
    hdst_bind_value(spec, "b", value);
    uint64_t count;
    row *got = nan_collect(&j, "operations", hdst_map(j.raw, spec), sizeof(row), &count);
    for (int i = 0; got && i < 2 * (VALUE_OPS + BIT_OPS); i++) {
        char name[80];
        const int op = i / 2;
        const bool is_double = i % 2, is_value = op < VALUE_OPS;
        const size_t at = is_value ? (is_double ? offsetof(row, double_values) + 8 * (size_t)op : offsetof(row, float_values) + 4 * (size_t)op)
                                   : (is_double ? offsetof(row, double_bits) : offsetof(row, float_bits)) + 8 * (size_t)(op - VALUE_OPS);
        snprintf(name, sizeof name, "%s, %s", is_value ? value_names[op] : bit_names[op - VALUE_OPS], is_double ? "double" : "float");
        nan_tell(look, name, (char *)got + at, (char *)right + at, is_value && !is_double ? 4 : 8, sizeof(row), RECORDS);
    }
    free(got);
    hdst_value_destroy(value);
    hdst_map_spec_destroy(spec);
    free(text);
    return nan_close_job(&j);
}

// --- Mathematics ---

// A NaN with a payload gives what the one gives, and a NaN that comes out is the one. (What is right of numbers, math_errors tells.)
static void math_case(const nan_look *look, const math_function *f, bool is_double, const void *got, const void *of_one, size_t stride)
{
    static char right[RECORDS * sizeof(double) * MATH_TOGETHER];
    char name[80];
    const size_t size = is_double ? 8 : 4;
    for (size_t i = 0; i < RECORDS; i++) {
        uint32_t f32;
        uint64_t f64;
        memcpy(&f32, (const char *)of_one + i * stride, 4);
        memcpy(&f64, (const char *)of_one + i * stride, size);
        f32 = one_float(f32);
        f64 = one_double(f64);
        memcpy(right + i * stride, is_double ? (void *)&f64 : &f32, size);
    }
    snprintf(name, sizeof name, "%s, %s", f->name, is_double ? "double" : "float");
    nan_tell(look, name, got, right, size, stride, RECORDS);
}

static bool math_lot(hdst_context *context, const nan_look *look, const math_function *const *functions, size_t count, bool is_double)
{
    static union { math_pair_float f[RECORDS]; math_pair_double d[RECORDS]; uint32_t bits[4 * RECORDS]; } points, ones;
    static double got[RECORDS * MATH_TOGETHER], of_one[RECORDS * MATH_TOGETHER];
    for (uint32_t i = 0; i < RECORDS; i++) {
        const uint32_t a = i / NUMBERS, b = i % NUMBERS;
        const uint32_t f[2][2] = {{numbers_float[a], numbers_float[b]}, {one_float(numbers_float[a]), one_float(numbers_float[b])}};
        const uint64_t d[2][2] = {{numbers_double[a], numbers_double[b]}, {one_double(numbers_double[a]), one_double(numbers_double[b])}};
        memcpy(is_double ? (void *)&points.d[i] : &points.f[i], is_double ? (const void *)d[0] : f[0], is_double ? 16 : 8);
        memcpy(is_double ? (void *)&ones.d[i] : &ones.f[i], is_double ? (const void *)d[1] : f[1], is_double ? 16 : 8);
    }
    const size_t size = is_double ? 8 : 4;
    if (!math_evaluate(context, functions, count, is_double, &points, RECORDS, got)) return false;
    if (!math_evaluate(context, functions, count, is_double, &ones, RECORDS, of_one)) return false;
    for (size_t k = 0; k < count; k++) math_case(look, functions[k], is_double, (char *)got + k * size, (char *)of_one + k * size, count * size);
    return true;
}

bool nan_cases_math(hdst_context *context, const nan_look *look)
{
    for (int type = 0; type < 4; type++) {
        const bool is_double = type & 1;
        const int args = 1 + type / 2;
        const math_function *lot[MATH_TOGETHER];
        size_t count = 0;
        for (size_t i = 0; i < math_function_count; i++) {
            if (math_functions[i].args == args) lot[count++] = &math_functions[i];
            if (count != MATH_TOGETHER && !(count && i + 1 == math_function_count)) continue;
            if (!math_lot(context, look, lot, count, is_double)) return false;
            count = 0;
        }
    }
    return true;
}
