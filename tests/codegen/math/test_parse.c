// SPDX-License-Identifier: Apache-2.0
// parse_int, parse_float and parse_double against strtoll, strtof and strtod of the C library, which round right: numbers as programs write them, digits of the
// places half way between two numbers and beside them, denormals, the ends of the range, hundreds of digits, and what is nearly a number.
#include "tests/hdst/support.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

enum { LONGEST = 1400 };

static uint64_t state = 0x853c49e6748fea9b;
static uint64_t next(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state * 0x2545f4914f6cdd1d;
}
static uint64_t below(uint64_t limit) { return next() % limit; }

// --- What is written ---

static double any_double(void)
{
    for (;;) {
        uint64_t bits = next();
        if (!below(8)) bits &= 0x800fffffffffffff;                  // denormal
        if (!below(6)) bits = (uint64_t)llround(ldexp((double)below(1 << 20), (int)below(30))) | bits >> 60 << 60;
        if (!below(6)) bits = (bits & 0x800fffffffffffff) | (1023 + below(64)) << 52;
        double value;
        memcpy(&value, &bits, sizeof value);
        if (isfinite(value)) return value;
    }
}

static float any_float(void)
{
    for (;;) {
        uint32_t bits = (uint32_t)next();
        if (!below(8)) bits &= 0x807fffff;
        float value;
        memcpy(&value, &bits, sizeof value);
        if (isfinite(value)) return value;
    }
}

static int shortest(char *to)
{
    if (below(2)) return snprintf(to, LONGEST, "%.*g", 1 + (int)below(17), any_double());
    return below(2) ? snprintf(to, LONGEST, "%.*g", 1 + (int)below(9), (double)any_float()) : snprintf(to, LONGEST, "%.17e", any_double());
}

// All digits of the place half way between two neighbours; perhaps a little beside it.
static int half_way(char *to)
{
    int length;
    if (below(2)) {
        const float low = fabsf(any_float()), high = nextafterf(low, INFINITY);
        length = snprintf(to, LONGEST, below(2) ? "%.*g" : "%.*e", 200, isinf(high) ? 0x1.ffffffp127 : ((double)low + (double)high) / 2);
    } else {
        const double low = fabs(any_double()), high = nextafter(low, INFINITY);
        const long double middle = isinf(high) ? 0x1.fffffffffffff8p1023L : ((long double)low + (long double)high) / 2;
        length = snprintf(to, LONGEST, below(2) ? "%.*Lg" : "%.*Le", 780, middle);
    }
    if (memchr(to, 'e', (size_t)length)) {          // a digit in front of the exponent
        char *e = memchr(to, 'e', (size_t)length);
        if (below(3) == 0) e[-1] = (char)('0' + below(10));
        return length;
    }
    if (!memchr(to, '.', (size_t)length)) to[length++] = '.';
    for (uint64_t zeros = below(3) ? 0 : below(100); zeros--;) to[length++] = '0';
    if (below(2)) to[length++] = "01"[below(2)];
    return length;
}

static int digits(char *to)
{
    static const int most[] = {3, 18, 21, 40, 400, 800};
    int length = 0, count = 1 + (int)below((uint64_t)most[below(100) < 90 ? below(4) : 4 + below(2)]);
    const int point = below(2) ? -1 : (int)below((uint64_t)count + 1), nines = below(10) == 0;
    for (uint64_t zeros = below(4) ? 0 : below(30); zeros--;) to[length++] = '0';
    for (int i = 0; i < count; i++) {
        if (i == point) to[length++] = '.';
        to[length++] = (char)('0' + (nines ? 9 : below(10)));
    }
    if (below(2)) length += snprintf(to + length, LONGEST - (size_t)length, "%c%s%d", "eE"[below(2)], below(2) ? "+" : "",
                                     (int)below(800) - 400 - (below(3) ? 0 : count));
    return length;
}

