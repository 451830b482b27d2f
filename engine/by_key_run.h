// SPDX-License-Identifier: Apache-2.0
// A run of a reduction by key, as its files see it.
//
// by_key.c          threads, the order of steps, the result
// by_key_choose.c   what a sample says: scales, tables, parts
// by_key_block.c    records to tables of threads and to parts
// by_key_part.c     parts to rows
#ifndef HDST_ENGINE_BY_KEY_RUN_H
#define HDST_ENGINE_BY_KEY_RUN_H

#include "engine/by_key.h"
#include "engine/engine_private.h"
#include "shuffle/key_parts.h"
#include "shuffle/key_table.h"

enum { HDST__BY_KEY_THREADS = 64 };

typedef struct hdst__by_key_choice {
    uint64_t sampled;                   // records
    double distinct;                    // keys, estimated
    bool blocks;                        // threads have tables
    uint32_t block_bits, part_bits, table_bits;     // rows of a thread's table; parts; rows of a part's table at first
    uint32_t tier_count[HDST__TIER_WIDE + 1];       // float sums by how they are held
    char why[160];
} hdst__by_key_choice;

typedef struct hdst__by_key_slab {      // memory for chunks
    struct hdst__by_key_slab *next;
    uint64_t bytes;
} hdst__by_key_slab;

typedef struct hdst__by_key_result {    // of a part
    char *records;
    uint64_t count;
} hdst__by_key_result;

typedef struct hdst__by_key_pass {
    hdst__by_key *by_key;
    hdst__engine *engine;
    const hdst__reader *reader;
    hdst__keyed *keyed;
    hdst__by_key_choice choice;
    const hdst__storage *piece;         // of records that are taken apart in one go
    pthread_mutex_t lock;               // of what follows
    uint64_t next_record;               // of the input
    uint32_t next_part;
    hdst__by_key_slab *slabs;
    atomic_bool stop;
    struct hdst__by_key_worker *worker;
    uint32_t workers;
    hdst__by_key_result *result;        // by part
    char *rows;                         // all of them
} hdst__by_key_pass;

typedef struct hdst__by_key_worker {
    hdst__by_key_pass *run;
    hdst_status status;
    hdst_error error;
    hdst__key_batch batch;
    void **piece;                       // memory for run->piece
    hdst__key_table block;
    bool blocks;                        // still worth while
    uint64_t since_flush, misfits;
    hdst__key_parts raw, rows;
    char *slab, *slab_end;
    hdst__key_table table, wide;        // of a part
    uint64_t *sorted, sorted_words;
    uint64_t in, to_parts, out;         // records; pairs and rows that left the blocks; keys
    uint64_t flushes;
} hdst__by_key_worker;

struct hdst__by_key {
    hdst__engine *engine;
    hdst__arena arena;
    hdst__by_key_spec spec;
    hdst__keyed *keyed;
    hdst__run_stats stats;
    hdst__by_key_choice choice;
    bool ran;
    uint64_t keys, flushes;
};

// by_key_choose.c: looks at the first records. Sets tiers and scales in run->keyed.
hdst_status hdst__by_key_choose(hdst__by_key_pass *run, hdst_error *error);
// by_key_block.c: all records of the input that no other thread takes, and then what is left in its table.
hdst_status hdst__by_key_blocks(hdst__by_key_worker *worker);
// by_key_part.c: all parts that no other thread takes.
hdst_status hdst__by_key_part(hdst__by_key_worker *worker);

// by_key.c
void *hdst__by_key_take(hdst__by_key_pass *run, uint64_t bytes, const char *what, hdst_error *error);    // counts towards the budget; NULL: error is set
void hdst__by_key_give(hdst__by_key_pass *run, void *memory, uint64_t bytes);
void *hdst__by_key_more(void *worker, uint64_t bytes);      // hdst__key_memory

#endif
