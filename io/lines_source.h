// SPDX-License-Identifier: Apache-2.0
// Lines of texts as records, between the source (source_lines.c) and who fills segments with them: lines that were counted before (lines_fill.c), and those
// that are counted as they are read (lines_stretch.c). Which lines of bytes at hand matter, says lines_found.c; lines_note.c makes records of them.
#ifndef HDST_IO_LINES_SOURCE_H
#define HDST_IO_LINES_SOURCE_H

#include "io/bound.h"
#include "io/line_index.h"
#include "record/line_blocks.h"
#include "record/text_span.h"

typedef struct hdst__lines_state {
    hdst__text_input *input;
    hdst__line_index *index;        // once the input is prepared
    hdst__lines_options options;
    hdst__open_end end;
    pthread_mutex_t growing;        // held while the index grows
    uint64_t looked_through, dense; // pieces, of late: so many were, for a text, so many of them had it (lines_stretch.c); guarded by `growing`
} hdst__lines_state;

// Prepares the input, with an index of which nothing needs to be counted yet; again it does nothing. Whoever holds `growing`, or is alone.
hdst_status hdst__lines_prepare(hdst__source *source, hdst_error *error);
// Tells the open end how far the index goes.
void hdst__lines_note_end(hdst__lines_state *state);

// Bytes of the longest line that there may be, with its end. Of counted lines with more bytes fewer are taken at a time, so that one that is too long is told
// before memory is looked for: of more than `block`, or, where there is no memory, of more than one line.
static inline uint64_t hdst__lines_most_bytes(const hdst__lines_state *state, uint64_t block)
{
    const uint64_t line = (uint64_t)state->options.longest + 2;
    return line > block ? line : block;
}

enum { HDST__LINE_BATCH = 256 };    // lines that are noted before they go to their fields

typedef struct hdst__line_filling {
    const hdst__bound_source *bound;
    const hdst__storage *storage;
    void *const *buffers;
    uint64_t row, to;               // of the first line of the batch: in the input, in the storage
    size_t file;
    uint64_t begin, lines;          // in the file: of the first byte at hand; the line of that, from 1
    uint64_t noted, left;           // lines in the batch; that this file's stretch still has, those included
    hdst__text_span text[HDST__LINE_BATCH];
    uint64_t offset[HDST__LINE_BATCH], line[HDST__LINE_BATCH];
    uint32_t source[HDST__LINE_BATCH];
} hdst__line_filling;

static inline const hdst__lines_state *hdst__lines_state_of(const hdst__line_filling *f) { return f->bound->source->state; }

// Notes the lines that end in bytes [at, end), of which the first begins at *from; then that of the next one is there. Where only those matter that have
// a text (bound->search), others may become records of nothing.
hdst_status hdst__lines_note(hdst__line_filling *f, const char *bytes, uint64_t at, uint64_t end, uint64_t *from, hdst_error *error);
hdst_status hdst__lines_note_all(hdst__line_filling *f, const char *bytes, uint64_t at, uint64_t end, uint64_t *from, hdst_error *error);
// The next `count` lines are records of nothing.
hdst_status hdst__lines_leave_out(hdst__line_filling *f, uint64_t count, hdst_error *error);
// Where the last of them has no end of its own, it is what lies between. Then all that are noted go to their fields, and there must be no more than those.
hdst_status hdst__lines_end(hdst__line_filling *f, const char *bytes, uint64_t from, uint64_t end, hdst_error *error);
hdst_status hdst__lines_changed(const hdst__line_filling *f, hdst_error *error);     // the file did, as its lines are others than were counted
hdst_status hdst__lines_too_long(const hdst__line_filling *f, uint64_t line, uint64_t length, hdst_error *error);
const char *hdst__lines_path(const hdst__line_filling *f);
void hdst__lines_at(const hdst__line_filling *f, uint64_t line, hdst_error *error);    // the error is about this line of the file
// Memory for the bytes of `f->left` lines: of the storage, or *own, which the caller frees. The errors name the lines.
hdst_status hdst__lines_take(hdst__line_filling *f, uint64_t bytes, char **at, char **own, hdst_error *error);
// Records of nothing, where there are no more lines.
hdst_status hdst__lines_fill_nothing(hdst__line_filling *f, uint64_t count, hdst_error *error);

// As hdst__source_format.find_lines.
bool hdst__lines_find_leaves(const hdst__bound_source *bound, hdst__line_leaves *leaves);
// Whether storage->lines is to be told of lines in so many bytes, of which none can be too long.
bool hdst__lines_are_told(const hdst__bound_source *bound, const hdst__storage *storage, uint64_t bytes);
// In place of hdst__lines_note, of `lines` lines that end in bytes [begin, end), the last one there without a line end where it is `open`. *told false: nobody
// wants to know, and nothing was done.
hdst_status hdst__lines_tell(hdst__line_filling *f, const char *bytes, uint64_t begin, uint64_t end, uint64_t *from, uint64_t lines, bool open, bool *told,
                             hdst_error *error);

// As hdst__source_format.fill: of lines that the index has, and of any others.
hdst_status hdst__lines_fill_counted(const hdst__bound_source *bound, uint64_t first, uint64_t count, const hdst__storage *storage, void *const *buffers,
                                     uint64_t to_first, hdst_error *error);
hdst_status hdst__lines_fill_open(const hdst__bound_source *bound, uint64_t first, uint64_t count, const hdst__storage *storage, void *const *buffers,
                                  uint64_t to_first, hdst_error *error);

#endif
