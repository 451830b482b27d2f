// SPDX-License-Identifier: Apache-2.0
// Conversion in two steps through int64, uint64 or double, a block at a time: eleven loaders and three times eleven storers
// instead of all pairs. Only the last step may round, so a value is rounded at most once.
#include "io/convert.h"
#include "base/costs_host.h"
#include "base/strided_copy.h"
#include "base/vector_targets.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = HDST__HOST_CONVERT_NUMBERS };

typedef enum wide_class { SIGNED, UNSIGNED, REAL } wide_class;

typedef union wide {
    int64_t i[BLOCK];
    uint64_t u[BLOCK];
    double r[BLOCK];
} wide;

static wide_class class_of(hdst__kind kind)
{
    if (kind == HDST__U64) return UNSIGNED;
    return hdst__kind_is_float(kind) ? REAL : SIGNED;
}

HDST__WIDE_VECTORS static void load(hdst__kind kind, wide *w, const char *from, uint64_t stride, uint64_t count)
{
#define LOAD(member, type)                                                     \
    if (stride == sizeof(type)) LOAD_ALL(member, type, sizeof(type))           \
    else if (stride == 2 * sizeof(type)) LOAD_ALL(member, type, 2 * sizeof(type)) \
    else LOAD_ALL(member, type, stride)                                        \
    break
#define LOAD_ALL(member, type, step)                                           \
    for (uint64_t n = 0; n < count; n++) {                                     \
        type value;                                                            \
        memcpy(&value, from + n * (step), sizeof value);                       \
        w->member[n] = value;                                                  \
    }
    switch (kind) {
    case HDST__BOOL: for (uint64_t n = 0; n < count; n++) w->i[n] = from[n * stride] != 0; break;
    case HDST__I8: LOAD(i, int8_t);
    case HDST__I16: LOAD(i, int16_t);
    case HDST__I32: LOAD(i, int32_t);
    case HDST__I64: LOAD(i, int64_t);
    case HDST__U8: LOAD(i, uint8_t);
    case HDST__U16: LOAD(i, uint16_t);
    case HDST__U32: LOAD(i, uint32_t);
    case HDST__U64: LOAD(u, uint64_t);
    case HDST__F32: LOAD(r, float);
    case HDST__F64: LOAD(r, double);
    default: break;
    }
}

// `fits` sees the wide value as `v`. Returns at the first one that does not fit.
#define STORE(member, type, fits) STORE_AS(member, type, fits, (type)v)
// Processors differ in the bits of a NaN whose width changes: here all become the canonical one (docs/kernel-language.md,
// Numeric rules).
#define STORE_REAL(type, fits) STORE_AS(r, type, fits, v != v ? (type)NAN : (type)v)
// In three loops of which each can run in SIMD: whether all fit, and their stores, side by side or apart. The one that does not fit is looked for only then.
#define STORE_AS(member, type, fits, as)                                       \
    do {                                                                       \
        uint64_t misfits = 0, fit = 0;                                         \
        for (uint64_t n = 0; n < count; n++) {                                 \
            __typeof__(w->member[0]) v = w->member[n];                         \
            (void)v;                                                           \
            misfits += !(fits);                                                \
        }                                                                      \
        while (misfits && fit < count) {                                       \
            __typeof__(w->member[0]) v = w->member[fit];                       \
            (void)v;                                                           \
            if (!(fits)) break;                                                \
            fit++;                                                             \
        }                                                                      \
        if (misfits) count = fit;                                              \
        if (stride == sizeof(type)) STORE_ALL(member, type, sizeof(type), as)  \
        else STORE_ALL(member, type, stride, as)                               \
        return count;                                                          \
    } while (0)
#define STORE_ALL(member, type, step, as)                                      \
    for (uint64_t n = 0; n < count; n++) {                                     \
        __typeof__(w->member[0]) v = w->member[n];                             \
        type value = (as);                                                     \
        memcpy(to + n * (step), &value, sizeof value);                         \
    }

HDST__WIDE_VECTORS static uint64_t store_signed(hdst__kind kind, const wide *w, char *to, uint64_t stride, uint64_t count)
{
    switch (kind) {
    case HDST__BOOL: for (uint64_t n = 0; n < count; n++) to[n * stride] = w->i[n] != 0; break;
    case HDST__I8: STORE(i, int8_t, v >= INT8_MIN && v <= INT8_MAX);
    case HDST__I16: STORE(i, int16_t, v >= INT16_MIN && v <= INT16_MAX);
    case HDST__I32: STORE(i, int32_t, v >= INT32_MIN && v <= INT32_MAX);
    case HDST__I64: STORE(i, int64_t, true);
    case HDST__U8: STORE(i, uint8_t, v >= 0 && v <= UINT8_MAX);
    case HDST__U16: STORE(i, uint16_t, v >= 0 && v <= UINT16_MAX);
    case HDST__U32: STORE(i, uint32_t, v >= 0 && v <= UINT32_MAX);
    case HDST__U64: STORE(i, uint64_t, v >= 0);
    case HDST__F32: STORE(i, float, true);
    case HDST__F64: STORE(i, double, true);
    default: return 0;
    }
    return count;
}

