// SPDX-License-Identifier: Apache-2.0
// Partials of reductions by key: a row for each key, in the order of (hash, key) as in results (record/key_hash.h), and the state of what is reduced. Two
// lists of keys meet as in a merge sort.
#ifndef HDST_ACCUM_KEYED_PARTIAL_H
#define HDST_ACCUM_KEYED_PARTIAL_H

#include "accum/partial.h"
#include "record/key_texts.h"

typedef struct hdst__keyed_partial {
    const hdst__allocator *allocator;
    uint32_t key_bytes, key_words;      // of a packed key; words: at least one; of texts both count spans
    const hdst__key_texts *texts;       // of the key, whoever made it has them, and the bytes; NULL: it has none
    uint64_t count;                     // keys
    uint64_t *keys;
    hdst__partial *state;               // one accumulator, of as many rows (or one, where there is no key)
} hdst__keyed_partial;

// `count` rows without keys and values yet: who makes it fills the keys, in order, and the state. cells: one for each leaf that is reduced, with its
// elements. NULL: out of memory.
hdst__keyed_partial *hdst__keyed_partial_create(const hdst__allocator *allocator, uint32_t key_bytes, const hdst__cell *cells, size_t cell_count,
                                                uint64_t count);
// The same of a state that there is, which it takes over. NULL: out of memory, and the state is the caller's still.
hdst__keyed_partial *hdst__keyed_partial_of(hdst__partial *state, uint32_t key_bytes, const hdst__key_texts *texts, uint64_t count);
void hdst__keyed_partial_destroy(hdst__keyed_partial *partial);     // NULL is fine
bool hdst__keyed_partial_in_order(const hdst__keyed_partial *partial);      // each key once, in order
// HDST_E_MEMORY: `to` is as it was, or where both had the same keys, worthless.
hdst_status hdst__keyed_partial_merge(hdst__keyed_partial *to, const hdst__keyed_partial *from, hdst_error *error);

#endif
