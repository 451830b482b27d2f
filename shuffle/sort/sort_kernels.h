// SPDX-License-Identifier: Apache-2.0
// The kernels of a device's sort as text, which lies in the writer's arena.
#ifndef HDST_SHUFFLE_SORT_SORT_KERNELS_H
#define HDST_SHUFFLE_SORT_SORT_KERNELS_H

#include "base/pieces.h"
#include "shuffle/sort/sort_key.h"

extern const hdst__pieces hdst__sort_pieces;       // shuffle/sort/*.cl

typedef enum hdst__sort_source { HDST__SORT_RECORDS, HDST__SORT_INDEXED, HDST__SORT_KEYS, HDST__SORT_SOURCES } hdst__sort_source;

typedef struct hdst__sort_word {    // neighbouring keys as one number of 32 or 64 bits, the weightiest highest
    const hdst__sort_field *fields;
    size_t count;
    uint32_t bits;
    bool mixed;                     // packed as a key, and mixed (record/key_hash.h): its upper half or all of it is the key's hash
} hdst__sort_word;

// The first word of fields [0, count): as many of the last ones as fit 64 bits. Returns how many are left.
size_t hdst__sort_word_of(const hdst__sort_field *fields, size_t count, hdst__sort_word *word);
// All fields, of at most 8 bytes when they are packed, as such a word.
void hdst__sort_mixed_word_of(const hdst__sort_field *fields, size_t count, hdst__sort_word *word);
// PACKED, a type; PACKED packed_of(row): the word, packed; PACKED mixed_of(row).
void hdst__sort_packed_text(hdst__writer *out, const hdst__record *record, const hdst__sort_word *word);
// A record that is nothing but this word's one key, and the same bits whenever the key is the same.
bool hdst__sort_is_key(const hdst__record *record, const hdst__sort_word *word);
// What a GPU's work-group moves at a time: keys of each work-item.
typedef struct hdst__sort_tile { uint32_t lanes, rows; } hdst__sort_tile;
hdst__sort_tile hdst__sort_tile_of(uint64_t key_bytes, bool large);
// Kernels sort_count and sort_move of a pass; `pairs`: an index moves too. tile: NULL on a CPU device.
void hdst__sort_pass_text(hdst__writer *out, const hdst__record *record, const hdst__sort_word *word, hdst__sort_source source, bool pairs, bool last,
                          const hdst__sort_tile *tile);
// Kernels sort_scan and sort_gather.
void hdst__sort_gather_text(hdst__writer *out, const hdst__record *record, bool gpu);

#endif
