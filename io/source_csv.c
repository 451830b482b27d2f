// SPDX-License-Identifier: Apache-2.0
// Separated text as a source: tables, and lists (io/source_csv.h). Opening reads the first rows: it finds the delimiter, the header and the columns. Rows are
// counted when their number is asked for (io/csv_index.h). Numbers are parsed when they are read, straight to the type of their field, by any number of threads
// at once.
#define _GNU_SOURCE
#include "io/source_csv.h"

#include "io/columns.h"
#include "io/csv_kept.h"
#include "io/csv_source.h"
#include "io/decimal.h"
#include "io/iso_time.h"
#include "io/unpack.h"
#include "base/costs_host.h"

#include <locale.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

typedef hdst__csv_state csv_state;

static void close_csv(hdst__source *source)
{
    csv_state *state = source->state;
    if (!state) return;
    hdst__csv_reader_close(&state->reader);
    hdst__csv_cursors_destroy(&state->cursors);
    hdst__csv_file_close(&state->file);
    if (state->c_locale) freelocale(state->c_locale);
    for (size_t i = 0; state->names && !state->list && i < state->field_count; i++) hdst__free(source->allocator, state->names[i]);
    if (!state->list) hdst__free(source->allocator, state->names);
    hdst__csv_index_free(&state->index, source->allocator);
    hdst__free(source->allocator, state->fields);
    hdst__free(source->allocator, state);
}

// --- Reading rows ---

static hdst_status read_from(hdst__source *source, const hdst__csv_index *index, hdst__csv_cursors *cursors, const hdst__csv_cells *cells, uint64_t first,
                             uint64_t count, char *rows, hdst_error *error)
{
    hdst__csv_cursor *cursor = hdst__csv_cursors_take(cursors, first, error);
    if (!cursor) return HDST_E_MEMORY;
    hdst__csv_choose_wanted(source, cells, cursor->wanted);
    cursor->reader.until = hdst__csv_index_reach(index, first + count);
    if (cursor->place.row != first) cursor->place = hdst__csv_index_find(index, first);
    hdst_status status = hdst__csv_read_rows(source, cursor, cells, first, NULL, error);
    if (status == HDST_OK) status = hdst__csv_read_rows(source, cursor, cells, first + count, rows, error);
    if (status != HDST_OK) cursor->place.row = UINT64_MAX;
    hdst__csv_cursors_give(cursors, cursor);
    return status;
}

static hdst_status read_csv(hdst__source *source, const hdst__row_form *as, uint64_t first, uint64_t count, void *rows, hdst_error *error)
{
    csv_state *state = source->state;
    hdst__csv_kept *kept = as->kept;
    hdst__csv_cells cells = {as, HDST__TEXT_CELL_BYTES, as->count * HDST__TEXT_CELL_BYTES, .scratch = NULL};
    if (!kept) return read_from(source, &state->index, &state->cursors, &cells, first, count, rows, error);
    cells.scratch = hdst__alloc(source->allocator, cells.row_bytes + sizeof(hdst__csv_raw_text));
    const hdst_status status = cells.scratch ? read_from(source, &kept->index, &kept->cursors, &cells, first, count, rows, error)
                                             : hdst__error_memory(error, source->name);
    hdst__free(source->allocator, cells.scratch);
    return status;
}

// --- Counting rows ---

static void note_not_finite(hdst__source *source, uint64_t count)
{
    size_t used = strlen(source->note);
    if (!used) used = (size_t)snprintf(source->note, sizeof source->note, "%.300s: ", source->name);
    else used += (size_t)snprintf(source->note + used, sizeof source->note - used, "; ");
    snprintf(source->note + used, sizeof source->note - used, "%llu number%s nan or inf", (unsigned long long)count, count == 1 ? " is" : "s are");
}

static hdst_status count_csv(hdst__source *source, hdst_error *error)
{
    csv_state *state = source->state;
    const hdst__csv_judge judge = hdst__csv_judge_fields(source);
    const hdst__csv_index_job job = {.cursors = &state->cursors, .first = state->first, .model_line = state->model_line, .fields = state->fields,
                                     .field_count = source->column_count, .block_bytes = state->block_bytes,
                                     .group_blocks = HDST__HOST_CSV_GROUP_BLOCKS, .threads = source->threads,
                                     .cancel = state->cancel, .judge = source->skips_malformed && !state->list ? &judge : NULL};
    hdst_status status = hdst__csv_index_make(&job, &state->index, error);
    if (status != HDST_OK) return status;
    source->rows = state->index.rows;
    source->text_bytes = source->rows ? (state->file.bytes - state->first.offset) / source->rows + 1 : 0;
    if (state->index.tally.not_finite) note_not_finite(source, state->index.tally.not_finite);
    return HDST_OK;
}

