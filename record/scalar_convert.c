// SPDX-License-Identifier: Apache-2.0
// Conversions between scalar kinds on bit patterns (record/scalar_convert.h). Nothing here is undefined behaviour in C, whatever the operands.
#include "record/scalar_convert.h"

#include "record/bit_pattern.h"

#include <math.h>

#define EACH(n, out, expression) for (size_t i = 0; i < (n); i++) (out)[i] = (expression)

// Truncates towards zero, saturates; NaN gives 0. `limit` is the first value above the range: a power of two, so exact.
static int64_t saturate_signed(double v, unsigned bits, double limit)
{
    if (v != v) return 0;
    if (v >= limit) return (int64_t)((UINT64_C(1) << (bits - 1)) - 1);
    if (v <= -limit) return (int64_t)(~UINT64_C(0) << (bits - 1));
    return (int64_t)v;
}

static uint64_t saturate_unsigned(double v, unsigned bits, double limit)
{
    if (!(v > 0)) return 0;
    if (v >= limit) return ~UINT64_C(0) >> (64 - bits);
    return (uint64_t)v;
}

static double as_real(hdst__kind from, uint64_t a)
{
    return from == HDST__F32 ? (double)hdst__as_f32(a) : hdst__as_f64(a);
}

static void float_to_integer(hdst__kind to, hdst__kind from, const uint64_t *a, uint64_t *out, size_t n)
{
    const unsigned bits = 8 * (unsigned)hdst__scalar_size(to);
    const double limit = ldexp(1.0, (int)bits - hdst__kind_is_signed(to));
    if (hdst__kind_is_signed(to))
        EACH(n, out, (uint64_t)saturate_signed(as_real(from, a[i]), bits, limit));
    else
        EACH(n, out, saturate_unsigned(as_real(from, a[i]), bits, limit));
}

// Cuts a wide pattern to an integer kind, as C converts between integers.
static void to_integer(hdst__kind to, const uint64_t *a, uint64_t *out, size_t n)
{
#define CASE(KIND, s, T) case KIND: EACH(n, out, HDST__OF_INT(HDST__AS_##s(a[i]))); break;
    switch (to) {
        HDST__INTEGER_KINDS(CASE)
    default: EACH(n, out, a[i]); break;
    }
#undef CASE
}

static void to_bool(hdst__kind from, const uint64_t *a, uint64_t *out, size_t n)
{
    if (from == HDST__F32) EACH(n, out, hdst__as_f32(a[i]) != 0);
    else if (from == HDST__F64) EACH(n, out, hdst__as_f64(a[i]) != 0);
    else EACH(n, out, a[i] != 0);
}

// Each rounds once. Every integer kind but u64 is exact in an int64.
static void integer_to_float(hdst__kind to, hdst__kind from, const uint64_t *a, uint64_t *out, size_t n)
{
    if (to == HDST__F32 && from == HDST__U64) EACH(n, out, hdst__of_f32((float)a[i]));
    else if (to == HDST__F32) EACH(n, out, hdst__of_f32((float)(int64_t)a[i]));
    else if (from == HDST__U64) EACH(n, out, hdst__of_f64((double)a[i]));
    else EACH(n, out, hdst__of_f64((double)(int64_t)a[i]));
}

void hdst__scalar_convert_n(hdst__kind to, hdst__kind from, const uint64_t *a, uint64_t *out, size_t n)
{
    const bool real_from = hdst__kind_is_float(from), real_to = hdst__kind_is_float(to);
    if (to == from) EACH(n, out, a[i]);
    else if (to == HDST__BOOL) to_bool(from, a, out, n);
    else if (real_from && to == HDST__F64) EACH(n, out, hdst__of_f64((double)hdst__as_f32(a[i])));
    else if (real_from && to == HDST__F32) EACH(n, out, hdst__of_f32((float)hdst__as_f64(a[i])));
    else if (real_from) float_to_integer(to, from, a, out, n);
    else if (real_to) integer_to_float(to, from, a, out, n);
    else to_integer(to, a, out, n);
}

uint64_t hdst__scalar_convert(hdst__kind to, hdst__kind from, uint64_t a)
{
    uint64_t out = 0;
    hdst__scalar_convert_n(to, from, &a, &out, 1);
    return out;
}
