// SPDX-License-Identifier: Apache-2.0
// Results of several runs of a reduction by key, over parts that the program named: a key must lie in one of them only. The rows of a part are in the order of
// (hash, key), so all parts are merged in that order, by a heap of the rows that come next, and equal keys follow one another.
#include "shuffle/aggregate/aggregate_run.h"
#include "base/costs_host.h"

#include <string.h>

typedef struct head {                   // of a part
    uint32_t hash, part;
    uint64_t at, end;                   // rows
} head;

typedef struct across {
    hdst__engine *engine;
    const hdst__aggregation_layout *layout;
    const hdst__storage *storage;
    const char *rows;
    hdst__key_batch batch;
    head *heap;
    uint64_t count;
    uint64_t *key, *last;               // key_words words: of each part's head; of the row before
} across;

static uint64_t *key_of(const across *a, const head *h) { return a->key + (uint64_t)h->part * a->layout->key_words; }

static void read_row(across *a, head *h)
{
    const void *const buffers[] = {a->rows};
    hdst__key_batch_open(&a->batch, a->layout, a->storage, buffers, h->at, 1);
    h->hash = a->batch.hash[0];
    memcpy(key_of(a, h), a->batch.key, a->layout->key_words * sizeof *a->key);
}

static bool comes_before(const across *a, const head *x, const head *y)
{
    if (x->hash != y->hash) return x->hash < y->hash;
    const int keys = hdst__key_compare(a->layout->texts, key_of(a, x), key_of(a, y), a->layout->key_words);
    return keys ? keys < 0 : x->part < y->part;
}

static void sift_down(across *a, uint64_t at)
{
    const head moved = a->heap[at];
    for (uint64_t child = 2 * at + 1; child < a->count; at = child, child = 2 * at + 1) {
        if (child + 1 < a->count && comes_before(a, &a->heap[child + 1], &a->heap[child])) child++;
        if (!comes_before(a, &a->heap[child], &moved)) break;
        a->heap[at] = a->heap[child];
    }
    a->heap[at] = moved;
}

static void next_row(across *a)
{
    head *first = a->heap;
    if (++first->at == first->end) *first = a->heap[--a->count];
    else read_row(a, first);
    if (a->count) sift_down(a, 0);
}

static hdst_status merge(across *a, hdst__aggregate_duplicate *twice, hdst_error *error)
{
    head last = {0};
    for (uint64_t row = 0; a->count; row++) {
        const head now = a->heap[0];
        const hdst_status status = row % HDST__HOST_CANCEL_RECORDS ? HDST_OK : hdst__cancel_check(hdst__engine_cancel(a->engine), 0, 0, error);
        if (status != HDST_OK) return status;
        if (row && now.hash == last.hash && hdst__key_compare(a->layout->texts, a->last, key_of(a, &now), a->layout->key_words) == 0) {
            *twice = (hdst__aggregate_duplicate){true, now.at, {last.part, now.part}};
            return HDST_OK;
        }
        last = now;
        memcpy(a->last, key_of(a, &now), a->layout->key_words * sizeof *a->last);
        next_row(a);
    }
    return HDST_OK;
}

static hdst_status look(across *a, const uint64_t *counts, uint64_t parts, hdst__aggregate_duplicate *twice, hdst_error *error)
{
    uint64_t first = 0;
    if (!a->storage || !hdst__key_batch_create(&a->batch, hdst__engine_owned(a->engine, HDST__OWNER_BY_KEY), a->layout))
        return hdst__error_memory(error, "a reduce by key in parts");
    for (uint64_t p = 0; p < parts; first += counts[p++]) {
        if (!counts[p]) continue;
        a->heap[a->count] = (head){.part = (uint32_t)p, .at = first, .end = first + counts[p]};
        read_row(a, &a->heap[a->count++]);
    }
    for (uint64_t i = a->count / 2; i-- > 0;) sift_down(a, i);
    const hdst_status status = merge(a, twice, error);
    hdst__key_batch_destroy(&a->batch, hdst__engine_owned(a->engine, HDST__OWNER_BY_KEY));
    return status;
}

static void make(across *a, hdst__arena *arena, const uint64_t *counts, uint64_t parts)
{
    uint64_t all = 0;
    for (uint64_t p = 0; p < parts; p++) all += counts[p];
    a->storage = hdst__storage_make(arena, a->layout->record, HDST__AOS, 0, all + 1);
    a->heap = HDST__NEW_ARRAY(arena, head, parts + 1);
    a->key = HDST__NEW_ARRAY(arena, uint64_t, parts * a->layout->key_words + 1);
    a->last = HDST__NEW_ARRAY(arena, uint64_t, a->layout->key_words + 1);
}

hdst_status hdst__aggregate_across(hdst__aggregate *aggregate, const void *rows, const uint64_t *counts, uint64_t parts, hdst__aggregate_duplicate *twice,
                                   hdst_error *error)
{
    hdst__arena arena;
    jmp_buf out_of_memory;
    across a = {.engine = aggregate->engine, .layout = aggregate->layout, .rows = rows};
    *twice = (hdst__aggregate_duplicate){0};
    hdst__arena_init(&arena, hdst__engine_owned(aggregate->engine, HDST__OWNER_BY_KEY), &out_of_memory);
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
