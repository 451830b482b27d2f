// SPDX-License-Identifier: Apache-2.0
// Frozen hash tables (shuffle/join/frozen_table.h). Records are put into buckets by their hashes, and those of a bucket in order, so that equal keys meet; then
// the buckets, large ones first, try one displacement after another until all their keys have free slots.
#include "shuffle/join/frozen_table.h"

#include "base/costs_host.h"
#include "record/frozen_hash.h"
#include "record/text_span.h"

#include <string.h>

enum {
    SEEDS = 64,                     // tried
    MOST_OF_BUCKET = 64,            // keys; more than these come of keys that were chosen to meet
    MOST_TRIES = 1 << 22,           // displacements of a bucket
    FEW = 24,                       // records that are ordered by insertion
    PIECE = 1 << 14,                // records that a thread takes
    CANCEL_EVERY = 1 << 14,         // buckets between two looks
};

typedef struct entry { uint64_t hash; uint32_t row, same; } entry;      // same: of equal keys, how many stand from here on; 0: not the first

typedef struct making {
    hdst__frozen_table *table;
    const hdst__frozen_spec *spec;
    hdst__thread_pool *pool;
    const hdst__cancel *cancel;
    uint64_t bucket_count, keys;
    uint32_t seed;
    uint64_t *hash;                 // by record
    entry *entries;                 // by bucket
    uint32_t *begin;                // of each bucket, among the entries; one more
    uint32_t *order;                // buckets, large ones first
    uint64_t *taken;                // slots, a bit each
    uint32_t next_row;              // of runs
} making;

static uint64_t buckets_of(uint64_t count) { return count / HDST__HOST_FROZEN_BUCKET + 1; }

static uint64_t slots_of(uint64_t keys) { return keys * HDST__HOST_FROZEN_SLOTS / HDST__HOST_FROZEN_KEYS + 1; }

uint64_t hdst__frozen_table_bytes(uint64_t count, uint64_t row_bytes, hdst__frozen_form form)
{
    const uint64_t slots = slots_of(count), buckets = buckets_of(count);
    const uint64_t beside = count * (sizeof(uint64_t) + sizeof(entry)) + (2 * buckets + 1) * sizeof(uint32_t) + slots / 8;
    const bool runs = form == HDST__FROZEN_RUNS;
    return beside + buckets * sizeof(uint32_t) + slots * (runs ? sizeof(hdst__frozen_run) : row_bytes) + (runs ? (count + 1) * row_bytes : 0);
}

static const char *row_of(const making *m, uint64_t row) { return m->spec->rows + row * m->spec->step; }

// --- Hashes, buckets ---

// A text is a word, its hash.
static uint64_t word_of(const hdst__key_field *field, const char *row)
{
    if (field->kind != HDST__TEXT) return hdst__key_field_read(field, row);
    hdst__text_span span;
    memcpy(&span, row + field->offset, sizeof span);
    return hdst__text_span_hash(&span);
}

static bool same_hash_is_same_key(const hdst__key_fields *key) { return key->count == 1 && !key->has_text; }

static uint64_t hash_of(const making *m, const char *row)
{
    const hdst__key_fields *key = &m->spec->key;
    uint64_t h = hdst__frozen_begin(m->seed);
    for (size_t i = 0; i < key->count; i++) h = hdst__frozen_add(h, word_of(&key->field[i], row));
    return hdst__frozen_end(h);
}

static void hash_piece(void *user, uint64_t piece)
{
    const making *m = user;
    const uint64_t first = piece * PIECE, end = m->spec->count - first < PIECE ? m->spec->count : first + PIECE;
    for (uint64_t i = first; i < end; i++) m->hash[i] = hash_of(m, row_of(m, i));
}

static uint64_t bucket_of(const making *m, uint64_t hash) { return hdst__frozen_bucket(hash, m->bucket_count); }

