// SPDX-License-Identifier: Apache-2.0
// Frozen hash tables (shuffle/join/frozen_table.h). Records go to parts by their hashes, and of a part to buckets, in order, so that equal keys meet; then the
// buckets of a part, large ones first, try one displacement after another until all their keys have free slots. Threads take a part each: what it works on is
// in the thread's cache.
#include "shuffle/join/frozen_table.h"

#include "base/costs_host.h"
#include "base/huge_pages.h"
#include "record/frozen_hash.h"
#include "record/text_span.h"

#include <string.h>

enum {
    SEEDS = 64,                     // tried
    MOST_OF_BUCKET = 64,            // keys; more than these come of keys that were chosen to meet
    MOST_TRIES = 1 << 22,           // displacements of a bucket
    FEW = 24,                       // records that are ordered by insertion
    PIECE = 1 << 14, MOST_PIECES = 256,         // records that a thread takes at least; how many pieces
    BUCKETS_AHEAD = 8,              // whose records are asked for while a bucket is placed
    PART = 1 << 13, MOST_PARTS = 1024,          // records of a part, about; how many parts
};

typedef struct entry { uint64_t hash; uint32_t row, same; } entry;      // same: of equal keys, how many stand from here on; 0: not the first

typedef struct making {
    hdst__frozen_table *table;
    const hdst__frozen_spec *spec;
    hdst__thread_pool *pool;
    const hdst__cancel *cancel;
    uint64_t bucket_count, keys, parts, piece, part_slots;
    uint32_t seed;
    uint32_t *place;                // where the records of a part from a piece go: by piece, of each by part
    entry *scattered, *entries;     // by part; by bucket
    uint32_t *begin;                // of each bucket, among the entries; one more
    uint32_t *order;                // buckets of each part, large ones first
    uint64_t *part_keys;
    uint64_t *taken;                // slots, a bit each; parts begin with a word
    bool unfit;                     // the seed will not do; written by several threads, always true
} making;

static uint64_t parts_of(uint64_t count)
{
    uint64_t parts = 1;
    while (parts < MOST_PARTS && parts * PART < count) parts *= 2;
    return parts;
}

static uint64_t buckets_of(uint64_t count)
{
    const uint64_t parts = parts_of(count);
    return (count / HDST__HOST_FROZEN_BUCKET / parts + 1) * parts;
}

static uint64_t pieces_of(const making *m) { return (m->spec->count + m->piece - 1) / m->piece; }

static uint64_t slots_of(uint64_t keys) { return keys * HDST__HOST_FROZEN_SLOTS / HDST__HOST_FROZEN_KEYS + 1; }

// Parts are of unlike size: hashes vary, and the largest says how many slots all have.
static uint64_t most_slots(uint64_t count) { return slots_of(count) + slots_of(count) / 16 + 64 * parts_of(count); }

uint64_t hdst__frozen_table_bytes(uint64_t count, uint64_t row_bytes, hdst__frozen_form form)
{
    const uint64_t slots = most_slots(count), buckets = buckets_of(count), parts = parts_of(count);
    const uint64_t beside = 2 * count * sizeof(entry) + (2 * buckets + 1) * sizeof(uint32_t) + slots / 8 + parts * (8 + 8 + MOST_PIECES * sizeof(uint32_t));
    const bool runs = form == HDST__FROZEN_RUNS;
    return beside + buckets * sizeof(uint32_t) + slots * (runs ? sizeof(hdst__frozen_run) : row_bytes) + (runs ? (count + 1) * row_bytes : 0);
}

static const char *row_of(const making *m, uint64_t row) { return m->spec->rows + row * m->spec->step; }

// --- Hashes, buckets ---

static uint64_t word_of(const hdst__key_field *field, const char *row)
{
    if (field->kind != HDST__TEXT) return hdst__key_field_read(field, row);
    hdst__text_span span;
    memcpy(&span, row + field->offset, sizeof span);
    return hdst__text_span_hash(&span) ^ span.length;
}

static bool same_hash_is_same_key(const hdst__key_fields *key) { return key->count == 1 && !key->has_text; }

static uint64_t hash_of(const making *m, const char *row)
{
    const hdst__key_fields *key = &m->spec->key;
    uint64_t h = hdst__frozen_begin(m->seed);
    for (size_t i = 0; i < key->count; i++) h = hdst__frozen_add(h, word_of(&key->field[i], row));
    return hdst__frozen_end(h);
}

static uint64_t end_of_piece(const making *m, uint64_t piece)
{
    const uint64_t first = piece * m->piece;
    return m->spec->count - first < m->piece ? m->spec->count : first + m->piece;
}