static int at_the_ends(char *to)
{
    static const char *const known[] = {
        "1.7976931348623157e308", "1.7976931348623158e308", "1.7976931348623159e308",
        "17976931348623158079372897140530341507993413271003782693617377898044496829276475094664901797758720709633028641669288791094655554785194040263"
        "06574886715058206819089020007083836762738548458177115317644757302700698555713669596228429148198608349364752927190741684443655107043427115596"
        "99508093042880",
        "2.2250738585072014e-308", "2.2250738585072011e-308", "4.9406564584124654e-324", "2.4703282292062327e-324", "2.4703282292062328e-324",
        "1e-400", "1e400",
        "3.4028235677973366e38", "3.4028235677973365e38", "3.40282356e38", "1.1754943508222875e-38", "7.006492321624085e-46", "7.0064923216240854e-46",
        "9223372036854775807", "9223372036854775808", "-9223372036854775808", "-9223372036854775809", "18446744073709551615", "18446744073709551616",
        "184467440737095516160", "0", "-0", "+0", "-0.0", "0e999999999999", "0.0e-99999999999", "1e99999999999999999999", "1e-99999999999999999999",
        "inf", "-INF", "Infinity", "+infinity", "nan", "-NaN", "infinit", "nano", "in", "9007199254740993", "9007199254740992.9999999999999999999999",
        "1.", ".5",
        ".", "", "e5", "1e", "1e+", "-", "+-1", "1 2", "0x10", "1f", "1_000", "1,5", "--3", "12345678 ", "1234567812345678\v", "9999999999999999999",
        "16777217", "16777216.99999999999999999999", "16777217.0000000000000000000000001",
    };
    return snprintf(to, LONGEST, "%s", known[below(sizeof known / sizeof *known)]);
}

// A byte is left out, put in or changed.
static int nearly(char *bytes, int length)
{
    static const char signs[] = "0123456789+-.eE xinfaty\t\0\xff:/";
    const char sign = signs[below(sizeof signs - 1)];
    const int at = (int)below((uint64_t)length + 1);
    if (below(3) && at < length) {
        bytes[at] = sign;
    } else if (below(2) && at < length) {
        memmove(bytes + at, bytes + at + 1, (size_t)(length - at - 1));
        length--;
    } else {
        memmove(bytes + at + 1, bytes + at, (size_t)(length - at));
        bytes[at] = sign;
        length++;
    }
    return length;
}

static int number(char *to)
{
    int length = 0;
    if (below(10) == 0) to[length++] = " \t\r"[below(3)];
    if (below(3) == 0) to[length++] = "-+"[below(2)];
    const uint64_t kind = below(100);
    char *rest = to + length;
    length += kind < 40 ? shortest(rest) : kind < 48 ? half_way(rest) : kind < 75 ? digits(rest) : kind < 85 ? at_the_ends(rest)
        : snprintf(rest, 100, "%lld", (long long)next() >> below(64));
    if (below(6) == 0) length = nearly(to, length);
    if (below(10) == 0) to[length++] = " \t\f"[below(3)];
    return length;
}

// --- What the C library reads ---

typedef struct parsed { int64_t i; double d; float f; } parsed;

static bool ends(const char *end, const char *bytes, int length)
{
    while (end < bytes + length && (*end == ' ' || (*end >= '\t' && *end <= '\r'))) end++;
    return end == bytes + length;
}

// Hexadecimal numbers and NaNs with a payload are none here.
static bool is_foreign(const char *bytes, int length) { return memchr(bytes, 'x', (size_t)length) || memchr(bytes, '(', (size_t)length); }

static parsed by_libc(const char *bytes, int length)
{
    parsed p = {-7, -7, -7};
    char *end;
    errno = 0;
    const long long i = strtoll(bytes, &end, 10);
    if (end != bytes && ends(end, bytes, length) && !errno) p.i = i;
    if (is_foreign(bytes, length)) return p;
    const double d = strtod(bytes, &end);
    if (end == bytes || !ends(end, bytes, length)) return p;
    p.d = isnan(d) ? fabs(d) : d;
    p.f = strtof(bytes, NULL);
    if (isnan(d)) p.f = fabsf(p.f);
    return p;
}

// --- Reading many ---

static const char kernel[] = "struct parsed { int64_t i; double d; float f; };\n"
                             "map all(text t) -> parsed { return (parsed){ parse_int(t, -7), parse_double(t, -7.0), parse_float(t, -7.0f) }; }\n";

