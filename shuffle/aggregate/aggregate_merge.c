// SPDX-License-Identifier: Apache-2.0
// Unfinished results of several reductions by key merged (shuffle/aggregate/aggregate_merge.h), on all threads: a thread takes a range of the hashes, which is
// a stretch of each result. First the keys of each range are counted, so that its place in the result is known, then they are written.
#include "shuffle/aggregate/aggregate_merge.h"

#include "engine/device/device_list.h"
#include "engine/engine.h"
#include "shuffle/aggregate/aggregate_state.h"

#include <string.h>

enum { MOST_BITS = 12, RANGE_KEYS = 8192 };     // ranges: of so many keys, about

static const char what[] = "the result of a reduce by key";

typedef struct merge {
    hdst__aggregate *const *from;
    uint32_t count;
    const hdst__engine *engine;
    const hdst__aggregation_layout *layout;     // of the first one
    bool agree;                                 // all hold their sums alike: words are added as integers
    uint32_t bits;                              // of the hash that tell a range
    uint64_t *first;                            // the first row of each range in the result, and their number
    char *rows;
    atomic_bool stops;                          // there is no memory, or the run was cancelled
} merge;

// The stretches of a range, and which of them have the key at hand.
typedef struct heads {
    const merge *m;
    uint64_t at[HDST__MOST_WORKERS], end[HDST__MOST_WORKERS];
    const uint64_t *state[HDST__MOST_WORKERS];  // the next one; NULL: no more
    uint32_t having[HDST__MOST_WORKERS], count; // those that have the key, by number
} heads;

// --- Keys in order ---

// A tag's lower half is the hash, its upper half the same for all.
static int compare(const hdst__aggregation_layout *layout, const uint64_t *a, const uint64_t *b)
{
    if (*a != *b) return *a < *b ? -1 : 1;
    return hdst__key_compare(layout->texts, a + 1, b + 1, layout->key_words);
}

// The first state from the range on.
static uint64_t begin_of(const hdst__aggregate *from, uint64_t range, uint32_t bits)
{
    uint64_t low = 0, high = from->row_count;
    while (low < high) {
        const uint64_t middle = (low + high) / 2, hash = (uint32_t)*hdst__aggregate_state_of(from, middle);
        if (hash >> (32 - bits) < range) low = middle + 1;
        else high = middle;
    }
    return low;
}

static void step(heads *h, uint32_t i)
{
    h->state[i] = h->at[i] < h->end[i] ? hdst__aggregate_state_of(h->m->from[i], h->at[i]) : NULL;
    h->at[i]++;
}

static void open_range(heads *h, const merge *m, uint64_t range)
{
    h->m = m;
    for (uint32_t i = 0; i < m->count; i++) {
        h->at[i] = begin_of(m->from[i], range, m->bits);
        h->end[i] = begin_of(m->from[i], range + 1, m->bits);
        step(h, i);
    }
}

// False: the range is at its end.
static bool find_next(heads *h)
{
    const uint64_t *least = NULL;
    h->count = 0;
    for (uint32_t i = 0; i < h->m->count; i++) {
        if (!h->state[i]) continue;
        const int order = least ? compare(h->m->layout, h->state[i], least) : -1;
        if (order > 0) continue;
        if (order < 0) h->count = 0;
        least = h->state[i];
        h->having[h->count++] = i;
    }
    return least;
}

static void pass(heads *h)
{
    for (uint32_t i = 0; i < h->count; i++) step(h, h->having[i]);
}

static void count_range(void *user, uint64_t range)
{
    merge *m = user;
    heads h;
    uint64_t count = 0;
    for (open_range(&h, m, range); find_next(&h); pass(&h)) count++;
    m->first[range + 1] = count;
}

// --- A key's row ---

static bool agree(const hdst__aggregation_layout *a, const hdst__aggregation_layout *b)
{
    bool same = true;
    for (uint64_t c = 0; c < a->value_count; c++)
        same = same && a->value[c].words == b->value[c].words && (!a->value[c].cell.digits || a->value[c].s == b->value[c].s);
    return same;
}

// False: words would overflow, or are not all there is.
static bool add_words(const heads *h, uint64_t *row)
{
    const hdst__aggregation_layout *layout = h->m->layout;
    memcpy(row, h->state[*h->having], layout->row_words * sizeof *row);
    bool added = h->m->agree;
    for (uint32_t i = 0; i < h->count && added; i++) {
        const uint64_t *state = h->state[h->having[i]];
        added = !state[layout->row_words];
        for (uint64_t c = 0; c < layout->value_count && i && added; c++) {
            const hdst__value_column *column = &layout->value[c];
            const uint32_t first = 1 + layout->key_words + column->word;
            for (uint32_t w = first; w < first + column->words; w++) {
                int64_t sum;
                added = added && (!column->cell.digits || !__builtin_add_overflow((int64_t)row[w], (int64_t)state[w], &sum));
                hdst__word_take(&row[w], column->cell.op, state[w]);
            }
        }
    }
    return added;
}

