// SPDX-License-Identifier: Apache-2.0
// Most numbers have few digits: an integer below 2^53 times or divided by an exact power of ten is rounded once (W. Clinger, "How to read floating point
// numbers accurately", PLDI 1990). Others of up to 19 digits take one long multiplication (io/decimal_round.h), and so do longer ones where their first 19
// digits and the next number of 19 digits round to the same. What is left goes to the C library, which rounds correctly.
#define _GNU_SOURCE     // strtod_l: the host program may have set a locale whose decimal point is a comma
#include "io/decimal.h"

#include "io/convert.h"
#include "io/decimal_round.h"
#include "io/decimal_short.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

typedef struct decimal {
    bool negative, not_finite, whole;   // whole: neither point nor exponent
    bool is_nan;
    bool exact;                         // all digits are in `digits`
    uint64_t digits;
    int64_t exponent;                   // value is digits * 10^exponent
} decimal;

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

// *p goes on to the end of what was read, here and below.
static bool read_word(const char **at, const char *end, decimal *d)
{
    const char *p = *at;
    size_t length = 0;
    while (p + length < end && ((unsigned char)(p[length] | 32) - 'a') < 26u) length++;
    *at += length;
    if (length == 3 && !strncasecmp(p, "nan", 3)) d->is_nan = true;
    else if (!(length == 3 && !strncasecmp(p, "inf", 3)) && !(length == 8 && !strncasecmp(p, "infinity", 8))) return false;
    d->not_finite = true;
    return true;
}

#define MOST_BEFORE_EIGHT UINT64_C(100000000000)            // any eight digits, and any one, fit behind what is less
#define MOST_BEFORE_ONE UINT64_C(1000000000000000000)

// Digits of which not all may fit.
static const char *read_more_digits(const char *p, const char *end, decimal *d, int after_point)
{
    for (; p < end && is_digit(*p); p++) {
        uint64_t longer;
        if (d->exact && !__builtin_mul_overflow(d->digits, 10, &longer) && !__builtin_add_overflow(longer, (uint64_t)(*p - '0'), &longer)) {
            d->digits = longer;
            d->exponent -= after_point;
        } else {
            d->exact = false;
            d->exponent += !after_point;
        }
    }
    return p;
}

// Reads digits: their value as long as it fits, then only their places. `after_point` is the change of the exponent for each.
static const char *read_digits(const char *p, const char *end, decimal *d, int after_point)
{
    const char *start = p;
    uint64_t value = d->digits;
    for (; end - p >= 8 && value < MOST_BEFORE_EIGHT && hdst__are_eight_digits(p); p += 8) value = value * 100000000 + hdst__eight_digits(p);
    for (; p < end && value < MOST_BEFORE_ONE && is_digit(*p); p++) value = value * 10 + (uint64_t)(*p - '0');
    d->digits = value;
    d->exponent -= after_point * (p - start);
    return read_more_digits(p, end, d, after_point);
}

static bool read_exponent(const char **at, const char *end, decimal *d)
{
    const char *p = *at;
    bool negative = p < end && *p == '-';
    if (p < end && (*p == '-' || *p == '+')) p++;
    const char *start = p;
    int64_t value = 0;
    for (; p < end && is_digit(*p); p++)
        if (value < 1000000000) value = value * 10 + (*p - '0');
    d->exponent += negative ? -value : value;
    *at = p;
    return p > start;
}

static bool read_decimal(const char **at, const char *end, decimal *d)
{
    const char *p = *at;
    *d = (decimal){.exact = true, .whole = true};
    if (p < end && (*p == '-' || *p == '+')) d->negative = *p++ == '-';
    if (p == end) return false;
    *at = p;
    if (!is_digit(*p) && *p != '.') return read_word(at, end, d);
    const char *start = p;
    p = read_digits(p, end, d, 0);
    size_t count = (size_t)(p - start);
    if (p < end && *p == '.') {
        d->whole = false;
        start = ++p;
        p = read_digits(p, end, d, 1);
        count += (size_t)(p - start);
    }
    *at = p;
    if (count == 0) return false;
    if (p == end || (*p != 'e' && *p != 'E')) return true;
    d->whole = false;
    ++*at;
    return read_exponent(at, end, d);
}

static bool is_decimal(const char *text, size_t length, decimal *d)
{
    const char *end = text + length;
    return read_decimal(&text, end, d) && text == end;
}

static const double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

static bool fast_double(const decimal *d, double *value)
{
    if (!d->exact || d->digits > (uint64_t)1 << 53 || d->exponent < -22 || d->exponent > 22) return false;
    double v = (double)d->digits;
    v = d->exponent < 0 ? v / powers[-d->exponent] : v * powers[d->exponent];
    *value = d->negative ? -v : v;
    return true;
}

