// SPDX-License-Identifier: Apache-2.0
// Small records in the order of their numbers, on the host (shuffle/sort/msd_radix.h).
#include "shuffle/sort/msd_radix_private.h"

#include "base/costs_host.h"

#include <string.h>

enum {
    SAMPLES = 4 * HDST__MSD_SLOTS, DIGIT_BITS = 8, LONG_DIGIT_BITS = 12, MOST_DIGITS = 1 << LONG_DIGIT_BITS, DIGITS_OF_A_KEY = 64 / DIGIT_BITS,
    FEW = 24,                       // records are sorted by insertion
    MANY = 1 << 12,                 // are worth counters of long digits
};

typedef hdst__msd_sorting sorting;
typedef hdst__msd_piece piece;
typedef hdst__msd_loops loops;

typedef hdst__msd_digit digit;

bool hdst__msd_stopped(sorting *s)
{
    if (!atomic_load_explicit(&s->stops, memory_order_relaxed) && hdst__cancel_asked(s->sort->cancel)) atomic_store(&s->stops, true);
    return atomic_load_explicit(&s->stops, memory_order_relaxed);
}

uint64_t hdst__msd_end_of_block(sorting *s, uint64_t first, uint64_t count)
{
    if (hdst__msd_stopped(s)) return first;
    return count - first < HDST__HOST_CANCEL_RECORDS ? count : first + HDST__HOST_CANCEL_RECORDS;
}

#define INLINE HDST__MSD_INLINE

// --- Loops over records, of a size that the compiler knows ---

INLINE void look_at(sorting *s, const char *rows, uint64_t count, uint64_t *any, uint64_t *all, uint64_t size)
{
    uint64_t some = *any, each = *all;
    for (uint64_t i = 0; i < count; i++) {
        const uint64_t key = hdst__msd_key_of(s, rows + i * size);
        some |= key;
        each &= key;
    }
    *any = some;
    *all = each;
}

INLINE void count_digit(sorting *s, const char *rows, uint64_t count, digit d, uint64_t *counts, uint64_t size)
{
    for (uint64_t i = 0; i < count; i++) counts[hdst__msd_digit_of(s, rows + i * size, d)]++;
}

INLINE void count_buckets(sorting *s, const char *rows, uint64_t count, uint64_t *counts, uint64_t size)
{
    for (uint64_t i = 0; i < count; i++) counts[hdst__msd_bucket_of(s, hdst__msd_key_of(s, rows + i * size))]++;
}

INLINE void deal_to_buckets(sorting *s, const char *rows, uint64_t count, uint64_t *next, uint64_t size)
{
    for (uint64_t i = 0; i < count; i++, rows += size) memcpy(s->to + next[hdst__msd_bucket_of(s, hdst__msd_key_of(s, rows))]++ * size, rows, size);
}

INLINE void deal_to_chunks(sorting *s, const char *rows, uint64_t count, hdst__msd_chunks *chunks, uint64_t size)
{
    for (uint64_t i = 0; i < count; i++, rows += size) {
        const uint32_t b = hdst__msd_bucket_of(s, hdst__msd_key_of(s, rows));
        hdst__msd_open *open = &chunks->open[b];
        if (open->at == open->end) chunks->next(chunks, b);
        memcpy(open->at, rows, size);
        open->at += size;
    }
}

INLINE void deal(sorting *s, const char *rows, uint64_t count, digit d, uint64_t *next, char *to, uint64_t size)
{
    for (uint64_t i = 0; i < count; i++, rows += size) memcpy(to + next[hdst__msd_digit_of(s, rows, d)]++ * size, rows, size);
}

INLINE void copy(const char *rows, uint64_t count, char *to, uint64_t size)
{
    if (rows != to) memcpy(to, rows, count * size);
}

INLINE void insert(sorting *s, char *rows, uint64_t count, uint64_t size)
{
    for (uint64_t i = 1; i < count; i++) {
        char moved[64];
        uint64_t at = i;
        memcpy(moved, rows + i * size, size);
        for (const uint64_t key = hdst__msd_key_of(s, moved); at > 0 && hdst__msd_key_of(s, rows + (at - 1) * size) > key; at--)
            memcpy(rows + at * size, rows + (at - 1) * size, size);
        memcpy(rows + at * size, moved, size);
    }
}

