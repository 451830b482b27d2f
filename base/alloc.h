// SPDX-License-Identifier: Apache-2.0
// The allocator hook: every byte the library itself takes from the host comes through here (libyaml, msgpack, libzstd
// and OpenCL have no hook), so that a user can count it and a test can make any one allocation fail.
#ifndef HDST_BASE_ALLOC_H
#define HDST_BASE_ALLOC_H

#include <stddef.h>

// NULL functions mean malloc, realloc and free. The first four are what the public hdst_allocator has.
typedef struct hdst__allocator {
    void *(*allocate)(size_t bytes, void *user);
    void *(*reallocate)(void *pointer, size_t bytes, void *user);
    void (*release)(void *pointer, void *user);
    void *user;
    void *(*allocate_zero)(size_t bytes, void *user);   // NULL: allocate, and the bytes are cleared
} hdst__allocator;

// A NULL allocator means the C library's. All return NULL on failure; sizes of 0 give a valid pointer.
void *hdst__alloc(const hdst__allocator *allocator, size_t bytes);
void *hdst__alloc_zero(const hdst__allocator *allocator, size_t bytes);
void *hdst__realloc(const hdst__allocator *allocator, void *pointer, size_t bytes);
void hdst__free(const hdst__allocator *allocator, void *pointer);
char *hdst__strdup(const hdst__allocator *allocator, const char *text);

#endif
