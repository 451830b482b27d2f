// SPDX-License-Identifier: Apache-2.0
// Diagnostics of everything that reads source text (schemas, kernels): where, what, what was expected. Collected, several per run, then rendered or turned
// into an hdst_error. Sources and diagnostics live in an arena.
#ifndef HDST_BASE_DIAG_H
#define HDST_BASE_DIAG_H

#include "base/arena.h"
#include "base/buffer.h"
#include "base/error_object.h"
#include "base/suggest.h"

#include <stdint.h>

typedef struct hdst__source_text {
    const char *name;       // as the user gave it, for messages
    const char *text;       // NUL-terminated copy
    size_t length;
    const uint32_t *lines;  // where each line begins (set by hdst__diags_add_source)
    size_t line_count;
} hdst__source_text;

// A stretch of a source. source is an index into hdst__diags.sources; length 0 means a point. An offset of HDST__WHOLE_FILE: what is told is at no place in it.
#define HDST__WHOLE_FILE UINT32_MAX
typedef struct hdst__span {
    uint32_t source, offset, length;
} hdst__span;

typedef enum hdst__severity { HDST__ERROR, HDST__WARNING, HDST__NOTE } hdst__severity;

typedef struct hdst__diag {
    hdst__severity severity;
    hdst__span span;
    const char *message;    // one line, no full stop
    const char *hint;       // what would be right, or NULL
} hdst__diag;

typedef struct hdst__diags {
    hdst__arena *arena;
    hdst__source_text *sources;
    size_t source_count, source_capacity;
    hdst__diag *items;
    size_t count, capacity;
    size_t errors;          // how many of severity HDST__ERROR were reported, kept or not
} hdst__diags;

enum { HDST__DIAG_LIMIT = 50 };     // of errors, and of warnings and notes: an error is kept behind any number of these. Later errors are counted, not kept

void hdst__diags_init(hdst__diags *diags, hdst__arena *arena);
uint32_t hdst__diags_add_source(hdst__diags *diags, const char *name, const char *text, size_t length);

// hint may be NULL. A second error at the same offset as the one before is dropped: it is a follow-up.
void hdst__diag_error(hdst__diags *diags, hdst__span span, const char *hint, const char *format, ...) __attribute__((format(printf, 4, 5)));
void hdst__diag_warning(hdst__diags *diags, hdst__span span, const char *hint, const char *format, ...) __attribute__((format(printf, 4, 5)));
void hdst__diag_note(hdst__diags *diags, hdst__span span, const char *format, ...) __attribute__((format(printf, 3, 4)));

// line and column count from 1, both are 0 for a whole file; the column counts bytes
void hdst__span_position(const hdst__diags *diags, hdst__span span, uint32_t *line, uint32_t *column);

// "file:line:column: error: message", the line, a caret with tildes under the span, the hint.
void hdst__diag_render(const hdst__diags *diags, const hdst__diag *diag, hdst__buffer *out);
void hdst__diags_render(const hdst__diags *diags, hdst__buffer *out);   // all of them, in order of report
// Fills `error` from the first error; the cause is its source line with the caret. Returns `code`, or HDST_OK when there was none.
hdst_status hdst__diags_to_error(const hdst__diags *diags, hdst_status code, hdst_error *error);

#endif
