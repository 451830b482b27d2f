// SPDX-License-Identifier: Apache-2.0
// What the C translations of random kernels are written with, and how the test talks to them. Included by the translations and by the harness; includes nothing
// of the library, so that the numeric rules are stated here a second time, in plain C (compiled with -fwrapv -ffp-contract=off).
#ifndef HDST_TESTS_DIFFERENTIAL_RUNTIME_H
#define HDST_TESTS_DIFFERENTIAL_RUNTIME_H

#include <math.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { DIFF_PARAMS = 12, DIFF_LEAVES = 96, DIFF_DIMS = 8 };

typedef enum diff_kind { K_BOOL, K_I8, K_I16, K_I32, K_I64, K_U8, K_U16, K_U32, K_U64, K_F32, K_F64, K_COUNT } diff_kind;
typedef enum diff_law { L_SUM, L_MIN, L_MAX, L_AND, L_OR, L_XOR } diff_law;
typedef enum diff_fault { FAULT_NONE, FAULT_INDEX, FAULT_DIVISION, FAULT_ENDLESS /* more turns than a record has: no program for this test */ } diff_fault;

typedef struct diff_leaf {      // where gcc puts a scalar or an array of scalars, or the scalars of an array of records
    diff_kind kind;
    size_t offset, count;       // elements over all dimensions, the last one varying first
    int dims;
    struct { size_t count, stride; } dim[DIFF_DIMS];
} diff_leaf;

static inline size_t diff_leaf_at(const diff_leaf *leaf, size_t element)
{
    size_t at = leaf->offset;
    for (int d = leaf->dims - 1; d >= 0; d--) {
        at += element % leaf->dim[d].count * leaf->dim[d].stride;
        element /= leaf->dim[d].count;
    }
    return at;
}

typedef struct diff_context {
    jmp_buf failed;
    diff_fault fault;
    uint64_t fault_index, fault_limit;
    uint64_t record;                        // record_index()
    uint64_t turns;                         // of loops that this record may still take
    const void *table[DIFF_PARAMS];         // by parameter: broadcast rows
    uint64_t rows[DIFF_PARAMS];
    bool kept;                              // what the last filter said
    void (*emit)(struct diff_context *, const void *record);    // an output record
    void (*accumulate)(struct diff_context *, int param, uint64_t row, int leaf, uint64_t element, uint64_t bits);
    void *user;
} diff_context;

typedef struct diff_exports {   // one per program, under the name "pN"
    void (*run)(diff_context *, const void *in);
    void (*fold)(diff_context *, const void *a, const void *b, void *out);     // of a reduce that is folded, instead
    size_t in_size, out_size, row_size[DIFF_PARAMS];
    diff_leaf in[DIFF_LEAVES], out[DIFF_LEAVES], row[DIFF_PARAMS][DIFF_LEAVES];
    int in_leaves, out_leaves, row_leaves[DIFF_PARAMS];
} diff_exports;

// --- Faults ---

static inline void diff_fail(diff_context *ctx, diff_fault fault, uint64_t index, uint64_t limit)
{
    ctx->fault = fault;
    ctx->fault_index = index;
    ctx->fault_limit = limit;
    longjmp(ctx->failed, 1);
}

static inline uint64_t diff_index(diff_context *ctx, uint64_t index, uint64_t limit)
{
    if (index >= limit) diff_fail(ctx, FAULT_INDEX, index, limit);
    return index;
}

static inline void diff_turn(diff_context *ctx)
{
    if (ctx->turns-- == 0) diff_fail(ctx, FAULT_ENDLESS, 0, 0);
}

// --- Numeric rules ---

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wtype-limits"      // "negative?" is asked of unsigned kinds too

