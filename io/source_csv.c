// SPDX-License-Identifier: Apache-2.0
// Separated text as a source. Opening reads the file once: it finds the delimiter and the header, counts the rows, checks that each has as many fields, and
// notes where every 256th row starts; filling seeks to the nearest of those. Numbers are parsed when they are read, straight to the type of their field.
#define _GNU_SOURCE
#include "io/source.h"

#include "io/columns.h"
#include "io/csv_reader.h"
#include "io/decimal.h"
#include "base/costs_host.h"

#include <locale.h>
#include <stdio.h>
#include <string.h>

enum { CELL_BYTES = 8 };

typedef struct csv_place {
    uint64_t offset, line;
} csv_place;

typedef struct csv_state {
    hdst__csv_reader reader;
    locale_t c_locale;
    size_t field_count;         // of every row
    csv_place first;            // where the data starts, after the header
    uint64_t model_line;        // the row whose number of fields the others must have
    csv_place *index;           // of rows 0, 256, 512 ...
    size_t index_count, index_capacity;
    size_t *fields;             // by column of the source: the field
    char **names;               // of all fields, NULL without a header
    uint64_t next_row;          // what `next` points at; UINT64_MAX: nothing
    csv_place next;
    uint64_t not_finite;
} csv_state;

static void close_csv(hdst__source *source)
{
    csv_state *state = source->state;
    if (!state) return;
    hdst__csv_reader_close(&state->reader);
    if (state->c_locale) freelocale(state->c_locale);
    for (size_t i = 0; state->names && i < state->field_count; i++) hdst__free(source->allocator, state->names[i]);
    hdst__free(source->allocator, state->names);
    hdst__free(source->allocator, state->index);
    hdst__free(source->allocator, state->fields);
    hdst__free(source->allocator, state);
}

// --- Reading rows ---

// Reads the next row with data from `place`, which moves behind it. *more is false at the end of the file.
static hdst_status next_row(csv_state *state, csv_place *place, bool *more, hdst_error *error)
{
    hdst__csv_row_kind kind = HDST__CSV_SKIP;
    while (kind == HDST__CSV_SKIP) {
        hdst_status status = hdst__csv_reader_row(&state->reader, place->offset, place->line, &kind, error);
        if (status != HDST_OK) return status;
        if (kind != HDST__CSV_END) *place = (csv_place){state->reader.next_offset, state->reader.next_line};
    }
    *more = kind == HDST__CSV_DATA;
    return HDST_OK;
}

static hdst_status check_fields(const csv_state *state, hdst_error *error)
{
    const hdst__csv_reader *reader = &state->reader;
    if (reader->field_count == state->field_count) return HDST_OK;
    bool is_short = reader->field_count < state->field_count;
    hdst__error_set(error, HDST_E_FORMAT, "the row has %zu field%s, line %llu has %zu", reader->field_count, reader->field_count == 1 ? "" : "s",
                    (unsigned long long)state->model_line, state->field_count);
    hdst__csv_reader_locate(reader, is_short ? reader->end : reader->fields[state->field_count].text, 1, error);
    char delimiter[24];
    snprintf(delimiter, sizeof delimiter, "'%c'", reader->delimiter);
    hdst__error_hint(error, "fields are separated by %s here, as the first rows suggest",
                     reader->delimiter == '\t' ? "tabs" : reader->delimiter == ' ' ? "blanks" : delimiter);
    return HDST_E_FORMAT;
}

// "column 'lon'", or "column 3" without names
static const char *column_words(const hdst__source *source, size_t column, char words[80])
{
    const csv_state *state = source->state;
    if (state->names) snprintf(words, 80, "column '%.60s'", state->names[state->fields[column]]);
    else snprintf(words, 80, "column %zu", state->fields[column]);
    return words;
}

static hdst_status bad_number(const hdst__source *source, size_t column, hdst__decimal_status why, hdst__kind as, hdst_error *error)
{
    const csv_state *state = source->state;
    const hdst__csv_field *field = &state->reader.fields[state->fields[column]];
    char words[80], text[48];
    size_t n = 0;
    for (; n < field->length && n < sizeof text - 4; n++) text[n] = (unsigned char)field->text[n] < 32 || field->text[n] == 127 ? '?' : field->text[n];
    text[n] = 0;
    if (n < field->length) strcat(text, "...");
    const char *what = why == HDST__DECIMAL_TOO_LARGE   ? (text[0] == '-' ? "is too small for" : "is too large for")
                       : why == HDST__DECIMAL_NOT_WHOLE ? "is not a whole number for"
                                                        : NULL;
    if (what) hdst__error_set(error, HDST_E_FORMAT, "'%s' %s %s in %s", text, what, hdst__scalar_yaml_name(as), column_words(source, column, words));
    else if (n == 0) hdst__error_set(error, HDST_E_FORMAT, "there is no number in %s", column_words(source, column, words));
    else hdst__error_set(error, HDST_E_FORMAT, "'%s' is not a number, in %s", text, column_words(source, column, words));
    hdst__csv_reader_locate(&state->reader, field->text, field->length, error);
    bool decimal_comma = !what && memchr(field->text, ',', field->length);
    if (decimal_comma) hdst__error_hint(error, "numbers are written with a point, as in 1.5");
    else if (what) hdst__error_hint(error, "declare the field with a type that holds it");
    else hdst__error_hint(error, "choose the columns that hold numbers, by name or index");
    return HDST_E_FORMAT;
}

