// SPDX-License-Identifier: Apache-2.0
// JSON text.
#include "json.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static char *text;
static size_t size;
static json start(void) { return (json){.out = open_memstream(&text, &size)}; }

static void expect(json *j, const char *expected)
{
    fclose(j->out);
    cr_assert_str_eq(text, expected);
    free(text);
}

Test(json, objects_and_arrays_nest_with_commas_between)
{
    json j = start();
    json_open(&j, NULL, '{');
    json_open(&j, "a", '[');
    json_uint(&j, NULL, 1);
    json_uint(&j, NULL, UINT64_MAX);
    json_int(&j, NULL, INT64_MIN);
    json_open(&j, NULL, '{');
    json_close(&j, '}');
    json_close(&j, ']');
    json_text(&j, "b", "c");
    json_open(&j, "d", '[');
    json_close(&j, ']');
    json_close(&j, '}');
    expect(&j, "{\"a\":[1,18446744073709551615,-9223372036854775808,{}],\"b\":\"c\",\"d\":[]}");
}

Test(json, texts_are_escaped)
{
    json j = start();
    json_text(&j, NULL, "say \"hi\" \\ \n\t\x01 \xc3\xa4 \xf0\x9f\x98\x80");
    expect(&j, "\"say \\\"hi\\\" \\\\ \\n\\u0009\\u0001 \xc3\xa4 \xf0\x9f\x98\x80\"");
}

Test(json, bytes_that_are_not_utf8_are_replaced)
{
    const char *const bad[] = {"\xff", "\xc3", "\xc0\xaf", "\xed\xa0\x80", "\xf5\x80\x80\x80"};
    const char *const expected[] = {"\"\\ufffd\"", "\"\\ufffd\"", "\"\\ufffd\\ufffd\"", "\"\\ufffd\\ufffd\\ufffd\"", "\"\\ufffd\\ufffd\\ufffd\\ufffd\""};
    for (int i = 0; i < 5; i++) {
        json j = start();
        json_text(&j, NULL, bad[i]);
        expect(&j, expected[i]);
    }
}

Test(json, what_is_not_finite_is_a_string)
{
    json j = start();
    json_open(&j, NULL, '[');
    json_double(&j, NULL, NAN);
    json_double(&j, NULL, INFINITY);
    json_float(&j, NULL, -INFINITY);
    json_close(&j, ']');
    expect(&j, "[\"NaN\",\"Infinity\",\"-Infinity\"]");
}

Test(json, floats_are_the_shortest_that_read_back)
{
    json j = start();
    json_open(&j, NULL, '[');
    json_double(&j, NULL, 0.1);
    json_double(&j, NULL, 1.0 / 3);
    json_double(&j, NULL, -0.0);
    json_double(&j, NULL, 5e-324);
    json_float(&j, NULL, 0.1f);
    json_float(&j, NULL, 16777216.0f);
    json_close(&j, ']');
    expect(&j, "[0.1,0.3333333333333333,-0,5e-324,0.1,16777216]");
}

Test(json, random_bits_read_back_to_the_same_bits)
{
    uint64_t state = 1;
    for (int i = 0; i < 20000; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        char number[32];
        double d;
        memcpy(&d, &state, sizeof d);
        if (isfinite(d)) cr_assert_eq(strtod(shortest_double(d, number), NULL), d, "%a", d);
        uint32_t high = (uint32_t)(state >> 32);
        float f;
        memcpy(&f, &high, sizeof f);
        if (isfinite(f)) cr_assert_eq(strtof(shortest_float(f, number), NULL), f, "%a", (double)f);
    }
}
