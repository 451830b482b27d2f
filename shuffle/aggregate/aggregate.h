// SPDX-License-Identifier: Apache-2.0
// Reductions by key in host memory: records with a key go in, one record for each key comes out, in the order of (hash, key) (record/key_hash.h), whatever the
// device, the number of threads or the container. Three levels, each a step of its own with counters:
//     block    each thread adds records to a table in its cache, and empties a full one to the next level; left out where most keys come once or twice
//     device   what comes from there lies apart by the upper bits of the hash, so that a partition's keys fit a table in the cache; each partition is
//              reduced to rows, in order
//     node     the rows of all partitions; with hpr below `device` reducing the partitions is this step (engine/common/run_stats.h)
// Keys may be numbers of rows of a result that has them all: then the number stands in place of the hash, and there is no block level.
#ifndef HDST_SHUFFLE_AGGREGATE_AGGREGATE_H
#define HDST_SHUFFLE_AGGREGATE_AGGREGATE_H

#include "engine/engine.h"
#include "base/buffer.h"
#include "accum/accumulate_op.h"
#include "accum/keyed_partial.h"
#include "engine/memory/cached_dataset.h"
#include "engine/memory/reader.h"
#include "engine/memory/consumer.h"
#include "engine/memory/text_heap.h"
#include "engine/common/run_stats.h"

typedef struct hdst__aggregate hdst__aggregate;

// What a reduction by key keeps its keys in.
typedef enum hdst__container {
    HDST__CONTAINER_AUTO,               // as the first records say
    HDST__CONTAINER_DENSE,              // an array over a declared range: not of these reductions
    HDST__CONTAINER_TABLE,              // hash tables of threads, then partitions
    HDST__CONTAINER_PARTITIONS,              // partitions by hash, with a table for each
    HDST__CONTAINER_SORTED,             // partitions by hash, sorted by hash and key and reduced run by run
} hdst__container;

typedef struct hdst__aggregate_spec {
    const hdst__record *record;         // of the tuples, and of the result; must outlive the reduction
    const uint32_t *key_leaves;         // the others are reduced, by `laws` in order
    uint32_t key_count;
    const hdst__accumulate_op *laws;            // NULL: there are no others
    hdst__container container;
    // The only key, an integer, is the number of a row of the result: `rows` are its records, what is reduced without the key, `row_count` of them (at most
    // 2^32), the identity where no key came. NULL: one record for each key.
    const hdst__record *rows;
    uint64_t row_count;
    bool unchecked;                     // then a key that is no number of a row stands for the first one
} hdst__aggregate_spec;

// Where the records are. What the host can reach is read where it lies: `rows`, or the segments of `cache` (filled by the first run that reads it); else pieces
// are copied.
typedef struct hdst__aggregate_input {
    const hdst__reader *reader;
    hdst__dataset_cache *cache;         // or NULL
    const void *rows;                   // C structs, all of them; or NULL
    uint64_t version;                   // of the cache's records: another one whenever they may be others than in the run before; 0: they may always be
} hdst__aggregate_input;

// NULL: out of memory.
hdst__aggregate *hdst__aggregate_create(hdst__engine *engine, const hdst__aggregate_spec *spec);
void hdst__aggregate_forget(hdst__aggregate *aggregate);         // gives back what the last run gave, and the memory that it kept for the next one
void hdst__aggregate_destroy(hdst__aggregate *aggregate);        // NULL is fine
// *rows, of *count records, is the reduction's, until its next run; NULL where they stayed on the device. Memory is kept between runs.
hdst_status hdst__aggregate_run(hdst__aggregate *aggregate, const hdst__aggregate_input *input, const void **rows, uint64_t *count, hdst_error *error);
// The other way: records that a stage gives go in slice by slice (hdst__stage_spec.consumer). The consumer is the reduction's. Once the stage ran,
// hdst__aggregate_end gives the result; what a failed run left in it ends with the next one, or with the reduction.
const hdst__consumer *hdst__aggregate_consumer(hdst__aggregate *aggregate);
hdst_status hdst__aggregate_end(hdst__aggregate *aggregate, const void **rows, uint64_t *count, hdst_error *error);
// Whether records of a stage, at most so many, had better stay on the device in whole for hdst__aggregate_run than come slice by slice.
bool hdst__aggregate_wants_whole(hdst__aggregate *aggregate, uint64_t records);
// Where the bytes of the texts in the result are, until the next run or hdst__aggregate_forget; who needs them longer holds it. NULL: the key has no texts.
hdst__text_heap *hdst__aggregate_texts(const hdst__aggregate *aggregate);
// Where the last run left its records on the device; *rows was NULL then. NULL: they are in host memory.
hdst__dataset_cache *hdst__aggregate_resident(hdst__aggregate *aggregate);
// With `rows`: the first record whose key is no number of a row, which ended the last run with HDST_E_RECORD (and a message that does not say which); false:
// none did. Where the engine skips records with errors they are left out.
bool hdst__aggregate_stray(const hdst__aggregate *aggregate, uint64_t *record, uint64_t *key);
// Whether a reduction can have so many rows; and whether it is quicker here than in a stage of the engine's device, with rows of a record like `rows`, reduced
// by `laws`: on CPU devices, where they do not fit its caches. `from_function`: a stage in front makes the tuples, which could as well add them up.
bool hdst__aggregate_takes_rows(uint64_t row_count);
bool hdst__aggregate_suits_rows(hdst__engine *engine, const hdst__record *rows, const hdst__accumulate_op *laws, uint64_t row_count, bool from_function);
// All keys, integers, are expected to be below this from the next run on, which a device that has the records makes use of; 0: nothing is expected. Results
// do not depend on it.
void hdst__aggregate_keys_below(hdst__aggregate *aggregate, uint64_t bound);
bool hdst__aggregate_has_rows(const hdst__aggregate *aggregate);        // whether the last run did, so that they are
// From the next run on the state of each key is kept, too, in host memory alone; not with `rows`.
void hdst__aggregate_keep_state(hdst__aggregate *aggregate);
// What the last run came to, if it kept that. NULL: out of memory.
hdst__keyed_partial *hdst__aggregate_partial(const hdst__aggregate *aggregate, const hdst__allocator *allocator);
const hdst__run_stats *hdst__aggregate_stats(const hdst__aggregate *aggregate);

typedef struct hdst__aggregate_duplicate {
    bool found;
    uint64_t row;                       // the second one with its key
    uint64_t part[2];                   // of the first and of the second
} hdst__aggregate_duplicate;

// Whether a key lies in two parts that the program named: `rows` has counts[0] rows of one run, then counts[1] of the next ...
hdst_status hdst__aggregate_across(hdst__aggregate *aggregate, const void *rows, const uint64_t *counts, uint64_t parts,
                                   hdst__aggregate_duplicate *twice, hdst_error *error);
// What the last run chose and why; before one, how it will. Appended to `out`.
void hdst__aggregate_explain(const hdst__aggregate *aggregate, hdst__buffer *out);

#endif