// The hashes stay where entries come once they are in parts.
static void count_piece(void *user, uint64_t piece)
{
    const making *m = user;
    uint32_t *of_part = m->place + piece * m->parts;
    memset(of_part, 0, m->parts * sizeof *of_part);
    for (uint64_t i = piece * m->piece, end = end_of_piece(m, piece); i < end; i++) {
        m->entries[i].hash = hash_of(m, row_of(m, i));
        of_part[hdst__frozen_part(m->entries[i].hash, m->parts)]++;
    }
}

static void sum_places(making *m)
{
    uint32_t so_far = 0;
    for (uint64_t p = 0; p < m->parts; p++) {
        m->begin[p * (m->bucket_count / m->parts)] = so_far;
        for (uint64_t piece = 0; piece < pieces_of(m); piece++) {
            uint32_t *place = &m->place[piece * m->parts + p];
            const uint32_t records = *place;
            *place = so_far;
            so_far += records;
        }
    }
    m->begin[m->bucket_count] = so_far;
}

static void scatter_piece(void *user, uint64_t piece)
{
    const making *m = user;
    uint32_t *place = m->place + piece * m->parts;
    for (uint64_t i = piece * m->piece, end = end_of_piece(m, piece); i < end; i++) {
        const uint64_t hash = m->entries[i].hash;
        m->scattered[place[hdst__frozen_part(hash, m->parts)]++] = (entry){hash, (uint32_t)i, 1};
    }
}

// --- A part: buckets, and equal keys in them ---

static uint64_t buckets_of_part(const making *m) { return m->bucket_count / m->parts; }

// A counting sort, which leaves records of a bucket in their order. Where parts begin is known.
static void fill_buckets(const making *m, uint64_t part)
{
    const uint64_t first = part * buckets_of_part(m), end = first + buckets_of_part(m);
    const uint32_t from = m->begin[first], to = m->begin[end];
    uint32_t *begin = m->order;             // by bucket, until the order is known
    memset(begin + first, 0, (end - first) * sizeof *begin);
    for (uint64_t i = from; i < to; i++) begin[hdst__frozen_bucket(m->scattered[i].hash, m->bucket_count)]++;
    uint32_t so_far = from;
    for (uint64_t b = first; b < end; b++) {
        const uint32_t records = begin[b];
        if (b > first) m->begin[b] = so_far;
        begin[b] = so_far;
        so_far += records;
    }
    for (uint64_t i = from; i < to; i++) m->entries[begin[hdst__frozen_bucket(m->scattered[i].hash, m->bucket_count)]++] = m->scattered[i];
}

static bool comes_before(const entry *a, const entry *b) { return a->hash != b->hash ? a->hash < b->hash : a->row < b->row; }

static void swap(entry *a, entry *b)
{
    const entry kept = *a;
    *a = *b;
    *b = kept;
}

static void sift_down(entry *e, uint64_t at, uint64_t count)
{
    for (uint64_t child; (child = 2 * at + 1) < count; at = child) {
        if (child + 1 < count && comes_before(&e[child], &e[child + 1])) child++;
        if (!comes_before(&e[at], &e[child])) return;
        swap(&e[at], &e[child]);
    }
}

// Equal keys and few others, or keys that were chosen to meet: in place, and never slow.
static void heap_sort(entry *e, uint64_t count)
{
    for (uint64_t i = count / 2; i-- > 0;) sift_down(e, i, count);
    for (uint64_t end = count; end-- > 1;) {
        swap(&e[0], &e[end]);
        sift_down(e, 0, end);
    }
}

static void insertion_sort(entry *e, uint64_t count)
{
    for (uint64_t i = 1; i < count; i++) {
        const entry moved = e[i];
        uint64_t at = i;
        for (; at && e[at - 1].hash > moved.hash; at--) e[at] = e[at - 1];
        e[at] = moved;
    }
}

static void order_bucket(entry *e, uint64_t count)
{
    if (count > FEW) heap_sort(e, count);
    else insertion_sort(e, count);
}

// Keys of a bucket, whose entries are in order; equal ones become one. 0: the seed will not do.
static uint64_t count_keys(const making *m, entry *e, uint64_t count)
{
    uint64_t keys = 1;
    for (uint64_t i = 1, first = 0; i < count; i++) {
        if (e[i].hash != e[first].hash) first = i, keys++;
        else if (!same_hash_is_same_key(&m->spec->key) && hdst__key_fields_compare(&m->spec->key, row_of(m, e[first].row), row_of(m, e[i].row))) return 0;
        else e[first].same++, e[i].same = 0;
    }
    return keys <= MOST_OF_BUCKET ? keys : 0;
}

