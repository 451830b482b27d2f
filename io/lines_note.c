// SPDX-License-Identifier: Apache-2.0
// Lines in bytes at hand become records (io/lines_source.h): spans of them, their places and numbers, a batch at a time.
#include "io/lines_source.h"

#include "io/newlines.h"
#include "record/text_bytes.h"

#include <string.h>

enum { TEXT, OFFSET, SOURCE, LINE, COLUMNS };


const char *hdst__lines_path(const hdst__line_filling *f) { return hdst__text_input_path(hdst__lines_state_of(f)->input, f->file); }

hdst_status hdst__lines_changed(const hdst__line_filling *f, hdst_error *error)
{
    hdst__error_set(error, HDST_E_IO, "'%s' changed while it was read: its lines are others", hdst__lines_path(f));
    hdst__error_at(error, hdst__lines_path(f), 0, 0);
    hdst__error_hint(error, "read it again when nobody writes to it any more, or read a copy");
    return HDST_E_IO;
}

void hdst__lines_at(const hdst__line_filling *f, uint64_t line, hdst_error *error)
{
    hdst__error_at(error, hdst__lines_path(f), line <= UINT32_MAX ? (uint32_t)line : 0, 0);
}

hdst_status hdst__lines_too_long(const hdst__line_filling *f, uint64_t line, uint64_t length, hdst_error *error)
{
    hdst__error_set(error, HDST_E_FORMAT, "line %llu of '%s' has %llu bytes, a line at most %u", (unsigned long long)line, hdst__lines_path(f),
                    (unsigned long long)length, hdst__lines_state_of(f)->options.longest);
    hdst__lines_at(f, line, error);
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
    if (ended && length && bytes[end - 1] == '\r' && hdst__lines_state_of(f)->options.strip_returns) length--;
    if (length > hdst__lines_state_of(f)->options.longest) return hdst__lines_too_long(f, f->lines + f->noted, length, error);
    f->text[f->noted] = span_of(bytes + from, length);
    f->offset[f->noted] = f->begin + from;
    f->line[f->noted] = f->lines + f->noted;
    f->source[f->noted] = (uint32_t)f->file;
    return ++f->noted < HDST__LINE_BATCH ? HDST_OK : flush(f, error);
}

hdst_status hdst__lines_note_all(hdst__line_filling *f, const char *bytes, uint64_t at, uint64_t end, uint64_t *from, hdst_error *error)
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

// All columns are zeroes, of whatever width: one zero stands for all of them.
hdst_status hdst__lines_leave_out(hdst__line_filling *f, uint64_t count, hdst_error *error)
{
    const hdst__text_span zero = {0};
    hdst_status status = f->noted ? flush(f, error) : HDST_OK;
    if (status == HDST_OK && count > f->left) return hdst__lines_changed(f, error);
    for (size_t i = 0; i < f->bound->move_count && status == HDST_OK; i++)
        status = hdst__bound_move(f->bound, &f->bound->moves[i], 0, (const char *)&zero, 0, f->row, count, f->storage, f->buffers, f->to, error);
    f->row += count;
    f->to += count;
    f->lines += count;
    f->left -= count;
    return status;
}

hdst_status hdst__lines_fill_nothing(hdst__line_filling *f, uint64_t count, hdst_error *error)
{
    f->left = count;
    return hdst__lines_leave_out(f, count, error);
}