static void expect_all(const char *device, size_t count)
{
    char path[] = "/tmp/hdst-numbers-XXXXXX", *line = malloc(LONGEST + 16);
    const int file = mkstemp(path);
    cr_assert(file >= 0);
    FILE *out = fdopen(file, "w");
    parsed *wanted = malloc(count * sizeof *wanted);
    uint64_t *seeds = malloc(count * sizeof *seeds);
    size_t floats_that_round_twice = 0;
    for (size_t i = 0; i < count; i++) {
        seeds[i] = state;
        const int length = number(line);
        line[length] = 0;
        wanted[i] = by_libc(line, length);
        floats_that_round_twice += (float)wanted[i].d != wanted[i].f && !isnan(wanted[i].d);
        fwrite(line, 1, (size_t)length, out);
        if (length && line[length - 1] == '\r') fputc(' ', out);        // or it would belong to the line's end
        fputc('\n', out);
    }
    cr_assert_eq(fclose(out), 0);
    cr_expect_gt(floats_that_round_twice, count / 1000);
    hdst_context *context = context_on(device);
    hdst_module *module = module_of(context, kernel);
    hdst_source *lines = hdst_source_open_lines(context, path);
    parsed *got;
    uint64_t rows;
    hdst_error error = HDST_ERROR_INIT;
    hdst_dataset *numbers = hdst_map_function(hdst_read(lines, module, "text"), module, "all");
    cr_assert_eq(hdst_collect(numbers, (void **)&got, &rows, &error), HDST_OK, "%s", error.message);
    cr_assert_eq(rows, count);
    for (size_t i = 0; i < count; i++) {
        if (got[i].i == wanted[i].i && !memcmp(&got[i].d, &wanted[i].d, 8) && !memcmp(&got[i].f, &wanted[i].f, 4)) continue;
        state = seeds[i];
        const int length = number(line);
        line[length] = 0;
        cr_expect_fail("\"%s\" (%d bytes): %lld, %a, %a; strtoll, strtod, strtof: %lld, %a, %a", line, length, (long long)got[i].i, got[i].d, (double)got[i].f,
                       (long long)wanted[i].i, wanted[i].d, (double)wanted[i].f);
    }
    hdst_rows_destroy(context, got);
    hdst_source_destroy(lines);
    hdst_module_destroy(module);
    hdst_context_destroy(context);
    free(wanted);
    free(seeds);
    free(line);
    unlink(path);
}

Test(parse, a_million_numbers_on_a_cpu)
{
    if (have_cpu()) expect_all("cpu", 1000000);
}

// The address sanitizer makes the interpreter slow, and looks for other mistakes than wrong digits.
#ifdef __SANITIZE_ADDRESS__
enum { INTERPRETED = 15000 };
#else
enum { INTERPRETED = 60000 };
#endif
Test(parse, numbers_in_the_interpreter) { expect_all("interp", INTERPRETED); }

// --- Texts that are no numbers ---

static void expect_failure(const char *device, const char *call, const char *const *lines, size_t count, const char *message, const char *hint)
{
    char path[] = "/tmp/hdst-numbers-XXXXXX", text[200];
    const int file = mkstemp(path);
    cr_assert(file >= 0);
    for (size_t i = 0; i < count; i++) cr_assert_gt(dprintf(file, "%s\n", lines[i]), 0);
    cr_assert_eq(close(file), 0);
    hdst_context *context = context_on(device);
    snprintf(text, sizeof text, "map f(text t) -> double\n{\n    double x = 1;\n    return x + %s;\n}\n", call);
    hdst_module *module = module_of(context, text);
    double *got = NULL;
    uint64_t rows;
    hdst_error error = HDST_ERROR_INIT;
    hdst_source *source = hdst_source_open_lines(context, path);
    cr_assert_eq(hdst_collect(hdst_map_function(hdst_read(source, module, "text"), module, "f"), (void **)&got, &rows, &error), HDST_E_RECORD);
    cr_expect_str_eq(error.message, message);
    cr_expect_eq(error.line, 4);
    cr_expect_eq(error.column, 16 + strchr(call, '(') - call + 1, "%u", error.column);
    cr_expect_eq(strncmp(error.hint, hint, strlen(hint)), 0, "%s", error.hint);
    hdst_source_destroy(source);
    hdst_module_destroy(module);
    hdst_context_destroy(context);
    unlink(path);
}

