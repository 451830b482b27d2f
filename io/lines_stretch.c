// SPDX-License-Identifier: Apache-2.0
// Lines that are counted as they are read (io/lines_source.h). Nobody knows yet where the lines end that are asked for, so a stretch of bytes that is about as
// long as they are comes to where it stays: all threads read pieces of it and count their line ends, which says where each piece's lines go, and then make
// spans of them. What was counted stays in the index, and what lies behind the last line that was asked for comes again with those behind it.
//
// Where lines alone matter that have a text (bound->search), pieces without it only go by, through memory that stays in a core's cache: of their bytes those
// come again, to their place, that a line with the text has in front of it or behind.
#define _GNU_SOURCE     // memrchr
#include "io/lines_source.h"

#include "base/costs_host.h"
#include "io/newlines.h"
#include "record/needed_records.h"

#include <stdatomic.h>
#include <string.h>

typedef struct piece_state {
    bool is_read;                   // its bytes are where they stay
    bool found, found_open;         // a line that ends in it, or the one behind those, has the text that is looked for, or may have
} piece_state;

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
    piece_state *piece;             // where a text is looked for as bytes go by; NULL: all are read
    _Atomic uint64_t looked_through, dense;     // pieces: so many were; so many of them had the text
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

static hdst_status read_bytes(const stretch *s, uint64_t begin, uint64_t end, char *to, hdst_error *error)
{
    return hdst__text_input_read(state_of(s)->input, s->from.file, s->from.offset + begin, to, end - begin, error);
}

static hdst_status read_whole(stretch *s, uint64_t begin, uint64_t end, hdst_error *error)
{
    const hdst_status status = read_bytes(s, begin, end, s->bytes + begin, error);
    for (uint64_t at = begin; at < end && status == HDST_OK; at = block_end(s, block_of(s, at)))
        s->ends[block_of(s, at)] = hdst__newlines_count(s->bytes + at, block_end(s, block_of(s, at)) - at);
    return status;
}

// Reads a piece a little at a time, each time to the same place, so that the bytes stay in the cache of a core; each time with as many bytes from before as a
// text needs that is there in part. *found: it is there, or there is no room for that, and not all was looked at.
static hdst_status look_through(stretch *s, uint64_t begin, uint64_t end, bool *found, hdst_error *error)
{
    const hdst__line_search *search = s->bound->search;
    char *window = s->bytes + begin;
    hdst_status status = HDST_OK;
    for (uint64_t at = begin, behind; at < end && status == HDST_OK; at = behind) {
        const uint64_t before = at < search->text.length - 1 ? at : search->text.length - 1, block = block_of(s, at);
        behind = block_end(s, block);
        const uint64_t count = before + behind - at;
        *found = count > end - begin;
        if (*found) return HDST_OK;
        status = read_bytes(s, at - before, behind, window, error);
        *found = status == HDST_OK && hdst__line_search_find(search, window, 0, count) < count;
        if (*found) return HDST_OK;
        s->ends[block] = hdst__newlines_count(window + before, behind - at);
        if (behind == end) s->bytes[end - 1] = window[count - 1];       // whether the last line of a file is open
    }
    return status;
}

// Where a text is all over the place, looking for it as bytes go by only costs. What stretches have seen counts half in the next one, so it is tried again.
static bool pays_to_look(stretch *s)
{
    enum { AT_LEAST = 2, SHARE = 4 };
    return atomic_load(&s->dense) * SHARE <= atomic_load(&s->looked_through) + AT_LEAST * SHARE;
}

// Whether the line that no line end of the piece ends has the text in it.
static bool open_line_has_text(const stretch *s, uint64_t begin, uint64_t end)
{
    const char *newline = memrchr(s->bytes + begin, '\n', end - begin);
    const uint64_t from = newline ? (uint64_t)(newline - s->bytes) + 1 : begin;
    return !newline || hdst__line_search_find(s->bound->search, s->bytes, from, end) < end;
}

static hdst_status search_piece(stretch *s, uint64_t piece, uint64_t begin, uint64_t end, hdst_error *error)
{
    piece_state *p = &s->piece[piece];
    hdst_status status = HDST_OK;
    *p = (piece_state){.found = true};
    if (pays_to_look(s)) {
        status = look_through(s, begin, end, &p->found, error);
        atomic_fetch_add(&s->looked_through, 1);
        if (p->found) atomic_fetch_add(&s->dense, 1);
    }
    if (!p->found || status != HDST_OK) return status;
    status = read_whole(s, begin, end, error);
    p->is_read = status == HDST_OK;
    p->found_open = p->is_read && open_line_has_text(s, begin, end);
    return status;
}

