// SPDX-License-Identifier: Apache-2.0
// Text that grows in an arena, with indentation.
#ifndef HDST_BASE_WRITER_H
#define HDST_BASE_WRITER_H

#include "base/arena.h"

#include <stdbool.h>

typedef struct hdst__writer {
    hdst__arena *arena;
    char *text;             // NUL-terminated; NULL until something was written
    size_t length, capacity;
    unsigned indent;        // levels of four spaces
    bool in_line;           // something stands on the current line
} hdst__writer;

// Room for so many bytes more: text that grows bit by bit leaves as much behind in the arena as it takes in the end.
void hdst__writer_reserve(hdst__writer *writer, size_t bytes);
void hdst__write(hdst__writer *writer, const char *format, ...) __attribute__((format(printf, 2, 3)));    // indents at the start of each line
void hdst__write_line(hdst__writer *writer, const char *format, ...) __attribute__((format(printf, 2, 3)));
const char *hdst__writer_text(const hdst__writer *writer);     // never NULL

void hdst__write_text(hdst__writer *writer, const char *text);     // as hdst__write, what is no format
void hdst__write_section(hdst__writer *writer, unsigned indent, const char *text);     // whole lines at this indentation
void hdst__write_bytes(hdst__writer *writer, const char *bytes, size_t length);        // as they are, without indentation

#endif
