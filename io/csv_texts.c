// SPDX-License-Identifier: Apache-2.0
// Records with texts from separated text: the bytes of a stretch of rows are read to where they stay, and the spans of long texts refer to them there. Doubled
// quotes and escapes are undone in place, as what they stand for is shorter.
#include "io/csv_kept.h"

#include "base/costs_host.h"
#include "record/text_bytes.h"
#include "record/text_span.h"

#include <stdio.h>
#include <string.h>

enum { CELL_BYTES = sizeof(hdst__text_span) };
_Static_assert(sizeof(hdst__csv_raw_text) == CELL_BYTES, "a text's place in a row becomes its span");

// --- Bytes of a text ---

// Single quotes for doubled ones, from the first one on. The bytes that are left.
static uint32_t undouble(char *bytes, uint32_t length)
{
    char *quote = memchr(bytes, '"', length), *to = quote;
    if (!quote) return length;
    for (const char *p = quote, *end = bytes + length; p < end; p++) {
        *to++ = *p;
        if (*p == '"') p++;
    }
    return (uint32_t)(to - bytes);
}

// What is no escape stays as it is.
static uint32_t undo_escapes(char *bytes, uint32_t length)
{
    static const char stands_for[256] = {['t'] = '\t', ['n'] = '\n', ['r'] = '\r', ['\\'] = '\\'};
    char *escape = memchr(bytes, '\\', length), *to = escape;
    if (!escape) return length;
    for (const char *p = escape, *end = bytes + length; p < end; p++) {
        const char c = *p == '\\' && p + 1 < end ? stands_for[(unsigned char)p[1]] : 0;
        *to++ = c ? c : *p;
        p += c != 0;
    }
    return (uint32_t)(to - bytes);
}

static void settle(char *cell, bool escaped)
{
    hdst__csv_raw_text raw;
    memcpy(&raw, cell, sizeof raw);
    if (raw.quoted) raw.length = undouble(raw.bytes, raw.length);
    if (escaped) raw.length = undo_escapes(raw.bytes, raw.length);
    const hdst__text_span span = hdst__text_span_of(raw.bytes ? raw.bytes : "", raw.length);      // a cell that was left out has no bytes
    memcpy(cell, &span, sizeof span);
}

// --- Rows ---

typedef struct filling {
    const hdst__bound_source *bound;
    const hdst__storage *storage;
    void *const *buffers;
    uint64_t row, to;           // of the next record: in the source, in the storage
    hdst__csv_cells shape;
    hdst__csv_cursor cursor;    // over the bytes that stay
    char *cells;
    const hdst__csv_index *index;
    uint64_t batch;             // rows that there are cells for
} filling;

static hdst_status no_room(const filling *f, uint64_t count, uint64_t bytes, hdst_error *error)
{
    const hdst__source *source = f->bound->source;
    char cause[sizeof error->message];
    if (!error) return HDST_E_MEMORY;
    snprintf(cause, sizeof cause, "%s", error->message);
    hdst__error_set(error, HDST_E_MEMORY, "%llu rows of '%s' have %llu bytes, for which there is no room", (unsigned long long)count, source->name,
                    (unsigned long long)bytes);
    hdst__error_at(error, source->name, f->cursor.place.line <= UINT32_MAX ? (uint32_t)f->cursor.place.line : 0, 0);
    hdst__error_cause(error, "%s", cause);
    hdst__error_hint(error, "raise --memory; a quote that is not closed makes a row long, too");
    return HDST_E_MEMORY;
}

