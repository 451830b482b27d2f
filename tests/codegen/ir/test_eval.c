// SPDX-License-Identifier: Apache-2.0
// The arithmetic of the IR on bit patterns, against values worked out by hand and against plain C where C defines the result.
#include "codegen/ir/eval.h"
#include "record/scalar_convert.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

static uint64_t f32(float v)
{
    uint32_t bits;
    memcpy(&bits, &v, 4);
    return bits;
}

static uint64_t f64(double v)
{
    uint64_t bits;
    memcpy(&bits, &v, 8);
    return bits;
}

static const uint64_t i32_min = 0xffffffff80000000, nan32 = 0x7fc00000, nan64 = 0x7ff8000000000000;

#define BINARY(op, kind, a, b, expected) cr_expect_eq(hdst__eval_binary(op, kind, (uint64_t)(a), (uint64_t)(b)), (uint64_t)(expected), "%s " #a ", " #b, #op)
#define UNARY(op, kind, a, expected) cr_expect_eq(hdst__eval_unary(op, kind, kind, (uint64_t)(a)), (uint64_t)(expected), "%s " #a, #op)
#define CONVERT(to, from, a, expected) cr_expect_eq(hdst__scalar_convert(to, from, (uint64_t)(a)), (uint64_t)(expected), #from " to " #to ": " #a)

Test(eval, integers_wrap_in_their_kind)
{
    BINARY(IR_ADD, HDST__I32, 0x7fffffff, 1, i32_min);
    BINARY(IR_ADD, HDST__U8, 255, 1, 0);
    BINARY(IR_ADD, HDST__I8, 127, 1, -128ll);
    BINARY(IR_SUB, HDST__U16, 0, 1, 65535);
    BINARY(IR_SUB, HDST__U64, 0, 1, UINT64_MAX);
    BINARY(IR_MUL, HDST__I16, 300, 300, (int16_t)90000);
    BINARY(IR_MUL, HDST__U32, 0xffffffff, 0xffffffff, 1);
    BINARY(IR_MUL, HDST__I64, INT64_MIN, -1ll, INT64_MIN);
    UNARY(IR_NEG, HDST__I32, i32_min, i32_min);
    UNARY(IR_NEG, HDST__U32, 1, 0xffffffff);
    UNARY(IR_ABS, HDST__I64, INT64_MIN, INT64_MIN);
    UNARY(IR_ABS, HDST__I8, -5ll, 5);
    UNARY(IR_ABS, HDST__U64, UINT64_MAX, UINT64_MAX);
    UNARY(IR_BITNOT, HDST__U8, 0x0f, 0xf0);
    UNARY(IR_BITNOT, HDST__I32, 0, -1ll);
    UNARY(IR_NOT, HDST__BOOL, 1, 0);
}

Test(eval, division_is_guarded_and_truncates)
{
    BINARY(IR_DIV, HDST__I32, 7, 0, 0);
    BINARY(IR_REM, HDST__I32, 7, 0, 0);
    BINARY(IR_DIV, HDST__I32, i32_min, -1ll, i32_min);
    BINARY(IR_REM, HDST__I32, i32_min, -1ll, 0);
    BINARY(IR_DIV, HDST__I64, INT64_MIN, -1ll, INT64_MIN);
    BINARY(IR_DIV, HDST__I8, -128ll, -1ll, -128ll);
    BINARY(IR_DIV, HDST__I32, -7ll, 2, -3ll);
    BINARY(IR_REM, HDST__I32, -7ll, 2, -1ll);
    BINARY(IR_DIV, HDST__U64, UINT64_MAX, 2, UINT64_MAX / 2);
    BINARY(IR_DIV, HDST__U8, 200, 255, 0);
}

Test(eval, shift_counts_are_masked_to_the_width)
{
    BINARY(IR_SHL, HDST__I32, 1, 33, 2);
    BINARY(IR_SHL, HDST__I32, 1, 31, i32_min);
    BINARY(IR_SHL, HDST__U64, 1, 64, 1);
    BINARY(IR_SHR, HDST__I32, -8ll, 1, -4ll);
    BINARY(IR_SHR, HDST__U32, 0x80000000, 31, 1);
    BINARY(IR_SHR, HDST__I64, INT64_MIN, 63, -1ll);
    BINARY(IR_SHL, HDST__U8, 0x81, 9, 2);
}

