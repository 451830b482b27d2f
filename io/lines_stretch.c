// SPDX-License-Identifier: Apache-2.0
// Lines that are counted as they are read (io/lines_source.h). Nobody knows yet where the lines end that are asked for, so a stretch of bytes that is about as
// long as they are comes to where it stays: all threads read pieces of it and count their line ends, which says where each piece's lines go, and then make
// spans of them. What was counted stays in the index, and what lies behind the last line that was asked for comes again with those behind it.
#define _GNU_SOURCE     // memrchr
#include "io/lines_source.h"

#include "base/costs_host.h"
#include "io/newlines.h"

#include <string.h>

typedef struct stretch {
    const hdst__bound_source *bound;
    const hdst__storage *storage;
    void *const *buffers;
    uint64_t row, to;               // of its first line: in the input, in the storage
    hdst__line_place from;
    uint64_t end;                   // of its bytes, in the file
    uint64_t wanted;                // lines
    bool exact;                     // it has so many, as somebody counted
    char *bytes, *own;
    uint64_t *ends;                 // of each block of the index; then of those before it
    uint64_t blocks;
    uint64_t lines, cut;            // that go to records; where the last one of them ends, from the first byte on
    pthread_mutex_t mutex;          // of the three below
    uint64_t failed;                // the first piece that did, so far
    hdst_status status;
    hdst_error error;
} stretch;

static hdst__lines_state *state_of(const stretch *s) { return s->bound->source->state; }
static uint64_t block_bytes(const stretch *s) { return hdst__line_index_block_bytes(state_of(s)->index); }

static uint64_t piece_bytes(const stretch *s)
{
    const uint64_t block = block_bytes(s);
    return block < HDST__HOST_TEXT_READ_BYTES ? HDST__HOST_TEXT_READ_BYTES / block * block : block;
}

static uint64_t pieces(const stretch *s) { return (s->end - 1) / piece_bytes(s) - s->from.offset / piece_bytes(s) + 1; }

// Bytes of a piece, counted from the stretch's first one: pieces end where blocks do.
static void piece_at(const stretch *s, uint64_t piece, uint64_t *begin, uint64_t *end)
{
    const uint64_t first = (s->from.offset / piece_bytes(s) + piece) * piece_bytes(s), behind = first + piece_bytes(s);
    *begin = piece ? first - s->from.offset : 0;
    *end = (behind < s->end ? behind : s->end) - s->from.offset;
}

static uint64_t block_of(const stretch *s, uint64_t at) { return (s->from.offset + at) / block_bytes(s) - s->from.offset / block_bytes(s); }

static uint64_t block_end(const stretch *s, uint64_t block)
{
    const uint64_t behind = (s->from.offset / block_bytes(s) + block + 1) * block_bytes(s);
    return (behind < s->end ? behind : s->end) - s->from.offset;
}

// --- Reading ---

static void note_failure(stretch *s, uint64_t piece, hdst_status status, const hdst_error *error)
{
    pthread_mutex_lock(&s->mutex);
    if (piece < s->failed) {
        s->failed = piece;
        s->status = status;
        s->error = *error;
    }
    pthread_mutex_unlock(&s->mutex);
}

static void read_piece(void *user, uint64_t piece)
{
    stretch *s = user;
    uint64_t begin, end;
    hdst_error error = HDST_ERROR_INIT;
    piece_at(s, piece, &begin, &end);
    hdst_status status = hdst__cancel_check(state_of(s)->options.cancel, 0, 0, &error);
    if (status == HDST_OK)
        status = hdst__text_input_read(state_of(s)->input, s->from.file, s->from.offset + begin, s->bytes + begin, end - begin, &error);
    for (uint64_t at = begin; at < end && status == HDST_OK; at = block_end(s, block_of(s, at)))
        s->ends[block_of(s, at)] = hdst__newlines_count(s->bytes + at, block_end(s, block_of(s, at)) - at);
    if (status != HDST_OK) note_failure(s, piece, status, &error);
}

static hdst_status for_pieces(stretch *s, void (*work)(void *user, uint64_t piece), hdst_error *error)
{
    hdst__thread_pool *threads = s->bound->source->threads;
    if (threads && pieces(s) > 1) hdst__thread_pool_run(threads, pieces(s), work, s);
    else for (uint64_t i = 0; i < pieces(s); i++) work(s, i);
    if (s->status != HDST_OK && error) *error = s->error;
    return s->status;
}

// --- Cutting ---

// Without an end of its own, the last line of a file ends with it.
static bool has_open_line(const stretch *s)
{
    const uint64_t count = s->end - s->from.offset;
    return s->end == hdst__text_input_bytes(state_of(s)->input, s->from.file) && s->bytes[count - 1] != '\n';
}