// A cursor over memory that holds the rows, from where it is known that one starts.
static hdst_status load(filling *f, uint64_t count, hdst_error *error)
{
    const hdst__csv_state *state = f->bound->source->state;
    const hdst__bytes_place *place = f->storage->text;
    char *at;
    if (!place) return hdst__error_set(error, HDST_E_UNSUPPORTED, "record '%s' has a text field, which cannot be read here", f->bound->record->name);
    f->cursor.place = hdst__csv_index_find(f->index, f->row);
    const uint64_t begin = f->cursor.place.offset, reach = hdst__csv_index_reach(f->index, f->row + count);
    const uint64_t bytes = (reach < state->file.bytes ? reach : state->file.bytes) - begin;
    hdst_status status = place->take(place->user, bytes + HDST__CSV_SLACK, &at, error);
    if (status == HDST_E_MEMORY) return no_room(f, count, bytes, error);
    if (status == HDST_OK) status = hdst__csv_file_read(&state->file, begin, at, bytes, error);
    if (status != HDST_OK) return status;
    memset(at + bytes, 0, HDST__CSV_SLACK);
    hdst__csv_reader_over(&f->cursor.reader, f->bound->source->allocator, &state->file, state->cursors.shape.delimiter, at, begin, bytes);
    f->cursor.reader.comment = state->cursors.shape.comment;
    return HDST_OK;
}

static hdst_status move_batch(filling *f, uint64_t count, hdst_error *error)
{
    const hdst__csv_state *state = f->bound->source->state;
    hdst_status status = HDST_OK;
    for (size_t i = 0; i < f->bound->move_count && status == HDST_OK; i++) {
        const hdst__move *m = &f->bound->moves[i];
        char *cell = f->cells + m->column * CELL_BYTES;
        for (uint64_t n = 0; m->from == HDST__TEXT && n < count; n++) settle(cell + n * f->shape.row_bytes, state->escaped);
        status = hdst__bound_move(f->bound, m, 0, cell, f->shape.row_bytes, f->row, count, f->storage, f->buffers, f->to, error);
    }
    f->row += count;
    f->to += count;
    return status;
}

static hdst_status fill_rows(filling *f, uint64_t count, hdst_error *error)
{
    const hdst__source *source = f->bound->source;
    hdst__csv_choose_wanted(source, &f->shape, f->cursor.wanted);
    hdst_status status = hdst__csv_read_rows(source, &f->cursor, &f->shape, f->row, NULL, error);
    while (count && status == HDST_OK) {
        const uint64_t part = count < f->batch ? count : f->batch;
        status = hdst__csv_read_rows(source, &f->cursor, &f->shape, f->row + part, f->cells, error);
        if (status == HDST_OK) status = move_batch(f, part, error);
        count -= part;
    }
    return status;
}

hdst_status hdst__csv_fill_texts(const hdst__bound_source *bound, uint64_t first, uint64_t count, const hdst__storage *storage, void *const *buffers,
                                 uint64_t to_first, hdst_error *error)
{
    const hdst__source *source = bound->source;
    const hdst__csv_state *state = source->state;
    const uint64_t row_bytes = bound->as.count * CELL_BYTES, fit = HDST__HOST_BOUND_STAGING_BYTES / row_bytes;
    filling f = {.bound = bound, .storage = storage, .buffers = buffers, .row = first, .to = to_first, .batch = fit ? fit : 1};
    if (f.batch > count) f.batch = count;
    const hdst__csv_kept *kept = bound->as.kept;
    f.index = kept ? &kept->index : &state->index;
    f.shape = (hdst__csv_cells){&bound->as, CELL_BYTES, row_bytes, true, .scratch = kept ? hdst__alloc(source->allocator, row_bytes) : NULL};
    f.cells = hdst__alloc(source->allocator, f.batch * row_bytes);
    f.cursor.wanted = hdst__alloc(source->allocator, state->field_count * sizeof *f.cursor.wanted);
    hdst_status status = f.cells && f.cursor.wanted && (!kept || f.shape.scratch) ? load(&f, count, error) : hdst__error_memory(error, source->name);
    if (status == HDST_OK) status = fill_rows(&f, count, error);
    hdst__csv_reader_leave(&f.cursor.reader);
    hdst__free(source->allocator, f.shape.scratch);
    hdst__free(source->allocator, f.cells);
    hdst__free(source->allocator, f.cursor.wanted);
    return status;
}
