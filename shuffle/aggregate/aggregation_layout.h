// SPDX-License-Identifier: Apache-2.0
// Records with a key: which of their elements are the key, how the others are reduced, and how all of that lies in the words that containers hold.
//
// A row of a container (key_table.h) is 64-bit words: a tag (HDST__KEY_USED and the key's hash), the packed key where the hash
// alone does not determine it (key_words; of texts the spans, record/key_texts.h), and the cells, whose identity is zero. A float sum is in fixed point, as in
// accum/fixed_point.h: in one word that counts multiples of 2^-s, or in two (word 1: of 2^-(s + 40)). Addends are below 2^40 in
// each word. The container reports an addend that does not fit, or a word that grew past HDST__KEY_FULL, to its owner, who adds
// it to a superaccumulator. So no choice of scale, of table size or of partitions changes a bit.
#ifndef HDST_SHUFFLE_AGGREGATE_AGGREGATION_LAYOUT_H
#define HDST_SHUFFLE_AGGREGATE_AGGREGATION_LAYOUT_H

#include "record/key_texts.h"
#include "record/layout.h"
#include "accum/cell.h"
#include "accum/combining.h"
#include "accum/fixed_point.h"
#include "base/arena.h"

enum { HDST__KEY_BATCH = 1024 };                // records that are taken apart at once, at most
#define HDST__KEY_USED (UINT64_C(1) << 32)      // of a tag
#define HDST__KEY_FULL (INT64_C(1) << 61)       // words of fixed point are moved on from here, in magnitude
enum { HDST__KEY_ADDS = 1 << 20 };              // records after which a table is looked through for such words: 2^20 addends below 2^40 are less than 2^60

typedef struct hdst__key_column {       // one element of the key
    uint32_t leaf;
    uint64_t element;
    uint32_t bytes, at;                 // its place in the packed key
} hdst__key_column;

typedef struct hdst__value_column {     // one element that is reduced
    uint32_t leaf, number;              // number: of its leaf among those reduced
    uint64_t element;
    hdst__cell cell;                    // kind, law and, of a float sum, the superaccumulator; `precision class` says how it is held
    int32_t s;                          // scale of a float sum
    uint32_t bytes, raw_at;             // in a raw record
    uint32_t word, words;               // of the cells of a row; words is 0 in precision class WIDE
    uint32_t superaccumulator_word;                 // of a row's superaccumulators; only float sums have them
} hdst__value_column;

typedef struct hdst__aggregation_layout {
    const hdst__record *record;         // of tuples, and of results
    const hdst__key_column *key;
    hdst__value_column *value;
    uint64_t key_count, value_count;
    uint32_t key_bytes, key_words;      // key_words is 0 where the key has at most 4 bytes; of texts both count spans
    const hdst__key_texts *texts;       // of the key; NULL: it has none
    uint32_t cell_words, row_words;     // chosen by hdst__aggregation_layout_choose, once the precision classes are known
    uint32_t superaccumulator_words, overflow_row_words;
    uint32_t raw_bytes, raw_key_at;     // of a raw record: {uint32 hash, small values, key words, values of 8 bytes}
    uint32_t batch;                     // records that are taken apart at once
    uint64_t look_after;                // records after which a table is looked through for words that grew past `full`: HDST__KEY_ADDS and HDST__KEY_FULL,
    int64_t full;                       // or less, in tests
    uint64_t fixed;                     // float sums that are held in words; without one no table needs to be looked through
    const hdst__combining *combining;   // NULL, or how kernels may make records fewer before they come
    const hdst__record *rows;           // of results whose key is the number of a row and left out; NULL: any key
    uint64_t row_count;                 // then: keys are below it, 2^32 at most
    uint32_t row_shift;                 // and stand in place of the hash, so many bits further up
} hdst__aggregation_layout;

// NULL, or why these leaves are no key that can be hashed; *leaf is then the one that is to blame.
const char *hdst__aggregation_layout_why_not(const hdst__record *record, const uint32_t *key_leaves, uint32_t count, uint32_t *leaf);
// Leaves `key_leaves` of `record` are the key, all others are reduced, the next one each by the next law of `laws` (NULL: there are none to reduce). In the
// arena.
hdst__aggregation_layout *hdst__aggregation_layout_make(hdst__arena *arena, const hdst__record *record, const uint32_t *key_leaves, uint32_t count,
                                                        const hdst__accumulate_op *laws);
