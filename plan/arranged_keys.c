// SPDX-License-Identifier: Apache-2.0
// Which keys there are (plan/arranged_keys.h).
#include "plan/arranged_keys.h"

#include "engine/memory/host_rows.h"
#include "record/key_field.h"
#include "record/key_hash.h"
#include "shuffle/sort/radix_sort.h"

#include <string.h>

enum { BLOCK = 512, FIRST_KEYS = 1 << 10 };     // keys that are read at once; that there is room for at first

static const char what[] = "which keys arranged records have";

typedef struct filling {
    hdst__arranged_keys *keys;
    hdst__budget *memory;
    hdst__key_field field;
    uint64_t size;              // of a record
    uint64_t room, records;     // for keys; that were looked at
} filling;

static void *take_memory(hdst__budget *memory, uint64_t count, uint64_t size, hdst_error *error)
{
    return hdst__budget_alloc_zero(memory, HDST__OWNER_CACHES, count * size, what, error);      // at most 2^32 of 8 bytes
}

static void give_back(hdst__budget *memory, void *data) { hdst__free(hdst__budget_owned(memory, HDST__OWNER_CACHES), data); }

// --- Keys ---

static bool grow(filling *f, uint64_t **array, uint64_t room, hdst_error *error)
{
    uint64_t *larger = take_memory(f->memory, room, sizeof *larger, error);
    if (!larger) return false;
    if (*array) memcpy(larger, *array, f->keys->count * sizeof *larger);
    give_back(f->memory, *array);
    *array = larger;
    return true;
}

// With one place more than keys, for the end.
static hdst_status make_room(filling *f, hdst_error *error)
{
    const uint64_t room = f->room ? 2 * f->room : FIRST_KEYS;
    if (f->keys->count + 1 < f->room) return HDST_OK;
    if (!grow(f, &f->keys->starts, room, error) || !grow(f, &f->keys->bits, room, error)) return HDST_E_MEMORY;
    f->room = room;
    return HDST_OK;
}

// Of the next record.
static hdst_status begin_key(filling *f, uint64_t bits, hdst_error *error)
{
    hdst__arranged_keys *keys = f->keys;
    if (make_room(f, error) != HDST_OK) return HDST_E_MEMORY;
    keys->starts[keys->count] = f->records;
    keys->bits[keys->count++] = bits;
    return HDST_OK;
}

static hdst_status take_keys(filling *f, const uint64_t *bits, uint64_t count, hdst_error *error)
{
    hdst__arranged_keys *keys = f->keys;
    for (uint64_t i = 0; i < count; i++) {
        if ((!keys->count || bits[i] != keys->bits[keys->count - 1]) && begin_key(f, bits[i], error) != HDST_OK) return HDST_E_MEMORY;
        keys->numbers[f->records++] = (uint32_t)(keys->count - 1);
    }
    return HDST_OK;
}

// Numbers without records begin where the next one does.
static hdst_status take_starts(filling *f, const hdst__plan_rows *starts, uint64_t records, hdst_error *error)
{
    const uint64_t *start = starts->data, count = starts->rows - 1;
    for (uint64_t key = 0; key < count; key++) {
        const uint64_t end = key + 1 < count ? start[key + 1] : records;
        if (f->records < end && begin_key(f, key, error) != HDST_OK) return HDST_E_MEMORY;
        while (f->records < end) f->keys->numbers[f->records++] = (uint32_t)(f->keys->count - 1);
    }
    return HDST_OK;
}

static hdst_status take(void *user, const void *records, uint64_t count, hdst_error *error)
{
    filling *f = user;
    uint64_t bits[BLOCK];
    hdst_status status = HDST_OK;
    for (uint64_t first = 0, part; first < count && status == HDST_OK; first += part) {
        part = count - first < BLOCK ? count - first : BLOCK;
        hdst__key_field_read_all(&f->field, (const char *)records + first * f->size, f->size, part, bits);
        status = take_keys(f, bits, part, error);
    }
    return status;
}

// --- Their order ---

static uint64_t packed(uint64_t bits, size_t bytes) { return bytes < sizeof bits ? bits & ((UINT64_C(1) << 8 * bytes) - 1) : bits; }

static int compare_keys(const void *keys_of, uint64_t a, uint64_t b)
{
    const uint64_t *bits = keys_of, left = bits[(uint32_t)a], right = bits[(uint32_t)b];
    return (left > right) - (left < right);
}