static void rest_csv(hdst__source *source) { hdst__file_rest(&((csv_state *)source->state)->file.plain); }

static const hdst__source_format csv_format = {.name = ".csv", .count = count_csv, .read = read_csv, .fill_texts = hdst__csv_fill_texts, .is_text = true,
                                               .keep = hdst__csv_keep, .forget = hdst__csv_forget, .close = close_csv, .rest = rest_csv};

// --- Opening: encoding, delimiter ---

// Whether it is no word: a number, a date or a time.
static bool is_number(const hdst__csv_field *field)
{
    return hdst__decimal_is(field->text, field->length) || hdst__iso_is(field->text, field->length);
}

static hdst_status check_start(csv_state *state, hdst_error *error)
{
    const hdst__csv_file *file = &state->file;
    unsigned char start[3] = {0};
    uint64_t have = file->bytes < 3 ? file->bytes : 3;
    hdst_status status = hdst__csv_file_read(file, 0, start, have, error);
    if (status != HDST_OK) return status;
    if (have >= 2 && ((start[0] == 0xFF && start[1] == 0xFE) || (start[0] == 0xFE && start[1] == 0xFF))) {
        hdst__error_set(error, HDST_E_FORMAT, "the text is in UTF-16");
        hdst__error_at(error, file->path, 1, 1);
        hdst__error_hint(error, "convert it first: iconv -f UTF-16 -t UTF-8");
        return HDST_E_FORMAT;
    }
    state->first = (hdst__csv_place){have == 3 && !memcmp(start, "\xEF\xBB\xBF", 3) ? 3 : 0, 1, 0};
    return HDST_OK;
}

// Whether with this delimiter the first rows all have the same number of fields, more than one. A row that cannot be read speaks
// against it.
static bool delimiter_fits(csv_state *state, char delimiter)
{
    hdst__csv_place place = state->first;
    size_t fields = 0;
    state->reader.delimiter = delimiter;
    for (int row = 0; row < HDST__HOST_CSV_SAMPLE_ROWS; row++) {
        bool more;
        if (hdst__csv_reader_data(&state->reader, &place, &more, NULL) != HDST_OK) return false;
        if (!more) break;
        if (fields && state->reader.field_count != fields) return false;
        fields = state->reader.field_count;
    }
    return fields > 1;
}

static bool all_numbers(const csv_state *state)
{
    for (size_t i = 0; i < state->reader.field_count; i++)
        if (!is_number(&state->reader.fields[i])) return false;
    return true;
}

// Where no delimiter is consistent the first row decides, and the error is about the row that differs. Blanks within words do not
// count ("my value").
static hdst_status find_delimiter(csv_state *state, hdst_error *error)
{
    static const char candidates[] = {';', ',', '\t', ' '};
    for (size_t i = 0; i < sizeof candidates; i++)
        if (delimiter_fits(state, candidates[i])) return HDST_OK;
    for (size_t i = 0; i < sizeof candidates; i++) {
        hdst__csv_place place = state->first;
        bool more;
        state->reader.delimiter = candidates[i];
        hdst_status status = hdst__csv_reader_data(&state->reader, &place, &more, error);
        if (status != HDST_OK || (more && state->reader.field_count > 1 && (candidates[i] != ' ' || all_numbers(state)))) return status;
    }
    state->reader.delimiter = ',';
    return HDST_OK;
}

// --- Opening: header, columns ---

// The text of a field, with doubled quotes made single.
static char *field_text(const hdst__source *source, const hdst__csv_field *field)
{
    char *text = hdst__alloc(source->allocator, field->length + 1);
    if (!text) return NULL;
    size_t n = 0;
    const bool quoted = hdst__csv_is_quoted(&((const csv_state *)source->state)->reader, field);
    for (size_t i = 0; i < field->length; i++) {
        text[n++] = field->text[i] ? field->text[i] : '?';
        if (quoted && field->text[i] == '"') i++;
    }
    text[n] = 0;
    return text;
}

