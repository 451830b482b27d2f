// SPDX-License-Identifier: Apache-2.0
// Records of an input, a few at a time (shuffle/group/group_batch.h).
#include "shuffle/group/group_batch.h"

#include "engine/engine.h"
#include "engine/memory/reader.h"
#include "record/layout.h"
#include "base/costs_host.h"

hdst_status hdst__group_batch_make(const hdst__group *g, hdst__group_batch *b, const hdst__reader *input, hdst_error *error)
{
    jmp_buf out_of_memory;
    hdst__arena_init(&b->arena, hdst__engine_owned(g->engine, HDST__OWNER_SORTS), &out_of_memory);
    if (setjmp(out_of_memory)) return hdst__error_memory(error, "records by key");
    const uint64_t share = hdst__budget_left(hdst__engine_memory(g->engine)) / HDST__HOST_GROUP_BATCH_SHARE,
        fit = (share < HDST__HOST_GROUP_BATCH_BYTES ? share : HDST__HOST_GROUP_BATCH_BYTES) / g->record->size + 1;
    b->records = fit < input->records ? fit : input->records;
    b->storage = hdst__storage_make(&b->arena, g->record, HDST__AOS, 0, b->records);
    b->rows = hdst__arena_alloc(&b->arena, b->records * g->record->size);
    b->arena.out_of_memory = NULL;
    return b->storage ? HDST_OK : hdst__error_memory(error, "records by key");
}

hdst_status hdst__group_batch_read(const hdst__group *g, const hdst__group_batch *b, const hdst__reader *input, uint64_t first, uint64_t *count,
                                   hdst_error *error)
{
    void *buffers[] = {b->rows};
    const uint64_t left = input->records - first;
    *count = left < b->records ? left : b->records;
    if (hdst__cancel_asked(hdst__engine_cancel(g->engine))) return hdst__cancel_error(first, input->records, error);
    return hdst__reader_fill(input, hdst__engine_threads(g->engine), first, *count, b->storage, buffers, 0, error);
}
