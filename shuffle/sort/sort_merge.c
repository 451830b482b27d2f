// SPDX-License-Identifier: Apache-2.0
// Sorted runs in memory merged on all threads (shuffle/sort/sort_merge.h). A sample of the records gives splitters: a thread has what lies between two of them,
// a stretch of each run, and merges that through a tree of losers. The order is total, by key, run and place, so splitters among equal keys do no harm, and
// however the sample falls, results are the same.
#include "shuffle/sort/sort_merge.h"

#include "base/costs_host.h"
#include "base/thread_pool.h"
#include "shuffle/sort/sort_host.h"

#include <stdatomic.h>
#include <string.h>

enum { STRETCHES_OF_A_THREAD = 4, SAMPLES_OF_A_STRETCH = 16 };

typedef struct merge {
    hdst__runtime *runtime;
    const hdst__sort_field *fields;
    size_t field_count;
    uint64_t size;
    const hdst__sorted_run *runs;
    uint32_t count;
    char *to;
    uint64_t stretches;
    uint64_t *border;           // [stretches + 1][count]: where each stretch begins in each run
    atomic_bool stops;
} merge;

// --- Splitters ---

typedef struct splitter {
    const char *row;
    uint32_t run;
    uint64_t place;
} splitter;

static const char *row_of(const merge *m, uint32_t run, uint64_t i) { return m->runs[run].rows + i * m->size; }

// Records of the run that come before the splitter.
static uint64_t before(const merge *m, uint32_t run, const splitter *s)
{
    uint64_t low = 0, high = m->runs[run].count;
    if (run == s->run) return s->place;
    while (low < high) {
        const uint64_t middle = (low + high) / 2;
        const int order = hdst__sort_compare(m->fields, m->field_count, row_of(m, run, middle), s->row);
        if (order < 0 || (order == 0 && run < s->run)) low = middle + 1;
        else high = middle;
    }
    return low;
}

static uint64_t samples_of(const merge *m, uint32_t run)
{
    const uint64_t wanted = m->stretches * SAMPLES_OF_A_STRETCH / m->count + 1;
    return wanted < m->runs[run].count ? wanted : m->runs[run].count;
}

// Sample i of a run.
static uint64_t place_of(const merge *m, uint32_t run, uint64_t i) { return i * (m->runs[run].count / samples_of(m, run)); }

static splitter find_sample(const merge *m, uint64_t index)
{
    uint32_t run = 0;
    for (; index >= samples_of(m, run); run++) index -= samples_of(m, run);
    const uint64_t place = place_of(m, run, index);
    return (splitter){row_of(m, run, place), run, place};
}

static void set_borders(merge *m, const hdst__sort_entry *order, uint64_t samples)
{
    for (uint64_t s = 1; s < m->stretches; s++) {
        const splitter at = find_sample(m, order[samples * s / m->stretches].index);
        for (uint32_t run = 0; run < m->count; run++) m->border[s * m->count + run] = before(m, run, &at);
    }
    for (uint32_t run = 0; run < m->count; run++) m->border[m->stretches * m->count + run] = m->runs[run].count;
}

// Rows of the samples, in the order of runs and places, which a stable sort keeps where keys are equal.
static hdst_status split(merge *m, hdst_error *error)
{
    const hdst__allocator *allocator = m->runtime->allocator;
    uint64_t samples = 0, n = 0;
    for (uint32_t run = 0; run < m->count; run++) samples += samples_of(m, run);
    char *rows = hdst__alloc(allocator, samples * m->size + 1);
    hdst__sort_entry *entries = hdst__alloc(allocator, (2 * samples + 1) * sizeof *entries);
    hdst_status status = rows && entries ? HDST_OK : hdst__error_memory(error, "a sort");
    for (uint32_t run = 0; run < m->count && status == HDST_OK; run++)
        for (uint64_t i = 0; i < samples_of(m, run); i++) memcpy(rows + n++ * m->size, row_of(m, run, place_of(m, run, i)), m->size);
    const hdst__sort_entry *order = status == HDST_OK ? hdst__sort_entries(m->fields, m->field_count, rows, m->size, samples, entries, entries + samples,
                                                                           m->runtime->cancel) : NULL;
    if (status == HDST_OK && !order) status = hdst__cancel_error(0, 0, error);
    if (status == HDST_OK && samples) set_borders(m, order, samples);
    hdst__free(allocator, rows);
    hdst__free(allocator, entries);
    return status;
}

