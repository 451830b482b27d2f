// SPDX-License-Identifier: Apache-2.0
// Lines of texts as records. They are read before they are counted, by whoever can do without their number (io/open_end.h); what is found on the way is kept.
#include "io/lines_source.h"

#include "base/costs_host.h"
#include "io/newlines.h"

static void close_lines(hdst__source *source)
{
    hdst__lines_state *state = source->state;
    if (!state) return;
    hdst__line_index_free(state->index);
    hdst__text_input_close(state->input);
    pthread_mutex_destroy(&state->growing);
    hdst__free(source->allocator, state);
}

// Counts on until there are so many, or all.
static hdst_status grow(hdst__source *source, uint64_t lines, hdst_error *error)
{
    hdst__lines_state *state = source->state;
    pthread_mutex_lock(&state->growing);
    hdst_status status = hdst__lines_prepare(source, error);
    if (status == HDST_OK) status = hdst__line_index_grow(state->index, lines, source->threads, error);
    if (status == HDST_OK) hdst__lines_note_end(state);
    pthread_mutex_unlock(&state->growing);
    return status;
}

static hdst_status count_lines(hdst__source *source, hdst_error *error)
{
    const hdst__lines_state *state = source->state;
    hdst_status status = grow(source, UINT64_MAX, error);
    if (status != HDST_OK) return status;
    source->rows = hdst__line_index_lines(state->index);
    if (source->rows) source->text_bytes = hdst__line_index_bytes(state->index, 0, source->rows) / source->rows + 1;
    return HDST_OK;
}

static hdst_status look(hdst__source *source, uint64_t record, hdst_error *error) { return grow(source, record + 1, error); }

// --- Before they are counted ---

// The bytes of a line, about, by pieces from all over the texts.
static hdst_status sample(hdst__source *source, uint64_t all, hdst_error *error)
{
    enum { PIECES = 32, PIECE_BYTES = 8192 };
    const hdst__lines_state *state = source->state;
    char bytes[PIECE_BYTES];
    uint64_t before = 0, seen = 0, ends = 0;
    for (size_t piece = 0, file = 0; piece < PIECES; piece++) {
        const uint64_t at = all / PIECES * piece;
        while (at >= before + hdst__text_input_bytes(state->input, file)) before += hdst__text_input_bytes(state->input, file++);
        const uint64_t left = hdst__text_input_bytes(state->input, file) - (at - before), length = left < PIECE_BYTES ? left : PIECE_BYTES;
        hdst_status status = hdst__text_input_read(state->input, file, at - before, bytes, length, error);
        if (status != HDST_OK) return status;
        ends += hdst__newlines_count(bytes, length);
        seen += length;
    }
    source->text_bytes = seen / (ends ? ends : 1) + 1;
    return HDST_OK;
}

// Of a short text all is known at once.
static hdst_status begin_lines(hdst__source *source, hdst_error *error)
{
    const hdst__lines_state *state = source->state;
    uint64_t bytes = 0;
    hdst_status status = grow(source, 0, error);
    if (status != HDST_OK) return status;
    for (size_t i = 0; i < hdst__text_input_files(state->input); i++) bytes += hdst__text_input_bytes(state->input, i);
    return bytes < HDST__HOST_TEXT_COUNTED_BYTES ? grow(source, UINT64_MAX, error) : sample(source, bytes, error);
}

static hdst_status fill_lines(const hdst__bound_source *bound, uint64_t first, uint64_t count, const hdst__storage *storage, void *const *buffers,
                              uint64_t to_first, hdst_error *error)
{
    return (bound->source->is_counted ? hdst__lines_fill_counted : hdst__lines_fill_open)(bound, first, count, storage, buffers, to_first, error);
}

static const char *file_of(const hdst__source *source, uint64_t number)
{
    const hdst__lines_state *state = source->state;
    return number < hdst__text_input_files(state->input) ? hdst__text_input_path(state->input, (size_t)number) : NULL;
}

static const hdst__source_format lines_format = {.name = "lines", .count = count_lines, .begin = begin_lines, .look = look, .fill = fill_lines,
                                                 .close = close_lines, .file = file_of,
                                                 .finds_texts = true, .find_lines = hdst__lines_find_leaves};

// --- Opening ---

static hdst_status open_input(hdst__source *source, const char *const *paths, size_t count, const hdst__lines_options *options, hdst_error *error)
{
    hdst__lines_state *state = source->state = hdst__alloc_zero(source->allocator, sizeof *state);
    if (!state) return hdst__error_memory(error, source->name);
    pthread_mutex_init(&state->growing, NULL);
    atomic_init(&state->end.records, UINT64_MAX);
    source->open_end = &state->end;
    if (options) state->options = *options;
    if (!state->options.longest) state->options.longest = HDST__TEXT_LONGEST;
    const hdst__lines_state *s = state;
    return hdst__text_input_open(source->allocator, paths, count, s->options.cancel, s->options.runtime, &state->input, error);
}

hdst__source *hdst__source_lines(const hdst__allocator *allocator, const char *const *paths, size_t count, const hdst__lines_options *options,
                                 hdst_error *error)
{
    hdst__source *source = hdst__source_new(allocator, &lines_format, count ? paths[0] : "no file", error);
    if (!source) return NULL;
    source->concurrent = true;
    source->parts_itself = true;
    hdst_status status = open_input(source, paths, count, options, error);
    if (status == HDST_OK && !(hdst__source_add_column(source, "text", HDST__TEXT, 0, 1) && hdst__source_add_column(source, "offset", HDST__U64, 16, 1) &&
                               hdst__source_add_column(source, "source", HDST__U32, 24, 1) && hdst__source_add_column(source, "line", HDST__U64, 32, 1)))
        status = hdst__error_memory(error, source->name);
    if (status == HDST_OK) return source;
    hdst__source_close(source);
    return NULL;
}
