// SPDX-License-Identifier: Apache-2.0
// Texts of records that are saved for `hdst replay` (replay_texts.h).
#include "plan/replay_texts.h"

#include "record/text_span.h"

#include <string.h>

typedef struct taker {
    hdst__replay *replay;
    uint64_t bytes;             // of the texts that are looked at
    char *to;                   // where the next one goes
} taker;

static bool count_text(void *user, hdst__text_span *span)
{
    taker *t = user;
    if (!hdst__text_is_inline(span)) t->bytes += span->length;
    return true;
}

static bool take_text(void *user, hdst__text_span *span)
{
    taker *t = user;
    if (hdst__text_is_inline(span)) return true;
    hdst__text_copy(t->to, span);
    span->address = (uint64_t)(t->to - t->replay->texts);
    t->to += span->length;
    return true;
}

const void *hdst__replay_take_texts(hdst__arena *arena, const hdst__record *record, const void *rows, uint64_t count, hdst__replay *replay)
{
    if (!record->has_text || !count) return rows;
    taker t = {.replay = replay};
    void *copy = memcpy(hdst__arena_alloc(arena, count * record->size), rows, count * record->size);
    hdst__record_texts(record, copy, count, count_text, &t);
    const uint64_t before = replay->text_bytes;
    replay->text_bytes += t.bytes;
    if (replay->text_bytes > HDST__REPLAY_BYTES) return rows;       // such a record is not saved
    char *texts = hdst__arena_alloc(arena, replay->text_bytes + 1);
    if (before) memcpy(texts, replay->texts, before);
    replay->texts = texts;
    t.to = texts + before;
    hdst__record_texts(record, copy, count, take_text, &t);
    return copy;
}
