// SPDX-License-Identifier: Apache-2.0
// Small records that come a slice at a time, dealt to buckets as they come (shuffle/sort/msd_radix.h). A bucket's records lie in chunks, which are cut from
// large blocks of memory. Where records differ in few bits they lie there packed (msd_packed.c); when one comes that differs in others all are packed anew, or,
// if these are too many, moved to chunks as they were.
#include "shuffle/sort/msd_radix_private.h"

#include "base/costs_host.h"

#include <string.h>

enum { LINE = 64, LOOKED_AT = 512 };        // bytes of a cache's line; records that are looked at before they are packed, which the first cache holds then

typedef struct block {
    struct block *next;
    char chunks[];
} block;

struct hdst__msd_slices {
    hdst__msd_chunks chunks;        // the first member
    hdst__msd_sort sort;
    hdst__budget *budget;
    hdst__msd_sorting *sorting;
    hdst__msd_chunk *first[HDST__MSD_BUCKETS], *last[HDST__MSD_BUCKETS];
    uint64_t row_bytes, chunk_bytes;        // of a record as it lies in a chunk; of all that a chunk has
    uint64_t count;                 // records that came
    hdst__msd_packing packing;      // `sorting` refers to it while they are packed
    char sample[HDST__MSD_WORDS * HDST__MSD_PACKED];        // the first record
    uint64_t differ[HDST__MSD_WORDS];       // in which bits others differ from it
    block *blocks;
    char *unused;                   // chunks of the newest one
    uint64_t unused_count;
    hdst__msd_chunk *spare;         // those of older ones that had no use yet
    uint64_t spare_count, chunk_count;
    bool again;                     // they were dealt once more at the end
    const hdst__row_run *run;       // while it ends: those of bucket b are run_begin[b] to run_begin[b + 1] - 1
    uint64_t run_begin[HDST__MSD_BUCKETS + 1];
};

// --- Chunks ---

static hdst__msd_chunk *take_chunk(hdst__msd_slices *m)
{
    hdst__msd_chunk *chunk = m->spare;
    if (chunk) {
        m->spare = chunk->next;
        m->spare_count--;
        return chunk;
    }
    chunk = (hdst__msd_chunk *)(void *)m->unused;
    m->unused += HDST__HOST_SORT_CHUNK_BYTES;
    m->unused_count--;
    return chunk;
}

static void next_chunk(hdst__msd_chunks *chunks, uint32_t b)
{
    hdst__msd_slices *m = (hdst__msd_slices *)chunks;
    hdst__msd_chunk *chunk = take_chunk(m);
    *chunk = (hdst__msd_chunk){0};
    if (m->last[b]) m->last[b]->next = chunk;
    else m->first[b] = chunk;
    m->last[b] = chunk;
    m->chunk_count++;
    chunks->open[b] = (hdst__msd_open){chunk->rows, chunk->rows + m->chunk_bytes};
}

// --- Life ---

static void set_row_bytes(hdst__msd_slices *m, uint64_t bytes)
{
    m->row_bytes = bytes;
    m->chunk_bytes = (HDST__HOST_SORT_CHUNK_BYTES - sizeof(hdst__msd_chunk)) / bytes * bytes;
}

static void choose_form(hdst__msd_slices *m, const hdst__msd_sort *sample)
{
    const uint64_t size = sample->size;
    set_row_bytes(m, size);
    if (!sample->count || !hdst__msd_packed_loops_of(size)) return;
    const hdst__row_run *run = sample->runs;
    while (!run->count) run++;
    memcpy(m->sample, run->rows, size);
    for (; run < sample->runs + sample->run_count; run++) hdst__msd_differ(m->sample, run->rows, run->count, size, m->differ);
    if (!hdst__msd_packing_choose(&m->packing, m->sample, m->differ, size)) return;
    m->sorting->packing = &m->packing;
    set_row_bytes(m, HDST__MSD_PACKED);
}