// Of two records with one key: the pair whose second one comes first.
static void note_twice(uint32_t twice[2], const entry *e, uint64_t count)
{
    for (uint64_t i = 0; i + 1 < count; i++) {
        if (e[i].same < 2 || (twice[0] != twice[1] && twice[1] <= e[i + 1].row)) continue;
        twice[0] = e[i].row;
        twice[1] = e[i + 1].row;
    }
}

// Puts equal keys together and counts the keys.
static void order_part(void *user, uint64_t part)
{
    making *m = user;
    const uint64_t first = part * buckets_of_part(m), end = first + buckets_of_part(m);
    uint32_t twice[2] = {0};
    if (hdst__cancel_asked(m->cancel)) return;
    fill_buckets(m, part);
    m->part_keys[part] = 0;
    for (uint64_t b = first; b < end; b++) {
        entry *e = &m->entries[m->begin[b]];
        const uint64_t count = m->begin[b + 1] - m->begin[b];
        if (!count) continue;
        order_bucket(e, count);
        const uint64_t keys = count_keys(m, e, count);
        if (!keys) __atomic_store_n(&m->unfit, true, __ATOMIC_RELAXED);
        if (keys < count && m->spec->form == HDST__FROZEN_ONLY) note_twice(twice, e, count);
        m->part_keys[part] += keys;
    }
    memcpy(m->place + part * 2, twice, sizeof twice);       // which the parts no longer need
}

static void order_parts(making *m)
{
    uint64_t *twice = m->table->twice, most = 0;
    hdst__thread_pool_run(m->pool, m->parts, order_part, m);
    m->keys = twice[0] = twice[1] = 0;
    for (uint64_t p = 0; p < m->parts; p++) {
        const uint32_t *of = m->place + p * 2;
        m->keys += m->part_keys[p];
        if (m->part_keys[p] > most) most = m->part_keys[p];
        if (of[0] != of[1] && (twice[0] == twice[1] || of[1] < twice[1])) twice[0] = of[0], twice[1] = of[1];
    }
    m->part_slots = slots_of(most);
    // Of hashes that are spread none is so large.
    if (m->part_slots > 2 * (slots_of(m->keys) / m->parts) + 64 || (m->parts > 1 && m->part_slots * m->parts > most_slots(m->spec->count))) m->unfit = true;
}

// --- Slots ---

static uint64_t keys_of(const making *m, uint64_t bucket)
{
    uint64_t keys = 0;
    for (uint64_t i = m->begin[bucket]; i < m->begin[bucket + 1]; i++) keys += m->entries[i].same > 0;
    return keys;
}

static void order_by_size(const making *m, uint64_t part)
{
    const uint64_t first = part * buckets_of_part(m), end = first + buckets_of_part(m);
    uint64_t of_size[MOST_OF_BUCKET + 2] = {0};
    for (uint64_t b = first; b < end; b++) of_size[MOST_OF_BUCKET - keys_of(m, b) + 1]++;
    for (int i = 0; i <= MOST_OF_BUCKET; i++) of_size[i + 1] += of_size[i];
    for (uint64_t b = first; b < end; b++) m->order[first + of_size[MOST_OF_BUCKET - keys_of(m, b)]++] = (uint32_t)b;
}

static bool take_slot(uint64_t *taken, uint64_t slot)
{
    const uint64_t bit = UINT64_C(1) << slot % 64;
    if (taken[slot / 64] & bit) return false;
    taken[slot / 64] |= bit;
    return true;
}

static uint64_t words_of_part(const making *m) { return m->part_slots / 64 + 1; }

// Takes slots of the part for all of them, or none.
static bool displace(const making *m, uint64_t *taken, const uint64_t *hashes, uint64_t keys, uint32_t displacement, uint64_t *slots)
{
    for (uint64_t i = 0; i < keys; i++) {
        slots[i] = hdst__frozen_slot(hashes[i], displacement, m->part_slots);
        if (take_slot(taken, slots[i])) continue;
        while (i-- > 0) taken[slots[i] / 64] &= ~(UINT64_C(1) << slots[i] % 64);
        return false;
    }
    return true;
}

static void put(const making *m, uint64_t slot, const entry *e)
{
    const uint64_t size = m->spec->step, first = (uint64_t)(e - m->entries);
    if (m->spec->form != HDST__FROZEN_RUNS) {
        memcpy((char *)m->table->slots + slot * size, row_of(m, e->row), size);
        return;
    }
    ((hdst__frozen_run *)m->table->slots)[slot] = (hdst__frozen_run){(uint32_t)first, e->same};
    for (uint32_t i = 0; i < e->same; i++) memcpy((char *)m->table->rows + (first + i) * size, row_of(m, e[i].row), size);
}