static hdst_status parse_row(hdst__source *source, const hdst__kind *as, char *cells, hdst_error *error)
{
    const csv_state *state = source->state;
    for (size_t c = 0; c < source->column_count; c++) {
        if (as[c] == HDST__VOID) continue;
        const hdst__csv_field *field = &state->reader.fields[state->fields[c]];
        hdst__decimal_status status = hdst__decimal_parse(field->text, field->length, as[c], state->c_locale, cells + c * CELL_BYTES);
        if (status != HDST__DECIMAL_OK) return bad_number(source, c, status, as[c], error);
    }
    return HDST_OK;
}

static hdst_status changed(const hdst__source *source, hdst_error *error)
{
    hdst__error_set(error, HDST_E_IO, "'%s' changed while it was read", source->name);
    hdst__error_at(error, source->name, 0, 0);
    return HDST_E_IO;
}

static hdst_status seek(hdst__source *source, uint64_t row, hdst_error *error)
{
    csv_state *state = source->state;
    if (state->next_row != row) {
        state->next_row = row / HDST__HOST_CSV_INDEX_ROWS * HDST__HOST_CSV_INDEX_ROWS;
        state->next = state->index[row / HDST__HOST_CSV_INDEX_ROWS];
    }
    for (; state->next_row < row; state->next_row++) {
        bool more;
        hdst_status status = next_row(state, &state->next, &more, error);
        if (status == HDST_OK && !more) status = changed(source, error);
        if (status != HDST_OK) return status;
    }
    return HDST_OK;
}

static hdst_status read_csv(hdst__source *source, const hdst__kind *as, uint64_t first, uint64_t count, void *rows, hdst_error *error)
{
    csv_state *state = source->state;
    hdst_status status = seek(source, first, error);
    for (uint64_t i = 0; i < count && status == HDST_OK; i++, state->next_row++) {
        bool more;
        status = next_row(state, &state->next, &more, error);
        if (status == HDST_OK && !more) status = changed(source, error);
        if (status == HDST_OK) status = check_fields(state, error);
        if (status == HDST_OK) status = parse_row(source, as, (char *)rows + i * source->row_bytes, error);
    }
    if (status != HDST_OK) state->next_row = UINT64_MAX;
    return status;
}

static const hdst__source_format csv_format = {.name = ".csv", .read = read_csv, .is_text = true, .close = close_csv};

// --- Opening: encoding, delimiter ---

static hdst_status check_start(csv_state *state, hdst_error *error)
{
    const hdst__file *file = &state->reader.file;
    unsigned char start[3] = {0};
    uint64_t have = file->bytes < 3 ? file->bytes : 3;
    hdst_status status = hdst__file_read(file, 0, start, have, error);
    if (status != HDST_OK) return status;
    if (have >= 2 && ((start[0] == 0xFF && start[1] == 0xFE) || (start[0] == 0xFE && start[1] == 0xFF))) {
        hdst__error_set(error, HDST_E_FORMAT, "the text is in UTF-16");
        hdst__error_at(error, file->path, 1, 1);
        hdst__error_hint(error, "convert it first: iconv -f UTF-16 -t UTF-8");
        return HDST_E_FORMAT;
    }
    state->first = (csv_place){have == 3 && !memcmp(start, "\xEF\xBB\xBF", 3) ? 3 : 0, 1};
    return HDST_OK;
}

// Whether with this delimiter the first rows all have the same number of fields, more than one. A row that cannot be read speaks
// against it.
static bool delimiter_fits(csv_state *state, char delimiter)
{
    csv_place place = state->first;
    size_t fields = 0;
    state->reader.delimiter = delimiter;
    for (int row = 0; row < HDST__HOST_CSV_SAMPLE_ROWS; row++) {
        bool more;
        if (next_row(state, &place, &more, NULL) != HDST_OK) return false;
        if (!more) break;
        if (fields && state->reader.field_count != fields) return false;
        fields = state->reader.field_count;
    }
    return fields > 1;
}

static bool all_numbers(const csv_state *state)
{
    for (size_t i = 0; i < state->reader.field_count; i++)
        if (!hdst__decimal_is(state->reader.fields[i].text, state->reader.fields[i].length)) return false;
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
        csv_place place = state->first;
        bool more;
        state->reader.delimiter = candidates[i];
        hdst_status status = next_row(state, &place, &more, error);
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
    bool quoted = field->text > ((const csv_state *)source->state)->reader.start && field->text[-1] == '"';
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
        numbers += hdst__decimal_is(field->text, field->length);
    }
    return numbers;
}

