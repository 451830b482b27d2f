// SPDX-License-Identifier: Apache-2.0
// Lines as records (io/lines_source.h): the bytes of a stretch of lines are read to where they stay, once, and spans are made of them while they are in the
// cache.
#include "io/lines_source.h"

#include "base/costs_host.h"
#include "io/newlines.h"
#include "record/text_bytes.h"

#include <stdio.h>
#include <string.h>

enum { TEXT, OFFSET, SOURCE, LINE, COLUMNS };

// --- The state ---

hdst_status hdst__lines_prepare(hdst__source *source, hdst_error *error)
{
    hdst__lines_state *state = source->state;
    if (state->index) return HDST_OK;
    hdst_status status = hdst__text_input_prepare(state->input, source->threads, error);
    if (status != HDST_OK) return status;
    return hdst__line_index_begin(state->input, source->allocator, 0, state->options.cancel, &state->index, error);
}

void hdst__lines_note_end(hdst__lines_state *state)
{
    const uint64_t lines = hdst__line_index_lines(state->index);
    if (hdst__line_index_is_whole(state->index)) atomic_store(&state->end.records, lines);
    atomic_store(&state->end.given, lines);
}

// --- Spans ---

static const hdst__source *source_of(const hdst__line_filling *f) { return f->bound->source; }
static const hdst__lines_state *state_of(const hdst__line_filling *f) { return source_of(f)->state; }
static const char *path_of(const hdst__line_filling *f) { return hdst__text_input_path(state_of(f)->input, f->file); }

hdst_status hdst__lines_changed(const hdst__line_filling *f, hdst_error *error)
{
    hdst__error_set(error, HDST_E_IO, "'%s' changed while it was read: its lines are others", path_of(f));
    hdst__error_at(error, path_of(f), 0, 0);
    hdst__error_hint(error, "read it again when nobody writes to it any more, or read a copy");
    return HDST_E_IO;
}

static void at_line(const hdst__line_filling *f, uint64_t line, hdst_error *error)
{
    hdst__error_at(error, path_of(f), line <= UINT32_MAX ? (uint32_t)line : 0, 0);
}

static hdst_status too_long(const hdst__line_filling *f, uint64_t line, uint64_t length, hdst_error *error)
{
    hdst__error_set(error, HDST_E_FORMAT, "line %llu of '%s' has %llu bytes, a line at most %u", (unsigned long long)line, path_of(f),
                    (unsigned long long)length, state_of(f)->options.longest);
    at_line(f, line, error);
    hdst__error_hint(error, "a line ends in \\n: is this a text, with such lines?");
    return HDST_E_FORMAT;
}

static hdst_status flush(hdst__line_filling *f, hdst_error *error)
{
    const char *const column[COLUMNS] = {(const char *)f->text, (const char *)f->offset, (const char *)f->source, (const char *)f->line};
    hdst_status status = HDST_OK;
    for (size_t i = 0; i < f->bound->move_count && status == HDST_OK; i++) {
        const hdst__move *m = &f->bound->moves[i];
        status = hdst__bound_move(f->bound, m, 0, column[m->column], hdst__scalar_size(m->from), f->row, f->noted, f->storage, f->buffers, f->to, error);
    }
    f->row += f->noted;
    f->to += f->noted;
    f->lines += f->noted;
    f->left -= f->noted;
    f->noted = 0;
    return status;
}

// As hdst__text_span_of, without a branch for each length: behind every text lie bytes that may be read.
static inline hdst__text_span span_of(const char *bytes, uint64_t length)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    if (length <= HDST__TEXT_INLINE) {
        hdst__text_span span = {.length = (uint32_t)length};
        uint32_t start;
        uint64_t rest;
        memcpy(&start, bytes, sizeof start);
        memcpy(&rest, bytes + 4, sizeof rest);
        start &= length >= 4 ? UINT32_MAX : ((uint32_t)1 << 8 * length) - 1;
        rest &= length == 12 ? UINT64_MAX : length <= 4 ? 0 : ((uint64_t)1 << 8 * (length - 4)) - 1;
        memcpy(span.start, &start, sizeof start);
        memcpy(span.rest, &rest, sizeof rest);
        return span;
    }
