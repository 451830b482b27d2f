// SPDX-License-Identifier: Apache-2.0
// Memory that is freed in one go. The compiler keeps everything it makes in an arena, so no node has an owner to think about.
//
// Out of memory leaves by longjmp to the arena's handler, as in Lua: code between set-up and the handler never sees NULL.
// So code that allocates from an arena must hold nothing but arena memory (no open file, no lock) across an allocation,
// unless its entry point releases that thing in the handler. Pattern of an entry point:
//
//     hdst__arena arena;
//     jmp_buf out_of_memory;
//     hdst__arena_init(&arena, allocator, &out_of_memory);
//     if (setjmp(out_of_memory)) { hdst__arena_destroy(&arena); return HDST_E_MEMORY; }
#ifndef HDST_BASE_ARENA_H
#define HDST_BASE_ARENA_H

#include "base/alloc.h"
#include "base/cancel.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

typedef struct hdst__arena_block hdst__arena_block;

typedef struct hdst__arena {
    const hdst__allocator *allocator;
    jmp_buf *out_of_memory;     // where a failed allocation jumps; may be replaced by a later entry point
    hdst__arena_block *blocks;
    size_t bytes;               // handed out so far
    size_t limit;               // of bytes; 0: as much as there is
    const hdst__cancel *cancel; // looked at by every allocation; NULL: cannot be cancelled
    hdst_status ended;          // why it jumped: HDST_E_MEMORY, HDST_E_CANCELLED, or HDST_E_KERNEL where the limit was reached
} hdst__arena;

void hdst__arena_init(hdst__arena *arena, const hdst__allocator *allocator, jmp_buf *out_of_memory);
void hdst__arena_destroy(hdst__arena *arena);   // safe to call twice

// Of a compiler's arena: it leaves by the same jump when the call is cancelled, or when it has grown to HDST__COMPILE_BYTES.
#define HDST__COMPILE_BYTES ((size_t)512 << 20)
void hdst__arena_compiles(hdst__arena *arena, const hdst__cancel *cancel);
void hdst__arena_compiled(hdst__arena *arena);  // from here on it does neither
void hdst__arena_look(hdst__arena *arena);      // jumps when the call is cancelled: for long work that allocates nothing
hdst_status hdst__arena_error(const hdst__arena *arena, const char *what, hdst_error *error);   // behind the jump: why. `what` was made: "a plan"

void *hdst__arena_alloc(hdst__arena *arena, size_t bytes);    // zeroed, aligned to 16; never NULL
// Grows an array to hold at least `needed` elements, doubling; copies what was there. Never NULL.
void *hdst__arena_grow(hdst__arena *arena, void *old, size_t *capacity, size_t needed, size_t element_bytes);
char *hdst__arena_strndup(hdst__arena *arena, const char *text, size_t length);
char *hdst__arena_strdup(hdst__arena *arena, const char *text);
char *hdst__arena_printf(hdst__arena *arena, const char *format, ...) __attribute__((format(printf, 2, 3)));
char *hdst__arena_vprintf(hdst__arena *arena, const char *format, va_list args);

#define HDST__NEW(arena, type) ((type *)hdst__arena_alloc((arena), sizeof(type)))
#define HDST__NEW_ARRAY(arena, type, n) ((type *)hdst__arena_alloc((arena), sizeof(type) * (size_t)(n)))
// Appends to an arena-held array `items` with count and capacity (size_t) fields beside it.
#define HDST__PUSH(arena, items, count, capacity, item)                                                            \
    do {                                                                                                           \
        (items) = hdst__arena_grow((arena), (items), &(capacity), (count) + 1, sizeof *(items));                   \
        (items)[(count)++] = (item);                                                                               \
    } while (0)

#endif