Test(eval, comparisons_know_the_sign)
{
    BINARY(IR_LT, HDST__I32, -1ll, 0, 1);
    BINARY(IR_LT, HDST__U64, UINT64_MAX, 0, 0);
    BINARY(IR_GE, HDST__I64, INT64_MIN, INT64_MAX, 0);
    BINARY(IR_LE, HDST__F32, f32(NAN), f32(1), 0);
    BINARY(IR_NE, HDST__F64, f64(NAN), f64(NAN), 1);
    BINARY(IR_EQ, HDST__F64, f64(-0.0), f64(0.0), 1);
    BINARY(IR_MIN, HDST__I32, -1ll, 1, -1ll);
    BINARY(IR_MAX, HDST__U32, 0xffffffff, 1, 0xffffffff);
    BINARY(IR_LT, HDST__BOOL, 0, 1, 1);
}

Test(eval, float_min_and_max_order_zeros_and_keep_nan)
{
    BINARY(IR_MIN, HDST__F32, f32(0.f), f32(-0.f), f32(-0.f));
    BINARY(IR_MIN, HDST__F32, f32(-0.f), f32(0.f), f32(-0.f));
    BINARY(IR_MAX, HDST__F64, f64(-0.0), f64(0.0), f64(0.0));
    BINARY(IR_MAX, HDST__F64, f64(0.0), f64(-0.0), f64(0.0));
    BINARY(IR_MIN, HDST__F64, f64(-INFINITY), f64(3), f64(-INFINITY));
}

static bool is_nan32(uint64_t bits)
{
    return (bits & 0x7fffffff) > 0x7f800000;
}

Test(eval, nan_passes_through_float_arithmetic)
{
    cr_expect(is_nan32(hdst__eval_binary(IR_MIN, HDST__F32, nan32, f32(1))));
    cr_expect(is_nan32(hdst__eval_binary(IR_MIN, HDST__F32, f32(1), nan32)));
    cr_expect(is_nan32(hdst__eval_binary(IR_MAX, HDST__F32, f32(INFINITY), nan32)));
    cr_expect(is_nan32(hdst__eval_binary(IR_SUB, HDST__F32, f32(INFINITY), f32(INFINITY))));
    cr_expect(is_nan32(hdst__eval_unary(IR_SQRT, HDST__F32, HDST__F32, f32(-1))));
    UNARY(IR_ISNAN, HDST__F64, nan64, 1);
    UNARY(IR_ISNAN, HDST__F32, f32(INFINITY), 0);
}

// The first NaN and the second, in each operation that chooses one of two; truth values, which are compared as 0 and 1.
Test(eval, minima_and_maxima_of_a_nan_are_nans_on_either_side)
{
    static const ir_op ops[] = {IR_MIN, IR_MAX};
    for (size_t i = 0; i < 2; i++) {
        for (int negative = 0; negative < 2; negative++) {
            const float x = negative ? -1.0f : 1.0f;
            cr_expect(is_nan32(hdst__eval_binary(ops[i], HDST__F32, nan32, f32(x))) &&
                          is_nan32(hdst__eval_binary(ops[i], HDST__F32, f32(x), nan32)),
                      "%zu %g", i, (double)x);
            cr_expect_eq(hdst__eval_binary(ops[i], HDST__F64, nan64, f64(x)) & nan64, nan64);
            cr_expect_eq(hdst__eval_binary(ops[i], HDST__F64, f64(x), nan64) & nan64, nan64);
        }
    }
}

Test(eval, truth_values_are_ordered)
{
    static const struct { ir_op op; uint8_t of[4]; } ops[] = {
        // of (0,0) (0,1) (1,0) (1,1)
        {IR_AND, {0, 0, 0, 1}}, {IR_OR, {0, 1, 1, 1}},  {IR_XOR, {0, 1, 1, 0}}, {IR_EQ, {1, 0, 0, 1}},
        {IR_NE, {0, 1, 1, 0}},  {IR_MIN, {0, 0, 0, 1}}, {IR_MAX, {0, 1, 1, 1}}, {IR_LT, {0, 1, 0, 0}},
        {IR_LE, {1, 1, 0, 1}},  {IR_GT, {0, 0, 1, 0}},  {IR_GE, {1, 0, 1, 1}},
    };
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
        for (uint64_t n = 0; n < 4; n++)
            cr_expect_eq(hdst__eval_binary(ops[i].op, HDST__BOOL, n >> 1, n & 1), ops[i].of[n],
                         "operation %zu of %d and %d", i, (int)(n >> 1), (int)(n & 1));
}

Test(eval, one_nan_is_canonical)
{
    static const uint64_t nans32[] = {0x7f800001, 0xff800001, 0x7fa00000, 0xffc00000, 0x7fffffff, 0xffffffff},
                          others32[] = {0, 0x80000000, 0x7f800000, 0xff800000, 0x7f7fffff, 1};
    for (size_t i = 0; i < sizeof nans32 / sizeof *nans32; i++) UNARY(IR_CANONICAL, HDST__F32, nans32[i], nan32);
    for (size_t i = 0; i < sizeof others32 / sizeof *others32; i++) UNARY(IR_CANONICAL, HDST__F32, others32[i], others32[i]);
    UNARY(IR_CANONICAL, HDST__F64, 0xfff0000000000001, nan64);
    UNARY(IR_CANONICAL, HDST__F64, 0x7fffffffffffffff, nan64);
    UNARY(IR_CANONICAL, HDST__F64, 0xfff0000000000000, 0xfff0000000000000);
    UNARY(IR_CANONICAL, HDST__F64, 0x8000000000000000, 0x8000000000000000);
}