#endif
    return hdst__text_span_of(bytes, (uint32_t)length);
}

// The line that ends in front of `end`, counted from the first byte at hand; `ended`: by a \n.
static inline hdst_status note(hdst__line_filling *f, const char *bytes, uint64_t from, uint64_t end, bool ended, hdst_error *error)
{
    uint64_t length = end - from;
    if (f->noted == f->left) return hdst__lines_changed(f, error);
    if (ended && length && bytes[end - 1] == '\r' && state_of(f)->options.strip_returns) length--;
    if (length > state_of(f)->options.longest) return too_long(f, f->lines + f->noted, length, error);
    f->text[f->noted] = span_of(bytes + from, length);
    f->offset[f->noted] = f->begin + from;
    f->line[f->noted] = f->lines + f->noted;
    f->source[f->noted] = (uint32_t)f->file;
    return ++f->noted < HDST__LINE_BATCH ? HDST_OK : flush(f, error);
}

hdst_status hdst__lines_note(hdst__line_filling *f, const char *bytes, uint64_t at, uint64_t end, uint64_t *from, hdst_error *error)
{
    hdst_status status = HDST_OK;
    for (; at < end && status == HDST_OK; at += 64) {
        for (uint64_t mask = hdst__newlines_mask(bytes + at, end - at); mask && status == HDST_OK; mask &= mask - 1) {
            const uint64_t newline = at + (uint64_t)__builtin_ctzll(mask);
            status = note(f, bytes, *from, newline, true, error);
            *from = newline + 1;
        }
    }
    return status;
}

hdst_status hdst__lines_end(hdst__line_filling *f, const char *bytes, uint64_t from, uint64_t end, hdst_error *error)
{
    hdst_status status = from < end ? note(f, bytes, from, end, false, error) : HDST_OK;
    if (status == HDST_OK) status = flush(f, error);
    return status == HDST_OK && f->left ? hdst__lines_changed(f, error) : status;
}

hdst_status hdst__lines_fill_nothing(hdst__line_filling *f, uint64_t count, hdst_error *error)
{
    hdst_status status = HDST_OK;
    memset(f->text, 0, sizeof f->text);
    memset(f->offset, 0, sizeof f->offset);
    memset(f->line, 0, sizeof f->line);
    memset(f->source, 0, sizeof f->source);
    for (f->left = count; f->left && status == HDST_OK;) {
        f->noted = f->left < HDST__LINE_BATCH ? f->left : HDST__LINE_BATCH;
        status = flush(f, error);
    }
    return status;
}

// Reads `count` bytes piece by piece, and notes the lines of each.
static hdst_status read_lines(hdst__line_filling *f, char *bytes, uint64_t count, hdst_error *error)
{
    uint64_t from = 0;
    for (uint64_t at = 0, end; at < count; at = end) {
        const uint64_t left = count - at;
        end = at + (left < HDST__HOST_TEXT_READ_BYTES ? left : HDST__HOST_TEXT_READ_BYTES);
        hdst_status status = hdst__text_input_read(state_of(f)->input, f->file, f->begin + at, bytes + at, end - at, error);
        if (status == HDST_OK) status = hdst__lines_note(f, bytes, at, end, &from, error);
        if (status != HDST_OK) return status;
    }
    return hdst__lines_end(f, bytes, from, count, error);
}

static hdst_status no_room(const hdst__line_filling *f, uint64_t bytes, hdst_error *error)
{
    char cause[sizeof error->message];
    if (!error) return HDST_E_MEMORY;
    snprintf(cause, sizeof cause, "%s", error->message);
    hdst__error_set(error, HDST_E_MEMORY, "line %llu of '%s'%s %llu bytes, for which there is no room", (unsigned long long)f->lines, path_of(f),
                    f->left > 1 ? " and those behind it have" : " has", (unsigned long long)bytes);
    at_line(f, f->lines, error);
    hdst__error_cause(error, "%s", cause);
    hdst__error_hint(error, "raise --memory; a line ends in \\n: does this text have such lines?");
    return HDST_E_MEMORY;
}

