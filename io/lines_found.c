// SPDX-License-Identifier: Apache-2.0
// Lines of which only those matter that have a text (io/line_search.h): it is looked for in all bytes at once, and lines without it are counted, not cut; their
// records are of nothing: an empty text, zeroes.
#define _GNU_SOURCE     // memrchr
#include "io/lines_source.h"

#include "io/newlines.h"

#include <string.h>

enum {
    FOUND_BYTES = 512,          // with more lines than one in so many bytes, all are cut: to look for the next line costs more then than to go on to it
    FOUND_FIRST = 16,           // so many may be there in any case
};

static bool is_rare(uint64_t found, uint64_t bytes) { return found <= FOUND_FIRST + bytes / FOUND_BYTES; }

// Where the line begins that has byte `place`; none begins in front of `from`.
static uint64_t line_of(const char *bytes, uint64_t from, uint64_t place)
{
    const char *newline = memrchr(bytes + from, '\n', place - from);
    return newline ? (uint64_t)(newline - bytes) + 1 : from;
}

static uint64_t later(uint64_t a, uint64_t b) { return a > b ? a : b; }

// Lines from *from on as far as none has the text, and the one that has it. The last one ends at `end`, the first one not in front of `at`.
static hdst_status note_next(hdst__line_filling *f, const char *bytes, uint64_t at, uint64_t end, uint64_t *from, hdst_error *error)
{
    const uint64_t place = hdst__line_search_find(f->bound->search, bytes, *from, end), line = place < end ? line_of(bytes, *from, place) : end;
    hdst_status status = HDST_OK;
    if (line > *from) status = hdst__lines_leave_out(f, hdst__newlines_count(bytes + later(at, *from), line - later(at, *from)), error);
    *from = line;
    if (place == end || status != HDST_OK) return status;
    const uint64_t rest = later(at, place);
    const char *newline = memchr(bytes + rest, '\n', end - rest);
    return hdst__lines_note_all(f, bytes, (uint64_t)(newline - bytes), (uint64_t)(newline - bytes) + 1, from, error);
}

static hdst_status note_found(hdst__line_filling *f, const char *bytes, uint64_t at, uint64_t end, uint64_t *from, hdst_error *error)
{
    const char *last = at < end ? memrchr(bytes + at, '\n', end - at) : NULL;
    const uint64_t begin = *from, behind = last ? (uint64_t)(last - bytes) + 1 : begin;
    hdst_status status = HDST_OK;
    for (uint64_t found = 0; *from < behind && status == HDST_OK; found++) {
        if (!is_rare(found, *from - begin)) return hdst__lines_note_all(f, bytes, later(at, *from), behind, from, error);
        status = note_next(f, bytes, at, behind, from, error);
    }
    return status;
}

// Where lines may be too long, each is looked at.
hdst_status hdst__lines_note(hdst__line_filling *f, const char *bytes, uint64_t at, uint64_t end, uint64_t *from, hdst_error *error)
{
    const bool finds = f->bound->search && end - *from <= hdst__lines_state_of(f)->options.longest;
    return (finds ? note_found : hdst__lines_note_all)(f, bytes, at, end, from, error);
}
