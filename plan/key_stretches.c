// SPDX-License-Identifier: Apache-2.0
// All rows of each key (plan/key_stretches.h).
#include "plan/key_stretches.h"

#include "engine/memory/host_rows.h"
#include "record/key_field.h"

#include <inttypes.h>
#include <string.h>

enum {
    FIRST_KEYS = 1 << 10,           // that there is room for at first
    BLOCK = 512,                    // keys that are read at once
};

typedef struct making {
    hdst__key_stretches *to;
    hdst__engine *engine;
    const hdst__stretches_wanted *wanted;
    hdst__key_field key;
    uint64_t size;                  // of a record
    uint64_t room;                  // for where keys begin
} making;

static const hdst__allocator *memory_of(hdst__engine *engine) { return hdst__budget_owned(hdst__engine_memory(engine), HDST__OWNER_CACHES); }

// --- Where keys begin ---

static hdst_status make_room(making *m, uint64_t key, hdst_error *error)
{
    hdst__key_stretches *s = m->to;
    uint64_t wanted = m->room ? 2 * m->room : FIRST_KEYS, bytes = 0;
    if (m->room && key < m->room - 1) return HDST_OK;
    if (key >= wanted - 1) wanted = key + 2;
    const bool fits = key <= UINT64_MAX - 2 && !__builtin_mul_overflow(wanted, sizeof *s->starts, &bytes);
    uint64_t *starts = NULL;
    if (fits) starts = hdst__budget_alloc_zero(hdst__engine_memory(m->engine), HDST__OWNER_CACHES, bytes, "where the rows of each key begin", error);
    else hdst__error_memory(error, "where the rows of each key begin");
    if (!starts) {
        hdst__error_hint(error, "there is a number of 8 bytes for each up to the largest key, %" PRIu64 "; hdst_renumber makes keys small", key);
        return HDST_E_MEMORY;
    }
    if (s->starts) memcpy(starts, s->starts, s->keys * sizeof *starts);
    hdst__free(memory_of(m->engine), s->starts);
    s->starts = starts;
    m->room = wanted;
    return HDST_OK;
}

static hdst_status tell_negative(const making *m, uint64_t record, uint64_t key, hdst_error *error)
{
    hdst__error_set(error, HDST_E_RECORD, "lookup '%s' has a negative key, %" PRId64 ", in record %" PRIu64 " of its dataset",
                    m->wanted->lookup->parameter->name, (int64_t)key, record);
    hdst__error_hint(error, "rows that are read by t[k] go by numbers from 0 on");
    error->record = record;
    return HDST_E_RECORD;
}

// Of records from `first` on.
static hdst_status note_keys(making *m, const uint64_t *keys, uint64_t first, uint64_t count, hdst_error *error)
{
    hdst__key_stretches *s = m->to;
    const bool is_signed = hdst__kind_is_signed(m->key.kind);
    for (uint64_t i = 0; i < count; i++) {
        if (keys[i] < s->keys) continue;        // that of the record before
        if (is_signed && (int64_t)keys[i] < 0) return tell_negative(m, first + i, keys[i], error);
        const hdst_status status = make_room(m, keys[i], error);
        if (status != HDST_OK) return status;
        while (s->keys <= keys[i]) s->starts[s->keys++] = first + i;
    }
    return HDST_OK;
}

static hdst_status note_starts(making *m, const char *records, uint64_t count, hdst_error *error)
{
    uint64_t keys[BLOCK];
    hdst_status status = HDST_OK;
    for (uint64_t first = 0, part; first < count && status == HDST_OK; first += part) {
        part = count - first < BLOCK ? count - first : BLOCK;
        hdst__key_field_read_all(&m->key, records + first * m->size, m->size, part, keys);
        status = note_keys(m, keys, m->to->count + first, part, error);
    }
    return status;
}

static hdst_status take(void *user, const void *records, uint64_t count, hdst_error *error)
{
    making *m = user;
    hdst__key_stretches *s = m->to;
    const hdst__rows_to_move move = {s->moves, s->move_count, records, s->rows + s->count * s->row_size, count, m->size, s->row_size};
    hdst__bytes_move_rows(hdst__engine_threads(m->engine), &move);
    hdst_status status = note_starts(m, records, count, error);
    hdst__text_writer writer = {.heap = s->texts};
    if (status == HDST_OK && s->texts) status = hdst__text_keep_rows(&writer, m->wanted->row, move.to, count, error);
    s->count += count;
    return status;
}

