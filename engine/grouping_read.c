// SPDX-License-Identifier: Apache-2.0
// The records of a part, with the hash or the dense key of each beside its place.
#include "engine/grouping.h"

#include "codegen/key_hash.h"
#include "engine/engine_private.h"
#include "engine/executor.h"

#include <string.h>

enum { BATCH_BYTES = 1 << 20, SURVEY = 4096 /* shares of a part, counted in one pass */ };

void hdst__ordering_end(hdst__grouping *g, hdst__ordering *o)
{
    hdst__free(g->engine->allocator, o->words);
    hdst__free(g->engine->allocator, o->scratch);
    hdst__budget_release(&g->engine->memory, o->reserved);
    hdst__engine_free_rows(g->engine, &o->input);
    *o = (hdst__ordering){0};
}

static hdst_status take_words(hdst__grouping *g, hdst__ordering *o, uint64_t count, hdst_error *error)
{
    o->wide = g->wide;
    const uint64_t bytes = count * (o->wide ? sizeof(hdst__group_entry) : sizeof(uint64_t));
    if (!hdst__budget_reserve(&g->engine->memory, 2 * bytes)) return hdst__budget_error(&g->engine->memory, 2 * bytes, "the order of records by key", error);
    o->reserved = 2 * bytes;
    o->words = hdst__alloc(g->engine->allocator, bytes ? bytes : 1);
    o->scratch = hdst__alloc(g->engine->allocator, bytes ? bytes : 1);
    return o->words && o->scratch ? HDST_OK : hdst__error_memory(error, "the order of records by key");
}

static inline void add_word(hdst__ordering *o, uint64_t key, uint64_t index)
{
    if (o->wide) ((hdst__group_entry *)o->words)[o->count++] = (hdst__group_entry){key, index};
    else o->words[o->count++] = key << 32 | index;
}

uint32_t hdst__group_hash(const hdst__grouping *g, const char *row, size_t bytes)
{
    uint64_t words[HDST__KEY_WORDS];
    hdst__group_pack(g->part, g->part_count, row, words);
    return hdst__key_hash(words, bytes);
}

// The number that the record is ordered by. false: a dense key out of range, which takes no part; it is noted in the first part.
static inline bool number_of(hdst__grouping *g, const char *row, size_t bytes, uint64_t index, uint64_t *number)
{
    if (!g->dense && g->part_count == 1 && bytes == 4) {        // the usual key
        uint32_t bits;
        memcpy(&bits, row + g->part->offset, sizeof bits);
        *number = hdst__key_mix32(bits);
        return true;
    }
    *number = g->dense ? hdst__group_number(g->part, row) : hdst__group_hash(g, row, bytes);
    if (!g->dense || *number < g->dense_rows) return true;
    if (g->parts) return false;
    if (g->bad_record == UINT64_MAX) {
        g->bad_record = index;
        g->bad_key = *number;
    }
    g->skipped++;
    return false;
}

hdst_status hdst__ordering_read(hdst__grouping *g, hdst__ordering *o, const hdst__reader *input, hdst_error *error)
{
    const size_t bytes = hdst__group_key_bytes(g->part, g->part_count);
    hdst_status status = hdst__engine_read(g->engine, input, &o->input, &g->stats, error);
    if (status == HDST_OK) status = take_words(g, o, o->input.count, error);
    const char *row = o->input.records;
    uint64_t number;
    for (uint64_t i = 0; i < o->input.count && status == HDST_OK; i++, row += g->record->size)
        if (number_of(g, row, bytes, i, &number)) add_word(o, number, i);
    return status;
}

// --- Of a part ---

hdst_status hdst__group_batch_make(const hdst__grouping *g, hdst__group_batch *b, const hdst__reader *input, hdst_error *error)
{
    jmp_buf out_of_memory;
    hdst__arena_init(&b->arena, g->engine->allocator, &out_of_memory);
    if (setjmp(out_of_memory)) return hdst__error_memory(error, "records by key");
    const uint64_t fit = BATCH_BYTES / g->record->size + 1;
    b->records = fit < input->records ? fit : input->records;
    b->storage = hdst__storage_make(&b->arena, g->record, HDST__AOS, 0, b->records);
    b->rows = hdst__arena_alloc(&b->arena, b->records * g->record->size);
    b->arena.out_of_memory = NULL;
    return b->storage ? HDST_OK : hdst__error_memory(error, "records by key");
}

hdst_status hdst__group_batch_read(const hdst__grouping *g, const hdst__group_batch *b, const hdst__reader *input, uint64_t first, uint64_t *count, hdst_error *error)
{
    void *buffers[] = {b->rows};
    const uint64_t left = input->records - first;
    *count = left < b->records ? left : b->records;
    if (atomic_exchange(&g->engine->cancelled, false))
        return hdst__error_set(error, HDST_E_CANCELLED, "cancelled after %llu of %llu records", (unsigned long long)first, (unsigned long long)input->records);
    return input->fill(input->user, first, *count, b->storage, buffers, 0, error);
}

void hdst__group_forget_bad(hdst__grouping *g)
{
    if (g->parts) return;
    g->skipped = 0;
    g->bad_record = UINT64_MAX;
}