Test(eval, denormals_are_kept_and_zero_division_gives_infinity)
{
    BINARY(IR_ADD, HDST__F32, 1, 1, 2);                 // two smallest denormals
    BINARY(IR_DIV, HDST__F32, 0x00800000, f32(2), 0x00400000);
    BINARY(IR_MUL, HDST__F64, 3, f64(0.5), 2);          // 1.5 units: a tie, to even
    BINARY(IR_DIV, HDST__F64, f64(1), f64(-0.0), f64(-INFINITY));
    UNARY(IR_NEG, HDST__F32, f32(0), f32(-0.f));
    UNARY(IR_ABS, HDST__F64, f64(-0.0), f64(0.0));
    UNARY(IR_SQRT, HDST__F32, f32(2), 0x3fb504f3);      // 1.41421354
    UNARY(IR_SQRT, HDST__F64, f64(2), 0x3ff6a09e667f3bcd);
    UNARY(IR_SQRT, HDST__F32, 1, 0x1a3504f3);           // sqrt(2^-149) = sqrt(2) * 2^-75
}

Test(eval, fma_rounds_once)
{
    const float a = 1 + 0x1p-12f;                       // a * a = 1 + 2^-11 + 2^-24: the last bit is lost when the product is rounded
    cr_expect_eq(hdst__eval_fma(HDST__F32, f32(a), f32(a), f32(-1)), f32(0x1p-11f + 0x1p-24f));
    BINARY(IR_MUL, HDST__F32, f32(a), f32(a), f32(1 + 0x1p-11f));
    const double b = 1 + 0x1p-27;
    cr_expect_eq(hdst__eval_fma(HDST__F64, f64(b), f64(b), f64(-1)), f64(0x1p-26 + 0x1p-54));
}

Test(eval, float_to_integer_truncates_and_saturates)
{
    CONVERT(HDST__I32, HDST__F32, f32(-1.9f), -1ll);
    CONVERT(HDST__I32, HDST__F32, f32(3e9f), 0x7fffffff);
    CONVERT(HDST__I32, HDST__F64, f64(-3e9), i32_min);
    CONVERT(HDST__I8, HDST__F32, f32(127.9f), 127);
    CONVERT(HDST__I8, HDST__F32, f32(128), 127);
    CONVERT(HDST__I8, HDST__F32, f32(-128.9f), -128ll);
    CONVERT(HDST__I8, HDST__F32, f32(-129), -128ll);
    CONVERT(HDST__U8, HDST__F64, f64(-0.5), 0);
    CONVERT(HDST__U8, HDST__F64, f64(-5), 0);
    CONVERT(HDST__U8, HDST__F64, f64(256), 255);
    CONVERT(HDST__U32, HDST__F64, f64(4294967295.0), 0xffffffff);
    CONVERT(HDST__I64, HDST__F32, f32(0x1p63f), INT64_MAX);
    CONVERT(HDST__I64, HDST__F32, f32(-0x1p63f), INT64_MIN);
    CONVERT(HDST__I64, HDST__F64, f64(0x1.fffffffffffffp62), 0x7ffffffffffffc00);
    CONVERT(HDST__U64, HDST__F64, f64(0x1p64), UINT64_MAX);
    CONVERT(HDST__U64, HDST__F64, f64(0x1p63), 0x8000000000000000);
    CONVERT(HDST__U64, HDST__F32, f32(INFINITY), UINT64_MAX);
    CONVERT(HDST__I16, HDST__F64, f64(-INFINITY), -32768ll);
    for (hdst__kind kind = HDST__I8; kind <= HDST__U64; kind++) CONVERT(kind, HDST__F32, nan32, 0);
    CONVERT(HDST__BOOL, HDST__F32, nan32, 1);
    CONVERT(HDST__BOOL, HDST__F64, f64(-0.0), 0);
    CONVERT(HDST__BOOL, HDST__F32, 1, 1);
    CONVERT(HDST__BOOL, HDST__U64, 256, 1);
}

