// SPDX-License-Identifier: Apache-2.0
// A sort on the host by the first bytes of keys (shuffle/sort/sort_prefixes.h).
#include "shuffle/sort/sort_prefixes.h"

#include "base/costs_host.h"
#include "record/text_span.h"

#include <stdatomic.h>
#include <string.h>

enum {
    MOST_BUCKETS = 64, SAMPLES_OF_A_BUCKET = 32,
    HANDFUL = 4,                // entries of one number are compared: their texts are not looked at further
    FEW = 16,                   // entries are sorted by insertion
    SOME = 256,                 // entries are merged: for their digits they are too few
    MOST_LEVELS = 48,           // eight bytes each, that texts have in common: more are compared
};

typedef struct sorting {
    const hdst__sort_field *fields;
    size_t field_count;
    const char *rows;
    uint64_t size, count;
    hdst__sort_entry *entries, *scratch;
    const hdst__cancel *cancel;
    uint32_t pieces, buckets;
    uint64_t splitter[MOST_BUCKETS];
    uint64_t place[MOST_BUCKETS][MOST_BUCKETS];     // of a piece's entries in a bucket: how many, then where the next one goes
    uint64_t begin[MOST_BUCKETS + 1];               // of a bucket, among the entries
    atomic_bool stops;
} sorting;

static const char *row_of(const sorting *s, const hdst__sort_entry *e) { return s->rows + e->index * s->size; }
static int compare(const sorting *s, const hdst__sort_entry *a, const hdst__sort_entry *b)
{
    return hdst__sort_compare(s->fields, s->field_count, row_of(s, a), row_of(s, b));
}

static bool stopped(sorting *s)
{
    if (!atomic_load_explicit(&s->stops, memory_order_relaxed) && hdst__cancel_asked(s->cancel)) atomic_store(&s->stops, true);
    return atomic_load_explicit(&s->stops, memory_order_relaxed);
}

// Now and then in a loop over entries.
static bool stopped_at(sorting *s, uint64_t i) { return i % HDST__HOST_CANCEL_RECORDS == 0 && stopped(s); }

// --- Few entries ---

// By the numbers alone, or with what is behind them.
static bool is_less(const sorting *s, const hdst__sort_entry *a, const hdst__sort_entry *b, bool whole)
{
    return a->key != b->key ? a->key < b->key : whole && compare(s, a, b) < 0;
}

static void insert_all(const sorting *s, hdst__sort_entry *e, uint64_t count, bool whole)
{
    for (uint64_t i = 1; i < count; i++) {
        const hdst__sort_entry moved = e[i];
        uint64_t at = i;
        for (; at > 0 && is_less(s, &moved, &e[at - 1], whole); at--) e[at] = e[at - 1];
        e[at] = moved;
    }
}

// Bottom up. `scratch` has room for as many.
static void merge_all(sorting *s, hdst__sort_entry *e, hdst__sort_entry *scratch, uint64_t count, bool whole)
{
    hdst__sort_entry *from = e, *to = scratch;
    for (uint64_t i = 0; i < count; i += FEW) insert_all(s, e + i, count - i < FEW ? count - i : FEW, whole);
    for (uint64_t run = FEW; run < count && !stopped(s); run *= 2) {
        for (uint64_t i = 0; i < count; i += 2 * run) {
            const uint64_t middle = count - i < run ? count : i + run, end = count - middle < run ? count : middle + run;
            for (uint64_t at = i, a = i, b = middle; at < end; at++)
                to[at] = b == end || (a < middle && !is_less(s, &from[b], &from[a], whole)) ? from[a++] : from[b++];
        }
        hdst__sort_entry *const swap = from;
        from = to, to = swap;
    }
    if (from != e) memcpy(e, from, count * sizeof *e);
}

// --- Parts of keys: what a number stands for. The fields from `field` on, as many as fit; or of a text bytes 8 * level to 8 * level + 7 ---

typedef struct part { size_t field; uint32_t level; } part;

static void sort_range(sorting *s, hdst__sort_entry *e, hdst__sort_entry *scratch, uint64_t count, part at);

// Entries that are equal in all fields before this one.
static void sort_from(sorting *s, hdst__sort_entry *e, hdst__sort_entry *scratch, uint64_t count, size_t field)
{
    if (count < 2 || field == s->field_count) return;
    for (uint64_t i = 0; i < count; i++) {
        if (stopped_at(s, i)) return;
        e[i].key = hdst__sort_prefix(s->fields + field, s->field_count - field, row_of(s, &e[i]));
    }
    sort_range(s, e, scratch, count, (part){field, 0});
}