hdst__msd_slices *hdst__msd_slices_create(const hdst__msd_sort *sort, hdst__budget *budget, uint64_t expected)
{
    hdst__msd_slices *m = hdst__alloc_zero(sort->allocator, sizeof *m);
    if (!m) return NULL;
    m->chunks.next = next_chunk;
    m->sort = *sort;
    m->budget = budget;
    m->sorting = hdst__msd_begin(&m->sort, expected);
    if (!m->sorting) {
        hdst__free(sort->allocator, m);
        return NULL;
    }
    hdst__free(sort->allocator, m->sorting->pieces);        // the sample
    m->sorting->pieces = NULL;
    choose_form(m, sort);
    m->sort.runs = NULL;
    m->sort.run_count = m->sort.count = 0;
    return m;
}

void hdst__msd_slices_destroy(hdst__msd_slices *m)
{
    if (!m) return;
    const hdst__allocator *allocator = m->sort.allocator;
    for (block *b = m->blocks, *next; b; b = next) {
        next = b->next;
        hdst__free(allocator, b);
    }
    hdst__free(allocator, m->sorting);
    hdst__free(allocator, m);
}

uint64_t hdst__msd_slices_count(const hdst__msd_slices *m) { return m->count; }
bool hdst__msd_slices_are_packed(const hdst__msd_slices *m) { return m->sorting->packing; }
bool hdst__msd_slices_were_dealt_again(const hdst__msd_slices *m) { return m->again; }

// --- Taking them ---

// The larger the more there are already. Huge pages would be no gain: these are filled from one end to the other, and they would come from far away where small
// ones that were just given back lie in a cache.
static bool add_block(hdst__msd_slices *m, uint64_t least, hdst_error *error)
{
    const uint64_t share = m->chunk_count / HDST__HOST_SORT_BLOCK_SHARE, most = HDST__HOST_SORT_BLOCK_MOST_BYTES / HDST__HOST_SORT_CHUNK_BYTES,
                   wanted = share < most ? share : most, bytes = (wanted < least ? least : wanted) * HDST__HOST_SORT_CHUNK_BYTES + sizeof(block) + LINE;
    block *added = hdst__budget_alloc(m->budget, HDST__OWNER_SORTS, bytes, "a sort", error);
    if (!added) return false;
    while (m->unused_count) {
        hdst__msd_chunk *chunk = (hdst__msd_chunk *)(void *)m->unused;
        chunk->next = m->spare;
        m->spare = chunk;
        m->spare_count++;
        m->unused += HDST__HOST_SORT_CHUNK_BYTES;
        m->unused_count--;
    }
    added->next = m->blocks;
    m->blocks = added;
    m->unused = (char *)(((uintptr_t)added->chunks + LINE - 1) / LINE * LINE);
    m->unused_count = (bytes - (uint64_t)(m->unused - (char *)added)) / HDST__HOST_SORT_CHUNK_BYTES;
    return true;
}

// So many records may end the open chunk of every bucket. `given`: chunks that are there for others while they come.
static bool has_room(hdst__msd_slices *m, uint64_t count, uint64_t given, hdst_error *error)
{
    const uint64_t needed = m->sorting->buckets + count * m->row_bytes / m->chunk_bytes + 1, has = m->unused_count + m->spare_count + given;
    return has >= needed || add_block(m, needed - has, error);
}

static uint64_t rows_of(const hdst__msd_slices *m, uint32_t bucket, const hdst__msd_chunk *chunk)
{
    return (chunk->next ? m->chunk_bytes : (uint64_t)(m->chunks.open[bucket].at - chunk->rows)) / m->row_bytes;
}

static void pack_anew(hdst__msd_slices *m, const hdst__msd_packing *packing)
{
    for (uint32_t b = 0; b < m->sorting->buckets; b++)
        for (hdst__msd_chunk *c = m->first[b]; c; c = c->next) hdst__msd_repack(c->rows, rows_of(m, b, c), &m->packing, packing);
    m->packing = *packing;
}

static void unpack_chunk(hdst__msd_slices *m, uint32_t b, const char *rows, uint64_t count)
{
    const hdst__msd_loops *l = hdst__msd_packed_loops_of(m->sort.size);
    hdst__msd_open *open = &m->chunks.open[b];
    for (uint64_t part; count; count -= part, rows += part * HDST__MSD_PACKED) {
        if (open->at == open->end) next_chunk(&m->chunks, b);
        const uint64_t room = (uint64_t)(open->end - open->at) / m->sort.size;
        part = room < count ? room : count;
        l->copy(m->sorting, rows, part, open->at);
        open->at += part * m->sort.size;
    }
}

