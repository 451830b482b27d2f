// SPDX-License-Identifier: Apache-2.0
// A writer of JSON (RFC 8259) (json.h).
#include "json.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

// Length of the valid UTF-8 sequence at s (1 to 4), or 0.
static int utf8_length(const unsigned char *s)
{
    if (s[0] < 0x80) return 1;
    int length = s[0] >= 0xC2 && s[0] < 0xE0 ? 2 : s[0] >= 0xE0 && s[0] < 0xF0 ? 3 : s[0] >= 0xF0 && s[0] < 0xF5 ? 4 : 0;
    for (int i = 1; i < length; i++)
        if ((s[i] & 0xC0) != 0x80) return 0;
    if (s[0] == 0xE0 && s[1] < 0xA0) return 0;     // longer than needed
    if (s[0] == 0xED && s[1] >= 0xA0) return 0;    // half of a surrogate pair
    if (s[0] == 0xF0 && s[1] < 0x90) return 0;
    if (s[0] == 0xF4 && s[1] >= 0x90) return 0;    // beyond U+10FFFF
    return length;
}

static void write_string(FILE *out, const char *text)
{
    fputc('"', out);
    for (const unsigned char *s = (const unsigned char *)text; *s;) {
        int length = utf8_length(s);
        if (length == 0) fputs("\\ufffd", out);
        else if (*s == '"' || *s == '\\') fprintf(out, "\\%c", *s);
        else if (*s == '\n') fputs("\\n", out);
        else if (*s < 0x20 || *s == 0x7f) fprintf(out, "\\u%04x", *s);
        else fwrite(s, 1, (size_t)length, out);
        s += length ? length : 1;
    }
    fputc('"', out);
}

static void start_value(json *j, const char *key)
{
    if (j->needs_comma) fputc(',', j->out);
    if (key) {
        write_string(j->out, key);
        fputc(':', j->out);
    }
    j->needs_comma = true;
}

void json_open(json *j, const char *key, char bracket)
{
    start_value(j, key);
    fputc(bracket, j->out);
    j->needs_comma = false;
}

void json_close(json *j, char bracket)
{
    fputc(bracket, j->out);
    j->needs_comma = true;
}

void json_text(json *j, const char *key, const char *text)
{
    start_value(j, key);
    write_string(j->out, text);
}

void json_bool(json *j, const char *key, bool value)
{
    start_value(j, key);
    fputs(value ? "true" : "false", j->out);
}

void json_int(json *j, const char *key, int64_t value)
{
    start_value(j, key);
    fprintf(j->out, "%" PRId64, value);
}

void json_uint(json *j, const char *key, uint64_t value)
{
    start_value(j, key);
    fprintf(j->out, "%" PRIu64, value);
}

// What has 15 digits (6 of a float) or fewer reads back as it was, and %g leaves trailing zeros out: only subnormal numbers have shorter texts than these.
char *shortest_double(double value, char *text)
{
    for (int digits = fpclassify(value) == FP_SUBNORMAL ? 1 : 15; digits <= 17; digits++) {
        snprintf(text, 32, "%.*g", digits, value);
        if (strtod(text, NULL) == value) break;
    }
    return text;
}

char *shortest_float(float value, char *text)
{
    for (int digits = fpclassify(value) == FP_SUBNORMAL ? 1 : 6; digits <= 9; digits++) {
        snprintf(text, 32, "%.*g", digits, (double)value);
        if (strtof(text, NULL) == value) break;
    }
    return text;
}

static bool write_non_finite(json *j, double value)
{
    if (isfinite(value)) return false;
    write_string(j->out, isnan(value) ? "NaN" : value > 0 ? "Infinity" : "-Infinity");
    return true;
}

void json_double(json *j, const char *key, double value)
{
    char text[32];
    start_value(j, key);
    if (!write_non_finite(j, value)) fputs(shortest_double(value, text), j->out);
}

void json_float(json *j, const char *key, float value)
{
    char text[32];
    start_value(j, key);
    if (!write_non_finite(j, (double)value)) fputs(shortest_float(value, text), j->out);
}

void json_rows(json *j, const char *key, const float *values, uint64_t rows, uint32_t columns)
{
    json_open(j, key, '[');
    for (uint64_t row = 0; row < rows; row++) {
        json_open(j, NULL, '[');
        for (uint32_t i = 0; i < columns; i++) json_float(j, NULL, values[row * columns + i]);
        json_close(j, ']');
    }
    json_close(j, ']');
}
