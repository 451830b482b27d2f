// SPDX-License-Identifier: Apache-2.0
// The order of the rows of one partition (shuffle/group/group_part.h). Most often a key has several rows: which key each has says a table, whose keys are few
// to put in order, and where a key's rows begin then says how many rows those before it have. Where that is not worth it, the rows' numbers are sorted.
#include "shuffle/group/group_part.h"

#include "base/costs_host.h"
#include "engine/engine.h"
#include "shuffle/group/group_key.h"
#include "shuffle/group/group_numbers.h"
#include "shuffle/group/group_spread.h"
#include "shuffle/sort/radix_sort.h"

#include <string.h>

typedef hdst__group_part_worker worker;

static const hdst__allocator *allocator_of(const worker *w) { return hdst__engine_owned(w->group->engine, HDST__OWNER_SORTS); }
static bool is_cancelled(const worker *w) { return hdst__cancel_asked(hdst__engine_cancel(w->group->engine)); }

// --- Memory ---

static bool take(const worker *w, void **memory, uint64_t *capacity, uint64_t bytes)
{
    if (bytes <= *capacity) return true;
    hdst__free(allocator_of(w), *memory);
    *memory = hdst__alloc(allocator_of(w), bytes);
    *capacity = *memory ? bytes : 0;
    return *memory;
}

static bool take_scratch(worker *w, uint64_t rows)
{
    void *memory = w->scratch;
    const bool there = take(w, &memory, &w->scratch_bytes, rows * w->group->record->size);
    w->scratch = memory;
    return there;
}

static hdst__run *take_runs(worker *w, uint64_t count)
{
    hdst__group_runs *runs = w->runs;
    if (!runs || runs->capacity - runs->used < count) {
        const uint64_t usual = !runs ? 0 : runs->capacity < HDST__HOST_GROUP_RUNS / 2 ? 2 * runs->capacity : HDST__HOST_GROUP_RUNS,
                       capacity = count > usual ? count : usual;
        runs = hdst__alloc(allocator_of(w), sizeof *runs + capacity * sizeof *runs->run);
        if (!runs) return NULL;
        *runs = (hdst__group_runs){w->runs, 0, capacity};
        w->runs = runs;
    }
    runs->used += count;
    return runs->run + runs->used - count;
}

void hdst__group_part_worker_end(worker *w)
{
    if (!w->group) return;
    for (hdst__group_runs *runs = w->runs, *before; runs; runs = before) {
        before = runs->before;
        hdst__free(allocator_of(w), runs);
    }
    hdst__group_table_free(&w->table, w->group);
    hdst__free(allocator_of(w), w->scratch);
    hdst__free(allocator_of(w), w->words);
    *w = (worker){0};
}

// --- By a table of the keys ---

static bool note_runs(worker *w, hdst__group_part *part)
{
    const hdst__group_table *t = &w->table;
    uint64_t at = 0;
    if (!w->group->without_runs) {
        part->runs = t->keys;
        part->run = take_runs(w, t->keys);
        if (!part->run) return false;
    }
    for (uint32_t k = 0; k < t->keys; k++) {
        uint64_t *next = &t->next[(uint32_t)t->order[k] - 1], count = *next;
        if (part->run) part->run[k] = (hdst__run){part->first + at, count};
        *next = at;
        at += count;
    }
    return true;
}

static bool order_by_table(worker *w, char *rows, hdst__group_part *part)
{
    const uint64_t size = w->group->record->size;
    if (!note_runs(w, part)) return false;
    if (w->table.keys == 1) return true;            // as they lie
    if (!take_scratch(w, part->count)) return false;
    hdst__group_spread(w->scratch, rows, part->count, size, w->table.of, w->table.next);
    memcpy(rows, w->scratch, part->count * size);
    return true;
}

// --- By a sort ---

// Numbers that span more than 32 bits, or more rows than that, take entries of two words.
static bool sort_entries(worker *w, char *rows, const hdst__group_part *part)
{
    const uint64_t size = w->group->record->size, count = part->count;
    if (!take(w, &w->words, &w->word_bytes, 2 * count * sizeof(hdst__radix_entry))) return false;
    hdst__radix_entry *entries = w->words;
    for (uint64_t i = 0; i < count; i++) {
        entries[i].index = i;
        hdst__group_number_of(w->group, rows + i * size, &entries[i].key);
    }
    const hdst__radix_entry *sorted = hdst__radix_sort_entries(entries, entries + count, count, NULL);
    for (uint64_t i = 0; i < count; i++) memcpy(w->scratch + i * size, rows + sorted[i].index * size, size);
    return true;
}