static bool place_bucket(const making *m, uint64_t part, uint64_t bucket)
{
    uint64_t hashes[MOST_OF_BUCKET], slots[MOST_OF_BUCKET], keys = 0, *taken = m->taken + part * words_of_part(m);
    const entry *first[MOST_OF_BUCKET];
    for (uint64_t i = m->begin[bucket]; i < m->begin[bucket + 1]; i++) {
        if (!m->entries[i].same) continue;
        first[keys] = &m->entries[i];
        hashes[keys++] = m->entries[i].hash;
    }
    uint32_t displacement = 0;
    while (keys && !displace(m, taken, hashes, keys, displacement, slots))
        if (++displacement == MOST_TRIES) return false;
    m->table->displacements[HDST__FROZEN_BUCKETS + bucket] = displacement;
    for (uint64_t i = 0; i < keys; i++) put(m, part * m->part_slots + slots[i], first[i]);
    return true;
}

// Rows of slots that nobody took: some record's.
static void fill_the_rest(const making *m, uint64_t part)
{
    const uint64_t *taken = m->taken + part * words_of_part(m), size = m->spec->step;
    if (m->spec->form == HDST__FROZEN_RUNS || !m->spec->count) return;
    for (uint64_t i = 0; i < m->part_slots; i++)
        if (!(taken[i / 64] >> i % 64 & 1)) memcpy((char *)m->table->slots + (part * m->part_slots + i) * size, m->spec->rows, size);
}

// Records of a part lie anywhere in the input.
static void ask_for_rows(const making *m, uint64_t bucket)
{
    for (uint64_t i = m->begin[bucket]; i < m->begin[bucket + 1]; i++) __builtin_prefetch(row_of(m, m->entries[i].row));
}

static void place_part(void *user, uint64_t part)
{
    making *m = user;
    const uint64_t first = part * buckets_of_part(m), end = first + buckets_of_part(m);
    bool placed = true;
    if (hdst__cancel_asked(m->cancel)) return;
    memset(m->taken + part * words_of_part(m), 0, words_of_part(m) * sizeof *m->taken);
    order_by_size(m, part);
    for (uint64_t b = first; b < end && placed; b++) {
        if (b + BUCKETS_AHEAD < end) ask_for_rows(m, m->order[b + BUCKETS_AHEAD]);
        placed = place_bucket(m, part, m->order[b]);
    }
    if (placed) fill_the_rest(m, part);
    else __atomic_store_n(&m->unfit, true, __ATOMIC_RELAXED);
}

// --- All of it ---

static void *take(const making *m, uint64_t bytes, hdst_error *error)
{
    void *memory = hdst__budget_alloc(m->table->memory, m->table->owner, bytes, "a hash table", error);
    if (memory) hdst__ask_for_huge_pages(memory, bytes);
    return memory;
}

static void *take_zeroes(const hdst__frozen_table *table, uint64_t bytes, hdst_error *error)
{
    void *memory = hdst__budget_alloc_zero(table->memory, table->owner, bytes, "a hash table", error);
    if (memory) hdst__ask_for_huge_pages(memory, bytes);
    return memory;
}

static hdst_status take_memory(making *m, hdst_error *error)
{
    const uint64_t count = m->spec->count;
    m->parts = parts_of(count);
    m->bucket_count = buckets_of(count);
    m->piece = count / MOST_PIECES + 1 > PIECE ? count / MOST_PIECES + 1 : PIECE;
    const uint64_t places = m->parts * (pieces_of(m) > 2 ? pieces_of(m) : 2);
    const bool all = (m->scattered = take(m, (count + 1) * sizeof *m->scattered, error)) &&
        (m->entries = take(m, (count + 1) * sizeof *m->entries, error)) && (m->place = take(m, places * sizeof *m->place, error)) &&
        (m->begin = take(m, (m->bucket_count + 1) * sizeof *m->begin, error)) && (m->order = take(m, m->bucket_count * sizeof *m->order, error)) &&
        (m->part_keys = take(m, m->parts * sizeof *m->part_keys, error));
    return all ? HDST_OK : HDST_E_MEMORY;
}

static void let_slots_go(making *m)
{
    const hdst__allocator *allocator = hdst__budget_owned(m->table->memory, m->table->owner);
    hdst__frozen_table_free(m->table);
    hdst__free(allocator, m->taken);
    m->taken = NULL;
}