// A counting sort, which leaves records of a bucket in their order.
static void fill_buckets(making *m)
{
    memset(m->begin, 0, (m->bucket_count + 1) * sizeof *m->begin);
    for (uint64_t i = 0; i < m->spec->count; i++) m->begin[bucket_of(m, m->hash[i])]++;
    uint32_t so_far = 0;
    for (uint64_t b = 0; b <= m->bucket_count; b++) m->begin[b] = so_far += b < m->bucket_count ? m->begin[b] : 0;
    for (uint64_t i = m->spec->count; i-- > 0;) m->entries[--m->begin[bucket_of(m, m->hash[i])]] = (entry){m->hash[i], (uint32_t)i, 1};
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

static void note_twice(making *m, const entry *e, uint64_t count)
{
    uint64_t *twice = m->table->twice;
    for (uint64_t i = 0; i + 1 < count; i++) {
        if (e[i].same < 2 || (twice[0] != twice[1] && twice[1] <= e[i + 1].row)) continue;
        twice[0] = e[i].row;
        twice[1] = e[i + 1].row;
    }
}

// Puts equal keys together and counts the keys. false: another seed.
static bool order_buckets(making *m)
{
    m->keys = 0;
    m->table->twice[0] = m->table->twice[1] = 0;
    for (uint64_t b = 0; b < m->bucket_count; b++) {
        entry *e = &m->entries[m->begin[b]];
        const uint64_t count = m->begin[b + 1] - m->begin[b];
        if (!count) continue;
        order_bucket(e, count);
        const uint64_t keys = count_keys(m, e, count);
        if (!keys) return false;
        if (keys < count && m->spec->form == HDST__FROZEN_ONLY) note_twice(m, e, count);
        m->keys += keys;
    }
    return true;
}

// --- Slots ---

static uint64_t keys_of(const making *m, uint64_t bucket)
{
    uint64_t keys = 0;
    for (uint64_t i = m->begin[bucket]; i < m->begin[bucket + 1]; i++) keys += m->entries[i].same > 0;
    return keys;
}

static void order_by_size(making *m)
{
    uint64_t of_size[MOST_OF_BUCKET + 2] = {0};
    for (uint64_t b = 0; b < m->bucket_count; b++) of_size[MOST_OF_BUCKET - keys_of(m, b) + 1]++;
    for (int i = 0; i <= MOST_OF_BUCKET; i++) of_size[i + 1] += of_size[i];
    for (uint64_t b = 0; b < m->bucket_count; b++) m->order[of_size[MOST_OF_BUCKET - keys_of(m, b)]++] = (uint32_t)b;
}

static bool take_slot(making *m, uint64_t slot)
{
    const uint64_t bit = UINT64_C(1) << slot % 64;
    if (m->taken[slot / 64] & bit) return false;
    m->taken[slot / 64] |= bit;
    return true;
}

// Takes slots for all of them, or none.
static bool displace(making *m, const uint64_t *hashes, uint64_t keys, uint32_t displacement, uint64_t *slots)
{
    for (uint64_t i = 0; i < keys; i++) {
        slots[i] = hdst__frozen_slot(hashes[i], displacement, m->table->slot_count);
        if (take_slot(m, slots[i])) continue;
        while (i-- > 0) m->taken[slots[i] / 64] &= ~(UINT64_C(1) << slots[i] % 64);
        return false;
    }
    return true;
}

static void put(making *m, uint64_t slot, const entry *e)
{
    const uint64_t size = m->spec->step;
    if (m->spec->form != HDST__FROZEN_RUNS) {
        memcpy((char *)m->table->slots + slot * size, row_of(m, e->row), size);
        return;
    }
    ((hdst__frozen_run *)m->table->slots)[slot] = (hdst__frozen_run){m->next_row, e->same};
    for (uint32_t i = 0; i < e->same; i++) memcpy((char *)m->table->rows + m->next_row++ * size, row_of(m, e[i].row), size);
}

static bool place_bucket(making *m, uint64_t bucket)
{
    uint64_t hashes[MOST_OF_BUCKET], slots[MOST_OF_BUCKET], keys = 0;
    const entry *first[MOST_OF_BUCKET];
    for (uint64_t i = m->begin[bucket]; i < m->begin[bucket + 1]; i++) {
        if (!m->entries[i].same) continue;
        first[keys] = &m->entries[i];
        hashes[keys++] = m->entries[i].hash;
    }
    uint32_t displacement = 0;
    while (keys && !displace(m, hashes, keys, displacement, slots))
        if (++displacement == MOST_TRIES) return false;
    m->table->displacements[HDST__FROZEN_BUCKETS + bucket] = displacement;
    for (uint64_t i = 0; i < keys; i++) put(m, slots[i], first[i]);
    return true;
}

// Rows of slots that nobody took: some record's.
static void fill_the_rest(making *m)
{
    if (m->spec->form == HDST__FROZEN_RUNS || !m->spec->count) return;
    for (uint64_t i = 0; i < m->table->slot_count; i++)
        if (!(m->taken[i / 64] >> i % 64 & 1)) memcpy((char *)m->table->slots + i * m->spec->step, m->spec->rows, m->spec->step);
}

static hdst_status place_all(making *m, bool *placed, hdst_error *error)
{
    memset(m->taken, 0, (m->table->slot_count / 64 + 1) * sizeof *m->taken);
    m->next_row = 0;
    order_by_size(m);
    *placed = true;
    for (uint64_t b = 0; b < m->bucket_count && *placed; b++) {
        if (b % CANCEL_EVERY == 0 && hdst__cancel_asked(m->cancel)) return hdst__cancel_check(m->cancel, 0, 0, error);
        *placed = place_bucket(m, m->order[b]);
    }
    if (*placed) fill_the_rest(m);
    return HDST_OK;
}

// --- All of it ---

static void *take(const making *m, uint64_t bytes, hdst_error *error)
{
    return hdst__budget_alloc(m->table->memory, m->table->owner, bytes, "a hash table", error);
}

static hdst_status take_memory(making *m, hdst_error *error)
{
    const uint64_t count = m->spec->count;
    m->bucket_count = buckets_of(count);
    const bool all = (m->hash = take(m, (count + 1) * sizeof *m->hash, error)) && (m->entries = take(m, (count + 1) * sizeof *m->entries, error)) &&
        (m->begin = take(m, (m->bucket_count + 1) * sizeof *m->begin, error)) && (m->order = take(m, m->bucket_count * sizeof *m->order, error));
    return all ? HDST_OK : HDST_E_MEMORY;
}

// Once it is known how many keys there are.
static hdst_status take_slots(making *m, hdst_error *error)
{
    hdst__frozen_table *t = m->table;
    const uint64_t size = m->spec->step;
    const bool runs = m->spec->form == HDST__FROZEN_RUNS;
    t->slot_count = slots_of(m->keys);
    t->displacement_count = HDST__FROZEN_BUCKETS + m->bucket_count;
    const uint64_t slot_bytes = runs ? sizeof(hdst__frozen_run) : size;
    if (!(t->slots = hdst__budget_alloc_zero(t->memory, t->owner, t->slot_count * slot_bytes, "a hash table", error)) ||
        !(t->displacements = hdst__budget_alloc_zero(t->memory, t->owner, t->displacement_count * sizeof *t->displacements, "a hash table", error)) ||
        (runs && !(t->rows = hdst__budget_alloc_zero(t->memory, t->owner, (m->spec->count + 1) * size, "a hash table", error))) ||
        !(m->taken = take(m, (t->slot_count / 64 + 1) * sizeof *m->taken, error)))
        return HDST_E_MEMORY;
    t->row_count = runs ? m->spec->count : 0;
    t->key_count = m->keys;
    return HDST_OK;
}

static hdst_status try_seeds(making *m, hdst_error *error)
{
    bool placed = false;
    for (m->seed = 0; m->seed < SEEDS && !placed; m->seed++) {
        hdst__thread_pool_run(m->pool, (m->spec->count + PIECE - 1) / PIECE, hash_piece, m);
        fill_buckets(m);
        if (!order_buckets(m)) continue;
        if (m->spec->form == HDST__FROZEN_ONLY && m->keys < m->spec->count) return HDST_OK;
        hdst_status status = m->table->slots ? HDST_OK : take_slots(m, error);
        if (status == HDST_OK) status = place_all(m, &placed, error);
        if (status != HDST_OK) return status;
        m->table->displacements[HDST__FROZEN_SEED] = m->seed;
        m->table->displacements[HDST__FROZEN_KEYS] = (uint32_t)m->keys;
    }
    return placed ? HDST_OK : hdst__error_set(error, HDST_E_UNSUPPORTED, "a hash table of keys that no hash keeps apart");
}

static void end_making(making *m)
{
    const hdst__allocator *allocator = hdst__budget_owned(m->table->memory, m->table->owner);
    hdst__free(allocator, m->hash);
    hdst__free(allocator, m->entries);
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
