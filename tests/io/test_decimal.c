// SPDX-License-Identifier: Apache-2.0
// Decimal numbers against the C library's correctly rounded conversion, and the grammar.
#define _GNU_SOURCE
#include "io/decimal.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static locale_t plain;
static void set_up(void) { plain = newlocale(LC_ALL_MASK, "C", (locale_t)0); }
static void tear_down(void) { freelocale(plain); }

TestSuite(decimal, .init = set_up, .fini = tear_down);

static uint64_t state = 88172645463325252u;
static uint64_t next_random(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    return state ^= state << 17;
}

static void check_real(const char *text)
{
    float f = 7, f_right = strtof(text, NULL);
    double d = 7, d_right = strtod(text, NULL);
    hdst__decimal_status fs = hdst__decimal_parse(text, strlen(text), HDST__F32, plain, &f), ds = hdst__decimal_parse(text, strlen(text), HDST__F64, plain, &d);
    cr_assert_eq(memcmp(&f, &f_right, sizeof f), 0, "%s: %.9g, %.9g", text, f, f_right);
    cr_assert_eq(memcmp(&d, &d_right, sizeof d), 0, "%s: %.17g, %.17g", text, d, d_right);
    cr_assert_eq(fs, isinf(f_right) ? HDST__DECIMAL_TOO_LARGE : HDST__DECIMAL_OK, "%s", text);
    cr_assert_eq(ds, isinf(d_right) ? HDST__DECIMAL_TOO_LARGE : HDST__DECIMAL_OK, "%s", text);
}

Test(decimal, random_texts_round_as_the_c_library_does)
{
    char text[80];
    for (int i = 0; i < 300000; i++) {
        int whole = (int)(next_random() % 1000), exponent = (int)(next_random() % 100) - 50;
        switch (i % 5) {
        case 0: snprintf(text, sizeof text, "%d.%06d", whole, (int)(next_random() % 1000000)); break;
        case 1: snprintf(text, sizeof text, "-%llue%d", (unsigned long long)next_random(), exponent); break;
        case 2: snprintf(text, sizeof text, "%.*g", 1 + whole % 20, ldexp((double)next_random(), exponent - 64)); break;
        case 3: snprintf(text, sizeof text, "%llu.%llu", (unsigned long long)next_random(), (unsigned long long)next_random()); break;
        default: snprintf(text, sizeof text, "%d.%de%d", whole % 10, (int)(next_random() % 100000), (int)(next_random() % 700) - 350); break;
        }
        check_real(text);
    }
}

// Exactly between two floats, and a little to either side: rounding to double first would give the wrong float.
Test(decimal, texts_between_two_floats_are_rounded_once)
{
    char text[128];
    for (int i = 0; i < 100000; i++) {
        uint32_t bits = (uint32_t)next_random() % 0x7f000000;
        float low, high;
        memcpy(&low, &bits, sizeof low);
        bits++;
        memcpy(&high, &bits, sizeof high);
        double middle = ((double)low + high) / 2;
        int digits = snprintf(text, sizeof text, "%.60e", middle);
        check_real(text);
        char *e = strchr(text, 'e');
        char exponent[16];
        snprintf(exponent, sizeof exponent, "%s", e);
        snprintf(e, sizeof text - (size_t)digits, "00000000001%s", exponent);
        check_real(text);
    }
    check_real("1.00000005960464477539062500000000000000000000000001");
    check_real("1.000000059604644775390625");
    check_real("16777217");
    check_real("16777217.0000000000000001");
    check_real("0.5000000298023224");       // as a double exactly between two floats, and itself a little above
    check_real("0.7500000298023224");
    check_real("0.5000000894069671");       // and below
}

Test(decimal, the_edges_of_the_types)
{
    static const char *const texts[] = {"0", "-0", "0.0", "2.2250738585072011e-308", "2.2250738585072014e-308", "4.9406564584124654e-324",
                                        "2.4703282292062327e-324", "2.4703282292062328e-324", "1.4e-45", "1.1754943e-38", "1.1754942e-38",
                                        "17976931348623159e292", "17976931348623158e292",
                                        "0.000000000000000000000000000000000000012345678901234567890123456789012345678901",
                                        "-0e5", "3.4028235e38", "3.4028236e38", "1e39", "1.7976931348623157e308", "1.8e308",
                                        "1e-45", "7e-46", "1e-320", "1e-400", "0e999999999999", "1e999999999999", "1e-999999999999", "9007199254740993",
                                        "123456789012345678901234567890", ".5", "5.", "+5",
                                        "00000000000000000000000000001", "0.00000000000000000000000000001", "1e22", "1e23", "9007199254740992e22"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) check_real(texts[i]);
}

// Exactly between two doubles, all digits written, and a little to either side: 19 digits do not decide.
Test(decimal, texts_between_two_doubles)
{
    char text[1200];
    for (int i = 0; i < 20000; i++) {
        uint64_t bits = next_random() % UINT64_C(0x7fe0000000000000);
        if (i % 4 == 0) bits %= UINT64_C(1) << 52;          // denormals
        double low, high;
        memcpy(&low, &bits, sizeof low);
        bits++;
        memcpy(&high, &bits, sizeof high);
        const long double middle = ((long double)low + high) / 2;
        if (sizeof middle == sizeof low) return;
        int digits = snprintf(text, sizeof text, "%.*Le", i % 4 == 0 ? 800 : 780, middle);
        check_real(text);
        char exponent[16], *e = strchr(text, 'e');
        snprintf(exponent, sizeof exponent, "%s", e);
        snprintf(e, sizeof text - (size_t)digits, "00000000001%s", exponent);
        check_real(text);
        snprintf(e - 760, sizeof text, "%s", exponent);     // cut off: at the middle or below it
        check_real(text);
    }
}