// Once it is known how many keys the parts have.
static hdst_status take_slots(making *m, hdst_error *error)
{
    hdst__frozen_table *t = m->table;
    const uint64_t size = m->spec->step;
    const bool runs = m->spec->form == HDST__FROZEN_RUNS;
    let_slots_go(m);
    t->slot_count = m->parts * m->part_slots;
    t->displacement_count = HDST__FROZEN_BUCKETS + m->bucket_count;
    const uint64_t slot_bytes = runs ? sizeof(hdst__frozen_run) : size;
    if (!(t->slots = take_zeroes(t, t->slot_count * slot_bytes, error)) ||
        !(t->displacements = take_zeroes(t, t->displacement_count * sizeof *t->displacements, error)) ||
        (runs && !(t->rows = take_zeroes(t, (m->spec->count + 1) * size, error))) ||
        !(m->taken = take(m, m->parts * words_of_part(m) * sizeof *m->taken, error)))
        return HDST_E_MEMORY;
    t->row_count = runs ? m->spec->count : 0;
    t->key_count = m->keys;
    return HDST_OK;
}

static void write_head(const making *m)
{
    uint32_t *head = m->table->displacements;
    head[HDST__FROZEN_SEED] = m->seed;
    head[HDST__FROZEN_KEYS] = (uint32_t)m->keys;
    head[HDST__FROZEN_PARTS] = (uint32_t)m->parts;
    head[HDST__FROZEN_PART_SLOTS] = (uint32_t)m->part_slots;
}

// *placed: the seed did.
static hdst_status try_seed(making *m, bool *placed, hdst_error *error)
{
    m->unfit = false;
    hdst__thread_pool_run(m->pool, pieces_of(m), count_piece, m);
    if (hdst__cancel_asked(m->cancel)) return hdst__cancel_check(m->cancel, 0, 0, error);
    sum_places(m);
    hdst__thread_pool_run(m->pool, pieces_of(m), scatter_piece, m);
    order_parts(m);
    if (hdst__cancel_asked(m->cancel)) return hdst__cancel_check(m->cancel, 0, 0, error);
    if (m->unfit || (m->spec->form == HDST__FROZEN_ONLY && m->keys < m->spec->count)) return HDST_OK;
    const hdst_status status = take_slots(m, error);
    if (status != HDST_OK) return status;
    hdst__thread_pool_run(m->pool, m->parts, place_part, m);
    if (hdst__cancel_asked(m->cancel)) return hdst__cancel_check(m->cancel, 0, 0, error);
    *placed = !m->unfit;
    if (*placed) write_head(m);
    return HDST_OK;
}

static hdst_status try_seeds(making *m, hdst_error *error)
{
    bool placed = false;
    for (m->seed = 0; m->seed < SEEDS && !placed; m->seed++) {
        const hdst_status status = try_seed(m, &placed, error);
        if (status != HDST_OK) return status;
        if (!placed && !m->unfit) return HDST_OK;       // keys that are there twice
    }
    return placed ? HDST_OK : hdst__error_set(error, HDST_E_UNSUPPORTED, "a hash table of keys that no hash keeps apart");
}

static void end_making(making *m)
{
    const hdst__allocator *allocator = hdst__budget_owned(m->table->memory, m->table->owner);
    hdst__free(allocator, m->scattered);
    hdst__free(allocator, m->entries);
    hdst__free(allocator, m->place);
    hdst__free(allocator, m->part_keys);
    hdst__free(allocator, m->begin);
    hdst__free(allocator, m->order);
    hdst__free(allocator, m->taken);
}

hdst_status hdst__frozen_table_make(hdst__frozen_table *table, const hdst__frozen_spec *spec, hdst__thread_pool *pool, const hdst__cancel *cancel,
                                    hdst_error *error)
{
    making m = {.table = table, .spec = spec, .pool = pool, .cancel = cancel};
    if (spec->count >> 31) return hdst__error_set(error, HDST_E_UNSUPPORTED, "a hash table of 2^31 records or more");
    hdst_status status = take_memory(&m, error);
    if (status == HDST_OK) status = try_seeds(&m, error);
    end_making(&m);
    if (status != HDST_OK) hdst__frozen_table_free(table);
    return status;
}

void hdst__frozen_table_free(hdst__frozen_table *table)
{
    if (!table->memory) return;
    const hdst__allocator *allocator = hdst__budget_owned(table->memory, table->owner);
    hdst__free(allocator, table->slots);
    hdst__free(allocator, table->displacements);
    hdst__free(allocator, table->rows);
    table->slots = table->rows = NULL;
    table->displacements = NULL;
    table->slot_count = table->displacement_count = table->row_count = table->key_count = 0;
}