// Whether a word of the first row stands above a number, in chosen columns or others: "150,4,setosa" above "5.1,3.5,1.4". The
// first row is the current one before and after.
static hdst_status word_above_number(hdst__source *source, bool *found, hdst_error *error)
{
    csv_state *state = source->state;
    csv_place place = state->first;
    bool *is_word = hdst__alloc(source->allocator, state->field_count), more;
    if (!is_word) return hdst__error_memory(error, source->name);
    for (size_t i = 0; i < state->field_count; i++) is_word[i] = !hdst__decimal_is(state->reader.fields[i].text, state->reader.fields[i].length);
    hdst_status status = next_row(state, &place, &more, error);
    if (status == HDST_OK) status = next_row(state, &place, &more, error);
    *found = false;
    for (size_t i = 0; status == HDST_OK && more && i < state->field_count && i < state->reader.field_count; i++)
        *found |= is_word[i] && hdst__decimal_is(state->reader.fields[i].text, state->reader.fields[i].length);
    hdst__free(source->allocator, is_word);
    place = state->first;
    return status == HDST_OK ? next_row(state, &place, &more, error) : status;
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
        if (!hdst__source_add_column(source, name, HDST__F64, i * CELL_BYTES, 1)) return hdst__error_memory(error, source->name);
    }
    source->row_bytes = count * CELL_BYTES;
    source->in_order = chosen != NULL;
    return HDST_OK;
}

static hdst_status read_first_row(hdst__source *source, const char *list, hdst_error *error)
{
    csv_state *state = source->state;
    csv_place after = state->first;
    bool more, header = list && hdst__columns_has_names(list);
    hdst_status status = next_row(state, &after, &more, error);
    if (status != HDST_OK) return status;
    if (!more) {
        hdst__error_set(error, HDST_E_FORMAT, "the file has no rows");
        hdst__error_at(error, source->name, 0, 0);
        hdst__error_hint(error, state->reader.file.bytes ? "there are only blank lines and comments" : "it is empty");
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
    hdst__free(source->allocator, chosen);
    return status;
}

// --- Opening: the index ---

static hdst_status add_place(hdst__source *source, csv_place place, hdst_error *error)
{
    csv_state *state = source->state;
    if (state->index_count == state->index_capacity) {
        size_t wanted = state->index_capacity ? 2 * state->index_capacity : 64;
        csv_place *index = hdst__realloc(source->allocator, state->index, wanted * sizeof *index);
        if (!index) return hdst__error_memory(error, "the index of a text file");
        state->index = index;
        state->index_capacity = wanted;
    }
    state->index[state->index_count++] = place;
    return HDST_OK;
}

static void count_not_finite(hdst__source *source)
{
    csv_state *state = source->state;
    for (size_t c = 0; c < source->column_count; c++) {
        const hdst__csv_field *field = &state->reader.fields[state->fields[c]];
        char last = field->length ? field->text[field->length - 1] : '0';
        if (last > '9') state->not_finite += hdst__decimal_is_not_finite(field->text, field->length);   // they end in a letter
    }
}

static hdst_status build_index(hdst__source *source, const hdst__cancel *cancel, hdst_error *error)
{
    csv_state *state = source->state;
    csv_place place = state->first;
    for (;;) {
        csv_place start = place;
        bool more;
        hdst_status status = next_row(state, &place, &more, error);
        if (status == HDST_OK && !more) break;
        if (status == HDST_OK) status = check_fields(state, error);
        if (status == HDST_OK && source->rows % HDST__HOST_CSV_INDEX_ROWS == 0) status = hdst__cancel_check(cancel, 0, 0, error);
        if (status == HDST_OK && source->rows % HDST__HOST_CSV_INDEX_ROWS == 0) status = add_place(source, start, error);
        if (status != HDST_OK) return status;
        count_not_finite(source);
        source->rows++;
    }
    if (state->not_finite) {
        size_t used = strlen(source->note);
        if (!used) used = (size_t)snprintf(source->note, sizeof source->note, "%.300s: ", source->name);
        else used += (size_t)snprintf(source->note + used, sizeof source->note - used, "; ");
        snprintf(source->note + used, sizeof source->note - used, "%llu number%s nan or inf", (unsigned long long)state->not_finite,
                 state->not_finite == 1 ? " is" : "s are");
    }
    return HDST_OK;
}

hdst__source *hdst__source_csv(const hdst__allocator *allocator, const char *path, const char *columns, const hdst__cancel *cancel, hdst_error *error)
{
    hdst__source *source = hdst__source_new(allocator, &csv_format, path, error);
    if (!source) return NULL;
    csv_state *state = source->state = hdst__alloc_zero(allocator, sizeof *state);
    hdst_status status = HDST_OK;
    if (state) {
        state->reader.file.fd = -1;
        state->next_row = UINT64_MAX;
        state->c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    }
    if (!state || !state->c_locale) status = hdst__error_memory(error, path);
    if (status == HDST_OK) status = hdst__csv_reader_open(&state->reader, allocator, source->name, error);
    if (status == HDST_OK) status = check_start(state, error);
    if (status == HDST_OK) status = find_delimiter(state, error);
    if (status == HDST_OK) status = read_first_row(source, columns, error);
    if (status == HDST_OK) status = build_index(source, cancel, error);
    if (status == HDST_OK) return source;
    hdst__source_close(source);
    return NULL;
}
