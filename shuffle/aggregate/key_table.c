// SPDX-License-Identifier: Apache-2.0
// The hash table of reductions by key (shuffle/aggregate/key_table.h).
#include "shuffle/aggregate/key_table.h"

#include "base/costs_host.h"
#include "base/huge_pages.h"

#include <string.h>

enum { HASH_BITS = 32, LEAST_BITS = 4 };

bool hdst__key_table_create(hdst__key_table *table, const hdst__allocator *allocator, uint32_t row_words, uint32_t key_words, uint32_t bits, uint32_t skip)
{
    if (bits < LEAST_BITS) bits = LEAST_BITS;
    *table = (hdst__key_table){.allocator = allocator, .row_words = row_words, .key_words = key_words, .bits = bits, .skip = skip};
    const uint64_t bytes = ((uint64_t)row_words * 8) << bits, line = HDST__HOST_CACHE_LINE_BYTES;
    table->memory = hdst__alloc_zero(allocator, bytes + line);
    if (!table->memory) return false;
    table->rows = (uint64_t *)((char *)table->memory + (line - (uintptr_t)table->memory % line) % line);     // no row of 16, 32 or 64 bytes lies in two lines
    hdst__ask_for_huge_pages(table->rows, bytes);
    return true;
}

void hdst__key_table_destroy(hdst__key_table *table)
{
    if (table->memory) hdst__free(table->allocator, table->memory);
    *table = (hdst__key_table){0};
}

void hdst__key_table_clear(hdst__key_table *table, uint32_t skip)
{
    memset(table->rows, 0, ((size_t)table->row_words * 8) << table->bits);
    table->count = table->adds = table->longest = 0;
    table->crowded = false;
    table->skip = skip;
}

bool hdst__key_table_has_room(const hdst__key_table *table, uint64_t more)
{
    return table->count + more <= (UINT64_C(1) << table->bits) / 2;
}

// Keys share a prefix of the hash, so what is behind it says the place. There may be more places than hashes: keys of one hash need them.
static inline uint64_t home_of(uint32_t hash, uint32_t bits, uint32_t skip) { return (uint32_t)((uint64_t)hash << skip) >> (HASH_BITS - bits); }
static inline uint64_t home(const hdst__key_table *table, uint32_t hash) { return home_of(hash, table->bits, table->skip); }

static inline bool same_key(const uint64_t *a, const uint64_t *b, uint32_t words)
{
    for (uint32_t w = 0; w < words; w++)
        if (a[w] != b[w]) return false;
    return true;
}

static inline uint64_t *find(hdst__key_table *table, uint32_t hash, const uint64_t *key, uint32_t key_words, uint32_t row_words, bool make)
{
    const uint64_t mask = (UINT64_C(1) << table->bits) - 1, tag = HDST__KEY_USED | hash;
    uint64_t at = home(table, hash);
    for (uint32_t left = HDST__KEY_PROBES; left; left--, at = (at + 1) & mask) {
        uint64_t *row = table->rows + at * row_words;
        if (row[0] == tag && same_key(row + 1, key, key_words)) return row;
        if (row[0]) continue;
        if (!make) return NULL;
        if (HDST__KEY_PROBES - left > table->longest) table->longest = HDST__KEY_PROBES - left;
        row[0] = tag;
        for (uint32_t w = 0; w < key_words; w++) row[1 + w] = key[w];
        table->count++;
        return row;
    }
    if (make) table->crowded = true;
    return NULL;
}

// The same of keys with texts. The bytes of one that is new are kept before anybody finds it.
static inline uint64_t *find_text(hdst__key_table *table, uint32_t hash, const uint64_t *key, bool alone, bool make)
{
    const uint64_t mask = (UINT64_C(1) << table->bits) - 1, tag = HDST__KEY_USED | hash;
    const uint32_t words = alone ? HDST__SPAN_WORDS : table->key_words;
    uint64_t at = home(table, hash);
    for (uint32_t left = HDST__KEY_PROBES; left; left--, at = (at + 1) & mask) {
        uint64_t *row = table->rows + at * table->row_words;
        if (row[0] == tag && (alone ? hdst__span_words_equal(row + 1, key) : hdst__key_texts_equal(table->texts, row + 1, key, words))) return row;
        if (row[0]) continue;
        if (!make) return NULL;
        memcpy(row + 1, key, words * sizeof *row);
        if (table->keeper && !hdst__key_keep(table->keeper, table->texts, row + 1)) return NULL;
        if (HDST__KEY_PROBES - left > table->longest) table->longest = HDST__KEY_PROBES - left;
        row[0] = tag;
        table->count++;
        return row;
    }
    if (make) table->crowded = true;
    return NULL;
}

uint64_t *hdst__key_table_find(hdst__key_table *table, uint32_t hash, const uint64_t *key, bool make)
{
    if (table->texts) return find_text(table, hash, key, false, make);
    return find(table, hash, key, table->key_words, table->row_words, make);
}

