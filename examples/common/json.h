// SPDX-License-Identifier: Apache-2.0
// A writer of JSON (RFC 8259). Floats are the shortest text that reads back to the same bits; what is not finite is one of the strings "NaN", "Infinity",
// "-Infinity".
#ifndef EXAMPLES_JSON_H
#define EXAMPLES_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

typedef struct json {
    FILE *out;          // the caller's; errors of writing are looked for there (ferror)
    bool needs_comma;   // a value stands before the next one
} json;

// `key` is NULL inside arrays and for the outermost value.
void json_open(json *j, const char *key, char bracket);     // '{' or '['
void json_close(json *j, char bracket);                     // '}' or ']'
void json_text(json *j, const char *key, const char *text); // bytes that are not UTF-8 become U+FFFD
void json_bool(json *j, const char *key, bool value);
void json_int(json *j, const char *key, int64_t value);
void json_uint(json *j, const char *key, uint64_t value);
void json_double(json *j, const char *key, double value);
void json_float(json *j, const char *key, float value);
void json_rows(json *j, const char *key, const float *values, uint64_t rows, uint32_t columns);     // an array of arrays

// The shortest decimal that reads back to the same number; `text` has 32 bytes. Returns text.
char *shortest_double(double value, char *text);
char *shortest_float(float value, char *text);

#endif
