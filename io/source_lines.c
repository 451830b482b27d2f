// SPDX-License-Identifier: Apache-2.0
// Lines of texts as records: the bytes of a stretch of lines are read to where they stay, once, and spans are made of them while they are in the cache.
#include "io/bound.h"

#include "base/costs_host.h"
#include "io/line_index.h"
#include "io/newlines.h"
#include "record/text_bytes.h"
#include "record/text_span.h"

#include <stdio.h>

enum { TEXT, OFFSET, SOURCE, LINE, COLUMNS };
enum { BATCH = 256 };               // lines that are noted before they go to their fields

typedef struct lines_state {
    hdst__text_input *input;
    hdst__line_index *index;        // once they are counted
    hdst__lines_options options;
} lines_state;

static void close_lines(hdst__source *source)
{
    lines_state *state = source->state;
    if (!state) return;
    hdst__line_index_free(state->index);
    hdst__text_input_close(state->input);
    hdst__free(source->allocator, state);
}

static hdst_status count_lines(hdst__source *source, hdst_error *error)
{
    lines_state *state = source->state;
    hdst_status status = hdst__text_input_prepare(state->input, source->threads, error);
    if (status == HDST_OK) status = hdst__line_index_make(state->input, source->allocator, 0, source->threads, state->options.cancel, &state->index, error);
    if (status == HDST_OK) source->rows = hdst__line_index_lines(state->index);
    if (status == HDST_OK && source->rows) source->text_bytes = hdst__line_index_bytes(state->index, 0, source->rows) / source->rows + 1;
    return status;
}

// --- Filling ---

typedef struct filling {
    const hdst__bound_source *bound;
    const hdst__storage *storage;
    void *const *buffers;
    uint64_t row, to;               // of the first line of the batch: in the input, in the storage
    size_t file;
    uint64_t begin, lines;          // in the file: of the first byte at hand; the line of that, from 1
    uint64_t noted, left;           // lines in the batch; that this file's stretch still has, those included
    hdst__text_span text[BATCH];
    uint64_t offset[BATCH], line[BATCH];
    uint32_t source[BATCH];
} filling;

static const hdst__source *source_of(const filling *f) { return f->bound->source; }
static const lines_state *state_of(const filling *f) { return source_of(f)->state; }
static const char *path_of(const filling *f) { return hdst__text_input_path(state_of(f)->input, f->file); }

static hdst_status changed(const filling *f, hdst_error *error)
{
    hdst__error_set(error, HDST_E_IO, "'%s' changed while it was read: its lines are others", path_of(f));
    hdst__error_at(error, path_of(f), 0, 0);
    hdst__error_hint(error, "read it again when nobody writes to it any more, or read a copy");
    return HDST_E_IO;
}

static void at_line(const filling *f, uint64_t line, hdst_error *error)
{
    hdst__error_at(error, path_of(f), line <= UINT32_MAX ? (uint32_t)line : 0, 0);
}

static hdst_status too_long(const filling *f, uint64_t line, uint64_t length, hdst_error *error)
{
    hdst__error_set(error, HDST_E_FORMAT, "line %llu of '%s' has %llu bytes, a line at most %u", (unsigned long long)line, path_of(f),
                    (unsigned long long)length, state_of(f)->options.longest);
    at_line(f, line, error);
    hdst__error_hint(error, "a line ends in \\n: is this a text, with such lines?");
    return HDST_E_FORMAT;
}

static hdst_status flush(filling *f, hdst_error *error)
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
static inline hdst_status note(filling *f, const char *bytes, uint64_t from, uint64_t end, bool ended, hdst_error *error)
{
    uint64_t length = end - from;
    if (f->noted == f->left) return changed(f, error);
    if (ended && length && bytes[end - 1] == '\r' && state_of(f)->options.strip_returns) length--;
    if (length > state_of(f)->options.longest) return too_long(f, f->lines + f->noted, length, error);
    f->text[f->noted] = span_of(bytes + from, length);
    f->offset[f->noted] = f->begin + from;
    f->line[f->noted] = f->lines + f->noted;
    f->source[f->noted] = (uint32_t)f->file;
    return ++f->noted < BATCH ? HDST_OK : flush(f, error);
}

