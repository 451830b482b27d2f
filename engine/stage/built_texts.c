// SPDX-License-Identifier: Apache-2.0
// Texts that a function builds in arrays of its own (engine/stage/built_texts.h).
#include "engine/stage/built_texts.h"
#include "record/text_span.h"

#include <string.h>

enum { ROWS = 1 << 14 };        // that are taken apart at once

// Text number `text` of all records, whose leaf it is; `at` are its length and its bytes.
static void refer(const hdst__built_texts *built, const hdst__leaf *leaf, const hdst__leaf *at, const char *written, uint64_t count)
{
    const uint64_t step = built->output->record->size, size = built->output->given->size;
    for (uint64_t i = 0; i < count; i++, written += step) {
        uint32_t length;
        memcpy(&length, written + at[0].offset, sizeof length);
        if (!length) continue;                  // it is another text
        const hdst__text_span span = hdst__text_span_of(written + at[1].offset, length - 1);
        memcpy(built->rows + i * size + leaf->offset, &span, sizeof span);
    }
}

static hdst_status take_apart(hdst__built_texts *built, const char *written, uint64_t count, hdst_error *error)
{
    const hdst__record *given = built->output->given, *record = built->output->record;
    const uint64_t own = record->leaves[given->leaf_count].offset;         // what lies before: the record's fields. Padding behind them is zero
    const hdst__leaf *at = record->leaves + given->leaf_count;
    if (!built->rows) built->rows = hdst__budget_alloc(built->budget, HDST__OWNER_OUTPUT, ROWS * given->size, "records with texts", error);
    if (!built->rows) return HDST_E_MEMORY;
    memset(built->rows, 0, count * given->size);
    for (uint64_t i = 0; i < count; i++) memcpy(built->rows + i * given->size, written + i * record->size, own < given->size ? own : given->size);
    for (size_t l = 0; l < given->leaf_count; l++) {
        if (given->leaves[l].kind != HDST__TEXT) continue;
        refer(built, &given->leaves[l], at, written, count);
        at += 2;
    }
    return HDST_OK;
}

hdst_status hdst__built_texts_each(hdst__built_texts *built, const char *written, uint64_t count, hdst__built_taker *take, void *user, hdst_error *error)
{
    hdst_status status = HDST_OK;
    if (!built) return take(user, written, count, error);
    for (uint64_t done = 0, some; done < count && status == HDST_OK; done += some) {
        some = count - done < ROWS ? count - done : ROWS;
        status = take_apart(built, written + done * built->output->record->size, some, error);
        if (status == HDST_OK) status = take(user, built->rows, some, error);
    }
    return status;
}

void hdst__built_texts_free(hdst__built_texts *built, const hdst__allocator *allocator)
{
    hdst__free(allocator, built->rows);
    built->rows = NULL;
}