// Digits that do not fit make the number larger, by less than one in the last of those that do.
static double slow_double(const char *text, const decimal *d, locale_t c_locale)
{
    const double value = hdst__decimal_round_double(d->digits, d->exponent);
    if (d->exact || (d->digits < UINT64_MAX && value == hdst__decimal_round_double(d->digits + 1, d->exponent))) return d->negative ? -value : value;
    return strtod_l(text, NULL, c_locale);
}

static float slow_float(const char *text, const decimal *d, locale_t c_locale)
{
    const float value = hdst__decimal_round_float(d->digits, d->exponent);
    if (d->exact || (d->digits < UINT64_MAX && value == hdst__decimal_round_float(d->digits + 1, d->exponent))) return d->negative ? -value : value;
    return strtof_l(text, NULL, c_locale);
}

static hdst__decimal_status as_double(const char *text, const decimal *d, locale_t c_locale, double *value)
{
    if (d->not_finite) *value = d->is_nan ? (double)NAN : d->negative ? -(double)INFINITY : (double)INFINITY;
    else if (!fast_double(d, value)) *value = slow_double(text, d, c_locale);
    return isinf(*value) && !d->not_finite ? HDST__DECIMAL_TOO_LARGE : HDST__DECIMAL_OK;
}

// The double nearest to a text rounds to the float nearest to the text, unless the double lies exactly between two floats (the text may lie on either side) or
// floats are denormal there.
static bool rounds_twice(double v)
{
    uint64_t bits;
    memcpy(&bits, &v, sizeof bits);
    return (bits & 0x1fffffff) == 0x10000000 || (v != 0 && fabs(v) < (double)FLT_MIN);
}

static hdst__decimal_status as_float(const char *text, const decimal *d, locale_t c_locale, float *value)
{
    double v;
    if (d->not_finite) *value = d->is_nan ? NAN : d->negative ? -INFINITY : INFINITY;
    else if (fast_double(d, &v) && !rounds_twice(v)) *value = (float)v;
    else *value = slow_float(text, d, c_locale);
    return isinf(*value) && !d->not_finite ? HDST__DECIMAL_TOO_LARGE : HDST__DECIMAL_OK;
}

// Integers in full precision; what has a point or an exponent goes through a double and must be whole.
static hdst__decimal_status as_other(const char *text, const decimal *d, hdst__kind as, locale_t c_locale, void *value)
{
    if (d->whole && d->exact && !d->not_finite) {
        if (!d->negative) return hdst__convert_strided(as, value, 0, HDST__U64, &d->digits, 0, 1) ? HDST__DECIMAL_OK : HDST__DECIMAL_TOO_LARGE;
        if (d->digits > (uint64_t)1 << 63) return HDST__DECIMAL_TOO_LARGE;
        int64_t negative = (int64_t)(0 - d->digits);
        return hdst__convert_strided(as, value, 0, HDST__I64, &negative, 0, 1) ? HDST__DECIMAL_OK : HDST__DECIMAL_TOO_LARGE;
    }
    double real;
    hdst__decimal_status status = as_double(text, d, c_locale, &real);
    if (status != HDST__DECIMAL_OK) return status;
    if (hdst__convert_strided(as, value, 0, HDST__F64, &real, 0, 1)) return HDST__DECIMAL_OK;
    return real == trunc(real) ? HDST__DECIMAL_TOO_LARGE : HDST__DECIMAL_NOT_WHOLE;
}

static hdst__decimal_status as_kind(const char *text, const decimal *d, hdst__kind as, locale_t c_locale, void *value)
{
    hdst__decimal_status status;
    float single;
    double wide;
    switch (as) {
    case HDST__F32:
        status = as_float(text, d, c_locale, &single);
        memcpy(value, &single, sizeof single);
        return status;
    case HDST__F64:
        status = as_double(text, d, c_locale, &wide);
        memcpy(value, &wide, sizeof wide);
        return status;
    default: return as_other(text, d, as, c_locale, value);
    }
}

hdst__decimal_status hdst__decimal_parse(const char *text, size_t length, hdst__kind as, locale_t c_locale, void *value)
{
    decimal d;
    return is_decimal(text, length, &d) ? as_kind(text, &d, as, c_locale, value) : HDST__DECIMAL_MALFORMED;
}

const char *hdst__decimal_read(const char *text, const char *limit, hdst__kind as, locale_t c_locale, void *value)
{
    decimal d;
    const char *end = text;
    return read_decimal(&end, limit, &d) && as_kind(text, &d, as, c_locale, value) == HDST__DECIMAL_OK ? end : NULL;
}

bool hdst__decimal_is(const char *text, size_t length)
{
    decimal d;
    return is_decimal(text, length, &d);
}

bool hdst__decimal_is_not_finite(const char *text, size_t length)
{
    decimal d;
    return is_decimal(text, length, &d) && d.not_finite;
}