// Among equal hashes by key. There are few of these as a rule, but keys can be made so that all have one.
static void order_equal_hashes(const hdst__arranged_keys *keys, uint64_t *words, uint64_t *scratch)
{
    for (uint64_t first = 0, end; first < keys->count; first = end) {
        for (end = first + 1; end < keys->count && words[end] >> 32 == words[first] >> 32;) end++;
        if (end == first + 1) continue;
        const uint64_t *sorted = hdst__merge_sort_words(words + first, scratch + first, end - first, compare_keys, keys->bits);
        if (sorted != words + first) memcpy(words + first, sorted, (end - first) * sizeof *words);
    }
}

static hdst_status find_order(filling *f, hdst_error *error)
{
    hdst__arranged_keys *keys = f->keys;
    const size_t bytes = hdst__scalar_size(f->field.kind);
    uint64_t *words = take_memory(f->memory, keys->count + 1, sizeof *words, error), *scratch = NULL;
    if (words) scratch = take_memory(f->memory, keys->count + 1, sizeof *scratch, error);
    if (scratch) keys->order = take_memory(f->memory, keys->count + 1, sizeof *keys->order, error);
    if (keys->order) {
        for (uint64_t i = 0; i < keys->count; i++) {
            const uint64_t key = packed(keys->bits[i], bytes);
            words[i] = (uint64_t)hdst__key_hash(&key, bytes) << 32 | i;
        }
        uint64_t *sorted = hdst__radix_sort_words(words, scratch, keys->count);
        order_equal_hashes(keys, sorted, sorted == words ? scratch : words);
        for (uint64_t i = 0; i < keys->count; i++) keys->order[i] = (uint32_t)sorted[i];
    }
    give_back(f->memory, words);
    give_back(f->memory, scratch);
    return keys->order ? HDST_OK : HDST_E_MEMORY;
}

// --- Made, forgotten ---

static void hold(hdst__arranged_keys *keys, uint64_t records)
{
    const uint64_t version = keys->rows.version + 1;
    keys->starts[keys->count] = UINT64_MAX;
    keys->held_starts = (hdst__plan_rows){keys->starts, keys->count + 1, version};
    keys->held_numbers = (hdst__plan_rows){keys->numbers, records ? records : 1, version};
    keys->rows = (hdst__plan_rows){NULL, keys->count ? keys->count : 1, version};
}

static hdst_status fill(filling *f, hdst__runtime *runtime, const hdst__reader *reader, const hdst__plan_rows *starts, hdst_error *error)
{
    hdst__run_stats ignored = {0};
    if (reader->records > UINT32_MAX) return hdst__error_set(error, HDST_E_MEMORY, "numbers of keys have 32 bits, which is too few for so many records");
    f->keys->numbers = take_memory(f->memory, reader->records + 1, sizeof *f->keys->numbers, error);
    hdst_status status = f->keys->numbers ? make_room(f, error) : HDST_E_MEMORY;
    if (status == HDST_OK && starts) status = take_starts(f, starts, reader->records, error);
    else if (status == HDST_OK && reader->records) status = hdst__rows_stream(runtime, reader, take, f, &ignored, error);
    return status == HDST_OK ? find_order(f, error) : status;
}

hdst_status hdst__arranged_keys_make(hdst__arranged_keys *keys, hdst__runtime *runtime, const hdst__reader *reader, uint32_t leaf,
                                     const hdst__plan_rows *starts, hdst_error *error)
{
    if (keys->starts) return HDST_OK;
    const hdst__leaf *key = &reader->record->leaves[leaf];
    filling f = {.keys = keys, .memory = &runtime->memory, .field = {key->offset, key->kind}, .size = reader->record->size};
    const hdst_status status = fill(&f, runtime, reader, starts, error);
    if (status == HDST_OK) {
        hold(keys, reader->records);
        return HDST_OK;
    }
    hdst__arranged_keys_forget(keys, runtime);
    return status;
}

void hdst__arranged_keys_forget(hdst__arranged_keys *keys, hdst__runtime *runtime)
{
    give_back(&runtime->memory, keys->starts);
    give_back(&runtime->memory, keys->bits);
    give_back(&runtime->memory, keys->numbers);
    give_back(&runtime->memory, keys->order);
    *keys = (hdst__arranged_keys){.rows.version = keys->rows.version};
}