#define SIZES(X) X(1) X(2) X(4) X(8) X(12) X(16) X(20) X(24) X(32)
#define LOOPS(N) \
    static void look_at_##N(sorting *s, const char *rows, uint64_t count, uint64_t *any, uint64_t *all) { look_at(s, rows, count, any, all, N); } \
    static void count_buckets_##N(sorting *s, const char *rows, uint64_t count, uint64_t *counts) { count_buckets(s, rows, count, counts, N); } \
    static void deal_to_buckets_##N(sorting *s, const char *rows, uint64_t count, uint64_t *next) { deal_to_buckets(s, rows, count, next, N); } \
    static void deal_to_chunks_##N(sorting *s, const char *rows, uint64_t count, hdst__msd_chunks *chunks) \
    { deal_to_chunks(s, rows, count, chunks, N); } \
    static void count_##N(sorting *s, const char *rows, uint64_t count, const digit *d, uint64_t *counts) { count_digit(s, rows, count, *d, counts, N); } \
    static void deal_##N(sorting *s, const char *rows, uint64_t count, const digit *d, uint64_t *next, char *to) { deal(s, rows, count, *d, next, to, N); } \
    static void copy_##N(sorting *s, const char *rows, uint64_t count, char *to) { (void)s, copy(rows, count, to, N); } \
    static void insert_##N(sorting *s, char *rows, uint64_t count) { insert(s, rows, count, N); }
SIZES(LOOPS)

#define OF_SIZE(N) {N, look_at_##N, count_buckets_##N, deal_to_buckets_##N, deal_to_chunks_##N, count_##N, deal_##N, copy_##N, insert_##N},
static const loops of_sizes[] = {SIZES(OF_SIZE)};

const loops *hdst__msd_loops_of(uint64_t size)
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

static void move_digit(sorting *s, const loops *l, const hdst__row_run *runs, uint64_t run_count, const digit *d, char *to)
{
    uint64_t counts[MOST_DIGITS];
    const uint64_t digits = (uint64_t)1 << d->bits;
    memset(counts, 0, digits * sizeof *counts);
    for (const hdst__row_run *r = runs; r < runs + run_count; r++)
        for (uint64_t i = 0, end; (end = hdst__msd_end_of_block(s, i, r->count)) > i; i = end) l->count(s, r->rows + i * l->size, end - i, d, counts);
    begin_digits(counts, digits);
    for (const hdst__row_run *r = runs; r < runs + run_count; r++)
        for (uint64_t i = 0, end; (end = hdst__msd_end_of_block(s, i, r->count)) > i; i = end) l->deal(s, r->rows + i * l->size, end - i, d, counts, to);
}

static uint32_t next_digit(uint64_t differ, uint32_t from)
{
    return from < 64 && differ >> from ? from + (uint32_t)__builtin_ctzll(differ >> from) : 64;
}

// The digits that keys of a bucket are in the order of, from the lowest up. Where they are few in a row one digit tells them apart, and nobody looks at them.
static uint32_t find_digits(sorting *s, const loops *l, uint32_t bucket, const hdst__row_run *runs, uint64_t run_count, uint64_t count,
                            digit digits[DIGITS_OF_A_KEY])
{
    const uint32_t bits = count < MANY ? DIGIT_BITS : LONG_DIGIT_BITS;
    uint64_t any = 0, all = ~(uint64_t)0;
    uint32_t n = 0;
    if (s->range_bits[bucket] <= bits) {
        digits[0] = (digit){s->base[bucket], 0, s->range_bits[bucket]};
        return digits->bits ? 1 : 0;
    }
    for (const hdst__row_run *r = runs; r < runs + run_count; r++)
        for (uint64_t i = 0, end; (end = hdst__msd_end_of_block(s, i, r->count)) > i; i = end) l->look_at(s, r->rows + i * l->size, end - i, &any, &all);
    for (uint32_t shift = next_digit(any & ~all, 0); shift < 64; shift = next_digit(any & ~all, shift + bits)) digits[n++] = (digit){0, shift, bits};
    return n;
}