#define DIFF_DIVISION(s, T)                                                                                                        \
    static inline T div_##s(diff_context *ctx, T a, T b)                                                                           \
    {                                                                                                                              \
        if (b == 0) diff_fail(ctx, FAULT_DIVISION, 0, 0);                                                                          \
        return b == (T)-1 && (T)-1 < 0 ? (T)(-a) : (T)(a / b);                                                                     \
    }                                                                                                                              \
    static inline T rem_##s(diff_context *ctx, T a, T b)                                                                           \
    {                                                                                                                              \
        if (b == 0) diff_fail(ctx, FAULT_DIVISION, 0, 0);                                                                          \
        return b == (T)-1 && (T)-1 < 0 ? 0 : (T)(a % b);                                                                           \
    }                                                                                                                              \
    static inline T abs_##s(T a) { return a < 0 ? (T)(-a) : a; }                                                                   \
    static inline T min_##s(T a, T b) { return a < b ? a : b; }                                                                    \
    static inline T max_##s(T a, T b) { return a > b ? a : b; }
DIFF_DIVISION(i32, int32_t)
DIFF_DIVISION(i64, int64_t)
DIFF_DIVISION(u32, uint32_t)
DIFF_DIVISION(u64, uint64_t)
#pragma GCC diagnostic pop

#define SHL(a, n) ((a) << ((uint32_t)(n) & (8 * sizeof((a) + 0) - 1)))
#define SHR(a, n) ((a) >> ((uint32_t)(n) & (8 * sizeof((a) + 0) - 1)))

#define DIFF_SATURATE(s, T, low, high)                                                                                             \
    static inline T sat_##s(double v)                                                                                              \
    {                                                                                                                              \
        if (isnan(v)) return 0;                                                                                                    \
        if (v <= (double)(low)) return low;                                                                                        \
        if (v >= (double)(high)) return high;                                                                                      \
        return (T)v;                                                                                                               \
    }
DIFF_SATURATE(i8, int8_t, INT8_MIN, INT8_MAX)
DIFF_SATURATE(i16, int16_t, INT16_MIN, INT16_MAX)
DIFF_SATURATE(i32, int32_t, INT32_MIN, INT32_MAX)
DIFF_SATURATE(i64, int64_t, INT64_MIN, INT64_MAX)
DIFF_SATURATE(u8, uint8_t, 0, UINT8_MAX)
DIFF_SATURATE(u16, uint16_t, 0, UINT16_MAX)
DIFF_SATURATE(u32, uint32_t, 0, UINT32_MAX)
DIFF_SATURATE(u64, uint64_t, 0, UINT64_MAX)

#define DIFF_FLOAT(s, T)                                                                                                           \
    static inline T min_##s(T a, T b)                                                                                              \
    {                                                                                                                              \
        if (isnan(a) || isnan(b)) return NAN;                                                                                      \
        return a < b || (a == b && signbit(a)) ? a : b;                                                                            \
    }                                                                                                                              \
    static inline T max_##s(T a, T b)                                                                                              \
    {                                                                                                                              \
        if (isnan(a) || isnan(b)) return NAN;                                                                                      \
        return a > b || (a == b && signbit(b)) ? a : b;                                                                            \
    }
DIFF_FLOAT(f32, float)
DIFF_FLOAT(f64, double)

static inline uint32_t bits_f32(float v)
{
    uint32_t bits;
    memcpy(&bits, &v, sizeof bits);
    return isnan(v) ? 0x7fc00000 : bits;
}

static inline uint64_t bits_f64(double v)
{
    uint64_t bits;
    memcpy(&bits, &v, sizeof bits);
    return isnan(v) ? UINT64_C(0x7ff8000000000000) : bits;
}

static inline float float_of(uint32_t bits)
{
    float v;
    memcpy(&v, &bits, sizeof v);
    return v;
}

static inline double double_of(uint64_t bits)
{
    double v;
    memcpy(&v, &bits, sizeof v);
    return v;
}