// The same where the key, an integer, is the number of a row, one of `row_count` (1 ... 2^32). `rows` are the results: what is reduced, in order, without the
// key.
hdst__aggregation_layout *hdst__aggregation_layout_make_rows(hdst__arena *arena, const hdst__record *record, uint32_t key_leaf, const hdst__accumulate_op *laws,
                                                             const hdst__record *rows, uint64_t row_count);
// Precision classes and scales were set in the value columns: places of the cells follow.
void hdst__aggregation_layout_choose(hdst__aggregation_layout *layout);

// --- A batch: records taken apart, column by column (key_columns.c) ---

typedef struct hdst__key_source {       // where the values of a column lie
    const char *base;
    uint64_t stride;                    // bytes from one record to the next
} hdst__key_source;

typedef struct hdst__key_batch {
    uint32_t count;
    hdst__key_source *source;           // of the value columns
    hdst__key_source *key_source;       // of the key columns; of raw records: not used
    uint32_t *hash;                     // [batch]
    uint64_t *key;                      // [batch][key_words]
    uint64_t *word;                     // [cell_words][batch]
    uint8_t *exception;                    // [batch]: 1 if some addend does not fit
    bool exceptions;                       // there is one
    bool strays;                        // some key is no number of a row
} hdst__key_batch;

bool hdst__key_batch_create(hdst__key_batch *batch, const hdst__allocator *allocator, const hdst__aggregation_layout *layout);
void hdst__key_batch_destroy(hdst__key_batch *batch, const hdst__allocator *allocator);
// Records first ... first + count - 1 of a storage; count is at most `layout->batch`. Their keys and hashes are there then. For AoSoA they must lie in one
// block.
void hdst__key_batch_open(hdst__key_batch *batch, const hdst__aggregation_layout *layout, const hdst__storage *storage, const void *const *buffers,
                          uint64_t first, uint32_t count);
// Where keys are numbers of rows: the key of a record of the storage as 64 bits, and whether there is no such row.
bool hdst__key_batch_is_stray(const hdst__key_batch *batch, const hdst__aggregation_layout *layout, uint32_t i, uint64_t *key);
// Where the key has texts: the hashes of the batch's keys, whose words are there (key_text_columns.c).
void hdst__key_batch_hash_texts(hdst__key_batch *batch, const hdst__aggregation_layout *layout);
// The same as hdst__key_batch_open of raw records.
void hdst__key_batch_open_raw(hdst__key_batch *batch, const hdst__aggregation_layout *layout, const char *raw, uint32_t count);
// Words of the values. Those of a record with a exception are zero, all of them if `whole`, else those of the addends that do not fit.
void hdst__key_batch_words(hdst__key_batch *batch, const hdst__aggregation_layout *layout, bool whole);
uint64_t hdst__key_batch_bits(const hdst__key_batch *batch, const hdst__value_column *column, uint64_t column_number, uint32_t i);     // bits of a value
void hdst__key_batch_to_raw(const hdst__key_batch *batch, const hdst__aggregation_layout *layout, uint32_t i, char *raw);
// Whether the float sum's addend is outside of the words of its column.
bool hdst__value_is_exception(const hdst__value_column *column, uint64_t bits);

// --- Results (key_rows.c) ---

// A column's value, from its first word among the cells of a row.
uint64_t hdst__value_read(const hdst__value_column *column, const uint64_t *word, const int64_t *overflow);
// Writes rows of a container as C structs of layout->record, padding zero. overflow: what was too large or too fine for the row's words, or NULL.
void hdst__row_write(const hdst__aggregation_layout *layout, const uint64_t *row, const int64_t *overflow, char *record);
// `count` rows, one after another, without superaccumulators.
void hdst__row_write_all(const hdst__aggregation_layout *layout, const uint64_t *rows, uint64_t count, char *records);

// Whether a fixed-point word among the cells of a row must move on before more is added to it.
static inline bool hdst__cells_are_full(const hdst__aggregation_layout *layout, const uint64_t *cells)
{
    for (uint64_t c = 0; c < layout->value_count; c++) {
        const hdst__value_column *column = &layout->value[c];
        for (uint32_t w = 0; column->cell.digits && w < column->words; w++)
            if (!hdst__fixed_has_room((int64_t)cells[column->word + w], layout->full)) return true;
    }
    return false;
}

static inline bool hdst__row_is_full(const hdst__aggregation_layout *layout, const uint64_t *row)
{
    return hdst__cells_are_full(layout, row + 1 + layout->key_words);
}

#endif
