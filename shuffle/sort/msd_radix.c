// SPDX-License-Identifier: Apache-2.0
// Small records in the order of their numbers, on the host (shuffle/sort/msd_radix.h).
#include "shuffle/sort/msd_radix.h"

#include "base/costs_host.h"

#include <stdatomic.h>
#include <string.h>

enum {
    MOST_FIELDS = 8, MOST_BUCKETS = 1 << 10, SLOT_BITS = 14, SLOTS = 1 << SLOT_BITS, SAMPLES = 4 * SLOTS,
    DIGIT_BITS = 8, LONG_DIGIT_BITS = 12, MOST_DIGITS = 1 << LONG_DIGIT_BITS,
    FEW = 24,                       // records are sorted by insertion
    MANY = 1 << 12,                 // are worth counters of long digits
};

typedef struct piece {              // of a run
    const char *rows;
    uint64_t count;
    uint64_t place[MOST_BUCKETS];   // of its records in a bucket: how many, then where the next one goes
} piece;

typedef struct sorting {
    const hdst__msd_sort *sort;
    hdst__sort_class class[MOST_FIELDS];
    char *to;
    piece *pieces;
    uint64_t piece_count;
    uint64_t least;                 // of the sampled keys, but for the bits in which they differ
    uint32_t buckets, shift;        // the highest digit above `least` is a key's slot; some slots in a row are a bucket
    uint16_t bucket[SLOTS];
    uint64_t begin[MOST_BUCKETS + 1];
    bool is_sorted[MOST_BUCKETS];   // its records have one key
    uint64_t largest;               // records of a bucket that are to be sorted
    char *scratch;                  // so many for each worker
    atomic_uint next;               // bucket
    atomic_bool stops;
} sorting;

static bool stopped(sorting *s)
{
    if (!atomic_load_explicit(&s->stops, memory_order_relaxed) && hdst__cancel_asked(s->sort->cancel)) atomic_store(&s->stops, true);
    return atomic_load_explicit(&s->stops, memory_order_relaxed);
}

// Records from `first` on until the next look at whether the run was cancelled; none: it was, or these are all.
static uint64_t end_of_block(sorting *s, uint64_t first, uint64_t count)
{
    if (stopped(s)) return first;
    return count - first < HDST__HOST_CANCEL_RECORDS ? count : first + HDST__HOST_CANCEL_RECORDS;
}

#define INLINE static inline __attribute__((always_inline))

INLINE uint64_t key_of(const sorting *s, const char *row)
{
    const hdst__sort_field *field = s->sort->fields;
    uint64_t key = hdst__sort_number(field, s->class[0], row);
    for (size_t i = 1; i < s->sort->field_count; i++) key = key << field[i].bits | hdst__sort_number(&field[i], s->class[i], row);
    return key;
}

// Keys apart from nearly all others come to the first slot or the last one.
INLINE uint32_t slot_of(const sorting *s, uint64_t key)
{
    const uint64_t slot = key < s->least ? 0 : (key - s->least) >> s->shift;
    return slot < SLOTS ? (uint32_t)slot : SLOTS - 1;
}

INLINE uint32_t bucket_of(const sorting *s, uint64_t key) { return s->bucket[slot_of(s, key)]; }

// --- Loops over records, of a size that the compiler knows ---

INLINE void look_at(sorting *s, const char *rows, uint64_t count, uint64_t *any, uint64_t *all, uint64_t size)
{
    uint64_t some = *any, each = *all;
    for (uint64_t i = 0; i < count; i++) {
        const uint64_t key = key_of(s, rows + i * size);
        some |= key;
        each &= key;
    }
    *any = some;
    *all = each;
}

INLINE void count_digit(sorting *s, const char *rows, uint64_t count, uint32_t shift, uint64_t mask, uint64_t *counts, uint64_t size)
{
    for (uint64_t i = 0; i < count; i++) counts[key_of(s, rows + i * size) >> shift & mask]++;
}

INLINE void count_buckets(sorting *s, const char *rows, uint64_t count, uint64_t *counts, uint64_t size)
{
    for (uint64_t i = 0; i < count; i++) counts[bucket_of(s, key_of(s, rows + i * size))]++;
}

INLINE void deal_to_buckets(sorting *s, const char *rows, uint64_t count, uint64_t *next, uint64_t size)
{
    for (uint64_t i = 0; i < count; i++, rows += size) memcpy(s->to + next[bucket_of(s, key_of(s, rows))]++ * size, rows, size);
}

INLINE void deal(sorting *s, const char *rows, uint64_t count, uint32_t shift, uint64_t mask, uint64_t *next, char *to, uint64_t size)
{
    for (uint64_t i = 0; i < count; i++, rows += size) memcpy(to + next[key_of(s, rows) >> shift & mask]++ * size, rows, size);
}

