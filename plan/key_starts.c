// SPDX-License-Identifier: Apache-2.0
// Where keys begin (plan/key_starts.h).
#include "plan/key_starts.h"

#include "base/huge_pages.h"
#include "engine/memory/host_rows.h"
#include "engine/memory/sorted_keys.h"
#include "record/key_field.h"

static const uint64_t no_key[] = {UINT64_MAX};

static const char what[] = "where the records of each key begin";

enum { BLOCK = 512 };                   // keys that are read at once

typedef struct source {                 // where it is known from
    const hdst__reader *reader;
    hdst__dataset_cache *resident;
    const hdst__leaf *key;
    const hdst__arranged_keys *keys;
} source;

typedef struct filling {
    uint64_t *starts;
    hdst__key_field field;
    uint64_t limit, size;           // of a record
    uint64_t next, record;          // the first key that has no start yet; the next record
    bool odd;                       // a key is negative, or not below the limit
} filling;

// A key below the next one is that of the record before. Negative ones are larger than any limit.
static void take_key(filling *f, uint64_t key, uint64_t record)
{
    if (key < f->next) return;
    f->odd = key >= f->limit;
    while (!f->odd && f->next <= key) f->starts[f->next++] = record;
}

static void take_keys(filling *f, const uint64_t *keys, uint64_t count)
{
    for (uint64_t i = 0; i < count && !f->odd; i++) take_key(f, keys[i], f->record + i);
    f->record += count;
}

static hdst_status take(void *user, const void *records, uint64_t count, hdst_error *error)
{
    filling *f = user;
    uint64_t keys[BLOCK];
    (void)error;
    for (uint64_t first = 0, part; first < count && !f->odd; first += part) {
        part = count - first < BLOCK ? count - first : BLOCK;
        hdst__key_field_read_all(&f->field, (const char *)records + first * f->size, f->size, part, keys);
        take_keys(f, keys, part);
    }
    return HDST_OK;
}

static void keep(hdst__key_starts *starts, const filling *f)
{
    starts->rows.version++;
    if (!f || f->odd) {
        starts->rows.data = no_key;
        starts->rows.rows = 1;
        return;
    }
    f->starts[f->next] = UINT64_MAX;
    starts->rows.data = f->starts;
    starts->rows.rows = f->next + 1;
}

// On the device whose own memory the records lie in; *why_not: they have to come to the host.
static hdst_status search(filling *f, hdst__dataset_cache *resident, const hdst__leaf *key, const char **why_not, hdst_error *error)
{
    *why_not = "";
    if (!resident) return HDST_OK;
    const hdst_status status = hdst__sorted_keys_find(resident, key, f->limit, f->starts, &f->next, why_not, error);
    f->odd = status == HDST_OK && !*why_not && !f->next;
    return status;
}

// From what is known of the keys, or else from the records.
static hdst_status fill(filling *f, hdst__runtime *runtime, const source *from, hdst__key_starts *starts, hdst_error *error)
{
    hdst__run_stats ignored = {0};
    const hdst__arranged_keys *keys = from->keys;
    const char *why_not;
    starts->found = NULL;
    if (keys->starts) {
        for (uint64_t i = 0; i < keys->count && !f->odd; i++) take_key(f, keys->bits[i], keys->starts[i]);
        return HDST_OK;
    }
    const hdst_status status = search(f, from->resident, from->key, &why_not, error);
    if (status != HDST_OK) return status;
    starts->found = f->odd ? NULL : !why_not ? "found on the device" : *why_not ? why_not : NULL;
    return why_not ? hdst__rows_stream(runtime, from->reader, take, f, &ignored, error) : HDST_OK;
}

static uint64_t *take_room(hdst__key_starts *starts, hdst__runtime *runtime)
{
    hdst_error full = HDST_ERROR_INIT;
    uint64_t bytes, *room = NULL;
    const bool fits = !__builtin_mul_overflow(starts->limit + 1, sizeof *room, &bytes) && starts->limit < UINT64_MAX;
    if (fits) room = hdst__budget_alloc_zero(&runtime->memory, HDST__OWNER_CACHES, bytes, what, &full);
    else hdst__error_memory(&full, what);
    if (room) hdst__ask_for_huge_pages(room, bytes);
    if (!room) hdst__log_write(&runtime->log, HDST__LOG_WARN, "a reduction of arranged records looks at the key of each: %s", full.message);
    return room;
}

hdst_status hdst__key_starts_make(hdst__key_starts *starts, hdst__runtime *runtime, const hdst__reader *reader, hdst__dataset_cache *resident, uint32_t leaf,
                                  const hdst__arranged_keys *keys, hdst_error *error)
{
    if (!starts->rows.data) keep(starts, NULL);         // of no rows, or no records
    if (starts->made >= starts->limit || reader->records == 0) return HDST_OK;
    hdst__key_starts_forget(starts, runtime);
    const source from = {reader, resident, &reader->record->leaves[leaf], keys};
    filling f = {.field = {from.key->offset, from.key->kind}, .limit = starts->limit, .size = reader->record->size, .starts = take_room(starts, runtime)};
    if (!f.starts) {
        keep(starts, NULL);
        starts->made = starts->limit;
        return HDST_OK;
    }
    const hdst_status status = fill(&f, runtime, &from, starts, error);
    if (status == HDST_OK) {
        keep(starts, &f);
        starts->made = starts->limit;
    }
    if (status != HDST_OK || f.odd) hdst__free(runtime->allocator, f.starts);
    return status;
}

const hdst__plan_rows *hdst__key_starts_of_all(const hdst__key_starts *starts)
{
    return starts->made && starts->rows.data != no_key ? &starts->rows : NULL;
}

void hdst__key_starts_forget(hdst__key_starts *starts, hdst__runtime *runtime)
{
    if (starts->rows.data && starts->rows.data != no_key) hdst__free(runtime->allocator, (void *)starts->rows.data);
    starts->rows.data = no_key;
    starts->rows.rows = 1;
    starts->made = 0;
}
