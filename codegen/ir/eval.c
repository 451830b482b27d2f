// SPDX-License-Identifier: Apache-2.0
// The numeric rules of the kernel language as host code (codegen/ir/eval.h). Nothing here is undefined behaviour in C, whatever the operands:
// integers are computed without sign and then cut to their kind, shifts are masked, divisions guarded, conversions clamped.
//
// The file must be compiled with -ffp-contract=off and without -ffast-math: a product is rounded before it is added unless the IR says IR_FMA.
#include "codegen/ir/eval.h"

#include "record/bit_pattern.h"
#include "record/scalar_convert.h"

#include <math.h>

#define EACH(n, out, expression) for (size_t i = 0; i < (n); i++) (out)[i] = (expression)

// --- Integers ---

#define DEFINE_INTEGER(KIND, s, T)                                                                                     \
    static T divide_##s(T a, T b)                                                                                      \
    {                                                                                                                  \
        if (b == 0) return 0;                                                                                          \
        if ((T)-1 < 0 && b == (T)-1) return HDST__AS_##s(0 - (uint64_t)a);      /* MIN / -1 wraps to MIN */            \
        return (T)(a / b);                                                                                             \
    }                                                                                                                  \
    static T remainder_##s(T a, T b)                                                                                   \
    {                                                                                                                  \
        if (b == 0 || ((T)-1 < 0 && b == (T)-1)) return 0;                                                             \
        return (T)(a % b);                                                                                             \
    }                                                                                                                  \
    static void unary_##s(ir_op op, const uint64_t *a, uint64_t *out, size_t n)                                        \
    {                                                                                                                  \
        switch (op) {                                                                                                  \
        case IR_NEG: EACH(n, out, HDST__OF_INT(HDST__AS_##s(0 - a[i]))); break;                                        \
        case IR_BITNOT: EACH(n, out, HDST__OF_INT(HDST__AS_##s(~a[i]))); break;                                        \
        case IR_ABS: EACH(n, out, HDST__AS_##s(a[i]) < 0 ? HDST__OF_INT(HDST__AS_##s(0 - a[i])) : a[i]); break;        \
        case IR_CTZ: EACH(n, out, a[i] ? (uint64_t)__builtin_ctzll(a[i]) : 8 * sizeof(T)); break;                      \
        default: EACH(n, out, 0); break;                                                                               \
        }                                                                                                              \
    }                                                                                                                  \
    static void binary_##s(ir_op op, const uint64_t *a, const uint64_t *b, uint64_t *out, size_t n)                    \
    {                                                                                                                  \
        const unsigned mask = 8 * sizeof(T) - 1;                                                                       \
        switch (op) {                                                                                                  \
        case IR_ADD: EACH(n, out, HDST__OF_INT(HDST__AS_##s(a[i] + b[i]))); break;                                     \
        case IR_SUB: EACH(n, out, HDST__OF_INT(HDST__AS_##s(a[i] - b[i]))); break;                                     \
        case IR_MUL: EACH(n, out, HDST__OF_INT(HDST__AS_##s(a[i] * b[i]))); break;                                     \
        case IR_DIV: EACH(n, out, HDST__OF_INT(divide_##s(HDST__AS_##s(a[i]), HDST__AS_##s(b[i])))); break;            \
        case IR_REM: EACH(n, out, HDST__OF_INT(remainder_##s(HDST__AS_##s(a[i]), HDST__AS_##s(b[i])))); break;         \
        case IR_AND: EACH(n, out, a[i] & b[i]); break;                                                                 \
        case IR_OR: EACH(n, out, a[i] | b[i]); break;                                                                  \
        case IR_XOR: EACH(n, out, a[i] ^ b[i]); break;                                                                 \
        case IR_SHL: EACH(n, out, HDST__OF_INT(HDST__AS_##s(a[i] << (b[i] & mask)))); break;                           \
        case IR_SHR: EACH(n, out, HDST__OF_INT((T)(HDST__AS_##s(a[i]) >> (b[i] & mask)))); break;                      \
        case IR_MIN: EACH(n, out, HDST__AS_##s(a[i]) < HDST__AS_##s(b[i]) ? a[i] : b[i]); break;                       \
        case IR_MAX: EACH(n, out, HDST__AS_##s(a[i]) > HDST__AS_##s(b[i]) ? a[i] : b[i]); break;                       \
        case IR_LT: EACH(n, out, HDST__AS_##s(a[i]) < HDST__AS_##s(b[i])); break;                                      \
        case IR_LE: EACH(n, out, HDST__AS_##s(a[i]) <= HDST__AS_##s(b[i])); break;                                     \
        case IR_GT: EACH(n, out, HDST__AS_##s(a[i]) > HDST__AS_##s(b[i])); break;                                      \
        case IR_GE: EACH(n, out, HDST__AS_##s(a[i]) >= HDST__AS_##s(b[i])); break;                                     \
        case IR_EQ: EACH(n, out, a[i] == b[i]); break;                                                                 \
        case IR_NE: EACH(n, out, a[i] != b[i]); break;                                                                 \
        default: EACH(n, out, 0); break;                                                                               \
        }                                                                                                              \
    }
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wtype-limits"      // "negative?" is asked of unsigned kinds too
HDST__INTEGER_KINDS(DEFINE_INTEGER)
#pragma GCC diagnostic pop

// --- float and double ---

static const uint64_t quiet_f32 = 0x7fc00000, quiet_f64 = UINT64_C(0x7ff8000000000000);     // the NaN that functions give and see

#define DEFINE_FLOAT(KIND, s, T)                                                                                       \
    /* -0 is below +0 although they compare equal; NaN if either is NaN */                                             \
    static T minimum_##s(T a, T b)                                                                                     \
    {                                                                                                                  \
        if (a != a || b != b) return a + b;                                                                            \
        if (a == b) return signbit(a) ? a : b;                                                                         \
        return a < b ? a : b;                                                                                          \
    }                                                                                                                  \
    static T maximum_##s(T a, T b)                                                                                     \
    {                                                                                                                  \
        if (a != a || b != b) return a + b;                                                                            \
        if (a == b) return signbit(a) ? b : a;                                                                         \
        return a > b ? a : b;                                                                                          \
    }                                                                                                                  \
    static void unary_##s(ir_op op, const uint64_t *a, uint64_t *out, size_t n)                                        \
    {                                                                                                                  \
        const uint64_t sign = (uint64_t)1 << (8 * sizeof(T) - 1);                                                      \
        switch (op) {                                                                                                  \
        case IR_NEG: EACH(n, out, a[i] ^ sign); break;                                                                 \
        case IR_ABS: EACH(n, out, a[i] & ~sign); break;                                                                \
        case IR_SQRT: EACH(n, out, HDST__OF_##s(sizeof(T) == 4 ? (T)sqrtf((float)HDST__AS_##s(a[i])) : (T)sqrt(HDST__AS_##s(a[i])))); break; \
        case IR_CANONICAL: EACH(n, out, HDST__AS_##s(a[i]) != HDST__AS_##s(a[i]) ? quiet_##s : a[i]); break;           \
        case IR_ISNAN: EACH(n, out, HDST__AS_##s(a[i]) != HDST__AS_##s(a[i])); break;                                  \
        default: EACH(n, out, 0); break;                                                                               \
        }                                                                                                              \
    }                                                                                                                  \
    static void binary_##s(ir_op op, const uint64_t *a, const uint64_t *b, uint64_t *out, size_t n)                    \
    {                                                                                                                  \
        switch (op) {                                                                                                  \
        case IR_ADD: EACH(n, out, HDST__OF_##s(HDST__AS_##s(a[i]) + HDST__AS_##s(b[i]))); break;                       \
        case IR_SUB: EACH(n, out, HDST__OF_##s(HDST__AS_##s(a[i]) - HDST__AS_##s(b[i]))); break;                       \
        case IR_MUL: EACH(n, out, HDST__OF_##s(HDST__AS_##s(a[i]) * HDST__AS_##s(b[i]))); break;                       \
        case IR_DIV: EACH(n, out, HDST__OF_##s(HDST__AS_##s(a[i]) / HDST__AS_##s(b[i]))); break;                       \
        case IR_MIN: EACH(n, out, HDST__OF_##s(minimum_##s(HDST__AS_##s(a[i]), HDST__AS_##s(b[i])))); break;           \
        case IR_MAX: EACH(n, out, HDST__OF_##s(maximum_##s(HDST__AS_##s(a[i]), HDST__AS_##s(b[i])))); break;           \
        case IR_LT: EACH(n, out, HDST__AS_##s(a[i]) < HDST__AS_##s(b[i])); break;                                      \
        case IR_LE: EACH(n, out, HDST__AS_##s(a[i]) <= HDST__AS_##s(b[i])); break;                                     \
        case IR_GT: EACH(n, out, HDST__AS_##s(a[i]) > HDST__AS_##s(b[i])); break;                                      \
        case IR_GE: EACH(n, out, HDST__AS_##s(a[i]) >= HDST__AS_##s(b[i])); break;                                     \
        case IR_EQ: EACH(n, out, HDST__AS_##s(a[i]) == HDST__AS_##s(b[i])); break;                                     \
        case IR_NE: EACH(n, out, HDST__AS_##s(a[i]) != HDST__AS_##s(b[i])); break;                                     \
        default: EACH(n, out, 0); break;                                                                               \
        }                                                                                                              \
    }
HDST__FLOAT_KINDS(DEFINE_FLOAT)

// --- bool ---

static void binary_bool(ir_op op, const uint64_t *a, const uint64_t *b, uint64_t *out, size_t n)
{
    switch (op) {
    case IR_AND: case IR_MIN: EACH(n, out, a[i] & b[i]); break;
    case IR_OR: case IR_MAX: EACH(n, out, a[i] | b[i]); break;
    case IR_XOR: case IR_NE: EACH(n, out, a[i] ^ b[i]); break;
    case IR_EQ: EACH(n, out, a[i] == b[i]); break;
    case IR_LT: EACH(n, out, a[i] < b[i]); break;
    case IR_LE: EACH(n, out, a[i] <= b[i]); break;
    case IR_GT: EACH(n, out, a[i] > b[i]); break;
    case IR_GE: EACH(n, out, a[i] >= b[i]); break;
    default: EACH(n, out, 0); break;
    }
}

// --- By kind ---

void hdst__eval_unary_n(ir_op op, hdst__kind operand, const uint64_t *a, uint64_t *out, size_t n)
{
#define CASE(KIND, s, T) case KIND: unary_##s(op, a, out, n); break;
    switch (operand) {
        HDST__INTEGER_KINDS(CASE)
        HDST__FLOAT_KINDS(CASE)
    default: EACH(n, out, op == IR_NOT ? (uint64_t)(a[i] == 0) : 0); break;
    }
#undef CASE
}

void hdst__eval_binary_n(ir_op op, hdst__kind operand, const uint64_t *a, const uint64_t *b, uint64_t *out, size_t n)
{
#define CASE(KIND, s, T) case KIND: binary_##s(op, a, b, out, n); break;
    switch (operand) {
        HDST__INTEGER_KINDS(CASE)
        HDST__FLOAT_KINDS(CASE)
    default: binary_bool(op, a, b, out, n); break;
    }
#undef CASE
}

#define FMA_EACH                                                                                                       \
    if (kind == HDST__F32)                                                                                             \
        EACH(n, out, hdst__of_f32(fmaf(hdst__as_f32(a[i]), hdst__as_f32(b[i]), hdst__as_f32(c[i]))));                  \
    else                                                                                                               \
        EACH(n, out, hdst__of_f64(fma(hdst__as_f64(a[i]), hdst__as_f64(b[i]), hdst__as_f64(c[i]))))

#ifdef __x86_64__
// The C library's fma is right everywhere but a call each; where the processor has the instruction the loop uses it.
__attribute__((target("fma,avx2"))) static void fma_by_instruction(hdst__kind kind, const uint64_t *a, const uint64_t *b, const uint64_t *c, uint64_t *out,
                                                                   size_t n)
{
    FMA_EACH;
}
#endif

void hdst__eval_fma_n(hdst__kind kind, const uint64_t *a, const uint64_t *b, const uint64_t *c, uint64_t *out, size_t n)
{
#ifdef __x86_64__
    if (__builtin_cpu_supports("fma") && __builtin_cpu_supports("avx2")) {
        fma_by_instruction(kind, a, b, c, out, n);
        return;
    }
#endif
    FMA_EACH;
}

// --- The same bits as another kind ---

void hdst__eval_bitcast_n(hdst__kind to, hdst__kind from, const uint64_t *a, uint64_t *out, size_t n)
{
    if (hdst__kind_is_float(from)) hdst__eval_unary_n(IR_CANONICAL, from, a, out, n);
    else if (to == HDST__F32) EACH(n, out, a[i] & 0xffffffff);      // a signed pattern was extended
    else EACH(n, out, a[i]);
    if (to == HDST__I32) hdst__scalar_convert_n(HDST__I32, HDST__I64, out, out, n);
}

// --- Single values (codegen/interp/interp.h) ---

uint64_t hdst__eval_unary(ir_op op, hdst__kind kind, hdst__kind operand, uint64_t a)
{
    uint64_t out = 0;
    if (op == IR_CONVERT) hdst__scalar_convert_n(kind, operand, &a, &out, 1);
    else if (op == IR_BITCAST) hdst__eval_bitcast_n(kind, operand, &a, &out, 1);
    else hdst__eval_unary_n(op, operand, &a, &out, 1);
    return out;
}

uint64_t hdst__eval_binary(ir_op op, hdst__kind operand, uint64_t a, uint64_t b)
{
    uint64_t out = 0;
    hdst__eval_binary_n(op, operand, &a, &b, &out, 1);
    return out;
}

uint64_t hdst__eval_fma(hdst__kind kind, uint64_t a, uint64_t b, uint64_t c)
{
    uint64_t out = 0;
    hdst__eval_fma_n(kind, &a, &b, &c, &out, 1);
    return out;
}
