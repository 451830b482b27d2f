// SPDX-License-Identifier: Apache-2.0
// The mathematical functions of the kernel language, each with the C library's function that says what is right, and
// the error that it may have (math_functions.h).
#define _GNU_SOURCE
#include "bench/math_functions.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// --- What is right ---

static double rsqrt_of_double(double x) { return 1 / sqrt(x); }
static long double rsqrt_of_long_double(long double x) { return 1 / sqrtl(x); }

// The C library's powl takes -2^63 for an odd number (glibc 2.36).
static double pow_1(double x, double y) { return pow(x, y); }
static long double pow_l(long double x, long double y) { return fabsl(y) < 0x1p62L ? powl(x, y) : (long double)pow((double)x, (double)y); }

// A function of one number, taken as one of two.
#define ONE(name, in_double, in_long_double)                                                                \
    static double name##_1(double x, double y) { (void)y; return in_double(x); }                            \
    static long double name##_l(long double x, long double y) { (void)y; return in_long_double(x); }
#define SAME(name) ONE(name, name, name##l)
#define TWO(name)                                                                                           \
    static double name##_1(double x, double y) { return name(x, y); }                                       \
    static long double name##_l(long double x, long double y) { return name##l(x, y); }
SAME(sqrt)
SAME(exp) SAME(exp2) SAME(expm1) SAME(log) SAME(log2) SAME(log10) SAME(log1p) SAME(sinh) SAME(cosh) SAME(tanh) SAME(asin) SAME(acos) SAME(atan) TWO(atan2)
    SAME(sin) SAME(cos) SAME(tan) SAME(erf) SAME(erfc) SAME(cbrt) TWO(hypot) TWO(fmod) ONE(rsqrt, rsqrt_of_double, rsqrt_of_long_double) SAME(floor) SAME(ceil)
        SAME(trunc) SAME(round) SAME(rint) TWO(copysign) TWO(fmin) TWO(fmax)

