// SPDX-License-Identifier: Apache-2.0
// Results of several runs of a reduction by key, over parts that the program named: a key must lie in one of them only. The rows of a part are in the order of (hash,
// key), so all parts are gone through side by side, by a heap of the hashes that come next.
#include "engine/by_key_run.h"

#include <string.h>

typedef struct head {                   // of a part
    uint32_t hash, part;
    uint64_t at, end;                   // rows
} head;

typedef struct across {
    const hdst__allocator *allocator;
    const hdst__keyed *keyed;
    const hdst__storage *storage;
    const char *rows;
    hdst__key_batch batch;
    head *heap;
    uint64_t count;
    head *same;                         // rows that have the hash of the last one
    uint64_t same_count;
} across;

static uint32_t hash_of(across *a, uint64_t row)
{
    const void *const buffers[] = {a->rows};
    hdst__key_batch_open(&a->batch, a->keyed, a->storage, buffers, row, 1);
    return a->batch.hash[0];
}

static bool same_key(const across *a, uint64_t first, uint64_t second)
{
    const hdst__record *record = a->keyed->record;
    for (uint64_t c = 0; c < a->keyed->key_count; c++) {
        const hdst__key_column *column = &a->keyed->key[c];
        const uint64_t at = hdst__leaf_offset(&record->leaves[column->leaf], column->element);
        if (memcmp(a->rows + first * record->size + at, a->rows + second * record->size + at, column->bytes)) return false;
    }
    return true;
}

static void sift_down(across *a, uint64_t at)
{
    const head moved = a->heap[at];
    for (uint64_t child = 2 * at + 1; child < a->count; at = child, child = 2 * at + 1) {
        if (child + 1 < a->count && a->heap[child + 1].hash < a->heap[child].hash) child++;
        if (moved.hash <= a->heap[child].hash) break;
        a->heap[at] = a->heap[child];
    }
    a->heap[at] = moved;
}

static void next_row(across *a)
{
    head *first = a->heap;
    if (++first->at == first->end) *first = a->heap[--a->count];
    else first->hash = hash_of(a, first->at);
    if (a->count) sift_down(a, 0);
}

// Whether the row's key is among those of its hash that came before; else it is one of them now. At most one row of a part matters: of its own keys none are equal.
static bool is_twice(across *a, uint64_t most, hdst__by_key_twice *twice)
{
    const head *row = a->heap;
    if (a->same_count && a->same[0].hash != row->hash) a->same_count = 0;
    for (uint64_t i = 0; i < a->same_count; i++) {
        if (!same_key(a, a->same[i].at, row->at)) continue;
        *twice = (hdst__by_key_twice){true, row->at, {a->same[i].part, row->part}};
        return true;
    }
    if (a->same_count < most) a->same[a->same_count++] = *row;
    return false;
}

static hdst_status look(across *a, const uint64_t *counts, uint64_t parts, hdst__by_key_twice *twice, hdst_error *error)
{
    uint64_t first = 0;
    if (!a->storage || !hdst__key_batch_create(&a->batch, a->allocator, a->keyed)) return hdst__error_memory(error, "a reduce by key in parts");
    for (uint64_t p = 0; p < parts; first += counts[p++])
        if (counts[p]) a->heap[a->count++] = (head){hash_of(a, first), (uint32_t)p, first, first + counts[p]};
    for (uint64_t i = a->count / 2; i-- > 0;) sift_down(a, i);
    while (a->count && !is_twice(a, first, twice)) next_row(a);
    hdst__key_batch_destroy(&a->batch, a->allocator);
    return HDST_OK;
}

static void make(across *a, hdst__arena *arena, const uint64_t *counts, uint64_t parts)
{
    uint64_t all = 0;
    for (uint64_t p = 0; p < parts; p++) all += counts[p];
    a->storage = hdst__storage_make(arena, a->keyed->record, HDST__AOS, 0, all + 1);
    a->heap = HDST__NEW_ARRAY(arena, head, parts + 1);
    a->same = HDST__NEW_ARRAY(arena, head, all + 1);
}

hdst_status hdst__by_key_across(hdst__by_key *by_key, const void *rows, const uint64_t *counts, uint64_t parts, hdst__by_key_twice *twice, hdst_error *error)
{
    hdst__arena arena;
    jmp_buf out_of_memory;
    across a = {.allocator = by_key->engine->allocator, .keyed = by_key->keyed, .rows = rows};
    *twice = (hdst__by_key_twice){0};
    hdst__arena_init(&arena, a.allocator, &out_of_memory);
    hdst_status status = HDST_E_MEMORY;
    if (setjmp(out_of_memory)) {
        hdst__error_memory(error, "a reduce by key in parts");
    } else {
        make(&a, &arena, counts, parts);
        status = look(&a, counts, parts, twice, error);
    }
    hdst__arena_destroy(&arena);
    return status;
}