static bool sort_words(worker *w, char *rows, const hdst__group_part *part)
{
    const uint64_t size = w->group->record->size, count = part->count;
    if (!take(w, &w->words, &w->word_bytes, 2 * count * sizeof(uint64_t))) return false;
    uint64_t *words = w->words, number;
    for (uint64_t i = 0; i < count; i++) {
        hdst__group_number_of(w->group, rows + i * size, &number);
        words[i] = (number - part->base) << 32 | i;
    }
    const uint64_t *sorted = hdst__radix_sort_words(words, words + count, count);
    for (uint64_t i = 0; i < count; i++) memcpy(w->scratch + i * size, rows + (sorted[i] & UINT32_MAX) * size, size);
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
static bool order_ties(const worker *w, char *rows, uint64_t count)
{
    const hdst__group *g = w->group;
    const uint64_t size = g->record->size;
    const ties t = {g, rows};
    uint64_t *places = hdst__alloc(allocator_of(w), 2 * count * sizeof *places);
    char *copy = hdst__alloc(allocator_of(w), count * size);
    if (places && copy) {
        for (uint64_t i = 0; i < count; i++) places[i] = i;
        const uint64_t *sorted = hdst__merge_sort_words(places, places + count, count, compare_ties, &t);
        for (uint64_t i = 0; i < count; i++) memcpy(copy + i * size, rows + sorted[i] * size, size);
        memcpy(rows, copy, count * size);
    }
    const bool done = places && copy;
    hdst__free(allocator_of(w), places);
    hdst__free(allocator_of(w), copy);
    return done;
}

// Keys of more than 4 bytes may share a hash: such rows lie mixed.
static bool part_ties(const worker *w, char *rows, uint64_t count)
{
    const hdst__group *g = w->group;
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
        if (mixed && !order_ties(w, rows + first * size, i - first)) return false;
        first = i;
        hash = next;
        mixed = false;
    }
    return true;
}

// Of sorted rows. Where runs begin is noted in the scratch memory, where the rows were.
static bool find_runs(worker *w, const char *rows, hdst__group_part *part)
{
    const hdst__group *g = w->group;
    const uint64_t size = g->record->size;
    uint8_t *begins = (uint8_t *)w->scratch;
    part->runs = part->count > 0;
    for (uint64_t i = 1; i < part->count; i++) part->runs += begins[i] = !hdst__group_same_key(g, rows + (i - 1) * size, rows + i * size);
    hdst__run *run = part->run = take_runs(w, part->runs);
    if (!run) return false;
    *run = (hdst__run){part->first, 0};
    for (uint64_t i = 0; i < part->count; i++) {
        if (i && begins[i]) *++run = (hdst__run){.first = part->first + i};
        run->count++;
    }
    return true;
}

static bool order_by_sort(worker *w, char *rows, hdst__group_part *part)
{
    const hdst__group *g = w->group;
    if (!take_scratch(w, part->count)) return false;
    if (!(part->bits > 32 || part->count > UINT32_MAX ? sort_entries : sort_words)(w, rows, part)) return false;
    memcpy(rows, w->scratch, part->count * g->record->size);
    if (!g->dense && g->key.bytes > 4 && !part_ties(w, rows, part->count)) return false;
    return g->without_runs || find_runs(w, rows, part);
}

bool hdst__group_part_order(worker *w, char *rows, hdst__group_part *part)
{
    char *from = rows + part->first * w->group->record->size;
    part->runs = 0;
    part->run = NULL;
    if (!part->count || is_cancelled(w)) return !part->count;
    if (part->bits <= 32 && part->count <= UINT32_MAX && hdst__group_table_fill(&w->table, w->group, from, part->count, part->base, part->bits))
        return order_by_table(w, from, part);
    return !is_cancelled(w) && order_by_sort(w, from, part);
}