// A chunk whose records have moved is there for others.
static void unpack_bucket(hdst__msd_slices *m, uint32_t b, hdst__msd_chunk *chunk, uint64_t last_count)
{
    const uint64_t all = (HDST__HOST_SORT_CHUNK_BYTES - sizeof *chunk) / HDST__MSD_PACKED;
    m->first[b] = m->last[b] = NULL;
    m->chunks.open[b] = (hdst__msd_open){0};
    for (hdst__msd_chunk *next; chunk; chunk = next) {
        next = chunk->next;
        unpack_chunk(m, b, chunk->rows, next ? all : last_count);
        chunk->next = m->spare;
        m->spare = chunk;
        m->spare_count++;
        m->chunk_count--;
    }
}

static hdst_status unpack_all(hdst__msd_slices *m, hdst_error *error)
{
    const uint64_t packed_bytes = m->chunk_bytes;
    set_row_bytes(m, m->sort.size);
    if (!has_room(m, m->count + m->chunk_bytes, m->chunk_count, error)) {       // one chunk moves to several before it is there for others
        set_row_bytes(m, HDST__MSD_PACKED);
        return HDST_E_MEMORY;
    }
    for (uint32_t b = 0; b < m->sorting->buckets; b++) {
        const uint64_t last = m->last[b] ? (uint64_t)(m->chunks.open[b].at - m->last[b]->rows) : packed_bytes;
        unpack_bucket(m, b, m->first[b], last / HDST__MSD_PACKED);
    }
    m->sorting->packing = NULL;
    return HDST_OK;
}

static bool fit(hdst__msd_slices *m, const char *rows, uint64_t count)
{
    uint64_t others = 0;
    hdst__msd_differ(m->sample, rows, count, m->sort.size, m->differ);
    for (uint64_t k = 0; k < HDST__MSD_WORDS; k++) others |= m->differ[k] & ~m->packing.mask[k];
    return !others;
}

static hdst_status take_some(hdst__msd_slices *m, const char *rows, uint64_t count, hdst_error *error)
{
    if (m->sorting->packing && !fit(m, rows, count)) {
        hdst__msd_packing packing;
        const bool fits = hdst__msd_packing_choose(&packing, m->sample, m->differ, m->sort.size);
        if (fits) pack_anew(m, &packing);
        else if (unpack_all(m, error) != HDST_OK) return HDST_E_MEMORY;
    }
    if (!has_room(m, count, 0, error)) return HDST_E_MEMORY;
    const hdst__msd_loops *l = m->sorting->packing ? hdst__msd_packed_loops_of(m->sort.size) : hdst__msd_loops_of(m->sort.size);
    l->deal_to_chunks(m->sorting, rows, count, &m->chunks);
    m->count += count;
    return HDST_OK;
}

hdst_status hdst__msd_slices_take(hdst__msd_slices *m, const char *rows, uint64_t count, hdst_error *error)
{
    hdst_status status = HDST_OK;
    for (uint64_t i = 0, end; status == HDST_OK && (end = hdst__msd_end_of_block(m->sorting, i, count)) > i; i = end) {
        if (m->sorting->packing && end - i > LOOKED_AT) end = i + LOOKED_AT;
        status = take_some(m, rows + i * m->sort.size, end - i, error);
    }
    if (status != HDST_OK) return status;
    return hdst__msd_stopped(m->sorting) ? hdst__cancel_error(0, 0, error) : HDST_OK;
}

// --- Giving them back ---

static hdst_status give_packed(hdst__msd_slices *m, const hdst__row_run *run, hdst__msd_add *add, void *user, hdst_error *error)
{
    char rows[LOOKED_AT * HDST__MSD_WORDS * HDST__MSD_PACKED];
    hdst_status status = HDST_OK;
    for (uint64_t at = 0, part; at < run->count && status == HDST_OK; at += part) {
        part = run->count - at < LOOKED_AT ? run->count - at : LOOKED_AT;
        hdst__msd_packed_loops_of(m->sort.size)->copy(m->sorting, run->rows + at * HDST__MSD_PACKED, part, rows);
        status = add(user, rows, part, error);
    }
    return status;
}

