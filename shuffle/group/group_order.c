// SPDX-License-Identifier: Apache-2.0
// The order of records by key, on all threads. A stable partition by the upper bits of their hashes (or dense keys) makes parts that lie in a core's cache:
// each thread counts and moves a share of the records, and a part has those of the first thread first. Then part by part the rest (shuffle/sort/radix_sort.h).
#include "shuffle/group/group_order.h"

#include "engine/engine.h"
#include "base/costs_host.h"
#include "shuffle/group/group_key.h"
#include "shuffle/sort/radix_sort.h"
#include "engine/memory/host_rows.h"

#include <string.h>

// --- All of it ---

typedef struct worker {
    uint64_t skipped, bad_record, bad_key;      // of its share
    void *words;                    // for a part and once more, of `capacity` bytes in all
    uint64_t capacity;
    bool failed;                    // out of memory
} worker;

typedef struct ordering {
    hdst__group *g;
    uint64_t size, count;           // of a record; records
    char *rows, *parted;
    uint64_t base;                  // the least number
    unsigned shift;
    uint32_t parts, threads;
    uint64_t *place;                // by thread and part: where its next record goes
    uint64_t *begin;                // by part, and where the last one ends
    uint64_t *runs;                 // the same of its runs
    worker worker[HDST__MOST_THREADS];
    _Atomic uint32_t next;          // part that nobody has taken
} ordering;

// Of a size that the compiler knows a copy is an instruction or two.
static inline void copy_row(char *to, const char *from, uint64_t size)
{
    switch (size) {
    case 4: memcpy(to, from, 4); break;
    case 8: memcpy(to, from, 8); break;
    case 12: memcpy(to, from, 12); break;
    case 16: memcpy(to, from, 16); break;
    case 24: memcpy(to, from, 24); break;
    case 32: memcpy(to, from, 32); break;
    default: memcpy(to, from, size);
    }
}

static void in_threads(ordering *o, void (*step)(void *user, uint64_t thread))
{
    hdst__thread_pool_run(hdst__engine_threads(o->g->engine), o->threads, step, o);
}

static bool is_cancelled(const ordering *o) { return hdst__cancel_asked(hdst__engine_cancel(o->g->engine)); }
static uint64_t share(const ordering *o, uint64_t thread) { return o->count * thread / o->threads; }

static void count_share(void *user, uint64_t thread)
{
    ordering *o = user;
    worker *w = &o->worker[thread];
    uint64_t *place = o->place + thread * o->parts, number;
    for (uint64_t i = share(o, thread), end = share(o, thread + 1); i < end; i++) {
        if (i % HDST__HOST_CANCEL_RECORDS == 0 && is_cancelled(o)) return;
        if (hdst__group_number_of(o->g, o->rows + i * o->size, &number)) {
            place[(number - o->base) >> o->shift]++;
            continue;
        }
        if (!w->skipped++) w->bad_record = i, w->bad_key = number;
    }
}

static void move_share(void *user, uint64_t thread)
{
    ordering *o = user;
    uint64_t *place = o->place + thread * o->parts, number;
    const uint64_t size = o->size;
    for (uint64_t i = share(o, thread), end = share(o, thread + 1); i < end; i++) {
        const char *row = o->rows + i * size;
        if (i % HDST__HOST_CANCEL_RECORDS == 0 && is_cancelled(o)) return;
        if (hdst__group_number_of(o->g, row, &number)) copy_row(o->parted + place[(number - o->base) >> o->shift]++ * size, row, size);
    }
}

// Counts become places: part by part, in each thread by thread.
static void find_places(ordering *o)
{
    uint64_t sum = 0;
    for (uint32_t p = 0; p < o->parts; p++) {
        o->begin[p] = sum;
        for (uint32_t t = 0; t < o->threads; t++) {
            uint64_t *place = &o->place[(uint64_t)t * o->parts + p], count = *place;
            *place = sum;
            sum += count;
        }
    }
    o->begin[o->parts] = sum;
}

// --- A part ---

static bool take_words(const ordering *o, worker *w, uint64_t bytes)
{
    if (bytes <= w->capacity) return true;
    hdst__free(hdst__engine_owned(o->g->engine, HDST__OWNER_SORTS), w->words);
    w->words = hdst__alloc(hdst__engine_owned(o->g->engine, HDST__OWNER_SORTS), bytes);
    w->capacity = w->words ? bytes : 0;
    return w->words;
}

// Numbers of a part that span more than 32 bits, or more records than that, take entries of two words.
static bool sort_entries(const ordering *o, worker *w, uint64_t begin, uint64_t count)
{
    if (!take_words(o, w, 2 * count * sizeof(hdst__radix_entry))) return false;
    hdst__radix_entry *entries = w->words;
    for (uint64_t i = 0; i < count; i++) {
        entries[i].index = i;
        hdst__group_number_of(o->g, o->parted + (begin + i) * o->size, &entries[i].key);
    }
    const hdst__radix_entry *sorted = hdst__radix_sort_entries(entries, entries + count, count, NULL);
    for (uint64_t i = 0; i < count; i++) copy_row(o->rows + (begin + i) * o->size, o->parted + (begin + sorted[i].index) * o->size, o->size);
    return true;
}

