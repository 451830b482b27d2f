// SPDX-License-Identifier: Apache-2.0
// Numeric constants by C's rules (codegen/front/lex_number.h).
#define _GNU_SOURCE     // strtod_l: the host program may have set a locale whose decimal point is a comma
#include "codegen/front/lex_number.h"

#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

int hdst__digit_value(char c)
{
    if (c >= '0' && c <= '9') return c - '0';
    c |= 32;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : 99;
}

// The first type of C's list that holds the value. Decimal constants without u stay signed; `long` is 64 bits here.
static hdst__kind integer_kind(uint64_t value, bool is_unsigned, bool is_long, bool decimal)
{
    if (!is_unsigned && !is_long && value <= INT32_MAX) return HDST__I32;
    if (!is_long && (is_unsigned || !decimal) && value <= UINT32_MAX) return HDST__U32;
    if (!is_unsigned && value <= INT64_MAX) return HDST__I64;
    return HDST__U64;
}

static const char *integer(const char *text, hdst__number *number)
{
    bool hex = text[0] == '0' && (text[1] | 32) == 'x', binary = text[0] == '0' && (text[1] | 32) == 'b';
    int base = hex ? 16 : binary ? 2 : text[0] == '0' && text[1] ? 8 : 10;
    const char *at = text + (hex || binary ? 2 : 0), *first = at;
    uint64_t value = 0;
    bool too_large = false;
    for (; hdst__digit_value(*at) < (base == 8 ? 10 : base); at++) {
        if (hdst__digit_value(*at) >= base) return "a number that begins with 0 is octal: its digits are 0 to 7";
        too_large |= __builtin_mul_overflow(value, (uint64_t)base, &value) || __builtin_add_overflow(value, (uint64_t)hdst__digit_value(*at), &value);
    }
    if (at == first) return "a number needs digits";
    bool is_unsigned = false, is_long = false;
    for (; *at; at++) {
        if ((*at | 32) == 'u' && !is_unsigned) is_unsigned = true;
        else if ((*at | 32) == 'l' && !is_long) {
            is_long = true;
            if (at[1] == at[0]) at++;
        } else return (*at | 32) == 'f' ? "the suffix f needs a decimal point, as in 1.0f" : "unknown suffix of a number; there are u, l, ul and f";
    }
    if (too_large) return "this number does not fit 64 bits";
    number->kind = integer_kind(value, is_unsigned, is_long, base == 10);
    number->bits = value;
    return number->kind == HDST__U64 && !is_unsigned && base == 10 ? "this number does not fit int64_t; add the suffix u for uint64_t" : NULL;
}

static const char *real(const char *text, hdst__number *number)
{
    size_t length = strlen(text);
    bool hex = text[0] == '0' && (text[1] | 32) == 'x';
    bool single = (text[length - 1] | 32) == 'f' && (!hex || strpbrk(text, "pP"));
    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (!plain) return "out of memory while reading a number";
    char *end;
    double value = single ? strtof_l(text, &end, plain) : strtod_l(text, &end, plain);     // strtof: rounded once
    freelocale(plain);
    if (end != text + length - single) return "malformed number";
    number->kind = single ? HDST__F32 : HDST__F64;
    if (single) {
        float narrow = (float)value;
        uint32_t bits;
        memcpy(&bits, &narrow, sizeof bits);
        number->bits = bits;
    } else {
        memcpy(&number->bits, &value, sizeof value);
    }
    return isinf(value) ? single ? "this number does not fit float" : "this number does not fit double" : NULL;
}

const char *hdst__number_parse(const char *text, hdst__number *number)
{
    *number = (hdst__number){HDST__I32, 0};
    bool hex = text[0] == '0' && (text[1] | 32) == 'x';
    return strpbrk(text, hex ? ".pP" : ".eE") ? real(text, number) : integer(text, number);
}