INLINE void insert(sorting *s, char *rows, uint64_t count, uint64_t size)
{
    for (uint64_t i = 1; i < count; i++) {
        char moved[64];
        uint64_t at = i;
        memcpy(moved, rows + i * size, size);
        for (const uint64_t key = key_of(s, moved); at > 0 && key_of(s, rows + (at - 1) * size) > key; at--)
            memcpy(rows + at * size, rows + (at - 1) * size, size);
        memcpy(rows + at * size, moved, size);
    }
}

typedef struct loops {
    uint64_t size;
    void (*look_at)(sorting *s, const char *rows, uint64_t count, uint64_t *any, uint64_t *all);
    void (*count_buckets)(sorting *s, const char *rows, uint64_t count, uint64_t *counts);
    void (*deal_to_buckets)(sorting *s, const char *rows, uint64_t count, uint64_t *next);
    void (*count)(sorting *s, const char *rows, uint64_t count, uint32_t shift, uint64_t mask, uint64_t *counts);
    void (*deal)(sorting *s, const char *rows, uint64_t count, uint32_t shift, uint64_t mask, uint64_t *next, char *to);
    void (*insert)(sorting *s, char *rows, uint64_t count);
} loops;

#define SIZES(X) X(1) X(2) X(4) X(8) X(12) X(16) X(20) X(24) X(32)
#define LOOPS(N) \
    static void look_at_##N(sorting *s, const char *rows, uint64_t count, uint64_t *any, uint64_t *all) { look_at(s, rows, count, any, all, N); } \
    static void count_buckets_##N(sorting *s, const char *rows, uint64_t count, uint64_t *counts) { count_buckets(s, rows, count, counts, N); } \
    static void deal_to_buckets_##N(sorting *s, const char *rows, uint64_t count, uint64_t *next) { deal_to_buckets(s, rows, count, next, N); } \
    static void count_##N(sorting *s, const char *rows, uint64_t count, uint32_t shift, uint64_t mask, uint64_t *counts) \
    { count_digit(s, rows, count, shift, mask, counts, N); } \
    static void deal_##N(sorting *s, const char *rows, uint64_t count, uint32_t shift, uint64_t mask, uint64_t *next, char *to) \
    { deal(s, rows, count, shift, mask, next, to, N); } \
    static void insert_##N(sorting *s, char *rows, uint64_t count) { insert(s, rows, count, N); }
SIZES(LOOPS)

#define OF_SIZE(N) {N, look_at_##N, count_buckets_##N, deal_to_buckets_##N, count_##N, deal_##N, insert_##N},
static const loops of_sizes[] = {SIZES(OF_SIZE)};

static const loops *loops_of(uint64_t size)
{
    for (size_t i = 0; i < sizeof of_sizes / sizeof *of_sizes; i++)
        if (of_sizes[i].size == size) return &of_sizes[i];
    return NULL;
}

// --- A bucket ---

static void begin_digits(uint64_t *counts, uint64_t digits)
{
    uint64_t sum = 0;
    for (uint64_t d = 0; d < digits; d++) {
        const uint64_t count = counts[d];
        counts[d] = sum;
        sum += count;
    }
}

// One digit of all its records, from one place to another.
static void move_digit(sorting *s, const loops *l, const char *from, uint64_t count, uint32_t shift, uint32_t bits, char *to)
{
    uint64_t counts[MOST_DIGITS];
    const uint64_t digits = (uint64_t)1 << bits;
    memset(counts, 0, digits * sizeof *counts);
    for (uint64_t i = 0, end; (end = end_of_block(s, i, count)) > i; i = end) l->count(s, from + i * l->size, end - i, shift, digits - 1, counts);
    begin_digits(counts, digits);
    for (uint64_t i = 0, end; (end = end_of_block(s, i, count)) > i; i = end) l->deal(s, from + i * l->size, end - i, shift, digits - 1, counts, to);
}

static uint32_t next_digit(uint64_t differ, uint32_t from)
{
    return from < 64 && differ >> from ? from + (uint32_t)__builtin_ctzll(differ >> from) : 64;
}

static void sort_bucket(sorting *s, const loops *l, char *rows, uint64_t count, char *scratch)
{
    uint64_t any = 0, all = ~(uint64_t)0;
    if (count < 2) return;
    if (count <= FEW) {
        l->insert(s, rows, count);
        return;
    }
    for (uint64_t i = 0, end; (end = end_of_block(s, i, count)) > i; i = end) l->look_at(s, rows + i * l->size, end - i, &any, &all);
    const uint64_t differ = any & ~all;
    const uint32_t bits = count < MANY ? DIGIT_BITS : LONG_DIGIT_BITS;
    char *from = rows, *to = scratch;
    for (uint32_t shift = next_digit(differ, 0); shift < 64 && !stopped(s); shift = next_digit(differ, shift + bits)) {
        move_digit(s, l, from, count, shift, bits, to);
        char *const sorted = to;
        to = from, from = sorted;
    }
    if (from != rows) memcpy(rows, from, count * l->size);
}