HDST__WIDE_VECTORS static uint64_t store_unsigned(hdst__kind kind, const wide *w, char *to, uint64_t stride, uint64_t count)
{
    switch (kind) {
    case HDST__BOOL: for (uint64_t n = 0; n < count; n++) to[n * stride] = w->u[n] != 0; break;
    case HDST__I8: STORE(u, int8_t, v <= INT8_MAX);
    case HDST__I16: STORE(u, int16_t, v <= INT16_MAX);
    case HDST__I32: STORE(u, int32_t, v <= INT32_MAX);
    case HDST__I64: STORE(u, int64_t, v <= INT64_MAX);
    case HDST__U8: STORE(u, uint8_t, v <= UINT8_MAX);
    case HDST__U16: STORE(u, uint16_t, v <= UINT16_MAX);
    case HDST__U32: STORE(u, uint32_t, v <= UINT32_MAX);
    case HDST__U64: STORE(u, uint64_t, true);
    case HDST__F32: STORE(u, float, true);
    case HDST__F64: STORE(u, double, true);
    default: return 0;
    }
    return count;
}

// Whole numbers in [low, high); a NaN fails every comparison.
static inline bool whole(double v, double low, double high) { return v >= low && v < high && v == trunc(v); }

HDST__WIDE_VECTORS static uint64_t store_real(hdst__kind kind, const wide *w, char *to, uint64_t stride, uint64_t count)
{
    switch (kind) {
    case HDST__BOOL: for (uint64_t n = 0; n < count; n++) to[n * stride] = w->r[n] != 0; break;
    case HDST__I8: STORE(r, int8_t, whole(v, -0x1p7, 0x1p7));
    case HDST__I16: STORE(r, int16_t, whole(v, -0x1p15, 0x1p15));
    case HDST__I32: STORE(r, int32_t, whole(v, -0x1p31, 0x1p31));
    case HDST__I64: STORE(r, int64_t, whole(v, -0x1p63, 0x1p63));
    case HDST__U8: STORE(r, uint8_t, whole(v, 0, 0x1p8));
    case HDST__U16: STORE(r, uint16_t, whole(v, 0, 0x1p16));
    case HDST__U32: STORE(r, uint32_t, whole(v, 0, 0x1p32));
    case HDST__U64: STORE(r, uint64_t, whole(v, 0, 0x1p64));
    case HDST__F32: STORE_REAL(float, !isinf((float)v) || isinf(v));
    case HDST__F64: STORE_REAL(double, true);
    default: return 0;
    }
    return count;
}

// Integers of one size, of which one kind is signed: all but those with the highest bit set are the same bytes. How many do from the first on.
HDST__WIDE_VECTORS static uint64_t same_bytes(uint64_t size, const char *from, uint64_t stride, uint64_t count)
{
#define HIGHEST(type, step, then)                                  \
    for (uint64_t n = 0; n < count; n++) {                         \
        type value;                                                \
        memcpy(&value, from + n * (step), sizeof value);           \
        then;                                                      \
    }
#define SAME(type)                                                                              \
    {                                                                                           \
        type any = 0;                                                                           \
        if (stride == 2 * sizeof(type)) HIGHEST(type, 2 * sizeof(type), any |= value)           \
        else HIGHEST(type, stride, any |= value)                                                \
        if (any >> (8 * sizeof(type) - 1)) HIGHEST(type, stride, if (value >> (8 * sizeof(type) - 1)) return n) \
        return count;                                                                           \
    }
    if (size == sizeof(uint32_t)) SAME(uint32_t)
    SAME(uint64_t)
#undef SAME
#undef HIGHEST
}

bool hdst__convert_keeps_bytes(hdst__kind to, hdst__kind from)
{
    const hdst__kind low = to < from ? to : from, high = to < from ? from : to;
    return (low == HDST__I32 && high == HDST__U32) || (low == HDST__I64 && high == HDST__U64);
}

