// SPDX-License-Identifier: Apache-2.0
// A text that grows. After a failed allocation it drops what follows and `failed` stays set, so one check at the end is enough.
#ifndef HDST_BASE_BUFFER_H
#define HDST_BASE_BUFFER_H

#include "base/alloc.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

typedef struct hdst__buffer {
    const hdst__allocator *allocator;
    char *data;             // NUL-terminated; NULL until something was added
    size_t length, capacity;
    bool failed;
} hdst__buffer;

void hdst__buffer_init(hdst__buffer *buffer, const hdst__allocator *allocator);
void hdst__buffer_destroy(hdst__buffer *buffer);
void hdst__buffer_add(hdst__buffer *buffer, const char *bytes, size_t length);
void hdst__buffer_puts(hdst__buffer *buffer, const char *text);
void hdst__buffer_printf(hdst__buffer *buffer, const char *format, ...) __attribute__((format(printf, 2, 3)));
void hdst__buffer_vprintf(hdst__buffer *buffer, const char *format, va_list args);
const char *hdst__buffer_text(const hdst__buffer *buffer);  // never NULL
char *hdst__buffer_take(hdst__buffer *buffer);              // hands the text over (caller frees); NULL if an allocation failed

#endif
