// SPDX-License-Identifier: Apache-2.0
// Splits rows of separated text into fields.
#include "io/csv_reader.h"

#include "io/columns.h"
#include "base/costs_host.h"

#include <stdio.h>
#include <string.h>

hdst_status hdst__csv_reader_open(hdst__csv_reader *reader, const hdst__allocator *allocator, const hdst__csv_file *file, char delimiter,
                                  uint64_t window_bytes, hdst_error *error)
{
    const uint64_t ahead = file->bytes < window_bytes ? file->bytes + 1 : window_bytes;
    *reader = (hdst__csv_reader){.allocator = allocator, .file = file, .delimiter = delimiter, .capacity = ahead, .ahead = ahead, .until = UINT64_MAX};
    reader->window = hdst__alloc(allocator, reader->capacity + HDST__CSV_SLACK);
    return reader->window ? HDST_OK : hdst__error_memory(error, file->path);
}

void hdst__csv_reader_close(hdst__csv_reader *reader)
{
    hdst__free(reader->allocator, reader->window);
    hdst__free(reader->allocator, reader->fields);
    reader->window = NULL;
    reader->fields = NULL;
}

void hdst__csv_reader_over(hdst__csv_reader *reader, const hdst__allocator *allocator, const hdst__csv_file *file, char delimiter, char *bytes, uint64_t base,
                           uint64_t count)
{
    *reader = (hdst__csv_reader){.allocator = allocator, .file = file, .delimiter = delimiter, .window = bytes, .base = base, .length = count,
                                 .capacity = count, .fixed = true, .ahead = count, .until = UINT64_MAX};
}

void hdst__csv_reader_leave(hdst__csv_reader *reader)
{
    reader->window = NULL;
    hdst__csv_reader_close(reader);
}

// --- The window ---

static uint64_t smaller(uint64_t a, uint64_t b) { return a < b ? a : b; }

static hdst_status widen(hdst__csv_reader *reader, uint64_t capacity, hdst_error *error)
{
    char *window = hdst__realloc(reader->allocator, reader->window, capacity + HDST__CSV_SLACK);
    if (!window) return hdst__error_memory(error, "a row of text");
    reader->window = window;
    reader->capacity = capacity;
    return HDST_OK;
}

static hdst_status changed(const hdst__csv_reader *reader, hdst_error *error)
{
    hdst__error_set(error, HDST_E_IO, "'%s' changed while it was read", reader->file->path);
    hdst__error_at(error, reader->file->path, 0, 0);
    return HDST_E_IO;
}

static hdst_status load(hdst__csv_reader *reader, uint64_t offset, uint64_t wanted, hdst_error *error)
{
    if (reader->fixed) return changed(reader, error);
    const uint64_t bytes = smaller(reader->file->bytes - offset, wanted);
    hdst_status status = bytes > reader->capacity ? widen(reader, bytes, error) : HDST_OK;
    reader->base = offset;
    reader->length = 0;
    if (status == HDST_OK) status = hdst__csv_file_read(reader->file, offset, reader->window, bytes, error);
    if (status == HDST_OK) reader->length = bytes;
    memset(reader->window + reader->length, 0, HDST__CSV_SLACK);
    return status;
}

// As much as is read at once, or as is wanted and maybe a row more.
static hdst_status load_at(hdst__csv_reader *reader, uint64_t offset, hdst_error *error)
{
    const uint64_t least = smaller(HDST__HOST_CSV_ROW_BYTES, reader->ahead), left = reader->until > offset ? reader->until - offset : 0;
    return load(reader, offset, smaller(reader->ahead, left > UINT64_MAX - least ? left : left + least), error);
}