hdst_status hdst__msd_slices_give(hdst__msd_slices *m, hdst__msd_add *add, void *user, hdst_error *error)
{
    hdst_status status = HDST_OK;
    for (uint32_t b = 0; b < m->sorting->buckets; b++) {
        for (hdst__msd_chunk *c = m->first[b]; c && status == HDST_OK; c = c->next) {
            const hdst__row_run run = {c->rows, rows_of(m, b, c)};
            status = m->sorting->packing ? give_packed(m, &run, add, user, error) : add(user, run.rows, run.count, error);
        }
    }
    return status;
}

// --- The end ---

static hdst__row_run *runs_of(hdst__msd_slices *m, uint64_t *run_count)
{
    hdst__row_run *run = hdst__alloc(m->sort.allocator, (m->chunk_count + 1) * sizeof *run);
    uint64_t n = 0;
    if (!run) return NULL;
    for (uint32_t b = 0; b < m->sorting->buckets; b++) {
        m->run_begin[b] = n;
        for (hdst__msd_chunk *c = m->first[b]; c; c = c->next) run[n++] = (hdst__row_run){c->rows, rows_of(m, b, c)};
    }
    m->run_begin[m->sorting->buckets] = *run_count = n;
    return run;
}

static void place_buckets(hdst__msd_slices *m)
{
    hdst__msd_sorting *s = m->sorting;
    uint64_t sum = 0;
    s->largest = 0;
    for (uint32_t b = 0; b < s->buckets; b++) {
        s->begin[b] = sum;
        for (const hdst__msd_chunk *c = m->first[b]; c; c = c->next) sum += rows_of(m, b, c);
        if (s->range_bits[b] && sum - s->begin[b] > s->largest) s->largest = sum - s->begin[b];
    }
    s->begin[s->buckets] = sum;
}

static void sort_buckets(void *user, uint64_t worker)
{
    hdst__msd_slices *m = user;
    hdst__msd_sorting *s = m->sorting;
    char *scratch = s->scratch + worker * s->largest * m->sort.size;
    for (uint32_t b; (b = atomic_fetch_add(&s->next, 1)) < s->buckets && !hdst__msd_stopped(s);)
        hdst__msd_sort_bucket(s, b, m->run + m->run_begin[b], m->run_begin[b + 1] - m->run_begin[b], s->begin[b + 1] - s->begin[b],
                              s->to + s->begin[b] * m->sort.size, scratch);
}

// Buckets that were chosen by a sample which tells too little are chosen anew, by all records.
static hdst_status sort_again(hdst__msd_slices *m, uint64_t run_count, char *to, bool *done, hdst_error *error)
{
    hdst__msd_sort all = m->sort;
    all.runs = m->run;
    all.run_count = run_count;
    all.count = m->count;
    return hdst__msd_radix_sort(&all, to, done, error);
}

static hdst_status sort_all(hdst__msd_slices *m, char *to, bool *done, hdst_error *error)
{
    hdst__msd_sorting *s = m->sorting;
    const uint64_t workers = hdst__msd_workers(s), used = workers < s->buckets ? workers : s->buckets;
    s->scratch = hdst__alloc(m->sort.allocator, used * s->largest * m->sort.size + 1);
    if (!s->scratch) return HDST_OK;
    s->to = to;
    atomic_store(&s->next, 0);
    if (m->sort.threads) hdst__thread_pool_run(m->sort.threads, used, sort_buckets, m);
    else sort_buckets(m, 0);
    hdst__free(m->sort.allocator, s->scratch);
    *done = !hdst__msd_stopped(s);
    return *done ? HDST_OK : hdst__cancel_error(0, 0, error);
}

hdst_status hdst__msd_slices_end(hdst__msd_slices *m, char *to, bool *done, hdst_error *error)
{
    *done = false;
    place_buckets(m);
    m->again = !hdst__msd_shares(m->sorting, m->count);
    if (m->again && m->sorting->packing && unpack_all(m, NULL) != HDST_OK) return HDST_OK;
    uint64_t run_count;
    hdst__row_run *run = runs_of(m, &run_count);
    if (!run) return HDST_OK;
    m->run = run;
    const hdst_status status = m->again ? sort_again(m, run_count, to, done, error) : sort_all(m, to, done, error);
    hdst__free(m->sort.allocator, run);
    m->run = NULL;
    return status;
}