// For a row that is not there yet.
static uint64_t *free_place(hdst__key_table *table, uint32_t hash)
{
    const uint64_t mask = (UINT64_C(1) << table->bits) - 1, first = home(table, hash);
    for (uint64_t distance = 0;; distance++) {
        uint64_t *row = table->rows + ((first + distance) & mask) * table->row_words;
        if (row[0]) continue;
        if (distance > table->longest) table->longest = distance;
        return row;
    }
}

// In the order of their places, from one behind a free place on. So no row stands farther from its home than before: with homes twice as far apart, rows that
// fill a stretch in front of a row's place are at most as many as stood between its old home and its old place.
static void move_rows(const hdst__key_table *from, hdst__key_table *to)
{
    const uint64_t size = UINT64_C(1) << from->bits;
    uint64_t first = 0;
    while (from->rows[first * from->row_words]) first++;
    for (uint64_t i = 1; i < size; i++) {
        const uint64_t *row = from->rows + ((first + i) & (size - 1)) * from->row_words;
        if (row[0]) memcpy(free_place(to, (uint32_t)row[0]), row, (size_t)from->row_words * 8);
    }
    to->count = from->count;
    to->adds = from->adds;
}

bool hdst__key_table_grow(hdst__key_table *table, uint64_t more)
{
    uint32_t bits = table->bits;
    while (table->count + more > (UINT64_C(1) << bits) / 2) bits++;
    if (bits == table->bits) return true;
    if (bits >= HASH_BITS) return false;
    hdst__key_table larger;
    if (!hdst__key_table_create(&larger, table->allocator, table->row_words, table->key_words, bits, table->skip)) return false;
    larger.texts = table->texts;
    larger.keeper = table->keeper;
    move_rows(table, &larger);
    hdst__key_table_destroy(table);
    *table = larger;
    return true;
}

// --- Adding ---

// The most frequent shape: a small key, one sum.
static uint32_t add_small(hdst__key_table *table, const hdst__key_batch *batch)
{
    const uint32_t *hash = batch->hash;
    const uint64_t *word = batch->word;
    for (uint32_t i = 0; i < batch->count; i++) {
        uint64_t *row = find(table, hash[i], NULL, 0, 2, true);
        if (!row) return i;
        row[1] += word[i];
    }
    return batch->count;
}

enum { AHEAD = 32 };                    // records: by the time it is their turn their rows' homes are in the cache

static inline void fetch_ahead(const hdst__key_table *table, const hdst__key_batch *batch, uint32_t i)
{
    if (i + AHEAD < batch->count) __builtin_prefetch(table->rows + home(table, batch->hash[i + AHEAD]) * table->row_words, 1);
}

// The most frequent shape with texts: one is the key, and there is one sum. Most keys are short and stand where they are at home.
static uint32_t add_words(hdst__key_table *table, const hdst__key_batch *batch)
{
    enum { ROW = HDST__SPAN_WORDS + 2 };
    uint64_t *const rows = table->rows;
    const uint32_t *const hash = batch->hash, count = batch->count, bits = table->bits, skip = table->skip;
    const uint64_t *key = batch->key, *const word = batch->word;
    for (uint32_t i = 0; i < count && i < AHEAD; i++) __builtin_prefetch(rows + home_of(hash[i], bits, skip) * ROW, 1);
    for (uint32_t i = 0; i < count; i++, key += HDST__SPAN_WORDS) {
        if (i + AHEAD < count) __builtin_prefetch(rows + home_of(hash[i + AHEAD], bits, skip) * ROW, 1);
        uint64_t *row = rows + home_of(hash[i], bits, skip) * ROW;
        if (row[0] != (HDST__KEY_USED | hash[i]) || row[1] != key[0] || row[2] != key[1]) row = find_text(table, hash[i], key, true, true);
        if (!row) return i;
        row[1 + HDST__SPAN_WORDS] += word[i];
    }
    return count;
}

static uint32_t find_texts(hdst__key_table *table, const hdst__key_batch *batch, uint64_t **row)
{
    const bool alone = table->key_words == HDST__SPAN_WORDS;
    for (uint32_t i = 0; i < batch->count; i++) {
        fetch_ahead(table, batch, i);
        row[i] = find_text(table, batch->hash[i], batch->key + (size_t)i * table->key_words, alone, true);
        if (!row[i]) return i;
    }
    return batch->count;
}

static uint32_t find_all(hdst__key_table *table, const hdst__key_batch *batch, uint64_t **row)
{
    uint32_t count = 0;
    for (; count < batch->count; count++) {
        row[count] = find(table, batch->hash[count], batch->key + (size_t)count * table->key_words, table->key_words, table->row_words, true);
        if (!row[count]) break;
    }
    return count;
}