// In any case, at any scales. False: no memory.
static bool add_exactly(const heads *h, hdst__partial **partial, char *record)
{
    const hdst__aggregation_layout *layout = h->m->layout;
    if (*partial) hdst__partial_reset(*partial);
    else *partial = hdst__aggregate_empty_partial(*h->m->from, hdst__engine_owned(h->m->engine, HDST__OWNER_BY_KEY), 1);
    bool added = *partial;
    for (uint32_t i = 0; i < h->count && added; i++)
        added = hdst__aggregate_add_state(h->m->from[h->having[i]], h->state[h->having[i]], *partial, 0);
    if (!added) return false;
    for (uint64_t c = 0; c < layout->value_count; c++) {
        const hdst__value_column *column = &layout->value[c];
        const uint64_t bits = hdst__partial_read(*partial, 0, 0, column->number, column->element);
        memcpy(record + hdst__leaf_offset(&layout->record->leaves[column->leaf], column->element), &bits, column->bytes);
    }
    return true;
}

static bool write_key(const heads *h, uint64_t *row, hdst__partial **partial, char *record)
{
    const hdst__aggregate *first = h->m->from[*h->having];
    const uint64_t *state = h->state[*h->having];
    if (h->count > 1 && add_words(h, row)) {
        hdst__row_write(h->m->layout, row, NULL, record);
        return true;
    }
    hdst__row_write(first->layout, state, hdst__aggregate_exact_of(first, state), record);
    return h->count == 1 || add_exactly(h, partial, record);
}

static void write_range(void *user, uint64_t range)
{
    merge *m = user;
    const hdst__allocator *allocator = hdst__engine_owned(m->engine, HDST__OWNER_BY_KEY);
    char *record = m->rows + m->first[range] * m->layout->record->size;
    uint64_t *row = hdst__alloc(allocator, m->layout->row_words * sizeof *row);
    hdst__partial *partial = NULL;
    heads h;
    bool wrote = row && !hdst__cancel_asked(hdst__engine_cancel(m->engine)) && !atomic_load(&m->stops);
    for (open_range(&h, m, range); wrote && find_next(&h); pass(&h), record += m->layout->record->size) wrote = write_key(&h, row, &partial, record);
    if (!wrote) atomic_store(&m->stops, true);
    hdst__partial_destroy(partial);
    hdst__free(allocator, row);
}

// --- All of them ---

static hdst_status write_all(merge *m, uint64_t *row_count, hdst_error *error)
{
    const uint64_t ranges = UINT64_C(1) << m->bits, bytes = m->layout->record->size;
    hdst__thread_pool *threads = hdst__engine_threads(m->engine);
    hdst__thread_pool_run(threads, ranges, count_range, m);
    for (uint64_t range = 0; range < ranges; range++) m->first[range + 1] += m->first[range];
    *row_count = m->first[ranges];
    m->rows = hdst__budget_alloc(hdst__engine_memory(m->engine), HDST__OWNER_BY_KEY, *row_count * bytes + 1, what, error);
    if (!m->rows) return HDST_E_MEMORY;
    hdst__thread_pool_run(threads, ranges, write_range, m);
    if (!atomic_load(&m->stops)) return HDST_OK;
    const hdst_status status = hdst__cancel_check(hdst__engine_cancel(m->engine), 0, 0, error);
    return status == HDST_OK ? hdst__error_memory(error, what) : status;
}

hdst_status hdst__aggregate_merge(hdst__aggregate *const *from, uint32_t count, char **rows, uint64_t *row_count, hdst_error *error)
{
    merge m = {.from = from, .count = count, .engine = (*from)->engine, .layout = (*from)->layout, .agree = true, .bits = 1};
    const hdst__allocator *allocator = hdst__engine_owned(m.engine, HDST__OWNER_BY_KEY);
    uint64_t keys = 0;
    for (uint32_t i = 0; i < count; i++) {
        keys += from[i]->row_count;
        m.agree = m.agree && agree(m.layout, from[i]->layout);
    }
    while (m.bits < MOST_BITS && keys >> m.bits > RANGE_KEYS) m.bits++;
    m.first = hdst__alloc_zero(allocator, ((UINT64_C(1) << m.bits) + 1) * sizeof *m.first);
    const hdst_status status = m.first ? write_all(&m, row_count, error) : hdst__error_memory(error, what);
    hdst__free(allocator, m.first);
    if (status != HDST_OK) hdst__free(allocator, m.rows);
    else *rows = m.rows;
    return status;
}
