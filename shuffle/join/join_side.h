// SPDX-License-Identifier: Apache-2.0
// One side of a join: its records in the order (hash of the key, key, place in the input), readable like memory.
//
// Where the budget has room they are ordered there (shuffle/group/group.h). Else they go, behind their hash and the words of their key, through a sort
// (shuffle/sort/sort.h), whose runs are in temporary files, and what comes out lies in a temporary file that is mapped.
#ifndef HDST_SHUFFLE_JOIN_JOIN_SIDE_H
#define HDST_SHUFFLE_JOIN_JOIN_SIDE_H

#include "engine/memory/host_rows.h"
#include "record/key_field.h"
#include "record/key_hash.h"
#include "shuffle/group/group.h"
#include "shuffle/sort/sort.h"

#include <string.h>

typedef struct hdst__join_side {
    hdst__engine *engine;
    const hdst__record *record;
    hdst__key_fields key;

    // In order: record i is at rows + i * step + at
    const char *rows;
    uint64_t count, step, at;
    const char *way;                // how they were ordered, for people; NULL: they were not

    // What holds them
    hdst__group group;              // in memory
    hdst__sort *sort;               // made when it is needed
    hdst__rows read;                // what came out of it, where it has no rows in memory
    hdst__arena arena;
    const hdst__record *keyed;      // {uint32_t hash; uint64_t word[]; the record}
    const char *why_not;            // NULL, or why there is no such record
    hdst__sort_key *keys;
    size_t key_count;
    const hdst__reader *input;      // in a run
    const hdst__storage *piece;     // of it: a few of its records
} hdst__join_side;

// The record and the fields must outlive it. HDST_E_MEMORY leaves what hdst__join_side_release takes.
hdst_status hdst__join_side_init(hdst__join_side *side, hdst__engine *engine, const hdst__record *record, const hdst__key_field *key, size_t key_count,
                                 hdst_error *error);
void hdst__join_side_forget(hdst__join_side *side);     // gives the records back
void hdst__join_side_release(hdst__join_side *side);    // safe on a zeroed one
hdst_status hdst__join_side_order(hdst__join_side *side, const hdst__reader *input, hdst__run_stats *stats, hdst_error *error);

static inline const char *hdst__join_row(const hdst__join_side *side, uint64_t i) { return side->rows + i * side->step + side->at; }

static inline uint32_t hdst__join_hash(const hdst__join_side *side, uint64_t i)
{
    const char *row = hdst__join_row(side, i);
    if (side->key.count == 1 && side->key.bytes == 4) {     // the usual keys
        uint32_t bits;
        memcpy(&bits, row + side->key.field->offset, sizeof bits);
        return hdst__key_mix32(bits);
    }
    if (side->key.count == 1 && side->key.bytes == 8 && !side->key.has_text) {
        uint64_t bits;
        memcpy(&bits, row + side->key.field->offset, sizeof bits);
        return (uint32_t)(hdst__key_mix64(bits) >> 32);
    }
    return hdst__key_fields_hash(&side->key, row);
}

static inline bool hdst__join_same_key(const hdst__join_side *side, uint64_t i, uint64_t j)
{
    const char *a = hdst__join_row(side, i), *b = hdst__join_row(side, j);
    if (side->key.count == 1 && side->key.bytes == 4) return !memcmp(a + side->key.field->offset, b + side->key.field->offset, 4);
    if (side->key.count == 1 && !side->key.has_text) return !memcmp(a + side->key.field->offset, b + side->key.field->offset, side->key.bytes);
    return !hdst__key_fields_compare(&side->key, a, b);
}

#endif
