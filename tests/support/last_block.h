// SPDX-License-Identifier: Apache-2.0
// An allocator that gives the block that was released last to the next one who wants as many bytes: what takes an address for a name is mistaken then.
// For a program with one such context; any thread may call.
#ifndef TESTS_SUPPORT_LAST_BLOCK_H
#define TESTS_SUPPORT_LAST_BLOCK_H

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { LARGEST_KEPT = 4096 };

// Those that were released, by size.
typedef struct kept_block { struct kept_block *next; size_t bytes; } kept_block;
static kept_block *kept_blocks[LARGEST_KEPT + 1];
static pthread_mutex_t kept_mutex = PTHREAD_MUTEX_INITIALIZER;

static void *allocate_last(size_t bytes, void *user)
{
    (void)user;
    kept_block *block = NULL;
    pthread_mutex_lock(&kept_mutex);
    if (bytes <= LARGEST_KEPT && kept_blocks[bytes]) {
        block = kept_blocks[bytes];
        kept_blocks[bytes] = block->next;
    }
    pthread_mutex_unlock(&kept_mutex);
    if (!block) block = malloc(sizeof *block + bytes);
    if (!block) return NULL;
    block->bytes = bytes;
    return block + 1;
}

static void release_last(void *pointer, void *user)
{
    (void)user;
    kept_block *block = pointer ? (kept_block *)pointer - 1 : NULL;
    if (!block) return;
    if (block->bytes > LARGEST_KEPT) {
        free(block);
        return;
    }
    pthread_mutex_lock(&kept_mutex);
    block->next = kept_blocks[block->bytes];
    kept_blocks[block->bytes] = block;
    pthread_mutex_unlock(&kept_mutex);
}

static void *reallocate_last(void *pointer, size_t bytes, void *user)
{
    void *moved = allocate_last(bytes, user);
    const size_t was = pointer ? ((kept_block *)pointer - 1)->bytes : 0;
    if (moved && pointer) memcpy(moved, pointer, was < bytes ? was : bytes);
    if (moved) release_last(pointer, user);
    return moved;
}

#endif