// For a row that reaches beyond the window: moves the window to the start of the row, then widens it.
static hdst_status load_more(hdst__csv_reader *reader, uint64_t offset, hdst_error *error)
{
    if (offset > reader->base) return load_at(reader, offset, error);
    if (reader->length >= HDST__HOST_CSV_MOST_BYTES) {
        hdst__error_set(error, HDST_E_FORMAT, "a row has more than 64 MiB");
        hdst__csv_reader_locate(reader, reader->start, 0, error);
        hdst__error_hint(error, "is this a text file with line ends? A quote that is not closed also runs on");
        return HDST_E_FORMAT;
    }
    return load(reader, offset, 2 * reader->length, error);
}

hdst_status hdst__csv_reader_view(hdst__csv_reader *reader, uint64_t offset, const char **text, const char **limit, hdst_error *error)
{
    const bool is_there = offset >= reader->base && offset < reader->base + reader->length;
    hdst_status status = is_there ? HDST_OK : load_at(reader, offset, error);
    *text = reader->window + (offset - reader->base);
    *limit = reader->window + reader->length;
    return status;
}

// --- Splitting ---

typedef enum split_result { SPLIT_DONE, SPLIT_MORE, SPLIT_OPEN_QUOTE, SPLIT_AFTER_QUOTE, SPLIT_TOO_MANY, SPLIT_NO_MEMORY } split_result;

typedef struct splitter {
    hdst__csv_reader *reader;
    const char *at, *limit;
    bool at_end;            // the window ends where the file does
    const char *quote;      // the last one that was opened
    uint64_t inner_lines;   // line ends within quotes
} splitter;

static bool is_blank(const splitter *s, char c) { return c == ' ' || (c == '\t' && s->reader->delimiter != '\t'); }

static void skip_blanks(splitter *s)
{
    while (s->at < s->limit && is_blank(s, *s->at)) s->at++;
}

static split_result add_field(splitter *s, const char *start, const char *end)
{
    hdst__csv_reader *r = s->reader;
    if (r->field_count == r->field_capacity) {
        size_t wanted = r->field_capacity ? 2 * r->field_capacity : 16;
        if (r->field_count >= HDST__MAX_COLUMNS) return SPLIT_TOO_MANY;
        hdst__csv_field *fields = hdst__realloc(r->allocator, r->fields, wanted * sizeof *fields);
        if (!fields) return SPLIT_NO_MEMORY;
        r->fields = fields;
        r->field_capacity = wanted;
    }
    r->fields[r->field_count++] = (hdst__csv_field){start, (size_t)(end - start)};
    return SPLIT_DONE;
}

static split_result read_quoted(splitter *s)
{
    s->quote = s->at++;
    const char *start = s->at;
    for (;; s->at++) {
        if (s->at == s->limit) return s->at_end ? SPLIT_OPEN_QUOTE : SPLIT_MORE;
        s->inner_lines += *s->at == '\n';
        if (*s->at != '"') continue;
        if (s->at + 1 == s->limit && !s->at_end) return SPLIT_MORE;
        if (s->at + 1 == s->limit || s->at[1] != '"') break;
        s->at++;
    }
    const char *end = s->at++;
    skip_blanks(s);
    if (s->at < s->limit && *s->at != '\n' && *s->at != '\r' && *s->at != s->reader->delimiter && !(s->reader->delimiter == ' ' && is_blank(s, s->at[-1])))
        return SPLIT_AFTER_QUOTE;
    return add_field(s, start, end);
}

static split_result read_plain(splitter *s)
{
    const char *start = s->at;
    char delimiter = s->reader->delimiter;
    if (delimiter == ' ') while (s->at < s->limit && *s->at != '\n' && *s->at != ' ' && *s->at != '\t') s->at++;
    else while (s->at < s->limit && *s->at != '\n' && *s->at != delimiter) s->at++;
    if (s->at == s->limit && !s->at_end) return SPLIT_MORE;
    const char *end = s->at;
    if (end > start && end[-1] == '\r' && (s->at == s->limit || *s->at == '\n')) end--;
    while (end > start && is_blank(s, end[-1])) end--;
    if (delimiter == ' ' && end == start) return SPLIT_DONE;     // only the '\r' of the line end
    return add_field(s, start, end);
}