// The first field that is not whole in a number which begins with `field`.
static size_t field_behind(const sorting *s, size_t field)
{
    uint32_t left = 64;
    for (; field < s->field_count && s->fields[field].kind != HDST__TEXT && s->fields[field].bits <= left; field++) left -= s->fields[field].bits;
    return field;
}

static hdst__text_span text_of(const sorting *s, const hdst__sort_entry *e, size_t field)
{
    hdst__text_span span;
    memcpy(&span, row_of(s, e) + s->fields[field].offset, sizeof span);
    return span;
}

static uint64_t end_of_run(const hdst__sort_entry *e, uint64_t first, uint64_t count)
{
    uint64_t end = first + 1;
    while (end < count && e[end].key == e[first].key) end++;
    return end;
}

static void sort_by_number(sorting *s, hdst__sort_entry *e, hdst__sort_entry *scratch, uint64_t count)
{
    if (count <= SOME) {
        merge_all(s, e, scratch, count, false);
        return;
    }
    const hdst__sort_entry *sorted = hdst__radix_sort_entries(e, scratch, count, s->cancel);
    if (sorted && sorted != e) memcpy(e, sorted, count * sizeof *e);
}

// Of texts that end within the bytes that are equal the shorter ones come first; those as long are equal.
static void sort_ended(sorting *s, hdst__sort_entry *e, hdst__sort_entry *scratch, uint64_t count, size_t field)
{
    for (uint64_t i = 0; i < count; i++) {
        if (stopped_at(s, i)) return;
        const uint64_t length = text_of(s, &e[i], field).length;
        e[i].key = s->fields[field].descending ? UINT32_MAX - length : length;
    }
    sort_by_number(s, e, scratch, count);
    for (uint64_t first = 0, end; first < count; first = end) {
        end = end_of_run(e, first, count);
        sort_from(s, e + first, scratch + first, end - first, field + 1);
    }
}

// Entries whose texts agree in all bytes of this part and before it: those that end there, to one side, and the others by their next eight bytes.
static void sort_next(sorting *s, hdst__sort_entry *e, hdst__sort_entry *scratch, uint64_t count, part at)
{
    const uint64_t from = 8 * ((uint64_t)at.level + 1);
    const hdst__sort_field *field = &s->fields[at.field];
    uint64_t ended = 0, going = 0;
    for (uint64_t i = 0; i < count; i++) {
        if (stopped_at(s, i)) return;
        const hdst__text_span span = text_of(s, &e[i], at.field);
        if (span.length <= from) scratch[ended++] = e[i];
        else e[going++] = (hdst__sort_entry){hdst__sort_text_prefix(field, &span, from), e[i].index};
    }
    if (!field->descending) memmove(e + ended, e, going * sizeof *e);
    const uint64_t first_ended = field->descending ? going : 0, first_going = field->descending ? 0 : ended;
    memcpy(e + first_ended, scratch, ended * sizeof *e);
    sort_ended(s, e + first_ended, scratch + first_ended, ended, at.field);
    sort_range(s, e + first_going, scratch + first_going, going, (part){at.field, at.level + 1});
}

// Entries of one number.
static void sort_equal(sorting *s, hdst__sort_entry *e, hdst__sort_entry *scratch, uint64_t count, part at)
{
    if (count < 2 || stopped(s)) return;
    const bool is_text = s->fields[at.field].kind == HDST__TEXT;
    if (count <= HANDFUL || (is_text && at.level == MOST_LEVELS)) merge_all(s, e, scratch, count, true);
    else if (is_text) sort_next(s, e, scratch, count, at);
    else sort_from(s, e, scratch, count, field_behind(s, at.field));
}

// By their numbers, and where these are equal by what follows.
static void sort_range(sorting *s, hdst__sort_entry *e, hdst__sort_entry *scratch, uint64_t count, part at)
{
    if (stopped(s)) return;
    sort_by_number(s, e, scratch, count);
    for (uint64_t first = 0, end; first < count; first = end) {
        end = end_of_run(e, first, count);
        sort_equal(s, e + first, scratch + first, end - first, at);
    }
}

// --- Pieces and buckets ---

static uint64_t piece_start(const sorting *s, uint64_t piece) { return s->count / s->pieces * piece + s->count % s->pieces * piece / s->pieces; }

// The part of a piece from `first` on that is gone through before the next look at whether the run was cancelled. Empty: the piece is over, or it was.
static uint64_t end_of_block(sorting *s, uint64_t piece, uint64_t first)
{
    const uint64_t end = piece_start(s, piece + 1);
    if (stopped(s)) return first;
    return end - first < HDST__HOST_CANCEL_RECORDS ? end : first + HDST__HOST_CANCEL_RECORDS;
}

