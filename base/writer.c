// SPDX-License-Identifier: Apache-2.0
// Text that grows in an arena, with indentation (base/writer.h).
#include "base/writer.h"

#include <stdio.h>
#include <string.h>

void hdst__writer_reserve(hdst__writer *writer, size_t bytes)
{
    writer->text = hdst__arena_grow(writer->arena, writer->text, &writer->capacity, writer->length + bytes + 1, 1);
    writer->text[writer->length] = '\0';
}

static void append(hdst__writer *writer, const char *bytes, size_t length)
{
    hdst__writer_reserve(writer, length);
    memcpy(writer->text + writer->length, bytes, length);
    writer->length += length;
    writer->text[writer->length] = '\0';
}

// Appends text line by line, so that each non-empty line starts at the indentation.
static void append_lines(hdst__writer *writer, const char *text, size_t length)
{
    const char *end = text + length;
    while (text < end) {
        const char *newline = memchr(text, '\n', (size_t)(end - text));
        size_t line = (size_t)((newline ? newline : end) - text);
        if (line && !writer->in_line)
            for (unsigned i = 0; i < writer->indent; i++) append(writer, "    ", 4);
        append(writer, text, line);
        writer->in_line |= line > 0;
        if (!newline) return;
        append(writer, "\n", 1);
        writer->in_line = false;
        text = newline + 1;
    }
}

// Formats short texts on the stack first: in the arena they would take as much memory as the kernel itself.
static void append_format(hdst__writer *writer, const char *format, va_list args)
{
    char brief[128];
    va_list again;
    va_copy(again, args);
    const int length = vsnprintf(brief, sizeof brief, format, args);
    const bool fits = length >= 0 && (size_t)length < sizeof brief;
    const char *text = fits ? brief : hdst__arena_vprintf(writer->arena, format, again);
    va_end(again);
    append_lines(writer, text, fits ? (size_t)length : strlen(text));
}

void hdst__write(hdst__writer *writer, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    append_format(writer, format, args);
    va_end(args);
}

void hdst__write_line(hdst__writer *writer, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    append_format(writer, format, args);
    va_end(args);
    append_lines(writer, "\n", 1);
}

const char *hdst__writer_text(const hdst__writer *writer)
{
    return writer->text ? writer->text : "";
}

void hdst__write_bytes(hdst__writer *writer, const char *bytes, size_t length)
{
    if (length) append(writer, bytes, length);
}

void hdst__write_text(hdst__writer *writer, const char *text) { append_lines(writer, text, strlen(text)); }

void hdst__write_section(hdst__writer *writer, unsigned indent, const char *text)
{
    const unsigned outer = writer->indent;
    writer->indent = indent;
    append_lines(writer, text, strlen(text));
    if (writer->in_line) append_lines(writer, "\n", 1);
    writer->indent = outer;
}
