// SPDX-License-Identifier: Apache-2.0
// Constants of the IR as OpenCL C, and the names of kinds.
#include "codegen/opencl/print_constant.h"
#include "base/writer.h"
#include "codegen/ir/text_value.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *hdst__cl_name(hdst__kind kind)
{
    return kind == HDST__BOOL ? "bool" : hdst__scalar_cl_name(kind);
}

enum { REAL_TEXT = 40 };

// The fewest digits that read back; returns what follows them. The program that hdst is a part of may have set a
// locale with another decimal mark, of any number of bytes: it becomes a point.
static const char *shortest_text(char text[REAL_TEXT], double v, bool single)
{
    static const char plain[] = "0123456789e+-";
    for (int digits = 1; digits <= (single ? 9 : 17); digits++) {      // as many always do
        snprintf(text, REAL_TEXT, "%.*g", digits, v);
        if (single ? strtof(text, NULL) == (float)v : strtod(text, NULL) == v) break;
    }
    char *mark = text + strspn(text, plain);
    if (!*mark) return strchr(text, 'e') ? "" : ".0";
    const char *after = mark + strcspn(mark, plain);
    memmove(mark + 1, after, strlen(after) + 1);
    *mark = '.';
    return "";
}

static const char *float_text(hdst__arena *arena, uint32_t bits)
{
    float v;
    memcpy(&v, &bits, sizeof v);
    if (isnan(v)) return hdst__arena_printf(arena, "as_float(0x%08" PRIx32 "u)", bits);
    if (isinf(v)) return signbit(v) ? "-INFINITY" : "INFINITY";
    char text[REAL_TEXT];
    const char *end = shortest_text(text, (double)v, true);
    return hdst__arena_printf(arena, "%s%sf", text, end);
}

static const char *double_text(hdst__arena *arena, uint64_t bits)
{
    double v;
    memcpy(&v, &bits, sizeof v);
    if (isnan(v)) return hdst__arena_printf(arena, "as_double(0x%016" PRIx64 "UL)", bits);
    if (isinf(v)) return signbit(v) ? "-(double)INFINITY" : "(double)INFINITY";
    char text[REAL_TEXT];
    const char *end = shortest_text(text, v, false);
    return hdst__arena_printf(arena, "%s%s", text, end);
}

static const char *signed_text(hdst__arena *arena, hdst__kind kind, int64_t v)
{
    if (kind == HDST__I64) return v == INT64_MIN ? "LONG_MIN" : hdst__arena_printf(arena, "%" PRId64 "L", v);
    return v == INT32_MIN ? "INT_MIN" : hdst__arena_printf(arena, "%" PRId64, v);
}

// A string of C, each byte that could be taken for something else by its number.
static const char *text_text(hdst__arena *arena, const hdst__text_value *text)
{
    hdst__writer out = {.arena = arena};
    hdst__write(&out, "text_constant((__constant const uchar *)\"");
    for (uint32_t i = 0; text && i < text->length; i++) {
        const unsigned char byte = hdst__text_byte(text, i);
        const bool plain = (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || byte == ' ' || byte == '_' || byte == '-' || byte == ':';
        hdst__write(&out, plain ? "%c" : "\\%03o", byte);
    }
    hdst__write(&out, "\", %" PRIu32 "u)", text ? text->length : 0);
    return hdst__writer_text(&out);
}

const char *hdst__constant_text(hdst__arena *arena, hdst__kind kind, uint64_t bits)
{
    switch (kind) {
    case HDST__TEXT: return text_text(arena, (const hdst__text_value *)(uintptr_t)bits);
    case HDST__BOOL: return bits ? "true" : "false";
    case HDST__F32: return float_text(arena, (uint32_t)bits);
    case HDST__F64: return double_text(arena, bits);
    case HDST__U8: case HDST__U16: return hdst__arena_printf(arena, "%" PRIu64, bits);
    case HDST__U32: return hdst__arena_printf(arena, "%" PRIu64 "u", bits);
    case HDST__U64: return hdst__arena_printf(arena, "%" PRIu64 "UL", bits);
    default: return signed_text(arena, kind, (int64_t)bits);
    }
}

const char *hdst__canonical_text(hdst__arena *arena, hdst__kind kind, const char *value)
{
    return hdst__arena_printf(arena, "as_%s(bits_of_%s(%s))", hdst__cl_name(kind), hdst__cl_name(kind), value);
}