static void make_keys(void *user, uint64_t piece)
{
    sorting *s = user;
    for (uint64_t i = piece_start(s, piece), end; (end = end_of_block(s, piece, i)) > i;)
        for (; i < end; i++) s->entries[i] = (hdst__sort_entry){hdst__sort_prefix(s->fields, s->field_count, s->rows + i * s->size), i};
}

static uint32_t bucket_of(const sorting *s, uint64_t key)
{
    uint32_t low = 0, high = s->buckets - 1;
    while (low < high) {
        const uint32_t middle = (low + high) / 2;
        if (s->splitter[middle] <= key) low = middle + 1;
        else high = middle;
    }
    return low;
}

static void count_piece(void *user, uint64_t piece)
{
    sorting *s = user;
    for (uint64_t i = piece_start(s, piece), end; (end = end_of_block(s, piece, i)) > i;)
        for (; i < end; i++) s->place[piece][bucket_of(s, s->entries[i].key)]++;
}

static void deal_piece(void *user, uint64_t piece)
{
    sorting *s = user;
    for (uint64_t i = piece_start(s, piece), end; (end = end_of_block(s, piece, i)) > i;)
        for (; i < end; i++) s->scratch[s->place[piece][bucket_of(s, s->entries[i].key)]++] = s->entries[i];
}

static void sort_bucket(void *user, uint64_t bucket)
{
    sorting *s = user;
    const uint64_t first = s->begin[bucket];
    sort_range(s, s->scratch + first, s->entries + first, s->begin[bucket + 1] - first, (part){0, 0});
}

// Numbers that part a sample of the entries into as many parts as there are buckets.
static void choose_splitters(sorting *s)
{
    hdst__sort_entry sample[MOST_BUCKETS * SAMPLES_OF_A_BUCKET], other[MOST_BUCKETS * SAMPLES_OF_A_BUCKET];
    const uint64_t samples = (uint64_t)s->buckets * SAMPLES_OF_A_BUCKET;
    for (uint64_t i = 0; i < samples; i++) sample[i] = s->entries[s->count / samples * i];
    const hdst__sort_entry *sorted = hdst__radix_sort_entries(sample, other, samples, NULL);
    for (uint32_t b = 0; b + 1 < s->buckets; b++) s->splitter[b] = sorted[(b + 1) * SAMPLES_OF_A_BUCKET].key;
}

static void place_buckets(sorting *s)
{
    uint64_t sum = 0;
    for (uint32_t b = 0; b < s->buckets; b++) {
        s->begin[b] = sum;
        for (uint32_t p = 0; p < s->pieces; p++) {
            const uint64_t count = s->place[p][b];
            s->place[p][b] = sum;
            sum += count;
        }
    }
    s->begin[s->buckets] = sum;
}

static void run(hdst__thread_pool *threads, sorting *s, uint64_t count, void (*work)(void *user, uint64_t i))
{
    if (threads) hdst__thread_pool_run(threads, count, work, s);
    else for (uint64_t i = 0; i < count; i++) work(s, i);
}

hdst__sort_entry *hdst__sort_by_prefixes(hdst__thread_pool *threads, const hdst__sort_field *fields, size_t field_count, const char *rows, uint64_t size,
                                         uint64_t count, hdst__sort_entry *entries, hdst__sort_entry *scratch, const hdst__cancel *cancel)
{
    const uint64_t wanted = count / HDST__HOST_SORT_BUCKET_RECORDS;
    sorting s = {.fields = fields, .field_count = field_count, .rows = rows, .size = size, .count = count, .entries = entries, .scratch = scratch,
                 .cancel = cancel, .pieces = 1, .buckets = 1};
    if (wanted > 1) s.pieces = s.buckets = wanted < MOST_BUCKETS ? (uint32_t)wanted : MOST_BUCKETS;
    run(threads, &s, s.pieces, make_keys);
    if (stopped(&s)) return NULL;
    if (s.buckets == 1) {
        sort_range(&s, entries, scratch, count, (part){0, 0});
        return stopped(&s) ? NULL : entries;
    }
    choose_splitters(&s);
    run(threads, &s, s.pieces, count_piece);
    place_buckets(&s);
    run(threads, &s, s.pieces, deal_piece);
    run(threads, &s, s.buckets, sort_bucket);
    return stopped(&s) ? NULL : scratch;
}
