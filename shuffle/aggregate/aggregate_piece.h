// SPDX-License-Identifier: Apache-2.0
// A piece of a radix partition whose rows have no room in a thread's share of the memory: partitions are taken piece by piece then, and for each piece all of
// the partition is read anew. Pieces are those of further bits of the hash; where all bits are used up, and still one hash has too many keys, ranges of its
// keys. So whatever the keys, a piece fits if a few rows do, and the pieces follow one another as the result does.
#ifndef HDST_SHUFFLE_AGGREGATE_AGGREGATE_PIECE_H
#define HDST_SHUFFLE_AGGREGATE_AGGREGATE_PIECE_H

#include "base/alloc.h"
#include "record/key_texts.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct hdst__partition_piece {
    uint32_t partition_bits, key_words;
    const hdst__key_texts *texts;       // of the keys, or NULL; set behind hdst__partition_piece_create
    uint32_t split;                     // further bits of the hash by which the partition is taken; 0: all of it at once
    uint64_t number;                    // which piece: the partition's bits of the hash and these
    uint64_t most_rows;                 // of a piece so far
    bool ranges;                        // the piece is one hash, taken by ranges of its keys
    bool has_from;                      // not the first of them
    uint64_t *bounds;                   // keys: the range's first one, and where it and those after it end, the nearest last
    uint32_t ends;                      // without one the range has no end
    uint64_t pieces, range_count;       // that were done; of them, ranges
} hdst__partition_piece;

// false: no memory. Fine to destroy when zeroed.
bool hdst__partition_piece_create(hdst__partition_piece *piece, const hdst__allocator *allocator, uint32_t partition_bits, uint32_t key_words);
void hdst__partition_piece_destroy(hdst__partition_piece *piece, const hdst__allocator *allocator);
// The first piece of a partition, and whether the piece at hand is still of it.
void hdst__partition_piece_begin(hdst__partition_piece *piece, uint32_t partition);
bool hdst__partition_piece_is_of(const hdst__partition_piece *piece, uint32_t partition);
// Of `bytes` of records, each of `record` bytes with its hash in front and its key words `key_at` bytes into it, those of the piece, to `to`, which may be
// `from`; their bytes.
uint64_t hdst__partition_piece_pick(const hdst__partition_piece *piece, const char *from, uint64_t bytes, uint64_t record, uint64_t key_at, char *to);
// Whether all bits of the hash are used up, so that only ranges of its keys are smaller.
bool hdst__partition_piece_is_hash(const hdst__partition_piece *piece);
// Makes the piece smaller, as it had no room. `middle`: of one hash, the words of a key about in the middle of those that were seen, with others before it;
// NULL: there is none. false: it cannot be made smaller.
bool hdst__partition_piece_narrow(hdst__partition_piece *piece, const uint64_t *middle);
void hdst__partition_piece_next(hdst__partition_piece *piece, uint64_t rows);           // behind one that had so many

#endif