// Reads `count` bytes piece by piece, and notes the lines of each.
static hdst_status read_lines(filling *f, char *bytes, uint64_t count, hdst_error *error)
{
    uint64_t from = 0;
    for (uint64_t at = 0; at < count;) {
        const uint64_t left = count - at, end = at + (left < HDST__HOST_TEXT_READ_BYTES ? left : HDST__HOST_TEXT_READ_BYTES);
        hdst_status status = hdst__text_input_read(state_of(f)->input, f->file, f->begin + at, bytes + at, end - at, error);
        for (; at < end && status == HDST_OK; at += 64) {
            for (uint64_t mask = hdst__newlines_mask(bytes + at, end - at); mask && status == HDST_OK; mask &= mask - 1) {
                const uint64_t newline = at + (uint64_t)__builtin_ctzll(mask);
                status = note(f, bytes, from, newline, true, error);
                from = newline + 1;
            }
        }
        if (status != HDST_OK) return status;
        at = end;
    }
    hdst_status status = from < count ? note(f, bytes, from, count, false, error) : HDST_OK;
    if (status == HDST_OK) status = flush(f, error);
    return status == HDST_OK && f->left ? changed(f, error) : status;
}

static hdst_status no_room(const filling *f, uint64_t bytes, hdst_error *error)
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
static hdst_status fill_stretch(filling *f, uint64_t bytes, hdst_error *error)
{
    const hdst__source *source = source_of(f);
    char *at = NULL, *own = NULL;
    hdst_status status = HDST_OK;
    if (f->left == 1 && bytes > (uint64_t)state_of(f)->options.longest + 2) return too_long(f, f->lines, bytes, error);     // before memory is looked for
    if (f->storage->text) status = f->storage->text->take(f->storage->text->user, bytes, &at, error);
    else if (f->bound->record->has_text)
        return hdst__error_set(error, HDST_E_UNSUPPORTED, "record '%s' has a text field, which cannot be read here", f->bound->record->name);
    else if (!(at = own = hdst__alloc(source->allocator, bytes + 16))) status = hdst__error_memory(error, "lines");
    if (status == HDST_E_MEMORY) return no_room(f, bytes, error);
    if (status == HDST_OK) status = read_lines(f, at, bytes, error);
    hdst__free(source->allocator, own);
    return status;
}

// Lines [first, end) as far as they are of one file, the first one's.
static hdst_status fill_file(filling *f, uint64_t first, uint64_t *end, hdst_error *error)
{
    const hdst__line_index *index = state_of(f)->index;
    hdst__line_place from, to;
    hdst_status status = hdst__line_index_find(index, first, &from, error);
    if (status != HDST_OK) return status;
    const uint64_t left = hdst__line_index_file_lines(index, from.file) - from.line;
    f->file = from.file;
    f->begin = from.offset;
    f->lines = from.line + 1;
    f->left = *end - first < left ? *end - first : left;
    *end = first + f->left;
    to.offset = hdst__text_input_bytes(state_of(f)->input, from.file);
    if (f->left < left) status = hdst__line_index_find(index, *end, &to, error);
    return status == HDST_OK ? fill_stretch(f, to.offset - from.offset, error) : status;
}

static hdst_status fill_lines(const hdst__bound_source *bound, uint64_t first, uint64_t count, const hdst__storage *storage, void *const *buffers,
                              uint64_t to_first, hdst_error *error)
{
    filling f;
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

static const char *file_of(const hdst__source *source, uint64_t number)
{
    const lines_state *state = source->state;
    return number < hdst__text_input_files(state->input) ? hdst__text_input_path(state->input, (size_t)number) : NULL;
}

static const hdst__source_format lines_format = {.name = "lines", .count = count_lines, .fill = fill_lines, .close = close_lines, .file = file_of};

// --- Opening ---

static hdst_status open_input(hdst__source *source, const char *const *paths, size_t count, const hdst__lines_options *options, hdst_error *error)
{
    lines_state *state = source->state = hdst__alloc_zero(source->allocator, sizeof *state);
    if (!state) return hdst__error_memory(error, source->name);
    if (options) state->options = *options;
    if (!state->options.longest) state->options.longest = HDST__TEXT_LONGEST;
    const lines_state *s = state;
    return hdst__text_input_open(source->allocator, paths, count, s->options.cancel, s->options.runtime, &state->input, error);
}

hdst__source *hdst__source_lines(const hdst__allocator *allocator, const char *const *paths, size_t count, const hdst__lines_options *options,
                                 hdst_error *error)
{
    hdst__source *source = hdst__source_new(allocator, &lines_format, count ? paths[0] : "no file", error);
    if (!source) return NULL;
    source->concurrent = true;
    hdst_status status = open_input(source, paths, count, options, error);
    if (status == HDST_OK && !(hdst__source_add_column(source, "text", HDST__TEXT, 0, 1) && hdst__source_add_column(source, "offset", HDST__U64, 16, 1) &&
                               hdst__source_add_column(source, "source", HDST__U32, 24, 1) && hdst__source_add_column(source, "line", HDST__U64, 32, 1)))
        status = hdst__error_memory(error, source->name);
    if (status == HDST_OK) return source;
    hdst__source_close(source);
    return NULL;
}