// After a field: ends the row, or goes on to the next field.
static bool take_delimiter(splitter *s)
{
    skip_blanks(s);
    if (s->reader->delimiter == ' ') return s->at < s->limit && *s->at != '\n' && !(*s->at == '\r' && (s->at + 1 == s->limit || s->at[1] == '\n'));
    if (s->at == s->limit || *s->at != s->reader->delimiter) return false;
    s->at++;
    return true;
}

static split_result split_row(splitter *s)
{
    s->reader->field_count = 0;
    do {
        skip_blanks(s);
        split_result result = s->at < s->limit && *s->at == '"' ? read_quoted(s) : read_plain(s);
        if (result != SPLIT_DONE) return result;
    } while (take_delimiter(s));
    if (s->at < s->limit && *s->at == '\r') s->at++;
    if (s->at < s->limit) return *s->at == '\n' ? SPLIT_DONE : SPLIT_AFTER_QUOTE;
    return s->at_end ? SPLIT_DONE : SPLIT_MORE;
}

// Skips blank lines and comments. SPLIT_MORE when the end of the line is not in the window.
static split_result skip_line(splitter *s, bool *skipped)
{
    const char *p = s->at;
    while (p < s->limit && (*p == ' ' || *p == '\t' || *p == '\r')) p++;
    *skipped = false;
    if (p == s->limit && !s->at_end) return SPLIT_MORE;
    if (p < s->limit && *p != '\n' && *p != '#' && (!s->reader->comment || *p != s->reader->comment)) return SPLIT_DONE;
    const char *end = p < s->limit ? memchr(p, '\n', (size_t)(s->limit - p)) : NULL;
    if (!end && !s->at_end) return SPLIT_MORE;
    s->at = end ? end : s->limit;
    *skipped = true;
    return SPLIT_DONE;
}

// Goes on to the end of the line. False: it is not in the window.
static bool to_line_end(splitter *s)
{
    const char *end = memchr(s->at, '\n', (size_t)(s->limit - s->at));
    if (end || s->at_end) s->at = end ? end : s->limit;
    return end || s->at_end;
}

static hdst_status split_error(hdst__csv_reader *reader, const splitter *s, split_result result, hdst_error *error)
{
    switch (result) {
    case SPLIT_OPEN_QUOTE:
        hdst__error_set(error, HDST_E_FORMAT, "a quoted field is not closed");
        hdst__csv_reader_locate(reader, s->quote, 1, error);
        hdst__error_hint(error, "a quote within a quoted field is written twice");
        return HDST_E_FORMAT;
    case SPLIT_AFTER_QUOTE:
        hdst__error_set(error, HDST_E_FORMAT, "text follows a quoted field");
        hdst__csv_reader_locate(reader, s->at, 1, error);
        hdst__error_hint(error, "a quote within a quoted field is written twice");
        return HDST_E_FORMAT;
    case SPLIT_TOO_MANY:
        hdst__error_set(error, HDST_E_FORMAT, "a row has more than 1,048,576 fields");
        hdst__csv_reader_locate(reader, reader->start, 0, error);
        return HDST_E_FORMAT;
    default: return hdst__error_memory(error, "the fields of a row");
    }
}