// Where nobody wants the texts their bytes go by.
hdst_status hdst__lines_take(hdst__line_filling *f, uint64_t bytes, char **at, char **own, hdst_error *error)
{
    const hdst__source *source = source_of(f);
    hdst_status status = HDST_OK;
    *own = NULL;
    if (f->left == 1 && bytes > (uint64_t)state_of(f)->options.longest + 2) return too_long(f, f->lines, bytes, error);     // before memory is looked for
    if (f->storage->text) status = f->storage->text->take(f->storage->text->user, bytes, at, error);
    else if (f->bound->record->has_text)
        return hdst__error_set(error, HDST_E_UNSUPPORTED, "record '%s' has a text field, which cannot be read here", f->bound->record->name);
    else if (!(*at = *own = hdst__alloc(source->allocator, bytes + 16))) status = hdst__error_memory(error, "lines");
    return status == HDST_E_MEMORY ? no_room(f, bytes, error) : status;
}

// Counted lines of one file: where they lie, and their numbers in the input.
typedef struct counted {
    hdst__line_place from, to;
    uint64_t first, end;
} counted;

static hdst_status shorten(hdst__line_filling *f, counted *c, uint64_t most, hdst_error *error)
{
    hdst_status status = HDST_OK;
    while (status == HDST_OK && f->left > 1 && c->to.offset - c->from.offset > most) {
        f->left /= 2;
        c->end = c->first + f->left;
        status = hdst__line_index_find(state_of(f)->index, c->end, &c->to, error);
    }
    return status;
}

static hdst_status take_counted(hdst__line_filling *f, counted *c, uint64_t block, char **at, char **own, hdst_error *error)
{
    *own = NULL;
    const hdst_status status = shorten(f, c, hdst__lines_most_bytes(state_of(f), block), error);
    return status == HDST_OK ? hdst__lines_take(f, c->to.offset - c->from.offset, at, own, error) : status;
}

static hdst_status fill_counted(hdst__line_filling *f, counted *c, hdst_error *error)
{
    char *at, *own;
    hdst_status status = take_counted(f, c, hdst__line_index_block_bytes(state_of(f)->index), &at, &own, error);
    if (status == HDST_E_MEMORY && f->left > 1) status = take_counted(f, c, 0, &at, &own, error);
    if (status == HDST_OK) status = read_lines(f, at, c->to.offset - c->from.offset, error);
    hdst__free(source_of(f)->allocator, own);
    return status;
}

// Lines [first, end) as far as they are of one file, the first one's.
static hdst_status fill_file(hdst__line_filling *f, uint64_t first, uint64_t *end, hdst_error *error)
{
    const hdst__line_index *index = state_of(f)->index;
    counted c = {.first = first};
    hdst_status status = hdst__line_index_find(index, first, &c.from, error);
    if (status != HDST_OK) return status;
    const uint64_t left = hdst__line_index_file_lines(index, c.from.file) - c.from.line;
    f->file = c.from.file;
    f->begin = c.from.offset;
    f->lines = c.from.line + 1;
    f->left = *end - first < left ? *end - first : left;
    c.end = first + f->left;
    c.to.offset = hdst__text_input_bytes(state_of(f)->input, c.from.file);
    if (f->left < left) status = hdst__line_index_find(index, c.end, &c.to, error);
    if (status == HDST_OK) status = fill_counted(f, &c, error);
    *end = c.end;
    return status;
}

hdst_status hdst__lines_fill_counted(const hdst__bound_source *bound, uint64_t first, uint64_t count, const hdst__storage *storage, void *const *buffers,
                                     uint64_t to_first, hdst_error *error)
{
    hdst__line_filling f;
    f.bound = bound;
    f.storage = storage;
    f.buffers = buffers;
    f.row = first;
    f.to = to_first;
    f.noted = 0;
    hdst_status status = HDST_OK;
    for (uint64_t at = first, end; at < first + count && status == HDST_OK; at = end) {
        end = first + count;
        status = fill_file(&f, at, &end, error);
    }
    return status;
}
