// SPDX-License-Identifier: Apache-2.0
// Records that may have a partner (shuffle/join/join_filter.h).
#include "shuffle/join/join_filter.h"

#include "base/costs_host.h"

bool hdst__join_filter_pays(uint64_t small, uint64_t large)
{
    return large >= HDST__HOST_JOIN_FILTER_LEAST && small <= HDST__HOST_JOIN_FILTER_MOST && large / HDST__HOST_JOIN_FILTER_TIMES >= small;
}

void hdst__join_filter_end(hdst__join_filter *filter)
{
    if (!filter->engine) return;
    hdst__free(hdst__engine_owned(filter->engine, HDST__OWNER_SORTS), filter->bits);
    hdst__free(hdst__engine_owned(filter->engine, HDST__OWNER_SORTS), filter->kept);
    *filter = (hdst__join_filter){0};
}

static hdst_status mark(hdst__join_filter *filter, const hdst__join_side *small, hdst_error *error)
{
    unsigned width = 10;
    while (width < 32 && (UINT64_C(1) << width) < small->count * HDST__HOST_JOIN_FILTER_BITS) width++;
    filter->shift = 32 - width;
    filter->bits = hdst__budget_alloc_zero(hdst__engine_memory(filter->engine), HDST__OWNER_SORTS, (UINT64_C(1) << width) / 8, "a join", error);
    if (!filter->bits) return HDST_E_MEMORY;
    for (uint64_t i = 0; i < small->count; i++) {
        const uint32_t bit = hdst__join_hash(small, i) >> filter->shift;
        filter->bits[bit / 64] |= UINT64_C(1) << bit % 64;
    }
    return HDST_OK;
}

static bool grow(hdst__join_filter *filter, uint64_t count)
{
    const uint64_t size = filter->of->record->size, wanted = (filter->count + count) * size, twice = 2 * filter->capacity;
    if (wanted <= filter->capacity) return true;
    const uint64_t bytes = wanted > twice ? wanted : twice < filter->most ? twice : filter->most;
    if (wanted > filter->most) return false;
    char *grown = hdst__budget_realloc(hdst__engine_memory(filter->engine), HDST__OWNER_SORTS, filter->kept, bytes, "records of a join", NULL);
    if (!grown) return false;
    filter->kept = grown;
    filter->capacity = bytes;
    return true;
}

// A piece of the input, in parts of the threads; each writes to where its records were to lie if all of them came through.
typedef struct piece {
    const hdst__join_filter *filter;
    const char *records;
    uint64_t count;
    uint32_t threads;
    uint64_t kept[HDST__MOST_THREADS];      // of each part
} piece;

static uint64_t part_begin(const piece *p, uint64_t thread) { return p->count * thread / p->threads; }
static char *room_of(const piece *p, uint64_t thread) { return p->filter->kept + (p->filter->count + part_begin(p, thread)) * p->filter->of->record->size; }

static void take_part(void *user, uint64_t thread)
{
    piece *p = user;
    const hdst__join_filter *filter = p->filter;
    const uint64_t size = filter->of->record->size;
    const hdst__join_side rows = {.rows = p->records, .step = size, .key = filter->of->key};
    char *const begin = room_of(p, thread), *to = begin;
    for (uint64_t i = part_begin(p, thread), end = part_begin(p, thread + 1); i < end; i++) {
        const uint32_t bit = hdst__join_hash(&rows, i) >> filter->shift;
        memcpy(to, p->records + i * size, size);
        to += filter->bits[bit / 64] >> bit % 64 & 1 ? size : 0;
    }
    p->kept[thread] = (uint64_t)(to - begin) / size;
}

static hdst_status take(void *user, const void *records, uint64_t count, hdst_error *error)
{
    hdst__join_filter *filter = user;
    const uint64_t size = filter->of->record->size;
    hdst__thread_pool *pool = hdst__engine_threads(filter->engine);
    filter->full = !grow(filter, count);
    if (filter->full) return hdst__error_set(error, HDST_E_MEMORY, "more records than fit");       // ends the scan; nobody sees it
    piece p = {.filter = filter, .records = records, .count = count, .threads = (uint32_t)hdst__thread_pool_size(pool)};
    if (count < HDST__HOST_GROUP_THREAD_RECORDS) p.threads = 1;
    hdst__thread_pool_run(pool, p.threads, take_part, &p);
    uint64_t end = filter->count;
    for (uint32_t t = 0; t < p.threads; t++) {
        memmove(filter->kept + end * size, room_of(&p, t), p.kept[t] * size);
        end += p.kept[t];
    }
    filter->count = end;
    return HDST_OK;
}

hdst_status hdst__join_filter_run(hdst__join_filter *filter, const hdst__join_side *small, const hdst__join_side *large, const hdst__reader *input, bool *kept,
                                  hdst__run_stats *stats, hdst_error *error)
{
    *filter = (hdst__join_filter){.engine = large->engine, .of = large};
    hdst_status status = mark(filter, small, NULL);
    filter->most = hdst__budget_left(hdst__engine_memory(filter->engine)) / HDST__HOST_JOIN_FILTER_SHARE;
    hdst_error full = HDST_ERROR_INIT;
    if (status == HDST_OK) status = hdst__rows_stream(hdst__engine_runtime(filter->engine), input, take, filter, stats, &full);
    *kept = status == HDST_OK;
    if (status != HDST_OK) hdst__join_filter_end(filter);
    if (status == HDST_OK || status == HDST_E_MEMORY) return HDST_OK;       // without it the join takes longer, and less memory
    if (error) *error = full;
    return status;
}

// Only ever asked for C structs: its reader says so.
static hdst_status fill(void *user, uint64_t first, uint64_t count, const hdst__storage *storage, void *const *buffers, uint64_t to_first, hdst_error *error)
{
    (void)error;
    const hdst__join_filter *filter = user;
    const uint64_t size = storage->record->size;
    if (count) memcpy((char *)buffers[0] + to_first * size, filter->kept + first * size, count * size);
    return HDST_OK;
}

hdst__reader hdst__join_filter_reader(hdst__join_filter *filter)
{
    return (hdst__reader){.fill = fill, .user = filter, .records = filter->count, .record = filter->of->record, .layout = HDST__AOS, .held = true,
                          .concurrent = true};
}
