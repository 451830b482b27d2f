// SPDX-License-Identifier: Apache-2.0
// A text that grows (base/buffer.h).
#include "base/buffer.h"

#include <stdio.h>
#include <string.h>

void hdst__buffer_init(hdst__buffer *b, const hdst__allocator *allocator) { *b = (hdst__buffer){.allocator = allocator}; }

void hdst__buffer_destroy(hdst__buffer *b)
{
    hdst__free(b->allocator, b->data);
    b->data = NULL;
    b->length = b->capacity = 0;
}

static bool reserve(hdst__buffer *b, size_t more)
{
    if (b->failed) return false;
    if (b->data && b->capacity - b->length > more) return true;
    size_t wanted = b->capacity ? b->capacity * 2 : 256;
    while (wanted <= b->length + more) wanted *= 2;
    char *data = hdst__realloc(b->allocator, b->data, wanted);
    if (!data) {
        b->failed = true;
        return false;
    }
    b->data = data;
    b->capacity = wanted;
    return true;
}

void hdst__buffer_add(hdst__buffer *b, const char *bytes, size_t length)
{
    if (!reserve(b, length)) return;
    if (length) memcpy(b->data + b->length, bytes, length);
    b->length += length;
    b->data[b->length] = 0;
}

void hdst__buffer_puts(hdst__buffer *b, const char *text) { hdst__buffer_add(b, text, strlen(text)); }

void hdst__buffer_vprintf(hdst__buffer *b, const char *format, va_list args)
{
    va_list again;
    va_copy(again, args);
    int length = vsnprintf(NULL, 0, format, args);
    if (length >= 0 && reserve(b, (size_t)length)) {
        vsnprintf(b->data + b->length, (size_t)length + 1, format, again);
        b->length += (size_t)length;
    }
    va_end(again);
}

void hdst__buffer_printf(hdst__buffer *b, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    hdst__buffer_vprintf(b, format, args);
    va_end(args);
}

const char *hdst__buffer_text(const hdst__buffer *b) { return b->data ? b->data : ""; }

char *hdst__buffer_take(hdst__buffer *b)
{
    if (b->failed || (!b->data && !reserve(b, 0))) {
        hdst__buffer_destroy(b);
        return NULL;
    }
    char *text = b->data;
    if (!b->length) text[0] = 0;
    b->data = NULL;
    b->length = b->capacity = 0;
    return text;
}