// Functions give one NaN, the quiet, positive one without payload: in every record of a map, flat_map or reduce, also
// in fields that are only copied. (What filters let through is what it was.)
static inline void diff_give(void *record, const diff_leaf *leaves, int count)
{
    for (int l = 0; l < count; l++)
        for (size_t e = 0; e < leaves[l].count; e++) {
            char *at = (char *)record + diff_leaf_at(&leaves[l], e);
            uint32_t word;
            uint64_t wide;
            if (leaves[l].kind == K_F32) {
                memcpy(&word, at, sizeof word);
                word = bits_f32(float_of(word));
                memcpy(at, &word, sizeof word);
            } else if (leaves[l].kind == K_F64) {
                memcpy(&wide, at, sizeof wide);
                wide = bits_f64(double_of(wide));
                memcpy(at, &wide, sizeof wide);
            }
        }
}

// hash of one number: its 32 bits, or 64, with zeroes in front, through a step of SplitMix64 from 0.
static inline uint64_t hash_of(uint64_t word)
{
    uint64_t h = word + UINT64_C(0x9e3779b97f4a7c15);
    h = (h ^ h >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    h = (h ^ h >> 27) * UINT64_C(0x94d049bb133111eb);
    return h ^ h >> 31;
}

// copysign sees no sign of a NaN.
static inline float sign_of_f32(float a, float b) { return copysignf(a, isnan(b) ? 1.0f : b); }
static inline double sign_of_f64(double a, double b) { return copysign(a, isnan(b) ? 1.0 : b); }

// --- dot and sum: 16 lanes, then the upper half onto the lower one ---

#define DIFF_LANES(s, T, R, MULTIPLY_ADD)                                                                                          \
    static inline R lanes_##s(R *lane, size_t n)                                                                                   \
    {                                                                                                                              \
        for (size_t half = 8; half; half /= 2)                                                                                     \
            for (size_t l = 0; l < half; l++)                                                                                      \
                if (l + half < n) lane[l] = lane[l] + lane[l + half];                                                              \
        return lane[0];                                                                                                            \
    }                                                                                                                              \
    static inline R sum_##s(const void *a_, size_t n)                                                                              \
    {                                                                                                                              \
        R lane[16] = {0};                                                                                                          \
        for (size_t i = 0; i < n; i++) {                                                                                           \
            T a;                                                                                                                   \
            memcpy(&a, (const char *)a_ + i * sizeof a, sizeof a);                                                                 \
            lane[i % 16] = lane[i % 16] + a;                                                                                       \
        }                                                                                                                          \
        return lanes_##s(lane, n);                                                                                                 \
    }                                                                                                                              \
    static inline R dot_##s(const void *a_, const void *b_, size_t n)                                                              \
    {                                                                                                                              \
        R lane[16] = {0};                                                                                                          \
        for (size_t i = 0; i < n; i++) {                                                                                           \
            T a, b;                                                                                                                \
            memcpy(&a, (const char *)a_ + i * sizeof a, sizeof a);                                                                 \
            memcpy(&b, (const char *)b_ + i * sizeof b, sizeof b);                                                                 \
            lane[i % 16] = MULTIPLY_ADD;                                                                                           \
        }                                                                                                                          \
        return lanes_##s(lane, n);                                                                                                 \
    }
DIFF_LANES(f32, float, float, fmaf(a, b, lane[i % 16]))
DIFF_LANES(f64, double, double, fma(a, b, lane[i % 16]))
DIFF_LANES(i8, int8_t, int32_t, (int32_t)a * b + lane[i % 16])
DIFF_LANES(i16, int16_t, int32_t, (int32_t)a * b + lane[i % 16])
DIFF_LANES(i32, int32_t, int32_t, a * b + lane[i % 16])
DIFF_LANES(i64, int64_t, int64_t, a * b + lane[i % 16])
DIFF_LANES(u8, uint8_t, int32_t, (int32_t)a * b + lane[i % 16])
DIFF_LANES(u16, uint16_t, int32_t, (int32_t)a * b + lane[i % 16])
DIFF_LANES(u32, uint32_t, uint32_t, a * b + lane[i % 16])
DIFF_LANES(u64, uint64_t, uint64_t, a * b + lane[i % 16])

#endif