static bool sort_part(const ordering *o, worker *w, uint32_t part)
{
    const uint64_t begin = o->begin[part], count = o->begin[part + 1] - begin, base = o->base + ((uint64_t)part << o->shift), size = o->size;
    if (o->shift > 32 || count > UINT32_MAX) return sort_entries(o, w, begin, count);
    if (!take_words(o, w, 2 * count * sizeof(uint64_t))) return false;
    uint64_t *words = w->words, number;
    const char *from = o->parted + begin * size;
    char *to = o->rows + begin * size;
    for (uint64_t i = 0; i < count; i++) {
        hdst__group_number_of(o->g, from + i * size, &number);
        words[i] = (number - base) << 32 | i;
    }
    const uint64_t *sorted = hdst__radix_sort_words(words, words + count, count);
    for (uint64_t i = 0; i < count; i++) copy_row(to + i * size, from + (sorted[i] & UINT32_MAX) * size, size);
    return true;
}

// --- Several keys with one hash ---

typedef struct ties {
    const hdst__group *group;
    const char *rows;
} ties;

static int compare_ties(const void *user, uint64_t a, uint64_t b)
{
    const ties *t = user;
    const uint64_t size = t->group->record->size;
    return hdst__key_fields_compare(&t->group->key, t->rows + a * size, t->rows + b * size);
}

// Rows by their packed keys: those of several keys with one hash, a few. false: out of memory.
static bool order_ties(const hdst__group *g, char *rows, uint64_t count)
{
    const hdst__allocator *allocator = hdst__engine_owned(g->engine, HDST__OWNER_SORTS);
    const uint64_t size = g->record->size;
    const ties t = {g, rows};
    uint64_t *places = hdst__alloc(allocator, 2 * count * sizeof *places);
    char *copy = hdst__alloc(allocator, count * size);
    if (places && copy) {
        for (uint64_t i = 0; i < count; i++) places[i] = i;
        const uint64_t *sorted = hdst__merge_sort_words(places, places + count, count, compare_ties, &t);
        for (uint64_t i = 0; i < count; i++) memcpy(copy + i * size, rows + sorted[i] * size, size);
        memcpy(rows, copy, count * size);
    }
    const bool done = places && copy;
    hdst__free(allocator, places);
    hdst__free(allocator, copy);
    return done;
}

// Keys of more than 4 bytes may share a hash: such rows lie mixed.
static bool part_ties(const hdst__group *g, char *rows, uint64_t count)
{
    const uint64_t size = g->record->size;
    uint64_t first = 0;                 // of the rows with this hash
    uint32_t hash = count ? hdst__key_fields_hash(&g->key, rows) : 0;
    bool mixed = false;
    for (uint64_t i = 1; i <= count; i++) {
        if (i < count && hdst__group_same_key(g, rows + (i - 1) * size, rows + i * size)) continue;
        const uint32_t next = i < count ? hdst__key_fields_hash(&g->key, rows + i * size) : 0;
        if (i < count && next == hash) {
            mixed = true;
            continue;
        }
        if (mixed && !order_ties(g, rows + first * size, i - first)) return false;
        first = i;
        hash = next;
        mixed = false;
    }
    return true;
}

static void sort_parts(void *user, uint64_t thread)
{
    ordering *o = user;
    worker *w = &o->worker[thread];
    for (uint32_t p; !w->failed && !is_cancelled(o) && (p = o->next++) < o->parts;) {
        const uint64_t count = o->begin[p + 1] - o->begin[p];
        char *rows = o->rows + o->begin[p] * o->size;
        w->failed = count && !sort_part(o, w, p);
        if (!w->failed && !o->g->dense && o->g->key.bytes > 4) w->failed = !part_ties(o->g, rows, count);
        o->runs[p] = count > 0;
        if (o->g->without_runs) continue;
        for (uint64_t i = 1; i < count && !w->failed; i++) o->runs[p] += !hdst__group_same_key(o->g, rows + (i - 1) * o->size, rows + i * o->size);
    }
}

static void write_runs(void *user, uint64_t thread)
{
    ordering *o = user;
    (void)thread;
    for (uint32_t p; !is_cancelled(o) && (p = o->next++) < o->parts;) {
        hdst__run *run = o->g->run + o->runs[p];
        for (uint64_t i = o->begin[p]; i < o->begin[p + 1]; i++) {
            const char *row = o->rows + i * o->size;
            if (i == o->begin[p]) *run = (hdst__run){.first = i};
            else if (!hdst__group_same_key(o->g, row - o->size, row)) *++run = (hdst__run){.first = i};
            run->count++;
        }
    }
}