static void read_piece(void *user, uint64_t piece)
{
    stretch *s = user;
    uint64_t begin, end;
    hdst_error error = HDST_ERROR_INIT;
    piece_at(s, piece, &begin, &end);
    hdst_status status = hdst__cancel_check(state_of(s)->options.cancel, 0, 0, &error);
    if (status == HDST_OK) status = s->piece ? search_piece(s, piece, begin, end, &error) : read_whole(s, begin, end, &error);
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

static uint64_t block_begin(const stretch *s, uint64_t block) { return block ? block_end(s, block - 1) : 0; }

static uint64_t piece_of(const stretch *s, uint64_t at) { return (s->from.offset + at) / piece_bytes(s) - s->from.offset / piece_bytes(s); }

// Where none of its bytes mattered they went by.
static hdst_status want_block(const stretch *s, uint64_t block, hdst_error *error)
{
    const uint64_t begin = block_begin(s, block);
    if (!s->piece || s->piece[piece_of(s, begin)].is_read) return HDST_OK;
    return read_bytes(s, begin, block_end(s, block), s->bytes + begin, error);
}

// From line ends in blocks to those before them.
static hdst_status cut(stretch *s, hdst_error *error)
{
    uint64_t all = 0;
    hdst_status status = HDST_OK;
    s->cut = s->end - s->from.offset;
    for (uint64_t i = 0; i < s->blocks && status == HDST_OK; i++) {
        const uint64_t here = s->ends[i], begin = block_begin(s, i);
        const bool is_cut = all < s->wanted && all + here >= s->wanted;
        s->ends[i] = all;
        if (is_cut) status = want_block(s, i, error);
        if (is_cut && status == HDST_OK) s->cut = begin + hdst__newlines_find(s->bytes + begin, block_end(s, i) - begin, s->wanted - all);
        all += here;
    }
    s->ends[s->blocks] = all;
    all += has_open_line(s);
    s->lines = all < s->wanted ? all : s->wanted;
    return status;
}

// Those that end in the piece, counted from the stretch's first one; one that nothing ends is the last piece's. False: there are none.
static bool piece_lines(const stretch *s, uint64_t piece, uint64_t *begin, uint64_t *end, uint64_t *first, uint64_t *behind)
{
    piece_at(s, piece, begin, end);
    if (*begin >= s->cut) return false;
    const bool is_last = *end >= s->cut;
    *first = s->ends[block_of(s, *begin)];
    *behind = is_last ? s->lines : s->ends[block_of(s, *end)];
    if (is_last) *end = s->cut;
    return *first < *behind;
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

static bool matters(const stretch *s, uint64_t piece) { return !s->piece || s->piece[piece].found; }

static bool is_wanted(const stretch *s, uint64_t line)
{
    const hdst__needed_records *needed = s->storage->needed;
    return !needed || !s->bound->search || (s->to + line >= needed->first && s->to + line < needed->behind);
}

// Those that end in bytes [begin, end), of which the first may begin before. Bytes that were read twice may be others the second time.
static hdst_status note_lines(const stretch *s, hdst__line_filling *f, uint64_t begin, uint64_t end, uint64_t first, hdst_error *error)
{
    const char *newline = first ? memrchr(s->bytes, '\n', begin) : NULL;
    uint64_t from = newline ? (uint64_t)(newline - s->bytes) + 1 : 0;
    if (first && !newline) return hdst__lines_changed(f, error);
    hdst_status status = hdst__lines_note(f, s->bytes, begin, end, &from, error);
    // What follows the last line end of another piece is the next one's, as is what is no line of the stretch.
    const bool ends_open = end == s->cut && f->noted < f->left;
    return status == HDST_OK ? hdst__lines_end(f, s->bytes, ends_open ? from : end, end, error) : status;
}

// Where a device makes the records: block by block, in their order. *told false: they are to be noted.
static hdst_status tell(const stretch *s, bool *told, hdst_error *error)
{
    hdst__line_filling f;
    uint64_t from = 0;
    *told = hdst__lines_are_told(s->bound, s->storage, s->cut);
    begin_filling(s, 0, s->lines, &f);
    for (uint64_t i = 0; i < s->blocks && block_begin(s, i) < s->cut && *told; i++) {
        const uint64_t begin = block_begin(s, i), behind = block_end(s, i), end = behind < s->cut ? behind : s->cut;
        const uint64_t lines = (end == s->cut ? s->lines : s->ends[i + 1]) - s->ends[i];
        const hdst_status status = hdst__lines_tell(&f, s->bytes, begin, end, &from, lines, end == s->cut && s->lines > s->ends[s->blocks], told,
                                                     error);
        if (status != HDST_OK) return status;
    }
    return HDST_OK;
}

static void note_piece(void *user, uint64_t piece)
{
    stretch *s = user;
    hdst__line_filling f;
    uint64_t begin, end, first, behind;
    hdst_error error = HDST_ERROR_INIT;
    if (!piece_lines(s, piece, &begin, &end, &first, &behind) || !is_wanted(s, first)) return;
    begin_filling(s, first, behind - first, &f);
    const hdst_status status = matters(s, piece) ? note_lines(s, &f, begin, end, first, &error) : hdst__lines_leave_out(&f, behind - first, &error);
    if (status != HDST_OK) note_failure(s, piece, status, &error);
}

// --- Lines that matter ---

// The bytes of a line that ends behind `begin`, back to the line end before it.
static hdst_status want_line_start(const stretch *s, uint64_t begin, hdst_error *error)
{
    hdst_status status = HDST_OK;
    for (uint64_t block = begin ? block_of(s, begin) : 0; block-- > 0 && status == HDST_OK;) {
        status = want_block(s, block, error);
        if (s->ends[block + 1] > s->ends[block]) break;
    }
    return status;
}

// A line that begins in a piece with the text ends in a later one; of those with lines that matter all bytes are wanted.
static hdst_status want_lines(stretch *s, hdst_error *error)
{
    hdst_status status = HDST_OK;
    bool open = false;
    for (uint64_t piece = 0; piece < pieces(s) && status == HDST_OK; piece++) {
        piece_state *p = &s->piece[piece];
        uint64_t begin, end;
        piece_at(s, piece, &begin, &end);
        const bool goes_on = open && s->ends[block_of(s, begin)] == (end == s->end - s->from.offset ? s->ends[s->blocks] : s->ends[block_of(s, end)]);
        p->found |= open;
        open = p->found_open || goes_on;
        if (!p->found || begin >= s->cut) continue;
        if (!p->is_read) status = read_bytes(s, begin, end, s->bytes + begin, error);
        p->is_read = true;
        if (status == HDST_OK) status = want_line_start(s, begin, error);
    }
    return status;
}

// The lines from the first piece that matters to the last one; what an earlier stretch has and those between them.
static hdst_status note_needed(const stretch *s, hdst_error *error)
{
    hdst__needed_records *needed = s->storage->needed;
    uint64_t first = UINT64_MAX, behind = 0, begin, end, from, to;
    for (uint64_t piece = 0; piece < pieces(s); piece++) {
        if (!matters(s, piece) || !piece_lines(s, piece, &begin, &end, &from, &to)) continue;
        if (first == UINT64_MAX) first = from;
        behind = to;
    }
    if (first == UINT64_MAX) return HDST_OK;
    hdst_status status = HDST_OK;
    hdst__line_filling between;
    begin_filling(s, first, 0, &between);
    if (needed->first == needed->behind) needed->first = needed->behind = between.to;
    const uint64_t left_out = between.to - needed->behind;
    between.to = needed->behind;
    if (left_out) status = hdst__lines_fill_nothing(&between, left_out, error);
    needed->behind = s->to + behind;
    return status;
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
    // Where lines may be too long, each is looked at.
    const bool searches = s->bound->search && s->end - s->from.offset <= state_of(s)->options.longest;
    if (searches) s->piece = hdst__alloc_zero(s->bound->source->allocator, pieces(s) * sizeof *s->piece);
    return s->ends && (s->piece || !searches) ? HDST_OK : hdst__error_memory(error, "the lines of a text");
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
    status = cut(s, error);
    if (status == HDST_OK && s->exact && s->lines != s->wanted) return lines_are_others(s, error);
    if (status == HDST_OK && s->piece) status = want_lines(s, error);
    if (status == HDST_OK && s->bound->search && s->storage->needed) status = note_needed(s, error);
    bool told = false;
    if (status == HDST_OK && s->lines) status = tell(s, &told, error);
    return status == HDST_OK && s->lines && !told ? for_pieces(s, note_piece, error) : status;
}

// Lines from s->row on, `wanted` or fewer: *done of them.
static hdst_status fill_stretch(stretch *s, uint64_t *done, hdst_error *error)
{
    hdst_error full = HDST_ERROR_INIT;
    hdst_status status = bound_stretch(s, error);
    s->own = NULL;
    s->ends = NULL;
    s->piece = NULL;
    atomic_store(&s->looked_through, state_of(s)->looked_through / 2);
    atomic_store(&s->dense, state_of(s)->dense / 2);
    s->lines = 0;
    s->failed = UINT64_MAX;
    s->status = HDST_OK;
    if (status == HDST_OK) {
        status = take(s, &full);
        if (status == HDST_OK) status = read_stretch(s, &full);
        if (status != HDST_OK && error) *error = full;
    }
    state_of(s)->looked_through = atomic_load(&s->looked_through);
    state_of(s)->dense = atomic_load(&s->dense);
    hdst__free(s->bound->source->allocator, s->own);
    hdst__free(s->bound->source->allocator, s->ends);
    hdst__free(s->bound->source->allocator, s->piece);
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
    if (bound->search && storage->needed) *storage->needed = (hdst__needed_records){0};
    pthread_mutex_init(&s.mutex, NULL);
    pthread_mutex_lock(&state->growing);
    hdst_status status = fill_all(&s, first, count, to_first, &done, error);
    pthread_mutex_unlock(&state->growing);
    pthread_mutex_destroy(&s.mutex);
    s.row = first + done;
    s.to = to_first + done;
    begin_filling(&s, 0, 0, &rest);
    if (bound->search && storage->needed) return status;
    return status == HDST_OK && done < count ? hdst__lines_fill_nothing(&rest, count - done, error) : status;
}
