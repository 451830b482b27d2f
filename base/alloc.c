// SPDX-License-Identifier: Apache-2.0
// The allocator hook (base/alloc.h).
#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>

void *hdst__alloc(const hdst__allocator *a, size_t bytes)
{
    if (bytes == 0) bytes = 1;
    return a && a->allocate ? a->allocate(bytes, a->user) : malloc(bytes);
}

void *hdst__alloc_zero(const hdst__allocator *a, size_t bytes)
{
    if (!(a && a->allocate)) return calloc(1, bytes ? bytes : 1);
    if (a->allocate_zero) return a->allocate_zero(bytes ? bytes : 1, a->user);
    void *pointer = hdst__alloc(a, bytes);
    if (pointer) memset(pointer, 0, bytes);
    return pointer;
}

void *hdst__realloc(const hdst__allocator *a, void *pointer, size_t bytes)
{
    if (bytes == 0) bytes = 1;
    return a && a->reallocate ? a->reallocate(pointer, bytes, a->user) : realloc(pointer, bytes);
}

void hdst__free(const hdst__allocator *a, void *pointer)
{
    if (!pointer) return;
    if (a && a->release) a->release(pointer, a->user);
    else free(pointer);
}

char *hdst__strdup(const hdst__allocator *a, const char *text)
{
    size_t bytes = strlen(text) + 1;
    char *copy = hdst__alloc(a, bytes);
    return copy ? memcpy(copy, text, bytes) : NULL;
}