#define ENTRY(name, args, limit_float, limit_double, any_zero)                                              \
    {#name, args, {args == 1 ? name##_1 : NULL, args == 2 ? name##_1 : NULL}, name##_l, limit_float, limit_double, any_zero}
            const math_function math_functions[] = {
                ENTRY(sqrt, 1, 0.5, 0.5, false), ENTRY(exp, 1, 2, 2, false),   ENTRY(exp2, 1, 2, 2, false),     ENTRY(expm1, 1, 2, 2, false),
                ENTRY(log, 1, 2, 2, false),      ENTRY(log2, 1, 2, 2, false),  ENTRY(log10, 1, 2, 2, false),    ENTRY(log1p, 1, 2, 2, false),
                ENTRY(pow, 2, 4, 4, false),      ENTRY(rsqrt, 1, 2, 2, false), ENTRY(cbrt, 1, 2, 2, false),     ENTRY(hypot, 2, 2, 2, false),
                ENTRY(fmod, 2, 0, 0, false),     ENTRY(sin, 1, 2, 2, false),   ENTRY(cos, 1, 2, 2, false),      ENTRY(tan, 1, 4, 4, false),
                ENTRY(sinh, 1, 4, 4, false),     ENTRY(cosh, 1, 4, 4, false),  ENTRY(tanh, 1, 2, 4, false),     ENTRY(asin, 1, 4, 4, false),
                ENTRY(acos, 1, 4, 4, false),     ENTRY(atan, 1, 2, 2, false),  ENTRY(atan2, 2, 4, 4, false),    ENTRY(erf, 1, 2, 2, false),
                ENTRY(erfc, 1, 4, 4, false),     ENTRY(floor, 1, 0, 0, false), ENTRY(ceil, 1, 0, 0, false),     ENTRY(trunc, 1, 0, 0, false),
                ENTRY(round, 1, 0, 0, false),    ENTRY(rint, 1, 0, 0, false),  ENTRY(copysign, 2, 0, 0, false), ENTRY(fmin, 2, 0, 0, true),
                ENTRY(fmax, 2, 0, 0, true),
};
const size_t math_function_count = sizeof math_functions / sizeof *math_functions;

const math_function *math_find(const char *name)
{
    for (size_t i = 0; i < math_function_count; i++)
        if (!strcmp(math_functions[i].name, name)) return &math_functions[i];
    return NULL;
}

// --- Errors ---

// What differs in kind: 0 or INFINITY. Negative: both are numbers, so it is their distance that counts.
static double error_of_kind(bool right_is_nan, bool right_is_infinite, bool right_is_negative, bool right_is_zero, bool overflows, double got, bool any_zero)
{
    if (right_is_nan || isnan(got)) return right_is_nan && isnan(got) ? 0 : INFINITY;
    if (isinf(got) || right_is_infinite) return isinf(got) && (overflows || right_is_infinite) && !signbit(got) == !right_is_negative ? 0 : INFINITY;
    if (right_is_zero && got == 0) return any_zero || !right_is_negative == !signbit(got) ? 0 : INFINITY;
    return -1;
}

// 2^-e where 2^e is the distance of neighbouring floats at v. Exact, and so is its product with a difference of doubles: quick enough for all floats.
static double per_unit_float(double v)
{
    uint64_t bits;
    memcpy(&bits, &v, sizeof bits);
    const int exponent = (int)(bits >> 52 & 0x7ff) - 1022, least = exponent < FLT_MIN_EXP ? FLT_MIN_EXP : exponent;     // of frexp's kind
    bits = (uint64_t)(1023 + FLT_MANT_DIG - least) << 52;
    memcpy(&v, &bits, sizeof v);
    return v;
}

double math_error_float(const math_function *f, float x, float y, float got)
{
    const double right = f->of_double[f->args - 1](x, y);
    const double kind = error_of_kind(isnan(right), isinf(right), signbit(right), right == 0, isinf((float)right), got, f->any_zero);
    return kind >= 0 ? kind : fabs((double)got - right) * per_unit_float(right);
}

// The distance of neighbouring doubles at v.
static long double unit_double(long double v)
{
    int exponent;
    frexpl(v, &exponent);
    return ldexpl(1, (v == 0 || exponent < DBL_MIN_EXP ? DBL_MIN_EXP : exponent) - DBL_MANT_DIG);
}

double math_error_double(const math_function *f, double x, double y, double got)
{
    const long double right = f->of_long_double(x, y);
    const double kind = error_of_kind(isnan(right), isinf(right), signbit(right), right == 0, isinf((double)right), got, f->any_zero);
    return kind >= 0 ? kind : (double)fabsl((got - right) / unit_double(right));
}

// --- Points ---

static uint64_t mix(uint64_t z)     // splitmix64 (Steele, Lea and Flood, OOPSLA 2014)
{
    z += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static const double special[] = {
    0,
    1,
    2,
    3,
    4,
    5,
    7,
    10,
    16,
    64,
    100,
    127,
    128,
    149,
    150,
    1024,
    1074,
    1e5,
    0.5,
    0.25,
    0.75,
    1.5,
    2.5,
    0.1,
    1.0 / 3,
    2.0 / 3,
    0x1p-24,
    0x1p-23,
    0x1p-53,
    0x1p-52,
    0x1p-126,
    0x1p-149,
    0x1p-127,
    0x1.8p-140,
    DBL_MIN,
    0x1p-1074,
    0x1.8p-1060,
    FLT_MAX,
    DBL_MAX,
    INFINITY,
    NAN,
    M_PI,
    M_PI_2,
    M_PI_4,
    M_LN2,
    M_SQRT2,
    M_E,
    0x1.fffffep-1,
    0x1.000002p0,
    0x1.fffffffffffffp-1,
    0x1.0000000000001p0,
    0x1p22,
    0x1.8p22,
    0x1.000001p23,
    0x1p23,
    0x1p24,
    0x1p31,
    0x1p32,
    0x1p51,
    0x1.8p51,
    0x1p52,
    0x1.0000000000001p52,
    0x1p53,
    0x1p63,
    88.72283,
    88.72284,
    103.97,
    103.98,
    709.782712893384,
    709.782712893385,
    745.13321,
    745.1332193,
    0x1.6ac5b262ca1ffp+849 /* 6381956970095103 * 2^797, next to a multiple of pi / 2 */,
    0x1.921fb54442d18p+1,
    0x1.6b4f3ep+1,
    16367173.0,
    0x1.47d0fep+34,
};
enum { SPECIALS = 2 * (int)(sizeof special / sizeof *special) };

static double special_number(uint64_t i) { return i & 1 && !isnan(special[i / 2]) ? -special[i / 2] : special[i / 2]; } // no kernel sees the sign of a NaN

static float float_of_bits(uint32_t bits)
{
    float v;
    memcpy(&v, &bits, sizeof v);
    return v;
}

static double double_of_bits(uint64_t bits)
{
    double v;
    memcpy(&v, &bits, sizeof v);
    return v;
}

// A number whose size is about 2^-spread .. 2^spread; now and then a whole one, or one a hair beside a multiple of pi / 2.
static double moderate(uint64_t random, int spread)
{
    const double fraction = 1 + (double)(random >> 12) * 0x1p-52, sign = random & 1 ? -1 : 1;
    const int size = (int)(mix(random) % (unsigned)(2 * spread + 1)) - spread;
    switch (random >> 1 & 7) {
    case 0: return sign * rint(ldexp(fraction, abs(size) % 12));
    case 1: return sign * (rint(ldexp(fraction, abs(size))) * M_PI_2);
    default: return sign * ldexp(fraction, size);
    }
}

// Two arguments: the special numbers with each other, then pairs of like sizes, of any sizes, and such as powers stay finite for.
static void pair_at(uint64_t at, double pair[2], int most_exponent)
{
    const uint64_t a = mix(2 * at), b = mix(2 * at + 1);
    if (at < (uint64_t)SPECIALS * SPECIALS) {
        pair[0] = special_number(at / SPECIALS), pair[1] = special_number(at % SPECIALS);
    } else if (at % 4 == 0) {
        pair[0] = moderate(a, most_exponent), pair[1] = moderate(b, most_exponent);
    } else if (at % 4 == 1) {
        pair[0] = moderate(a, most_exponent), pair[1] = pair[0] * moderate(b, 8);
    } else if (at % 4 == 2) {
        pair[0] = fabs(moderate(a, 30)), pair[1] = moderate(b, most_exponent) > 0 ? 1 : -1;
        pair[1] *= (double)(b >> 11) * 0x1p-53 * (most_exponent + 20) / (fabs(log2(pair[0])) + 1e-3);
    } else {
        pair[0] = moderate(a, 4), pair[1] = moderate(b, 6);
    }
}

void math_points_float(const math_function *f, uint64_t first, size_t count, math_pair_float *points)
{
    for (size_t i = 0; i < count; i++) {
        const uint64_t at = first + i;
        double pair[2] = {at < SPECIALS ? special_number(at) : at % 2 ? float_of_bits((uint32_t)mix(at)) : moderate(mix(at), 30), 0};
        if (f->args == 2) pair_at(at, pair, 125);
        points[i] = (math_pair_float){(float)pair[0], (float)pair[1]};
    }
}

void math_points_double(const math_function *f, uint64_t first, size_t count, math_pair_double *points)
{
    for (size_t i = 0; i < count; i++) {
        const uint64_t at = first + i;
        double pair[2] = {at < SPECIALS ? special_number(at) : at % 2 ? double_of_bits(mix(at)) : moderate(mix(at), 40), 0};
        if (f->args == 2) pair_at(at, pair, 1020);
        points[i] = (math_pair_double){pair[0], pair[1]};
    }
}

// --- Running them ---

static char *module_text(const math_function *const *functions, size_t count, const char *type)
{
    char *text = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);
    if (!out) return NULL;
    fprintf(out, "struct pair { %s x, y; };\nstruct values { %s", type, type);
    for (size_t k = 0; k < count; k++) fprintf(out, "%s v%zu", k ? "," : "", k);
    fprintf(out, "; };\nmap apply(pair p) -> values { return (values){ ");
    for (size_t k = 0; k < count; k++) fprintf(out, functions[k]->args == 2 ? ".v%zu = %s(p.x, p.y), " : ".v%zu = %s(p.x), ", k, functions[k]->name);
    fprintf(out, "}; }\n");
    fclose(out);
    return text;
}

bool math_evaluate(hdst_context *context, const math_function *const *functions, size_t count, bool is_double, const void *points, size_t n, void *out)
{
    const size_t size = is_double ? sizeof(double) : sizeof(float);
    char *text = module_text(functions, count, is_double ? "double" : "float");
    if (!text) return false;
    hdst_module *module = hdst_module_parse(context, "math.hk", text, NULL);
    hdst_source *source = hdst_source_from_memory(context, points, n, 2 * size);
    hdst_map_spec *spec = hdst_map_spec_create(module, "apply");
    void *rows = NULL;
    uint64_t got = 0;
    hdst_error error = HDST_ERROR_INIT;
    const bool good = hdst_collect(hdst_map(hdst_read(source, module, "pair"), spec), &rows, &got, &error) == HDST_OK && got == n;
    if (good) {
        memcpy(out, rows, n * count * size);
    } else {
        char words[4096];
        hdst_error_format(&error, words, sizeof words);
        fprintf(stderr, "%s\n%s\n", words, text);
    }
    hdst_rows_destroy(context, rows);
    hdst_map_spec_destroy(spec);
    hdst_source_destroy(source);
    hdst_module_destroy(module);
    free(text);
    return good;
}