// --- Made, found, ended ---

static void end(hdst__key_stretches *s, hdst__engine *engine)
{
    hdst__free(memory_of(engine), s->rows);
    hdst__free(memory_of(engine), s->starts);
    hdst__free(memory_of(engine), s->moves);
    hdst__text_heap_drop(s->texts);
    hdst__free(memory_of(engine), s);
}

static hdst_status fill(making *m, const hdst__reader *reader, hdst__run_stats *stats, hdst_error *error)
{
    hdst__key_stretches *s = m->to;
    uint64_t bytes;
    hdst__runtime *runtime = hdst__engine_runtime(m->engine);
    if (__builtin_mul_overflow(reader->records + 1, s->row_size, &bytes)) return hdst__error_memory(error, "rows of a lookup");
    s->rows = hdst__budget_alloc_zero(hdst__engine_memory(m->engine), HDST__OWNER_CACHES, bytes, "rows of a lookup", error);
    if (!s->rows) return HDST_E_MEMORY;
    if (m->wanted->row->has_text && !(s->texts = hdst__text_heap_create(runtime, HDST__OWNER_CACHES))) return hdst__error_memory(error, "texts of a lookup");
    hdst_status status = make_room(m, 0, error);
    if (status == HDST_OK && reader->records) status = hdst__rows_stream(runtime, reader, take, m, stats, error);
    if (status == HDST_OK) s->starts[s->keys] = s->count;
    return status;
}

static hdst_status make(making *m, const hdst__reader *reader, hdst__key_stretches **made, hdst__run_stats *stats, hdst_error *error)
{
    const hdst__stretches_wanted *wanted = m->wanted;
    hdst__key_stretches *s = m->to = hdst__alloc_zero(memory_of(m->engine), sizeof *s);
    if (!s) return hdst__error_memory(error, "rows of a lookup");
    s->moves = hdst__alloc(memory_of(m->engine), wanted->move_count * sizeof *s->moves);
    s->move_count = wanted->move_count;
    s->row_size = wanted->row->size;
    if (s->moves) memcpy(s->moves, wanted->moves, wanted->move_count * sizeof *s->moves);
    const hdst_status status = s->moves ? fill(m, reader, stats, error) : hdst__error_memory(error, "rows of a lookup");
    if (status == HDST_OK) *made = s;
    else end(s, m->engine);
    return status;
}

static bool is_wanted(const hdst__key_stretches *s, const hdst__stretches_wanted *wanted)
{
    if (s->row_size != wanted->row->size || s->move_count != wanted->move_count) return false;
    for (size_t i = 0; i < s->move_count; i++)
        if (s->moves[i].from != wanted->moves[i].from || s->moves[i].to != wanted->moves[i].to || s->moves[i].bytes != wanted->moves[i].bytes) return false;
    return true;
}

hdst_status hdst__key_stretches_find(hdst__key_stretches **list, hdst__engine *engine, const hdst__stretches_wanted *wanted, const hdst__reader *reader,
                                     hdst__key_stretches **found, bool *made, hdst__run_stats *stats, hdst_error *error)
{
    const hdst__leaf *key = &wanted->lookup->records->record->leaves[wanted->lookup->key->leaf];
    making m = {.engine = engine, .wanted = wanted, .key = {key->offset, key->kind}, .size = wanted->lookup->records->record->size};
    *made = false;
    for (*found = *list; *found; *found = (*found)->next)
        if (is_wanted(*found, wanted)) return HDST_OK;
    const hdst_status status = make(&m, reader, found, stats, error);
    if (status != HDST_OK) return status;
    *made = true;
    (*found)->next = *list;
    *list = *found;
    return HDST_OK;
}

void hdst__key_stretches_end(hdst__key_stretches **list, hdst__engine *engine)
{
    while (*list) {
        hdst__key_stretches *first = *list;
        *list = first->next;
        end(first, engine);
    }
}
