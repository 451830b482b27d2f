// SPDX-License-Identifier: Apache-2.0
// A container: a hash table of rows (shuffle/aggregate/aggregation_layout.h), open addressing with linear probing. The place of a key is the upper bits of its
// hash, behind those that all keys of the table share, so that the table read from its first place on is in the order of the result but for neighbours. Keys
// may be made to have neighbouring hashes, or the same one, so that each is looked for past all those before it. So a key stands less than HDST__KEY_PROBES
// places from its home, and is looked for at no more: where these are taken the table says that it is crowded, and whoever fills it goes on by sorting.
#ifndef HDST_SHUFFLE_AGGREGATE_KEY_TABLE_H
#define HDST_SHUFFLE_AGGREGATE_KEY_TABLE_H

#include "shuffle/aggregate/aggregation_layout.h"
#include "shuffle/aggregate/key_keeper.h"

typedef struct hdst__key_table {
    const hdst__allocator *allocator;
    uint64_t *rows;                     // 1 << bits of them, zero where there is no key
    void *memory;               // in which they lie
    uint32_t row_words, key_words;
    uint32_t bits, skip;                // skip: bits of the hash that all keys share
    uint64_t count;                     // keys
    uint64_t adds;                      // records since its words were looked through
    uint64_t longest;                   // from a key's home to its place, of all keys
    bool crowded;                       // a key found no place
    const hdst__key_texts *texts;       // of keys with texts; set behind hdst__key_table_create, as what follows is
    hdst__key_keeper *keeper;           // then: where the bytes of keys go that are new; NULL: they lie where they stay
} hdst__key_table;

// Of random keys the farthest of a thousand million, in a table that is half full, stands about 100 places from its home.
enum { HDST__KEY_PROBES = 256 };
static inline bool hdst__key_table_is_crowded(const hdst__key_table *table) { return table->crowded; }

// Room for 1 << bits rows. false: no memory.
bool hdst__key_table_create(hdst__key_table *table, const hdst__allocator *allocator, uint32_t row_words, uint32_t key_words, uint32_t bits, uint32_t skip);
void hdst__key_table_destroy(hdst__key_table *table);           // fine on a zeroed one, and twice
void hdst__key_table_clear(hdst__key_table *table, uint32_t skip);
// Whether `more` keys keep it at most half full; hdst__key_table_grow makes it so, or returns false: no memory.
bool hdst__key_table_has_room(const hdst__key_table *table, uint64_t more);
bool hdst__key_table_grow(hdst__key_table *table, uint64_t more);
// The row of a key, made if there is none; NULL with `make` false and no such key, or where the table is crowded, or its keeper failed. There must be room.
uint64_t *hdst__key_table_find(hdst__key_table *table, uint32_t hash, const uint64_t *key, bool make);
// Adds a batch whose words are there. Returns how many of its records, from the first on, were added: all, unless the table is crowded, or its keeper failed.
uint32_t hdst__key_table_add(hdst__key_table *table, const hdst__aggregation_layout *layout, const hdst__key_batch *batch);
// Once in layout->look_after records: rows with a word that could overflow go to `spill`, which empties their words, or returns false where it failed.
typedef bool hdst__spill_row(void *context, uint64_t *row);
bool hdst__key_table_spill_full(hdst__key_table *table, const hdst__aggregation_layout *layout, hdst__spill_row *spill, void *context);
// Adds the cells of a row to those of its key. NULL: it was not added, the table is crowded.
uint64_t *hdst__key_table_combine(hdst__key_table *table, const hdst__aggregation_layout *layout, const uint64_t *row);
// All rows in the order of hash and key, in `to` (count * row_words words). The table is as it was.
void hdst__key_table_sorted(const hdst__key_table *table, uint64_t *to);

#endif
