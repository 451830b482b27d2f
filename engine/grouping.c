// SPDX-License-Identifier: Apache-2.0
// Records by their keys, on the host: read, hashed, ordered, gathered.
#include "engine/grouping.h"

#include "codegen/key_hash.h"
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

// --- The order ---

// Hash or dense key of each record beside its place: in one word where both fit.
typedef struct ordering {
    hdst__rows input;
    bool wide;
    uint64_t *words, *scratch;      // or, wide, entries in their place
    uint64_t count, reserved;
} ordering;

static void end_ordering(hdst__grouping *g, ordering *o)
{
    hdst__free(g->engine->allocator, o->words);
    hdst__free(g->engine->allocator, o->scratch);
    hdst__budget_release(&g->engine->memory, o->reserved);
    hdst__engine_free_rows(g->engine, &o->input);
}

static hdst_status take_words(hdst__grouping *g, ordering *o, hdst_error *error)
{
    o->wide = o->input.count > UINT32_MAX || (g->dense && g->dense_rows > UINT32_MAX);
    const uint64_t bytes = o->input.count * (o->wide ? sizeof(hdst__group_entry) : sizeof(uint64_t));
    if (!hdst__budget_reserve(&g->engine->memory, 2 * bytes)) return hdst__budget_error(&g->engine->memory, 2 * bytes, "the order of records by key", error);
    o->reserved = 2 * bytes;
    o->words = hdst__alloc(g->engine->allocator, bytes ? bytes : 1);
    o->scratch = hdst__alloc(g->engine->allocator, bytes ? bytes : 1);
    return o->words && o->scratch ? HDST_OK : hdst__error_memory(error, "the order of records by key");
}

static inline void add_word(ordering *o, uint64_t key, uint64_t index)
{
    if (o->wide) ((hdst__group_entry *)o->words)[o->count++] = (hdst__group_entry){key, index};
    else o->words[o->count++] = key << 32 | index;
}

static uint32_t hash_of(const hdst__grouping *g, const char *row, size_t bytes)
{
    uint64_t words[HDST__KEY_WORDS];
    hdst__group_pack(g->part, g->part_count, row, words);
    return hdst__key_hash(words, bytes);
}

static void note_hashes(const hdst__grouping *g, ordering *o)
{
    const size_t bytes = hdst__group_key_bytes(g->part, g->part_count);
    const char *row = o->input.records, *key = row + g->part->offset;
    const uint64_t size = g->record->size;
    if (g->part_count == 1 && bytes == 4) {         // the usual key
        for (uint64_t i = 0; i < o->input.count; i++) {
            uint32_t bits;
            memcpy(&bits, key + i * size, sizeof bits);
            add_word(o, hdst__key_mix32(bits), i);
        }
        return;
    }
    for (uint64_t i = 0; i < o->input.count; i++) add_word(o, hash_of(g, row + i * size, bytes), i);
}

// Dense keys out of range take no part.
static void note_numbers(hdst__grouping *g, ordering *o)
{
    const char *row = o->input.records;
    for (uint64_t i = 0; i < o->input.count; i++, row += g->record->size) {
        const uint64_t key = hdst__group_number(g->part, row);
        if (key < g->dense_rows) {
            add_word(o, key, i);
            continue;
        }
        if (g->bad_record == UINT64_MAX) {
            g->bad_record = i;
            g->bad_key = key;
        }
        g->skipped++;
    }
}

static void gather(hdst__grouping *g, const ordering *o, const void *sorted)
{
    const uint64_t size = g->record->size;
    const char *from = o->input.records;
    const hdst__group_entry *entry = sorted;
    const uint64_t *word = sorted;
    for (uint64_t i = 0; i < o->count; i++) memcpy(g->rows + i * size, from + (o->wide ? entry[i].index : word[i] & UINT32_MAX) * size, size);
    g->row_count = o->count;
}

static hdst_status order_rows(hdst__grouping *g, ordering *o, hdst_error *error)
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

static bool same_key(const hdst__grouping *g, uint64_t a, uint64_t b)
{
    const char *x = g->rows + a * g->record->size, *y = g->rows + b * g->record->size;
    for (size_t i = 0; i < g->part_count; i++)
        if (memcmp(x + g->part[i].offset, y + g->part[i].offset, hdst__scalar_size(g->part[i].kind))) return false;
    return true;
}

// Keys of more than 4 bytes may share a hash: such rows lie mixed.
static hdst_status part_ties(hdst__grouping *g, hdst_error *error)
{
    const size_t bytes = hdst__group_key_bytes(g->part, g->part_count);
    uint64_t first = 0;                 // of the rows with this hash
    uint32_t hash = g->row_count ? hash_of(g, g->rows, bytes) : 0;
    bool mixed = false;
    for (uint64_t i = 1; i <= g->row_count; i++) {
        if (i < g->row_count && same_key(g, i - 1, i)) continue;
        const uint32_t next = i < g->row_count ? hash_of(g, g->rows + i * g->record->size, bytes) : 0;
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

static hdst_status order(hdst__grouping *g, ordering *o, hdst_error *error)
{
    hdst_status status = take_words(g, o, error);
    if (status != HDST_OK) return status;
    if (g->dense) note_numbers(g, o);
    else note_hashes(g, o);
    if (g->bad_record != UINT64_MAX && !g->engine->skip_failed) return HDST_OK;
    status = order_rows(g, o, error);
    end_ordering(g, o);                 // before the runs take memory
    *o = (ordering){0};
    if (status == HDST_OK && !g->dense && hdst__group_key_bytes(g->part, g->part_count) > 4) status = part_ties(g, error);
    return status == HDST_OK ? find_runs(g, error) : status;
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