uint64_t hdst__convert_strided(hdst__kind to, void *target, uint64_t to_stride, hdst__kind from, const void *source, uint64_t from_stride, uint64_t count)
{
    char *out = target;
    const char *in = source;
    if (to == from && to != HDST__BOOL) {   // any bool byte becomes 0 or 1
        hdst__strided_copy(out, to_stride, in, from_stride, hdst__scalar_size(to), count);
        return count;
    }
    if (hdst__convert_keeps_bytes(to, from)) {
        count = same_bytes(hdst__scalar_size(to), in, from_stride, count);
        if (out != in || to_stride != from_stride) hdst__strided_copy(out, to_stride, in, from_stride, hdst__scalar_size(to), count);
        return count;
    }
    for (uint64_t done = 0; done < count; done += BLOCK) {
        wide w;
        uint64_t part = count - done < BLOCK ? count - done : BLOCK, written;
        load(from, &w, in + done * from_stride, from_stride, part);
        switch (class_of(from)) {
        case SIGNED: written = store_signed(to, &w, out + done * to_stride, to_stride, part); break;
        case UNSIGNED: written = store_unsigned(to, &w, out + done * to_stride, to_stride, part); break;
        default: written = store_real(to, &w, out + done * to_stride, to_stride, part); break;
        }
        if (written < part) return done + written;
    }
    return count;
}

bool hdst__convert_may_round(hdst__kind to, hdst__kind from)
{
    if (to == HDST__BOOL) return from != HDST__BOOL;
    if (!hdst__kind_is_float(to)) return false;
    if (hdst__kind_is_float(from)) return to == HDST__F32 && from == HDST__F64;
    return hdst__scalar_size(from) >= (to == HDST__F32 ? 4 : 8);
}

void hdst__convert_text(hdst__kind kind, const void *value, char *text, size_t size)
{
    wide w = {.i = {0}};
    load(kind, &w, value, 0, 1);
    switch (class_of(kind)) {
    case SIGNED: snprintf(text, size, "%" PRId64, w.i[0]); break;
    case UNSIGNED: snprintf(text, size, "%" PRIu64, w.u[0]); break;
    default:
        // 15 digits where they are the value, so that 0.1 does not read 0.10000000000000001
        snprintf(text, size, kind == HDST__F32 ? "%.7g" : "%.15g", w.r[0]);
        if (strtod(text, NULL) != w.r[0] && (kind != HDST__F32 || strtof(text, NULL) != (float)w.r[0]))
            snprintf(text, size, kind == HDST__F32 ? "%.9g" : "%.17g", w.r[0]);
        break;
    }
}

// The bits of a half, three exponent bits higher and 112 binades too low, times 2^112: exact for denormals too. A NaN becomes the canonical one, whatever its
// sign (see STORE_REAL).
static inline float convert_half(uint16_t bits)
{
    const uint32_t magnitude = (uint32_t)(bits & 0x7fff) << 13, sign = (uint32_t)(bits & 0x8000) << 16;
    float value;
    memcpy(&value, &magnitude, sizeof value);
    value *= 0x1p112f;
    uint32_t result;
    memcpy(&result, &value, sizeof result);
    result |= sign;
    if (magnitude >= 0x7c00u << 13) result = magnitude == 0x7c00u << 13 ? 0x7f800000u | sign : 0x7fc00000u;
    memcpy(&value, &result, sizeof value);
    return value;
}

HDST__WIDE_VECTORS
static void convert_halves(char *out, uint64_t to_stride, const char *in, uint64_t from_stride, uint64_t count)
{
    for (uint64_t n = 0; n < count; n++) {
        uint16_t bits;
        memcpy(&bits, in + n * from_stride, sizeof bits);
        const float value = convert_half(bits);
        memcpy(out + n * to_stride, &value, sizeof value);
    }
}

void hdst__convert_halves(void *to, uint64_t to_stride, const void *from, uint64_t from_stride, uint64_t count)
{
    convert_halves(to, to_stride, from, from_stride, count);
}

void hdst__convert_swap(void *values, uint64_t size, uint64_t stride, uint64_t count)
{
    char *p = values;
    for (uint64_t n = 0; n < count; n++, p += stride) {
        uint16_t h;
        uint32_t s;
        uint64_t d;
        switch (size) {
        case 2: memcpy(&h, p, 2); h = __builtin_bswap16(h); memcpy(p, &h, 2); break;
        case 4: memcpy(&s, p, 4); s = __builtin_bswap32(s); memcpy(p, &s, 4); break;
        case 8: memcpy(&d, p, 8); d = __builtin_bswap64(d); memcpy(p, &d, 8); break;
        default: break;
        }
    }
}