// From line ends in blocks to those before them.
static void cut(stretch *s)
{
    uint64_t all = 0;
    s->cut = s->end - s->from.offset;
    for (uint64_t i = 0; i < s->blocks; i++) {
        const uint64_t here = s->ends[i], begin = i ? block_end(s, i - 1) : 0;
        s->ends[i] = all;
        if (all < s->wanted && all + here >= s->wanted)
            s->cut = begin + hdst__newlines_find(s->bytes + begin, block_end(s, i) - begin, s->wanted - all);
        all += here;
    }
    s->ends[s->blocks] = all;
    all += has_open_line(s);
    s->lines = all < s->wanted ? all : s->wanted;
}

// --- Spans ---

static void begin_filling(const stretch *s, uint64_t before, uint64_t left, hdst__line_filling *f)
{
    f->bound = s->bound;
    f->storage = s->storage;
    f->buffers = s->buffers;
    f->row = s->row + before;
    f->to = s->to + before;
    f->file = s->from.file;
    f->begin = s->from.offset;
    f->lines = s->from.line + 1 + before;
    f->noted = 0;
    f->left = left;
}

// Of the lines that end in the piece; one that nothing ends is the last piece's.
static void note_piece(void *user, uint64_t piece)
{
    stretch *s = user;
    hdst__line_filling f;
    uint64_t begin, end, from = 0;
    hdst_error error = HDST_ERROR_INIT;
    piece_at(s, piece, &begin, &end);
    if (begin >= s->cut) return;
    const bool is_last = end >= s->cut;
    const uint64_t before = s->ends[block_of(s, begin)], behind = is_last ? s->lines : s->ends[block_of(s, end)];
    if (before == behind) return;
    if (is_last) end = s->cut;
    begin_filling(s, before, behind - before, &f);
    if (before) from = (uint64_t)((const char *)memrchr(s->bytes, '\n', begin) - s->bytes) + 1;
    hdst_status status = hdst__lines_note(&f, s->bytes, begin, end, &from, &error);
    // What follows the last line end of another piece is the next one's, as is what is no line of the stretch.
    const bool ends_open = is_last && f.noted < f.left;
    if (status == HDST_OK) status = hdst__lines_end(&f, s->bytes, ends_open ? from : end, end, &error);
    if (status != HDST_OK) note_failure(s, piece, status, &error);
}

// --- Stretches ---

// Bytes of `lines` lines, about: as long as those that were counted are, and a little more, for each further stretch begins with a block that is read again.
static uint64_t expected_bytes(const hdst__source *source, uint64_t lines)
{
    enum { SEEN = 1000 };
    const hdst__lines_state *state = source->state;
    const uint64_t seen = hdst__line_index_lines(state->index);
    double each = (double)source->text_bytes;
    if (seen > SEEN) each = (double)hdst__line_index_counted_bytes(state->index) / (double)seen;
    return (uint64_t)(each * (double)lines * (1 + 1.0 / 64));
}

static hdst_status grow(hdst__source *source, uint64_t lines, hdst_error *error)
{
    hdst__lines_state *state = source->state;
    return hdst__line_index_grow(state->index, lines, source->threads, error);
}

// Where it ends: behind the lines that are wanted, where they were counted, or about there. It is of one file.
static hdst_status bound_stretch(stretch *s, hdst_error *error)
{
    const hdst__line_index *index = state_of(s)->index;
    hdst_status status = hdst__line_index_find(index, s->row, &s->from, error);
    const uint64_t known = hdst__line_index_lines(index) - s->row, of_file = hdst__line_index_file_lines(index, s->from.file);
    s->end = hdst__text_input_bytes(state_of(s)->input, s->from.file);
    s->exact = known >= s->wanted || of_file != UINT64_MAX;
    if (status != HDST_OK) return status;
    if (s->exact && of_file != UINT64_MAX && of_file - s->from.line <= s->wanted) {
        s->wanted = of_file - s->from.line;
    } else if (s->exact) {
        hdst__line_place to;
        status = hdst__line_index_find(index, s->row + s->wanted, &to, error);
        s->end = to.offset;
    } else {
        // Whole blocks, of which the index then has the lines.
        const uint64_t block = block_bytes(s), about = (s->from.offset + expected_bytes(s->bound->source, s->wanted)) / block * block + block;
        if (about < s->end) s->end = about;
    }
    return status;
}

// Counted lines with more bytes than are taken at a time (hdst__lines_most_bytes): fewer of them.
static hdst_status shorten(stretch *s, uint64_t block, hdst_error *error)
{
    hdst_status status = HDST_OK;
    while (status == HDST_OK && s->exact && s->wanted > 1 && s->end - s->from.offset > hdst__lines_most_bytes(state_of(s), block)) {
        hdst__line_place to;
        s->wanted /= 2;
        status = hdst__line_index_find(state_of(s)->index, s->row + s->wanted, &to, error);
        s->end = to.offset;
    }
    return status;
}

static hdst_status take_bytes(stretch *s, uint64_t block, hdst_error *error)
{
    hdst__line_filling f;
    const hdst_status status = shorten(s, block, error);
    begin_filling(s, 0, s->exact ? s->wanted : UINT64_MAX, &f);
    return status == HDST_OK ? hdst__lines_take(&f, s->end - s->from.offset, &s->bytes, &s->own, error) : status;
}