static void join_runs(sorting *s, const loops *l, const hdst__row_run *runs, uint64_t run_count, char *to)
{
    for (const hdst__row_run *r = runs; r < runs + run_count; to += r->count * s->sort->size, r++) l->copy(s, r->rows, r->count, to);
}

void hdst__msd_sort_bucket(sorting *s, uint32_t bucket, const hdst__row_run *runs, uint64_t run_count, uint64_t count, char *to, char *scratch)
{
    const loops *plain = hdst__msd_loops_of(s->sort->size), *l = s->packing ? hdst__msd_packed_loops_of(s->sort->size) : plain;
    const bool in_place = run_count == 1 && runs->rows == to;
    digit digits[DIGITS_OF_A_KEY];
    if (count <= FEW) {
        join_runs(s, l, runs, run_count, to);
        plain->insert(s, to, count);
        return;
    }
    const uint32_t n = find_digits(s, l, bucket, runs, run_count, count, digits);
    char *place = in_place || n % 2 == 0 ? scratch : to;    // the last digit had better come to `to`
    hdst__row_run moved = {NULL, count};
    for (uint32_t i = 0; i < n && !hdst__msd_stopped(s); i++) {
        move_digit(s, l, runs, run_count, &digits[i], place);
        moved.rows = place;
        runs = &moved;
        run_count = 1;
        l = plain;
        place = place == to ? scratch : to;
    }
    if (!hdst__msd_stopped(s)) join_runs(s, l, runs, run_count, to);
}

static void sort_buckets(void *user, uint64_t worker)
{
    sorting *s = user;
    const uint64_t size = s->sort->size;
    char *scratch = s->scratch + worker * s->largest * size;
    for (uint32_t b; (b = atomic_fetch_add(&s->next, 1)) < s->buckets && !hdst__msd_stopped(s);) {
        char *const rows = s->to + s->begin[b] * size;
        const hdst__row_run all = {rows, s->begin[b + 1] - s->begin[b]};
        if (s->range_bits[b]) hdst__msd_sort_bucket(s, b, &all, 1, all.count, rows, scratch);
    }
}

// --- Pieces ---

// Records of a piece from `at` on that lie in one run and before the next look at whether the run was cancelled; none: it was, or these were all.
static hdst__row_run next_rows(sorting *s, const piece *p, const hdst__row_run **run, uint64_t *first, uint64_t *at)
{
    while (*at < p->count && *first == (*run)->count) {
        ++*run;
        *first = 0;
    }
    if (*at == p->count) return (hdst__row_run){NULL, 0};
    const uint64_t here = (*run)->count - *first, left = p->count - *at, end = *first + (here < left ? here : left),
                   count = hdst__msd_end_of_block(s, *first, end) - *first;
    const hdst__row_run rows = {(*run)->rows + *first * s->sort->size, count};
    *first += count;
    *at += count;
    return rows;
}

static void count_piece(void *user, uint64_t i)
{
    sorting *s = user;
    piece *p = &s->pieces[i];
    const loops *l = hdst__msd_loops_of(s->sort->size);
    const hdst__row_run *run = p->run;
    uint64_t first = p->first, at = 0;
    memset(p->place, 0, s->buckets * sizeof *p->place);
    for (hdst__row_run rows; (rows = next_rows(s, p, &run, &first, &at)).count;) l->count_buckets(s, rows.rows, rows.count, p->place);
}

static void deal_piece(void *user, uint64_t i)
{
    sorting *s = user;
    piece *p = &s->pieces[i];
    const loops *l = hdst__msd_loops_of(s->sort->size);
    const hdst__row_run *run = p->run;
    uint64_t first = p->first, at = 0;
    for (hdst__row_run rows; (rows = next_rows(s, p, &run, &first, &at)).count;) l->deal_to_buckets(s, rows.rows, rows.count, p->place);
}

static uint64_t piece_records(const hdst__msd_sort *sort)
{
    const uint64_t threads = sort->threads ? hdst__thread_pool_size(sort->threads) : 1, each = sort->count / (threads * 4) + 1;
    return each < HDST__HOST_SORT_BUCKET_RECORDS ? HDST__HOST_SORT_BUCKET_RECORDS : each;
}

