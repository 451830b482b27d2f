// SPDX-License-Identifier: Apache-2.0
// The records of a part of the keys, where memory is short.
#include "shuffle/group/group_read.h"

#include "engine/engine.h"
#include "engine/stage/executor.h"
#include "shuffle/group/group_batch.h"
#include "shuffle/group/group_key.h"
#include "base/clock.h"
#include "base/costs_host.h"
#include "engine/memory/host_rows.h"

#include <string.h>

// --- A part ---

void hdst__group_forget_bad(hdst__group *g)
{
    if (g->parts) return;
    g->skipped = 0;
    g->bad_record = UINT64_MAX;
}

static hdst_status take_rows(hdst__group *g, hdst__rows *rows, hdst_error *error)
{
    const uint64_t bytes = g->most * g->record->size;
    *rows = (hdst__rows){.records = hdst__budget_alloc(hdst__engine_memory(g->engine), HDST__OWNER_SORTS, bytes, "records by key", error), .bytes = bytes};
    return rows->records ? HDST_OK : HDST_E_MEMORY;
}

// A dense key out of range takes no part; it is noted in the first one.
static void note_bad(hdst__group *g, uint64_t index, uint64_t number)
{
    if (g->parts) return;
    if (!g->skipped++) g->bad_record = index, g->bad_key = number;
}

static inline bool in_part(hdst__group *g, const char *row, uint64_t index, uint64_t *number)
{
    if (hdst__group_number_of(g, row, number)) return *number >= g->from && *number - g->from < g->step;
    note_bad(g, index, *number);
    return false;
}

bool hdst__group_in_part(hdst__group *g, const char *row, uint64_t index)
{
    uint64_t number;
    return in_part(g, row, index, &number);
}

// false: there is no room for all of them.
static bool pick(hdst__group *g, hdst__rows *rows, const char *from, uint64_t first, uint64_t count)
{
    const uint64_t size = g->record->size;
    uint64_t number;
    for (uint64_t i = 0; i < count; i++) {
        if (!in_part(g, from + i * size, first + i, &number)) continue;
        if (rows->count == g->most) return false;
        memcpy((char *)rows->records + rows->count++ * size, from + i * size, size);
    }
    return true;
}

static hdst_status read_batches(hdst__group *g, hdst__rows *rows, const hdst__reader *input, const hdst__group_batch *b, bool *full, hdst_error *error)
{
    uint64_t count;
    for (uint64_t first = 0; first < input->records && !*full; first += count) {
        hdst_status status = hdst__group_batch_read(g, b, input, first, &count, error);
        if (status != HDST_OK) return status;
        *full = !pick(g, rows, b->rows, first, count);
    }
    return HDST_OK;
}

hdst_status hdst__group_read_part(hdst__group *g, hdst__rows *rows, const hdst__reader *input, bool *full, hdst_error *error)
{
    const double start = hdst__now();
    hdst__group_batch b = {0};
    *full = false;
    hdst__group_forget_bad(g);          // it may be read again, in smaller parts
    hdst__engine_lock(g->engine);
    hdst_status status = take_rows(g, rows, error);
    if (status == HDST_OK) status = hdst__group_batch_make(g, &b, input, error);
    if (status == HDST_OK) status = read_batches(g, rows, input, &b, full, error);
    hdst__arena_destroy(&b.arena);
    hdst__engine_unlock(g->engine);
    if (!g->parts && !*full) g->stats.records += input->records;
    g->stats.read_seconds += hdst__now() - start;
    g->stats.total_seconds += hdst__now() - start;
    return status;
}

// --- A smaller part ---

// How many records each share of `width` hashes or dense keys has.
static hdst_status survey(hdst__group *g, const hdst__reader *input, const hdst__group_batch *b, uint64_t width,
                          uint64_t counts[HDST__HOST_GROUP_SURVEY_SHARES], hdst_error *error)
{
    uint64_t count, number;
    memset(counts, 0, HDST__HOST_GROUP_SURVEY_SHARES * sizeof *counts);
    hdst__group_forget_bad(g);
    for (uint64_t first = 0; first < input->records; first += count) {
        hdst_status status = hdst__group_batch_read(g, b, input, first, &count, error);
        if (status != HDST_OK) return status;
        for (uint64_t i = 0; i < count; i++)
            if (in_part(g, b->rows + i * g->record->size, first + i, &number)) counts[(number - g->from) / width]++;
    }
    return HDST_OK;
}

// As many shares as fit; the first one is surveyed again where it does not.
static hdst_status narrow(hdst__group *g, const hdst__reader *input, const hdst__group_batch *b, hdst_error *error)
{
    uint64_t counts[HDST__HOST_GROUP_SURVEY_SHARES];
    for (;;) {
        const uint64_t width = (g->step - 1) / HDST__HOST_GROUP_SURVEY_SHARES + 1, shares = (g->step - 1) / width + 1;
        uint64_t fit = 0, records = 0;
        hdst_status status = survey(g, input, b, width, counts, error);
        if (status != HDST_OK) return status;
        while (fit < shares && records + counts[fit] <= g->most) records += counts[fit++];
        g->large = !fit && width == 1;
        if (fit < shares) g->step = fit ? fit * width : width;
        if (fit || g->large) return HDST_OK;
    }
}

hdst_status hdst__group_narrow(hdst__group *g, const hdst__reader *input, hdst_error *error)
{
    const double start = hdst__now();
    hdst__group_batch b = {0};
    hdst__engine_lock(g->engine);
    hdst_status status = hdst__group_batch_make(g, &b, input, error);
    if (status == HDST_OK) status = narrow(g, input, &b, error);
    hdst__arena_destroy(&b.arena);
    hdst__engine_unlock(g->engine);
    g->stats.read_seconds += hdst__now() - start;
    g->stats.total_seconds += hdst__now() - start;
    return status;
}