// From 1 to 45 digits, some of them zeros at the start or the end, over all exponents that matter and more.
Test(decimal, digits_and_exponents_of_any_length)
{
    for (int i = 0; i < 400000; i++) {
        char text[80];
        int length = 1 + (int)(next_random() % 45), at = 0, point = (int)(next_random() % 50);
        const int zeros = next_random() % 3 ? 0 : (int)(next_random() % 30);
        if (next_random() % 2) text[at++] = '-';
        for (int digit = 0; digit < length; digit++) {
            if (digit == point) text[at++] = '.';
            const bool is_zero = digit < zeros || (i % 7 == 0 && digit > 17);
            text[at++] = (char)('0' + (is_zero ? 0 : next_random() % 10));
        }
        text[at] = 0;
        if (next_random() % 4) snprintf(text + at, sizeof text - (size_t)at, "e%d", (int)(next_random() % 800) - 420);
        check_real(text);
    }
}

// The digits of powers of two, where what is multiplied has few bits that are not 0, and of numbers beside them.
Test(decimal, powers_of_two_and_their_neighbours)
{
    char text[80];
    for (int power = -1074; power < 1024; power++) {
        for (int digits = 14; digits < 21; digits++) {
            snprintf(text, sizeof text, "%.*e", digits, ldexp(1, power));
            check_real(text);
            snprintf(text, sizeof text, "%.*e", digits, nextafter(ldexp(1, power), 0));
            check_real(text);
        }
        snprintf(text, sizeof text, "18446744073709551615e%d", power / 3);
        check_real(text);
        snprintf(text, sizeof text, "9223372036854775808e%d", power / 3);
        check_real(text);
    }
}

Test(decimal, what_is_no_number)
{
    static const char *const texts[] = {"", "+", "-", ".", "e5", "1e", "1e+", "1e5.0", "--1", "+-1", "0x1", "1f", "1 ", " 1", "1,5", "nan(1)", "na",
                                        "infin", "in", "1_000", "NULL", "True", ".e1"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        double d;
        cr_expect_eq(hdst__decimal_parse(texts[i], strlen(texts[i]), HDST__F64, plain, &d), HDST__DECIMAL_MALFORMED, "%s", texts[i]);
        cr_expect_not(hdst__decimal_is(texts[i], strlen(texts[i])), "%s", texts[i]);
    }
}

Test(decimal, only_the_given_length_is_read)
{
    double d;
    cr_assert_eq(hdst__decimal_parse("12,34", 2, HDST__F64, plain, &d), HDST__DECIMAL_OK);
    cr_assert_eq(d, 12);
    cr_assert_eq(hdst__decimal_parse("123456789012345678901234567890;1", 30, HDST__F64, plain, &d), HDST__DECIMAL_OK);
    cr_assert_eq(d, 123456789012345678901234567890.0);
}

static const struct { const char *text; hdst__kind kind; hdst__decimal_status status; int64_t value; } integers[] = {
    {"127", HDST__I8, HDST__DECIMAL_OK, 127}, {"128", HDST__I8, HDST__DECIMAL_TOO_LARGE, 0}, {"-128", HDST__I8, HDST__DECIMAL_OK, -128},
    {"-129", HDST__I8, HDST__DECIMAL_TOO_LARGE, 0}, {"-1", HDST__U64, HDST__DECIMAL_TOO_LARGE, 0}, {"-0", HDST__U8, HDST__DECIMAL_OK, 0},
    {"18446744073709551616", HDST__U64, HDST__DECIMAL_TOO_LARGE, 0}, {"9223372036854775808", HDST__I64, HDST__DECIMAL_TOO_LARGE, 0},
    {"-9223372036854775809", HDST__I64, HDST__DECIMAL_TOO_LARGE, 0}, {"2.50e1", HDST__I32, HDST__DECIMAL_OK, 25},
    {"2.5", HDST__I32, HDST__DECIMAL_NOT_WHOLE, 0},
    {"inf", HDST__I32, HDST__DECIMAL_TOO_LARGE, 0}, {"nan", HDST__I32, HDST__DECIMAL_NOT_WHOLE, 0}, {"1e400", HDST__I64, HDST__DECIMAL_TOO_LARGE, 0},
    {"9007199254740993", HDST__I64, HDST__DECIMAL_OK, 9007199254740993}, {"0.5", HDST__BOOL, HDST__DECIMAL_OK, 1}, {"0", HDST__BOOL, HDST__DECIMAL_OK, 0},
};

Test(decimal, integers_are_exact_or_refused)
{
    for (size_t i = 0; i < sizeof integers / sizeof *integers; i++) {
        int64_t value = 0;
        cr_expect_eq(hdst__decimal_parse(integers[i].text, strlen(integers[i].text), integers[i].kind, plain, &value), integers[i].status, "%s",
                     integers[i].text);
        uint64_t mask = hdst__scalar_size(integers[i].kind) == 8 ? UINT64_MAX : ((uint64_t)1 << 8 * hdst__scalar_size(integers[i].kind)) - 1;
        if (integers[i].status == HDST__DECIMAL_OK) cr_expect_eq((uint64_t)value & mask, (uint64_t)integers[i].value & mask, "%s", integers[i].text);
    }
}
