// SPDX-License-Identifier: Apache-2.0
// Records by their keys, on the host: read and hashed (grouping_read.c), ordered (grouping_order.c), gathered, cut into runs.
#include "engine/grouping.h"

#include "engine/engine_private.h"

#include <string.h>

void hdst__grouping_init(hdst__grouping *grouping, hdst__engine *engine, const hdst__record *record, const hdst__group_part *part, size_t part_count)
{
    *grouping = (hdst__grouping){.engine = engine, .engine_allocator = engine->allocator, .record = record, .part = part, .part_count = part_count, .bad_record = UINT64_MAX};
}

void hdst__grouping_release(hdst__grouping *g)
{
    if (!g->engine) return;
    hdst__free(g->engine->allocator, g->rows);
    hdst__free(g->engine->allocator, g->run);
    hdst__budget_release(&g->engine->memory, g->reserved);
    g->rows = NULL;
    g->run = NULL;
    g->row_count = g->run_count = g->reserved = 0;
    g->large = false;
}

uint64_t hdst__group_number(const hdst__group_part *part, const char *row)
{
    uint64_t bits = 0;
    const unsigned size = (unsigned)hdst__scalar_size(part->kind), unused = 64 - 8 * size;
    switch (size) {                     // of a size that the compiler knows a copy is one instruction
    case 1: memcpy(&bits, row + part->offset, 1); break;
    case 2: memcpy(&bits, row + part->offset, 2); break;
    case 4: memcpy(&bits, row + part->offset, 4); break;
    default: memcpy(&bits, row + part->offset, 8);
    }
    return hdst__kind_is_signed(part->kind) ? (uint64_t)((int64_t)(bits << unused) >> unused) : bits;
}

// --- The order ---

static inline uint64_t place_of(const hdst__ordering *o, const void *sorted, uint64_t i)
{
    return o->wide ? ((const hdst__group_entry *)sorted)[i].index : ((const uint64_t *)sorted)[i] & UINT32_MAX;
}

// Places are all over the records: those that come next are asked of the memory early.
static void gather(hdst__grouping *g, const hdst__ordering *o, const void *sorted)
{
    enum { AHEAD = 24 };
    const uint64_t size = g->record->size;
    const char *from = o->input.records;
    for (uint64_t i = 0; i < o->count; i++) {
        if (i + AHEAD < o->count) __builtin_prefetch(from + place_of(o, sorted, i + AHEAD) * size);
        memcpy(g->rows + i * size, from + place_of(o, sorted, i) * size, size);
    }
    g->row_count = o->count;
}

static hdst_status order_rows(hdst__grouping *g, hdst__ordering *o, hdst_error *error)
{
    const uint64_t bytes = o->count * g->record->size;
    const void *sorted = o->wide ? (const void *)hdst__group_order_numbers((hdst__group_entry *)o->words, (hdst__group_entry *)o->scratch, o->count)
                                 : hdst__group_order_words(o->words, o->scratch, o->count);
    if (!hdst__budget_reserve(&g->engine->memory, bytes)) return hdst__budget_error(&g->engine->memory, bytes, "records by key", error);
    g->reserved += bytes;
    g->rows = hdst__alloc(g->engine->allocator, bytes ? bytes : 1);
    if (!g->rows) return hdst__error_memory(error, "records by key");
    gather(g, o, sorted);
    return HDST_OK;
}

// --- Runs ---

bool hdst__group_same_key(const hdst__grouping *g, const char *x, const char *y)
{
    if (g->part_count == 1 && hdst__group_key_bytes(g->part, 1) == 4) return !memcmp(x + g->part->offset, y + g->part->offset, 4);     // the usual key, in one instruction
    for (size_t i = 0; i < g->part_count; i++)
        if (memcmp(x + g->part[i].offset, y + g->part[i].offset, hdst__scalar_size(g->part[i].kind))) return false;
    return true;
}

static bool same_key(const hdst__grouping *g, uint64_t a, uint64_t b)
{
    return hdst__group_same_key(g, g->rows + a * g->record->size, g->rows + b * g->record->size);
}

