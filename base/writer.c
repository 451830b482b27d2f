// SPDX-License-Identifier: Apache-2.0
#include "base/writer.h"

#include <stdio.h>
#include <string.h>

static void append(hdst__writer *writer, const char *bytes, size_t length)
{
    writer->text = hdst__arena_grow(writer->arena, writer->text, &writer->capacity, writer->length + length + 1, 1);
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

// Most texts are short: what the arena would keep of them is as much as the kernel itself.
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

static const hdst__hole *find_hole(const hdst__hole *holes, size_t count, const char *name, size_t length)
{
    for (size_t i = 0; i < count; i++)
        if (strlen(holes[i].name) == length && memcmp(holes[i].name, name, length) == 0) return &holes[i];
    return NULL;
}

static bool is_name_char(char c)
{
    return (c >= 'a' && c <= 'z') || c == '_';
}

// The length of `@name@` at `text`, or 0.
static size_t hole_length(const char *text, const char *end)
{
    const char *p = text + 1;
    while (p < end && is_name_char(*p)) p++;
    return *text == '@' && p < end && *p == '@' && p > text + 1 ? (size_t)(p + 1 - text) : 0;
}

static void expand_line(hdst__writer *writer, const char *line, const char *end, const hdst__hole *holes, size_t count)
{
    const char *start = line;
    for (const char *p = line; p < end; p++) {
        size_t length = hole_length(p, end);
        const hdst__hole *hole = length ? find_hole(holes, count, p + 1, length - 2) : NULL;
        if (!hole) continue;
        append(writer, start, (size_t)(p - start));
        append(writer, hole->text, strlen(hole->text));
        start = p + length;
        p = start - 1;
    }
    append(writer, start, (size_t)(end - start));
    append(writer, "\n", 1);
}

// The hole that stands alone on the line, or NULL.
static const hdst__hole *whole_line(const char *line, const char *end, const hdst__hole *holes, size_t count, size_t *spaces)
{
    const char *p = line;
    while (p < end && *p == ' ') p++;
    *spaces = (size_t)(p - line);
    size_t length = p < end ? hole_length(p, end) : 0;
    return length && p + length == end ? find_hole(holes, count, p + 1, length - 2) : NULL;
}

void hdst__template_expand(hdst__writer *writer, const char *template, const hdst__hole *holes, size_t count)
{
    for (const char *line = template; *line;) {
        const char *newline = strchr(line, '\n'), *end = newline ? newline : line + strlen(line);
        size_t spaces;
        const hdst__hole *hole = whole_line(line, end, holes, count, &spaces);
        if (hole) {
            const unsigned outer = writer->indent;
            writer->indent = (unsigned)(spaces / 4);
            append_lines(writer, hole->text, strlen(hole->text));
            if (writer->in_line) append_lines(writer, "\n", 1);
            writer->indent = outer;
        } else {
            expand_line(writer, line, end, holes, count);
        }
        line = newline ? newline + 1 : end;
    }
}