hdst_status hdst__csv_reader_row(hdst__csv_reader *reader, uint64_t offset, uint64_t line, hdst__csv_row_kind *kind, hdst_error *error)
{
    reader->line = line;
    reader->next_offset = 0;
    if (offset >= reader->file->bytes) {
        *kind = HDST__CSV_END;
        return HDST_OK;
    }
    hdst_status status = HDST_OK;
    if (offset < reader->base || offset >= reader->base + reader->length) status = load_at(reader, offset, error);
    while (status == HDST_OK) {
        reader->start = reader->window + (offset - reader->base);
        splitter s = {reader, reader->start, reader->window + reader->length, reader->base + reader->length == reader->file->bytes, NULL, 0};
        bool skipped;
        split_result result = skip_line(&s, &skipped);
        if (result == SPLIT_DONE && !skipped) result = split_row(&s);
        if (result == SPLIT_MORE) {
            reader->end = s.limit;
            status = load_more(reader, offset, error);
            continue;
        }
        const char *wrong = s.at;
        if (result == SPLIT_AFTER_QUOTE && !to_line_end(&s)) {
            status = load_more(reader, offset, error);
            continue;
        }
        reader->end = result == SPLIT_DONE ? s.at : s.limit;
        reader->next_offset = result == SPLIT_DONE || result == SPLIT_AFTER_QUOTE ? reader->base + (uint64_t)(s.at - reader->window) + (s.at < s.limit) : 0;
        reader->next_line = line + s.inner_lines + 1;
        s.at = wrong;
        if (result != SPLIT_DONE) return split_error(reader, &s, result, error);
        *kind = skipped ? HDST__CSV_SKIP : HDST__CSV_DATA;
        return HDST_OK;
    }
    return status;
}

hdst_status hdst__csv_reader_data(hdst__csv_reader *reader, hdst__csv_place *place, bool *more, hdst_error *error)
{
    hdst__csv_row_kind kind = HDST__CSV_SKIP;
    while (kind == HDST__CSV_SKIP) {
        hdst_status status = hdst__csv_reader_row(reader, place->offset, place->line, &kind, error);
        if (status != HDST_OK) return status;
        if (kind != HDST__CSV_END) *place = (hdst__csv_place){reader->next_offset, reader->next_line, place->row + (kind == HDST__CSV_DATA)};
    }
    *more = kind == HDST__CSV_DATA;
    return HDST_OK;
}

hdst_status hdst__csv_reader_check(const hdst__csv_reader *reader, size_t field_count, uint64_t model_line, hdst_error *error)
{
    if (reader->field_count == field_count) return HDST_OK;
    const bool is_short = reader->field_count < field_count;
    hdst__error_set(error, HDST_E_FORMAT, "the row has %zu field%s, line %llu has %zu", reader->field_count, reader->field_count == 1 ? "" : "s",
                    (unsigned long long)model_line, field_count);
    hdst__csv_reader_locate(reader, is_short ? reader->end : reader->fields[field_count].text, 1, error);
    char delimiter[24];
    snprintf(delimiter, sizeof delimiter, "'%c'", reader->delimiter);
    hdst__error_hint(error, "fields are separated by %s here, as the first rows suggest",
                     reader->delimiter == '\t' ? "tabs" : reader->delimiter == ' ' ? "blanks" : delimiter);
    return HDST_E_FORMAT;
}

// --- Places ---

void hdst__csv_reader_locate(const hdst__csv_reader *reader, const char *place, size_t length, hdst_error *error)
{
    if (!error) return;
    enum { SHOWN = 100, BEFORE = 60 };
    const char *start = reader->start, *limit = reader->window + reader->length;
    uint64_t line = reader->line;
    for (const char *p = start; p < place; p++)
        if (*p == '\n') start = p + 1, line++;
    uint64_t column = (uint64_t)(place - start) + 1;
    hdst__error_at(error, reader->file->path, line > UINT32_MAX ? UINT32_MAX : (uint32_t)line, column > UINT32_MAX ? UINT32_MAX : (uint32_t)column);
    char text[SHOWN + 1], caret[SHOWN + 1];
    const char *from = place - start > BEFORE ? place - BEFORE : start;
    size_t n = 0, marks = 0;
    for (; n < SHOWN && from + n < limit && from[n] != '\n' && from[n] != '\r'; n++)
        text[n] = (unsigned char)from[n] < 32 || from[n] == 127 ? (from[n] == '\t' ? ' ' : '?') : from[n];
    text[n] = 0;
    for (; marks < (size_t)(place - from); marks++) caret[marks] = ' ';
    caret[marks++] = '^';
    for (; length > 1 && marks < n; length--) caret[marks++] = '~';
    caret[marks] = 0;
    hdst__error_cause(error, "    %s\n    %s", text, caret);
}