static hdst_status take(stretch *s, hdst_error *error)
{
    hdst_status status = take_bytes(s, block_bytes(s), error);
    if (status == HDST_E_MEMORY && s->exact && s->wanted > 1) status = take_bytes(s, 0, error);
    if (status != HDST_OK) return status;
    s->blocks = block_of(s, s->end - 1 - s->from.offset) + 1;
    s->ends = hdst__alloc(s->bound->source->allocator, (s->blocks + 1) * sizeof *s->ends);
    return s->ends ? HDST_OK : hdst__error_memory(error, "the lines of a text");
}

static hdst_status lines_are_others(const stretch *s, hdst_error *error)
{
    hdst__line_filling f;
    begin_filling(s, 0, 0, &f);
    return hdst__lines_changed(&f, error);
}

static hdst_status read_stretch(stretch *s, hdst_error *error)
{
    hdst_status status = for_pieces(s, read_piece, error);
    if (status != HDST_OK) return status;
    hdst__line_index_note(state_of(s)->index, &s->from, s->end, s->ends, has_open_line(s));
    cut(s);
    if (s->exact && s->lines != s->wanted) return lines_are_others(s, error);
    return s->lines ? for_pieces(s, note_piece, error) : HDST_OK;
}

// Lines from s->row on, `wanted` or fewer: *done of them.
static hdst_status fill_stretch(stretch *s, uint64_t *done, hdst_error *error)
{
    hdst_error full = HDST_ERROR_INIT;
    hdst_status status = bound_stretch(s, error);
    s->own = NULL;
    s->ends = NULL;
    s->lines = 0;
    s->failed = UINT64_MAX;
    s->status = HDST_OK;
    if (status == HDST_OK) {
        status = take(s, &full);
        if (status == HDST_OK) status = read_stretch(s, &full);
        if (status != HDST_OK && error) *error = full;
    }
    hdst__free(s->bound->source->allocator, s->own);
    hdst__free(s->bound->source->allocator, s->ends);
    *done = s->lines;
    return status;
}

// Lines as long as blocks, or longer, are counted before they are read: a stretch of a few of them can only be guessed badly.
static hdst_status fill_next(stretch *s, uint64_t *done, hdst_error *error)
{
    hdst__source *source = s->bound->source;
    const hdst__line_index *index = state_of(s)->index;
    const bool are_long = expected_bytes(source, s->wanted) / s->wanted > HDST__HOST_TEXT_BLOCK_BYTES;
    *done = 0;
    hdst_status status = grow(source, are_long ? s->row + s->wanted : s->row, error);
    if (status != HDST_OK || hdst__line_index_lines(index) < s->row) return status;
    if (hdst__line_index_is_whole(index) && hdst__line_index_lines(index) == s->row) return HDST_OK;
    status = fill_stretch(s, done, error);
    if (s->exact || (status != HDST_OK && status != HDST_E_MEMORY) || *done) return status;
    // There is no room for so much, or not a whole line in it: now it is counted how much it is.
    status = grow(source, status == HDST_OK ? s->row + 1 : s->row + s->wanted, error);
    if (status != HDST_OK) return status;
    const uint64_t there = hdst__line_index_lines(index) - s->row;
    if (there < s->wanted) s->wanted = there;
    return there ? fill_stretch(s, done, error) : HDST_OK;
}

static hdst_status fill_all(stretch *s, uint64_t first, uint64_t count, uint64_t to_first, uint64_t *done, hdst_error *error)
{
    hdst__source *source = s->bound->source;
    hdst_status status = hdst__lines_prepare(source, error);
    for (uint64_t some = 1; some && *done < count && status == HDST_OK; *done += some) {
        s->row = first + *done;
        s->to = to_first + *done;
        s->wanted = count - *done;
        status = fill_next(s, &some, error);
    }
    if (status == HDST_OK) hdst__lines_note_end(source->state);
    return status;
}

hdst_status hdst__lines_fill_open(const hdst__bound_source *bound, uint64_t first, uint64_t count, const hdst__storage *storage, void *const *buffers,
                                  uint64_t to_first, hdst_error *error)
{
    hdst__lines_state *state = bound->source->state;
    stretch s = {.bound = bound, .storage = storage, .buffers = buffers, .failed = UINT64_MAX};
    hdst__line_filling rest;
    uint64_t done = 0;
    pthread_mutex_init(&s.mutex, NULL);
    pthread_mutex_lock(&state->growing);
    hdst_status status = fill_all(&s, first, count, to_first, &done, error);
    pthread_mutex_unlock(&state->growing);
    pthread_mutex_destroy(&s.mutex);
    s.row = first + done;
    s.to = to_first + done;
    begin_filling(&s, 0, 0, &rest);
    return status == HDST_OK && done < count ? hdst__lines_fill_nothing(&rest, count - done, error) : status;
}
