// SPDX-License-Identifier: Apache-2.0
// Partitions whose rows have no room in a thread's share of the memory: they are taken piece by piece, and for each piece all of the partition is looked through anew. Pieces are those of
// further bits of the hash; where all bits are used up, and still one hash has too many keys, ranges of its keys. So whatever the keys, a piece fits if a few rows do, and the
// pieces follow one another as the result does.
#include "shuffle/aggregate/aggregate_run.h"

#include <string.h>

enum { HASH_BITS = 32, MOST_ENDS = 32, SHARE = 8 /* one of so many of what is left is not for partitions: rows wait there for others */ };

// --- Memory ---

bool hdst__aggregate_make_bounds(hdst__aggregate_worker *worker)
{
    const uint32_t words = worker->run->layout->key_words;
    if (words) worker->bounds = hdst__alloc(worker->run->engine->allocator, (1 + MOST_ENDS) * words * sizeof *worker->bounds);
    return !words || worker->bounds;
}

void hdst__aggregate_share_memory(hdst__aggregation *run, uint32_t threads)
{
    hdst__engine *engine = run->engine;
    for (uint32_t i = 0; i < run->workers; i++) {
        hdst__aggregate_free_combiner(&run->worker[i]);
        hdst__key_table_destroy(&run->worker[i].table);
    }
    const uint64_t left = hdst__budget_left(&engine->memory);
    for (uint32_t i = 0; i < threads; i++) {
        hdst__aggregate_worker *worker = &run->worker[i];
        hdst__budget_init_share(&worker->memory, &engine->memory, (left - left / SHARE) / threads);
        worker->allocator = hdst__budget_allocator(&worker->memory, engine->allocator);
    }
    run->shares = threads;
}

uint64_t hdst__aggregate_shared_memory(const hdst__aggregation *run)
{
    uint64_t left = 0;
    for (uint32_t i = 0; i < run->shares; i++) left += hdst__budget_left(&run->worker[i].memory);
    return left;
}

// --- Ranges of the keys of one hash ---

static uint64_t *bound(const hdst__aggregate_worker *worker, uint32_t i) { return worker->bounds + (size_t)i * worker->run->layout->key_words; }

static void set_bound(hdst__aggregate_worker *worker, uint32_t i, const uint64_t *key) { memcpy(bound(worker, i), key, worker->run->layout->key_words * sizeof *key); }

// As rows are compared, word by word.
static bool in_range(const hdst__aggregate_worker *worker, const uint64_t *key)
{
    const uint32_t words = worker->run->layout->key_words;
    if (worker->has_from && hdst__key_compare(key, bound(worker, 0), words) < 0) return false;
    return worker->ends == 0 || hdst__key_compare(key, bound(worker, worker->ends), words) < 0;
}

// Ends about in the middle of the keys that had no room. Where very many ends wait their turn, the nearest is forgotten: the range before it goes on to the one after.
static bool end_sooner(hdst__aggregate_worker *worker)
{
    const uint64_t *middle = hdst__aggregate_sorted_middle(worker);
    if (!middle) return false;
    if (worker->ends < MOST_ENDS) worker->ends++;
    set_bound(worker, worker->ends, middle);
    return true;
}

// false: that was the last one.
static bool next_range(hdst__aggregate_worker *worker)
{
    if (worker->ends == 0) return worker->has_from = worker->ranges = false;
    set_bound(worker, 0, bound(worker, worker->ends));
    worker->ends--;
    return worker->has_from = true;
}

// --- Pieces ---

uint64_t hdst__aggregate_pick(const hdst__aggregate_worker *worker, const char *from, uint64_t bytes, uint32_t kind)
{
    const hdst__aggregation_layout *layout = worker->run->layout;
    const uint32_t shift = HASH_BITS - worker->run->choice.partition_bits - worker->split;
    const uint64_t record = kind ? worker->rows.record_bytes : worker->raw.record_bytes, key_at = kind ? sizeof(uint64_t) : layout->raw_key_at;
    uint64_t kept = 0;
    for (uint64_t at = 0; at < bytes; at += record) {
        uint32_t hash;                  // both kinds begin with it
        memcpy(&hash, from + at, sizeof hash);
        if ((uint64_t)hash >> shift != worker->piece_of_partition) continue;
        if (worker->ranges && !in_range(worker, (const uint64_t *)(const void *)(from + at + key_at))) continue;
        memmove(worker->buffer + kept, from + at, record);
        kept += record;
    }
    return kept;
}

// One hash is sorted: its first range is all of it, as long as it is not known which keys it has.
static bool make_smaller(hdst__aggregate_worker *worker)
{
    const hdst__aggregation *run = worker->run;
    if (run->choice.partition_bits + worker->split < HASH_BITS) {
        worker->split++;
        worker->piece_of_partition *= 2;
        return true;
    }
    if (!run->layout->key_words) return false;           // one hash is one key
    if (worker->ranges) return end_sooner(worker);
    worker->ranges = true;
    end_sooner(worker);
    return true;
}

bool hdst__aggregate_split(hdst__aggregate_worker *worker)
{
    if (worker->error.code != HDST_E_MEMORY || atomic_load(&worker->run->stop) || !make_smaller(worker)) return false;
    worker->error = (hdst_error)HDST_ERROR_INIT;
    hdst__free(&worker->allocator, worker->sorted);             // what is taken was enough for half of it, or was too much
    worker->sorted = NULL;
    worker->sorted_words = 0;
    hdst__aggregate_free_sorter(worker);
    return true;
}

// As large as its place in the partition lets it be, as long as the last one's rows say that it will fit: where keys crowd under few hashes, or under one, pieces there are small and
// few.
void hdst__aggregate_next_piece(hdst__aggregate_worker *worker, uint64_t rows)
{
    uint64_t expected = rows;
    if (rows > worker->most_rows) worker->most_rows = rows;
    worker->pieces++;
    worker->range_count += worker->ranges;
    if (worker->ranges && next_range(worker)) return;
    worker->piece_of_partition++;
    while (worker->split && worker->piece_of_partition % 2 == 0 && (expected *= 2) <= worker->most_rows) {
        worker->piece_of_partition /= 2;
        worker->split--;
    }
}