static void add_column(uint64_t *const *row, uint32_t at, const uint64_t *word, uint32_t count, hdst__word_op op)
{
    if (op == HDST__WORD_ADD)
        for (uint32_t i = 0; i < count; i++) row[i][at] += word[i];
    else
        for (uint32_t i = 0; i < count; i++) row[i][at] = hdst__words_combined(op, row[i][at], word[i]);
}

uint32_t hdst__key_table_add(hdst__key_table *table, const hdst__aggregation_layout *layout, const hdst__key_batch *batch)
{
    table->adds += batch->count;
    const bool one_sum = layout->value_count == 1 && layout->value[0].cell.op == HDST__WORD_ADD && table->row_words == table->key_words + 2;
    if (one_sum && table->key_words == 0) return add_small(table, batch);
    if (one_sum && table->texts && table->key_words == HDST__SPAN_WORDS) return add_words(table, batch);
    uint64_t *row[HDST__KEY_BATCH];
    const uint32_t count = table->texts ? find_texts(table, batch, row) : find_all(table, batch, row);
    for (uint64_t c = 0; c < layout->value_count; c++) {
        const hdst__value_column *column = &layout->value[c];
        for (uint32_t w = 0; w < column->words; w++) {
            const uint64_t *word = batch->word + (size_t)(column->word + w) * layout->batch;
            add_column(row, 1 + table->key_words + column->word + w, word, count, column->cell.op);
        }
    }
    return count;
}

bool hdst__key_table_spill_full(hdst__key_table *table, const hdst__aggregation_layout *layout, hdst__spill_row *spill, void *context)
{
    if (!layout->fixed || table->adds < layout->look_after) return true;
    table->adds = 0;
    for (uint64_t at = 0; at < UINT64_C(1) << table->bits; at++) {
        uint64_t *row = table->rows + at * table->row_words;
        if (row[0] && hdst__row_is_full(layout, row) && !spill(context, row)) return false;
    }
    return true;
}

uint64_t *hdst__key_table_combine(hdst__key_table *table, const hdst__aggregation_layout *layout, const uint64_t *from)
{
    uint64_t *row = hdst__key_table_find(table, (uint32_t)from[0], from + 1, true);
    if (!row) return NULL;
    const uint32_t cells = 1 + table->key_words;
    for (uint64_t c = 0; c < layout->value_count; c++) {
        const hdst__value_column *column = &layout->value[c];
        for (uint32_t w = 0; w < column->words; w++) {
            const uint32_t at = cells + column->word + w;
            row[at] = hdst__words_combined(column->cell.op, row[at], from[at]);
        }
    }
    return row;
}

// --- In order ---

static bool comes_before(const hdst__key_table *table, const uint64_t *a, const uint64_t *b)
{
    return a[0] != b[0] ? a[0] < b[0] : hdst__key_compare(table->texts, a + 1, b + 1, table->key_words) < 0;
}

// Behind those that are there; the few that come after it move up.
static void insert(const hdst__key_table *table, uint64_t *to, uint64_t count, const uint64_t *row)
{
    const uint32_t words = table->row_words;
    uint64_t at = count;
    while (at > 0 && comes_before(table, row, to + (at - 1) * words)) at--;
    if (at < count) memmove(to + (at + 1) * words, to + at * words, (count - at) * words * sizeof *to);
    for (uint32_t w = 0; w < words; w++) to[at * words + w] = row[w];
}

// The same for rows of a tag and one word.
static uint64_t insert_small(const uint64_t *rows, uint64_t from, uint64_t end, uint64_t *to, uint64_t count)
{
    for (uint64_t at = from; at < end; at++) {
        const uint64_t tag = rows[2 * at], word = rows[2 * at + 1];
        uint64_t place = count;
        if (!tag) continue;
        for (; place > 0 && to[2 * place - 2] > tag; place--) {
            to[2 * place] = to[2 * place - 2];
            to[2 * place + 1] = to[2 * place - 1];
        }
        to[2 * place] = tag;
        to[2 * place + 1] = word;
        count++;
    }
    return count;
}

void hdst__key_table_sorted(const hdst__key_table *table, uint64_t *to)
{
    const uint64_t size = UINT64_C(1) << table->bits;
    uint64_t first_free = 0, count = 0;
    while (first_free < size && table->rows[first_free * table->row_words]) first_free++;
    // Keys in front of the first free place may have come round from the end.
    const bool small = table->row_words == 2 && table->key_words == 0;
    for (uint64_t at = 0; at < (small ? first_free : size); at++) {
        const uint64_t *row = table->rows + at * table->row_words;
        if (row[0] && (at >= first_free || home(table, (uint32_t)row[0]) <= at)) insert(table, to, count++, row);
    }
    if (small) count = insert_small(table->rows, first_free, size, to, count);
    for (uint64_t at = 0; at < first_free; at++) {
        const uint64_t *row = table->rows + at * table->row_words;
        if (home(table, (uint32_t)row[0]) > at) insert(table, to, count++, row);
    }
}