static hdst_status take_rows(hdst__grouping *g, hdst__ordering *o, hdst_error *error)
{
    const uint64_t bytes = g->most * g->record->size;
    o->input.records = hdst__budget_alloc(&g->engine->memory, g->engine->allocator, bytes, "records by key", error);
    if (!o->input.records) return HDST_E_MEMORY;
    o->input.bytes = bytes;
    return take_words(g, o, g->most, error);
}

static inline bool in_part(hdst__grouping *g, const char *row, size_t bytes, uint64_t index, uint64_t *number)
{
    return number_of(g, row, bytes, index, number) && *number >= g->from && *number - g->from < g->step;
}

bool hdst__group_in_part(hdst__grouping *g, const char *row, size_t key_bytes, uint64_t index)
{
    uint64_t number;
    return in_part(g, row, key_bytes, index, &number);
}

// false: there is no room for all of them.
static bool pick(hdst__grouping *g, hdst__ordering *o, const char *rows, uint64_t first, uint64_t count)
{
    const uint64_t size = g->record->size;
    const size_t bytes = hdst__group_key_bytes(g->part, g->part_count);
    uint64_t number;
    for (uint64_t i = 0; i < count; i++) {
        if (!in_part(g, rows + i * size, bytes, first + i, &number)) continue;
        if (o->count == g->most) return false;
        memcpy((char *)o->input.records + o->count * size, rows + i * size, size);
        add_word(o, number, o->count);
    }
    return true;
}

static hdst_status read_batches(hdst__grouping *g, hdst__ordering *o, const hdst__reader *input, const hdst__group_batch *b, bool *full, hdst_error *error)
{
    uint64_t count;
    for (uint64_t first = 0; first < input->records && !*full; first += count) {
        hdst_status status = hdst__group_batch_read(g, b, input, first, &count, error);
        if (status != HDST_OK) return status;
        *full = !pick(g, o, b->rows, first, count);
    }
    return HDST_OK;
}

hdst_status hdst__ordering_read_part(hdst__grouping *g, hdst__ordering *o, const hdst__reader *input, bool *full, hdst_error *error)
{
    const double start = hdst__now();
    hdst__group_batch b = {0};
    *full = false;
    hdst__group_forget_bad(g);          // it may be read again, in smaller parts
    pthread_mutex_lock(&g->engine->mutex);
    hdst_status status = take_rows(g, o, error);
    if (status == HDST_OK) status = hdst__group_batch_make(g, &b, input, error);
    if (status == HDST_OK) status = read_batches(g, o, input, &b, full, error);
    hdst__arena_destroy(&b.arena);
    pthread_mutex_unlock(&g->engine->mutex);
    if (!g->parts && !*full) g->stats.records += input->records;
    g->stats.read_seconds += hdst__now() - start;
    g->stats.total_seconds += hdst__now() - start;
    return status;
}

// --- A smaller part ---

// How many records each share of `width` hashes or dense keys has.
static hdst_status survey(hdst__grouping *g, const hdst__reader *input, const hdst__group_batch *b, uint64_t width, uint64_t counts[SURVEY], hdst_error *error)
{
    const size_t bytes = hdst__group_key_bytes(g->part, g->part_count);
    uint64_t count, number;
    memset(counts, 0, SURVEY * sizeof *counts);
    hdst__group_forget_bad(g);
    for (uint64_t first = 0; first < input->records; first += count) {
        hdst_status status = hdst__group_batch_read(g, b, input, first, &count, error);
        if (status != HDST_OK) return status;
        for (uint64_t i = 0; i < count; i++)
            if (in_part(g, b->rows + i * g->record->size, bytes, first + i, &number)) counts[(number - g->from) / width]++;
    }
    return HDST_OK;
}

// As many shares as fit; the first one is surveyed again where it does not.
static hdst_status narrow(hdst__grouping *g, const hdst__reader *input, const hdst__group_batch *b, hdst_error *error)
{
    uint64_t counts[SURVEY];
    for (;;) {
        const uint64_t width = (g->step - 1) / SURVEY + 1, shares = (g->step - 1) / width + 1;
        uint64_t fit = 0, records = 0;
        hdst_status status = survey(g, input, b, width, counts, error);
        if (status != HDST_OK) return status;
        while (fit < shares && records + counts[fit] <= g->most) records += counts[fit++];
        g->large = !fit && width == 1;
        if (fit < shares) g->step = fit ? fit * width : width;
        if (fit || g->large) return HDST_OK;
    }
}

hdst_status hdst__grouping_narrow(hdst__grouping *g, const hdst__reader *input, hdst_error *error)
{
    const double start = hdst__now();
    hdst__group_batch b = {0};
    pthread_mutex_lock(&g->engine->mutex);
    hdst_status status = hdst__group_batch_make(g, &b, input, error);
    if (status == HDST_OK) status = narrow(g, input, &b, error);
    hdst__arena_destroy(&b.arena);
    pthread_mutex_unlock(&g->engine->mutex);
    g->stats.read_seconds += hdst__now() - start;
    g->stats.total_seconds += hdst__now() - start;
    return status;
}