static hdst_status read_names(hdst__source *source, hdst_error *error)
{
    csv_state *state = source->state;
    state->names = hdst__alloc_zero(source->allocator, state->field_count * sizeof *state->names);
    if (!state->names) return hdst__error_memory(error, source->name);
    for (size_t i = 0; i < state->field_count; i++)
        if (!(state->names[i] = field_text(source, &state->reader.fields[i]))) return hdst__error_memory(error, source->name);
    return HDST_OK;
}

// How many of the chosen fields of the first row (or of all its fields) are numbers.
static size_t count_numbers(const csv_state *state, const size_t *chosen, size_t count)
{
    size_t numbers = 0;
    for (size_t i = 0; i < count; i++) {
        const hdst__csv_field *field = &state->reader.fields[chosen ? chosen[i] : i];
        numbers += is_number(field);
    }
    return numbers;
}

// Whether a word of the first row stands above a number, in chosen columns or others: "150,4,setosa" above "5.1,3.5,1.4". The
// first row is the current one before and after.
static hdst_status word_above_number(hdst__source *source, bool *found, hdst_error *error)
{
    csv_state *state = source->state;
    hdst__csv_place place = state->first;
    bool *is_word = hdst__alloc(source->allocator, state->field_count), more;
    if (!is_word) return hdst__error_memory(error, source->name);
    for (size_t i = 0; i < state->field_count; i++) is_word[i] = !is_number(&state->reader.fields[i]);
    hdst_status status = hdst__csv_reader_data(&state->reader, &place, &more, error);
    if (status == HDST_OK) status = hdst__csv_reader_data(&state->reader, &place, &more, NULL);
    if (status == HDST_E_FORMAT) status = HDST_OK, more = false;        // whoever counts rows will say so, or leave it out
    *found = false;
    for (size_t i = 0; status == HDST_OK && more && i < state->field_count && i < state->reader.field_count; i++)
        *found |= is_word[i] && is_number(&state->reader.fields[i]);
    hdst__free(source->allocator, is_word);
    place = state->first;
    return status == HDST_OK ? hdst__csv_reader_data(&state->reader, &place, &more, error) : status;
}

// The first row is a header when a chosen field of it is no number. A mixture is taken for a header too, with a warning.
static bool is_header(hdst__source *source, const size_t *chosen, size_t count, bool has_word_above_number)
{
    size_t numbers = count_numbers(source->state, chosen, count);
    if (numbers == count && !has_word_above_number) return false;
    if (numbers)
        snprintf(source->note, sizeof source->note, "%.300s: the first row is taken for a header, though %zu of its %zu chosen fields %s", source->name,
                 numbers, count, numbers == 1 ? "is a number" : "are numbers");
    return true;
}

static hdst_status add_columns(hdst__source *source, const size_t *chosen, size_t count, hdst_error *error)
{
    csv_state *state = source->state;
    state->fields = hdst__alloc(source->allocator, count * sizeof *state->fields);
    if (!state->fields) return hdst__error_memory(error, source->name);
    for (size_t i = 0; i < count; i++) {
        state->fields[i] = chosen ? chosen[i] : i;
        const char *name = state->names ? state->names[state->fields[i]] : NULL;
        if (!hdst__source_add_column(source, name, HDST__F64, i * HDST__TEXT_CELL_BYTES, 1)) return hdst__error_memory(error, source->name);
    }
    source->row_bytes = count * HDST__TEXT_CELL_BYTES;
    source->in_order = chosen != NULL;
    return HDST_OK;
}

static hdst_status read_first_row(hdst__source *source, const char *list, hdst_error *error)
{
    csv_state *state = source->state;
    hdst__csv_place after = state->first;
    bool more, header = list && hdst__columns_has_names(list);
    hdst_status status = hdst__csv_reader_data(&state->reader, &after, &more, error);
    if (status != HDST_OK) return status;
    if (!more) {
        hdst__error_set(error, HDST_E_FORMAT, "the file has no rows");
        hdst__error_at(error, source->name, 0, 0);
        hdst__error_hint(error, state->file.bytes ? "there are only blank lines and comments" : "it is empty");
        return HDST_E_FORMAT;
    }
    size_t *chosen = NULL, count;
    count = state->field_count = state->reader.field_count;
    state->model_line = state->reader.line;
    if (list && header) status = read_names(source, error);
    if (status == HDST_OK && list)
        status = hdst__columns_choose(source->allocator, source->name, list, (const char *const *)state->names, state->field_count, &chosen, &count, error);
    bool word = false;
    if (status == HDST_OK && !header) status = word_above_number(source, &word, error);
    if (status == HDST_OK && !header && is_header(source, chosen, count, word)) {
        header = true;
        status = read_names(source, error);
    }
    if (status == HDST_OK) status = add_columns(source, chosen, count, error);
    if (header) state->first = after;
    state->first.row = 0;
    hdst__free(source->allocator, chosen);
    return status;
}