Test(eval, conversions_between_integers_and_to_floats_are_those_of_c)
{
    CONVERT(HDST__I8, HDST__I32, 200, -56ll);
    CONVERT(HDST__U8, HDST__I32, -1ll, 255);
    CONVERT(HDST__U64, HDST__I8, -1ll, UINT64_MAX);
    CONVERT(HDST__I64, HDST__U32, 0xffffffff, 0xffffffff);
    CONVERT(HDST__I32, HDST__U32, 0xffffffff, -1ll);
    CONVERT(HDST__F32, HDST__I32, 16777217, f32(16777216));     // a tie, to even
    CONVERT(HDST__F32, HDST__U64, UINT64_MAX, f32(0x1p64f));
    CONVERT(HDST__F64, HDST__U64, 0xfffffffffffffbff, f64(0x1.fffffffffffffp63));
    CONVERT(HDST__F64, HDST__I64, -1ll, f64(-1));
    CONVERT(HDST__F32, HDST__F64, f64(1 + 0x1p-24), f32(1));
    CONVERT(HDST__F32, HDST__F64, f64(1e300), f32(INFINITY));
    CONVERT(HDST__F32, HDST__F64, f64(0x1p-150), 0);            // half a denormal, to even
    CONVERT(HDST__F64, HDST__F32, 1, f64(0x1p-149));
    CONVERT(HDST__F64, HDST__BOOL, 1, f64(1));
}

Test(eval, bit_casts_keep_bits_and_make_nan_canonical)
{
    cr_expect_eq(hdst__eval_unary(IR_BITCAST, HDST__U32, HDST__F32, f32(-1)), 0xbf800000);
    cr_expect_eq(hdst__eval_unary(IR_BITCAST, HDST__I32, HDST__F32, f32(-1)), 0xffffffffbf800000);
    cr_expect_eq(hdst__eval_unary(IR_BITCAST, HDST__F32, HDST__I32, 0xffffffffbf800000), f32(-1));
    cr_expect_eq(hdst__eval_unary(IR_BITCAST, HDST__I64, HDST__F64, f64(-2)), 0xc000000000000000);
    cr_expect_eq(hdst__eval_unary(IR_BITCAST, HDST__U32, HDST__F32, 0xffc12345), nan32);
    cr_expect_eq(hdst__eval_unary(IR_BITCAST, HDST__U64, HDST__F64, 0xfff8000000000001), nan64);
}

// Every pair of edge values of every integer kind, against C's 128-bit arithmetic cut to the kind.
static __int128 value_of(hdst__kind kind, uint64_t bits)
{
    return hdst__kind_is_signed(kind) ? (__int128)(int64_t)bits : (__int128)bits;
}

static uint64_t cut(hdst__kind kind, __int128 value)
{
    const unsigned bits = 8 * (unsigned)hdst__scalar_size(kind);
    uint64_t low = (uint64_t)value;
    if (bits < 64) low &= (UINT64_C(1) << bits) - 1;
    if (hdst__kind_is_signed(kind) && bits < 64 && low >> (bits - 1)) low |= ~UINT64_C(0) << bits;
    return low;
}

Test(eval, integer_operations_agree_with_128_bit_arithmetic)
{
    for (hdst__kind kind = HDST__I8; kind <= HDST__U64; kind++) {
        const unsigned bits = 8 * (unsigned)hdst__scalar_size(kind);
        __int128 edge[14] = {0, 1, 2, 3, 5, 100, -1, -2, -7, ((__int128)1 << (bits - 1)) - 1, (__int128)1 << (bits - 1), ((__int128)1 << (bits - 1)) + 1,
                             ((__int128)1 << bits) - 1, ((__int128)1 << bits) - 2};
        for (int i = 0; i < 14; i++)
            for (int j = 0; j < 14; j++) {
                const uint64_t a = cut(kind, edge[i]), b = cut(kind, edge[j]);
                const __int128 x = value_of(kind, a), y = value_of(kind, b);
                BINARY(IR_ADD, kind, a, b, cut(kind, x + y));
                BINARY(IR_SUB, kind, a, b, cut(kind, x - y));
                BINARY(IR_MUL, kind, a, b, cut(kind, (__int128)((unsigned __int128)x * (unsigned __int128)y)));
                BINARY(IR_DIV, kind, a, b, y == 0 ? 0 : cut(kind, x / y));
                BINARY(IR_REM, kind, a, b, y == 0 ? 0 : cut(kind, x % y));
                BINARY(IR_XOR, kind, a, b, cut(kind, x ^ y));
                BINARY(IR_LT, kind, a, b, x < y);
                BINARY(IR_GE, kind, a, b, x >= y);
                BINARY(IR_MAX, kind, a, b, x > y ? a : b);
                const unsigned count = (unsigned)(j * 5);
                BINARY(IR_SHR, kind, a, count, cut(kind, x >> (count % bits)));
                BINARY(IR_SHL, kind, a, count, cut(kind, (__int128)((unsigned __int128)x << (count % bits))));
            }
    }
}
