// SPDX-License-Identifier: Apache-2.0
// Partitioning by hash: what goes into the partitions lies in their chunks, also where asking for a chunk moves
// records that lie in chunks, as a thread does whose pairs pile up.
#include "shuffle/aggregate/radix_partitions.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

enum { BITS = 2, PARTS = 1 << BITS, RECORD = 8, CHUNKS = 64 };

typedef struct mover {
    hdst__radix_partitions pairs, rows;
    void *chunk[CHUNKS];
    int chunks;
    bool moves;                         // the next chunk that is asked for makes each partition's pairs one row
} mover;

static void *take(void *user, uint64_t bytes)
{
    mover *m = user;
    cr_assert_lt(m->chunks, CHUNKS);
    cr_assert_eq(posix_memalign(&m->chunk[m->chunks], 64, bytes), 0);
    return m->chunk[m->chunks++];
}

static void *take_or_move(void *user, uint64_t bytes)
{
    mover *m = user;
    static const char row[RECORD];
    for (uint32_t p = 0; m->moves && p < PARTS; p++) {
        hdst__radix_partitions_detach(&m->pairs, p);
        cr_assert(hdst__radix_partitions_put(&m->rows, p, row, 1));
        hdst__radix_partitions_seal(&m->rows, p);
        hdst__radix_partitions_seal(&m->pairs, p);
    }
    m->moves = false;
    return take(user, bytes);
}

static void add(hdst__radix_partitions *partitions, uint32_t partition, int records)
{
    for (int i = 0; i < records; i++) {
        memset(hdst__radix_partitions_next(partitions, partition), 1, RECORD);
        cr_assert(hdst__radix_partitions_added(partitions, partition));
    }
}

static uint64_t records_in(const hdst__radix_partitions *partitions, uint32_t partition)
{
    uint64_t bytes = 0;
    for (const hdst__partition_chunk *chunk = partitions->partition[partition].first; chunk; chunk = chunk->next) bytes += chunk->bytes;
    return bytes / RECORD;
}

static void start(mover *m)
{
    *m = (mover){.moves = false};
    cr_assert(hdst__radix_partitions_create(&m->rows, NULL, BITS, RECORD, take, m));
    cr_assert(hdst__radix_partitions_create(&m->pairs, NULL, BITS, RECORD, take_or_move, m));
}

static void end(mover *m)
{
    hdst__radix_partitions_destroy(&m->pairs);
    hdst__radix_partitions_destroy(&m->rows);
    for (int i = 0; i < m->chunks; i++) free(m->chunk[i]);
}

Test(key_parts, all_records_lie_in_chunks_at_the_end)
{
    mover m;
    start(&m);
    for (uint32_t p = 0; p < PARTS; p++) add(&m.pairs, p, 20000 + (int)p);
    cr_assert(hdst__radix_partitions_end(&m.pairs));
    for (uint32_t p = 0; p < PARTS; p++) cr_expect_eq(records_in(&m.pairs, p), 20000 + p, "part %u", p);
    end(&m);
}

// Pairs of all partitions are in lines when their end begins; that of the rows was before.
Test(key_parts, rows_that_are_made_at_the_end_lie_in_chunks)
{
    mover m;
    start(&m);
    for (uint32_t p = 0; p < PARTS; p++) add(&m.pairs, p, 3);
    cr_assert(hdst__radix_partitions_end(&m.rows));
    m.moves = true;
    cr_assert(hdst__radix_partitions_end(&m.pairs));
    for (uint32_t p = 0; p < PARTS; p++) {
        cr_expect_eq(records_in(&m.rows, p), 1, "rows of part %u", p);
        cr_expect_eq(records_in(&m.pairs, p), 3, "pairs of part %u", p);
    }
    end(&m);
}
