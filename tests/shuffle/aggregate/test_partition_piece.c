// SPDX-License-Identifier: Apache-2.0
// Pieces of a partition: whatever is found to have no room, and wherever it is halved, all pieces together are the records of the partition, each once, in the
// order of (hash, key) from piece to piece. The order is told by qsort over the same records.
#include "shuffle/aggregate/aggregate_piece.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

enum { RECORDS = 4096, BITS = 4, PARTITION = 9, ROOM = 8 /* records of a piece at most */, STEPS = 100000 };

typedef struct record {
    uint32_t hash, number;
    uint64_t key;
} record;

static uint64_t random_bits(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state >> 33;
}

static int compare(const void *a, const void *b)
{
    const record *x = a, *y = b;
    if (x->hash != y->hash) return x->hash < y->hash ? -1 : 1;
    return x->key != y->key ? (x->key < y->key ? -1 : 1) : 0;
}

// Hashes of the partition and of others; half of the partition's are one hash, with a key each.
static uint64_t fill(record *all, record *expected)
{
    uint64_t state = 7, count = 0;
    for (uint32_t i = 0; i < RECORDS; i++) {
        const uint32_t bits = (uint32_t)random_bits(&state) << 1, own = (uint32_t)PARTITION << (32 - BITS);
        all[i] = (record){i % 3 ? bits : i % 2 ? own | bits >> BITS : own | 0x1234567, i, random_bits(&state) << 20 ^ i};
        if (all[i].hash >> (32 - BITS) == PARTITION) expected[count++] = all[i];
    }
    qsort(expected, count, sizeof *expected, compare);
    return count;
}

// Of records in order, the key in the middle if there are others before it.
static const uint64_t *middle_of(const record *records, uint64_t count)
{
    for (uint64_t i = count / 2; i < count; i++)
        if (records[i].key != records[0].key) return &records[i].key;
    return NULL;
}

Test(partition_piece, all_pieces_are_the_partition_in_order)
{
    static record all[RECORDS], expected[RECORDS], picked[RECORDS];
    const uint64_t count = fill(all, expected);
    hdst__partition_piece piece;
    uint64_t done = 0, steps = 0;
    cr_assert(hdst__partition_piece_create(&piece, NULL, BITS, 1));
    cr_assert_gt(count, RECORDS / 6);
    for (hdst__partition_piece_begin(&piece, PARTITION); hdst__partition_piece_is_of(&piece, PARTITION); steps++) {
        cr_assert_lt(steps, STEPS);
        const uint64_t bytes = hdst__partition_piece_pick(&piece, (const char *)all, sizeof all, sizeof *all, offsetof(record, key), (char *)picked);
        const uint64_t now = bytes / sizeof *picked;
        qsort(picked, now, sizeof *picked, compare);
        if (now > ROOM) {
            const bool is_hash = hdst__partition_piece_is_hash(&piece);
            cr_assert(hdst__partition_piece_narrow(&piece, is_hash ? middle_of(picked, now) : NULL));
            continue;
        }
        cr_assert_leq(done + now, count);
        for (uint64_t i = 0; i < now; i++) cr_assert_eq(picked[i].number, expected[done + i].number, "record %d", (int)(done + i));
        done += now;
        hdst__partition_piece_next(&piece, now);
    }
    cr_assert_eq(done, count);
    cr_assert_gt(piece.range_count, 10);
    cr_assert_gt(piece.pieces, piece.range_count);
    hdst__partition_piece_destroy(&piece, NULL);
}

// One hash is one key where keys are no longer than their hash: nothing is smaller than it.
Test(partition_piece, one_hash_is_the_smallest_without_further_words)
{
    hdst__partition_piece piece;
    cr_assert(hdst__partition_piece_create(&piece, NULL, 30, 0));
    hdst__partition_piece_begin(&piece, 5);
    cr_assert(hdst__partition_piece_narrow(&piece, NULL));
    cr_assert(hdst__partition_piece_narrow(&piece, NULL));
    cr_assert(hdst__partition_piece_is_hash(&piece));
    cr_assert_eq(piece.number, 20);
    cr_assert_not(hdst__partition_piece_narrow(&piece, NULL));
    hdst__partition_piece_destroy(&piece, NULL);
}
