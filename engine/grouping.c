// SPDX-License-Identifier: Apache-2.0
// Records by their keys, on the host: read, hashed, ordered, gathered.
#include "engine/grouping.h"

#include "codegen/key_hash.h"
#include "engine/engine_private.h"

#include <string.h>

void hdst__grouping_init(hdst__grouping *grouping, hdst__engine *engine, const hdst__record *record, const hdst__group_part *part, size_t part_count)
{
    *grouping = (hdst__grouping){.engine = engine, .record = record, .part = part, .part_count = part_count, .bad_record = UINT64_MAX};
}

void hdst__grouping_release(hdst__grouping *g)
{
    if (!g->engine) return;
    hdst__free(g->engine->allocator, g->rows);
    hdst__free(g->engine->allocator, g->run);
    hdst__budget_release(&g->engine->memory, g->reserved);
    g->rows = NULL;
    g->run = NULL;
    g->row_count = g->run_count = g->reserved = g->skipped = 0;
    g->bad_record = UINT64_MAX;
}

uint64_t hdst__group_number(const hdst__group_part *part, const char *row)
{
    uint64_t bits = 0;
    const unsigned size = (unsigned)hdst__scalar_size(part->kind);
    memcpy(&bits, row + part->offset, size);
    const unsigned unused = 64 - 8 * size;
    return hdst__kind_is_signed(part->kind) ? (uint64_t)((int64_t)(bits << unused) >> unused) : bits;
}

// --- Entries ---

typedef struct ordering {
    hdst__rows input;
    hdst__group_entry *entries, *scratch, *sorted;
    uint64_t count, reserved;
} ordering;

static void end_ordering(hdst__grouping *g, ordering *o)
{
    hdst__free(g->engine->allocator, o->entries);
    hdst__free(g->engine->allocator, o->scratch);
    hdst__budget_release(&g->engine->memory, o->reserved);
    hdst__engine_free_rows(g->engine, &o->input);
}

static hdst_status take_entries(hdst__grouping *g, ordering *o, hdst_error *error)
{
    const uint64_t bytes = o->input.count * sizeof *o->entries;
    if (!hdst__budget_reserve(&g->engine->memory, 2 * bytes)) return hdst__budget_error(&g->engine->memory, 2 * bytes, "the order of records by key", error);
    o->reserved = 2 * bytes;
    o->entries = hdst__alloc(g->engine->allocator, bytes ? bytes : 1);
    o->scratch = hdst__alloc(g->engine->allocator, bytes ? bytes : 1);
    return o->entries && o->scratch ? HDST_OK : hdst__error_memory(error, "the order of records by key");
}

static void note_hashes(const hdst__grouping *g, ordering *o)
{
    const size_t bytes = hdst__group_key_bytes(g->part, g->part_count);
    uint64_t words[HDST__KEY_WORDS];
    const char *row = o->input.records;
    for (uint64_t i = 0; i < o->input.count; i++, row += g->record->size) {
        hdst__group_pack(g->part, g->part_count, row, words);
        o->entries[i] = (hdst__group_entry){hdst__key_hash(words, bytes), i};
    }
    o->count = o->input.count;
}

// Dense keys out of range take no part.
static void note_numbers(hdst__grouping *g, ordering *o)
{
    const char *row = o->input.records;
    for (uint64_t i = 0; i < o->input.count; i++, row += g->record->size) {
        const uint64_t key = hdst__group_number(g->part, row);
        if (key < g->dense_rows) {
            o->entries[o->count++] = (hdst__group_entry){key, i};
            continue;
        }
        if (g->bad_record == UINT64_MAX) {
            g->bad_record = i;
            g->bad_key = key;
        }
        g->skipped++;
    }
}

// --- Rows and runs ---

static bool same_key(const hdst__grouping *g, const ordering *o, uint64_t a, uint64_t b)
{
    const hdst__group_entry *x = &o->sorted[a], *y = &o->sorted[b];
    if (x->key != y->key) return false;
    if (g->dense) return true;
    for (size_t i = 0; i < g->part_count; i++) {
        const char *rows = o->input.records;
        const uint64_t offset = g->part[i].offset, size = g->record->size;
        if (memcmp(rows + x->index * size + offset, rows + y->index * size + offset, hdst__scalar_size(g->part[i].kind))) return false;
    }
    return true;
}

static hdst_status take_runs(hdst__grouping *g, const ordering *o, hdst_error *error)
{
    uint64_t runs = o->count > 0;
    for (uint64_t i = 1; i < o->count; i++) runs += !same_key(g, o, i - 1, i);
    const uint64_t bytes = runs * sizeof *g->run + o->count * g->record->size;
    if (!hdst__budget_reserve(&g->engine->memory, bytes)) return hdst__budget_error(&g->engine->memory, bytes, "records by key", error);
    g->reserved = bytes;
    g->run = hdst__alloc(g->engine->allocator, runs ? runs * sizeof *g->run : 1);
    g->rows = hdst__alloc(g->engine->allocator, o->count ? o->count * g->record->size : 1);
    if (!g->run || !g->rows) return hdst__error_memory(error, "records by key");
    for (uint64_t i = 0; i < o->count; i++) {
        if (i == 0 || !same_key(g, o, i - 1, i)) g->run[g->run_count++] = (hdst__run){.first = i};
        g->run[g->run_count - 1].count++;
    }
    return HDST_OK;
}

static void gather(hdst__grouping *g, const ordering *o)
{
    const uint64_t size = g->record->size;
    const char *from = o->input.records;
    for (uint64_t i = 0; i < o->count; i++) memcpy(g->rows + i * size, from + o->sorted[i].index * size, size);
    g->row_count = o->count;
}

static hdst_status order(hdst__grouping *g, ordering *o, hdst_error *error)
{
    hdst_status status = take_entries(g, o, error);
    if (status != HDST_OK) return status;
    if (g->dense) note_numbers(g, o);
    else note_hashes(g, o);
    if (g->bad_record != UINT64_MAX && !g->engine->skip_failed) return HDST_OK;
    o->sorted = hdst__group_order(g, o->input.records, o->entries, o->scratch, o->count, !g->dense && hdst__group_key_bytes(g->part, g->part_count) > 4);
    status = take_runs(g, o, error);
    if (status == HDST_OK) gather(g, o);
    return status;
}

hdst_status hdst__grouping_run(hdst__grouping *g, const hdst__reader *input, hdst_error *error)
{
    ordering o = {0};
    hdst__grouping_release(g);
    g->stats = (hdst__run_stats){0};
    hdst_status status = hdst__engine_read(g->engine, input, &o.input, &g->stats, error);
    if (status == HDST_OK) status = order(g, &o, error);
    if (status != HDST_OK) hdst__grouping_release(g);
    end_ordering(g, &o);
    return status;
}