// Keys of more than 4 bytes may share a hash: such rows lie mixed.
static hdst_status part_ties(hdst__grouping *g, hdst_error *error)
{
    const size_t bytes = hdst__group_key_bytes(g->part, g->part_count);
    uint64_t first = 0;                 // of the rows with this hash
    uint32_t hash = g->row_count ? hdst__group_hash(g, g->rows, bytes) : 0;
    bool mixed = false;
    for (uint64_t i = 1; i <= g->row_count; i++) {
        if (i < g->row_count && same_key(g, i - 1, i)) continue;
        const uint32_t next = i < g->row_count ? hdst__group_hash(g, g->rows + i * g->record->size, bytes) : 0;
        if (i < g->row_count && next == hash) {
            mixed = true;
            continue;
        }
        if (mixed && !hdst__group_order_rows(g, g->rows + first * g->record->size, i - first)) return hdst__error_memory(error, "records by key");
        first = i;
        hash = next;
        mixed = false;
    }
    return HDST_OK;
}

static hdst_status find_runs(hdst__grouping *g, hdst_error *error)
{
    uint64_t runs = g->row_count > 0;
    for (uint64_t i = 1; i < g->row_count; i++) runs += !same_key(g, i - 1, i);
    const uint64_t bytes = runs * sizeof *g->run;
    if (!hdst__budget_reserve(&g->engine->memory, bytes)) return hdst__budget_error(&g->engine->memory, bytes, "runs of equal keys", error);
    g->reserved += bytes;
    g->run = hdst__alloc(g->engine->allocator, bytes ? bytes : 1);
    if (!g->run) return hdst__error_memory(error, "runs of equal keys");
    for (uint64_t i = 0; i < g->row_count; i++) {
        if (i == 0 || !same_key(g, i - 1, i)) g->run[g->run_count++] = (hdst__run){.first = i};
        g->run[g->run_count - 1].count++;
    }
    return HDST_OK;
}

// --- Parts ---

// What a record takes: as read and in order, on the device as a table, its place in the order twice, a run and a piece of one in the worst case.
static uint64_t bytes_of(const hdst__grouping *g, bool wide)
{
    return 3 * g->record->size + 2 * (wide ? sizeof(hdst__group_entry) : sizeof(uint64_t)) + 2 * sizeof(hdst__run);
}

hdst_status hdst__grouping_start(hdst__grouping *g, const hdst__reader *input, hdst_error *error)
{
    hdst__grouping_release(g);
    g->stats = (hdst__run_stats){0};
    g->skipped = g->parts = g->from = 0;
    g->bad_record = UINT64_MAX;
    g->end = !g->dense ? (uint64_t)UINT32_MAX + 1 : g->dense_rows ? g->dense_rows : 1;
    g->wide = input->records > UINT32_MAX || g->end > (uint64_t)UINT32_MAX + 1;
    const uint64_t room = hdst__budget_left(&g->engine->memory) / 2;
    g->most = room / bytes_of(g, g->wide);
    g->whole = input->records <= g->most;
    g->usual = g->step = g->end;
    if (g->whole) return HDST_OK;
    if (g->most < HDST__LEAST_PART) return hdst__budget_error(&g->engine->memory, HDST__LEAST_PART * 2 * bytes_of(g, g->wide), "records by key", error);
    g->usual = g->step = g->end / (input->records / g->most * 5 / 4 + 2) + 1;      // hashes are as good as evenly spread, keys are cut again where they are not
    return HDST_OK;
}

static hdst_status order(hdst__grouping *g, hdst__ordering *o, hdst_error *error)
{
    if (g->bad_record != UINT64_MAX && !g->engine->skip_failed) return HDST_OK;
    hdst_status status = order_rows(g, o, error);
    hdst__ordering_end(g, o);           // before the runs take memory
    if (status == HDST_OK && !g->dense && hdst__group_key_bytes(g->part, g->part_count) > 4) status = part_ties(g, error);
    return status == HDST_OK ? find_runs(g, error) : status;
}

hdst_status hdst__grouping_next(hdst__grouping *g, const hdst__reader *input, bool *more, hdst_error *error)
{
    hdst__ordering o = {0};
    bool full = true;
    hdst_status status = HDST_OK;
    hdst__grouping_release(g);
    *more = g->from < g->end;
    if (!*more) return HDST_OK;
    while (full && !g->large && status == HDST_OK) {
        status = g->whole ? hdst__ordering_read(g, &o, input, error) : hdst__ordering_read_part(g, &o, input, &full, error);
        full = full && !g->whole;
        if (full) hdst__ordering_end(g, &o);
        if (full && status == HDST_OK) status = hdst__grouping_narrow(g, input, error);
    }
    if (status == HDST_OK) status = g->large ? hdst__grouping_list_large(g, input, error) : order(g, &o, error);
    hdst__ordering_end(g, &o);
    if (status != HDST_OK) hdst__grouping_release(g);
    g->from += g->step;
    g->step = g->usual;
    g->parts++;
    return status;
}