// --- Steps ---

static uint32_t thread_count(const hdst__group *g, uint64_t records)
{
    const uint64_t wanted = records / HDST__HOST_GROUP_THREAD_RECORDS + 1, most = hdst__thread_pool_size(hdst__engine_threads(g->engine));
    return (uint32_t)(wanted < most ? wanted : most);
}

static void choose_parts(ordering *o, uint64_t span)
{
    uint32_t bits = 0;
    while ((1u << bits) < HDST__HOST_GROUP_PARTITIONS && o->count * o->size >> bits > HDST__HOST_GROUP_PARTITION_BYTES) bits++;
    unsigned span_bits = 0;
    while (span_bits < 64 && (span - 1) >> span_bits) span_bits++;
    o->shift = span_bits > bits ? span_bits - bits : 0;
    o->parts = (uint32_t)((span - 1) >> o->shift) + 1;
}

static void note_bad(const ordering *o)
{
    hdst__group *g = o->g;
    for (uint32_t t = 0; t < o->threads; t++) {
        const worker *w = &o->worker[t];
        if (w->skipped && g->bad_record == UINT64_MAX) g->bad_record = w->bad_record, g->bad_key = w->bad_key;
        g->skipped += w->skipped;
    }
}

static bool sort_all(ordering *o)
{
    bool failed = false;
    o->next = 0;
    in_threads(o, sort_parts);
    for (uint32_t t = 0; t < o->threads; t++) failed |= o->worker[t].failed;
    return !failed;
}

static hdst_status make_runs(ordering *o, hdst_error *error)
{
    hdst__group *g = o->g;
    uint64_t runs = 0;
    for (uint32_t p = 0; p < o->parts; p++) {
        const uint64_t of = o->runs[p];
        o->runs[p] = runs;
        runs += of;
    }
    g->run = hdst__budget_alloc(hdst__engine_memory(g->engine), HDST__OWNER_SORTS, runs * sizeof *g->run, "runs of equal keys", error);
    if (!g->run) return HDST_E_MEMORY;
    g->run_count = runs;
    o->next = 0;
    in_threads(o, write_runs);
    return hdst__cancel_check(hdst__engine_cancel(g->engine), 0, 0, error);         // who was cancelled on the way left work undone
}

static hdst_status order(ordering *o, hdst_error *error)
{
    in_threads(o, count_share);
    hdst_status status = hdst__cancel_check(hdst__engine_cancel(o->g->engine), 0, 0, error);
    if (status != HDST_OK) return status;       // places would not be those of all records
    note_bad(o);
    if (o->g->bad_record != UINT64_MAX && !hdst__engine_settings(o->g->engine)->skip_failed) return HDST_OK;
    find_places(o);
    in_threads(o, move_share);
    return sort_all(o) ? HDST_OK : hdst__error_memory(error, "the order of records by key");
}

hdst_status hdst__group_order(hdst__group *g, hdst__rows *input, hdst_error *error)
{
    const hdst__allocator *allocator = hdst__engine_owned(g->engine, HDST__OWNER_SORTS);
    hdst__budget *budget = hdst__engine_memory(g->engine);
    ordering o = {.g = g, .size = g->record->size, .count = input->count, .rows = input->records};
    o.base = g->whole ? 0 : g->from;
    o.threads = thread_count(g, o.count);
    choose_parts(&o, g->whole ? g->end : g->step);
    const uint64_t bytes = o.count * o.size + 1, tables = ((uint64_t)o.parts * (o.threads + 2) + 1) * sizeof *o.place;
    o.place = hdst__budget_alloc(budget, HDST__OWNER_SORTS, tables, "the order of records by key", error);
    o.parted = o.place ? hdst__budget_alloc(budget, HDST__OWNER_SORTS, bytes, "records by key", error) : NULL;
    hdst_status status = o.parted ? HDST_OK : HDST_E_MEMORY;
    if (status == HDST_OK) {
        memset(o.place, 0, tables);
        o.begin = o.place + (uint64_t)o.parts * o.threads;
        o.runs = o.begin + o.parts + 1;
        status = order(&o, error);
    }
    for (uint32_t t = 0; t < o.threads; t++) hdst__free(allocator, o.worker[t].words);
    hdst__free(allocator, o.parted);
    const bool ordered = status == HDST_OK && (g->bad_record == UINT64_MAX || hdst__engine_settings(g->engine)->skip_failed);
    if (ordered) {
        g->rows = input->records;       // in order now, and the group's
        g->row_count = o.begin[o.parts];
        *input = (hdst__rows){0};
        status = g->without_runs ? hdst__cancel_check(hdst__engine_cancel(g->engine), 0, 0, error) : make_runs(&o, error);
    }
    hdst__free(allocator, o.place);
    return status;
}
