// SPDX-License-Identifier: Apache-2.0
// Pieces of a radix partition (shuffle/aggregate/aggregate_piece.h): bits of the hash, then ranges of keys.
#include "shuffle/aggregate/aggregate_piece.h"

#include "shuffle/aggregate/key_table.h"

#include <string.h>

enum { HASH_BITS = 32, MOST_ENDS = 32 };

bool hdst__partition_piece_create(hdst__partition_piece *piece, const hdst__allocator *allocator, uint32_t partition_bits, uint32_t key_words)
{
    *piece = (hdst__partition_piece){.partition_bits = partition_bits, .key_words = key_words};
    if (key_words) piece->bounds = hdst__alloc(allocator, (1 + MOST_ENDS) * key_words * sizeof *piece->bounds);
    return !key_words || piece->bounds;
}

void hdst__partition_piece_destroy(hdst__partition_piece *piece, const hdst__allocator *allocator)
{
    hdst__free(allocator, piece->bounds);
    piece->bounds = NULL;
}

void hdst__partition_piece_begin(hdst__partition_piece *piece, uint32_t partition) { piece->number = (uint64_t)partition << piece->split; }
bool hdst__partition_piece_is_of(const hdst__partition_piece *piece, uint32_t partition) { return piece->number >> piece->split == partition; }

// --- Ranges of the keys of one hash ---

static uint64_t *bound(const hdst__partition_piece *piece, uint32_t i) { return piece->bounds + (size_t)i * piece->key_words; }

static void set_bound(hdst__partition_piece *piece, uint32_t i, const uint64_t *key) { memcpy(bound(piece, i), key, piece->key_words * sizeof *key); }

// As rows are compared.
static bool in_range(const hdst__partition_piece *piece, const uint64_t *key)
{
    if (piece->has_from && hdst__key_compare(piece->texts, key, bound(piece, 0), piece->key_words) < 0) return false;
    return piece->ends == 0 || hdst__key_compare(piece->texts, key, bound(piece, piece->ends), piece->key_words) < 0;
}

// Ends at the key about in the middle. Where very many ends wait their turn, the nearest is forgotten: the range before it goes on to the one after.
static bool end_sooner(hdst__partition_piece *piece, const uint64_t *middle)
{
    if (!middle) return false;
    if (piece->ends < MOST_ENDS) piece->ends++;
    set_bound(piece, piece->ends, middle);
    return true;
}

// false: that was the last one.
static bool next_range(hdst__partition_piece *piece)
{
    if (piece->ends == 0) return piece->has_from = piece->ranges = false;
    set_bound(piece, 0, bound(piece, piece->ends));
    piece->ends--;
    return piece->has_from = true;
}

// --- Pieces ---

uint64_t hdst__partition_piece_pick(const hdst__partition_piece *piece, const char *from, uint64_t bytes, uint64_t record, uint64_t key_at, char *to)
{
    const uint32_t shift = HASH_BITS - piece->partition_bits - piece->split;
    uint64_t kept = 0;
    for (uint64_t at = 0; at < bytes; at += record) {
        uint32_t hash;
        memcpy(&hash, from + at, sizeof hash);
        if ((uint64_t)hash >> shift != piece->number) continue;
        if (piece->ranges && !in_range(piece, (const uint64_t *)(const void *)(from + at + key_at))) continue;
        memmove(to + kept, from + at, record);
        kept += record;
    }
    return kept;
}

bool hdst__partition_piece_is_hash(const hdst__partition_piece *piece) { return piece->partition_bits + piece->split >= HASH_BITS; }

// One hash is sorted: its first range is all of it, as long as it is not known which keys it has.
bool hdst__partition_piece_narrow(hdst__partition_piece *piece, const uint64_t *middle)
{
    if (!hdst__partition_piece_is_hash(piece)) {
        piece->split++;
        piece->number *= 2;
        return true;
    }
    if (!piece->key_words) return false;                // one hash is one key
    if (piece->ranges) return end_sooner(piece, middle);
    piece->ranges = true;
    end_sooner(piece, middle);
    return true;
}

// As large as its place in the partition lets it be, as long as the last one's rows say that it will fit: where keys crowd under few hashes, or under one,
// pieces there are small and few.
void hdst__partition_piece_next(hdst__partition_piece *piece, uint64_t rows)
{
    uint64_t expected = rows;
    if (rows > piece->most_rows) piece->most_rows = rows;
    piece->pieces++;
    piece->range_count += piece->ranges;
    if (piece->ranges && next_range(piece)) return;
    piece->number++;
    while (piece->split && piece->number % 2 == 0 && (expected *= 2) <= piece->most_rows) {
        piece->number /= 2;
        piece->split--;
    }
}