// --- Opening: lists ---

// The first row stands for itself.
static hdst_status take_first_row(csv_state *state, hdst_error *error)
{
    bool more;
    state->reader.delimiter = ' ';
    hdst_status status = hdst__csv_reader_data(&state->reader, &state->first, &more, error);
    if (status != HDST_OK || !more) return status;
    snprintf(state->first_row, sizeof state->first_row, "%.*s", (int)(state->reader.end - state->reader.start), state->reader.start);
    state->first_row_line = state->reader.line;
    state->first.row = 0;
    return HDST_OK;
}

static hdst_status look_at_start(csv_state *state, hdst__csv_start start, void *user, hdst_error *error)
{
    char bytes[1024];
    bool apart = false;
    const uint64_t from = state->first.offset, left = state->file.bytes - from, count = left < sizeof bytes ? left : sizeof bytes;
    hdst_status status = start ? hdst__csv_file_read(&state->file, from, bytes, count, error) : HDST_OK;
    if (status == HDST_OK && start) status = start(user, bytes, count, &apart, error);
    return status == HDST_OK && apart ? take_first_row(state, error) : status;
}

static hdst_status check_list_width(csv_state *state, hdst_error *error)
{
    const hdst__csv_list *list = state->list;
    const size_t have = state->reader.field_count;
    if (have >= list->least && have <= list->most) return HDST_OK;
    hdst__error_set(error, HDST_E_FORMAT, "the row has %zu field%s, where %zu or %zu are due", have, have == 1 ? "" : "s", list->least, list->most);
    hdst__csv_reader_locate(&state->reader, have < list->least ? state->reader.end : state->reader.fields[list->most].text, 1, error);
    hdst__error_hint(error, "%s", list->row_hint);
    return HDST_E_FORMAT;
}

static void find_list_delimiter(csv_state *state)
{
    static const char candidates[] = {',', ';', ' '};
    for (size_t i = 0; i < sizeof candidates; i++)
        if (delimiter_fits(state, candidates[i])) return;
    state->reader.delimiter = ' ';      // the error is about the row that differs
}

static hdst_status read_list_row(hdst__source *source, hdst_error *error)
{
    csv_state *state = source->state;
    hdst__csv_place after = state->first;
    bool more;
    find_list_delimiter(state);
    hdst_status status = hdst__csv_reader_data(&state->reader, &after, &more, error);
    if (status == HDST_OK && more) status = check_list_width(state, error);
    if (status != HDST_OK) return status;
    state->field_count = more ? state->reader.field_count : state->list->least;
    state->model_line = more ? state->reader.line : 0;
    state->names = (char **)state->list->names;
    return add_columns(source, NULL, state->field_count, error);
}

// --- Opening ---

static hdst_status open_text(hdst__source *source, uint64_t window_bytes, hdst_error *error)
{
    csv_state *state = source->state;
    state->c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (!state->c_locale) return hdst__error_memory(error, source->name);
    hdst_status status = hdst__csv_file_open(&state->file, source->allocator, source->name, state->cancel, error);
    if (status == HDST_OK) status = hdst__csv_reader_open(&state->reader, source->allocator, &state->file, ',', window_bytes, error);
    if (status == HDST_OK) state->reader.comment = state->list ? state->list->comment : 0;
    return status == HDST_OK ? check_start(state, error) : status;
}

// "a.tsv", "a.TSV.gz"
static bool is_tsv(const char *path)
{
    const size_t length = hdst__unpacked_name(path);
    return length >= 4 && !strncasecmp(path + length - 4, ".tsv", 4);
}

// Files of which each block would be small have few; large ones no more than are worth their memory.
static uint64_t block_bytes(const csv_state *state, uint64_t given)
{
    const uint64_t least = state->file.bytes / HDST__HOST_CSV_MOST_BLOCKS + 1;
    return given ? given : least > HDST__HOST_CSV_BLOCK_BYTES ? least : HDST__HOST_CSV_BLOCK_BYTES;
}