// --- A stretch ---

typedef struct heads {
    const merge *m;
    const char *at[HDST__SORT_MERGE_RUNS], *end[HDST__SORT_MERGE_RUNS];
    uint64_t prefix[HDST__SORT_MERGE_RUNS];
    uint32_t loser[HDST__SORT_MERGE_RUNS];      // [0]: the winner
} heads;

static bool is_over(const heads *h, uint32_t i) { return h->at[i] == h->end[i]; }

static bool goes_before(const heads *h, uint32_t a, uint32_t b)
{
    if (is_over(h, a) || is_over(h, b)) return is_over(h, b) && (!is_over(h, a) || a < b);
    if (h->prefix[a] != h->prefix[b]) return h->prefix[a] < h->prefix[b];
    const int order = hdst__sort_compare(h->m->fields, h->m->field_count, h->at[a], h->at[b]);
    return order ? order < 0 : a < b;
}

static void look_at(heads *h, uint32_t i)
{
    if (!is_over(h, i)) h->prefix[i] = hdst__sort_prefix(h->m->fields, h->m->field_count, h->at[i]);
}

// Leaves are runs: run i below inner node (i + runs) / 2; inner nodes hold the loser of their match. From a leaf upward; a node that nobody came to yet
// keeps who comes.
static void play(heads *h, uint32_t i, bool first)
{
    uint32_t winner = i, node = (i + h->m->count) / 2;
    for (; node > 0; node /= 2) {
        const uint32_t other = h->loser[node];
        if (first && other == UINT32_MAX) break;
        if (!goes_before(h, other, winner)) continue;
        h->loser[node] = winner;
        winner = other;
    }
    h->loser[node] = winner;
}

static void open_stretch(heads *h, const merge *m, uint64_t stretch)
{
    const uint64_t *begin = m->border + stretch * m->count, *end = begin + m->count;
    h->m = m;
    for (uint32_t i = 0; i < m->count; i++) {
        h->at[i] = row_of(m, i, begin[i]);
        h->end[i] = row_of(m, i, end[i]);
        h->loser[i] = UINT32_MAX;
        look_at(h, i);
    }
    for (uint32_t i = 0; i < m->count; i++) play(h, i, true);
}

static void merge_stretch(void *user, uint64_t stretch)
{
    merge *m = user;
    heads h;
    uint64_t first = 0, count = 0;
    for (uint32_t i = 0; i < m->count; i++) {
        first += m->border[stretch * m->count + i];
        count += m->border[(stretch + 1) * m->count + i] - m->border[stretch * m->count + i];
    }
    char *to = m->to + first * m->size;
    open_stretch(&h, m, stretch);
    for (uint64_t i = 0; i < count; i++, to += m->size) {
        if (i % HDST__HOST_MERGE_CANCEL_RECORDS == 0 && (atomic_load(&m->stops) || hdst__cancel_asked(m->runtime->cancel))) break;
        const uint32_t winner = h.loser[0];
        memcpy(to, h.at[winner], m->size);
        h.at[winner] += m->size;
        look_at(&h, winner);
        play(&h, winner, false);
    }
    if (hdst__cancel_asked(m->runtime->cancel)) atomic_store(&m->stops, true);
}

hdst_status hdst__sort_merge(hdst__runtime *runtime, const hdst__sort_field *fields, size_t field_count, uint64_t size, const hdst__sorted_run *runs,
                             uint32_t count, char *to, hdst_error *error)
{
    merge m = {.runtime = runtime, .fields = fields, .field_count = field_count, .size = size, .runs = runs, .count = count, .to = to,
               .stretches = (uint64_t)hdst__thread_pool_size(runtime->threads) * STRETCHES_OF_A_THREAD};
    m.border = hdst__alloc_zero(runtime->allocator, (m.stretches + 1) * count * sizeof *m.border);
    hdst_status status = m.border ? split(&m, error) : hdst__error_memory(error, "a sort");
    if (status == HDST_OK) hdst__thread_pool_run(runtime->threads, m.stretches, merge_stretch, &m);
    hdst__free(runtime->allocator, m.border);
    return status == HDST_OK && atomic_load(&m.stops) ? hdst__cancel_error(0, 0, error) : status;
}
