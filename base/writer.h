// SPDX-License-Identifier: Apache-2.0
// Text that grows in an arena, with indentation; and templates: hand-written files with holes that are filled with such text.
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

void hdst__write(hdst__writer *writer, const char *format, ...) __attribute__((format(printf, 2, 3)));    // indents at the start of each line
void hdst__write_line(hdst__writer *writer, const char *format, ...) __attribute__((format(printf, 2, 3)));
const char *hdst__writer_text(const hdst__writer *writer);     // never NULL

typedef struct hdst__hole {
    const char *name, *text;
} hdst__hole;

// Replaces `@name@` by the text of the hole. Alone on its line, the text takes the line's indentation, and the line goes when the text is empty.
// A name that has no hole stays as it is (a test looks for that).
void hdst__template_expand(hdst__writer *writer, const char *template, const hdst__hole *holes, size_t count);

#endif
