// SPDX-License-Identifier: Apache-2.0
// Bytes of keys that go on to where what they came with does not last: those of a text that is not in its span go to a text heap, and the key refers to them
// there. A thread has one.
#ifndef HDST_SHUFFLE_AGGREGATE_KEY_KEEPER_H
#define HDST_SHUFFLE_AGGREGATE_KEY_KEEPER_H

#include "engine/memory/text_heap.h"
#include "record/key_texts.h"

typedef struct hdst__key_keeper {
    hdst__text_writer writer;
    hdst_error *error;                  // set where it fails
    bool failed;                        // once; its owner ends the run
} hdst__key_keeper;

// false: the error is set.
static inline bool hdst__key_keep(hdst__key_keeper *keeper, const hdst__key_texts *texts, uint64_t *key)
{
    for (uint32_t t = 0; t < texts->count; t++) {
        hdst__text_span span = hdst__span_of_words(key + texts->word[t]);
        if (hdst__text_is_inline(&span)) continue;
        if (hdst__text_keep(&keeper->writer, &span, keeper->error) != HDST_OK) return !(keeper->failed = true);
        memcpy(key + texts->word[t], &span, sizeof span);
    }
    return true;
}

#endif