static bool cut_pieces(sorting *s)
{
    const hdst__msd_sort *sort = s->sort;
    const uint64_t each = piece_records(sort);
    s->piece_count = (sort->count + each - 1) / each;
    s->pieces = hdst__alloc(sort->allocator, s->piece_count * sizeof *s->pieces + 1);
    if (!s->pieces) return false;
    const hdst__row_run *run = sort->runs;
    for (uint64_t i = 0, first = 0; i < s->piece_count; i++) {
        piece *p = &s->pieces[i];
        for (; first >= run->count; run++) first -= run->count;
        p->run = run;
        p->first = first;
        p->count = sort->count - i * each < each ? sort->count - i * each : each;
        first += each;
    }
    return true;
}

void hdst__msd_run(sorting *s, uint64_t count, void (*work)(void *user, uint64_t i))
{
    if (s->sort->threads) hdst__thread_pool_run(s->sort->threads, count, work, s);
    else for (uint64_t i = 0; i < count; i++) work(s, i);
}

static uint64_t sample_distance(const sorting *s) { return s->sort->count / SAMPLES + 1; }

// The highest bits in which sampled keys differ.
static void choose_digit(sorting *s)
{
    uint64_t any = 0, all = ~(uint64_t)0;
    const loops *l = hdst__msd_loops_of(s->sort->size);
    for (const hdst__row_run *r = s->sort->runs; r < s->sort->runs + s->sort->run_count; r++)
        for (uint64_t at = 0; at < r->count; at += sample_distance(s)) l->look_at(s, r->rows + at * l->size, 1, &any, &all);
    const uint64_t differ = any & ~all;
    const uint32_t bits = differ ? 64 - (uint32_t)__builtin_clzll(differ) : 0;
    s->shift = bits > HDST__MSD_SLOT_BITS ? bits - HDST__MSD_SLOT_BITS : 0;
    s->least = bits < 64 ? all >> bits << bits : 0;
}

static uint64_t sample_slots(sorting *s, uint32_t samples[HDST__MSD_SLOTS])
{
    uint64_t count = 0;
    const loops *l = hdst__msd_loops_of(s->sort->size);
    memset(samples, 0, HDST__MSD_SLOTS * sizeof *samples);
    for (const hdst__row_run *r = s->sort->runs; r < s->sort->runs + s->sort->run_count; r++) {
        for (uint64_t at = 0; at < r->count; at += sample_distance(s), count++) {
            uint64_t key = 0, all = ~(uint64_t)0;
            l->look_at(s, r->rows + at * l->size, 1, &key, &all);
            samples[hdst__msd_slot_of(s, key)]++;
        }
    }
    return count;
}

// Where a few keys far away make slots so wide that most samples are in one, the digits below are slots within that one.
static uint64_t narrow_slots(sorting *s, uint32_t samples[HDST__MSD_SLOTS])
{
    uint64_t count = sample_slots(s, samples);
    for (uint32_t i = 0; i < HDST__MSD_SLOTS && s->shift; i++) {
        if (samples[i] <= count / 2) continue;
        s->least += (uint64_t)i << s->shift;
        s->shift = s->shift > HDST__MSD_SLOT_BITS ? s->shift - HDST__MSD_SLOT_BITS : 0;
        count = sample_slots(s, samples);
        i = UINT32_MAX;             // from the first one again
    }
    if (s->shift || !s->least) return count;
    s->least--;                     // no sampled key is in the first slot, which those below may come to
    return sample_slots(s, samples);
}

// What keys a bucket may have: those of its slots, but in the last one, and in the first one where keys may be below it, there may be any.
static void note_ranges(sorting *s)
{
    for (uint32_t i = 0, end; i < HDST__MSD_SLOTS; i = end) {
        const uint32_t b = s->bucket[i];
        for (end = i + 1; end < HDST__MSD_SLOTS && s->bucket[end] == b;) end++;
        const uint32_t bits = s->shift + (end - 1 > i ? 32 - (uint32_t)__builtin_clz(end - 1 - i) : 0);
        s->base[b] = s->least + ((uint64_t)i << s->shift);
        s->range_bits[b] = (i == 0 && s->least) || end == HDST__MSD_SLOTS ? 64 : (uint8_t)bits;
    }
}

