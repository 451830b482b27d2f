// SPDX-License-Identifier: Apache-2.0
// Keys with more records than there is room for. Their records are not ordered in memory: each key's are read in the order of the input, a pass over it for
// each.
#include "shuffle/group/group_large.h"

#include "engine/engine.h"
#include "engine/stage/executor.h"
#include "shuffle/group/group_key.h"
#include "shuffle/group/group_read.h"
#include "base/clock.h"

#include <string.h>

// --- Which keys ---

static hdst_status grow(hdst__group *g, uint64_t *capacity, hdst_error *error)
{
    static const char what[] = "keys with one hash";
    hdst__budget *budget = hdst__engine_memory(g->engine);
    const uint64_t more = *capacity ? *capacity : 8;
    if (g->run_count < *capacity) return HDST_OK;
    char *rows = hdst__budget_realloc(budget, HDST__OWNER_SORTS, g->rows, (*capacity + more) * g->record->size, what, error);
    if (rows) g->rows = rows;
    hdst__run *run = rows ? hdst__budget_realloc(budget, HDST__OWNER_SORTS, g->run, (*capacity + more) * sizeof *run, what, error) : NULL;
    if (run) g->run = run;
    *capacity += more;
    return run ? HDST_OK : HDST_E_MEMORY;
}

static hdst_status count_one(hdst__group *g, const char *row, uint64_t *capacity, hdst_error *error)
{
    const uint64_t size = g->record->size;
    uint64_t k = 0;                     // few keys share a hash, most often there is one
    while (k < g->run_count && !hdst__group_same_key(g, g->rows + k * size, row)) k++;
    if (k == g->run_count) {
        hdst_status status = grow(g, capacity, error);
        if (status != HDST_OK) return status;
        memcpy(g->rows + k * size, row, size);
        g->run[k] = (hdst__run){0};
        g->row_count = ++g->run_count;
    }
    g->run[k].count++;
    return HDST_OK;
}

static hdst_status count_all(hdst__group *g, const hdst__reader *input, const hdst__group_batch *b, hdst_error *error)
{
    uint64_t capacity = 0, count;
    hdst_status status = HDST_OK;
    hdst__group_forget_bad(g);
    for (uint64_t first = 0; first < input->records && status == HDST_OK; first += count) {
        status = hdst__group_batch_read(g, b, input, first, &count, error);
        for (uint64_t i = 0; i < count && status == HDST_OK; i++) {
            const char *row = b->rows + i * g->record->size;
            if (hdst__group_in_part(g, row, first + i)) status = count_one(g, row, &capacity, error);
        }
    }
    return status;
}

// By their bits, as everywhere: the least of those that are left comes next. Somebody may have made keys of one hash: their number squared is how long it
// takes.
static hdst_status sort_keys(hdst__group *g, char *row, hdst_error *error)
{
    const uint64_t size = g->record->size;
    uint64_t at = 0;
    for (uint64_t i = 0; i < g->run_count; i++) {
        uint64_t least = i;
        if (hdst__cancel_asked(hdst__engine_cancel(g->engine))) return hdst__cancel_error(0, 0, error);
        for (uint64_t k = i + 1; k < g->run_count; k++)
            if (hdst__key_fields_compare(&g->key, g->rows + k * size, g->rows + least * size) < 0) least = k;
        const uint64_t count = g->run[least].count;
        memcpy(row, g->rows + least * size, size);
        memmove(g->rows + least * size, g->rows + i * size, size);
        memcpy(g->rows + i * size, row, size);
        g->run[least].count = g->run[i].count;
        g->run[i] = (hdst__run){at, count};
        at += count;
    }
    return HDST_OK;
}

hdst_status hdst__group_list_large(hdst__group *g, const hdst__reader *input, hdst_error *error)
{
    const double start = hdst__now();
    hdst__group_batch b = {0};
    hdst__engine_lock(g->engine);
    hdst_status status = hdst__group_batch_make(g, &b, input, error);
    if (status == HDST_OK) status = count_all(g, input, &b, error);
    if (status == HDST_OK) status = sort_keys(g, b.rows, error);        // which has room for a record
    hdst__engine_unlock(g->engine);
    hdst__arena_destroy(&b.arena);
    if (!g->parts) g->stats.records += input->records;
    g->stats.read_seconds += hdst__now() - start;
    g->stats.total_seconds += hdst__now() - start;
    return status;
}

// --- Their records ---

hdst_status hdst__group_large_open(hdst__group_large *large, hdst__group *g, const hdst__reader *input, uint64_t k, hdst_error *error)
{
    *large = (hdst__group_large){.group = g, .input = input, .key = g->rows + k * g->record->size};
    return hdst__group_batch_make(g, &large->batch, input, error);
}

static void pick(hdst__group_large *large, char *rows, uint64_t most, uint64_t *count)
{
    const hdst__group *g = large->group;
    const uint64_t size = g->record->size;
    for (; large->left && *count < most; large->left--) {
        const char *row = large->batch.rows + (large->in_batch - large->left) * size;
        if (hdst__group_same_key(g, row, large->key)) memcpy(rows + (*count)++ * size, row, size);
    }
}

hdst_status hdst__group_large_next(hdst__group_large *large, char *rows, uint64_t most, uint64_t *count, hdst_error *error)
{
    hdst__group *g = large->group;
    const double start = hdst__now();
    hdst_status status = HDST_OK;
    *count = 0;
    hdst__engine_lock(g->engine);
    while (*count < most && status == HDST_OK) {
        pick(large, rows, most, count);
        if (*count == most || large->at == large->input->records) break;
        status = hdst__group_batch_read(g, &large->batch, large->input, large->at, &large->in_batch, error);
        large->at += large->in_batch;
        large->left = large->in_batch;
    }
    hdst__engine_unlock(g->engine);
    g->stats.read_seconds += hdst__now() - start;
    g->stats.total_seconds += hdst__now() - start;
    return status;
}

void hdst__group_large_close(hdst__group_large *large) { hdst__arena_destroy(&large->batch.arena); }
