// SPDX-License-Identifier: Apache-2.0
// Conversions between C values and the 64-bit patterns in which evaluator, interpreter and accumulators hold a scalar of any kind.
#ifndef HDST_RECORD_BIT_PATTERN_H
#define HDST_RECORD_BIT_PATTERN_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static inline float hdst__as_f32(uint64_t pattern)
{
    uint32_t bits = (uint32_t)pattern;
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline double hdst__as_f64(uint64_t pattern)
{
    double value;
    memcpy(&value, &pattern, sizeof value);
    return value;
}

static inline uint64_t hdst__of_f32(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static inline uint64_t hdst__of_f64(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

// Signed kinds: narrowing keeps the low bits (gcc and clang define it so), widening extends the sign.
#define HDST__AS_bool(p) ((bool)(p))
#define HDST__AS_i8(p) ((int8_t)(uint8_t)(p))
#define HDST__AS_i16(p) ((int16_t)(uint16_t)(p))
#define HDST__AS_i32(p) ((int32_t)(uint32_t)(p))
#define HDST__AS_i64(p) ((int64_t)(p))
#define HDST__AS_u8(p) ((uint8_t)(p))
#define HDST__AS_u16(p) ((uint16_t)(p))
#define HDST__AS_u32(p) ((uint32_t)(p))
#define HDST__AS_u64(p) ((uint64_t)(p))
#define HDST__AS_f32(p) hdst__as_f32(p)
#define HDST__AS_f64(p) hdst__as_f64(p)
#define HDST__OF_INT(v) ((uint64_t)(int64_t)(v))     // right for unsigned ones too: they are not negative
#define HDST__OF_i8(v) HDST__OF_INT(v)
#define HDST__OF_i16(v) HDST__OF_INT(v)
#define HDST__OF_i32(v) HDST__OF_INT(v)
#define HDST__OF_i64(v) HDST__OF_INT(v)
#define HDST__OF_u8(v) HDST__OF_INT(v)
#define HDST__OF_u16(v) HDST__OF_INT(v)
#define HDST__OF_u32(v) HDST__OF_INT(v)
#define HDST__OF_bool(v) ((uint64_t)(bool)(v))
#define HDST__OF_u64(v) ((uint64_t)(v))
#define HDST__OF_f32(v) hdst__of_f32(v)
#define HDST__OF_f64(v) hdst__of_f64(v)

// name of the kind in hdst__kind, suffix of the macros above, C type
#define HDST__INTEGER_KINDS(X)                                                                                                  \
    X(HDST__I8, i8, int8_t) X(HDST__I16, i16, int16_t) X(HDST__I32, i32, int32_t) X(HDST__I64, i64, int64_t)                   \
    X(HDST__U8, u8, uint8_t) X(HDST__U16, u16, uint16_t) X(HDST__U32, u32, uint32_t) X(HDST__U64, u64, uint64_t)
#define HDST__FLOAT_KINDS(X) X(HDST__F32, f32, float) X(HDST__F64, f64, double)

#endif