// Slots in a row that have as many of the samples as a bucket of which a cache holds the records; one that has more is alone.
static bool choose_buckets(sorting *s)
{
    const uint64_t bytes = s->expected * s->sort->size, about = bytes / (HDST__HOST_SORTED_PARTITION_BYTES / 2) + 8,
                   wanted = about < HDST__MSD_BUCKETS / 2 ? about : HDST__MSD_BUCKETS / 2;
    uint32_t *samples = hdst__alloc(s->sort->allocator, HDST__MSD_SLOTS * sizeof *samples);
    if (!samples) return false;
    const uint64_t most = narrow_slots(s, samples) / wanted;
    uint64_t here = 0;
    bool alone = false;
    for (uint32_t i = 0; i < HDST__MSD_SLOTS; i++) {
        const bool begins = alone || samples[i] > most || (here && here + samples[i] > most);
        if (i && begins && s->buckets + 1 < HDST__MSD_BUCKETS) {
            s->buckets++;
            here = 0;
        }
        s->bucket[i] = (uint16_t)s->buckets;
        here += samples[i];
        alone = samples[i] > most;
    }
    s->buckets++;
    hdst__free(s->sort->allocator, samples);
    note_ranges(s);
    return true;
}

bool hdst__msd_shares(const sorting *s, uint64_t count)
{
    return s->largest <= count / 2 || s->largest * s->sort->size <= HDST__HOST_SORTED_PARTITION_BYTES;
}

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
        if (s->range_bits[b] && sum - s->begin[b] > s->largest) s->largest = sum - s->begin[b];
    }
    s->begin[s->buckets] = sum;
    return hdst__msd_shares(s, s->sort->count);
}

uint64_t hdst__msd_workers(const sorting *s) { return s->sort->threads ? hdst__thread_pool_size(s->sort->threads) : 1; }

static bool sort_all_buckets(sorting *s)
{
    const uint64_t workers = hdst__msd_workers(s), used = workers < s->buckets ? workers : s->buckets;
    if (!s->largest) return true;
    s->scratch = hdst__alloc(s->sort->allocator, used * s->largest * s->sort->size);
    if (!s->scratch) return false;
    hdst__msd_run(s, used, sort_buckets);
    hdst__free(s->sort->allocator, s->scratch);
    return true;
}

static bool sort_pieces(sorting *s)
{
    hdst__msd_run(s, s->piece_count, count_piece);
    if (hdst__msd_stopped(s)) return true;
    if (!place_buckets(s)) return false;
    hdst__msd_run(s, s->piece_count, deal_piece);
    return hdst__msd_stopped(s) || sort_all_buckets(s);
}

// --- The whole ---

bool hdst__msd_radix_suits(const hdst__sort_field *fields, size_t count, uint64_t size)
{
    uint64_t bits = 0;
    if (count > HDST__MSD_FIELDS || !hdst__msd_loops_of(size) || hdst__sort_has_texts(fields, count)) return false;
    for (size_t i = 0; i < count; i++) bits += fields[i].bits;
    return bits <= 64;
}

sorting *hdst__msd_begin(const hdst__msd_sort *sort, uint64_t expected)
{
    sorting *s = hdst__alloc_zero(sort->allocator, sizeof *s);
    if (!s) return NULL;
    s->sort = sort;
    s->expected = expected;
    for (size_t i = 0; i < sort->field_count; i++) s->class[i] = hdst__sort_class_of(&sort->fields[i]);
    if (cut_pieces(s)) {
        choose_digit(s);
        if (choose_buckets(s)) return s;
    }
    hdst__free(sort->allocator, s->pieces);
    hdst__free(sort->allocator, s);
    return NULL;
}

hdst_status hdst__msd_radix_sort(const hdst__msd_sort *sort, char *to, bool *done, hdst_error *error)
{
    sorting *s = hdst__msd_begin(sort, sort->count);
    *done = false;
    if (!s) return HDST_OK;
    s->to = to;
    *done = sort_pieces(s);
    const bool stops = hdst__msd_stopped(s);
    hdst__free(sort->allocator, s->pieces);
    hdst__free(sort->allocator, s);
    return stops ? hdst__cancel_error(0, 0, error) : HDST_OK;
}
