// SPDX-License-Identifier: Apache-2.0
// Memory that is freed in one go (base/arena.h).
#include "base/arena.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ALIGNMENT = 16, FIRST_BLOCK_BYTES = 2 * 1024, BLOCK_BYTES = 64 * 1024 };

struct hdst__arena_block {
    hdst__arena_block *next;
    size_t used, size;          // of the bytes that follow the header
};

enum { HEADER = (sizeof(hdst__arena_block) + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT };

void hdst__arena_init(hdst__arena *arena, const hdst__allocator *allocator, jmp_buf *out_of_memory)
{
    *arena = (hdst__arena){.allocator = allocator, .out_of_memory = out_of_memory};
}

void hdst__arena_destroy(hdst__arena *arena)
{
    for (hdst__arena_block *block = arena->blocks, *next; block; block = next) {
        next = block->next;
        hdst__free(arena->allocator, block);
    }
    arena->blocks = NULL;
}

void hdst__arena_compiles(hdst__arena *arena, const hdst__cancel *cancel)
{
    arena->cancel = cancel;
    arena->limit = HDST__COMPILE_BYTES;
    arena->ended = HDST_OK;
}

void hdst__arena_compiled(hdst__arena *arena)
{
    arena->cancel = NULL;
    arena->limit = 0;
}

hdst_status hdst__arena_error(const hdst__arena *arena, const char *what, hdst_error *error)
{
    if (arena->ended == HDST_E_CANCELLED) return hdst__cancel_error(0, 0, error);
    if (arena->ended != HDST_E_KERNEL) return hdst__error_memory(error, what);
    hdst__error_set(error, HDST_E_KERNEL, "the compiler needs more than %zu MiB for this", HDST__COMPILE_BYTES >> 20);
    hdst__error_cause(error, "what is made of the text grows with its statements times those of the helpers that they call, and with the fields of records");
    hdst__error_hint(error, "write fewer statements or fields: a loop over an array in place of a statement for each element");
    return HDST_E_KERNEL;
}

static void fail(hdst__arena *arena, hdst_status why)
{
    arena->ended = why;
    if (!arena->out_of_memory) abort();     // an entry point forgot its handler: a defect of the library
    longjmp(*arena->out_of_memory, 1);
}

void hdst__arena_look(hdst__arena *arena)
{
    if (arena->out_of_memory && hdst__cancel_asked(arena->cancel)) fail(arena, HDST_E_CANCELLED);
}

// As much as there is so far: many arenas hold a few hundred bytes, and all of them count towards the memory budget.
static size_t next_block_bytes(const hdst__arena *arena)
{
    size_t bytes = FIRST_BLOCK_BYTES;
    while (bytes < BLOCK_BYTES && bytes <= arena->bytes) bytes *= 2;
    return bytes;
}

static hdst__arena_block *add_block(hdst__arena *arena, size_t bytes)
{
    // A large request gets a block of its own behind the current one, so that the current one stays in use.
    const size_t usual = next_block_bytes(arena), size = bytes > usual / 4 ? bytes : usual;
    hdst__arena_block *block = hdst__alloc(arena->allocator, HEADER + size);
    if (!block) fail(arena, HDST_E_MEMORY);
    block->used = 0;
    block->size = size;
    if (size != usual && arena->blocks) {
        block->next = arena->blocks->next;
        arena->blocks->next = block;
    } else {
        block->next = arena->blocks;
        arena->blocks = block;
    }
    return block;
}

void *hdst__arena_alloc(hdst__arena *arena, size_t bytes)
{
    if (bytes > SIZE_MAX / 2) fail(arena, HDST_E_MEMORY);
    bytes = (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    hdst__arena_look(arena);
    if (arena->limit && arena->out_of_memory && arena->bytes + bytes > arena->limit) fail(arena, HDST_E_KERNEL);
    hdst__arena_block *block = arena->blocks;
    if (!block || block->size - block->used < bytes) block = add_block(arena, bytes);
    void *pointer = (char *)block + HEADER + block->used;
    block->used += bytes;
    arena->bytes += bytes;
    return memset(pointer, 0, bytes);
}

void *hdst__arena_grow(hdst__arena *arena, void *old, size_t *capacity, size_t needed, size_t element_bytes)
{
    if (needed <= *capacity) return old;
    size_t wanted = *capacity ? *capacity * 2 : 8;
    if (wanted < needed) wanted = needed;
    if (wanted > SIZE_MAX / 2 / element_bytes) fail(arena, HDST_E_MEMORY);
    void *grown = hdst__arena_alloc(arena, wanted * element_bytes);
    if (old) memcpy(grown, old, *capacity * element_bytes);
    *capacity = wanted;
    return grown;
}

char *hdst__arena_strndup(hdst__arena *arena, const char *text, size_t length)
{
    char *copy = hdst__arena_alloc(arena, length + 1);
    if (length) memcpy(copy, text, length);
    return copy;
}

char *hdst__arena_strdup(hdst__arena *arena, const char *text)
{
    return hdst__arena_strndup(arena, text, strlen(text));
}

char *hdst__arena_vprintf(hdst__arena *arena, const char *format, va_list args)
{
    va_list again;
    va_copy(again, args);
    int length = vsnprintf(NULL, 0, format, args);
    char *text = NULL;
    if (length >= 0) {
        text = hdst__arena_alloc(arena, (size_t)length + 1);
        vsnprintf(text, (size_t)length + 1, format, again);
    }
    va_end(again);
    return text ? text : hdst__arena_strdup(arena, "");
}

char *hdst__arena_printf(hdst__arena *arena, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *text = hdst__arena_vprintf(arena, format, args);
    va_end(args);
    return text;
}
