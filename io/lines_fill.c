// SPDX-License-Identifier: Apache-2.0
// Lines that were counted, as records (io/lines_source.h): the bytes of a stretch of lines are read to where they stay, once, and become records while they
// are in the cache.
#include "io/lines_source.h"

#include "base/costs_host.h"
#include "io/newlines.h"
#include "record/text_bytes.h"

#include <stdio.h>

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

// --- Counted lines ---


// Reads `count` bytes piece by piece, and tells where the lines of each are; where nobody wants to know, all are noted.
static hdst_status read_told(hdst__line_filling *f, char *bytes, uint64_t count, hdst_error *error)
{
    const hdst__line_filling all = *f;
    uint64_t from = 0;
    bool told = true;
    for (uint64_t at = 0, end; at < count; at = end) {
        end = count - at < HDST__HOST_TEXT_BLOCK_BYTES ? count : at + HDST__HOST_TEXT_BLOCK_BYTES;
        hdst_status status = hdst__text_input_read(hdst__lines_state_of(f)->input, f->file, f->begin + at, bytes + at, end - at, error);
        if (status != HDST_OK) return status;
        const bool open = end == count && bytes[end - 1] != '\n';
        if (told) status = hdst__lines_tell(f, bytes, at, end, &from, hdst__newlines_count(bytes + at, end - at) + open, open, &told, error);
        if (status != HDST_OK) return status;
    }
    if (told) return f->left ? hdst__lines_changed(f, error) : HDST_OK;
    from = 0;
    *f = all;
    const hdst_status status = hdst__lines_note(f, bytes, 0, count, &from, error);
    return status == HDST_OK ? hdst__lines_end(f, bytes, from, count, error) : status;
}

// Reads `count` bytes piece by piece, and notes the lines of each.
static hdst_status read_lines(hdst__line_filling *f, char *bytes, uint64_t count, hdst_error *error)
{
    uint64_t from = 0;
    if (hdst__lines_are_told(f->bound, f->storage, count)) return read_told(f, bytes, count, error);
    for (uint64_t at = 0, end; at < count; at = end) {
        const uint64_t left = count - at;
        end = at + (left < HDST__HOST_TEXT_READ_BYTES ? left : HDST__HOST_TEXT_READ_BYTES);
        hdst_status status = hdst__text_input_read(hdst__lines_state_of(f)->input, f->file, f->begin + at, bytes + at, end - at, error);
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
    hdst__error_set(error, HDST_E_MEMORY, "line %llu of '%s'%s %llu bytes, for which there is no room", (unsigned long long)f->lines, hdst__lines_path(f),
                    f->left > 1 ? " and those behind it have" : " has", (unsigned long long)bytes);
    hdst__lines_at(f, f->lines, error);
    hdst__error_cause(error, "%s", cause);
    hdst__error_hint(error, "raise --memory; a line ends in \\n: does this text have such lines?");
    return HDST_E_MEMORY;
}

// Where nobody wants the texts their bytes go by.
hdst_status hdst__lines_take(hdst__line_filling *f, uint64_t bytes, char **at, char **own, hdst_error *error)
{
    const hdst__source *source = f->bound->source;
    hdst_status status = HDST_OK;
    *own = NULL;
    const bool is_long = f->left == 1 && bytes > (uint64_t)hdst__lines_state_of(f)->options.longest + 2;
    if (is_long) return hdst__lines_too_long(f, f->lines, bytes, error);        // before memory is looked for
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
        status = hdst__line_index_find(hdst__lines_state_of(f)->index, c->end, &c->to, error);
    }
    return status;
}

static hdst_status take_counted(hdst__line_filling *f, counted *c, uint64_t block, char **at, char **own, hdst_error *error)
{
    *own = NULL;
    const hdst_status status = shorten(f, c, hdst__lines_most_bytes(hdst__lines_state_of(f), block), error);
    return status == HDST_OK ? hdst__lines_take(f, c->to.offset - c->from.offset, at, own, error) : status;
}

static hdst_status fill_counted(hdst__line_filling *f, counted *c, hdst_error *error)
{
    char *at, *own;
    hdst_status status = take_counted(f, c, hdst__line_index_block_bytes(hdst__lines_state_of(f)->index), &at, &own, error);
    if (status == HDST_E_MEMORY && f->left > 1) status = take_counted(f, c, 0, &at, &own, error);
    if (status == HDST_OK) status = read_lines(f, at, c->to.offset - c->from.offset, error);
    hdst__free(f->bound->source->allocator, own);
    return status;
}

// Lines [first, end) as far as they are of one file, the first one's.
static hdst_status fill_file(hdst__line_filling *f, uint64_t first, uint64_t *end, hdst_error *error)
{
    const hdst__line_index *index = hdst__lines_state_of(f)->index;
    counted c = {.first = first};
    hdst_status status = hdst__line_index_find(index, first, &c.from, error);
    if (status != HDST_OK) return status;
    const uint64_t left = hdst__line_index_file_lines(index, c.from.file) - c.from.line;
    f->file = c.from.file;
    f->begin = c.from.offset;
    f->lines = c.from.line + 1;
    f->left = *end - first < left ? *end - first : left;
    c.end = first + f->left;
    c.to.offset = hdst__text_input_bytes(hdst__lines_state_of(f)->input, c.from.file);
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
