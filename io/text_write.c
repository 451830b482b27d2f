// SPDX-License-Identifier: Apache-2.0
// Texts in files of text (io/text_write.h): stretches of bytes that stand as they are are added at once.
#include "io/text_write.h"

#include <string.h>

static void add(hdst__file_writer *writer, const char *bytes, uint64_t count)
{
    if (count) hdst__file_writer_add(writer, bytes, count, NULL);
}

void hdst__text_write(hdst__file_writer *writer, const hdst__text_span *text) { add(writer, hdst__text_bytes(text), text->length); }

// What stands for a byte, two of them; NULL: the byte itself.
static const char *escape(char c)
{
    switch (c) {
        case '\t': return "\\t";
        case '\n': return "\\n";
        case '\r': return "\\r";
        case '\\': return "\\\\";
        default: return NULL;
    }
}

static const char *quoted(char c) { return c == '"' ? "\"\"" : NULL; }
static const char *quoted_escape(char c) { return c == '"' ? "\"\"" : escape(c); }

static void add_replaced(hdst__file_writer *writer, const char *bytes, uint64_t count, const char *(*replaced)(char c))
{
    uint64_t from = 0;
    for (uint64_t i = 0; i < count; i++) {
        const char *two = replaced(bytes[i]);
        if (!two) continue;
        add(writer, bytes + from, i - from);
        add(writer, two, 2);
        from = i + 1;
    }
    add(writer, bytes + from, count - from);
}

static void add_quoted(hdst__file_writer *writer, const hdst__text_span *text, const char *(*replaced)(char c))
{
    add(writer, "\"", 1);
    add_replaced(writer, hdst__text_bytes(text), text->length, replaced);
    add(writer, "\"", 1);
}

static bool is_blank(char c) { return c == ' ' || c == '\t'; }

// What a reader would take off, or for something else, whatever it is separated by.
static bool has_odd_ends(const char *bytes, uint64_t count) { return is_blank(bytes[0]) || is_blank(bytes[count - 1]) || bytes[0] == '#' || bytes[0] == '"'; }

void hdst__text_write_tsv(hdst__file_writer *writer, const hdst__text_span *text, bool first)
{
    const char *bytes = hdst__text_bytes(text);
    if (text->length ? has_odd_ends(bytes, text->length) : first) add_quoted(writer, text, quoted_escape);
    else add_replaced(writer, bytes, text->length, escape);
}

static bool needs_quotes(const char *bytes, uint64_t count)
{
    if (has_odd_ends(bytes, count)) return true;
    for (uint64_t i = 0; i < count; i++)
        if (bytes[i] == ',' || bytes[i] == '"' || bytes[i] == '\n' || bytes[i] == '\r') return true;
    return false;
}

void hdst__text_write_csv(hdst__file_writer *writer, const hdst__text_span *text, bool alone)
{
    const char *bytes = hdst__text_bytes(text);
    if (text->length ? needs_quotes(bytes, text->length) : alone) add_quoted(writer, text, quoted);
    else add(writer, bytes, text->length);
}