static void sort_buckets(void *user, uint64_t worker)
{
    sorting *s = user;
    const loops *l = loops_of(s->sort->size);
    char *scratch = s->scratch + worker * s->largest * l->size;
    for (uint32_t b; (b = atomic_fetch_add(&s->next, 1)) < s->buckets && !stopped(s);)
        if (!s->is_sorted[b]) sort_bucket(s, l, s->to + s->begin[b] * l->size, s->begin[b + 1] - s->begin[b], scratch);
}

// --- Pieces ---

static void count_piece(void *user, uint64_t i)
{
    sorting *s = user;
    piece *p = &s->pieces[i];
    const loops *l = loops_of(s->sort->size);
    memset(p->place, 0, s->buckets * sizeof *p->place);
    for (uint64_t at = 0, end; (end = end_of_block(s, at, p->count)) > at; at = end)
        l->count_buckets(s, p->rows + at * l->size, end - at, p->place);
}

static void deal_piece(void *user, uint64_t i)
{
    sorting *s = user;
    piece *p = &s->pieces[i];
    const loops *l = loops_of(s->sort->size);
    for (uint64_t at = 0, end; (end = end_of_block(s, at, p->count)) > at; at = end)
        l->deal_to_buckets(s, p->rows + at * l->size, end - at, p->place);
}

static uint64_t piece_records(const hdst__msd_sort *sort)
{
    const uint64_t threads = sort->threads ? hdst__thread_pool_size(sort->threads) : 1, each = sort->count / (threads * 4) + 1;
    return each < HDST__HOST_SORT_BUCKET_RECORDS ? HDST__HOST_SORT_BUCKET_RECORDS : each;
}

// No piece is of two runs.
static bool cut_pieces(sorting *s)
{
    const hdst__msd_sort *sort = s->sort;
    const uint64_t each = piece_records(sort);
    uint64_t count = 0;
    for (uint64_t r = 0; r < sort->run_count; r++) count += (sort->runs[r].count + each - 1) / each;
    s->pieces = hdst__alloc(sort->allocator, count * sizeof *s->pieces);
    if (!s->pieces) return false;
    for (uint64_t r = 0; r < sort->run_count; r++) {
        for (uint64_t at = 0; at < sort->runs[r].count; at += each) {
            piece *p = &s->pieces[s->piece_count++];
            p->rows = sort->runs[r].rows + at * sort->size;
            p->count = sort->runs[r].count - at < each ? sort->runs[r].count - at : each;
        }
    }
    return true;
}

static void run(sorting *s, uint64_t count, void (*work)(void *user, uint64_t i))
{
    if (s->sort->threads) hdst__thread_pool_run(s->sort->threads, count, work, s);
    else for (uint64_t i = 0; i < count; i++) work(s, i);
}

static uint64_t sample_distance(const sorting *s) { return s->sort->count / SAMPLES + 1; }

// The highest bits in which sampled keys differ.
static void choose_digit(sorting *s)
{
    uint64_t any = 0, all = ~(uint64_t)0;
    const loops *l = loops_of(s->sort->size);
    for (uint64_t p = 0; p < s->piece_count; p++)
        for (uint64_t at = 0; at < s->pieces[p].count; at += sample_distance(s))
            l->look_at(s, s->pieces[p].rows + at * l->size, 1, &any, &all);
    const uint64_t differ = any & ~all;
    const uint32_t bits = differ ? 64 - (uint32_t)__builtin_clzll(differ) : 0;
    s->shift = bits > SLOT_BITS ? bits - SLOT_BITS : 0;
    s->least = bits < 64 ? all >> bits << bits : 0;
}

static uint64_t sample_slots(sorting *s, uint32_t samples[SLOTS])
{
    uint64_t count = 0;
    const loops *l = loops_of(s->sort->size);
    memset(samples, 0, SLOTS * sizeof *samples);
    for (uint64_t p = 0; p < s->piece_count; p++) {
        for (uint64_t at = 0; at < s->pieces[p].count; at += sample_distance(s), count++) {
            uint64_t key = 0, all = ~(uint64_t)0;
            l->look_at(s, s->pieces[p].rows + at * l->size, 1, &key, &all);
            samples[slot_of(s, key)]++;
        }
    }
    return count;
}