static void expect_failures(const char *device)
{
    static const char *const integers[] = {"1", "-2", "12x4", "y"}, *const large[] = {"9223372036854775808"},
        *const strange[] = {"7", "1", "0", "\xc3\xa4\"\\\tand so on, for more bytes than a message has room for, which are not seen"};
    expect_failure(device, "parse_int(t)", integers, 4, "\"12x4\" is no integer in record 2", "parse_int(t, otherwise) has a value for such texts");
    expect_failure(device, "parse_int(lower(t))", large, 1, "\"9223372036854775808\" is out of range of int64_t in record 0", "parse_int(t, otherwise)");
    expect_failure(device, "parse_double(t[0:200])", strange, 4,
                   "\"\\xc3\\xa4\\\"\\\\\\x09and so on, for more bytes than a messag...\" is no number in record 3", "parse_double(t, otherwise)");
    expect_failure(device, "parse_float(upper(t))", integers, 4, "\"12X4\" is no number in record 2", "parse_float(t, otherwise)");
}

Test(parse, a_text_that_is_no_number_is_told_in_the_interpreter) { expect_failures("interp"); }
Test(parse, a_text_that_is_no_number_is_told_on_a_cpu)
{
    if (have_cpu()) expect_failures("cpu");
}

static void expect_skipped(const char *device)
{
    char path[] = "/tmp/hdst-numbers-XXXXXX";
    const int file = mkstemp(path);
    cr_assert(file >= 0 && write(file, "5\nx\n\n-7\n6 6\n", 12) == 12 && close(file) == 0);
    hdst_context_options options = HDST_CONTEXT_OPTIONS_INIT;
    options.device = device;
    options.on_error = HDST_ON_ERROR_SKIP;
    hdst_context *context = hdst_context_create(&options);
    hdst_module *module = module_of(context, "map f(text t) -> int64_t { return parse_int(t); }");
    int64_t *got = NULL;
    uint64_t rows = 0;
    hdst_source *source = hdst_source_open_lines(context, path);
    cr_assert_eq(hdst_collect(hdst_map_function(hdst_read(source, module, "text"), module, "f"), (void **)&got, &rows, NULL), HDST_OK);
    cr_assert_eq(rows, 2);
    cr_expect(got[0] == 5 && got[1] == -7);
    hdst_rows_destroy(context, got);
    hdst_source_destroy(source);
    hdst_module_destroy(module);
    hdst_context_destroy(context);
    unlink(path);
}

Test(parse, records_with_such_texts_may_be_left_out)
{
    expect_skipped("interp");
    if (have_cpu()) expect_skipped("cpu");
}

// --- Names ---

Test(parse, a_function_of_the_user_may_have_the_name)
{
    hdst_context *context = context_on("interp");
    hdst_module *module = module_of(context, "int64_t parse_int(uint32_t x) { return x + 1; } map f(uint32_t x) -> int64_t { return parse_int(x); }");
    static const uint32_t three = 3;
    int64_t *rows;
    uint64_t count;
    hdst_source *source = hdst_source_from_memory(context, &three, 1, sizeof three);
    cr_assert_eq(hdst_collect(hdst_map_function(hdst_read(source, module, "uint32_t"), module, "f"), (void **)&rows, &count, NULL), HDST_OK);
    cr_assert_eq(rows[0], 4);
    hdst_rows_destroy(context, rows);
    hdst_source_destroy(source);
    hdst_module_destroy(module);
    hdst_context_destroy(context);
}

static void expect_refused(const char *text, const char *part)
{
    hdst_context *context = context_on("interp");
    hdst_module *module = hdst_module_parse(context, "test.hk", text, NULL);
    cr_assert_eq(hdst_module_status(module, NULL), HDST_E_KERNEL);
    cr_expect(strstr(hdst_module_diagnostics(module), part), "%s", hdst_module_diagnostics(module));
    hdst_module_destroy(module);
    hdst_context_destroy(context);
}

Test(parse, wrong_calls_are_refused)
{
    expect_refused("map f(text t) -> int64_t { return parse_int(); }", "parse_int takes 1 to 2 arguments, not 0");
    expect_refused("map f(text t) -> int64_t { return parse_int(t, 1, 2); }", "parse_int takes 1 to 2 arguments, not 3");
    expect_refused("map f(int64_t t) -> float { return parse_float(t); }", "argument 1 of 'parse_float'");
    expect_refused("map f(text t) -> float { check_number(t, 1); return 1; }", "unknown function 'check_number'");
}