// An open text of which nothing is known yet. NULL: it cannot be opened.
static hdst__source *begin_source(const hdst__allocator *allocator, const char *path, const hdst__csv_list *list, uint64_t bytes, const hdst__cancel *cancel,
                                  hdst_error *error)
{
    hdst__source *source = hdst__source_new(allocator, &csv_format, path, error);
    if (!source) return NULL;
    csv_state *state = source->state = hdst__alloc_zero(allocator, sizeof *state);
    if (!state) hdst__error_memory(error, path);
    if (state) {
        const uint64_t window_bytes = bytes ? bytes : HDST__HOST_CSV_WINDOW_BYTES;
        state->file.plain.fd = -1;
        state->list = list;
        state->cancel = cancel;
        state->escaped = is_tsv(path);
        source->concurrent = true;
        hdst__csv_cursors_init(&state->cursors, allocator, &state->file, window_bytes);
        if (open_text(source, window_bytes, error) == HDST_OK) return source;
    }
    hdst__source_close(source);
    return NULL;
}

static hdst__source *end_opening(hdst__source *source, uint64_t bytes, hdst_status status)
{
    csv_state *state = source->state;
    if (status != HDST_OK) {
        hdst__source_close(source);
        return NULL;
    }
    state->block_bytes = block_bytes(state, bytes);
    state->cursors.shape = (hdst__csv_shape){state->reader.delimiter, state->field_count, state->reader.comment};
    hdst__csv_reader_close(&state->reader);
    return source;
}

hdst__source *hdst__source_csv_in_blocks(const hdst__allocator *allocator, const char *path, const char *columns, uint64_t bytes, const hdst__cancel *cancel,
                                         hdst_error *error)
{
    hdst__source *source = begin_source(allocator, path, NULL, bytes, cancel, error);
    if (!source) return NULL;
    hdst_status status = find_delimiter(source->state, error);
    if (status == HDST_OK) status = read_first_row(source, columns, error);
    return end_opening(source, bytes, status);
}

hdst__source *hdst__source_csv_list(const hdst__allocator *allocator, const char *path, const hdst__csv_list *list, uint64_t bytes, hdst__csv_start start,
                                    void *user, const hdst__cancel *cancel, hdst_error *error)
{
    hdst__source *source = begin_source(allocator, path, list, bytes, cancel, error);
    if (!source) return NULL;
    hdst_status status = look_at_start(source->state, start, user, error);
    if (status == HDST_OK) status = read_list_row(source, error);
    return end_opening(source, bytes, status);
}

const char *hdst__source_csv_first_row(const hdst__source *source, uint64_t *line)
{
    const csv_state *state = source->state;
    *line = state->first_row_line;
    return state->first_row;
}

uint64_t hdst__source_csv_model_line(const hdst__source *source) { return ((const csv_state *)source->state)->model_line; }

void hdst__source_csv_locate(const hdst__source *source, uint64_t row, size_t column, hdst_error *error)
{
    csv_state *state = source->state;
    hdst__csv_cursor *cursor = error ? hdst__csv_cursors_take(&state->cursors, UINT64_MAX, NULL) : NULL;
    bool more = false;
    if (!cursor) return;
    cursor->reader.until = hdst__csv_index_reach(&state->index, row + 1);
    cursor->place = hdst__csv_index_find(&state->index, row);
    hdst_status status = hdst__csv_read_rows(source, cursor, &(hdst__csv_cells){0}, row, NULL, NULL);
    if (status == HDST_OK) status = hdst__csv_reader_data(&cursor->reader, &cursor->place, &more, NULL);
    const size_t field = state->fields[column];
    if (status == HDST_OK && more && field < cursor->reader.field_count)
        hdst__csv_reader_locate(&cursor->reader, cursor->reader.fields[field].text, cursor->reader.fields[field].length, error);
    cursor->place.row = UINT64_MAX;
    hdst__csv_cursors_give(&state->cursors, cursor);
}

hdst__source *hdst__source_csv(const hdst__allocator *allocator, const char *path, const char *columns, const hdst__cancel *cancel, hdst_error *error)
{
    return hdst__source_csv_in_blocks(allocator, path, columns, 0, cancel, error);
}