// Where a few keys far away make slots so wide that most samples are in one, the digits below are slots within that one.
static uint64_t narrow_slots(sorting *s, uint32_t samples[SLOTS])
{
    uint64_t count = sample_slots(s, samples);
    for (uint32_t i = 0; i < SLOTS && s->shift; i++) {
        if (samples[i] <= count / 2) continue;
        s->least += (uint64_t)i << s->shift;
        s->shift = s->shift > SLOT_BITS ? s->shift - SLOT_BITS : 0;
        count = sample_slots(s, samples);
        i = UINT32_MAX;             // from the first one again
    }
    if (s->shift || !s->least) return count;
    s->least--;                     // no sampled key is in the first slot, which those below may come to
    return sample_slots(s, samples);
}

// A slot of a bucket's own is a single key then, but for the last one, and the first one where keys may be below it.
static void note_sorted(sorting *s)
{
    for (uint32_t i = s->least ? 1 : 0; i + 1 < SLOTS && !s->shift; i++)
        s->is_sorted[s->bucket[i]] = (!i || s->bucket[i - 1] != s->bucket[i]) && s->bucket[i] != s->bucket[i + 1];
}

// Slots in a row that have as many of the samples as a bucket of which a cache holds the records; one that has more is alone.
static bool choose_buckets(sorting *s)
{
    const uint64_t bytes = s->sort->count * s->sort->size, about = bytes / (HDST__HOST_SORTED_PARTITION_BYTES / 2) + 8,
                   wanted = about < MOST_BUCKETS / 2 ? about : MOST_BUCKETS / 2;
    uint32_t *samples = hdst__alloc(s->sort->allocator, SLOTS * sizeof *samples);
    if (!samples) return false;
    const uint64_t most = narrow_slots(s, samples) / wanted;
    uint64_t here = 0;
    bool alone = false;
    for (uint32_t i = 0; i < SLOTS; i++) {
        const bool begins = alone || samples[i] > most || (here && here + samples[i] > most);
        if (i && begins && s->buckets + 1 < MOST_BUCKETS) {
            s->buckets++;
            here = 0;
        }
        s->bucket[i] = (uint16_t)s->buckets;
        here += samples[i];
        alone = samples[i] > most;
    }
    s->buckets++;
    hdst__free(s->sort->allocator, samples);
    note_sorted(s);
    return true;
}

// Whether they are buckets that threads share: not nearly all of it in one.
static bool place_buckets(sorting *s)
{
    uint64_t sum = 0;
    for (uint32_t b = 0; b < s->buckets; b++) {
        s->begin[b] = sum;
        for (uint64_t p = 0; p < s->piece_count; p++) {
            const uint64_t count = s->pieces[p].place[b];
            s->pieces[p].place[b] = sum;
            sum += count;
        }
        if (!s->is_sorted[b] && sum - s->begin[b] > s->largest) s->largest = sum - s->begin[b];
    }
    s->begin[s->buckets] = sum;
    return s->largest <= s->sort->count / 2 || s->largest * s->sort->size <= HDST__HOST_SORTED_PARTITION_BYTES;
}

static bool sort_all_buckets(sorting *s)
{
    const uint64_t workers = s->sort->threads ? hdst__thread_pool_size(s->sort->threads) : 1, used = workers < s->buckets ? workers : s->buckets;
    if (!s->largest) return true;
    s->scratch = hdst__alloc(s->sort->allocator, used * s->largest * s->sort->size);
    if (!s->scratch) return false;
    run(s, used, sort_buckets);
    hdst__free(s->sort->allocator, s->scratch);
    return true;
}

static bool sort_pieces(sorting *s)
{
    choose_digit(s);
    if (!choose_buckets(s)) return false;
    run(s, s->piece_count, count_piece);
    if (stopped(s)) return true;
    if (!place_buckets(s)) return false;
    run(s, s->piece_count, deal_piece);
    return stopped(s) || sort_all_buckets(s);
}

// --- The whole ---

bool hdst__msd_radix_suits(const hdst__sort_field *fields, size_t count, uint64_t size)
{
    uint64_t bits = 0;
    if (count > MOST_FIELDS || !loops_of(size) || hdst__sort_has_texts(fields, count)) return false;
    for (size_t i = 0; i < count; i++) bits += fields[i].bits;
    return bits <= 64;
}

hdst_status hdst__msd_radix_sort(const hdst__msd_sort *sort, char *to, bool *done, hdst_error *error)
{
    sorting *s = hdst__alloc_zero(sort->allocator, sizeof *s);
    *done = false;
    if (!s) return HDST_OK;
    s->sort = sort;
    s->to = to;
    for (size_t i = 0; i < sort->field_count; i++) s->class[i] = hdst__sort_class_of(&sort->fields[i]);
    *done = cut_pieces(s) && sort_pieces(s);
    const bool stops = stopped(s);
    hdst__free(sort->allocator, s->pieces);
    hdst__free(sort->allocator, s);
    return stops ? hdst__cancel_error(0, 0, error) : HDST_OK;
}
